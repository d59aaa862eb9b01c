/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The formulas that turn a value into an integer and back, once, for both compilers. Only + - * / on floe_real or double,
 * in the order written here: no contraction, no libm, so that every machine gets the same bits. docs/numerics.md proves
 * why the bound holds.
 */
#ifndef FLOE_STAGE_QUANTIZER_MATH_H
#define FLOE_STAGE_QUANTIZER_MATH_H

#include <stdbool.h>

#include "base/hd.h"
#include "base/real.h"
#include "base/log_math.h"
#include "stage/quantizer/quantizer.h"
#include "stage/tile/tile.h"

/*
 * 1.5 * 2^(p-1) with p bits of precision: a sum with it has a unit of 1 in its last place, so adding it rounds to a whole
 * number, ties to even, which then stands in the low bits. Right as long as the sum stays in the binade: |v| <= 2^(p-2).
 */
#if FLOE_REAL_BITS == 32
#define FLOE_QUANTIZER_MAGIC      12582912.0f
#define FLOE_QUANTIZER_MAGIC_BITS 0x4B400000u
#define FLOE_QUANTIZER_LIMIT      4194304.0f /* 2^22 */
#define FLOE_REAL_SIGN            0x80000000u
#define FLOE_REAL_EXPONENT        0x7F800000u
#else
#define FLOE_QUANTIZER_MAGIC      6755399441055744.0
#define FLOE_QUANTIZER_MAGIC_BITS 0x4338000000000000u
#define FLOE_QUANTIZER_LIMIT      2251799813685248.0 /* 2^51 */
#define FLOE_REAL_SIGN            0x8000000000000000u
#define FLOE_REAL_EXPONENT        0x7FF0000000000000u
#endif

FLOE_HD floe_real FLOE_R(floe_real_abs)(floe_real x)
{
    return FLOE_R(floe_real_of)((floe_uint)(FLOE_R(floe_real_bits)(x) & ~FLOE_REAL_SIGN));
}

/* ---- linear: multiples of a step ------------------------------------------------------------------------------- */

FLOE_HD floe_real FLOE_R(floe_linear_decode)(floe_int q, floe_real step)
{
    floe_real whole = FLOE_R(floe_real_of)((floe_uint)q + FLOE_QUANTIZER_MAGIC_BITS) - FLOE_QUANTIZER_MAGIC;
    return whole * step;
}

typedef struct FLOE_R(floe_linear) {
    floe_int q;
    floe_real error; /* |x - decoded|, rounded; meaningless where not ok */
    bool ok;         /* decoding q gives a value within the tolerance */
} FLOE_R(floe_linear);

/* tolerance is below the bound by more than the rounding of the difference. -0 is never ok: it must come back as -0. */
FLOE_HD FLOE_R(floe_linear)
    FLOE_R(floe_linear_encode)(floe_real x, floe_real inverse, floe_real step, floe_real tolerance, floe_uint fill)
{
    FLOE_R(floe_linear) r;
    floe_real scaled = x * inverse;
    floe_real shifted = scaled + FLOE_QUANTIZER_MAGIC;
    floe_real whole = shifted - FLOE_QUANTIZER_MAGIC;
    floe_uint bits = FLOE_R(floe_real_bits)(x);
    r.q = (floe_int)(FLOE_R(floe_real_bits)(shifted) - FLOE_QUANTIZER_MAGIC_BITS);
    r.error = FLOE_R(floe_real_abs)(x - whole * step);
    r.ok = (r.error <= tolerance) & (FLOE_R(floe_real_abs)(scaled) <= FLOE_QUANTIZER_LIMIT) & (bits != FLOE_REAL_SIGN) &
           (bits != fill);
    return r;
}

/* ---- bits: the bit pattern as an integer that grows with the value --------------------------------------------- */

/* Its own inverse. -0 becomes -1, 0 stays 0. */
FLOE_HD floe_int FLOE_R(floe_bits_order)(floe_uint bits)
{
    floe_uint negative = (floe_uint)0 - (bits >> (FLOE_REAL_BITS - 1));
    return (floe_int)(bits ^ (negative & ~FLOE_REAL_SIGN));
}

/* ---- linear, of integers: multiples of a whole step --------------------------------------------------------------- */

