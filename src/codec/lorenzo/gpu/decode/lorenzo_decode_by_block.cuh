/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding a tile on the plain path by a block, a run of steps a warp: for fields of so few tiles that the latency of one warp that
 * walks through all steps would be all there is. A warp finds its words by what the steps before hold of their widths, and
 * sums its residuals up as if there was no plane before. Then all exchange their last planes in shared memory: what
 * the planes before come to is a few sums, and what follows stays inside a plane. Rank 2 and 3, encoder pack.
 */
#ifndef FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_BY_BLOCK_CUH
#define FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_BY_BLOCK_CUH

#include "codec/lorenzo/gpu/decode/lorenzo_decode_general.cuh"

namespace FLOE_LORENZO_DECODING
{

enum {
    BY_BLOCK_WARPS = 4,
    RUN_STEPS = FLOE_TILE_STEPS / BY_BLOCK_WARPS, /* of a warp */
    LONG_WORDS = 2304, /* of a stage for the general path, one a warp: a step of f64, and some */
    BY_BLOCK_WORDS = BY_BLOCK_WARPS * LONG_WORDS,
    STEP_DAMAGED = 255 /* for the width of its widest group */
};
static_assert(FLOE_PACK_STEP_WORDS + WINDOW_MARGIN + 4 <= LONG_WORDS, "a step at least");
static_assert(RUN_STEPS == 2, "one is at hand while the other is summed up");

struct alignas(16) narrow4 {
    narrow v[4];
};

/* What the warps of a tile exchange; shared memory. */
template <int RANK> struct by_block_sums {
    narrow4 last[BY_BLOCK_WARPS][shape<RANK>::PLANE / 4][FLOE_WARP]; /* p of the run's last plane, from 0 on */
    narrow corner[BY_BLOCK_WARPS];                                   /* what the run adds to it */
    uint32_t flats[BY_BLOCK_WARPS];                                  /* groups that are flat in some step of it */
    uint32_t most[FLOE_TILE_STEPS];                                  /* of the groups of a step */
};

/* Behind the words of a tile. Tiles with more words take the general path: they are hardly compressed. */
template <int RANK> FLOE_DEV by_block_sums<RANK> *by_block_sums_at(uint32_t *stage)
{
    static_assert(sizeof(by_block_sums<RANK>) % 16 == 0, "stands at the end");
    return (by_block_sums<RANK> *)(stage + BY_BLOCK_WORDS - sizeof(by_block_sums<RANK>) / 4);
}
template <int RANK> FLOE_DEV bool by_block_has_room(uint32_t entry)
{
    enum { ROOM = BY_BLOCK_WORDS - sizeof(by_block_sums<RANK>) / 4 - WINDOW_MARGIN };
    return (entry & FLOE_TILE_NWORDS_MASK) <= ROOM;
}

/* ---- a run --------------------------------------------------------------------------------------------------------- */

/* A step of it: its residuals, which become p. */
struct by_block_step {
    narrow v[GROUP];
    bool flat; /* this lane's group, here or in a step of the run before: no plane before the run adds to it */
};

/* Residuals of step s, where they fit the numbers; the source stands there. False: damaged. */
template <int RANK, bool WHOLE>
FLOE_DEV bool by_block_residuals(const target &t, uint32_t s, pack_source &source, step_head &h, narrow v[GROUP])
{
    if (!source_step<WHOLE>(source, s, WHOLE || group_cells<RANK>(t.in, s) != 0, h))
        return false;
    if (s + 1 == t.nsteps && words_left(source.w) != h.total)
        return false;
    if (h.most <= number<narrow>::MOST)
        source_residuals(source, s, h, v);
    else
        source.w.at += h.total;
    return true;
}

/* The source to step s. False: damaged. */
template <int RANK, bool WHOLE> FLOE_DEV bool by_block_skip(const target &t, uint32_t s, pack_source &source)
{
    bool ok = true;
#pragma unroll 1
    for (uint32_t i = 0; ok && i < s; i++)
        ok = source_skip<WHOLE>(source, i, WHOLE || group_cells<RANK>(t.in, i) != 0);
    return ok;
}

/* This warp's steps, as far as they are wanted, summed up along z from 0 on; corner: what they add to it. */
template <int RANK, bool WHOLE>
FLOE_DEV void by_block_run(const target &t, pack_source &source, by_block_sums<RANK> *sums, walk<RANK, narrow> &w,
                           by_block_step &first, by_block_step &second, narrow *corner)
{
    const uint32_t begin = threadIdx.x / FLOE_WARP * RUN_STEPS, end = min(begin + RUN_STEPS, t.steps_wanted);
    bool ok = begin < end && by_block_skip<RANK, WHOLE>(t, begin, source);
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        second.v[k] = 0;
    second.flat = false;
    *corner = 0;
#pragma unroll 1
    for (uint32_t s = begin; s < end; s++) {
        step_head h = {};
        first = second;
        ok = ok && by_block_residuals<RANK, WHOLE>(t, s, source, h, second.v);
        sum_along_z<RANK>(w, h.flat, second.v);
        second.flat = first.flat || h.flat;
#pragma unroll
        for (int k = 0; k < GROUP; k += shape<RANK>::PLANE) /* lane 0 has residuals there still */
            *corner = add(*corner, second.v[k]);
        if (floe_lane() == 0)
            sums->most[s] = ok ? h.most : (uint32_t)STEP_DAMAGED;
    }
    if (end == begin + 1) /* a run of one */
        first = second;
}

/* The run's last plane, for the steps behind it. */
template <int RANK>
FLOE_DEV void by_block_share(by_block_sums<RANK> *sums, const walk<RANK, narrow> &w, bool flat, narrow corner)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP, lane = floe_lane(), flats = __ballot_sync(FLOE_ALL_LANES, flat);
#pragma unroll
    for (int k = 0; k < shape<RANK>::PLANE; k += 4) {
        const narrow4 part = {{w.before[k], w.before[k + 1], w.before[k + 2], w.before[k + 3]}};
        sums->last[warp][k / 4][lane] = part;
    }
    if (lane == 0) {
        sums->corner[warp] = corner;
        sums->flats[warp] = flats;
    }
}

