/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding any tile, the general path: every quantizer, exceptions, signs, any strides. The walk of lorenzo_encode_cpu.c by a
 * warp: a step is quantized row by row into an array [z][y][x] of shared memory, in which gaps are closed; then a lane
 * codes a group of it. Masks and the body wait in device memory until the size of all before them is known.
 */
#ifndef FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_GENERAL_CUH
#define FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_GENERAL_CUH

#include "codec/lorenzo/gpu/encode/lorenzo_encode_tile.cuh"

namespace FLOE_LORENZO_ENCODING
{

/* ---- a step, by rows ----------------------------------------------------------------------------------------------- */

/* A step's array is 32 segments of 32 cells that follow one another along x; lane j keeps the masks of segment j, bit x.
 * A row is one segment in rank 3, 4 in rank 2 and all in rank 1. */
struct step_masks {
    uint32_t valid, bad, low, high, negative; /* low, high: the kind of exception */
};

/* Largest errors, and what the tile has of exceptions. */
struct tallies {
    double error, pw_error;
    uint32_t count, nlow, nhigh, nliterals;
};

struct quantized {
    floe_int q;
    bool ok, negative;
};

FLOE_DEV floe_int table_place(const floe_quantizer *z, floe_int q)
{
    const uint64_t key = (uint64_t)(int64_t)q;
    const uint32_t mask = z->slots_mask;
    uint32_t slot = floe_table_slot_of(key) & mask;
    while (z->slots[slot].key != key || z->slots[slot].place == 0)
        slot = (slot + 1) & mask;
    return (floe_int)(z->slots[slot].place - 1);
}

FLOE_DEV quantized quantize(const floe_quantizer *z, floe_real x, tallies &t)
{
    quantized r = {0, false, false};
    const floe_uint bits = FLOE_R(floe_real_bits)(x), fill = (floe_uint)z->fill;
    if (z->kind == FLOE_QUANTIZER_LINEAR) {
        FLOE_R(floe_linear)
        v = FLOE_R(floe_linear_encode)(x, (floe_real)z->inverse, (floe_real)z->step, (floe_real)z->tolerance, fill);
        r.q = v.q;
        r.ok = v.ok;
        if (v.ok && (double)v.error > t.error)
            t.error = (double)v.error;
    } else if (z->kind == FLOE_QUANTIZER_LOG) {
        FLOE_R(floe_log) v = FLOE_R(floe_log_encode)(x, z->step, z->tolerance, fill);
        r.q = v.q;
        r.ok = v.ok;
        r.negative = v.ok && (bits & FLOE_REAL_SIGN) != 0;
        const double error = v.error * (double)FLOE_R(floe_real_abs)(x);
        if (v.ok && v.error > t.pw_error)
            t.pw_error = v.error;
        if (v.ok && error > t.error)
            t.error = error;
    } else {
        r.q = FLOE_R(floe_bits_order)(bits);
        r.ok = (bits & FLOE_REAL_EXPONENT) != FLOE_REAL_EXPONENT && bits != fill;
        if (r.ok && z->kind == FLOE_QUANTIZER_TABLE)
            r.q = table_place(z, r.q);
    }
    return r;
}

/* 1 + the place in the palette, or 0. */
FLOE_DEV uint32_t kind_of(const floe_quantizer *z, floe_uint bits)
{
    for (uint32_t i = 0; i < FLOE_PALETTE_SIZE; i++)
        if (bits == (floe_uint)z->palette[i])
            return i + 1;
    return 0;
}

/* The cell of segment j that this lane has: where it is in the field, and whether it is inside. */
template <int RANK>
FLOE_DEV bool cell_of(const source &f, const floe_step_box &box, uint32_t s, uint32_t j, const floe_real *&at)
{
    const floe_tile_geometry g = floe_tile_geometry_of(RANK);
    const uint32_t i = j * FLOE_WARP + floe_lane(), x = i % g.step_x, row = i / g.step_x;
    const uint32_t y = row % g.step_y, z = row / g.step_y;
    at = f.origin + (RANK == 1 ? (int64_t)(s * g.step_x + x) * f.x
                               : (int64_t)x * f.x + (int64_t)y * f.y + (int64_t)(s * g.step_z + z) * f.z);
    return z < box.nz && y < box.ny && x < box.nx;
}

/* Quantizes a step into q; exceptions' places keep what came out. */
template <int RANK>
FLOE_DEV step_masks quantize_step(const source &f, const floe_step_box &box, uint32_t s, floe_int *q, tallies &t)
{
    enum { AHEAD = 4 }; /* loads under way */
    const floe_quantizer *quantizer = &f.chunk->quantizer;
    step_masks m = {0, 0, 0, 0, 0};
    for (uint32_t j0 = 0; j0 < FLOE_WARP; j0 += AHEAD) {
        floe_real x[AHEAD];
        bool in[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const floe_real *at;
            in[i] = cell_of<RANK>(f, box, s, j0 + i, at);
            x[i] = in[i] ? *at : (floe_real)0;
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            quantized v = {0, true, false};
            uint32_t kind = 0;
            if (in[i])
                v = quantize(quantizer, x[i], t);
            if (!v.ok)
                kind = kind_of(quantizer, FLOE_R(floe_real_bits)(x[i]));
            q[(j0 + i) * FLOE_WARP + floe_lane()] = v.q;
            const uint32_t valid = __ballot_sync(FLOE_ALL_LANES, in[i]), bad = __ballot_sync(FLOE_ALL_LANES, !v.ok);
            const uint32_t negative = __ballot_sync(FLOE_ALL_LANES, v.negative);
            const uint32_t low = __ballot_sync(FLOE_ALL_LANES, kind & 1),
                           high = __ballot_sync(FLOE_ALL_LANES, kind >> 1);
            if (floe_lane() == j0 + i) {
                m.valid = valid;
                m.bad = bad;
                m.low = low;
                m.high = high;
                m.negative = negative;
            }
        }
    }
    __syncwarp();
    return m;
}

/* ---- gaps ---------------------------------------------------------------------------------------------------------- */

/* The first row of the plane before a step, a segment each; rank 1: its last value in [0]. */
template <int RANK> struct row_before {
    enum { SEGMENTS = RANK == 1 ? 1 : RANK == 2 ? 4 : 1 };
    floe_int q[SEGMENTS];
};

/* A row without any value: like the row above it. */
template <int RANK> FLOE_DEV void copy_row_above(floe_int *q, uint32_t row, const row_before<RANK> &before)
{
    const floe_tile_geometry g = floe_tile_geometry_of(RANK);
    const uint32_t y = row % g.step_y, z = row / g.step_y, from = y > 0 ? row - 1 : (z - 1) * g.step_y;
    if constexpr (RANK == 1) {
        for (uint32_t i = floe_lane(); i < g.step_x; i += FLOE_WARP)
            q[i] = before.q[0];
    } else {
#pragma unroll
        for (int i = 0; i < row_before<RANK>::SEGMENTS; i++) {
            const uint32_t x = i * FLOE_WARP + floe_lane();
            q[row * g.step_x + x] = row > 0 ? q[from * g.step_x + x] : before.q[i];
        }
    }
}

/* An exception is like the value before it in its row; before the first value, like that. good: of this lane's segment. */
template <int RANK> FLOE_DEV void close_row(floe_int *q, uint32_t row, uint32_t bad, uint32_t good, uint32_t some)
{
    const uint32_t segments = floe_tile_geometry_of(RANK).step_x / FLOE_WARP, first = __ffs((int)some) - 1;
    const uint32_t first_good = __shfl_sync(FLOE_ALL_LANES, good, (int)first);
    floe_int last = q[first * FLOE_WARP + __ffs((int)first_good) - 1];
    for (uint32_t j = row * segments; j < (row + 1) * segments; j++) {
        const uint32_t bads = __shfl_sync(FLOE_ALL_LANES, bad, (int)j),
                       goods = __shfl_sync(FLOE_ALL_LANES, good, (int)j);
        floe_int *at = q + j * FLOE_WARP + floe_lane(), value = *at;
        const uint32_t before = goods & floe_lanes_below();
        const floe_int left = __shfl_sync(FLOE_ALL_LANES, value, before ? (int)floe_top_bit(before) : 0);
        if (bads >> floe_lane() & 1)
            value = *at = before ? left : last;
        if (goods)
            last = __shfl_sync(FLOE_ALL_LANES, value, (int)floe_top_bit(goods));
    }
}

template <int RANK> FLOE_DEV void close_gaps(floe_int *q, const step_masks &m, const row_before<RANK> &before)
{
    const uint32_t segments = floe_tile_geometry_of(RANK).step_x / FLOE_WARP;
    const uint32_t row_bits = segments == FLOE_WARP ? FLOE_ALL_LANES : (1u << segments) - 1;
    const uint32_t good = m.valid & ~m.bad;
    const uint32_t any_bad = __ballot_sync(FLOE_ALL_LANES, m.bad != 0),
                   any_good = __ballot_sync(FLOE_ALL_LANES, good != 0);
    for (uint32_t row = 0; row < FLOE_WARP / segments; row++) {
        const uint32_t mine = row_bits << row * segments;
        if (!(any_bad & mine))
            continue;
        __syncwarp();
        if (any_good & mine)
            close_row<RANK>(q, row, m.bad, good, any_good & mine);
        else
            copy_row_above<RANK>(q, row, before);
    }
    __syncwarp();
}

template <int RANK> FLOE_DEV void keep_row_before(const floe_int *q, const floe_step_box &box, row_before<RANK> &before)
{
    const floe_tile_geometry g = floe_tile_geometry_of(RANK);
#pragma unroll
    for (int i = 0; i < row_before<RANK>::SEGMENTS; i++)
        before.q[i] = RANK == 1 ? q[box.nx - 1] : q[(box.nz - 1) * g.step_y * g.step_x + i * FLOE_WARP + floe_lane()];
}

/* A mask by segments -> this lane's group. */
template <int RANK> FLOE_DEV uint32_t group_mask(uint32_t segment_mask)
{
    if (RANK == 1)
        return segment_mask;
    const uint32_t gx = floe_lane() % 8, gy = floe_lane() / 8;
    uint32_t bits = 0;
#pragma unroll
    for (int r = 0; r < 8; r++) { /* a nibble each */
        const uint32_t j = RANK == 2 ? 4 * r + gy : r / 4 * 16 + gy * 4 + r % 4;
        bits |= (__shfl_sync(FLOE_ALL_LANES, segment_mask, (int)j) >> 4 * gx & 15) << 4 * r;
    }
    return bits;
}

/* ---- a step, by groups --------------------------------------------------------------------------------------------- */

template <int RANK> struct walk {
    enum { PLANES_Z = RANK == 1 ? 1 : RANK == 2 ? 8 : 2, PLANE = GROUP / PLANES_Z };
    floe_uint before[PLANE]; /* p of this lane's columns in the plane before */
    floe_uint base, corner;
};

/* What predicts the first value of each plane. */
template <int RANK> FLOE_DEV floe_uint corner_of(const floe_int *q, uint32_t z, floe_uint corner)
{
    const floe_tile_geometry g = floe_tile_geometry_of(RANK);
    return z == 0 ? corner : (floe_uint)q[(z - 1) * g.step_y * g.step_x];
}

/* p of value k of this lane's group. */
template <int RANK>
FLOE_DEV floe_uint difference(const floe_int *q, uint32_t k, uint32_t mode, floe_uint base, floe_uint corner)
{
    const floe_tile_geometry g = floe_tile_geometry_of(RANK);
    const uint32_t at = floe_group_place(&g, floe_lane(), k), x = at % g.step_x, y = at / g.step_x % g.step_y;
    const floe_uint here = (floe_uint)q[at];
    if (x == 0 && y == 0)
        return here - corner_of<RANK>(q, at / (g.step_x * g.step_y), corner);
    if (mode == FLOE_LORENZO_NONE)
        return here - base;
    if (y == 0 || (mode == FLOE_LORENZO_X && x > 0))
        return here - (floe_uint)q[at - 1];
    const floe_uint above = (floe_uint)q[at - g.step_x];
    if (x == 0 || mode == FLOE_LORENZO_Y)
        return here - above;
    return (here - (floe_uint)q[at - 1]) - (above - (floe_uint)q[at - g.step_x - 1]);
}

/* Both candidates of a group: the or of their residuals and the sums, capped. p and `was`, what it would be taken from. */
struct candidates {
    floe_uint deep_bits, flat_bits, deep_sum, flat_sum;
};

template <int RANK>
FLOE_DEV candidates candidates_of(const floe_int *q, uint32_t valid, uint32_t mode, const walk<RANK> &w,
                                  floe_uint p[GROUP])
{
    enum { PLANE = walk<RANK>::PLANE };
    candidates c = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        p[k] = valid >> k & 1 ? difference<RANK>(q, k, mode, w.base, w.corner) : (floe_uint)0;
        floe_uint was = k < PLANE ? w.before[k % PLANE] : p[(k + GROUP - PLANE) % GROUP];
        if (k % PLANE == 0 && floe_lane() == 0)
            was = 0; /* the first value of a plane is predicted along z already */
        const floe_uint deep = FLOE_R(floe_zigzag)(valid >> k & 1 ? (floe_uint)(p[k] - was) : (floe_uint)0);
        const floe_uint flat = FLOE_R(floe_zigzag)(p[k]);
        c.deep_bits |= deep;
        c.flat_bits |= flat;
        c.deep_sum += deep < FLOE_LORENZO_CAP ? deep : FLOE_LORENZO_CAP;
        c.flat_sum += flat < FLOE_LORENZO_CAP ? flat : FLOE_LORENZO_CAP;
    }
    return c;
}

