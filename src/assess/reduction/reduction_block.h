/* SPDX-License-Identifier: BSD-3-Clause */
/* A few hundred pairs at a time, while they are in L1: compiled for each element type and instruction set. */
#ifndef FLOE_ASSESS_REDUCTION_BLOCK_H
#define FLOE_ASSESS_REDUCTION_BLOCK_H

#include "assess/pair_read.h"
#include "assess/reduction/bins_math.h"
#include "assess/reduction/reduction_math.h"

enum { FLOE_REDUCTION_LANES = 4 }; /* of all instruction sets, so that all add in the same order */

/* The pairs of a block that count, widened. */
typedef struct floe_reduction_block {
    double x[FLOE_PAIR_BLOCK], y[FLOE_PAIR_BLOCK];
    uint32_t n;
} floe_reduction_block;

/* Bins of a block's errors, their ratios (the last bin and one: x is 0), values. */
typedef struct floe_reduction_marks {
    uint64_t error[FLOE_PAIR_BLOCK], x[FLOE_PAIR_BLOCK], y[FLOE_PAIR_BLOCK];
    uint32_t ratio[FLOE_PAIR_BLOCK];
} floe_reduction_marks;

/* A part under way. */
typedef struct floe_reduction_lanes {
    double sum[FLOE_SUMS][FLOE_REDUCTION_LANES], top[FLOE_TOPS][FLOE_REDUCTION_LANES];
    uint64_t count[FLOE_COUNTS];
} floe_reduction_lanes;

typedef struct floe_reduction_rule {
    double pivot[2]; /* of x, of y */
    bool has_fill;
    uint64_t fill_bits;
} floe_reduction_rule;

/* Adds n <= FLOE_PAIR_BLOCK contiguous pairs, and leaves those that count in block. */
typedef void floe_reduction_add_fn(const void *x, const void *y, uint32_t n, const floe_reduction_rule *rule,
                                   floe_reduction_lanes *lanes, floe_reduction_block *block);
floe_reduction_add_fn floe_reduction_add_f32_plain, floe_reduction_add_f64_plain, floe_reduction_add_f32_avx2,
    floe_reduction_add_f64_avx2;

/* Bins of the errors, in a frame that holds them all; and of their ratios. */
typedef void floe_reduction_mark_errors_fn(const floe_reduction_block *block, const floe_bins_frame *frame,
                                           uint32_t ratio_nbits, floe_reduction_marks *marks);
floe_reduction_mark_errors_fn floe_reduction_mark_errors_f32_plain, floe_reduction_mark_errors_f64_plain,
    floe_reduction_mark_errors_f32_avx2, floe_reduction_mark_errors_f64_avx2;

/* Bins of x and y. */
typedef void floe_reduction_mark_values_fn(const floe_reduction_block *block, const floe_bins_frame *frame,
                                           floe_reduction_marks *marks);
floe_reduction_mark_values_fn floe_reduction_mark_values_f32_plain, floe_reduction_mark_values_f64_plain,
    floe_reduction_mark_values_f32_avx2, floe_reduction_mark_values_f64_avx2;

#endif
