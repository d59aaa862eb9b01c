/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was lost: two fields side by side, or one field on its own, in numbers. docs/metrics.md has all formulas.
 *
 * x is a value of the original, y the decoded one at the same place, e = y - x the error. A pair counts where both are
 * finite and neither is fill. Pairs that are special alike (NaN and NaN, the same infinity, fill and fill) are equal; any
 * other pair with a special value is a mismatch; neither enters a sum, and both are counted.
 */
#ifndef FLOE_ASSESS_H
#define FLOE_ASSESS_H

#include <floe/floe.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* Which fused pass over the data finds a metric. */
typedef enum floe_metric_pass {
    FLOE_PASS_REDUCTION = 0,
    FLOE_PASS_STENCIL = 1,
    FLOE_PASS_WINDOW = 2,
    FLOE_PASS_SPECTRUM = 3,
    FLOE_PASSES
} floe_metric_pass;

/* How it reads the data. */
typedef enum floe_metric_pattern {
    FLOE_PATTERN_SUM = 0,       /* sums and extremes over all pairs */
    FLOE_PATTERN_HISTOGRAM = 1, /* counts in bins */
    FLOE_PATTERN_SEARCH = 2,    /* places, found again where a first reading says that they may be */
    FLOE_PATTERN_NEIGHBOURS = 3,
    FLOE_PATTERN_WINDOW = 4,
    FLOE_PATTERN_TRANSFORM = 5
} floe_metric_pattern;

/* What lies at the metric's offset in a floe_assess_report. */
typedef enum floe_metric_kind {
    FLOE_METRIC_NUMBER = 0,    /* double */
    FLOE_METRIC_COUNT = 1,     /* uint64_t */
    FLOE_METRIC_HISTOGRAM = 2, /* floe_histogram */
    FLOE_METRIC_SERIES = 3,    /* floe_series */
    FLOE_METRIC_SPOTS = 4      /* floe_spots */
} floe_metric_kind;

typedef struct floe_metric {
    const char *name;  /* as libpressio names it where it does: "error_stat:psnr" */
    const char *alias; /* "psnr" */
    const char *formula;
    const char *unit; /* "" for a plain number; "x": that of the values */
    floe_metric_pass pass;
    floe_metric_pattern pattern;
    floe_metric_kind kind;
    uint32_t nfields; /* 1: a property of the original alone; 2: compares */
    size_t offset;    /* in floe_assess_report */
} floe_metric;

/* All metrics, numbered from 0; NULL behind the last one. */
const floe_metric *floe_metric_at(uint32_t number);
/* The number of a name or alias. ARGUMENT: there is none. */
floe_status floe_metric_find(const char *name, uint32_t *number);

/* Metrics that are named, which must be found, and groups, of which those are found that apply to the fields and to this
 * build. Neither of them: all that apply. The few that cost a second reading belong to no group: they must be named. */
typedef struct floe_metric_set {
    uint64_t word[4];
    uint32_t groups; /* bit p: those of pass p; bit FLOE_PASSES: properties of one field */
    uint32_t reserved;
} floe_metric_set;
void floe_metric_set_add(floe_metric_set *set, uint32_t number);
int floe_metric_set_has(const floe_metric_set *set, uint32_t number);

/* Reads names, aliases and groups, separated by blanks or commas. Groups: reduction, stencil, window, spectrum, properties
 * (of one field), all. err may be NULL. */
floe_status floe_metric_set_parse(floe_metric_set *set, const char *text, floe_error *err);

/* ---- options ----------------------------------------------------------------------------------------------------- */

enum {
    FLOE_ASSESS_MIN_BINS = 64,
    FLOE_ASSESS_MAX_BINS = 4096,
    FLOE_ASSESS_MAX_VALUE_BINS = 16384,
    FLOE_ASSESS_MAX_LAGS = 64,
    FLOE_ASSESS_MAX_WORST = 64,
    FLOE_ASSESS_MAX_WINDOW = 64
};

