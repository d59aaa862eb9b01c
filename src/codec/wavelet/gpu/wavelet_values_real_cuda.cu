/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a field to the array that is transformed, and the array that came of it against them; a warp does a piece of a row. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "base/grid_math.h"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "stage/wavelet/wavelet_values_math.h"

namespace
{

enum {
    THREADS = 256,
    AT_ONCE = FLOE_REAL_BITS == 32 ? 3 : 2, /* blocks of a processor, at least */
    TAKE_AT_ONCE = 4,                       /* without logarithms */
    EACH = 8,                               /* values of a thread, which are loaded together */
    PIECE = 32 * FLOE_WARP                  /* of which a thread has a bit each */
};

/* length: of a row of the field; rows that follow each other are one of the shape's. */
struct job : floe_wavelet_values_job {
    floe_divisor length;
};
struct jobs {
    job of[FLOE_WAVELET_DEV_JOBS];
};

/* What a thread finds: the largest of its own in the type of reals. */
struct findings {
    floe_real most, least, error;
    floe_wavelet_dev_found rest;
};

/* A thread's values of a piece: n, FLOE_WARP apart in a row of the array, and `apart` in the field. */
struct part {
    const floe_real *from;
    floe_real *array;
    int64_t apart;
    uint32_t row, at, n; /* at: where they begin in the row; numbers of an array's values fit 32 bits */

    __device__ __forceinline__ uint32_t all() const { return (uint32_t)(((uint64_t)1 << n) - 1); }
};

FLOE_DEV uint64_t mark_of(const job &j, const part &p, uint32_t k)
{
    uint32_t row = p.row, x = p.at + k * FLOE_WARP;
    if (j.length.by != j.shape[3]) {
        row = x;
        x = floe_divide(&row, &j.length);
    }
    return row * j.row + floe_wavelet_mark(x);
}

/* Values from number `first` on in the field, and in the array if it is read; of those behind the last one NaN. */
template <bool READS> struct some {
    floe_real x[EACH], v[EACH];

    __device__ __forceinline__ some(const part &p, uint32_t first)
    {
        const floe_real *from = p.from + first * p.apart, *array = p.array + first * FLOE_WARP;
        const bool plain = p.apart == FLOE_WARP && p.n - first >= EACH;
#pragma unroll
        for (uint32_t k = 0; plain && k < EACH; k++) {
            x[k] = __ldg(from + k * FLOE_WARP);
            v[k] = READS ? array[k * FLOE_WARP] : 0;
        }
#pragma unroll
        for (uint32_t k = 0; !plain && k < EACH; k++) {
            x[k] = first + k < p.n ? __ldg(from + k * p.apart) : (floe_real)NAN;
            v[k] = READS && first + k < p.n ? array[k * FLOE_WARP] : 0;
        }
    }
};

/* Calls what(part) for all values. */
template <class WHAT> FLOE_DEV void each_part(const job &j, WHAT what)
{
    const uint64_t npieces = floe_ceil_div(j.shape[3], PIECE),
                   n = *j.status == FLOE_OK ? j.shape[0] * j.shape[1] * j.shape[2] * npieces : 0,
                   step = (uint64_t)gridDim.x * (THREADS / FLOE_WARP);
    for (uint64_t i = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) / FLOE_WARP; i < n; i += step) {
        uint64_t left = i;
        const uint64_t first = floe_last_digit(&left, npieces) * PIECE;
        const uint32_t end = (uint32_t)floe_min64(first + PIECE, j.shape[3]);
        part p = {};
        p.row = (uint32_t)left;
        p.at = (uint32_t)first + floe_lane();
        p.n = p.at < end ? (end - p.at + FLOE_WARP - 1) / FLOE_WARP : 0;
        p.array = (floe_real *)j.array + left * j.shape[3] + p.at;
        const int64_t *stride = j.values.stride;
        int64_t at = p.at * stride[3];
#pragma unroll
        for (uint32_t a = 3; a-- > 1 && left;)
            at += (int64_t)floe_last_digit(&left, j.shape[a]) * stride[a];
        p.from = (const floe_real *)j.values.data + at + (int64_t)left * stride[0];
        p.apart = FLOE_WARP * stride[3];
        what(p);
    }
}

template <bool LOG> FLOE_DEV void take(const job &j, const part &p, findings &found)
{
    uint32_t literals = 0, negatives = 0;
    for (uint32_t first = 0; first < p.n; first += EACH) {
        const some<false> s(p, first);
        uint32_t no = 0, below = 0;
#pragma unroll
        for (uint32_t k = 0; k < EACH; k++) {
            const floe_real f = FLOE_R(floe_wavelet_take)(s.x[k], j.fill, LOG);
            const bool negative = LOG && f == f && s.x[k] < 0;
            no |= (uint32_t)(f != f) << k;
            below |= (uint32_t)negative << k;
            found.most = FLOE_LATTICE_MAX(f, found.most);
            found.least = FLOE_LATTICE_MIN(f, found.least);
        }
        literals |= no << first;
        negatives |= below << first;
    }
    literals &= p.all();
    found.rest.nliterals += (uint32_t)__popc(literals);
    found.rest.nmarks += (uint32_t)__popc(negatives);
    for (uint32_t left = literals | negatives; left; left &= left - 1) {
        const uint32_t k = (uint32_t)__ffs((int)left) - 1;
        j.kinds[mark_of(j, p, k)] = literals >> k & 1 ? FLOE_WAVELET_LITERAL : FLOE_WAVELET_NEGATIVE;
    }
}

