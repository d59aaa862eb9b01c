/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of the reduction pass. The same pieces as on a CPU (reduction_math.h), and parts with the same words; a part is that
 * of a block of threads, of all that it reads. What is added is added in an order that depends on the shape, and on the GPU,
 * only.
 *
 * Bins lie in shared memory, a block's in a frame of its own (bins_math.h) that grows with what the block meets. The frames
 * begin with what a few samples show, which never makes them coarser than the bins of all values.
 */
#ifndef FLOE_ASSESS_REDUCTION_CUDA_H
#define FLOE_ASSESS_REDUCTION_CUDA_H

#include <stdbool.h>

#include <floe/assess.h>

#include "assess/reduction/bins_math.h"
#include "assess/reduction/reduction_math.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FLOE_REDUCTION_MAX_BLOCKS = 1056,     /* that scratch has room for */
    FLOE_REDUCTION_SEARCH_BLOCKS = 264,   /* of a search */
    FLOE_REDUCTION_BLOCK_PAIRS = 1 << 27, /* blocks count in 32 bits, each pair up to eight times: its bytes */
    FLOE_REDUCTION_DEV_BITS = 46          /* of the most pairs: with more, a piece has more than 2^30 */
};

/* What a few samples show, before all values are read: pairs that count. Of each side their median (0 without any), of the
 * original all by size, and then infinities; extremes: NaN without any. */
typedef struct floe_reduction_start {
    double pivot[2];
    double error_low, error_high, value_low, value_high;
    uint32_t nsamples, reserved; /* whole words, which are copied */
    double sample[FLOE_REDUCTION_SAMPLES];
} floe_reduction_start;

/* What comes back at once. */
typedef struct floe_reduction_dev_results {
    floe_reduction_part total;
    floe_reduction_start start;
    floe_bins_frame frames[2]; /* of all values, where there are bins */
} floe_reduction_dev_results;

/* What bins there are, by value. */
typedef struct floe_reduction_dev_bins {
    uint32_t nerrors, ratio_nbits, nratios, nvalues; /* bins; 0: not requested */
    uint32_t nbytes;                                 /* 256, or 0 */
    uint32_t room;                                   /* words of shared memory for all of them */
    uint32_t all;                                    /* nerrors + nratios + 2 nvalues + 2 nbytes, in this order */
    uint32_t *counts;                                /* of each block: all */
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
    uint32_t piece_nbits;        /* piece is 1 << piece_nbits */
    uint64_t turns, rest, share; /* of a block: see floe_reduction_turn */
    uint32_t has_fill;
    uint32_t ratios, moments; /* |e| / |x|; third and fourth powers: wanted? */
    uint32_t each;            /* y, y^2 and x y are summed up; else they are 0 in the parts */
    uint64_t fill_bits;
    floe_reduction_look *looks; /* of each piece */
    floe_reduction_part *parts; /* of each block */
    floe_reduction_dev_results *results,
        *host_results; /* host_results: the same in host memory that a GPU can write to */
    uint32_t *done;    /* 0, before a call and after it */
    floe_reduction_dev_bins bins;
} floe_reduction_dev_job;

/* A pair, or a piece; the largest is the best, and of equals the first. */
typedef struct floe_reduction_candidate {
    double size;
    uint64_t at;
} floe_reduction_candidate;

/* A pair that was found: its number, and values. at is UINT64_MAX where there is none. */
typedef struct floe_reduction_found {
    uint64_t at;
    double x, y;
} floe_reduction_found;

/* What a search finds. Only what is requested is written; the first mismatch is, where there is one. */
typedef struct floe_reduction_places {
    floe_reduction_found mismatch, outside; /* the first of each */
    uint64_t noutside;
    floe_reduction_found worst[FLOE_ASSESS_MAX_WORST];
} floe_reduction_places;

/* Of a search under way. */
typedef struct floe_reduction_search_state {
    uint64_t nworst, noutside; /* pieces */
    uint64_t mismatch;         /* the first piece with one; UINT64_MAX: none */
    double least, allowed;     /* none of the worst errors is below the one, none is outside up to the other */
    uint64_t outside, first;   /* pairs outside, and the first of them, of blocks that are done */
    uint32_t done;             /* blocks */
} floe_reduction_search_state;

/* What is looked for, by value. Pointers but host_places are device memory. */
typedef struct floe_reduction_dev_search {
    uint32_t nworst;                         /* worst errors that are wanted */
    uint32_t outside;                        /* pairs are wanted that are off by more than */
    double bound;                            /* this, */
    uint32_t of_range, of_value;             /* times the original's range, or |x| */
    uint64_t *worst_pieces, *outside_pieces; /* room for all there are */
    floe_reduction_candidate *best;          /* nworst of each block */
    floe_reduction_search_state *state;
    floe_reduction_places *host_places; /* in host memory that a GPU can write to */
} floe_reduction_dev_search;

/* They put kernels on the stream and return a cudaError_t as a number. */

/* Fills start, and begins looks. What follows may begin before it is done. */
int floe_reduction_sample_cuda(const floe_reduction_dev_job *job, void *stream);

/* From start: results, and what bins need. nblocks: of floe_reduction_blocks. */
int floe_reduction_run_cuda(const floe_reduction_dev_job *job, uint32_t nblocks, void *stream);
/* The most words of bins.room on the GPU that is current. */
uint32_t floe_reduction_room(floe_dtype dtype);
/* Blocks that run at once, for the job's bins. */
int floe_reduction_blocks(const floe_reduction_dev_job *job, uint32_t *nblocks);

/* Values of both sides in C order; NaN where a pair does not count. */
int floe_reduction_gather_cuda(const floe_reduction_dev_job *job, void *original, void *decoded, void *stream);

/* Finds all that is wanted, after the reading, of which it takes results and looks. */
int floe_reduction_search_cuda(const floe_reduction_dev_job *job, const floe_reduction_dev_search *search,
                               void *stream);

#ifdef __cplusplus
}
#endif
#endif
