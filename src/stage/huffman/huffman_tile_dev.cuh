/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage huffman on a GPU: the symbols of a group, the heads of a tile (what says which groups are live), and counting.
 * A warp owns a tile, a lane a group of each step, so lane and group have the same number.
 * huffman_code_dev.cuh codes, huffman_decode_dev.cuh decodes.
 *
 * Counting a tile, by the whole warp:
 *
 *     floe_huffman_counter c = floe_huffman_counter_start(bins, heads, weight);
 *     for each step   floe_huffman_count_step(c, step, residuals, planes, width, flat, present);
 *     at the end      floe_huffman_count_end(c, nsteps);
 *
 * and by the whole block: floe_huffman_bins_clear before, floe_huffman_bins_add after, each with a __syncthreads between.
 */
#ifndef FLOE_STAGE_HUFFMAN_TILE_DEV_CUH
#define FLOE_STAGE_HUFFMAN_TILE_DEV_CUH

#include "backend/device.cuh"
#include "stage/huffman/huffman_math.h"

/* ---- tables without gaps: of each only as many places as it has symbols ---- */

enum { FLOE_HUFFMAN_BINS = 2496 };

/* The place of a table's first symbol. Value tables start at multiples of 8 places behind the 552 of quads and headers;
 * the constants hold a byte for each of them. */
FLOE_HD uint32_t floe_huffman_bin(uint32_t table)
{
    if (table < FLOE_HUFFMAN_HEADER)
        return 16 * table;
    if (table < FLOE_HUFFMAN_VALUE)
        return 32 + 130 * (table - FLOE_HUFFMAN_HEADER);
    const uint32_t i = table - FLOE_HUFFMAN_VALUE;
    const uint64_t starts = i < 8 ? 0x84746C6848402000u : 0xD3C3B7AFA9A4u;
    return 552 + 8 * ((uint32_t)(starts >> 8 * (i % 8)) & 0xFF);
}

/* ---- symbols of a group, a byte each, in order: value tables have at most 256 ---- */

/* Exchanges the bits of MASK with those SHIFT further left. */
template <uint32_t MASK, int SHIFT> FLOE_DEV uint32_t floe_huffman_swap(uint32_t x)
{
    uint32_t t = (x ^ x >> SHIFT) & MASK;
    return x ^ t ^ t << SHIFT;
}

/* Widths 2 to 4, from planes 0..3 (0 beyond the width). A plane's bits are numbered by the values' places, and a symbol
 * has the planes' bits of its values side by side: a permutation of bits. */
FLOE_DEV void floe_huffman_symbols_of_planes(uint32_t width, const uint32_t plane[4], uint32_t symbols[4])
{
    if (width == 2) { /* nibbles of both planes in turn */
        symbols[0] = __byte_perm(plane[0], plane[1], 0x5410);
        symbols[1] = __byte_perm(plane[0], plane[1], 0x7632);
#pragma unroll
        for (int m = 0; m < 2; m++)
            symbols[m] = floe_huffman_swap<0x00F000F0u, 4>(floe_huffman_swap<0x0000FF00u, 8>(symbols[m]));
        return;
    }
    /* pairs of bits of all planes in turn */
    uint32_t low[2] = {__byte_perm(plane[0], plane[1], 0x5140), __byte_perm(plane[0], plane[1], 0x7362)};
    uint32_t high[2] = {__byte_perm(plane[2], plane[3], 0x5140), __byte_perm(plane[2], plane[3], 0x7362)};
#pragma unroll
    for (int m = 0; m < 4; m++) {
        uint32_t x = __byte_perm(low[m / 2], high[m / 2], m % 2 ? 0x7632 : 0x5410);
        x = floe_huffman_swap<0x0000F0F0u, 12>(x);
        symbols[m] = floe_huffman_swap<0x00CC00CCu, 6>(x);
    }
}

/* Symbols of a group of width 1..64; returns how many there are. residuals: read where the width is above 4; planes:
 * planes 0..3, 0 beyond the width, read below that. Words of symbols behind the last one are undefined. */
template <class Uint>
FLOE_DEV uint32_t floe_huffman_symbols(uint32_t width, const Uint residuals[32], const uint32_t planes[4],
                                       uint32_t symbols[8])
{
    if (width == 1) {
        symbols[0] = planes[0];
        return 4;
    }
    if (width <= 4) {
        floe_huffman_symbols_of_planes(width, planes, symbols);
        return width == 2 ? 8 : 16;
    }
#pragma unroll
    for (int i = 0; i < 32; i++) {
        Uint u = residuals[i];
        uint32_t s =
            width <= FLOE_HUFFMAN_NARROW ? (uint32_t)u : floe_huffman_wide_symbol(u, floe_huffman_wide_raw_of(u));
        symbols[i / 4] = i % 4 ? symbols[i / 4] | s << 8 * (i % 4) : s;
    }
    return 32;
}