/* plain: no logarithms, and no squares. */
FLOE_DEV bool is_within(const job &j, bool plain, floe_real x, floe_real v, findings &found)
{
    floe_real y = FLOE_R(floe_wavelet_give)(v, (floe_real)j.center);
    if (plain) {
        const floe_real size = FLOE_LATTICE_ABS(x - y);
        const bool good = size <= (floe_real)j.tolerance; /* which is a real */
        found.error = good ? FLOE_LATTICE_MAX(size, found.error) : found.error;
        return good;
    }
    double error, size;
    y = j.log ? FLOE_R(floe_lattice_exp)(y) : y;
    if (!FLOE_R(floe_wavelet_is_within)(x, y, j.log, j.tolerance, &error, &size))
        return false;
    const unsigned long long bits = floe_bits_f64(error), relative = j.log ? floe_bits_f64(error / size) : 0;
    found.rest.max_error = bits > found.rest.max_error ? bits : found.rest.max_error;
    found.rest.max_pw_error = relative > found.rest.max_pw_error ? relative : found.rest.max_pw_error;
    found.rest.squares += j.squares ? FLOE_R(floe_wavelet_square)(error, j.tolerance) : 0;
    return true;
}

FLOE_DEV void correct(const job &j, bool plain, floe_real x, floe_real v, uint64_t mark, findings &found)
{
    const floe_real f = j.log ? FLOE_R(floe_lattice_log)(x, (floe_uint)j.fill) : x;
    const int32_t code = FLOE_R(floe_wavelet_correction)(f, v, j.center, j.unit);
    if (code && is_within(j, plain, x, FLOE_R(floe_wavelet_correct)(v, code, (floe_real)j.unit), found)) {
        j.corrections[mark] = (int8_t)code;
        found.rest.nmarks++;
        return;
    }
    if (!j.trial)
        j.kinds[mark] = FLOE_WAVELET_LITERAL;
    found.rest.nliterals++;
}

/* Those that miss are few: they come last, so that lanes do theirs together. */
FLOE_DEV void check(const job &j, const part &p, findings &found)
{
    const bool plain = !j.log && !j.squares;
    uint32_t missed = 0, there = p.all();
    for (uint32_t first = 0; first < p.n; first += EACH) {
        some<true> s(p, first);
#pragma unroll
        for (uint32_t k = 0; j.some_kinds && k < EACH; k++)
            if (first + k < p.n && j.kinds[mark_of(j, p, first + k)] == FLOE_WAVELET_LITERAL) {
                there &= ~(1u << k << first);
                s.x[k] = (floe_real)NAN;
            }
        uint32_t misses = 0;
#pragma unroll
        for (uint32_t k = 0; plain && k < EACH; k++)
            misses |= (uint32_t)!is_within(j, true, s.x[k], s.v[k], found) << k;
#pragma unroll
        for (uint32_t k = 0; !plain && k < EACH; k++)
            misses |= (uint32_t)!is_within(j, false, s.x[k], s.v[k], found) << k;
        missed |= misses << first;
    }
    for (missed &= there; missed; missed &= missed - 1) {
        const uint32_t k = (uint32_t)__ffs((int)missed) - 1;
        const floe_real v = FLOE_R(floe_wavelet_finite)(p.array[k * FLOE_WARP]);
        correct(j, plain, __ldg(p.from + k * p.apart), v, mark_of(j, p, k), found);
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

/* MORE: of CHECK several arrays; of TAKE logarithms. */
template <floe_wavelet_values_what WHAT, bool MORE>
__global__ void __launch_bounds__(THREADS, WHAT == FLOE_WAVELET_VALUES_TAKE && !MORE ? TAKE_AT_ONCE : AT_ONCE)
    wavelet_values_kernel(const __grid_constant__ jobs all)
{
    const job &j = all.of[MORE ? blockIdx.y : 0];
    const floe_real center = (floe_real)j.center;
    findings found = {-INFINITY, INFINITY, 0, {}};
    each_part(j, [&](const part &p) {
        if constexpr (WHAT == FLOE_WAVELET_VALUES_CHECK) {
            check(j, p, found);
        } else if constexpr (WHAT == FLOE_WAVELET_VALUES_TAKE) {
            take<MORE>(j, p, found);
        } else {
            constexpr bool SHIFT = WHAT == FLOE_WAVELET_VALUES_SHIFT;
            for (uint32_t first = 0; first < p.n; first += EACH) {
                const some<SHIFT> s(p, first);
#pragma unroll
                for (uint32_t k = 0; k < EACH; k++)
                    if (first + k < p.n)
                        p.array[(first + k) * FLOE_WARP] =
                            (SHIFT ? s.v[k] : FLOE_R(floe_wavelet_take)(s.x[k], j.fill, j.log)) - center;
            }
        }
    });
    if constexpr (WHAT == FLOE_WAVELET_VALUES_TAKE || WHAT == FLOE_WAVELET_VALUES_CHECK)
        leave(found, j.found);
}

job job_of(const floe_wavelet_values_job &from)
{
    job j = {};
    static_cast<floe_wavelet_values_job &>(j) = from;
    j.length = floe_divisor_of((uint32_t)j.shape[3]);
    const uint64_t plane = j.shape[2] * j.shape[3], n = j.shape[0] * j.shape[1] * plane;
    const int64_t *stride = j.values.stride;
    if (n > INT32_MAX || stride[3] != 1 || (uint64_t)stride[2] != j.shape[3] || (uint64_t)stride[1] != plane ||
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
    constexpr bool CHECK = WHAT == FLOE_WAVELET_VALUES_CHECK, /* of trials, else one at a time */
        MAY = CHECK || WHAT == FLOE_WAVELET_VALUES_TAKE;
    if (MAY && (CHECK ? n > 1 : all.of[0].log))
        FLOE_LAUNCH((wavelet_values_kernel<WHAT, MAY>), dim3(nblocks, n), THREADS, 0, (cudaStream_t)stream, all);
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
