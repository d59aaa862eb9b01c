/* SPDX-License-Identifier: BSD-3-Clause */
/* The stencil pass as its contract words it, in long double and without any haste; and fields to try it on. */
#ifndef FLOE_ASSESS_STENCIL_TEST_KIT_H
#define FLOE_ASSESS_STENCIL_TEST_KIT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assess/stencil/stencil.h"
#include "base/hd.h"

static uint64_t kit_seed = 17;
static uint64_t kit_draw(uint64_t below)
{
    kit_seed = kit_seed * 6364136223846793005u + 1442695040888963407u;
    return (kit_seed >> 33) % below;
}
static double kit_uniform(void) { return (double)kit_draw(1u << 30) / (double)(1u << 30); }

/* ---- fields -------------------------------------------------------------------------------------------------------- */

enum { KIT_MAX = 1 << 16 };

typedef enum kit_kind {
    KIT_SMOOTH,
    KIT_NOISE,
    KIT_OFFSET,   /* 1e6 with a variation of 1e-3 */
    KIT_CONSTANT, /* both sides, one above the other */
    KIT_EXACT,    /* decoded is the original */
    KIT_BIASED,   /* errors of 100 with a variation of 1e-3 */
    KIT_RISING,   /* all derivatives are positive, */
    KIT_FALLING,  /* or negative */
    KIT_SPECIAL,  /* NaN, Inf and fill on either side */
    KIT_MOSTLY_SPECIAL,
    KIT_KINDS
} kit_kind;

static const double kit_fill = -9999;

static void kit_put(floe_dtype dtype, void *data, int64_t i, double v)
{
    if (dtype == FLOE_F32)
        ((float *)data)[i] = (float)v;
    else
        ((double *)data)[i] = v;
}
static double kit_get(floe_dtype dtype, const void *data, int64_t i)
{
    return dtype == FLOE_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static double kit_special(double v, int per_hundred)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -9999};
    return kit_draw(100) < (uint64_t)per_hundred ? odd[kit_draw(4)] : v;
}

static void kit_values(kit_kind kind, uint64_t i, double *x, double *y)
{
    const double wave = sin((double)i * 0.037) + 0.3 * cos((double)i * 0.61), noise = kit_uniform() - 0.5;
    *x = kind == KIT_NOISE ? noise : wave;
    *y = *x + 1e-3 * (kit_uniform() - 0.5);
    switch (kind) {
    case KIT_OFFSET: *x = 1e6 + 1e-3 * wave, *y = *x + 1e-5 * noise; break;
    case KIT_CONSTANT: *x = 1.25, *y = 1.1; break;
    case KIT_EXACT: *y = *x; break;
    case KIT_BIASED: *y = *x + 100 + 1e-3 * noise; break;
    case KIT_RISING: *x = (double)i * (double)i * 1e-4, *y = 0.99 * *x; break;
    case KIT_FALLING: *x = (double)i * (double)i * -1e-4, *y = 0.99 * *x; break;
    case KIT_SPECIAL: *x = kit_special(*x, 1), *y = kit_special(*y, 1); break;
    case KIT_MOSTLY_SPECIAL: *x = kit_special(*x, 30), *y = kit_special(*y, 2); break;
    default: break;
    }
}

/* A pair of dense fields in memory for shape[0] * ... values each. */
static floe_pair kit_pair(kit_kind kind, floe_dtype dtype, uint32_t rank, const uint64_t *shape, void *x, void *y)
{
    floe_pair p = {.original = x, .decoded = y, .dtype = dtype, .place = FLOE_HOST, .rank = rank, .has_fill = 1};
    uint64_t n = 1;
    p.fill_bits = dtype == FLOE_F32 ? floe_bits_f32((float)kit_fill) : floe_bits_f64(kit_fill);
    for (uint32_t a = 4; a-- > 0;) {
        const bool own = a >= 4 - rank;
        p.shape[a] = own ? shape[a - (4 - rank)] : 1;
        p.original_stride[a] = p.decoded_stride[a] = own ? (int64_t)n : 0;
        n *= p.shape[a];
    }
    for (uint64_t i = 0; i < n; i++) {
        double v, w;
        kit_values(kind, i, &v, &w);
        kit_put(dtype, x, (int64_t)i, v);
        kit_put(dtype, y, (int64_t)i, w);
    }
    return p;
}

/* Units of fields about as small as f32 holds, in between, and about as large. */
static const double kit_units[] = {1e-33, 1e-9, 1e12, 1e25, 1e37};
enum { KIT_UNITS = sizeof kit_units / sizeof kit_units[0] };

