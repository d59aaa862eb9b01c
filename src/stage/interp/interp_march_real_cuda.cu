/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The step of a field of three axes that lie in C order, predicted in that order: what takes nearly all of the time. A warp owns a strip
 * of cells along x, HEIGHT rows of it, and marches along z with the stencil of z in registers, that of x in its lanes; it is on its own,
 * without shared memory. Halo rows and lanes are computed again. The values are those of interp_level_real_cuda.cu.
 */
#include <floe/floe.h>

#include <type_traits>

#include "stage/interp/interp_check.cuh"

namespace
{

enum {
    CELLS = FLOE_REAL_BITS == 32 ? 2 : 1, /* of a lane: 16 bytes of originals */
    OWN_LANES = CELLS == 2 ? 30 : 29,     /* the first lane, and the last or the last two, are halo */
    HEIGHT = 2,
    ROWS = HEIGHT + 3,
    DEPTH = 8, /* planes of cells of a warp, where there are enough of them for all */
    WARPS = 4,
    BLOCKS = 3 /* that a processor holds at once */
};

/* A value of each of a lane's cells. */
struct some {
    floe_real v[CELLS];
};
struct codes_of_cells {
    uint32_t v[CELLS][FLOE_LATTICE_CLASSES];
};

struct march {
    floe_interp_dev_job job;
    floe_interp_dev_check check;
    weights of[WEIGHTS];
    uint32_t strips, slabs, segments, depth; /* of warps along x, of blocks along y, along z; planes of a segment */
    bool aligned;                            /* whole lanes are loaded and stored at once */
    bool plain;                              /* there is no fill value */
    int64_t bits[FLOE_LATTICE_RANK];         /* from one point to the next, of those that show what is apart */
};

/* Of a lane. */
struct place {
    int32_t plane0;   /* of axis 0 */
    int32_t cell, j0; /* of this lane, of the first own row */
    int32_t k0, k1;
    int32_t mz, my, mx, nz, ny, nx;
    int32_t x, rows[ROWS]; /* what is loaded: whole lanes from this cell on; rows of cells */
    bool own, whole;       /* whole: in planes that have all their points, these rows of cells have, too */
};

FLOE_DEV int32_t clamp(int32_t v, int32_t n) { return max(min(v, n - 1), 0); }

FLOE_DEV place place_of_warp(const march &m)
{
    const floe_lattice_step &s = m.job.step;
    uint32_t left = blockIdx.x;
    place p;
    p.mz = (int32_t)s.coarse[1]; /* a chunk has at most 2^30 points */
    p.my = (int32_t)s.coarse[2];
    p.mx = (int32_t)s.coarse[3];
    p.nz = (int32_t)s.fine[1];
    p.ny = (int32_t)s.fine[2];
    p.nx = (int32_t)s.fine[3];
    const uint32_t strip = left % m.strips, slab = left / m.strips % m.slabs;
    left /= m.strips * m.slabs;
    p.k0 = (int32_t)(left % m.segments * m.depth);
    p.k1 = min(p.k0 + (int32_t)m.depth, p.mz);
    p.plane0 = (int32_t)(left / m.segments);
    p.j0 = (int32_t)(slab * WARPS + threadIdx.x / FLOE_WARP) * HEIGHT;
    p.cell = ((int32_t)strip * OWN_LANES + (int32_t)floe_lane() - 1) * CELLS;
    p.own = floe_lane() >= 1 && floe_lane() <= OWN_LANES;
    p.x = m.aligned ? clamp(p.cell / CELLS, p.mx / CELLS) * CELLS : 0;
    p.whole = true;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        p.rows[r] = clamp(p.j0 - 1 + r, p.my);
#pragma unroll
    for (int h = 0; h < HEIGHT; h++)
        p.whole = p.whole && (p.j0 + h >= p.my || 2 * (p.j0 + h) + 1 < p.ny);
#pragma unroll
    for (int i = 0; i < CELLS; i++)
        p.whole = p.whole && (p.cell + i >= p.mx || 2 * (p.cell + i) + 1 < p.nx);
    return p;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

/* All elements of a lane at once. */
#if FLOE_REAL_BITS == 32
typedef float2 lane_cells;
typedef float4 lane_points;
#else
typedef double lane_cells;
typedef double2 lane_points;
#endif

/* Rows j0 - 1 to j0 - 1 + ROWS of plane k. All are on their way before one is used. */
FLOE_DEV void load_coarse(const march &m, const place &p, int32_t k, some *to)
{
    const floe_real *plane =
        (const floe_real *)m.job.coarse + ((int64_t)p.plane0 * p.mz + clamp(k, p.mz)) * ((int64_t)p.my * p.mx);
    if (m.aligned) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const lane_cells all = __ldg((const lane_cells *)(plane + (p.rows[r] * p.mx + p.x)));
            memcpy(&to[r], &all, sizeof all);
        }
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                to[r].v[i] = __ldg(plane + (p.rows[r] * p.mx + clamp(p.cell + i, p.mx)));
    }
}

