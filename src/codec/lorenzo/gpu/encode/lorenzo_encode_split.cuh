/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding a tile the short way by a block, a warp two steps: for fields of so few tiles that the latency of one warp that
 * walks through all steps would be all there is. The tile comes to shared memory first. Of the modes each warp prices
 * one; what it has to know of the plane before its own steps it quantizes itself. The numbers and words are those of
 * lorenzo_encode_fast.cuh and lorenzo_encode_halves.cuh, whose steps these are.
 */
#ifndef FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_SPLIT_CUH
#define FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_SPLIT_CUH

#include "backend/device_shared.cuh"
#include "codec/lorenzo/gpu/encode/lorenzo_encode_halves.cuh"

namespace
{

enum {
    SPLIT_STEPS = 2, /* of a warp: one word of descriptors */
    SPLIT_WARPS = FLOE_TILE_STEPS / SPLIT_STEPS,
    SPLIT_STEP_WORDS = LOOSE_WORDS, /* of a step's values */
    SPLIT_BUFFER_WORDS = FLOE_TILE_STEPS * SPLIT_STEP_WORDS,
    /* Device memory of a block: all that a warp's steps can take, for each warp; together they hold a whole tile, where one warp
     * makes it the long way; and what that takes. */
    SPLIT_PART_WORDS = (SPLIT_STEPS * FLOE_PACK_STEP_WORDS + 3) / 4 * 4,
    SPLIT_SPILL_WORDS = (SPLIT_WARPS * SPLIT_PART_WORDS + SCRATCH_WORDS + 3) / 4 * 4
};
static_assert((int)(SPLIT_WARPS * SPLIT_PART_WORDS) >= (int)RAW_WORDS, "what is not raw is less");
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

/* By the whole block, a word a thread. */
template <class V> FLOE_DEV void copy_by_block(V *to, const V *from)
{
    static_assert(sizeof(V) % 8 == 0 && sizeof(V) / 8 <= FLOE_WARP * SPLIT_WARPS, "a word a thread");
    if (threadIdx.x < sizeof(V) / 8)
        ((uint64_t *)to)[threadIdx.x] = ((const uint64_t *)from)[threadIdx.x];
}

/* Copies the first step of a whole tile, which all warps wait for, by all of them; this warp's steps are on their way behind
 * it. */
template <int RANK> FLOE_DEV void split_fetch(const fast_tile &t, uint32_t *buffers)
{
    const uint32_t first = SPLIT_STEPS * split_warp();
    fetch_pieces<RANK, PIECES / SPLIT_WARPS, false>(t, 0, PIECES / SPLIT_WARPS * split_warp(), buffers);
#pragma unroll
    for (uint32_t s = first; s < first + SPLIT_STEPS; s++)
        if (s > 0)
            fetch_step<RANK, false>(t, s, buffers + s * SPLIT_STEP_WORDS);
        else
            floe_copy_async_commit(); /* which counts, too */
}
/* Until the first step is there. */
FLOE_DEV void split_wait()
{
    floe_copy_async_wait_but<SPLIT_STEPS>();
    __syncthreads();
}

/* Copies this warp's steps of a tile that is cut off or not aligned, and waits until those of all warps are there. */
template <int RANK> FLOE_DEV void split_fetch_loose(const fast_tile &t, uint32_t *buffers)
{
    const uint32_t first = SPLIT_STEPS * split_warp(), end = min(first + SPLIT_STEPS, read_anew(t.nsteps));
#pragma unroll 1
    for (uint32_t s = first; s < end; s++)
        fetch_loose<RANK>(t, s, buffers + s * SPLIT_STEP_WORDS);
    floe_copy_async_wait();
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
template <class T, int RANK, bool WHOLE, bool STAGED>
FLOE_DEV uint32_t split_mode(const fast_work &work, const uint32_t *buffers, split_shared &sh, border<T> &b,
                             bool &inexact)
{
    T q[GROUP];
    checks unused; /* who has the first step checks it */
    check_begin(unused);
    const uint32_t valid = step_valid<RANK, WHOLE>(work, 0);
    quantize_step<T, RANK, WHOLE, STAGED>(work, 0, valid, buffers, q, unused);
    border_begin(b, __shfl_sync(FLOE_ALL_LANES, q[0], 0));
    const uint32_t cost = split_cost<RANK, WHOLE>(q, b, valid, inexact);
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
template <class T, int RANK, bool WHOLE, bool STAGED>
FLOE_DEV void split_walk(const fast_work &work, uint32_t s, const uint32_t *buffers, uint32_t mode,
                         step_walk<T, RANK> &w)
{
    enum { FROM = GROUP - shape<RANK>::PLANE };
    const uint32_t valid = step_valid<RANK, WHOLE>(work, s);
    T q[GROUP], p[GROUP];
    checks unused;
    check_begin(unused);
    quantize_step<T, RANK, WHOLE, STAGED>(work, s, valid, buffers + s * SPLIT_STEP_WORDS, q, unused);
    differences_of<RANK, shape<RANK>::GZ - 1>(mode, q, p, w.b);
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

/* Steps first..end-1, which are this warp's and come after what w says. STAGED: values are in buffers. */
template <class T, int RANK, bool WHOLE, bool STAGED>
FLOE_DEV void split_steps(const fast_work &work, const sink &out, uint32_t first, uint32_t end, const uint32_t *buffers,
                          uint32_t mode, step_walk<T, RANK> &w, checks &c, bool &unfit)
{
    const no_draft none;
#pragma unroll 1
    for (uint32_t s = first; s < end; s++) {
        T q[GROUP];
        const uint32_t valid = step_valid<RANK, WHOLE>(work, s);
        quantize_step<T, RANK, WHOLE, STAGED>(work, s, valid, buffers + s * SPLIT_STEP_WORDS, q, c);
        if (!code_step<T, RANK, WHOLE, false>(work, out, s, valid, mode, q, w, c, unfit, none))
            break;
    }
}

/* Tells the others what has become of this warp's steps. */
FLOE_DEV void split_tell(split_shared &sh, const split_part &part)
{
    if (floe_lane() == 0)
        sh.parts[split_warp()] = part;
    __syncthreads();
}

template <class T, int RANK> FLOE_DEV split_part split_part_of(const step_walk<T, RANK> &w, bool unfit)
{
    return {w.at, w.descriptors, __any_sync(FLOE_ALL_LANES, w.any != 0) != 0, unfit,
            __any_sync(FLOE_ALL_LANES, w.inexact) != 0};
}

template <bool WHOLE> FLOE_DEV uint32_t split_nsteps(const fast_work &work)
{
    return WHOLE ? (uint32_t)FLOE_TILE_STEPS : work.tile.nsteps;
}

/* A tile by a block; the words of this warp's steps go to out. buffers: for STAGED, where split_fetch or, of a tile that is
 * not whole, split_fetch_loose copies to. Who fails fails for the tile. */
template <class T, int RANK, bool WHOLE, bool STAGED>
FLOE_DEV fast_result encode_split(const fast_work &work, const sink &out, const uint32_t *buffers, split_shared &sh,
                                  checks &c)
{
    const uint32_t first = SPLIT_STEPS * split_warp(), nsteps = split_nsteps<WHOLE>(work);
    step_walk<T, RANK> w;
    bool unfit = false;
    walk_begin(w, 0);
    check_begin(c);
    const uint32_t mode = split_mode<T, RANK, WHOLE, STAGED>(work, buffers, sh, w.b, w.inexact);
    if (first > 0 && first < nsteps)
        split_walk<T, RANK, WHOLE, STAGED>(work, first - 1, buffers, mode, w);
    split_steps<T, RANK, WHOLE, STAGED>(work, out, first, min(first + SPLIT_STEPS, nsteps), buffers, mode, w, c, unfit);
    split_tell(sh, split_part_of(w, unfit));
    return split_sum(sh, nsteps, mode, number<T>::base(w.b.base));
}

/* This warp's steps s..end-1, whose residuals are not all small. */
template <int RANK, bool WHOLE>
static __device__ __noinline__ void split_rest(const fast_work &work, const sink &out, uint32_t s, uint32_t end,
                                               const uint32_t *buffers, uint32_t mode, const step_walk<float, RANK> &w,
                                               checks &c, split_part &part)
{
    step_walk<float, RANK> own = w;
    checks own_checks = c;
    bool unfit = false;
    split_steps<float, RANK, WHOLE, true>(work, out, s, end, buffers, mode, own, own_checks, unfit);
    part = split_part_of(own, unfit);
    c = own_checks;
}

/* What a call refers to lies in memory: copies do. */
template <int RANK, bool WHOLE>
FLOE_DEV split_part split_rest_of(const fast_work &work, const sink &out, uint32_t s, uint32_t end,
                                  const uint32_t *buffers, uint32_t mode, const step_walk<float, RANK> &w, checks &c)
{
    const sink out_of_call = out;
    const step_walk<float, RANK> walk_of_call = w;
    checks checks_of_call = c;
    split_part part;
    split_rest<RANK, WHOLE>(work, out_of_call, s, end, buffers, mode, walk_of_call, checks_of_call, part);
    c = checks_of_call;
    return part;
}

/* The same in halves as far as they hold all residuals. */
template <int RANK, bool WHOLE>
FLOE_DEV fast_result encode_split_small(const fast_work &work, const sink &out, const uint32_t *buffers,
                                        split_shared &sh, checks &c)
{
    const uint32_t first = SPLIT_STEPS * split_warp(), nsteps = split_nsteps<WHOLE>(work);
    const uint32_t end = min(first + SPLIT_STEPS, nsteps);
    const no_draft none;
    step_walk<float, RANK> wide;
    small_walk<RANK> w;
    uint32_t s = first;
    walk_begin(wide, 0);
    check_begin(c);
    const uint32_t mode = split_mode<float, RANK, WHOLE, true>(work, buffers, sh, wide.b, wide.inexact);
    if (first > 0 && first < nsteps)
        split_walk<float, RANK, WHOLE, true>(work, first - 1, buffers, mode, wide);
    const bool small = walk_narrow(wide, w);
    if (small)
#pragma unroll 1
        for (; s < end; s++) {
            float q[GROUP];
            const uint32_t valid = step_valid<RANK, WHOLE>(work, s);
            quantize_step<float, RANK, WHOLE, true, false>(work, s, valid, buffers + s * SPLIT_STEP_WORDS, q, c);
            if (!code_small<RANK, WHOLE, false>(work, out, s, valid, mode, q, w, c, none))
                break;
        }
    split_part part = {w.at, w.descriptors, __any_sync(FLOE_ALL_LANES, w.any != 0) != 0, false, !small};
    if (s < end) {
        if (small)
            walk_widen(w, wide);
        part = split_rest_of<RANK, WHOLE>(work, out, s, end, buffers, mode, wide, c);
    }
    split_tell(sh, part);
    return split_sum(sh, nsteps, mode, number<float>::base(wide.b.base));
}

} // namespace

#endif