/* Noise of f32 in a unit; tight: with errors a thousandth as large. */
static inline floe_pair kit_pair_in_unit(double unit, bool tight, const uint64_t shape[3], void *x, void *y)
{
    const floe_pair p = kit_pair(KIT_NOISE, FLOE_F32, 3, shape, x, y);
    for (int64_t i = 0; i < (int64_t)(shape[0] * shape[1] * shape[2]); i++) {
        const double v = kit_get(FLOE_F32, x, i), e = kit_get(FLOE_F32, y, i) - v;
        kit_put(FLOE_F32, x, i, unit * v);
        kit_put(FLOE_F32, y, i, unit * (v + (tight ? 1e-3 : 1) * e));
    }
    return p;
}

/* ---- the definition ------------------------------------------------------------------------------------------------ */

static int64_t kit_offset(const int64_t *stride, const int64_t *at)
{
    int64_t offset = 0;
    for (int a = 0; a < 4; a++)
        offset += at[a] * stride[a];
    return offset;
}

static bool kit_value(const floe_pair *p, int side, const int64_t *at, long double *v)
{
    const int64_t i = kit_offset(side ? p->decoded_stride : p->original_stride, at);
    const double d = kit_get(p->dtype, side ? p->decoded : p->original, i);
    *v = d;
    return isfinite(d) && !(p->has_fill && d == kit_fill);
}

/* Both values; false where the pair does not count. */
static bool kit_both(const floe_pair *p, const int64_t *at, long double v[2])
{
    v[1] = 0;
    const bool first = kit_value(p, 0, at, &v[0]);
    return p->decoded ? kit_value(p, 1, at, &v[1]) && first : first;
}

static bool kit_beside(const floe_pair *p, const int64_t *at, int a, int da, int b, int db, long double v[2])
{
    int64_t to[4];
    memcpy(to, at, sizeof to);
    to[a] += da;
    to[b] += db;
    return kit_both(p, to, v);
}

static bool kit_next(const floe_pair *p, int64_t *at)
{
    for (int a = 3; a >= 0; a--) {
        if (++at[a] < (int64_t)p->shape[a])
            return true;
        at[a] = 0;
    }
    return false;
}

typedef struct kit_moments {
    long double min[3], max[3], squares[3], max_error;
} kit_moments;

typedef struct kit_sums {
    uint64_t npoints, nskipped, nsobolev;
    kit_moments of[FLOE_STENCIL_QUANTITIES];
    long double sobolev[3];
} kit_sums;

static void kit_add(kit_moments *m, const long double v[2], bool first)
{
    const long double w[3] = {v[0], v[1], v[1] - v[0]};
    for (int k = 0; k < 3; k++) {
        m->min[k] = first || w[k] < m->min[k] ? w[k] : m->min[k];
        m->max[k] = first || w[k] > m->max[k] ? w[k] : m->max[k];
        m->squares[k] += w[k] * w[k];
    }
    m->max_error = fabsl(w[2]) > m->max_error ? fabsl(w[2]) : m->max_error;
}

/* All quantities of both sides; false where a value of the stencil does not count. */
static bool kit_point(const floe_pair *p, const int64_t *at, long double q[FLOE_STENCIL_QUANTITIES][2])
{
    long double c[2], lo[2], hi[2];
    memset(q, 0, FLOE_STENCIL_QUANTITIES * sizeof *q);
    bool ok = kit_both(p, at, c);
    for (int a = 0; a < 4; a++) {
        if (p->shape[a] < 3)
            continue;
        ok = kit_beside(p, at, a, -1, a, 0, lo) && ok;
        ok = kit_beside(p, at, a, 1, a, 0, hi) && ok;
        for (int side = 0; side < 2; side++) {
            const long double d = (hi[side] - lo[side]) / 2, dd = hi[side] - 2 * c[side] + lo[side];
            q[FLOE_STENCIL_FIRST + a][side] = d;
            q[FLOE_STENCIL_SECOND + a][side] = dd;
            q[FLOE_STENCIL_FIRST_SUM][side] += fabsl(hi[side] - lo[side]);
            q[FLOE_STENCIL_FIRST_LENGTH][side] += d * d;
            q[FLOE_STENCIL_SECOND_SUM][side] += fabsl(dd);
            q[FLOE_STENCIL_SECOND_LENGTH][side] += dd * dd;
            q[FLOE_STENCIL_DIVERGENCE][side] += d;
            q[FLOE_STENCIL_LAPLACIAN][side] += dd;
        }
    }
    for (int side = 0; side < 2; side++) {
        q[FLOE_STENCIL_FIRST_LENGTH][side] = sqrtl(q[FLOE_STENCIL_FIRST_LENGTH][side]);
        q[FLOE_STENCIL_SECOND_LENGTH][side] = sqrtl(q[FLOE_STENCIL_SECOND_LENGTH][side]);
    }
    return ok;
}

