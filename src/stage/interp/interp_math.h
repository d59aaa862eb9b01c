/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prediction and quantization of stage interp, once for both compilers: explicit fma, + - * and comparisons on floe_real, in the
 * order written here. docs/format/interp.md.
 */
#ifndef FLOE_STAGE_INTERP_MATH_H
#define FLOE_STAGE_INTERP_MATH_H

#include <math.h>

#include "base/hd.h"
#include "base/real.h"
#include "stage/interp/interp_shape.h"
#include "stage/quantizer/quantizer_math.h"

#if FLOE_REAL_BITS == 32
#define FLOE_INTERP_OF(function) function##f
#define FLOE_INTERP_MAGIC        12582912.0f /* 1.5 * 2^23: adding it rounds to a whole number, which stands in the low bits */
#define FLOE_INTERP_MOST         3.4028234663852886e38f
#else
#define FLOE_INTERP_OF(function) function
#define FLOE_INTERP_MAGIC        6755399441055744.0
#define FLOE_INTERP_MOST         1.7976931348623157e308
#endif
#define FLOE_INTERP_FMA FLOE_INTERP_OF(fma)

/* The lesser, the larger one; b, where a is no number. One instruction of a GPU; CPUs compare, as do their vectors. */
#ifdef __CUDA_ARCH__
#define FLOE_INTERP_MIN(a, b) FLOE_INTERP_OF(fmin)((a), (b))
#define FLOE_INTERP_MAX(a, b) FLOE_INTERP_OF(fmax)((a), (b))
#define FLOE_INTERP_ABS(a)    FLOE_INTERP_OF(fabs)(a)
#else
#define FLOE_INTERP_MIN(a, b) ((a) < (b) ? (a) : (b))
#define FLOE_INTERP_MAX(a, b) ((a) > (b) ? (a) : (b))
#define FLOE_INTERP_ABS(a)    ((a) < 0 ? -(a) : (a))
#endif

/* ---- prediction -------------------------------------------------------------------------------------------------------- */

/* Of the even points before, here, after and after that, around an odd one. */
typedef struct FLOE_R(floe_interp_weights) {
    floe_real before, here, after, beyond;
} FLOE_R(floe_interp_weights);

#ifdef __cplusplus
#define FLOE_INTERP_WEIGHTS(...) \
    FLOE_R(floe_interp_weights) { __VA_ARGS__ }
#else
#define FLOE_INTERP_WEIGHTS(...) ((FLOE_R(floe_interp_weights)){__VA_ARGS__})
#endif

/* For the odd point of cell g, of n cells along the axis. A neighbour that is missing has weight 0. */
FLOE_HD FLOE_R(floe_interp_weights) FLOE_R(floe_interp_weights_at)(uint32_t predictor, uint64_t g, uint64_t n)
{
    const bool before = g > 0 && predictor != FLOE_INTERP_LINEAR, beyond = g + 2 < n && predictor != FLOE_INTERP_LINEAR;
    if (g + 1 >= n)
        return g > 0 ? FLOE_INTERP_WEIGHTS((floe_real)-0.5, (floe_real)1.5, 0, 0) : FLOE_INTERP_WEIGHTS(0, 1, 0, 0);
    if (before && beyond)
        return predictor == FLOE_INTERP_NATURAL
                   ? FLOE_INTERP_WEIGHTS((floe_real)-0.075, (floe_real)0.575, (floe_real)0.575, (floe_real)-0.075)
                   : FLOE_INTERP_WEIGHTS((floe_real)-0.0625, (floe_real)0.5625, (floe_real)0.5625, (floe_real)-0.0625);
    if (before)
        return FLOE_INTERP_WEIGHTS((floe_real)-0.125, (floe_real)0.75, (floe_real)0.375, 0);
    if (beyond)
        return FLOE_INTERP_WEIGHTS(0, (floe_real)0.375, (floe_real)0.75, (floe_real)-0.125);
    return FLOE_INTERP_WEIGHTS(0, (floe_real)0.5, (floe_real)0.5, 0);
}

