/* SPDX-License-Identifier: BSD-3-Clause */
/* From sums to the numbers of the report. n is the number of pairs that count, and not 0. */
#include <float.h>
#include <math.h>

#include "assess/mean_square.h"
#include "assess/reduction/distribution.h"
#include "assess/reduction/reduction.h"

/* ---- one field ----------------------------------------------------------------------------------------------------- */

/* What rounding has made less than nothing is nothing; NaN, where squares overflow, stays. */
static double at_least_0(double v) { return v < 0 ? 0 : v; }

/* sum: of d = v - pivot to the first four powers; top: largest v, and of -v; special: zeros, NaN, infinities, fill. */
static void values_finish(const double *sum, const double *top, const uint64_t *special, double n, double pivot,
                          bool moments, floe_values *v)
{
    const double d = sum[0] / n, d2 = sum[1] / n, d3 = sum[2] / n, d4 = sum[3] / n;
    v->nzero = special[0], v->nnan = special[1], v->ninf = special[2], v->nfill = special[3];
    v->min = -top[1] + 0.0, v->max = top[0] + 0.0; /* no -0 */
    v->range = v->max - v->min;
    v->mean = pivot + d;
    v->variance = v->range > 0 ? at_least_0(d2 - d * d) : 0;
    v->std_dev = floe_root_mean_square(v->variance, v->range / 2, n);
    const double m3 = d3 - 3 * d * d2 + 2 * d * d * d, m4 = d4 - 4 * d * d3 + 6 * d * d * d2 - 3 * d * d * d * d;
    const double third = v->variance * v->std_dev, fourth = v->variance * v->variance;
    v->skewness = moments && third >= DBL_MIN ? m3 / third : NAN; /* not of what powers leave no digits of */
    v->kurtosis = moments && fourth >= DBL_MIN ? m4 / fourth : NAN;
}

static floe_histogram linear(const floe_bins_frame *frame, double n, const uint64_t *count, double unit)
{
    const double width = floe_bins_power(frame->exponent);
    return (floe_histogram){.scale = FLOE_SCALE_LINEAR,
                            .nbins = frame->nbins,
                            .low = (double)frame->first * width / unit,
                            .width = width / unit,
                            .total = (uint64_t)n,
                            .count = count};
}

/* ---- errors -------------------------------------------------------------------------------------------------------- */

static double decibel(double ratio) { return 10 * log10(ratio); }

/* part of a range; nothing of nothing is nothing. */
static double over(double part, double range) { return part == 0 ? 0 : part / range; }

static void errors_finish(const floe_reduction_part *t, double n, double range, bool ratios, floe_error_stats *e)
{
    e->min = -t->top[FLOE_TOP_E_LOW] + 0.0, e->max = t->top[FLOE_TOP_E] + 0.0;
    e->mean = t->sum[FLOE_SUM_E] / n;
    e->average_difference = 0.0 - e->mean;
    e->abs_min = -t->top[FLOE_TOP_E_ABS_LOW] + 0.0, e->abs_max = floe_reduction_worst(t) + 0.0;
    e->abs_mean = t->sum[FLOE_SUM_E_ABS] / n;
    e->rel_min = over(e->abs_min, range), e->rel_mean = over(e->abs_mean, range), e->rel_max = over(e->abs_max, range);
    const bool any = ratios && t->count[FLOE_COUNT_PW] > 0;
    e->pw_min = any ? -t->top[FLOE_TOP_PW_LOW] + 0.0 : NAN, e->pw_max = any ? t->top[FLOE_TOP_PW] : NAN;
    e->pw_mean = any ? t->sum[FLOE_SUM_PW] / (double)t->count[FLOE_COUNT_PW] : NAN;
    e->pw_undefined = t->count[FLOE_COUNT_PW_UNDEFINED];
    e->error_range = e->abs_max - e->abs_min, e->difference_range = e->max - e->min;
    e->mse = t->sum[FLOE_SUM_E2] / n;
    e->rmse = floe_root_mean_square(e->mse, e->abs_max, n);
    e->nrmse = over(e->rmse, range);
    e->psnr = 2 * decibel(1 / e->nrmse);
    e->psnr_half = 2 * decibel(0.5 / e->nrmse);
    e->l1 = t->sum[FLOE_SUM_E_ABS], e->linf = e->abs_max;
    e->l2 = floe_root_mean_square(t->sum[FLOE_SUM_E2], e->abs_max, n);
}

/* A correlation that rounding has made a little more than one is one; NaN stays. */
static double within_1(double r) { return r > 1 ? 1 : r < -1 ? -1 : r; }

