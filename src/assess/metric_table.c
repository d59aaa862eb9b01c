/* SPDX-License-Identifier: BSD-3-Clause */
/* What floe can say about one field or two. docs/metrics.md is made from this table. */
#include "assess/metric_table.h"

#include <math.h>
#include <string.h>

#include "assess/reduction/reduction.h"
#include "base/try.h"

typedef struct row {
    floe_metric metric;
    uint32_t parts; /* of the pass */
} row;

/* Name, alias, formula, unit; where it lies in the report. */
#define ROW(pass, pattern, kind, nfields, parts, name, alias, formula, unit, member) \
    {                                                                                \
        {name,                                                                       \
         alias,                                                                      \
         formula,                                                                    \
         unit,                                                                       \
         FLOE_PASS_##pass,                                                           \
         FLOE_PATTERN_##pattern,                                                     \
         FLOE_METRIC_##kind,                                                         \
         nfields,                                                                    \
         offsetof(floe_assess_report, member)},                                      \
            parts                                                                    \
    }
#define ONE_SUM(...)   ROW(REDUCTION, SUM, NUMBER, 1, 0, __VA_ARGS__)
#define ONE_COUNT(...) ROW(REDUCTION, SUM, COUNT, 1, 0, __VA_ARGS__)
#define SUM(...)       ROW(REDUCTION, SUM, NUMBER, 2, 0, __VA_ARGS__)
#define COUNT(...)     ROW(REDUCTION, SUM, COUNT, 2, 0, __VA_ARGS__)
#define BINNED(...)    ROW(REDUCTION, HISTOGRAM, NUMBER, 2, FLOE_REDUCTION_VALUES, __VA_ARGS__)
#define SORTABLE(...)  ROW(REDUCTION, HISTOGRAM, NUMBER, 2, FLOE_REDUCTION_VALUES | FLOE_REDUCTION_SORTED, __VA_ARGS__)