template <int RANK> FLOE_DEV uint32_t choose_mode_general(const floe_int *q, uint32_t valid, const walk<RANK> &w)
{
    uint32_t best = RANK == 3 ? FLOE_LORENZO_XY : FLOE_LORENZO_X, least = 0xFFFFFFFFu;
#pragma unroll 1
    for (uint32_t mode = best; mode < FLOE_LORENZO_MODES; mode += RANK == 3 ? 1 : 2) {
        floe_uint p[GROUP];
        const candidates c = candidates_of<RANK>(q, valid, mode, w, p);
        const uint64_t sum = c.deep_sum < c.flat_sum ? c.deep_sum : c.flat_sum;
        const uint32_t cost = __reduce_add_sync(FLOE_ALL_LANES, floe_log2_eighths(sum + FLOE_GROUP_VALUES));
        if (cost < least) {
            least = cost;
            best = mode;
        }
    }
    return best;
}

/* Predicts and packs a step behind word `at` of the body. Returns the descriptor; any: some residual is not 0. by_sum: as
 * floe_lorenzo_begin has it. */
template <int RANK>
FLOE_DEV uint32_t code_step(const floe_int *q, uint32_t s, uint32_t valid, uint32_t mode, bool by_sum, walk<RANK> &w,
                            const sink &body, uint32_t &at, uint32_t &any)
{
    enum { PLANE = walk<RANK>::PLANE };
    floe_uint p[GROUP];
    const candidates c = candidates_of<RANK>(q, valid, mode, w, p);
    const uint32_t deep = floe_bit_length(c.deep_bits), flat = floe_bit_length(c.flat_bits);
    const bool choice = flat < deep || (by_sum && flat == deep && c.flat_sum < c.deep_sum);
    const uint32_t width = choice ? flat : deep;
    floe_uint last[PLANE];
#pragma unroll
    for (int k = 0; k < PLANE; k++)
        last[k] = p[GROUP - PLANE + k];
#pragma unroll
    for (int k = GROUP; k-- > 0;) {
        floe_uint was = k < PLANE ? w.before[k % PLANE] : p[(k + GROUP - PLANE) % GROUP];
        if (k % PLANE == 0 && floe_lane() == 0)
            was = 0;
        p[k] = FLOE_R(floe_zigzag)(choice ? p[k] : valid >> k & 1 ? (floe_uint)(p[k] - was) : (floe_uint)0);
    }
#pragma unroll
    for (int k = 0; k < PLANE; k++)
        w.before[k] = last[k];
    any |= width | (uint32_t)choice;
    return put_step_general(body, at, p, width, choice, valid != 0);
}

