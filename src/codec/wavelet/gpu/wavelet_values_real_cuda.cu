/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a field to the array that is transformed, and the array that came of it against them; a warp does a piece of a row. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "base/grid_math.h"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "stage/wavelet/wavelet_values_math.h"

namespace
{

enum { THREADS = 256, PIECE = 16 * FLOE_WARP };

/* length: of a row of the field; rows that are short and follow each other are one of the shape's. */
struct job : floe_wavelet_values_job {
    uint32_t length;
};
struct jobs {
    job of[FLOE_WAVELET_DEV_JOBS];
};

FLOE_DEV uint64_t mark_of(const job &j, uint32_t row, uint32_t x)
{
    if (j.length != j.shape[3]) {
        row = x / j.length;
        x -= row * j.length;
    }
    return row * j.row + floe_wavelet_mark(x);
}

/* What a thread finds: the largest of its own in the type of reals. */
struct findings {
    floe_real most, least, error;
    floe_wavelet_dev_found rest;
};

/* What a thread has at once: values at, at + FLOE_WARP, .. of a row, as far as they are there. They are loaded together. */
template <bool READS> struct some {
    static constexpr uint32_t EACH = READS ? 4 : 8;
    floe_real x[EACH], v[EACH]; /* in the field, and in the array if it is read */
    floe_real *array;           /* the row's */
    uint32_t row, at, end;      /* numbers of an array's values fit 32 bits */

    __device__ __forceinline__ uint32_t place_of(uint32_t k) const { return at + k * FLOE_WARP; }
};

/* Calls what(some) for all values. */
template <bool READS, class WHAT> FLOE_DEV void each_some(const job &j, WHAT what)
{
    const uint64_t npieces = floe_ceil_div(j.shape[3], PIECE),
                   n = *j.status == FLOE_OK ? j.shape[0] * j.shape[1] * j.shape[2] * npieces : 0,
                   step = (uint64_t)gridDim.x * (THREADS / FLOE_WARP);
    for (uint64_t i = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) / FLOE_WARP; i < n; i += step) {
        uint64_t left = i;
        const uint64_t first = floe_last_digit(&left, npieces) * PIECE;
        some<READS> s = {};
        s.row = (uint32_t)left;
        s.end = (uint32_t)floe_min64(first + PIECE, j.shape[3]);
        s.array = (floe_real *)j.array + left * j.shape[3];
        const int64_t *stride = j.values.stride;
        int64_t at = 0;
#pragma unroll
        for (uint32_t a = 3; a-- > 1;)
            at += (int64_t)floe_last_digit(&left, j.shape[a]) * stride[a];
        s.at = (uint32_t)first + floe_lane();
        const floe_real *from =
            (const floe_real *)j.values.data + at + (int64_t)left * stride[0] + (int64_t)s.at * stride[3];
        const int64_t apart = FLOE_WARP * stride[3];
        for (; s.at < s.end; s.at += s.EACH * FLOE_WARP, from += s.EACH * apart) {
#pragma unroll
            for (uint32_t k = 0; k < s.EACH; k++) {
                const uint32_t to = s.place_of(k);
                s.x[k] = to < s.end ? __ldg(from + k * apart) : 0;
                s.v[k] = READS && to < s.end ? s.array[to] : 0;
            }
            what(s);
        }
    }
}

/* Calls what(x, v, place, mark) for each of some. */
template <class SOME, class WHAT> FLOE_DEV void each_of(const job &j, const SOME &s, WHAT what)
{
#pragma unroll
    for (uint32_t k = 0; k < SOME::EACH; k++) {
        const uint32_t to = s.place_of(k);
        if (to < s.end)
            what(s.x[k], s.v[k], s.array + to, [&] { return mark_of(j, s.row, to); });
    }
}

