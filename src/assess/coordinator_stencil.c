/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "assess/coordinator_pass.h"
#include "assess/metric_table.h"
#include "assess/pair_read.h"
#include "assess/stencil/stencil_device.h"
#include "base/try.h"

/* Series of the report: autocorrelations along each axis and combined, of two signals; then four numbers of two orders of
 * derivatives along each axis. */
enum { SIGNALS = 2, LAG_SERIES = FLOE_MAX_RANK + 1, ORDERS = 2, NUMBERS = 4 };

static uint32_t parts_of(const floe_assessment *a) { return a->parts[FLOE_PASS_STENCIL]; }

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

/* The derivatives that are looked at as fields of their own. */
static floe_pair similar_pair(const floe_assessment *a)
{
    floe_pair p = a->pair;
    int64_t step = 1;
    p.original = a->derived[0], p.decoded = a->derived[1];
    p.dtype = FLOE_F64, p.place = FLOE_HOST, p.has_fill = 0;
    for (int i = FLOE_MAX_RANK; i-- > 0; step *= (int64_t)p.shape[i])
        p.original_stride[i] = p.decoded_stride[i] = step;
    return p;
}

uint64_t floe_assessment_stencil_nbytes(const floe_assessment *a)
{
    return floe_assessment_on_device(a) ? floe_stencil_workspace_device() : floe_stencil_workspace(a->cpu, &a->pair);
}

static uint64_t similar_nbytes(const floe_assessment *a)
{
    const floe_pair similar = similar_pair(a);
    return floe_max64(floe_stencil_workspace(a->cpu, floe_assessment_host(a)),
                      floe_assessment_similar_nbytes(a, &similar));
}

void floe_assessment_stencil_take(floe_assessment *a, floe_arena *arena)
{
    const uint64_t n = (uint64_t)SIGNALS * LAG_SERIES * a->options.lags + ORDERS * NUMBERS * FLOE_MAX_RANK;
    a->series = floe_arena_take(arena, n, sizeof *a->series);
    if (!(parts_of(a) & FLOE_PART_ALL_SIMILAR))
        return;
    for (int side = 0; side < 2; side++)
        a->derived[side] = floe_arena_take(arena, floe_pair_nelems(&a->pair), sizeof(double));
    a->similar_scratch = floe_arena_take(arena, similar_nbytes(a), 1);
}

/* ---- autocorrelation ------------------------------------------------------------------------------------------------- */

static floe_series series_write(double **at, const double *from, uint64_t count)
{
    const floe_series s = {count, *at};
    memcpy(*at, from, count * sizeof *from);
    *at += count;
    return s;
}

static void lags_finish(const floe_assessment *a, const floe_stencil_result *r, double **series,
                        floe_autocorrelation *to)
{
    const uint32_t skip = FLOE_MAX_RANK - a->pair.rank, nlags = a->options.lags;
    to->largest = NAN;
    for (uint32_t t = 0; t < nlags; t++)
        to->largest = fmax(to->largest, fabs(r->combined[t])); /* fmax passes over NaN */
    to->combined = series_write(series, r->combined, nlags);
    for (uint32_t i = 0; i < a->pair.rank; i++)
        to->axis[i] = series_write(series, r->autocorr[skip + i], nlags);
}

/* Where a mean overflows nothing is known of what deviates from it. */
static void lags_unknown(floe_stencil_result *r)
{
    for (uint32_t t = 0; t < FLOE_STENCIL_MAX_LAGS; t++) {
        r->combined[t] = NAN;
        for (int i = 0; i < FLOE_STENCIL_AXES; i++)
            r->autocorr[i][t] = NAN;
    }
}

static floe_status stencil_assess(floe_assessment *a, const floe_pair *pair, const floe_stencil_options *options,
                                  floe_stencil_result *result, floe_error *err)
{
    if (floe_assessment_on_device(a))
        return floe_stencil_assess_device(a->cuda, pair, options, a->scratch, a->scratch_nbytes, result, err);
    return floe_stencil_assess(a->cpu, pair, options, a->scratch, a->scratch_nbytes, result, err);
}

