/* SPDX-License-Identifier: BSD-3-Clause */
/* By what rule the points of a step are predicted and quantized, for both compilers. */
#ifndef FLOE_STAGE_INTERP_RULE_H
#define FLOE_STAGE_INTERP_RULE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum floe_interp_predictor {
    FLOE_INTERP_NATURAL = 0,    /* cubic, by natural splines: -3 23 23 -3 in 40 */
    FLOE_INTERP_NOT_A_KNOT = 1, /* cubic: -1 9 9 -1 in 16 */
    FLOE_INTERP_LINEAR = 2,
    FLOE_INTERP_PREDICTORS = 3
} floe_interp_predictor;

typedef struct floe_interp_rule {
    uint32_t predictor;
    bool mean;   /* points between several axes: the mean along them, not along the last alone */
    double step; /* of the quantizer */
} floe_interp_rule;

#endif
