/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A step of any axes, by tiles of cells in shared memory: class by class, as interp_cpu.c does. Compiled for each element type.
 */
#include <floe/floe.h>

#include "stage/interp/interp_check.cuh"
#include "stage/interp/interp_march.cuh"
#include "stage/interp/interp_walk.cuh"

namespace
{

enum {
    THREADS = 256,
    ROOM =
        FLOE_REAL_BITS == 32 ? 48 << 10 : 72 << 10, /* shared memory of a block: 4, or 3, on a processor of 227 KiB */
    LONG = 16,                                      /* cells of a row, where there are so many */
    BEFORE = 1,
    BEHIND = 2
};

/* How cells are cut; numbers that fit 32 bits, but for first. */
struct cut {
    uint64_t first[FLOE_INTERP_RANK], end[FLOE_INTERP_RANK];        /* cells that have a wanted point */
    uint32_t size[FLOE_INTERP_RANK], count[FLOE_INTERP_RANK], room; /* room: reals of a class */
    uint32_t place[FLOE_INTERP_RANK];                               /* of each axis in the step, naxes: it stays */
};

struct level {
    floe_interp_dev_job job;
    floe_interp_dev_check check;
    cut tiles;
};

/* The tile of a block: cells lo .. lo + n, of which own_lo .. own_hi, counted from lo, are its own. */
struct tile {
    uint64_t lo[FLOE_INTERP_RANK];
    uint32_t n[FLOE_INTERP_RANK], own_lo[FLOE_INTERP_RANK], own_hi[FLOE_INTERP_RANK], stride[FLOE_INTERP_RANK];
};

/* A box of cells of a tile, for threads to walk. */
struct box {
    uint32_t lo[FLOE_INTERP_RANK], n[FLOE_INTERP_RANK], count;
};

FLOE_DEV bool is_active(const level &l, uint32_t a) { return l.tiles.place[a] < l.job.step.naxes; }

FLOE_DEV tile tile_of(const level &l, uint32_t index)
{
    tile t;
#pragma unroll
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 0;) {
        const uint64_t begin = l.tiles.first[a] + (uint64_t)(index % l.tiles.count[a]) * l.tiles.size[a];
        const uint64_t end = floe_min64(begin + l.tiles.size[a], l.tiles.end[a]);
        const bool active = is_active(l, a);
        index /= l.tiles.count[a];
        t.lo[a] = begin - (active && begin > 0 ? BEFORE : 0);
        t.n[a] = (uint32_t)(floe_min64(end + (active ? BEHIND : 0), l.job.step.coarse[a]) - t.lo[a]);
        t.own_lo[a] = (uint32_t)(begin - t.lo[a]);
        t.own_hi[a] = (uint32_t)(end - t.lo[a]);
    }
    t.stride[3] = 1;
    t.stride[2] = t.n[3];
    t.stride[1] = t.n[3] * t.n[2];
    t.stride[0] = t.n[3] * t.n[2] * t.n[1];
    return t;
}

/* Cells of a class that are computed: own ones; and those around where a later prediction needs them. */
FLOE_DEV box class_box(const level &l, const tile &t, uint32_t c)
{
    const uint32_t top = floe_top_bit(c);
    box b;
    b.count = 1;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        const uint32_t place = l.tiles.place[a];
        const bool active = is_active(l, a), odd = active && c >> place & 1;
        const bool around = active && !odd && (l.job.step.mean || place > top);
        uint32_t hi = around ? t.n[a] : t.own_hi[a];
        b.lo[a] = around ? 0 : t.own_lo[a];
        if (odd)
            hi = (uint32_t)floe_min64(t.lo[a] + hi, floe_max64(l.job.step.fine[a] / 2, t.lo[a])) - (uint32_t)t.lo[a];
        b.n[a] = hi > b.lo[a] ? hi - b.lo[a] : 0;
        b.count *= b.n[a];
    }
    return b;
}

FLOE_DEV void cell_of(const box &b, const walk_of_points &w, uint32_t *cell)
{
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        cell[a] = b.lo[a] + w.at[a];
}