/* The multiple nearest to v; step > 0, and odd, so that there is one. Nothing overflows. */
FLOE_HD floe_int FLOE_R(floe_whole_encode)(floe_int v, floe_int step)
{
    const floe_int q = v / step, rest = v - q * step;
    return q + (rest > step / 2) - (rest < -(step / 2));
}

/* q * step, and what lies beyond the type cut to its ends, which are then nearer; q is untrusted. */
FLOE_HD floe_int FLOE_R(floe_whole_decode)(floe_int q, floe_int step)
{
    const floe_int most = (floe_int)~FLOE_REAL_SIGN, limit = most / step;
    return q > limit ? most : q < -limit ? -most - 1 : q * step;
}

/* ---- log: multiples of a step in log2|x|, computed in double --------------------------------------------------- */

/* Codes beyond this (2^30 for f32, 2^50 for f64) are not used: their exponents would leave the range of exp2. */
#define FLOE_LOG_EXPONENT_MAX 1100.0

/* The magnitude that code q stands for; q is untrusted. */
FLOE_HD floe_real FLOE_R(floe_log_decode)(floe_int q, double step)
{
    double v = (double)q * step;
    v = v < -FLOE_LOG_EXPONENT_MAX ? -FLOE_LOG_EXPONENT_MAX : v > FLOE_LOG_EXPONENT_MAX ? FLOE_LOG_EXPONENT_MAX : v;
    double y = floe_exp2(v);
#if FLOE_REAL_BITS == 32
    y = y > 0x1.fffffep+127 ? 0x1.fffffep+127 : y; /* the conversion of more would be Inf, or undefined in C */
#endif
    return (floe_real)y;
}

typedef struct FLOE_R(floe_log) {
    floe_int q;
    double error; /* |x - decoded| / |x|; meaningless where not ok */
    bool ok;
} FLOE_R(floe_log);

/* x with its sign; the sign is kept elsewhere. Zero, non-finite values and fill are never ok. Below 2^-960 the product
 * tolerance * |x| could round up past the bound, so such values are left to the exceptions. */
FLOE_HD FLOE_R(floe_log) FLOE_R(floe_log_encode)(floe_real x, double step, double tolerance, floe_uint fill)
{
    FLOE_R(floe_log) r = {0, 0.0, false};
    floe_uint bits = FLOE_R(floe_real_bits)(x);
    double a = (double)FLOE_R(floe_real_abs)(x);
    if ((bits & FLOE_REAL_EXPONENT) == FLOE_REAL_EXPONENT || bits == fill || a < 0x1p-960)
        return r;
    double scaled = floe_log2(a) / step;
    double limit = FLOE_REAL_BITS == 32 ? 0x1p30 : 0x1p50;
    if (!(scaled <= limit && scaled >= -limit))
        return r;
    r.q = (floe_int)((scaled + 6755399441055744.0) - 6755399441055744.0);
    double error = a - (double)FLOE_R(floe_log_decode)(r.q, step);
    error = error < 0 ? -error : error;
    r.ok = error <= tolerance * a;
    r.error = error / a;
    return r;
}

/* Stage quantizer, the part that depends on the element type: a row of values. See quantizer.h. */
/* n values -> q. Returns how many are exceptions. Where that is not 0, bad[i] is 1 for those and 0 for the others, and
 * their q is unspecified; else bad is left alone. negative[i] (LOG only, else unused) is 1 for values below 0 that are no
 * exceptions. */
uint32_t FLOE_V(floe_quantizer_encode)(const floe_quantizer *quantizer, const floe_real *x, uint32_t n, floe_int *q,
                                       uint8_t *bad, uint8_t *negative, floe_quantizer_stats *stats);

/* q -> n values; q is untrusted. LOG gives magnitudes. False when a q lies outside the table. */
bool FLOE_V(floe_quantizer_decode)(const floe_quantizer *quantizer, const floe_int *q, uint32_t n, floe_real *y);

/* The same where quantizer->integer; n is at most FLOE_STEP_VALUES to decode. */
uint32_t FLOE_V(floe_integers_encode)(const floe_quantizer *quantizer, const floe_real *x, uint32_t n, floe_int *q,
                                      uint8_t *bad, floe_quantizer_stats *stats);
bool FLOE_V(floe_integers_decode)(const floe_quantizer *quantizer, const floe_int *q, uint32_t n, floe_real *y);

#endif
