/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stencil pass: what a value and its neighbours show. Derivatives of the original, of the decoded field and of their
 * difference; the autocorrelation of the error; Sobolev norms of the original. Formulas: stencil_math.h.
 *
 * Points. Neighbours are one step apart along an axis, the distance of grid points is 1. An axis takes part in derivatives
 * when it has 3 elements or more; the points are those that have both neighbours along each such axis. A point is left out
 * and counted when one of the pairs that its stencil touches does not count (pair_math.h). Without such an axis there are
 * no points, and their numbers are NaN, as are those of an axis that takes no part.
 *
 * Autocorrelation of a signal s, which is the error (decoded - original), or the original where that is requested, or there is
 * nothing else:
 *     axis a, lag t:   mean of (s(p) - mean) (s(p + t along a) - mean) / variance
 *     combined, lag t: mean over the axes of the same, where only points p count that have p + t along every axis (Eq. 2 of
 *                      the cuZ-Checker paper; the paper divides by the number of those points, and so does this)
 * A mean is over the couples of which both count. Axes of one element do not exist here; where another axis is shorter than
 * t + 1 there is no combined number: NaN. So it is when the signal is constant.
 *
 * The mean of the signal must be known before: the reduction pass has it. With it no term is ever subtracted from a sum, so
 * a large bias or offset costs no more digits than the mean's own last one has in standard deviations.
 *
 * Sums are in double, those of derivatives and Sobolev norms of f32 fields of groups that were added up in f32, in an order
 * that depends on the shape only: any number of threads and each instruction set give the same bits; a GPU adds in another
 * order, with the same terms. Of products it finds those of all couples, and those of couples outside the box: the box is what
 * is left, where that is a quarter or more.
 */
#ifndef FLOE_ASSESS_STENCIL_H
#define FLOE_ASSESS_STENCIL_H

#include <stdbool.h>

#include "assess/pair.h"
#include "assess/stencil/stencil_math.h"
#include "backend/backend.h"

typedef struct floe_stencil_options {
    bool derivatives;
    bool sobolev;
    bool all_count; /* every pair counts, the reduction pass has found: spares the look at each value */
    uint32_t lags;  /* 0: no autocorrelation; at most FLOE_STENCIL_MAX_LAGS */
    double mean;    /* of the signal over the pairs that count; matters with lags only */
    /* the signal is the original, of which the decoded field only shows which values count; with lags only */
    bool of_original;
    /* over the pairs that count, largest magnitudes of values of either side and of errors: derivatives and Sobolev norms of
     * f32 fields are found in single where these allow it; peak 0: not known */
    double peak, error_peak;
} floe_stencil_options;

/* One quantity at all points. */
typedef struct floe_stencil_stats {
    double original_min, original_max;
    double original_rms; /* of the gradient length and the Laplacian; else NaN */
    double max_error;    /* of |difference|; NaN for a field alone, like all below */
    double rmse;         /* of the difference */
    double psnr;         /* 20 log10((original_max - original_min) / rmse), in dB; infinite where rmse is 0 */
} floe_stencil_stats;

typedef struct floe_stencil_result {
    uint64_t npoints, nskipped; /* points with derivatives, and those left out */
    floe_stencil_stats of[FLOE_STENCIL_QUANTITIES];
    uint64_t nsobolev;                                     /* points with a Sobolev norm: their stencil has corners */
    double sobolev[3];                                     /* s0, s1, s2 */
    double variance;                                       /* of the signal */
    double autocorr[FLOE_MAX_RANK][FLOE_STENCIL_MAX_LAGS]; /* [axis of the pair][lag - 1] */
    double combined[FLOE_STENCIL_MAX_LAGS];
} floe_stencil_result;

/* Bytes of workspace that the pass needs, FLOE_ARENA_ALIGN-aligned; some MiB for a large field. */
uint64_t floe_stencil_workspace(const floe_cpu *cpu, const floe_pair *pair);

/* Runs the pass over a pair in host memory, no axis empty, or over its original alone. ARGUMENT: too many lags, a mean that is
 * not finite. MEMORY: a workspace that is too small. What was not requested is NaN or 0. */
floe_status floe_stencil_assess(const floe_cpu *cpu, const floe_pair *pair, const floe_stencil_options *options,
                                void *workspace, size_t workspace_nbytes, floe_stencil_result *result, floe_error *err);

/* One quantity as a field, of both sides: dense, in C order, of the shape of the pair, in double; NaN where it is not
 * defined. Either may be NULL. So other passes can look at derivatives. Workspace as above. */
floe_status floe_stencil_write(const floe_cpu *cpu, const floe_pair *pair, floe_stencil_quantity quantity,
                               double *original, double *decoded, void *workspace, size_t workspace_nbytes,
                               floe_error *err);

#endif