/* What this warp's run starts from, by what those before have written. */
template <int RANK> FLOE_DEV void by_block_start(const by_block_sums<RANK> *sums, walk<RANK, narrow> &w)
{
    enum { PLANE = shape<RANK>::PLANE };
    const uint32_t lane = floe_lane();
    narrow corner = w.base;
#pragma unroll
    for (int k = 0; k < PLANE; k++)
        w.before[k] = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < threadIdx.x / FLOE_WARP; i++) {
        const narrow keep = sums->flats[i] >> lane & 1 ? (narrow)0 : (narrow)1;
#pragma unroll
        for (int k = 0; k < PLANE; k += 4) {
            const narrow4 part = sums->last[i][k / 4][lane];
#pragma unroll
            for (int j = 0; j < 4; j++)
                w.before[k + j] = add_product(w.before[k + j], keep, part.v[j]);
        }
        corner = add(corner, sums->corner[i]);
    }
    w.corner = lane == 0 ? corner : (narrow)0;
}

/* What the steps that are wanted come to together, a lane each; all warps find the same. */
template <int RANK>
FLOE_DEV outcome by_block_outcome(const target &t, uint32_t mode, floe_int base, const by_block_sums<RANK> *sums)
{
    const uint32_t lane = floe_lane(), most = lane < t.steps_wanted ? sums->most[lane] : 0;
    float sum = lane < t.steps_wanted ? bound_of_step<RANK>(min(most, (uint32_t)WIDEST)) : 0;
    sums_bound bound;
#pragma unroll
    for (int d = FLOE_TILE_STEPS / 2; d > 0; d /= 2)
        sum += __shfl_xor_sync(FLOE_ALL_LANES, sum, d, FLOE_TILE_STEPS);
    sum = __shfl_sync(FLOE_ALL_LANES, sum, 0);
    bound_begin(bound, base);
    bound.p += sum;
    bound.corner += sum;
    if (__any_sync(FLOE_ALL_LANES, most == STEP_DAMAGED))
        return TILE_BAD;
    return __all_sync(FLOE_ALL_LANES, most <= number<narrow>::MOST) && bound_fits<RANK, narrow>(bound, mode)
               ? TILE_DONE
               : TILE_UNFIT;
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

/* The steps of a coded tile, all of whose words stand in the stage. The whole block, which gets the same outcome. */
template <int RANK, bool WHOLE>
FLOE_DEV outcome decode_tile_by_block(const target &t, uint32_t mode, floe_int base, floe_real step,
                                      pack_source &source, by_block_sums<RANK> *sums)
{
    const uint32_t begin = threadIdx.x / FLOE_WARP * RUN_STEPS, end = min(begin + RUN_STEPS, t.steps_wanted);
    walk<RANK, narrow> w;
    by_block_step here, next;
    narrow corner;
    walk_begin<RANK, narrow>(w, (narrow)base);
    by_block_run<RANK, WHOLE>(t, source, sums, w, here, next, &corner);
    by_block_share<RANK>(sums, w, next.flat, corner);
    __syncthreads();
    const outcome result = by_block_outcome<RANK>(t, mode, base, sums);
    if (result != TILE_DONE)
        return result;
    by_block_start<RANK>(sums, w);
#pragma unroll 1
    for (uint32_t s = begin; s < end; s++) {
        floe_real v[GROUP];
        carry_along_z<RANK>(w, here.flat, here.v);
        sum_planes<RANK>(w, mode, here.v);
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            v[k] = value_of(here.v[k], step);
        store_step<RANK, WHOLE>(t, s, v, (uint4 *)NULL);
        here = next;
    }
    return result;
}

/* Tiles that are cut off, or not aligned. By value: where the addresses go, nothing stays in registers. */
template <int RANK>
static __device__ __noinline__ outcome decode_by_block_cut(target t, uint32_t mode, floe_int base, floe_real step,
                                                           pack_source source, by_block_sums<RANK> *sums)
{
    return decode_tile_by_block<RANK, false>(t, mode, base, step, source, sums);
}

/* A tile of entry_is_plain and by_block_has_room, whose words stand in the stage. The whole block. */
template <int RANK>
FLOE_DEV outcome decode_pack_by_block(const target &t, uint32_t entry, floe_real step, word_window window,
                                      uint32_t *stage)
{
    const uint32_t mode = floe_tile_mode(entry);
    const floe_int base = (floe_int)word_value(stage + window.at);
    pack_source source;
    source.w = window;
    source.w.at += BASE_WORDS;
    if (!source_open(source, t.nsteps))
        return TILE_BAD;
    return t.whole ? decode_tile_by_block<RANK, true>(t, mode, base, step, source, by_block_sums_at<RANK>(stage))
                   : decode_by_block_cut<RANK>(t, mode, base, step, source, by_block_sums_at<RANK>(stage));
}

} // namespace FLOE_LORENZO_DECODING

#endif
