/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a lane adds up over its groups of pairs, in registers; and how the lanes of a block become one part.
 *
 * A group is tame if all of its pairs are there, finite, not fill and not 0, and no |x| is so small or large that its
 * reciprocal or a ratio would leave the range of T. Where the groups of a whole warp are tame they are added up at once.
 * Other steps are put off to the end of the stretch and taken pair by pair; what is counted there lies in shared memory, a
 * slot for each warp.
 *
 * Extremes of x and y need no rounding. Those of e and |e| / |x| are first compared as T has them, rounded; only a warp that
 * may have more than its block has so far works them out in double (reduction_records.cuh).
 */
#ifndef FLOE_ASSESS_REDUCTION_LANE_CUH
#define FLOE_ASSESS_REDUCTION_LANE_CUH

#include "assess/reduction/reduction_records.cuh"
#include "assess/reduction/reduction_span.cuh"

/* What a kernel adds up; each kind has what the ones before it have. What it leaves out follows from the rest
 * (floe_reduction_part_complete). */
typedef enum floe_reduction_kind {
    FLOE_REDUCTION_FEW,    /* x, x^2, e, |e|, e^2, x e */
    FLOE_REDUCTION_RATIO,  /* |e| / |x| */
    FLOE_REDUCTION_POWERS, /* third and fourth powers of x and y */
    FLOE_REDUCTION_EACH    /* y, y^2, x y */
} floe_reduction_kind;

/* What is above them may break records of the block, from FLOE_TOP_E on. */
template <typename T> struct floe_reduction_bars {
    T above[FLOE_REDUCTION_RECORDS];
};

template <typename T> struct floe_reduction_lane {
    double sum[FLOE_SUMS], pivot[2];
    floe_reduction_span<T> values; /* of tame groups; those of others go to the block's records */
    floe_reduction_bounds bounds;  /* the same of f32, where there are no bins */
    T worst, ratio_high;           /* the largest |e| and |e| / |x| since the piece began; rounded */
    T e_rounded; /* the largest |e|, since the piece began, of groups that may hold one that T rounded */
    floe_reduction_bars<T> bars; /* alike in a warp */
    uint32_t ntame;              /* pairs of tame groups */
};

/* Of a block. */
template <typename T> struct floe_reduction_shared {
    floe_reduction_records records;
    uint32_t count[FLOE_COUNTS][FLOE_REDUCTION_WARPS];
    double words[FLOE_REDUCTION_WARPS][FLOE_SUMS + FLOE_TOPS];
    uint64_t counts[FLOE_REDUCTION_WARPS][FLOE_COUNTS];
};

/* Of a group, over the pairs that count; values and errors without rounding but that of e, ratios to some 2^-20. */
template <typename T> struct floe_reduction_extent {
    floe_reduction_span<T> values;
    floe_reduction_bounds bounds; /* of tame groups of f32 instead, where there are no bins */
    T e_low, e_high;              /* of tame groups where there are bins only */
    T worst, e_abs_low, ratio_low, ratio_high;
    T x_abs_low;                   /* of tame groups, else 0 */
    T ratio[FLOE_REDUCTION_GROUP]; /* of tame groups */
};

template <typename T> FLOE_DEV floe_reduction_extent<T> floe_reduction_extent_none()
{
    const T most = floe_reduction_infinity<T>();
    return floe_reduction_extent<T>{
        floe_reduction_span_none<T>(), floe_reduction_bounds_none(), most, -most, -most, most, most, -most, 0, {}};
}

template <typename T>
FLOE_DEV void floe_reduction_lane_init(const floe_reduction_dev_job *job, floe_reduction_lane<T> *l)
{
    const T most = floe_reduction_infinity<T>();
    l->pivot[0] = job->results->start.pivot[0], l->pivot[1] = job->results->start.pivot[1];
#pragma unroll
    for (int i = 0; i < FLOE_SUMS; i++)
        l->sum[i] = 0;
    l->values = floe_reduction_span_none<T>();
    l->bounds = floe_reduction_bounds_none();
    l->worst = l->ratio_high = l->e_rounded = -most;
    l->ntame = 0;
}

