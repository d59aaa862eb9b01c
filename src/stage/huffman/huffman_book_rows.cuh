/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What both directions of a codebook on a GPU share: how a block holds the symbols of all tables, and canonical codes.
 *
 * Symbols lie in rows of 32, a lane each; a table takes whole rows, so what a warp does with a row concerns one table.
 */
#ifndef FLOE_STAGE_HUFFMAN_BOOK_ROWS_CUH
#define FLOE_STAGE_HUFFMAN_BOOK_ROWS_CUH

#include "backend/device_scan.cuh"
#include "stage/huffman/huffman_book_math.h"

enum {
    FLOE_BOOK_ROWS = 84, /* of all tables: the sum of alphabet / 32, rounded up */
    FLOE_BOOK_SLOTS = FLOE_BOOK_ROWS * FLOE_WARP,
    FLOE_BOOK_WARP_ROWS = 3,
    FLOE_BOOK_WARPS = FLOE_BOOK_ROWS / FLOE_BOOK_WARP_ROWS,
    FLOE_BOOK_THREADS = FLOE_BOOK_WARPS * FLOE_WARP, /* of a block that has all tables */
    FLOE_BOOK_MOST_WORDS = (FLOE_HUFFMAN_BOOK_MOST_BITS + 31) / 32,
    FLOE_BOOK_CODES_AT = FLOE_HUFFMAN_TABLES * FLOE_HUFFMAN_MODE_BITS, /* bit at which the tokens' lengths begin */
    FLOE_BOOK_TOKENS_AT = FLOE_BOOK_CODES_AT + FLOE_HUFFMAN_TOKENS * FLOE_HUFFMAN_TOKEN_LENGTH_BITS
};
static_assert(FLOE_BOOK_WARPS * FLOE_BOOK_WARP_ROWS == FLOE_BOOK_ROWS, "each warp has as many rows");

/* The symbols and the first row of each table, the table of each row; shared memory. */
struct floe_book_rows {
    uint16_t nsymbols[FLOE_HUFFMAN_TABLES];
    uint8_t first[FLOE_HUFFMAN_TABLES + 1];
    uint8_t table[FLOE_BOOK_ROWS];
};

/* One warp; the block synchronizes. */
FLOE_DEV void floe_book_rows_fill(floe_book_rows &rows)
{
    const uint32_t t = floe_lane();
    const uint32_t nsymbols = t < FLOE_HUFFMAN_TABLES ? floe_huffman_alphabet(t) : 0;
    const uint32_t n = (nsymbols + FLOE_WARP - 1) / FLOE_WARP, first = floe_warp_sum_before(n);
    if (t <= FLOE_HUFFMAN_TABLES)
        rows.first[t] = (uint8_t)first;
    if (t < FLOE_HUFFMAN_TABLES)
        rows.nsymbols[t] = (uint16_t)nsymbols;
    for (uint32_t r = first; r < first + n; r++)
        rows.table[r] = (uint8_t)t;
}

/* ---- counting equal values in rows --------------------------------------------------------------------------------- */

enum { FLOE_ROW_VALUES = 16 };

/* counts: how many lanes have each value below 16. Returns how many lanes below have this lane's. A whole warp. */
FLOE_DEV uint32_t floe_row_count(uint32_t value, uint8_t *counts)
{
    uint32_t alike = FLOE_ALL_LANES,
             counted = FLOE_ALL_LANES; /* lanes with this lane's value; with this lane as value */
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t ones = __ballot_sync(FLOE_ALL_LANES, value >> i & 1);
        alike &= value >> i & 1 ? ones : ~ones;
        counted &= floe_lane() >> i & 1 ? ones : ~ones;
    }
    if (floe_lane() < FLOE_ROW_VALUES)
        counts[floe_lane()] = (uint8_t)__popc(counted);
    return __popc(alike & floe_lanes_below());
}

/* How many have this value in so many rows. */
FLOE_DEV uint32_t floe_rows_sum(const uint8_t (*counts)[FLOE_ROW_VALUES], uint32_t nrows, uint32_t value)
{
    uint32_t sum = 0;
    for (uint32_t r = 0; r < nrows; r++)
        sum += counts[r][value];
    return sum;
}

/* ---- canonical codes ----------------------------------------------------------------------------------------------- */

/* The codes of a table; what lane n has is about those of n bits. */
struct floe_book_codes {
    uint32_t count, first; /* how many, and the first of them */
    uint32_t shorter;      /* symbols with a shorter code */
    uint32_t longest;      /* same in all lanes: bits of the longest code; 0 when there is none */
    bool complete;         /* same in all lanes */
};

/* counts: of the lengths in the table's rows, 0 for symbols without a code. A whole warp; any number of warps may. */
FLOE_DEV floe_book_codes floe_book_codes_of(const uint8_t (*counts)[FLOE_ROW_VALUES], uint32_t nrows)
{
    const uint32_t n = floe_lane();
    floe_book_codes codes = {0, 0, 0, 0, false};
    if (n >= 1 && n <= FLOE_HUFFMAN_MAX_LENGTH)
        codes.count = floe_rows_sum(counts, nrows, n);
    uint32_t first = 0, shorter = 0, count = 0; /* of i bits */
#pragma unroll
    for (uint32_t i = 1; i <= FLOE_HUFFMAN_MAX_LENGTH; i++) {
        first = (first + count) << 1;
        shorter += count;
        count = __shfl_sync(FLOE_ALL_LANES, codes.count, i);
        codes.first = i == n ? first : codes.first;
        codes.shorter = i == n ? shorter : codes.shorter;
    }
    codes.complete = first + count == 1u << FLOE_HUFFMAN_MAX_LENGTH;
    uint32_t used = __ballot_sync(FLOE_ALL_LANES, codes.count > 0);
    codes.longest = used ? 31 - __clz(used) : 0;
    return codes;
}

#endif
