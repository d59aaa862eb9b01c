/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What counting finds out is kept for encoding: of each window the symbols of its masks, row by row, then those of its values, as they
 * are dealt. Encoding is a chain of states, and has little else to do then. Where there is no room, it finds them again.
 */
#ifndef FLOE_STAGE_CONTEXT_TOKENS_CUH
#define FLOE_STAGE_CONTEXT_TOKENS_CUH

#include "backend/device_shared.cuh"
#include "stage/ans/ans_lanes.cuh"
#include "stage/context/context_walk.cuh"

namespace
{

enum {
    TOKEN_MASK_WORDS = FLOE_WARP / 2, /* of a row: 16 bits a lane */
    TOKEN_SLAB = 4096,                /* words that a warp takes at a time, at most */
    TOKEN_SLABS = 1 << 14,            /* that there is room for; or each has but one window */
    TOKEN_SYMBOL_BITS = 6,
    TOKEN_CONTEXT_BITS = 7
};
static_assert(FLOE_CONTEXT_VALUE_SYMBOLS <= 1 << TOKEN_SYMBOL_BITS && FLOE_CONTEXT_VALUES <= 1 << TOKEN_CONTEXT_BITS,
              "raw bits stand above: 15 at most");

FLOE_DEV uint32_t token_of_value(uint32_t context, uint32_t symbol, uint32_t raw)
{
    return symbol | context << TOKEN_SYMBOL_BITS | raw << (TOKEN_SYMBOL_BITS + TOKEN_CONTEXT_BITS);
}

/* Of a chunk's windows: where their tokens begin, FLOE_CONTEXT_NOT_KEPT of those without. */
FLOE_DEV floe_context_dev_window *windows_of(const floe_context_job &job, const floe_context_dev_grid &g,
                                             uint32_t chunk)
{
    return job.windows ? job.windows + g.first_window + (uint64_t)chunk * floe_context_chunk_windows(&g) : NULL;
}

/* ---- count ------------------------------------------------------------------------------------------------------------- */

/* Of a warp. No order of tokens in memory reaches the stream. */
struct token_keeper {
    const floe_context_job *job; /* NULL: nothing is kept */
    floe_context_dev_window *windows;
    uint64_t at, end;