/* ---- tame groups --------------------------------------------------------------------------------------------------- */

/* 1 / |x| of a tame x, to some 2^-20. */
FLOE_DEV float floe_reduction_reciprocal(float x)
{
#ifdef FLOE_EMULATED
    return 1.0f / fabs(x);
#else
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(fabs(x)));
    return r;
#endif
}
FLOE_DEV double floe_reduction_reciprocal(double x)
{
#ifdef FLOE_EMULATED
    return floe_f64_of(floe_bits_f64(1 / fabs(x)) & 0xffffffff00000000u);
#else
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(fabs(x)));
    return r;
#endif
}

/* The double of a number above 0, by the unit that multiplies integers: the one that converts has enough to do. */
FLOE_DEV double floe_reduction_doubled(float v)
{
    return floe_f64_of(((uint64_t)floe_bits_f32(v) << 29) + ((uint64_t)(1023 - 127) << 52));
}

/* The lesser; NaN if one of them is. */
FLOE_DEV float floe_reduction_least_of(float a, float b)
{
#ifdef FLOE_EMULATED
    return a != a || b != b ? a + b : min(a, b);
#else
    float v;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(v) : "f"(a), "f"(b));
    return v;
#endif
}
FLOE_DEV double floe_reduction_least_of(double a, double b) { return a < b || a != a ? a : b; }

/* Is 1 / |v| right to some 2^-20 and |v| no more than 2^120 times |w|, for all |v| and |w| from least to most? Then a
 * ratio is finite, too. */
FLOE_DEV bool floe_reduction_tame(float least, float most)
{
    return (least > 0x1p-100f) & (most < 0x1p100f) & (most * 0x1p-120f < least);
}
FLOE_DEV bool floe_reduction_tame(double least, double most)
{
    return (least > 0x1p-900) & (most < 0x1p900) & (most * 0x1p-1000 < least);
}

/* The least |x| and |y| of a group, or NaN. It waits for all that is to come from memory. */
template <typename T> FLOE_DEV void floe_reduction_group_lows(const floe_reduction_group<T> *g, T *low)
{
    low[0] = fabs(g->x[0]), low[1] = fabs(g->y[0]);
#pragma unroll
    for (int j = 1; j < FLOE_REDUCTION_GROUP; j++) {
        low[0] = floe_reduction_least_of(low[0], fabs(g->x[j]));
        low[1] = floe_reduction_least_of(low[1], fabs(g->y[j]));
    }
}

/* The least and the greatest error of a group. */
template <typename T>
FLOE_DEV void floe_reduction_errors_span(const floe_reduction_group<T> *g, floe_reduction_extent<T> *v)
{
    v->e_low = v->e_high = g->y[0] - g->x[0];
#pragma unroll
    for (int j = 1; j < FLOE_REDUCTION_GROUP; j++)
        v->e_low = min(v->e_low, g->y[j] - g->x[j]), v->e_high = max(v->e_high, g->y[j] - g->x[j]);
}

/* The span of a group with these lows; as bounds of f32 unless SPAN. Returns a magnitude that none is above, unless one is NaN. */
template <bool SPAN, typename T>
FLOE_DEV T floe_reduction_group_span(const floe_reduction_group<T> *g, const T *low, floe_reduction_extent<T> *v)
{
    floe_reduction_span<T> *s = &v->values;
    if constexpr (!SPAN && sizeof(T) == 4)
        return max(floe_reduction_side_bounds(g->x, low[0], 0, &v->bounds),
                   floe_reduction_side_bounds(g->y, low[1], 1, &v->bounds));
    s->least[0] = s->most[0] = g->x[0], s->least[1] = s->most[1] = g->y[0];
#pragma unroll
    for (int j = 1; j < FLOE_REDUCTION_GROUP; j++)
        floe_reduction_span_add(s, g->x[j], g->y[j]);
    return max(max(s->most[0], -s->least[0]), max(s->most[1], -s->least[1]));
}

