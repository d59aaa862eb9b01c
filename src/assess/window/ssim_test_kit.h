/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of fields to measure SSIM of, and SSIM as its definition has it: every window on its own, in long double. For
 * ssim_test.c and ssim_gpu_test.c, which include cmocka first. */
#ifndef FLOE_ASSESS_SSIM_TEST_KIT_H
#define FLOE_ASSESS_SSIM_TEST_KIT_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assess/window/ssim.h"
#include "assess/window/ssim_math.h"
#include "assess/window/ssim_tree.h"

static uint64_t kit_seed = 29;
static inline uint64_t kit_draw(uint64_t below)
{
    kit_seed = kit_seed * 6364136223846793005u + 1442695040888963407u;
    return (kit_seed >> 33) % below;
}
static inline double kit_uniform(void) { return (double)kit_draw(1u << 30) / (double)(1u << 30); }

/* ---- fields ------------------------------------------------------------------------------------------------------ */

typedef enum kit_kind {
    KIT_SMOOTH,  /* waves, with an error of a thousandth */
    KIT_OFFSET,  /* 1e6 with a variation of 1e-3 */
    KIT_NOISE,   /* two fields that have nothing to do with one another */
    KIT_SPECIAL, /* waves, with NaN, infinities and fill strewn in */
    KIT_OUTLIER, /* waves, and a few decoded values that are far off */
    KIT_SAME,    /* no error, zeros of both signs */
    KIT_KINDS
} kit_kind;

#define KIT_FILL (-9999.0)

/* Dense fields in memory of their own, which the pair looks at. */
typedef struct kit_fields {
    floe_pair pair;
    void *original, *decoded;
    uint64_t nelems;
} kit_fields;

static inline double kit_get(const void *data, floe_dtype dtype, int64_t i)
{
    return dtype == FLOE_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}
static inline void kit_put(void *data, floe_dtype dtype, uint64_t i, double v)
{
    if (dtype == FLOE_F32)
        ((float *)data)[i] = (float)v;
    else
        ((double *)data)[i] = v;
}
static inline uint64_t kit_bits(floe_dtype dtype, double v)
{
    return dtype == FLOE_F32 ? floe_bits_f32((float)v) : floe_bits_f64(v);
}

static inline double kit_special(void)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, KIT_FILL};
    return values[kit_draw(4)];
}

static inline void kit_values(kit_fields *f, kit_kind kind)
{
    const floe_dtype t = f->pair.dtype;
    for (uint64_t i = 0; i < f->nelems; i++) {
        const double at = (double)i, wave = sin(at * 0.013) + 0.3 * cos(at * 0.37) + 0.1 * kit_uniform();
        double x = wave, y = wave + 2e-3 * (kit_uniform() - 0.5);
        switch (kind) {
        case KIT_OFFSET: x = 1e6 + 1e-3 * wave, y = 1e6 + 1e-3 * y; break;
        case KIT_NOISE: x = kit_uniform() - 0.5, y = kit_uniform() * 2; break;
        case KIT_SAME: y = x = kit_draw(7) ? x : kit_draw(2) ? 0.0 : -0.0; break;
        case KIT_OUTLIER: y = kit_draw(200) ? y : 1e9 * (kit_uniform() - 0.5); break;
        case KIT_SPECIAL:
            x = kit_draw(150) ? x : kit_special();
            y = kit_draw(150) ? y : kit_special();
            break;
        default: break;
        }
        kit_put(f->original, t, i, x);
        kit_put(f->decoded, t, i, y);
    }
}

