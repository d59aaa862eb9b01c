/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes of small arrays whose points stay in their places: a thread computes some points of a lifting. Sums are made in the order of
 * wavelet_cpu.c, and cut where that cuts them: what a pass reads first is as the pass before left it. */
#include <floe/floe.h>

#include "backend/device.cuh"
#include "stage/wavelet/wavelet_banks.h"
#include "stage/wavelet/wavelet_cuda.h"

namespace
{

enum {
    THREADS = 256,
    RUN = 8,           /* points of a line that a thread does, where there are many */
    FEW_POINTS = 4096, /* of a lattice that a block does alone */
    FEW_THREADS = 1024
};

/* The banks, weights as they are used. */
struct bank {
    uint32_t nlifts;
    floe_real scale, unscale;
    struct {
        bool to_odd;
        int32_t first, ntaps;
        floe_real weight[FLOE_WAVELET_TAPS];
    } lift[FLOE_WAVELET_LIFTS];
};

struct banks {
    bank of[FLOE_WAVELET_BANKS];
};

constexpr banks make_banks()
{
    banks b = {};
    for (int i = 0; i < FLOE_WAVELET_BANKS; i++) {
        const floe_wavelet_lifting &from = floe_wavelet_banks[i];
        b.of[i].nlifts = from.nlifts;
        b.of[i].scale = (floe_real)from.scale;
        b.of[i].unscale = (floe_real)from.unscale;
        for (uint32_t k = 0; k < from.nlifts; k++) {
            b.of[i].lift[k].to_odd = from.lift[k].to_odd;
            b.of[i].lift[k].first = from.lift[k].first;
            b.of[i].lift[k].ntaps = (int32_t)from.lift[k].ntaps;
            for (uint32_t t = 0; t < from.lift[k].ntaps; t++)
                b.of[i].lift[k].weight[t] = (floe_real)from.lift[k].weight[t];
        }
    }
    return b;
}

__constant__ const banks all_banks = make_banks();

struct arrays {
    uint32_t shape[FLOE_INTERP_RANK], stride[FLOE_INTERP_RANK], n;
    bool inverse;
    const uint32_t *status;
    floe_wavelet_dev_place at[FLOE_WAVELET_DEV_ARRAYS];
    uint32_t nwide[FLOE_WAVELET_DEV_ARRAYS]; /* passes, the first ones forward, of lattices of many points */
};

/* A lifting of a pass. A thread does points first, first + apart, .. of a parity of its line. */
struct task {
    floe_real *array;
    uint32_t n, count, apart, axis, step; /* points of a line, those to do; step: from a point to the next */
    uint32_t extent[FLOE_INTERP_RANK], stride[FLOE_INTERP_RANK]; /* extent: of threads; stride: 0 along the line */
    const bank *of;
    int32_t first, ntaps;
    floe_real weight[FLOE_WAVELET_TAPS]; /* signed */
    bool to_odd, inverse, one_sided, begins, cuts, ends;
};

FLOE_DEV task task_of(const arrays &s, const floe_wavelet_dev_place &p, uint32_t pass, uint32_t number, uint32_t run)
{
    const floe_wavelet_dev_pass_at &at = p.pass[pass];
    const bank &b = all_banks.of[p.bank];
    const auto &l = b.lift[s.inverse ? b.nlifts - 1 - number : number];
    task t = {};
    t.array = (floe_real *)p.array;
    t.axis = at.axis;
    t.of = &b;
    t.first = l.first;
    t.ntaps = l.ntaps;
#pragma unroll
    for (uint32_t k = 0; k < FLOE_WAVELET_TAPS; k++)
        t.weight[k] = s.inverse ? -l.weight[k] : l.weight[k];
    t.to_odd = l.to_odd;
    t.inverse = s.inverse;
    t.one_sided = (p.one_sided >> at.axis & 1) && number == (s.inverse ? b.nlifts - 1 : 0);
    t.begins = number == 0;
    t.cuts = number < 2; /* parities take turns */
    t.ends = number + 2 >= b.nlifts;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        const uint32_t depth = at.depth[a], n = ((s.shape[a] - 1) >> depth) + 1, count = t.to_odd ? n / 2 : n - n / 2,
                       apart = (count - 1) / run + 1;
        const bool own = a == at.axis;
        t.extent[a] = own ? apart : n;
        t.stride[a] = own ? 0 : s.stride[a] << depth;
        t.step = own ? s.stride[a] << depth : t.step;
        t.n = own ? n : t.n;
        t.count = own ? count : t.count;
        t.apart = own ? apart : t.apart;
    }
    return t;
}

