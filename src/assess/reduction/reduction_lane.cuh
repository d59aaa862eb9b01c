/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a lane adds up over its groups of pairs, in registers; and how the lanes of a block become the part of a piece.
 *
 * A group of which all pairs are tame goes quickly: all finite, none fill, none 0, |x| such that its reciprocal has all
 * digits. Any other is taken pair by pair; what is then counted lies in shared memory, a slot for each thread.
 */
#ifndef FLOE_ASSESS_REDUCTION_LANE_CUH
#define FLOE_ASSESS_REDUCTION_LANE_CUH

#include "assess/reduction/reduction_cuda.cuh"

typedef struct floe_reduction_lane {
    double sum[FLOE_SUMS], top[FLOE_TOPS];
    double pivot[2];
    uint32_t nquick; /* pairs of groups that went quickly */
} floe_reduction_lane;

/* Of a block. */
typedef struct floe_reduction_shared {
    uint32_t count[FLOE_COUNTS][FLOE_REDUCTION_THREADS];
    double words[FLOE_REDUCTION_WARPS][FLOE_SUMS + FLOE_TOPS];
    uint64_t counts[FLOE_REDUCTION_WARPS][FLOE_COUNTS];
} floe_reduction_shared;

/* Which pairs of a group count, and have an x that is not 0. */
typedef struct floe_reduction_marks {
    uint32_t counts, divides;
} floe_reduction_marks;

FLOE_DEV void floe_reduction_lane_init(const floe_reduction_dev_job *job, floe_reduction_lane *l)
{
    l->pivot[0] = job->start->pivot[0], l->pivot[1] = job->start->pivot[1];
#pragma unroll
    for (int i = 0; i < FLOE_SUMS; i++)
        l->sum[i] = 0;
#pragma unroll
    for (int i = 0; i < FLOE_TOPS; i++)
        l->top[i] = -floe_f64_of(0x7ff0000000000000u);
    l->nquick = 0;
}

/* ---- tame groups --------------------------------------------------------------------------------------------------- */

/* 1 / x to some 2^-20, for a Newton step; and the bounds between which two of them give all digits. */
FLOE_DEV double floe_reduction_reciprocal(float x)
{
#ifdef FLOE_EMULATED
    return (double)(1.0f / x);
#else
    float r;
    asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
    return (double)r;
#endif
}
FLOE_DEV double floe_reduction_reciprocal(double x)
{
#ifdef FLOE_EMULATED
    return floe_f64_of(floe_bits_f64(1 / x) & 0xffffffff00000000u);
#else
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    return r;
#endif
}
FLOE_DEV bool floe_reduction_tame(float least, float most) { return least > 0x1p-100f && most < 0x1p100f; }
FLOE_DEV bool floe_reduction_tame(double least, double most) { return least > 0x1p-900 && most < 0x1p900; }

/* 1 / x to a few 2^-53: one step of Newton's doubles the digits of an f32, two those of an f64. */
template <typename T> FLOE_DEV double floe_reduction_inverse(T x)
{
    const double v = (double)x;
    double r = floe_reduction_reciprocal(x);
    r = fma(r, fma(-v, r, 1.0), r);
    return sizeof(T) == 4 ? r : fma(r, fma(-v, r, 1.0), r);
}

template <typename T>
FLOE_DEV bool floe_reduction_group_tame(const floe_reduction_dev_job *job, const floe_reduction_group<T> *g)
{
    T nothing = 0, least = fabs(g->x[0]), most = 0, least_y = fabs(g->y[0]);
    bool fill = false;
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        nothing = fma(g->x[j], (T)0, nothing); /* NaN, where something is not finite */
        nothing = fma(g->y[j], (T)0, nothing);
        least = min(least, fabs(g->x[j]));
        most = max(most, fabs(g->x[j]));
        least_y = min(least_y, fabs(g->y[j]));
    }
    if (job->has_fill) {
#pragma unroll
        for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
            fill |= floe_reduction_is_fill(g->x[j], job) | floe_reduction_is_fill(g->y[j], job);
    }
    return nothing == 0 && floe_reduction_tame(least, most) && least_y > 0 && !fill && g->there == 255;
}

/* ---- pairs --------------------------------------------------------------------------------------------------------- */

FLOE_DEV void floe_reduction_top_add(double *top, double v) { *top = v > *top ? v : *top; }

