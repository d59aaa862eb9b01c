/* SPDX-License-Identifier: BSD-3-Clause */
/* The GPU's side of prim_map.h, and the shape of launches where a thread takes one element at a time. */
#ifndef FLOE_PRIM_MAP_CUH
#define FLOE_PRIM_MAP_CUH

#include "backend/device.cuh"
#include "base/hd.h"

enum { FLOE_PRIM_BLOCK = 256, FLOE_PRIM_MOST_BLOCKS = 1 << 16 };

/* Blocks for n pieces, one a block; kernels stride, so a limit costs nothing. n > 0 */
static inline uint32_t floe_prim_grid(uint64_t n) { return (uint32_t)floe_min64(n, FLOE_PRIM_MOST_BLOCKS); }

/* A thread takes every so-many-th index. A worklet is a function of its file alone, and so is its kernel. */
template <class Job, void (*worklet)(const Job *, uint64_t)>
__global__ void floe_prim_map_kernel(const __grid_constant__ Job job, uint64_t n)
{
    const uint64_t step = (uint64_t)gridDim.x * FLOE_PRIM_BLOCK;
    for (uint64_t i = (uint64_t)blockIdx.x * FLOE_PRIM_BLOCK + threadIdx.x; i < n; i += step)
        worklet(&job, i);
}

template <class Job, void (*worklet)(const Job *, uint64_t)>
static int floe_prim_map_cuda(const Job *job, uint64_t n, void *stream)
{
    auto kernel = floe_prim_map_kernel<Job, worklet>;
    if (n == 0)
        return (int)cudaSuccess;
    FLOE_LAUNCH(kernel, floe_prim_grid(floe_ceil_div(n, FLOE_PRIM_BLOCK)), FLOE_PRIM_BLOCK, 0, (cudaStream_t)stream,
                *job, n);
    return (int)cudaGetLastError();
}

#define FLOE_PRIM_MAP_CUDA(name, job_type, worklet)                            \
    extern "C" int name##_cuda(const job_type *job, uint64_t n, void *stream); \
    extern "C" int name##_cuda(const job_type *job, uint64_t n, void *stream)  \
    {                                                                          \
        return floe_prim_map_cuda<job_type, worklet>(job, n, stream);          \
    }

#endif
