/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes of small arrays whose points stay in their places. A block takes a part that several passes leave for themselves, as a plane or
 * what is left of all axes, to shared memory; a thread computes some points of a lifting. Sums are made in the order of wavelet_cpu.c, and cut
 * where that cuts them: at the end of a pass. */
#include <floe/floe.h>

#include "backend/device.cuh"
#include "stage/wavelet/wavelet_banks.h"
#include "stage/wavelet/wavelet_cuda.h"

namespace
{

enum {
    THREADS = 256,
    BLOCKS = 3,         /* of a processor, at least */
    MOST_RUN = 8,       /* points of a line that a thread does */
    ROOM = 32768,       /* bytes of a part */
    PART_POINTS = 2048, /* where less of an axis will do */
    MOST = ROOM / (int)sizeof(floe_real)
};

typedef floe_wavelet_lifting bank;

struct banks {
    bank of[FLOE_WAVELET_BANKS];
};

constexpr banks make_banks()
{
    banks b = {};
    for (int i = 0; i < FLOE_WAVELET_BANKS; i++)
        b.of[i] = floe_wavelet_banks[i];
    return b;
}

__constant__ const banks all_banks = make_banks();

/* So that what undoes a bank begins with evens, which it scales. */
constexpr bool all_end_with_evens()
{
    bool good = true;
    for (int i = 0; i < FLOE_WAVELET_BANKS; i++)
        good = good && !floe_wavelet_banks[i].lift[floe_wavelet_banks[i].nlifts - 1].to_odd;
    return good;
}
static_assert(all_end_with_evens(), "else taps are to be scaled");

/* Passes first .. end of an array, whose parts have so many points of their lattice along each axis; parts 0: lifting `number` of one pass, of
 * lines that are longer than a part may be. */
struct group {
    uint32_t first, end, number, nparts, extent[FLOE_INTERP_RANK], parts[FLOE_INTERP_RANK];
};

struct arrays {
    uint32_t shape[FLOE_INTERP_RANK], stride[FLOE_INTERP_RANK], n;
    bool inverse;
    const uint32_t *status;
    floe_wavelet_dev_place at[FLOE_WAVELET_DEV_ARRAYS];
    group groups[FLOE_WAVELET_DEV_ARRAYS]; /* of this launch */
};

/* Where points are. */
struct box {
    floe_real *at;
    uint32_t shape[FLOE_INTERP_RANK], stride[FLOE_INTERP_RANK];
};

/* How a point near an end is predicted from one side: evens from number `first` on. */
struct one_sided {
    int32_t first, count;
    floe_real weight[4];
};

/* What a block reads again and again: of its array. */
struct common {
    bank b;
    floe_wavelet_dev_pass_at pass[FLOE_WAVELET_DEV_PASSES];
    one_sided ends[2][FLOE_WAVELET_SIDED]; /* of a lifting and the next one, in turns */
};

/* By a block. */
FLOE_DEV void load_common(const floe_wavelet_dev_place &p, common &c)
{
    static_assert(sizeof(bank) % 4 == 0 && (int)sizeof(bank) / 4 <= (int)THREADS, "a word for a thread");
    if (threadIdx.x < sizeof(bank) / 4)
        ((uint32_t *)&c.b)[threadIdx.x] = ((const uint32_t *)&all_banks.of[p.bank])[threadIdx.x];
    if (threadIdx.x < FLOE_WAVELET_DEV_PASSES)
        c.pass[threadIdx.x] = p.pass[threadIdx.x];
    __syncthreads();
}

/* A lifting of a pass. A thread does points first, first + apart, .. of a parity of its line. */
struct task {
    floe_real *array;
    const one_sided *ends;                /* NULL: none */
    uint32_t n, count, apart, axis, step; /* points of a line, those to do; step: from a point to the next */
    uint32_t extent[FLOE_INTERP_RANK], stride[FLOE_INTERP_RANK]; /* extent: of threads; stride: 0 along the line */
    int32_t first, ntaps;
    floe_real weight[FLOE_WAVELET_TAPS], scale, unscale; /* weight: signed */
    bool to_odd, inverse, unscales, last;
};

/* Those near the ends of lines are as predicted by floe_wavelet_one_sided. */
FLOE_DEV void find_ends(const task &t, one_sided *ends)
{
    const int32_t evens = (int32_t)(t.n - t.n / 2), k = (int32_t)threadIdx.x,
                  i = k < FLOE_WAVELET_SIDED_LEFT ? k : evens - 1 - (k - FLOE_WAVELET_SIDED_LEFT);
    if (k >= FLOE_WAVELET_SIDED || i < 0 || i >= (int32_t)t.count)
        return;
    int64_t first;
    double w[4];
    ends[k].count = (int32_t)floe_wavelet_one_sided(i, evens, &first, w);
    ends[k].first = (int32_t)first;
    for (int32_t n = 0; n < ends[k].count; n++)
        ends[k].weight[n] = (floe_real)(t.inverse ? w[n] : -w[n]);
}

/* Of a box whose points are 2^depth0 apart, for a block. Other threads' points are as the lifting before left them. */
FLOE_DEV task task_of(common &c, uint32_t sides, const box &x, const uint8_t *depth0, uint32_t pass, uint32_t number,
                      bool inverse)
{
    const floe_wavelet_dev_pass_at &at = c.pass[pass];
    const floe_wavelet_lift &l = c.b.lift[inverse ? c.b.nlifts - 1 - number : number];
    task t = {};
    t.array = x.at;
    t.axis = at.axis;
    t.first = l.first;
    t.ntaps = (int32_t)l.ntaps;
    t.scale = (floe_real)c.b.scale;
    t.unscale = (floe_real)c.b.unscale;
#pragma unroll
    for (uint32_t k = 0; k < FLOE_WAVELET_TAPS; k++)
        t.weight[k] = (floe_real)(inverse ? -l.weight[k] : l.weight[k]);
    t.to_odd = l.to_odd;
    t.inverse = inverse;
    t.unscales = inverse && number == 0;
    t.last = number + 2 >= c.b.nlifts; /* parities take turns */
    uint32_t points = 1;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        const uint32_t depth = at.depth[a] - depth0[a], n = ((x.shape[a] - 1) >> depth) + 1,
                       count = t.to_odd ? n / 2 : n - n / 2, step = x.stride[a] << depth;
        const bool own = a == at.axis;
        t.extent[a] = n;
        t.stride[a] = own ? 0 : step;
        t.step = own ? step : t.step;
        t.n = own ? n : t.n;
        t.count = own ? count : t.count;
        points *= own ? count : n;
    }
    uint32_t run = 1;
    while (run < MOST_RUN && 2 * run * THREADS <= points)
        run *= 2;
    t.apart = (t.count + run - 1) / run;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        t.extent[a] = a == at.axis ? t.apart : t.extent[a];
    if ((sides >> at.axis & 1) && number == (inverse ? c.b.nlifts - 1 : 0)) {
        one_sided *ends = c.ends[pass % 2];
        find_ends(t, ends);
        t.ends = ends;
    }
    __syncthreads();
    return t;
}