/* ---- heads ---- */

/* What a tile's quad and header symbols follow from; shared memory, one a warp. */
typedef struct floe_huffman_heads {
    uint8_t width[FLOE_TILE_GROUPS];
    uint32_t flat[FLOE_TILE_STEPS], live[FLOE_TILE_STEPS], present[FLOE_TILE_STEPS];
} floe_huffman_heads;

/* Sets step s; the whole warp. flat and width are 0 where the group is not present. */
FLOE_DEV void floe_huffman_heads_set(floe_huffman_heads *heads, uint32_t s, uint32_t width, bool flat, bool present)
{
    const uint32_t flats = __ballot_sync(FLOE_ALL_LANES, flat), wide = __ballot_sync(FLOE_ALL_LANES, width != 0);
    const uint32_t presents = __ballot_sync(FLOE_ALL_LANES, present);
    heads->width[s * FLOE_STEP_GROUPS + floe_lane()] = (uint8_t)width;
    if (floe_lane() == 0) {
        heads->flat[s] = flats;
        heads->live[s] = flats | wide;
        heads->present[s] = presents;
    }
}

/* log2 of the tile's lanes, or FLOE_HUFFMAN_NO_LIVE. The whole warp; heads are complete and synchronized. */
enum { FLOE_HUFFMAN_NO_LIVE = 255 };

FLOE_DEV uint32_t floe_huffman_heads_log(const floe_huffman_heads *heads, uint32_t nsteps)
{
    uint32_t sum = 0, live = 0;
    for (uint32_t s = 0; s < nsteps; s++) {
        sum += heads->width[s * FLOE_STEP_GROUPS + floe_lane()];
        live |= heads->live[s];
    }
    sum = __reduce_add_sync(FLOE_ALL_LANES, sum);
    return live ? floe_huffman_lane_log(sum, nsteps) : (uint32_t)FLOE_HUFFMAN_NO_LIVE;
}

/* What came before a quad in its lane of the tile. */
typedef struct floe_huffman_before {
    uint32_t quad;  /* the quad symbol before; 1 at the lane's start */
    uint32_t width; /* the width of the live group before, or NO_WIDTH */
} floe_huffman_before;

FLOE_DEV uint32_t floe_huffman_quad_of(const uint32_t *mask, uint32_t q)
{
    return mask[q / FLOE_HUFFMAN_STEP_QUADS] >> q % FLOE_HUFFMAN_STEP_QUADS * FLOE_HUFFMAN_QUAD_GROUPS & 15;
}

/* The lane that quad q is in: the last whose first quad is not behind q. */
FLOE_DEV uint32_t floe_huffman_lane_of(uint32_t q, uint32_t log, uint32_t nsteps)
{
    const uint32_t x = ((q + 1) << log) - 1;
    if (nsteps == FLOE_TILE_STEPS) /* a shift */
        return x / (FLOE_TILE_STEPS * FLOE_HUFFMAN_STEP_QUADS);
    return x / (nsteps * FLOE_HUFFMAN_STEP_QUADS);
}

FLOE_DEV floe_huffman_before floe_huffman_before_quad(const floe_huffman_heads *heads, uint32_t q, uint32_t first)
{
    floe_huffman_before before = {1, FLOE_HUFFMAN_NO_WIDTH};
    if (q == first)
        return before;
    const uint32_t last = floe_huffman_quad_of(heads->live, q - 1);
    if (last) { /* so nearly always; a live group is present */
        before.quad = last;
        before.width = heads->width[(q - 1) * FLOE_HUFFMAN_QUAD_GROUPS + floe_top_bit(last)];
        return before;
    }
    for (uint32_t p = q; p > first; p--)
        if (floe_huffman_quad_of(heads->present, p - 1)) {
            before.quad = floe_huffman_quad_of(heads->live, p - 1);
            break;
        }
    for (uint32_t p = q; p > first; p--) {
        uint32_t live = floe_huffman_quad_of(heads->live, p - 1);
        if (live) {
            before.width = heads->width[(p - 1) * FLOE_HUFFMAN_QUAD_GROUPS + floe_top_bit(live)];
            break;
        }
    }
    return before;
}

/* ---- counting ---- */

/* One a warp, by value; weight is added for each symbol: 1, or -1 to take back what was counted. */
typedef struct floe_huffman_counter {
    uint32_t *bins; /* shared by the block: FLOE_HUFFMAN_BINS */
    floe_huffman_heads *heads;
    uint32_t weight;
    uint32_t zeros; /* of this lane: symbols 0 of widths 1..4, a byte each, kept back as the most frequent of all */
} floe_huffman_counter;

