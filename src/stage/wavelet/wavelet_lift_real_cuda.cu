/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes of stage wavelet. A thread marches along an axis and keeps in registers the points from which the next ones are computed. The last
 * axis is lifted on the same way: lanes of a warp hold its points side by side and exchange them by shuffles. There is no shared memory and
 * no barrier. Where a line is cut between warps or lanes, each side computes the points around the cut for itself. Sums are made in the
 * order of wavelet_cpu.c, so that results do not depend on the cuts.
 */
#include <floe/floe.h>

#include "backend/device.cuh"
#include "stage/wavelet/wavelet_cuda.h"
#include "stage/wavelet/wavelet_flow.cuh"

namespace
{

enum {
    THREADS = 128,
    WARPS = THREADS / FLOE_WARP,
    BLOCKS_OF_ROWS = FLOE_REAL_BITS == 32 ? 5 : 3, /* that a processor holds at once, at least */
    BLOCKS_OF_COLUMNS = FLOE_REAL_BITS == 32 ? 8 : 6,
    AHEAD = 2,  /* pairs of rows that are loaded before they are needed */
    UNROLL = 6, /* about as many points as a stream keeps: unrolled so often, they need not move between registers */
    BUSY = 24,  /* warps that a processor should have */
    LEAST_PAIRS = 8, /* of a segment */
    MOST_PAIRS = 128,
    ENDS_FIRST = -2, /* the first even point that may predict a point near an end, counted from that point's number */
    ENDS_TAPS = 6
};

/* ---- a pass ------------------------------------------------------------------------------------------------------------ */

/* How a point near a one-sided end is predicted. Bit t of taps: weight[t] is used. */
struct end_taps {
    uint32_t taps;
    floe_real weight[ENDS_TAPS];
};

struct line {
    uint32_t n, count[2], step; /* points; evens and odds; from one to the next */
    bool one_sided;
    end_taps ends[FLOE_WAVELET_SIDED];
};

/* A pass over an array. All its numbers fit 32 bits. */
struct pass {
    const floe_real *from;
    floe_real *to, center; /* center: what a forward pass subtracts */
    const uint32_t *status;
    line march, row; /* row: along the last axis, where each lane has a pair */
    uint64_t apart;  /* from a mean of the march to its detail */
    uint32_t nothers, extent[3],
        stride[3];                       /* the other axes, slowest first: there is a march for each of their points */
    uint32_t nstrips, strip, last_strip; /* a row is cut into strips: how many are done, from number `strip` on */
    uint32_t width;                      /* lanes that have a strip */
    uint32_t nsegments, pairs;           /* a march is cut into segments of so many pairs */
    uint32_t begin, end;                 /* pairs of the march that are done */
    bool paired;                         /* two points side by side are aligned, and move together */
};

/* What a thread works on: a line of the march, or a pair of each row. */
struct lanes {
    const floe_real *from; /* its point of the march's first row; of a pair the even one */
    floe_real *to;
    uint32_t segment, pair;  /* pair: its number in the row */
    int32_t odd_from;        /* the place of the pair's odd point, from the even one on */
    bool own[2];             /* the even and the odd point are in the row, and this warp writes them */
    bool ends;               /* the warp's lanes reach an end of the row */
    int32_t source[2][KEPT]; /* lanes that have the evens, and the odds, around the own one, from FAR_LEFT on */
};

FLOE_DEV uint32_t place_of(const pass &p, uint32_t other)
{
    uint32_t at = other % p.extent[2] * p.stride[2];
    other /= p.extent[2];
    at += other % p.extent[1] * p.stride[1];
    return at + other / p.extent[1] * p.stride[0];
}

template <class W> FLOE_DEV lanes lanes_of_row(const pass &p)
{
    constexpr int32_t HALO = W::FLOW.around;
    /* by a shuffle, so that the compiler sees that it is the same for all lanes */
    const uint32_t warp = blockIdx.x * WARPS + __shfl_sync(FLOE_ALL_LANES, threadIdx.x / FLOE_WARP, 0),
                   strip = p.strip + warp % p.nstrips, *count = p.row.count,
                   other = warp / p.nstrips / p.nsegments * (FLOE_WARP / p.width) + floe_lane() / p.width,
                   place = place_of(p, min(other, p.nothers - 1));
    const int32_t lane = (int32_t)(floe_lane() % p.width);
    const bool first = strip == 0, last = strip == p.last_strip;
    lanes l = {};
    l.segment = warp / p.nstrips % p.nsegments;
    l.pair = strip * (FLOE_WARP - 2 * HALO) + (uint32_t)lane;
    const uint32_t even = min(l.pair, count[0] - 1), odd = min(l.pair, count[1] - 1);
    l.from = p.from + place + (W::INVERSE ? even : 2 * even);
    l.odd_from = (int32_t)(W::INVERSE ? count[0] + odd - even : 2 * (odd - even) + 1);
    l.to = p.to + place + (W::INVERSE ? 2 * l.pair : l.pair);
    for (int i = 0; i < 2; i++)
        l.own[i] =
            other < p.nothers && l.pair < count[i] && (first || lane >= HALO) && (last || lane < FLOE_WARP - HALO);
    l.ends = first || last;
    return l;
}

/* Finds the lanes from which points come. A point beyond an end of the row is the image of one before it. */
template <class W> FLOE_DEV void find_sources(const pass &p, lanes &l)
{
    constexpr flow F = W::FLOW;
    const int32_t lane = (int32_t)floe_lane(), in_row = (int32_t)(floe_lane() % p.width);
#pragma unroll
    for (int odd = 0; odd < 2; odd++) {
#pragma unroll
        for (int32_t at = odd ? F.lo[1] : F.lo[0]; at <= (odd ? F.hi[1] : F.hi[0]); at++) {
            int32_t away = at;
            if (l.ends) {
                const int64_t point = 2 * ((int64_t)l.pair + at) + odd;
                away = (int32_t)floe_wavelet_reflect(point, p.row.n) / 2 - (int32_t)l.pair;
                away = in_row + away >= 0 && in_row + away < (int32_t)p.width ? away : 0;
            }
            l.source[odd][at - FAR_LEFT] = lane + away;
        }
    }
}

FLOE_DEV lanes lanes_of_columns(const pass &p)
{
    const uint32_t nblocks = (p.nothers - 1) / THREADS + 1, other = blockIdx.x % nblocks * THREADS + threadIdx.x,
                   place = place_of(p, min(other, p.nothers - 1));
    lanes l = {};
    l.segment = blockIdx.x / nblocks;
    l.from = p.from + place;
    l.to = p.to + place;
    l.own[0] = other < p.nothers;
    return l;
}

/* ---- lifting ----------------------------------------------------------------------------------------------------------- */

template <class W, int32_t K, int32_t TAP, class Near> FLOE_DEV floe_real add_taps(floe_real sum, Near near)
{
    constexpr lifting L = W::FLOW.lift[K];
    if constexpr (TAP < L.ntaps) {
        constexpr floe_real weight = L.weight[TAP];
        return add_taps<W, K, TAP + 1>(FLOE_WAVELET_FMA(weight, near(L.first + TAP), sum), near);
    }
    return sum;
}

/* Whether point i is predicted by the formula of one-sided ends. */
template <class W, int32_t K> FLOE_DEV bool is_one_sided(const line &l, int32_t i)
{
    constexpr lifting L = W::FLOW.lift[K];
    return L.may_be_one_sided && l.one_sided && i >= 0 && i < (int32_t)l.count[1] &&
           (i < -L.first || i >= (int32_t)l.count[0] - L.first - L.ntaps + 1);
}

template <class W, int32_t K, class Near>
FLOE_DEV floe_real add_end_taps(const line &l, int32_t i, floe_real sum, Near near)
{
    constexpr lifting L = W::FLOW.lift[K];
    const end_taps &e = l.ends[i < FLOE_WAVELET_SIDED_LEFT ? i : FLOE_WAVELET_SIDED_LEFT + (int32_t)l.count[0] - 1 - i];
#pragma unroll
    for (int32_t t = 0; t < ENDS_TAPS; t++)
        if (t + ENDS_FIRST >= L.lo && t + ENDS_FIRST <= L.hi && e.taps >> t & 1)
            sum = FLOE_WAVELET_FMA(e.weight[t], near(t + ENDS_FIRST), sum);
    return sum;
}

/* Replaces points of stream 2 + K beyond the line's ends by their images. Its newest point is number i: beyond the end, it becomes an image.
 * Points before the line become images as soon as the stream has all that they are images of. */
template <class W, int32_t K, int32_t COLUMNS>
FLOE_DEV void reflect_stream(const line &l, floe_real (&s)[STREAMS][KEPT][COLUMNS], int32_t i)
{
    constexpr lifting L = W::FLOW.lift[K], NEXT = W::FLOW.lift[K + 1];
    constexpr int32_t LAST = W::FLOW.size[2 + K] - 1, FULL = L.to_odd ? -1 - NEXT.first : -NEXT.first;
    if (i >= (int32_t)l.count[L.to_odd]) {
        const int32_t back = i - (int32_t)floe_wavelet_reflect(2 * (int64_t)i + L.to_odd, l.n) / 2;
#pragma unroll
        for (int32_t b = 1; b <= LAST; b++)
#pragma unroll
            for (int32_t c = 0; c < COLUMNS; c++)
                s[2 + K][LAST][c] = back == b ? s[2 + K][LAST - b][c] : s[2 + K][LAST][c];
    }
    if (i == FULL) {
#pragma unroll
        for (int32_t b = FULL + 1; b <= LAST; b++) {
            const int32_t image = b - FULL - L.to_odd; /* of number FULL - b */
#pragma unroll
            for (int32_t c = 0; c < COLUMNS; c++)
                if (image <= FULL)
                    s[2 + K][LAST - b][c] = s[2 + K][LAST - FULL + image][c];
        }
    }
}

template <int32_t SIZE, int32_t COLUMNS>
FLOE_DEV void push(floe_real (&stream)[KEPT][COLUMNS], const floe_real (&v)[COLUMNS])
{
#pragma unroll
    for (int32_t c = 0; c < COLUMNS; c++) {
#pragma unroll
        for (int32_t i = 0; i + 1 < SIZE; i++)
            stream[i][c] = stream[i + 1][c];
        stream[SIZE - 1][c] = v[c];
    }
}

/* Does liftings K and further, of the points that can be computed now that `pair` has been pushed. END: some may be near an end. */
template <class W, int32_t K, bool END, int32_t COLUMNS>
FLOE_DEV void lift_streams(const line &l, floe_real (&s)[STREAMS][KEPT][COLUMNS], int32_t pair)
{
    constexpr flow F = W::FLOW;
    constexpr lifting L = F.lift[K];
    constexpr int32_t BEHIND = F.behind[2 + K], FROM = F.size[L.from] - 1 - BEHIND + F.behind[L.from],
                      TO = F.size[L.to] - 1 - BEHIND + F.behind[L.to];
    const int32_t i = pair - BEHIND;
    const bool is_end = END && is_one_sided<W, K>(l, i);
    floe_real v[COLUMNS];
#pragma unroll
    for (int32_t c = 0; c < COLUMNS; c++) {
        const auto near = [&](int32_t at) { return s[L.from][FROM + at][c]; };
        if (is_end)
            v[c] = add_end_taps<W, K>(l, i, s[L.to][TO][c], near);
        else
            v[c] = add_taps<W, K, 0>(s[L.to][TO][c], near);
    }
    push<F.size[2 + K]>(s[2 + K], v);
    if constexpr (K + 1 < F.nlifts) {
        if constexpr (END)
            reflect_stream<W, K>(l, s, i);
        lift_streams<W, K + 1, END>(l, s, pair);
    }
}

/* Takes a pair of rows in v, and returns in v the finished pair that lies W::FLOW.lag before it. */
template <class W, bool END, int32_t COLUMNS>
FLOE_DEV void march_on(const line &l, floe_real (&s)[STREAMS][KEPT][COLUMNS], int32_t pair, floe_real (&v)[2][COLUMNS])
{
    constexpr flow F = W::FLOW;
    constexpr int32_t EVENS = F.out[0], ODDS = F.out[1], EVEN = F.size[EVENS] - 1 - F.lag + F.behind[EVENS],
                      ODD = F.size[ODDS] - 1 - F.lag + F.behind[ODDS];
#pragma unroll
    for (int32_t c = 0; c < COLUMNS; c++)
        v[0][c] *= W::INVERSE ? W::SCALE : 1;
    push<F.size[0]>(s[0], v[0]);
    push<F.size[1]>(s[1], v[1]);
    lift_streams<W, 0, END>(l, s, pair);
#pragma unroll
    for (int32_t c = 0; c < COLUMNS; c++) {
        v[0][c] = FLOE_R(floe_wavelet_finite)(s[EVENS][EVEN][c] * (W::INVERSE ? 1 : W::SCALE));
        v[1][c] = FLOE_R(floe_wavelet_finite)(s[ODDS][ODD][c]);
    }
}

/* Does liftings K and further of a row. v: the lane's even and odd point. */
template <class W, int32_t K> FLOE_DEV void lift_lanes(const line &r, const lanes &l, floe_real (&v)[2])
{
    constexpr lifting L = W::FLOW.lift[K];
    floe_real near[L.hi - L.lo + 1] = {};
#pragma unroll
    for (int32_t at = L.lo; at <= L.hi; at++)
        if ((at >= L.first && at < L.first + L.ntaps) || (L.may_be_one_sided && l.ends))
            near[at - L.lo] = at == 0 && L.to_odd /* an even one; behind the last of these there may be no odd one */
                                  ? v[0]
                                  : __shfl_sync(FLOE_ALL_LANES, v[!L.to_odd], l.source[!L.to_odd][at - FAR_LEFT]);
    const auto tap = [&](int32_t at) { return near[at - L.lo]; };
    if (l.ends && is_one_sided<W, K>(r, (int32_t)l.pair))
        v[L.to_odd] = add_end_taps<W, K>(r, (int32_t)l.pair, v[L.to_odd], tap);
    else
        v[L.to_odd] = add_taps<W, K, 0>(v[L.to_odd], tap);
    if constexpr (K + 1 < W::FLOW.nlifts)
        lift_lanes<W, K + 1>(r, l, v);
}

template <class W> FLOE_DEV void lift_row(const line &r, const lanes &l, floe_real (&v)[2])
{
    v[0] *= W::INVERSE ? W::SCALE : 1;
    lift_lanes<W, 0>(r, l, v);
    v[0] = FLOE_R(floe_wavelet_finite)(v[0] * (W::INVERSE ? 1 : W::SCALE));
    v[1] = FLOE_R(floe_wavelet_finite)(v[1]);
}

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

struct alignas(2 * sizeof(floe_real)) side_by_side {
    floe_real v[2];
};

/* Reads what a thread has of a row: one point, or a pair. APART: the pair is a mean and a detail; else its points lie side by side. */
template <bool APART> FLOE_DEV void read_row(const pass &, const lanes &, const floe_real *at, floe_real (&v)[1])
{
    v[0] = *at;
}
template <bool APART> FLOE_DEV void read_row(const pass &p, const lanes &l, const floe_real *at, floe_real (&v)[2])
{
    if (!APART && p.paired) {
        const side_by_side both = *(const side_by_side *)at;
        v[0] = both.v[0];
        v[1] = both.v[1];
    } else {
        v[0] = at[0];
        v[1] = at[l.odd_from];
    }
}

template <bool APART> FLOE_DEV void write_row(const pass &, const lanes &, floe_real *at, const floe_real (&v)[1])
{
    *at = v[0];
}
template <bool APART> FLOE_DEV void write_row(const pass &p, const lanes &l, floe_real *at, const floe_real (&v)[2])
{
    if (!APART && p.paired) {
        if (l.own[0])
            *(side_by_side *)at = {{v[0], v[1]}};
        return;
    }
    if (l.own[0])
        at[0] = v[0];
    if (l.own[1])
        at[APART ? p.row.count[0] : 1] = v[1];
}

/* ---- the march --------------------------------------------------------------------------------------------------------- */

/* BY_LANES: along the last axis; MARCH: along the one that threads march on. */
template <class WAY, bool BY_LANES, bool MARCH> struct marching {
    using W = WAY;
    static constexpr bool LANES = BY_LANES, LIFTS = MARCH;
    static constexpr int32_t COLUMNS = LANES ? 2 : 1, LAG = LIFTS ? W::FLOW.lag : 0,
                             AROUND = LIFTS ? W::FLOW.around : 0;
    floe_real streams[STREAMS][KEPT][COLUMNS], ahead[AHEAD][2][COLUMNS];
};

/* Reads both rows of a pair. A row beyond an end is the image of one before it. */
template <class M, bool END>
FLOE_DEV void read_pair(const pass &p, const lanes &l, int32_t pair, floe_real (&v)[2][M::COLUMNS])
{
#pragma unroll
    for (int odd = 0; odd < 2; odd++) {
        int32_t row = 2 * pair + odd;
        if (END && (pair < 0 || pair >= (int32_t)p.march.count[1]))
            row = M::LIFTS ? (int32_t)floe_wavelet_reflect(row, p.march.n) : min(row, (int32_t)p.march.n - 1);
        const bool apart = M::LIFTS && M::W::INVERSE;
        read_row<M::W::INVERSE>(
            p, l, l.from + (uint64_t)(uint32_t)(apart ? row / 2 : row) * p.march.step + (apart && odd ? p.apart : 0),
            v[odd]);
    }
}

/* Reads a pair ahead, lifts this one, and writes the one that is LAG before it, unless that is another segment's: below `first`. */
template <class M, bool END> FLOE_DEV void do_pair(const pass &p, const lanes &l, int32_t pair, int32_t first, M &m)
{
    using W = typename M::W;
    floe_real v[2][M::COLUMNS];
#pragma unroll
    for (int32_t a = 0; a < AHEAD; a++)
#pragma unroll
        for (int odd = 0; odd < 2; odd++)
#pragma unroll
            for (int32_t c = 0; c < M::COLUMNS; c++)
                (a ? m.ahead[a - 1][odd] : v[odd])[c] = m.ahead[a][odd][c];
    read_pair<M, END>(p, l, pair + AHEAD, m.ahead[AHEAD - 1]);
#pragma unroll
    for (int odd = 0; odd < 2; odd++)
#pragma unroll
        for (int32_t c = 0; c < M::COLUMNS && !W::INVERSE; c++)
            v[odd][c] -= p.center;
    if constexpr (M::LANES && !W::INVERSE) {
        lift_row<W>(p.row, l, v[0]);
        lift_row<W>(p.row, l, v[1]);
    }
    if constexpr (M::LIFTS)
        march_on<W, END>(p.march, m.streams, pair, v);
    if constexpr (M::LANES && W::INVERSE) {
        lift_row<W>(p.row, l, v[0]);
        lift_row<W>(p.row, l, v[1]);
    }
    const int32_t to = pair - M::LAG;
#pragma unroll
    for (int odd = 0; odd < 2; odd++) {
        const bool apart = M::LIFTS && !W::INVERSE;
        const uint32_t row = (uint32_t)(apart ? to : 2 * to + odd);
        if (to >= first && (!END || to < (int32_t)p.march.count[odd]))
            write_row<!W::INVERSE>(p, l, l.to + (uint64_t)row * p.march.step + (apart && odd ? p.apart : 0), v[odd]);
    }
}

template <uint32_t BANK, bool INVERSE, bool LANES, bool MARCH>
__global__ void __launch_bounds__(THREADS, LANES ? BLOCKS_OF_ROWS : BLOCKS_OF_COLUMNS)
    wavelet_lift_kernel(const __grid_constant__ pass p)
{
    using W = way<BANK, INVERSE>;
    using M = marching<W, LANES, MARCH>;
    const uint32_t status = *p.status;
    lanes l;
    if constexpr (LANES)
        l = lanes_of_row<W>(p);
    else
        l = lanes_of_columns(p);
    if (!LANES && !l.own[0])
        return;
    M m = {};
    const int32_t first = (int32_t)(p.begin + l.segment * p.pairs), outer = (int32_t)p.march.count[1] - AHEAD,
                  end = min(first + (int32_t)p.pairs, (int32_t)p.end) + M::LAG,
                  inner = MARCH ? M::LAG + FLOE_WAVELET_TAPS / 2 : 0;
    int32_t pair = first - M::AROUND;
#pragma unroll
    for (int32_t a = 0; a < AHEAD; a++)
        read_pair<M, true>(p, l, pair + a, m.ahead[a]);
    if constexpr (LANES)
        find_sources<W>(p, l);
    if (status != FLOE_OK)
        return;
    while (pair < end) {
        if (pair < inner || pair + UNROLL > min(end, outer)) {
            do_pair<M, true>(p, l, pair++, first, m);
            continue;
        }
#pragma unroll
        for (int32_t u = 0; u < UNROLL; u++)
            do_pair<M, false>(p, l, pair + u, first, m);
        pair += UNROLL;
    }
}

/* ---- launches ---------------------------------------------------------------------------------------------------------- */

void set_end(const line &l, int64_t i, bool inverse, end_taps &e)
{
    int64_t first;
    double w[4];
    if (i < 0 || i >= (int64_t)l.count[1])
        return;
    const uint32_t count = floe_wavelet_one_sided(i, (int64_t)l.count[0], &first, w);
    for (uint32_t t = 0; t < count; t++) {
        const int64_t at = first + t - i - ENDS_FIRST;
        e.taps |= 1u << at;
        e.weight[at] = (floe_real)(inverse ? w[t] : -w[t]);
    }
}

line line_of(const floe_wavelet_dev_lift &l, uint32_t axis, const uint32_t stride[FLOE_LATTICE_RANK])
{
    line r = {};
    r.n = (uint32_t)l.step.fine[axis];
    r.count[0] = r.n - r.n / 2;
    r.count[1] = r.n / 2;
    r.step = stride[axis];
    r.one_sided = l.one_sided >> axis & 1;
    for (int64_t i = 0; i < FLOE_WAVELET_SIDED; i++)
        set_end(r, i < FLOE_WAVELET_SIDED_LEFT ? i : r.count[0] - 1 - (i - FLOE_WAVELET_SIDED_LEFT), l.inverse,
                r.ends[i]);
    return r;
}

/* The axes of a pass: `march`, and `row`, which is the last one. FLOE_LATTICE_RANK: none. */
struct axes {
    uint32_t march, row;
};

/* The axis along which threads march where only rows are lifted: the longest of the others. */
uint32_t longest(const uint64_t n[FLOE_LATTICE_RANK])
{
    uint32_t axis = 2;
    for (uint32_t a = 2; a-- > 0;)
        axis = n[a] > n[axis] ? a : axis;
    return axis;
}

pass pass_of(const floe_wavelet_dev_lift &l, axes along, uint32_t at, const floe_lattice_box &box)
{
    pass p = {};
    const uint32_t march = along.march < FLOE_LATTICE_RANK ? along.march : longest(l.step.fine);
    uint32_t stride[FLOE_LATTICE_RANK] = {0, 0, 0, 1}, other = 3;
    for (uint32_t a = 3; a-- > 0;)
        stride[a] = stride[a + 1] * (uint32_t)l.shape[a + 1];
    p.from = (const floe_real *)(l.first ? l.first : l.array[at]);
    p.to = (floe_real *)l.array[!at];
    p.center = l.first ? (floe_real)l.center : 0;
    p.status = l.status;
    p.march = line_of(l, march, stride);
    p.apart = l.apart ? l.apart : (uint64_t)p.march.count[0] * p.march.step;
    if (along.row < FLOE_LATTICE_RANK)
        p.row = line_of(l, along.row, stride);
    p.begin = (uint32_t)box.lo[march] / 2;
    p.end = (uint32_t)floe_ceil_div(box.hi[march], 2);
    p.nothers = p.extent[0] = p.extent[1] = p.extent[2] = 1;
    for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0;) {
        if (a == march || a == along.row)
            continue;
        other--;
        p.extent[other] = (uint32_t)(box.hi[a] - box.lo[a]);
        p.stride[other] = stride[a];
        p.from += box.lo[a] * stride[a];
        p.to += box.lo[a] * stride[a];
        p.nothers *= p.extent[other];
    }
    p.paired =
        ((uintptr_t)p.from | (uintptr_t)p.to) % sizeof(side_by_side) == 0 && l.shape[3] % 2 == 0 && p.row.n % 2 == 0;
    return p;
}