/* All but |e| / |x|. */
FLOE_DEV void floe_reduction_pair_add(const floe_reduction_dev_job *job, double x, double y, floe_reduction_lane *l)
{
    const double e = y - x, dx = x - l->pivot[0], dy = y - l->pivot[1], dx2 = dx * dx, dy2 = dy * dy;
    l->sum[FLOE_SUM_X] += dx;
    l->sum[FLOE_SUM_X2] += dx2;
    l->sum[FLOE_SUM_Y] += dy;
    l->sum[FLOE_SUM_Y2] += dy2;
    if (job->moments) {
        l->sum[FLOE_SUM_X3] = fma(dx2, dx, l->sum[FLOE_SUM_X3]);
        l->sum[FLOE_SUM_X4] = fma(dx2, dx2, l->sum[FLOE_SUM_X4]);
        l->sum[FLOE_SUM_Y3] = fma(dy2, dy, l->sum[FLOE_SUM_Y3]);
        l->sum[FLOE_SUM_Y4] = fma(dy2, dy2, l->sum[FLOE_SUM_Y4]);
    }
    l->sum[FLOE_SUM_E] += e;
    l->sum[FLOE_SUM_E_ABS] += fabs(e);
    l->sum[FLOE_SUM_E2] = fma(e, e, l->sum[FLOE_SUM_E2]);
    l->sum[FLOE_SUM_XE] = fma(dx, e, l->sum[FLOE_SUM_XE]);
    l->sum[FLOE_SUM_XY] = fma(dx, dy, l->sum[FLOE_SUM_XY]);
    floe_reduction_top_add(&l->top[FLOE_TOP_E], e);
    floe_reduction_top_add(&l->top[FLOE_TOP_E_LOW], -e);
    floe_reduction_top_add(&l->top[FLOE_TOP_E_ABS_LOW], -fabs(e));
}

FLOE_DEV void floe_reduction_ratio_add(double ratio, floe_reduction_lane *l)
{
    l->sum[FLOE_SUM_PW] += ratio;
    floe_reduction_top_add(&l->top[FLOE_TOP_PW], ratio);
    floe_reduction_top_add(&l->top[FLOE_TOP_PW_LOW], -ratio);
}

/* Extremes of values: of a whole group first, in their own type. */
template <typename T, int N>
FLOE_DEV void floe_reduction_values_add(const T (&x)[N], const T (&y)[N], floe_reduction_lane *l)
{
    T high_x = x[0], low_x = x[0], high_y = y[0], low_y = y[0];
#pragma unroll
    for (int j = 1; j < N; j++) {
        high_x = max(high_x, x[j]), low_x = min(low_x, x[j]);
        high_y = max(high_y, y[j]), low_y = min(low_y, y[j]);
    }
    floe_reduction_top_add(&l->top[FLOE_TOP_X], (double)high_x);
    floe_reduction_top_add(&l->top[FLOE_TOP_X_LOW], -(double)low_x);
    floe_reduction_top_add(&l->top[FLOE_TOP_Y], (double)high_y);
    floe_reduction_top_add(&l->top[FLOE_TOP_Y_LOW], -(double)low_y);
}

/* ---- groups -------------------------------------------------------------------------------------------------------- */

template <typename T>
FLOE_DEV floe_reduction_marks floe_reduction_quick_add(const floe_reduction_dev_job *job,
                                                       const floe_reduction_group<T> *g, floe_reduction_lane *l)
{
    const floe_reduction_marks all = {255, 255};
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
        floe_reduction_pair_add(job, (double)g->x[j], (double)g->y[j], l);
    if (job->ratios) {
#pragma unroll
        for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
            const double e = (double)g->y[j] - (double)g->x[j];
            floe_reduction_ratio_add(fabs(e * floe_reduction_inverse(g->x[j])), l);
        }
    }
    floe_reduction_values_add(g->x, g->y, l);
    l->nquick += FLOE_REDUCTION_GROUP;
    return all;
}

/* nan: the counter of NaN, those of the other specials follow. */
FLOE_DEV void floe_reduction_special_count(floe_reduction_shared *s, floe_value_class c, int nan)
{
    s->count[nan][threadIdx.x] += c == FLOE_VALUE_NAN;
    s->count[nan + 1][threadIdx.x] += c == FLOE_VALUE_INF || c == FLOE_VALUE_MINUS_INF;
    s->count[nan + 2][threadIdx.x] += c == FLOE_VALUE_FILL;
}

/* Pair j of a group; bit 0: it counts, bit 1: and its x is not 0. */
template <typename T>
FLOE_DEV uint32_t floe_reduction_one_add(const floe_reduction_dev_job *job, T x, T y, floe_reduction_shared *s,
                                         floe_reduction_lane *l)
{
    const floe_value_class cx = floe_reduction_class(x, job), cy = floe_reduction_class(y, job);
    const floe_pair_class c = floe_pair_class_of(cx, cy);
    const T one_x[1] = {x}, one_y[1] = {y};
    const double e = (double)y - (double)x;
    floe_reduction_special_count(s, cx, FLOE_COUNT_X_NAN);
    floe_reduction_special_count(s, cy, FLOE_COUNT_Y_NAN);
    if (c != FLOE_PAIR_COUNTS) {
        s->count[c == FLOE_PAIR_SAME ? FLOE_COUNT_SAME : FLOE_COUNT_MISMATCH][threadIdx.x]++;
        return 0;
    }
    floe_reduction_pair_add(job, (double)x, (double)y, l);
    floe_reduction_values_add(one_x, one_y, l);
    s->count[FLOE_COUNT_PAIRS][threadIdx.x]++;
    s->count[FLOE_COUNT_X_ZERO][threadIdx.x] += x == 0;
    s->count[FLOE_COUNT_Y_ZERO][threadIdx.x] += y == 0;
    s->count[FLOE_COUNT_PW_UNDEFINED][threadIdx.x] += x == 0 && e != 0;
    s->count[FLOE_COUNT_PW][threadIdx.x] += x != 0;
    if (x != 0 && job->ratios)
        floe_reduction_ratio_add(fabs(e) / fabs((double)x), l);
    return x != 0 ? 3 : 1;
}