/* Takes the span of a tame group. */
template <bool SPAN, typename T>
FLOE_DEV void floe_reduction_values_join(const floe_reduction_extent<T> *v, floe_reduction_lane<T> *l)
{
    if constexpr (SPAN || sizeof(T) == 8) {
        floe_reduction_span_join(&l->values, &v->values);
    } else {
#pragma unroll
        for (int side = 0; side < 2; side++) {
            l->bounds.most[side] = max(l->bounds.most[side], v->bounds.most[side]);
            l->bounds.least[side] = max(l->bounds.least[side], v->bounds.least[side]);
            l->bounds.closest[side] = min(l->bounds.closest[side], v->bounds.closest[side]);
        }
    }
}

/* Brings what bounds hold to the span. */
template <typename T> FLOE_DEV void floe_reduction_bounds_end(floe_reduction_lane<T> *l)
{
#pragma unroll
    for (int side = 0; side < 2; side++) {
        const int32_t most = l->bounds.most[side];
        const uint32_t least = l->bounds.least[side];
        const T closest = (T)l->bounds.closest[side];
        l->values.most[side] = max(l->values.most[side], most >= 0 ? (T)floe_f32_of((uint32_t)most) : -closest);
        l->values.least[side] = min(l->values.least[side], least >> 31 ? (T)floe_f32_of(least) : closest);
    }
}

/* Whether a group with these lows is tame; if so, v is its extent but for ratios and the least |e|, and but for the sides of
 * errors unless SIGNED. */
template <bool SIGNED, typename T>
FLOE_DEV bool floe_reduction_group_tame(const floe_reduction_dev_job *job, const floe_reduction_group<T> *g,
                                        const T *low, floe_reduction_extent<T> *v)
{
    const T most = floe_reduction_group_span<SIGNED>(g, low, v);
    v->worst = fabs(g->y[0] - g->x[0]), v->x_abs_low = low[0];
#pragma unroll
    for (int j = 1; !SIGNED && j < FLOE_REDUCTION_GROUP; j++)
        v->worst = max(v->worst, fabs(g->y[j] - g->x[j]));
    if (SIGNED) {
        floe_reduction_errors_span(g, v);
        v->worst = max(v->e_high, -v->e_low);
    }
    bool tame = floe_reduction_tame(v->x_abs_low, most) & (low[1] > 0); /* not of NaN, as what is not there is */
    if (job->has_fill) {
#pragma unroll
        for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
            tame &= !(floe_reduction_is_fill(g->x[j], job) | floe_reduction_is_fill(g->y[j], job));
    }
    return tame;
}

/* ---- groups -------------------------------------------------------------------------------------------------------- */

/* All but |e| / |x| and extremes. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV void floe_reduction_pair_add(double x, double y, floe_reduction_lane<T> *l)
{
    const double e = y - x, dx = x - l->pivot[0], dy = y - l->pivot[1], dx2 = dx * dx, dy2 = dy * dy;
    l->sum[FLOE_SUM_X] += dx;
    l->sum[FLOE_SUM_X2] = fma(dx, dx, l->sum[FLOE_SUM_X2]);
    l->sum[FLOE_SUM_E] += e;
    l->sum[FLOE_SUM_E_ABS] += fabs(e);
    l->sum[FLOE_SUM_E2] = fma(e, e, l->sum[FLOE_SUM_E2]);
    l->sum[FLOE_SUM_XE] = fma(dx, e, l->sum[FLOE_SUM_XE]);
    if (KIND >= FLOE_REDUCTION_POWERS) {
        l->sum[FLOE_SUM_X3] = fma(dx2, dx, l->sum[FLOE_SUM_X3]);
        l->sum[FLOE_SUM_X4] = fma(dx2, dx2, l->sum[FLOE_SUM_X4]);
        l->sum[FLOE_SUM_Y3] = fma(dy2, dy, l->sum[FLOE_SUM_Y3]);
        l->sum[FLOE_SUM_Y4] = fma(dy2, dy2, l->sum[FLOE_SUM_Y4]);
    }
    if (KIND == FLOE_REDUCTION_EACH) {
        l->sum[FLOE_SUM_Y] += dy;
        l->sum[FLOE_SUM_Y2] += dy2;
        l->sum[FLOE_SUM_XY] = fma(dx, dy, l->sum[FLOE_SUM_XY]);
    }
}

/*
 * The ratios of a tame group. With r near 1 / |x| and d = 1 - |x| r the reciprocal is r (1 + d) to a d^2. Of f32, d is at most
 * 2^-22: |e r| is added in double, and for |e r| d, which has to have half as many digits only, f32 will do. Of f64, d is
 * at most 2^-20, and two steps of Newton's make r the reciprocal. ratio: |e r|, to a few last places of T.
 */
