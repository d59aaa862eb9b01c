/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernels of the stencil pass share: reading pairs, adding over a warp, joining the blocks' parts. */
#ifndef FLOE_ASSESS_STENCIL_CUDA_CUH
#define FLOE_ASSESS_STENCIL_CUDA_CUH

#include "assess/pair_math.h"
#include "assess/stencil/stencil_cuda.h"
#include "backend/device.cuh"

FLOE_DEV bool floe_stencil_is_finite(float v, const floe_stencil_dev_job *j)
{
    return floe_value_class_f32(floe_bits_f32(v), j->has_fill, (uint32_t)j->fill_bits) == FLOE_VALUE_FINITE;
}
FLOE_DEV bool floe_stencil_is_finite(double v, const floe_stencil_dev_job *j)
{
    return floe_value_class_f64(floe_bits_f64(v), j->has_fill, j->fill_bits) == FLOE_VALUE_FINITE;
}

FLOE_DEV int64_t floe_stencil_offset(const int64_t *stride, uint64_t w, uint64_t z, uint64_t y, uint64_t x)
{
    return (int64_t)w * stride[0] + (int64_t)z * stride[1] + (int64_t)y * stride[2] + (int64_t)x * stride[3];
}

FLOE_DEV double floe_stencil_warp_sum(double v)
{
    for (int d = FLOE_WARP / 2; d > 0; d /= 2)
        v += __shfl_xor_sync(FLOE_ALL_LANES, v, d);
    return v;
}
FLOE_DEV double floe_stencil_warp_min(double v)
{
    for (int d = FLOE_WARP / 2; d > 0; d /= 2) {
        const double w = __shfl_xor_sync(FLOE_ALL_LANES, v, d);
        v = w < v ? w : v;
    }
    return v;
}
FLOE_DEV double floe_stencil_warp_max(double v) { return -floe_stencil_warp_min(-v); }

/* How a word of moments is joined: minimum, maximum, squares, largest error, its squares. */
enum floe_stencil_join { FLOE_STENCIL_MIN, FLOE_STENCIL_MAX, FLOE_STENCIL_SUM };
FLOE_HD floe_stencil_join floe_stencil_join_of(uint32_t moment)
{
    return moment == 0 ? FLOE_STENCIL_MIN : moment == 1 || moment == 3 ? FLOE_STENCIL_MAX : FLOE_STENCIL_SUM;
}
FLOE_DEV double floe_stencil_joined(floe_stencil_join how, double a, double b)
{
    if (how == FLOE_STENCIL_SUM)
        return a + b;
    if (how == FLOE_STENCIL_MIN)
        return b < a ? b : a;
    return b > a ? b : a;
}
FLOE_DEV double floe_stencil_warp_join(floe_stencil_join how, double v)
{
    if (how == FLOE_STENCIL_SUM)
        return floe_stencil_warp_sum(v);
    return how == FLOE_STENCIL_MIN ? floe_stencil_warp_min(v) : floe_stencil_warp_max(v);
}

/* Sums of words over a block of WARPS warps, which calls this once, to its part. */
template <int WARPS, int N> FLOE_DEV void floe_stencil_block_sums(const double (&v)[N], double *part)
{
    __shared__ double words[WARPS][N];
#pragma unroll
    for (int k = 0; k < N; k++)
        words[threadIdx.x / FLOE_WARP][k] = floe_stencil_warp_sum(v[k]);
    __syncthreads();
    if (threadIdx.x >= N)
        return;
    double sum = 0;
    for (int w = 0; w < WARPS; w++)
        sum += words[w][threadIdx.x];
    part[threadIdx.x] = sum;
}

/* A warp joins one word of all parts: lanes take every 32nd part, in order, then pairs of lanes join. The first nmoments words
 * are moments; the others are sums. */
static __global__ void floe_stencil_join_kernel(const double *parts, uint32_t nparts, uint32_t nwords,
                                                uint32_t nmoments, double *words)
{
    const uint32_t word = (blockIdx.x * blockDim.x + threadIdx.x) / FLOE_WARP;
    if (word >= nwords)
        return;
    const floe_stencil_join how =
        word < nmoments ? floe_stencil_join_of(word % FLOE_STENCIL_MOMENTS) : FLOE_STENCIL_SUM;
    const double inf = floe_f64_of(0x7ff0000000000000u);
    double v = how == FLOE_STENCIL_SUM ? 0 : how == FLOE_STENCIL_MIN ? inf : -inf;
    for (uint32_t k = floe_lane(); k < nparts; k += FLOE_WARP)
        v = floe_stencil_joined(how, v, parts[(uint64_t)k * nwords + word]);
    v = floe_stencil_warp_join(how, v);
    if (floe_lane() == 0)
        words[word] = v;
}

static inline int floe_stencil_join_parts(const double *parts, uint32_t nparts, uint32_t nwords, uint32_t nmoments,
                                          double *words, cudaStream_t stream)
{
    enum { THREADS = 128 };
    FLOE_LAUNCH(floe_stencil_join_kernel, (nwords * FLOE_WARP + THREADS - 1) / THREADS, THREADS, 0, stream, parts,
                nparts, nwords, nmoments, words);
    return (int)cudaGetLastError();
}

FLOE_HD uint32_t floe_stencil_blocks(uint64_t ntasks)
{
    return (uint32_t)floe_max64(1, floe_min64(ntasks, FLOE_STENCIL_MAX_BLOCKS));
}

#endif
