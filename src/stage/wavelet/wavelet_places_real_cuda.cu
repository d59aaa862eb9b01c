/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes of small arrays whose points stay in their places. A block takes a part to shared memory that needs no other for several passes:
 * a plane, or the lattice that is left. A thread computes some points of a lifting. Sums are made in the order of wavelet_cpu.c, and
 * cut where that cuts them: at the end of a pass. */
#include <assert.h>
#include <floe/floe.h>

#include "backend/device.cuh"
#include "base/grid_math.h"
#include "stage/wavelet/wavelet_banks.h"
#include "stage/wavelet/wavelet_cuda.h"

namespace
{

enum {
    THREADS = 256,
    BLOCKS = 3,   /* of a processor, at least */
    LONG_RUN = 8, /* points of a line that a thread does, where there are enough */
    SHORT_RUN = 2,
    ROOM = 32768, /* bytes of a part */
    MOST = ROOM / (int)sizeof(floe_real),
    LEAST_POINTS = 2048, /* of a part, where less of an axis will do */
    PASSES = 16,         /* of a launch, at most */
    EACH = 8             /* values that a thread loads together */
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

/* Lengths of liftings that lift_by_taps has. */
constexpr bool is_length(uint32_t ntaps) { return ntaps <= 4 || ntaps == 6 || ntaps == FLOE_WAVELET_TAPS; }

/* Last are evens, so that what undoes a bank begins with them, which it scales. */
constexpr bool all_are_known()
{
    bool good = true;
    for (const bank &b : floe_wavelet_banks) {
        good = good && !b.lift[b.nlifts - 1].to_odd;
        for (uint32_t i = 0; i < b.nlifts; i++)
            good = good && is_length(b.lift[i].ntaps);
    }
    return good;
}
static_assert(all_are_known(), "else taps are to be scaled, or a length is to be added");

/* Passes first .. end of an array, whose parts have so many points of their lattice along each axis. nparts 0: lifting `number` of one pass,
 * of lines that are longer than a part may be. */
struct group {
    uint32_t first, end, number, nparts, extent[FLOE_INTERP_RANK], parts[FLOE_INTERP_RANK];
};

struct arrays {
    uint32_t shape[FLOE_INTERP_RANK], stride[FLOE_INTERP_RANK], n, least; /* least: points of a part */
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
enum { ENDS = 4 };
struct one_sided {
    int32_t first, count;
    floe_real weight[ENDS];
};

/* Points of a pass. */
struct points {
    uint32_t axis, n, step; /* of a line; step: from a point to the next */
    uint32_t stride[FLOE_INTERP_RANK];
    floe_divisor extent[FLOE_INTERP_RANK]; /* 1 along the line */
};

/* Weights are signed. */
struct lift {
    int32_t first, ntaps;
    bool to_odd;
    floe_real weight[FLOE_WAVELET_TAPS];
};

/* A part of a group: its own room, the same points in the array, and where they come from. */
struct part {
    box own, all, from;
    floe_divisor shape[FLOE_INTERP_RANK]; /* of each */
};

FLOE_DEV void find_part(const arrays &s, const floe_wavelet_dev_place &p, const group &g, uint32_t number,
                        floe_real *cells, part &r)
{
    const uint8_t *depth = p.pass[g.first].depth;
    uint32_t stride = 1, place = 0;
    FLOE_NO_UNROLL
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 0;) {
        const uint32_t i = number % g.parts[a], n = ((s.shape[a] - 1) >> depth[a]) + 1, lo = i * g.extent[a],
                       own = min(g.extent[a], n - lo);
        number /= g.parts[a];
        r.own.shape[a] = own;
        r.own.stride[a] = stride;
        r.all.stride[a] = r.from.stride[a] = s.stride[a] << depth[a];
        place += lo * r.all.stride[a];
        stride *= a == FLOE_INTERP_RANK - 1 ? own | 1 /* for banks of shared memory */ : own;
    }
    r.own.at = cells;
    r.all.at = (floe_real *)p.array + place;
    r.from.at = p.from && g.first == 0 ? (floe_real *)p.from + place : r.all.at;
}

/* What a block finds once. */
struct common {
    part r;
    uint32_t nlifts;
    lift lifts[FLOE_WAVELET_LIFTS]; /* in the order in which they are done */
    floe_real scale, unscale;
    points of[PASSES];
    one_sided ends[PASSES][FLOE_WAVELET_SIDED];
};

/* By a block. */
FLOE_DEV void load_bank(uint32_t number, bool inverse, common &c)
{
    const bank &b = all_banks.of[number];
    const uint32_t k = threadIdx.x / FLOE_WAVELET_TAPS, tap = threadIdx.x % FLOE_WAVELET_TAPS;
    if (k < b.nlifts) {
        const floe_wavelet_lift &l = b.lift[inverse ? b.nlifts - 1 - k : k];
        lift &to = c.lifts[k];
        to.weight[tap] = (floe_real)(inverse ? -l.weight[tap] : l.weight[tap]);
        to.first = l.first;
        to.ntaps = (int32_t)l.ntaps;
        to.to_odd = l.to_odd;
    }
    c.nlifts = b.nlifts;
    c.scale = (floe_real)b.scale;
    c.unscale = (floe_real)b.unscale;
}

/* Along axis a of a box whose points are 2^depth0 apart. */
FLOE_DEV void find_points(const box &x, const uint8_t *depth0, const floe_wavelet_dev_pass_at &pass, uint32_t a,
                          points &to)
{
    const uint32_t depth = pass.depth[a] - depth0[a], n = ((x.shape[a] - 1) >> depth) + 1;
    to.stride[a] = x.stride[a] << depth;
    to.extent[a] = floe_divisor_of(a == pass.axis ? 1 : n);
    if (a == pass.axis) {
        to.axis = a;
        to.n = n;
        to.step = to.stride[a];
    }
}

/* End k of lines of n points, by floe_wavelet_one_sided. */
FLOE_DEV void find_end(uint32_t n, int32_t k, bool inverse, one_sided &to)
{
    const int32_t evens = (int32_t)(n - n / 2),
                  i = k < FLOE_WAVELET_SIDED_LEFT ? k : evens - 1 - (k - FLOE_WAVELET_SIDED_LEFT);
    if (i < 0 || i >= (int32_t)n / 2)
        return;
    int64_t first;
    double w[ENDS];
    to.count = (int32_t)floe_wavelet_one_sided(i, evens, &first, w);
    to.first = (int32_t)first;
    FLOE_NO_UNROLL
    for (int32_t e = 0; e < to.count; e++)
        to.weight[e] = (floe_real)(inverse ? w[e] : -w[e]);
}

/* By a block, for passes of a group: some threads find points, others ends. */
FLOE_DEV void find_common(const floe_wavelet_dev_place &p, const group &g, const box &x, const uint8_t *depth0,
                          bool inverse, common &c)
{
    const uint32_t npasses = g.end - g.first, i = threadIdx.x, a = i % FLOE_INTERP_RANK, end = i - THREADS / 2,
                   pass = i < THREADS / 2 ? i / FLOE_INTERP_RANK : end / FLOE_WAVELET_SIDED;
    const floe_wavelet_dev_pass_at &at = p.pass[g.first + min(pass, npasses - 1)];
    load_bank(p.bank, inverse, c);
    if (i < THREADS / 2 && pass < npasses)
        find_points(x, depth0, at, a, c.of[pass]);
    else if (i < THREADS / 2 && pass == npasses)
        c.r.shape[a] = floe_divisor_of(x.shape[a]);
    else if (i >= THREADS / 2 && pass < npasses && p.one_sided >> at.axis & 1)
        find_end(((x.shape[at.axis] - 1) >> (at.depth[at.axis] - depth0[at.axis])) + 1,
                 (int32_t)(end % FLOE_WAVELET_SIDED), inverse, c.ends[pass][end % FLOE_WAVELET_SIDED]);
    __syncthreads();
}
static_assert((PASSES + 1) * FLOE_INTERP_RANK <= (int)THREADS / 2 && PASSES * FLOE_WAVELET_SIDED <= (int)THREADS / 2,
              "a thread for each");

/* A lifting of a pass. A copy of what is in shared memory: it stays in registers although points are stored there. */
struct lifting {
    points p;
    lift l;
    int32_t count, run; /* points of the parity, of a line; those that follow each other that a task does */
    uint32_t ntasks;
    const one_sided *ends;   /* NULL: none */
    floe_real before, after; /* factors of the points */
    bool last;               /* of the pass, for these points */
};

FLOE_DEV lifting lifting_of(const common &c, uint32_t sides, uint32_t pass, uint32_t number, bool inverse)
{
    lifting t = {};
    t.l = c.lifts[number];
    t.p = c.of[pass];
    t.count = (int32_t)(t.l.to_odd ? t.p.n / 2 : t.p.n - t.p.n / 2);
    const uint32_t nlines = t.p.extent[0].by * t.p.extent[1].by * t.p.extent[2].by * t.p.extent[3].by;
    t.run = nlines * (uint32_t)t.count >= LONG_RUN * THREADS ? LONG_RUN : SHORT_RUN;
    t.ntasks = nlines * (((uint32_t)t.count - 1) / (uint32_t)t.run + 1);
    t.last = number + 2 >= c.nlifts; /* parities take turns */
    t.before = inverse && number == 0 ? c.unscale : 1;
    t.after = t.last && !inverse && !t.l.to_odd ? c.scale : 1;
    if ((sides >> t.p.axis & 1) && number == (inverse ? c.nlifts - 1 : 0))
        t.ends = c.ends[pass];
    return t;
}

FLOE_DEV void store(const lifting &t, floe_real *to, floe_real sum)
{
    sum *= t.after;
    *to = t.last ? FLOE_R(floe_wavelet_finite)(sum) : sum;
}

/* Point i, predicted from one side. */
FLOE_DEV floe_real add_end_taps(const lifting &t, const floe_real *line, int32_t i, floe_real sum)
{
    const int32_t evens = (int32_t)(t.p.n - t.p.n / 2);
    const one_sided &e = t.ends[i < FLOE_WAVELET_SIDED_LEFT ? i : FLOE_WAVELET_SIDED_LEFT + evens - 1 - i];
#pragma unroll
    for (int32_t k = 0; k < ENDS; k++)
        if (k < e.count)
            sum = FLOE_WAVELET_FMA(e.weight[k], line[2 * (uint32_t)(e.first + k) * t.p.step], sum);
    return sum;
}

/* Points i .. i + count - 1, at most RUN: what they are made of is loaded once for all of them. */
template <int32_t RUN, int32_t NTAPS>
FLOE_DEV void lift_run(const lifting &t, floe_real *line, int32_t i, int32_t count)
{
    constexpr int32_t NEAR = RUN + NTAPS - 1;
    const int32_t odd = t.l.to_odd, n = (int32_t)t.p.n, step = (int32_t)t.p.step, first = i + t.l.first,
                  others = n - t.count, period = 2 * (n - 1);
    const bool inner = first >= 0 && first + NEAR <= others;
    floe_real near[NEAR], own[RUN];
#pragma unroll
    for (int32_t k = 0; k < NEAR; k++) {
        int32_t at = 2 * (first + k) + !odd;
        if (!inner) { /* as floe_wavelet_reflect */
            for (at = abs(at); at > period;)
                at -= period;
            at = min(at, period - at);
        }
        near[k] = line[at * step];
    }
#pragma unroll
    for (int32_t k = 0; k < RUN; k++)
        own[k] = k < count ? line[(2 * (i + k) + odd) * step] * t.before : 0;
#pragma unroll
    for (int32_t k = 0; k < RUN; k++) {
        const bool leaves = first + k < 0 || first + k + NTAPS > others;
        if (k >= count)
            continue;
        if (!inner && t.ends && leaves) {
            own[k] = add_end_taps(t, line, i + k, own[k]);
        } else {
#pragma unroll
            for (int32_t tap = 0; tap < NTAPS; tap++)
                own[k] = FLOE_WAVELET_FMA(t.l.weight[tap], near[k + tap], own[k]);
        }
        store(t, line + (2 * (i + k) + odd) * step, own[k]);
    }
}

template <int32_t RUN, int32_t NTAPS>
FLOE_DEV void lift_runs(const lifting &t, floe_real *array, uint32_t first, uint32_t step)
{
    for (uint32_t task = first; task < t.ntasks; task += step) {
        uint32_t left = task, place = 0;
#pragma unroll
        for (uint32_t a = FLOE_INTERP_RANK; a-- > 0;)
            place += floe_divide(&left, &t.p.extent[a]) * t.p.stride[a];
        const int32_t i = (int32_t)left * RUN;
        lift_run<RUN, NTAPS>(t, array + place, i, min(RUN, t.count - i));
    }
}

template <int32_t RUN> FLOE_DEV void lift_by_taps(const lifting &t, floe_real *array, uint32_t first, uint32_t step)
{
    switch (t.l.ntaps) {
    case 1: lift_runs<RUN, 1>(t, array, first, step); break;
    case 2: lift_runs<RUN, 2>(t, array, first, step); break;
    case 3: lift_runs<RUN, 3>(t, array, first, step); break;
    case 4: lift_runs<RUN, 4>(t, array, first, step); break;
    case 6: lift_runs<RUN, 6>(t, array, first, step); break;
    default: lift_runs<RUN, FLOE_WAVELET_TAPS>(t, array, first, step);
    }
}

FLOE_DEV void lift_tasks(const lifting &t, floe_real *array, uint32_t first, uint32_t step)
{
    if (t.run == LONG_RUN)
        lift_by_taps<LONG_RUN>(t, array, first, step);
    else
        lift_by_taps<SHORT_RUN>(t, array, first, step);
}

FLOE_DEV void copy(const part &r, const box &from, const box &to)
{
    const floe_divisor shape[] = {r.shape[0], r.shape[1], r.shape[2], r.shape[3]};
    const uint32_t stride[] = {from.stride[0], from.stride[1], from.stride[2], from.stride[3]},
                   to_stride[] = {to.stride[0], to.stride[1], to.stride[2], to.stride[3]},
                   n = shape[0].by * shape[1].by * shape[2].by * shape[3].by;
    const floe_real *source = from.at;
    floe_real *place = to.at;
    for (uint32_t first = threadIdx.x; first < n; first += EACH * THREADS) {
        floe_real v[EACH];
        uint32_t at_to[EACH];
#pragma unroll
        for (uint32_t k = 0; k < EACH; k++) {
            uint32_t left = first + k * THREADS, at = 0;
            const bool there = left < n;
            at_to[k] = 0;
#pragma unroll
            for (uint32_t a = FLOE_INTERP_RANK; a-- > 0;) {
                const uint32_t digit = a ? floe_divide(&left, &shape[a]) : left;
                at += digit * stride[a];
                at_to[k] += digit * to_stride[a];
            }
            v[k] = there ? source[at] : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < EACH; k++)
            if (first + k * THREADS < n)
                place[at_to[k]] = v[k];
    }
}

/* PARTS: of groups that have parts; else of those of one lifting of long lines. */
template <bool PARTS>
__global__ void __launch_bounds__(THREADS, BLOCKS) wavelet_places_kernel(const __grid_constant__ arrays s)
{
    __shared__ floe_real cells[PARTS ? MOST : 1];
    __shared__ common c;
    const uint32_t k = blockIdx.x % s.n, number = blockIdx.x / s.n;
    const floe_wavelet_dev_place &p = s.at[k];
    const group &g = s.groups[k];
    if (*s.status != FLOE_OK || g.first == g.end || PARTS != (g.nparts > 0) || (PARTS && number >= g.nparts))
        return;
    if constexpr (!PARTS) {
        const uint8_t none[FLOE_INTERP_RANK] = {};
        box all = {(floe_real *)p.array, {}, {}};
#pragma unroll
        for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
            all.shape[a] = s.shape[a];
            all.stride[a] = s.stride[a];
        }
        find_common(p, g, all, none, s.inverse, c);
        lift_tasks(lifting_of(c, p.one_sided, 0, g.number, s.inverse), all.at, number * THREADS + threadIdx.x,
                   gridDim.x / s.n * THREADS);
    } else {
        if (threadIdx.x == 0)
            find_part(s, p, g, number, cells, c.r);
        __syncthreads();
        find_common(p, g, c.r.own, p.pass[g.first].depth, s.inverse, c);
        copy(c.r, c.r.from, c.r.own);
        FLOE_NO_UNROLL
        for (uint32_t i = 0; i < (g.end - g.first) * c.nlifts; i++) {
            const uint32_t pass = i / c.nlifts;
            __syncthreads();
            lift_tasks(
                lifting_of(c, p.one_sided, s.inverse ? g.end - g.first - 1 - pass : pass, i % c.nlifts, s.inverse),
                cells, threadIdx.x, THREADS);
        }
        __syncthreads();
        copy(c.r, c.r.own, c.r.all);
    }
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
    for (; g.end < p.npasses && g.end - first < PASSES; g.end++) {
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
        const bool own = axes >> a & 1, is_row = a == FLOE_INTERP_RANK - 1;
        const uint64_t most = is_row ? (MOST / points - 1) | 1 : MOST, /* a row has room for an odd number */
            fit = floe_min64(floe_max64(s.least / points, 1), most);
        g.parts[a] = own ? 1 : (uint32_t)floe_ceil_div(n, fit);
        g.extent[a] = (uint32_t)floe_ceil_div(n, g.parts[a]);
        points *= own ? 1 : is_row ? g.extent[a] | 1 : g.extent[a];
        g.nparts *= g.parts[a];
    }
    assert(points <= MOST); /* padding is counted; sanitizers do not see past ends in shared memory */
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
    return g.nparts ? g.nparts : (uint32_t)floe_ceil_div(count_points(s), 2 * LONG_RUN * THREADS);
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
    s.least = (uint32_t)floe_max64(
        floe_min64(count_points(s) * s.n / (BLOCKS * (uint64_t)floe_gpu_limits_cuda().processors), MOST), LEAST_POINTS);
    for (uint32_t k = 0; k < p->n; k++) {
        s.at[k] = p->at[k];
        if (const int failed = begin_array(s, s.at[k], stream))
            return failed;
        counts[k] = count_launches(s, s.at[k]);
        most = counts[k] > most ? counts[k] : most;
    }
    for (uint32_t i = 0; i < most; i++) {
        uint32_t nblocks = 1;
        bool parts = false, lines = false;
        for (uint32_t k = 0; k < p->n; k++) {
            group &g = s.groups[k];
            find_group(s, s.at[k], s.inverse ? counts[k] - 1 - i : i, &g);
            nblocks = (uint32_t)floe_max64(nblocks, nblocks_of(s, g));
            parts = parts || g.nparts;
            lines = lines || (g.nparts == 0 && g.first < g.end);
        }
        if (parts)
            FLOE_LAUNCH(wavelet_places_kernel<true>, nblocks * s.n, THREADS, 0, (cudaStream_t)stream, s);
        if (lines)
            FLOE_LAUNCH(wavelet_places_kernel<false>, nblocks * s.n, THREADS, 0, (cudaStream_t)stream, s);
    }
    return (int)cudaGetLastError();
}