/* Of strips of these pairs of a row those that have pairs begin .. end - 1. Short rows share a warp. */
template <class W> void deal_rows(pass *p, uint32_t begin, uint32_t end)
{
    const uint32_t around = W::FLOW.around, own = FLOE_WARP - 2 * around, nevens = p->row.count[0];
    const auto strip_of = [&](uint32_t pair) { return pair < around ? 0 : min((pair - around) / own, p->last_strip); };
    for (p->width = 1; p->width < FLOE_WARP && p->width < nevens;)
        p->width *= 2;
    p->last_strip = nevens <= FLOE_WARP ? 0 : (uint32_t)floe_ceil_div(nevens - 2 * around, own) - 1;
    p->strip = strip_of(begin);
    p->nstrips = strip_of(end - 1) + 1 - p->strip;
}

template <uint32_t BANK, bool INVERSE, bool LANES, bool MARCH>
void launch(pass p, const floe_lattice_box &box, cudaStream_t stream)
{
    using W = way<BANK, INVERSE>;
    if (LANES)
        deal_rows<W>(&p, (uint32_t)box.lo[FLOE_LATTICE_RANK - 1] / 2,
                     (uint32_t)floe_ceil_div(box.hi[FLOE_LATTICE_RANK - 1], 2));
    const uint64_t groups = LANES ? floe_ceil_div(p.nothers, FLOE_WARP / p.width) * p.nstrips
                                  : floe_ceil_div(p.nothers, THREADS) * WARPS,
                   pairs = p.end - p.begin, wanted = BUSY * (uint64_t)floe_gpu_limits_cuda().processors / groups,
                   nsegments = floe_max64(floe_min64(wanted, pairs / LEAST_PAIRS), floe_ceil_div(pairs, MOST_PAIRS));
    p.pairs = (uint32_t)floe_ceil_div(pairs, nsegments);
    p.nsegments = (uint32_t)floe_ceil_div(pairs, p.pairs);
    FLOE_LAUNCH((wavelet_lift_kernel<BANK, INVERSE, LANES, MARCH>),
                (uint32_t)floe_ceil_div(groups * p.nsegments, WARPS), THREADS, 0, stream, p);
}

