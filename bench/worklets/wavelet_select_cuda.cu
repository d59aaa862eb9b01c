/* SPDX-License-Identifier: BSD-3-Clause */
#include "prim/prim_map.cuh"
#include "bench/worklets/wavelet_select_math.h"

namespace
{

enum { BLOCKS_A_PROCESSOR = 4, AHEAD = 8 }; /* AHEAD: values that a thread loads before it counts them */

/* Digits are counted in shared memory: 57 ms for 2^30 values where threads counted in global memory, against 8. */
template <bool wide> __global__ __launch_bounds__(FLOE_PRIM_BLOCK) void select_count_kernel(floe_select j)
{
    j.wide = wide;
    __shared__ uint32_t counts[FLOE_SELECT_DIGITS + 1];
    const uint64_t prefix = j.from->prefix, step = (uint64_t)gridDim.x * FLOE_PRIM_BLOCK;
    for (uint32_t d = threadIdx.x; d <= FLOE_SELECT_DIGITS; d += FLOE_PRIM_BLOCK)
        counts[d] = 0;
    __syncthreads();
    for (uint64_t i = (uint64_t)blockIdx.x * FLOE_PRIM_BLOCK + threadIdx.x; i < j.n; i += AHEAD * step) {
        uint32_t digit[AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            digit[k] = i + k * step < j.n ? floe_select_digit_of(&j, prefix, i + k * step) : FLOE_SELECT_DIGITS;
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            if (digit[k] < FLOE_SELECT_DIGITS)
                atomicAdd(&counts[digit[k]], 1u);
    }
    __syncthreads();
    for (uint32_t d = threadIdx.x; d < FLOE_SELECT_DIGITS; d += FLOE_PRIM_BLOCK)
        if (counts[d] > 0)
            atomicAdd(&j.counts[d], counts[d]);
}

} // namespace

extern "C" int floe_select_count_cuda(const floe_select *job, uint64_t n, void *stream)
{
    const uint64_t at_once = (uint64_t)BLOCKS_A_PROCESSOR * floe_gpu_limits_cuda().processors;
    auto kernel = job->wide ? select_count_kernel<true> : select_count_kernel<false>;
    FLOE_LAUNCH(kernel, (uint32_t)floe_min64(floe_ceil_div(n, FLOE_PRIM_BLOCK), at_once), FLOE_PRIM_BLOCK, 0,
                (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}

FLOE_PRIM_MAP_CUDA(floe_select_clear_map, floe_select, floe_select_clear)
FLOE_PRIM_MAP_CUDA(floe_select_digit_map, floe_select, floe_select_digit)
FLOE_PRIM_MAP_CUDA(floe_select_keep_map, floe_select, floe_select_keep)
FLOE_PRIM_MAP_CUDA(floe_select_start_map, floe_select, floe_select_start)
FLOE_PRIM_MAP_CUDA(floe_select_copy_map, floe_select_box, floe_select_copy)
