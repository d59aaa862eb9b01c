/* SPDX-License-Identifier: BSD-3-Clause */
/* Container and codec at once: a block finds its chunk by footer and index, then opens it. */
#include "api/open_grid.cuh"
#include "backend/device_order.cuh"

namespace
{

/* By all blocks. */
FLOE_DEV void clear(const floe_open_job &job)
{
    const uint64_t nthreads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < job.cleared_nwords; i += nthreads)
        job.cleared[i] = 0;
}

/* A block owns a chunk of the grid, which may turn out to have fewer. The grid is found out while the chunk is loaded. */
__global__ __launch_bounds__(MAX_THREADS) void open_kernel(const __grid_constant__ floe_open_job job)
{
    floe_dev_begin_then_launch(); /* what comes next may begin with the stream as it is */
    __shared__ opening o;
    __shared__ floe_peek peek;
    const floe_lorenzo_decode_call &call = job.call;
    const uint64_t chunk = blockIdx.x, nbytes = job.dev_nbytes ? *job.dev_nbytes : job.nbytes;
    uint32_t status = FLOE_ERR_FORMAT, run[RUN];
    floe_dev_record record = {0, 0, 0};
    open_begin(call, job.guess, chunk, &o);
    clear(job);
    if (chunk == 0 && threadIdx.x == 0)
        *call.status = FLOE_OK;
    if (nbytes <= job.nbytes && floe_peek_load(call.stream, nbytes, job.guess.nchunks, chunk, &peek)) {
        const uint64_t nchunks = peek.footer[2];
        const bool is_there = chunk < nchunks && floe_peek_record(&peek, nbytes, nchunks, &record);
        if (is_there)
            load_chunk(call, record, &o, run);
        if (threadIdx.x == 0)
            find_grid(job, peek, &o);
        __syncthreads();
        if (o.nchunks > 0 && chunk >= o.nchunks)
            status = FLOE_OK;
        else if (o.nchunks > 0 && o.nchunks == nchunks && is_there)
            status = open_chunk(call, job.guess, chunk, record, &o, run);
    }
    open_end(call, chunk, status, &o);
}

} // namespace

int floe_open_cuda(const floe_open_job *job, void *stream)
{
    if (job->call.max_chunks == 0)
        return cudaSuccess;
    FLOE_LAUNCH_EARLY(open_kernel, (uint32_t)job->call.max_chunks, open_threads(&job->call), 0, (cudaStream_t)stream,
                      *job);
    return (int)cudaGetLastError();
}
