/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SSIM (ssim.h) of two fields in device memory.
 *
 * There are three ways. The quick one (ssim_tree.h) takes what it takes on a CPU, but f32 only, and comes to the same bits: in
 * ssim_boxes_cuda.cu, and without an axis z in ssim_slices_cuda.cu. The fast one (ssim_fast_real_cuda.cu) is in double; as the
 * quick one it reads both fields about once and keeps everything else on the chip. It wants
 *
 *     a step of 1, rows of at least FLOE_SSIM_FAST_X neighbours that lie side by side
 *     windows of the same size, up to FLOE_SSIM_FAST_WINDOW, along both of the fastest axes; of any size along the axis before
 *     them, or 1 where weights are Gaussian; 1 along the slowest of four
 *     values that are tame: finite, and within eight ranges of the original's middle
 *
 * A careful variant of it, slower by a quarter, leaves out what is not finite or fill, and wants the others to be tame. The
 * other way (ssim_any_cuda.cu) takes all else: it puts sums over windows along one axis after another into device memory, in
 * boxes of some million values. A call does again what the way before, from the fastest to the slowest, could not do because
 * of its values.
 *
 * All give the same each time. The slow way adds the same numbers in the same order as the CPU but for rows; losses of the ways
 * in double, and of the CPU, agree to some 1e-13.
 */
#ifndef FLOE_ASSESS_SSIM_CUDA_H
#define FLOE_ASSESS_SSIM_CUDA_H

#include "assess/window/ssim_plan.h"
#include "backend/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FLOE_SSIM_FAST_X = 64,    /* windows in a row of a block of the fast way */
    FLOE_SSIM_FAST_ROWS = 32, /* rows of values of a block */
    FLOE_SSIM_FAST_STRIP = 8,
    FLOE_SSIM_FAST_WINDOW = 2 * FLOE_SSIM_FAST_STRIP + 1, /* 8 windows of this size cover three strips */
    FLOE_SSIM_FAST_Z = 96,      /* at most; running sums along the axis begin anew that often */
    FLOE_SSIM_ANY_BLOCKS = 528, /* that add up losses; sums depend on their number: on every GPU the same */
    FLOE_SSIM_AT_ONCE = 3       /* kinds of SSIM of one pair, by one call */
};

/* What a GPU hands back. */
typedef struct floe_ssim_joined {
    floe_ssim_part part;
    uint32_t wild, reserved; /* not 0: the fast way found values that it cannot take, and the part is of no use */
} floe_ssim_joined;

/* By value. Pointers are device memory. */
typedef struct floe_ssim_job {
    floe_pair pair;
    floe_ssim_plan plan;
    bool assumed;          /* that no decoded value is too far off for the quick way: see floe_ssim_assume_device */
    double *sums[2];       /* floe_ssim_sums_nbytes each; the slow way's */
    floe_ssim_part *parts; /* floe_ssim_nparts */
    floe_ssim_joined *joined;
} floe_ssim_job;

/* A plan for a GPU: with cells of the quick way for tiles, or boxes of the slow one. */
void floe_ssim_plan_device(const floe_pair *pair, const floe_ssim_options *options, floe_ssim_plan *plan);
void floe_ssim_sums_nbytes(const floe_ssim_plan *plan, uint64_t nbytes[2]);
uint64_t floe_ssim_nparts(const floe_ssim_plan *plan);
bool floe_ssim_is_fast(const floe_pair *pair, const floe_ssim_plan *plan);

/* Strips of 8 values that 8 windows in a row cover. A block has one strip of windows fewer than of values for each strip
 * beyond the first. */
static inline uint32_t floe_ssim_fast_strips(uint64_t window) { return window > FLOE_SSIM_FAST_STRIP + 1 ? 3 : 2; }

/* Blocks of the fast way: tiles along x and y, equal chunks along z, and fields along the slowest axis. */
typedef struct floe_ssim_fast_grid {
    uint64_t nx, ny, nz, nchunk; /* nchunk: windows of a chunk */
    uint64_t nblocks;
} floe_ssim_fast_grid;
floe_ssim_fast_grid floe_ssim_fast_grid_of(const floe_ssim_plan *plan);

/* They put kernels on the stream and return a cudaError_t. The fast way for each type of values. */
int floe_ssim_any_cuda(const floe_ssim_job *job, void *stream);
int floe_ssim_fast_cuda_f32(const floe_ssim_job *job, bool careful, void *stream);
int floe_ssim_fast_cuda_f64(const floe_ssim_job *job, bool careful, void *stream);
/* The quick way, f32, but for joining: of windows with an axis z, and without. A block of the second takes a tile of the plan.
 * early: what is before it on the stream is one of these two, and may still be running when it starts. */
uint64_t floe_ssim_boxes_nblocks(const floe_ssim_plan *plan);
int floe_ssim_boxes_cuda(const floe_ssim_job *job, bool early, void *stream);
int floe_ssim_slices_cuda(const floe_ssim_job *job, bool early, void *stream);

/* Parts to the joined one's, which may be pinned host memory. */
typedef struct floe_ssim_join_job {
    const floe_ssim_part *parts;
    uint64_t nparts;
    floe_ssim_joined *joined;
} floe_ssim_join_job;
typedef struct floe_ssim_joins {
    floe_ssim_join_job of[FLOE_SSIM_AT_ONCE];
    uint32_t n;
} floe_ssim_joins;
static inline floe_ssim_join_job floe_ssim_join_of(const floe_ssim_job *job, floe_ssim_joined *joined)
{
    const floe_ssim_join_job j = {job->parts, floe_ssim_nparts(&job->plan), joined};
    return j;
}
int floe_ssim_joins_cuda(const floe_ssim_joins *joins, void *stream);
int floe_ssim_join_cuda(const floe_ssim_part *parts, uint64_t nparts, floe_ssim_joined *joined, void *stream);

/* Of options that suit, FLOE_SSIM_AT_ONCE at most: device memory that a call needs, 256-byte aligned. About 0.6 GB for large
 * fields. */
uint64_t floe_ssim_device_nbytes(const floe_pair *pair, const floe_ssim_options *options, uint32_t noptions);
/* A result for each of the options. Waits for the results. */
floe_status floe_ssim_assess_device(const floe_cuda *cuda, const floe_pair *pair, const floe_ssim_options *options,
                                    uint32_t noptions, void *scratch, floe_ssim_result *results, floe_error *err);
/* The same where low and high are those of the original alone. known: whether there are results, as all options go the quick
 * way, all values count, and none is too far off for it. */
floe_status floe_ssim_assume_device(const floe_cuda *cuda, const floe_pair *pair, const floe_ssim_options *options,
                                    uint32_t noptions, void *scratch, floe_ssim_result *results, bool *known,
                                    floe_error *err);

#ifdef __cplusplus
}
#endif
#endif
