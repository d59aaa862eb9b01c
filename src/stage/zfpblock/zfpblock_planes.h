/* SPDX-License-Identifier: BSD-3-Clause */
/* Bit planes of a block's coefficients, in the order of the stream: coefficient i is bit i % 64 of word i / 64. */
#ifndef FLOE_STAGE_ZFPBLOCK_PLANES_H
#define FLOE_STAGE_ZFPBLOCK_PLANES_H

#include "base/real.h"
#include "stage/zfpblock/zfpblock.h"

enum { FLOE_ZFP_PLANE_WORDS = FLOE_ZFP_BLOCK_VALUES / 64 };

/* plane[w][b]: word w of bit plane b; only the first word where the rank is below 4. */
typedef struct floe_zfp_planes {
    uint64_t plane[FLOE_ZFP_PLANE_WORDS][FLOE_REAL_BITS];
} floe_zfp_planes;

/* The order of 16 or 64 coefficients as byte shuffles: of dst's 16-byte lanes from src's, for vector units that move bytes
 * within a lane. to: from the block to the stream; from: back. */
typedef struct floe_zfp_shuffles {
    _Alignas(32) uint8_t to[4][64],
        from[4][64]; /* [lane of the source][byte of the result]: byte in the lane, or 128 */
} floe_zfp_shuffles;

void FLOE_V(floe_zfp_shuffles_init)(floe_zfp_shuffles *shuffles, uint32_t rank);

/* The planes from bit `low` (rounded down to a multiple of 8) to `high` - 1 (up to a multiple of 8) of a block of 4^rank
 * coefficients in base -2, each at its place in the block. */
void FLOE_V(floe_zfp_planes_split)(const floe_zfp_shuffles *shuffles, const floe_uint *block, uint32_t rank,
                                   uint32_t low, uint32_t high, floe_zfp_planes *planes);

/* The way back; planes outside low .. high - 1 count as 0, and must be 0 in that range rounded to bytes where the rank is
 * above 1. */
void FLOE_V(floe_zfp_planes_join)(const floe_zfp_shuffles *shuffles, const floe_zfp_planes *planes, uint32_t rank,
                                  uint32_t low, uint32_t high, floe_uint *block);

#endif
