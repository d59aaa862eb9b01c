/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all device code stands on: how kernels are declared and launched, lanes, memory operations that CUDA C++ has no
 * name for. The same sources are compiled by nvcc and, with FLOE_EMULATED, by a C++ compiler against tests/emulator/, which
 * runs kernels on the CPU: whatever only a GPU can do stands here, with its plain twin.
 */
#ifndef FLOE_BACKEND_DEVICE_CUH
#define FLOE_BACKEND_DEVICE_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "backend/limits_cuda.h"

#define FLOE_DEV static __device__ __forceinline__
/* Out of line: for what is seldom, so that it costs the common path neither registers nor instruction cache. What the common
 * path keeps in registers goes in and comes back by value: of what is passed by reference the address escapes, and it spills. */
#define FLOE_DEV_COLD static __device__ __noinline__

enum { FLOE_WARP = 32 };
#define FLOE_ALL_LANES 0xFFFFFFFFu

/* Launches a kernel on a stream. Check with cudaGetLastError. FLOE_LAUNCH_EARLY may start it while the kernel before it on the
 * stream is still running: one that begins with floe_dev_begin. Nothing is launched after a launch that failed: it may read what that one
 * should have written. Shared memory of one block, named in the kernel. */
#define FLOE_UNLESS_FAILED(...)                     \
    do {                                            \
        if (cudaPeekAtLastError() == cudaSuccess) { \
            __VA_ARGS__;                            \
        }                                           \
    } while (0)