/* A row of originals, as they are in memory. */
struct raw_row {
    floe_real v[2 * CELLS];
};
/* Of a plane of cells: points of even y and odd z; of even z and y, of odd y, of both odd. */
struct raw_plane {
    raw_row z1[ROWS], others[HEIGHT][3];
};
FLOE_DEV void load_originals(const march &m, const place &p, int32_t k, raw_plane &to)
{
    const int64_t *stride = m.job.original.stride;
    const int32_t row = (int32_t)stride[2];
    const floe_real *even = (const floe_real *)m.job.original.data + p.plane0 * stride[0] + 2 * k * stride[1],
                    *odd = 2 * k + 1 < p.nz ? even + stride[1] : even;
    const auto load = [&](raw_row &to_row, const floe_real *plane, int32_t y) {
        const floe_real *from = plane + (y * row + 2 * p.x);
        if (m.aligned) {
            const lane_points all = __ldg((const lane_points *)from);
            memcpy(&to_row, &all, sizeof all);
        } else {
#pragma unroll
            for (int i = 0; i < 2 * CELLS; i++)
                to_row.v[i] = __ldg(from + clamp(2 * p.cell + i, p.nx));
        }
    };
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        load(to.z1[r], odd, 2 * p.rows[r]);
#pragma unroll
    for (int h = 0; h < HEIGHT; h++) {
        const int32_t y = 2 * p.rows[h + 1], odd_y = min(y + 1, p.ny - 1);
        load(to.others[h][0], even, y);
        load(to.others[h][1], even, odd_y);
        load(to.others[h][2], odd, odd_y);
    }
}

/*
 * None of those that are used may be stored apart by itself. From high words, as numbers to which one of the exponent is added:
 * those of -0 and of what is positive and not finite become the least ones, of what is negative and not finite the least without a sign.
 */
FLOE_DEV bool are_plain(const raw_plane &raw)
{
    const uint32_t one = FLOE_REAL_BITS == 32 ? 1u << 23 : 1u << 20;
    int32_t least = INT32_MAX;
    uint32_t least_unsigned = UINT32_MAX;
    const auto look = [&](floe_real f) {
        const uint32_t word = (uint32_t)(FLOE_R(floe_real_bits)(f) >> (FLOE_REAL_BITS - 32)) + one;
        least = min((int32_t)word, least);
        least_unsigned = min(word, least_unsigned);
    };
#pragma unroll
    for (int i = 0; i < 2 * CELLS; i++) {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (i % 2 == 0 || (r >= 1 && r <= HEIGHT))
                look(raw.z1[r].v[i]);
#pragma unroll
        for (int x = 0; x < 3 * HEIGHT; x++)
            if (i % 2 || x % 3)
                look(raw.others[x / 3][x % 3].v[i]);
    }
    return least > (int32_t)(1u << 31 | one) && least_unsigned >= one;
}

FLOE_DEV floe_real clean(const march &m, floe_real f)
{
    return m.job.last ? FLOE_R(floe_lattice_clean)(f, (floe_uint)m.check.fill) : f;
}

