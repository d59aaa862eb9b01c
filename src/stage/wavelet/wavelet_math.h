/* SPDX-License-Identifier: BSD-3-Clause */
/* Lifting and quantization of stage wavelet, once for both compilers: explicit fma and comparisons on floe_real, in the order
 * written here. docs/format/wavelet.md. */
#ifndef FLOE_STAGE_WAVELET_MATH_H
#define FLOE_STAGE_WAVELET_MATH_H

#include <math.h>
#include <stdbool.h>

#include "base/hd.h"
#include "base/real.h"
#include "stage/quantizer/quantizer_math.h"
#include "stage/wavelet/wavelet_shape.h"

#if FLOE_REAL_BITS == 32
#define FLOE_WAVELET_FMA   fmaf
#define FLOE_WAVELET_LIMIT 0x1p100f
#else
#define FLOE_WAVELET_FMA   fma
#define FLOE_WAVELET_LIMIT 0x1p1000
#endif

enum { FLOE_WAVELET_TAPS = 8, FLOE_WAVELET_LIFTS = 4 };

/* A lifting: adds to each value of one parity weighted values of the other, numbers first .. first + ntaps - 1 from its own on. */
typedef struct floe_wavelet_lift {
    bool to_odd;
    int32_t first;
    uint32_t ntaps;
    double weight[FLOE_WAVELET_TAPS];
} floe_wavelet_lift;

/* Where a position of a signal of n > 1 points lies once it is reflected at both ends; its parity stays. */
FLOE_HD int64_t floe_wavelet_reflect(int64_t p, int64_t n)
{
    while (p < 0 || p >= n)
        p = p < 0 ? -p : 2 * (n - 1) - p;
    return p;
}

/* The even points that predict odd point `index` where its stencil leaves the signal: up to 4, the nearest ones, two to extrapolate.
 * Weights are those of the polynomial through them, exact in either type. Returns how many. */
FLOE_HD uint32_t floe_wavelet_one_sided(int64_t index, int64_t nevens, int64_t *first, double weight[4])
{
    const int64_t left = index + 1, most = left == nevens ? 2 : 4, count = nevens < most ? nevens : most;
    int64_t at = left - most / 2 > 0 ? left - most / 2 : 0;
    at = at + count > nevens ? nevens - count : at;
    const int32_t near = (int32_t)(index - at);
    FLOE_NO_UNROLL
    for (int32_t k = 0; k < count; k++) {
        int32_t above = 1, below = 1;
        FLOE_NO_UNROLL
        for (int32_t j = 0; j < count; j++) {
            above *= j == k ? 1 : 2 * (near - j) + 1;
            below *= j == k ? 1 : 2 * (k - j);
        }
        weight[k] = (double)above / (double)below;
    }
    *first = at;
    return (uint32_t)count;
}

FLOE_HD int64_t floe_wavelet_clamp(int64_t v, int64_t lo, int64_t hi) { return v < lo ? lo : v < hi ? v : hi; }

/* Odd points that one-sided ends predict: this many on the left, then from the right end on. */
enum { FLOE_WAVELET_SIDED_LEFT = 3, FLOE_WAVELET_SIDED = 7 };

enum {
    FLOE_WAVELET_NEAR_END = 5, /* points of a parity, next to an end, whose images lie beyond it */
    FLOE_WAVELET_AROUND = 12 /* points around a tile on which its own depend: banks with 6 + 6 and 8 + 4 taps need 10 */
};

/* The points of each parity, of a signal of n, that must be there before a lifting so that those of `w` are right after it. */
FLOE_HD floe_wavelet_span floe_wavelet_span_needed(const floe_wavelet_lift *s, int64_t n, floe_wavelet_span w)
{
    const int to = s->to_odd, from = !to;
    const int64_t count = from ? n / 2 : n - n / 2;
    int64_t lo = w.lo[to] + s->first, hi = w.hi[to] + s->first + (int64_t)s->ntaps - 1;
    if (w.lo[to] >= w.hi[to])
        return w;
    const bool below = lo<0, above = hi> count;
    lo = above && lo > count - FLOE_WAVELET_NEAR_END ? count - FLOE_WAVELET_NEAR_END : lo;
    hi = below && hi < FLOE_WAVELET_NEAR_END ? FLOE_WAVELET_NEAR_END : hi;
    lo = w.lo[from] < w.hi[from] && w.lo[from] < lo ? w.lo[from] : lo;
    hi = w.lo[from] < w.hi[from] && w.hi[from] > hi ? w.hi[from] : hi;
    w.lo[from] = floe_wavelet_clamp(lo, 0, count);
    w.hi[from] = floe_wavelet_clamp(hi, 0, count);
    return w;
}