template <typename T>
FLOE_DEV floe_reduction_marks floe_reduction_slow_add(const floe_reduction_dev_job *job,
                                                      const floe_reduction_group<T> *g, floe_reduction_shared *s,
                                                      floe_reduction_lane *l)
{
    floe_reduction_marks marks = {0, 0};
    T x[FLOE_REDUCTION_GROUP], y[FLOE_REDUCTION_GROUP]; /* in memory, so that the group itself stays in registers */
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
        x[j] = g->x[j], y[j] = g->y[j];
#pragma unroll 1
    for (uint32_t j = 0; j < FLOE_REDUCTION_GROUP; j++)
        if (g->there >> j & 1) {
            const uint32_t mark = floe_reduction_one_add(job, x[j], y[j], s, l);
            marks.counts |= (mark & 1) << j;
            marks.divides |= (mark >> 1) << j;
        }
    return marks;
}

template <typename T>
FLOE_DEV floe_reduction_marks floe_reduction_group_add(const floe_reduction_dev_job *job,
                                                       const floe_reduction_group<T> *g, floe_reduction_shared *s,
                                                       floe_reduction_lane *l)
{
    if (floe_reduction_group_tame(job, g))
        return floe_reduction_quick_add(job, g, l);
    return floe_reduction_slow_add(job, g, s, l);
}

/* ---- the part of a piece ------------------------------------------------------------------------------------------- */

FLOE_DEV void floe_reduction_slots_clear(floe_reduction_shared *s)
{
#pragma unroll
    for (int c = 0; c < FLOE_COUNTS; c++)
        s->count[c][threadIdx.x] = 0;
}

/* By a whole warp: to words of the warp. */
FLOE_DEV void floe_reduction_warp_fold(const floe_reduction_lane *l, double *words)
{
#pragma unroll
    for (int i = 0; i < FLOE_SUMS; i++) {
        double v = l->sum[i];
#pragma unroll
        for (int d = FLOE_WARP / 2; d > 0; d /= 2)
            v += __shfl_xor_sync(FLOE_ALL_LANES, v, d);
        if (floe_lane() == 0)
            words[i] = v;
    }
#pragma unroll
    for (int i = 0; i < FLOE_TOPS; i++) {
        double v = l->top[i];
#pragma unroll
        for (int d = FLOE_WARP / 2; d > 0; d /= 2)
            floe_reduction_top_add(&v, __shfl_xor_sync(FLOE_ALL_LANES, v, d));
        if (floe_lane() == 0)
            words[FLOE_SUMS + i] = v;
    }
}

FLOE_DEV void floe_reduction_warp_count(const floe_reduction_lane *l, floe_reduction_shared *s, uint64_t *counts)
{
#pragma unroll 1
    for (int c = 0; c < FLOE_COUNTS; c++) {
        const uint32_t quick = c == FLOE_COUNT_PAIRS || c == FLOE_COUNT_PW ? l->nquick : 0;
        const uint32_t n = __reduce_add_sync(FLOE_ALL_LANES, s->count[c][threadIdx.x] + quick);
        s->count[c][threadIdx.x] = 0;
        if (floe_lane() == 0)
            counts[c] = n;
    }
}

/* By a whole block. Afterwards the slots are clear. */
FLOE_DEV void floe_reduction_fold(const floe_reduction_lane *l, floe_reduction_shared *s, floe_reduction_part *part)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP, i = threadIdx.x;
    floe_reduction_warp_fold(l, s->words[warp]);
    floe_reduction_warp_count(l, s, s->counts[warp]);
    __syncthreads();
    if (i < FLOE_SUMS) {
        double v = s->words[0][i];
        for (int w = 1; w < FLOE_REDUCTION_WARPS; w++)
            v += s->words[w][i];
        part->sum[i] = v;
    } else if (i < FLOE_SUMS + FLOE_TOPS) {
        double v = s->words[0][i];
        for (int w = 1; w < FLOE_REDUCTION_WARPS; w++)
            floe_reduction_top_add(&v, s->words[w][i]);
        part->top[i - FLOE_SUMS] = v;
    } else if (i < FLOE_SUMS + FLOE_TOPS + FLOE_COUNTS) {
        const int c = (int)i - FLOE_SUMS - FLOE_TOPS;
        uint64_t n = 0;
        for (int w = 0; w < FLOE_REDUCTION_WARPS; w++)
            n += s->counts[w][c];
        part->count[c] = n;
    }
    __syncthreads();
}

#endif
