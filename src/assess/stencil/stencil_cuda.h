/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of the stencil pass: for derivatives, for products of the signal with itself, for Sobolev norms. Each call puts
 * kernels on the stream that leave some words in device memory: doubles, counts too. stencil_device.c calls them and makes
 * floe_stencil_sums of the words.
 */
#ifndef FLOE_ASSESS_STENCIL_CUDA_H
#define FLOE_ASSESS_STENCIL_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "assess/stencil/stencil_math.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /* Sums are of parts, a block's each, and depend on how many these are: on every GPU the same, whatever processors it has.
     * So many blocks fit an H100 at once, of most kernels and of those that need many registers. */
    FLOE_STENCIL_MAX_BLOCKS = 1056,
    FLOE_STENCIL_MAX_WIDE_BLOCKS = 396,
    FLOE_STENCIL_MOMENTS = 5, /* words of floe_stencil_moments, in its order */
    /* words of derivatives: moments of each quantity; points, points left out */
    FLOE_STENCIL_POINTS_WORDS = FLOE_STENCIL_QUANTITIES * FLOE_STENCIL_MOMENTS + 2,
    FLOE_STENCIL_GROUP = 10, /* lags of a call */
    /* words of products: [axis][lag][box, rest]; squares */
    FLOE_STENCIL_LAGS_WORDS = FLOE_STENCIL_AXES * FLOE_STENCIL_GROUP * 2 + 1,
    /* words of their totals: [axis][lag, from 0 on] */
    FLOE_STENCIL_TOTALS_WORDS = FLOE_STENCIL_AXES * (FLOE_STENCIL_GROUP + 1),
    FLOE_STENCIL_SOBOLEV_WORDS = 5 /* points; squares of values, steps, second derivatives, twists */
};

/* By value. */
typedef struct floe_stencil_dev_job {
    const void *x, *y; /* device memory; of a field alone the same */
    int64_t dx[FLOE_STENCIL_AXES], dy[FLOE_STENCIL_AXES];
    uint64_t shape[FLOE_STENCIL_AXES];
    uint64_t fill_bits;
    uint32_t has_fill;
    uint32_t narrow; /* f32 */
    uint32_t masked; /* some pairs may not count */
    uint32_t alone;
    uint32_t active; /* axes with derivatives */
    uint32_t single; /* derivatives, Sobolev norms: in f32, of values times scale; else in double */
    double scale;
    uint32_t vectors; /* 16 bytes of a row that begin at a multiple of 16 bytes are so aligned, on both sides */
    uint32_t counts;  /* products: of 1 where a pair counts, else 0, instead of the signal less its mean */
    double mean;
    double *parts; /* twice FLOE_STENCIL_MAX_BLOCKS times the words of the call */
} floe_stencil_dev_job;

/* Each returns a cudaError_t as a number. */
int floe_stencil_points_cuda(const floe_stencil_dev_job *job, double *words, void *stream);
int floe_stencil_sobolev_cuda(const floe_stencil_dev_job *job, double *words, void *stream);
/* Both together, the words of the second behind those of the first: of 3-D f32 fields in single, in whole vectors, all of whose
 * pairs count. */
bool floe_stencil_has_boxes(const floe_stencil_dev_job *job);
int floe_stencil_boxes_cuda(const floe_stencil_dev_job *job, double *words, void *stream);
/* Products at lags first_lag to first_lag + FLOE_STENCIL_GROUP - 1 along all axes; near_ends: those of columns in which some
 * have no partner along another axis at lags up to FLOE_STENCIL_GROUP, which are all that the rest comes from. */
int floe_stencil_lags_cuda(const floe_stencil_dev_job *job, bool near_ends, uint32_t first_lag, double *words,
                           void *stream);
/* Box and rest together, at lags 0 to FLOE_STENCIL_GROUP, along the row and some other axes, one at least: bit a for axis a. */
int floe_stencil_totals_cuda(const floe_stencil_dev_job *job, uint32_t axes, double *words, void *stream);

#ifdef __cplusplus
}
#endif
#endif
