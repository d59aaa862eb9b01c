/* SPDX-License-Identifier: BSD-3-Clause */
/* What floe can report about one field or two. docs/metrics.md is made from this table. */
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
#define RATIO(...)     ROW(REDUCTION, SUM, NUMBER, 2, FLOE_REDUCTION_RATIOS, __VA_ARGS__)
#define COUNT(...)     ROW(REDUCTION, SUM, COUNT, 2, 0, __VA_ARGS__)
#define STENCIL(...)   ROW(STENCIL, NEIGHBOURS, __VA_ARGS__)
#define SPECTRUM(...)  ROW(SPECTRUM, TRANSFORM, __VA_ARGS__)
#define WINDOW(...)    ROW(WINDOW, WINDOW, __VA_ARGS__)
/* What is known of the original, of the decoded field by itself. */
#define DECODED(part, name, alias, like, member) \
    STENCIL(NUMBER, 2, FLOE_PART_DECODED_##part, name, alias, like " of the decoded field; must be named", "x", member)
/* The four numbers that compare a quantity made of derivatives; bit: of its part FLOE_PART_SIMILAR. */
#define DERIVED(alias, text, unit, member, bit)                                                             \
    STENCIL(NUMBER, 2, FLOE_PART_DERIVATIVES, "derivative:" alias "_max_error", alias "_max_error",         \
            "max |difference| of " text, unit, derivative.member.max_error),                                \
        STENCIL(NUMBER, 2, FLOE_PART_DERIVATIVES, "derivative:" alias "_rmse", alias "_rmse",               \
                "root mean square of the difference of " text, unit, derivative.member.rmse),               \
        STENCIL(NUMBER, 2, FLOE_PART_DERIVATIVES, "derivative:" alias "_psnr", alias "_psnr",               \
                "20 log10((max - min of the original) / rmse) of " text, "dB", derivative.member.psnr),     \
        STENCIL(NUMBER, 2, FLOE_PART_DERIVATIVES | FLOE_PART_SIMILAR << (bit), "derivative:" alias "_ssim", \
                alias "_ssim", "ssim of " text " as fields of their own; must be named", "", derivative.member.ssim)
/* The same of derivatives along each axis. */
#define DERIVED_AXES(alias, text, unit, order)                                                                    \
    STENCIL(SERIES, 2, FLOE_PART_DERIVATIVES, "derivative:" alias "_max_error", alias "_max_error",               \
            "for each axis, max |difference| of " text, unit, derivative.axis_max_error[order]),                  \
        STENCIL(SERIES, 2, FLOE_PART_DERIVATIVES, "derivative:" alias "_rmse", alias "_rmse",                     \
                "for each axis, root mean square of the difference of " text, unit, derivative.axis_rmse[order]), \
        STENCIL(SERIES, 2, FLOE_PART_DERIVATIVES, "derivative:" alias "_psnr", alias "_psnr",                     \
                "for each axis, 20 log10((max - min of the original) / rmse) of " text, "dB",                     \
                derivative.axis_psnr[order]),                                                                     \
        STENCIL(SERIES, 2, FLOE_PART_DERIVATIVES | FLOE_PART_SIMILAR << (order), "derivative:" alias "_ssim",     \
                alias "_ssim", "for each axis, ssim of " text " as fields of their own; must be named", "",       \
                derivative.axis_ssim[order])
#define BINNED(...)   ROW(REDUCTION, HISTOGRAM, NUMBER, 2, FLOE_REDUCTION_VALUES, __VA_ARGS__)
#define SORTABLE(...) ROW(REDUCTION, HISTOGRAM, NUMBER, 2, FLOE_REDUCTION_VALUES | FLOE_REDUCTION_SORTED, __VA_ARGS__)

static const row table[] = {
    /* the original */
    ONE_COUNT("error_stat:n", "n", "values that count: finite, not fill, and so is their partner", "", ncounted),
    ONE_SUM("error_stat:value_min", "min", "min x", "x", original.min),
    ONE_SUM("error_stat:value_max", "max", "max x", "x", original.max),
    ONE_SUM("error_stat:value_range", "range", "max x - min x", "x", original.range),
    ONE_SUM("error_stat:value_mean", "mean", "mean(x) = sum x / n", "x", original.mean),
    ONE_SUM("error_stat:value_var", "variance", "mean((x - mean(x))^2)", "x^2", original.variance),
    ONE_SUM("error_stat:value_std", "std_dev", "sqrt(variance)", "x", original.std_dev),
    ROW(REDUCTION, SUM, NUMBER, 1, FLOE_REDUCTION_MOMENTS, "error_stat:value_skewness", "skewness",
        "mean((x - mean(x))^3) / std_dev^3", "", original.skewness),
    ROW(REDUCTION, SUM, NUMBER, 1, FLOE_REDUCTION_MOMENTS, "error_stat:value_kurtosis", "kurtosis",
        "mean((x - mean(x))^4) / variance^2; 3 for a normal distribution", "", original.kurtosis),
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
    ROW(REDUCTION, SUM, NUMBER, 2, FLOE_REDUCTION_MOMENTS, "decompressed:value_skewness", "decoded_skewness",
        "mean((y - mean(y))^3) / decoded_std_dev^3", "", decoded.skewness),
    ROW(REDUCTION, SUM, NUMBER, 2, FLOE_REDUCTION_MOMENTS, "decompressed:value_kurtosis", "decoded_kurtosis",
        "mean((y - mean(y))^4) / decoded_variance^2", "", decoded.kurtosis),
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
        "the first place where a special value is paired with another value", "", mismatch),
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
    RATIO("error_stat:min_pw_rel_error", "min_pw_rel_error", "min |e| / |x|, where x is not 0", "", error.pw_min),
    RATIO("error_stat:average_pw_rel_error", "avg_pw_rel_error", "mean |e| / |x|, where x is not 0", "", error.pw_mean),
    RATIO("error_stat:max_pw_rel_error", "max_pw_rel_error", "max |e| / |x|, where x is not 0", "", error.pw_max),
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
        "e in bins, as narrow a power of two as fits `bins` of them; none where an e overflows", "x", error.pdf),
    ROW(REDUCTION, HISTOGRAM, HISTOGRAM, 2, FLOE_REDUCTION_PDFS, "diff_pdf:rel_histogram", "rel_error_pdf",
        "e / range in the same bins", "", error.rel_pdf),
    ROW(REDUCTION, HISTOGRAM, HISTOGRAM, 2, FLOE_REDUCTION_PDFS | FLOE_REDUCTION_RATIOS, "diff_pdf:pw_rel_histogram",
        "pw_rel_error_pdf",
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
    /* derivatives of the original */
    STENCIL(NUMBER, 1, FLOE_PART_DERIVATIVES, "derivative:input_gradient_max", "gradient_max",
            "max of the gradient length: sqrt(sum over the axes of ((f+ - f-) / 2)^2), f+ and f- the neighbours", "x",
            derivative.gradient.original_max),
    STENCIL(NUMBER, 1, FLOE_PART_DERIVATIVES, "derivative:input_gradient_rms", "gradient_rms",
            "root mean square of the gradient length", "x", derivative.gradient.original_rms),
    STENCIL(NUMBER, 1, FLOE_PART_DERIVATIVES, "derivative:input_laplacian_min", "laplacian_min",
            "min of the Laplacian: sum over the axes of f+ - 2 f + f-", "x", derivative.laplacian.original_min),
    STENCIL(NUMBER, 1, FLOE_PART_DERIVATIVES, "derivative:input_laplacian_max", "laplacian_max", "max of the Laplacian",
            "x", derivative.laplacian.original_max),
    STENCIL(NUMBER, 1, FLOE_PART_DERIVATIVES, "derivative:input_laplacian_rms", "laplacian_rms",
            "root mean square of the Laplacian", "x", derivative.laplacian.original_rms),
    STENCIL(COUNT, 1, FLOE_PART_DERIVATIVES, "derivative:n", "derivative_points",
            "points that have neighbours along all axes of 3 elements or more", "", derivative.npoints),
    STENCIL(COUNT, 1, FLOE_PART_DERIVATIVES, "derivative:n_skipped", "derivative_skipped",
            "of these, left out: some pair at or around the point does not count", "", derivative.nskipped),
    STENCIL(NUMBER, 1, FLOE_PART_SOBOLEV, "sobolev:s0", "sobolev_s0",
            "sqrt(mean(f^2)) over points that have all neighbours, those across corners too", "x",
            derivative.sobolev[0]),
    STENCIL(NUMBER, 1, FLOE_PART_SOBOLEV, "sobolev:s1", "sobolev_s1",
            "sqrt(mean(f^2 + sum of squares of first derivatives))", "x", derivative.sobolev[1]),
    STENCIL(NUMBER, 1, FLOE_PART_SOBOLEV, "sobolev:s2", "sobolev_s2",
            "the same with the squares of second derivatives, mixed ones too", "x", derivative.sobolev[2]),
    STENCIL(NUMBER, 2, FLOE_PART_DERIVATIVES, "sobolev:error_s1", "sobolev_error",
            "sobolev_s1 of the error: sqrt(mse + sum over the axes of first_rmse^2)", "x", derivative.sobolev_error),
    STENCIL(SERIES, 1, FLOE_PART_ORIGINAL_LAGS, "autocorr:input", "original_autocorr",
            "autocorr of x; of two fields it must be named", "", original_autocorr.combined),
    /* of the decoded field, at the same points */
    DECODED(DERIVATIVES, "derivative:decompressed_gradient_max", "decoded_gradient_max", "gradient_max",
            decoded_derivative.gradient.original_max),
    DECODED(DERIVATIVES, "derivative:decompressed_gradient_rms", "decoded_gradient_rms", "gradient_rms",
            decoded_derivative.gradient.original_rms),
    DECODED(DERIVATIVES, "derivative:decompressed_laplacian_min", "decoded_laplacian_min", "laplacian_min",
            decoded_derivative.laplacian.original_min),
    DECODED(DERIVATIVES, "derivative:decompressed_laplacian_max", "decoded_laplacian_max", "laplacian_max",
            decoded_derivative.laplacian.original_max),
    DECODED(DERIVATIVES, "derivative:decompressed_laplacian_rms", "decoded_laplacian_rms", "laplacian_rms",
            decoded_derivative.laplacian.original_rms),
    DECODED(SOBOLEV, "sobolev:decompressed_s0", "decoded_sobolev_s0", "sobolev_s0", decoded_derivative.sobolev[0]),
    DECODED(SOBOLEV, "sobolev:decompressed_s1", "decoded_sobolev_s1", "sobolev_s1", decoded_derivative.sobolev[1]),
    DECODED(SOBOLEV, "sobolev:decompressed_s2", "decoded_sobolev_s2", "sobolev_s2", decoded_derivative.sobolev[2]),
    /* derivatives compared */
    DERIVED_AXES("first", "(f+ - f-) / 2", "x", 0),
    DERIVED_AXES("second", "f+ - 2 f + f-", "x", 1),
    DERIVED("derivative", "sum over the axes of |f+ - f-| (Eq. 1 of cuZ-Checker)", "x", first_sum, 2),
    DERIVED("gradient", "sqrt(sum of ((f+ - f-) / 2)^2) (its Algorithm 2)", "x", gradient, 3),
    DERIVED("second_derivative", "sum over the axes of |f+ - 2 f + f-|", "x", second_sum, 4),
    DERIVED("second_gradient", "sqrt(sum of (f+ - 2 f + f-)^2)", "x", second_length, 5),
    DERIVED("divergence", "sum over the axes of (f+ - f-) / 2", "x", divergence, 6),
    DERIVED("laplacian", "sum over the axes of f+ - 2 f + f-", "x", laplacian, 7),
    /* autocorrelation of the error */
    STENCIL(
        SERIES, 2, FLOE_PART_LAGS, "autocorr:autocorr", "autocorr",
        "at lags t from 1: mean over the axes of mean((e(p) - bias) (e(p + t) - bias)) / variance of e, over points p "
        "that have p + t along every axis (Eq. 2 of cuZ-Checker)",
        "", autocorr.combined),
    STENCIL(NUMBER, 2, FLOE_PART_LAGS, "autocorr:largest", "autocorr_max", "max over the lags of |autocorr|", "",
            autocorr.largest),
    STENCIL(SERIES, 2, FLOE_PART_LAGS, "autocorr:axis0", "autocorr_axis0", "along the slowest axis alone", "",
            autocorr.axis[0]),
    STENCIL(SERIES, 2, FLOE_PART_LAGS, "autocorr:axis1", "autocorr_axis1", "along the next axis", "", autocorr.axis[1]),
    STENCIL(SERIES, 2, FLOE_PART_LAGS, "autocorr:axis2", "autocorr_axis2", "along the next axis", "", autocorr.axis[2]),
    STENCIL(SERIES, 2, FLOE_PART_LAGS, "autocorr:axis3", "autocorr_axis3", "along the fourth axis", "",
            autocorr.axis[3]),
    /* similarity */
    WINDOW(
        NUMBER, 2, FLOE_PART_SSIM, "ssim:ssim", "ssim",
        "mean over windows of (2 mx my + C1) (2 cxy + C2) / ((mx^2 + my^2 + C1) (vx + vy + C2)), C1 = (0.01 "
        "range)^2, C2 = (0.03 range)^2; means m, population (co)variances v, c of a window that is 8 wide along every "
        "axis longer than 1 and moves by 1, unless set otherwise",
        "", ssim.ssim),
    WINDOW(NUMBER, 2, FLOE_PART_SSIM, "ssim:min", "ssim_min", "the least of all windows", "", ssim.min),
    WINDOW(NUMBER, 2, FLOE_PART_SSIM, "ssim:loss", "ssim_loss", "1 - ssim, with all digits", "", ssim.loss),
    WINDOW(NUMBER, 2, FLOE_PART_SSIM, "ssim:max_loss", "ssim_max_loss", "1 - ssim_min", "", ssim.max_loss),
    WINDOW(COUNT, 2, FLOE_PART_SSIM, "ssim:n", "ssim_windows", "windows of pairs that count", "", ssim.nwindows),
    WINDOW(COUNT, 2, FLOE_PART_SSIM, "ssim:n_skipped", "ssim_skipped", "windows with a pair that does not count", "",
           ssim.nleft_out),
    WINDOW(NUMBER, 2, FLOE_PART_IMAGE, "ssim:image", "ssim_image",
           "ssim of the slices along the last two axes as images: 7 x 7, sample (co)variances, as scikit-image has it",
           "", ssim_image.ssim),
    WINDOW(NUMBER, 2, FLOE_PART_GAUSSIAN, "ssim:image_gaussian", "ssim_gaussian",
           "the same in 11 x 11 windows with Gaussian weights of standard deviation 1.5; (co)variances times 121 / "
           "120, as "
           "scikit-image has them unless use_sample_covariance is False",
           "", ssim_gaussian.ssim),
    /* spectra */
    SPECTRUM(SERIES, 1, 0, "spectrum:frequency", "spectrum_frequency",
             "the middle of each shell of wave numbers, in cycles an element", "", spectrum.frequency),
    SPECTRUM(
        SERIES, 1, 0, "spectrum:input", "spectrum_power",
        "mean of |F|^2 over the modes of a shell, F the Fourier transform of (x - mean) w, over sum w^2; w: a Hann "
        "window along each axis, or 1 for periodic fields",
        "x^2", spectrum.original),
    SPECTRUM(SERIES, 2, 0, "spectrum:decompressed", "decoded_spectrum_power", "the same of y", "x^2", spectrum.decoded),
    SPECTRUM(SERIES, 2, 0, "spectrum:ratio", "spectrum_ratio", "decoded_spectrum_power / spectrum_power", "",
             spectrum.ratio),
    SPECTRUM(NUMBER, 2, 0, "spectrum:deviation", "spectrum_deviation", "max over the shells of |spectrum_ratio - 1|",
             "", spectrum.deviation),
    SPECTRUM(COUNT, 1, 0, "spectrum:n_filled", "spectrum_filled",
             "pairs that do not count, of which both values were taken to be their field's mean", "", spectrum.nfilled),
};
enum { NMETRICS = sizeof table / sizeof *table, NGROUPS = FLOE_PASSES + 1 };

