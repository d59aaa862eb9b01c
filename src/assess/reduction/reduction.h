/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reduction pass: all that is found by looking at each pair of values on its own. What is requested beyond sums and
 * extremes is named by parts. Places are found in a second look at the few pieces (reduction_math.h) of which the first
 * one shows that they lie there.
 *
 *     floe_reduction r;  floe_reduction_init(&r, cpu, &pair, &options);
 *     floe_reduction_take(&r, &plan);  ...  floe_reduction_take(&r, &arena);
 *     floe_reduction_run(&r, &result, err);
 *     floe_reduction_finish(&options, &result, &report);
 */
#ifndef FLOE_ASSESS_REDUCTION_H
#define FLOE_ASSESS_REDUCTION_H

#include <floe/assess.h>

#include "assess/pair.h"
#include "assess/reduction/bins_math.h"
#include "assess/reduction/reduction_block.h"
#include "backend/backend.h"
#include "base/arena.h"
#include "field/field.h"

/* Parts, to be joined by |. */
enum {
    FLOE_REDUCTION_PDFS = 1,     /* of errors */
    FLOE_REDUCTION_VALUES = 2,   /* histograms of values, and what is worked out from them */
    FLOE_REDUCTION_BYTES = 4,    /* entropy of bytes */
    FLOE_REDUCTION_WORST = 8,    /* places of the worst errors */
    FLOE_REDUCTION_OUTSIDE = 16, /* values outside the bound */
    FLOE_REDUCTION_SORTED = 32,  /* KS and Wasserstein distance by sorting */
    FLOE_REDUCTION_RATIOS = 64,  /* |e| / |x|; a CPU has time for it, and for what follows, in any case */
    FLOE_REDUCTION_MOMENTS = 128 /* skewness and kurtosis */
};

typedef struct floe_reduction_options {
    uint32_t parts;
    uint32_t bins, value_bins, worst; /* as in floe_assess_options */
    floe_bound_mode mode;             /* ABS, REL or PWREL where OUTSIDE is requested */
    double bound;
} floe_reduction_options;

/* What the pass finds. Pointers are to what floe_reduction_take took; NULL where not requested. */
typedef struct floe_reduction_result {
    double pivot[2]; /* of x, of y */
    double range;    /* of x; the coordinator's finding */
    double sample[FLOE_REDUCTION_SAMPLES];
    uint32_t nsamples; /* values of the original, of pairs that count and are spread evenly over the field, by size */
    floe_reduction_part total;
    floe_bins_frame error_frame; /* PDFS */
    const uint64_t *error_count;
    uint32_t ratio_nbits; /* floe_log_bins_bits */
    const uint64_t *ratio_count;
    floe_bins_frame value_frame; /* VALUES: the same bins for x and y */
    const uint64_t *value_count[2];
    const uint64_t *byte_count[2]; /* BYTES: 256 each */
    floe_spots worst, outside, mismatch;
    uint64_t noutside;
    double ks, wasserstein; /* SORTED */
} floe_reduction_result;

/* What is compiled for the pair's type and the machine. */
typedef struct floe_reduction_ops {
    floe_reduction_add_fn *add;
    floe_reduction_mark_errors_fn *mark_errors;
    floe_reduction_mark_values_fn *mark_values;
} floe_reduction_ops;

/* Of one thread. */
typedef struct floe_reduction_worker floe_reduction_worker;

typedef struct floe_reduction {
    const floe_cpu *cpu;
    const floe_pair *pair;
    const floe_reduction_options *options;
    floe_reduction_rule rule;
    floe_reduction_ops ops;
    bool dense;
    uint64_t nelems, piece, npieces; /* piece: pairs in each but the last */
    uint32_t nworkers;
    /* taken */
    floe_reduction_part *parts, *tree; /* of a pair in host memory */
    floe_reduction_worker *workers;
    uint64_t *error_count, *ratio_count, *value_count[2], *byte_count[2];
    uint64_t *outside_count; /* of each piece, of a pair in host memory */
    floe_spot *worst, *outside, *mismatch;
    void *sorted[2], *sort_workspace;
    uint64_t sort_nbytes;
} floe_reduction;

/* pair: not empty; it and the options must stay. Of a pair in device memory only what lies in host memory is taken and
 * run: see reduction_device.h. */
floe_status floe_reduction_init(floe_reduction *r, const floe_cpu *cpu, const floe_pair *pair,
                                const floe_reduction_options *options, floe_error *err);
void floe_reduction_take(floe_reduction *r, floe_arena *arena);
void floe_reduction_result_init(const floe_reduction *r, floe_reduction_result *result);
floe_status floe_reduction_run(floe_reduction *r, floe_reduction_result *result, floe_error *err);

/* Samples and pivots of the result. Of the pairs at some places (floe_reduction_sample_place) those that count are samples:
 * what stands beside a special value, under a mask say, may be far from all that is summed up. A pivot is the median of its
 * side's; 0 without any. */
void floe_reduction_pivots(const floe_pair *pair, floe_reduction_result *result);

/* Samples may mislead, or be missing. Where sums show that a pivot is too far from its mean for the digits of what is left of
 * squares, it moves to the mean, and the fields have to be read again; true then. So often at most: from anywhere sums show
 * the mean to within the range of the values, and from there to within their deviation. */
enum { FLOE_REDUCTION_MENDS = 2 };
bool floe_reduction_pivots_mend(const floe_reduction_part *total, double *pivot);

/* The numbers of the report, all but what the coordinator has. */
void floe_reduction_finish(const floe_reduction_options *options, const floe_reduction_result *result,
                           floe_assess_report *report);

#endif
