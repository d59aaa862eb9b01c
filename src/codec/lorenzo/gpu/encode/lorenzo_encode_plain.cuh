/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding a tile on the plain path: quantizer LINEAR, no exception, contiguous along x. All numbers of a lane's group stay in
 * registers.
 *
 * Numbers are floats (doubles for f64) as long as all integers stay exact in them, which the widths show afterwards:
 * additions of floats run at twice the rate of those of integers. Tiles of f32 begin in lorenzo_encode_half2.cuh, and come here
 * where a residual is too wide for that. Either way the numbers are those of floe_linear_encode, and the words those of
 * pack.h. Where numbers are too narrow a tile is done again, on the general path, which whatever else is unfit takes, too
 * (lorenzo_encode_general.cuh).
 */
#ifndef FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_PLAIN_CUH
#define FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_PLAIN_CUH

#include "codec/lorenzo/gpu/encode/lorenzo_encode_values.cuh"

namespace FLOE_LORENZO_ENCODING
{

/* ---- differences --------------------------------------------------------------------------------------------------- */

/* What the differences of a tile start from. corner: for lane 0 the value that predicts the first one of the next plane, 0
 * for the others. x, y: 1 where a lane has neighbours before it along that axis, 0 on the border. */
struct border {
    floe_real base, corner, x, y;
};

FLOE_DEV void border_begin(border &b, floe_real base)
{
    b.base = base;
    b.corner = floe_lane() == 0 ? base : (floe_real)0;
    b.x = floe_lane() % 8 == 0 ? (floe_real)0 : (floe_real)1;
    b.y = floe_lane() / 8 == 0 ? (floe_real)0 : (floe_real)1;
}

/* v - with * other, where with is 0 or 1: no rounding but that of the difference. */
FLOE_DEV float less(float v, float other, float with) { return fmaf(-with, other, v); }
FLOE_DEV double less(double v, double other, double with) { return fma(-with, other, v); }

/* p of one plane. */
template <int MODE> FLOE_DEV void differences3(const floe_real q[16], floe_real p[16], border &b)
{
    floe_real above[4], d[16];
    if (MODE == FLOE_LORENZO_XY || MODE == FLOE_LORENZO_X)
#pragma unroll
        for (int y = 0; y < 4; y++) {
            d[4 * y] = less(q[4 * y], __shfl_up_sync(FLOE_ALL_LANES, q[4 * y + 3], 1), b.x);
#pragma unroll
            for (int x = 1; x < 4; x++)
                d[4 * y + x] = q[4 * y + x] - q[4 * y + x - 1];
        }
    if (MODE == FLOE_LORENZO_XY) {
#pragma unroll
        for (int k = 0; k < 16; k++)
            p[k] = k < 4 ? less(d[k], __shfl_up_sync(FLOE_ALL_LANES, d[12 + k % 4], 8), b.y) : d[k] - d[(k + 12) % 16];
        p[0] -= b.corner;
    } else if (MODE == FLOE_LORENZO_X) { /* the column of the first lanes along y, where its d is the value itself */
        const floe_real column = (floe_real)1 - b.x,
                        up = less(b.corner, __shfl_up_sync(FLOE_ALL_LANES, d[12], 8), -b.y);
#pragma unroll
        for (int k = 0; k < 16; k++)
            p[k] = k % 4 ? d[k] : less(d[k], k == 0 ? up : d[(k + 12) % 16], column);
    } else if (MODE == FLOE_LORENZO_Y) { /* the row of the first lanes along x */
        const floe_real left = less(b.corner, __shfl_up_sync(FLOE_ALL_LANES, q[3], 1), -b.x);
#pragma unroll
        for (int x = 0; x < 4; x++) {
            floe_real up = __shfl_up_sync(FLOE_ALL_LANES, q[12 + x], 8);
            above[x] = b.y == (floe_real)0 ? (x > 0 ? q[(x + 15) % 16] : left) : up;
        }
#pragma unroll
        for (int k = 0; k < 16; k++)
            p[k] = q[k] - (k < 4 ? above[k % 4] : q[(k + 12) % 16]);
    } else {
#pragma unroll
        for (int k = 0; k < 16; k++)
            p[k] = q[k] - (k == 0 && floe_lane() == 0 ? b.corner : b.base);
    }
    b.corner = floe_lane() == 0 ? q[0] : (floe_real)0;
}

/* Ranks 1 and 2: a plane is a row. */
template <int RANK, int MODE> FLOE_DEV void differences_line(const floe_real *q, floe_real *p, border &b)
{
    enum { N = shape<RANK>::PLANE };
    const uint32_t lane = floe_lane();
    floe_real left = __shfl_up_sync(FLOE_ALL_LANES, q[N - 1], 1);
    floe_real last = RANK == 1 ? __shfl_sync(FLOE_ALL_LANES, q[N - 1], 31) : q[0];
#pragma unroll
    for (int k = 0; k < N; k++) {
        if (MODE == FLOE_LORENZO_NONE)
            p[k] = q[k] - (k == 0 && lane == 0 ? b.corner : b.base);
        else
            p[k] = q[k] - (k > 0 ? q[(k + N - 1) % N] : lane == 0 ? b.corner : left);
    }
    b.corner = lane == 0 ? last : (floe_real)0;
}

/* Planes FIRST to END - 1 of a step. */
template <int RANK, int MODE, int FIRST, int END = shape<RANK>::GZ, class floe_real>
FLOE_DEV void differences(const floe_real q[GROUP], floe_real p[GROUP], border &b)
{
#pragma unroll
    for (int z = FIRST; z < END; z++) {
        if constexpr (RANK == 3)
            differences3<MODE>(q + z * 16, p + z * 16, b);
        else
            differences_line<RANK, MODE>(q + z * shape<RANK>::PLANE, p + z * shape<RANK>::PLANE, b);
    }
}

FLOE_DEV void mask_out(floe_real v[GROUP], uint32_t valid)
{
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        v[k] = valid >> k & 1 ? v[k] : (floe_real)0;
}

template <int RANK, int FIRST>
FLOE_DEV void differences_of(uint32_t mode, const floe_real q[GROUP], floe_real p[GROUP], border &b)
{
    if (mode == FLOE_LORENZO_X)
        differences<RANK, FLOE_LORENZO_X, FIRST>(q, p, b);
    else if (RANK == 3 && mode == FLOE_LORENZO_XY)
        differences<RANK, FLOE_LORENZO_XY, FIRST>(q, p, b);
    else if (RANK == 3 && mode == FLOE_LORENZO_Y)
        differences<RANK, FLOE_LORENZO_Y, FIRST>(q, p, b);
    else
        differences<RANK, FLOE_LORENZO_NONE, FIRST>(q, p, b);
}

/* ---- choice of the mode -------------------------------------------------------------------------------------------- */

/* The first step: what is before its first plane is 0, so there both candidates are the same. Where that plane alone costs
 * `least` the others are not looked at: then that is the result. */
template <int RANK, int MODE, bool WHOLE>
FLOE_DEV uint32_t mode_cost(const floe_real q[GROUP], border b, uint32_t valid, uint32_t least, bool &inexact)
{
    enum { PLANE = shape<RANK>::PLANE };
    floe_real first = 0, deep = 0, flat = 0;
    floe_real p[GROUP];
    differences<RANK, MODE, 0, 1>(q, p, b);
#pragma unroll
    for (int k = 0; k < PLANE; k++) {
        p[k] = WHOLE || (valid >> k & 1) ? p[k] : (floe_real)0;
        first += number::weight(number::lifted(p[k]));
    }
    inexact |= number::inexact_sum(first);
    if (least < UINT32_MAX && __reduce_add_sync(FLOE_ALL_LANES, number::eighths(first)) >= least)
        return least;
    differences<RANK, MODE, 1>(q, p, b);
#pragma unroll
    for (int k = PLANE; k < GROUP; k++) {
        p[k] = WHOLE || (valid >> k & 1) ? p[k] : (floe_real)0;
        const floe_real v = number::lifted(p[k]);
        floe_real before = k % PLANE == 0 && floe_lane() == 0 ? (floe_real)0 : p[k - PLANE];
        if (!WHOLE)
            before = valid >> k & 1 ? before : (floe_real)0;
        flat += number::weight(v);
        deep += number::weight(v - before);
    }
    inexact |= number::inexact_sum(first + max(deep, flat));
    return __reduce_add_sync(FLOE_ALL_LANES, number::eighths(first + min(deep, flat)));
}

template <int RANK, bool WHOLE>
FLOE_DEV uint32_t choose_mode(const floe_real q[GROUP], const border &b, uint32_t valid, bool &inexact)
{
    uint32_t best = FLOE_LORENZO_X, least = UINT32_MAX, cost;
    if (RANK == 3) {
        least = mode_cost<RANK, FLOE_LORENZO_XY, WHOLE>(q, b, valid, least, inexact);
        best = FLOE_LORENZO_XY;
    }
    cost = mode_cost<RANK, FLOE_LORENZO_X, WHOLE>(q, b, valid, least, inexact);
    if (cost < least)
        least = cost, best = FLOE_LORENZO_X;
    if constexpr (RANK == 3) {
        cost = mode_cost<RANK, FLOE_LORENZO_Y, WHOLE>(q, b, valid, least, inexact);
        if (cost < least)
            least = cost, best = FLOE_LORENZO_Y;
    }
    cost = mode_cost<RANK, FLOE_LORENZO_NONE, WHOLE>(q, b, valid, least, inexact);
    return cost < least ? (uint32_t)FLOE_LORENZO_NONE : best;
}

/* ---- a step -------------------------------------------------------------------------------------------------------- */

/* The candidate of each value that takes fewer bits. */
struct chosen {
    number::residual u[GROUP];
    uint32_t width;
    bool flat, inexact;
};

/* What value k would be taken from. before: p of the plane before the step. */
template <int RANK> FLOE_DEV floe_real value_before(const floe_real p[GROUP], const floe_real *before, int k)
{
    enum { PLANE = shape<RANK>::PLANE };
    floe_real was = k < PLANE ? before[k % PLANE] : p[(k + GROUP - PLANE) % GROUP];
    return k % PLANE == 0 && floe_lane() == 0 ? (floe_real)0 : was;
}

/* The other candidate of value k, lifted, from f, which is p[k] lifted. */
template <int RANK, bool WHOLE>
FLOE_DEV floe_real deep_value(floe_real f, const floe_real p[GROUP], const floe_real *before, int k, uint32_t valid)
{
    const floe_real d = f - value_before<RANK>(p, before, k);
    return WHOLE || (valid >> k & 1) ? d : number::lifted(0);
}

/* BY_SUM: as floe_lorenzo_begin has it. */
template <int RANK, bool WHOLE, bool BY_SUM>
FLOE_DEV chosen choose_values(const floe_real p[GROUP], const floe_real *before, uint32_t valid)
{
    typedef number::residual residual;
    /* Both candidates of all values fit a lane's registers for 32 bits; else the chosen one is made again. */
    const bool keep = sizeof(floe_real) == 4;
    residual other[GROUP], deep_bits = 0, flat_bits = 0;
    floe_real deep_sum[2] = {0, 0}, flat_sum[2] = {0, 0};
    chosen c;
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        const floe_real f = number::lifted(p[k]), d = deep_value<RANK, WHOLE>(f, p, before, k, valid);
        const residual deep = number::zigzag(d), flat = number::zigzag(f);
        deep_bits |= deep;
        flat_bits |= flat;
        if (BY_SUM) {
            deep_sum[k & 1] += number::weight(d);
            flat_sum[k & 1] += number::weight(f);
        }
        if (keep) {
            c.u[k] = deep;
            other[k] = flat;
        }
    }
    const uint32_t deep_width = number::width(deep_bits), flat_width = number::width(flat_bits);
    c.inexact = max(deep_width, flat_width) > number::WIDEST;
    c.flat = flat_width < deep_width ||
             (BY_SUM && flat_width == deep_width && flat_sum[0] + flat_sum[1] < deep_sum[0] + deep_sum[1]);
    c.width = c.flat ? flat_width : deep_width;
    const floe_real deep = c.flat ? (floe_real)0 : (floe_real)1;
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        if (keep) {
            c.u[k] = c.flat ? other[k] : c.u[k];
            continue;
        }
        const floe_real v = less(number::lifted(p[k]), value_before<RANK>(p, before, k), deep);
        c.u[k] = number::zigzag(WHOLE || (valid >> k & 1) ? v : number::lifted(0));
    }
    return c;
}

