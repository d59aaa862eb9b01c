/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters in device memory by which blocks tell others that their writes are done. Who has read all of what is counted reads
 * those writes, as does a thread that meets it at a barrier behind that. Cheaper than a fence and a relaxed access: the fence
 * of CUDA C++ orders more.
 */
#ifndef FLOE_BACKEND_DEVICE_COUNTER_CUH
#define FLOE_BACKEND_DEVICE_COUNTER_CUH

#include "backend/device_acquire.cuh"

/* What this thread has written, and what others of its block had before a barrier, counts. */
FLOE_DEV void floe_counter_add(uint64_t *counter, uint64_t n)
{
#ifdef FLOE_EMULATED
    atomicAdd((unsigned long long *)counter, (unsigned long long)n);
#else
    asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(counter), "l"(n) : "memory");
#endif
}

FLOE_DEV uint64_t floe_counter_read(const uint64_t *counter) { return floe_load_acquire(counter); }

/* Until so many are counted. */
FLOE_DEV void floe_counter_wait(const uint64_t *counter, uint64_t n)
{
    while (floe_counter_read(counter) < n)
        floe_dev_pause();
}

#endif
