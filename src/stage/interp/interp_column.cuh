/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of cells of a step: where they are, their originals, values and codes in memory. */
#ifndef FLOE_STAGE_INTERP_COLUMN_CUH
#define FLOE_STAGE_INTERP_COLUMN_CUH

#include "stage/interp/interp_check.cuh"

namespace
{

enum {
    BEFORE = 1, /* cells before its own at which a prediction looks */
    HALO = BEFORE + BEHIND,
    ROWS = 16,       /* of a block, a warp each, where they look at each other, */
    FEWER_ROWS = 12, /* but where more registers would not do */
    WARPS = 4,       /* of a block, where they do not */
    DEPTH_MOST = 32, /* cells of a column */
    DEPTH_LEAST = 2
};

enum { OUTER, MARCH, ROW, LANE }; /* what axes are for */

/* An axis of the step's lattices. A column begins at cell first + size * the number of its tile. Along the lane axis a cell has two
 * points, even where the axis is not of the step. */
struct axis_of_cells {
    int32_t first, end;                      /* the cells of wanted points */
    int32_t size, count;                     /* cells of a tile, and how many tiles there are */
    int32_t cells, points, lo, hi;           /* of the lattices; lo and hi: wanted points */
    int64_t coarse, original, fine, records; /* strides: of a cell, a point, a point, a cell; of records in codes */
    int64_t bits;                            /* stride of a point among the bits of values apart */
    uint32_t axis;                           /* its number in the shape */
};

struct level {
    floe_interp_dev_job job;
    floe_interp_dev_check check;
    axis_of_cells a[FLOE_LATTICE_RANK];
    uint32_t nblocks, ntiles, nstrips;
    uint32_t lane_place; /* of the lane axis among those of the step; the march axis comes before the row axis */
    floe_real step, inverse, limit, tolerance, no_code; /* no_code: what 0 is when it is loaded */
    weights of[WEIGHTS];
};

/* The points of a cell in a plane: v[row is odd][place along the lane axis is odd]. A point of a cell also has a number, which is its bit
 * in masks: 1 if its plane is odd, and 2 if its row is, and 4 if its place is. */
struct points {
    floe_real v[2][2];
};

struct column {
    int32_t outer, begin, end, row, lane; /* cells; begin and end: along the march */
    const floe_real *coarse, *original;   /* where the march axis has cell 0, and point 0 */
    floe_real *fine;
    int64_t records;
    uint32_t row_weights, lane_weights; /* numbers of weights */
    uint32_t exists, wanted;            /* masks, for even planes: points of the lattice, and those to be stored */
    bool own;                           /* of the tile, not of its halo */
};

/* ---- columns ----------------------------------------------------------------------------------------------------------- */

FLOE_DEV bool is_in(int32_t v, int32_t n) { return (uint32_t)v < (uint32_t)n; }
FLOE_DEV bool is_wanted(const axis_of_cells &a, int32_t point) { return point >= a.lo && point < a.hi; }

template <bool X, bool Y, bool Z> FLOE_DEV column column_of(const level &l, uint32_t tile, uint32_t strip)
{
    const int32_t lane = (int32_t)floe_lane() - (X ? BEFORE : 0),
                  row = Y ? (int32_t)(threadIdx.x / FLOE_WARP) - BEFORE : 0, nrows = (int32_t)(blockDim.x / FLOE_WARP);
    const int32_t nlanes = X ? FLOE_WARP - HALO : FLOE_WARP;
    int32_t first[FLOE_LATTICE_RANK];
#pragma unroll
    for (int a = LANE; a >= 0; a--) {
        first[a] = l.a[a].first + (int32_t)(tile % (uint32_t)l.a[a].count) * l.a[a].size;
        tile /= (uint32_t)l.a[a].count;
    }
    first[LANE] += (int32_t)strip * nlanes;
    column c;
    c.outer = first[OUTER];
    c.begin = first[MARCH];
    c.end = Z ? min(c.begin + l.a[MARCH].size, l.a[MARCH].end) : c.begin + 1;
    c.row = first[ROW] + row;
    c.lane = first[LANE] + lane;
    const bool in = c.outer < l.a[OUTER].cells && is_in(c.row, l.a[ROW].cells) && is_in(c.lane, l.a[LANE].cells);
    c.own = is_in(lane, nlanes) && c.lane < l.a[LANE].end && (!Y || (is_in(row, nrows - HALO) && c.row < l.a[ROW].end));
    const int32_t y = Y ? 2 * c.row : c.row, x = 2 * c.lane;
    c.exists = c.wanted = 0;
#pragma unroll
    for (int32_t i = 0; i < 4; i++) {
        const int32_t py = y + (i & 1), px = x + (i >> 1);
        const bool there = in && (Y || !(i & 1)) && py < l.a[ROW].points && px < l.a[LANE].points;
        c.exists |= there ? 1u << 2 * i : 0;
        c.wanted |= there && c.own && is_wanted(l.a[ROW], py) && is_wanted(l.a[LANE], px) ? 1u << 2 * i : 0;
    }
    c.coarse = (const floe_real *)l.job.coarse + c.outer * l.a[OUTER].coarse + c.row * l.a[ROW].coarse +
               c.lane * l.a[LANE].coarse;
    c.records = c.outer * l.a[OUTER].records + c.row * l.a[ROW].records + c.lane * l.a[LANE].records;
    c.original = (const floe_real *)l.job.original.data + c.outer * l.a[OUTER].original + y * l.a[ROW].original +
                 x * l.a[LANE].original;
    c.fine = (floe_real *)l.job.fine.data + (c.outer - l.a[OUTER].lo) * l.a[OUTER].fine +
             (y - l.a[ROW].lo) * l.a[ROW].fine + (x - l.a[LANE].lo) * l.a[LANE].fine - l.a[MARCH].lo * l.a[MARCH].fine;
    c.row_weights = weights_for(c.row, l.a[ROW].cells);
    c.lane_weights = weights_for(c.lane, l.a[LANE].cells);
    return c;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

FLOE_DEV_COLD points log_of(points p, uint64_t fill)
{
    for (int i = 0; i < 4; i++)
        p.v[i >> 1][i & 1] = FLOE_R(floe_lattice_log)(p.v[i >> 1][i & 1], (floe_uint)fill);
    return p;
}
FLOE_DEV_COLD points exp_of(points p)
{
    for (int i = 0; i < 4; i++)
        p.v[i >> 1][i & 1] = FLOE_R(floe_lattice_exp)(p.v[i >> 1][i & 1]);
    return p;
}

template <bool RARE> FLOE_DEV points take_in_all(const level &l, const points &p)
{
    if (!l.job.last)
        return p;
    if (RARE && l.check.log)
        return log_of(p, l.check.fill);
    points q;
#pragma unroll
    for (int i = 0; i < 4; i++)
        q.v[i >> 1][i & 1] = FLOE_R(floe_lattice_clean)(p.v[i >> 1][i & 1], (floe_uint)l.check.fill);
    return q;
}

/* The cell's points of the coarse lattice; 0 where there are none. */
template <bool X> FLOE_DEV void load_coarse(const level &l, uint32_t exists, const floe_real *from, points &to)
{
    to.v[0][0] = to.v[0][1] = 0;
    if (exists & 1)
        to.v[0][0] = from[0];
    if (!X && exists & 1 << 4)
        to.v[0][1] = from[1];
}

/* Originals of plane z, which begins there; NaN where there are none. */
template <bool RARE, bool Y>
FLOE_DEV points load_originals(const level &l, uint32_t exists, const floe_real *from, int32_t z)
{
    exists = is_in(z, l.a[MARCH].points) ? exists : 0;
    points p = {{{(floe_real)NAN, (floe_real)NAN}, {(floe_real)NAN, (floe_real)NAN}}};
#pragma unroll
    for (int y = 0; y < 1 + Y; y++)
#pragma unroll
        for (int x = 0; x < 2; x++)
            if (exists >> (2 * y + 4 * x) & 1)
                p.v[y][x] = from[y * l.a[ROW].original + x * l.a[LANE].original];
    return take_in_all<RARE>(l, p);
}

template <bool RARE, bool Y>
FLOE_DEV void store_points(const level &l, uint32_t wanted, floe_real *to, int32_t z, points p)
{
    if (!is_wanted(l.a[MARCH], z))
        return;
    if (RARE && l.job.last && l.job.log)
        p = exp_of(p);
#pragma unroll
    for (int y = 0; y < 1 + Y; y++)
#pragma unroll
        for (int x = 0; x < 2; x++)
            if (wanted >> (2 * y + 4 * x) & 1)
                to[y * l.a[ROW].fine + x * l.a[LANE].fine] = p.v[y][x];
}

/* ---- codes ------------------------------------------------------------------------------------------------------------- */

/* Of a cell, by the numbers of their points. */
struct codes {
    uint32_t v[FLOE_LATTICE_CLASSES];
};
/* Two codes in a word; those that wait for others of their cell. */
struct waiting {
    uint32_t v[2];
};
template <int N> struct alignas(4 * N) words {
    uint32_t v[N];
};
template <int N> struct constant {
    static constexpr int value = N;
};

/* The point of class c of the step, whose axis number PLACE is the lane axis. */
template <int PLACE> FLOE_DEV constexpr int number_of(int c)
{
    return (c & ((1 << PLACE) - 1)) | (c >> (PLACE + 1) << PLACE) | (c >> PLACE & 1) << 2;
}

/* The point of a lane's code i; negative: none. Without the lane axis a lane has the codes of two cells. */
template <int NAXES, bool X, int PLACE> FLOE_DEV constexpr int number_at(int i)
{
    const int c = i % (1 << NAXES) + 1;
    return c == 1 << NAXES ? -1 : X ? number_of<PLACE>(c) : c + 4 * (i >> NAXES);
}

template <int NAXES, bool X, class F> FLOE_DEV void by_place(const level &l, F f)
{
    if constexpr (!X) {
        f(constant<0>());
    } else if (l.lane_place + 1 == NAXES) {
        f(constant<NAXES - 1>());
    } else if constexpr (NAXES > 1) {
        if (NAXES == 2 || l.lane_place == 0)
            f(constant<0>());
        else
            f(constant<1>());
    }
}

/* Codes of two bytes are as many words, those of one half as many. */
template <int NAXES, bool X> struct words_of_codes {
    enum { CODES = (X ? 1 : 2) << NAXES, WIDE = CODES / 2, NARROW = WIDE > 1 ? WIDE / 2 : 1 };
};

template <int NAXES, bool X, int PLACE> FLOE_DEV void store_codes_by(const level &l, int64_t at, const codes &n)
{
    typedef words_of_codes<NAXES, X> size;
    words<size::WIDE> wide;
    words<size::NARROW> narrow;
#pragma unroll
    for (int i = 0; i < size::WIDE; i++) {
        const int low = number_at<NAXES, X, PLACE>(2 * i), high = number_at<NAXES, X, PLACE>(2 * i + 1);
        wide.v[i] = __byte_perm(n.v[low], high < 0 ? 0 : n.v[high < 0 ? 0 : high], 0x5410);
    }
#pragma unroll
    for (int i = 0; i < size::NARROW; i++)
        narrow.v[i] = __byte_perm(wide.v[size::WIDE > 1 ? 2 * i : 0], wide.v[size::WIDE > 1 ? 2 * i + 1 : 0], 0x6420);
    if (l.job.step.width == 2)
        *(words<size::WIDE> *)((int16_t *)l.job.records + at) = wide;
    else if (size::CODES > 2)
        *(words<size::NARROW> *)((int8_t *)l.job.records + at) = narrow;
    else
        *(uint16_t *)((int8_t *)l.job.records + at) = (uint16_t)narrow.v[0];
}

/* Without signs: more by 128, or by 2^15. */
template <int NAXES, bool X, int PLACE> FLOE_DEV void load_codes_by(const level &l, int64_t at, codes &n)
{
    typedef words_of_codes<NAXES, X> size;
    words<size::WIDE> wide;
    if (l.job.step.width == 2) {
        wide = *(const words<size::WIDE> *)((const int16_t *)l.job.records + at);
#pragma unroll
        for (int i = 0; i < size::WIDE; i++)
            wide.v[i] ^= 0x80008000u;
    } else {
        words<size::NARROW> narrow;
        if (size::CODES > 2)
            narrow = *(const words<size::NARROW> *)((const int8_t *)l.job.records + at);
        else
            narrow.v[0] = *(const uint16_t *)((const int8_t *)l.job.records + at);
#pragma unroll
        for (int i = 0; i < size::WIDE; i++)
            wide.v[i] = __byte_perm(narrow.v[i / 2] ^ 0x80808080u, 0, i % 2 ? 0x4342 : 0x4140);
    }
#pragma unroll
    for (int i = 0; i < size::CODES; i++) {
        const int number = number_at<NAXES, X, PLACE>(i);
        if (number >= 0)
            n.v[number] = wide.v[i / 2] >> 16 * (i % 2);
    }
}

/* Of the low 16 bits, which may be those of 2^23 + a number: that takes no conversion. */
FLOE_DEV floe_real code_value(const level &l, uint32_t n)
{
#if FLOE_REAL_BITS == 32
    return __uint_as_float(__byte_perm(n, 0x4B00u, 0x5410)) - l.no_code;
#else
    return (floe_real)(uint16_t)n - l.no_code;
#endif
}

/* Those of odd planes (first: 1) or of even ones (0) wait. */
FLOE_DEV waiting wait_for(const codes &n, int first)
{
    const waiting w = {
        {__byte_perm(n.v[first], n.v[first + 2], 0x5410), __byte_perm(n.v[first + 4], n.v[first + 6], 0x5410)}};
    return w;
}
FLOE_DEV void come_back(codes &n, const waiting &w, int first)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        n.v[2 * i + first] = w.v[i / 2] >> 16 * (i % 2);
}

} // namespace

#endif
