/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/exact.h"

#include <float.h>
#include <math.h>

/* Below this, what a product loses by rounding may itself be too small for a double. */
#define TINY 0x1p-900

/* a - b = difference + *rest exactly, unless the difference overflows (Knuth's two-sum). */
static double difference(double a, double b, double *rest)
{
    double d = a - b;
    double minus_b = d - a;
    double a_part = d - minus_b;
    *rest = (a - a_part) - (b + minus_b);
    return d;
}

double floe_range_width(double min, double max)
{
    double rest, width = difference(max, min, &rest);
    return rest < 0 ? nextafter(width, 0) : width;
}

static double product_down(double a, double b)
{
    double p = a * b;
    if (p == 0 || isinf(p))
        return p == 0 ? 0 : DBL_MAX;
    return p < TINY || fma(a, b, -p) < 0 ? nextafter(p, 0) : p;
}

double floe_bound_of_range(double factor, double min, double max)
{
    double width = floe_range_width(min, max);
    if (!isinf(width))
        return product_down(factor, width);
    /* Halves do not overflow. What halving rounds off is made up for by a step down. */
    double half = nextafter(max / 2 - min / 2, 0);
    double p = product_down(factor, half);
    return p <= DBL_MAX / 2 ? 2 * p : DBL_MAX;
}

/* Rounding is monotonic, so where the rounded sides differ, they say how the exact ones compare. */
bool floe_within_abs(double x, double y, double bound)
{
    double rest, d = difference(x, y, &rest);
    if (fabs(d) != bound)
        return fabs(d) < bound;
    return d < 0 ? rest >= 0 : rest <= 0;
}

bool floe_within_pwrel(double x, double y, double bound)
{
    double size = fabs(x), product = bound * size, scale = 1;
    if (x == y)
        return true;
    if (product < TINY) { /* scale by powers of two, so that nothing is lost at the small end */
        double up = size < 0x1p-400 ? 0x1p600 : 1;
        scale = bound < 0x1p-400 ? 0x1p600 : 1;
        x *= up, y *= up, size *= up, bound *= scale;
        product = bound * size;
    }
    double rest, d = difference(x, y, &rest);
    if (isinf(d) || isinf(y))
        return false;
    d *= scale, rest *= scale;
    if (fabs(d) != product)
        return fabs(d) < product;
    return (d < 0 ? -rest : rest) <= fma(bound, size, -product);
}
