/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a lane adds up over its groups of pairs, in registers; and how the lanes of a block become one part.
 *
 * A group of which all pairs are tame goes quickly: all finite, none fill, none 0, |x| such that its reciprocal has all
 * digits. Any other is taken pair by pair; what is then counted lies in shared memory, a slot for each thread.
 *
 * Extremes of e and |e| / |x| are compared as T has them, of f32 rounded; only a warp that meets what may be more than the block
 * has met so far works them out in full.
 */
#ifndef FLOE_ASSESS_REDUCTION_LANE_CUH
#define FLOE_ASSESS_REDUCTION_LANE_CUH

#include "assess/reduction/reduction_cuda.cuh"

/* What a kernel adds up; each kind has what the ones before it have. What it leaves out follows from the rest
 * (floe_reduction_part_complete). */
typedef enum floe_reduction_kind {
    FLOE_REDUCTION_FEW,    /* x, x^2, e, |e|, e^2, x e */
    FLOE_REDUCTION_RATIO,  /* |e| / |x| */
    FLOE_REDUCTION_POWERS, /* third and fourth powers of x and y */
    FLOE_REDUCTION_EACH    /* y, y^2, x y */
} floe_reduction_kind;

enum { FLOE_REDUCTION_RECORDS = FLOE_TOPS - FLOE_TOP_E };
template <typename T> struct floe_reduction_lane {
    double sum[FLOE_SUMS], pivot[2];
    T least[2], most[2];              /* values of x and y */
    T e_low, e_high, ratio_high;      /* since the piece began; rounded */
    T e_rounded;                      /* the largest |e| of all that are not known to be exact */
    T record[FLOE_REDUCTION_RECORDS]; /* what those of the block were not long ago, rounded; alike in a warp */
    uint32_t nquick;                  /* pairs of groups that went quickly */
};

/* The extremes of all that a block has met, of doubles, in the order of FLOE_TOP_E and what follows it. Between barriers they are
 * only touched by atomics. */
typedef struct floe_reduction_records {
    unsigned long long key[FLOE_REDUCTION_RECORDS];
} floe_reduction_records;

/* Of a block. */
template <typename T> struct floe_reduction_shared {
    floe_reduction_records records;
    uint32_t count[FLOE_COUNTS][FLOE_REDUCTION_THREADS];
    double words[FLOE_REDUCTION_WARPS][FLOE_SUMS + FLOE_TOPS];
    uint64_t counts[FLOE_REDUCTION_WARPS][FLOE_COUNTS];
    floe_reduction_look look[FLOE_REDUCTION_WARPS]; /* of the piece */
    uint32_t nundefined, nmismatch;                 /* in the piece */
};

/* Which pairs of a group count, and have an x that is not 0. */
typedef struct floe_reduction_marks {
    uint32_t counts, divides;
    bool tame; /* all do */
} floe_reduction_marks;

/* Extremes over the pairs of a group that count, as T has them; ratios to some 2^-20. Low above high: there are none. */
template <typename T> struct floe_reduction_extent {
    T least[2], most[2], e_low, e_high, e_abs_low, ratio_low, ratio_high;
    T x_abs_low; /* of tame groups, else 0 */
};

template <typename T> FLOE_DEV T floe_reduction_infinity() { return (T)floe_f64_of(0x7ff0000000000000u); }

template <typename T> FLOE_DEV floe_reduction_extent<T> floe_reduction_extent_none()
{
    const T most = floe_reduction_infinity<T>();
    return floe_reduction_extent<T>{{most, most}, {-most, -most}, most, -most, most, most, -most, 0};
}

template <typename T>
FLOE_DEV void floe_reduction_lane_init(const floe_reduction_dev_job *job, floe_reduction_lane<T> *l)
{
    const T most = floe_reduction_infinity<T>();
    l->pivot[0] = job->start->pivot[0], l->pivot[1] = job->start->pivot[1];
#pragma unroll
    for (int i = 0; i < FLOE_SUMS; i++)
        l->sum[i] = 0;
#pragma unroll
    for (int side = 0; side < 2; side++)
        l->least[side] = most, l->most[side] = -most;
    l->e_low = most, l->e_high = l->ratio_high = l->e_rounded = -most;
#pragma unroll
    for (int i = 0; i < FLOE_REDUCTION_RECORDS; i++)
        l->record[i] = -most;
    l->nquick = 0;
}

