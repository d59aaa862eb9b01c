/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences and products of doubles rounded to the safe side, and comparisons without rounding error, once, for both
 * compilers: + - * on doubles in the order written here, fma where it is written, which is exact wherever it exists, steps to
 * the next double by bits. */
#ifndef FLOE_BASE_EXACT_MATH_H
#define FLOE_BASE_EXACT_MATH_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/hd.h"

/* Below this, what a product loses by rounding may itself be too small for a double. */
#define FLOE_EXACT_TINY 0x1p-900

/* The next double towards 0; x is not NaN. */
FLOE_HD double floe_exact_smaller(double x) { return x == 0 ? 0 : floe_f64_of(floe_bits_f64(x) - 1); }

FLOE_HD bool floe_exact_overflowed(double x) { return fabs(x) > DBL_MAX; }

/* a - b = difference + *rest exactly, unless the difference overflows (Knuth's two-sum). */
FLOE_HD double floe_exact_difference(double a, double b, double *rest)
{
    double d = a - b;
    double minus_b = d - a;
    double a_part = d - minus_b;
    *rest = (a - a_part) - (b + minus_b);
    return d;
}

/* max - min, rounded down; infinite when it overflows. */
FLOE_HD double floe_exact_range_width(double min, double max)
{
    double rest, width = floe_exact_difference(max, min, &rest);
    return rest < 0 ? floe_exact_smaller(width) : width;
}

FLOE_HD double floe_exact_product_down(double a, double b)
{
    double p = a * b;
    if (p == 0 || floe_exact_overflowed(p))
        return p == 0 ? 0 : DBL_MAX;
    return p < FLOE_EXACT_TINY || fma(a, b, -p) < 0 ? floe_exact_smaller(p) : p;
}

FLOE_HD double floe_exact_bound_of_range(double factor, double min, double max)
{
    double width = floe_exact_range_width(min, max);
    if (!floe_exact_overflowed(width))
        return floe_exact_product_down(factor, width);
    /* Halves do not overflow. What halving rounds off is made up for by a step down. */
    double half = floe_exact_smaller(max / 2 - min / 2);
    double p = floe_exact_product_down(factor, half);
    return p <= DBL_MAX / 2 ? 2 * p : DBL_MAX;
}

/* |x - y| <= bound, exactly. All finite, bound >= 0. Rounding is monotonic, so where the rounded sides differ, they show how the exact ones compare. */
FLOE_HD bool floe_exact_within_abs(double x, double y, double bound)
{
    double rest, d = floe_exact_difference(x, y, &rest);
    if (fabs(d) != bound)
        return fabs(d) < bound;
    return d < 0 ? rest >= 0 : rest <= 0;
}

/* |x - y| <= bound * |x|, exactly. All finite, 0 <= bound < 1. */
FLOE_HD bool floe_exact_within_pwrel(double x, double y, double bound)
{
    double size = fabs(x), product = bound * size, scale = 1;
    if (x == y)
        return true;
    if (product < FLOE_EXACT_TINY) { /* scale by powers of two, so that nothing is lost at the small end */
        double up = size < 0x1p-400 ? 0x1p600 : 1;
        scale = bound < 0x1p-400 ? 0x1p600 : 1;
        x *= up, y *= up, size *= up, bound *= scale;
        product = bound * size;
    }
    double rest, d = floe_exact_difference(x, y, &rest);
    if (floe_exact_overflowed(d) || floe_exact_overflowed(y))
        return false;
    d *= scale, rest *= scale;
    if (fabs(d) != product)
        return fabs(d) < product;
    return (d < 0 ? -rest : rest) <= fma(bound, size, -product);
}

#endif
