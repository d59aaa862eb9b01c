/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/resolve_cuda.h"

#include "api/resolve_math.h"
#include "codec/lorenzo_begin_cuda.cuh"
#include "codec/lorenzo_params_math.h"
#include "container/container_cuda.cuh"
#include "field/range_cuda.cuh"

namespace
{

/* Chunks that one block begins while the others are done; with more of them another kernel is quicker. */
enum { CHUNKS_AT_ONCE = 64, VOTES_AT_ONCE = 2 };

/* Of a block. */
struct shared_memory {
    floe_range_shared scan;
    floe_dev_range range;
    int votes;
};

/* ---- one block knows the answer ------------------------------------------------------------------------------------ */

/* range: NULL when no value was looked at. */
FLOE_DEV_SELDOM void complete_header(const floe_resolve_job *job, const floe_dev_range *range, floe_header *h)
{
    *h = job->header;
    if (job->complete)
        return;
    if (range) {
        h->has_fill = range->has_fill;
        h->fill_bits = range->fill_bits;
        h->value_min = range->range.min;
        h->value_max = range->range.max;
    }
    floe_range inward;
    if (range) {
        inward = range->range;
        floe_resolve_round_inward(h->dtype, &inward);
    }
    h->abs_bound = floe_resolve_abs_bound(h->mode, h->bound, range ? &inward : NULL);
}

FLOE_DEV void write_header(const floe_resolve_job *job, const floe_header *h)
{
    if (floe_header_plain_nbytes(h->rank) <= job->capacity)
        floe_header_write_dev(h, job->stream);
    else if (*job->status == FLOE_OK)
        *job->status = FLOE_ERR_CAPACITY;
}

/* By a whole block: params and header by three threads, in different warps, that do not wait for one another. */
FLOE_DEV_SELDOM void finish(const floe_resolve_job *job, const floe_dev_range *range)
{
    if (threadIdx.x % FLOE_WARP == 0 && threadIdx.x < 3 * FLOE_WARP) {
        floe_header h;
        complete_header(job, range, &h);
        const floe_codec_params p = floe_resolve_codec(&h);
        if (threadIdx.x == 0)
            floe_lorenzo_params_first(&p, job->params);
        else if (threadIdx.x == FLOE_WARP)
            floe_lorenzo_params_second(&p, job->params);
        else
            write_header(job, &h);
    }
    __syncthreads();
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* Blocks take the tiles of the field in turn, as for any range scan, and a share of what is to be cleared; only the last
 * block, where there are several, begins the first nchunks chunks meanwhile. The one that is done last does what needs the
 * range. */
template <typename T, floe_range_mode MODE>
__global__ void __launch_bounds__(FLOE_RANGE_THREADS, FLOE_RANGE_BLOCKS_AN_SM)
    scan_resolve_kernel(const __grid_constant__ floe_range_job scan, const __grid_constant__ floe_resolve_job job,
                        const __grid_constant__ floe_lorenzo_encode_call call, uint64_t nchunks)
{
    floe_dev_begin();
    __shared__ shared_memory shared;
    floe_range_part part;
    floe_lorenzo_clear_grid(&call);
    const uint32_t nscanners = max(gridDim.x - 1, 1);
    if (blockIdx.x == gridDim.x - 1)
        floe_lorenzo_begin_block(&call, 0, nchunks, NULL, &shared.votes);
    if (!floe_range_scan_grid<T, MODE>(&scan, nscanners, &shared.scan, &part))
        return;
    if (threadIdx.x == 0) {
        floe_range_answer<T, MODE>(&scan, &part, &shared.range);
        if (job.range)
            *job.range = shared.range;
    }
    __syncthreads();
    finish(&job, &shared.range);
    floe_lorenzo_begin_quantize(&call, nchunks, &job.params->quantizer);
}

/* By a whole block: what the host has worked out goes where it belongs. */
FLOE_DEV_SELDOM void write_ready(const floe_resolve_job *job)
{
    static_assert(sizeof(floe_dev_params) % 8 == 0 && sizeof(floe_dev_params) / 8 <= FLOE_RANGE_THREADS / 2,
                  "a word a thread");
    const uint32_t i = threadIdx.x, j = i - FLOE_RANGE_THREADS / 2;
    const bool fits = 8 * (uint64_t)job->ready_nwords <= job->capacity;
    if (i < sizeof(floe_dev_params) / 8)
        ((uint64_t *)job->params)[i] = ((const uint64_t *)&job->ready)[i];
    if (fits && j < job->ready_nwords)
        ((uint64_t *)job->stream)[j] = job->ready_header[j];
    if (!fits && i == 0 && *job->status == FLOE_OK)
        *job->status = FLOE_ERR_CAPACITY;
}

/* What is to be 0 at first, by all blocks. The status is for the first one, which may have something to say already: it is
 * told to begin. */
FLOE_DEV void clear(const floe_resolve_job *job)
{
    uint32_t *words = (uint32_t *)job->cleared;
    const uint64_t n = words ? job->cleared_nbytes / 4 : 0, step = (uint64_t)gridDim.x * FLOE_RANGE_THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * FLOE_RANGE_THREADS + threadIdx.x; i < n; i += step)
        if (words + i != job->status)
            words[i] = 0;
}
FLOE_DEV void begin_status(const floe_resolve_job *job)
{
    if (job->cleared && threadIdx.x == 0)
        *job->status = FLOE_OK;
    __syncthreads();
}

/* Where the values do not matter: the first block does what does not take many. */
__global__ void __launch_bounds__(FLOE_RANGE_THREADS)
    resolve_kernel(const __grid_constant__ floe_resolve_job job, const __grid_constant__ floe_lorenzo_encode_call call,
                   uint64_t nchunks)
{
    floe_dev_begin();
    __shared__ int votes;
    if (blockIdx.x == 0)
        begin_status(&job);
    if (blockIdx.x == 0 && job.ready_nwords) { /* first: others wait for it */
        write_ready(&job);
        floe_lorenzo_begin_block(&call, 0, nchunks, &job.ready.quantizer, &votes);
    }
    floe_lorenzo_clear_grid(&call);
    clear(&job);
    if (blockIdx.x == 0 && !job.ready_nwords) {
        finish(&job, NULL);
        floe_lorenzo_begin_block(&call, 0, nchunks, &job.params->quantizer, &votes);
    }
}

/* Where the host knows even the chunks: blocks share the work. */
__global__ void __launch_bounds__(FLOE_RANGE_THREADS)
    resolve_even_kernel(const __grid_constant__ floe_resolve_job job,
                        const __grid_constant__ floe_lorenzo_encode_call call,
                        const __grid_constant__ floe_lorenzo_even even)
{
    floe_dev_begin();
    if (blockIdx.x == 0) {
        begin_status(&job);
        write_ready(&job);
    }
    floe_lorenzo_begin_even(&call, &even);
    floe_lorenzo_clear_grid(&call);
    clear(&job);
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
            uint64_t nchunks, uint32_t nblocks, cudaStream_t stream)
{
    if (scan->detect)
        FLOE_LAUNCH_EARLY((scan_resolve_kernel<T, FLOE_RANGE_DETECT>), nblocks, FLOE_RANGE_THREADS, 0, stream, *scan,
                          *job, *call, nchunks);
    else if (scan->has_fill)
        FLOE_LAUNCH_EARLY((scan_resolve_kernel<T, FLOE_RANGE_FILL>), nblocks, FLOE_RANGE_THREADS, 0, stream, *scan,
                          *job, *call, nchunks);
    else
        FLOE_LAUNCH_EARLY((scan_resolve_kernel<T, FLOE_RANGE_PLAIN>), nblocks, FLOE_RANGE_THREADS, 0, stream, *scan,
                          *job, *call, nchunks);
}

cudaError_t launch_scan(const floe_resolve_job *job, const floe_lorenzo_encode_call *call, uint64_t nchunks,
                        cudaStream_t stream)
{
    const floe_range_job scan = scan_of(job);
    uint32_t nblocks;
    const cudaError_t error = (cudaError_t)floe_range_blocks(&scan, &nblocks);
    if (error != cudaSuccess)
        return error;
    nblocks = max(nblocks, floe_lorenzo_begin_blocks(call));
    switch (scan.dtype) {
    case FLOE_F32: launch<float>(&scan, job, call, nchunks, nblocks, stream); break;
    case FLOE_I32: launch<int32_t>(&scan, job, call, nchunks, nblocks, stream); break;
    case FLOE_I64: launch<int64_t>(&scan, job, call, nchunks, nblocks, stream); break;
    default: launch<double>(&scan, job, call, nchunks, nblocks, stream); break;
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
    floe_lorenzo_even even;
    const bool ready = job->ready_nwords && floe_lorenzo_even_of(call, &job->ready.quantizer, &even);
    const bool few = ready || call->grid.nchunks <= most;
    const uint64_t nchunks = few ? call->grid.nchunks : 0;
    cudaError_t error = cudaSuccess;
    if (floe_resolve_scans(job)) {
        error = job->cleared ? cudaMemsetAsync(job->cleared, 0, job->cleared_nbytes, q) : cudaSuccess;
        if (error == cudaSuccess)
            error = launch_scan(job, call, nchunks, q);
    } else if (ready) {
        FLOE_LAUNCH_EARLY(resolve_even_kernel, nblocks, FLOE_RANGE_THREADS, 0, q, *job, *call, even);
    } else {
        FLOE_LAUNCH_EARLY(resolve_kernel, nblocks, FLOE_RANGE_THREADS, 0, q, *job, *call, nchunks);
    }
    if (error == cudaSuccess)
        error = cudaGetLastError();
    if (error != cudaSuccess)
        return (int)error;
    return few ? floe_lorenzo_tables_cuda(call, stream) : floe_lorenzo_begin_cuda(call, stream);
}
