/* SPDX-License-Identifier: BSD-3-Clause */
/* The box of values that a decoder of a chunk gives, and patterns for some. */
#ifndef FLOE_STAGE_INTERP_OUTPUT_H
#define FLOE_STAGE_INTERP_OUTPUT_H

#include "base/bytes.h"
#include "stage/interp/interp.h"
#include "stage/interp/interp_output_math.h"

/* lo, hi: of rank axes. The chunk is one that floe_interp_shape_of takes. */
floe_interp_output floe_interp_output_of(uint32_t rank, const uint64_t *extent, const uint64_t *lo, const uint64_t *hi,
                                         const floe_field *out, uint32_t level);
/* The pattern to the place of a point, if there is one. */
void floe_interp_output_put(const floe_interp_output *o, const uint64_t *point, uint64_t pattern);
/* To each place its value of a chunk, or (NULL) the pattern. */
void floe_interp_output_fill(const floe_interp_output *o, const uint64_t *shape, const uint8_t *values,
                             uint64_t pattern);

static inline uint64_t floe_interp_pattern_load(const uint8_t *at, size_t size)
{
    return size == 4 ? floe_load32(at) : floe_load64(at);
}

#endif
