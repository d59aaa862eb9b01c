/* SPDX-License-Identifier: BSD-3-Clause */
/* A warp a row. Along a row shells only grow, so that neighbouring lanes add up what belongs to one shell, and one of them adds
 * it to the warp's own sums: in the same order each time, and no two at once. */
#include "assess/pair_math.h"
#include "assess/spectrum/spectrum_cuda.h"
#include "backend/device.cuh"

namespace
{

enum {
    THREADS = 256,
    WARPS = THREADS / FLOE_WARP,
    SHARED_NBYTES = 48 << 10 /* what every launch may have: sums of one warp at least (FLOE_SPECTRUM_MAX_SHELL) */
};

FLOE_DEV floe_value_class class_of(float v, const floe_spectrum_dev_job *j)
{
    return floe_value_class_f32(floe_bits_f32(v), j->has_fill, (uint32_t)j->fill_bits);
}
FLOE_DEV floe_value_class class_of(double v, const floe_spectrum_dev_job *j)
{
    return floe_value_class_f64(floe_bits_f64(v), j->has_fill, j->fill_bits);
}

/* Where a row lies along the first three axes. */
FLOE_DEV void row_index(const floe_spectrum_dev_job *j, uint64_t row, uint64_t (&at)[FLOE_MAX_RANK - 1])
{
#pragma unroll
    for (int a = FLOE_MAX_RANK - 2; a >= 0; row /= j->shape[a], a--)
        at[a] = row % j->shape[a];
}

/* Blocks take rows in turn, a warp a row. */
template <typename T>
__global__ void __launch_bounds__(THREADS)
    spectrum_fill_kernel(const __grid_constant__ floe_spectrum_dev_job job, int side, double mean)
{
    const floe_spectrum_dev_job *j = &job;
    const uint64_t n = j->shape[FLOE_MAX_RANK - 1];
    uint32_t nfilled = 0;
    for (uint64_t row = (uint64_t)blockIdx.x * WARPS + threadIdx.x / FLOE_WARP; row < j->nrows;
         row += (uint64_t)gridDim.x * WARPS) {
        uint64_t at[FLOE_MAX_RANK - 1];
        row_index(j, row, at);
        const double outer = j->window[0][at[0]] * j->window[1][at[1]] * j->window[2][at[2]];
        int64_t x = 0, y = 0;
        for (int a = 0; a < FLOE_MAX_RANK - 1; a++)
            x += (int64_t)at[a] * j->dx[a], y += (int64_t)at[a] * j->dy[a];
        double *to = j->data + 2 * row * j->pitch;
        for (uint64_t i = floe_lane(); i < 2 * j->pitch; i += FLOE_WARP) {
            double v = 0;
            if (i < n) {
                const T vx = ((const T *)j->x)[x + (int64_t)i * j->dx[FLOE_MAX_RANK - 1]];
                const T vy = ((const T *)j->y)[y + (int64_t)i * j->dy[FLOE_MAX_RANK - 1]];
                const bool counts = floe_pair_class_of(class_of(vx, j), class_of(vy, j)) == FLOE_PAIR_COUNTS;
                v = counts ? ((double)(side ? vy : vx) - mean) * (outer * j->window[FLOE_MAX_RANK - 1][i]) : 0;
                nfilled += !counts;
            }
            to[i] = v;
        }
    }
    if (nfilled)
        atomicAdd(j->nfilled, (unsigned long long)nfilled);
}

/* Squares of the waves of a row's outer axes. */
FLOE_DEV double row_squares(const floe_spectrum_dev_job *j, uint64_t row, uint64_t scale)
{
    uint64_t at[FLOE_MAX_RANK - 1];
    double squares = 0;
    row_index(j, row, at);
#pragma unroll
    for (int a = 0; a < FLOE_MAX_RANK - 1; a++) {
        const double wave = floe_spectrum_wave(at[a], j->shape[a], scale);
        squares += wave * wave;
    }
    return squares;
}

/* Adds a lane's value to its shell. Shells do not shrink from lane to lane; none is UINT32_MAX, for the last lanes. */
FLOE_DEV void shells_add(double *sums, uint32_t shell, double v)
{
#pragma unroll
    for (int d = 1; d < FLOE_WARP; d *= 2) {
        const double before = __shfl_up_sync(FLOE_ALL_LANES, v, d);
        const uint32_t its = __shfl_up_sync(FLOE_ALL_LANES, shell, d);
        if (floe_lane() >= (uint32_t)d && its == shell)
            v += before;
    }
    const uint32_t next = __shfl_down_sync(FLOE_ALL_LANES, shell, 1);
    if (shell != UINT32_MAX && (floe_lane() == FLOE_WARP - 1 || next != shell))
        sums[shell] += v;
    __syncwarp();
}

/* Blocks take rows in turn, a warp a row; a block leaves the sums of its warps. */
__global__ void __launch_bounds__(THREADS)
    spectrum_shells_kernel(const __grid_constant__ floe_spectrum_dev_job job, bool count)
{
    FLOE_DYNAMIC_SHARED(double, shared);
    const floe_spectrum_dev_job *j = &job;
    const uint64_t n = j->shape[FLOE_MAX_RANK - 1], scale = floe_spectrum_scale(j->shape);
    const uint32_t nwarps = blockDim.x / FLOE_WARP, nshells = j->nshells;
    double *sums = shared + (threadIdx.x / FLOE_WARP) * nshells;
    for (uint32_t s = threadIdx.x; s < nwarps * nshells; s += blockDim.x)
        shared[s] = 0;
    __syncthreads();
    for (uint64_t row = (uint64_t)blockIdx.x * nwarps + threadIdx.x / FLOE_WARP; row < j->nrows;
         row += (uint64_t)gridDim.x * nwarps) {
        const double outer = row_squares(j, row, scale);
        const double *c = j->data + 2 * row * j->pitch;
        for (uint64_t first = 0; first < j->pitch; first += FLOE_WARP) {
            const uint64_t i = first + floe_lane();
            uint32_t shell = UINT32_MAX;
            double v = 0;
            if (i < j->pitch) {
                const double wave = floe_spectrum_wave(i, n, scale);
                const uint64_t own = floe_spectrum_shell(outer + wave * wave);
                shell = own < nshells ? (uint32_t)own : UINT32_MAX;
                const double re = count ? 1 : c[2 * i], im = count ? 0 : c[2 * i + 1];
                v = floe_spectrum_weight(i, n) * (re * re + im * im);
            }
            shells_add(sums, shell, v);
        }
    }
    __syncthreads();
    for (uint32_t s = threadIdx.x; s < nshells; s += blockDim.x) {
        double v = 0;
        for (uint32_t w = 0; w < nwarps; w++)
            v += shared[w * nshells + s];
        j->parts[(uint64_t)blockIdx.x * nshells + s] = v;
    }
}

/* A thread a shell. */
__global__ void __launch_bounds__(THREADS)
    spectrum_join_kernel(const double *parts, uint32_t nparts, uint32_t nshells, double *sums)
{
    const uint32_t shell = blockIdx.x * THREADS + threadIdx.x;
    double v = 0;
    if (shell >= nshells)
        return;
    for (uint32_t k = 0; k < nparts; k++)
        v += parts[(uint64_t)k * nshells + shell];
    sums[shell] = v;
}

uint32_t blocks_of(const floe_spectrum_dev_job *j, uint32_t nwarps)
{
    return (uint32_t)floe_min64(FLOE_SPECTRUM_BLOCKS, floe_ceil_div(j->nrows, nwarps));
}

} // namespace

