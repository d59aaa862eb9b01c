/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spectrum pass: how much of a field's variation is at which wavelength, before and after.
 *
 * Each side, less its mean and times the window, is transformed over all its axes. The power of a mode is |F|^2 over the sum of
 * the window's squares, so white noise of variance v has the power v in each mode. Without a window nothing is left of mode 0
 * but what rounding leaves of the mean, so its power is 0. A shell's power is the mean over its modes (spectrum_math.h); the
 * ratio is the decoded one over the original's: below 1 where detail was lost, above 1 where noise came in. A transform has
 * no gaps: where a pair does not count both sides are set to their means, which is counted. That smooths both alike, so the
 * ratio still holds, while the spectra are of the filled fields.
 *
 * On a CPU fft.h transforms, on a GPU cuFFT, where it is found (spectrum_device.h). Everything is in double; but the two round
 * differently.
 */
#ifndef FLOE_ASSESS_SPECTRUM_H
#define FLOE_ASSESS_SPECTRUM_H

#include <stdbool.h>

#include "assess/pair.h"
#include "assess/spectrum/fourier.h"
#include "backend/backend.h"
#include "base/arena.h"

typedef enum floe_spectrum_window {
    FLOE_SPECTRUM_NO_WINDOW = 0, /* for periodic fields */
    FLOE_SPECTRUM_HANN = 1 /* sin(pi i / n)^2 along each axis longer than 1: for all others, whose edges do not meet */
} floe_spectrum_window;

typedef struct floe_spectrum_options {
    floe_spectrum_window window;
    double mean[2]; /* of original and decoded, over the pairs that count: the reduction pass has them */
} floe_spectrum_options;

/* Arrays of nshells, in the workspace. */
typedef struct floe_spectrum_result {
    uint64_t nfilled; /* pairs that were set to the means */
    uint32_t nshells;
    const uint64_t *nmodes;  /* of a shell; 0 where the grid has none: its power is NaN */
    const double *frequency; /* of the middle of a shell, in cycles an element */
    const double *power[2];  /* of original and decoded (NaN for a field alone) */
    const double *ratio;     /* NaN where the original has no power: 1e-24 of its strongest shell's, or less */
} floe_spectrum_result;

typedef struct floe_spectrum {
    const floe_cpu *cpu;
    const floe_pair *pair;
    bool dense;
    uint64_t nrows, pitch; /* coefficients of a row, complex */
    uint32_t nshells, npieces;
    floe_fourier fourier; /* of a pair in host memory */
    /* taken */
    double *data, *window[FLOE_MAX_RANK], *power[2], *frequency, *ratio, *piece_power;
    uint64_t *nmodes, *piece_nmodes, *piece_filled;
} floe_spectrum;

/* pair: no axis empty; it must stay. Of one in device memory only what lies in host memory is taken. */
void floe_spectrum_init(floe_spectrum *s, const floe_cpu *cpu, const floe_pair *pair);
/* 8 bytes for each element in host memory, and some more. */
void floe_spectrum_take(floe_spectrum *s, floe_arena *arena);
/* ARGUMENT: a mean that is not finite, an unknown window. */
floe_status floe_spectrum_run(floe_spectrum *s, const floe_spectrum_options *options, floe_spectrum_result *result,
                              floe_error *err);

/* What both places share. First: options are checked, windows made; the sum of squares of their product. Last, when power holds
 * sums over shells, and nmodes is there: the result. */
floe_status floe_spectrum_begin(floe_spectrum *s, const floe_spectrum_options *options, double *window_squares,
                                floe_error *err);
void floe_spectrum_finish(floe_spectrum *s, double window_squares, uint64_t nfilled, floe_spectrum_result *result);

#endif
