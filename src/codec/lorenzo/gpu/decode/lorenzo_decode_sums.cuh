/* SPDX-License-Identifier: BSD-3-Clause */
/* Residuals of a step -> its integers, in the registers of a warp: what floe_lorenzo_decode_step does. Numbers are integers,
 * which wrap, or floats, as long as a bound on all sums says that they stay exact. */
#ifndef FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_SUMS_CUH
#define FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_SUMS_CUH

#include "codec/lorenzo/gpu/decode/lorenzo_decode_tile.cuh"

namespace
{

/* ---- the walk ------------------------------------------------------------------------------------------------------ */

/* p of the plane before; lane 0: the value that predicts the first one of the next plane, 0 in other lanes. */
template <int RANK, class T> struct walk {
    T before[shape<RANK>::PLANE];
    T base, corner;
};

template <int RANK, class T> FLOE_DEV void walk_begin(walk<RANK, T> &w, T base)
{
#pragma unroll
    for (int k = 0; k < shape<RANK>::PLANE; k++)
        w.before[k] = 0;
    w.base = base;
    w.corner = floe_lane() == 0 ? base : (T)0;
}

/* a b + c for b 0 or 1: exact, and of integers modulo 2^n. */
FLOE_DEV float add_product(float a, float b, float c) { return fmaf(a, b, c); }
FLOE_DEV int32_t add_product(int32_t a, int32_t b, int32_t c)
{
    return (int32_t)((uint32_t)a * (uint32_t)b + (uint32_t)c);
}
FLOE_DEV int64_t add_product(int64_t a, int64_t b, int64_t c)
{
    return (int64_t)(((uint64_t)a & (0 - (uint64_t)b)) + (uint64_t)c);
}

/* Integers wrap. */
FLOE_DEV float add(float a, float b) { return a + b; }
FLOE_DEV int32_t add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
FLOE_DEV int64_t add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

FLOE_DEV float sub(float a, float b) { return a - b; }
FLOE_DEV int32_t sub(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }
FLOE_DEV int64_t sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }

/* v += the v of the lane DELTA before, in its run of WIDTH lanes. */
template <int DELTA, int WIDTH> FLOE_DEV void scan_step(float &v) { floe_scan_step<DELTA, WIDTH>(v); }
template <int DELTA, int WIDTH> FLOE_DEV void scan_step(int32_t &v)
{
    uint32_t u = (uint32_t)v;
    floe_scan_step<DELTA, WIDTH>(u);
    v = (int32_t)u;
}
template <int DELTA, int WIDTH> FLOE_DEV void scan_step(int64_t &v)
{
    uint64_t u = (uint64_t)v;
    floe_scan_step<DELTA, WIDTH>(u);
    v = (int64_t)u;
}

/* Sums over the lanes up to this one: of its run of 8; of those 8, 16 and 24 before; of all. */
template <class T> FLOE_DEV T sum_left(T v)
{
    scan_step<1, 8>(v);
    scan_step<2, 8>(v);
    scan_step<4, 8>(v);
    return v;
}
template <class T> FLOE_DEV T sum_above(T v)
{
    scan_step<8, 32>(v);
    scan_step<16, 32>(v);
    return v;
}
template <class T> FLOE_DEV T sum_all_left(T v)
{
    scan_step<1, 32>(v);
    scan_step<2, 32>(v);
    scan_step<4, 32>(v);
    scan_step<8, 32>(v);
    scan_step<16, 32>(v);
    return v;
}

/* ---- sums in a plane ----------------------------------------------------------------------------------------------- */

/* Four values of a row, in a row of 8 groups. */
template <class T> FLOE_DEV void sum_row(T v[4])
{
#pragma unroll
    for (int x = 1; x < 4; x++)
        v[x] = add(v[x], v[x - 1]);
    const T all = sum_left(v[3]), left = sub(all, v[3]);
#pragma unroll
    for (int x = 0; x < 3; x++)
        v[x] = add(v[x], left);
    v[3] = all;
}

/* Four values of a column, at v[0], v[4] .. */
template <class T> FLOE_DEV void sum_column(T *v)
{
#pragma unroll
    for (int y = 4; y < 16; y += 4)
        v[y] = add(v[y], v[y - 4]);
    const T all = sum_above(v[12]), above = sub(all, v[12]);
#pragma unroll
    for (int y = 0; y < 12; y += 4)
        v[y] = add(v[y], above);
    v[12] = all;
}

/* N values of a row, in a row of all 32 groups. */
template <int N, class T> FLOE_DEV void sum_line(T v[N])
{
#pragma unroll
    for (int x = 1; x < N; x++)
        v[x] = add(v[x], v[x - 1]);
    const T all = sum_all_left(v[N - 1]), left = sub(all, v[N - 1]);
#pragma unroll
    for (int x = 0; x < N - 1; x++)
        v[x] = add(v[x], left);
    v[N - 1] = all;
}

