/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How tiles of zfp blocks that are coded side by side become one stream in one pass. A tile publishes its length first; its bits
 * lie ready in a buffer, and when the tiles in front have published where it begins they leave in whole words.
 * Words that two tiles share wait for another kernel.
 *
 * A tile but the last has 32 bits or more: no word is shared by three.
 */
#ifndef FLOE_CODEC_ZFP_GPU_ZFP_TILES_CUH
#define FLOE_CODEC_ZFP_GPU_ZFP_TILES_CUH

#include "backend/device_scan.cuh"
#include "codec/zfp/gpu/zfp_grid.h"

enum { FLOE_ZFP_TILE_THREADS = FLOE_ZFP_TILE_WARPS * FLOE_WARP, FLOE_ZFP_STATE_BITS = 62 };

/* What a tile has published: nothing, its length, or where it ends, counted from the first one's beginning. */
enum { FLOE_ZFP_TILE_NOTHING = 0, FLOE_ZFP_TILE_LENGTH = 1, FLOE_ZFP_TILE_END = 2 };
#define FLOE_ZFP_STATE_MASK (((uint64_t)1 << FLOE_ZFP_STATE_BITS) - 1)

/* The bits that a tile has of the words that it shares: the one in which it begins, and, if that is another, in which it
 * ends. */
struct floe_zfp_edges {
    uint32_t first, last;
};

/* The tiles of one stream. */
struct floe_zfp_tiles {
    uint32_t *dst;
    uint64_t capacity_words;
    uint32_t begin;  /* the first tile's bit in dst */
    uint64_t *state; /* of each tile: 0 at first */
    floe_zfp_edges *edges;
};

/* ---- where a tile begins --------------------------------------------------------------------------------------------- */

FLOE_DEV void floe_zfp_publish(const floe_zfp_tiles &t, uint64_t tile, uint32_t what, uint64_t nbits)
{
    floe_store_shared_state(t.state + tile, (uint64_t)what << FLOE_ZFP_STATE_BITS | nbits);
}

/* One warp: the sum of the lengths of all tiles in front, 32 at a time, back to one that has the place where it ends. */
FLOE_DEV uint64_t floe_zfp_look_back(const floe_zfp_tiles &t, uint64_t tile)
{
    uint64_t sum = 0;
    for (uint64_t behind = tile; behind > 0; behind -= floe_min64(behind, FLOE_WARP)) {
        uint64_t state = (uint64_t)FLOE_ZFP_TILE_END << FLOE_ZFP_STATE_BITS; /* in front of the first tile */
        if (floe_lane() < behind)
            while ((state = floe_load_shared_state(t.state + behind - 1 - floe_lane())) >> FLOE_ZFP_STATE_BITS ==
                   FLOE_ZFP_TILE_NOTHING)
                floe_dev_pause();
        const uint32_t ends = __ballot_sync(FLOE_ALL_LANES, state >> FLOE_ZFP_STATE_BITS == FLOE_ZFP_TILE_END);
        const uint32_t last = ends ? (uint32_t)__ffs((int)ends) - 1 : FLOE_WARP - 1;
        sum += floe_warp_sum(floe_lane() <= last ? state & FLOE_ZFP_STATE_MASK : (uint64_t)0);
        if (ends)
            break;
    }
    return sum;
}

/* ---- a tile's bits to the stream ---------------------------------------------------------------------------------------------------------- */

/* Word k of a tile that is moved up by `shift` bits; spilled words were written past L1. */
template <bool SPILLED> FLOE_DEV uint32_t floe_zfp_moved_word(const uint32_t *out, uint32_t k, uint32_t shift)
{
    const uint32_t low = k == 0 ? 0 : SPILLED ? __ldcg(out + k - 1) : out[k - 1];
    return __funnelshift_l(low, SPILLED ? __ldcg(out + k) : out[k], shift);
}

/* All threads of the block: the tile's words to the stream. at: its first bit, counted from the first tile's. */
template <bool SPILLED>
FLOE_DEV void floe_zfp_leave(const floe_zfp_tiles &t, uint64_t tile, uint64_t at, const uint32_t *out, uint32_t nbits)
{
    const uint64_t place = t.begin + at, first = place / 32;
    const uint32_t shift = (uint32_t)(place % 32), nfull = (shift + nbits) / 32;
    for (uint32_t k = threadIdx.x + (shift != 0); k < nfull; k += FLOE_ZFP_TILE_THREADS)
        if (first + k < t.capacity_words)
            t.dst[first + k] = floe_zfp_moved_word<SPILLED>(out, k, shift);
    if (threadIdx.x > 0)
        return;
    floe_zfp_edges e = {0, 0};
    if (shift)
        e.first = floe_zfp_moved_word<SPILLED>(out, 0, shift);
    if ((shift + nbits) % 32 && (nfull > 0 || shift == 0))
        e.last = floe_zfp_moved_word<SPILLED>(out, nfull, shift);
    t.edges[tile] = e;
}

/* ---- shared words ---------------------------------------------------------------------------------------------------- */

FLOE_DEV void floe_zfp_put_word(const floe_zfp_tiles &t, uint64_t i, uint32_t word)
{
    if (i < t.capacity_words)
        t.dst[i] = word;
}

/* For the thread of the last tile: the word in which it ends, and zeros up to 8 bytes. Returns where that is. */
FLOE_DEV uint64_t floe_zfp_finish_stream(const floe_zfp_tiles &t, uint64_t tile, uint64_t begin)
{
    const uint64_t end = t.begin + (t.state[tile] & FLOE_ZFP_STATE_MASK);
    const bool begun = begin % 32 && begin / 32 == end / 32; /* that word was put where the tile begins */
    if (end % 32 && !begun)
        floe_zfp_put_word(t, end / 32, t.edges[tile].last);
    if ((end + 31) / 32 % 2)
        floe_zfp_put_word(t, (end + 31) / 32, 0);
    return end;
}

/* A thread for each tile, when all have left: the word in which it begins. Returns that bit. */
FLOE_DEV uint64_t floe_zfp_finish_tile(const floe_zfp_tiles &t, uint64_t tile)
{
    const uint64_t begin = t.begin + (tile > 0 ? t.state[tile - 1] & FLOE_ZFP_STATE_MASK : 0), i = begin / 32;
    if (begin % 32 && i < t.capacity_words) {
        const uint32_t before = tile > 0 ? t.edges[tile - 1].last : t.dst[i] & ((1u << begin % 32) - 1);
        floe_zfp_put_word(t, i, before | t.edges[tile].first);
    }
    return begin;
}

/* The same for a stream of its own. *nbits: where it ends; *status: FLOE_ERR_CAPACITY if that is too far. */
int floe_zfp_finish_cuda(const floe_zfp_tiles *tiles, uint64_t ntiles, uint64_t *nbits, uint32_t *status, void *stream);

#endif
