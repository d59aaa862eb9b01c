/* SPDX-License-Identifier: BSD-3-Clause */
/* Values on a lattice, once for both compilers: what it keeps of one, and logarithms. */
#ifndef FLOE_STAGE_LATTICE_VALUE_MATH_H
#define FLOE_STAGE_LATTICE_VALUE_MATH_H

#include <math.h>

#include "base/hd.h"
#include "base/real.h"
#include "stage/lattice/lattice_math.h"
#include "stage/quantizer/quantizer_math.h"

#if FLOE_REAL_BITS == 32
#define FLOE_LATTICE_OF(function) function##f
#define FLOE_LATTICE_MOST         3.4028234663852886e38f
#else
#define FLOE_LATTICE_OF(function) function
#define FLOE_LATTICE_MOST         1.7976931348623157e308
#endif

/* The lesser, the larger one; b, where a is no number. One instruction of a GPU; CPUs compare, as do their vectors. */
#ifdef __CUDA_ARCH__
#define FLOE_LATTICE_MIN(a, b) FLOE_LATTICE_OF(fmin)((a), (b))
#define FLOE_LATTICE_MAX(a, b) FLOE_LATTICE_OF(fmax)((a), (b))
#define FLOE_LATTICE_ABS(a)    FLOE_LATTICE_OF(fabs)(a)
#else
#define FLOE_LATTICE_MIN(a, b) ((a) < (b) ? (a) : (b))
#define FLOE_LATTICE_MAX(a, b) ((a) > (b) ? (a) : (b))
#define FLOE_LATTICE_ABS(a)    ((a) < 0 ? -(a) : (a))
#endif

/* What the lattice keeps of a value: NaN of one that is stored apart, because it is not finite, -0 or fill. */
FLOE_HD floe_real FLOE_R(floe_lattice_clean)(floe_real x, floe_uint fill)
{
    floe_uint bits;
    memcpy(&bits, &x, sizeof bits);
    const floe_uint sign = (floe_uint)1 << (FLOE_REAL_BITS - 1);
    const floe_real size = FLOE_LATTICE_ABS(x);
    const bool good = (size <= FLOE_LATTICE_MOST) & (bits != fill) & (bits != sign);
    return good ? x : (floe_real)NAN;
}

/* ---- the domain of logarithms ------------------------------------------------------------------------------------------ */

/* Products of smaller ones with a bound are not exact enough to be checked (docs/numerics.md). */
FLOE_HD floe_real FLOE_R(floe_lattice_log)(floe_real x, floe_uint fill)
{
    const floe_real clean = FLOE_R(floe_lattice_clean)(x, fill), size = clean < 0 ? -clean : clean;
    return (double)size >= 0x1p-960 ? (floe_real)floe_log2((double)size) : (floe_real)NAN;
}

/* The magnitude that a logarithm stands for. */
FLOE_HD floe_real FLOE_R(floe_lattice_exp)(floe_real r)
{
    double v = (double)r;
    v = v < FLOE_LOG_EXPONENT_MAX ? v : FLOE_LOG_EXPONENT_MAX;
    v = v > -FLOE_LOG_EXPONENT_MAX ? v : -FLOE_LOG_EXPONENT_MAX;
    v = floe_exp2(v);
    return (floe_real)(v < (double)FLOE_LATTICE_MOST ? v : (double)FLOE_LATTICE_MOST);
}

#endif