static const row table[] = {
    /* the original */
    ONE_COUNT("error_stat:n", "n", "values that count: finite, not fill, and so is their partner", "", ncounted),
    ONE_SUM("error_stat:value_min", "min", "min x", "x", original.min),
    ONE_SUM("error_stat:value_max", "max", "max x", "x", original.max),
    ONE_SUM("error_stat:value_range", "range", "max x - min x", "x", original.range),
    ONE_SUM("error_stat:value_mean", "mean", "mean(x) = sum x / n", "x", original.mean),
    ONE_SUM("error_stat:value_var", "variance", "mean((x - mean(x))^2)", "x^2", original.variance),
    ONE_SUM("error_stat:value_std", "std_dev", "sqrt(variance)", "x", original.std_dev),
    ONE_SUM("error_stat:value_skewness", "skewness", "mean((x - mean(x))^3) / std_dev^3", "", original.skewness),
    ONE_SUM("error_stat:value_kurtosis", "kurtosis", "mean((x - mean(x))^4) / variance^2; 3 for a normal distribution",
            "", original.kurtosis),
    ONE_COUNT("error_stat:n_zero", "zeros", "values that are 0", "", original.nzero),
    ONE_COUNT("error_stat:n_nan", "nan", "values that are NaN", "", original.nnan),
    ONE_COUNT("error_stat:n_inf", "inf", "values that are infinite", "", original.ninf),
    ONE_COUNT("error_stat:n_fill", "fill", "values that are the fill value", "", original.nfill),
    ROW(REDUCTION, HISTOGRAM, NUMBER, 1, FLOE_REDUCTION_BYTES, "entropy:bytes", "entropy_bytes",
        "-sum p log2(p) over the 256 bytes, p the share of a byte in the field as it lies in memory", "bit",
        original.entropy_bytes),
    ROW(REDUCTION, HISTOGRAM, NUMBER, 1, FLOE_REDUCTION_VALUES, "entropy:input", "entropy",
        "-sum p log2(p) over the bins of value_histogram: of the values quantized to its width", "bit",
        original.entropy_quantized),
    ROW(REDUCTION, HISTOGRAM, HISTOGRAM, 1, FLOE_REDUCTION_VALUES, "value_pdf:input", "value_histogram",
        "values in each bin; the bins are those of both fields, as narrow a power of two as fits value_bins of them",
        "x", original.histogram),
    /* the decoded field */
    SUM("decompressed:value_min", "decoded_min", "min y", "x", decoded.min),
    SUM("decompressed:value_max", "decoded_max", "max y", "x", decoded.max),
    SUM("decompressed:value_range", "decoded_range", "max y - min y", "x", decoded.range),
    SUM("decompressed:value_mean", "decoded_mean", "mean(y)", "x", decoded.mean),
    SUM("decompressed:value_var", "decoded_variance", "mean((y - mean(y))^2)", "x^2", decoded.variance),
    SUM("decompressed:value_std", "decoded_std_dev", "sqrt(decoded_variance)", "x", decoded.std_dev),
    SUM("decompressed:value_skewness", "decoded_skewness", "mean((y - mean(y))^3) / decoded_std_dev^3", "",
        decoded.skewness),
    SUM("decompressed:value_kurtosis", "decoded_kurtosis", "mean((y - mean(y))^4) / decoded_variance^2", "",
        decoded.kurtosis),
    COUNT("decompressed:n_zero", "decoded_zeros", "decoded values that are 0", "", decoded.nzero),
    COUNT("decompressed:n_nan", "decoded_nan", "decoded values that are NaN", "", decoded.nnan),
    COUNT("decompressed:n_inf", "decoded_inf", "decoded values that are infinite", "", decoded.ninf),
    COUNT("decompressed:n_fill", "decoded_fill", "decoded values that are the fill value", "", decoded.nfill),
    ROW(REDUCTION, HISTOGRAM, NUMBER, 2, FLOE_REDUCTION_BYTES, "entropy:decompressed_bytes", "decoded_entropy_bytes",
        "entropy_bytes of the decoded field", "bit", decoded.entropy_bytes),
    BINNED("entropy:decompressed", "decoded_entropy", "entropy of the decoded field, in the same bins", "bit",
           decoded.entropy_quantized),
    ROW(REDUCTION, HISTOGRAM, HISTOGRAM, 2, FLOE_REDUCTION_VALUES, "value_pdf:decompressed", "decoded_histogram",
        "decoded values in each bin of value_histogram", "x", decoded.histogram),
    /* special values */
    COUNT("special:n_same", "special_same", "pairs of the same special value: NaN, infinity, fill", "", nsame),
    COUNT("special:n_mismatch", "special_mismatch", "pairs of a special value and any other", "", nmismatch),
    ROW(REDUCTION, SEARCH, SPOTS, 2, 0, "special:first_mismatch", "first_mismatch",
        "the first place where a special value met another", "", mismatch),
    /* errors */
    SUM("error_stat:min_difference", "min_difference", "min e", "x", error.min),
    SUM("error_stat:max_difference", "max_difference", "max e", "x", error.max),
    SUM("error_stat:bias", "bias", "mean(e) = mean(y - x)", "x", error.mean),
    SUM("error_stat:average_difference", "average_difference", "mean(x - y): the bias with the other sign", "x",
        error.average_difference),
    SUM("error_stat:difference_range", "difference_range", "max e - min e", "x", error.difference_range),
    SUM("error_stat:min_error", "min_error", "min |e|", "x", error.abs_min),
    SUM("error_stat:average_error", "avg_error", "mean |e|", "x", error.abs_mean),
    SUM("error_stat:max_error", "max_error", "max |e|", "x", error.abs_max),
    SUM("error_stat:error_range", "error_range", "max |e| - min |e|", "x", error.error_range),
    SUM("error_stat:min_rel_error", "min_rel_error", "min |e| / range", "", error.rel_min),
    SUM("error_stat:average_rel_error", "avg_rel_error", "mean |e| / range", "", error.rel_mean),
    SUM("error_stat:max_rel_error", "max_rel_error", "max |e| / range", "", error.rel_max),
    SUM("error_stat:min_pw_rel_error", "min_pw_rel_error", "min |e| / |x|, where x is not 0", "", error.pw_min),
    SUM("error_stat:average_pw_rel_error", "avg_pw_rel_error", "mean |e| / |x|, where x is not 0", "", error.pw_mean),
    SUM("error_stat:max_pw_rel_error", "max_pw_rel_error", "max |e| / |x|, where x is not 0", "", error.pw_max),
    COUNT("error_stat:n_pw_undefined", "pw_undefined", "pairs with x = 0 and e not 0", "", error.pw_undefined),
    SUM("error_stat:mse", "mse", "mean(e^2)", "x^2", error.mse),
    SUM("error_stat:rmse", "rmse", "sqrt(mse)", "x", error.rmse),
    SUM("error_stat:nrmse", "nrmse", "rmse / range", "", error.nrmse),
    SUM("error_stat:snr", "snr", "10 log10(variance / mse)", "dB", error.snr),
    SUM("error_stat:psnr", "psnr", "20 log10(range / rmse)", "dB", error.psnr),
    SUM("error_stat:psnr_half", "psnr_half", "20 log10(range / (2 rmse)): zfp's convention, 6.02 dB below psnr", "dB",
        error.psnr_half),
    SUM("error_stat:l1", "l1", "sum |e|", "x", error.l1),
    SUM("error_stat:l2", "l2", "sqrt(sum e^2)", "x", error.l2),
    SUM("error_stat:linf", "linf", "max |e|", "x", error.linf),
    SUM("pearson:covariance", "covariance", "mean((x - mean(x)) (y - mean(y)))", "x^2", error.covariance),
    SUM("pearson:r", "pearson", "covariance / (std_dev decoded_std_dev)", "", error.pearson),
    SUM("pearson:r2", "pearson_squared", "pearson^2", "", error.pearson_squared),
    SUM("pearson:value_error", "value_error_correlation",
        "Pearson's r of x and e; loses digits where the bias is far larger than the spread of the errors", "",
        error.value_error_correlation),
    ROW(REDUCTION, HISTOGRAM, HISTOGRAM, 2, FLOE_REDUCTION_PDFS, "diff_pdf:histogram", "error_pdf",
        "e in bins, as narrow a power of two as fits `bins` of them", "x", error.pdf),
    ROW(REDUCTION, HISTOGRAM, HISTOGRAM, 2, FLOE_REDUCTION_PDFS, "diff_pdf:rel_histogram", "rel_error_pdf",
        "e / range in the same bins", "", error.rel_pdf),
    ROW(REDUCTION, HISTOGRAM, HISTOGRAM, 2, FLOE_REDUCTION_PDFS, "diff_pdf:pw_rel_histogram", "pw_rel_error_pdf",
        "|e| / |x| where x is not 0, in logarithmic bins from 2^-48 to 2^16; the ends hold all that is beyond", "",
        error.pw_pdf),
    ROW(REDUCTION, SEARCH, SPOTS, 2, FLOE_REDUCTION_WORST, "spatial_error:worst", "worst_errors",
        "the places with the largest |e|, largest first", "", error.worst),
    ROW(REDUCTION, SEARCH, COUNT, 2, FLOE_REDUCTION_OUTSIDE, "spatial_error:count", "outside",
        "pairs with |e| > bound (abs), > bound range (rel) or > bound |x| (pwrel)", "", error.noutside),
    ROW(REDUCTION, SEARCH, NUMBER, 2, FLOE_REDUCTION_OUTSIDE, "spatial_error:percent", "outside_percent",
        "100 outside / n", "%", error.outside_percent),
    ROW(REDUCTION, SEARCH, SPOTS, 2, FLOE_REDUCTION_OUTSIDE, "spatial_error:first", "first_outside",
        "the first of them", "", error.outside),
    /* distributions */
    SORTABLE("ks_test:d", "ks",
             "max |F(v) - G(v)| over the edges v of bins (or over all v when exact); F, G: share of x, y below v", "",
             distribution.ks),
    SORTABLE("ks_test:pvalue", "ks_pvalue",
             "2 sum_j (-1)^(j-1) exp(-2 j^2 t^2), t = sqrt(n / 2) ks: Kolmogorov's limit for independent samples", "",
             distribution.ks_pvalue),
    BINNED("kl_divergence:p_q", "kl",
           "sum p ln(p / q) over bins; p, q: counts of x, y in a bin and 1/2, over their sum", "nat", distribution.kl),
    BINNED("kl_divergence:q_p", "kl_reverse", "sum q ln(q / p)", "nat", distribution.kl_reverse),
    SORTABLE("wasserstein:w1", "wasserstein",
             "integral of |F(v) - G(v)| dv; from the bins to wasserstein_resolution, or exact", "x",
             distribution.wasserstein),
    SORTABLE("wasserstein:resolution", "wasserstein_resolution", "the width of a bin; 0 when exact", "x",
             distribution.resolution),
};
enum { NMETRICS = sizeof table / sizeof *table };

