/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A warp's walk over a chunk of records, window by window: a lane has a column. What is not 0 in a window is listed lane by lane,
 * and dealt to the lanes from that list. Compiled for each width of a code, with and without contexts of planes.
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
    typedef uint8_t type;
};
template <> struct record_of<1> {
    typedef uint2 type;
};
template <> struct record_of<2> {
    typedef uint4 type;
};

FLOE_DEV uint32_t nonzero_bytes(uint32_t v)
{
    const uint32_t t = (v | ((v & 0x7F7F7F7Fu) + 0x7F7F7F7Fu)) & 0x80808080u;
    return (t >> 7) * 0x01020408u >> 24 & 15;
}
FLOE_DEV uint32_t nonzero_halves(uint32_t v) { return ((v & 0xFFFF) != 0) | (uint32_t)(v >> 16 != 0) << 1; }
FLOE_DEV uint32_t mask_of(uint8_t r) { return r; }
FLOE_DEV uint32_t mask_of(uint2 r) { return nonzero_bytes(r.x) | nonzero_bytes(r.y) << 4; }
FLOE_DEV uint32_t mask_of(uint4 r)
{
    return nonzero_halves(r.x) | nonzero_halves(r.y) << 2 | nonzero_halves(r.z) << 4 | nonzero_halves(r.w) << 6;
}

FLOE_DEV int32_t code_at(const uint2 *r, uint32_t k) { return ((const int8_t *)r)[k]; }
FLOE_DEV int32_t code_at(const uint4 *r, uint32_t k) { return ((const int16_t *)r)[k]; }
FLOE_DEV void code_put(uint2 *r, uint32_t k, int32_t v) { ((int8_t *)r)[k] = (int8_t)v; }
FLOE_DEV void code_put(uint4 *r, uint32_t k, int32_t v) { ((int16_t *)r)[k] = (int16_t)v; }
FLOE_DEV int32_t code_at(const uint8_t *, uint32_t) { return 0; } /* masks have no values */
FLOE_DEV void code_put(uint8_t *, uint32_t, int32_t) {}

/* ---- the walk ---------------------------------------------------------------------------------------------------------- */

/* A window: rows t1 - 1 down to t1 - nrows. masks: of this lane's column, 8 bits a row. */
struct window_of_rows {
    uint32_t t1, nrows;
    uint64_t masks;
    uint32_t above; /* nonzero codes of the row above */
};

/* A value of the list. */
struct listed {
    uint32_t lane, row, place; /* row of the window; code of the record */
    uint32_t context;
    bool flip;
};

FLOE_DEV uint32_t row_mask(const window_of_rows &w, uint32_t row) { return (uint32_t)(w.masks >> 8 * row) & 255; }

