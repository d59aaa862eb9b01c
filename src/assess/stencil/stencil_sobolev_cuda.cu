/* SPDX-License-Identifier: BSD-3-Clause */
/* Sobolev norms on a GPU, for fields that are looked at once: neighbours and corners come from the caches. */
#include "assess/stencil/stencil_cuda.cuh"

namespace
{

enum { THREADS = 256, WARPS = THREADS / FLOE_WARP, WORDS = FLOE_STENCIL_SOBOLEV_WORDS };

/* Element 0 of a point's stencil. */
struct place {
    int64_t x, y;
};

/* The original's value; *counts becomes false where the pair does not count. */
template <typename T>
FLOE_DEV double value_at(const floe_stencil_dev_job *j, place p, int a, int da, int b, int db, bool *counts)
{
    const int64_t at_x = p.x + da * j->dx[a] + db * j->dx[b], at_y = p.y + da * j->dy[a] + db * j->dy[b];
    const T x = ((const T *)j->x)[at_x];
    if (j->masked)
        *counts = *counts && floe_stencil_is_finite(x, j) && floe_stencil_is_finite(((const T *)j->y)[at_y], j);
    return (double)x;
}

/* The place of point i; false where it has no neighbours along an axis. */
FLOE_DEV bool place_of(const floe_stencil_dev_job *j, uint64_t i, place *p)
{
    bool inside = true;
    p->x = p->y = 0;
#pragma unroll
    for (int a = FLOE_STENCIL_AXES - 1; a >= 0; a--) {
        const uint64_t at = i % j->shape[a], edge = j->active >> a & 1;
        i /= j->shape[a];
        inside = inside && at >= edge && at + edge < j->shape[a];
        p->x += (int64_t)at * j->dx[a];
        p->y += (int64_t)at * j->dy[a];
    }
    return inside;
}

template <typename T> FLOE_DEV void point_add(const floe_stencil_dev_job *j, place p, double (&sum)[WORDS])
{
    bool counts = true;
    const double at = value_at<T>(j, p, 0, 0, 0, 0, &counts);
    double firsts = 0, seconds = 0;
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        if (!(j->active >> a & 1))
            continue;
        const double lo = value_at<T>(j, p, a, -1, a, 0, &counts), hi = value_at<T>(j, p, a, 1, a, 0, &counts);
        const double d = floe_stencil_first(lo, hi), dd = floe_stencil_second_f64(lo, at, hi);
        firsts += d * d;
        seconds += dd * dd;
        for (int b = a + 1; b < FLOE_STENCIL_AXES; b++) {
            if (!(j->active >> b & 1))
                continue;
            const double mm = value_at<T>(j, p, a, -1, b, -1, &counts), mp = value_at<T>(j, p, a, -1, b, 1, &counts);
            const double pm = value_at<T>(j, p, a, 1, b, -1, &counts), pp = value_at<T>(j, p, a, 1, b, 1, &counts);
            const double mixed = floe_stencil_mixed(mm, mp, pm, pp);
            seconds += mixed * mixed;
        }
    }
    if (!counts)
        return;
    sum[0] += 1;
    sum[1] += at * at;
    sum[2] += firsts;
    sum[3] += seconds;
}

/* Blocks take stretches of points in turn, a thread a point. */
template <typename T>
__global__ void __launch_bounds__(THREADS)
    stencil_sobolev_kernel(const __grid_constant__ floe_stencil_dev_job job, uint64_t npoints)
{
    __shared__ double warps[WARPS][WORDS];
    double sum[WORDS] = {0, 0, 0, 0};
    place p;
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < npoints; i += (uint64_t)gridDim.x * THREADS)
        if (place_of(&job, i, &p))
            point_add<T>(&job, p, sum);
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        const double v = floe_stencil_warp_sum(sum[k]);
        if (floe_lane() == 0)
            warps[threadIdx.x / FLOE_WARP][k] = v;
    }
    __syncthreads();
    if (threadIdx.x >= WORDS)
        return;
    double v = 0;
    for (int w = 0; w < WARPS; w++)
        v += warps[w][threadIdx.x];
    job.parts[(uint64_t)blockIdx.x * WORDS + threadIdx.x] = v;
}

} // namespace

int floe_stencil_sobolev_cuda(const floe_stencil_dev_job *job, double *words, void *stream)
{
    const uint64_t npoints = job->shape[0] * job->shape[1] * job->shape[2] * job->shape[3];
    const uint32_t nblocks = floe_stencil_blocks(floe_ceil_div(npoints, THREADS));
    if (job->narrow)
        FLOE_LAUNCH(stencil_sobolev_kernel<float>, nblocks, THREADS, 0, (cudaStream_t)stream, *job, npoints);
    else
        FLOE_LAUNCH(stencil_sobolev_kernel<double>, nblocks, THREADS, 0, (cudaStream_t)stream, *job, npoints);
    const int error = (int)cudaGetLastError();
    return error ? error : floe_stencil_join_parts(job->parts, nblocks, WORDS, 0, words, (cudaStream_t)stream);
}