/* Keeps sums finite, whatever a stream holds. */
FLOE_HD floe_real FLOE_R(floe_wavelet_finite)(floe_real v)
{
    v = v < FLOE_WAVELET_LIMIT ? v : FLOE_WAVELET_LIMIT;
    return v > -FLOE_WAVELET_LIMIT ? v : -FLOE_WAVELET_LIMIT;
}

/* Adds to each of n values, of which a chunk has fewer than 2^31, ntaps others with weights; these lie `width` apart. _taps: as many as
 * a bank may have, each in a loop of its own, so that compilers make vectors. */
FLOE_HD void FLOE_R(floe_wavelet_add_some)(floe_real *__restrict__ to, const floe_real *__restrict__ from, int32_t n,
                                           int32_t width, const floe_real *w, int32_t ntaps)
{
    for (int32_t i = 0; i < n; i++) {
        floe_real sum = to[i];
        for (int32_t k = 0; k < ntaps; k++)
            sum = FLOE_WAVELET_FMA(w[k], from[i + k * width], sum);
        to[i] = sum;
    }
}
FLOE_HD void FLOE_R(floe_wavelet_add_taps)(floe_real *to, const floe_real *from, int32_t n, int32_t width,
                                           const floe_real *w, uint32_t ntaps)
{
    switch (ntaps) {
    case 1: FLOE_R(floe_wavelet_add_some)(to, from, n, width, w, 1); break;
    case 2: FLOE_R(floe_wavelet_add_some)(to, from, n, width, w, 2); break;
    case 3: FLOE_R(floe_wavelet_add_some)(to, from, n, width, w, 3); break;
    case 4: FLOE_R(floe_wavelet_add_some)(to, from, n, width, w, 4); break;
    case 6: FLOE_R(floe_wavelet_add_some)(to, from, n, width, w, 6); break;
    default: FLOE_R(floe_wavelet_add_some)(to, from, n, width, w, 8);
    }
}

/* ---- quantization ------------------------------------------------------------------------------------------------------ */

/* Below 1/2, so that codes of 0 take more. */
#define FLOE_WAVELET_ROUNDING ((floe_real)0.46)

/* |v| < limit; false for a NaN of either sign. It compares whole numbers, which compilers turn into vector instructions. */
FLOE_HD bool FLOE_R(floe_wavelet_is_below)(floe_real v, floe_real limit)
{
    return (floe_int)FLOE_R(floe_real_bits)(FLOE_R(floe_real_abs)(v)) < (floe_int)FLOE_R(floe_real_bits)(limit);
}

/* The magnitude of the code. Where the step is so small that its inverse is infinite, it is the limit, for 0 too. */
FLOE_HD int32_t FLOE_R(floe_wavelet_encode)(floe_real w, floe_real inverse, floe_real limit)
{
    const floe_real m = FLOE_WAVELET_FMA(FLOE_R(floe_real_abs)(w), inverse, FLOE_WAVELET_ROUNDING);
    return (int32_t)(FLOE_R(floe_wavelet_is_below)(m, limit) ? m : limit);
}

/* How far the value is from its code, in 1 / 256 of a step, for floe_wavelet_means. */
FLOE_HD int32_t FLOE_R(floe_wavelet_off)(floe_real w, floe_real inverse, int32_t m)
{
    const floe_real off = FLOE_R(floe_real_abs)(w) * inverse - (floe_real)m;
    return (int32_t)(FLOE_R(floe_wavelet_is_below)(off, 1) ? off * 256 : 0);
}

FLOE_HD floe_real FLOE_R(floe_wavelet_shift)(int32_t units) { return (floe_real)units / FLOE_WAVELET_SHIFT_UNIT; }

/* The size for which a magnitude that is not 0 stands. shift: how far values lie from it in the mean, in steps. */
FLOE_HD floe_real FLOE_R(floe_wavelet_size)(int32_t magnitude, floe_real shift, floe_real step)
{
    return ((floe_real)magnitude + shift) * step;
}
FLOE_HD floe_real FLOE_R(floe_wavelet_decode)(int32_t code, floe_real shift, floe_real step)
{
    const floe_real size = FLOE_R(floe_wavelet_size)(code < 0 ? -code : code, shift, step);
    return FLOE_R(floe_wavelet_finite)(code < 0 ? -size : size);
}

/* What a correction adds: codes of magnitude k stand for k - 1/4 units, so that 1 covers errors from half a unit on. */
FLOE_HD floe_real FLOE_R(floe_wavelet_correct)(floe_real r, int32_t code, floe_real unit)
{
    const floe_real size = (floe_real)(code < 0 ? -code : code) - (floe_real)0.25;
    return FLOE_WAVELET_FMA(code < 0 ? -size : size, unit, r);
}

#endif