FLOE_DEV uint32_t index_of(const tile &t, const uint32_t *cell)
{
    return cell[0] * t.stride[0] + cell[1] * t.stride[1] + cell[2] * t.stride[2] + cell[3];
}

/* ---- prediction -------------------------------------------------------------------------------------------------------- */

/* Along the step's axis number `place`. A neighbour without weight is read as the point itself. */
FLOE_DEV floe_real predict_along(const level &l, const tile &t, const floe_real *classes, uint32_t c, uint32_t place,
                                 const uint32_t *cell)
{
    const uint32_t axis = l.job.step.axis[place], far = t.stride[axis];
    const floe_real *s = classes + (c ^ 1u << place) * l.tiles.room + index_of(t, cell);
    const FLOE_R(floe_interp_weights) w =
        FLOE_R(floe_interp_weights_at)(l.job.step.predictor, t.lo[axis] + cell[axis], l.job.step.coarse[axis]);
    return FLOE_R(floe_interp_predict)(w, w.before != 0 ? s[-(int32_t)far] : *s, *s, w.after != 0 ? s[far] : *s,
                                       w.beyond != 0 ? s[2 * far] : *s);
}

FLOE_DEV floe_real predict(const level &l, const tile &t, const floe_real *classes, uint32_t c, const uint32_t *cell)
{
    const uint32_t top = floe_top_bit(c);
    floe_real p = predict_along(l, t, classes, c, top, cell);
    if (!l.job.step.mean || c == 1u << top)
        return p;
    uint32_t count = 1;
    for (uint32_t place = 0; place < top; place++)
        if (c >> place & 1) {
            p = p + predict_along(l, t, classes, c, place, cell);
            count++;
        }
    return p * ((floe_real)1 / (floe_real)count);
}

/* ---- points ------------------------------------------------------------------------------------------------------------ */

FLOE_DEV void point_of_cell(const level &l, const tile &t, uint32_t c, const uint32_t *cell, uint64_t *point)
{
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        const uint64_t at = t.lo[a] + cell[a];
        point[a] = is_active(l, a) ? 2 * at + (c >> l.tiles.place[a] & 1) : at;
    }
}

/* Codes of the cell's row begin there. */
FLOE_DEV uint64_t row_code(const level &l, const tile &t, const uint32_t *cell)
{
    const uint64_t *m = l.job.step.coarse;
    const uint64_t line = ((t.lo[0] + cell[0]) * m[1] + t.lo[1] + cell[1]) * m[2] + t.lo[2] + cell[2];
    return line * floe_interp_row_records(&l.job.step) * 8;
}

FLOE_DEV bool is_own(const tile &t, const uint32_t *cell)
{
    bool own = true;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        own = own && cell[a] >= t.own_lo[a] && cell[a] < t.own_hi[a];
    return own;
}

FLOE_DEV uint32_t own_index(const tile &t, const uint32_t *cell)
{
    uint32_t i = 0;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        i = i * (t.own_hi[a] - t.own_lo[a]) + cell[a] - t.own_lo[a];
    return i;
}

FLOE_DEV floe_real encode_point(const level &l, const tile &t, uint32_t c, const uint32_t *cell, floe_real p,
                                int16_t *codes, found_here &found)
{
    const floe_real step = (floe_real)l.job.step.step, inverse = 1 / step;
    uint64_t point[FLOE_INTERP_RANK];
    point_of_cell(l, t, c, cell, point);
    floe_real f = value_at(l.job.original, point);
    f = l.job.last ? take_in(l.check, f) : f;
    const floe_real q = FLOE_R(floe_interp_encode)(f, p, inverse, (floe_real)(l.job.step.width == 1 ? 127 : 32767));
    const floe_real r = FLOE_R(floe_interp_decode)(q, step, p);
    if (is_own(t, cell)) {
        codes[(own_index(t, cell) << l.job.step.naxes) + c - 1] = (int16_t)(int32_t)q;
        check_value(l.check, point, l.job.unit, f, r, found);
    }
    return r;
}

