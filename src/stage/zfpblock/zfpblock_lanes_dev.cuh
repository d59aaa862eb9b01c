/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a warp holds blocks: up to three axes a lane has a block of its own, 32 blocks at a time; of four axes four lanes
 * share one, each with a cube, 8 blocks at a time. What a lane codes bit by bit stands in the warp's shared memory, plane by
 * plane, the highest first.
 */
#ifndef FLOE_STAGE_ZFPBLOCK_LANES_DEV_CUH
#define FLOE_STAGE_ZFPBLOCK_LANES_DEV_CUH

#include "stage/zfpblock/zfpblock_cells_dev.cuh"
#include "backend/device.cuh"

/* Bit planes <-> coefficients in one lane's registers. Each lane turns a block of its own, so that nothing is exchanged. */
enum { FLOE_ZFP_TURN = 8 }; /* planes at a time */

/* Rows i and i + by change those bits of theirs that `mask` does not and does name. */
FLOE_DEV void floe_zfp_swap_bits(uint32_t &a, uint32_t &b, uint32_t by, uint32_t mask)
{
    const uint32_t low = (a & mask) | ((b << by) & ~mask), high = ((a >> by) & mask) | (b & ~mask);
    a = low;
    b = high;
}

/* In each byte column: bit j of row i <-> bit i of row j. */
FLOE_DEV void floe_zfp_turn_bits(uint32_t r[FLOE_ZFP_TURN])
{
#pragma unroll
    for (int i = 0; i < 8; i += 2)
        floe_zfp_swap_bits(r[i], r[i + 1], 1, 0x55555555u);
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
        floe_zfp_swap_bits(r[i], r[i + 2], 2, 0x33333333u);
        floe_zfp_swap_bits(r[i + 1], r[i + 3], 2, 0x33333333u);
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        floe_zfp_swap_bits(r[i], r[i + 4], 4, 0x0F0F0F0Fu);
}

/* Four words, of which w[0] has the highest byte of what they stand for: byte b of w[i] <-> byte 3 - i of w[b]. */
FLOE_DEV void floe_zfp_turn_bytes(uint32_t &w0, uint32_t &w1, uint32_t &w2, uint32_t &w3)
{
    const uint32_t high01 = __byte_perm(w1, w0, 0x5140), high23 = __byte_perm(w1, w0, 0x7362);
    const uint32_t low01 = __byte_perm(w3, w2, 0x5140), low23 = __byte_perm(w3, w2, 0x7362);
    w0 = __byte_perm(low01, high01, 0x5410);
    w1 = __byte_perm(low01, high01, 0x7632);
    w2 = __byte_perm(low23, high23, 0x5410);
    w3 = __byte_perm(low23, high23, 0x7632);
}
/* Its inverse. */
FLOE_DEV void floe_zfp_turn_bytes_back(uint32_t &w0, uint32_t &w1, uint32_t &w2, uint32_t &w3)
{
    const uint32_t high01 = __byte_perm(w0, w1, 0x7632), high23 = __byte_perm(w2, w3, 0x7632);
    const uint32_t low01 = __byte_perm(w0, w1, 0x5410), low23 = __byte_perm(w2, w3, 0x5410);
    w0 = __byte_perm(high01, high23, 0x7531);
    w1 = __byte_perm(high01, high23, 0x6420);
    w2 = __byte_perm(low01, low23, 0x7531);
    w3 = __byte_perm(low01, low23, 0x6420);
}

/* 32 coefficients and as many planes, of which the first 8 * nturns are there, the highest first: plane(i) is called for
 * those. All lanes have the same nturns. coef[i]: bit 31 - k is bit i of plane k. */
template <class Plane> FLOE_DEV void floe_zfp_join32(uint32_t coef[FLOE_WARP], uint32_t nturns, Plane plane)
{
    uint32_t row[4][FLOE_ZFP_TURN];
#pragma unroll
    for (uint32_t t = 0; t < 4; t++) {
#pragma unroll
        for (uint32_t i = 0; i < FLOE_ZFP_TURN; i++)
            row[t][i] = 0;
        if (t < nturns) {
#pragma unroll
            for (uint32_t i = 0; i < FLOE_ZFP_TURN; i++)
                row[t][7 - i] = plane(8 * t + i);
            floe_zfp_turn_bits(row[t]);
        }
    }
#pragma unroll
    for (uint32_t j = 0; j < FLOE_ZFP_TURN; j++) {
        floe_zfp_turn_bytes(row[0][j], row[1][j], row[2][j], row[3][j]);
#pragma unroll
        for (uint32_t b = 0; b < 4; b++)
            coef[8 * b + j] = row[b][j];
    }
}