typedef struct floe_assess_options {
    size_t size;
    floe_metric_set metrics;
    uint32_t bins;        /* of the PDFs of errors, at most: FLOE_ASSESS_MIN_BINS to FLOE_ASSESS_MAX_BINS; 1024 */
    uint32_t value_bins;  /* of the histograms of values: FLOE_ASSESS_MIN_BINS to FLOE_ASSESS_MAX_VALUE_BINS; 4096 */
    uint32_t worst;       /* worst errors that are listed: 0 to FLOE_ASSESS_MAX_WORST; 8 */
    uint32_t window;      /* edge of SSIM's window along axes longer than 1: 2 to FLOE_ASSESS_MAX_WINDOW; 8 */
    uint32_t step;        /* between its windows: 1 or more; 1 */
    uint32_t lags;        /* of the autocorrelation: 1 to FLOE_ASSESS_MAX_LAGS; 10 */
    int periodic;         /* not 0: opposite ends of the field meet, its spectrum needs no Hann window; 0 */
    int exact;            /* not 0: KS and Wasserstein distance by sorting all values, not from histograms; 0 */
    floe_bound_mode mode; /* values outside `bound` are counted: ABS, REL or PWREL; 0: there is none; 0 */
    double bound;         /* finite, 0 or more */
    floe_fill_mode fill;  /* which values are missing; looked for in the original; AUTO */
    double fill_value;    /* compared after conversion to the fields' dtype, bit for bit */
    int64_t fill_integer; /* of FLOE_FILL_INTEGER */
} floe_assess_options;

/* Sets size and the values that stand last in the comments above. */
void floe_assess_options_init(floe_assess_options *options);

/* ---- the report -------------------------------------------------------------------------------------------------- */

/* Arrays in a report belong to the context: they are valid until its next call. */
typedef struct floe_series {
    uint64_t count;
    const double *value;
} floe_series;

/* Bin i holds count[i] values v with edge(i) <= v < edge(i + 1); every value is in some bin. */
typedef enum floe_histogram_scale {
    FLOE_SCALE_LINEAR = 0, /* edge(i) = low + i * width */
    FLOE_SCALE_LOGARITHMIC =
        1 /* bins per factor of two: `per_octave`, of equal width within it, from `low` on. Bin 0 has all
                                * that is smaller, too, and the last bin all that is larger */
} floe_histogram_scale;
typedef struct floe_histogram {
    floe_histogram_scale scale;
    uint32_t nbins;
    uint32_t per_octave;
    double low, width;
    uint64_t total; /* of all bins; the probability of bin i is count[i] / total */
    const uint64_t *count;
} floe_histogram;
double floe_histogram_edge(const floe_histogram *histogram, uint32_t i);

typedef struct floe_spot {
    uint64_t index[FLOE_MAX_RANK]; /* in the field, slowest axis first; unused axes 0 */
    double original, decoded;      /* the values there */
} floe_spot;
typedef struct floe_spots {
    uint64_t count; /* of `spot` */
    const floe_spot *spot;
} floe_spots;

/* One field. Numbers are over the values of pairs that count, but for the counts of special values. */
typedef struct floe_values {
    uint64_t nzero, nnan, ninf, nfill;
    double min, max, range; /* range: max - min */
    double mean, variance, std_dev;
    double skewness, kurtosis; /* of a constant NaN; kurtosis of a normal distribution is 3 */
    double entropy_bytes;      /* bits a byte, of all bytes of the field, special values included */
    double entropy_quantized;  /* bits a value, of the bins of `histogram` */
    floe_histogram histogram;  /* bins of both fields are the same */
} floe_values;

typedef struct floe_error_stats {
    double min, mean, max;     /* signed; mean is the bias */
    double average_difference; /* of x - y: the bias, as others sign it */
    double abs_min, abs_mean, abs_max;
    double rel_min, rel_mean, rel_max; /* abs over the original's range */
    double pw_min, pw_mean, pw_max;    /* |e| / |x|, where x is not 0 */
    uint64_t pw_undefined;             /* pairs that count, with x = 0 and y not */
    double error_range, difference_range;
    double mse, rmse, nrmse, snr, psnr, psnr_half;
    double l1, l2, linf;
    double covariance, pearson, pearson_squared, value_error_correlation;
    floe_histogram pdf, rel_pdf; /* of e, and of e over the original's range; none where an e overflows */
    floe_histogram pw_pdf;       /* of |e| / |x| */
    floe_spots worst;            /* largest |e| first; of equal ones the first place first */
    uint64_t noutside;           /* of the bound */
    double outside_percent;      /* of the pairs that count */
    floe_spots outside;          /* the first one */
} floe_error_stats;

/* The distributions of the values, without regard to places. */
typedef struct floe_distribution {
    double ks, ks_pvalue;
    double kl, kl_reverse; /* from the histograms, in nats */
    double wasserstein;
    double resolution; /* wasserstein is exact to this; 0 when it was found by sorting */
} floe_distribution;

/* A derivative, or what is made of derivatives, at all points where it is defined. Neighbours are one step apart, the
 * distance of grid points is 1; docs/metrics.md has the formulas. */
typedef struct floe_derivative {
    double original_min, original_max;
    double original_rms;    /* of the gradient and the Laplacian; else NaN */
    double max_error, rmse; /* of the difference */
    double psnr;            /* 20 log10((original_max - original_min) / rmse); infinite where rmse is 0 */
    double ssim;            /* of the two as fields of their own; only where requested by name */
} floe_derivative;

