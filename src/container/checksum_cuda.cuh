/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XXH3-64 and the checksum of checksum.h by warps. Data is in device or shared memory and begins at a multiple of 8; no byte
 * beyond it is read. All lanes of a warp call together, with the same arguments, and get the same hash.
 */
#ifndef FLOE_CONTAINER_CHECKSUM_CUDA_CUH
#define FLOE_CONTAINER_CHECKSUM_CUDA_CUH

#include "backend/device_scan.cuh"
#include "base/checksum.h"
#include "base/xxh3_math.h"

enum {
    FLOE_STAGE_WORDS = 32, /* shared memory of a warp that hashes: room for FLOE_XXH3_SHORT_MAX bytes, as whole words */
    /* A lane has this many words of a block of 16 stripes; word k is of stripe 4 k + lane / 8, accumulator lane % 8. */
    FLOE_LANE_WORDS = FLOE_XXH3_BLOCK / 8 / FLOE_WARP
};

/* 8 bytes from anywhere. */
FLOE_DEV uint64_t floe_load8_anywhere(const uint8_t *p)
{
    if ((uintptr_t)p % 8 == 0)
        return *(const uint64_t *)p;
    if ((uintptr_t)p % 4 == 0)
        return ((const uint32_t *)p)[0] | (uint64_t)((const uint32_t *)p)[1] << 32;
    return floe_xxh3_word32(p) | (uint64_t)floe_xxh3_word32(p + 4) << 32;
}

/* Word i of data of n bytes, whose missing bytes are 0. */
FLOE_DEV uint64_t floe_load8_cut(const uint8_t *p, uint32_t n, uint32_t i)
{
    if (8 * i + 8 <= n)
        return *(const uint64_t *)(p + 8 * i);
    uint64_t v = 0;
    for (uint32_t k = 8 * i; k < n; k++)
        v |= (uint64_t)p[k] << 8 * (k % 8);
    return v;
}

/* ---- up to 240 bytes: a lane has a term --------------------------------------------------------------------------- */

/* stage: the data, and zeros behind it up to FLOE_STAGE_WORDS; seen by all lanes. */
FLOE_DEV uint64_t floe_warp_xxh3_staged(const uint64_t *stage, uint32_t n)
{
    const uint32_t lane = floe_lane();
    const uint8_t *s = (const uint8_t *)stage;
    if (n <= 16)
        return floe_xxh3_0_16(s, n);
    if (n <= 128) {
        uint64_t term = lane < floe_xxh3_17_128_terms(n) ? floe_xxh3_17_128_term(s, n, lane) : 0;
        return floe_xxh3_17_128_end(n, floe_warp_sum(term));
    }
    uint64_t term = lane < floe_xxh3_129_240_terms(n) ? floe_xxh3_129_240_term(s, n, lane) : 0;
    bool first = lane < FLOE_XXH3_129_240_FIRST;
    return floe_xxh3_129_240_end(n, floe_warp_sum(first ? term : 0), floe_warp_sum(first ? 0 : term));
}

FLOE_DEV uint64_t floe_warp_xxh3_short(const uint8_t *p, uint32_t n, uint64_t *stage)
{
    __syncwarp();
    stage[floe_lane()] = floe_load8_cut(p, n, floe_lane());
    __syncwarp();
    return floe_warp_xxh3_staged(stage, n);
}

/* ---- more: a lane has an accumulator, as have three others -------------------------------------------------------- */

/* The secret's words for this lane. */
struct floe_lane_keys {
    uint64_t word[FLOE_LANE_WORDS], scramble;
};

FLOE_DEV floe_lane_keys floe_lane_keys_load()
{
    const uint32_t lane = floe_lane();
    floe_lane_keys keys;
#pragma unroll
    for (int k = 0; k < FLOE_LANE_WORDS; k++)
        keys.word[k] = floe_xxh3_key(8 * (4 * k + lane / 8 + lane % 8));
    keys.scramble = floe_xxh3_key(FLOE_XXH3_AT_SCRAMBLE + 8 * (lane % 8));
    return keys;
}

/* What words add to the accumulators: to their own, and to its neighbour. */
struct floe_lane_sum {
    uint64_t own, neighbour;
};
FLOE_DEV void floe_lane_add(floe_lane_sum *s, uint64_t v, uint64_t key)
{
    s->own += floe_xxh3_product(v ^ key);
    s->neighbour += v;
}
/* The sum of all lanes that have the same accumulator. */
FLOE_DEV uint64_t floe_lane_join(floe_lane_sum s)
{
    uint64_t v = s.own + __shfl_xor_sync(FLOE_ALL_LANES, s.neighbour, 1);
    v += __shfl_xor_sync(FLOE_ALL_LANES, v, 8);
    return v + __shfl_xor_sync(FLOE_ALL_LANES, v, 16);
}