/* The original once more, as a signal of its own, of the values that count: where all do, the decoded field is not read. */
static floe_status original_lags_run(floe_assessment *a, double **series, floe_assess_report *report, floe_error *err)
{
    const bool all_count = report->ncounted == report->nelems;
    floe_pair pair = a->pair;
    floe_stencil_result r;
    pair.decoded = all_count ? NULL : pair.decoded;
    const floe_stencil_options options = {
        .all_count = all_count, .lags = a->options.lags, .mean = report->original.mean, .of_original = true};
    if (isfinite(options.mean))
        FLOE_TRY(stencil_assess(a, &pair, &options, &r, err));
    else
        lags_unknown(&r);
    lags_finish(a, &r, series, &report->original_autocorr);
    return FLOE_OK;
}

/* ---- derivatives ----------------------------------------------------------------------------------------------------- */

static floe_derivative derivative_of(const floe_stencil_stats *s)
{
    return (floe_derivative){s->original_min, s->original_max, s->original_rms, s->max_error, s->rmse, s->psnr, NAN};
}

/* Where a quantity lies in the report; NULL: along an axis that the field does not have. */
static floe_derivative *place_of(const floe_assessment *a, int q, floe_derivatives *d)
{
    floe_derivative *const others[] = {&d->first_sum,     &d->gradient,   &d->second_sum,
                                       &d->second_length, &d->divergence, &d->laplacian};
    const uint32_t skip = FLOE_MAX_RANK - a->pair.rank, axis = (uint32_t)q % FLOE_MAX_RANK;
    if (q >= FLOE_STENCIL_FIRST_SUM)
        return others[q - FLOE_STENCIL_FIRST_SUM];
    if (axis < skip)
        return NULL;
    return q < FLOE_STENCIL_SECOND ? &d->first[axis - skip] : &d->second[axis - skip];
}

/* The bit of FLOE_PART_SIMILAR that requests a quantity. */
static uint32_t similar_bit(int q)
{
    return (uint32_t)(q >= FLOE_STENCIL_FIRST_SUM ? 2 + q - FLOE_STENCIL_FIRST_SUM : q >= FLOE_STENCIL_SECOND);
}

static floe_status similar_run(floe_assessment *a, int q, floe_derivative *d, floe_error *err)
{
    const floe_pair pair = similar_pair(a);
    floe_ssim_result r;
    if (!(d->original_min <= d->original_max)) /* no points */
        return FLOE_OK;
    FLOE_TRY(floe_stencil_write(a->cpu, floe_assessment_host(a), (floe_stencil_quantity)q, a->derived[0], a->derived[1],
                                a->similar_scratch, similar_nbytes(a), err));
    FLOE_TRY(floe_assessment_similar(a, &pair, d->original_min, d->original_max, &r, err));
    d->ssim = r.mean;
    return FLOE_OK;
}

/* Numbers of derivatives along the axes once more, as series. */
static void axes_finish(const floe_assessment *a, double **series, floe_derivatives *d)
{
    for (int order = 0; order < ORDERS; order++) {
        const floe_derivative *of = order ? d->second : d->first;
        double number[NUMBERS][FLOE_MAX_RANK];
        for (uint32_t i = 0; i < a->pair.rank; i++) {
            number[0][i] = of[i].max_error, number[1][i] = of[i].rmse;
            number[2][i] = of[i].psnr, number[3][i] = of[i].ssim;
        }
        d->axis_max_error[order] = series_write(series, number[0], a->pair.rank);
        d->axis_rmse[order] = series_write(series, number[1], a->pair.rank);
        d->axis_psnr[order] = series_write(series, number[2], a->pair.rank);
        d->axis_ssim[order] = series_write(series, number[3], a->pair.rank);
    }
}

/* Errors and their slopes in one number; NaN where the field has no derivatives. */
static double sobolev_of_error(const floe_derivatives *d, uint32_t rank, double mse)
{
    double slopes = NAN;
    for (uint32_t i = 0; i < rank; i++)
        if (!isnan(d->first[i].rmse))
            slopes = (isnan(slopes) ? 0 : slopes) + d->first[i].rmse * d->first[i].rmse;
    return sqrt(mse + slopes);
}

static void derivatives_set(const floe_assessment *a, const floe_stencil_result *r, floe_derivatives *d)
{
    d->npoints = r->npoints, d->nskipped = r->nskipped;
    memcpy(d->sobolev, r->sobolev, sizeof d->sobolev);
    for (int q = 0; q < FLOE_STENCIL_QUANTITIES; q++) {
        floe_derivative *to = place_of(a, q, d);
        if (to)
            *to = derivative_of(&r->of[q]);
    }
}

