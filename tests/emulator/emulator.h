/* SPDX-License-Identifier: BSD-3-Clause */
/* What the emulator's parts use of each other. Nothing here needs the C++ library at link time, so C programs link it. */
#ifndef FLOE_EMULATOR_H
#define FLOE_EMULATOR_H

#include <pthread.h>

#include "include/cuda_runtime.h"

#if defined(__SANITIZE_ADDRESS__)
#define FLOE_EMULATED_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FLOE_EMULATED_ASAN 1
#endif
#endif

enum { FLOE_EMULATED_MAX_THREADS = 1024, FLOE_EMULATED_MAX_SHARED = 227 << 10 };
enum { FLOE_EMULATED_GARBAGE = 0xA5, FLOE_EMULATED_GUARD = 0x5A };

/* ---- fibers (emulator_fiber.cpp) ----------------------------------------------------------------------------------- */

struct floe_fiber; /* a stack, and where on it to go on */
/* Runs main(arg) when first switched to; main never returns. */
floe_fiber *floe_fiber_create(void (*main)(void *), void *arg);
/* The calling thread as a fiber, to switch back to. */
floe_fiber *floe_fiber_of_thread();
/* Of the fiber that is likely next. */
void floe_fiber_prefetch(const floe_fiber *f);
void floe_fiber_switch(floe_fiber *from, floe_fiber *to);

/* ---- blocks (emulator.cpp) ----------------------------------------------------------------------------------------- */

struct floe_emulated_call {
    dim3 grid, block;
    size_t shared_nbytes;
    void (*body)(const void *args);
    const void *args;
};
/* Runs all blocks of a launch. One launch at a time: the API's lock is held. */
void floe_emulated_run(const floe_emulated_call *call);

/* ---- memory (emulator_memory.cpp) ---------------------------------------------------------------------------------- */

/* nbytes of garbage between guards. Under AddressSanitizer who touches the guards is stopped, else freeing sees what was
 * written there. NULL when there is no memory. */
void *floe_guarded_alloc(size_t nbytes);
void floe_guarded_free(void *p, size_t nbytes, const char *what);

/* The same in pages of its own: reaching far past the end, or after free, faults. nbytes > 0 */
void *floe_pages_alloc(size_t nbytes);
void floe_pages_free(void *p, size_t nbytes, const char *what);
/* Whether the memory can be touched. */
void floe_pages_reach(void *p, size_t nbytes, bool within);

/* ---- the API (emulator_api.cpp, emulator_ranges.cpp, emulator_streams.cpp) ---------------------------------------------- */

uint64_t floe_emulated_setting(const char *name, uint64_t otherwise);
/* Says on stderr what lies at an address, or next to it. */
void floe_emulated_explain(const void *address);

#endif
