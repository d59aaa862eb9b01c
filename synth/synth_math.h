/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashing and elementary functions from integer operations and + - * / in double, in a fixed order: the same bits
 * everywhere, where a libm may differ in the last bit. Accurate to about 1e-15; without branches, so loops vectorize. */
#ifndef SYNTH_MATH_H
#define SYNTH_MATH_H

#include <float.h>
#include <stdint.h>
#include <string.h>

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "needs arithmetic in the precision of the type (not x87): build with -msse2 -mfpmath=sse"
#endif

/* ---- random numbers: a hash of a counter, so that any element can be had on its own ---------------------------- */

#define SYNTH_PHI UINT64_C(0x9E3779B97F4A7C15) /* 2^64 / golden ratio */

/* Multipliers: the fractions of sqrt(2) and sqrt(3) in 64 bits, made odd. */
static inline uint64_t synth_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0x6A09E667F3BCC909);
    x ^= x >> 29;
    x *= UINT64_C(0xBB67AE8584CAA73B);
    x ^= x >> 32;
    x *= SYNTH_PHI;
    return x ^ (x >> 31);
}

static inline uint64_t synth_hash(uint64_t key, uint64_t i) { return synth_mix(key + (i + 1) * SYNTH_PHI); }

/* [0, 1) from 53 bits, and [-1, 1). */
static inline double synth_unit(uint64_t h) { return (double)(int64_t)(h >> 11) * 0x1p-53; }
static inline double synth_signed(uint64_t h) { return 2 * synth_unit(h) - 1; }

/* ---- elementary functions -------------------------------------------------------------------------------------- */

static inline double synth_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t synth_to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* To the nearest whole number, ties to even; |x| < 2^51. Adding 1.5 * 2^52 leaves no bits below one. */
static inline double synth_round(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/* Cosine and sine of an angle in turns, as a 64-bit fraction: the range reduction is exact and costs nothing.
 * The top two bits, after half a quadrant is added, are the quadrant; what is left is within pi/4 of its middle, where
 * the Taylor series to x^15 and x^16 are exact to 1e-17. */
static inline void synth_cos_sin(uint64_t turn, double *c, double *s)
{
    uint64_t t = turn + (UINT64_C(1) << 61);
    uint64_t quadrant = t >> 62;
    double f = synth_from_bits(UINT64_C(0x3FF0000000000000) | ((t << 2) >> 12)) - 1.5; /* quadrants, [-0.5, 0.5) */
    double x = f * 1.5707963267948966;
    double z = x * x;
    double ps = -1.0 / 1307674368000.0;
    double pc = 1.0 / 20922789888000.0;
    ps = ps * z + 1.0 / 6227020800.0;
    pc = pc * z - 1.0 / 87178291200.0;
    ps = ps * z - 1.0 / 39916800.0;
    pc = pc * z + 1.0 / 479001600.0;
    ps = ps * z + 1.0 / 362880.0;
    pc = pc * z - 1.0 / 3628800.0;
    ps = ps * z - 1.0 / 5040.0;
    pc = pc * z + 1.0 / 40320.0;
    ps = ps * z + 1.0 / 120.0;
    pc = pc * z - 1.0 / 720.0;
    ps = ps * z - 1.0 / 6.0;
    pc = pc * z + 1.0 / 24.0;
    pc = pc * z - 0.5;
    double sine = x + x * (z * ps);
    double cosine = 1.0 + z * pc;
    double a = quadrant & 1 ? sine : cosine;
    double b = quadrant & 1 ? cosine : sine;
    *c = (quadrant + 1) & 2 ? -a : a;
    *s = quadrant & 2 ? -b : b;
}

/* 2^x, x clamped to [-1000, 1000]: 2^n from the exponent bits, times the Taylor series of e^(f ln 2), |f| <= 0.5. */
static inline double synth_exp2(double x)
{
    x = x < -1000 ? -1000 : x;
    x = x > 1000 ? 1000 : x;
    double shifted = x + 0x1.8p52;
    double z = (x - (shifted - 0x1.8p52)) * 0.69314718055994531;
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
    return p * synth_from_bits((synth_to_bits(shifted) + 1023) << 52);
}

/* log2 of a positive normal number: the exponent, plus 2 atanh((m - 1) / (m + 1)) / ln 2 of the mantissa in [1, 2). */
static inline double synth_log2(double x)
{
    uint64_t bits = synth_to_bits(x);
    double exponent = (double)((int64_t)(bits >> 52) - 1023);
    double m = synth_from_bits((bits & UINT64_C(0x000FFFFFFFFFFFFF)) | UINT64_C(0x3FF0000000000000));
    double t = (m - 1) / (m + 1);
    double z = t * t;
    double p = 0;
    for (int k = 33; k >= 1; k -= 2)
        p = p * z + 1.0 / k;
    return exponent + 2 * t * p * 1.4426950408889634;
}

#endif
