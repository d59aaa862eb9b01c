/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of the reduction pass. The same pieces as on a CPU (reduction_math.h), and parts with the same words; a part is that
 * of a block of threads, of all of its pieces. What is added is added in an order that depends on the shape, and on the GPU,
 * only.
 *
 * Bins lie in shared memory, a block's in a frame of its own (bins_math.h) that grows with what the block meets. The frames
 * begin with what a few samples say, which never makes them coarser than the bins of all values.
 */
#ifndef FLOE_ASSESS_REDUCTION_CUDA_H
#define FLOE_ASSESS_REDUCTION_CUDA_H

#include <stdbool.h>

#include <floe/floe.h>

#include "assess/reduction/bins_math.h"
#include "assess/reduction/reduction_math.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FLOE_REDUCTION_MAX_BLOCKS = 1056,     /* 8 for each of 132 processors */
    FLOE_REDUCTION_MAX_LOOKS = 64,        /* pieces, and places in each, of a search for the worst */
    FLOE_REDUCTION_BLOCK_PAIRS = 1 << 30, /* blocks count in 32 bits */
    FLOE_REDUCTION_DEV_BITS = 46          /* of the most pairs: with more, a piece has more than BLOCK_PAIRS */
};

/* What a few samples say, before all values are read: pairs that count. Of each side their median (0 without any), of the
 * original all by size, and then infinities; extremes: NaN without any. */
typedef struct floe_reduction_start {
    double pivot[2];
    double error_low, error_high, value_low, value_high;
    uint32_t nsamples;
    double sample[FLOE_REDUCTION_SAMPLES];
} floe_reduction_start;

/* What comes back at once. */
typedef struct floe_reduction_dev_answer {
    floe_reduction_part total;
    floe_reduction_start start;
    floe_bins_frame frames[2]; /* of all values, where there are bins */
} floe_reduction_dev_answer;

/* What bins there are, by value. A frame of each block follows its counts in memory. */
typedef struct floe_reduction_dev_bins {
    uint32_t nerrors, ratio_nbits, nratios, nvalues; /* bins; 0: not asked for */
    uint32_t *counts;                                /* of each block: nerrors + nratios + 2 nvalues */
    uint32_t *spare;                                 /* as many */
    floe_bins_frame *frames;                         /* of each block: of errors, of values */
    uint64_t *total;                                 /* of all blocks, in the frames of all values */
} floe_reduction_dev_bins;

/* By value. Pointers are device memory. */
typedef struct floe_reduction_dev_job {
    const void *side[2]; /* the original twice, where it is alone */
    floe_dtype dtype;
    uint32_t flat; /* both sides are contiguous, and aligned to 16 bytes */
    uint64_t shape[FLOE_MAX_RANK];
    int64_t stride[2][FLOE_MAX_RANK];
    uint64_t nelems, piece, npieces;
    uint32_t has_fill;
    uint32_t ratios, moments; /* |e| / |x|; third and fourth powers: wanted? */
    uint32_t each;            /* y, y^2 and x y are summed up; else they are 0 in the parts */
    uint64_t fill_bits;
    floe_reduction_look *looks;               /* of each piece */
    floe_reduction_part *parts;               /* of each block */
    floe_reduction_dev_answer *answer, *told; /* told: the same in host memory that a GPU can write to */
    uint32_t *done;                           /* 0, before a call and after it */
    floe_reduction_dev_bins bins;
} floe_reduction_dev_job;

/* They put kernels on the stream and return a cudaError_t as a number. */

/* Fills start. What follows may begin before it is done. */
int floe_reduction_sample_cuda(const floe_reduction_dev_job *job, void *stream);

/* From start: the answer, and what bins ask for. nblocks: of floe_reduction_blocks. */
int floe_reduction_run_cuda(const floe_reduction_dev_job *job, uint32_t nblocks, void *stream);
/* Blocks that run at once, for the job's bins. */
int floe_reduction_blocks(const floe_reduction_dev_job *job, uint32_t *nblocks);

/* Bytes of both sides: 2 * 256 counts, which are 0 before the call. */
int floe_reduction_bytes_cuda(const floe_reduction_dev_job *job, uint64_t *counts, void *stream);

/* Values of both sides in C order; NaN where a pair does not count. */
int floe_reduction_gather_cuda(const floe_reduction_dev_job *job, void *original, void *decoded, void *stream);

/* A pair that was found: its number, and values. */
typedef struct floe_reduction_found {
    uint64_t at;
    double x, y;
} floe_reduction_found;

/* Looks of at least `least` get their worst to the last digit: what stands there may be a little more. All others are as of
 * pieces without any pair from then on. */
int floe_reduction_look_again_cuda(const floe_reduction_dev_job *job, double least, void *stream);
/* The n worst pairs of each of npieces pieces, worst first, the first of equals first: n to each piece; at is UINT64_MAX
 * where there are no more, or none with |e| of at least `least`. */
int floe_reduction_worst_cuda(const floe_reduction_dev_job *job, const uint64_t *pieces, uint32_t npieces, uint32_t n,
                              double least, floe_reduction_found *found, void *stream);
/* Of each piece: pairs with |e| > allowed (times |x| if of_value), and the first of them. */
int floe_reduction_outside_cuda(const floe_reduction_dev_job *job, double allowed, bool of_value, uint64_t *count,
                                floe_reduction_found *first, void *stream);
/* The first pair of a piece of which a special value differs from the other. */
int floe_reduction_mismatch_cuda(const floe_reduction_dev_job *job, uint64_t piece, floe_reduction_found *first,
                                 void *stream);

#ifdef __cplusplus
}
#endif
#endif
