/* SPDX-License-Identifier: BSD-3-Clause */
/* What the element types are, and whole numbers as bits and as reals, once, for both compilers. A pattern is the bits of an
 * element, in the low ones. */
#ifndef FLOE_FIELD_DTYPE_MATH_H
#define FLOE_FIELD_DTYPE_MATH_H

#include <stdbool.h>

#include <floe/floe.h>

#include "base/hd.h"

FLOE_HD bool floe_dtype_is_narrow(floe_dtype dtype) { return dtype == FLOE_F32 || dtype == FLOE_I32; }
FLOE_HD bool floe_dtype_is_integer(floe_dtype dtype) { return dtype == FLOE_I32 || dtype == FLOE_I64; }

/* The highest bit: a sign, and the pattern of the least integer. */
FLOE_HD uint64_t floe_dtype_sign(floe_dtype dtype)
{
    return floe_dtype_is_narrow(dtype) ? (uint64_t)1 << 31 : (uint64_t)1 << 63;
}

FLOE_HD int64_t floe_integer_of(floe_dtype dtype, uint64_t bits)
{
    return dtype == FLOE_I32 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits;
}

FLOE_HD uint64_t floe_integer_pattern(floe_dtype dtype, int64_t v)
{
    return dtype == FLOE_I32 ? (uint32_t)v : (uint64_t)v;
}

/* The integer nearest to a value, ties to even, within the type; 0 for NaN. */
FLOE_HD uint64_t floe_integer_bits(floe_dtype dtype, double value)
{
    const double most = dtype == FLOE_I32 ? 0x1.fffffffcp+30 : 0x1p63;
    const uint64_t sign = floe_dtype_sign(dtype);
    if (value >= most)
        return sign - 1;
    if (value <= -most - (dtype == FLOE_I32))
        return sign;
    if (!(value > -0x1p52 && value < 0x1p52))
        return value == value ? (uint64_t)(int64_t)value : 0; /* whole as it is; or NaN */
    const uint64_t bits = (uint64_t)(int64_t)(value < 0 ? (value - 0x1p52) + 0x1p52 : (value + 0x1p52) - 0x1p52);
    return dtype == FLOE_I32 ? (uint32_t)bits : bits;
}

/* |a - b|, exactly. */
FLOE_HD uint64_t floe_integer_distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

#endif