/* A point that this pass reads for the first time. */
FLOE_DEV floe_real first_read(const task &t, bool odd, floe_real v)
{
    v = FLOE_R(floe_wavelet_finite)(v);
    return t.inverse && !odd ? v * t.of->unscale : v;
}

/* Near an end of the line. */
FLOE_DEV floe_real add_end_taps(const task &t, const floe_real *line, int32_t i, floe_real sum)
{
    const auto near = [&](int64_t at) {
        const floe_real v = line[(uint32_t)at * t.step];
        return t.begins ? first_read(t, !t.to_odd, v) : v;
    };
    if (t.one_sided) {
        int64_t first;
        double w[4];
        const uint32_t count = floe_wavelet_one_sided(i, t.n - t.n / 2, &first, w);
        for (uint32_t k = 0; k < count; k++)
            sum = FLOE_WAVELET_FMA((floe_real)(t.inverse ? w[k] : -w[k]), near(2 * (first + k)), sum);
        return sum;
    }
#pragma unroll
    for (int32_t k = 0; k < FLOE_WAVELET_TAPS; k++)
        if (k < t.ntaps)
            sum =
                FLOE_WAVELET_FMA(t.weight[k], near(floe_wavelet_reflect(2 * (i + t.first + k) + !t.to_odd, t.n)), sum);
    return sum;
}

FLOE_DEV void lift_line(const task &t, uint32_t index)
{
    uint32_t place = 0, left = index, i = 0;
    const uint32_t step = t.step;
#pragma unroll
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 0;) {
        const uint32_t at = a ? left % t.extent[a] : left;
        left = a ? left / t.extent[a] : 0;
        place += at * t.stride[a];
        i = a == t.axis ? at : i;
    }
    floe_real *line = t.array + place;
    const int32_t others = (int32_t)(t.to_odd ? t.n - t.n / 2 : t.n / 2);
    for (; i < t.count; i += t.apart) {
        floe_real *own = line + (2 * i + t.to_odd) * step, sum = *own;
        const int32_t before = (int32_t)i + t.first;
        sum = t.cuts ? first_read(t, t.to_odd, sum) : sum;
        if (before < 0 || before + t.ntaps > others) {
            sum = add_end_taps(t, line, (int32_t)i, sum);
        } else {
            const floe_real *near = line + (2 * before + !t.to_odd) * (int32_t)step;
#pragma unroll
            for (int32_t k = 0; k < FLOE_WAVELET_TAPS; k++)
                if (k < t.ntaps) {
                    const floe_real v = near[k * 2 * step];
                    sum = FLOE_WAVELET_FMA(t.weight[k], t.begins ? first_read(t, !t.to_odd, v) : v, sum);
                }
        }
        *own = t.ends && !t.inverse && !t.to_odd ? sum * t.of->scale : sum;
    }
}

FLOE_DEV void lift_lines(const task &t, uint32_t first, uint32_t step)
{
    const uint32_t n = t.extent[0] * t.extent[1] * t.extent[2] * t.extent[3];
    for (uint32_t i = first; i < n; i += step)
        lift_line(t, i);
}