FLOE_DEV floe_huffman_counter floe_huffman_counter_start(uint32_t *bins, floe_huffman_heads *heads, uint32_t weight)
{
    floe_huffman_counter c = {bins, heads, weight, 0};
    __syncwarp(); /* the heads of the tile before have been read */
    return c;
}

/* residuals: zigzag numbers of this lane's group; planes: their planes 0..3, which are read for widths 1..4 only (they
 * must be 0 beyond the width). The whole warp; steps in any order, each once. */
template <class Uint>
FLOE_DEV void floe_huffman_count_step(floe_huffman_counter &c, uint32_t s, const Uint residuals[32],
                                      const uint32_t planes[4], uint32_t width, bool flat, bool present)
{
    floe_huffman_heads_set(c.heads, s, width, flat, present);
    if (width == 0)
        return;
    uint32_t symbols[8], zeros = 0;
    const uint32_t n = floe_huffman_symbols(width, residuals, planes, symbols);
    uint32_t *bins = c.bins + floe_huffman_bin(floe_huffman_value_table(width));
#pragma unroll
    for (int j = 0; j < 8; j++)
        if (4 * j < (int)n) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint32_t symbol = symbols[j] >> 8 * i & 0xFF;
                if (symbol)
                    atomicAdd(&bins[symbol], c.weight);
                else
                    zeros++;
            }
        }
    if (width <= 4)
        c.zeros += zeros << 8 * (width - 1); /* at most 16 a step: no carry */
    else if (zeros)
        atomicAdd(bins, zeros * c.weight);
}

/* The quad and header symbols; false without any. The whole warp, for which heads are synchronized. */
FLOE_DEV bool floe_huffman_count_heads(const floe_huffman_counter &c, uint32_t nsteps)
{
    const uint32_t log = floe_huffman_heads_log(c.heads, nsteps);
    if (log == FLOE_HUFFMAN_NO_LIVE)
        return false;
    for (uint32_t q = floe_lane(); q < nsteps * FLOE_HUFFMAN_STEP_QUADS; q += FLOE_WARP) {
        if (floe_huffman_quad_of(c.heads->present, q) == 0)
            continue;
        const uint32_t first = floe_huffman_lane_quad(floe_huffman_lane_of(q, log, nsteps), log, nsteps);
        const uint32_t live = floe_huffman_quad_of(c.heads->live, q);
        const uint32_t flat = floe_huffman_quad_of(c.heads->flat, q);
        floe_huffman_before before = floe_huffman_before_quad(c.heads, q, first);
        atomicAdd(&c.bins[floe_huffman_bin(floe_huffman_quad_table(before.quad)) + live], c.weight);
        for (uint32_t i = 0; i < FLOE_HUFFMAN_QUAD_GROUPS; i++) {
            const uint32_t width = c.heads->width[q * FLOE_HUFFMAN_QUAD_GROUPS + i];
            if (!(live >> i & 1))
                continue;
            const uint32_t header = 2 * width + (flat >> i & 1);
            atomicAdd(&c.bins[floe_huffman_bin(floe_huffman_header_table(before.width)) + header], c.weight);
            before.width = width;
        }
    }
    return true;
}

/* The quad and header symbols, and what was kept back. The whole warp. */
FLOE_DEV void floe_huffman_count_end(floe_huffman_counter &c, uint32_t nsteps)
{
    __syncwarp();
    if (!floe_huffman_count_heads(c, nsteps))
        return;
    for (uint32_t width = 1; width <= 4; width++) {
        uint32_t sum = __reduce_add_sync(FLOE_ALL_LANES, c.zeros >> 8 * (width - 1) & 0xFF);
        if (sum && floe_lane() == 0)
            atomicAdd(&c.bins[floe_huffman_bin(floe_huffman_value_table(width))], sum * c.weight);
    }
}

/* The whole block; the caller synchronizes. */
FLOE_DEV void floe_huffman_bins_clear(uint32_t *bins)
{
    for (uint32_t i = threadIdx.x; i < FLOE_HUFFMAN_BINS; i += blockDim.x)
        bins[i] = 0;
}

/* Adds them to a histogram in device memory. The whole block; the caller synchronizes before. Sums of counts and of what
 * was taken back are modulo 2^32, so their order does not matter. */
FLOE_DEV void floe_huffman_bins_add(const uint32_t *bins, floe_huffman_hist *hist)
{
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        for (uint32_t s = threadIdx.x; s < floe_huffman_alphabet(t); s += blockDim.x) {
            const uint32_t n = bins[floe_huffman_bin(t) + s];
            if (n)
                atomicAdd(&hist->count[t][s], n);
        }
}

#endif
