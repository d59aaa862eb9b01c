/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage quantizer, the part that depends on the element type: a row of values. See quantizer.h. */
#ifndef FLOE_STAGE_QUANTIZER_ROW_H
#define FLOE_STAGE_QUANTIZER_ROW_H

#include "base/real.h"
#include "stage/quantizer/quantizer.h"
#include "stage/tile/tile.h"

/* n values -> q. Returns how many are exceptions. Where that is not 0, bad[i] is 1 for those and 0 for the others, and
 * their q is unspecified; else bad is left alone. negative[i] (LOG only, else unused) is 1 for values below 0 that are no
 * exceptions. */
uint32_t FLOE_V(floe_quantizer_encode)(const floe_quantizer *quantizer, const floe_real *x, uint32_t n, floe_int *q,
                                       uint8_t *bad, uint8_t *negative, floe_quantizer_stats *stats);

/* q -> n values; q is untrusted. LOG gives magnitudes. False when a q lies outside the table. */
bool FLOE_V(floe_quantizer_decode)(const floe_quantizer *quantizer, const floe_int *q, uint32_t n, floe_real *y);

/* The same where quantizer->integer; n is at most FLOE_STEP_VALUES to decode. */
uint32_t FLOE_V(floe_integers_encode)(const floe_quantizer *quantizer, const floe_real *x, uint32_t n, floe_int *q,
                                      uint8_t *bad, floe_quantizer_stats *stats);
bool FLOE_V(floe_integers_decode)(const floe_quantizer *quantizer, const floe_int *q, uint32_t n, floe_real *y);

#endif
