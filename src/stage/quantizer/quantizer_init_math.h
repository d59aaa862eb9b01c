/* SPDX-License-Identifier: BSD-3-Clause */
/* Step, tolerance and palette from a bound, once, for both compilers. What they mean is in quantizer.h. */
#ifndef FLOE_STAGE_QUANTIZER_INIT_MATH_H
#define FLOE_STAGE_QUANTIZER_INIT_MATH_H

#include <float.h>

#include "field/dtype_math.h"
#include "base/log_math.h"
#include "stage/quantizer/quantizer.h"

/* Half a unit in the last place of x, relative to x, at most: 2^-24 for f32, 2^-53 for f64. */
FLOE_HD double floe_half_ulp(floe_dtype dtype) { return dtype == FLOE_F32 ? 0x1p-24 : 0x1p-53; }

/*
 * How much smaller than 2 * bound the step is. A decoded value is off by half a step plus half an ulp of the value, so
 * with the ulp known the step leaves room for it. At least 2^-10 (f32) or 2^-20: that also keeps data on a grid of the
 * bound (whole numbers with bound 1/2) off the edge. Never more than 1/8: beyond, single exceptions are cheaper.
 */
FLOE_HD double floe_step_shrink(floe_dtype dtype, double bound, double max_abs)
{
    double least = dtype == FLOE_F32 ? 0x1p-10 : 0x1p-20;
    double ulp = max_abs * floe_half_ulp(dtype) / bound; /* NaN when max_abs is not known */
    double shrink = 1.5 * ulp;
    if (!(shrink > least))
        return least;
    return shrink < 0.125 ? shrink : 0.125;
}

FLOE_HD double floe_round_down(floe_dtype dtype, double x)
{
    if (dtype == FLOE_F64)
        return x;
    if (x >= FLT_MAX)
        return FLT_MAX;
    float f = (float)x;
    if ((double)f > x)
        f = floe_f32_of(floe_bits_f32(f) - 1);
    return f;
}

FLOE_HD void floe_quantizer_linear(floe_quantizer *z, floe_dtype dtype, double bound, double max_abs)
{
    double most = dtype == FLOE_F32 ? FLT_MAX : DBL_MAX;
    double step = bound < most / 4 ? 2 * bound * (1 - floe_step_shrink(dtype, bound, max_abs)) : most / 2;
    z->step = dtype == FLOE_F32 ? (double)(float)step : step;
    z->inverse = dtype == FLOE_F32 ? (double)(1 / (float)step) : 1 / step;
    /* |x - y| is rounded once, by at most half an ulp of itself; two ulps of room cover that and the rounding here. */
    z->tolerance = floe_round_down(dtype, bound * (1 - 4 * floe_half_ulp(dtype)));
}

FLOE_HD void floe_quantizer_log(floe_quantizer *z, floe_dtype dtype, double bound)
{
    /* Rounding y to the dtype moves it by half an ulp, so the step is made for what is left of the bound. */
    double room = bound - floe_half_ulp(dtype);
    double effective = room > bound / 2 ? room : bound / 2;
    z->step = 2 * floe_log2(1 + effective) * (1 - 0x1p-10);
    if (z->step < 0x1p-40)
        z->step = 0x1p-40; /* bounds near the precision of a double: what fails becomes an exception */
    z->tolerance = bound * (1 - 0x1p-50);
}

/* Integers: 2 h + 1 values become one, where h is the bound, cut to a whole number. With a bound below 1 nothing is lost. */
FLOE_HD double floe_whole_step(floe_dtype dtype, double bound)
{
    const double most = dtype == FLOE_I32 ? 0x1p30 - 1 : 0x1p51; /* so that steps fit the type and a double */
    return 2 * (double)(int64_t)(bound < most ? bound : most) + 1;
}

FLOE_HD void floe_quantizer_make_integer(floe_quantizer *z, floe_quantizer_kind kind, floe_dtype dtype, double bound,
                                         bool has_fill, uint64_t fill_bits)
{
    memset(z, 0, sizeof *z);
    z->kind = kind;
    z->integer = true;
    z->fill = z->palette[0] = has_fill ? fill_bits : floe_dtype_sign(dtype);
    z->step = kind == FLOE_QUANTIZER_LINEAR ? floe_whole_step(dtype, bound) : 0;
}

FLOE_HD void floe_quantizer_make(floe_quantizer *z, floe_quantizer_kind kind, floe_dtype dtype, double bound,
                                 double max_abs, bool has_fill, uint64_t fill_bits)
{
    if (floe_dtype_is_integer(dtype)) {
        floe_quantizer_make_integer(z, kind, dtype, bound, has_fill, fill_bits);
        return;
    }
    uint64_t sign = floe_dtype_sign(dtype);
    uint64_t nan = dtype == FLOE_F32 ? FLOE_NAN32_BITS : FLOE_NAN64_BITS;
    uint64_t infinity = dtype == FLOE_F32 ? 0x7F800000u : 0x7FF0000000000000u;
    memset(z, 0, sizeof *z);
    z->kind = kind;
    z->fill = has_fill ? fill_bits : kind == FLOE_QUANTIZER_LINEAR ? sign : nan;
    const bool exact = kind == FLOE_QUANTIZER_BITS || kind == FLOE_QUANTIZER_TABLE;
    z->palette[0] = has_fill ? fill_bits : nan;
    z->palette[1] = exact ? nan | sign : sign; /* the NaN that x86 makes: there -0 is no exception */
    z->palette[2] = kind == FLOE_QUANTIZER_LOG ? 0 : has_fill ? nan : exact ? infinity : nan | sign;
    if (kind == FLOE_QUANTIZER_LINEAR)
        floe_quantizer_linear(z, dtype, bound, max_abs);
    else if (kind == FLOE_QUANTIZER_LOG)
        floe_quantizer_log(z, dtype, bound);
}

/* The ordered pattern of a value that has these bits. */
FLOE_HD uint64_t floe_table_key(bool narrow, uint64_t bits)
{
    const uint64_t key = narrow ? (uint64_t)(int64_t)(int32_t)(uint32_t)bits : bits, below = (uint64_t)0 - (key >> 63);
    return key ^ (below & (narrow ? (uint64_t)INT32_MAX : (uint64_t)INT64_MAX));
}

/* The value of an ordered pattern. */
FLOE_HD double floe_table_value(floe_dtype dtype, uint64_t key)
{
    const uint64_t below = (uint64_t)0 - (key >> 63);
    if (floe_dtype_is_integer(dtype))
        return (double)(int64_t)key;
    return floe_dtype_is_narrow(dtype) ? (double)floe_f32_of((uint32_t)(key ^ (below & INT32_MAX)))
                                       : floe_f64_of(key ^ (below & INT64_MAX));
}

/* Where a pattern is looked for first among slots, of which there are 2^18 at most. */
FLOE_HD uint32_t floe_table_slot_of(uint64_t key) { return (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 46); }

#endif
