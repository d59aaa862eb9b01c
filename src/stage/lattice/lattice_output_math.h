/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a decoder of a chunk leaves values, and their patterns, for both compilers. */
#ifndef FLOE_STAGE_LATTICE_OUTPUT_MATH_H
#define FLOE_STAGE_LATTICE_OUTPUT_MATH_H

#include "stage/lattice/lattice_math.h"

/* A box of values, of all or of a level's, by the axes of the chunk's shape. */
typedef struct floe_lattice_output {
    floe_lattice_view view; /* of the first value */
    floe_lattice_box box;   /* of points of the level */
    uint32_t level, size;   /* size: of a value: 4 or 8 bytes */
} floe_lattice_output;

/* Where a point of the chunk is; NULL where it is none of the level, or of the box. */
FLOE_HD uint8_t *floe_lattice_output_place(const floe_lattice_output *o, const uint64_t *point)
{
    int64_t at = 0;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        const uint64_t i = point[a] >> o->level;
        if (i << o->level != point[a] || i < o->box.lo[a] || i >= o->box.hi[a])
            return NULL;
        at += (int64_t)(i - o->box.lo[a]) * o->view.stride[a];
    }
    return (uint8_t *)o->view.data + at * (int64_t)o->size;
}

/* Patterns that no lattice gives: no number, 0, fill. */
FLOE_HD bool floe_lattice_is_special(uint32_t size, uint64_t pattern, bool has_fill, uint64_t fill)
{
    const uint64_t exponent = size == 4 ? (uint64_t)0xFF << 23 : (uint64_t)0x7FF << 52,
                   sign = (uint64_t)1 << (8 * size - 1);
    return (pattern & exponent) == exponent || (pattern & ~sign) == 0 || (has_fill && pattern == fill);
}

/* Which of the palette it is; n: none. */
FLOE_HD uint32_t floe_lattice_palette_place(const uint64_t *palette, uint32_t n, uint64_t pattern)
{
    uint32_t s = 0;
    while (s < n && palette[s] != pattern)
        s++;
    return s;
}

#endif
