/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A warp's walk over a chunk of records, window by window; a lane owns a column. The nonzero codes of a window are listed lane by lane, and
 * dealt to the lanes from that list. It is compiled for each width of a code, with and without contexts of planes.
 */
#ifndef FLOE_STAGE_CONTEXT_WALK_CUH
#define FLOE_STAGE_CONTEXT_WALK_CUH

#include "backend/device.cuh"
#include "stage/context/context_cuda.h"

namespace
{

/* ---- records ----------------------------------------------------------------------------------------------------------- */

template <uint32_t WIDTH> struct record_of;
template <> struct record_of<0> {
    typedef uint8_t type, code; /* masks have no codes */
};
template <> struct record_of<1> {
    typedef uint2 type;
    typedef int8_t code;
};
template <> struct record_of<2> {
    typedef uint4 type;
    typedef int16_t code;
};

/* The top bit of each byte: whether the byte is not 0. */
FLOE_DEV uint32_t nonzero_bytes(uint32_t v) { return (v | ((v & 0x7F7F7F7Fu) + 0x7F7F7F7Fu)) & 0x80808080u; }
FLOE_DEV uint32_t nonzero_halves(uint32_t v) { return ((v & 0xFFFF) != 0) | (uint32_t)(v >> 16 != 0) << 1; }
FLOE_DEV uint32_t mask_of(uint8_t r) { return r; }
FLOE_DEV uint32_t mask_of(uint2 r) /* byte i of both words to bits i and 4 + i of the top byte: nothing is carried */
{
    return (nonzero_bytes(r.x) >> 7 | nonzero_bytes(r.y) >> 3) * 0x01020408u >> 24;
}
FLOE_DEV uint32_t mask_of(uint4 r)
{
    return nonzero_halves(r.x) | nonzero_halves(r.y) << 2 | nonzero_halves(r.z) << 4 | nonzero_halves(r.w) << 6;
}

/* ---- rows of a window, a byte each -------------------------------------------------------------------------------------- */

/* Rows 0 to 3, then 4 to 7; row 0 is the highest. */
struct row_bytes {
    uint32_t v[2];
};

/* The byte of a row whose number the compiler need not know: no array is indexed, so that both words stay in registers. */
FLOE_DEV uint32_t byte_of(const row_bytes &b, uint32_t row)
{
    return (row < 4 ? b.v[0] : b.v[1]) >> 8 * (row % 4) & 255;
}
FLOE_DEV void put_byte(row_bytes &b, uint32_t row, uint32_t byte) /* where there is 0 */
{
    b.v[0] |= row < 4 ? byte << 8 * (row % 4) : 0;
    b.v[1] |= row < 4 ? 0 : byte << 8 * (row % 4);
}

/* How many bits are set, of each byte. */
FLOE_DEV uint32_t count_bits(uint32_t v)
{
    v -= v >> 1 & 0x55555555u;
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    return (v + (v >> 4)) & 0x0F0F0F0Fu;
}
/* A sixth of each byte, rounded down: exact up to 63 by 43 / 256. */
FLOE_DEV uint32_t sixths(uint32_t v)
{
    return ((v & 0x00FF00FFu) * 43 >> 8 & 0x00FF00FFu) | ((v >> 8 & 0x00FF00FFu) * 43 & 0xFF00FF00u);
}

/* ---- the walk ---------------------------------------------------------------------------------------------------------- */

/* A window: rows t1 - 1 down to t1 - nrows, of this lane's column. counts: codes that are not 0; sides: those of both neighbours. */
struct window_of_rows {
    uint32_t t1, nrows;
    row_bytes masks, counts, sides;
    uint32_t above, activity; /* of the row above: its count, and activity_below of it */
    row_bytes planes;         /* with contexts of planes: counts of the same rows in the plane before */
};

/* A value of the list: the number of its code in shared memory, where the row above the window stands first; and its context. */
struct listed {
    uint32_t code, context;
    bool flip;
};

template <uint32_t WIDTH, bool PLANES> struct context_walk {
    typedef typename record_of<WIDTH>::type record;
    typedef typename record_of<WIDTH>::code code;
    static constexpr uint32_t LARGEST = WIDTH == 1 ? FLOE_CONTEXT_LARGEST_BYTE : FLOE_CONTEXT_LARGEST;
    static constexpr uint32_t ROW_CODES = 8 * FLOE_WARP;
    static constexpr bool DEEP = PLANES, MASKS = WIDTH == 0;
    record *records;               /* of the chunk's row 0, lane 0 */
    uint32_t row_step, plane_step; /* records from a row, or a plane, to the next: fewer than 2^32 in any grid */
    uint32_t nrows, lanes, rows;   /* rows: of a plane */
    uint32_t inverse;              /* 2^20 / rows, rounded up */
    record *window;                /* the row above the window, then its rows; shared memory */
    uint16_t *list;                /* of nonzero codes; shared memory */
    record *
        plane; /* the same row of the plane before, of a window of one row, in shared memory; NULL: it is read where it is stored */

    __device__ __forceinline__ void begin(const floe_context_dev_grid &g, uint32_t index, uint8_t *shared)
    {
        const floe_context_chunk c = floe_context_chunk_of(&g.grid, index);
        static_assert(FLOE_CONTEXT_ROWS <= 1 << 10, "row numbers times inverse fit 32 bits, and quotients are exact");
        records = (record *)g.records + c.first;
        row_step = (uint32_t)c.row;
        plane_step = (uint32_t)c.plane;
        nrows = c.planes * c.rows;
        rows = c.rows;
        inverse = PLANES ? ((1u << 20) + rows - 1) / rows : 0;
        lanes = c.lanes;
        window = (record *)shared;
        list = (uint16_t *)(shared + FLOE_WARP * (g.spec.window + 1) * sizeof(record));
        plane = NULL;
    }
    __device__ __forceinline__ bool mine() const { return floe_lane() < lanes; }
    __device__ __forceinline__ code *codes() const { return (code *)window; }
    __device__ __forceinline__ uint32_t plane_of(uint32_t t) const { return t * inverse >> 20; }
    /* Lane 0 of row t. Without contexts of planes a chunk is one plane, or has all rows of its planes: then all rows are equally far apart. */
    __device__ __forceinline__ record *row_at(uint32_t t) const
    {
        if (!PLANES)
            return records + t * row_step;
        const uint32_t plane = plane_of(t);
        return records + (plane * plane_step + (t - plane * rows) * row_step);
    }
    __device__ __forceinline__ record load(uint32_t t) const
    {
        record none = {};
        return t < nrows && mine() ? row_at(t)[floe_lane()] : none;
    }

    /* The sum of both neighbours' counts, of each byte; at the ends a lane stands for its missing neighbour. */
    __device__ __forceinline__ uint32_t sides_of(uint32_t own) const
    {
        const uint32_t left = __shfl_up_sync(FLOE_ALL_LANES, own, 1), right = __shfl_down_sync(FLOE_ALL_LANES, own, 1);
        return left + (floe_lane() + 1 < lanes ? right : own);
    }

    /* What the context of a mask is made of, from the count of the row above. */
    __device__ __forceinline__ uint32_t activity_below(uint32_t count) const { return 2 * count + sides_of(count); }

    /* Nonzero codes of a row that is decoded: of the window, or stored. */
    __device__ __forceinline__ uint32_t count_at(const window_of_rows &w, uint32_t t) const
    {
        return (uint32_t)__popc(t < w.t1 ? byte_of(w.masks, w.t1 - 1 - t) : mask_of(load(t)));
    }

    /* Counts of four rows, from their masks. */
    __device__ __forceinline__ void count_four(window_of_rows &w, uint32_t four) const
    {
        w.counts.v[four] = count_bits(w.masks.v[four]);
        w.sides.v[four] = sides_of(w.counts.v[four]);
    }

    /* What floe_context_mask takes of row r of the window. activity: activity_below of the row above. */
    __device__ __forceinline__ uint32_t with_planes(window_of_rows &w, uint32_t r, uint32_t activity) const
    {
        const uint32_t t = w.t1 - 1 - r, row = t - plane_of(t) * rows;
        if (!PLANES)
            return activity;
        if (t + rows >= nrows)
            return 4 * activity;
        const uint32_t q = count_at(w, t + rows);
        put_byte(w.planes, r, q);
        return 2 * activity + 4 * q + sides_of(q) + count_at(w, t + rows + (row + 1 < rows)) +
               count_at(w, t + rows - (row > 0));
    }

    /* The same of all rows of a window whose masks are there. */
    __device__ __forceinline__ row_bytes activity_of(window_of_rows &w) const
    {
        const uint32_t first = 2 * w.counts.v[0] + w.sides.v[0], a0 = w.activity << 24;
        row_bytes a = {{__funnelshift_l(a0, first, 8), 0}};
        if (w.nrows > 4)
            a.v[1] = __funnelshift_l(first, 2 * w.counts.v[1] + w.sides.v[1], 8);
        if (PLANES) {
            row_bytes with = {{0, 0}};
#pragma unroll 1
            for (uint32_t r = 0; r < w.nrows; r++)
                put_byte(with, r, with_planes(w, r, byte_of(a, r)));
            a = with;
        }
        return a;
    }

    /* floe_context_class of the records of four rows. */
    __device__ __forceinline__ uint32_t classes_of(const window_of_rows &w, uint32_t four) const
    {
        const uint32_t own = w.counts.v[four], last = w.nrows - 1,
                       is_last = last / 4 == four ? 0xFFu << 8 * (last % 4) : 0;
        const uint32_t before = __funnelshift_l(four ? w.counts.v[0] : w.above << 24, own, 8);
        const uint32_t next = __funnelshift_r(own, four ? 0 : w.counts.v[1], 8);
        const uint32_t after = (next & ~is_last) | (before & is_last);
        uint32_t nonzero = 2 * own + before + after + (w.sides.v[four] >> 1 & 0x7F7F7F7Fu);
#pragma unroll 1
        for (uint32_t r = 4 * four; PLANES && r < w.nrows && r < 4 * four + 4; r++) {
            const uint32_t plane = w.t1 - 1 - r + rows, shift = 8 * (r % 4), here = nonzero >> shift & 255;
            if (plane >= w.t1 && plane < nrows)
                nonzero ^= (here ^ floe_context_nonzero_plane(here, byte_of(w.planes, r))) << shift;
        }
        return sixths(nonzero);
    }

    /* Lists the window's values. An entry has, from bit 0 on, the value's place in its record, its lane, its row and floe_context_class.
     * Returns how many there are. */
    __device__ __forceinline__ uint32_t make_list(const window_of_rows &w)
    {
        const uint32_t lane = floe_lane(), n = (uint32_t)__popc(w.masks.v[0]) + (uint32_t)__popc(w.masks.v[1]);
        uint32_t at = 0, total = 0;
        if (!__any_sync(FLOE_ALL_LANES, n))
            return 0;
#pragma unroll
        for (uint32_t bit = 0; bit < 6; bit++) { /* the sum of n, up to 56, over the lanes below: bit by bit */
            if (FLOE_CONTEXT_CLASSES * w.nrows >> bit == 0)
                break;
            const uint32_t set = __ballot_sync(FLOE_ALL_LANES, n >> bit & 1);
            at += (uint32_t)__popc(set & floe_lanes_below()) << bit;
            total += (uint32_t)__popc(set) << bit;
        }
        uint16_t *to = list + at;
        uint32_t classes = 0;
#pragma unroll
        for (uint32_t r = 0; r < FLOE_CONTEXT_WINDOW; r++) {
            if (r >= w.nrows)
                break;
            const uint32_t shift = 8 * (r % 4), mask = w.masks.v[r / 4] >> shift;
            classes = r % 4 ? classes : classes_of(w, r / 4);
            const uint32_t entry = (lane << 3) + r * ROW_CODES + (classes >> shift & 7) * (8 * ROW_CODES);
#pragma unroll
            for (uint32_t place = 0; place < FLOE_CONTEXT_CLASSES; place++)
                if (mask >> place & 1)
                    *to++ = (uint16_t)(entry + place);
        }
        __syncwarp();
        return total;
    }

    /* The value of an entry of the list. */
    __device__ __forceinline__ listed value_of(const window_of_rows &w, uint32_t entry) const
    {
        const uint32_t at = entry & (8 * ROW_CODES - 1), size = entry / (8 * ROW_CODES);
        listed v = {at + ROW_CODES, 0, false};
        const int32_t above = codes()[at % ROW_CODES];
        if (!PLANES) {
            v.context = floe_context_level(size, floe_context_magnitude(above));
            return v;
        }
        const uint32_t t = w.t1 - 1 - at / ROW_CODES + rows;
        const bool there = t >= w.t1 && t < nrows;
        int32_t in_plane = 0;
        if (there)
            in_plane = ((const code *)(plane ? plane : row_at(t)))[at % ROW_CODES];
        v.context = floe_context_value_planes(size, above, in_plane, there, &v.flip);
        return v;
    }

    __device__ __forceinline__ static record without_values(uint32_t mask)
    {
        record r = {};
        if constexpr (WIDTH == 0)
            r = (record)mask;
        return r;
    }

    /* Loads a window of at most so many rows below row t1, and the row above it. */
    __device__ __forceinline__ window_of_rows load_window(uint32_t t1, uint32_t most)
    {
        const uint32_t lane = floe_lane();
        window_of_rows w = {t1, t1 < most ? t1 : most, {}, {}, {}, 0, 0, {}};
        const record none = {}, above = load(t1), *from = row_at(t1 - 1) + lane;
        __syncwarp(); /* others may still look at the window before */
        window[lane] = above;
#pragma unroll
        for (uint32_t four = 0; four < 2; four++) {
            record here[4];
            if (4 * four >= w.nrows)
                continue;
#pragma unroll
            for (uint32_t r = 0; r < 4; r++) {
                const uint32_t row = 4 * four + r;
                if (PLANES)
                    from = row < w.nrows ? row_at(t1 - 1 - row) + lane : from;
                here[r] = row < w.nrows && mine() ? *from : none;
                from -= PLANES ? 0 : row_step;
            }
#pragma unroll
            for (uint32_t r = 0; r < 4; r++)
                if (4 * four + r < w.nrows) {
                    window[(1 + 4 * four + r) * FLOE_WARP + lane] = here[r];
                    w.masks.v[four] |= mask_of(here[r]) << 8 * r;
                }
            count_four(w, four);
        }
        w.above = (uint32_t)__popc(mask_of(above));
        w.activity = activity_below(w.above);
        __syncwarp();
        return w;
    }
};

/* A walk down the rows of a chunk with contexts of planes, row by row. */
template <class WALK> struct deep_row {
    uint32_t t, row, at; /* row: of its plane; at: its first record */

    __device__ __forceinline__ deep_row(const WALK &walk, uint32_t number)
    {
        const uint32_t plane = walk.plane_of(number);
        t = number;
        row = t - plane * walk.rows;
        at = plane * walk.plane_step + row * walk.row_step;
    }
    /* The first record of row t - 1. */
    __device__ __forceinline__ uint32_t before(const WALK &walk) const
    {
        return at - (row ? walk.row_step : walk.plane_step - (walk.rows - 1) * walk.row_step);
    }
    __device__ __forceinline__ void step(const WALK &walk)
    {
        t--;
        at = before(walk);
        row = row ? row - 1 : walk.rows - 1;
    }
    __device__ __forceinline__ bool has_plane(const WALK &walk) const { return t + walk.rows < walk.nrows; }
    /* This lane's record of row t - 2 of the plane before. */
    __device__ __forceinline__ typename WALK::record ahead(const WALK &walk) const
    {
        const uint32_t up = row >= 2 ? walk.plane_step - 2 * walk.row_step : (walk.rows - 2) * walk.row_step;
        const typename WALK::record none = {};
        return t + walk.rows - 2 < walk.nrows && walk.mine() ? walk.records[at + up + floe_lane()] : none;
    }
    /* What floe_context_mask takes of this row, as with_planes finds it. above: activity_below of the row above; far, here and near: counts
     * of rows t + 1, t and t - 1 of the plane before. */
    __device__ __forceinline__ uint32_t activity(const WALK &walk, uint32_t above, uint32_t far, uint32_t here,
                                                 uint32_t near) const
    {
        if (!has_plane(walk))
            return 4 * above;
        return 2 * above + 4 * here + walk.sides_of(here) + (row + 1 < walk.rows ? far : here) +
               (row > 0 ? near : here);
    }
};

enum { CONTEXT_ACTIVITIES = 128 /* more than with_planes has */ };

/* A table by activity: of(context) of its mask context. By a block, whose threads then wait. */
template <class OF> FLOE_DEV void context_of_activity(uint8_t *to, OF of)
{
    for (uint32_t i = threadIdx.x; i < CONTEXT_ACTIVITIES; i += blockDim.x) {
        const uint32_t context = floe_context_mask(i);
        to[i] = (uint8_t)of(context < FLOE_CONTEXT_MASKS ? context : 0);
    }
    __syncthreads();
}

/* ---- which chunks a warp does ------------------------------------------------------------------------------------------ */

/* What a block has claimed: chunks ticket, ticket + 1, .. of a grid, one for each warp. */
struct claim {
    uint32_t grid, ticket;
};

/* Claims chunks of the first grid from number `grid` on that has some left; chunks_of(g) returns how many it has. Returns the grid, or
 * job.ngrids if none is left. By a block: its first warp looks at 32 grids at a time. */
template <class CHUNKS>
FLOE_DEV uint32_t claim_grid(const floe_context_job &job, uint32_t grid, claim *shared, CHUNKS chunks_of,
                             uint32_t &chunk)
{
    __syncthreads();
    if (threadIdx.x < FLOE_WARP) {
        uint32_t ticket = 0;
        for (bool claimed = false; !claimed && grid < job.ngrids;) {
            const uint32_t g = grid + floe_lane();
            const uint32_t left =
                __ballot_sync(FLOE_ALL_LANES, g < job.ngrids && __ldcg(job.tickets + g) < chunks_of(job.grids[g]));
            grid += left ? (uint32_t)__ffs((int)left) - 1 : FLOE_WARP;
            if (left == 0)
                continue;
            if (floe_lane() == 0)
                ticket = atomicAdd(job.tickets + grid, blockDim.x / FLOE_WARP);
            ticket = __shfl_sync(FLOE_ALL_LANES, ticket, 0);
            claimed = ticket < chunks_of(job.grids[grid]);
            grid += !claimed;
        }
        if (floe_lane() == 0)
            *shared = {min(grid, job.ngrids), ticket};
    }
    __syncthreads();
    chunk = shared->ticket + threadIdx.x / FLOE_WARP;
    return shared->grid;
}
/* The next chunk of the grid for this warp; not below n if none is left. */
FLOE_DEV uint32_t next_chunk(const floe_context_job &job, uint32_t grid)
{
    uint32_t chunk = 0;
    if (floe_lane() == 0)
        chunk = atomicAdd(job.tickets + grid, 1u);
    return __shfl_sync(FLOE_ALL_LANES, chunk, 0);
}

/* Calls what(walk<WIDTH, PLANES>) for the kind of a grid. */
template <class WHAT> FLOE_DEV void context_by_kind(const floe_context_dev_grid &g, WHAT what)
{
    if (g.spec.width == 0)
        what(context_walk<0, false>());
    else if (g.spec.width == 1 && !g.spec.planes)
        what(context_walk<1, false>());
    else if (!g.spec.planes)
        what(context_walk<2, false>());
    else if (g.spec.width == 1)
        what(context_walk<1, true>());
    else
        what(context_walk<2, true>());
}

} // namespace

#endif
