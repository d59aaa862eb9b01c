/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What counting finds out is kept for encoding, in items of a token a lane: of each window the symbols of its masks, row by row, then
 * those of its values, as they are dealt. Encoding is a chain of states, and has nothing else to do then but to go through the items from
 * the last one to the first. Where there is no room, it finds the symbols again.
 */
#ifndef FLOE_STAGE_CONTEXT_TOKENS_CUH
#define FLOE_STAGE_CONTEXT_TOKENS_CUH

#include "stage/ans/ans_lanes.cuh"
#include "stage/context/context_walk.cuh"

namespace
{

/* A token is the number of its symbol among those of all contexts. */
enum {
    TOKEN_NONE = 0, /* of a lane that has none: its symbol changes no state */
    TOKEN_MASKS = 1,
    TOKEN_VALUES = TOKEN_MASKS + FLOE_CONTEXT_MASKS * FLOE_CONTEXT_MASK_SYMBOLS,
    TOKEN_RAW = 1 << 15, /* in all lanes: the item before this one has raw bits, below a bit that is set */
    ITEM_WORDS = FLOE_WARP / 2,
    ITEM_SLAB = 512,      /* items that a warp takes at a time, at most */
    ITEM_SLABS = 1 << 14, /* that there is room for; or each has but one window */
    ITEMS_AHEAD = 8       /* that are on their way while as many are written */
};
static_assert(TOKEN_VALUES + FLOE_CONTEXT_VALUES * FLOE_CONTEXT_VALUE_SYMBOLS <= TOKEN_RAW, "tokens have 15 bits");

FLOE_DEV uint32_t token_of_mask(uint32_t context, uint32_t mask)
{
    return TOKEN_MASKS + context * FLOE_CONTEXT_MASK_SYMBOLS + mask;
}
FLOE_DEV uint32_t token_of_value(uint32_t context, uint32_t symbol)
{
    return TOKEN_VALUES + context * FLOE_CONTEXT_VALUE_SYMBOLS + symbol;
}

/* Of a chunk's windows: where their items are, FLOE_CONTEXT_NOT_KEPT of those without. */
FLOE_DEV floe_context_dev_window *windows_of(const floe_context_job &job, const floe_context_dev_grid &g,
                                             uint32_t chunk)
{
    return job.windows ? job.windows + g.first_window + (uint64_t)chunk * floe_context_chunk_windows(&g) : NULL;
}

/* ---- count ------------------------------------------------------------------------------------------------------------- */

/* Of a warp. No order of items in memory reaches the stream. */
struct token_keeper {
    const floe_context_job *job;
    floe_context_dev_window *windows; /* NULL: nothing is kept */
    uint32_t at, end;                 /* room that the warp has, in items; end 0: none */
    uint32_t first;                   /* item of the window */

    /* A window of at most so many items. */
    __device__ __forceinline__ void begin(uint32_t most)
    {
        if (windows && end - at < most) {
            const uint64_t room = job->ntokens / ITEM_WORDS, share = floe_min64(room / ITEM_SLABS, ITEM_SLAB);
            const unsigned long long slab = floe_max64(share, most);
            unsigned long long begin = 0;
            if (floe_lane() == 0)
                begin = atomicAdd((unsigned long long *)job->tokens_taken, slab * ITEM_WORDS) / ITEM_WORDS;
            begin = __shfl_sync(FLOE_ALL_LANES, begin, 0);
            at = begin + slab > room ? 0 : (uint32_t)begin;
            end = begin + slab > room ? 0 : (uint32_t)(begin + slab);
        }
        first = at;
    }
    __device__ __forceinline__ void put(uint32_t token)
    {
        if (end)
            ((uint16_t *)job->tokens)[(uint64_t)at++ * FLOE_WARP + floe_lane()] = (uint16_t)token;
    }
    /* raw: of lanes whose symbol has some, with a bit above them; else 1. */
    __device__ __forceinline__ void put_value(uint32_t token, uint32_t raw)
    {
        if (!end)
            return;
        const bool some = __any_sync(FLOE_ALL_LANES, raw > 1);
        if (some)
            put(raw);
        put(token | (some ? TOKEN_RAW : 0));
    }
    __device__ __forceinline__ void end_window(uint32_t window)
    {
        if (windows && floe_lane() == 0)
            windows[window] = {end ? first : FLOE_CONTEXT_NOT_KEPT, at - first};
    }
};

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

/* Items of a chunk, from the last one on: runs of windows whose items lie behind one another. */
struct item_cursor {
    const floe_context_dev_window *windows;
    const uint16_t *tokens; /* of this lane */
    uint32_t left, begins;  /* windows, from those of the lanes on; which of these begin a run */
    uint32_t at, end;       /* of this lane's window */
    uint32_t first, n;      /* the run's first item, and how many are left of it */

