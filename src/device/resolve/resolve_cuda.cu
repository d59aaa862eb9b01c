/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/resolve/resolve_cuda.h"

#include "call/resolve_math.h"
#include "codec/lorenzo/gpu/begin/lorenzo_begin_cuda.cuh"
#include "codec/lorenzo/format/lorenzo_params_math.h"
#include "container/checksum_cuda.cuh"
#include "container/header_math.h"
#include "field/range_cuda.cuh"

namespace
{

/* Chunks that one block begins while the others are done; with more of them another kernel is quicker. */
enum { CHUNKS_AT_ONCE = 64, VOTES_AT_ONCE = 2 };

/* Of a block. */
template <typename T> struct shared_memory {
    floe_range_shared<T> scan;
    floe_dev_range range;
    double abs_bound;
    uint64_t stage[FLOE_STAGE_WORDS];
    int votes;
};

/* ---- one block knows the answer ------------------------------------------------------------------------------------ */

FLOE_DEV double abs_bound_of(const floe_resolve_job *job, const floe_dev_range *range)
{
    floe_range inward = range->range;
    floe_resolve_round_inward(job->header.dtype, &inward);
    return floe_resolve_abs_bound(job->header.mode, job->header.bound, &inward);
}

FLOE_DEV floe_codec_params codec_of(const floe_resolve_job *job, const floe_dev_range *range, double abs_bound)
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
FLOE_DEV void write_header(const floe_resolve_job *job, const floe_dev_range *range, double abs_bound, uint64_t *stage)
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
FLOE_DEV void finish(const floe_resolve_job *job, const floe_dev_range *range, double abs_bound, uint64_t *stage)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    if (warp < 2 && floe_lane() == 0) {
        const floe_codec_params p = codec_of(job, range, abs_bound);
        if (warp == 0)
            floe_lorenzo_params_first(&p, job->params);
        else
            floe_lorenzo_params_second(&p, job->params);
    }
    if (warp == 2)
        write_header(job, range, abs_bound, stage);
    __syncthreads();
}

/* ---- clearing ------------------------------------------------------------------------------------------------------ */

