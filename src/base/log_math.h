/* SPDX-License-Identifier: BSD-3-Clause */
/* Logarithm and power of base 2 in double, once, for both compilers: + - * / in the order written here, as stage quantizer has it.
 * Without branches, and whole numbers become doubles by addition: so loops become vectors. */
#ifndef FLOE_BASE_LOG_MATH_H
#define FLOE_BASE_LOG_MATH_H

#include "base/hd.h"

#define FLOE_LN2     0x1.62e42fefa39efp-1
#define FLOE_INV_LN2 0x1.71547652b82fep+0
#define FLOE_SQRT2   0x1.6a09e667f3bcdp+0
#define FLOE_WHOLE   6755399441055744.0 /* 1.5 * 2^52: adding it rounds to a whole number, which stands in the low bits */

/* log2(x) for finite x > 0. With m in [sqrt(1/2), sqrt(2)) and s = (m-1)/(m+1), |s| < 0.172:
 * ln m = 2 (s + s^3/3 + ... + s^15/15), error below 2 * 0.172^17 / 17 = 1.2e-14. */
FLOE_HD double floe_log2(double x)
{
    const bool subnormal = x < 0x1p-1022;
    const uint64_t bits = floe_bits_f64(subnormal ? x * 0x1p54 : x);
    double m = floe_f64_of((bits & 0xFFFFFFFFFFFFFu) | 0x3FF0000000000000u);
    const bool upper = m >= FLOE_SQRT2;
    double e = floe_f64_of(floe_bits_f64(FLOE_WHOLE) + (bits >> 52)) - (FLOE_WHOLE + 1023.0);
    e = e - (subnormal ? 54.0 : 0.0) + (upper ? 1.0 : 0.0);
    m = upper ? m * 0.5 : m;
    double s = (m - 1.0) / (m + 1.0);
    double t = s * s;
    double p = 1.0 / 15.0;
    p = p * t + 1.0 / 13.0;
    p = p * t + 1.0 / 11.0;
    p = p * t + 1.0 / 9.0;
    p = p * t + 1.0 / 7.0;
    p = p * t + 1.0 / 5.0;
    p = p * t + 1.0 / 3.0;
    p = p * t + 1.0;
    return e + 2.0 * FLOE_INV_LN2 * s * p;
}

/* 2^v for |v| <= 1100. With f in [-1/2, 1/2], z = f ln 2: the series of e^z up to z^13, error below 0.35^14/14! = 5e-18.
 * Scaled in two steps so that no intermediate leaves the range too early. */
FLOE_HD double floe_exp2(double v)
{
    const double sum = v + FLOE_WHOLE, whole = sum - FLOE_WHOLE;
    const uint64_t e = floe_bits_f64(sum) - floe_bits_f64(FLOE_WHOLE) + 2048, half = e >> 1; /* e: 2048 more */
    double z = (v - whole) * FLOE_LN2;
    double p = 1.0 / 6227020800.0;
    p = p * z + 1.0 / 479001600.0;
    p = p * z + 1.0 / 39916800.0;
    p = p * z + 1.0 / 3628800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z + 1.0 / 40320.0;
    p = p * z + 1.0 / 5040.0;
    p = p * z + 1.0 / 720.0;
    p = p * z + 1.0 / 120.0;
    p = p * z + 1.0 / 24.0;
    p = p * z + 1.0 / 6.0;
    p = p * z + 0.5;
    p = p * z + 1.0;
    p = p * z + 1.0;
    const double a = floe_f64_of((half - 1) << 52), b = floe_f64_of((e - half - 1) << 52);
    return p * a * b;
}

#endif
