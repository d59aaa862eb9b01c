/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pass of stage wavelet as a worklet, for both compilers: an index is a tile of some pairs of points of lines that lie side by side. It
 * computes what its own points are made of again, so that a pass is one map, in the order of the stage's own code.
 */
#ifndef FLOE_BENCH_WAVELET_WORKLETS_MATH_H
#define FLOE_BENCH_WAVELET_WORKLETS_MATH_H

#include "stage/wavelet/wavelet_math.h"

/* Pairs of a tile, and lines side by side: of the last axis and of the others, on a GPU and on threads. */
enum {
    FLOE_WORKLET_GPU_ALONG = 4, /* fewer load more points twice, more leave a warp's loads too far apart */
    FLOE_WORKLET_GPU_ACROSS = 16,
    FLOE_WORKLET_CPU_PAIRS = 64,
    FLOE_WORKLET_CPU_WIDTH = 16
};

#ifdef __CUDACC__
#define FLOE_WORKLET_COLD static __host__ __device__ __noinline__
#else
#define FLOE_WORKLET_COLD static
#endif
/* A pass, by numbers that fit 32 bits. The digits of an index are places along the array's axes, the last one first, so that indexes which run
 * together do what lies together: tiles along the line's axis, lines along the others, groups of them along the last one. */
#define floe_worklet_pass FLOE_R(floe_worklet_pass_of) /* C++ wants one struct of a name in all objects */
typedef struct floe_worklet_pass {
    const floe_real *from;
    floe_real *to;
    uint32_t n, count[2], apart; /* points of a line, evens and odds; from one to the next */
    uint32_t nlines;             /* along the last axis */
    uint32_t tiles;              /* the digit that is a tile */
    uint32_t digits[FLOE_LATTICE_RANK],
        stride[FLOE_LATTICE_RANK]; /* how many there are; of the array, from one to the next */
    uint32_t nlifts;
    bool one_sided, inverse;
    floe_wavelet_bank bank;
    floe_real scale, weight[FLOE_WAVELET_LIFTS][FLOE_WAVELET_TAPS]; /* signed */
    floe_wavelet_lift lift[FLOE_WAVELET_LIFTS];
} floe_worklet_pass;

/* `width` lines from `place` on, pairs first .. end of each. */
typedef struct floe_worklet_tile {
    uint32_t place, width;
    int32_t first, end;
} floe_worklet_tile;

FLOE_HD uint32_t floe_worklet_place(const floe_worklet_pass *j, bool odd, int32_t i, bool apart)
{
    return (apart ? 2 * (uint32_t)i + odd : odd * j->count[0] + (uint32_t)i) * j->apart;
}

/* ---- where lines end ------------------------------------------------------------------------------------------------------ */

/* A tile's points, number i of line c: at[odd][i * width + c]. */
typedef struct floe_worklet_room {
    floe_real *at[2];
    int32_t width;
} floe_worklet_room;

FLOE_HD void floe_worklet_tap(const floe_worklet_room *r, bool to, int32_t i, int32_t from, floe_real w)
{
    const floe_real *taps = r->at[!to] + from * r->width;
    FLOE_R(floe_wavelet_add_some)(r->at[to] + i * r->width, taps, r->width, 0, &w, 1);
}

/* Point i of each line, whose stencil may leave it. */
FLOE_HD void floe_worklet_end(const floe_worklet_pass *j, const floe_worklet_room *r, uint32_t k, int32_t i)
{
    const floe_wavelet_lift *l = &j->lift[k];
    if (j->one_sided && k == 0) {
        int64_t first;
        double w[4];
        const uint32_t count = floe_wavelet_one_sided(i, j->count[0], &first, w);
        for (uint32_t t = 0; t < count; t++)
            floe_worklet_tap(r, true, i, (int32_t)(first + t), (floe_real)(j->inverse ? w[t] : -w[t]));
        return;
    }
    for (int32_t t = 0; t < (int32_t)l->ntaps; t++) {
        const int64_t at = floe_wavelet_reflect(2 * ((int64_t)i + l->first + t) + !l->to_odd, j->n);
        floe_worklet_tap(r, l->to_odd, i, (int32_t)(at / 2), j->weight[k][t]);
    }
}

