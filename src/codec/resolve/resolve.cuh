/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels that resolve, for any codec. BEGIN is how the codec's call begins, a type of one file alone, with
 *
 *   call, params, plan       kernels' arguments: the codec's call; what its kernels take of floe_codec_params, a multiple of 8 bytes;
 *                            what the host has of the beginning
 *   shared                   what a block needs for it
 *   INTEGERS                 whether the codec's kernels take them
 *   make(half, p, params)    params from floe_codec_params, in two halves, for two threads
 *   clear(share, call)       what is to be 0 at first
 *   early(call, plan, shared)          by one block: what no value decides
 *   late(call, plan, params)           by another one, after that: what params decide
 *   ready<EVEN>(call, plan, params, shared)   by all blocks: both at once, where params are known beforehand. EVEN: blocks share it
 */
#ifndef FLOE_CODEC_RESOLVE_RESOLVE_CUH
#define FLOE_CODEC_RESOLVE_RESOLVE_CUH

#include "backend/device.cuh"
#include "codec/resolve/resolve_cuda.h"
#include "codec/resolve/resolve_math.h"
#include "container/checksum_cuda.cuh"
#include "container/header_math.h"
#include "field/range_cuda.cuh"

/* Of a block. */
template <typename T, class BEGIN> struct resolve_shared {
    floe_range_shared<T> scan;
    floe_dev_range range;
    double abs_bound;
    uint64_t stage[FLOE_STAGE_WORDS];
    typename BEGIN::shared begin;
};

/* ---- one block has the result ------------------------------------------------------------------------------------ */

FLOE_DEV double resolve_abs_bound(const floe_resolve_job *job, const floe_dev_range *range)
{
    floe_range inward = range->range;
    floe_resolve_round_inward(job->header.dtype, &inward);
    return floe_resolve_abs_bound(job->header.mode, job->header.bound, &inward);
}

FLOE_DEV floe_codec_params resolve_codec(const floe_resolve_job *job, const floe_dev_range *range, double abs_bound)
{
    floe_header h = job->header;
    h.has_fill = range->has_fill;
    h.fill_bits = range->fill_bits;
    h.value_min = range->range.min;
    h.value_max = range->range.max;
    h.abs_bound = abs_bound;
    return floe_resolve_codec(&h);
}

/* What the host has packed, and what the values have decided. A warp. */
FLOE_DEV void resolve_write_header(const floe_resolve_job *job, const floe_dev_range *range, double abs_bound,
                                   uint64_t *stage)
{
    const uint32_t lane = floe_lane(), nwords = job->header_nwords - 1; /* without the check */
    const floe_header_found found = {abs_bound, range->range.min, range->range.max, range->has_fill != 0,
                                     range->fill_bits};
    const uint64_t word = lane < nwords ? floe_header_word_found(lane, job->header_words[lane], &found) : 0;
    __syncwarp();
    stage[lane] = word;
    __syncwarp();
    const uint64_t check = floe_warp_xxh3_staged(stage, 8 * nwords);
    if (8 * (uint64_t)job->header_nwords > job->capacity) {
        if (lane == 0)
            *job->status = FLOE_ERR_CAPACITY;
    } else if (lane <= nwords) {
        ((uint64_t *)job->stream)[lane] = lane < nwords ? word : check;
    }
}

/* By a whole block, whose warps do not wait for one another. */
template <class BEGIN>
FLOE_DEV void resolve_finish(const floe_resolve_job *job, const floe_dev_range *range, double abs_bound,
                             uint64_t *stage)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    if (warp < 2 && floe_lane() == 0) {
        const floe_codec_params p = resolve_codec(job, range, abs_bound);
        BEGIN::make(warp, &p, (typename BEGIN::params *)job->params);
    }
    if (warp == 2)
        resolve_write_header(job, range, abs_bound, stage);
    __syncthreads();
}

/* ---- clearing ------------------------------------------------------------------------------------------------------ */