const floe_metric *floe_metric_at(uint32_t number) { return number < NMETRICS ? &table[number].metric : NULL; }

uint32_t floe_metric_parts(uint32_t number) { return table[number].parts; }

/* Some cost a second reading, or more. */
static bool is_dear(const row *r, bool alone)
{
    const uint32_t dear = FLOE_PART_ALL_SIMILAR | FLOE_PART_ALL_DECODED | (alone ? 0 : FLOE_PART_ORIGINAL_LAGS);
    return r->metric.pass == FLOE_PASS_STENCIL && r->parts & dear;
}

floe_metric_wish floe_metric_wish_of(const floe_metric_set *set, uint32_t number, bool alone)
{
    static const floe_metric_set nothing = {{0}, 0, 0};
    const row *r = &table[number];
    const bool all = memcmp(set, &nothing, sizeof nothing) == 0;
    const bool property = set->groups >> FLOE_PASSES & 1 && r->metric.nfields == 1;
    if (floe_metric_set_has(set, number))
        return FLOE_METRIC_NAMED;
    if (is_dear(r, alone) || !(all || property || set->groups >> r->metric.pass & 1))
        return FLOE_METRIC_NOT_ASKED;
    return FLOE_METRIC_IN_GROUP;
}

int floe_metric_axis(uint32_t number)
{
    const size_t from = offsetof(floe_assess_report, autocorr.axis), offset = table[number].metric.offset;
    const bool is = offset >= from && offset < from + sizeof(floe_series[FLOE_MAX_RANK]);
    return is ? (int)((offset - from) / sizeof(floe_series)) : -1;
}

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