/* Own cells' points of a row, which begins there. */
FLOE_DEV void store_points(const march &m, const place &p, floe_real *to, const some &even, const some &odd)
{
    floe_real v[2 * CELLS];
#pragma unroll
    for (int i = 0; i < CELLS; i++) {
        v[2 * i] = even.v[i];
        v[2 * i + 1] = odd.v[i];
    }
    if (!p.own || p.cell >= p.mx)
        return;
    if (m.aligned) {
        lane_points all;
        memcpy(&all, v, sizeof all);
        *(lane_points *)to = all;
    } else {
#pragma unroll
        for (int i = 0; i < 2 * CELLS; i++)
            if (2 * p.cell + i < p.nx)
                to[i] = v[i];
    }
}

template <bool WIDE> using record_of = std::conditional_t<WIDE, uint4, uint2>;

template <bool WIDE> FLOE_DEV record_of<WIDE> *records_of(const march &m, const place &p, int32_t k)
{
    return (record_of<WIDE> *)m.job.records + ((int64_t)p.plane0 * p.mz + k) * ((int64_t)p.my * p.mx);
}

template <bool WIDE>
FLOE_DEV void store_codes(const march &m, const place &p, int32_t k, int32_t j, const codes_of_cells &c)
{
    typedef record_of<WIDE> record;
    record all[CELLS], *to = records_of<WIDE>(m, p, k) + j * p.mx + p.cell;
#pragma unroll
    for (int i = 0; i < CELLS; i++) {
        uint32_t w[sizeof(record) / 4];
#pragma unroll
        for (int k4 = 0; k4 < (int)sizeof(record) / 4; k4++)
            w[k4] = WIDE ? __byte_perm(c.v[i][2 * k4 % 8], c.v[i][(2 * k4 + 1) % 8], 0x5410)
                         : __byte_perm(__byte_perm(c.v[i][4 * k4 % 8], c.v[i][(4 * k4 + 1) % 8], 0x0040),
                                       __byte_perm(c.v[i][(4 * k4 + 2) % 8], c.v[i][(4 * k4 + 3) % 8], 0x0040), 0x5410);
        memcpy(&all[i], w, sizeof w);
    }
    if (sizeof all == sizeof(uint4) && m.aligned) {
        uint4 both;
        memcpy(&both, all, sizeof both);
        if (p.own && p.cell < p.mx)
            *(uint4 *)to = both;
        return;
    }
#pragma unroll
    for (int i = 0; i < CELLS; i++)
        if (p.own && p.cell + i < p.mx)
            to[i] = all[i];
}

template <bool WIDE> FLOE_DEV void load_codes(const march &m, const place &p, int32_t k, record_of<WIDE> (*to)[CELLS])
{
    const record_of<WIDE> *plane = records_of<WIDE>(m, p, k);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (sizeof to[r] == sizeof(uint4) && m.aligned) {
            const uint4 all = __ldg((const uint4 *)(plane + (p.rows[r] * p.mx + p.x)));
            memcpy(to[r], &all, sizeof to[r]);
        } else {
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                to[r][i] = __ldg(plane + (p.rows[r] * p.mx + clamp(p.cell + i, p.mx)));
        }
    }
}

FLOE_DEV floe_real code_value(const uint2 &r, int k) /* narrow */
{
#if FLOE_REAL_BITS == 32 /* by the bits of 2^23 + 128 + code, which takes no conversion */
    return __uint_as_float(__byte_perm((k < 4 ? r.x : r.y) ^ 0x80808080u, 0x4B000000u, 0x7540u | (uint32_t)k % 4)) -
           8388736.0f;
#else
    return (floe_real)(int8_t)((k < 4 ? r.x : r.y) >> 8 * (k % 4));
#endif
}
FLOE_DEV floe_real code_value(const uint4 &r, int k) /* wide */
{
    const uint32_t w = k < 2 ? r.x : k < 4 ? r.y : k < 6 ? r.z : r.w;
    return (floe_real)(int16_t)(k % 2 ? w >> 16 : w);
}

/* ---- a point ----------------------------------------------------------------------------------------------------------- */

