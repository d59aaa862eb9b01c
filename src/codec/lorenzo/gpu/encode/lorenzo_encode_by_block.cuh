/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding a tile on the plain path by a block, a warp two steps: for fields of so few tiles that the latency of one warp that
 * walks through all steps would be all there is. The tile comes to shared memory first. Of the modes each warp prices
 * one; what it needs of the plane before its own steps it quantizes itself. The numbers and words are those of
 * lorenzo_encode_plain.cuh and lorenzo_encode_half2.cuh, whose steps these are. Of f32 alone.
 */
#ifndef FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_BY_BLOCK_CUH
#define FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_BY_BLOCK_CUH

#include "backend/device.cuh"
#include "codec/lorenzo/gpu/encode/lorenzo_encode_general.cuh"
#include "codec/lorenzo/gpu/encode/lorenzo_encode_half2.cuh"

namespace FLOE_LORENZO_ENCODING
{

enum {
    BY_BLOCK_STEPS = 2, /* of a warp: one word of descriptors */
    BY_BLOCK_WARPS = FLOE_TILE_STEPS / BY_BLOCK_STEPS,
    BY_BLOCK_STEP_WORDS = UNALIGNED_WORDS, /* of a step's values */
    BY_BLOCK_BUFFER_WORDS = FLOE_TILE_STEPS * BY_BLOCK_STEP_WORDS,
    /* Device memory of a block: all that a warp's steps can take, for each warp; together they hold a whole tile, where one warp
     * makes it the general path; and what that takes. */
    BY_BLOCK_PART_WORDS = (BY_BLOCK_STEPS * FLOE_PACK_STEP_WORDS + 3) / 4 * 4,
    BY_BLOCK_SPILL_WORDS = (BY_BLOCK_WARPS * BY_BLOCK_PART_WORDS + SCRATCH_WORDS + 3) / 4 * 4
};
static_assert((int)(BY_BLOCK_WARPS * BY_BLOCK_PART_WORDS) >= (int)RAW_WORDS, "what is not raw is less");
static_assert((int)BY_BLOCK_WARPS == (int)FLOE_LORENZO_MODES, "a warp prices the mode of its own number");

/* What a warp has made of its steps: words without the descriptors. */
struct by_block_part {
    uint32_t nwords, descriptors;
    uint32_t any;        /* as in step_walk */
    bool unfit, inexact; /* as in plain_result */
};

/* What the warps of a block exchange; shared memory. */
struct by_block_shared {
    uint32_t costs[BY_BLOCK_WARPS];
    by_block_part parts[BY_BLOCK_WARPS];
    double error[BY_BLOCK_WARPS]; /* of the tile */
};

/* A tile by a block. buffers: where by_block_fetch or, of a tile that is not whole, by_block_fetch_unaligned copies to. */
struct by_block_tile {
    const plain_work &work;
    const uint32_t *buffers;
    uint32_t nsteps, mode;
};

FLOE_DEV uint32_t by_block_warp() { return threadIdx.x / FLOE_WARP; }

/* By the whole block, a word a thread. */
template <class V> FLOE_DEV void copy_by_block(V *to, const V *from)
{
    static_assert(sizeof(V) % 8 == 0 && sizeof(V) / 8 <= FLOE_WARP * BY_BLOCK_WARPS, "a word a thread");
    if (threadIdx.x < sizeof(V) / 8)
        ((uint64_t *)to)[threadIdx.x] = ((const uint64_t *)from)[threadIdx.x];
}

/* Copies the first step of a whole tile, which all warps wait for, by all of them; this warp's steps are on their way behind
 * it. */
template <int RANK> FLOE_DEV void by_block_fetch(const plain_tile &t, uint32_t *buffers)
{
    const uint32_t first = BY_BLOCK_STEPS * by_block_warp();
    fetch_pieces<RANK, PIECES / BY_BLOCK_WARPS, false>(t, 0, PIECES / BY_BLOCK_WARPS * by_block_warp(), buffers);
#pragma unroll
    for (uint32_t s = first; s < first + BY_BLOCK_STEPS; s++)
        if (s > 0)
            fetch_step<RANK, false>(t, s, buffers + s * BY_BLOCK_STEP_WORDS);
        else
            floe_copy_async_commit(); /* which counts, too */
}
/* Until the first step is there. */
FLOE_DEV void by_block_wait()
{
    floe_copy_async_wait_but<BY_BLOCK_STEPS>();
    __syncthreads();
}

/* Copies this warp's steps of a tile that is cut off or not aligned, and waits until those of all warps are there. */
template <int RANK> FLOE_DEV void by_block_fetch_unaligned(const plain_tile &t, uint32_t *buffers)
{
    const uint32_t first = BY_BLOCK_STEPS * by_block_warp(), end = min(first + BY_BLOCK_STEPS, reload(t.nsteps));
#pragma unroll 1
    for (uint32_t s = first; s < end; s++)
        fetch_unaligned<RANK>(t, s, buffers + s * BY_BLOCK_STEP_WORDS);
    floe_copy_async_wait();
    __syncthreads();
}

/* What the mode of this warp's number would cost, as choose_mode has it; all of ranks 1 and 2 have but two. */
template <int RANK, bool WHOLE>
FLOE_DEV uint32_t by_block_cost(const floe_real q[GROUP], const border &b, uint32_t valid, bool &inexact)
{
    const uint32_t warp = by_block_warp();
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
template <int RANK, bool WHOLE>
FLOE_DEV uint32_t by_block_mode(const by_block_tile &t, by_block_shared &sh, border &b, bool &inexact)
{
    floe_real q[GROUP];
    checks unused; /* who has the first step checks it */
    check_begin(unused);
    const uint32_t valid = step_valid<RANK, WHOLE>(t.work, 0);
    quantize_step<RANK, WHOLE>(t.work, 0, valid, t.buffers, q, unused);
    border_begin(b, __shfl_sync(FLOE_ALL_LANES, q[0], 0));
    const uint32_t cost = by_block_cost<RANK, WHOLE>(q, b, valid, inexact);
    if (floe_lane() == 0)
        sh.costs[by_block_warp()] = cost;
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

/* The walk as it is behind step s: of that the last plane holds it all. */
template <int RANK, bool WHOLE> FLOE_DEV void by_block_walk(const by_block_tile &t, uint32_t s, step_walk<RANK> &w)
{
    enum { FROM = GROUP - shape<RANK>::PLANE };
    const uint32_t valid = step_valid<RANK, WHOLE>(t.work, s);
    floe_real q[GROUP], p[GROUP];
    checks unused;
    check_begin(unused);
    quantize_step<RANK, WHOLE>(t.work, s, valid, t.buffers + s * BY_BLOCK_STEP_WORDS, q, unused);
    differences_of<RANK, shape<RANK>::GZ - 1>(t.mode, q, p, w.b);
#pragma unroll
    for (int k = FROM; k < GROUP; k++)
        w.before[k - FROM] = WHOLE || (valid >> k & 1) ? p[k] : (floe_real)0;
}

/* What the parts of all warps come to, this one's being `part`. By the whole block. */
FLOE_DEV plain_result by_block_sum(const by_block_tile &t, by_block_shared &sh, by_block_part part, uint64_t base)
{
    part.any = __any_sync(FLOE_ALL_LANES, part.any != 0);
    part.inexact = __any_sync(FLOE_ALL_LANES, part.inexact) != 0;
    if (floe_lane() == 0)
        sh.parts[by_block_warp()] = part;
    __syncthreads();
    plain_result r = {(t.nsteps + 1) / 2, t.mode, base, false, false, false, 0};
#pragma unroll
    for (int i = 0; i < BY_BLOCK_WARPS; i++) {
        r.nbody += sh.parts[i].nwords;
        r.coded |= sh.parts[i].any != 0;
        r.unfit |= sh.parts[i].unfit;
        r.inexact |= sh.parts[i].inexact;
    }
    return r;
}

/* This warp's steps. */
FLOE_DEV uint32_t by_block_first() { return BY_BLOCK_STEPS * by_block_warp(); }
FLOE_DEV uint32_t by_block_end(const by_block_tile &t) { return min(by_block_first() + BY_BLOCK_STEPS, t.nsteps); }

/* Those from s on, which come after what w holds. */
template <int RANK, bool WHOLE>
FLOE_DEV void by_block_steps(const by_block_tile &t, const sink &out, uint32_t s, step_walk<RANK> &w, checks &c,
                             by_block_part &part)
{
#pragma unroll 1
    for (; s < by_block_end(t); s++) {
        floe_real q[GROUP];
        const uint32_t valid = step_valid<RANK, WHOLE>(t.work, s);
        quantize_step<RANK, WHOLE>(t.work, s, valid, t.buffers + s * BY_BLOCK_STEP_WORDS, q, c);
        if (!code_step<RANK, WHOLE, false, no_draft>(t.work, out, {s, valid, t.mode}, q, w, c, part.unfit))
            break;
        part.nwords = w.at;
    }
    part.descriptors = w.descriptors;
    part.any |= w.any;
    part.inexact |= w.inexact;
}

/* The same in halves as far as they hold all residuals. Returns the step that they do not, which comes after what wide holds. */
template <int RANK, bool WHOLE>
FLOE_DEV uint32_t by_block_small_steps(const by_block_tile &t, const sink &out, step_walk<RANK> &wide, checks &c,
                                       by_block_part &part)
{
    small_walk<RANK> w;
    uint32_t s = by_block_first();
    if (!walk_narrow(wide, w))
        return s;
#pragma unroll 1
    for (; s < by_block_end(t); s++) {
        float q[GROUP];
        const uint32_t valid = step_valid<RANK, WHOLE>(t.work, s);
        quantize_step<RANK, WHOLE, false>(t.work, s, valid, t.buffers + s * BY_BLOCK_STEP_WORDS, q, c);
        if (!code_half2<RANK, WHOLE, false, no_draft>(t.work, out, {s, valid, t.mode}, q, w, c))
            break;
        part.nwords = w.at;
    }
    part.descriptors = w.descriptors;
    part.any = w.any;
    if (s < by_block_end(t))
        walk_widen(w, wide);
    return s;
}

/* What a call that is not inlined returns, see FLOE_DEV_COLD. */
struct by_block_rest_result {
    by_block_part part;
    checks c;
};

/* Steps whose residuals are not all small. */
template <int RANK, bool WHOLE>
FLOE_DEV_COLD by_block_rest_result by_block_rest(by_block_tile t, sink out, uint32_t s, step_walk<RANK> w,
                                                 by_block_rest_result r)
{
    by_block_steps<RANK, WHOLE>(t, out, s, w, r.c, r.part);
    return r;
}

/* A tile by a block; what becomes of this warp's steps goes to out. Who fails fails for the tile. */
template <int RANK, bool WHOLE>
FLOE_DEV plain_result encode_tile_by_block(const plain_work &work, const sink &out, const uint32_t *buffers,
                                           by_block_shared &sh, checks &c)
{
    by_block_tile t = {work, buffers, WHOLE ? (uint32_t)FLOE_TILE_STEPS : work.tile.nsteps, 0};
    by_block_part part = {0, 0, 0, false, false};
    step_walk<RANK> w;
    walk_begin(w, 0);
    check_begin(c);
    t.mode = by_block_mode<RANK, WHOLE>(t, sh, w.b, w.inexact);
    if (by_block_first() > 0 && by_block_first() < t.nsteps)
        by_block_walk<RANK, WHOLE>(t, by_block_first() - 1, w);
    const uint32_t s = by_block_small_steps<RANK, WHOLE>(t, out, w, c, part);
    if (s < by_block_end(t)) {
        const by_block_rest_result r = by_block_rest<RANK, WHOLE>(t, out, s, w, {part, c});
        part = r.part;
        c = r.c;
    }
    return by_block_sum(t, sh, part, number::base(w.b.base));
}

/* A tile that is cut off, or not aligned. */
template <int RANK>
FLOE_DEV_COLD checked_result encode_by_block_cut(const plain_work &work, sink out, const uint32_t *buffers,
                                                 by_block_shared &sh)
{
    checked_result r;
    r.r = encode_tile_by_block<RANK, false>(work, out, buffers, sh, r.c);
    return r;
}

/* The plain path of a tile that has been fetched, by all warps. False when the tile cannot take it. */
template <int RANK>
FLOE_DEV bool encode_by_block_plain(const plain_work &work, bool whole, const sink &out, const uint32_t *buffers,
                                    by_block_shared &sh, plain_result &r)
{
    checked_result t;
    if (whole)
        t.r = encode_tile_by_block<RANK, true>(work, out, buffers, sh, t.c);
    else
        t = encode_by_block_cut<RANK>(work, out, buffers, sh);
    r = t.r;
    const double error = largest_of_warp(t.c.error);
    if (floe_lane() == 0)
        sh.error[by_block_warp()] = error;
    return !r.unfit && !r.inexact;
}

/* The largest error of a tile that the block has made. One thread, behind a barrier. */
FLOE_DEV double by_block_error(const by_block_shared &sh)
{
    double error = 0;
    for (int i = 0; i < BY_BLOCK_WARPS; i++)
        error = sh.error[i] > error ? sh.error[i] : error;
    return error;
}

/* Reports a tile's largest errors. One thread. */
FLOE_DEV void errors_report(floe_dev_chunk_stats *g, double error, double pw_error)
{
    if (error > 0)
        atomicMax(&g->max_error_bits, (unsigned long long)floe_bits_f64(error));
    if (pw_error > 0)
        atomicMax(&g->max_pw_error_bits, (unsigned long long)floe_bits_f64(pw_error));
}

/* Reports what one warp found in a tile that it has made on the general path. The whole warp. */
FLOE_DEV void tallies_report(floe_dev_chunk_stats *g, const tallies &t)
{
    const double error = largest_of_warp(t.error), pw_error = largest_of_warp(t.pw_error);
    if (floe_lane() != 0)
        return;
    errors_report(g, error, pw_error);
    if (t.count) {
        atomicAdd(&g->nexceptions, (unsigned long long)t.count);
        atomicAdd(&g->nliterals, (unsigned long long)t.nliterals);
    }
}

} // namespace FLOE_LORENZO_ENCODING

#endif