#ifdef FLOE_EMULATED
#define FLOE_LAUNCH_EARLY FLOE_LAUNCH
#define FLOE_LAUNCH(kernel, grid, block, shared_nbytes, stream, ...) \
    FLOE_UNLESS_FAILED(                                              \
        floe_emulate((grid), (block), (shared_nbytes), (stream), floe_emulated_bind(kernel, ##__VA_ARGS__)))
#define FLOE_DYNAMIC_SHARED(type, name) type *name = (type *)floe_emulated_shared()
#else
#define FLOE_LAUNCH(kernel, grid, block, shared_nbytes, stream, ...) \
    FLOE_UNLESS_FAILED(kernel<<<(grid), (block), (shared_nbytes), (stream)>>>(__VA_ARGS__))
#define FLOE_LAUNCH_EARLY(kernel, grid, block, shared_nbytes, stream, ...) \
    FLOE_UNLESS_FAILED(floe_launch_early((grid), (block), (shared_nbytes), (stream), (kernel), ##__VA_ARGS__))
#define FLOE_DYNAMIC_SHARED(type, name)              \
    extern __shared__ __align__(16) uint4 name##_[]; \
    type *name = (type *)name##_
#endif

/* Before a launch with dynamic shared memory of any size: lets the kernel have all that its own variables leave. The limit is the process's: were
 * it what this launch needs, another thread's launch of the same kernel could fail. */
template <class KERNEL> static inline cudaError_t floe_allow_shared(KERNEL *kernel)
{
    int most = (int)floe_gpu_limits_cuda().shared_nbytes;
#ifndef FLOE_EMULATED
    cudaFuncAttributes has;
    const cudaError_t e = cudaFuncGetAttributes(&has, kernel);
    most -= (int)has.sharedSizeBytes;
    if (e != cudaSuccess || has.maxDynamicSharedSizeBytes == most)
        return e;
#endif
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
}

/* GPUs of compute capability 8 start a kernel when the one before it is done. */
#if !defined(FLOE_EMULATED) && __CUDA_ARCH__ >= 900
#define FLOE_IS_EARLY 1
#else
#define FLOE_IS_EARLY 0
#endif

#ifndef FLOE_EMULATED
template <class... Wanted, class... Given>
static inline cudaError_t floe_launch_early(uint32_t grid, uint32_t block, size_t shared_nbytes, cudaStream_t stream,
                                            void (*kernel)(Wanted...), Given &&...args)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_nbytes;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = floe_gpu_limits_cuda().major >= 9;
    return cudaLaunchKernelEx(&config, kernel, static_cast<Given &&>(args)...);
}
#endif

/* For a kernel that is launched early: the next kernel on the stream may start. */
FLOE_DEV void floe_dev_begin_early()
{
#if FLOE_IS_EARLY
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Until all that was put on the stream before is done. */
FLOE_DEV void floe_dev_wait()
{
#if FLOE_IS_EARLY
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The first thing in a kernel that may be launched early, in all threads. */
FLOE_DEV void floe_dev_begin()
{
    floe_dev_begin_early();
    floe_dev_wait();
}

FLOE_DEV uint32_t floe_lane() { return threadIdx.x % FLOE_WARP; }
FLOE_DEV uint32_t floe_lanes_below() { return (1u << floe_lane()) - 1; }

/* Inside every loop that waits for another block. */
FLOE_DEV void floe_dev_pause()
{
#ifdef FLOE_EMULATED
    floe_emulated_yield();
#else
    __nanosleep(20);
#endif
}

/* A word that another block may be writing: relaxed, never from a stale cache. */
FLOE_DEV uint64_t floe_load_shared_state(const uint64_t *p)
{
#ifdef FLOE_EMULATED
    return *(const volatile uint64_t *)p;
#else
    uint64_t v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p));
    return v;
#endif
}
FLOE_DEV void floe_store_shared_state(uint64_t *p, uint64_t v)
{
#ifdef FLOE_EMULATED
    *(volatile uint64_t *)p = v;
#else
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v));
#endif
}

/* 16 bytes that are read once: past L1. */
FLOE_DEV uint4 floe_load16_once(const void *p)
{
#ifdef FLOE_EMULATED
    return *(const uint4 *)p;
#else
    uint4 v;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(p));
    return v;
#endif
}

/* Has the line of an address brought to L2. */
FLOE_DEV void floe_prefetch_far(const void *p)
{
#ifdef FLOE_EMULATED
    (void)*(const volatile uint8_t *)p; /* which is to be there */
#else
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#endif
}

/* Copies from device memory to shared memory while other work goes on; then commit and wait. Both are aligned. */
#ifdef FLOE_EMULATED
#define FLOE_COPY_ASYNC(name, how, nbytes) \
    FLOE_DEV void name(void *shared, const void *global) { floe_emulated_copy(shared, global, nbytes, nbytes); }
#else
#define FLOE_COPY_ASYNC(name, how, nbytes)                                                           \
    FLOE_DEV void name(void *shared, const void *global)                                             \
    {                                                                                                \
        uint32_t to = (uint32_t)__cvta_generic_to_shared(shared);                                    \
        asm volatile("cp.async." how " [%0], [%1], " #nbytes ";" ::"r"(to), "l"(global) : "memory"); \
    }
#endif
FLOE_COPY_ASYNC(floe_copy16_async, "cg.shared.global.L2::128B", 16)
/* By way of L1, where others want the same, too. */
FLOE_COPY_ASYNC(floe_copy16_async_near, "ca.shared.global.L2::128B", 16)
/* Where there are no 16 bytes that are aligned. */
FLOE_COPY_ASYNC(floe_copy4_async, "ca.shared.global", 4)
#undef FLOE_COPY_ASYNC
/* Bytes that are read once: L2 keeps others rather than them. */
FLOE_DEV void floe_copy16_async_once(void *shared, const void *global)
{
#ifdef FLOE_EMULATED
    floe_emulated_copy(shared, global, 16, 16);
#else
    /* what createpolicy.fractional.L2::evict_first gives for 1.0, which is made anew wherever it is written */
    const uint64_t policy = 0x12F0000000000000u;
    uint32_t to = (uint32_t)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(global),
                 "l"(policy)
                 : "memory");
#endif
}
/* Of 16 bytes the first nbytes; the others become 0, but all 16 are touched, unless nbytes is 0: they are there. */
FLOE_DEV void floe_copy16_async_part(void *shared, const void *global, uint32_t nbytes)
{
#ifdef FLOE_EMULATED
    floe_emulated_copy(shared, global, nbytes, 16);
#else
    uint32_t to = (uint32_t)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(nbytes)
                 : "memory");
#endif
}
/* Of 16 bytes the first words; the others become 0, and are not touched. */
FLOE_DEV void floe_copy16_async_words(void *shared, const void *global, uint32_t nwords)
{
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (i < nwords)
            floe_copy4_async((uint32_t *)shared + i, (const uint32_t *)global + i);
        else
            ((uint32_t *)shared)[i] = 0;
    }
}
FLOE_DEV void floe_copy_async_commit()
{
#ifdef FLOE_EMULATED
    floe_emulated_copy_commit();
#else
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/* But for the last N that were committed. */
template <int N> FLOE_DEV void floe_copy_async_wait_but()
{
#ifdef FLOE_EMULATED
    floe_emulated_copy_wait(N);
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}
FLOE_DEV void floe_copy_async_wait() { floe_copy_async_wait_but<0>(); }

/*
 * Counters in device memory by which blocks report that their writes are done. Who has read all of what is counted reads
 * those writes, as does a thread that meets it at a barrier behind that. Cheaper than a fence and a relaxed access: the fence
 * of CUDA C++ orders more.
 */

/* Reading what other blocks of a running kernel have made: all that a block wrote before it fenced and stored a word may be
 * read by a thread that has found that word, and by those that it synchronizes with. */
FLOE_DEV uint64_t floe_load_acquire(const uint64_t *p)
{
#ifdef FLOE_EMULATED
    return *(const volatile uint64_t *)p;
#else
    uint64_t v;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
#endif
}

/* What this thread has written, and what others of its block had before a barrier, counts. */
FLOE_DEV void floe_counter_add(uint64_t *counter, uint64_t n)
{
#ifdef FLOE_EMULATED
    atomicAdd((unsigned long long *)counter, (unsigned long long)n);
#else
    asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(counter), "l"(n) : "memory");
#endif
}

