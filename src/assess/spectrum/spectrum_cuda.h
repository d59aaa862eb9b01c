/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of the spectrum pass: all but the transform. */
#ifndef FLOE_ASSESS_SPECTRUM_CUDA_H
#define FLOE_ASSESS_SPECTRUM_CUDA_H

#include "assess/pair.h"
#include "assess/spectrum/spectrum_math.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_SPECTRUM_BLOCKS = 528 }; /* at most, for any field: their parts are added in this order */

/* By value. Pointers are device memory. Axes of one element are first, however they lay: so rows are as long as can be. */
typedef struct floe_spectrum_dev_job {
    const void *x, *y;
    uint64_t shape[FLOE_MAX_RANK];
    int64_t dx[FLOE_MAX_RANK], dy[FLOE_MAX_RANK];
    uint64_t nrows, pitch; /* coefficients of a row */
    uint64_t fill_bits;
    uint32_t has_fill, narrow; /* narrow: f32 */
    uint32_t nshells;
    const double *window[FLOE_MAX_RANK];
    double *data;                /* nrows rows of 2 pitch doubles */
    double *parts;               /* FLOE_SPECTRUM_BLOCKS times nshells */
    unsigned long long *nfilled; /* one */
} floe_spectrum_dev_job;

/* They put kernels on the stream and return a cudaError_t.
 * A side, less its mean and times the window, to data; pairs that do not count become 0, and are added to nfilled. */
int floe_spectrum_fill_cuda(const floe_spectrum_dev_job *job, int side, double mean, void *stream);
/* sums: of the squares of the coefficients in data, or, where they are to be counted, of ones, for each shell. */
int floe_spectrum_shells_cuda(const floe_spectrum_dev_job *job, bool count, double *sums, void *stream);

#ifdef __cplusplus
}
#endif
#endif