/* What goes from one step of a tile to the next. */
template <int RANK> struct step_walk {
    floe_real before[shape<RANK>::PLANE]; /* p of the plane before */
    border b;
    uint32_t at;          /* word that comes next */
    uint32_t descriptors; /* of this step and, where it is odd, the one before */
    uint32_t any;         /* bits, some of them set where a residual is not 0 */
    bool inexact;         /* numbers were too narrow */
};

template <int RANK> FLOE_DEV void walk_begin(step_walk<RANK> &w, uint32_t at)
{
#pragma unroll
    for (int k = 0; k < shape<RANK>::PLANE; k++)
        w.before[k] = 0;
    border_begin(w.b, (floe_real)0);
    w.at = at;
    w.descriptors = w.any = 0;
    w.inexact = false;
}

/* The whole numbers of step s, whose values are in buffer, or on their way there. FAR: as quantize2 has it. */
template <int RANK, bool WHOLE, bool FAR = true>
FLOE_DEV void quantize_step(const plain_work &work, uint32_t s, uint32_t valid, const uint32_t *buffer,
                            floe_real q[GROUP], checks &c)
{
    const linear l = reload_linear(work.quantizer);
    floe_real x[GROUP];
    take_next<RANK, WHOLE>(work.tile, s, buffer, x);
#pragma unroll
    for (int k = 0; k < GROUP; k += 2)
        quantize2<FAR>(x + k, l, q + k, c);
    if (l.has_fill) {
        const floe_uint fill = reload(work.quantizer.fill);
        bool filled = false;
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            filled |= FLOE_R(floe_real_bits)(x[k]) == fill && (WHOLE || (valid >> k & 1));
        c.far |= filled ? 0x80000000u : 0;
    }
}