typedef struct floe_derivatives {
    uint64_t npoints, nskipped;                  /* skipped: some pair around the point does not count */
    floe_derivative first[FLOE_MAX_RANK];        /* along each axis of the field */
    floe_derivative second[FLOE_MAX_RANK];       /* */
    floe_derivative first_sum, second_sum;       /* sums of magnitudes; the first as the paper's Eq. 1 */
    floe_derivative gradient, second_length;     /* square roots of sums of squares; the first as its Algorithm 2 */
    floe_derivative divergence, laplacian;       /* sums over the axes */
    floe_series axis_max_error[2], axis_rmse[2]; /* the same numbers of first and second as series over the axes */
    floe_series axis_psnr[2], axis_ssim[2];      /* */
    double sobolev[3];                           /* s0, s1, s2 of the original */
    double sobolev_error;                        /* s1 of the error */
} floe_derivatives;

/* Element t - 1 of a series is that of lag t; NaN where the field has no such points, nothing varies, or the mean
 * overflows. */
typedef struct floe_autocorrelation {
    floe_series combined;            /* mean over the axes, over points that have partners along all of them */
    floe_series axis[FLOE_MAX_RANK]; /* along each axis of the field */
    double largest;                  /* max over the lags of |combined| */
} floe_autocorrelation;

typedef struct floe_similarity {
    double ssim, min;             /* mean and least of all windows */
    double loss, max_loss;        /* 1 - these, with all digits */
    uint64_t nwindows, nleft_out; /* left out: some pair in the window does not count */
} floe_similarity;

/* Mean power of the modes of each shell of wave numbers; NaN where a shell has none. No shells where a mean overflows. */
typedef struct floe_power {
    floe_series frequency; /* of the middle of a shell, in cycles an element: 0 to 1/2 along an axis */
    floe_series original, decoded, ratio;
    double deviation; /* max |ratio - 1| */
    uint64_t nfilled; /* pairs that do not count: both values were taken to be their field's mean */
} floe_power;

typedef struct floe_assess_report {
    size_t size;
    floe_metric_set computed;
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    uint64_t nelems;
    uint32_t nfields; /* 2, or 1 where no decoded field was given: all that compares is then NaN or 0 */
    int has_fill;
    double fill_value;    /* of i64: rounded to nearest */
    int64_t fill_integer; /* exactly, of i32 and i64 */
    uint64_t ncounted;    /* pairs that count */
    uint64_t nsame;       /* pairs of the same special value */
    uint64_t nmismatch;   /* pairs where a special value differs from the other */
    floe_spots mismatch;  /* the first one */
    floe_values original, decoded;
    floe_error_stats error;
    floe_distribution distribution;
    floe_derivatives derivative;
    floe_autocorrelation autocorr; /* of the error */
    floe_autocorrelation original_autocorr;
    floe_similarity ssim;          /* windows of all axes */
    floe_similarity ssim_image;    /* of the slices along the last two axes: 7 x 7, as scikit-image has it */
    floe_similarity ssim_gaussian; /* the same, 11 x 11 Gaussian weights */
    floe_power spectrum;
    /* Of the decoded field by itself, in the members that are named for the original, at the points of `derivative`; only where
     * requested by name. What compares is NaN, and there are no series. */
    floe_derivatives decoded_derivative;
} floe_assess_report;

/*
 * Assesses decoded against original, or original alone where decoded is NULL. Fields have one dtype, shape and place
 * (strides are free). options may be NULL. A context whose backend is CUDA works on copies of fields in host memory, and
 * finds what a GPU does not on the CPU.
 *
 * Integers are assessed as copies in double: exact for i32, and for i64 below 2^53; beyond, values are rounded. Errors but for
 * their histograms, values outside the bound, mismatches, the range and the entropy of bytes are those of the integers themselves.
 *
 * ARGUMENT: fields that differ in dtype, shape or place; an empty field; no pair that counts, unless all are of one special value each,
 * when counts are all that is computed; a metric that needs what is not there (a second field, a bound); a metric or group that this floe
 * does not know; a window larger than the field.
 * UNSUPPORTED: integers in device memory; or this build lacks what a metric that was named needs. Results do not depend on the
 * number of threads; those of a GPU differ from them by rounding only.
 */
floe_status floe_assess(floe_ctx *ctx, const floe_field *original, const floe_field *decoded,
                        const floe_assess_options *options, floe_assess_report *report);

/* A metric of a report as a number: NUMBER and COUNT as they are; of HISTOGRAM, SERIES and PLACES, and of what was not
 * computed or lies past the report's size, NaN. */
double floe_metric_value(const floe_assess_report *report, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