template <uint32_t BANK, bool INVERSE>
void launch_along(const floe_wavelet_dev_lift &l, axes a, uint32_t at, const floe_lattice_box &box, cudaStream_t stream)
{
    const pass p = pass_of(l, a, at, box);
    if (a.row == FLOE_LATTICE_RANK)
        launch<BANK, INVERSE, false, true>(p, box, stream);
    else if (a.march == FLOE_LATTICE_RANK)
        launch<BANK, INVERSE, true, false>(p, box, stream);
    else
        launch<BANK, INVERSE, true, true>(p, box, stream);
}

template <uint32_t BANK>
void launch_bank(const floe_wavelet_dev_lift &l, axes a, uint32_t at, const floe_lattice_box &box, cudaStream_t stream)
{
    if (l.inverse)
        launch_along<BANK, true>(l, a, at, box, stream);
    else
        launch_along<BANK, false>(l, a, at, box, stream);
}

using launcher = void(const floe_wavelet_dev_lift &l, axes a, uint32_t at, const floe_lattice_box &box,
                      cudaStream_t stream);
launcher *const launchers[FLOE_WAVELET_BANKS] = {launch_bank<0>, launch_bank<1>, launch_bank<2>, launch_bank<3>,
                                                 launch_bank<4>, launch_bank<5>, launch_bank<6>, launch_bank<7>};

} // namespace

