/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes of small arrays whose points stay in their places. A block copies a part of an array to shared memory and does several passes
 * there: a part, such as a plane or the lattice that is left, needs no other one for them. A thread does runs of points of a lifting. Sums
 * are made in the order of wavelet_cpu.c, and are kept finite at the end of a pass, as there.
 */
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
    BLOCKS = 3,   /* on a processor at once, at least */
    LONG_RUN = 8, /* points of a line that a thread does, where there are enough */
    SHORT_RUN = 2,
    ROOM = 32768, /* bytes of a part, at most */
    MOST = ROOM / (int)sizeof(floe_real),
    LEAST_POINTS = 2048, /* of a part, if it need not have all of an axis */
    PASSES = 16,         /* of a launch, at most */
    EACH = 8             /* values that a thread loads together */
};

/* Whether lift_by_taps has a case for liftings of so many taps. */
constexpr bool is_length(uint32_t ntaps) { return ntaps <= 4 || ntaps == 6 || ntaps == FLOE_WAVELET_TAPS; }

/* The last lifting of each bank changes evens. So an inverse pass begins with them, and scales them on the way. */
constexpr bool all_are_known()
{
    bool good = true;
    for (const floe_wavelet_lifting &b : floe_wavelet_banks) {
        good = good && !b.lift[b.nlifts - 1].to_odd;
        for (uint32_t i = 0; i < b.nlifts; i++)
            good = good && is_length(b.lift[i].ntaps);
    }
    return good;
}
static_assert(all_are_known(), "a bank ends with a lifting of odds, or has a lifting of another length");

/* What a launch does of an array: passes first .. end - 1, or, where lines are longer than a part may be, lifting `number` of one pass. */
struct group {
    uint32_t first, end, number;
    uint32_t nparts;                                              /* 0: the lines are too long for parts */
    uint32_t extent[FLOE_LATTICE_RANK], parts[FLOE_LATTICE_RANK]; /* points of a part, and parts, along each axis */
};

/* The points along each axis, and the distance from one to the next. */
struct box {
    uint32_t shape[FLOE_LATTICE_RANK], stride[FLOE_LATTICE_RANK];
};

struct lift {
    int32_t first, ntaps;
    bool to_odd;
    floe_real weight[FLOE_WAVELET_TAPS]; /* as they are added */
};

/* The liftings of a bank, in the order in which they are done, and the factor of evens before or after them. */
struct bank {
    uint32_t nlifts;
    floe_real scale;
    lift lifts[FLOE_WAVELET_LIFTS];
};

/* A launch: n arrays of one shape. */
struct arrays {
    box all;           /* of an array */
    uint32_t n, least; /* least: points of a part */
    bool inverse;
    const uint32_t *status;
    floe_wavelet_dev_place at[FLOE_WAVELET_DEV_ARRAYS];
    bank banks[FLOE_WAVELET_DEV_ARRAYS];
    group groups[FLOE_WAVELET_DEV_ARRAYS];
};
static_assert(sizeof(arrays) <= 4096, "parameters of a kernel");

/* The `count` evens, from number `first` on, that predict a point near a one-sided end. */
enum { ENDS = 4 };
struct one_sided {
    int32_t first, count;
    floe_real weight[ENDS];
};

/* The lines of a pass. */
struct points {
    uint32_t axis, n, step;                 /* points of a line; step: from one to the next */
    uint32_t stride[FLOE_LATTICE_RANK];     /* from a line to the next */
    floe_divisor extent[FLOE_LATTICE_RANK]; /* lines along each axis; along their own 1 */
};

/* A part of an array, and a copy of its points in shared memory. */
struct part {
    const floe_real *from;                 /* its first point, in the array that it is read from */
    floe_real *to;                         /* and in that it is written to */
    uint32_t stride[FLOE_LATTICE_RANK];    /* in both arrays */
    box own;                               /* the copy */
    floe_divisor shape[FLOE_LATTICE_RANK]; /* points along each axis */
};

