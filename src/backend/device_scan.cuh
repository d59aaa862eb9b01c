/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums and maxima over the lanes of a warp and the threads of a block, of whole numbers with 32 or 64 bits. All lanes of the
 * warp, or all threads of the block, call together. */
#ifndef FLOE_BACKEND_DEVICE_SCAN_CUH
#define FLOE_BACKEND_DEVICE_SCAN_CUH

#include "backend/device.cuh"

/* ---- over a warp --------------------------------------------------------------------------------------------------- */

/* v += the v of the lane DELTA before, where there is one in its run of WIDTH lanes (8 or 32). Also of floats. */
template <int DELTA, int WIDTH, class T> FLOE_DEV void floe_scan_step(T &v)
{
    T before = __shfl_up_sync(FLOE_ALL_LANES, v, DELTA, WIDTH);
    v += floe_lane() % WIDTH >= DELTA ? before : (T)0;
}
#ifndef FLOE_EMULATED
/* The shuffle shows whether there is such a lane: one instruction less. */
#define FLOE_SCAN_STEP(type, suffix, constraint)                                                                \
    template <int DELTA, int WIDTH> FLOE_DEV void floe_scan_step(type &v)                                       \
    {                                                                                                           \
        asm("{ .reg .pred p; .reg .b32 t; shfl.sync.up.b32 t|p, %0, %1, %2, -1; @p add." suffix " %0, %0, t; }" \
            : constraint(v)                                                                                     \
            : "n"(DELTA), "n"((32 - WIDTH) << 8));                                                              \
    }
FLOE_SCAN_STEP(float, "f32", "+f")
FLOE_SCAN_STEP(uint32_t, "u32", "+r")
#undef FLOE_SCAN_STEP
#endif

/* Sum of v over the lanes up to this one. */
template <class T> FLOE_DEV T floe_warp_sum_to(T v)
{
    floe_scan_step<1, 32>(v);
    floe_scan_step<2, 32>(v);
    floe_scan_step<4, 32>(v);
    floe_scan_step<8, 32>(v);
    floe_scan_step<16, 32>(v);
    return v;
}

/* Sum of v over the lanes before this one. */
template <class T> FLOE_DEV T floe_warp_sum_before(T v) { return floe_warp_sum_to(v) - v; }

/* Sum of v over the warp, in all lanes. */
template <class T> FLOE_DEV T floe_warp_sum(T v)
{
    static_assert((T)0.5 == 0, "whole numbers");
    if constexpr (sizeof(T) == 4) {
        return __reduce_add_sync(FLOE_ALL_LANES, v);
    } else {
#pragma unroll
        for (int d = FLOE_WARP / 2; d > 0; d /= 2)
            v += __shfl_xor_sync(FLOE_ALL_LANES, v, d);
        return v;
    }
}

/* The largest v of the warp, in all lanes. */
template <class T> FLOE_DEV T floe_warp_max(T v)
{
    static_assert((T)0.5 == 0, "whole numbers");
    if constexpr (sizeof(T) == 4) {
        return __reduce_max_sync(FLOE_ALL_LANES, v);
    } else {
#pragma unroll
        for (int d = FLOE_WARP / 2; d > 0; d /= 2) {
            const T other = __shfl_xor_sync(FLOE_ALL_LANES, v, d);
            v = other > v ? other : v;
        }
        return v;
    }
}

/* The largest v of the lanes up to this one. */
template <class T> FLOE_DEV T floe_warp_max_to(T v)
{
#pragma unroll
    for (uint32_t d = 1; d < FLOE_WARP; d *= 2) {
        const T below = __shfl_up_sync(FLOE_ALL_LANES, v, d);
        v = floe_lane() >= d && below > v ? below : v;
    }
    return v;
}

/* ---- over a block of so many warps --------------------------------------------------------------------------------- */

/* Each v becomes its sum over the block, in all threads. sums: shared memory, nwarps of them, read until a barrier follows. */
template <class T, int N> FLOE_DEV void floe_block_sums(T (&v)[N], T (*sums)[N], uint32_t nwarps)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = floe_warp_sum(v[i]);
    if (floe_lane() == 0)
#pragma unroll
        for (int i = 0; i < N; i++)
            sums[threadIdx.x / FLOE_WARP][i] = v[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = 0;
#pragma unroll
    for (uint32_t w = 0; w < nwarps; w++)
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] += sums[w][i];
}

/* The sum of one v. sums: as above. */
template <class T> FLOE_DEV T floe_block_sum(T v, T *sums, uint32_t nwarps)
{
    T one[1] = {v};
    floe_block_sums(one, (T(*)[1])sums, nwarps);
    return one[0];
}

/* Sum over the threads before this one; *all: over the block. sums: shared memory, nwarps of them, free on return. */
template <class T> FLOE_DEV T floe_block_sum_before(T v, T *sums, uint32_t nwarps, T *all)
{
    const uint32_t lane = floe_lane(), warp = threadIdx.x / FLOE_WARP;
    const T sum = floe_warp_sum_to(v);
    if (lane == FLOE_WARP - 1)
        sums[warp] = sum;
    __syncthreads();
    const T below = floe_warp_sum(lane < warp ? sums[lane] : (T)0);
    *all = floe_warp_sum(lane < nwarps ? sums[lane] : (T)0);
    __syncthreads();
    return below + sum - v;
}

#endif
