/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory: more of it than kernels have unasked, and copies to it that come one after another. */
#ifndef FLOE_BACKEND_DEVICE_SHARED_CUH
#define FLOE_BACKEND_DEVICE_SHARED_CUH

#include "backend/device.cuh"

/* Asking takes a good part of the time of a launch, so that each device is asked but once: *asked, 0 at first, remembers the first
 * 64 of them. */
template <class Kernel> static inline cudaError_t floe_shared_allow(Kernel kernel, int nbytes, uint64_t *asked)
{
    int device;
    cudaError_t e = cudaGetDevice(&device);
    const uint64_t bit = e == cudaSuccess && device < 64 ? (uint64_t)1 << device : 0;
    if (__atomic_load_n(asked, __ATOMIC_RELAXED) & bit)
        return cudaSuccess;
    if (e == cudaSuccess)
        e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, nbytes);
    if (e == cudaSuccess)
        __atomic_fetch_or(asked, bit, __ATOMIC_RELAXED);
    return e;
}

/* As floe_copy_async_wait, but for the last N that were committed. */
template <int N> FLOE_DEV void floe_copy_async_wait_but()
{
#ifdef FLOE_EMULATED
    floe_emulated_copy_wait(); /* for all: who relies on some not being there would be wrong */
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

#endif