FLOE_DEV void floe_reduction_ratios_add(const floe_reduction_group<float> *g, float *ratio,
                                        floe_reduction_lane<float> *l)
{
    float rest = 0;
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        const float x = g->x[j], r = floe_reduction_reciprocal(x);
        l->sum[FLOE_SUM_PW] = fma(fabs((double)g->y[j] - (double)x), floe_reduction_doubled(r), l->sum[FLOE_SUM_PW]);
        ratio[j] = fabs(g->y[j] - x) * r;
        rest = __fmaf_rn(ratio[j], __fmaf_rn(-fabs(x), r, 1.0f), rest);
    }
    l->sum[FLOE_SUM_PW] += (double)rest;
}
FLOE_DEV void floe_reduction_ratios_add(const floe_reduction_group<double> *g, double *ratio,
                                        floe_reduction_lane<double> *l)
{
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        const double x = fabs(g->x[j]);
        double r = floe_reduction_reciprocal(x);
        r = fma(r, fma(-x, r, 1.0), r);
        r = fma(r, fma(-x, r, 1.0), r);
        ratio[j] = fabs(g->y[j] - g->x[j]) * r;
        l->sum[FLOE_SUM_PW] += ratio[j];
    }
}

template <typename T> FLOE_DEV void floe_reduction_ratios_of(const floe_reduction_group<T> *g, T *ratio)
{
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
        ratio[j] = fabs(g->y[j] - g->x[j]) * floe_reduction_reciprocal(g->x[j]);
}

/* The lesser and the greater of three numbers that are not negative: their bits are ordered as they are. */
FLOE_DEV float floe_reduction_least3(float a, float b, float c)
{
#ifdef FLOE_EMULATED
    return min(min(a, b), c);
#else
    return __int_as_float(__vimin3_s32(__float_as_int(a), __float_as_int(b), __float_as_int(c)));
#endif
}
FLOE_DEV float floe_reduction_most3(float a, float b, float c)
{
#ifdef FLOE_EMULATED
    return max(max(a, b), c);
#else
    return __int_as_float(__vimax3_s32(__float_as_int(a), __float_as_int(b), __float_as_int(c)));
#endif
}
FLOE_DEV double floe_reduction_least3(double a, double b, double c) { return min(min(a, b), c); }
FLOE_DEV double floe_reduction_most3(double a, double b, double c) { return max(max(a, b), c); }