/* What is to be 0 at first. The status is for the one block that may have something to report: it begins with OK. */
FLOE_DEV void resolve_clear(floe_share c, const floe_resolve_job *job)
{
    uint32_t *words = (uint32_t *)job->cleared;
    const uint64_t n = words ? job->cleared_nbytes / 4 : 0, step = (uint64_t)c.nblocks * FLOE_RANGE_THREADS;
    for (uint64_t i = (uint64_t)c.block * FLOE_RANGE_THREADS + threadIdx.x; i < n; i += step)
        if (words + i != job->status)
            words[i] = 0;
}
FLOE_DEV void resolve_begin_status(const floe_resolve_job *job)
{
    if (job->cleared && threadIdx.x == 0)
        *job->status = FLOE_OK;
    __syncthreads();
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* What the last block does when the others are done, in two rounds: the first one waits for nobody, and brings the code near
 * that the second, which is right, takes. */
template <typename T, floe_range_mode MODE, class BEGIN>
FLOE_DEV void resolve_by_block(const floe_range_job *scan, const floe_resolve_job *job, uint32_t nscanners,
                               uint32_t nothers, resolve_shared<T, BEGIN> *shared)
{
#pragma unroll 1
    for (int round = 0; round < 2; round++) {
        const floe_range_part<T> part =
            floe_range_gather(scan, round ? nscanners : 0, round ? nothers : 0, &shared->scan);
        if (threadIdx.x == 0) {
            floe_range_answer<T, MODE>(scan, &part, &shared->range);
            shared->abs_bound = resolve_abs_bound(job, &shared->range);
        }
        __syncthreads();
        resolve_finish<BEGIN>(job, &shared->range, shared->abs_bound, shared->stage);
    }
    if (threadIdx.x == 0) {
        *scan->done = 0;
        if (job->range)
            *job->range = shared->range;
    }
}

/* Blocks take the tiles of the field in turn, as for any range scan, and then a share of what is to be cleared. The last block but
 * one begins the chunks meanwhile, the last one waits for all. */
enum { FLOE_RESOLVE_NOT_SCANNING = 2 };
template <typename T, floe_range_mode MODE, class BEGIN>
__global__ void __launch_bounds__(FLOE_RANGE_THREADS, FLOE_RANGE_BLOCKS_AN_SM)
    scan_resolve_kernel(const __grid_constant__ floe_range_job scan, const __grid_constant__ floe_resolve_job job,
                        const __grid_constant__ typename BEGIN::call call,
                        const __grid_constant__ typename BEGIN::plan plan)
{
    floe_dev_begin();
    __shared__ resolve_shared<T, BEGIN> shared;
    const uint32_t nscanners = gridDim.x - FLOE_RESOLVE_NOT_SCANNING;
    if (blockIdx.x < nscanners) {
        const floe_share c = {blockIdx.x, nscanners};
        floe_range_scan_share<T, MODE>(&scan, nscanners, &shared.scan);
        BEGIN::clear(c, &call);
        resolve_clear(c, &job);
    } else if (blockIdx.x == nscanners) {
        BEGIN::early(&call, &plan, &shared.begin);
        __syncthreads();
        if (threadIdx.x == 0)
            floe_counter_add(scan.done, 1);
    } else {
        resolve_begin_status(&job);
        resolve_by_block<T, MODE, BEGIN>(&scan, &job, nscanners, nscanners + 1, &shared);
        BEGIN::late(&call, &plan, (const typename BEGIN::params *)job.params);
    }
}

/* By a whole block: what the host has worked out goes where it belongs. */
template <class BEGIN>
FLOE_DEV_COLD void resolve_write_ready(const floe_resolve_job *job, const typename BEGIN::params *params)
{
    enum { NWORDS = sizeof *params / 8 };
    static_assert(sizeof *params % 8 == 0 && (int)NWORDS <= FLOE_RANGE_THREADS / 2, "a word a thread");
    const uint32_t i = threadIdx.x, j = i - FLOE_RANGE_THREADS / 2;
    const bool fits = 8 * (uint64_t)job->header_nwords <= job->capacity;
    if (i < NWORDS)
        ((uint64_t *)job->params)[i] = ((const uint64_t *)params)[i];
    if (fits && j < job->header_nwords)
        ((uint64_t *)job->stream)[j] = job->header_words[j];
    if (!fits && i == 0 && *job->status == FLOE_OK)
        *job->status = FLOE_ERR_CAPACITY;
}

/* Where the values do not matter: the first block does what does not take many, and first what others wait for. */
template <class BEGIN, bool EVEN>
__global__ void __launch_bounds__(FLOE_RANGE_THREADS)
    resolve_kernel(const __grid_constant__ floe_resolve_job job, const __grid_constant__ typename BEGIN::call call,
                   const __grid_constant__ typename BEGIN::plan plan,
                   const __grid_constant__ typename BEGIN::params params)
{
    floe_dev_begin();
    __shared__ typename BEGIN::shared shared;
    if (blockIdx.x == 0) {
        resolve_begin_status(&job);
        resolve_write_ready<BEGIN>(&job, &params);
    }
    BEGIN::template ready<EVEN>(&call, &plan, &params, &shared);
    BEGIN::clear(floe_share_all(), &call);
    resolve_clear(floe_share_all(), &job);
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

static inline floe_range_job resolve_scan_of(const floe_resolve_job *job)
{
    const floe_dev_field *f = &job->field;
    floe_range_job scan = floe_range_job_of(f->data, f->dtype, f->rank, f->shape, f->stride);
    scan.has_fill = job->header.has_fill;
    scan.fill_bits = job->header.fill_bits;
    scan.detect = job->detect;
    scan.scratch = job->scratch;
    scan.done = job->done;
    return scan;
}

/* What a launch takes beside the job. */
template <class BEGIN> struct resolve_begin {
    const typename BEGIN::call *call;
    const typename BEGIN::plan *plan;
    const typename BEGIN::params *params; /* not looked at by a job that scans */
    uint32_t nblocks;                     /* that clearing is worth */
};

template <typename T, floe_range_mode MODE, class BEGIN>
static cudaError_t resolve_scan(const floe_range_job *scan, const floe_resolve_job *job, const resolve_begin<BEGIN> *b,
                                cudaStream_t stream)
{
    const uint32_t nblocks = max(floe_range_blocks(scan, FLOE_RESOLVE_NOT_SCANNING), b->nblocks);
    FLOE_LAUNCH_EARLY((scan_resolve_kernel<T, MODE, BEGIN>), nblocks, FLOE_RANGE_THREADS, 0, stream, *scan, *job,
                      *b->call, *b->plan);
    return cudaGetLastError();
}

template <typename T, class BEGIN>
static cudaError_t resolve_mode(const floe_resolve_job *job, const resolve_begin<BEGIN> *b, cudaStream_t stream)
{
    const floe_range_job scan = resolve_scan_of(job);
    return scan.detect     ? resolve_scan<T, FLOE_RANGE_DETECT>(&scan, job, b, stream)
           : scan.has_fill ? resolve_scan<T, FLOE_RANGE_FILL>(&scan, job, b, stream)
                           : resolve_scan<T, FLOE_RANGE_PLAIN>(&scan, job, b, stream);
}

/* A job that scans. */
template <class BEGIN>
static cudaError_t resolve_launch_scan(const floe_resolve_job *job, const resolve_begin<BEGIN> *b, cudaStream_t stream)
{
    if (job->field.dtype == FLOE_F32)
        return resolve_mode<float>(job, b, stream);
    if (job->field.dtype == FLOE_F64)
        return resolve_mode<double>(job, b, stream);
    if constexpr (BEGIN::INTEGERS)
        return job->field.dtype == FLOE_I32 ? resolve_mode<int32_t>(job, b, stream)
                                            : resolve_mode<int64_t>(job, b, stream);
    return cudaErrorNotSupported;
}

/* Another one. */
template <bool EVEN, class BEGIN>
static cudaError_t resolve_launch_ready(const floe_resolve_job *job, const resolve_begin<BEGIN> *b, cudaStream_t stream)
{
    FLOE_LAUNCH_EARLY((resolve_kernel<BEGIN, EVEN>), b->nblocks, FLOE_RANGE_THREADS, 0, stream, *job, *b->call,
                      *b->plan, *b->params);
    return cudaGetLastError();
}

#endif
