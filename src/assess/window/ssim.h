/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The window pass: structural similarity of two fields in 1-D to 4-D.
 *
 * A box of `window` values slides over both fields, `step` values at a time along each axis; only boxes that lie wholly
 * inside count. In each, from means, (co)variances and L, the range of the original,
 *
 *     SSIM = (2 mx my + C1) (2 cxy + C2) / ((mx^2 + my^2 + C1) (vx + vy + C2))     C1 = (0.01 L)^2, C2 = (0.03 L)^2
 *
 * and the result is the mean over all boxes and the least of them. A constant original has no range: L is then its
 * magnitude, or 1 if it is 0. Boxes with a pair inside that does not count (pair.h) are left out, and counted.
 *
 * Covariances are those of the population (divided by n) unless `sample` requests n - 1: the window is all there is, not a
 * sample of anything, and so say the first paper on SSIM and Z-checker. scikit-image divides by n - 1 unless called
 * otherwise, so the image SSIM, which is its default, does too. Z-checker takes L from each window and not from the field,
 * which makes windows without much in them as weighty as all others: its numbers are lower than ours.
 *
 * An axis whose window is 1 is not smoothed: with windows {1, 1, 7, 7} each slice of a stack is an image of its own.
 *
 * Where it is known that the values are not too far off (low and high in the options), windows of 2 to 8 at step 1 along the
 * last two or three axes, and Gaussian ones along two, go a quick way, with sums in the values' own type: ssim_tree.h. For f32
 * 1 - SSIM is then off by about 1e-8 of itself, 5e-6 where values vary by few units of their last place or lie beside one that
 * stands far off, and of single windows, of which the greatest is one, by up to 1e-4.
 *
 * Otherwise sums are in double, and only ever added to: along an axis cut into stretches as long as the window, a window is the
 * end of one stretch and the beginning of the next, so each value enters each sum once, and time does not grow with the window.
 * (Along rows on a CPU sums are made by doubling, which grows with its logarithm; and with windows of 64 and more in 3-D memory
 * becomes scarce and tiles small.) So nothing drifts, an outlier leaves no trace behind it, and a NaN marks the windows that it
 * is in. 1 - SSIM has a relative error near 1e-14 unless variances are far below the squares of what deviates from the middle
 * of the range.
 */
#ifndef FLOE_ASSESS_SSIM_H
#define FLOE_ASSESS_SSIM_H

#include <stdbool.h>

#include "assess/pair.h"
#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_SSIM_WINDOW = 8, FLOE_SSIM_STEP = 1, FLOE_SSIM_IMAGE_WINDOW = 7 };

typedef enum floe_ssim_weights {
    FLOE_SSIM_WEIGHTS_UNIFORM,
    FLOE_SSIM_WEIGHTS_GAUSSIAN /* of standard deviation 1.5: windows are FLOE_SSIM_TAPS or 1 */
} floe_ssim_weights;

typedef struct floe_ssim_options {
    uint64_t window[FLOE_MAX_RANK], step[FLOE_MAX_RANK]; /* of the pair's axes; at least 1, window at most the extent */
    floe_ssim_weights weights;
    bool sample;      /* covariances with n - 1, n the number of values in a window */
    double min, max;  /* least and greatest of the original's values that are finite and not fill */
    double low, high; /* the same of both fields' pairs that count, or beyond; infinite where that is not known */
} floe_ssim_options;

/* NaN where no window counts. */
typedef struct floe_ssim_result {
    double mean, min;
    double mean_loss, max_loss; /* the same as 1 - SSIM, with all digits */
    uint64_t nwindows;          /* that count */
    uint64_t nleft_out;
} floe_ssim_result;

/* The same window and step along all of the caller's axes that are longer than 1; uniform, population. */
floe_ssim_options floe_ssim_options_of(const floe_pair *pair, uint64_t window, uint64_t step, double min, double max);
/* As scikit-image has it: slices along the two fastest axes, 7 x 7 uniform or 11 x 11 Gaussian, step 1, sample covariances. */
floe_ssim_options floe_ssim_options_image(floe_ssim_weights weights, double min, double max);

/* ARGUMENT, and why, unless the options suit the pair. */
floe_status floe_ssim_check(const floe_pair *pair, const floe_ssim_options *options, floe_error *err);

/* Of options that suit. In a scratch of that many bytes, 64-byte aligned, of host memory. About 0.7 MB a thread with windows
 * of 8 in 3-D. Some hundred bytes for each 64 Ki values come on top. It suffices whatever is known of the values. */
uint64_t floe_ssim_scratch_nbytes(const floe_cpu *cpu, const floe_pair *pair, const floe_ssim_options *options);
floe_status floe_ssim_assess(const floe_cpu *cpu, const floe_pair *pair, const floe_ssim_options *options,
                             void *scratch, floe_ssim_result *result, floe_error *err);

#ifdef __cplusplus
}
#endif
#endif