/* v: gets the ratios, where they are added up, and the greatest of them. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV void floe_reduction_tame_add(const floe_reduction_group<T> *g, floe_reduction_extent<T> *v,
                                      floe_reduction_lane<T> *l)
{
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
        floe_reduction_pair_add<KIND>((double)g->x[j], (double)g->y[j], l);
    if (KIND >= FLOE_REDUCTION_RATIO) {
        floe_reduction_ratios_add(g, v->ratio, l);
        v->ratio_high = 0;
#pragma unroll
        for (int j = 0; j < FLOE_REDUCTION_GROUP; j += 2)
            v->ratio_high = floe_reduction_most3(v->ratio_high, v->ratio[j], v->ratio[j + 1]);
    }
}

/* The least |e|, and the least ratio where they are added up, unless the block has the least that there is: 0. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV void floe_reduction_lows_find(const floe_reduction_group<T> *g, const floe_reduction_lane<T> *l,
                                       floe_reduction_extent<T> *v)
{
    v->e_abs_low = v->ratio_low = floe_reduction_infinity<T>();
    if (l->bars.above[2] == 0 && (KIND < FLOE_REDUCTION_RATIO || l->bars.above[4] == 0))
        return;
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j += 2) {
        v->e_abs_low = floe_reduction_least3(v->e_abs_low, fabs(g->y[j] - g->x[j]), fabs(g->y[j + 1] - g->x[j + 1]));
        if (KIND >= FLOE_REDUCTION_RATIO)
            v->ratio_low = floe_reduction_least3(v->ratio_low, v->ratio[j], v->ratio[j + 1]);
    }
}

/* Bit 0: a pair counts, bit 1: and its x is not 0. */
template <typename T> FLOE_DEV uint32_t floe_reduction_mark(const floe_reduction_dev_job *job, T x, T y)
{
    const bool counts =
        floe_reduction_class(x, job) == FLOE_VALUE_FINITE && floe_reduction_class(y, job) == FLOE_VALUE_FINITE;
    return !counts ? 0 : x != 0 ? 3 : 1;
}

/* What is counted of a group: four bits for each of floe_reduction_count. */
typedef uint64_t floe_reduction_tally;
static_assert(4 * (int)FLOE_COUNTS <= 64 && (int)FLOE_REDUCTION_GROUP < 16, "it holds them");

FLOE_DEV floe_reduction_tally floe_reduction_tally_of(int count, uint32_t n)
{
    return (floe_reduction_tally)n << 4 * count;
}

/* By a whole warp. */
template <typename T> FLOE_DEV void floe_reduction_tally_add(floe_reduction_tally mine, floe_reduction_shared<T> *s)
{
#pragma unroll 1
    for (int c = 0; c < FLOE_COUNTS; c++) {
        const uint32_t n = __reduce_add_sync(FLOE_ALL_LANES, (uint32_t)(mine >> 4 * c) & 15);
        if (n && floe_lane() == 0)
            s->count[c][threadIdx.x / FLOE_WARP] += n;
    }
}

/* nan: the counter of NaN, those of the other specials follow. */
FLOE_DEV floe_reduction_tally floe_reduction_special_tally(floe_value_class c, int nan)
{
    return c == FLOE_VALUE_FINITE ? 0
                                  : floe_reduction_tally_of(c == FLOE_VALUE_NAN    ? nan
                                                            : c == FLOE_VALUE_FILL ? nan + 2
                                                                                   : nan + 1,
                                                            1);
}

/* A pair that does not count. look: that of the piece. */
template <typename T>
FLOE_DEV floe_reduction_tally floe_reduction_special_add(const floe_reduction_dev_job *job, T x, T y,
                                                         floe_reduction_look *look)
{
    const floe_value_class cx = floe_reduction_class(x, job), cy = floe_reduction_class(y, job);
    const bool same = floe_pair_class_of(cx, cy) == FLOE_PAIR_SAME;
    if (!same)
        atomicAdd(&look->nmismatch, 1u);
    return floe_reduction_special_tally(cx, FLOE_COUNT_X_NAN) + floe_reduction_special_tally(cy, FLOE_COUNT_Y_NAN) +
           floe_reduction_tally_of(same ? FLOE_COUNT_SAME : FLOE_COUNT_MISMATCH, 1);
}