/* What is to be 0 at first. The status is for the one block that may have something to say: it is told to begin. */
FLOE_DEV void clear(floe_share c, const floe_resolve_job *job)
{
    uint32_t *words = (uint32_t *)job->cleared;
    const uint64_t n = words ? job->cleared_nbytes / 4 : 0, step = (uint64_t)c.nblocks * FLOE_RANGE_THREADS;
    for (uint64_t i = (uint64_t)c.block * FLOE_RANGE_THREADS + threadIdx.x; i < n; i += step)
        if (words + i != job->status)
            words[i] = 0;
}
FLOE_DEV void begin_status(const floe_resolve_job *job)
{
    if (job->cleared && threadIdx.x == 0)
        *job->status = FLOE_OK;
    __syncthreads();
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* What the last block does when the others are done, in two rounds: the first one waits for nobody, and brings the code near
 * that the second, which is right, takes. */
template <typename T, floe_range_mode MODE>
FLOE_DEV void resolve(const floe_range_job *scan, const floe_resolve_job *job, uint32_t nscanners, uint32_t nothers,
                      shared_memory<T> *shared)
{
#pragma unroll 1
    for (int round = 0; round < 2; round++) {
        const floe_range_part<T> part =
            floe_range_gather(scan, round ? nscanners : 0, round ? nothers : 0, &shared->scan);
        if (threadIdx.x == 0) {
            floe_range_answer<T, MODE>(scan, &part, &shared->range);
            shared->abs_bound = abs_bound_of(job, &shared->range);
        }
        __syncthreads();
        finish(job, &shared->range, shared->abs_bound, shared->stage);
    }
    if (threadIdx.x == 0) {
        *scan->done = 0;
        if (job->range)
            *job->range = shared->range;
    }
}

/* By the host: the chunks that a kernel is to begin, if any. */
struct beginning {
    uint64_t nchunks;
    bool is_even;
    floe_lorenzo_even even; /* without quantizer, but where no value decides anything */
};

/* Blocks take the tiles of the field in turn, as for any range scan, and then a share of what is to be cleared. The last block but
 * one begins the chunks meanwhile, the last one waits for all. */
enum { NOT_SCANNING = 2 };
template <typename T, floe_range_mode MODE>
__global__ void __launch_bounds__(FLOE_RANGE_THREADS, FLOE_RANGE_BLOCKS_AN_SM)
    scan_resolve_kernel(const __grid_constant__ floe_range_job scan, const __grid_constant__ floe_resolve_job job,
                        const __grid_constant__ floe_lorenzo_encode_call call, const __grid_constant__ beginning chunks)
{
    floe_dev_begin();
    __shared__ shared_memory<T> shared;
    const uint32_t nscanners = gridDim.x - NOT_SCANNING;
    if (blockIdx.x < nscanners) {
        const floe_share c = {blockIdx.x, nscanners};
        floe_range_scan_share<T, MODE>(&scan, nscanners, &shared.scan);
        floe_lorenzo_clear_share(c, &call);
        clear(c, &job);
    } else if (blockIdx.x == nscanners) {
        if (chunks.is_even)
            floe_lorenzo_begin_even({0, 1}, &call, &chunks.even);
        else
            floe_lorenzo_begin_block(&call, 0, chunks.nchunks, NULL, &shared.votes);
        __syncthreads();
        if (threadIdx.x == 0)
            floe_counter_add(scan.done, 1);
    } else {
        begin_status(&job);
        resolve<T, MODE>(&scan, &job, nscanners, nscanners + 1, &shared);
        floe_lorenzo_begin_quantize(&call, chunks.nchunks, &job.params->quantizer);
    }
}

/* By a whole block: what the host has worked out goes where it belongs. */
FLOE_DEV_SELDOM void write_ready(const floe_resolve_job *job)
{
    static_assert(sizeof(floe_dev_params) % 8 == 0 && sizeof(floe_dev_params) / 8 <= FLOE_RANGE_THREADS / 2,
                  "a word a thread");
    const uint32_t i = threadIdx.x, j = i - FLOE_RANGE_THREADS / 2;
    const bool fits = 8 * (uint64_t)job->header_nwords <= job->capacity;
    if (i < sizeof(floe_dev_params) / 8)
        ((uint64_t *)job->params)[i] = ((const uint64_t *)&job->ready)[i];
    if (fits && j < job->header_nwords)
        ((uint64_t *)job->stream)[j] = job->header_words[j];
    if (!fits && i == 0 && *job->status == FLOE_OK)
        *job->status = FLOE_ERR_CAPACITY;
}

/* Where the values do not matter: the first block does what does not take many, and first what others wait for. */
__global__ void __launch_bounds__(FLOE_RANGE_THREADS)
    resolve_kernel(const __grid_constant__ floe_resolve_job job, const __grid_constant__ floe_lorenzo_encode_call call,
                   uint64_t nchunks)
{
    floe_dev_begin();
    __shared__ int votes;
    if (blockIdx.x == 0) {
        begin_status(&job);
        write_ready(&job);
        floe_lorenzo_begin_block(&call, 0, nchunks, &job.ready.quantizer, &votes);
    }
    floe_lorenzo_clear_share(floe_share_all(), &call);
    clear(floe_share_all(), &job);
}

/* Where the host knows even the chunks: blocks share the work. */
__global__ void __launch_bounds__(FLOE_RANGE_THREADS)
    resolve_even_kernel(const __grid_constant__ floe_resolve_job job,
                        const __grid_constant__ floe_lorenzo_encode_call call, const __grid_constant__ beginning chunks)
{
    floe_dev_begin();
    if (blockIdx.x == 0) {
        begin_status(&job);
        write_ready(&job);
    }
    floe_lorenzo_begin_even(floe_share_all(), &call, &chunks.even);
    floe_lorenzo_clear_share(floe_share_all(), &call);
    clear(floe_share_all(), &job);
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

floe_range_job scan_of(const floe_resolve_job *job)
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

template <typename T>
void launch(const floe_range_job *scan, const floe_resolve_job *job, const floe_lorenzo_encode_call *call,
            const beginning *chunks, uint32_t nblocks, cudaStream_t stream)
{
    if (scan->detect)
        FLOE_LAUNCH_EARLY((scan_resolve_kernel<T, FLOE_RANGE_DETECT>), nblocks, FLOE_RANGE_THREADS, 0, stream, *scan,
                          *job, *call, *chunks);
    else if (scan->has_fill)
        FLOE_LAUNCH_EARLY((scan_resolve_kernel<T, FLOE_RANGE_FILL>), nblocks, FLOE_RANGE_THREADS, 0, stream, *scan,
                          *job, *call, *chunks);
    else
        FLOE_LAUNCH_EARLY((scan_resolve_kernel<T, FLOE_RANGE_PLAIN>), nblocks, FLOE_RANGE_THREADS, 0, stream, *scan,
                          *job, *call, *chunks);
}

cudaError_t launch_scan(const floe_resolve_job *job, const floe_lorenzo_encode_call *call, const beginning *chunks,
                        cudaStream_t stream)
{
    const floe_range_job scan = scan_of(job);
    const uint32_t nblocks = max(floe_range_blocks(&scan, NOT_SCANNING), floe_lorenzo_begin_blocks(call));
    switch (scan.dtype) {
    case FLOE_F32: launch<float>(&scan, job, call, chunks, nblocks, stream); break;
    case FLOE_I32: launch<int32_t>(&scan, job, call, chunks, nblocks, stream); break;
    case FLOE_I64: launch<int64_t>(&scan, job, call, chunks, nblocks, stream); break;
    default: launch<double>(&scan, job, call, chunks, nblocks, stream); break;
    }
    return cudaGetLastError();
}

} // namespace

bool floe_resolve_scans(const floe_resolve_job *job)
{
    return !job->complete && (job->detect || floe_resolve_needs_range(job->header.mode));
}

int floe_resolve_cuda(const floe_resolve_job *job, const floe_lorenzo_encode_call *call, void *stream)
{
    const uint64_t most = call->field.rank == FLOE_SAMPLE_AXES ? VOTES_AT_ONCE : CHUNKS_AT_ONCE;
    const cudaStream_t q = (cudaStream_t)stream;
    const uint32_t nblocks = floe_lorenzo_begin_blocks(call);
    const bool scans = floe_resolve_scans(job);
    beginning chunks = {0, false, {}};
    chunks.is_even = (!scans || call->grid.nchunks <= most) &&
                     floe_lorenzo_even_of(call, scans ? NULL : &job->ready.quantizer, &chunks.even);
    const bool few = chunks.is_even || call->grid.nchunks <= most;
    chunks.nchunks = few ? call->grid.nchunks : 0;
    cudaError_t error = cudaSuccess;
    if (scans)
        error = launch_scan(job, call, &chunks, q);
    else if (chunks.is_even)
        FLOE_LAUNCH_EARLY(resolve_even_kernel, nblocks, FLOE_RANGE_THREADS, 0, q, *job, *call, chunks);
    else
        FLOE_LAUNCH_EARLY(resolve_kernel, nblocks, FLOE_RANGE_THREADS, 0, q, *job, *call, chunks.nchunks);
    if (error == cudaSuccess)
        error = cudaGetLastError();
    if (error != cudaSuccess)
        return (int)error;
    return few ? floe_lorenzo_tables_cuda(call, stream) : floe_lorenzo_begin_cuda(call, stream);
}
