/* SPDX-License-Identifier: BSD-3-Clause */
/* Adding bits to words on a GPU: words that are 0 there, and to which other lanes add theirs. In shared memory, or in room that
 * begins there and goes on in device memory. */
#ifndef FLOE_STAGE_HUFFMAN_BITS_DEV_CUH
#define FLOE_STAGE_HUFFMAN_BITS_DEV_CUH

#include "backend/device.cuh"

/* The same address, which the compiler then knows to be in shared memory: other instructions, and half the registers. It
 * would see through a cast there and back alone. */
template <class T> FLOE_DEV T *floe_in_shared(T *p)
{
#ifdef FLOE_EMULATED
    return p;
#else
    uint32_t at;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(at) : "l"(p));
    return (T *)__cvta_shared_to_generic(at);
#endif
}

FLOE_DEV bool floe_is_shared(const void *p)
{
#ifdef FLOE_EMULATED
    return p != NULL;
#else
    return __isShared(p) != 0;
#endif
}

/* Adds bits to words of shared memory that are 0 there; other lanes add theirs to the same words. Without a branch. */
typedef struct floe_shared_adder {
#ifdef FLOE_EMULATED
    uint32_t *to;
#else
    uint32_t to; /* address in shared memory */
#endif
    uint32_t bits, n; /* of *to, not added yet: 0..31 */
} floe_shared_adder;

/* From bit `at` of words on. */
FLOE_DEV floe_shared_adder floe_shared_adder_of(uint32_t *words, uint32_t at)
{
#ifdef FLOE_EMULATED
    floe_shared_adder s = {words + at / 32, 0, at % 32};
#else
    floe_shared_adder s = {(uint32_t)__cvta_generic_to_shared(words + at / 32), 0, at % 32};
#endif
    return s;
}

/* Adds the word if `full`, which is not 0. */
FLOE_DEV void floe_shared_or(const floe_shared_adder &a, uint32_t full)
{
#ifdef FLOE_EMULATED
    if (full)
        atomicOr(a.to, a.bits);
#else
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p red.shared.or.b32 [%0], %1; }" ::"r"(a.to), "r"(a.bits),
                 "r"(full)
                 : "memory");
#endif
}

/* n: 0..32; bits is 0 above them. */
FLOE_DEV void floe_bits_add(floe_shared_adder &a, uint32_t bits, uint32_t n)
{
    a.bits |= bits << a.n;
    const uint32_t carry = __funnelshift_l(bits, 0, a.n), end = a.n + n, full = end & 32;
    floe_shared_or(a, full);
    a.bits = full ? carry : a.bits;
#ifdef FLOE_EMULATED
    a.to += full / 32;
#else
    a.to += full / 8;
#endif
    a.n = end & 31;
}
/* What is not added yet. */
FLOE_DEV void floe_bits_end(const floe_shared_adder &a) { floe_shared_or(a, a.n); }

/* Where the words of a tile go: the first room of them to words, the others to spill, which has a place for each word up
 * to limit, for the first ones too. */
typedef struct floe_huffman_room {
    uint32_t *words, *spill;
    uint32_t room, limit;
} floe_huffman_room;

FLOE_DEV uint32_t *floe_huffman_word(floe_huffman_room room, uint32_t i)
{
    return (i < room.room ? room.words : room.spill) + i;
}

/* Adds bits to words of a room that are 0 there; other lanes add theirs to the same words. */
typedef struct floe_room_adder {
    floe_huffman_room room; /* by value: what a reference is taken of lies in memory */
    uint32_t at, bits, n;
} floe_room_adder;

/* n: 0..32; bits is 0 above them. */
FLOE_DEV void floe_bits_add(floe_room_adder &a, uint32_t bits, uint32_t n)
{
    a.bits |= bits << a.n;
    const uint32_t carry = __funnelshift_l(bits, 0, a.n);
    a.n += n;
    if (a.n >= 32) {
        atomicOr(floe_huffman_word(a.room, a.at++), a.bits);
        a.bits = carry;
        a.n -= 32;
    }
}
FLOE_DEV void floe_bits_end(const floe_room_adder &a)
{
    if (a.n)
        atomicOr(floe_huffman_word(a.room, a.at), a.bits);
}

#endif