struct encoder {
    floe_real step, inverse, limit, worst;
};

/* Of a row of cells: the largest error of each that is a number; whether all are. */
struct doubt {
    floe_real error[CELLS];
    bool numbers;
};

/* A point as it comes back: of cell number `cell` of a lane, which has number `number` among the codes of its record. f: the original, as it is in
 * memory. A point that does not exist has code 0. PLAIN: f is a number, and the point exists. */
template <bool ENCODE, bool PLAIN, class RECORD>
FLOE_DEV floe_real put(const march &m, const encoder &e, const RECORD &record, int number, floe_real f, floe_real p,
                       bool exists, int cell, uint32_t &code, doubt &d)
{
    if (!ENCODE)
        return FLOE_R(floe_interp_decode)(code_value(record, number), e.step, p);
    floe_real q;
    if (PLAIN) {
        q = FLOE_R(floe_interp_encode_number)(f, p, e.inverse, e.limit);
    } else {
        f = exists ? clean(m, f) : p;
        q = exists ? FLOE_R(floe_interp_encode)(f, p, e.inverse, e.limit) : 0; /* p may overflow */
        d.numbers = d.numbers && f == f;
    }
    const floe_real r = FLOE_R(floe_interp_decode)(q, e.step, p);
    d.error[cell] = FLOE_LATTICE_MAX(FLOE_LATTICE_ABS(f - r), d.error[cell]);
    code = code_bits(q);
    return r;
}

/* Some point of a lane's cells may be apart: looks at each, and returns the largest error of the others. even, odd: as they come back, by
 * bits of z and y. Inline, since a call would cost the march registers. */
FLOE_DEV floe_real look_again(const march &m, const place &p, int32_t k, int32_t j, const some *even, const some *odd)
{
    const int64_t *stride = m.job.original.stride, *bits = m.bits;
    const floe_real *from = (const floe_real *)m.job.original.data + p.plane0 * stride[0] + 2 * p.cell;
    floe_real worst = 0;
    uint32_t bad = 0;
#pragma unroll
    for (int i = 1; i < 4 * 2 * CELLS; i++) {
        const int t = i / (2 * CELLS), x = i % (2 * CELLS), cell = x / 2, z = 2 * k + (t & 1), y = 2 * j + (t >> 1);
        if ((t == 0 && x % 2 == 0) || z >= p.nz || y >= p.ny || 2 * p.cell + x >= p.nx)
            continue;
        const floe_real f = clean(m, from[z * stride[1] + y * stride[2] + x]);
        const floe_real error = FLOE_LATTICE_ABS(f - (x % 2 ? odd : even)[t].v[cell]);
        const bool good = error <= (floe_real)m.check.tolerance;
        worst = good ? FLOE_LATTICE_MAX(error, worst) : worst;
        bad |= good ? 0 : 1u << i;
    }
    for (; bad; bad &= bad - 1) {
        const int i = __ffs((int)bad) - 1, t = i / (2 * CELLS);
        mark_bit(m.check, (uint64_t)(p.plane0 * bits[0] + (2 * k + (t & 1)) * bits[1] + (2 * j + (t >> 1)) * bits[2] +
                                     (2 * p.cell + i % (2 * CELLS)) * bits[3]));
    }
    return worst;
}

/* ---- a plane of cells --------------------------------------------------------------------------------------------------- */

/* The points of odd x from those of even x beside them. */
FLOE_DEV some predict_x(const some &s, const weights *w)
{
    some p;
    const floe_real before = __shfl_up_sync(FLOE_ALL_LANES, s.v[CELLS - 1], 1),
                    next = __shfl_down_sync(FLOE_ALL_LANES, s.v[0], 1);
    if (CELLS == 2) {
        const floe_real last = __shfl_down_sync(FLOE_ALL_LANES, s.v[CELLS - 1], 1);
        p.v[0] = FLOE_R(floe_interp_predict)(w[0], before, s.v[0], s.v[CELLS - 1], next);
        p.v[CELLS - 1] = FLOE_R(floe_interp_predict)(w[CELLS - 1], s.v[0], s.v[CELLS - 1], next, last);
    } else {
        const floe_real last = __shfl_down_sync(FLOE_ALL_LANES, s.v[0], 2);
        p.v[0] = FLOE_R(floe_interp_predict)(w[0], before, s.v[0], next, last);
    }
    return p;
}

