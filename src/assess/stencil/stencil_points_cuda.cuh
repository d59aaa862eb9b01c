/* SPDX-License-Identifier: BSD-3-Clause */
/* Derivatives on a GPU: the points that a thread works on together, and what it keeps of a quantity at all of its points. */
#ifndef FLOE_ASSESS_STENCIL_POINTS_CUDA_CUH
#define FLOE_ASSESS_STENCIL_POINTS_CUDA_CUH

#include "assess/stencil/stencil_cuda.cuh"

/* Points side by side in the row: 16 bytes of the type R that they are worked on in. */
template <typename R> struct floe_group {
    enum { V = 16 / sizeof(R) };
    R f[V], e[V]; /* values, NaN where the pair does not count, and errors */
};

/* ---- formulas by type ---------------------------------------------------------------------------------------------- */

FLOE_DEV float floe_step(float minus, float plus) { return floe_stencil_step_f32(minus, plus); }
FLOE_DEV double floe_step(double minus, double plus) { return floe_stencil_step_f64(minus, plus); }
FLOE_DEV float floe_second(float minus, float at, float plus) { return floe_stencil_second_f32(minus, at, plus); }
FLOE_DEV double floe_second(double minus, double at, double plus) { return floe_stencil_second_f64(minus, at, plus); }
FLOE_DEV float floe_twist(float minus, float plus) { return floe_stencil_twist_f32(minus, plus); }
FLOE_DEV double floe_twist(double minus, double plus) { return floe_stencil_twist_f64(minus, plus); }
FLOE_DEV double floe_length(double squares) { return floe_stencil_length_f64(squares); }
FLOE_DEV float floe_square_add(float squares, float v) { return floe_stencil_square_add_f32(squares, v); }
FLOE_DEV double floe_square_add(double squares, double v) { return floe_stencil_square_add_f64(squares, v); }
FLOE_DEV void floe_no_squares(float *squares) { *squares = floe_stencil_no_squares_f32(); }
FLOE_DEV void floe_no_squares(double *squares) { *squares = floe_stencil_no_squares_f64(); }

/* floe_stencil_length_f32 as few operations: the root rounded correctly, as long as its argument is FLOE_STENCIL_TINY or
 * more. */
FLOE_DEV float floe_length(float squares)
{
#ifdef FLOE_EMULATED
    return floe_stencil_length_f32(squares);
#else
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(squares));
    const float root = squares * r, rest = fmaf(-root, root, squares); /* exact */
    return fmaf(rest, 0.5f * r, root);
#endif
}

FLOE_DEV float floe_size(float v) { return fabsf(v); }
FLOE_DEV double floe_size(double v) { return fabs(v); }

/* ---- extremes ------------------------------------------------------------------------------------------------------ */

/* Of floats by their bits as whole numbers, of which a GPU joins three at once: those of positive floats grow with them,
 * those of negative ones fall, and are the smallest of signed, the largest of unsigned numbers. */
struct floe_extremes_f32 {
    int32_t top, bottom; /* largest and smallest as signed */
    uint32_t largest;    /* as unsigned */
};

FLOE_DEV void floe_extremes_init(floe_extremes_f32 *x)
{
    x->top = INT32_MIN;
    x->bottom = INT32_MAX;
    x->largest = 0;
}
FLOE_DEV void floe_extremes_add(floe_extremes_f32 *x, float a, float b)
{
    const uint32_t u = floe_bits_f32(a), v = floe_bits_f32(b);
    x->top = max(max(x->top, (int32_t)u), (int32_t)v);
    x->bottom = min(min(x->bottom, (int32_t)u), (int32_t)v);
    x->largest = max(max(x->largest, u), v);
}
/* The same where no number is negative. */
FLOE_DEV void floe_extremes_add_magnitudes(floe_extremes_f32 *x, float a, float b)
{
    const int32_t u = (int32_t)floe_bits_f32(a), v = (int32_t)floe_bits_f32(b);
    x->top = max(max(x->top, u), v);
    x->bottom = min(min(x->bottom, u), v);
}
/* Of none: infinities of the wrong sign. */
FLOE_DEV double floe_extremes_min(const floe_extremes_f32 &x)
{
    if (x.bottom > x.top)
        return floe_f64_of((uint64_t)0x7ff0 << 48);
    return (double)floe_f32_of(x.bottom < 0 ? x.largest : (uint32_t)x.bottom);
}
FLOE_DEV double floe_extremes_max(const floe_extremes_f32 &x)
{
    if (x.bottom > x.top)
        return floe_f64_of((uint64_t)0xfff0 << 48);
    return (double)floe_f32_of((uint32_t)(x.top >= 0 ? x.top : x.bottom));
}

struct floe_extremes_f64 {
    double min, max;
};

FLOE_DEV void floe_extremes_init(floe_extremes_f64 *x)
{
    x->min = floe_f64_of((uint64_t)0x7ff0 << 48);
    x->max = floe_f64_of((uint64_t)0xfff0 << 48);
}
FLOE_DEV void floe_extremes_add(floe_extremes_f64 *x, double a, double b)
{
    x->min = a < x->min ? a : x->min;
    x->max = a > x->max ? a : x->max;
    x->min = b < x->min ? b : x->min;
    x->max = b > x->max ? b : x->max;
}
FLOE_DEV void floe_extremes_add_magnitudes(floe_extremes_f64 *x, double a, double b) { floe_extremes_add(x, a, b); }
FLOE_DEV double floe_extremes_min(const floe_extremes_f64 &x) { return x.min; }
FLOE_DEV double floe_extremes_max(const floe_extremes_f64 &x) { return x.max; }

/* ---- sums ---------------------------------------------------------------------------------------------------------- */

template <typename R> struct floe_real_tools;

template <> struct floe_real_tools<float> {
    typedef floe_extremes_f32 extremes;
    typedef int32_t largest; /* bits of the largest magnitude */
    FLOE_DEV float sum(const float (&v)[4]) { return (v[0] + v[1]) + (v[2] + v[3]); }
    FLOE_DEV float squares(const float (&v)[4]) { return floe_stencil_squares_f32(v[0], v[1], v[2], v[3]); }
    FLOE_DEV float errors(largest *most, const float (&v)[4])
    {
        const float a = fmaxf(fabsf(v[0]), fabsf(v[1])), b = fmaxf(fabsf(v[2]), fabsf(v[3]));
        *most = max(max(*most, (int32_t)floe_bits_f32(a)), (int32_t)floe_bits_f32(b));
        return squares(v);
    }
    FLOE_DEV double error_of(largest most) { return (double)floe_f32_of((uint32_t)most); }
};

template <> struct floe_real_tools<double> {
    typedef floe_extremes_f64 extremes;
    typedef double largest;
    FLOE_DEV double sum(const double (&v)[2]) { return v[0] + v[1]; }
    FLOE_DEV double squares(const double (&v)[2]) { return fma(v[0], v[0], v[1] * v[1]); }
    FLOE_DEV double errors(largest *most, const double (&v)[2])
    {
        *most = fabs(v[0]) > *most ? fabs(v[0]) : *most;
        *most = fabs(v[1]) > *most ? fabs(v[1]) : *most;
        return squares(v);
    }
    FLOE_DEV double error_of(largest most) { return most; }
};

/* What a thread keeps of a quantity in registers. */
template <typename R> struct floe_tally {
    typename floe_real_tools<R>::extremes extremes;
    typename floe_real_tools<R>::largest error;
};

template <typename R> FLOE_DEV void floe_tally_init(floe_tally<R> *t)
{
    floe_extremes_init(&t->extremes);
    t->error = 0;
}

#endif