/* ---- tame groups --------------------------------------------------------------------------------------------------- */

/* 1 / x to some 2^-20. */
FLOE_DEV float floe_reduction_reciprocal(float x)
{
#ifdef FLOE_EMULATED
    return 1.0f / x;
#else
    float r;
    asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
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
/* Bounds of |x| between which that, and a step or two of Newton's, have all their digits. */
FLOE_DEV bool floe_reduction_tame(float least, float most) { return least > 0x1p-100f && most < 0x1p100f; }
FLOE_DEV bool floe_reduction_tame(double least, double most) { return least > 0x1p-900 && most < 0x1p900; }

/* r, some 2^-20 of it beside 1 / x, to a few 2^-53: one step of Newton's doubles the digits of an f32, two those of an f64. */
template <typename T> FLOE_DEV double floe_reduction_inverse(T x, T rough)
{
    const double v = (double)x;
    double r = (double)rough;
    r = fma(r, fma(-v, r, 1.0), r);
    return sizeof(T) == 4 ? r : fma(r, fma(-v, r, 1.0), r);
}

/* Without ratios. */
template <typename T> FLOE_DEV floe_reduction_extent<T> floe_reduction_group_extent(const floe_reduction_group<T> *g)
{
    floe_reduction_extent<T> v = floe_reduction_extent_none<T>();
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        const T e = g->y[j] - g->x[j];
        v.least[0] = min(v.least[0], g->x[j]), v.most[0] = max(v.most[0], g->x[j]);
        v.least[1] = min(v.least[1], g->y[j]), v.most[1] = max(v.most[1], g->y[j]);
        v.e_low = min(v.e_low, e), v.e_high = max(v.e_high, e);
        v.e_abs_low = min(v.e_abs_low, fabs(e));
    }
    return v;
}

template <typename T>
FLOE_DEV bool floe_reduction_group_tame(const floe_reduction_dev_job *job, const floe_reduction_group<T> *g,
                                        floe_reduction_extent<T> *v)
{
    T nothing = 0, least = fabs(g->x[0]), least_y = fabs(g->y[0]);
    bool fill = false;
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        nothing = fma(g->y[j] - g->x[j], (T)0, nothing); /* NaN, where something is not finite */
        least = min(least, fabs(g->x[j]));
        least_y = min(least_y, fabs(g->y[j]));
    }
    if (job->has_fill) {
#pragma unroll
        for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
            fill |= floe_reduction_is_fill(g->x[j], job) | floe_reduction_is_fill(g->y[j], job);
    }
    v->x_abs_low = least;
    return nothing == 0 && floe_reduction_tame(least, max(v->most[0], -v->least[0])) && least_y > 0 && !fill &&
           g->there == 255;
}

/* ---- records ------------------------------------------------------------------------------------------------------- */

/* A word that is ordered as the numbers are; none is NaN. */
FLOE_DEV unsigned long long floe_reduction_key(double v)
{
    const uint64_t bits = floe_bits_f64(v);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}
FLOE_DEV double floe_reduction_of_key(unsigned long long key)
{
    return floe_f64_of(key >> 63 ? key & ~((uint64_t)1 << 63) : ~(uint64_t)key);
}

/* By all threads, before a barrier. */
FLOE_DEV void floe_reduction_records_init(floe_reduction_records *r)
{
    if (threadIdx.x < FLOE_REDUCTION_RECORDS)
        r->key[threadIdx.x] = floe_reduction_key(-floe_reduction_infinity<double>());
}

/* By a whole warp: what the block knows by now. */
template <typename T> FLOE_DEV void floe_reduction_records_learn(floe_reduction_records *r, floe_reduction_lane<T> *l)
{
    const unsigned long long key =
        floe_lane() < FLOE_REDUCTION_RECORDS ? atomicCAS(&r->key[floe_lane()], 0ull, 0ull) : 0;
    const T mine = (T)floe_reduction_of_key(key);
#pragma unroll
    for (int i = 0; i < FLOE_REDUCTION_RECORDS; i++)
        l->record[i] = __shfl_sync(FLOE_ALL_LANES, mine, i);
}

