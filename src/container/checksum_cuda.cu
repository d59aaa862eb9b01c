/* SPDX-License-Identifier: BSD-3-Clause */
#include "container/container_cuda.h"

#include "container/checksum_cuda.cuh"

namespace
{

enum { WARPS = 4, THREADS = WARPS * FLOE_WARP, BLOCKS_A_PROCESSOR = 8 };

/* A warp takes every so-many-th piece of each span. */
__global__ void __launch_bounds__(THREADS) checksum_sums_kernel(const __grid_constant__ floe_checksum_job job)
{
    __shared__ uint64_t stage[WARPS][FLOE_STAGE_WORDS];
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const uint64_t first = (uint64_t)blockIdx.x * WARPS + warp, step = (uint64_t)gridDim.x * WARPS;
    for (int k = 0; k < FLOE_CHECKSUM_SPANS; k++) {
        const uint64_t nbytes = job.nbytes[k], npieces = floe_checksum_pieces(nbytes);
        if (first >= npieces)
            continue;
        const uint64_t sum =
            floe_warp_checksum_terms((const uint8_t *)job.data[k], nbytes, first, step, npieces, stage[warp]);
        if (floe_lane() == 0)
            atomicAdd((unsigned long long *)job.sums + k, (unsigned long long)sum);
    }
}

} // namespace

int floe_checksum_sums_cuda(const floe_checksum_job *job, void *stream)
{
    const uint64_t npieces = floe_ceil_div(job->most, FLOE_CHECKSUM_PIECE) + FLOE_CHECKSUM_SPANS;
    const uint64_t most = (uint64_t)floe_gpu_limits_cuda().processors * BLOCKS_A_PROCESSOR;
    FLOE_LAUNCH(checksum_sums_kernel, (uint32_t)floe_min64(floe_ceil_div(npieces, WARPS), most), THREADS, 0,
                (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