static floe_status derivatives_finish(floe_assessment *a, const floe_stencil_result *r, double **series,
                                      floe_derivatives *d, floe_error *err)
{
    derivatives_set(a, r, d);
    for (int q = 0; q < FLOE_STENCIL_QUANTITIES; q++) {
        floe_derivative *to = place_of(a, q, d);
        if (to && parts_of(a) >> similar_bit(q) & FLOE_PART_SIMILAR)
            FLOE_TRY(similar_run(a, q, to, err));
    }
    axes_finish(a, series, d);
    return FLOE_OK;
}

/* The largest magnitude of a value that counts. */
static double peak_of(const floe_assess_report *report, bool alone)
{
    const double peak = fmax(fabs(report->original.min), fabs(report->original.max));
    return alone ? peak : fmax(peak, fmax(fabs(report->decoded.min), fabs(report->decoded.max)));
}

/* The sides change places: what is found of the original is then the decoded field's, and the original only shows which values
 * count. Where all do, it is not read. Magnitudes are those of both, so that equal fields are worked on alike. */
static floe_status decoded_run(floe_assessment *a, floe_assess_report *report, floe_error *err)
{
    const bool all_count = report->ncounted == report->nelems;
    floe_derivatives *d = &report->decoded_derivative;
    floe_pair pair = a->pair;
    floe_stencil_result r;
    pair.original = a->pair.decoded, pair.decoded = all_count ? NULL : a->pair.original;
    memcpy(pair.original_stride, a->pair.decoded_stride, sizeof pair.original_stride);
    memcpy(pair.decoded_stride, a->pair.original_stride, sizeof pair.decoded_stride);
    const floe_stencil_options options = {.derivatives = parts_of(a) & FLOE_PART_DECODED_DERIVATIVES,
                                          .sobolev = parts_of(a) & FLOE_PART_DECODED_SOBOLEV,
                                          .all_count = all_count,
                                          .peak = peak_of(report, false),
                                          .error_peak = report->error.abs_max};
    FLOE_TRY(stencil_assess(a, &pair, &options, &r, err));
    for (int q = 0; q < FLOE_STENCIL_QUANTITIES; q++)
        r.of[q].max_error = r.of[q].rmse = r.of[q].psnr = NAN;
    derivatives_set(a, &r, d);
    d->sobolev_error = NAN;
    return FLOE_OK;
}

/* ---- the pass -------------------------------------------------------------------------------------------------------- */

floe_status floe_assessment_stencil_run(floe_assessment *a, floe_assess_report *report, floe_error *err)
{
    const bool alone = !a->pair.decoded;
    const uint32_t parts = parts_of(a), own_lags = parts & (alone ? FLOE_PART_ORIGINAL_LAGS : FLOE_PART_LAGS);
    const double mean = alone ? report->original.mean : report->error.mean;
    double *series = a->series;
    floe_stencil_result r;
    const floe_stencil_options options = {.derivatives = parts & FLOE_PART_DERIVATIVES,
                                          .sobolev = parts & FLOE_PART_SOBOLEV,
                                          .all_count = report->ncounted == report->nelems,
                                          .lags = own_lags && isfinite(mean) ? a->options.lags : 0,
                                          .mean = mean,
                                          .peak = peak_of(report, alone),
                                          .error_peak = alone ? 0 : report->error.abs_max};
    if (options.derivatives || options.sobolev || options.lags) {
        FLOE_TRY(stencil_assess(a, &a->pair, &options, &r, err));
        FLOE_TRY(derivatives_finish(a, &r, &series, &report->derivative, err));
        report->derivative.sobolev_error = sobolev_of_error(&report->derivative, a->pair.rank, report->error.mse);
    }
    if (own_lags && !options.lags)
        lags_unknown(&r);
    if (own_lags)
        lags_finish(a, &r, &series, alone ? &report->original_autocorr : &report->autocorr);
    if (!alone && parts & FLOE_PART_ORIGINAL_LAGS)
        FLOE_TRY(original_lags_run(a, &series, report, err));
    return parts & FLOE_PART_ALL_DECODED ? decoded_run(a, report, err) : FLOE_OK;
}