    /* Room for a window with n values, or NULL. */
    __device__ __forceinline__ uint32_t *take(uint32_t window, uint32_t nrows, uint32_t n)
    {
        const uint32_t nwords = (nrows * TOKEN_MASK_WORDS + n + 3) & ~3u; /* 16 bytes at a time */
        if (!windows)
            return NULL;
        if (end - at < nwords) {
            const uint64_t share = floe_min64(job->ntokens / TOKEN_SLABS & ~(uint64_t)3, TOKEN_SLAB);
            const unsigned long long slab = floe_max64(share, nwords);
            unsigned long long begin = 0;
            if (floe_lane() == 0)
                begin = atomicAdd((unsigned long long *)job->tokens_taken, slab);
            at = __shfl_sync(FLOE_ALL_LANES, begin, 0);
            end = at + slab;
            if (end > job->ntokens)
                at = end = 0;
        }
        const bool kept = end != 0;
        if (floe_lane() == 0)
            windows[window] = {kept ? (uint32_t)at : FLOE_CONTEXT_NOT_KEPT, (uint16_t)n, 0};
        at += kept ? nwords : 0;
        return kept ? job->tokens + at - nwords : NULL;
    }
    /* Raw bits follow a symbol of this lane's. */
    __device__ __forceinline__ void note_raw(uint32_t window, bool raw)
    {
        if (windows && __any_sync(FLOE_ALL_LANES, raw) && floe_lane() == 0)
            windows[window].raw = 1;
    }
};

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

enum {
    TOKEN_STAGES = 4,       /* windows whose tokens are in shared memory, or on their way */
    TOKEN_STAGE_WORDS = 256 /* of each, and of most windows all; others are read where they are */
};

/* A step: what each lane writes. Raw bits follow their symbol, so they are written first. */
struct token_step {
    floe_ans_symbol symbol;
    uint32_t token;
    bool active;
};

FLOE_DEV uint32_t token_symbol(uint32_t token) { return token & ((1 << TOKEN_SYMBOL_BITS) - 1); }

/* Symbols by context, as load_symbols of the kernel has them; stages: shared memory of the warp. */
template <class SYMBOLS> struct token_writer {
    const floe_context_job &job;
    const SYMBOLS *s;
    uint32_t *stages;
    uint32_t lanes, inverse; /* inverse: of lanes, times 2^16 */

    __device__ __forceinline__ uint32_t *stage_of(uint32_t turn) const
    {
        return stages + turn % TOKEN_STAGES * TOKEN_STAGE_WORDS;
    }
    __device__ __forceinline__ void fetch(floe_context_dev_window w, uint32_t nrows, uint32_t turn) const
    {
        const uint32_t nwords = nrows * TOKEN_MASK_WORDS + w.n;
#pragma unroll
        for (uint32_t k = 0; k < TOKEN_STAGE_WORDS; k += 4 * FLOE_WARP) {
            const uint32_t i = k + 4 * floe_lane();
            if (i < nwords)
                floe_copy16_async_once(stage_of(turn) + i, job.tokens + w.at + i);
        }
    }

    __device__ __forceinline__ token_step value_at(floe_context_dev_window w, const uint32_t *stage, uint32_t first,
                                                   uint32_t step) const
    {
        const uint32_t k = step * lanes + floe_lane();
        const bool active = floe_lane() < lanes && k < w.n,
                   staged = first + step * lanes + FLOE_WARP <= TOKEN_STAGE_WORDS;
        const uint32_t here = staged   ? stage[first + k]
                              : active ? __ldg(job.tokens + w.at + first + k)
                                       : 0,
                       token = active ? here : 0,
                       context = token >> TOKEN_SYMBOL_BITS & ((1 << TOKEN_CONTEXT_BITS) - 1);
        return {s->values[s->value_table[context]][token_symbol(token)], token, active};
    }
    __device__ __forceinline__ token_step mask_at(const uint32_t *stage, uint32_t row) const
    {
        const uint32_t token = ((const uint16_t *)stage)[row * FLOE_WARP + floe_lane()];
        static_assert(FLOE_CONTEXT_WINDOW * TOKEN_MASK_WORDS <= TOKEN_STAGE_WORDS, "masks are always there");
        return {s->masks[s->table_of_mask[token / FLOE_CONTEXT_MASK_SYMBOLS]][token % FLOE_CONTEXT_MASK_SYMBOLS], token,
                floe_lane() < lanes};
    }

    /* Steps of values, then masks, each from the last one on; while one is written, the next one is looked up. */
    __device__ __forceinline__ void write(floe_context_dev_window w, uint32_t nrows, uint32_t turn,
                                          floe_ans_writer &out) const
    {
        const uint32_t *stage = stage_of(turn), first = nrows * TOKEN_MASK_WORDS;
        static_assert((FLOE_CONTEXT_CLASSES * FLOE_CONTEXT_WINDOW + 1) * FLOE_WARP <= 1 << 11, "quotients are exact");
        uint32_t step = (w.n + lanes - 1) * inverse >> 16;
        token_step next = step ? value_at(w, stage, first, step - 1) : mask_at(stage, nrows - 1);
#pragma unroll 1
        while (step > 0) {
            const token_step now = next;
            step--;
            next = step ? value_at(w, stage, first, step - 1) : mask_at(stage, nrows - 1);
            if (w.raw)
                floe_ans_write_raw(out, now.token >> (TOKEN_SYMBOL_BITS + TOKEN_CONTEXT_BITS),
                                   now.active ? floe_context_nraw(token_symbol(now.token)) : 0);
            floe_ans_write(out, now.active, now.symbol, FLOE_CONTEXT_VALUE_BITS);
        }
#pragma unroll 1
        for (uint32_t r = nrows; r-- > 0;) {
            const token_step now = next;
            next = mask_at(stage, r > 0 ? r - 1 : 0);
            floe_ans_write(out, now.active, now.symbol, FLOE_CONTEXT_MASK_BITS);
        }
    }

    /* The last window of a chunk, which is written first, may have fewer. */
    __device__ __forceinline__ static uint32_t rows_of(uint32_t nrows, uint32_t window, uint32_t turn)
    {
        return turn == 0 ? (nrows - 1) % window + 1 : window;
    }

    /* All windows of a chunk of so many rows, last one first. False, with nothing written, where not all are kept. */
    __device__ __forceinline__ bool chunk(const floe_context_dev_window *windows, uint32_t nrows, uint32_t window,
                                          floe_ans_writer &out) const
    {
        const uint32_t n = (nrows + window - 1) / window, lane = floe_lane();
        bool kept = windows != NULL;
        for (uint32_t i = lane; kept && i < n; i += FLOE_WARP)
            kept = windows[i].at != FLOE_CONTEXT_NOT_KEPT;
        if (!__all_sync(FLOE_ALL_LANES, kept))
            return false;
        floe_context_dev_window many = {0, 0, 0}, ahead[TOKEN_STAGES] = {}; /* of 32 windows, the last one first */
        for (uint32_t turn = 0; turn < n + TOKEN_STAGES - 1; turn++) {      /* one is fetched, an earlier one written */
#pragma unroll
            for (uint32_t i = TOKEN_STAGES - 1; i > 0; i--)
                ahead[i] = ahead[i - 1];
            if (turn < n) {
                const uint32_t i = n - 1 - turn, k = turn % FLOE_WARP;
                if (k == 0)
                    many = i >= lane ? windows[i - lane] : floe_context_dev_window{0, 0, 0};
                ahead[0].at = __shfl_sync(FLOE_ALL_LANES, many.at, (int)k);
                const uint32_t n_raw = __shfl_sync(FLOE_ALL_LANES, many.n | (uint32_t)many.raw << 16, (int)k);
                ahead[0].n = (uint16_t)n_raw;
                ahead[0].raw = (uint16_t)(n_raw >> 16);
                fetch(ahead[0], rows_of(nrows, window, turn), turn);
            }
            floe_copy_async_commit();
            if (turn < TOKEN_STAGES - 1)
                continue;
            const uint32_t past = turn - (TOKEN_STAGES - 1);
            floe_copy_async_wait_but<TOKEN_STAGES - 1>();
            __syncwarp();
            write(ahead[TOKEN_STAGES - 1], rows_of(nrows, window, past), past, out);
            __syncwarp(); /* all have read what is written over next */
        }
        return true;
    }
};

} // namespace

#endif