/* Until so many are counted. */
FLOE_DEV void floe_counter_wait(const uint64_t *counter, uint64_t n)
{
    while (floe_load_acquire(counter) < n)
        floe_dev_pause();
}

/*
 * A kernel that has work to do before the one before it on the stream is done: instead of floe_dev_begin,
 *
 *     the kernel before   floe_dev_begin_then_launch    all kernels before it are done; then the next one may start
 *     the kernel          floe_dev_begin_early          may read what those wrote, not what the kernel before writes
 *                         floe_dev_wait                 may read that, too. Some thread comes here before the kernel ends,
 *                                                       so that it ends after the kernel before
 */
FLOE_DEV void floe_dev_begin_then_launch()
{
    floe_dev_wait();
    floe_dev_begin_early();
}

/* Work of nblocks blocks, of which this is number `block`. */
typedef struct floe_share {
    uint32_t block, nblocks;
} floe_share;

FLOE_DEV floe_share floe_share_all()
{
    floe_share c = {blockIdx.x, gridDim.x};
    return c;
}

/* to is 16-byte aligned. */
FLOE_DEV void floe_clear_share(floe_share c, void *to, uint64_t nbytes)
{
    const uint64_t nthreads = (uint64_t)c.nblocks * blockDim.x, me = (uint64_t)c.block * blockDim.x + threadIdx.x;
    for (uint64_t i = me; i < nbytes / 16; i += nthreads)
        ((uint4 *)to)[i] = make_uint4(0, 0, 0, 0);
    for (uint64_t i = nbytes / 16 * 16 + me; i < nbytes; i += nthreads)
        ((uint8_t *)to)[i] = 0;
}

#endif