const floe_metric *floe_metric_at(uint32_t number) { return number < NMETRICS ? &table[number].metric : NULL; }

uint32_t floe_metric_parts(uint32_t number) { return table[number].parts; }

/* ---- names -------------------------------------------------------------------------------------------------------- */

static bool is(const char *name, const char *text, size_t nbytes)
{
    return strlen(name) == nbytes && memcmp(name, text, nbytes) == 0;
}

static bool find(const char *text, size_t nbytes, uint32_t *number)
{
    for (uint32_t i = 0; i < NMETRICS; i++)
        if (is(table[i].metric.name, text, nbytes) || is(table[i].metric.alias, text, nbytes)) {
            *number = i;
            return true;
        }
    return false;
}

floe_status floe_metric_find(const char *name, uint32_t *number)
{
    return name && number && find(name, strlen(name), number) ? FLOE_OK : FLOE_ERR_ARGUMENT;
}

/* ---- sets --------------------------------------------------------------------------------------------------------- */

void floe_metric_set_add(floe_metric_set *set, uint32_t number)
{
    if (number < NMETRICS)
        set->word[number / 64] |= (uint64_t)1 << number % 64;
}

int floe_metric_set_has(const floe_metric_set *set, uint32_t number)
{
    return number < NMETRICS && (set->word[number / 64] >> number % 64 & 1);
}