int floe_spectrum_fill_cuda(const floe_spectrum_dev_job *job, int side, double mean, void *stream)
{
    const uint32_t nblocks = (uint32_t)floe_min64(UINT16_MAX, floe_ceil_div(job->nrows, WARPS));
    if (job->narrow)
        FLOE_LAUNCH(spectrum_fill_kernel<float>, nblocks, THREADS, 0, (cudaStream_t)stream, *job, side, mean);
    else
        FLOE_LAUNCH(spectrum_fill_kernel<double>, nblocks, THREADS, 0, (cudaStream_t)stream, *job, side, mean);
    return (int)cudaGetLastError();
}

int floe_spectrum_shells_cuda(const floe_spectrum_dev_job *job, bool count, double *sums, void *stream)
{
    const uint32_t nshells = job->nshells, own_nbytes = nshells * (uint32_t)sizeof(double);
    const uint32_t nwarps = (uint32_t)floe_min64(WARPS, SHARED_NBYTES / own_nbytes);
    const uint32_t nblocks = blocks_of(job, nwarps);
    FLOE_LAUNCH(spectrum_shells_kernel, nblocks, nwarps * FLOE_WARP, nwarps * own_nbytes, (cudaStream_t)stream, *job,
                count);
    const int error = (int)cudaGetLastError();
    if (error)
        return error;
    FLOE_LAUNCH(spectrum_join_kernel, (nshells + THREADS - 1) / THREADS, THREADS, 0, (cudaStream_t)stream, job->parts,
                nblocks, nshells, sums);
    return (int)cudaGetLastError();
}