/* What the last 64 bytes add in the end, with a secret of their own. Lane i < 8 has word i of them. */
FLOE_DEV uint64_t floe_lane_last(uint64_t v)
{
    floe_lane_sum s = {0, 0};
    if (floe_lane() < FLOE_XXH3_LANES)
        floe_lane_add(&s, v, floe_xxh3_key(FLOE_XXH3_AT_LAST_STRIPE + 8 * floe_lane()));
    return floe_lane_join(s);
}

/* The hash, from the accumulators behind the last block. */
FLOE_DEV uint64_t floe_lane_merge(uint64_t acc, uint64_t last, uint32_t n)
{
    acc = (acc + floe_lane_last(last)) ^ floe_xxh3_key(FLOE_XXH3_AT_MERGE + 8 * (floe_lane() % 8));
    uint64_t folds = floe_xxh3_fold(acc, __shfl_xor_sync(FLOE_ALL_LANES, acc, 1)); /* both of a pair have it */
    folds += __shfl_xor_sync(FLOE_ALL_LANES, folds, 2);
    folds += __shfl_xor_sync(FLOE_ALL_LANES, folds, 4);
    return floe_xxh3_long_end(n, folds);
}

/* The last 64 bytes of a piece that is not short: lane i has word i % 8. To be loaded before the sums are waited for. */
FLOE_DEV uint64_t floe_lane_last_load(const uint8_t *p, uint32_t n)
{
    return n > FLOE_XXH3_SHORT_MAX ? floe_load8_anywhere(p + n - FLOE_XXH3_STRIPE + 8 * (floe_lane() % 8)) : 0;
}

/* More than FLOE_XXH3_SHORT_MAX bytes, block after block. Out of line: it is called from several places, and a call is nothing
 * beside 16 KiB. Sums of blocks do not wait for one another, so that several are on their way. */
FLOE_DEV_COLD uint64_t floe_warp_xxh3_long(const uint8_t *p, uint32_t n)
{
    const uint32_t lane = floe_lane(), nstripes = (n - 1) / FLOE_XXH3_STRIPE, nblocks = (n - 1) / FLOE_XXH3_BLOCK;
    const uint64_t last = floe_lane_last_load(p, n), *words = (const uint64_t *)p + lane;
    const floe_lane_keys keys = floe_lane_keys_load();
    uint64_t acc = floe_xxh3_start(lane % 8);
#pragma unroll 4
    for (uint32_t b = 0; b <= nblocks; b++) {
        floe_lane_sum s = {0, 0};
#pragma unroll
        for (uint32_t k = 0; k < FLOE_LANE_WORDS; k++)
            if (16 * b + 4 * k + lane / 8 < nstripes)
                floe_lane_add(&s, words[128 * b + 32 * k], keys.word[k]);
        acc += floe_lane_join(s);
        if (b < nblocks)
            acc = floe_xxh3_scramble(acc, keys.scramble);
    }
    return floe_lane_merge(acc, last, n);
}

/* ---- a piece shared by the warps of a block ------------------------------------------------------------------------ */

/*
 * Only the scramble between blocks is a chain: what a block adds depends on its data alone. So every warp adds up two blocks
 * of a piece, and in the end one warp does the chain.
 */
enum {
    FLOE_PIECE_BLOCKS = FLOE_CHECKSUM_PIECE / FLOE_XXH3_BLOCK,
    FLOE_PIECE_WARPS = 8, /* that share a piece */
    FLOE_SHARE_BLOCKS = FLOE_PIECE_BLOCKS / FLOE_PIECE_WARPS
};

typedef uint64_t floe_piece_sums[FLOE_PIECE_BLOCKS][FLOE_XXH3_LANES];

/* A warp's share of a piece in registers. */
struct floe_lane_share {
    uint64_t v[FLOE_SHARE_BLOCKS][FLOE_LANE_WORDS];
};

/* Whole stripes of a piece of n bytes that are not the last 64 bytes; a short piece has none. */
FLOE_DEV uint32_t floe_piece_stripes(uint32_t n) { return n > FLOE_XXH3_SHORT_MAX ? (n - 1) / FLOE_XXH3_STRIPE : 0; }

/* All of a share: most are, and need not look at each word. */
FLOE_DEV bool floe_share_is_full(uint32_t n, uint32_t warp)
{
    return 16 * FLOE_SHARE_BLOCKS * (warp + 1) <= floe_piece_stripes(n);
}