/* May v stand for more than a record does? Rounding keeps the order, so only what rounds to the same may; 0 is always exact, and
 * every f64 is. */
template <typename T> FLOE_DEV bool floe_reduction_beyond(T v, T record)
{
    return v > record || (sizeof(T) == 4 && v == record && v != 0);
}

template <floe_reduction_kind KIND, typename T>
FLOE_DEV bool floe_reduction_breaks(const floe_reduction_extent<T> *v, const floe_reduction_lane<T> *l)
{
    const T more = (T)(1 + 0x1p-18), less = (T)(1 - 0x1p-18);
    return floe_reduction_beyond(v->e_high, l->record[0]) || floe_reduction_beyond(-v->e_low, l->record[1]) ||
           floe_reduction_beyond(-v->e_abs_low, l->record[2]) ||
           (KIND >= FLOE_REDUCTION_RATIO &&
            (v->ratio_high * more > l->record[3] || -v->ratio_low * less > l->record[4]));
}

template <typename T> FLOE_DEV T floe_reduction_warp_most(T v)
{
#pragma unroll
    for (int d = FLOE_WARP / 2; d > 0; d /= 2)
        v = max(v, __shfl_xor_sync(FLOE_ALL_LANES, v, d));
    return v;
}

/* By a whole warp: its groups once more, in full. */
template <typename T>
FLOE_DEV_SELDOM void floe_reduction_records_add(floe_reduction_group<T> g, floe_reduction_marks marks, bool ratios,
                                                floe_reduction_records *r)
{
    double v[FLOE_REDUCTION_RECORDS];
#pragma unroll
    for (int i = 0; i < FLOE_REDUCTION_RECORDS; i++)
        v[i] = -floe_reduction_infinity<double>();
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
        if (marks.counts >> j & 1) {
            const double e = (double)g.y[j] - (double)g.x[j];
            v[0] = max(v[0], e), v[1] = max(v[1], -e), v[2] = max(v[2], -fabs(e));
            if (ratios && marks.divides >> j & 1) {
                const double ratio = fabs(e) / fabs((double)g.x[j]);
                v[3] = max(v[3], ratio), v[4] = max(v[4], -ratio);
            }
        }
#pragma unroll
    for (int i = 0; i < FLOE_REDUCTION_RECORDS; i++) {
        const unsigned long long key = floe_reduction_key(floe_reduction_warp_most(v[i]));
        if (floe_lane() == 0)
            atomicMax(&r->key[i], key);
    }
    __syncwarp();
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

template <typename T>
FLOE_DEV void floe_reduction_ratio_add(T x, T y, floe_reduction_extent<T> *v, floe_reduction_lane<T> *l)
{
    const T rough = floe_reduction_reciprocal(x), ratio = fabs((y - x) * rough);
    l->sum[FLOE_SUM_PW] += fabs(((double)y - (double)x) * floe_reduction_inverse(x, rough));
    v->ratio_low = min(v->ratio_low, ratio), v->ratio_high = max(v->ratio_high, ratio);
}

template <floe_reduction_kind KIND, typename T>
FLOE_DEV floe_reduction_marks floe_reduction_quick_add(const floe_reduction_group<T> *g, floe_reduction_extent<T> *v,
                                                       floe_reduction_lane<T> *l)
{
    const floe_reduction_marks all = {255, 255, true};
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        floe_reduction_pair_add<KIND>((double)g->x[j], (double)g->y[j], l);
        if (KIND >= FLOE_REDUCTION_RATIO)
            floe_reduction_ratio_add(g->x[j], g->y[j], v, l);
    }
    l->nquick += FLOE_REDUCTION_GROUP;
    return all;
}

/* Bit 0: a pair counts, bit 1: and its x is not 0. */
template <typename T> FLOE_DEV uint32_t floe_reduction_mark(const floe_reduction_dev_job *job, T x, T y)
{
    const bool counts =
        floe_reduction_class(x, job) == FLOE_VALUE_FINITE && floe_reduction_class(y, job) == FLOE_VALUE_FINITE;
    return !counts ? 0 : x != 0 ? 3 : 1;
}