/* Near an end of the line. */
FLOE_DEV floe_real add_end_taps(const task &t, const floe_real *line, int32_t i, floe_real sum)
{
    const auto near = [&](int64_t at) { return line[(uint32_t)at * t.step]; };
    if (t.ends) {
        const one_sided &e =
            t.ends[i < FLOE_WAVELET_SIDED_LEFT ? i : FLOE_WAVELET_SIDED_LEFT + (int32_t)(t.n - t.n / 2) - 1 - i];
        for (int32_t k = 0; k < e.count; k++)
            sum = FLOE_WAVELET_FMA(e.weight[k], near(2 * (e.first + k)), sum);
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
        sum = t.unscales ? sum * t.unscale : sum;
        if (before < 0 || before + t.ntaps > others) {
            sum = add_end_taps(t, line, (int32_t)i, sum);
        } else {
            const floe_real *near = line + (2 * before + !t.to_odd) * (int32_t)step;
#pragma unroll
            for (int32_t k = 0; k < FLOE_WAVELET_TAPS; k++)
                if (k < t.ntaps)
                    sum = FLOE_WAVELET_FMA(t.weight[k], near[k * 2 * step], sum);
        }
        sum = t.last && !t.inverse && !t.to_odd ? sum * t.scale : sum;
        *own = t.last ? FLOE_R(floe_wavelet_finite)(sum) : sum;
    }
}

FLOE_DEV void lift_lines(const task &t, uint32_t first, uint32_t step)
{
    const uint32_t n = t.extent[0] * t.extent[1] * t.extent[2] * t.extent[3];
    for (uint32_t i = first; i < n; i += step)
        lift_line(t, i);
}

