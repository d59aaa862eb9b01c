/* SPDX-License-Identifier: BSD-3-Clause */
/* Lattices of originals, from the finest to the anchors. Compiled for each element type. */
#include <floe/floe.h>

#include "stage/interp/interp_check.cuh"

namespace
{

enum { THREADS = 256 };

struct thinning {
    floe_interp_dev_job job;
    floe_interp_dev_check check;
    uint32_t place[FLOE_INTERP_RANK];
};

FLOE_DEV floe_real original_at(const thinning &t, const uint64_t *point)
{
    const floe_real f = value_at(t.job.original, point);
    return t.job.last ? take_in(t.check, f) : f;
}

/* A value that is apart: the mean of its neighbours along the step's axes, as far as they are numbers. */
FLOE_DEV_COLD floe_real bridge(const thinning &t, uint64_t z0, uint64_t z1, uint64_t z2, uint64_t x)
{
    uint64_t point[] = {z0, z1, z2, x};
    floe_real sum = 0;
    uint32_t count = 0;
    if (t.job.last)
        mark_apart(t.check, point, t.job.unit);
    for (uint32_t i = 0; i < t.job.step.naxes; i++) {
        const uint32_t a = t.job.step.axis[i];
        for (int side = 0; side < 2; side++) {
            if (side ? point[a] + 1 >= t.job.step.fine[a] : point[a] == 0)
                continue;
            point[a] += side ? 1 : -1ull;
            const floe_real v = original_at(t, point);
            point[a] -= side ? 1 : -1ull;
            sum = v == v ? sum + v : sum;
            count += v == v;
        }
    }
    return count ? FLOE_R(floe_interp_finite)(sum / (floe_real)count) : (floe_real)NAN;
}

enum { AT_ONCE = 4 /* values of a lane that are on their way together */ };

/* A warp does row after row. */
__global__ void __launch_bounds__(THREADS) interp_thin_kernel(const __grid_constant__ thinning t, floe_real *coarse)
{
    floe_dev_begin();
    const uint64_t *n = t.job.step.coarse;
    const uint64_t nrows = n[0] * n[1] * n[2], nwarps = (uint64_t)gridDim.x * (THREADS / FLOE_WARP);
    const uint32_t length = (uint32_t)n[3];
    uint32_t shift[FLOE_INTERP_RANK];
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        shift[a] = t.place[a] < t.job.step.naxes;
    for (uint64_t row = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) / FLOE_WARP; row < nrows; row += nwarps) {
        uint64_t left = row;
        const uint64_t z2 = floe_last_digit(&left, n[2]) << shift[2], z1 = floe_last_digit(&left, n[1]) << shift[1],
                       z0 = left << shift[0];
        const int64_t *stride = t.job.original.stride, far = stride[3] << shift[3];
        const floe_real *from = (const floe_real *)t.job.original.data + (int64_t)z0 * stride[0] +
                                (int64_t)z1 * stride[1] + (int64_t)z2 * stride[2];
        for (uint32_t x0 = floe_lane(); x0 < length; x0 += AT_ONCE * FLOE_WARP) {
            floe_real f[AT_ONCE];
#pragma unroll
            for (uint32_t k = 0; k < AT_ONCE; k++)
                f[k] = from[min(x0 + k * FLOE_WARP, length - 1) * far];
#pragma unroll
            for (uint32_t k = 0; k < AT_ONCE; k++) {
                const uint32_t x = x0 + k * FLOE_WARP;
                const floe_real v = t.job.last ? take_in(t.check, f[k]) : f[k];
                if (x < length)
                    coarse[row * length + x] = v == v ? v : bridge(t, z0, z1, z2, (uint64_t)x << shift[3]);
            }
        }
    }
}

/* One block: a number for each anchor. Places are found from that of the first number on. */
__global__ void __launch_bounds__(THREADS)
    interp_anchors_kernel(const __grid_constant__ floe_interp_dev_check c,
                          const __grid_constant__ floe_interp_dev_lattice l, floe_real *anchors)
{
    __shared__ unsigned long long last[THREADS / FLOE_WARP], carry, first;
    const floe_real *f = (const floe_real *)l.data;
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    found_here found = {0, 0, 0};
    floe_dev_begin();
    if (threadIdx.x == 0) {
        carry = 0;
        first = ~0ull;
    }
    __syncthreads();
    for (uint64_t i = threadIdx.x; i < l.count && i < first; i += THREADS)
        if (f[i] == f[i]) {
            atomicMin(&first, (unsigned long long)i);
            break;
        }
    __syncthreads();
    for (uint64_t begin = 0; begin < l.count; begin += THREADS) { /* places of numbers, from 1 on */
        const uint64_t i = begin + threadIdx.x;
        unsigned long long at = i < l.count && f[i] == f[i] ? i + 1 : 0;
        for (uint32_t d = 1; d < FLOE_WARP; d *= 2) {
            const unsigned long long below = __shfl_up_sync(FLOE_ALL_LANES, at, d);
            at = floe_lane() >= d && below > at ? below : at;
        }
        if (floe_lane() == FLOE_WARP - 1)
            last[warp] = at;
        __syncthreads();
        for (uint32_t w = 0; w < warp; w++)
            at = last[w] > at ? last[w] : at;
        at = carry > at ? carry : at;
        __syncthreads();
        if (threadIdx.x == THREADS - 1)
            carry = at;
        if (i < l.count) {
            uint64_t point[FLOE_INTERP_RANK];
            const floe_real r = at ? f[at - 1] : first != ~0ull ? f[first] : (floe_real)0;
            point_of(i, l.shape, point);
            anchors[i] = r;
            check_value(c, point, l.unit, f[i], r, found);
        }
        __syncthreads();
    }
    leave_found(c, found);
}

} // namespace

int FLOE_R(floe_interp_thin)(const floe_interp_dev_job *job, const floe_interp_dev_check *check, void *coarse,
                             void *stream)
{
    thinning t = {*job, *check, {}};
    const uint64_t *m = job->step.coarse, nblocks = floe_ceil_div(m[0] * m[1] * m[2], THREADS / FLOE_WARP),
                   most = 16 * (uint64_t)floe_gpu_limits_cuda().processors;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        t.place[a] = floe_interp_place(&job->step, a);
    FLOE_LAUNCH_EARLY(interp_thin_kernel, (uint32_t)floe_min64(nblocks, most), THREADS, 0, (cudaStream_t)stream, t,
                      (floe_real *)coarse);
    return (int)cudaGetLastError();
}

int FLOE_R(floe_interp_anchors)(const floe_interp_dev_check *check, const floe_interp_dev_lattice *lattice,
                                void *anchors, void *stream)
{
    FLOE_LAUNCH_EARLY(interp_anchors_kernel, 1, THREADS, 0, (cudaStream_t)stream, *check, *lattice,
                      (floe_real *)anchors);
    return (int)cudaGetLastError();
}
