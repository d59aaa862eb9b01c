/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding a tile the short way by a block, a warp two steps: for fields of so few tiles that the latency of one warp that
 * walks through all steps would be all there is. The whole tile comes to shared memory first. Of the modes each warp prices
 * one; what it has to know of the plane before its own steps it quantizes itself. The numbers and words are those of
 * lorenzo_encode_fast.cuh, whose steps these are.
 */
#ifndef FLOE_CODEC_LORENZO_ENCODE_SPLIT_CUH
#define FLOE_CODEC_LORENZO_ENCODE_SPLIT_CUH

#include "backend/device_shared.cuh"
#include "codec/lorenzo_encode_fast.cuh"

namespace
{

enum {
    SPLIT_STEPS = 2, /* of a warp: one word of descriptors */
    SPLIT_WARPS = FLOE_TILE_STEPS / SPLIT_STEPS,
    SPLIT_BUFFER_WORDS = FLOE_TILE_STEPS * BUFFER_WORDS /* all steps */
};
static_assert((int)SPLIT_WARPS == (int)FLOE_LORENZO_MODES, "a warp prices the mode of its own number");

/* What a warp has made of its steps: words without the descriptors. */
struct split_part {
    uint32_t nwords, descriptors;
    bool coded, unfit, inexact; /* as in fast_result */
};

/* What the warps of a block tell one another; shared memory. */
struct split_shared {
    uint32_t costs[SPLIT_WARPS];
    split_part parts[SPLIT_WARPS];
};

FLOE_DEV uint32_t split_warp() { return threadIdx.x / FLOE_WARP; }

/* Copies the first step of a whole tile, which all warps wait for, by all of them; this warp's steps are on their way behind it. */
template <int RANK> FLOE_DEV void split_fetch(const fast_tile &t, uint32_t *buffers)
{
    const uint32_t first = SPLIT_STEPS * split_warp();
    fetch_pieces<RANK, PIECES / SPLIT_WARPS, false>(t, 0, PIECES / SPLIT_WARPS * split_warp(), buffers);
#pragma unroll
    for (uint32_t s = first; s < first + SPLIT_STEPS; s++)
        if (s > 0)
            fetch_step<RANK, false>(t, s, buffers + s * BUFFER_WORDS);
        else
            floe_copy_async_commit(); /* which counts, too */
    floe_copy_async_wait_but<SPLIT_STEPS>();
    __syncthreads();
}

/* What the mode of this warp's number would cost, as choose_mode has it; all of ranks 1 and 2 have but two. */
template <int RANK, bool WHOLE, class T>
FLOE_DEV uint32_t split_cost(const T q[GROUP], const border<T> &b, uint32_t valid, bool &inexact)
{
    const uint32_t warp = split_warp();
    if (warp == FLOE_LORENZO_X)
        return mode_cost<RANK, FLOE_LORENZO_X, WHOLE>(q, b, valid, UINT32_MAX, inexact);
    if (warp == FLOE_LORENZO_NONE)
        return mode_cost<RANK, FLOE_LORENZO_NONE, WHOLE>(q, b, valid, UINT32_MAX, inexact);
    if constexpr (RANK == 3) {
        if (warp == FLOE_LORENZO_XY)
            return mode_cost<RANK, FLOE_LORENZO_XY, WHOLE>(q, b, valid, UINT32_MAX, inexact);
        return mode_cost<RANK, FLOE_LORENZO_Y, WHOLE>(q, b, valid, UINT32_MAX, inexact);
    }
    return UINT32_MAX;
}

/* The mode of the tile and its base, from the first step. By the whole block. */
template <class T, int RANK, bool WHOLE>
FLOE_DEV uint32_t split_mode(const fast_work &work, const uint32_t *buffers, split_shared &sh, step_walk<T, RANK> &w)
{
    T q[GROUP];
    checks unused; /* who has the first step checks it */
    check_begin(unused);
    const uint32_t valid = step_valid<RANK, WHOLE>(work, 0);
    quantize_step<T, RANK, WHOLE>(work, 0, valid, buffers, q, unused);
    border_begin(w.b, __shfl_sync(FLOE_ALL_LANES, q[0], 0));
    const uint32_t cost = split_cost<RANK, WHOLE>(q, w.b, valid, w.inexact);
    if (floe_lane() == 0)
        sh.costs[split_warp()] = cost;
    floe_copy_async_wait(); /* for all steps */
    __syncthreads();
    uint32_t mode = FLOE_LORENZO_X, least = UINT32_MAX;
#pragma unroll
    for (uint32_t m = 0; m < FLOE_LORENZO_MODES; m++)
        if (sh.costs[m] < least) {
            least = sh.costs[m];
            mode = m;
        }
    return mode;
}

/* The walk as it is behind step s: of that the last plane says it all. */
template <class T, int RANK, bool WHOLE>
FLOE_DEV void split_enter(const fast_work &work, uint32_t s, const uint32_t *buffers, uint32_t mode,
                          step_walk<T, RANK> &w)
{
    enum { LAST = shape<RANK>::GZ - 1, FROM = GROUP - shape<RANK>::PLANE };
    T q[GROUP], p[GROUP];
    checks unused;
    check_begin(unused);
    const uint32_t valid = step_valid<RANK, WHOLE>(work, s);
    quantize_step<T, RANK, WHOLE>(work, s, valid, buffers + s * BUFFER_WORDS, q, unused);
    differences_of<RANK, LAST>(mode, q, p, w.b);
#pragma unroll
    for (int k = FROM; k < GROUP; k++)
        w.before[k - FROM] = WHOLE || (valid >> k & 1) ? p[k] : (T)0;
}

/* What all parts come to. */
FLOE_DEV fast_result split_sum(const split_shared &sh, uint32_t nsteps, uint32_t mode, uint64_t base)
{
    fast_result r = {(nsteps + 1) / 2, mode, base, false, false, false};
#pragma unroll
    for (int i = 0; i < SPLIT_WARPS; i++) {
        r.nbody += sh.parts[i].nwords;
        r.coded |= sh.parts[i].coded;
        r.unfit |= sh.parts[i].unfit;
        r.inexact |= sh.parts[i].inexact;
    }
    return r;
}

/* A tile by a block; the words of this warp's steps go to out. buffers: for WHOLE, where split_fetch copies to.
 * Who fails fails for the tile. */
template <class T, int RANK, bool WHOLE>
FLOE_DEV fast_result encode_split(const fast_work &work, const sink &out, const uint32_t *buffers, split_shared &sh,
                                  checks &c)
{
    const uint32_t first = SPLIT_STEPS * split_warp();
    const uint32_t nsteps = WHOLE ? (uint32_t)FLOE_TILE_STEPS : work.tile.nsteps;
    const uint32_t end = min(first + SPLIT_STEPS, nsteps);
    const no_draft none;
    step_walk<T, RANK> w;
    bool unfit = false;
    walk_begin(w, 0);
    check_begin(c);
    const uint32_t mode = split_mode<T, RANK, WHOLE>(work, buffers, sh, w);
    if (first > 0 && first < nsteps)
        split_enter<T, RANK, WHOLE>(work, first - 1, buffers, mode, w);
#pragma unroll 1
    for (uint32_t s = first; s < end; s++) {
        T q[GROUP];
        const uint32_t valid = step_valid<RANK, WHOLE>(work, s);
        quantize_step<T, RANK, WHOLE>(work, s, valid, buffers + s * BUFFER_WORDS, q, c);
        if (!code_step<T, RANK, WHOLE, false>(work, out, s, valid, mode, q, w, c, unfit, none))
            break;
    }
    const bool coded = __any_sync(FLOE_ALL_LANES, w.any != 0), inexact = __any_sync(FLOE_ALL_LANES, w.inexact);
    if (floe_lane() == 0)
        sh.parts[split_warp()] = {w.at, w.descriptors, coded, unfit, inexact};
    __syncthreads();
    return split_sum(sh, nsteps, mode, number<T>::base(w.b.base));
}

} // namespace

#endif