template <class MARK> FLOE_DEV void take(const job &j, floe_real x, MARK mark, findings &found)
{
    const floe_real f = FLOE_R(floe_wavelet_take)(x, j.fill, j.log);
    if (f != f) {
        j.kinds[mark()] = FLOE_WAVELET_LITERAL;
        found.rest.nliterals++;
        return;
    }
    found.most = f > found.most ? f : found.most;
    found.least = f < found.least ? f : found.least;
    if (j.log && x < 0) {
        j.kinds[mark()] = FLOE_WAVELET_NEGATIVE;
        found.rest.nmarks++;
    }
}

FLOE_DEV bool is_within(const job &j, floe_real x, floe_real v, findings &found)
{
    floe_real y = FLOE_R(floe_wavelet_give)(v, (floe_real)j.center);
    if (!j.log && !j.squares) {
        const floe_real d = x - y, size = d < 0 ? -d : d;
        const bool good = size <= (floe_real)j.tolerance; /* which is a real */
        found.error = good && size > found.error ? size : found.error;
        return good;
    }
    double error, size;
    y = j.log ? FLOE_R(floe_interp_exp)(y) : y;
    if (!FLOE_R(floe_wavelet_is_within)(x, y, j.log, j.tolerance, &error, &size))
        return false;
    const unsigned long long bits = floe_bits_f64(error), relative = j.log ? floe_bits_f64(error / size) : 0;
    found.rest.max_error = bits > found.rest.max_error ? bits : found.rest.max_error;
    found.rest.max_pw_error = relative > found.rest.max_pw_error ? relative : found.rest.max_pw_error;
    found.rest.squares += j.squares ? FLOE_R(floe_wavelet_square)(error, j.tolerance) : 0;
    return true;
}

FLOE_DEV void correct(const job &j, floe_real x, floe_real v, uint64_t mark, findings &found)
{
    const floe_real f = j.log ? FLOE_R(floe_interp_log)(x, (floe_uint)j.fill) : x;
    const int32_t code = FLOE_R(floe_wavelet_correction)(f, v, j.center, j.unit);
    if (code && is_within(j, x, FLOE_R(floe_wavelet_correct)(v, code, (floe_real)j.unit), found)) {
        j.corrections[mark] = (int8_t)code;
        found.rest.nmarks++;
        return;
    }
    if (!j.trial)
        j.kinds[mark] = FLOE_WAVELET_LITERAL;
    found.rest.nliterals++;
}

/* Those that miss are few: they come last, so that lanes do theirs together. */
template <class SOME> FLOE_DEV void check(const job &j, const SOME &s, findings &found)
{
    uint32_t missed = 0;
#pragma unroll
    for (uint32_t k = 0; k < SOME::EACH; k++) {
        const bool there = s.place_of(k) < s.end &&
                           !(j.some_kinds && j.kinds[mark_of(j, s.row, s.place_of(k))] == FLOE_WAVELET_LITERAL);
        if (there && !is_within(j, s.x[k], s.v[k], found))
            missed |= 1u << k;
    }
    for (; missed; missed &= missed - 1) {
        const uint32_t i = (uint32_t)__ffs((int)missed) - 1;
        floe_real x = 0, v = 0;
#pragma unroll
        for (uint32_t k = 0; k < SOME::EACH; k++) {
            x = k == i ? s.x[k] : x;
            v = k == i ? s.v[k] : v;
        }
        correct(j, x, FLOE_R(floe_wavelet_finite)(v), mark_of(j, s.row, s.place_of(i)), found);
    }
}