static void correlations_finish(const floe_reduction_part *t, double n, const floe_values *x, const floe_values *y,
                                floe_error_stats *e)
{
    const double dx = t->sum[FLOE_SUM_X] / n, dy = t->sum[FLOE_SUM_Y] / n;
    const double of_error = e->difference_range > 0 && !isnan(e->rmse) ? at_least_0(e->mse - e->mean * e->mean) : 0;
    const double with_error = t->sum[FLOE_SUM_XE] / n - dx * e->mean;
    e->snr = e->rmse > 0 ? decibel(x->variance / e->mse) : isnan(e->rmse) ? NAN : INFINITY;
    e->covariance = t->sum[FLOE_SUM_XY] / n - dx * dy;
    e->pearson = x->variance > 0 && y->variance > 0 ? within_1(e->covariance / (x->std_dev * y->std_dev)) : NAN;
    e->pearson_squared = e->pearson * e->pearson;
    e->value_error_correlation =
        x->variance > 0 && of_error > 0 ? within_1(with_error / (x->std_dev * sqrt(of_error))) : NAN;
}

/* Errors that overflow have no bins, and without them the others' shares would be none of all. */
static void pdfs_finish(const floe_reduction_result *r, double n, double range, floe_error_stats *e)
{
    const bool all_counted = isfinite(r->total.top[FLOE_TOP_E]) && isfinite(r->total.top[FLOE_TOP_E_LOW]);
    if (all_counted)
        e->pdf = linear(&r->error_frame, n, r->error_count, 1);
    if (all_counted && range > 0)
        e->rel_pdf = linear(&r->error_frame, n, r->error_count, range);
    e->pw_pdf = (floe_histogram){.scale = FLOE_SCALE_LOGARITHMIC,
                                 .nbins = floe_log_bins_count(r->ratio_nbits),
                                 .per_octave = 1u << r->ratio_nbits,
                                 .low = floe_bins_power(FLOE_LOG_BINS_LEAST),
                                 .total = r->total.count[FLOE_COUNT_PW],
                                 .count = r->ratio_count};
}

/* ---- distributions ------------------------------------------------------------------------------------------------- */

static void histograms_finish(const floe_reduction_result *r, uint64_t n, floe_assess_report *report)
{
    const uint64_t *p = r->value_count[0], *q = r->value_count[1];
    const uint32_t nbins = r->value_frame.nbins;
    floe_distribution *d = &report->distribution;
    report->original.histogram = linear(&r->value_frame, (double)n, p, 1);
    report->decoded.histogram = linear(&r->value_frame, (double)n, q, 1);
    report->original.entropy_quantized = floe_distribution_entropy(p, nbins);
    report->decoded.entropy_quantized = floe_distribution_entropy(q, nbins);
    d->ks = floe_distribution_ks(p, q, nbins);
    d->kl = floe_distribution_kl(p, q, nbins, &d->kl_reverse);
    d->resolution = floe_bins_power(r->value_frame.exponent);
    d->wasserstein = floe_distribution_wasserstein(p, q, nbins) * d->resolution;
}

void floe_reduction_finish(const floe_reduction_options *options, const floe_reduction_result *r,
                           floe_assess_report *report)
{
    const floe_reduction_part *t = &r->total;
    const uint64_t count = t->count[FLOE_COUNT_PAIRS];
    const double n = (double)count;
    const bool moments = options->parts & FLOE_REDUCTION_MOMENTS, ratios = options->parts & FLOE_REDUCTION_RATIOS;
    floe_distribution *d = &report->distribution;
    report->ncounted = count, report->nsame = t->count[FLOE_COUNT_SAME];
    report->nmismatch = t->count[FLOE_COUNT_MISMATCH], report->mismatch = r->mismatch;
    if (options->parts & FLOE_REDUCTION_BYTES) {
        report->original.entropy_bytes = floe_distribution_entropy(r->byte_count[0], 256);
        report->decoded.entropy_bytes = floe_distribution_entropy(r->byte_count[1], 256);
    }
    values_finish(&t->sum[FLOE_SUM_X], &t->top[FLOE_TOP_X], &t->count[FLOE_COUNT_X_ZERO], n, r->pivot[0], moments,
                  &report->original);
    report->original.range = r->range;
    values_finish(&t->sum[FLOE_SUM_Y], &t->top[FLOE_TOP_Y], &t->count[FLOE_COUNT_Y_ZERO], n, r->pivot[1], moments,
                  &report->decoded);
    errors_finish(t, n, report->original.range, ratios, &report->error);
    correlations_finish(t, n, &report->original, &report->decoded, &report->error);
    report->error.worst = r->worst, report->error.outside = r->outside;
    report->error.noutside = r->noutside, report->error.outside_percent = 100 * (double)r->noutside / n;
    if (options->parts & FLOE_REDUCTION_PDFS)
        pdfs_finish(r, n, report->original.range, &report->error);
    if (options->parts & FLOE_REDUCTION_VALUES)
        histograms_finish(r, count, report);
    if (options->parts & FLOE_REDUCTION_SORTED)
        d->ks = r->ks, d->wasserstein = r->wasserstein, d->resolution = 0;
    if (options->parts & (FLOE_REDUCTION_VALUES | FLOE_REDUCTION_SORTED))
        d->ks_pvalue = floe_distribution_ks_pvalue(d->ks, count);
}
