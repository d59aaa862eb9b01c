/* SPDX-License-Identifier: BSD-3-Clause */
#include "backend/limits_cuda.h"

#include <stdio.h>

#include "backend/device.cuh"

namespace
{

enum { DEVICES = 64 };
/* Packed, of each device; 0: not known yet. Two threads that query at once store the same. */
uint64_t known_limits[DEVICES];

uint64_t packed(int processors, int shared_nbytes, int major, int minor)
{
    return (uint64_t)processors << 40 | (uint64_t)shared_nbytes << 16 | (uint64_t)major << 8 | (uint64_t)minor;
}

/* 0: the device does not report them. */
uint64_t queried(int device)
{
    int processors, shared_nbytes, major, minor;
    if (cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&shared_nbytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
        return 0;
    return packed(processors, shared_nbytes, major, minor);
}

__global__ void nothing_kernel() {}

} // namespace

floe_gpu_limits floe_gpu_limits_cuda(void)
{
    int device = -1;
    uint64_t limits = 0;
    const bool is_there = cudaGetDevice(&device) == cudaSuccess;
    uint64_t *at = is_there && device < DEVICES ? known_limits + device : NULL;
    if (at)
        limits = __atomic_load_n(at, __ATOMIC_RELAXED);
    if (is_there && !limits) {
        limits = queried(device);
        if (at)
            __atomic_store_n(at, limits, __ATOMIC_RELAXED);
    }
    if (!limits) {
        (void)cudaGetLastError();
        limits = packed(1, FLOE_GPU_LEAST_SHARED, 8, 0);
    }
    return {(uint32_t)(limits >> 40), (uint32_t)(limits >> 16) & 0xFFFFFF, (uint32_t)limits >> 8 & 0xFF,
            (uint32_t)limits & 0xFF};
}

int floe_gpu_kernel_cuda(void)
{
#ifdef FLOE_EMULATED
    (void)nothing_kernel;
    return cudaSuccess;
#else
    cudaFuncAttributes attributes;
    return (int)cudaFuncGetAttributes(&attributes, nothing_kernel);
#endif
}

int floe_gpu_name_cuda(char name[FLOE_GPU_NAME_NBYTES])
{
    int device;
    cudaDeviceProp properties;
    cudaError_t e = cudaGetDevice(&device);
    if (e == cudaSuccess)
        e = cudaGetDeviceProperties(&properties, device);
    if (e == cudaSuccess)
        snprintf(name, FLOE_GPU_NAME_NBYTES, "%s", properties.name);
    return (int)e;
}