/* coarse: planes k - 1 to k + 2. PLAIN: no original is stored apart, and cells have all their points. */
template <bool ENCODE, bool WIDE, bool PLAIN>
FLOE_DEV void do_plane(const march &m, const place &p, encoder &e, int32_t k, const some (&coarse)[4][ROWS],
                       const raw_plane &raw, const record_of<WIDE> (&record)[ROWS][CELLS])
{
    const weights wz = m.of[weights_for(k, p.mz)];
    const bool odd_z = 2 * k + 1 < p.nz;
    some z1[ROWS]; /* points of odd z */
    codes_of_cells codes[HEIGHT];
    doubt doubts[HEIGHT + 1]; /* the last: of halo rows */
#pragma unroll
    for (int h = 0; h <= HEIGHT; h++)
        doubts[h] = {{}, true};
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int h = r >= 1 && r <= HEIGHT ? r - 1 : HEIGHT;
        const bool exists = odd_z && (uint32_t)(p.j0 - 1 + r) < (uint32_t)p.my;
        uint32_t none;
#pragma unroll
        for (int i = 0; i < CELLS; i++) {
            const floe_real g = FLOE_R(floe_interp_predict)(wz, coarse[0][r].v[i], coarse[1][r].v[i], coarse[2][r].v[i],
                                                            coarse[3][r].v[i]);
            z1[r].v[i] = put<ENCODE, PLAIN>(m, e, record[r][i], 0, raw.z1[r].v[2 * i], g, exists, i,
                                            h < HEIGHT ? codes[h].v[i][0] : none, doubts[h]);
        }
    }
#pragma unroll
    for (int h = 0; h < HEIGHT; h++) {
        const int r = h + 1;
        const int32_t j = p.j0 + h;
        if (j >= p.my)
            break;
        const weights wy = m.of[weights_for(j, p.my)];
        weights wx[CELLS];
#pragma unroll
        for (int i = 0; i < CELLS; i++)
            wx[i] = m.of[weights_for(clamp(p.cell + i, p.mx), p.mx)];
        const bool odd_y = 2 * j + 1 < p.ny;
        some y1, zy1, x1[4];
#pragma unroll
        for (int i = 0; i < CELLS; i++) {
            uint32_t *c = codes[h].v[i];
            const floe_real gy = FLOE_R(floe_interp_predict)(wy, coarse[1][r - 1].v[i], coarse[1][r].v[i],
                                                             coarse[1][r + 1].v[i], coarse[1][r + 2].v[i]);
            const floe_real gzy =
                FLOE_R(floe_interp_predict)(wy, z1[r - 1].v[i], z1[r].v[i], z1[r + 1].v[i], z1[r + 2].v[i]);
            c[7] = 0;
            y1.v[i] =
                put<ENCODE, PLAIN>(m, e, record[r][i], 1, raw.others[h][1].v[2 * i], gy, odd_y, i, c[1], doubts[h]);
            zy1.v[i] = put<ENCODE, PLAIN>(m, e, record[r][i], 2, raw.others[h][2].v[2 * i], gzy, odd_y && odd_z, i,
                                          c[2], doubts[h]);
        }
        const some even[] = {coarse[1][r], z1[r], y1, zy1};
#pragma unroll
        for (int t = 0; t < 4; t++) { /* t: bits of z, y; codes of odd x are 3 + t */
            const some g = predict_x(even[t], wx);
            const bool exists = (!(t & 1) || odd_z) && (!(t & 2) || odd_y);
            const raw_row &o = t == 1 ? raw.z1[r] : raw.others[h][t ? t - 1 : 0];
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                x1[t].v[i] =
                    put<ENCODE, PLAIN>(m, e, record[r][i], 3 + t, o.v[2 * i + 1], g.v[i],
                                       exists && 2 * (p.cell + i) + 1 < p.nx, i, codes[h].v[i][3 + t], doubts[h]);
        }
        if (ENCODE) {
            floe_real most = 0;
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                most = p.own && p.cell + i < p.mx ? FLOE_LATTICE_MAX(doubts[h].error[i], most) : most;
            store_codes<WIDE>(m, p, k, j, codes[h]);
            if (p.own && !((PLAIN || doubts[h].numbers) && most <= (floe_real)m.check.tolerance))
                most = look_again(m, p, k, j, even, x1);
            e.worst = FLOE_LATTICE_MAX(most, e.worst);
        }
        if (!ENCODE || m.job.fine.data) {
            const int64_t *stride = m.job.fine.stride;
            floe_real *to = (floe_real *)m.job.fine.data + p.plane0 * stride[0] + 2 * k * stride[1] +
                            2 * j * stride[2] + 2 * p.cell;
#pragma unroll
            for (int t = 0; t < 4; t++)
                if ((!(t & 1) || odd_z) && (!(t & 2) || odd_y))
                    store_points(m, p, to + (t & 1) * stride[1] + (t >> 1) * stride[2], even[t], x1[t]);
        }
    }
}

