/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a field to the array that is transformed, and the array that came of it against them; a warp does a piece of a row. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "base/grid_math.h"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "stage/wavelet/wavelet_values_math.h"

namespace
{

enum { THREADS = 256, PIECE = 512 };

typedef floe_wavelet_values_job job;

/* A value: in the field, in the array, and its mark. */
struct cell {
    floe_real x, *v;
    uint64_t mark;
};

/* Calls what(cell) for all values. */
template <class WHAT> FLOE_DEV void each_cell(const job &j, WHAT what)
{
    const uint64_t npieces = floe_ceil_div(j.shape[3], PIECE),
                   n = *j.status == FLOE_OK ? j.shape[0] * j.shape[1] * j.shape[2] * npieces : 0,
                   step = (uint64_t)gridDim.x * (THREADS / FLOE_WARP);
    for (uint64_t i = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) / FLOE_WARP; i < n; i += step) {
        uint64_t left = i;
        const uint64_t begin = floe_last_digit(&left, npieces) * PIECE, row = left,
                       end = floe_min64(begin + PIECE, j.shape[3]);
        const int64_t *stride = j.values.stride;
        int64_t at = 0;
#pragma unroll
        for (uint32_t a = 3; a-- > 1;)
            at += (int64_t)floe_last_digit(&left, j.shape[a]) * stride[a];
        const floe_real *from = (const floe_real *)j.values.data + at + (int64_t)left * stride[0];
        floe_real *array = (floe_real *)j.array + row * j.shape[3];
#pragma unroll 4
        for (uint64_t x = begin + floe_lane(); x < end; x += FLOE_WARP)
            what(cell{__ldg(from + (int64_t)x * stride[3]), array + x, row * j.row + floe_wavelet_mark(x)});
    }
}

FLOE_DEV void take(const job &j, const cell &c, floe_wavelet_dev_found &found)
{
    const floe_real f = FLOE_R(floe_wavelet_take)(c.x, j.fill, j.log);
    *c.v = f;
    if (f != f) {
        j.kinds[c.mark] = FLOE_WAVELET_LITERAL;
        found.nliterals++;
    } else {
        const unsigned long long key = floe_wavelet_dev_key((double)f);
        found.most = key > found.most ? key : found.most;
        found.least = ~key > found.least ? ~key : found.least;
        if (j.log && c.x < 0) {
            j.kinds[c.mark] = FLOE_WAVELET_NEGATIVE;
            found.nmarks++;
        }
    }
}

FLOE_DEV bool is_within(const job &j, const cell &c, floe_real v, floe_wavelet_dev_found &found)
{
    double error, size;
    floe_real y = FLOE_R(floe_wavelet_give)(v, (floe_real)j.center);
    y = j.log ? FLOE_R(floe_interp_exp)(y) : y;
    if (!FLOE_R(floe_wavelet_is_within)(c.x, y, j.log, j.tolerance, &error, &size))
        return false;
    const unsigned long long bits = floe_bits_f64(error), relative = j.log ? floe_bits_f64(error / size) : 0;
    found.max_error = bits > found.max_error ? bits : found.max_error;
    found.max_pw_error = relative > found.max_pw_error ? relative : found.max_pw_error;
    found.squares += j.squares ? FLOE_R(floe_wavelet_square)(error, j.tolerance) : 0;
    return true;
}

FLOE_DEV void check(const job &j, const cell &c, floe_wavelet_dev_found &found)
{
    const floe_real v = FLOE_R(floe_wavelet_finite)(__ldg(c.v));
    if (j.kinds[c.mark] == FLOE_WAVELET_LITERAL || is_within(j, c, v, found))
        return;
    const floe_real f = j.log ? FLOE_R(floe_interp_log)(c.x, (floe_uint)j.fill) : c.x;
    const int32_t code = FLOE_R(floe_wavelet_correction)(f, v, j.center, j.unit);
    if (code && is_within(j, c, FLOE_R(floe_wavelet_correct)(v, code, (floe_real)j.unit), found)) {
        j.corrections[c.mark] = (int8_t)code;
        found.nmarks++;
        return;
    }
    if (!j.trial)
        j.kinds[c.mark] = FLOE_WAVELET_LITERAL;
    found.nliterals++;
}

