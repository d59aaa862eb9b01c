/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole tiles of stage huffman on a GPU between being made and being coded: bodies that hold symbols, so that neither
 * counting nor coding has to find them out again. A warp owns a tile, a lane a group of each step. A body is
 *
 *   word 0..7     flat bits of each step
 *   word 8..15    where each step begins, in words of the body
 *   word 16..79   widths, a byte a group
 *   then steps    words of the groups of a step: first words of all groups that have any, then second words, and so on.
 *                 A group of 1, 2, 3 to 4 and 5 to 8 bits has 1, 2, 4 and 8 words of symbols, a byte each, in order; a wider
 *                 one a word a plane
 */
#ifndef FLOE_STAGE_HUFFMAN_SYMBOLS_DEV_CUH
#define FLOE_STAGE_HUFFMAN_SYMBOLS_DEV_CUH

#include "stage/huffman/huffman_bits_dev.cuh"
#include "stage/huffman/huffman_tile_dev.cuh"

enum {
    FLOE_SYMBOLS_PLACES_AT = FLOE_TILE_STEPS,
    FLOE_SYMBOLS_WIDTHS_AT = 2 * FLOE_TILE_STEPS,
    FLOE_SYMBOLS_HEAD_WORDS = FLOE_SYMBOLS_WIDTHS_AT + FLOE_TILE_GROUPS / 4
};

/* COUNT words from number FIRST on, of groups wider than LEAST. */
template <int FIRST, int COUNT, int LEAST, class Do>
FLOE_DEV uint32_t floe_symbols_some(uint32_t step, uint32_t width, Do f)
{
    const uint32_t who = __ballot_sync(FLOE_ALL_LANES, width > LEAST), n = __popc(who);
    if (width > LEAST) {
        const uint32_t here = step + __popc(who & floe_lanes_below());
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            f(FIRST + i, here + i * n);
    }
    return step + COUNT * n;
}

/* The first eight words of this lane's group, of a step at `step`: f(i, at) for each that the width has. Returns where what
 * follows begins. The whole warp. */
template <class Do> FLOE_DEV uint32_t floe_symbols_columns(uint32_t step, uint32_t width, Do f)
{
    step = floe_symbols_some<0, 1, 0>(step, width, f);
    step = floe_symbols_some<1, 1, 1>(step, width, f);
    step = floe_symbols_some<2, 2, 2>(step, width, f);
    return floe_symbols_some<4, 4, 4>(step, width, f);
}

/* Symbols of a group of width 1..8 from all low bits of its residuals, or planes 0..7 of a wider one. planes: 0..3, 0 beyond
 * the width; the byte of value 8 k + j is byte k of bytes[j]; high: planes 4..7, where some lane has more than 8. */
FLOE_DEV void floe_symbols_find(uint32_t width, const uint32_t bytes[8], const uint32_t planes[4],
                                const uint32_t high[4], uint32_t symbols[8])
{
    if (width <= 1) {
        symbols[0] = planes[0];
    } else if (width <= 4) {
        floe_huffman_symbols_of_planes(width, planes, symbols);
    } else if (width <= FLOE_HUFFMAN_NARROW) {
        floe_huffman_bytes_in_order(bytes, symbols);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            symbols[i] = planes[i];
            symbols[4 + i] = high[i];
        }
    }
}

/* Adds 1 for each of the four symbols in a word. A constant: lanes that meet in a bin of shared memory are then counted by
 * the hardware at once, which it does for no other number. */
FLOE_DEV void floe_symbols_count_word(uint32_t *of_width, uint32_t symbols)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        atomicAdd(of_width + __byte_perm(symbols, 0, 0x4440 + i), 1u);
}

/* Counts a group of width 1..8; bins: shared memory. */
FLOE_DEV void floe_symbols_count(uint32_t *bins, uint32_t width, const uint32_t symbols[8])
{
    uint32_t *of_width = floe_in_shared(bins + floe_huffman_narrow_bin(width));
    floe_symbols_count_word(of_width, symbols[0]);
    if (width > 1) {
        floe_symbols_count_word(of_width, symbols[1]);
        if (width > 2) {
            floe_symbols_count_word(of_width, symbols[2]);
            floe_symbols_count_word(of_width, symbols[3]);
            if (width > 4)
#pragma unroll
                for (int j = 4; j < 8; j++)
                    floe_symbols_count_word(of_width, symbols[j]);
        }
    }
}

/* Writes what the head of a body holds of step s, which begins at word `at` of the body. The whole warp. */
FLOE_DEV void floe_symbols_put_head(uint32_t *body, uint32_t s, uint32_t at, uint32_t width, bool flat)
{
    const uint32_t flats = __ballot_sync(FLOE_ALL_LANES, flat);
    ((uint8_t *)(body + FLOE_SYMBOLS_WIDTHS_AT))[s * FLOE_STEP_GROUPS + floe_lane()] = (uint8_t)width;
    if (floe_lane() == 0) {
        body[s] = flats;
        body[FLOE_SYMBOLS_PLACES_AT + s] = at;
    }
}

/* Reads it, but for what is present. The whole warp, which is synchronized then. */
FLOE_DEV void floe_symbols_open(const uint32_t *body, floe_huffman_heads *heads, uint32_t *places)
{
    const uint32_t lane = floe_lane();
    if (lane < FLOE_TILE_STEPS)
        places[lane] = body[FLOE_SYMBOLS_PLACES_AT + lane];
    for (uint32_t i = lane; i < FLOE_TILE_GROUPS / 4; i += FLOE_WARP)
        ((uint32_t *)heads->width)[i] = body[FLOE_SYMBOLS_WIDTHS_AT + i];
    __syncwarp();
#pragma unroll
    for (uint32_t s = 0; s < FLOE_TILE_STEPS; s++) {
        const uint32_t wide = __ballot_sync(FLOE_ALL_LANES, heads->width[s * FLOE_STEP_GROUPS + lane] != 0);
        if (lane == s) {
            heads->flat[s] = body[s];
            heads->live[s] = body[s] | wide;
        }
    }
    __syncwarp();
}

#endif
