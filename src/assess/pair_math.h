/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which pairs of values count. Only finite values that are not fill are compared in numbers; all else is compared as
 * what it is, counted, and kept out of every sum.
 */
#ifndef FLOE_ASSESS_PAIR_MATH_H
#define FLOE_ASSESS_PAIR_MATH_H

#include "base/hd.h"

typedef enum floe_pair_class {
    FLOE_PAIR_COUNTS = 0,  /* two finite values, neither is fill */
    FLOE_PAIR_SAME = 1,    /* NaN and NaN (whatever their bits), the same infinity, fill and fill */
    FLOE_PAIR_DIFFERS = 2, /* one is special and the other is not, or is another special */
} floe_pair_class;

/* The class of a value alone; of a pair the classes must agree. */
typedef enum floe_value_class {
    FLOE_VALUE_FINITE = 0,
    FLOE_VALUE_NAN = 1,
    FLOE_VALUE_INF = 2,
    FLOE_VALUE_MINUS_INF = 3,
    FLOE_VALUE_FILL = 4, /* whatever the fill value is, NaN too */
} floe_value_class;

FLOE_HD floe_value_class floe_value_class_f32(uint32_t bits, uint32_t has_fill, uint32_t fill_bits)
{
    if (has_fill && bits == fill_bits)
        return FLOE_VALUE_FILL;
    if ((bits & 0x7f800000u) != 0x7f800000u)
        return FLOE_VALUE_FINITE;
    if (bits & 0x007fffffu)
        return FLOE_VALUE_NAN;
    return bits >> 31 ? FLOE_VALUE_MINUS_INF : FLOE_VALUE_INF;
}

FLOE_HD floe_value_class floe_value_class_f64(uint64_t bits, uint32_t has_fill, uint64_t fill_bits)
{
    if (has_fill && bits == fill_bits)
        return FLOE_VALUE_FILL;
    if ((bits & 0x7ff0000000000000u) != 0x7ff0000000000000u)
        return FLOE_VALUE_FINITE;
    if (bits & 0x000fffffffffffffu)
        return FLOE_VALUE_NAN;
    return bits >> 63 ? FLOE_VALUE_MINUS_INF : FLOE_VALUE_INF;
}

FLOE_HD floe_pair_class floe_pair_class_of(floe_value_class original, floe_value_class decoded)
{
    if (original == FLOE_VALUE_FINITE && decoded == FLOE_VALUE_FINITE)
        return FLOE_PAIR_COUNTS;
    return original == decoded ? FLOE_PAIR_SAME : FLOE_PAIR_DIFFERS;
}

#endif
