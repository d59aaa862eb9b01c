/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of memory that does not change, for loops that would else wait for them; with plain twins for the emulator. */
#ifndef FLOE_BACKEND_DEVICE_WORDS_CUH
#define FLOE_BACKEND_DEVICE_WORDS_CUH

#include "backend/device.cuh"

#ifdef FLOE_EMULATED

typedef const uint32_t *floe_shared_words;
FLOE_DEV floe_shared_words floe_shared_words_of(const uint32_t *words) { return words; }
FLOE_DEV uint32_t floe_load_shared_word(floe_shared_words words, uint32_t i) { return words[i]; }
FLOE_DEV void floe_load_if(bool wanted, const uint32_t *p, uint32_t &v) { v = wanted ? *p : v; }

#else

/* Shared memory by an address of 32 bits that stays in a register: nvcc may else work it out anew each time. */
typedef uint32_t floe_shared_words;
FLOE_DEV floe_shared_words floe_shared_words_of(const uint32_t *words)
{
    uint32_t kept;
    asm volatile("mov.u32 %0, %1;" : "=r"(kept) : "r"((uint32_t)__cvta_generic_to_shared(words)));
    return kept;
}
FLOE_DEV uint32_t floe_load_shared_word(floe_shared_words words, uint32_t i)
{
    uint32_t v;
    asm("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(words + 4 * i));
    return v;
}

/* v becomes what stands at p in device memory, where it is wanted. It comes to v's own register: nothing waits before v is
 * used. */
FLOE_DEV void floe_load_if(bool wanted, const uint32_t *p, uint32_t &v)
{
    asm("{\n\t.reg .pred wanted;\n\tsetp.ne.u32 wanted, %2, 0;\n\t@wanted ld.global.nc.u32 %0, [%1];\n\t}"
        : "+r"(v)
        : "l"(p), "r"((uint32_t)wanted));
}

#endif

#endif