FLOE_HD floe_real FLOE_R(floe_interp_predict)(FLOE_R(floe_interp_weights) w, floe_real before, floe_real here,
                                              floe_real after, floe_real beyond)
{
    return FLOE_INTERP_FMA(w.before, before,
                           FLOE_INTERP_FMA(w.beyond, beyond, FLOE_INTERP_FMA(w.here, here, w.after * after)));
}

/* ---- quantization ------------------------------------------------------------------------------------------------------ */

/* Lattices stay finite, whatever a stream holds: sums that leave the range, or are none, become its ends. */
FLOE_HD floe_real FLOE_R(floe_interp_finite)(floe_real r)
{
    r = FLOE_INTERP_MIN(r, FLOE_INTERP_MOST);
    return FLOE_INTERP_MAX(r, -FLOE_INTERP_MOST);
}

FLOE_HD floe_real FLOE_R(floe_interp_decode)(floe_real q, floe_real step, floe_real predicted)
{
    return FLOE_R(floe_interp_finite)(FLOE_INTERP_FMA(q, step, predicted));
}

/* The code of a number, cut to -limit .. limit, as a whole number. */
FLOE_HD floe_real FLOE_R(floe_interp_encode_number)(floe_real f, floe_real predicted, floe_real inverse,
                                                    floe_real limit)
{
    floe_real m = FLOE_INTERP_FMA(f - predicted, inverse, FLOE_INTERP_MAGIC);
    m = FLOE_INTERP_MIN(m, FLOE_INTERP_MAGIC + limit);
    return FLOE_INTERP_MAX(m, FLOE_INTERP_MAGIC - limit) - FLOE_INTERP_MAGIC;
}

/* 0 where f is NaN, which stands for a value that is stored apart. */
FLOE_HD floe_real FLOE_R(floe_interp_encode)(floe_real f, floe_real predicted, floe_real inverse, floe_real limit)
{
    const floe_real q = FLOE_R(floe_interp_encode_number)(f, predicted, inverse, limit);
    return f == f ? q : 0;
}

/* What the lattice keeps of a value: NaN of one that is stored apart, because it is not finite, -0 or fill. */
FLOE_HD floe_real FLOE_R(floe_interp_clean)(floe_real x, floe_uint fill)
{
    floe_uint bits;
    memcpy(&bits, &x, sizeof bits);
    const floe_uint sign = (floe_uint)1 << (FLOE_REAL_BITS - 1);
    const floe_real size = FLOE_INTERP_ABS(x);
    const bool good = (size <= FLOE_INTERP_MOST) & (bits != fill) & (bits != sign);
    return good ? x : (floe_real)NAN;
}

/* ---- the domain of logarithms ------------------------------------------------------------------------------------------ */

/* Products of smaller ones with a bound are not exact enough to be checked (docs/numerics.md). */
FLOE_HD floe_real FLOE_R(floe_interp_log)(floe_real x, floe_uint fill)
{
    const floe_real clean = FLOE_R(floe_interp_clean)(x, fill), size = clean < 0 ? -clean : clean;
    return (double)size >= 0x1p-960 ? (floe_real)floe_log2((double)size) : (floe_real)NAN;
}

/* The magnitude that a logarithm stands for. */
FLOE_HD floe_real FLOE_R(floe_interp_exp)(floe_real r)
{
    double v = (double)r;
    v = v < FLOE_LOG_EXPONENT_MAX ? v : FLOE_LOG_EXPONENT_MAX;
    v = v > -FLOE_LOG_EXPONENT_MAX ? v : -FLOE_LOG_EXPONENT_MAX;
    v = floe_exp2(v);
    return (floe_real)(v < (double)FLOE_INTERP_MOST ? v : (double)FLOE_INTERP_MOST);
}

#endif
