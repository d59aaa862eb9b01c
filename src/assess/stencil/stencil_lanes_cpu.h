/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums and extremes of rows in FLOE_STENCIL_LANES lanes of doubles, whatever the vector width: the same bits on all. */
#ifndef FLOE_ASSESS_STENCIL_LANES_CPU_H
#define FLOE_ASSESS_STENCIL_LANES_CPU_H

#include <math.h>
#include <string.h>

#include "assess/stencil/stencil_cpu.h"
#include "assess/stencil/stencil_math.h"
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
FLOE_HD floe_octet floe_octet_abs(floe_octet a) { return (floe_octet)((floe_octet_mask)a & INT32_MAX); }

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

/* The eight groups of four in 32 values, those in the lower halves of the vectors first, become their first, second, third and
 * last values. */
FLOE_HD void floe_octet_groups(floe_octet q[FLOE_STENCIL_QUAD])
{
#if FLOE_AVX2
    const __m256 a = _mm256_unpacklo_ps((__m256)q[0], (__m256)q[1]), b = _mm256_unpacklo_ps((__m256)q[2], (__m256)q[3]);
    const __m256 c = _mm256_unpackhi_ps((__m256)q[0], (__m256)q[1]), d = _mm256_unpackhi_ps((__m256)q[2], (__m256)q[3]);
    q[0] = (floe_octet)_mm256_shuffle_ps(a, b, 0x44), q[1] = (floe_octet)_mm256_shuffle_ps(a, b, 0xee);
    q[2] = (floe_octet)_mm256_shuffle_ps(c, d, 0x44), q[3] = (floe_octet)_mm256_shuffle_ps(c, d, 0xee);
#else
    float v[FLOE_STENCIL_QUAD][8];
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < FLOE_STENCIL_QUAD; i++)
            v[i][k] = q[k % 4][k / 4 * 4 + i];
    memcpy(q, v, sizeof v);
#endif
}

FLOE_HD floe_octet floe_octet_square_add(floe_octet squares, floe_octet v)
{
#if FLOE_AVX2
    return (floe_octet)_mm256_fmadd_ps((__m256)v, (__m256)v, (__m256)squares);
#else
    for (int k = 0; k < 8; k++)
        squares[k] = floe_stencil_square_add_f32(squares[k], v[k]);
    return squares;
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

FLOE_HD void floe_octets_load(const float *x, floe_octet q[FLOE_STENCIL_QUAD])
{
    for (int k = 0; k < FLOE_STENCIL_QUAD; k++)
        q[k] = floe_octet_load(x + 8 * k);
}

FLOE_HD double floe_lanes_sum_f32(const float *x, uint64_t n)
{
    floe_vec sum[FLOE_VECS] = {floe_vec_of(0), floe_vec_of(0)};
    for (uint64_t i = 0; i < n; i += 8 * FLOE_STENCIL_QUAD) {
        floe_octet q[FLOE_STENCIL_QUAD];
        floe_octets_load(x + i, q);
        floe_octet_groups(q);
        floe_lanes_add_octet(sum, (q[0] + q[1]) + (q[2] + q[3]));
    }
    const floe_lanes total = floe_lanes_of(sum);
    return floe_lanes_total(&total);
}

/* The sum of squares, as floe_stencil_squares_f32 finds them of each group, and the largest magnitude. */
FLOE_HD double floe_lanes_errors_f32(const float *x, uint64_t n, float *most)
{
    floe_vec sum[FLOE_VECS] = {floe_vec_of(0), floe_vec_of(0)};
    floe_octet max = floe_octet_of(0);
    for (uint64_t i = 0; i < n; i += 8 * FLOE_STENCIL_QUAD) {
        floe_octet q[FLOE_STENCIL_QUAD];
        floe_octets_load(x + i, q);
        for (int k = 0; k < FLOE_STENCIL_QUAD; k++)
            max = floe_octet_max(max, floe_octet_abs(q[k]));
        floe_octet_groups(q);
        floe_octet squares = q[0] * q[0];
        for (int k = 1; k < FLOE_STENCIL_QUAD; k++)
            squares = floe_octet_square_add(squares, q[k]);
        floe_lanes_add_octet(sum, squares);
    }
    const floe_lanes total = floe_lanes_of(sum);
    *most = 0;
    for (int i = 0; i < 8; i++)
        *most = max[i] > *most ? max[i] : *most;
    return floe_lanes_total(&total);
}

FLOE_HD double floe_lanes_squares_f32(const float *x, uint64_t n)
{
    float most;
    return floe_lanes_errors_f32(x, n, &most);
}

#endif
