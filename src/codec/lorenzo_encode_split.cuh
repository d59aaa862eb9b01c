/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding a tile the short way by a block, a warp two steps: for fields of so few tiles that the latency of one warp that
 * walks through all steps would be all there is. The whole tile comes to shared memory first. Of the modes each warp prices
 * one; what it has to know of the plane before its own steps it quantizes itself. The numbers and words are those of
 * lorenzo_encode_fast.cuh and, for whole tiles of f32, lorenzo_encode_halves.cuh, whose steps these are.
 */
#ifndef FLOE_CODEC_LORENZO_ENCODE_SPLIT_CUH
#define FLOE_CODEC_LORENZO_ENCODE_SPLIT_CUH

#include "backend/device_shared.cuh"
#if FLOE_REAL_BITS == 32
#include "codec/lorenzo_encode_halves.cuh"
#else
#include "codec/lorenzo_encode_fast.cuh"
#endif

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

/* Copies the first step of a whole tile, which all warps wait for, by all of them; this warp's steps are on their way behind
 * it. */
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
}
/* Until the first step is there. */
FLOE_DEV void split_wait()
{
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
FLOE_DEV uint32_t split_mode(const fast_work &work, const uint32_t *buffers, split_shared &sh, border<T> &b,
                             bool &inexact)
{
    T q[GROUP];
    checks unused; /* who has the first step checks it */
    check_begin(unused);
    const uint32_t valid = step_valid<RANK, WHOLE>(work, 0);
    quantize_step<T, RANK, WHOLE, WHOLE>(work, 0, valid, buffers, q, unused);
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

/* The differences of the last plane of step s, at its place in p; and the border behind it. */
template <class T, int RANK, bool WHOLE>
FLOE_DEV void split_enter(const fast_work &work, uint32_t s, const uint32_t *buffers, uint32_t mode, T p[GROUP],
                          border<T> &b)
{
    T q[GROUP];
    checks unused;
    check_begin(unused);
    quantize_step<T, RANK, WHOLE, WHOLE>(work, s, step_valid<RANK, WHOLE>(work, s), buffers + s * BUFFER_WORDS, q,
                                         unused);
    differences_of<RANK, shape<RANK>::GZ - 1>(mode, q, p, b);
}

/* The walk as it is behind step s: of that the last plane says it all. */
template <class T, int RANK, bool WHOLE>
FLOE_DEV void split_walk(const fast_work &work, uint32_t s, const uint32_t *buffers, uint32_t mode,
                         step_walk<T, RANK> &w)
{
    enum { FROM = GROUP - shape<RANK>::PLANE };
    const uint32_t valid = step_valid<RANK, WHOLE>(work, s);
    T p[GROUP];
    split_enter<T, RANK, WHOLE>(work, s, buffers, mode, p, w.b);
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

/* Steps first..end-1, which are this warp's. WHOLE: they are in buffers. */
template <class T, int RANK, bool WHOLE>
FLOE_DEV void split_steps(const fast_work &work, const sink &out, uint32_t first, uint32_t end, const uint32_t *buffers,
                          uint32_t mode, step_walk<T, RANK> &w, checks &c, bool &unfit)
{
    const no_draft none;
    if (first > 0 && first < end)
        split_walk<T, RANK, WHOLE>(work, first - 1, buffers, mode, w);
#pragma unroll 1
    for (uint32_t s = first; s < end; s++) {
        T q[GROUP];
        const uint32_t valid = step_valid<RANK, WHOLE>(work, s);
        quantize_step<T, RANK, WHOLE, WHOLE>(work, s, valid, buffers + s * BUFFER_WORDS, q, c);
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

/* A tile by a block; the words of this warp's steps go to out. buffers: for WHOLE, where split_fetch copies to.
 * Who fails fails for the tile. */
template <class T, int RANK, bool WHOLE>
FLOE_DEV fast_result encode_split(const fast_work &work, const sink &out, const uint32_t *buffers, split_shared &sh,
                                  checks &c)
{
    const uint32_t first = SPLIT_STEPS * split_warp();
    const uint32_t nsteps = WHOLE ? (uint32_t)FLOE_TILE_STEPS : work.tile.nsteps;
    step_walk<T, RANK> w;
    bool unfit = false;
    walk_begin(w, 0);
    check_begin(c);
    const uint32_t mode = split_mode<T, RANK, WHOLE>(work, buffers, sh, w.b, w.inexact);
    split_steps<T, RANK, WHOLE>(work, out, first, min(first + SPLIT_STEPS, nsteps), buffers, mode, w, c, unfit);
    split_tell(sh, {w.at, w.descriptors, __any_sync(FLOE_ALL_LANES, w.any != 0) != 0, unfit,
                    __any_sync(FLOE_ALL_LANES, w.inexact) != 0});
    return split_sum(sh, nsteps, mode, number<T>::base(w.b.base));
}

#if FLOE_REAL_BITS == 32

/* This warp's steps from s on, whose residuals are not all small; before that part is what it says. */
template <int RANK>
static __device__ __noinline__ void split_rest(const fast_work &work, const sink &out, uint32_t s,
                                               const uint32_t *buffers, uint32_t mode, float base, checks &c,
                                               split_part &part)
{
    step_walk<float, RANK> w;
    walk_begin(w, part.nwords);
    border_begin(w.b, base);
    w.descriptors = part.descriptors;
    w.any = part.coded;
    w.inexact = part.inexact;
    split_steps<float, RANK, true>(work, out, s, SPLIT_STEPS * (split_warp() + 1), buffers, mode, w, c, part.unfit);
    part.nwords = w.at;
    part.descriptors = w.descriptors;
    part.coded = __any_sync(FLOE_ALL_LANES, w.any != 0);
    part.inexact = __any_sync(FLOE_ALL_LANES, w.inexact);
}

/* What a call refers to lies in memory: copies do. */
template <int RANK>
FLOE_DEV void split_rest_of(const fast_work &work, const sink &out, uint32_t s, const uint32_t *buffers, uint32_t mode,
                            float base, checks &c, split_part &part)
{
    const sink out_of_call = out;
    checks checks_of_call = c;
    split_part part_of_call = part;
    split_rest<RANK>(work, out_of_call, s, buffers, mode, base, checks_of_call, part_of_call);
    c = checks_of_call;
    part = part_of_call;
}

/* The walk behind step s in halves; false where they do not hold what it starts from. */
template <int RANK>
FLOE_DEV bool split_walk_small(const fast_work &work, uint32_t s, const uint32_t *buffers, uint32_t mode,
                               small_walk<RANK> &w)
{
    enum { FROM = last_pairs<RANK>::FIRST, PLANE_FROM = GROUP - shape<RANK>::PLANE };
    float p[GROUP];
    uint32_t joined = 0;
    split_enter<float, RANK, true>(work, s, buffers, mode, p, w.b);
    if (floe_lane() == 0)
        p[PLANE_FROM] = 0; /* which nothing is taken from, and was not right */
#pragma unroll
    for (int i = FROM; i < PAIRS; i++) {
        const int k = first_of_pair(i); /* of rank 2 no more than the second one is of the plane */
        const __half2 pair = __floats2half2_rn(k < PLANE_FROM ? 0 : p[k], p[k + 8]);
        joined |= small_zigzag(__hadd2(pair, __float2half2_rn(0.5f)));
        w.before[i - FROM] = pair;
    }
    return !__any_sync(FLOE_ALL_LANES, small_fails(joined));
}

/* A whole tile. */
template <int RANK>
FLOE_DEV fast_result encode_split_small(const fast_work &work, const sink &out, const uint32_t *buffers,
                                        split_shared &sh, checks &c)
{
    const uint32_t first = SPLIT_STEPS * split_warp();
    small_walk<RANK> w;
    bool inexact = false;
    uint32_t s = first;
    check_begin(c);
    const uint32_t mode = split_mode<float, RANK, true>(work, buffers, sh, w.b, inexact);
#pragma unroll
    for (int i = 0; i < last_pairs<RANK>::COUNT; i++)
        w.before[i] = pair_of(0);
    w.at = w.descriptors = w.any = 0;
    inexact = __any_sync(FLOE_ALL_LANES, inexact);
    if (!inexact && (first == 0 || split_walk_small<RANK>(work, first - 1, buffers, mode, w)))
#pragma unroll 1
        for (; s < first + SPLIT_STEPS; s++) {
            float q[GROUP];
            quantize_step<float, RANK, true, true, false>(work, s, FLOE_ALL_LANES, buffers + s * BUFFER_WORDS, q, c);
            if (!code_small<RANK, true>(work, out, s, FLOE_ALL_LANES, mode, q, w, c))
                break;
        }
    split_part part = {w.at, w.descriptors, __any_sync(FLOE_ALL_LANES, w.any != 0) != 0, false, inexact};
    if (s < first + SPLIT_STEPS)
        split_rest_of<RANK>(work, out, s, buffers, mode, w.b.base, c, part);
    split_tell(sh, part);
    return split_sum(sh, FLOE_TILE_STEPS, mode, number<float>::base(w.b.base));
}

#endif

/* A whole tile by a block, the quickest way that there is. */
template <int RANK>
FLOE_DEV fast_result encode_split_whole(const fast_work &work, const sink &out, const uint32_t *buffers,
                                        split_shared &sh, checks &c)
{
#if FLOE_REAL_BITS == 32
    return encode_split_small<RANK>(work, out, buffers, sh, c);
#else
    return encode_split<floe_real, RANK, true>(work, out, buffers, sh, c);
#endif
}

} // namespace

#endif