/* Adds a group; false: there is none of that name. */
static bool group_add(floe_metric_set *set, const char *text, size_t nbytes)
{
    static const char *const passes[FLOE_PASSES] = {"reduction", "stencil", "window", "spectrum"};
    const bool properties = is("properties", text, nbytes);
    uint32_t pass = 0;
    while (pass < FLOE_PASSES && !is(passes[pass], text, nbytes))
        pass++;
    for (uint32_t i = 0; i < NMETRICS; i++)
        if (table[i].metric.pass == pass || (properties && table[i].metric.nfields == 1))
            floe_metric_set_add(set, i);
    return properties || pass < FLOE_PASSES;
}

floe_status floe_metric_set_parse(floe_metric_set *set, const char *text, floe_error *err)
{
    static const char between[] = " ,\t\n\r";
    FLOE_CHECK(err, set && text, FLOE_ERR_ARGUMENT, "no metrics given");
    *set = (floe_metric_set){{0}};
    size_t n;
    bool all = false;
    uint32_t nwords = 0;
    for (text += strspn(text, between); *text; text += n, text += strspn(text, between), nwords++) {
        uint32_t number;
        n = strcspn(text, between);
        if (find(text, n, &number))
            floe_metric_set_add(set, number);
        else if (is("all", text, n))
            all = true;
        else
            FLOE_CHECK(err, group_add(set, text, n), FLOE_ERR_ARGUMENT, "unknown metric '%.*s'", (int)floe_min64(n, 64),
                       text);
    }
    FLOE_CHECK(err, nwords, FLOE_ERR_ARGUMENT, "no metrics given");
    FLOE_CHECK(err, !all || nwords == 1, FLOE_ERR_ARGUMENT, "metric 'all' stands alone");
    return FLOE_OK;
}

/* ---- reports ------------------------------------------------------------------------------------------------------ */

void floe_report_clear(floe_assess_report *report)
{
    *report = (floe_assess_report){.nfields = 0};
    for (uint32_t i = 0; i < NMETRICS; i++)
        if (table[i].metric.kind == FLOE_METRIC_NUMBER) {
            const double nan = NAN;
            memcpy((uint8_t *)report + table[i].metric.offset, &nan, sizeof nan);
        }
}

double floe_metric_value(const floe_assess_report *report, uint32_t number)
{
    double value = NAN;
    uint64_t count;
    if (!report || !floe_metric_set_has(&report->computed, number))
        return NAN;
    const floe_metric *m = &table[number].metric;
    const uint8_t *at = (const uint8_t *)report + m->offset;
    if (m->kind == FLOE_METRIC_NUMBER) {
        memcpy(&value, at, sizeof value);
    } else if (m->kind == FLOE_METRIC_COUNT) {
        memcpy(&count, at, sizeof count);
        value = (double)count;
    }
    return value;
}

double floe_histogram_edge(const floe_histogram *h, uint32_t i)
{
    if (h->scale == FLOE_SCALE_LINEAR)
        return h->low + i * h->width;
    return ldexp(h->low * (1 + (double)(i % h->per_octave) / h->per_octave), (int)(i / h->per_octave));
}
