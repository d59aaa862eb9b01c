/* SPDX-License-Identifier: BSD-3-Clause */
/* Points of a lattice -> values of a level. */
#include <floe/floe.h>

#include "backend/device.cuh"
#include "base/grid_math.h"
#include "stage/interp/interp_cuda.h"
#include "stage/interp/interp_math.h"

namespace
{

enum { THREADS = 256, BLOCKS = 16 /* of a processor, at most */ };

__global__ void __launch_bounds__(THREADS) interp_leave_kernel(const __grid_constant__ floe_interp_dev_leave l)
{
    uint64_t n[FLOE_INTERP_RANK];
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        n[a] = l.hi[a] - l.lo[a];
    const uint64_t count = *l.status == FLOE_OK ? n[0] * n[1] * n[2] * n[3] : 0;
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (uint64_t)gridDim.x * THREADS) {
        uint64_t left = i, from = 0, far = 1;
        int64_t to = 0;
#pragma unroll
        for (uint32_t a = FLOE_INTERP_RANK; a-- > 0; far *= l.shape[a]) {
            const uint64_t at = a ? floe_last_digit(&left, n[a]) : left;
            from += ((at + l.lo[a]) << l.shift[a]) * far;
            to += (int64_t)at * l.out.stride[a];
        }
        const floe_real v = ((const floe_real *)l.lattice)[from];
        ((floe_real *)l.out.data)[to] = l.log ? FLOE_R(floe_interp_exp)(v) : v;
    }
}

} // namespace

int FLOE_R(floe_interp_leave)(const floe_interp_dev_leave *leave, void *stream)
{
    const uint64_t *lo = leave->lo, *hi = leave->hi,
                   n = (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]) * (hi[3] - lo[3]);
    const uint32_t nblocks =
        (uint32_t)floe_min64(floe_ceil_div(n, THREADS), BLOCKS * (uint64_t)floe_gpu_limits_cuda().processors);
    FLOE_LAUNCH(interp_leave_kernel, nblocks, THREADS, 0, (cudaStream_t)stream, *leave);
    return (int)cudaGetLastError();
}