/* nan: the counter of NaN, those of the other specials follow. */
template <typename T>
FLOE_DEV void floe_reduction_special_count(floe_reduction_shared<T> *s, floe_value_class c, int nan)
{
    s->count[nan][threadIdx.x] += c == FLOE_VALUE_NAN;
    s->count[nan + 1][threadIdx.x] += c == FLOE_VALUE_INF || c == FLOE_VALUE_MINUS_INF;
    s->count[nan + 2][threadIdx.x] += c == FLOE_VALUE_FILL;
}

/* A pair that counts. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV void floe_reduction_one_add(T x, T y, floe_reduction_extent<T> *v, floe_reduction_shared<T> *s,
                                     floe_reduction_lane<T> *l)
{
    const T e = y - x;
    floe_reduction_pair_add<KIND>((double)x, (double)y, l);
    s->count[FLOE_COUNT_PAIRS][threadIdx.x]++;
    s->count[FLOE_COUNT_X_ZERO][threadIdx.x] += x == 0;
    s->count[FLOE_COUNT_Y_ZERO][threadIdx.x] += y == 0;
    s->count[FLOE_COUNT_PW][threadIdx.x] += x != 0;
    v->least[0] = min(v->least[0], x), v->most[0] = max(v->most[0], x);
    v->least[1] = min(v->least[1], y), v->most[1] = max(v->most[1], y);
    v->e_low = min(v->e_low, e), v->e_high = max(v->e_high, e), v->e_abs_low = min(v->e_abs_low, fabs(e));
    if (x == 0 && e != 0) {
        s->count[FLOE_COUNT_PW_UNDEFINED][threadIdx.x]++;
        atomicAdd(&s->nundefined, 1u);
    }
    if (KIND >= FLOE_REDUCTION_RATIO && x != 0) {
        const double ratio = fabs((double)y - (double)x) / fabs((double)x);
        l->sum[FLOE_SUM_PW] += ratio;
        v->ratio_low = min(v->ratio_low, (T)ratio), v->ratio_high = max(v->ratio_high, (T)ratio);
    }
}

/* v becomes the extent of what counts. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV floe_reduction_marks floe_reduction_slow_add(const floe_reduction_dev_job *job,
                                                      const floe_reduction_group<T> *g, floe_reduction_extent<T> *v,
                                                      floe_reduction_shared<T> *s, floe_reduction_lane<T> *l)
{
    floe_reduction_marks marks = {0, 0, false};
    T x[FLOE_REDUCTION_GROUP], y[FLOE_REDUCTION_GROUP]; /* in memory, so that the group itself stays in registers */
    *v = floe_reduction_extent_none<T>();
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
        x[j] = g->x[j], y[j] = g->y[j];
#pragma unroll 1
    for (uint32_t j = 0; j < FLOE_REDUCTION_GROUP; j++)
        if (g->there >> j & 1) {
            const floe_value_class cx = floe_reduction_class(x[j], job), cy = floe_reduction_class(y[j], job);
            const floe_pair_class c = floe_pair_class_of(cx, cy);
            floe_reduction_special_count(s, cx, FLOE_COUNT_X_NAN);
            floe_reduction_special_count(s, cy, FLOE_COUNT_Y_NAN);
            if (c == FLOE_PAIR_COUNTS) {
                floe_reduction_one_add<KIND>(x[j], y[j], v, s, l);
                marks.counts |= 1u << j;
                marks.divides |= (uint32_t)(x[j] != 0) << j;
            } else if (c == FLOE_PAIR_SAME) {
                s->count[FLOE_COUNT_SAME][threadIdx.x]++;
            } else {
                s->count[FLOE_COUNT_MISMATCH][threadIdx.x]++;
                atomicAdd(&s->nmismatch, 1u);
            }
        }
    return marks;
}