/* The way back: plane(i, bits) is called for the first 8 * nturns. */
template <class Plane> FLOE_DEV void floe_zfp_split32(const uint32_t coef[FLOE_WARP], uint32_t nturns, Plane plane)
{
    uint32_t row[4][FLOE_ZFP_TURN];
#pragma unroll
    for (uint32_t j = 0; j < FLOE_ZFP_TURN; j++) {
#pragma unroll
        for (uint32_t b = 0; b < 4; b++)
            row[b][j] = coef[8 * b + j];
        floe_zfp_turn_bytes_back(row[0][j], row[1][j], row[2][j], row[3][j]);
    }
#pragma unroll
    for (uint32_t t = 0; t < 4; t++)
        if (t < nturns) {
            floe_zfp_turn_bits(row[t]);
#pragma unroll
            for (uint32_t i = 0; i < FLOE_ZFP_TURN; i++)
                plane(8 * t + i, row[t][7 - i]);
        }
}

enum { FLOE_ZFP_HALVES = FLOE_REAL_BITS / FLOE_WARP };

template <uint32_t RANK> struct floe_zfp_lanes {
    enum {
        SIZE = 1 << 2 * RANK,                    /* coefficients of a block */
        VALUES = RANK > 3 ? 64 : SIZE,           /* of a lane */
        SHARE = SIZE / VALUES,                   /* lanes that share a block */
        BLOCKS = FLOE_WARP / SHARE,              /* of a warp */
        WORDS = SIZE > 32 ? SIZE / 32 : 1,       /* of a plane */
        LANE_WORDS = VALUES > 32 ? 2 : 1,        /* of a plane, of a lane's coefficients */
        PLANES = FLOE_REAL_BITS * WORDS * BLOCKS /* words of a warp's planes; of four axes its values fit, too */
    };
};

/* Word w of plane k of block b of the warp. */
template <uint32_t RANK> FLOE_DEV uint32_t floe_zfp_plane_at(uint32_t k, uint32_t w, uint32_t b)
{
    return (k * floe_zfp_lanes<RANK>::WORDS + w) * floe_zfp_lanes<RANK>::BLOCKS + b;
}

/* Planes, of which 8 * nturns are there -> coefficients in the order of the stream, the highest plane in the highest bit. */
template <uint32_t RANK>
FLOE_DEV void floe_zfp_join(const uint32_t *planes, uint32_t block, uint32_t share, uint32_t nturns, floe_uint *coefs)
{
    typedef floe_zfp_lanes<RANK> lanes;
    enum { MOST = lanes::VALUES < 32 ? lanes::VALUES : 32 };
#pragma unroll
    for (uint32_t w = 0; w < lanes::LANE_WORDS; w++) {
#pragma unroll
        for (uint32_t h = 0; h < FLOE_ZFP_HALVES; h++) {
            uint32_t part[FLOE_WARP];
            floe_zfp_join32(part, nturns < 4 * h ? 0 : nturns - 4 * h, [&](uint32_t k) {
                return planes[floe_zfp_plane_at<RANK>(32 * h + k, lanes::LANE_WORDS * share + w, block)];
            });
#pragma unroll
            for (uint32_t i = 0; i < MOST; i++)
                coefs[32 * w + i] = (h ? coefs[32 * w + i] : 0) | (floe_uint)part[i] << (FLOE_REAL_BITS - 32 * (h + 1));
        }
    }
}

/* The way back: the first 8 * nturns planes. */
template <uint32_t RANK>
FLOE_DEV void floe_zfp_split(uint32_t *planes, uint32_t block, uint32_t share, uint32_t nturns, const floe_uint *coefs)
{
    typedef floe_zfp_lanes<RANK> lanes;
    enum { MOST = lanes::VALUES < 32 ? lanes::VALUES : 32 };
#pragma unroll
    for (uint32_t w = 0; w < lanes::LANE_WORDS; w++) {
#pragma unroll
        for (uint32_t h = 0; h < FLOE_ZFP_HALVES; h++) {
            uint32_t part[FLOE_WARP];
#pragma unroll
            for (uint32_t i = 0; i < FLOE_WARP; i++)
                part[i] = i < MOST ? (uint32_t)(coefs[32 * w + i % MOST] >> (FLOE_REAL_BITS - 32 * (h + 1))) : 0;
            floe_zfp_split32(part, nturns < 4 * h ? 0 : nturns - 4 * h, [&](uint32_t k, uint32_t bits) {
                planes[floe_zfp_plane_at<RANK>(32 * h + k, lanes::LANE_WORDS * share + w, block)] = bits;
            });
        }
    }
}

