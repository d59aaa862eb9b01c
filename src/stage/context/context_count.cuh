/* SPDX-License-Identifier: BSD-3-Clause */
/* Symbols of a chunk, counted in parts: all its records are there, so that no part waits for the one above it. */
#ifndef FLOE_STAGE_CONTEXT_COUNT_CUH
#define FLOE_STAGE_CONTEXT_COUNT_CUH

#include "stage/context/context_tokens.cuh"

namespace
{

/* Parts of so many rows, which are whole windows, of a whole chunk. */
FLOE_DEV uint32_t count_parts(const floe_context_grid &g, uint32_t rows)
{
    return (g.piece[0] * g.piece[1] + rows - 1) / rows;
}

/* What a block counts with. contexts: of masks, of each activity. */
struct counting {
    const uint8_t *contexts;
    uint32_t *counts; /* the block's */
    uint32_t nempty;  /* of the commonest symbol */
    token_keeper keeper;

    template <class WALK> __device__ __forceinline__ void add_mask(const WALK &walk, uint32_t activity, uint32_t mask)
    {
        const uint32_t context = contexts[activity], place = context * FLOE_CONTEXT_MASK_SYMBOLS + mask;
        nempty += walk.mine() && place == 0;
        if (walk.mine() && place)
            atomicAdd(counts + place, 1u);
        keeper.put(walk.mine() ? token_of_mask(context, mask) : TOKEN_NONE);
    }

    /* Those that are listed: step by step, with so many lanes. */
    template <class WALK>
    __device__ __forceinline__ void add_values(const WALK &walk, const window_of_rows &w, uint32_t n, uint32_t deal)
    {
#pragma unroll 1
        for (uint32_t first = 0; first < n; first += deal) {
            const uint32_t k = first + floe_lane();
            const bool active = floe_lane() < deal && k < n;
            const listed v = walk.value_of(w, active ? k : 0);
            const int32_t code = walk.codes()[v.code];
            const uint32_t size = (uint32_t)(code < 0 ? -code : code), sign = code < 0,
                           symbol = floe_context_symbol(size, sign ^ v.flip);
            if (active)
                atomicAdd(counts + FLOE_CONTEXT_VALUES_AT + v.context * FLOE_CONTEXT_STRIDE + symbol, 1u);
            keeper.put_value(active ? token_of_value(v.context, symbol) : TOKEN_NONE,
                             active ? floe_context_raw(size, sign) | 1u << floe_context_nraw(symbol) : 1);
        }
    }

    __device__ __forceinline__ void end_block()
    {
        const uint32_t all = __reduce_add_sync(FLOE_ALL_LANES, nempty);
        if (floe_lane() == 0)
            atomicAdd(counts, all);
        nempty = 0;
    }

    /* Values are dealt as they are coded, where that is to be kept. */
    template <class WALK> __device__ __forceinline__ uint32_t deal_of(const WALK &walk) const
    {
        return keeper.windows ? walk.lanes : FLOE_WARP;
    }
};

/* Rows first - 1 down to last, in windows of a row with contexts of planes: rows of the plane before are loaded a row ahead. */
template <class WALK>
FLOE_DEV uint32_t count_planes(WALK &walk, uint32_t first, uint32_t last, uint32_t number, counting &to)
{
    typedef typename WALK::record record;
    const uint32_t lane = floe_lane(), rows = walk.rows, deal = to.deal_of(walk);
    record here = walk.load(first - 1 + rows),
           near = walk.load(first - 2 + rows), /* rows t, t - 1 of the plane before */
        own = walk.load(first - 1);
    const record far = walk.load(first + rows), above = walk.load(first);
    uint32_t in_far = (uint32_t)__popc(mask_of(far)), in_here = (uint32_t)__popc(mask_of(here)),
             in_near = (uint32_t)__popc(mask_of(near)), count_above = (uint32_t)__popc(mask_of(above)), some = 0,
             activity = walk.activity_below(count_above);
    __syncwarp(); /* others may still look at the part before */
    walk.window[FLOE_WARP + lane] = above;
    walk.plane = (record *)(walk.list + FLOE_CONTEXT_CLASSES * FLOE_WARP);
#pragma unroll 1
    for (deep_row<WALK> r(walk, first - 1);; number++) {
        const record ahead = r.ahead(walk);
        window_of_rows w = {r.t + 1, 1, {{mask_of(own), 0}}, {}, {}, count_above, activity, {{in_here, 0}}};
        const uint32_t context = r.activity(walk, activity, in_far, in_here, in_near), t = r.t;
        walk.count_four(w, 0);
        __syncwarp(); /* others may still look at the row above */
        walk.window[lane] = walk.window[FLOE_WARP + lane];
        walk.window[FLOE_WARP + lane] = own;
        walk.plane[lane] = here;
        r.step(walk);
        if (t > last && walk.mine())
            own = walk.records[r.at + lane];
        const uint32_t n = walk.make_list(w);
        to.keeper.begin(1 + 2 * ((n + deal - 1) / deal));
        to.add_mask(walk, context, w.masks.v[0]);
        to.add_values(walk, w, n, deal);
        to.keeper.end_window(number);
        some |= w.masks.v[0];
        if (t == last)
            return some;
        count_above = w.counts.v[0];
        activity = 2 * count_above + w.sides.v[0];
        in_far = in_here;
        in_here = in_near;
        in_near = (uint32_t)__popc(mask_of(ahead));
        here = near;
        near = ahead;
    }
}

/* Adds to what a block counts. rows: whole windows, so that they begin where those of the chunk do. Returns whether a code is not 0. */
template <class WALK>
FLOE_DEV bool count_part(WALK &walk, const floe_context_dev_grid &g, uint32_t part, uint32_t rows, counting &to)
{
    const uint32_t above = part * rows, first = above < walk.nrows ? walk.nrows - above : 0,
                   last = first > rows ? first - rows : 0, deal = to.deal_of(walk);
    uint32_t number = above / g.window, some = 0;
    if constexpr (WALK::DEEP)
        if (g.window == 1 && walk.rows > 2 && first > 0)
            return __any_sync(FLOE_ALL_LANES, count_planes(walk, first, last, number, to) != 0);
#pragma unroll 1
    for (uint32_t t1 = first, done; t1 > last; t1 -= done, number++) {
        window_of_rows w = walk.load_window(t1, g.window);
        const row_bytes activity = walk.activity_of(w);
        const uint32_t n = g.width ? walk.make_list(w) : 0;
        some |= w.masks.v[0] | w.masks.v[1];
        to.keeper.begin(w.nrows + 2 * ((n + deal - 1) / deal));
#pragma unroll
        for (uint32_t r = 0; r < FLOE_CONTEXT_WINDOW; r++) {
            if (r >= w.nrows)
                break;
            to.add_mask(walk, byte_of(activity, r), byte_of(w.masks, r));
        }
        to.add_values(walk, w, n, deal);
        to.keeper.end_window(number);
        done = w.nrows;
    }
    return __any_sync(FLOE_ALL_LANES, some != 0);
}

} // namespace

#endif