/* What the lane and its block know of extremes; by a whole warp. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV void floe_reduction_extent_add(const floe_reduction_group<T> *g, const floe_reduction_extent<T> *v,
                                        const floe_reduction_marks *marks, floe_reduction_shared<T> *s,
                                        floe_reduction_lane<T> *l)
{
#pragma unroll
    for (int side = 0; side < 2; side++) {
        l->least[side] = min(l->least[side], v->least[side]);
        l->most[side] = max(l->most[side], v->most[side]);
    }
    const T worst = max(v->e_high, -v->e_low);
    if (sizeof(T) == 4 &&
        !(2 * worst <= v->x_abs_low)) /* else y is x / 2 to 2 x: their difference has all its digits */
        l->e_rounded = max(l->e_rounded, worst);
    l->e_low = min(l->e_low, v->e_low), l->e_high = max(l->e_high, v->e_high);
    if (KIND >= FLOE_REDUCTION_RATIO)
        l->ratio_high = max(l->ratio_high, v->ratio_high);
    if (__any_sync(FLOE_ALL_LANES, floe_reduction_breaks<KIND>(v, l))) {
        floe_reduction_records_add(*g, *marks, KIND >= FLOE_REDUCTION_RATIO, &s->records);
        floe_reduction_records_learn(&s->records, l);
    }
}

/* v: what the group spans. By a whole warp. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV floe_reduction_marks floe_reduction_group_add(const floe_reduction_dev_job *job,
                                                       const floe_reduction_group<T> *g, floe_reduction_extent<T> *v,
                                                       floe_reduction_shared<T> *s, floe_reduction_lane<T> *l)
{
    *v = floe_reduction_group_extent(g);
    const floe_reduction_marks marks = floe_reduction_group_tame(job, g, v)
                                           ? floe_reduction_quick_add<KIND>(g, v, l)
                                           : floe_reduction_slow_add<KIND>(job, g, v, s, l);
    floe_reduction_extent_add<KIND>(g, v, &marks, s, l);
    return marks;
}

/* Of a group that has been added. */
template <typename T>
FLOE_DEV floe_reduction_marks floe_reduction_group_marks(const floe_reduction_dev_job *job,
                                                         const floe_reduction_group<T> *g)
{
    floe_reduction_marks marks = {0, 0, false};
#pragma unroll
    for (uint32_t j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        const uint32_t mark = g->there >> j & 1 ? floe_reduction_mark(job, g->x[j], g->y[j]) : 0;
        marks.counts |= (mark & 1) << j;
        marks.divides |= (mark >> 1) << j;
    }
    return marks;
}

/* ---- the look of a piece ------------------------------------------------------------------------------------------- */

/* A T that is not below what rounds to v. */
FLOE_DEV float floe_reduction_up(float v) { return nextafterf(v, floe_reduction_infinity<float>()); }
FLOE_DEV double floe_reduction_up(double v) { return v; }

/* By a whole block, at the end of a piece; then the next one may begin. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV void floe_reduction_look_write(floe_reduction_lane<T> *l, floe_reduction_shared<T> *s,
                                        floe_reduction_look *look)
{
    const T worst = floe_reduction_warp_most(max(l->e_high, -l->e_low)),
            rounded = floe_reduction_warp_most(l->e_rounded);
    const T ratio = KIND >= FLOE_REDUCTION_RATIO ? floe_reduction_warp_most(l->ratio_high) : 0;
    l->e_low = floe_reduction_infinity<T>(), l->e_high = l->ratio_high = l->e_rounded = -l->e_low;
    if (floe_lane() == 0) {
        floe_reduction_look *mine = &s->look[threadIdx.x / FLOE_WARP];
        mine->exact = rounded < worst || worst == 0;
        mine->worst = (double)(mine->exact ? worst : floe_reduction_up(worst)),
        mine->ratio = (double)ratio * (1 + 0x1p-18);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        floe_reduction_look all = s->look[0];
        for (int w = 1; w < FLOE_REDUCTION_WARPS; w++) {
            if (s->look[w].worst >= all.worst)
                all.exact = s->look[w].exact && (all.exact || s->look[w].worst > all.worst);
            all.worst = max(all.worst, s->look[w].worst);
            all.ratio = max(all.ratio, s->look[w].ratio);
        }
        all.nundefined = s->nundefined, all.nmismatch = s->nmismatch;
        s->nundefined = s->nmismatch = 0;
        *look = all;
    }
    __syncthreads();
}

/* ---- the part of a block ------------------------------------------------------------------------------------------- */