/* A part of a group: its own room, the same points in the array, and where they come from. */
struct part {
    box own, all, from;
};

FLOE_DEV part part_of(const arrays &s, const floe_wavelet_dev_place &p, const group &g, uint32_t number,
                      floe_real *cells)
{
    const uint8_t *depth = p.pass[g.first].depth;
    part r = {};
    uint32_t stride = 1, place = 0;
#pragma unroll
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 0;) {
        const uint32_t i = a ? number % g.parts[a] : number, n = ((s.shape[a] - 1) >> depth[a]) + 1,
                       lo = i * g.extent[a];
        number = a ? number / g.parts[a] : 0;
        r.own.shape[a] = r.all.shape[a] = min(g.extent[a], n - lo);
        r.own.stride[a] = stride;
        r.all.stride[a] = s.stride[a] << depth[a];
        place += lo * r.all.stride[a];
        stride *= a == FLOE_INTERP_RANK - 1 ? r.own.shape[a] | 1 /* for banks of shared memory */ : r.own.shape[a];
    }
    r.own.at = cells;
    r.all.at = (floe_real *)p.array + place;
    r.from = r.all;
    if (p.from && g.first == 0)
        r.from.at = (floe_real *)p.from + place;
    return r;
}

/* Rows by warps. */
FLOE_DEV void copy(const box &from, const box &to)
{
    const uint32_t *n = from.shape, nrows = n[0] * n[1] * n[2];
    for (uint32_t row = threadIdx.x / FLOE_WARP; row < nrows; row += THREADS / FLOE_WARP) {
        const uint32_t y = row % n[2], z = row / n[2] % n[1], w = row / n[2] / n[1],
                       source = w * from.stride[0] + z * from.stride[1] + y * from.stride[2],
                       place = w * to.stride[0] + z * to.stride[1] + y * to.stride[2];
        for (uint32_t x = floe_lane(); x < n[3]; x += FLOE_WARP)
            to.at[place + x * to.stride[3]] = from.at[source + x * from.stride[3]];
    }
}

__global__ void __launch_bounds__(THREADS, BLOCKS) wavelet_places_kernel(const __grid_constant__ arrays s)
{
    __shared__ floe_real cells[MOST];
    __shared__ common c;
    const uint32_t k = blockIdx.x % s.n, number = blockIdx.x / s.n;
    const floe_wavelet_dev_place &p = s.at[k];
    const group &g = s.groups[k];
    if (*s.status != FLOE_OK || g.first == g.end || (g.nparts && number >= g.nparts))
        return;
    load_common(p, c);
    if (g.nparts == 0) {
        const uint8_t none[FLOE_INTERP_RANK] = {};
        box all = {(floe_real *)p.array, {}, {}};
#pragma unroll
        for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
            all.shape[a] = s.shape[a];
            all.stride[a] = s.stride[a];
        }
        lift_lines(task_of(c, p.one_sided, all, none, g.first, g.number, s.inverse), number * THREADS + threadIdx.x,
                   gridDim.x / s.n * THREADS);
        return;
    }
    const part r = part_of(s, p, g, number, cells);
    copy(r.from, r.own);
    for (uint32_t i = g.first; i < g.end; i++)
        for (uint32_t l = 0; l < c.b.nlifts; l++) {
            const uint32_t pass = s.inverse ? g.end - 1 - (i - g.first) : i;
            lift_lines(task_of(c, p.one_sided, r.own, c.pass[g.first].depth, pass, l, s.inverse), threadIdx.x, THREADS);
        }
    __syncthreads();
    copy(r.own, r.all);
}

/* ---- launches ---------------------------------------------------------------------------------------------------------- */

uint32_t points_of(const arrays &s, const floe_wavelet_dev_pass_at &pass, uint32_t axis)
{
    return ((s.shape[axis] - 1) >> pass.depth[axis]) + 1;
}

/* In shared memory. */
uint32_t room_of(const arrays &s, const floe_wavelet_dev_pass_at &pass, uint32_t axis)
{
    return axis == FLOE_INTERP_RANK - 1 ? points_of(s, pass, axis) | 1 : points_of(s, pass, axis);
}

/* Whether axes that a part has not wholly are as far apart as where it begins. */
bool is_with(const floe_wavelet_dev_pass_at &begin, const floe_wavelet_dev_pass_at &pass, uint32_t axes)
{
    bool with = true;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        with = with && (axes >> a & 1 || pass.depth[a] == begin.depth[a]);
    return with;
}