FLOE_DEV void floe_lane_share_load(floe_lane_share *share, const uint8_t *p, uint32_t n, uint32_t warp)
{
    const uint32_t first = 16 * FLOE_SHARE_BLOCKS * warp + floe_lane() / 8, nstripes = floe_piece_stripes(n);
    const uint64_t *words = (const uint64_t *)p + 128 * FLOE_SHARE_BLOCKS * warp + floe_lane();
    if (floe_share_is_full(n, warp)) {
#pragma unroll
        for (uint32_t b = 0; b < FLOE_SHARE_BLOCKS; b++)
#pragma unroll
            for (uint32_t k = 0; k < FLOE_LANE_WORDS; k++)
                share->v[b][k] = words[128 * b + 32 * k];
        return;
    }
#pragma unroll
    for (uint32_t b = 0; b < FLOE_SHARE_BLOCKS; b++)
#pragma unroll
        for (uint32_t k = 0; k < FLOE_LANE_WORDS; k++)
            share->v[b][k] = first + 16 * b + 4 * k < nstripes ? words[128 * b + 32 * k] : 0;
}

/* What the share's blocks add, to shared memory; 0 where there is nothing: words that are not there are 0, and but for their
 * product add nothing. */
FLOE_DEV void floe_lane_share_add(const floe_lane_share *share, const floe_lane_keys *keys, uint32_t n, uint32_t warp,
                                  floe_piece_sums sums)
{
    const uint32_t first = 16 * FLOE_SHARE_BLOCKS * warp + floe_lane() / 8, nstripes = floe_piece_stripes(n);
    const bool full = floe_share_is_full(n, warp);
#pragma unroll
    for (uint32_t b = 0; b < FLOE_SHARE_BLOCKS; b++) {
        floe_lane_sum s = {0, 0};
#pragma unroll
        for (uint32_t k = 0; k < FLOE_LANE_WORDS; k++) {
            floe_lane_sum more = {0, 0};
            floe_lane_add(&more, share->v[b][k], keys->word[k]);
            s.own += full || first + 16 * b + 4 * k < nstripes ? more.own : 0;
            s.neighbour += more.neighbour;
        }
        const uint64_t sum = floe_lane_join(s);
        if (floe_lane() < FLOE_XXH3_LANES)
            sums[FLOE_SHARE_BLOCKS * warp + b][floe_lane()] = sum;
    }
}

/* The hash of a piece that is not short, from all shares. By a warp. */
FLOE_DEV uint64_t floe_warp_piece_end(const floe_piece_sums sums, uint64_t last, uint32_t n)
{
    const uint32_t i = floe_lane() % 8, nblocks = (n - 1) / FLOE_XXH3_BLOCK;
    const uint64_t key = floe_xxh3_key(FLOE_XXH3_AT_SCRAMBLE + 8 * i);
    uint64_t acc = floe_xxh3_start(i);
#pragma unroll
    for (uint32_t b = 0; b < FLOE_PIECE_BLOCKS; b++) {
        acc += sums[b][i];
        if (b < nblocks)
            acc = floe_xxh3_scramble(acc, key);
    }
    return floe_lane_merge(acc, last, n);
}

/* ---- any size ------------------------------------------------------------------------------------------------------ */

/* n below 2^31; stage: FLOE_STAGE_WORDS of the warp in shared memory. */
FLOE_DEV uint64_t floe_warp_xxh3(const uint8_t *p, uint32_t n, uint64_t *stage)
{
    return n > FLOE_XXH3_SHORT_MAX ? floe_warp_xxh3_long(p, n) : floe_warp_xxh3_short(p, n, stage);
}

FLOE_DEV uint64_t floe_checksum_pieces(uint64_t nbytes)
{
    return nbytes ? floe_ceil_div(nbytes, FLOE_CHECKSUM_PIECE) : 1;
}

/* The terms of pieces first, first + step, ... below end, of nbytes bytes of data. */
FLOE_DEV uint64_t floe_warp_checksum_terms(const uint8_t *p, uint64_t nbytes, uint64_t first, uint64_t step,
                                           uint64_t end, uint64_t *stage)
{
    uint64_t sum = 0;
    for (uint64_t i = first; i < end; i += step) {
        uint64_t at = i * FLOE_CHECKSUM_PIECE;
        uint64_t hash = floe_warp_xxh3(p + at, (uint32_t)floe_min64(nbytes - at, FLOE_CHECKSUM_PIECE), stage);
        sum += floe_checksum_term(hash, i);
    }
    return sum;
}

#endif