/* Finds part `number` of a group. By one thread. */
FLOE_DEV void find_part(const arrays &s, const floe_wavelet_dev_place &p, const group &g, uint32_t number, part &r)
{
    const uint8_t *depth = p.pass[g.first].depth;
    uint32_t stride = 1, place = 0;
    FLOE_NO_UNROLL
    for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0;) {
        const uint32_t i = number % g.parts[a], n = ((s.all.shape[a] - 1) >> depth[a]) + 1, lo = i * g.extent[a],
                       own = min(g.extent[a], n - lo);
        number /= g.parts[a];
        r.own.shape[a] = own;
        r.own.stride[a] = stride;
        r.stride[a] = s.all.stride[a] << depth[a];
        r.shape[a] = floe_divisor_of(own);
        place += lo * r.stride[a];
        stride *= a == FLOE_LATTICE_RANK - 1 ? own | 1 /* for banks of shared memory */ : own;
    }
    r.to = (floe_real *)p.array + place;
    r.from = p.from && g.first == 0 ? (const floe_real *)p.from + place : r.to;
}

/* What a block finds once, in shared memory. */
struct common {
    part r;
    points of[PASSES];
    one_sided ends[PASSES][FLOE_WAVELET_SIDED];
};

/* Finds the points that a pass has along axis a of a box. The box has those that lie 2^depth0 apart. */
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

/* Finds how point k near the ends of a line of n points is predicted: see floe_wavelet_one_sided. */
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

/* Finds the points and ends of all passes of a group. By a block: half of its threads find points, the others ends. */
FLOE_DEV void find_common(const floe_wavelet_dev_place &p, const group &g, const box &x, const uint8_t *depth0,
                          bool inverse, common &c)
{
    const uint32_t npasses = g.end - g.first, i = threadIdx.x, a = i % FLOE_LATTICE_RANK, end = i - THREADS / 2,
                   pass = i < THREADS / 2 ? i / FLOE_LATTICE_RANK : end / FLOE_WAVELET_SIDED;
    const floe_wavelet_dev_pass_at &at = p.pass[g.first + min(pass, npasses - 1)];
    if (i < THREADS / 2 && pass < npasses)
        find_points(x, depth0, at, a, c.of[pass]);
    else if (i >= THREADS / 2 && pass < npasses && p.one_sided >> at.axis & 1)
        find_end(((x.shape[at.axis] - 1) >> (at.depth[at.axis] - depth0[at.axis])) + 1,
                 (int32_t)(end % FLOE_WAVELET_SIDED), inverse, c.ends[pass][end % FLOE_WAVELET_SIDED]);
    __syncthreads();
}
static_assert(PASSES * FLOE_LATTICE_RANK <= (int)THREADS / 2 && PASSES * FLOE_WAVELET_SIDED <= (int)THREADS / 2,
              "a thread for each");

/* A lifting of a pass. It copies what shared memory holds, so that the copies stay in registers while points are stored there. */
struct lifting {
    points p;
    lift l;
    int32_t count, run; /* points of its parity in a line; how many of them, side by side, a task does */
    uint32_t ntasks;
    const one_sided *ends;   /* NULL: none */
    floe_real before, after; /* factors of the points */
    bool last;               /* no later lifting of the pass changes these points */
};

/* sides: bit a is set where ends along axis a are one-sided. */
FLOE_DEV lifting lifting_of(const bank &b, const common &c, uint32_t sides, uint32_t pass, uint32_t number,
                            bool inverse)
{
    lifting t = {};
    t.l = b.lifts[number];
    t.p = c.of[pass];
    t.count = (int32_t)(t.l.to_odd ? t.p.n / 2 : t.p.n - t.p.n / 2);
    const uint32_t nlines = t.p.extent[0].by * t.p.extent[1].by * t.p.extent[2].by * t.p.extent[3].by;
    t.run = nlines * (uint32_t)t.count >= LONG_RUN * THREADS ? LONG_RUN : SHORT_RUN;
    t.ntasks = nlines * (((uint32_t)t.count - 1) / (uint32_t)t.run + 1);
    t.last = number + 2 >= b.nlifts; /* parities take turns */
    t.before = inverse && number == 0 ? b.scale : 1;
    t.after = t.last && !inverse && !t.l.to_odd ? b.scale : 1;
    if ((sides >> t.p.axis & 1) && number == (inverse ? b.nlifts - 1 : 0))
        t.ends = c.ends[pass];
    return t;
}

FLOE_DEV void store(const lifting &t, floe_real *to, floe_real sum)
{
    sum *= t.after;
    *to = t.last ? FLOE_R(floe_wavelet_finite)(sum) : sum;
}

/* Adds the taps of a one-sided end to the sum of point i. */
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

/* Lifts points i .. i + count - 1 of a line, at most RUN. The points around them are loaded once for all. */
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
        for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0;)
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

