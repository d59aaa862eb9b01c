/* SPDX-License-Identifier: BSD-3-Clause */
/* One step of a tile between predictor and encoder: the residuals of its 32 groups, and what an encoder needs of them.
 * Per element type (base/real.h). Encoders take it and give it back unchanged. */
#ifndef FLOE_STAGE_STEP_H
#define FLOE_STAGE_STEP_H

#include "base/real.h"
#include "stage/tile/tile.h"

typedef struct floe_step {
    uint32_t present; /* bit g: group g has at least one cell inside the field. Known to both sides, never coded */
    uint32_t flat;    /* bit g: group g is predicted inside its plane only, not along z. 0 where not present */
    /* bits of the widest residual of each group; 0 where not present. Filled by the predictor; a decoder fills it too */
    uint8_t width[FLOE_STEP_GROUPS];
    /* zigzag residuals ((r << 1) ^ (r >> sign)); cells outside the field and groups not present are 0 */
    floe_uint residual[FLOE_STEP_GROUPS][FLOE_GROUP_VALUES];
} floe_step;

#endif
