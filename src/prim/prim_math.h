/* SPDX-License-Identifier: BSD-3-Clause */
/* What the primitives do to an element, once, for both compilers. */
#ifndef FLOE_PRIM_MATH_H
#define FLOE_PRIM_MATH_H

#include "base/hd.h"
#include "prim/prim.h"

/* ---- elements as bits -------------------------------------------------------------------------------------------- */

/* Words that may lie in arrays of any type. */
#ifdef __GNUC__
typedef uint32_t __attribute__((may_alias)) floe_any32;
typedef uint64_t __attribute__((may_alias)) floe_any64;
#else
typedef uint32_t floe_any32;
typedef uint64_t floe_any64;
#endif

FLOE_HD bool floe_prim_is_wide(floe_prim_type t) { return t >= FLOE_PRIM_U64; }
FLOE_HD bool floe_prim_is_float(floe_prim_type t) { return t == FLOE_PRIM_F32 || t == FLOE_PRIM_F64; }
FLOE_HD uint32_t floe_prim_nbytes(floe_prim_type t) { return floe_prim_is_wide(t) ? 8 : 4; }

/* Element i, in the low bits. */
FLOE_HD uint64_t floe_prim_get(bool wide, const void *p, uint64_t i)
{
    return wide ? ((const floe_any64 *)p)[i] : ((const floe_any32 *)p)[i];
}
FLOE_HD void floe_prim_set(bool wide, void *p, uint64_t i, uint64_t bits)
{
    if (wide)
        ((floe_any64 *)p)[i] = bits;
    else
        ((floe_any32 *)p)[i] = (uint32_t)bits;
}

/* ---- sort: keys are unsigned numbers in the same order as the elements -------------------------------------------- */

/* Of floats: all bits of those below 0 turn, of others the sign. Without a branch, which signs at random would mislead. */
FLOE_HD uint64_t floe_prim_key(bool wide, bool is_float, uint64_t bits)
{
    const uint64_t sign = is_float ? (uint64_t)1 << (wide ? 63 : 31) : 0;
    return bits ^ sign ^ ((0 - (bits >> (wide ? 63 : 31))) & (is_float ? sign - 1 : 0));
}

/* From the lowest digit up: an even number of passes. */
enum { FLOE_PRIM_DIGIT_BITS = 8, FLOE_PRIM_DIGITS = 1 << FLOE_PRIM_DIGIT_BITS };

FLOE_HD uint32_t floe_prim_digit(bool wide, bool is_float, uint64_t bits, uint32_t shift)
{
    return (uint32_t)(floe_prim_key(wide, is_float, bits) >> shift) % FLOE_PRIM_DIGITS;
}

#endif