FLOE_DEV floe_real decode_point(const level &l, const tile &t, uint32_t c, const uint32_t *cell, floe_real p)
{
    const uint64_t at = row_code(l, t, cell) + ((t.lo[3] + cell[3]) << l.job.step.naxes) + c - 1;
    const int32_t code =
        l.job.step.width == 1 ? ((const int8_t *)l.job.records)[at] : ((const int16_t *)l.job.records)[at];
    return FLOE_R(floe_interp_decode)((floe_real)code, (floe_real)l.job.step.step, p);
}

/* ---- into memory ------------------------------------------------------------------------------------------------------- */

FLOE_DEV box own_box(const tile &t)
{
    box b;
    b.count = 1;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        b.lo[a] = t.own_lo[a];
        b.n[a] = t.own_hi[a] - t.own_lo[a];
        b.count *= b.n[a];
    }
    return b;
}

/* Points of own cells that are wanted, row by row. */
FLOE_DEV void store_points(const level &l, const tile &t, const floe_real *classes)
{
    box b = own_box(t);
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) { /* points, from that of the first own cell on */
        b.count *= is_active(l, a) ? 2 : 1;
        b.n[a] *= is_active(l, a) ? 2 : 1;
        b.lo[a] = 0;
    }
    walk_of_points w;
    for (w.begin(b.n); w.there(); w.next()) {
        uint32_t at[FLOE_INTERP_RANK], cell[FLOE_INTERP_RANK], c = 0;
        uint64_t point[FLOE_INTERP_RANK];
        bool wanted = true;
        cell_of(b, w, at);
#pragma unroll
        for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
            const bool active = is_active(l, a);
            cell[a] = t.own_lo[a] + (active ? at[a] / 2 : at[a]);
            c |= active ? at[a] % 2 << l.tiles.place[a] : 0;
            point[a] = (t.lo[a] + t.own_lo[a]) * (active ? 2 : 1) + at[a];
            wanted = wanted && point[a] >= l.job.lo[a] && point[a] < l.job.hi[a];
            point[a] -= l.job.lo[a];
        }
        if (!wanted)
            continue;
        const floe_real r = classes[c * l.tiles.room + index_of(t, cell)];
        ((floe_real *)l.job.fine.data)[place_of(l.job.fine, point)] =
            l.job.last && l.job.log ? FLOE_R(floe_interp_exp)(r) : r;
    }
}

/* Codes of own cells, two bytes at a time; and zeros behind the last cell of a row. */
FLOE_DEV void store_codes(const level &l, const tile &t, const int16_t *codes)
{
    const box b = own_box(t);
    const uint32_t naxes = l.job.step.naxes, width = l.job.step.width, units = (width << naxes) / 2;
    const uint64_t row_units = floe_interp_row_records(&l.job.step) * 4 * width;
    const uint32_t extent[] = {b.n[0], b.n[1], b.n[2], b.n[3] * units};
    uint32_t i = threadIdx.x;
    walk_of_points w;
    for (w.begin(extent); w.there(); w.next(), i += THREADS) {
        const uint32_t unit = w.at[3] % units,
                       cell[] = {b.lo[0] + w.at[0], b.lo[1] + w.at[1], b.lo[2] + w.at[2], b.lo[3] + w.at[3] / units};
        const int16_t *from = codes + i / units * (1u << naxes) + unit * (2 / width);
        uint16_t *row = (uint16_t *)l.job.records + row_code(l, t, cell) / 2 * width;
        const uint64_t at = (t.lo[3] + cell[3]) * units + unit;
        row[at] = width == 2 ? (uint16_t)from[0] : (uint16_t)((uint8_t)from[0] | (uint8_t)from[1] << 8);
        if (t.lo[3] + cell[3] + 1 == l.job.step.coarse[3])
            for (uint64_t k = at + units; k < row_units; k += units)
                row[k] = 0;
    }
    const uint64_t all = floe_interp_nrecords(&l.job.step) * 4 * width, end = l.job.nrecords * 4 * width;
    for (uint64_t k = all + threadIdx.x; blockIdx.x == 0 && k < end; k += THREADS)
        ((uint16_t *)l.job.records)[k] = 0;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------------- */

FLOE_DEV void load_coarse(const level &l, const tile &t, floe_real *classes)
{
    const uint64_t *m = l.job.step.coarse;
    box b;
    b.count = 1;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        b.lo[a] = 0;
        b.n[a] = t.n[a];
        b.count *= t.n[a];
    }
    uint32_t i = threadIdx.x;
    walk_of_points w;
    for (w.begin(b.n); w.there(); w.next(), i += THREADS) {
        uint32_t cell[FLOE_INTERP_RANK];
        cell_of(b, w, cell);
        classes[i] =
            ((const floe_real *)
                 l.job.coarse)[(((t.lo[0] + cell[0]) * m[1] + t.lo[1] + cell[1]) * m[2] + t.lo[2] + cell[2]) * m[3] +
                               t.lo[3] + cell[3]];
    }
    __syncthreads();
}

