/* SPDX-License-Identifier: BSD-3-Clause */
/* Container and codec at once: a block finds its chunk by footer and index, then opens it. */
#include "device/lorenzo/open_grid.cuh"

namespace
{

/* A block owns a chunk of the grid, which may turn out to have fewer. */
__global__ __launch_bounds__(MAX_THREADS) void open_kernel(const __grid_constant__ floe_open_job job)
{
    floe_dev_begin();
    __shared__ opening o;
    __shared__ floe_peek peek;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *job.call.status = FLOE_OK;
    open_by_block(job, job.dev_nbytes ? *job.dev_nbytes : job.nbytes, blockIdx.x, peek, &o);
}

} // namespace

int floe_open_cuda(const floe_open_job *job, void *stream)
{
    if (job->call.max_chunks == 0)
        return (int)cudaMemsetAsync(job->call.status, 0, sizeof *job->call.status, (cudaStream_t)stream); /* FLOE_OK */
    FLOE_LAUNCH_EARLY(open_kernel, (uint32_t)job->call.max_chunks, open_threads(&job->call), 0, (cudaStream_t)stream,
                      *job);
    return (int)cudaGetLastError();
}
