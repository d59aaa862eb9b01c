/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums and extremes of rows in FLOE_STENCIL_LANES lanes of doubles, whatever the vector width: the same bits on all. */
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
typedef float floe_octet __attribute__((vector_size(32)));
typedef int32_t floe_octet_mask __attribute__((vector_size(32)));

FLOE_HD floe_vec floe_vec_load(const double *p)
{
    floe_vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
FLOE_HD floe_octet floe_octet_load(const float *p)
{
    floe_octet v;
    memcpy(&v, p, sizeof v);
    return v;
}

FLOE_HD floe_vec floe_vec_of(double x) { return (floe_vec){x, x, x, x}; }
FLOE_HD floe_octet floe_octet_of(float x) { return (floe_octet){x, x, x, x, x, x, x, x}; }

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
FLOE_HD floe_octet floe_octet_min(floe_octet a, floe_octet b)
{
#if FLOE_AVX2
    return (floe_octet)_mm256_min_ps((__m256)b, (__m256)a);
#else
    const floe_octet_mask m = (floe_octet_mask)(b < a);
    return (floe_octet)((m & (floe_octet_mask)b) | (~m & (floe_octet_mask)a));
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
FLOE_HD floe_octet floe_octet_max(floe_octet a, floe_octet b)
{
#if FLOE_AVX2
    return (floe_octet)_mm256_max_ps((__m256)b, (__m256)a);
#else
    const floe_octet_mask m = (floe_octet_mask)(b > a);
    return (floe_octet)((m & (floe_octet_mask)b) | (~m & (floe_octet_mask)a));
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

/* ---- rows of doubles, whole lanes -------------------------------------------------------------------------------- */

FLOE_HD void floe_lanes_extremes_f64(const double *x, uint64_t n, double *least, double *most)
{
    floe_vec min = floe_vec_load(x), max = min;
    for (uint64_t i = FLOE_VEC; i < n; i += FLOE_VEC) {
        const floe_vec v = floe_vec_load(x + i);
        min = floe_vec_min(min, v);
        max = floe_vec_max(max, v);
    }
    *least = min[0], *most = max[0];
    for (int i = 1; i < FLOE_VEC; i++) {
        *least = min[i] < *least ? min[i] : *least;
        *most = max[i] > *most ? max[i] : *most;
    }
}

FLOE_HD double floe_lanes_sum_f64(const double *x, uint64_t n)
{
    floe_vec sum[FLOE_VECS] = {floe_vec_of(0), floe_vec_of(0)};
    for (uint64_t i = 0; i < n; i += FLOE_STENCIL_LANES)
        for (int v = 0; v < FLOE_VECS; v++)
            sum[v] += floe_vec_load(x + i + v * FLOE_VEC);
    const floe_lanes total = floe_lanes_of(sum);
    return floe_lanes_total(&total);
}

/* The sum of squares, and the largest magnitude. */
FLOE_HD double floe_lanes_errors_f64(const double *x, uint64_t n, double *most)
{
    floe_vec sum[FLOE_VECS] = {floe_vec_of(0), floe_vec_of(0)}, max = floe_vec_of(0);
    for (uint64_t i = 0; i < n; i += FLOE_STENCIL_LANES)
        for (int v = 0; v < FLOE_VECS; v++) {
            const floe_vec w = floe_vec_load(x + i + v * FLOE_VEC);
            max = floe_vec_max(max, floe_vec_abs(w));
            sum[v] += w * w;
        }
    const floe_lanes total = floe_lanes_of(sum);
    *most = 0;
    for (int i = 0; i < FLOE_VEC; i++)
        *most = max[i] > *most ? max[i] : *most;
    return floe_lanes_total(&total);
}

FLOE_HD double floe_lanes_squares_f64(const double *x, uint64_t n)
{
    double most;
    return floe_lanes_errors_f64(x, n, &most);
}

/* ---- rows of floats, whole lanes of groups ----------------------------------------------------------------------- */

/* Sums of the eight groups of four in 32 values: those in the lower halves of the vectors first. */
FLOE_HD floe_octet floe_octet_groups(const floe_octet q[FLOE_STENCIL_QUAD])
{
#if FLOE_AVX2
    const __m256 a = _mm256_hadd_ps((__m256)q[0], (__m256)q[1]), b = _mm256_hadd_ps((__m256)q[2], (__m256)q[3]);
    return (floe_octet)_mm256_hadd_ps(a, b);
#else
    floe_octet sums;
    for (int k = 0; k < 8; k++) {
        const floe_octet v = q[k % 4];
        const int i = k / 4 * 4;
        sums[k] = (v[i] + v[i + 1]) + (v[i + 2] + v[i + 3]);
    }
    return sums;
#endif
}

FLOE_HD void floe_lanes_add_octet(floe_vec sum[FLOE_VECS], floe_octet v)
{
    for (int i = 0; i < FLOE_VECS; i++) {
        const int k = i * FLOE_VEC;
        sum[i] += (floe_vec){(double)v[k], (double)v[k + 1], (double)v[k + 2], (double)v[k + 3]};
    }
}

FLOE_HD void floe_lanes_extremes_f32(const float *x, uint64_t n, float *least, float *most)
{
    floe_octet min = floe_octet_load(x), max = min;
    for (uint64_t i = 8; i < n; i += 8) {
        const floe_octet v = floe_octet_load(x + i);
        min = floe_octet_min(min, v);
        max = floe_octet_max(max, v);
    }
    *least = min[0], *most = max[0];
    for (int i = 1; i < 8; i++) {
        *least = min[i] < *least ? min[i] : *least;
        *most = max[i] > *most ? max[i] : *most;
    }
}

FLOE_HD double floe_lanes_sum_f32(const float *x, uint64_t n)
{
    floe_vec sum[FLOE_VECS] = {floe_vec_of(0), floe_vec_of(0)};
    for (uint64_t i = 0; i < n; i += 8 * FLOE_STENCIL_QUAD) {
        floe_octet q[FLOE_STENCIL_QUAD];
        for (int k = 0; k < FLOE_STENCIL_QUAD; k++)
            q[k] = floe_octet_load(x + i + 8 * k);
        floe_lanes_add_octet(sum, floe_octet_groups(q));
    }
    const floe_lanes total = floe_lanes_of(sum);
    return floe_lanes_total(&total);
}

/* The sum of squares, and the largest magnitude: the root of a square that is not tiny is exact. */
FLOE_HD double floe_lanes_errors_f32(const float *x, uint64_t n, float *most)
{
    floe_vec sum[FLOE_VECS] = {floe_vec_of(0), floe_vec_of(0)};
    floe_octet max = floe_octet_of(0);
    for (uint64_t i = 0; i < n; i += 8 * FLOE_STENCIL_QUAD) {
        floe_octet q[FLOE_STENCIL_QUAD];
        for (int k = 0; k < FLOE_STENCIL_QUAD; k++) {
            const floe_octet v = floe_octet_load(x + i + 8 * k);
            q[k] = v * v;
            max = floe_octet_max(max, q[k]);
        }
        floe_lanes_add_octet(sum, floe_octet_groups(q));
    }
    const floe_lanes total = floe_lanes_of(sum);
    float square = 0;
    for (int i = 0; i < 8; i++)
        square = max[i] > square ? max[i] : square;
    *most = sqrtf(square);
    return floe_lanes_total(&total);
}

FLOE_HD double floe_lanes_squares_f32(const float *x, uint64_t n)
{
    float most;
    return floe_lanes_errors_f32(x, n, &most);
}

#endif