static inline kit_fields kit_fields_of(floe_dtype dtype, uint32_t rank, const uint64_t *shape, kit_kind kind)
{
    kit_fields f = {.nelems = 1};
    f.pair = (floe_pair){.dtype = dtype, .place = FLOE_HOST, .rank = rank, .shape = {1, 1, 1, 1}};
    for (uint32_t i = 0; i < rank; i++)
        f.pair.shape[FLOE_MAX_RANK - rank + i] = shape[i];
    for (uint32_t a = FLOE_MAX_RANK; a-- > FLOE_MAX_RANK - rank;) {
        f.pair.original_stride[a] = f.pair.decoded_stride[a] = (int64_t)f.nelems;
        f.nelems *= f.pair.shape[a];
    }
    f.pair.original = f.original = malloc(f.nelems * 8 + 8);
    f.pair.decoded = f.decoded = malloc(f.nelems * 8 + 8);
    f.pair.has_fill = kind == KIT_SPECIAL;
    f.pair.fill_bits = f.pair.has_fill ? kit_bits(dtype, KIT_FILL) : 0;
    kit_values(&f, kind);
    return f;
}

static inline void kit_fields_free(kit_fields *f)
{
    free(f->original);
    free(f->decoded);
}

static inline bool kit_counts(const floe_pair *p, double v)
{
    return isfinite(v) && !(p->has_fill && kit_bits(p->dtype, v) == p->fill_bits);
}

/* Of the original; 0 to 0 if no value counts. Dense fields only. */
static inline void kit_range(const kit_fields *f, double *min, double *max)
{
    *min = INFINITY, *max = -INFINITY;
    for (uint64_t i = 0; i < f->nelems; i++) {
        const double v = kit_get(f->original, f->pair.dtype, (int64_t)i);
        if (kit_counts(&f->pair, v))
            *min = v < *min ? v : *min, *max = v > *max ? v : *max;
    }
    if (*min > *max)
        *min = *max = 0;
}

/* Says in the options where the values of both fields are, so that the quick way is taken where it can be. */
static inline void kit_know(const kit_fields *f, floe_ssim_options *o)
{
    o->low = o->min, o->high = o->max;
    for (uint64_t i = 0; i < f->nelems; i++) {
        const double x = kit_get(f->original, f->pair.dtype, (int64_t)i),
                     y = kit_get(f->decoded, f->pair.dtype, (int64_t)i);
        if (kit_counts(&f->pair, x) && kit_counts(&f->pair, y))
            o->low = fmin(o->low, fmin(x, y)), o->high = fmax(o->high, fmax(x, y));
    }
}

/* ---- the definition ---------------------------------------------------------------------------------------------- */

typedef struct kit_window {
    const floe_pair *pair;
    const floe_ssim_options *options;
    uint64_t begin[FLOE_MAX_RANK];
    uint64_t n;
    double *x, *y, *weight; /* of the window's values */
} kit_window;

static inline void kit_window_read(kit_window *w)
{
    static const double gaussian[FLOE_SSIM_TAPS] = FLOE_SSIM_GAUSSIAN;
    const uint64_t *e = w->options->window;
    w->n = 0;
    for (uint64_t i = 0; i < e[0] * e[1] * e[2] * e[3]; i++) {
        int64_t original = 0, decoded = 0;
        uint64_t rest = i;
        double weight = 1;
        for (int a = FLOE_MAX_RANK; a-- > 0; rest /= e[a]) {
            const int64_t at = (int64_t)(w->begin[a] + rest % e[a]);
            original += at * w->pair->original_stride[a];
            decoded += at * w->pair->decoded_stride[a];
            if (w->options->weights == FLOE_SSIM_WEIGHTS_GAUSSIAN && e[a] > 1)
                weight *= gaussian[rest % e[a]];
        }
        w->x[w->n] = kit_get(w->pair->original, w->pair->dtype, original);
        w->y[w->n] = kit_get(w->pair->decoded, w->pair->dtype, decoded);
        w->weight[w->n++] = weight;
    }
}