/* Originals of own rows of plane k: a lane brings a line of 128 bytes near. */
FLOE_DEV void prefetch_originals(const march &m, const place &p, int32_t k)
{
    enum { LINE = 128 / sizeof(floe_real), LINES = FLOE_WARP / (4 * HEIGHT) /* of a row */ };
    const int32_t lane = (int32_t)floe_lane(), row = lane / LINES, z = 2 * k + row % 2, y = 2 * p.j0 + row / 2,
                  x = 2 * (p.cell - (lane - 1) * CELLS) + lane % LINES * LINE;
    const int64_t *stride = m.job.original.stride;
    if (z < p.nz && y < p.ny && x < p.nx)
        floe_prefetch_far((const floe_real *)m.job.original.data + p.plane0 * stride[0] + z * stride[1] +
                          y * stride[2] + x);
}

template <bool ENCODE, bool WIDE> FLOE_DEV void march_along(const march &m, const place &p, encoder &e)
{
    some coarse[4][ROWS]; /* planes k - 1 to k + 2 */
#pragma unroll
    for (int d = 0; d < 3; d++)
        load_coarse(m, p, p.k0 - 1 + d, coarse[d + 1]);
    for (int32_t k = p.k0; k < p.k1; k++) {
        raw_plane raw;
        record_of<WIDE> record[ROWS][CELLS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            coarse[0][r] = coarse[1][r];
            coarse[1][r] = coarse[2][r];
            coarse[2][r] = coarse[3][r];
        }
        if (!ENCODE)
            load_codes<WIDE>(m, p, k, record);
        load_coarse(m, p, k + 2, coarse[3]);
        if (ENCODE) {
            load_originals(m, p, k, raw);
            prefetch_originals(m, p, k + 1);
        }
        if (!ENCODE || __all_sync(FLOE_ALL_LANES, m.plain && p.whole && 2 * k + 1 < p.nz && are_plain(raw)))
            do_plane<ENCODE, WIDE, true>(m, p, e, k, coarse, raw, record);
        else
            do_plane<ENCODE, WIDE, false>(m, p, e, k, coarse, raw, record);
    }
}

template <bool ENCODE, bool WIDE>
__global__ void __launch_bounds__(WARPS *FLOE_WARP, FLOE_REAL_BITS == 64 ? 2
                                                    : ENCODE             ? 3
                                                             : 4) interp_march_kernel(const __grid_constant__ march m)
{
    const place p = place_of_warp(m);
    const floe_real step = (floe_real)m.job.rule.step;
    encoder e = {step, 1 / step, (floe_real)(WIDE ? 32767 : 127), 0};
    floe_dev_begin();
    if (*m.job.status != FLOE_OK) /* which nobody sets meanwhile */
        return;
    march_along<ENCODE, WIDE>(m, p, e);
    if (ENCODE)
        leave_most(&m.check.found->max_error, (double)e.worst);
    const uint64_t all = floe_lattice_nrecords(&m.job.step); /* what is laid behind the last row */
    for (uint64_t i = all + threadIdx.x; ENCODE && blockIdx.x == 0 && i < m.job.nrecords; i += blockDim.x) {
        const record_of<WIDE> none = {};
        ((record_of<WIDE> *)m.job.records)[i] = none;
    }
}

