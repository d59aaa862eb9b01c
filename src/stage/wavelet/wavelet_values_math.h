/* SPDX-License-Identifier: BSD-3-Clause */
/* A value of the field <-> the array, and whether it comes back as it must: once for both compilers. docs/format/wavelet.md. */
#ifndef FLOE_STAGE_WAVELET_VALUES_MATH_H
#define FLOE_STAGE_WAVELET_VALUES_MATH_H

#include "stage/lattice/lattice_value_math.h"
#include "stage/wavelet/wavelet_math.h"
#include "stage/wavelet/wavelet_values.h"

/* A value of the array, before center is subtracted; NaN if no transform can have it. */
FLOE_HD floe_real FLOE_R(floe_wavelet_take)(floe_real x, uint64_t fill, bool log)
{
    const floe_real f =
        log ? FLOE_R(floe_lattice_log)(x, (floe_uint)fill) : FLOE_R(floe_lattice_clean)(x, (floe_uint)fill);
    return FLOE_LATTICE_ABS(f) < FLOE_WAVELET_LIMIT ? f : (floe_real)NAN;
}

/* What the field will have for a value of the array, or its logarithm. */
FLOE_HD floe_real FLOE_R(floe_wavelet_give)(floe_real v, floe_real center)
{
    return FLOE_R(floe_wavelet_finite)(v) + center;
}

/* A value of a level, which may lie beyond all of the field. */
FLOE_HD floe_real FLOE_R(floe_wavelet_cut)(floe_real y, floe_real min, floe_real max)
{
    y = y < min ? min : y;
    return y > max ? max : y;
}

/* Whether y is near enough to x; its error, and the magnitude of x. */
FLOE_HD bool FLOE_R(floe_wavelet_is_within)(floe_real x, floe_real y, bool log, double tolerance, double *error,
                                            double *size)
{
    *size = x < 0 ? -(double)x : (double)x;
    if (!log) {
        const floe_real d = x - y;
        *error = d < 0 ? -(double)d : (double)d;
        return *error <= tolerance;
    }
    *error = *size - (double)y;
    *error = *error < 0 ? -*error : *error;
    return *error <= tolerance * *size;
}

/* An error squared, in units of (tolerance / 2^10)^2, rounded up. A tolerance of 0 leaves no error. */
FLOE_HD uint64_t FLOE_R(floe_wavelet_square)(double error, double tolerance)
{
    const double e = error > 0 ? error * (1024 * (1 + 0x1p-40)) / tolerance : 0;
    return (uint64_t)(e * e) + (e > 0);
}

/* The correction that brings v near f - center; 0 if none is large enough. */
FLOE_HD int32_t FLOE_R(floe_wavelet_correction)(floe_real f, floe_real v, double center, double unit)
{
    const double off = (double)f - center - (double)v, size = off < 0 ? -off : off, k = size / unit + 0.75;
    if (!(k < FLOE_WAVELET_CORRECTION_MOST + 1))
        return 0;
    const int32_t code = k < 1 ? 1 : (int32_t)k;
    return off < 0 ? -code : code;
}

#endif