/* ---- what stands before the body ----------------------------------------------------------------------------------- */

/* Masks of a tile, [step][group] each, in device memory; a lane reads and writes only its own group. */
struct tile_masks {
    uint32_t *place, *low, *high, *signs;
};

FLOE_DEV uint32_t valid_of(const source &f, uint32_t s)
{
    const floe_step_box box = floe_tile_step(&f.chunk->view, &f.box, s);
    const floe_tile_geometry g = floe_tile_geometry_of(f.chunk->view.rank);
    return box.full ? FLOE_ALL_LANES : floe_group_valid(&g, &box, floe_lane());
}

/* As floe_mask_encode. parent NULL: the cells inside the field; not_in (or NULL): less these. */
FLOE_DEV uint32_t put_mask(const sink &out, uint32_t at, const source &f, const uint32_t *mask, const uint32_t *parent,
                           const uint32_t *not_in)
{
    const uint32_t nsteps = f.box.nsteps;
    uint32_t n = at + 2 * nsteps;
    for (uint32_t s = 0; s < nsteps; s++) {
        const uint32_t i = s * FLOE_WARP + floe_lane(), bits = mask[i];
        uint32_t whole = parent ? parent[i] : valid_of(f, s);
        if (not_in)
            whole &= ~not_in[i];
        const uint32_t any = __ballot_sync(FLOE_ALL_LANES, bits != 0);
        const uint32_t all = __ballot_sync(FLOE_ALL_LANES, bits != 0 && bits == whole), some = any & ~all;
        if (some >> floe_lane() & 1)
            put(out, n + __popc(some & floe_lanes_below()), bits);
        n += __popc(some);
        if (floe_lane() == 0) {
            put(out, at + 2 * s, any);
            put(out, at + 2 * s + 1, all);
        }
    }
    return n;
}

