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

uint64_t ask(int device)
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
    int device;
    uint64_t *at = NULL, limits = 0;
    if (cudaGetDevice(&device) == cudaSuccess && device < DEVICES)
        at = known_limits + device;
    if (at)
        limits = __atomic_load_n(at, __ATOMIC_RELAXED);
    if (at && !limits)
        __atomic_store_n(at, limits = ask(device), __ATOMIC_RELAXED);
    if (!limits) {
        (void)cudaGetLastError();
        limits = packed(132, 227 << 10, 9, 0);
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