/* As many passes from `first` on as a part can have, with all of their axes. */
group group_of(const arrays &s, const floe_wavelet_dev_place &p, uint32_t first)
{
    const floe_wavelet_dev_pass_at &begin = p.pass[first];
    group g = {first, first, 0, 1, {1, 1, 1, 1}, {1, 1, 1, 1}};
    uint32_t axes = 0;
    uint64_t points = 1;
    for (; g.end < p.npasses; g.end++) {
        const uint32_t axis = p.pass[g.end].axis, more = axes | 1u << axis;
        const uint64_t n = axes >> axis & 1 ? points : points * room_of(s, begin, axis);
        if (n > MOST || !is_with(begin, p.pass[g.end], more))
            break;
        axes = more;
        points = n;
    }
    if (g.end == first) {
        g.end = first + 1;
        g.nparts = 0;
        return g;
    }
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 0;) {
        const uint32_t n = points_of(s, begin, a);
        g.extent[a] = axes >> a & 1 ? n : (uint32_t)floe_min64(n, floe_max64(PART_POINTS / points, 1));
        points *= axes >> a & 1 ? 1 : g.extent[a];
        g.parts[a] = (n - 1) / g.extent[a] + 1;
        g.nparts *= g.parts[a];
    }
    return g;
}

/* Launch number `launch` of an array: as if all of its passes were done forward. False where it has no more. */
bool find_group(const arrays &s, const floe_wavelet_dev_place &p, uint32_t launch, group *g)
{
    *g = {};
    for (uint32_t first = 0; first < p.npasses; first = g->end) {
        *g = group_of(s, p, first);
        const uint32_t launches = g->nparts ? 1 : floe_wavelet_banks[p.bank].nlifts;
        if (launch < launches) {
            g->number = s.inverse ? launches - 1 - launch : launch;
            return true;
        }
        launch -= launches;
    }
    *g = {};
    return false;
}

uint32_t count_launches(const arrays &s, const floe_wavelet_dev_place &p)
{
    uint32_t n = 0;
    group g;
    while (find_group(s, p, n, &g))
        n++;
    return n;
}

uint64_t count_points(const arrays &s) { return (uint64_t)s.shape[0] * s.shape[1] * s.shape[2] * s.shape[3]; }

/* Threads for runs of a lifting's points: half of those of the array, at most. */
uint32_t nblocks_of(const arrays &s, const group &g)
{
    return g.nparts ? g.nparts : (uint32_t)floe_ceil_div(count_points(s), 2 * MOST_RUN * THREADS);
}

/* Where no part reads what the array begins with. */
int begin_array(const arrays &s, floe_wavelet_dev_place &p, void *stream)
{
    group g;
    if (!p.from || (find_group(s, p, 0, &g) && g.nparts))
        return cudaSuccess;
    const cudaError_t failed = cudaMemcpyAsync(p.array, p.from, count_points(s) * sizeof(floe_real),
                                               cudaMemcpyDeviceToDevice, (cudaStream_t)stream);
    p.from = NULL;
    return failed;
}

} // namespace

int FLOE_R(floe_wavelet_lift_places)(const floe_wavelet_dev_places *p, void *stream)
{
    arrays s = {};
    uint32_t stride = 1, counts[FLOE_WAVELET_DEV_ARRAYS], most = 0;
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 0; stride *= s.shape[a]) {
        s.shape[a] = (uint32_t)p->shape[a];
        s.stride[a] = stride;
    }
    s.n = p->n;
    s.inverse = p->inverse;
    s.status = p->status;
    for (uint32_t k = 0; k < p->n; k++) {
        s.at[k] = p->at[k];
        if (const int failed = begin_array(s, s.at[k], stream))
            return failed;
        counts[k] = count_launches(s, s.at[k]);
        most = counts[k] > most ? counts[k] : most;
    }
    for (uint32_t i = 0; i < most; i++) {
        uint32_t nblocks = 1;
        for (uint32_t k = 0; k < p->n; k++) {
            find_group(s, s.at[k], s.inverse ? counts[k] - 1 - i : i, &s.groups[k]);
            nblocks = (uint32_t)floe_max64(nblocks, nblocks_of(s, s.groups[k]));
        }
        FLOE_LAUNCH(wavelet_places_kernel, nblocks * s.n, THREADS, 0, (cudaStream_t)stream, s);
    }
    return (int)cudaGetLastError();
}