/* p of one plane, with the corner added to its first value -> q. Rank 3. */
template <class T> FLOE_DEV void plane_sums(uint32_t mode, T v[16])
{
    const bool first_x = floe_lane() % 8 == 0, first_y = floe_lane() < 8;
    if (mode == FLOE_LORENZO_X) { /* the first column first */
        T c[16];
#pragma unroll
        for (int k = 0; k < 16; k += 4)
            c[k] = first_x ? v[k] : (T)0;
        sum_column(c);
#pragma unroll
        for (int k = 0; k < 16; k += 4)
            v[k] = first_x ? c[k] : v[k];
    }
    if (mode == FLOE_LORENZO_Y) { /* the first row first */
        T c[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            c[k] = first_y ? v[k] : (T)0;
        sum_row(c);
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = first_y ? c[k] : v[k];
    }
    if (mode != FLOE_LORENZO_Y)
#pragma unroll
        for (int y = 0; y < 4; y++)
            sum_row(v + 4 * y);
    if (mode != FLOE_LORENZO_X)
#pragma unroll
        for (int x = 0; x < 4; x++)
            sum_column(v + x);
}

/* ---- a step -------------------------------------------------------------------------------------------------------- */

/* Residuals -> p, which the next step starts from. */
template <int RANK, class T> FLOE_DEV void sum_along_z(walk<RANK, T> &w, bool flat, T v[GROUP])
{
    enum { PLANE = shape<RANK>::PLANE };
    const T keep = flat ? (T)0 : (T)1, keep_first = floe_lane() == 0 ? (T)0 : keep;
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        const T was = k < PLANE ? w.before[k % PLANE] : v[(k + GROUP - PLANE) % GROUP];
        v[k] = add_product(was, k % PLANE ? keep : keep_first, v[k]);
    }
#pragma unroll
    for (int k = 0; k < PLANE; k++)
        w.before[k] = v[GROUP - PLANE + k];
}

/* p that was summed up from 0 on, as if there was no plane before -> p. */
template <int RANK, class T> FLOE_DEV void carry_along_z(const walk<RANK, T> &w, bool flat, T v[GROUP])
{
    enum { PLANE = shape<RANK>::PLANE };
    const T keep = flat ? (T)0 : (T)1, keep_first = floe_lane() == 0 ? (T)0 : keep;
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        v[k] = add_product(w.before[k % PLANE], k % PLANE ? keep : keep_first, v[k]);
}

/* p of a step -> q, in place. */
template <int RANK, class T> FLOE_DEV void sum_planes(walk<RANK, T> &w, uint32_t mode, T v[GROUP])
{
    enum { PLANE = shape<RANK>::PLANE };
    const bool first = floe_lane() == 0;
#pragma unroll
    for (int k = 0; k < GROUP; k += PLANE) { /* rank 1: of the one plane, whose last value comes next */
        v[k] = add(v[k], w.corner);
        w.corner = first ? v[k] : (T)0;
    }
    if (mode == FLOE_LORENZO_NONE) {
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            v[k] = add(v[k], k % PLANE == 0 && first ? (T)0 : w.base);
    } else {
#pragma unroll
        for (int k = 0; k < GROUP; k += PLANE) {
            if constexpr (RANK == 3)
                plane_sums(mode, v + k);
            else
                sum_line<PLANE>(v + k);
        }
    }
    if (RANK == 1) {
        const T last = __shfl_sync(FLOE_ALL_LANES, v[GROUP - 1], FLOE_WARP - 1);
        w.corner = first ? last : (T)0;
    }
}

/* Residuals -> q, in place. */
template <int RANK, class T> FLOE_DEV void sum_step(walk<RANK, T> &w, uint32_t mode, bool flat, T v[GROUP])
{
    sum_along_z<RANK>(w, flat, v);
    sum_planes<RANK>(w, mode, v);
}

/* ---- exactness ----------------------------------------------------------------------------------------------------- */

/* What no number of a step can pass, in magnitude: p of a plane, and corners. Both are sums of at most 2^(width - 1) a
 * residual. Computed in floats, rounded by far less than what FLOE_SUMS_LIMIT leaves. */
struct sums_bound {
    float p, corner, base;
};

/* Whole numbers below it keep all sums exact, and are what floe_linear_decode takes for floats. */
FLOE_DEV float sums_limit(float) { return 4190000.0f; }      /* of 2^22 */
FLOE_DEV float sums_limit(int32_t) { return 2145000000.0f; } /* of 2^31 */

FLOE_DEV void bound_begin(sums_bound &b, floe_int base)
{
    b.p = 0;
    b.base = b.corner = fabsf((float)base);
}

/* What residuals of `most` bits add to it in a step. */
template <int RANK> FLOE_DEV float bound_of_step(uint32_t most)
{
    return shape<RANK>::GZ * floe_f32_of((126 + most) << 23); /* 2^(most - 1), or 1/2 for 0 */
}

/* Whether the base and all sums stay below the limit. Each value of a plane is a sum of p's, each taken once, and the corner. */
template <int RANK, class T> FLOE_DEV bool bound_fits(const sums_bound &b, uint32_t mode)
{
    const float ps = mode == FLOE_LORENZO_NONE ? 1.0f
                     : RANK == 1               ? 1024.0f
                     : RANK == 2               ? 128.0f
                     : mode == FLOE_LORENZO_XY ? 512.0f
                                               : 48.0f; /* a row of 32 or a column of 16, and the first of those */
    const float from = mode == FLOE_LORENZO_NONE ? fmaxf(fabsf(b.corner), b.base) : fabsf(b.corner);
    return fmaxf(b.base, from + ps * b.p) < sums_limit((T)0);
}

/* The same for the next step. */
template <int RANK, class T>
FLOE_DEV bool bound_holds(sums_bound &b, uint32_t mode, uint32_t most, const walk<RANK, T> &w)
{
    const float add = bound_of_step<RANK>(most);
    b.p += add;
    if (RANK == 1) /* corners are known: they are the values before */
        b.corner = (float)__shfl_sync(FLOE_ALL_LANES, w.corner, 0);
    else
        b.corner += add;
    return bound_fits<RANK, T>(b, mode) && most <= number<T>::MOST;
}

} // namespace

#endif
