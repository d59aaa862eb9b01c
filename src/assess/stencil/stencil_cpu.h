/* SPDX-License-Identifier: BSD-3-Clause */
/* How a CPU does the stencil pass: tile after tile, in rows of up to FLOE_STENCIL_BLOCK points, for each element type and
 * instruction set. */
#ifndef FLOE_ASSESS_STENCIL_CPU_H
#define FLOE_ASSESS_STENCIL_CPU_H

#include "assess/stencil/stencil.h"

enum {
    FLOE_STENCIL_BLOCK = 128, /* points of a row: 1 KiB in double, so that a block's quantities stay in L1 */
    FLOE_STENCIL_LANES = 8,   /* partial sums of a block, whatever the vector width, so that all give the same bits */
    FLOE_STENCIL_PITCH = FLOE_STENCIL_BLOCK + FLOE_STENCIL_MAX_LAGS + FLOE_STENCIL_LANES,
    FLOE_STENCIL_OUTER = FLOE_MAX_RANK - 1, /* axes that count rows; the last one is the row's */
    FLOE_STENCIL_ROW = FLOE_STENCIL_AXES - 1
};

typedef struct floe_stencil_job {
    floe_pair pair; /* alone: the decoded side is the original once more */
    bool alone;     /* or the original is the signal, and there are no derivatives */
    bool derivatives, sobolev;
    bool masked; /* some pairs may not count */
    bool single; /* derivatives in f32, of values times scale; else scale is 1 */
    uint32_t lags, active;
    double scale;
    double mean;
    floe_stencil_quantity wanted; /* where `out` is set, this quantity of original and decoded goes there */
    double *out[2];
} floe_stencil_job;

/* First points of a tile, and behind its last ones. */
typedef struct floe_stencil_box {
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
} floe_stencil_box;

/* Values and errors of a stretch of a row, and 1 where the pair counts, else 0 (masked jobs only). */
typedef struct floe_stencil_line {
    double f[FLOE_STENCIL_PITCH], e[FLOE_STENCIL_PITCH], count[FLOE_STENCIL_PITCH];
} floe_stencil_line;

/* What a worker needs for products. */
typedef struct floe_stencil_scratch {
    /* the signal less its mean, 0 where it does not count and behind a row's end */
    double ring[FLOE_STENCIL_MAX_LAGS + 1][FLOE_STENCIL_BLOCK];
    double count[FLOE_STENCIL_MAX_LAGS + 1][FLOE_STENCIL_BLOCK];
    floe_stencil_line row;
} floe_stencil_scratch;

/* Adds the products of the points of a tile with their partners, wherever these are. */
typedef void floe_stencil_lags_fn(const floe_stencil_job *job, const floe_stencil_box *tile, floe_stencil_scratch *s,
                                  floe_stencil_sums *sums);
floe_stencil_lags_fn floe_stencil_lags_f32_plain, floe_stencil_lags_f64_plain, floe_stencil_lags_f32_avx2,
    floe_stencil_lags_f64_avx2;

/* Adds the quantities at the points of a tile, or writes the one that is wanted; single: f32 fields in f32. */
typedef void floe_stencil_points_fn(const floe_stencil_job *job, const floe_stencil_box *tile, floe_stencil_sums *sums);
floe_stencil_points_fn floe_stencil_points_f32_plain, floe_stencil_points_f64_plain, floe_stencil_points_f32_avx2,
    floe_stencil_points_f64_avx2, floe_stencil_single_f32_plain, floe_stencil_single_f32_avx2;

/* Adds what Sobolev norms are made of at the points of a tile; single: f32 fields in f32. */
floe_stencil_points_fn floe_stencil_sobolev_f32_plain, floe_stencil_sobolev_f64_plain, floe_stencil_sobolev_f32_avx2,
    floe_stencil_sobolev_f64_avx2, floe_stencil_sobolev_single_f32_plain, floe_stencil_sobolev_single_f32_avx2;

#endif