/* The literals, in the order of their places; read from the field again. */
FLOE_DEV uint32_t put_literals(const sink &out, uint32_t at, const source &f, const tile_masks &m)
{
    const floe_tile_geometry g = floe_tile_geometry_of(f.chunk->view.rank);
    for (uint32_t s = 0; s < f.box.nsteps; s++) {
        const uint32_t i = s * FLOE_WARP + floe_lane(), literal = m.place[i] & ~(m.low[i] | m.high[i]);
        const uint32_t n = __popc(literal), before = floe_warp_sum_before(n); /* literals */
        uint32_t to = at + before * BASE_WORDS;
        for (uint32_t rest = literal; rest; rest &= rest - 1, to += BASE_WORDS) {
            const uint32_t c = floe_group_place(&g, floe_lane(), __ffs((int)rest) - 1);
            const uint32_t x = c % g.step_x, y = c / g.step_x % g.step_y, z = c / (g.step_x * g.step_y);
            const int64_t offset = f.chunk->view.rank == 1
                                       ? (int64_t)(s * g.step_x + x) * f.x
                                       : (int64_t)x * f.x + (int64_t)y * f.y + (int64_t)(s * g.step_z + z) * f.z;
            put_value(out, to, FLOE_R(floe_real_bits)(f.origin[offset]));
        }
        at += __reduce_add_sync(FLOE_ALL_LANES, n) * BASE_WORDS;
    }
    return at;
}