/* Sum of squares of the mixed derivatives of the original; false where a corner does not count. */
static bool kit_mixed(const floe_pair *p, const int64_t *at, long double *squares)
{
    bool ok = true;
    *squares = 0;
    for (int a = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++) {
            long double v[4][2];
            if (p->shape[a] < 3 || p->shape[b] < 3)
                continue;
            for (int k = 0; k < 4; k++)
                ok = kit_beside(p, at, a, k & 2 ? 1 : -1, b, k & 1 ? 1 : -1, v[k]) && ok;
            const long double d = (v[3][0] - v[2][0] - v[1][0] + v[0][0]) / 4;
            *squares += d * d;
        }
    return ok;
}

static bool kit_inside(const floe_pair *p, const int64_t *at)
{
    bool any = false, inside = true;
    for (int a = 0; a < 4; a++) {
        any = any || p->shape[a] >= 3;
        inside = inside && (p->shape[a] < 3 || (at[a] > 0 && at[a] + 1 < (int64_t)p->shape[a]));
    }
    return any && inside;
}

static inline void kit_derivatives(const floe_pair *p, kit_sums *s)
{
    int64_t at[4] = {0};
    memset(s, 0, sizeof *s);
    do {
        long double q[FLOE_STENCIL_QUANTITIES][2], squares, v[2];
        if (!kit_inside(p, at))
            continue;
        if (!kit_point(p, at, q)) {
            s->nskipped++;
            continue;
        }
        for (int k = 0; k < FLOE_STENCIL_QUANTITIES; k++)
            kit_add(&s->of[k], q[k], s->npoints == 0);
        s->npoints++;
        if (!kit_mixed(p, at, &squares))
            continue;
        kit_both(p, at, v);
        s->nsobolev++;
        s->sobolev[0] += v[0] * v[0];
        s->sobolev[1] += q[FLOE_STENCIL_FIRST_LENGTH][0] * q[FLOE_STENCIL_FIRST_LENGTH][0];
        s->sobolev[2] += q[FLOE_STENCIL_SECOND_LENGTH][0] * q[FLOE_STENCIL_SECOND_LENGTH][0] + squares;
    } while (kit_next(p, at));
}

static bool kit_signal(const floe_pair *p, const int64_t *at, long double *s)
{
    long double v[2];
    const bool counts = kit_both(p, at, v);
    *s = p->decoded ? v[1] - v[0] : v[0];
    return counts;
}

/* Mean and variance of the signal; false for none. */
static bool kit_mean(const floe_pair *p, long double *mean, long double *variance)
{
    for (int round = 0; round < 2; round++) {
        int64_t at[4] = {0};
        long double sum = 0, s;
        uint64_t n = 0;
        do {
            if (kit_signal(p, at, &s)) {
                sum += round ? (s - *mean) * (s - *mean) : s;
                n++;
            }
        } while (kit_next(p, at));
        if (!n)
            return false;
        *(round ? variance : mean) = sum / n;
    }
    return true;
}

/* The largest magnitudes of values and of errors. */
static void kit_peaks(const floe_pair *p, double *peak, double *error_peak)
{
    int64_t at[4] = {0};
    long double v[2];
    *peak = *error_peak = 0;
    do {
        if (!kit_both(p, at, v))
            continue;
        *peak = fmax(*peak, (double)fmaxl(fabsl(v[0]), fabsl(v[1])));
        *error_peak = p->decoded ? fmax(*error_peak, (double)fabsl(v[1] - v[0])) : 0;
    } while (kit_next(p, at));
}

static inline floe_stencil_options kit_options(const floe_pair *p, uint32_t lags)
{
    long double mean = 0, variance;
    floe_stencil_options o = {.derivatives = true, .sobolev = true, .lags = lags};
    if (kit_mean(p, &mean, &variance))
        o.mean = (double)mean;
    kit_peaks(p, &o.peak, &o.error_peak);
    return o;
}

/* Axis a, or combined for a == 4, at lag t. */
static inline long double kit_autocorr(const floe_pair *p, int a, int64_t t, long double mean, long double variance)
{
    long double total = 0;
    int naxes = 0;
    for (int b = 0; b < 4; b++) {
        long double sum = 0, s0, s1;
        uint64_t n = 0;
        int64_t at[4] = {0};
        if (a < 4 ? b != a : p->shape[b] == 1)
            continue;
        do {
            bool in = at[b] + t < (int64_t)p->shape[b];
            for (int c = 0; c < 4 && a == 4; c++)
                in = in && (p->shape[c] == 1 || at[c] + t < (int64_t)p->shape[c]);
            if (!in || !kit_signal(p, at, &s0))
                continue;
            int64_t to[4];
            memcpy(to, at, sizeof to);
            to[b] += t;
            if (!kit_signal(p, to, &s1))
                continue;
            sum += (s0 - mean) * (s1 - mean);
            n++;
        } while (kit_next(p, at));
        total += n ? sum / n / variance : NAN;
        naxes++;
    }
    return naxes ? total / naxes : NAN;
}

#endif