/* Classes of one odd coordinate, of two, of three: each from those before. */
template <bool ENCODE> __global__ void __launch_bounds__(THREADS) interp_level_kernel(const __grid_constant__ level l)
{
    FLOE_DYNAMIC_SHARED(floe_real, classes);
    int16_t *codes = (int16_t *)(classes + ((uint64_t)l.tiles.room << l.job.step.naxes));
    const tile t = tile_of(l, blockIdx.x);
    found_here found = {0, 0, 0};
    if (*l.job.status != FLOE_OK) /* which nobody sets meanwhile */
        return;
    if (ENCODE)
        for (uint32_t i = threadIdx.x; i < own_box(t).count << l.job.step.naxes; i += THREADS)
            codes[i] = 0;
    load_coarse(l, t, classes);
    for (uint32_t odd = 1; odd <= l.job.step.naxes; odd++) {
        for (uint32_t c = 1; c < 1u << l.job.step.naxes; c++) {
            if ((uint32_t)__popc(c) != odd)
                continue;
            const box b = class_box(l, t, c);
            walk_of_points w;
            for (w.begin(b.n); w.there(); w.next()) {
                uint32_t cell[FLOE_INTERP_RANK];
                cell_of(b, w, cell);
                const floe_real p = predict(l, t, classes, c, cell);
                classes[c * l.tiles.room + index_of(t, cell)] =
                    ENCODE ? encode_point(l, t, c, cell, p, codes, found) : decode_point(l, t, c, cell, p);
            }
        }
        __syncthreads();
    }
    if (l.job.fine.data)
        store_points(l, t, classes);
    if (ENCODE) {
        store_codes(l, t, codes);
        leave_found(l.check, found);
    }
}

struct thinning {
    floe_interp_dev_job job;
    floe_interp_dev_check check;
    uint32_t place[FLOE_INTERP_RANK];
};

FLOE_DEV floe_real original_at(const thinning &t, const uint64_t *point)
{
    const floe_real f = value_at(t.job.original, point);
    return t.job.last ? take_in(t.check, f) : f;
}

/* A value that is apart: the mean of its neighbours along the step's axes, as far as they are numbers. */
FLOE_DEV_COLD floe_real bridge(const thinning &t, uint64_t z0, uint64_t z1, uint64_t z2, uint64_t x)
{
    uint64_t point[] = {z0, z1, z2, x};
    floe_real sum = 0;
    uint32_t count = 0;
    if (t.job.last)
        mark_apart(t.check, point, t.job.unit);
    for (uint32_t i = 0; i < t.job.step.naxes; i++) {
        const uint32_t a = t.job.step.axis[i];
        for (int side = 0; side < 2; side++) {
            if (side ? point[a] + 1 >= t.job.step.fine[a] : point[a] == 0)
                continue;
            point[a] += side ? 1 : -1ull;
            const floe_real v = original_at(t, point);
            point[a] -= side ? 1 : -1ull;
            sum = v == v ? sum + v : sum;
            count += v == v;
        }
    }
    return count ? FLOE_R(floe_interp_finite)(sum / (floe_real)count) : (floe_real)NAN;
}

enum { AT_ONCE = 4 /* values of a lane that are on their way together */ };

