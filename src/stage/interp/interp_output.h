/* SPDX-License-Identifier: BSD-3-Clause */
/* The box of values that a decoder of a chunk gives, of all or of a level's, by the axes of the chunk's shape; and patterns for some. */
#ifndef FLOE_STAGE_INTERP_OUTPUT_H
#define FLOE_STAGE_INTERP_OUTPUT_H

#include "base/bytes.h"
#include "stage/interp/interp.h"

typedef struct floe_interp_output {
    floe_interp_view view; /* of the first value */
    floe_interp_box box;   /* of points of the level */
    uint32_t level;
    size_t size; /* of a value: 4 or 8 bytes */
} floe_interp_output;

/* lo, hi: of rank axes. The chunk is one that floe_interp_shape_of takes. */
floe_interp_output floe_interp_output_of(uint32_t rank, const uint64_t *extent, const uint64_t *lo, const uint64_t *hi,
                                         const floe_field *out, uint32_t level);
/* Where a point of the chunk is; NULL where it is none of the level, or of the box. */
uint8_t *floe_interp_output_place(const floe_interp_output *o, const uint64_t *point);
/* The pattern to that place, if there is one. */
void floe_interp_output_put(const floe_interp_output *o, const uint64_t *point, uint64_t pattern);
/* To each place its value of a chunk, or (NULL) the pattern. */
void floe_interp_output_fill(const floe_interp_output *o, const uint64_t *shape, const uint8_t *values,
                             uint64_t pattern);

static inline uint64_t floe_interp_pattern_load(const uint8_t *at, size_t size)
{
    return size == 4 ? floe_load32(at) : floe_load64(at);
}

#endif