/* A pair that counts. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV floe_reduction_tally floe_reduction_one_add(T x, T y, floe_reduction_look *look, floe_reduction_extent<T> *v,
                                                     floe_reduction_lane<T> *l)
{
    const T e = y - x;
    const bool undefined = x == 0 && e != 0;
    floe_reduction_pair_add<KIND>((double)x, (double)y, l);
    floe_reduction_span_add(&v->values, x, y);
    v->e_low = min(v->e_low, e), v->e_high = max(v->e_high, e);
    v->worst = max(v->worst, fabs(e)), v->e_abs_low = min(v->e_abs_low, fabs(e));
    if (undefined)
        atomicAdd(&look->nundefined, 1u);
    if (KIND >= FLOE_REDUCTION_RATIO && x != 0) {
        const double ratio = fabs((double)y - (double)x) / fabs((double)x);
        l->sum[FLOE_SUM_PW] += ratio;
        v->ratio_low = min(v->ratio_low, (T)ratio), v->ratio_high = max(v->ratio_high, (T)ratio);
    }
    return floe_reduction_tally_of(FLOE_COUNT_PAIRS, 1) +
           floe_reduction_tally_of(x == 0 ? FLOE_COUNT_X_ZERO : FLOE_COUNT_PW, 1) +
           floe_reduction_tally_of(FLOE_COUNT_Y_ZERO, y == 0) +
           floe_reduction_tally_of(FLOE_COUNT_PW_UNDEFINED, undefined);
}

/* Any group, pair by pair; v becomes the extent of what counts. By a whole warp. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV floe_reduction_marks floe_reduction_pairs_add(const floe_reduction_dev_job *job,
                                                       const floe_reduction_group<T> *g, floe_reduction_look *look,
                                                       floe_reduction_extent<T> *v, floe_reduction_shared<T> *s,
                                                       floe_reduction_lane<T> *l)
{
    floe_reduction_marks marks = {0, 0};
    floe_reduction_tally tally = 0;
    *v = floe_reduction_extent_none<T>();
#pragma unroll 1
    for (uint32_t j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        const T x = g->x[j], y = g->y[j];
        const uint32_t mark = g->there >> j & 1 ? floe_reduction_mark(job, x, y) : 0;
        if (mark) {
            tally += floe_reduction_one_add<KIND>(x, y, look, v, l);
            marks.counts |= 1u << j, marks.divides |= (mark >> 1) << j;
        } else if (g->there >> j & 1) {
            tally += floe_reduction_special_add(job, x, y, look);
        }
    }
    floe_reduction_tally_add(tally, s);
    return marks;
}

/* Of a group that has been added. */
template <typename T>
FLOE_DEV floe_reduction_marks floe_reduction_group_marks(const floe_reduction_dev_job *job,
                                                         const floe_reduction_group<T> *g)
{
    floe_reduction_marks marks = {0, 0};
#pragma unroll
    for (uint32_t j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        const uint32_t mark = g->there >> j & 1 ? floe_reduction_mark(job, g->x[j], g->y[j]) : 0;
        marks.counts |= (mark & 1) << j;
        marks.divides |= (mark >> 1) << j;
    }
    return marks;
}

/* ---- extremes ------------------------------------------------------------------------------------------------------ */

/* What may stand for more than a record of e. Rounding keeps the order, so what rounds to the same may, too; 0 is always
 * exact, and every f64 is. */
FLOE_DEV float floe_reduction_bar(double record, float)
{
    const float near = (float)record;
    return near == 0 ? near : nextafterf(near, -floe_reduction_infinity<float>());
}
FLOE_DEV double floe_reduction_bar(double record, double) { return record; }

/* By a whole warp: what the block has by now. */
template <typename T> FLOE_DEV_COLD floe_reduction_bars<T> floe_reduction_bars_learn(floe_reduction_records *r)
{
    const uint32_t top = FLOE_TOP_E + min(floe_lane(), (uint32_t)FLOE_REDUCTION_RECORDS - 1);
    const double record = floe_reduction_of_key(atomicCAS(&r->key[top], 0ull, 0ull));
    const T bar = top < FLOE_TOP_PW ? floe_reduction_bar(record, (T)0)
                                    : (T)(record * (top == FLOE_TOP_PW ? 1 - 0x1p-17 : 1 + 0x1p-17));
    floe_reduction_bars<T> bars;
#pragma unroll
    for (int i = 0; i < FLOE_REDUCTION_RECORDS; i++)
        bars.above[i] = __shfl_sync(FLOE_ALL_LANES, bar, i);
    return bars;
}

