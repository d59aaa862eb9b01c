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

/* Adds to counts, which a block shares; the commonest symbol to nempty. rows: whole windows, so that they begin where those of the
 * chunk do. contexts: of masks, of each activity. keeper: of the chunk. Returns whether a code is not 0. */
template <class WALK>
FLOE_DEV bool count_part(WALK &walk, const floe_context_dev_grid &g, uint32_t part, uint32_t rows,
                         const uint8_t *contexts, uint32_t *counts, uint32_t &nempty, token_keeper &keeper)
{
    const uint32_t above = part * rows, first = above < walk.nrows ? walk.nrows - above : 0,
                   last = first > rows ? first - rows : 0;
    uint32_t number = above / g.window, some = 0;
#pragma unroll 1
    for (uint32_t t1 = first, done; t1 > last; t1 -= done, number++) {
        window_of_rows w = walk.load_window(t1, g.window);
        const row_bytes activity = walk.activity_of(w);
        const uint32_t n = g.width ? walk.make_list(w) : 0;
        some |= w.masks.v[0] | w.masks.v[1];
        /* values are dealt as they are coded, where that is to be kept */
        const uint32_t deal = keeper.windows ? walk.lanes : FLOE_WARP, nsteps = (n + deal - 1) / deal;
        keeper.begin(w.nrows + 2 * nsteps);
#pragma unroll
        for (uint32_t r = 0; r < FLOE_CONTEXT_WINDOW; r++) {
            if (r >= w.nrows)
                break;
            const uint32_t mask = byte_of(w.masks, r), context = contexts[byte_of(activity, r)],
                           place = context * FLOE_CONTEXT_MASK_SYMBOLS + mask;
            nempty += walk.mine() && place == 0;
            if (walk.mine() && place)
                atomicAdd(counts + place, 1u);
            keeper.put(walk.mine() ? token_of_mask(context, mask) : TOKEN_NONE);
        }
#pragma unroll 1
        for (uint32_t step = 0; step < nsteps; step++) {
            const uint32_t k = step * deal + floe_lane();
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
        keeper.end_window(number);
        done = w.nrows;
    }
    return __any_sync(FLOE_ALL_LANES, some != 0);
}

} // namespace

#endif