    /* The next run, if there is one. */
    __device__ __forceinline__ void next_run()
    {
        const uint32_t lane = floe_lane();
        if (begins == 0 && left > 0) {
            const bool there = lane < left;
            const floe_context_dev_window w =
                there ? windows[left - 1 - lane] : floe_context_dev_window{FLOE_CONTEXT_NOT_KEPT, 0};
            at = w.at;
            end = w.at + w.n;
            const uint32_t before = __shfl_up_sync(FLOE_ALL_LANES, at, 1);
            begins = __ballot_sync(FLOE_ALL_LANES, there && (lane == 0 || end != before));
            left -= left < FLOE_WARP ? left : FLOE_WARP;
        }
        if (begins == 0)
            return;
        const int from = __ffs((int)begins) - 1, count = __popc(__ballot_sync(FLOE_ALL_LANES, end > at));
        begins &= begins - 1;
        const int last = begins ? __ffs((int)begins) - 2 : count - 1;
        first = __shfl_sync(FLOE_ALL_LANES, at, last);
        n = __shfl_sync(FLOE_ALL_LANES, end, from) - first;
    }

    /* Returns how many there are, 0 at the end; those that are missing change nothing. */
    __device__ __forceinline__ uint32_t load(uint32_t *of)
    {
        if (n == 0)
            next_run();
        const uint32_t some = n < ITEMS_AHEAD ? n : ITEMS_AHEAD;
        const uint16_t *from = tokens + (uint64_t)(first + n) * FLOE_WARP;
#pragma unroll
        for (int i = 0; i < ITEMS_AHEAD; i++)
            of[i] = (uint32_t)i < some ? __ldg(from - (i + 1) * FLOE_WARP) : TOKEN_NONE;
        n -= some;
        return some;
    }
};

struct token_writer {
    const floe_context_job &job;
    const floe_ans_symbol *symbols; /* by token */

    __device__ __forceinline__ void write_symbol(uint32_t token, floe_ans_symbol symbol, floe_ans_writer &out) const
    {
        floe_ans_write(out, true, symbol, token < TOKEN_VALUES ? FLOE_CONTEXT_MASK_BITS : FLOE_CONTEXT_VALUE_BITS);
    }

    /* A token that raw bits come before waits for these. */
    __device__ __forceinline__ void write_item(uint32_t token, uint32_t &waiting, floe_ans_writer &out) const
    {
        if (!waiting && token & TOKEN_RAW) {
            waiting = token;
            return;
        }
        if (waiting) {
            const uint32_t nraw = floe_top_bit(token);
            floe_ans_write_raw(out, token ^ 1u << nraw, nraw);
            token = waiting ^ TOKEN_RAW;
            waiting = 0;
        }
        write_symbol(token, symbols[token], out);
    }

    __device__ __forceinline__ void write(const uint32_t *tokens, uint32_t n, uint32_t &waiting,
                                          floe_ans_writer &out) const
    {
        uint32_t all = 0;
#pragma unroll
        for (uint32_t i = 0; i < ITEMS_AHEAD; i++)
            all |= tokens[i];
        /* All lanes go the same way: bit 15 of raw bits stands beside the mark, or is waited for. */
        if (waiting || all & TOKEN_RAW) {
#pragma unroll
            for (uint32_t i = 0; i < ITEMS_AHEAD; i++)
                if (i < n)
                    write_item(tokens[i], waiting, out);
            return;
        }
        floe_ans_symbol of[ITEMS_AHEAD];
#pragma unroll
        for (uint32_t i = 0; i < ITEMS_AHEAD; i++)
            of[i] = symbols[tokens[i]];
#pragma unroll
        for (uint32_t i = 0; i < ITEMS_AHEAD; i++)
            write_symbol(tokens[i], of[i], out);
    }

    /* All windows of a chunk, last one first. False, with nothing written, where not all are kept. */
    __device__ __forceinline__ bool chunk(const floe_context_dev_window *windows, uint32_t nwindows,
                                          floe_ans_writer &out) const
    {
        const uint32_t lane = floe_lane();
        bool kept = windows != NULL;
        for (uint32_t i = lane; kept && i < nwindows; i += FLOE_WARP)
            kept = windows[i].at != FLOE_CONTEXT_NOT_KEPT;
        if (!__all_sync(FLOE_ALL_LANES, kept))
            return false;
        item_cursor items = {windows, (const uint16_t *)job.tokens + lane, nwindows, 0, 0, 0, 0, 0};
        uint32_t now[ITEMS_AHEAD], waiting = 0;
        for (uint32_t n = items.load(now); n > 0;) {
            uint32_t next[ITEMS_AHEAD];
            const uint32_t some = items.load(next);
            write(now, n, waiting, out);
            n = some;
#pragma unroll
            for (uint32_t i = 0; i < ITEMS_AHEAD; i++)
                now[i] = next[i];
        }
        return true;
    }
};

} // namespace

#endif