/* Copies the points of a part. By a block. */
FLOE_DEV void copy(const part &r, const floe_real *from, const uint32_t *from_strides, floe_real *to,
                   const uint32_t *to_strides)
{
    const floe_divisor shape[] = {r.shape[0], r.shape[1], r.shape[2], r.shape[3]};
    const uint32_t stride[] = {from_strides[0], from_strides[1], from_strides[2], from_strides[3]},
                   to_stride[] = {to_strides[0], to_strides[1], to_strides[2], to_strides[3]},
                   n = shape[0].by * shape[1].by * shape[2].by * shape[3].by;
    for (uint32_t first = threadIdx.x; first < n; first += EACH * THREADS) {
        floe_real v[EACH];
        uint32_t at_to[EACH];
#pragma unroll
        for (uint32_t k = 0; k < EACH; k++) {
            uint32_t left = first + k * THREADS, at = 0;
            const bool there = left < n;
            at_to[k] = 0;
#pragma unroll
            for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0;) {
                const uint32_t digit = a ? floe_divide(&left, &shape[a]) : left;
                at += digit * stride[a];
                at_to[k] += digit * to_stride[a];
            }
            v[k] = there ? from[at] : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < EACH; k++)
            if (first + k * THREADS < n)
                to[at_to[k]] = v[k];
    }
}

/* Blocks are dealt to the arrays in turn. PARTS: a block does a part of a group. Otherwise the blocks of an array share one lifting of long
 * lines. The kernel skips arrays whose group is of the other sort. */
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
        const uint8_t none[FLOE_LATTICE_RANK] = {};
        find_common(p, g, s.all, none, s.inverse, c);
        lift_tasks(lifting_of(s.banks[k], c, p.one_sided, 0, g.number, s.inverse), (floe_real *)p.array,
                   number * THREADS + threadIdx.x, gridDim.x / s.n * THREADS);
    } else {
        const uint32_t nlifts = s.banks[k].nlifts;
        if (threadIdx.x == 0)
            find_part(s, p, g, number, c.r);
        __syncthreads();
        find_common(p, g, c.r.own, p.pass[g.first].depth, s.inverse, c);
        copy(c.r, c.r.from, c.r.stride, cells, c.r.own.stride);
        FLOE_NO_UNROLL
        for (uint32_t i = 0; i < (g.end - g.first) * nlifts; i++) {
            const uint32_t done = i / nlifts, pass = s.inverse ? g.end - g.first - 1 - done : done;
            __syncthreads();
            lift_tasks(lifting_of(s.banks[k], c, p.one_sided, pass, i % nlifts, s.inverse), cells, threadIdx.x,
                       THREADS);
        }
        __syncthreads();
        copy(c.r, cells, c.r.own.stride, c.r.to, c.r.stride);
    }
}

/* ---- launches ---------------------------------------------------------------------------------------------------------- */

bank bank_of(const floe_wavelet_lifting &b, bool inverse)
{
    bank to = {b.nlifts, (floe_real)(inverse ? b.unscale : b.scale), {}};
    for (uint32_t k = 0; k < b.nlifts; k++) {
        const floe_wavelet_lift &l = b.lift[inverse ? b.nlifts - 1 - k : k];
        to.lifts[k] = {l.first, (int32_t)l.ntaps, l.to_odd, {}};
        for (uint32_t tap = 0; tap < FLOE_WAVELET_TAPS; tap++)
            to.lifts[k].weight[tap] = (floe_real)(inverse ? -l.weight[tap] : l.weight[tap]);
    }
    return to;
}

/* Points along an axis of the lattice on which a pass is done. */
uint32_t points_of(const arrays &s, const floe_wavelet_dev_pass_at &pass, uint32_t axis)
{
    return ((s.all.shape[axis] - 1) >> pass.depth[axis]) + 1;
}

/* Places in shared memory for these points: an odd number for a row, so that columns lie in different banks. */
uint32_t room_of(const arrays &s, const floe_wavelet_dev_pass_at &pass, uint32_t axis)
{
    return axis == FLOE_LATTICE_RANK - 1 ? points_of(s, pass, axis) | 1 : points_of(s, pass, axis);
}

/* Whether a pass has the lattice of the group's first pass along the axes of which parts have only some points: all but `axes`. */
bool is_on_lattice(const floe_wavelet_dev_pass_at &begin, const floe_wavelet_dev_pass_at &pass, uint32_t axes)
{
    bool same = true;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        same = same && (axes >> a & 1 || pass.depth[a] == begin.depth[a]);
    return same;
}