/* What the lane has of errors in the piece. */
template <typename T>
FLOE_DEV void floe_reduction_errors_join(const floe_reduction_extent<T> *v, floe_reduction_lane<T> *l)
{
    if (sizeof(T) == 4 &&
        !(2 * v->worst <= v->x_abs_low)) /* else y is x / 2 to 2 x: their difference has all its digits */
        l->e_rounded = max(l->e_rounded, v->worst);
    l->worst = max(l->worst, v->worst);
}

/* Whether the group may break a record; of either side of errors, where the sides are not known. */
template <bool SIGNED, floe_reduction_kind KIND, typename T>
FLOE_DEV bool floe_reduction_breaks(const floe_reduction_extent<T> *v, const floe_reduction_lane<T> *l)
{
    const T *above = l->bars.above;
    bool breaks = SIGNED ? (v->e_high > above[0]) | (-v->e_low > above[1]) : v->worst > min(above[0], above[1]);
    breaks |= -v->e_abs_low > above[2];
    if (KIND >= FLOE_REDUCTION_RATIO)
        breaks |= (v->ratio_high > above[3]) | (-v->ratio_low > above[4]);
    return breaks;
}

/* The records of a warp's groups that may break some; by the whole warp. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV void floe_reduction_records_break(const floe_reduction_group<T> *g, const floe_reduction_marks *marks,
                                           floe_reduction_shared<T> *s, floe_reduction_lane<T> *l)
{
    floe_reduction_records_add(*g, *marks, KIND >= FLOE_REDUCTION_RATIO, &s->records);
    l->bars = floe_reduction_bars_learn<T>(&s->records);
}

/* The values of groups that are not tame; by a whole warp. */
template <typename T>
FLOE_DEV void floe_reduction_span_record(const floe_reduction_span<T> *values, floe_reduction_records *r)
{
#pragma unroll
    for (int side = 0; side < 2; side++) {
        floe_reduction_record_add((double)values->most[side], FLOE_TOP_X + 2 * side, r);
        floe_reduction_record_add(-(double)values->least[side], FLOE_TOP_X_LOW + 2 * side, r);
    }
}

/* ---- the look of a piece ------------------------------------------------------------------------------------------- */

/* A T that is not below what rounds to v. */
FLOE_DEV float floe_reduction_up(float v) { return nextafterf(v, floe_reduction_infinity<float>()); }
FLOE_DEV double floe_reduction_up(double v) { return v; }

/* v: not negative. Its bits are ordered as such numbers are. */
FLOE_DEV void floe_reduction_look_most(double *word, double v)
{
    atomicMax((long long *)word, (long long)floe_bits_f64(v));
}

/* By a whole warp at the end of a piece. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV void floe_reduction_look_put(floe_reduction_lane<T> *l, floe_reduction_look *look)
{
    const T worst = floe_reduction_warp_most(l->worst), rounded = floe_reduction_warp_most(l->e_rounded);
    const T ratio = KIND >= FLOE_REDUCTION_RATIO ? floe_reduction_warp_most(l->ratio_high) : 0;
    const bool is_exact = rounded < worst || worst == 0;
    const double most = (double)(is_exact ? worst : floe_reduction_up(worst));
    l->worst = l->ratio_high = l->e_rounded = -floe_reduction_infinity<T>();
    if (floe_lane() == 0 && worst >= 0) {
        floe_reduction_look_most(&look->worst, most);
        if (!is_exact)
            floe_reduction_look_most(&look->inexact, most);
        if (KIND >= FLOE_REDUCTION_RATIO && ratio >= 0)
            floe_reduction_look_most(&look->ratio, (double)ratio * (1 + 0x1p-18));
    }
}

#endif