/* Turns of 8 planes that some lane needs. All lanes. */
FLOE_DEV uint32_t floe_zfp_turns(uint32_t nplanes)
{
    uint32_t nturns = 0;
    while (nturns < FLOE_REAL_BITS / FLOE_ZFP_TURN && __any_sync(FLOE_ALL_LANES, nplanes > FLOE_ZFP_TURN * nturns))
        nturns++;
    return nturns;
}

/* Steps of a transform along an axis whose neighbours are `apart` values from one another, all of `n` values. */
#define FLOE_ZFP_ALONG(n, apart, step)                                          \
    _Pragma("unroll") for (uint32_t i_ = 0; i_ < (n) / 4; i_++)                 \
    {                                                                           \
        const uint32_t o_ = i_ / (apart)*4 * (apart) + i_ % (apart);            \
        step(v[o_], v[o_ + (apart)], v[o_ + 2 * (apart)], v[o_ + 3 * (apart)]); \
    }

template <bool UNDO, bool REVERSIBLE>
FLOE_DEV void floe_zfp_line(floe_uint &x, floe_uint &y, floe_uint &z, floe_uint &w)
{
    if (REVERSIBLE && UNDO)
        FLOE_ZFP_SUM(x, y, z, w);
    else if (REVERSIBLE)
        FLOE_ZFP_DIFFER(x, y, z, w);
    else if (UNDO)
        FLOE_ZFP_UNLIFT(floe_uint, floe_int, x, y, z, w);
    else
        FLOE_ZFP_LIFT(floe_uint, floe_int, x, y, z, w);
}

/* The three fastest axes of a lane's values. */
template <uint32_t RANK, bool UNDO, bool REVERSIBLE> FLOE_DEV void floe_zfp_cube(floe_uint *v)
{
    enum { N = floe_zfp_lanes<RANK>::VALUES };
    if (!UNDO)
        FLOE_ZFP_ALONG(N, 1, (floe_zfp_line<UNDO, REVERSIBLE>));
    if (UNDO && RANK > 2)
        FLOE_ZFP_ALONG(N, 16, (floe_zfp_line<UNDO, REVERSIBLE>));
    if (RANK > 1)
        FLOE_ZFP_ALONG(N, 4, (floe_zfp_line<UNDO, REVERSIBLE>));
    if (!UNDO && RANK > 2)
        FLOE_ZFP_ALONG(N, 16, (floe_zfp_line<UNDO, REVERSIBLE>));
    if (UNDO)
        FLOE_ZFP_ALONG(N, 1, (floe_zfp_line<UNDO, REVERSIBLE>));
}

/* ---- four axes: what lanes exchange, through the warp's shared memory -------------------------------------------------- */

/* Value i (of 256) of block b. */
FLOE_DEV uint32_t floe_zfp_swap_at(uint32_t i, uint32_t b) { return i * floe_zfp_lanes<4>::BLOCKS + b; }

/* Along the fourth axis; lane `share` takes the lines that cross plane z = share of all cubes. */
template <bool UNDO, bool REVERSIBLE>
FLOE_DEV void floe_zfp_cross_cubes(floe_uint *swap, uint32_t block, uint32_t share)
{
    floe_uint v[64];
#pragma unroll
    for (uint32_t i = 0; i < 64; i++)
        v[i] = swap[floe_zfp_swap_at(i / 16 * 64 + 16 * share + i % 16, block)];
    FLOE_ZFP_ALONG(64, 16, (floe_zfp_line<UNDO, REVERSIBLE>));
#pragma unroll
    for (uint32_t i = 0; i < 64; i++)
        swap[floe_zfp_swap_at(i / 16 * 64 + 16 * share + i % 16, block)] = v[i];
}

/* UNDO: coefficients 64 * share .. of the stream -> the block's cube number `share`, crossed. Else the way back. */
template <bool UNDO, bool REVERSIBLE>
FLOE_DEV void floe_zfp_exchange(uint32_t *planes, uint32_t block, uint32_t share, floe_uint *v)
{
    floe_uint *swap = (floe_uint *)planes;
    const uint8_t *order = floe_zfp_order(4) + 64 * share;
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < 64; i++)
        swap[floe_zfp_swap_at(UNDO ? order[i] : 64 * share + i, block)] = v[i];
    __syncwarp();
    floe_zfp_cross_cubes<UNDO, REVERSIBLE>(swap, block, share);
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < 64; i++)
        v[i] = swap[floe_zfp_swap_at(UNDO ? 64 * share + i : order[i], block)];
    __syncwarp();
}

#endif
