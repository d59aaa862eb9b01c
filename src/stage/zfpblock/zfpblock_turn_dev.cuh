/* SPDX-License-Identifier: BSD-3-Clause */
/* Bit planes <-> coefficients in one lane's registers. Each lane turns a block of its own, so that nothing is exchanged. */
#ifndef FLOE_STAGE_ZFPBLOCK_TURN_DEV_CUH
#define FLOE_STAGE_ZFPBLOCK_TURN_DEV_CUH

#include "backend/device.cuh"

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

#endif