/* By a block. */
FLOE_DEV void leave(const findings &all_found, floe_wavelet_dev_found *to)
{
    floe_wavelet_dev_found found = all_found.rest;
    const unsigned long long error = floe_bits_f64((double)all_found.error);
    found.max_error = error > found.max_error ? error : found.max_error;
    if (all_found.most >= all_found.least) {
        found.most = floe_wavelet_dev_key((double)all_found.most);
        found.least = ~floe_wavelet_dev_key((double)all_found.least);
    }
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

template <floe_wavelet_values_what WHAT, bool SEVERAL>
__global__ void __launch_bounds__(THREADS) wavelet_values_kernel(const __grid_constant__ jobs all)
{
    const job &j = all.of[SEVERAL ? blockIdx.y : 0];
    const floe_real center = (floe_real)j.center;
    findings found = {-INFINITY, INFINITY, 0, {}};
    if constexpr (WHAT == FLOE_WAVELET_VALUES_CHECK) {
        each_some<true>(j, [&](const auto &s) { check(j, s, found); });
    } else {
        each_some<WHAT == FLOE_WAVELET_VALUES_SHIFT>(j, [&](const auto &s) {
            each_of(j, s, [&](floe_real x, floe_real v, floe_real *to, auto mark) {
                if constexpr (WHAT == FLOE_WAVELET_VALUES_TAKE)
                    take(j, x, mark, found);
                else if constexpr (WHAT == FLOE_WAVELET_VALUES_LOAD)
                    *to = FLOE_R(floe_wavelet_take)(x, j.fill, j.log) - center;
                else
                    *to = v - center;
            });
        });
    }
    if constexpr (WHAT == FLOE_WAVELET_VALUES_TAKE || WHAT == FLOE_WAVELET_VALUES_CHECK)
        leave(found, j.found);
}

job job_of(const floe_wavelet_values_job &from)
{
    job j = {};
    static_cast<floe_wavelet_values_job &>(j) = from;
    j.length = (uint32_t)j.shape[3];
    const uint64_t plane = j.shape[2] * j.shape[3], n = j.shape[0] * j.shape[1] * plane;
    const int64_t *stride = j.values.stride;
    if (j.length >= PIECE || stride[3] != 1 || (uint64_t)stride[2] != j.length || (uint64_t)stride[1] != plane ||
        (uint64_t)stride[0] != plane * j.shape[1])
        return j;
    j.shape[0] = j.shape[1] = j.shape[2] = 1;
    j.shape[3] = n;
    return j;
}

template <floe_wavelet_values_what WHAT> void launch(const jobs &all, uint32_t n, uint64_t count, void *stream)
{
    const uint32_t nblocks = (uint32_t)floe_min64(floe_ceil_div(count, PIECE / FLOE_WARP / 2 * THREADS),
                                                  16 * floe_gpu_limits_cuda().processors);
    constexpr bool CHECK = WHAT == FLOE_WAVELET_VALUES_CHECK; /* of trials, else one at a time */
    if (CHECK && n > 1)
        FLOE_LAUNCH((wavelet_values_kernel<WHAT, CHECK>), dim3(nblocks, n), THREADS, 0, (cudaStream_t)stream, all);
    else
        FLOE_LAUNCH((wavelet_values_kernel<WHAT, false>), nblocks, THREADS, 0, (cudaStream_t)stream, all);
}

} // namespace

int FLOE_R(floe_wavelet_values)(const floe_wavelet_values_job *job, uint32_t n, floe_wavelet_values_what what,
                                void *stream)
{
    const uint64_t ncells = job->shape[0] * job->shape[1] * job->shape[2] * job->shape[3];
    jobs all = {};
    for (uint32_t i = 0; i < n; i++)
        all.of[i] = job_of(job[i]);
    switch (what) {
    case FLOE_WAVELET_VALUES_TAKE: launch<FLOE_WAVELET_VALUES_TAKE>(all, n, ncells, stream); break;
    case FLOE_WAVELET_VALUES_LOAD: launch<FLOE_WAVELET_VALUES_LOAD>(all, n, ncells, stream); break;
    case FLOE_WAVELET_VALUES_SHIFT: launch<FLOE_WAVELET_VALUES_SHIFT>(all, n, ncells, stream); break;
    case FLOE_WAVELET_VALUES_CHECK: launch<FLOE_WAVELET_VALUES_CHECK>(all, n, ncells, stream); break;
    }
    return (int)cudaGetLastError();
}