bool is_aligned(const floe_lattice_view &v)
{
    bool aligned = (uintptr_t)v.data % 16 == 0;
    for (uint32_t a = 0; a < 3; a++)
        aligned = aligned && v.stride[a] % (2 * CELLS) == 0;
    return aligned;
}

template <bool ENCODE, bool WIDE> int launch(const march &m, uint32_t nblocks, void *stream)
{
    FLOE_LAUNCH_EARLY((interp_march_kernel<ENCODE, WIDE>), nblocks, WARPS * FLOE_WARP, 0, (cudaStream_t)stream, m);
    return (int)cudaGetLastError();
}

} // namespace

/* Places in a plane are numbers of 32 bits. */
static bool is_small(const floe_lattice_view &v, const uint64_t *n)
{
    return v.stride[3] == 1 && v.stride[2] >= 0 && (uint64_t)v.stride[2] <= INT32_MAX / n[2];
}

bool FLOE_R(floe_interp_marches)(const floe_interp_dev_job *job, const floe_interp_dev_check *check)
{
    const floe_lattice_step &s = job->step;
    bool good = s.naxes == 3 && s.axis[0] == 1 && s.axis[1] == 2 && s.axis[2] == 3 && !job->rule.mean && !job->log &&
                !(check && check->squares);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        good = good && job->box.lo[a] == 0 && job->box.hi[a] == s.fine[a];
    return good && (!job->fine.data || job->fine.stride[3] == 1) && (!check || is_small(job->original, s.fine));
}

int FLOE_R(floe_interp_march)(const floe_interp_dev_job *job, const floe_interp_dev_check *check, void *stream)
{
    march m = {*job, {}, {}, 0, 0, 0, DEPTH, false, true, {}};
    const floe_lattice_step &s = job->step;
    if (check) {
        m.check = *check;
        const uint64_t *n = check->shape, rows[] = {n[0], n[1], n[2], floe_ceil_div(n[3], 64) * 64};
        const floe_lattice_view bits = floe_lattice_view_lattice(NULL, rows);
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            m.bits[a] = bits.stride[a] * (int64_t)job->unit[a];
        m.plain = check->fill == (uint64_t)1 << (FLOE_REAL_BITS - 1);
    }
    for (uint32_t i = 0; i < WEIGHTS; i++)
        m.of[i] = weights_number(i, job->rule.predictor);
    m.strips = (uint32_t)floe_ceil_div(s.coarse[3], OWN_LANES * CELLS);
    m.slabs = (uint32_t)floe_ceil_div(s.coarse[2], HEIGHT * WARPS);
    const uint64_t columns = m.strips * m.slabs * s.coarse[0], most = BLOCKS * floe_gpu_limits_cuda().processors;
    while (m.depth > 1 && columns * floe_ceil_div(s.coarse[1], m.depth) < most)
        m.depth /= 2;
    m.segments = (uint32_t)floe_ceil_div(s.coarse[1], m.depth);
    m.aligned = s.fine[3] % (2 * CELLS) == 0 && (uintptr_t)job->coarse % 16 == 0 && (uintptr_t)job->records % 16 == 0 &&
                (!job->fine.data || is_aligned(job->fine)) && (!check || is_aligned(job->original));
    const uint32_t nblocks = m.strips * m.slabs * m.segments * (uint32_t)s.coarse[0];
    if (check)
        return s.width == 1 ? launch<true, false>(m, nblocks, stream) : launch<true, true>(m, nblocks, stream);
    return s.width == 1 ? launch<false, false>(m, nblocks, stream) : launch<false, true>(m, nblocks, stream);
}
