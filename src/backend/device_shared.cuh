/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies to shared memory that come one after another. */
#ifndef FLOE_BACKEND_DEVICE_SHARED_CUH
#define FLOE_BACKEND_DEVICE_SHARED_CUH

#include "backend/device.cuh"

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
