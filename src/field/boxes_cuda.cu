/* SPDX-License-Identifier: BSD-3-Clause */
#include "field/boxes_cuda.h"

#include "backend/device.cuh"
#include "base/grid_math.h"

namespace
{

enum { THREADS = 256, GATHERED = 8 * THREADS /* values of a block */ };

/* A block copies values of one box. */
template <class word>
__global__ void __launch_bounds__(THREADS) boxes_gather_kernel(const __grid_constant__ floe_boxes_job job)
{
    const uint64_t *const n = job.extent, ncells = n[0] * n[1] * n[2] * n[3], first = (uint64_t)blockIdx.x * GATHERED;
    const word *const from = (const word *)job.from + job.at[blockIdx.y];
    word *const to = (word *)job.to + blockIdx.y * ncells;
    for (uint64_t i = first + threadIdx.x; i < floe_min64(first + GATHERED, ncells); i += THREADS) {
        uint64_t left = i;
        int64_t at = 0;
        for (int a = FLOE_MAX_RANK - 1; a >= 0; left /= n[a--])
            at += (int64_t)(left % n[a]) * job.stride[a];
        to[i] = from[at];
    }
}

} // namespace

int floe_boxes_gather_cuda(const floe_boxes_job *job, void *stream)
{
    const uint64_t ncells = job->extent[0] * job->extent[1] * job->extent[2] * job->extent[3];
    const dim3 blocks((uint32_t)floe_ceil_div(ncells, GATHERED), job->nboxes);
    if (job->narrow)
        FLOE_LAUNCH(boxes_gather_kernel<uint32_t>, blocks, THREADS, 0, (cudaStream_t)stream, *job);
    else
        FLOE_LAUNCH(boxes_gather_kernel<uint64_t>, blocks, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