floe_status floe_metric_set_check(const floe_metric_set *set, floe_error *err)
{
    enum { NBITS = 64 * sizeof set->word / sizeof set->word[0] };
    for (uint32_t i = NMETRICS; i < NBITS; i++)
        FLOE_CHECK(err, !(set->word[i / 64] >> i % 64 & 1), FLOE_ERR_ARGUMENT,
                   "metric number %u was requested; this floe knows %u", i, (uint32_t)NMETRICS);
    FLOE_CHECK(err, set->groups >> NGROUPS == 0, FLOE_ERR_ARGUMENT,
               "groups 0x%x of metrics were requested; there are %u", set->groups, (uint32_t)NGROUPS);
    return FLOE_OK;
}

/* Bits of a group; 0: there is none of that name. */
static uint32_t group_of(const char *text, size_t nbytes)
{
    static const char *const names[] = {"reduction", "stencil", "window", "spectrum", "properties"};
    for (uint32_t i = 0; i < NGROUPS; i++)
        if (is(names[i], text, nbytes))
            return 1u << i;
    return is("all", text, nbytes) ? (1u << NGROUPS) - 1 : 0;
}

floe_status floe_metric_set_parse(floe_metric_set *set, const char *text, floe_error *err)
{
    static const char between[] = " ,\t\n\r";
    FLOE_CHECK(err, set && text, FLOE_ERR_ARGUMENT, "no metrics given");
    *set = (floe_metric_set){{0}, 0, 0};
    size_t n;
    text += strspn(text, between);
    FLOE_CHECK(err, *text, FLOE_ERR_ARGUMENT, "no metrics given");
    for (; *text; text += n, text += strspn(text, between)) {
        uint32_t number;
        n = strcspn(text, between);
        const uint32_t group = group_of(text, n);
        set->groups |= group;
        if (find(text, n, &number))
            floe_metric_set_add(set, number);
        else
            FLOE_CHECK(err, group, FLOE_ERR_ARGUMENT, "unknown metric '%.*s'", (int)floe_min64(n, 64), text);
    }
    return FLOE_OK;
}

/* ---- reports ------------------------------------------------------------------------------------------------------ */

void floe_report_clear(floe_assess_report *report)
{
    *report = (floe_assess_report){.size = sizeof *report};
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
    if (m->offset + sizeof value > report->size)
        return NAN;
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
