/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes of stage wavelet. A block does a tile: so many even and odd points of some lines, in shared memory, with as many around them as its
 * own points are made of, which it computes again. Points are computed in the order of wavelet_cpu.c, so that no cut is seen.
 */
#include <floe/floe.h>

#include "backend/device.cuh"
#include "stage/wavelet/wavelet_banks.h"
#include "stage/wavelet/wavelet_cuda.h"

namespace
{

enum {
    THREADS = 256,
    ROOM_POINTS = 2432, /* of a parity */
    BLOCKS = 16         /* of a processor, at most: each does the same tile of other lines, too */
};

/* Tiles along the last axis are long, so that few lanes are idle; others have all lanes side by side. */
template <bool ALONG> struct tiling {
    static constexpr uint32_t PAIRS = ALONG ? 256 : 64, ROOM = PAIRS + FLOE_WAVELET_AROUND, COLUMNS = ALONG ? 8 : 32;
    static_assert(ROOM * COLUMNS <= ROOM_POINTS, "a tile has room");
};
enum { MOST_COLUMNS = 32 };

/* A pass, by numbers that fit 32 bits. Lines are numbered along the other axes. */
struct pass {
    const floe_real *from;
    floe_real *to;
    const uint32_t *status;
    uint32_t n, count[2], step;            /* points of a line, evens and odds; from one to the next */
    uint32_t nlines, extent[3], stride[3]; /* of the other axes, slowest first */
    uint32_t ntiles, width;                /* of a line; lanes side by side, a power of two */
    bool one_sided, inverse;
    floe_real scale, weight[FLOE_WAVELET_LIFTS][FLOE_WAVELET_TAPS]; /* signed */
    floe_wavelet_lifting bank;
};

/* A tile: points lo .. hi of each parity after each lifting; [nlifts]: as they come in. */
struct tile {
    int32_t lo[FLOE_WAVELET_LIFTS + 1][2], hi[FLOE_WAVELET_LIFTS + 1][2], own[2][2]; /* own: from, to, of each parity */
    uint32_t ncolumns, place[MOST_COLUMNS];
};

FLOE_DEV void set_span(tile &t, uint32_t k, const floe_wavelet_span &w)
{
    for (int odd = 0; odd < 2; odd++) {
        t.lo[k][odd] = (int32_t)w.lo[odd];
        t.hi[k][odd] = (int32_t)w.hi[odd];
    }
}

/* By one thread: backwards from the tile's own points. */
FLOE_DEV void cut_tile(const pass &p, uint32_t pairs, uint32_t number, tile &t)
{
    floe_wavelet_span w;
    for (int odd = 0; odd < 2; odd++) {
        t.own[0][odd] = (int32_t)min(number * pairs, p.count[odd]);
        t.own[1][odd] = (int32_t)min((number + 1) * pairs, p.count[odd]);
        w.lo[odd] = t.own[0][odd];
        w.hi[odd] = t.own[1][odd];
    }
    for (uint32_t i = 0; i < p.bank.nlifts; i++) {
        const uint32_t k = p.inverse ? i : p.bank.nlifts - 1 - i;
        set_span(t, k, w);
        w = floe_wavelet_span_needed(&p.bank.lift[k], (int64_t)p.n, w);
    }
    set_span(t, p.bank.nlifts, w);
}

FLOE_DEV uint32_t place_of(const pass &p, uint32_t line)
{
    uint32_t at = line % p.extent[2] * p.stride[2];
    line /= p.extent[2];
    at += line % p.extent[1] * p.stride[1];
    return at + line / p.extent[1] * p.stride[0];
}

/* Calls visit(number, column) for `count` points of each column. ALONG: lanes lie along the lines, else side by side. */
template <bool ALONG, class Visit>
FLOE_DEV void each_point(const pass &p, uint32_t ncolumns, int32_t count, Visit visit)
{
    const uint32_t x = threadIdx.x & (p.width - 1), y = threadIdx.x / p.width, rows = THREADS / p.width;
    if (ALONG) {
        for (uint32_t c = y; c < ncolumns; c += rows)
            for (int32_t i = (int32_t)x; i < count; i += (int32_t)p.width)
                visit(i, c);
    } else if (x < ncolumns) {
#pragma unroll 4
        for (int32_t i = (int32_t)y; i < count; i += (int32_t)rows)
            visit(i, x);
    }
}

/* Points in shared memory, by their numbers. */
template <bool ALONG> struct points {
    floe_real *evens, *odds; /* where number 0 would be */
    __device__ __forceinline__ floe_real &get(bool odd, int32_t i, uint32_t c) const
    {
        return (
            odd ? odds
                : evens)[(ALONG ? 1 : tiling<ALONG>::COLUMNS) * i + (int32_t)((ALONG ? tiling<ALONG>::ROOM : 1) * c)];
    }
};

/* A point whose stencil leaves the line. */
template <bool ALONG>
FLOE_DEV_COLD floe_real lift_end(const pass &p, points<ALONG> s, uint32_t k, int32_t i, uint32_t c)
{
    const floe_wavelet_lift &l = p.bank.lift[k];
    floe_real sum = s.get(l.to_odd, i, c);
    if (p.one_sided && k == 0) {
        int64_t first;
        double w[4];
        const uint32_t count = floe_wavelet_one_sided(i, p.count[0], &first, w);
        for (uint32_t t = 0; t < count; t++)
            sum =
                FLOE_WAVELET_FMA((floe_real)(p.inverse ? w[t] : -w[t]), s.get(0, (int32_t)first + (int32_t)t, c), sum);
        return sum;
    }
    for (int32_t t = 0; t < (int32_t)l.ntaps; t++) {
        const int64_t at = floe_wavelet_reflect(2 * (int64_t)(i + l.first + t) + !l.to_odd, p.n);
        sum = FLOE_WAVELET_FMA(p.weight[k][t], s.get(!l.to_odd, (int32_t)(at / 2), c), sum);
    }
    return sum;
}

template <bool ALONG, uint32_t TAPS>
FLOE_DEV void lift_points(const pass &p, const tile &t, const points<ALONG> &s, uint32_t k)
{
    const floe_wavelet_lift &l = p.bank.lift[k];
    const bool to = l.to_odd;
    const int32_t lo = t.lo[k][to], first = l.first, inner = -first,
                  outer = (int32_t)p.count[!to] - first - (int32_t)TAPS + 1;
    floe_real w[TAPS];
#pragma unroll
    for (uint32_t i = 0; i < TAPS; i++)
        w[i] = p.weight[k][i];
    const auto inside = [&](int32_t i, uint32_t c) {
        floe_real sum = s.get(to, i, c);
#pragma unroll
        for (uint32_t n = 0; n < TAPS; n++)
            sum = FLOE_WAVELET_FMA(w[n], s.get(!to, i + first + (int32_t)n, c), sum);
        return sum;
    };
    if (lo >= inner && t.hi[k][to] <= outer)
        each_point<ALONG>(p, t.ncolumns, t.hi[k][to] - lo,
                          [&](int32_t x, uint32_t c) { s.get(to, lo + x, c) = inside(lo + x, c); });
    else
        each_point<ALONG>(p, t.ncolumns, t.hi[k][to] - lo, [&](int32_t x, uint32_t c) {
            const int32_t i = lo + x;
            s.get(to, i, c) = i >= inner && i < outer ? inside(i, c) : lift_end(p, s, k, i, c);
        });
}

template <bool ALONG> FLOE_DEV void lift(const pass &p, const tile &t, const points<ALONG> &s, uint32_t k)
{
    switch (p.bank.lift[k].ntaps) {
    case 1: lift_points<ALONG, 1>(p, t, s, k); break;
    case 2: lift_points<ALONG, 2>(p, t, s, k); break;
    case 3: lift_points<ALONG, 3>(p, t, s, k); break;
    case 4: lift_points<ALONG, 4>(p, t, s, k); break;
    case 6: lift_points<ALONG, 6>(p, t, s, k); break;
    default: lift_points<ALONG, 8>(p, t, s, k);
    }
}

/* Forward, along the lines: points lie as they are read. */
FLOE_DEV void read_line(const pass &p, const tile &t, const points<true> &s)
{
    const uint32_t k = p.bank.nlifts;
    const int32_t begin = min(2 * t.lo[k][0], 2 * t.lo[k][1] + 1), end = max(2 * t.hi[k][0] - 1, 2 * t.hi[k][1]);
    each_point<true>(p, t.ncolumns, end - begin, [&](int32_t x, uint32_t c) {
        const int32_t point = begin + x, odd = point & 1, i = point >> 1;
        if (i >= t.lo[k][odd] && i < t.hi[k][odd])
            s.get(odd, i, c) = p.from[t.place[c] + (uint32_t)point];
    });
}

template <bool ALONG> FLOE_DEV void read_points(const pass &p, const tile &t, const points<ALONG> &s)
{
    const uint32_t far = p.inverse ? 1 : 2, k = p.bank.nlifts;
#pragma unroll
    for (int odd = 0; odd < 2; odd++) {
        const floe_real scale = p.inverse && odd == 0 ? p.scale : 1;
        const int32_t lo = t.lo[k][odd];
        const uint32_t begin = p.inverse ? odd * p.count[0] : (uint32_t)odd;
        each_point<ALONG>(p, t.ncolumns, t.hi[k][odd] - lo, [&](int32_t x, uint32_t c) {
            const uint32_t point = begin + (uint32_t)(lo + x) * far;
            s.get(odd, lo + x, c) = p.from[t.place[c] + point * p.step] * scale;
        });
    }
}

template <bool ALONG> FLOE_DEV void write_points(const pass &p, const tile &t, const points<ALONG> &s)
{
    if (p.inverse) {
        const int32_t begin = 2 * t.own[0][0], end = t.own[1][0] + t.own[1][1];
        each_point<ALONG>(p, t.ncolumns, end - begin, [&](int32_t x, uint32_t c) {
            const floe_real v = s.get(x & 1, (begin + x) / 2, c);
            p.to[t.place[c] + (uint32_t)(begin + x) * p.step] = FLOE_R(floe_wavelet_finite)(v);
        });
        return;
    }
#pragma unroll
    for (int odd = 0; odd < 2; odd++) {
        const int32_t lo = t.own[0][odd];
        const floe_real scale = odd ? 1 : p.scale;
        each_point<ALONG>(p, t.ncolumns, t.own[1][odd] - lo, [&](int32_t x, uint32_t c) {
            const uint32_t point = odd * p.count[0] + (uint32_t)(lo + x);
            p.to[t.place[c] + point * p.step] = FLOE_R(floe_wavelet_finite)(s.get(odd, lo + x, c) * scale);
        });
    }
}

template <bool ALONG>
__global__ void __launch_bounds__(THREADS, FLOE_REAL_BITS == 32 ? 4 : 3)
    wavelet_lift_kernel(const __grid_constant__ pass p)
{
    constexpr uint32_t COLUMNS = tiling<ALONG>::COLUMNS;
    __shared__ floe_real
        room[2][ROOM_POINTS + FLOE_WARP / 2]; /* of a point and the next one, lanes reach different words */
    __shared__ tile t;
    if (*p.status != FLOE_OK)
        return;
    const uint32_t far = gridDim.x / p.ntiles * COLUMNS;
    if (threadIdx.x == 0)
        cut_tile(p, tiling<ALONG>::PAIRS, blockIdx.x % p.ntiles, t);
    for (uint32_t first = blockIdx.x / p.ntiles * COLUMNS; first < p.nlines; first += far) {
        if (threadIdx.x == 0)
            t.ncolumns = min(p.nlines - first, COLUMNS);
        if (threadIdx.x < COLUMNS && first + threadIdx.x < p.nlines)
            t.place[threadIdx.x] = place_of(p, first + threadIdx.x);
        __syncthreads();
        const int32_t *lo = t.lo[p.bank.nlifts], apart = ALONG ? 1 : (int32_t)COLUMNS;
        const points<ALONG> s = {room[0] - lo[0] * apart, room[1] - lo[1] * apart};
        if constexpr (ALONG) {
            if (p.inverse)
                read_points<ALONG>(p, t, s);
            else
                read_line(p, t, s);
        } else {
            read_points<ALONG>(p, t, s);
        }
        __syncthreads();
        for (uint32_t i = 0; i < p.bank.nlifts; i++) {
            lift<ALONG>(p, t, s, p.inverse ? p.bank.nlifts - 1 - i : i);
            __syncthreads();
        }
        write_points<ALONG>(p, t, s);
        __syncthreads();
    }
}

/* ---- launches ---------------------------------------------------------------------------------------------------------- */

uint32_t power_from(uint32_t least)
{
    uint32_t v = 1;
    while (v < least && v < FLOE_WARP)
        v *= 2;
    return v;
}

pass pass_of(const floe_wavelet_dev_lift &l, uint32_t axis, uint32_t at)
{
    pass p = {};
    const uint64_t *n = l.step.fine;
    uint64_t stride = 1;
    p.from = (const floe_real *)l.array[at];
    p.to = (floe_real *)l.array[!at];
    p.status = l.status;
    p.n = (uint32_t)n[axis];
    p.count[0] = p.n - p.n / 2;
    p.count[1] = p.n / 2;
    p.nlines = 1;
    for (uint32_t a = FLOE_INTERP_RANK, other = 3; a-- > 0; stride *= l.shape[a]) {
        if (a == axis) {
            p.step = (uint32_t)stride;
            continue;
        }
        other--;
        p.extent[other] = (uint32_t)n[a];
        p.stride[other] = (uint32_t)stride;
        p.nlines *= (uint32_t)n[a];
    }
    p.ntiles = (uint32_t)floe_ceil_div(p.count[0], axis == 3 ? tiling<true>::PAIRS : tiling<false>::PAIRS);
    p.width = power_from(axis == 3 ? p.count[0] : p.nlines);
    p.inverse = l.inverse;
    p.one_sided = l.one_sided >> axis & 1;
    p.bank = floe_wavelet_banks[l.bank];
    p.scale = (floe_real)(l.inverse ? p.bank.unscale : p.bank.scale);
    for (uint32_t k = 0; k < p.bank.nlifts; k++)
        for (uint32_t t = 0; t < p.bank.lift[k].ntaps; t++)
            p.weight[k][t] = (floe_real)(l.inverse ? -p.bank.lift[k].weight[t] : p.bank.lift[k].weight[t]);
    return p;
}

} // namespace

int FLOE_R(floe_wavelet_lift)(const floe_wavelet_dev_lift *l, uint32_t *at, void *stream)
{
    for (uint32_t i = 0; i < l->step.naxes; i++, *at = !*at) {
        const uint32_t axis = l->step.axis[l->inverse ? i : l->step.naxes - 1 - i];
        const pass p = pass_of(*l, axis, *at);
        const uint64_t groups = floe_ceil_div(p.nlines, axis == 3 ? tiling<true>::COLUMNS : tiling<false>::COLUMNS),
                       most = floe_ceil_div(BLOCKS * (uint64_t)floe_gpu_limits_cuda().processors, p.ntiles);
        const uint32_t nblocks = (uint32_t)floe_min64(groups, most) * p.ntiles;
        if (axis == 3)
            FLOE_LAUNCH((wavelet_lift_kernel<true>), nblocks, THREADS, 0, (cudaStream_t)stream, p);
        else
            FLOE_LAUNCH((wavelet_lift_kernel<false>), nblocks, THREADS, 0, (cudaStream_t)stream, p);
    }
    return (int)cudaGetLastError();
}