/* As floe_exceptions_encode. */
FLOE_DEV uint32_t put_exceptions(const sink &out, uint32_t at, const source &f, const tile_masks &m, const tallies &t)
{
    const bool uniform = (t.nlow == 0 || t.nlow == t.count) && (t.nhigh == 0 || t.nhigh == t.count);
    const uint32_t kind = (uint32_t)(t.nlow != 0) | (uint32_t)(t.nhigh != 0) << 1;
    if (floe_lane() == 0)
        put(out, at, floe_exceptions_head(t.count, uniform, kind));
    at = put_mask(out, at + 1, f, m.place, NULL, NULL);
    if (!uniform) {
        at = put_mask(out, at, f, m.low, m.place, NULL);
        at = put_mask(out, at, f, m.high, m.place, NULL);
    }
    return t.nliterals ? put_literals(out, at, f, m) : at;
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

/* What walking the steps found. */
struct walked {
    uint32_t mode, nbody;
    floe_uint base;
    bool any_sign, any_residual;
};

/* Keeps the exceptions of a step: masks by groups. */
template <int RANK> FLOE_DEV void keep_exceptions(const tile_masks &to, uint32_t s, const step_masks &m, tallies &t)
{
    const uint32_t i = s * FLOE_WARP + floe_lane();
    const uint32_t place = group_mask<RANK>(m.bad), low = group_mask<RANK>(m.low), high = group_mask<RANK>(m.high);
    to.place[i] = place;
    to.low[i] = low;
    to.high[i] = high;
    t.count += __popc(place);
    t.nlow += __popc(low);
    t.nhigh += __popc(high);
    t.nliterals += __popc(place & ~(low | high));
}

template <int RANK>
FLOE_DEV walked walk_tile(const source &f, bool by_sum, floe_int *q, const tile_masks &masks, const sink &body,
                          tallies &t)
{
    const floe_tile_geometry g = floe_tile_geometry_of(RANK);
    const uint32_t nsteps = f.box.nsteps;
    walked r = {0, (nsteps + 1) / 2, 0, false, false};
    walk<RANK> w;
    row_before<RANK> before;
    uint32_t any = 0, any_sign = 0, descriptors = 0;
    w.base = w.corner = 0;
#pragma unroll
    for (int k = 0; k < walk<RANK>::PLANE; k++)
        w.before[k] = 0;
#pragma unroll
    for (int i = 0; i < row_before<RANK>::SEGMENTS; i++)
        before.q[i] = 0;
    t.error = t.pw_error = 0;
    t.count = t.nlow = t.nhigh = t.nliterals = 0;
#pragma unroll 1
    for (uint32_t s = 0; s < nsteps; s++) {
        const floe_step_box box = floe_tile_step(&f.chunk->view, &f.box, s);
        const uint32_t valid = box.full ? FLOE_ALL_LANES : floe_group_valid(&g, &box, floe_lane());
        const step_masks m = quantize_step<RANK>(f, box, s, q, t);
        if (__any_sync(FLOE_ALL_LANES, m.bad != 0))
            close_gaps<RANK>(q, m, before);
        keep_row_before<RANK>(q, box, before);
        keep_exceptions<RANK>(masks, s, m, t);
        const uint32_t signs = group_mask<RANK>(m.negative);
        masks.signs[s * FLOE_WARP + floe_lane()] = signs;
        any_sign |= signs;
        if (s == 0) {
            r.base = w.base = w.corner = (floe_uint)q[0];
            r.mode = choose_mode_general<RANK>(q, valid, w);
        }
        const uint32_t descriptor = code_step<RANK>(q, s, valid, r.mode, by_sum, w, body, r.nbody, any);
        w.corner = (floe_uint)q[RANK == 1 ? FLOE_STEP_VALUES - 1 : (box.nz - 1) * g.step_y * g.step_x];
        descriptors |= descriptor << (s % 2 * 16);
        if (s % 2 || s + 1 == nsteps) {
            if (floe_lane() == 0)
                put(body, s / 2, descriptors);
            descriptors = 0;
        }
        __syncwarp(); /* q is read, and about to be written */
    }
    r.any_sign = __any_sync(FLOE_ALL_LANES, any_sign != 0);
    r.any_residual = __any_sync(FLOE_ALL_LANES, any != 0);
    t.count = __reduce_add_sync(FLOE_ALL_LANES, t.count);
    t.nlow = __reduce_add_sync(FLOE_ALL_LANES, t.nlow);
    t.nhigh = __reduce_add_sync(FLOE_ALL_LANES, t.nhigh);
    t.nliterals = __reduce_add_sync(FLOE_ALL_LANES, t.nliterals);
    return r;
}

/* Of a chunk of rank LEAST to MOST. */
template <int LEAST, int MOST>
FLOE_DEV walked walk_general(const source &f, bool by_sum, floe_int *q, const tile_masks &masks, const sink &body,
                             tallies &t)
{
    if constexpr (LEAST < MOST)
        if (f.chunk->view.rank < MOST)
            return walk_general<LEAST, MOST - 1>(f, by_sum, q, masks, body, t);
    return walk_tile<MOST>(f, by_sum, q, masks, body, t);
}

/* The kind of exception that every cell of the tile is, all of one pattern of the palette; else 0. */
FLOE_DEV uint32_t only_kind(const source &f, const tallies &t)
{
    if (t.count != f.box.ncells || t.nliterals != 0)
        return 0;
    if ((t.nlow != 0 && t.nlow != t.count) || (t.nhigh != 0 && t.nhigh != t.count))
        return 0;
    return (uint32_t)(t.nlow != 0) | (uint32_t)(t.nhigh != 0) << 1;
}

/* Base, exceptions, signs from word `at` on; returns the word behind them. */
FLOE_DEV uint32_t put_prefix(const sink &out, uint32_t at, const source &f, const walked &w, const tile_masks &m,
                             const tallies &t, uint32_t &flags)
{
    if (floe_lane() == 0)
        put_value(out, at, (uint64_t)w.base);
    at += BASE_WORDS;
    flags = w.mode << FLOE_TILE_MODE_SHIFT;
    if (t.count) {
        at = put_exceptions(out, at, f, m, t);
        flags |= FLOE_TILE_EXCEPTIONS;
    }
    if (w.any_sign) {
        at = put_mask(out, at, f, m.signs, NULL, m.place);
        flags |= FLOE_TILE_SIGNS;
    }
    return at;
}

/* Encodes a tile into out as floe_tile_encode does; raw tiles are left to write_raw. q: a step's values of shared memory;
 * scratch: SCRATCH_WORDS, of which those behind the first MASKS_WORDS then hold the body. A draft begins with the words of
 * its prefix. LEAST, MOST: ranks of the chunks; those at the far end of an axis may have fewer than whole ones, never more. The
 * whole warp. */
template <int LEAST, int MOST>
FLOE_DEV_COLD floe_tile_result encode_general(const floe_dev_chunk *chunk, uint32_t tile, bool draft, floe_int *q,
                                              uint32_t *scratch, const sink &out, tallies &t)
{
    const source f = source_of(chunk, tile);
    const tile_masks masks = {scratch, scratch + FLOE_TILE_GROUPS, scratch + 2 * FLOE_TILE_GROUPS,
                              scratch + 3 * FLOE_TILE_GROUPS};
    const sink body = {scratch + MASKS_WORDS, NULL, MOST_PACK_WORDS, 0};
    __syncwarp();
    const walked w = walk_general<LEAST, MOST>(f, draft, q, masks, body, t);
    const uint32_t raw = raw_nwords(f), special = only_kind(f, t);
    if (special)
        return floe_tile_special(special);
    const uint32_t lead = draft && w.any_residual ? 1 : 0;
    uint32_t flags;
    const uint32_t end = put_prefix(out, lead, f, w, masks, t, flags), nprefix = end - lead;
    const floe_tile_result r = floe_tile_result_of(raw, nprefix, w.nbody, w.any_residual, draft, flags);
    if (r.raw || !w.any_residual)
        return r;
    if (lead && floe_lane() == 0)
        put(out, 0, nprefix);
    __syncwarp(); /* the body is read by other lanes */
    for (uint32_t i = floe_lane(); i < w.nbody; i += FLOE_WARP)
        put(out, end + i, body.words[i]);
    return r;
}

} // namespace FLOE_LORENZO_ENCODING

#endif