/* A warp does row after row. */
__global__ void __launch_bounds__(THREADS) interp_thin_kernel(const __grid_constant__ thinning t, floe_real *coarse)
{
    const uint64_t *n = t.job.step.coarse;
    const uint64_t nrows = n[0] * n[1] * n[2], nwarps = (uint64_t)gridDim.x * (THREADS / FLOE_WARP);
    const uint32_t length = (uint32_t)n[3];
    uint32_t shift[FLOE_INTERP_RANK];
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        shift[a] = t.place[a] < t.job.step.naxes;
    for (uint64_t row = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) / FLOE_WARP; row < nrows; row += nwarps) {
        uint64_t left = row;
        const uint64_t z2 = floe_last_digit(&left, n[2]) << shift[2], z1 = floe_last_digit(&left, n[1]) << shift[1],
                       z0 = left << shift[0];
        const int64_t *stride = t.job.original.stride, far = stride[3] << shift[3];
        const floe_real *from = (const floe_real *)t.job.original.data + (int64_t)z0 * stride[0] +
                                (int64_t)z1 * stride[1] + (int64_t)z2 * stride[2];
        for (uint32_t x0 = floe_lane(); x0 < length; x0 += AT_ONCE * FLOE_WARP) {
            floe_real f[AT_ONCE];
#pragma unroll
            for (uint32_t k = 0; k < AT_ONCE; k++)
                f[k] = from[min(x0 + k * FLOE_WARP, length - 1) * far];
#pragma unroll
            for (uint32_t k = 0; k < AT_ONCE; k++) {
                const uint32_t x = x0 + k * FLOE_WARP;
                const floe_real v = t.job.last ? take_in(t.check, f[k]) : f[k];
                if (x < length)
                    coarse[row * length + x] = v == v ? v : bridge(t, z0, z1, z2, (uint64_t)x << shift[3]);
            }
        }
    }
}

/* One block: a number for each anchor. Places are found from that of the first number on. */
__global__ void __launch_bounds__(THREADS)
    interp_anchors_kernel(const __grid_constant__ floe_interp_dev_check c,
                          const __grid_constant__ floe_interp_dev_lattice l, floe_real *anchors)
{
    __shared__ unsigned long long last[THREADS / FLOE_WARP], carry, first;
    const floe_real *f = (const floe_real *)l.data;
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    found_here found = {0, 0, 0};
    if (threadIdx.x == 0) {
        carry = 0;
        first = ~0ull;
    }
    __syncthreads();
    for (uint64_t i = threadIdx.x; i < l.count && i < first; i += THREADS)
        if (f[i] == f[i]) {
            atomicMin(&first, (unsigned long long)i);
            break;
        }
    __syncthreads();
    for (uint64_t begin = 0; begin < l.count; begin += THREADS) { /* places of numbers, from 1 on */
        const uint64_t i = begin + threadIdx.x;
        unsigned long long at = i < l.count && f[i] == f[i] ? i + 1 : 0;
        for (uint32_t d = 1; d < FLOE_WARP; d *= 2) {
            const unsigned long long below = __shfl_up_sync(FLOE_ALL_LANES, at, d);
            at = floe_lane() >= d && below > at ? below : at;
        }
        if (floe_lane() == FLOE_WARP - 1)
            last[warp] = at;
        __syncthreads();
        for (uint32_t w = 0; w < warp; w++)
            at = last[w] > at ? last[w] : at;
        at = carry > at ? carry : at;
        __syncthreads();
        if (threadIdx.x == THREADS - 1)
            carry = at;
        if (i < l.count) {
            uint64_t point[FLOE_INTERP_RANK];
            const floe_real r = at ? f[at - 1] : first != ~0ull ? f[first] : (floe_real)0;
            point_of(i, l.shape, point);
            anchors[i] = r;
            check_value(c, point, l.unit, f[i], r, found);
        }
        __syncthreads();
    }
    leave_found(c, found);
}

/* ---- launches ---------------------------------------------------------------------------------------------------------- */

uint64_t nbytes_of(const cut &c, uint32_t naxes, bool encode)
{
    uint64_t own = 1;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        own *= c.size[a];
    return (((uint64_t)c.room * sizeof(floe_real)) << naxes) + (encode ? (own * sizeof(int16_t)) << naxes : 0);
}

void set_room(cut *c, const floe_interp_step &s)
{
    c->room = 1;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        c->room *= c->size[a] + (c->place[a] < s.naxes ? BEFORE + BEHIND : 0);
}