/* As many passes from `first` on as fit a part, which has the axes of all of them wholly. */
group group_of(const arrays &s, const floe_wavelet_dev_place &p, uint32_t first)
{
    const floe_wavelet_dev_pass_at &begin = p.pass[first];
    group g = {first, first, 0, 1, {1, 1, 1, 1}, {1, 1, 1, 1}};
    uint32_t axes = 0;
    uint64_t points = 1;
    for (; g.end < p.npasses && g.end - first < PASSES; g.end++) {
        const uint32_t axis = p.pass[g.end].axis, more = axes | 1u << axis;
        const uint64_t n = axes >> axis & 1 ? points : points * room_of(s, begin, axis);
        if (n > MOST || !is_on_lattice(begin, p.pass[g.end], more))
            break;
        axes = more;
        points = n;
    }
    if (g.end == first) {
        g.end = first + 1;
        g.nparts = 0;
        return g;
    }
    for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0;) {
        const uint32_t n = points_of(s, begin, a);
        const bool own = axes >> a & 1, is_row = a == FLOE_LATTICE_RANK - 1;
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

/* Launches of an array, at most: each pass may be a launch for each of its liftings. */
enum { LAUNCHES = FLOE_WAVELET_DEV_PASSES * FLOE_WAVELET_LIFTS };

/* The groups of an array, launch by launch, in the order in which they are done forward. Returns how many they are. */
uint32_t groups_of(const arrays &s, const floe_wavelet_dev_place &p, group (&to)[LAUNCHES])
{
    uint32_t n = 0;
    for (uint32_t first = 0; first < p.npasses; first = to[n - 1].end) {
        group g = group_of(s, p, first);
        const uint32_t launches = g.nparts ? 1 : floe_wavelet_banks[p.bank].nlifts;
        for (uint32_t k = 0; k < launches; k++) {
            g.number = s.inverse ? launches - 1 - k : k;
            to[n++] = g;
        }
    }
    return n;
}

uint64_t count_points(const arrays &s)
{
    return (uint64_t)s.all.shape[0] * s.all.shape[1] * s.all.shape[2] * s.all.shape[3];
}

/* A part each; or threads for all runs of a lifting, which has half of the array's points at most. */
uint32_t nblocks_of(const arrays &s, const group &g)
{
    return g.nparts ? g.nparts : (uint32_t)floe_ceil_div(count_points(s), 2 * LONG_RUN * THREADS);
}

} // namespace

int FLOE_R(floe_wavelet_lift_places)(const floe_wavelet_dev_places *p, void *stream)
{
    arrays s = {};
    group groups[FLOE_WAVELET_DEV_ARRAYS][LAUNCHES];
    uint32_t stride = 1, counts[FLOE_WAVELET_DEV_ARRAYS], most = 0;
    for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0; stride *= s.all.shape[a]) {
        s.all.shape[a] = (uint32_t)p->shape[a];
        s.all.stride[a] = stride;
    }
    s.n = p->n;
    s.inverse = p->inverse;
    s.status = p->status;
    s.least = (uint32_t)floe_max64(
        floe_min64(count_points(s) * s.n / (BLOCKS * (uint64_t)floe_gpu_limits_cuda().processors), MOST), LEAST_POINTS);
    for (uint32_t k = 0; k < p->n; k++) {
        s.at[k] = p->at[k];
        s.banks[k] = bank_of(floe_wavelet_banks[p->at[k].bank], s.inverse);
        counts[k] = groups_of(s, s.at[k], groups[k]);
        most = counts[k] > most ? counts[k] : most;
        if (!p->at[k].from || (counts[k] && groups[k][0].nparts))
            continue;
        s.at[k].from = NULL; /* no parts read it */
        const cudaError_t failed = cudaMemcpyAsync(s.at[k].array, p->at[k].from, count_points(s) * sizeof(floe_real),
                                                   cudaMemcpyDeviceToDevice, (cudaStream_t)stream);
        if (failed != cudaSuccess)
            return failed;
    }
    for (uint32_t i = 0; i < most; i++) {
        uint32_t nblocks = 1;
        bool parts = false, lines = false;
        for (uint32_t k = 0; k < p->n; k++) {
            group &g = s.groups[k];
            g = i < counts[k] ? groups[k][s.inverse ? counts[k] - 1 - i : i] : group{};
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
