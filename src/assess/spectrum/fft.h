/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Discrete Fourier transforms of complex numbers, of any length, several at once: those of neighbouring columns (lanes) are
 * interleaved, so that what is done to one element is done to a vector. Lengths whose primes are small go factor by factor
 * (Stockham's order: no shuffling at the end); others become a convolution of such a length (Bluestein). Both are as exact as
 * each other: errors are a few roundings.
 */
#ifndef FLOE_ASSESS_FFT_H
#define FLOE_ASSESS_FFT_H

#include <stdint.h>

#include "base/arena.h"

typedef struct floe_fft {
    uint64_t n, length;          /* length: of the factors, n or that of the convolution */
    double *root_re, *root_im;   /* exp(-2 pi i k / length), k < length */
    double *chirp_re, *chirp_im; /* exp(-pi i k k / n), k < n: of a convolution, as is the next */
    double *kernel_re, *kernel_im;
} floe_fft;

/* n at least 1. Tables are filled by begin, which needs the work of one lane. */
void floe_fft_take(floe_fft *f, uint64_t n, floe_arena *arena);
void floe_fft_begin(floe_fft *f, double *work);

/* Numbers that a transform works in: planes of length * lanes real parts, as many imaginary ones, and both once more. */
static inline uint64_t floe_fft_nwork(const floe_fft *f, uint64_t lanes) { return 4 * f->length * lanes; }

/* Transforms element k of each lane, at work[k * lanes + lane], its imaginary part length * lanes later. Returns where the
 * coefficients are, in work, laid out alike. */
double *floe_fft_run(const floe_fft *f, uint64_t lanes, double *work);

/* exp(-2 pi i k / n), k < n: good to the last place or so for any k. n below 2^60. */
void floe_fft_root(uint64_t k, uint64_t n, double *re, double *im);

#endif
