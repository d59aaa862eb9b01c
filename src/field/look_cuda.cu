/* SPDX-License-Identifier: BSD-3-Clause */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "field/look_cuda.h"

namespace
{

/* A block a place. */
__global__ void __launch_bounds__(FLOE_LOOK_PROBES)
    look_kernel(const __grid_constant__ floe_look look, const uint32_t *status, uint64_t *bits)
{
    __shared__ uint64_t sums[FLOE_LOOK_PROBES / FLOE_WARP];
    if (status && *status != FLOE_OK)
        return;
    const int64_t at = floe_look_at(&look, blockIdx.x);
    uint64_t sum = 0;
    for (uint32_t i = threadIdx.x; i < look.nprobes; i += FLOE_LOOK_PROBES)
        sum += floe_look_probe(&look, at, i);
    sum = floe_warp_sum(sum);
    if (floe_lane() == 0)
        sums[threadIdx.x / FLOE_WARP] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        bits[blockIdx.x] = sums[0] + sums[1];
}

} // namespace

int floe_look_cuda(const floe_look *look, const uint32_t *status, uint64_t *bits, void *stream)
{
    FLOE_LAUNCH(look_kernel, floe_look_nplaces(look), FLOE_LOOK_PROBES, 0, (cudaStream_t)stream, *look, status, bits);
    return (int)cudaGetLastError();
}