/* A block takes so many values at a time, that lie side by side. */
FLOE_DEV void shift(const job &j)
{
    enum { EACH = 4, TILE = EACH * THREADS };
    const uint64_t n = *j.status == FLOE_OK ? j.shape[0] * j.shape[1] * j.shape[2] * j.shape[3] : 0;
    const floe_real center = (floe_real)j.center;
    floe_real *array = (floe_real *)j.array;
    for (uint64_t i = (uint64_t)blockIdx.x * TILE + threadIdx.x; i < n; i += (uint64_t)gridDim.x * TILE) {
        floe_real v[EACH];
#pragma unroll
        for (uint32_t k = 0; k < EACH; k++)
            v[k] = i + k * THREADS < n ? array[i + k * THREADS] : 0;
#pragma unroll
        for (uint32_t k = 0; k < EACH; k++)
            if (i + k * THREADS < n)
                array[i + k * THREADS] = v[k] - center;
    }
}

/* By a block. */
FLOE_DEV void leave(const floe_wavelet_dev_found &found, floe_wavelet_dev_found *to)
{
    enum { MOSTS = 4, ALL = 7 }; /* the largest of these, sums of others */
    static_assert(sizeof found == ALL * sizeof(unsigned long long), "as they stand");
    __shared__ unsigned long long all[ALL];
    const unsigned long long own[ALL] = {found.most,    found.least,     found.max_error, found.max_pw_error,
                                         found.squares, found.nliterals, found.nmarks};
    if (threadIdx.x < ALL)
        all[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < ALL; k++) {
        const unsigned long long v = k < MOSTS ? floe_warp_max(own[k]) : floe_warp_sum(own[k]);
        if (floe_lane() == 0 && v && k < MOSTS)
            atomicMax(all + k, v);
        else if (floe_lane() == 0 && v)
            atomicAdd(all + k, v);
    }
    __syncthreads();
    unsigned long long *out = &to->most + threadIdx.x;
    if (threadIdx.x < MOSTS && all[threadIdx.x] > *(volatile unsigned long long *)out)
        atomicMax(out, all[threadIdx.x]);
    else if (threadIdx.x >= MOSTS && threadIdx.x < ALL && all[threadIdx.x])
        atomicAdd(out, all[threadIdx.x]);
}

template <floe_wavelet_values_what WHAT>
__global__ void __launch_bounds__(THREADS) wavelet_values_kernel(const __grid_constant__ job j)
{
    floe_wavelet_dev_found found = {};
    if constexpr (WHAT == FLOE_WAVELET_VALUES_TAKE)
        each_cell(j, [&](const cell &c) { take(j, c, found); });
    else if constexpr (WHAT == FLOE_WAVELET_VALUES_CHECK)
        each_cell(j, [&](const cell &c) { check(j, c, found); });
    else
        shift(j);
    if constexpr (WHAT == FLOE_WAVELET_VALUES_SHIFT)
        return;
    leave(found, j.found);
}

} // namespace

int FLOE_R(floe_wavelet_values)(const floe_wavelet_values_job *job, floe_wavelet_values_what what, void *stream)
{
    const uint64_t n = job->shape[0] * job->shape[1] * job->shape[2] * job->shape[3];
    const uint32_t nblocks = (uint32_t)floe_min64(floe_ceil_div(n, THREADS), 16 * floe_gpu_limits_cuda().processors);
    const cudaStream_t q = (cudaStream_t)stream;
    switch (what) {
    case FLOE_WAVELET_VALUES_TAKE:
        FLOE_LAUNCH(wavelet_values_kernel<FLOE_WAVELET_VALUES_TAKE>, nblocks, THREADS, 0, q, *job);
        break;
    case FLOE_WAVELET_VALUES_SHIFT:
        FLOE_LAUNCH(wavelet_values_kernel<FLOE_WAVELET_VALUES_SHIFT>, nblocks, THREADS, 0, q, *job);
        break;
    case FLOE_WAVELET_VALUES_CHECK:
        FLOE_LAUNCH(wavelet_values_kernel<FLOE_WAVELET_VALUES_CHECK>, nblocks, THREADS, 0, q, *job);
        break;
    }
    return (int)cudaGetLastError();
}
