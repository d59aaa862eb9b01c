/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks the per-element formulas of the _math.h headers, which the C and the CUDA compiler both take. */
#ifndef FLOE_BASE_HD_H
#define FLOE_BASE_HD_H

#include <stdint.h>
#include <string.h>

/* What a loop is made of: inlined, so that its constants and vectors stay in registers. Where speed does not matter
 * (FLOE_SLIM, set for sanitizers and the emulator) the compiler decides: it then takes a tenth of the time. */
#if defined(FLOE_SLIM)
#define FLOE_INLINE static inline __attribute__((unused))
#else
#define FLOE_INLINE static inline __attribute__((always_inline))
#endif

#ifdef __CUDACC__
#define FLOE_HD static __host__ __device__ __forceinline__
#else
#define FLOE_HD FLOE_INLINE
#endif

/* Bit casts; memcpy is the one form that C, C++ and CUDA all define. */
FLOE_HD uint32_t floe_bits_f32(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}
FLOE_HD uint64_t floe_bits_f64(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}
FLOE_HD float floe_f32_of(uint32_t b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}
FLOE_HD double floe_f64_of(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* The NaN that floe makes: positive, quiet, without payload. */
#define FLOE_NAN32_BITS 0x7FC00000u
#define FLOE_NAN64_BITS 0x7FF8000000000000u

FLOE_HD uint64_t floe_ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
FLOE_HD uint64_t floe_min64(uint64_t a, uint64_t b) { return a < b ? a : b; }
FLOE_HD uint64_t floe_max64(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Before a loop that is not to be unrolled: what a block does once is to be short. */
#if defined(__CUDACC__)
#define FLOE_NO_UNROLL _Pragma("unroll 1")
#else
#define FLOE_NO_UNROLL
#endif

/* Bits that v needs: 0 for 0. */
FLOE_HD uint32_t floe_bit_length(uint64_t v)
{
#if defined(__CUDA_ARCH__)
    return 64u - (uint32_t)__clzll((long long)v);
#else
    return v ? 64u - (uint32_t)__builtin_clzll(v) : 0;
#endif
}

/* Place of the highest bit that is set; v > 0. */
FLOE_HD uint32_t floe_top_bit(uint64_t v)
{
#if defined(__CUDA_ARCH__)
    return 63u - (uint32_t)__clzll((long long)v);
#else
    return 63u - (uint32_t)__builtin_clzll(v);
#endif
}

#endif