/* By all threads, before a barrier. */
template <typename T> FLOE_DEV void floe_reduction_shared_init(floe_reduction_shared<T> *s)
{
#pragma unroll
    for (int c = 0; c < FLOE_COUNTS; c++)
        s->count[c][threadIdx.x] = 0;
    floe_reduction_records_init(&s->records);
    s->nundefined = s->nmismatch = 0;
}

FLOE_DEV constexpr bool floe_reduction_adds(floe_reduction_kind kind, int sum)
{
    const bool power = sum == FLOE_SUM_X3 || sum == FLOE_SUM_X4 || sum == FLOE_SUM_Y3 || sum == FLOE_SUM_Y4;
    const bool follows = sum == FLOE_SUM_Y || sum == FLOE_SUM_Y2 || sum == FLOE_SUM_XY;
    return kind >= (follows              ? FLOE_REDUCTION_EACH
                    : power              ? FLOE_REDUCTION_POWERS
                    : sum == FLOE_SUM_PW ? FLOE_REDUCTION_RATIO
                                         : FLOE_REDUCTION_FEW);
}

/* By a whole warp. */
FLOE_DEV double floe_reduction_warp_sum(double v)
{
#pragma unroll
    for (int d = FLOE_WARP / 2; d > 0; d /= 2)
        v += __shfl_xor_sync(FLOE_ALL_LANES, v, d);
    return v;
}

/* By a whole warp: to words of the warp. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV void floe_reduction_warp_fold(const floe_reduction_lane<T> *l, const floe_reduction_records *r, double *words)
{
#pragma unroll
    for (int i = 0; i < FLOE_SUMS; i++) {
        const double v = floe_reduction_adds(KIND, i) ? floe_reduction_warp_sum(l->sum[i]) : 0;
        if (floe_lane() == 0)
            words[i] = v;
    }
#pragma unroll
    for (int side = 0; side < 2; side++) {
        const T most = floe_reduction_warp_most(l->most[side]), least = floe_reduction_warp_most(-l->least[side]);
        if (floe_lane() == 0) {
            words[FLOE_SUMS + FLOE_TOP_X + 2 * side] = (double)most;
            words[FLOE_SUMS + FLOE_TOP_X_LOW + 2 * side] = (double)least;
        }
    }
    if (floe_lane() < FLOE_REDUCTION_RECORDS)
        words[FLOE_SUMS + FLOE_TOP_E + floe_lane()] = floe_reduction_of_key(r->key[floe_lane()]);
}

template <typename T>
FLOE_DEV void floe_reduction_warp_count(const floe_reduction_lane<T> *l, const floe_reduction_shared<T> *s,
                                        uint64_t *counts)
{
#pragma unroll 1
    for (int c = 0; c < FLOE_COUNTS; c++) {
        const uint32_t quick = c == FLOE_COUNT_PAIRS || c == FLOE_COUNT_PW ? l->nquick : 0;
        const uint32_t mine = s->count[c][threadIdx.x] + quick;
        const uint64_t n = (uint64_t)__reduce_add_sync(FLOE_ALL_LANES, mine >> 16) << 16;
        const uint32_t low = __reduce_add_sync(FLOE_ALL_LANES, mine & 0xffff);
        if (floe_lane() == 0)
            counts[c] = n + low;
    }
}

/* By a whole block, behind a barrier. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV void floe_reduction_fold(const floe_reduction_lane<T> *l, floe_reduction_shared<T> *s,
                                  floe_reduction_part *part)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP, i = threadIdx.x;
    floe_reduction_warp_fold<KIND>(l, &s->records, s->words[warp]);
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
            v = max(v, s->words[w][i]);
        part->top[i - FLOE_SUMS] = v;
    } else if (i < FLOE_SUMS + FLOE_TOPS + FLOE_COUNTS) {
        const int c = (int)i - FLOE_SUMS - FLOE_TOPS;
        uint64_t n = 0;
        for (int w = 0; w < FLOE_REDUCTION_WARPS; w++)
            n += s->counts[w][c];
        part->count[c] = n;
    }
}

#endif
