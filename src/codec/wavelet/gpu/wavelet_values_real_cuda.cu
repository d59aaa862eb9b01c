/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a field to the array that is transformed, and the array that came of it against them; a thread a value. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "base/grid_math.h"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "stage/wavelet/wavelet_values_math.h"

namespace
{

enum { THREADS = 256 };

typedef floe_wavelet_values_job job;

/* A value: in the field, in the array, and its mark. */
struct cell {
    floe_real x, *v;
    uint64_t mark;
};

FLOE_DEV cell cell_of(const job &j, uint64_t i)
{
    uint64_t left = i;
    const uint64_t x = floe_last_digit(&left, j.shape[3]), row = left;
    int64_t at = (int64_t)x * j.values.stride[3];
#pragma unroll
    for (uint32_t a = 3; a-- > 1;)
        at += (int64_t)floe_last_digit(&left, j.shape[a]) * j.values.stride[a];
    at += (int64_t)left * j.values.stride[0];
    const cell c = {((const floe_real *)j.values.data)[at], (floe_real *)j.array + i,
                    row * j.row + floe_wavelet_mark(x)};
    return c;
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
    if (j.kinds[c.mark] == FLOE_WAVELET_LITERAL || is_within(j, c, *c.v, found))
        return;
    const floe_real f = j.log ? FLOE_R(floe_interp_log)(c.x, (floe_uint)j.fill) : c.x;
    const int32_t code = FLOE_R(floe_wavelet_correction)(f, *c.v, j.center, j.unit);
    if (code && is_within(j, c, FLOE_R(floe_wavelet_correct)(*c.v, code, (floe_real)j.unit), found)) {
        j.corrections[c.mark] = (int8_t)code;
        found.nmarks++;
        return;
    }
    j.kinds[c.mark] = FLOE_WAVELET_LITERAL;
    found.nliterals++;
}

FLOE_DEV void leave_most(unsigned long long *to, unsigned long long v)
{
    v = floe_warp_max(v);
    if (floe_lane() == 0 && v > *(volatile unsigned long long *)to)
        atomicMax(to, v);
}
FLOE_DEV void leave_sum(unsigned long long *to, unsigned long long v)
{
    v = floe_warp_sum(v);
    if (floe_lane() == 0 && v)
        atomicAdd(to, v);
}

template <floe_wavelet_values_what WHAT>
__global__ void __launch_bounds__(THREADS) wavelet_values_kernel(const __grid_constant__ job j)
{
    const uint64_t n = *j.status == FLOE_OK ? j.shape[0] * j.shape[1] * j.shape[2] * j.shape[3] : 0;
    floe_wavelet_dev_found found = {};
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += (uint64_t)gridDim.x * THREADS)
        if constexpr (WHAT == FLOE_WAVELET_VALUES_TAKE)
            take(j, cell_of(j, i), found);
        else if constexpr (WHAT == FLOE_WAVELET_VALUES_CHECK)
            check(j, cell_of(j, i), found);
        else
            ((floe_real *)j.array)[i] -= (floe_real)j.center;
    if constexpr (WHAT == FLOE_WAVELET_VALUES_SHIFT)
        return;
    leave_most(&j.found->most, found.most);
    leave_most(&j.found->least, found.least);
    leave_most(&j.found->max_error, found.max_error);
    leave_most(&j.found->max_pw_error, found.max_pw_error);
    leave_sum(&j.found->squares, found.squares);
    leave_sum(&j.found->nliterals, found.nliterals);
    leave_sum(&j.found->nmarks, found.nmarks);
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