/* SSIM of a window from means, variances and the covariance; NaN if a pair does not count. */
static inline long double kit_window_ssim(const kit_window *w)
{
    long double sum = 0, mx = 0, my = 0, vx = 0, vy = 0, cxy = 0;
    for (uint64_t i = 0; i < w->n; i++) {
        if (!kit_counts(w->pair, w->x[i]) || !kit_counts(w->pair, w->y[i]))
            return NAN;
        sum += w->weight[i];
        mx += (long double)w->weight[i] * w->x[i];
        my += (long double)w->weight[i] * w->y[i];
    }
    mx /= sum, my /= sum;
    for (uint64_t i = 0; i < w->n; i++) {
        vx += w->weight[i] * (w->x[i] - mx) * (w->x[i] - mx);
        vy += w->weight[i] * (w->y[i] - my) * (w->y[i] - my);
        cxy += w->weight[i] * (w->x[i] - mx) * (w->y[i] - my);
    }
    const long double n = (long double)w->n, share = (w->options->sample ? n / (n - 1) : 1) / sum;
    long double range = (long double)w->options->max - w->options->min;
    if (range == 0)
        range = w->options->max != 0 ? fabsl(w->options->max) : 1;
    const long double c1 = 0.0001L * range * range, c2 = 0.0009L * range * range;
    return (2 * mx * my + c1) * (2 * cxy * share + c2) / ((mx * mx + my * my + c1) * (vx * share + vy * share + c2));
}

static inline floe_ssim_result kit_ssim(const floe_pair *pair, const floe_ssim_options *o)
{
    kit_window w = {.pair = pair, .options = o};
    const uint64_t most = o->window[0] * o->window[1] * o->window[2] * o->window[3];
    w.x = malloc(3 * most * sizeof *w.x), w.y = w.x + most, w.weight = w.y + most;
    floe_ssim_result r = {.nwindows = 0};
    long double loss = 0, max = -3;
    uint64_t n[FLOE_MAX_RANK], all = 1;
    for (int a = 0; a < FLOE_MAX_RANK; a++)
        all *= n[a] = (pair->shape[a] - o->window[a]) / o->step[a] + 1;
    for (uint64_t i = 0; i < all; i++) {
        uint64_t rest = i;
        for (int a = FLOE_MAX_RANK; a-- > 0; rest /= n[a])
            w.begin[a] = rest % n[a] * o->step[a];
        kit_window_read(&w);
        const long double ssim = kit_window_ssim(&w);
        if (isnan(ssim)) {
            r.nleft_out++;
            continue;
        }
        r.nwindows++;
        loss += 1 - ssim;
        max = 1 - ssim > max ? 1 - ssim : max;
    }
    free(w.x);
    r.mean_loss = r.nwindows ? (double)(loss / r.nwindows) : NAN;
    r.max_loss = r.nwindows ? (double)max : NAN;
    r.mean = 1 - r.mean_loss, r.min = 1 - r.max_loss;
    return r;
}

/* How far results may be from the definition: sums that are not in double are off by some units of f32 where variances are as
 * small as C2, and windows at random; the greatest loss is that of one window. */
typedef struct kit_tolerance {
    double mean, max;
} kit_tolerance;

static inline kit_tolerance kit_tolerance_of(const floe_pair *pair, const floe_ssim_options *o)
{
    const bool is_single = pair->dtype == FLOE_F32 && floe_ssim_tree_takes(pair, o);
    return is_single ? (kit_tolerance){2e-6, 1e-4} : (kit_tolerance){1e-11, 1e-11};
}

/* Whether two losses agree: relatively, but for what long double leaves of 1 - SSIM. */
static inline bool kit_close(double got, double want, double tolerance)
{
    return (isnan(got) && isnan(want)) || fabs(got - want) <= tolerance * fabs(want) + 1e-17;
}

static inline void kit_assert_ssim(const floe_ssim_result *got, const floe_ssim_result *want, kit_tolerance tolerance)
{
    assert_int_equal(got->nwindows, want->nwindows);
    assert_int_equal(got->nleft_out, want->nleft_out);
    if (!kit_close(got->mean_loss, want->mean_loss, tolerance.mean) ||
        !kit_close(got->max_loss, want->max_loss, tolerance.max))
        fail_msg("mean loss %.17g is %.17g, greatest %.17g is %.17g", want->mean_loss, got->mean_loss, want->max_loss,
                 got->max_loss);
    assert_true(kit_close(got->mean, 1 - got->mean_loss, 0) && kit_close(got->min, 1 - got->max_loss, 0));
}

#endif
