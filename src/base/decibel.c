/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/decibel.h"

#include <math.h>

static const double ln2 = 0.69314718055994530942;
static const double log2_of_10 = 3.32192809488736234787;

/* 2^x: the whole part goes to the exponent, the rest (at most 1/2) through the series of e^(x ln 2). */
static double power_of_two(double x)
{
    if (x > 2000 || x < -2000)
        return x > 0 ? INFINITY : 0;
    double whole = floor(x + 0.5), t = (x - whole) * ln2, sum = 1;
    for (int k = 18; k >= 1; k--) /* 0.35^18 / 18! < 1e-24 */
        sum = 1 + sum * t / k;
    return ldexp(sum, (int)whole);
}

/* log2 of m 2^e with m in sqrt(1/2)..sqrt(2): ln m = 2 atanh(z), z = (m - 1) / (m + 1), |z| < 0.172. */
static double log_of_two(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752440) {
        m *= 2;
        e--;
    }
    double z = (m - 1) / (m + 1), sum = 0;
    for (int k = 23; k >= 1; k -= 2)
        sum = sum * z * z + 1.0 / k;
    return e + 2 * z * sum / ln2;
}

double floe_amplitude_of_decibel(double db) { return power_of_two(db * (log2_of_10 / 20)); }
double floe_decibel_of_amplitude(double amplitude) { return log_of_two(amplitude) * (20 / log2_of_10); }