template <uint32_t WIDTH, bool PLANES> struct context_walk {
    typedef typename record_of<WIDTH>::type record;
    static constexpr uint32_t LARGEST = WIDTH == 1 ? FLOE_CONTEXT_LARGEST_BYTE : FLOE_CONTEXT_LARGEST;
    record *records;               /* of the chunk's row 0, lane 0 */
    uint64_t row_step, plane_step; /* records from one to the next */
    uint32_t nrows, lanes, rows;   /* rows: of a plane */
    record *window;
    uint16_t *list;

    __device__ __forceinline__ void begin(const floe_context_dev_grid &g, uint32_t index, uint8_t *shared,
                                          uint32_t window_rows)
    {
        const floe_context_chunk c = floe_context_chunk_of(&g.grid, index);
        records = (record *)g.records + c.first;
        row_step = c.row;
        plane_step = c.plane;
        nrows = c.planes * c.rows;
        rows = c.rows;
        lanes = c.lanes;
        window = (record *)shared;
        list = (uint16_t *)(shared + FLOE_WARP * (window_rows + 1) * sizeof(record));
    }
    __device__ __forceinline__ bool mine() const { return floe_lane() < lanes; }
    /* Of row t. But in deep chunks, several planes have all their rows: then rows lie evenly. */
    __device__ __forceinline__ record *row_at(uint32_t t) const
    {
        return records + (PLANES ? t / rows * plane_step + t % rows * row_step : t * row_step);
    }
    __device__ __forceinline__ record load(uint32_t t) const
    {
        record none = {};
        return t < nrows && mine() ? row_at(t)[floe_lane()] : none;
    }

    /* Counts of the lanes beside this one; those at the ends stand for their missing neighbours. */
    __device__ __forceinline__ uint32_t left_of(uint32_t own) const { return __shfl_up_sync(FLOE_ALL_LANES, own, 1); }
    __device__ __forceinline__ uint32_t right_of(uint32_t own) const
    {
        const uint32_t right = __shfl_down_sync(FLOE_ALL_LANES, own, 1);
        return floe_lane() + 1 < lanes ? right : own;
    }

    /* Nonzero codes of a row that is decoded: of the window, or stored. */
    __device__ __forceinline__ uint32_t count_at(const window_of_rows &w, uint32_t t) const
    {
        return (uint32_t)__popc(t < w.t1 ? row_mask(w, w.t1 - 1 - t) : mask_of(load(t)));
    }

    /* Context of the mask of row t; before: nonzero codes of the row above it. */
    __device__ __forceinline__ uint32_t mask_context(const window_of_rows &w, uint32_t t, uint32_t before) const
    {
        const uint32_t activity = 2 * before + left_of(before) + right_of(before);
        if (!PLANES)
            return floe_context_mask(activity);
        if (t + rows >= nrows)
            return floe_context_mask(4 * activity);
        const uint32_t q = count_at(w, t + rows);
        const uint32_t sides = left_of(q) + right_of(q);
        return floe_context_mask(2 * activity + 4 * q + sides + count_at(w, t + rows + (t % rows + 1 < rows)) +
                                 count_at(w, t + rows - (t % rows > 0)));
    }

    /* How much is nonzero around this lane's record of each row of the window, 4 bits a row: classes of floe_context_level. */
    __device__ __forceinline__ uint32_t classes_of(const window_of_rows &w) const
    {
        uint32_t classes = 0, before = w.above, own = (uint32_t)__popc(row_mask(w, 0));
        for (uint32_t r = 0; r < w.nrows; r++) {
            const uint32_t after = r + 1 < w.nrows ? (uint32_t)__popc(row_mask(w, r + 1)) : before, next = after;
            const uint32_t left = left_of(own), right = right_of(own), plane = w.t1 - 1 - r + rows;
            uint32_t nonzero = floe_context_nonzero(own, before, after, left + right);
            if (PLANES && plane >= w.t1 && plane < nrows)
                nonzero = floe_context_nonzero_plane(nonzero, count_at(w, plane));
            classes |= floe_context_level(nonzero, 0) / 7 << 4 * r;
            before = own;
            own = next;
        }
        return classes;
    }

    /* Lists the window's values; returns how many. */
    __device__ __forceinline__ uint32_t make_list(const window_of_rows &w)
    {
        const uint32_t classes = classes_of(w), lane = floe_lane(), n = (uint32_t)__popcll(w.masks);
        uint32_t at = n;
#pragma unroll
        for (uint32_t d = 1; d < FLOE_WARP; d *= 2) {
            const uint32_t below = __shfl_up_sync(FLOE_ALL_LANES, at, d);
            at += lane >= d ? below : 0;
        }
        const uint32_t total = __shfl_sync(FLOE_ALL_LANES, at, FLOE_WARP - 1);
        at -= n;
        for (uint32_t half = 0; half < 2; half++)
            for (uint32_t left = (uint32_t)(w.masks >> 32 * half); left; left &= left - 1) {
                const uint32_t bit = 31 - (uint32_t)__clz((int)(left & (0 - left))) + 32 * half;
                list[at++] = (uint16_t)(lane | bit << 5 | (classes >> 4 * (bit / 8) & 15) << 11);
            }
        __syncwarp();
        return total;
    }

    /* Value k of the list; the row above the window stands in window[lane], 0 where there is none. */
    __device__ __forceinline__ listed value_of(const window_of_rows &w, uint32_t k) const
    {
        const uint32_t entry = list[k], bit = entry >> 5 & 63, nonzero = 6 * (entry >> 11);
        listed v = {entry % FLOE_WARP, bit / 8, bit % 8, 0, false};
        const int32_t above = code_at(window + v.lane, v.place);
        uint32_t before = (uint32_t)(above < 0 ? -above : above);
        if (!PLANES) {
            v.context = floe_context_level(nonzero, before);
            return v;
        }
        int32_t plane = 0;
        const uint32_t t = w.t1 - 1 - v.row + rows;
        if (t >= w.t1 && t < nrows) {
            plane = code_at(row_at(t) + v.lane, v.place);
            before += (uint32_t)(plane < 0 ? -plane : plane);
        } else {
            before *= 2;
        }
        const int32_t sign = (above > 0) - (above < 0) + (plane > 0) - (plane < 0);
        v.flip = sign < 0;
        v.context =
            floe_context_level(nonzero, (before + 1) / 2) + FLOE_CONTEXT_LEVELS * (uint32_t)(sign < 0 ? -sign : sign);
        return v;
    }
    __device__ __forceinline__ record *slot_of(const listed &v) { return window + (1 + v.row) * FLOE_WARP + v.lane; }

    __device__ __forceinline__ static record without_values(uint32_t mask)
    {
        record r = {};
        if constexpr (WIDTH == 0)
            r = (record)mask;
        return r;
    }

    /* A window of records that are there, with the row above it. */
    __device__ __forceinline__ window_of_rows load_window(uint32_t t1, uint32_t most)
    {
        const uint32_t lane = floe_lane();
        window_of_rows w = {t1, t1 < most ? t1 : most, 0, 0};
        const record above = load(t1);
        __syncwarp(); /* others may still look at the window before */
        window[lane] = above;
        w.above = (uint32_t)__popc(mask_of(above));
#pragma unroll 4
        for (uint32_t r = 0; r < w.nrows; r++) {
            const record here = load(t1 - 1 - r);
            window[(1 + r) * FLOE_WARP + lane] = here;
            w.masks |= (uint64_t)mask_of(here) << 8 * r;
        }
        __syncwarp();
        return w;
    }
};

/* ---- which chunks a warp does ------------------------------------------------------------------------------------------ */

/* A block takes grid after grid, of which it finds some of n chunks left. All threads; false where there are none. */
FLOE_DEV bool claim_grid(const floe_context_job &job, uint32_t grid, uint32_t n, uint32_t *shared, uint32_t &chunk)
{
    const uint32_t nwarps = blockDim.x / FLOE_WARP;
    __syncthreads();
    if (threadIdx.x == 0)
        *shared = atomicAdd(job.tickets + grid, nwarps);
    __syncthreads();
    chunk = *shared + threadIdx.x / FLOE_WARP;
    return *shared < n;
}
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
    if (g.width == 0)
        what(context_walk<0, false>());
    else if (g.width == 1 && !g.planes)
        what(context_walk<1, false>());
    else if (!g.planes)
        what(context_walk<2, false>());
    else if (g.width == 1)
        what(context_walk<1, true>());
    else
        what(context_walk<2, true>());
}

} // namespace

#endif
