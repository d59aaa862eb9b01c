/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading what other blocks of a running kernel have made: all that a block wrote before it fenced and stored a word may be
 * read by a thread that has found that word, and by those that it synchronizes with. */
#ifndef FLOE_BACKEND_DEVICE_ACQUIRE_CUH
#define FLOE_BACKEND_DEVICE_ACQUIRE_CUH

#include "backend/device.cuh"

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

#endif
