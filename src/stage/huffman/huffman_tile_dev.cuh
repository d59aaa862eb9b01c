/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage huffman on a GPU: the symbols of a group, the heads of a tile (what shows which groups are live), and counting.
 * A warp owns a tile, a lane a group of each step, so lane and group have the same number.
 * huffman_code_dev.cuh codes, huffman_decode_dev.cuh decodes.
 *
 * Counting, by the whole block: floe_huffman_bins_clear before, floe_huffman_bins_add after, each with a __syncthreads between.
 */
#ifndef FLOE_STAGE_HUFFMAN_TILE_DEV_CUH
#define FLOE_STAGE_HUFFMAN_TILE_DEV_CUH

#include "backend/device_scan.cuh"
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

/* The same for the values of a group of width 1..8. */
FLOE_HD uint32_t floe_huffman_narrow_bin(uint32_t width)
{
    return 552 + 8 * ((uint32_t)(0x84746C6848402000u >> (8 * width - 8)) & 0xFF);
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

/* Byte k of bytes[j] to byte (8 k + j) % 4 of word (8 k + j) / 4. */
FLOE_DEV void floe_huffman_bytes_in_order(const uint32_t bytes[8], uint32_t ordered[8])
{
#pragma unroll
    for (int h = 0; h < 8; h += 4) {
        const uint32_t low01 = __byte_perm(bytes[h], bytes[h + 1], 0x5140),
                       high01 = __byte_perm(bytes[h], bytes[h + 1], 0x7362);
        const uint32_t low23 = __byte_perm(bytes[h + 2], bytes[h + 3], 0x5140),
                       high23 = __byte_perm(bytes[h + 2], bytes[h + 3], 0x7362);
        ordered[h / 4] = __byte_perm(low01, low23, 0x5410);
        ordered[2 + h / 4] = __byte_perm(low01, low23, 0x7632);
        ordered[4 + h / 4] = __byte_perm(high01, high23, 0x5410);
        ordered[6 + h / 4] = __byte_perm(high01, high23, 0x7632);
    }
}

/* ---- heads ---- */

/* What a tile's quad and header symbols follow from; shared memory, one a warp. */
typedef struct floe_huffman_heads {
    uint8_t width[FLOE_TILE_GROUPS];
    uint32_t flat[FLOE_TILE_STEPS], live[FLOE_TILE_STEPS], present[FLOE_TILE_STEPS];
} floe_huffman_heads;

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

/* ---- counting ------------------------------------------------------------------------------------------------------ */

/* The quad and header symbols of a tile; false without any. Thread `me` of so many, in whole warps, for which heads are
 * synchronized. */
FLOE_DEV bool floe_huffman_count_heads(uint32_t *bins, const floe_huffman_heads *heads, uint32_t nsteps, uint32_t me,
                                       uint32_t nthreads)
{
    const uint32_t log = floe_huffman_heads_log(heads, nsteps);
    if (log == FLOE_HUFFMAN_NO_LIVE)
        return false;
    for (uint32_t q = me; q < nsteps * FLOE_HUFFMAN_STEP_QUADS; q += nthreads) {
        if (floe_huffman_quad_of(heads->present, q) == 0)
            continue;
        const uint32_t first = floe_huffman_lane_quad(floe_huffman_lane_of(q, log, nsteps), log, nsteps);
        const uint32_t live = floe_huffman_quad_of(heads->live, q), flat = floe_huffman_quad_of(heads->flat, q);
        floe_huffman_before before = floe_huffman_before_quad(heads, q, first);
        atomicAdd(&bins[floe_huffman_bin(floe_huffman_quad_table(before.quad)) + live], 1u);
        for (uint32_t i = 0; i < FLOE_HUFFMAN_QUAD_GROUPS; i++) {
            const uint32_t width = heads->width[q * FLOE_HUFFMAN_QUAD_GROUPS + i];
            if (!(live >> i & 1))
                continue;
            const uint32_t header = 2 * width + (flat >> i & 1);
            atomicAdd(&bins[floe_huffman_bin(floe_huffman_header_table(before.width)) + header], 1u);
            before.width = width;
        }
    }
    return true;
}

/* The whole block; the caller synchronizes. */
FLOE_DEV void floe_huffman_bins_clear(uint32_t *bins)
{
    for (uint32_t i = threadIdx.x; i < FLOE_HUFFMAN_BINS; i += blockDim.x)
        bins[i] = 0;
}

/* Adds them to a histogram in device memory. The whole block; the caller synchronizes before. Sums of counts and of what
 * was taken back are modulo 2^32, so their order does not matter. A block of THREADS: all places are known then, else finding
 * them would take most of the time. */
template <int THREADS> FLOE_DEV void floe_huffman_bins_add(const uint32_t *bins, floe_huffman_hist *hist)
{
#pragma unroll
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
#pragma unroll
        for (uint32_t first = 0; first < floe_huffman_alphabet(t); first += THREADS) {
            const uint32_t s = first + threadIdx.x,
                           n = s < floe_huffman_alphabet(t) ? bins[floe_huffman_bin(t) + s] : 0;
            if (n)
                atomicAdd(&hist->count[t][s], n);
        }
}

#endif