/* Where the last axis is lifted right before another one, or put back right after it, one pass does both. */
int FLOE_R(floe_wavelet_lift)(const floe_wavelet_dev_lift *l, uint32_t *at, void *stream)
{
    const floe_lattice_step *s = &l->step;
    const uint32_t npasses = floe_wavelet_dev_passes(s);
    floe_wavelet_dev_lift pass = *l;
    for (uint32_t i = 0; i < npasses; i++, *at = !*at, pass.first = NULL) {
        axes a = {FLOE_LATTICE_RANK, FLOE_LATTICE_RANK};
        floe_lattice_box box = {{0, 0, 0, 0}, {s->fine[0], s->fine[1], s->fine[2], s->fine[3]}};
        for (uint32_t along = 0; along < FLOE_LATTICE_RANK && l->wanted; along++) {
            box.lo[along] = l->wanted->lo[along];
            box.hi[along] = floe_min64(l->wanted->hi[along], s->fine[along]);
        }
        for (uint32_t k = 0; k < s->naxes; k++) {
            const uint32_t number = floe_wavelet_dev_pass(s, k), along = s->axis[k];
            if (number == (l->inverse ? i : npasses - 1 - i))
                (along == FLOE_LATTICE_RANK - 1 ? a.row : a.march) = along;
            else if (number > i) { /* means and details yet */
                box.lo[along] = 0;
                box.hi[along] = s->fine[along];
            }
        }
        launchers[l->bank](pass, a, *at, box, (cudaStream_t)stream);
    }
    return (int)cudaGetLastError();
}