/* Points lo .. hi of the parity. */
FLOE_HD void floe_worklet_lift(const floe_worklet_pass *j, const floe_worklet_room *r, uint32_t k, int32_t lo,
                               int32_t hi)
{
    const floe_wavelet_lift *l = &j->lift[k];
    const int32_t inner = (int32_t)floe_wavelet_clamp(-l->first, lo, hi), width = r->width,
                  last = (int32_t)j->count[!l->to_odd] - l->first - (int32_t)l->ntaps + 1,
                  outer = (int32_t)floe_wavelet_clamp(last, inner, hi), n = (outer - inner) * width;
    floe_real *to = r->at[l->to_odd] + inner * width;
    const floe_real *from = r->at[!l->to_odd] + (inner + l->first) * width;
    for (int32_t i = lo; i < inner; i++)
        floe_worklet_end(j, r, k, i);
    for (int32_t i = outer; i < hi; i++)
        floe_worklet_end(j, r, k, i);
    FLOE_R(floe_wavelet_add_taps)(to, from, n, width, j->weight[k], l->ntaps);
}

/* Of any tile. room: 2 * (pairs + FLOE_WAVELET_AROUND) * width */
FLOE_WORKLET_COLD void floe_worklet_any_tile(const floe_worklet_pass *j, const floe_worklet_tile *t, floe_real *room,
                                             uint32_t pairs)
{
    floe_wavelet_span own, w, lifted[FLOE_WAVELET_LIFTS];
    floe_worklet_room r;
    r.width = (int32_t)t->width;
    for (int odd = 0; odd < 2; odd++) {
        own.lo[odd] = floe_wavelet_clamp(t->first, 0, j->count[odd]);
        own.hi[odd] = floe_wavelet_clamp(t->end, 0, j->count[odd]);
    }
    w = own;
    for (uint32_t i = 0; i < j->nlifts; i++) {
        const uint32_t k = j->inverse ? i : j->nlifts - 1 - i;
        lifted[k] = w;
        w = floe_wavelet_span_needed(&j->lift[k], j->n, w);
    }
    for (int odd = 0; odd < 2; odd++) {
        r.at[odd] = room + (odd * (int64_t)(pairs + FLOE_WAVELET_AROUND) - w.lo[odd]) * r.width;
        for (int32_t i = (int32_t)w.lo[odd]; i < w.hi[odd]; i++) {
            const floe_real *from = j->from + t->place + floe_worklet_place(j, odd, i, !j->inverse);
            for (int32_t c = 0; c < r.width; c++)
                r.at[odd][i * r.width + c] = j->inverse && !odd ? from[c] * j->scale : from[c];
        }
    }
    for (uint32_t i = 0; i < j->nlifts; i++) {
        const uint32_t k = j->inverse ? j->nlifts - 1 - i : i;
        const bool to = j->lift[k].to_odd;
        floe_worklet_lift(j, &r, k, (int32_t)lifted[k].lo[to], (int32_t)lifted[k].hi[to]);
    }
    for (int odd = 0; odd < 2; odd++)
        for (int32_t i = (int32_t)own.lo[odd]; i < own.hi[odd]; i++) {
            floe_real *to = j->to + t->place + floe_worklet_place(j, odd, i, j->inverse);
            const floe_real scale = j->inverse || odd ? 1 : j->scale, *v = r.at[odd] + i * r.width;
            for (int32_t c = 0; c < r.width; c++)
                to[c] = FLOE_R(floe_wavelet_finite)(v[c] * scale);
        }
}

/* ---- worklets -------------------------------------------------------------------------------------------------------------- */

FLOE_HD floe_worklet_tile floe_worklet_tile_of(const floe_worklet_pass *j, uint64_t index, uint32_t pairs,
                                               uint32_t width)
{
    uint32_t rest = (uint32_t)index;
    floe_worklet_tile t = {0, width, 0, 0};
    for (uint32_t d = 0; d < FLOE_LATTICE_RANK; d++) {
        const uint32_t k = rest % j->digits[d];
        rest /= j->digits[d];
        t.place += k * j->stride[d];
        t.first = d == j->tiles ? (int32_t)(k * pairs) : t.first;
        t.width = d == 0 && j->tiles ? (uint32_t)floe_min64(width, j->nlines - k * width) : t.width;
    }
    t.end = t.first + (int32_t)pairs;
    return t;
}

/* On threads, along any axis; lanes of a GPU are in wavelet_worklets_real_cuda.cu. */
FLOE_HD void floe_worklet_by_core(const floe_worklet_pass *j, uint64_t index)
{
    floe_real room[2 * (FLOE_WORKLET_CPU_PAIRS + FLOE_WAVELET_AROUND) * FLOE_WORKLET_CPU_WIDTH];
    const floe_worklet_tile t =
        floe_worklet_tile_of(j, index, FLOE_WORKLET_CPU_PAIRS, j->apart == 1 ? 1 : FLOE_WORKLET_CPU_WIDTH);
    floe_worklet_any_tile(j, &t, room, FLOE_WORKLET_CPU_PAIRS);
}

#endif
