/* SPDX-License-Identifier: BSD-3-Clause */
/* The formulas of stage huffman, for every compiler and device: which table, which symbol, which lane. */
#ifndef FLOE_STAGE_HUFFMAN_MATH_H
#define FLOE_STAGE_HUFFMAN_MATH_H

#include "base/hd.h"
#include "stage/huffman/huffman.h"
#include "stage/tile/tile.h"

enum {
    FLOE_HUFFMAN_NARROW = 8,       /* groups up to this width have a symbol for each value or for several */
    FLOE_HUFFMAN_WIDE_DIRECT = 16, /* values below it are their own symbol in wider groups */
    FLOE_HUFFMAN_QUAD_GROUPS = 4,
    FLOE_HUFFMAN_STEP_QUADS = FLOE_STEP_GROUPS / FLOE_HUFFMAN_QUAD_GROUPS,
    FLOE_HUFFMAN_MAX_LANES = 32,
    FLOE_HUFFMAN_LANE_BITS = 1024, /* residual bits a lane, before coding, that pay for its length field: measured */
    FLOE_HUFFMAN_LOG_BITS = 3,     /* tile header: log2 of the number of lanes */
    FLOE_HUFFMAN_FIELD_BITS = 5    /* tile header: bits of a lane's length */
};

/* ---- tables ---- */

/* The value table of a group of width 1..64. */
FLOE_HD uint32_t floe_huffman_value_table(uint32_t width)
{
    uint32_t wide = width <= 10 ? 8 : width <= 12 ? 9 : width <= 16 ? 10 : width <= 24 ? 11 : width <= 32 ? 12 : 13;
    return FLOE_HUFFMAN_VALUE + (width <= FLOE_HUFFMAN_NARROW ? width - 1 : wide);
}

/* Values in one symbol of a group of width 1..8. */
FLOE_HD uint32_t floe_huffman_symbol_values(uint32_t width)
{
    return width == 1 ? 8 : width == 2 ? 4 : width <= 4 ? 2 : 1;
}

/* Bits that hold every symbol of a table: the length of its FIXED codes. */
FLOE_HD uint32_t floe_huffman_fixed_bits(uint32_t table)
{
    /*                     quad  header      1  2  3  4  5  6  7  8  -10 -12 -16 -24 -32 -64 */
    const uint8_t bits[] = {4, 4, 8, 8, 8, 8, 8, 8, 6, 8, 5, 6, 7, 8, 6, 6, 6, 7, 7, 8};
    return bits[table];
}

/* Symbols of a table. */
FLOE_HD uint32_t floe_huffman_alphabet(uint32_t table)
{
    if (table >= FLOE_HUFFMAN_HEADER && table < FLOE_HUFFMAN_VALUE)
        return 2 * 64 + 2;
    if (table == FLOE_HUFFMAN_VALUE + 8) /* 16 + 4 for each bit length from 5 to 10 */
        return 40;
    if (table == FLOE_HUFFMAN_VALUE + 9)
        return 48;
    if (table == FLOE_HUFFMAN_VALUE + 11)
        return 96;
    return 1u << floe_huffman_fixed_bits(table);
}

/* The table of a quad symbol: previous is the quad symbol before it in the lane, not 0 at the lane's start. */
FLOE_HD uint32_t floe_huffman_quad_table(uint32_t previous) { return FLOE_HUFFMAN_QUAD + (previous == 0); }

/* Context at the start of a lane, for floe_huffman_header_table. */
enum { FLOE_HUFFMAN_NO_WIDTH = 255 };

/* The table of a group's header: previous is the width of the live group before it in the lane, or NO_WIDTH. */
FLOE_HD uint32_t floe_huffman_header_table(uint32_t previous)
{
    uint32_t context = previous == FLOE_HUFFMAN_NO_WIDTH ? 0 : previous <= 2 ? 1 : previous <= 4 ? 2 : 3;
    return FLOE_HUFFMAN_HEADER + context;
}

/* ---- values of groups wider than 8 bits: a symbol for the length and the leading bits, the rest raw ---- */

/* Raw bits of a value: all below its three leading ones; none of a value below 16. */
FLOE_HD uint32_t floe_huffman_wide_raw_of(uint64_t value)
{
    uint32_t n = floe_bit_length(value | 1);
    return (n - 3) & (0u - (uint32_t)(n > 4));
}
/* The symbol of a value with so many raw bits: itself below 16, else 16 + 4 * (length - 5) + 2 bits behind the first. */
FLOE_HD uint32_t floe_huffman_wide_symbol(uint64_t value, uint32_t nraw)
{
    return (uint32_t)(value >> nraw) + ((4 * nraw + 4) & (0u - (uint32_t)(nraw > 0)));
}
/* Raw bits behind a symbol. Without a branch: whether a value is below 16 is hard to foretell. */
FLOE_HD uint32_t floe_huffman_wide_raw(uint32_t symbol)
{
    uint32_t has_raw = 0u - (uint32_t)(symbol >= FLOE_HUFFMAN_WIDE_DIRECT);
    return ((symbol >> 2) - 2) & has_raw;
}
/* The value of a symbol whose raw bits are 0. */
FLOE_HD uint64_t floe_huffman_wide_base(uint32_t symbol)
{
    uint32_t has_raw = 0u - (uint32_t)(symbol >= FLOE_HUFFMAN_WIDE_DIRECT);
    return (uint64_t)((symbol & (~has_raw | 3)) | (has_raw & 4)) << floe_huffman_wide_raw(symbol);
}

/* ---- lanes ---- */

/* log2 of the lanes of a tile whose groups' widths sum to width_sum. */
FLOE_HD uint32_t floe_huffman_lane_log(uint32_t width_sum, uint32_t nsteps)
{
    uint64_t nbits = (uint64_t)width_sum * FLOE_GROUP_VALUES;
    uint32_t nquads = nsteps * FLOE_HUFFMAN_STEP_QUADS, log = 0;
    while ((2u << log) <= FLOE_HUFFMAN_MAX_LANES && (2u << log) <= nquads &&
           (nbits >> (log + 1)) >= FLOE_HUFFMAN_LANE_BITS)
        log++;
    return log;
}
/* The first quad of a lane; for lane = 1 << log, the number of quads. */
FLOE_HD uint32_t floe_huffman_lane_quad(uint32_t lane, uint32_t log, uint32_t nsteps)
{
    return (lane * nsteps * FLOE_HUFFMAN_STEP_QUADS) >> log;
}

#endif
