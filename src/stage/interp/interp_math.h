/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prediction and quantization of stage interp, once for both compilers: explicit fma, + - * and comparisons on floe_real, in the
 * order written here. docs/format/interp.md.
 */
#ifndef FLOE_STAGE_INTERP_MATH_H
#define FLOE_STAGE_INTERP_MATH_H

#include "stage/interp/interp_rule.h"
#include "stage/lattice/lattice_value_math.h"

#if FLOE_REAL_BITS == 32
#define FLOE_INTERP_MAGIC 12582912.0f /* 1.5 * 2^23: adding it rounds to a whole number, which stands in the low bits */
#else
#define FLOE_INTERP_MAGIC 6755399441055744.0
#endif
#define FLOE_INTERP_FMA FLOE_LATTICE_OF(fma)

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
    r = FLOE_LATTICE_MIN(r, FLOE_LATTICE_MOST);
    return FLOE_LATTICE_MAX(r, -FLOE_LATTICE_MOST);
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
    m = FLOE_LATTICE_MIN(m, FLOE_INTERP_MAGIC + limit);
    return FLOE_LATTICE_MAX(m, FLOE_INTERP_MAGIC - limit) - FLOE_INTERP_MAGIC;
}

/* An error squared, in units of (tolerance / 2^10)^2, rounded up; 0 where it is above the tolerance. */
FLOE_HD uint64_t FLOE_R(floe_interp_square)(floe_real error, floe_real tolerance)
{
    const double unit = 1024 * (1 + 0x1p-40) / (double)tolerance,
                 e = error > 0 && error <= tolerance ? (double)error * unit : 0;
    return (uint64_t)(e * e) + (e > 0);
}

/* 0 where f is NaN, which stands for a value that is stored apart. */
FLOE_HD floe_real FLOE_R(floe_interp_encode)(floe_real f, floe_real predicted, floe_real inverse, floe_real limit)
{
    const floe_real q = FLOE_R(floe_interp_encode_number)(f, predicted, inverse, limit);
    return f == f ? q : 0;
}

#endif
