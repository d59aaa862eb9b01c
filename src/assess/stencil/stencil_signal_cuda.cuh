/* SPDX-License-Identifier: BSD-3-Clause */
/* The signal of which products along the axes are found, read on a GPU. */
#ifndef FLOE_ASSESS_STENCIL_SIGNAL_CUDA_CUH
#define FLOE_ASSESS_STENCIL_SIGNAL_CUDA_CUH

#include "assess/stencil/stencil_cuda.cuh"

/* At a pair of values. FAST: of two fields, all pairs of which count. */
template <bool FAST, typename T> FLOE_DEV double floe_stencil_signal(const floe_stencil_dev_job *j, T x, T y)
{
    if (FAST)
        return ((double)y - (double)x) - j->mean;
    const double signal = (j->alone ? (double)x : (double)y - (double)x) - j->mean;
    if (!j->masked)
        return signal;
    const bool counts = floe_stencil_is_finite(x, j) && floe_stencil_is_finite(y, j);
    return !counts ? 0 : j->counts ? 1 : signal;
}

/* Four elements of a row of both sides as they lie in memory. */
template <typename T> struct __align__(16) floe_stencil_four { T v[4]; };
template <typename T> struct floe_stencil_raw {
    floe_stencil_four<T> x, y;
};

/* From elements at_x and at_y on. */
template <typename T>
FLOE_DEV floe_stencil_raw<T> floe_stencil_raw_at(const floe_stencil_dev_job *j, int64_t at_x, int64_t at_y)
{
    floe_stencil_raw<T> r;
    r.x = *(const floe_stencil_four<T> *)((const T *)j->x + at_x);
    r.y = *(const floe_stencil_four<T> *)((const T *)j->y + at_y);
    return r;
}

/* However they lie; elements from `there` on are not in the field and become 0. */
template <typename T>
FLOE_DEV floe_stencil_raw<T> floe_stencil_raw_part(const floe_stencil_dev_job *j, int64_t at_x, int64_t at_y,
                                                   int32_t there)
{
    floe_stencil_raw<T> r;
    const int row = FLOE_STENCIL_AXES - 1;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        r.x.v[i] = i < there ? ((const T *)j->x)[at_x + i * j->dx[row]] : (T)0;
        r.y.v[i] = i < there ? ((const T *)j->y)[at_y + i * j->dy[row]] : (T)0;
    }
    return r;
}

#endif
