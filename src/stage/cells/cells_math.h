/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of an array, their sets and patterns, once, for both compilers. docs/format/cells.md */
#ifndef FLOE_STAGE_CELLS_MATH_H
#define FLOE_STAGE_CELLS_MATH_H

#include "base/grid_math.h"
#include "field/dtype_math.h"

enum {
    FLOE_CELLS_PALETTE = 3,                   /* patterns that may be many: a set each */
    FLOE_CELLS_LITERALS = FLOE_CELLS_PALETTE, /* the set whose values are stored */
    FLOE_CELLS_SETS,
    FLOE_CELLS_WORD = 64,     /* cells of a word, words of a word above */
    FLOE_CELLS_SPAN = 1 << 16 /* cells that a worker takes: whole words of the upper level */
};

/* An n-d array whose cells are numbered in C order, or the box of it that a decoder wants. */
typedef struct floe_cells_array {
    void *data; /* the first value of the box */
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];                 /* slowest first, none 0 */
    int64_t stride[FLOE_MAX_RANK];                 /* in elements */
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK]; /* the box: lo <= index < hi; an encoder's is the whole array */
} floe_cells_array;

FLOE_HD uint32_t floe_cells_size(floe_dtype dtype) { return floe_dtype_is_narrow(dtype) ? 4 : 8; }
FLOE_HD uint64_t floe_cells_round8(uint64_t nbytes) { return (nbytes + 7) & ~(uint64_t)7; }

/* ---- values ---------------------------------------------------------------------------------------------------------- */

/* Offset of a cell of the whole array, in elements. */
FLOE_HD int64_t floe_cells_at(const floe_cells_array *a, uint64_t cell)
{
    int64_t at = 0;
    for (uint32_t i = a->rank; i-- > 1;)
        at += (int64_t)floe_last_digit(&cell, a->shape[i]) * a->stride[i];
    return at + (int64_t)cell * a->stride[0];
}

/* Offset of a cell in the box. False: it is not in there. */
FLOE_HD bool floe_cells_in_box(const floe_cells_array *a, uint64_t cell, int64_t *at)
{
    bool inside = true;
    *at = 0;
    for (uint32_t i = a->rank; i-- > 0;) {
        const uint64_t index = floe_last_digit(&cell, a->shape[i]);
        const bool within = index >= a->lo[i] && index < a->hi[i];
        inside &= within;
        *at +=
            within ? (int64_t)(index - a->lo[i]) * a->stride[i] : 0; /* others may be beyond what an offset can hold */
    }
    return inside;
}

/* ---- sets ------------------------------------------------------------------------------------------------------------ */

/* The patterns that may be many: fill, -0 (of integers the least), and the first other one that is not finite. This sets what
 * goes without looking at values. */
FLOE_HD void floe_cells_palette(uint64_t *palette, floe_dtype dtype, bool has_fill, uint64_t fill)
{
    const uint64_t sign = floe_dtype_sign(dtype);
    palette[0] = has_fill ? fill : sign;
    palette[1] = palette[2] = sign;
}

/* Is it a pattern for the third place? */
FLOE_HD bool floe_cells_is_odd(const uint64_t *palette, floe_dtype dtype, uint64_t bits)
{
    const uint64_t exponent = floe_dtype_is_narrow(dtype) ? 0x7F800000u : 0x7FF0000000000000u;
    return !floe_dtype_is_integer(dtype) && (bits & exponent) == exponent && bits != palette[0];
}

/* The set of a cell with this pattern. */
FLOE_HD uint32_t floe_cells_set_of(const uint64_t *palette, uint64_t bits)
{
    return bits == palette[0] ? 0 : bits == palette[1] ? 1 : bits == palette[2] ? 2 : FLOE_CELLS_LITERALS;
}

/* Bytes of a set of an array of so many words, of which `present` are not 0. */
FLOE_HD uint64_t floe_cells_set_nbytes(uint64_t nwords, uint64_t present)
{
    return 8 * (floe_ceil_div(nwords, FLOE_CELLS_WORD) + present);
}

FLOE_HD uint64_t floe_cells_literals_nbytes(uint64_t n, floe_dtype dtype)
{
    return floe_cells_round8(n * floe_cells_size(dtype));
}

#endif