/* Doubles a tile along its axes, the last one first, while there is room. */
cut cut_of(const floe_interp_dev_job &job, bool encode)
{
    const floe_interp_step &s = job.step;
    cut c;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        c.place[a] = floe_interp_place(&s, a);
        c.first[a] = c.place[a] < s.naxes ? job.lo[a] / 2 : job.lo[a];
        c.end[a] = (c.place[a] < s.naxes ? (job.hi[a] - 1) / 2 : job.hi[a] - 1) + 1;
        c.size[a] = 1;
    }
    bool full[FLOE_INTERP_RANK] = {};
    for (;;) {
        uint32_t grown = FLOE_INTERP_RANK;
        for (uint32_t a = FLOE_INTERP_RANK; a-- > 0;) {
            const bool may =
                !full[a] && c.size[a] < c.end[a] - c.first[a] && (c.place[a] < s.naxes || (a == 3 && c.size[a] < LONG));
            if (may && (grown == FLOE_INTERP_RANK || ((grown != 3 || c.size[3] >= LONG) && c.size[a] < c.size[grown])))
                grown = a;
        }
        if (grown == FLOE_INTERP_RANK)
            break;
        c.size[grown] *= 2;
        set_room(&c, s);
        if (nbytes_of(c, s.naxes, encode) > ROOM) {
            c.size[grown] /= 2;
            full[grown] = true;
        }
    }
    set_room(&c, s);
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        c.count[a] = (uint32_t)floe_ceil_div(c.end[a] - c.first[a], c.size[a]);
    return c;
}

template <bool ENCODE> int launch(const floe_interp_dev_job *job, const floe_interp_dev_check *check, void *stream)
{
    level l = {*job, {}, cut_of(*job, ENCODE)};
    if (check)
        l.check = *check;
    const uint32_t nbytes = (uint32_t)nbytes_of(l.tiles, job->step.naxes, ENCODE);
    const uint32_t ntiles = l.tiles.count[0] * l.tiles.count[1] * l.tiles.count[2] * l.tiles.count[3];
    const cudaError_t e =
        cudaFuncSetAttribute(interp_level_kernel<ENCODE>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes);
    if (e != cudaSuccess)
        return (int)e;
    FLOE_LAUNCH((interp_level_kernel<ENCODE>), ntiles, THREADS, nbytes, (cudaStream_t)stream, l);
    return (int)cudaGetLastError();
}

} // namespace

int FLOE_R(floe_interp_thin)(const floe_interp_dev_job *job, const floe_interp_dev_check *check, void *coarse,
                             void *stream)
{
    thinning t = {*job, *check, {}};
    const uint64_t *m = job->step.coarse, nblocks = floe_ceil_div(m[0] * m[1] * m[2], THREADS / FLOE_WARP),
                   most = 16 * (uint64_t)floe_gpu_limits_cuda().processors;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        t.place[a] = floe_interp_place(&job->step, a);
    FLOE_LAUNCH(interp_thin_kernel, (uint32_t)floe_min64(nblocks, most), THREADS, 0, (cudaStream_t)stream, t,
                (floe_real *)coarse);
    return (int)cudaGetLastError();
}

int FLOE_R(floe_interp_anchors)(const floe_interp_dev_check *check, const floe_interp_dev_lattice *lattice,
                                void *anchors, void *stream)
{
    FLOE_LAUNCH(interp_anchors_kernel, 1, THREADS, 0, (cudaStream_t)stream, *check, *lattice, (floe_real *)anchors);
    return (int)cudaGetLastError();
}

int FLOE_R(floe_interp_encode)(const floe_interp_dev_job *job, const floe_interp_dev_check *check, void *stream)
{
    return FLOE_R(floe_interp_marches)(job, check) ? FLOE_R(floe_interp_march)(job, check, stream)
                                                   : launch<true>(job, check, stream);
}
int FLOE_R(floe_interp_decode)(const floe_interp_dev_job *job, void *stream)
{
    return FLOE_R(floe_interp_marches)(job, NULL) ? FLOE_R(floe_interp_march)(job, NULL, stream)
                                                  : launch<false>(job, NULL, stream);
}