template <int RANK, bool WHOLE> FLOE_DEV uint32_t step_valid(const plain_work &work, uint32_t s)
{
    return WHOLE ? FLOE_ALL_LANES : plain_valid<RANK>(work.tile, s);
}

template <bool WHOLE> FLOE_DEV uint32_t steps_of(const plain_work &work)
{
    return WHOLE ? (uint32_t)FLOE_TILE_STEPS : reload(work.tile.nsteps);
}

/* A step of a tile: its cells in this lane's group, and the tile's mode. */
struct step_in {
    uint32_t s, valid, mode;
};

/* From the numbers of a step to its words; false where there may be an exception, or numbers are too narrow. */
template <int RANK, bool WHOLE, bool BY_SUM, class Draft>
FLOE_DEV bool code_step(const plain_work &work, const sink &out, step_in in, const floe_real q[GROUP],
                        step_walk<RANK> &w, const checks &c, bool &unfit)
{
    enum { PLANE = shape<RANK>::PLANE };
    floe_real p[GROUP];
    differences_of<RANK, 0>(in.mode, q, p, w.b);
    if (!WHOLE)
        mask_out(p, in.valid);
    const chosen v = choose_values<RANK, WHOLE, BY_SUM>(p, w.before, in.valid);
#pragma unroll
    for (int k = 0; k < PLANE; k++)
        w.before[k] = p[GROUP - PLANE + k];
    w.inexact |= v.inexact;
    const bool bad = check_bad(c, reload(work.quantizer.tolerance));
    if (__any_sync(FLOE_ALL_LANES, bad || w.inexact)) {
        unfit = __any_sync(FLOE_ALL_LANES, bad);
        return false;
    }
    w.any |= v.width | (uint32_t)v.flat;
    if constexpr (Draft::DRAFTS) {
        Draft::template step<number::KEPT_BITS>(out, in.s, w.at, v.u, v.width, v.flat);
        return true;
    }
    const uint32_t descriptor =
        put_step<number::KEPT_BITS, WHOLE>(out, w.at, v.u, v.width, v.flat, WHOLE || in.valid != 0);
    w.descriptors |= descriptor << (in.s % 2 * 16);
    return true;
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

struct plain_result {
    uint32_t nbody; /* words of the body, whether written or not */
    uint32_t mode;
    uint64_t base;
    bool coded;    /* some residual is not 0 */
    bool unfit;    /* a value of this step may be an exception: the walk has ended before it */
    bool inexact;  /* so it has because numbers are too narrow */
    uint32_t done; /* steps before that */
};

/* What a call that is not inlined returns, see FLOE_DEV_COLD. */
struct checked_result {
    plain_result r;
    checks c;
};

/* The base of a tile and its mode, from the first step. */
template <int RANK, bool WHOLE>
FLOE_DEV void begin_tile(const floe_real q[GROUP], uint32_t valid, const sink &out, uint32_t lead, border &b,
                         bool &inexact, plain_result &r)
{
    border_begin(b, __shfl_sync(FLOE_ALL_LANES, q[0], 0));
    r.mode = choose_mode<RANK, WHOLE>(q, b, valid, inexact);
    r.base = number::base(b.base);
    if (floe_lane() == 0)
        put_value(out, lead, r.base);
}

/* Words of the descriptors begin there. */
FLOE_DEV uint32_t descriptors_at(uint32_t lead) { return lead + BASE_WORDS; }

/* The descriptors of a step and the one before, when they are complete. */
FLOE_DEV void put_descriptors(const sink &out, uint32_t lead, uint32_t s, uint32_t nsteps, uint32_t &descriptors)
{
    if (s % 2 == 0 && s + 1 < nsteps)
        return;
    if (floe_lane() == 0)
        put(out, descriptors_at(lead) + s / 2, descriptors);
    descriptors = 0;
}

/* There may be an exception among the values seen so far; the whole warp. */
FLOE_DEV bool is_unfit(const plain_work &work, const checks &c)
{
    return __any_sync(FLOE_ALL_LANES, check_bad(c, reload(work.quantizer.tolerance)));
}

/* Steps r.done and later ones. They come through buffer, where the caller has the first of them already on its way. */
template <int RANK, bool WHOLE, bool BY_SUM, class Draft>
FLOE_DEV void encode_steps(const plain_work &work, const sink &out, uint32_t lead, uint32_t *buffer, step_walk<RANK> &w,
                           checks &c, plain_result &r)
{
    const uint32_t nsteps = steps_of<WHOLE>(work), first = r.done;
    r.done = nsteps;
#pragma unroll 1
    for (uint32_t s = first; s < nsteps; s++) {
        floe_real q[GROUP];
        const uint32_t valid = step_valid<RANK, WHOLE>(work, s);
        quantize_step<RANK, WHOLE>(work, s, valid, buffer, q, c);
        if (s == 0 && is_unfit(work, c)) { /* before more is made of it */
            r.unfit = true;
            r.done = 0;
            break;
        }
        if (s + 1 < nsteps) { /* the values are out of the buffer */
            __syncwarp();
            fetch_next<RANK, WHOLE, !BY_SUM>(work.tile, s + 1, buffer); /* drafts are made of fields of any size */
        }
        if (s == 0)
            begin_tile<RANK, WHOLE>(q, valid, out, lead, w.b, w.inexact, r);
        if (!code_step<RANK, WHOLE, BY_SUM, Draft>(work, out, {s, valid, r.mode}, q, w, c, r.unfit)) {
            r.inexact = !r.unfit;
            r.done = s;
            break;
        }
        if (!Draft::DRAFTS)
            put_descriptors(out, lead, s, nsteps, w.descriptors);
    }
    r.coded = __any_sync(FLOE_ALL_LANES, w.any != 0);
    r.nbody = w.at - descriptors_at(lead);
}

/* Base and body from word `lead` on; the body of a draft holds symbols instead. The first step is on its way to buffer. */
template <int RANK, bool WHOLE, bool BY_SUM, class Draft>
FLOE_DEV plain_result encode_plain(const plain_work &work, const sink &out, uint32_t lead, uint32_t *buffer, checks &c)
{
    const uint32_t nsteps = steps_of<WHOLE>(work);
    plain_result r = {0, 0, 0, false, false, false, 0};
    step_walk<RANK> w;
    walk_begin(w, descriptors_at(lead) + (Draft::DRAFTS ? (uint32_t)FLOE_SYMBOLS_HEAD_WORDS : (nsteps + 1) / 2));
    check_begin(c);
    encode_steps<RANK, WHOLE, BY_SUM, Draft>(work, out, lead, buffer, w, c, r);
    return r;
}

/* A tile that the plain path has done. */
FLOE_DEV floe_tile_result end_plain(const plain_result &r, uint32_t ncells, bool draft, const sink &out)
{
    const uint32_t raw = ncells * BASE_WORDS, flags = r.mode << FLOE_TILE_MODE_SHIFT;
    if (!r.coded) {
        if (floe_tile_is_raw(raw, BASE_WORDS, false))
            return floe_tile_raw(raw);
        if (draft && floe_lane() == 0)
            put_value(out, 0, r.base);
        return floe_tile_constant(BASE_WORDS, flags);
    }
    if (floe_tile_is_raw(raw, BASE_WORDS + r.nbody, draft))
        return floe_tile_raw(raw);
    if (draft && floe_lane() == 0)
        put(out, 0, BASE_WORDS);
    return floe_tile_coded(BASE_WORDS + r.nbody, draft, flags);
}

} // namespace FLOE_LORENZO_ENCODING

#endif
