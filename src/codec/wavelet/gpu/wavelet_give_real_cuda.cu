/* SPDX-License-Identifier: BSD-3-Clause */
/* The array -> a box of the field: a warp does a piece of a row. */
#include <floe/floe.h>

#include "backend/device.cuh"
#include "base/grid_math.h"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "stage/wavelet/wavelet_values_math.h"

namespace
{

enum { THREADS = 256, EACH = 4, PIECE = 1024 }; /* EACH: values of a thread that are loaded together */

__global__ void __launch_bounds__(THREADS) wavelet_give_kernel(const __grid_constant__ floe_wavelet_give_job j)
{
    const uint64_t *lo = j.out.box.lo, *hi = j.out.box.hi, *shape = j.array_shape;
    const uint64_t npieces = floe_ceil_div(hi[3] - lo[3], PIECE),
                   marks = floe_ceil_div(shape[3], FLOE_WAVELET_MARKS) * 8,
                   nitems = *j.status == FLOE_OK ? (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]) * npieces : 0;
    const floe_real center = (floe_real)j.center, unit = (floe_real)j.unit;
    for (uint64_t i = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) / FLOE_WARP; i < nitems;
         i += (uint64_t)gridDim.x * (THREADS / FLOE_WARP)) {
        uint64_t left = i;
        const uint64_t piece = floe_last_digit(&left, npieces), at2 = floe_last_digit(&left, hi[2] - lo[2]),
                       at1 = floe_last_digit(&left, hi[1] - lo[1]);
        const uint64_t row = (((left + lo[0]) << j.shift[0]) * shape[1] + ((at1 + lo[1]) << j.shift[1])) * shape[2] +
                             ((at2 + lo[2]) << j.shift[2]);
        const int64_t *stride = j.out.view.stride;
        floe_real *to = (floe_real *)j.out.view.data + (int64_t)left * stride[0] + (int64_t)at1 * stride[1] +
                        (int64_t)at2 * stride[2] - (int64_t)lo[3] * stride[3];
        const floe_real *from = (const floe_real *)j.array + row * shape[3];
        const uint32_t begin = (uint32_t)(lo[3] + piece * PIECE), end = (uint32_t)floe_min64(begin + PIECE, hi[3]);
        const int8_t *corrections = j.corrections ? j.corrections + row * marks : NULL,
                     *kinds = j.log && j.kinds ? j.kinds + row * marks : NULL;
        to += (int64_t)(begin + floe_lane()) * stride[3];
        for (uint32_t first = begin + floe_lane(); first < end; first += EACH * FLOE_WARP) {
            floe_real v[EACH];
            int32_t code[EACH];
#pragma unroll
            for (uint32_t k = 0; k < EACH; k++) {
                const uint32_t x = first + k * FLOE_WARP;
                v[k] = x < end ? from[x << j.shift[3]] : 0;
                code[k] = corrections && x < end ? corrections[floe_wavelet_mark(x)] : 0;
            }
#pragma unroll
            for (uint32_t k = 0; k < EACH; k++, to += FLOE_WARP * stride[3]) {
                const uint32_t x = first + k * FLOE_WARP;
                floe_real y = code[k] ? FLOE_R(floe_wavelet_correct)(v[k], code[k], unit) : v[k];
                y = FLOE_R(floe_wavelet_give)(y, center);
                y = j.log ? FLOE_R(floe_lattice_exp)(y) : y;
                y = j.limits.known ? FLOE_R(floe_wavelet_cut)(y, (floe_real)j.limits.min, (floe_real)j.limits.max) : y;
                if (x < end)
                    *to = kinds && kinds[floe_wavelet_mark(x)] == FLOE_WAVELET_NEGATIVE ? -y : y;
            }
        }
    }
}

} // namespace

int FLOE_R(floe_wavelet_give_box)(const floe_wavelet_give_job *job, void *stream)
{
    const uint64_t *lo = job->out.box.lo, *hi = job->out.box.hi,
                   nrows = (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]),
                   nwarps = nrows * floe_ceil_div(hi[3] - lo[3], PIECE), each = THREADS / FLOE_WARP;
    const uint32_t nblocks =
        (uint32_t)floe_min64(floe_ceil_div(nwarps, each), 32 * (uint64_t)floe_gpu_limits_cuda().processors);
    FLOE_LAUNCH(wavelet_give_kernel, nblocks, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