/* Lifting `number`, counted through the passes of many points, of all arrays. */
__global__ void __launch_bounds__(THREADS) wavelet_place_kernel(const __grid_constant__ arrays s, uint32_t number)
{
    const uint32_t k = blockIdx.x % s.n, nlifts = all_banks.of[s.at[k].bank].nlifts, pass = number / nlifts;
    if (*s.status != FLOE_OK || pass >= s.nwide[k])
        return;
    const task t = task_of(s, s.at[k], s.inverse ? s.nwide[k] - 1 - pass : pass, number % nlifts, RUN);
    lift_lines(t, blockIdx.x / s.n * THREADS + threadIdx.x, gridDim.x / s.n * THREADS);
}

/* A block does all liftings of few points of an array. */
__global__ void __launch_bounds__(FEW_THREADS) wavelet_few_kernel(const __grid_constant__ arrays s)
{
    const floe_wavelet_dev_place &p = s.at[blockIdx.x];
    const uint32_t nwide = s.nwide[blockIdx.x], nlifts = all_banks.of[p.bank].nlifts;
    if (*s.status != FLOE_OK)
        return;
    for (uint32_t i = nwide; i < p.npasses; i++)
        for (uint32_t k = 0; k < nlifts; k++) {
            const task t = task_of(s, p, s.inverse ? p.npasses - 1 - (i - nwide) : i, k, 1);
            lift_lines(t, threadIdx.x, FEW_THREADS);
            __syncthreads();
        }
}

uint64_t points_of(const arrays &s, const floe_wavelet_dev_pass_at &pass)
{
    uint64_t n = 1;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        n *= ((s.shape[a] - 1) >> pass.depth[a]) + 1;
    return n;
}

arrays arrays_of(const floe_wavelet_dev_places &p)
{
    arrays s = {};
    uint32_t stride = 1;
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 0; stride *= s.shape[a]) {
        s.shape[a] = (uint32_t)p.shape[a];
        s.stride[a] = stride;
    }
    s.n = p.n;
    s.inverse = p.inverse;
    s.status = p.status;
    for (uint32_t k = 0; k < p.n; k++) {
        s.at[k] = p.at[k];
        while (s.nwide[k] < p.at[k].npasses && points_of(s, p.at[k].pass[s.nwide[k]]) > FEW_POINTS)
            s.nwide[k]++;
    }
    return s;
}

void launch_few(const arrays &s, cudaStream_t stream)
{
    bool some = false;
    for (uint32_t k = 0; k < s.n; k++)
        some = some || s.nwide[k] < s.at[k].npasses;
    if (some)
        FLOE_LAUNCH(wavelet_few_kernel, s.n, FEW_THREADS, 0, stream, s);
}

/* Threads for runs of the lifting's points: about half of those of the pass. */
void launch_wide(const arrays &s, uint32_t number, cudaStream_t stream)
{
    uint64_t points = 1;
    for (uint32_t k = 0; k < s.n; k++) {
        const uint32_t pass = number / floe_wavelet_banks[s.at[k].bank].nlifts;
        if (pass < s.nwide[k])
            points = floe_max64(points, points_of(s, s.at[k].pass[s.inverse ? s.nwide[k] - 1 - pass : pass]));
    }
    FLOE_LAUNCH(wavelet_place_kernel, (uint32_t)floe_ceil_div(points, 2 * RUN * THREADS) * s.n, THREADS, 0, stream, s,
                number);
}

} // namespace

int FLOE_R(floe_wavelet_lift_places)(const floe_wavelet_dev_places *p, void *stream)
{
    const arrays s = arrays_of(*p);
    uint32_t nwide = 0;
    for (uint32_t k = 0; k < s.n; k++) {
        const uint32_t n = s.nwide[k] * floe_wavelet_banks[s.at[k].bank].nlifts;
        nwide = n > nwide ? n : nwide;
    }
    if (s.inverse)
        launch_few(s, (cudaStream_t)stream);
    for (uint32_t i = 0; i < nwide; i++)
        launch_wide(s, i, (cudaStream_t)stream);
    if (!s.inverse)
        launch_few(s, (cudaStream_t)stream);
    return (int)cudaGetLastError();
}
