/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums and extremes of rows of doubles in FLOE_STENCIL_LANES lanes, whatever the vector width: the same bits on all. */
#ifndef FLOE_ASSESS_STENCIL_LANES_CPU_H
#define FLOE_ASSESS_STENCIL_LANES_CPU_H

#include <math.h>
#include <string.h>

#include "assess/stencil/stencil_cpu.h"
#include "base/hd.h"

#if FLOE_AVX2
#include <immintrin.h>
#endif

enum { FLOE_VEC = 4, FLOE_VECS = FLOE_STENCIL_LANES / FLOE_VEC };

/* Vectors of the compiler (GCC and clang). */
typedef double floe_vec __attribute__((vector_size(8 * FLOE_VEC)));
typedef int64_t floe_vec_mask __attribute__((vector_size(8 * FLOE_VEC)));

FLOE_HD floe_vec floe_vec_load(const double *p)
{
    floe_vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

FLOE_HD floe_vec floe_vec_of(double x) { return (floe_vec){x, x, x, x}; }

/* b where it is less than a, else a. */
FLOE_HD floe_vec floe_vec_min(floe_vec a, floe_vec b)
{
#if FLOE_AVX2
    return (floe_vec)_mm256_min_pd((__m256d)b, (__m256d)a);
#else
    const floe_vec_mask m = (floe_vec_mask)(b < a);
    return (floe_vec)((m & (floe_vec_mask)b) | (~m & (floe_vec_mask)a));
#endif
}

FLOE_HD floe_vec floe_vec_max(floe_vec a, floe_vec b)
{
#if FLOE_AVX2
    return (floe_vec)_mm256_max_pd((__m256d)b, (__m256d)a);
#else
    const floe_vec_mask m = (floe_vec_mask)(b > a);
    return (floe_vec)((m & (floe_vec_mask)b) | (~m & (floe_vec_mask)a));
#endif
}

FLOE_HD floe_vec floe_vec_abs(floe_vec a) { return (floe_vec)((floe_vec_mask)a & INT64_MAX); }

/* Lanes of sums, to which the last values of a row come one by one. */
typedef struct floe_lanes {
    double lane[FLOE_STENCIL_LANES];
} floe_lanes;

FLOE_HD floe_lanes floe_lanes_of(const floe_vec v[FLOE_VECS])
{
    floe_lanes l;
    memcpy(l.lane, v, sizeof l.lane);
    return l;
}

FLOE_HD double floe_lanes_total(const floe_lanes *l)
{
    const double *s = l->lane;
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

#endif
