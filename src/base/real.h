/* SPDX-License-Identifier: BSD-3-Clause */
/* One source, several objects: files that end in _cpu.c are compiled for each element type (FLOE_REAL_BITS 32 or 64) and
 * each instruction set (FLOE_AVX2 0 or 1), and name what they export with FLOE_V(name), e.g. floe_pack_encode_step_f32_avx2.
 * Nothing but speed may differ between the instruction sets. AVX2 stands for FMA, BMI1 and BMI2 as well. */
#ifndef FLOE_BASE_REAL_H
#define FLOE_BASE_REAL_H

#include "base/hd.h"

#include <stdint.h>

#ifndef FLOE_REAL_BITS
#error "compile with -DFLOE_REAL_BITS=32 or 64"
#endif
#ifndef FLOE_AVX2
#define FLOE_AVX2 0
#endif

#define FLOE_PASTE_(a, b) a##b
#define FLOE_PASTE(a, b)  FLOE_PASTE_(a, b)

#if FLOE_REAL_BITS == 32
typedef float floe_real;
typedef uint32_t floe_uint;
typedef int32_t floe_int;
#define FLOE_REAL_SUFFIX _f32
#elif FLOE_REAL_BITS == 64
typedef double floe_real;
typedef uint64_t floe_uint;
typedef int64_t floe_int;
#define FLOE_REAL_SUFFIX _f64
#else
#error "FLOE_REAL_BITS must be 32 or 64"
#endif

#if FLOE_AVX2
#define FLOE_ISA_SUFFIX _avx2
#else
#define FLOE_ISA_SUFFIX _plain
#endif

/* name_f32: depends on the element type only. name_f32_avx2: on the instruction set too. */
#define FLOE_R(name) FLOE_PASTE(name, FLOE_REAL_SUFFIX)
#define FLOE_V(name) FLOE_PASTE(FLOE_PASTE(name, FLOE_REAL_SUFFIX), FLOE_ISA_SUFFIX)

/* A value's bit pattern, and back. */
FLOE_HD floe_uint FLOE_R(floe_real_bits)(floe_real x)
{
    floe_uint b;
    memcpy(&b, &x, sizeof b);
    return b;
}
FLOE_HD floe_real FLOE_R(floe_real_of)(floe_uint b)
{
    floe_real x;
    memcpy(&x, &b, sizeof x);
    return x;
}

#endif
