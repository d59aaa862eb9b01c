/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in the field, looked for where the parts of the pieces say that they are. */
#ifndef FLOE_ASSESS_REDUCTION_SEARCH_H
#define FLOE_ASSESS_REDUCTION_SEARCH_H

#include "assess/reduction/reduction.h"

/* The worst errors, those outside the bound, special values that differ: fills places and noutside of result. */
void floe_reduction_search(floe_reduction *r, floe_reduction_result *result);

/* The largest |e| of a piece; less than 0 for none. */
typedef double floe_reduction_worst_fn(const floe_reduction *r, uint64_t piece);
/* The pieces that the worst errors lie in, by number; as many as errors are asked for, or fewer. */
uint32_t floe_reduction_worst_pieces(const floe_reduction *r, floe_reduction_worst_fn *worst,
                                     uint64_t piece[FLOE_ASSESS_MAX_WORST]);

#endif
