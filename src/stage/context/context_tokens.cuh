/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What counting finds out is kept for encoding: of each window the symbols of its masks, row by row, then those of its values, as they
 * are dealt. Encoding is a chain of states, and has little else to do then. Where there is no room, it finds them again.
 */
#ifndef FLOE_STAGE_CONTEXT_TOKENS_CUH
#define FLOE_STAGE_CONTEXT_TOKENS_CUH

#include "stage/ans/ans_lanes.cuh"
#include "stage/context/context_walk.cuh"

namespace
{

enum {
    TOKEN_MASK_WORDS = FLOE_WARP / 2, /* of a row: 16 bits a lane */
    TOKEN_SLAB = 4096,                /* words that a warp takes at a time; no window has more */
    TOKEN_SYMBOL_BITS = 6,
    TOKEN_CONTEXT_BITS = 7
};
static_assert((TOKEN_MASK_WORDS + FLOE_CONTEXT_CLASSES * FLOE_WARP) * FLOE_CONTEXT_WINDOW <= TOKEN_SLAB, "");
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
        const uint32_t nwords = nrows * TOKEN_MASK_WORDS + n;
        if (!windows)
            return NULL;
        if (end - at < nwords) {
            unsigned long long begin = 0;
            if (floe_lane() == 0)
                begin = atomicAdd((unsigned long long *)job->tokens_taken, (unsigned long long)TOKEN_SLAB);
            at = __shfl_sync(FLOE_ALL_LANES, begin, 0);
            end = at + TOKEN_SLAB;
            if (end > job->ntokens)
                at = end = 0;
        }
        const bool kept = end != 0;
        if (floe_lane() == 0)
            windows[window] = {kept ? (uint32_t)at : FLOE_CONTEXT_NOT_KEPT, n};
        at += kept ? nwords : 0;
        return kept ? job->tokens + at - nwords : NULL;
    }
};

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

/* The tokens of a window that a lane needs first, on their way while another window is encoded. */
struct tokens_ahead {
    const uint32_t *from;
    uint32_t n, nsteps, mask, last, before_last;
};

/* Symbols by context, as load_symbols of the kernel has them. */
template <class SYMBOLS> struct token_writer {
    const floe_context_job &job;
    const SYMBOLS *s;
    uint32_t lanes;

    __device__ __forceinline__ uint32_t value_at(const tokens_ahead &w, uint32_t nrows, uint32_t step) const
    {
        const uint32_t k = step * lanes + floe_lane();
        return floe_lane() < lanes && k < w.n ? __ldg(w.from + nrows * TOKEN_MASK_WORDS + k) : 0;
    }
    __device__ __forceinline__ uint32_t mask_at(const tokens_ahead &w, uint32_t row) const
    {
        return __ldg((const uint16_t *)w.from + row * FLOE_WARP + floe_lane());
    }
    __device__ __forceinline__ tokens_ahead look(floe_context_dev_window at, uint32_t nrows) const
    {
        tokens_ahead w = {job.tokens + at.at, at.n, (at.n + lanes - 1) / lanes, 0, 0, 0};
        w.mask = mask_at(w, nrows - 1);
        w.last = w.nsteps > 0 ? value_at(w, nrows, w.nsteps - 1) : 0;
        w.before_last = w.nsteps > 1 ? value_at(w, nrows, w.nsteps - 2) : 0;
        return w;
    }

    /* Steps of values, then masks, each from the last one on. */
    __device__ __forceinline__ void write(const tokens_ahead &w, uint32_t nrows, floe_ans_writer &out) const
    {
        const bool mine = floe_lane() < lanes;
#pragma unroll 1
        for (uint32_t step = w.nsteps; step-- > 0;) {
            const uint32_t left = w.nsteps - 1 - step, token = left == 0   ? w.last
                                                               : left == 1 ? w.before_last
                                                                           : value_at(w, nrows, step);
            const bool active = mine && step * lanes + floe_lane() < w.n;
            const uint32_t symbol = token & ((1 << TOKEN_SYMBOL_BITS) - 1),
                           context = token >> TOKEN_SYMBOL_BITS & ((1 << TOKEN_CONTEXT_BITS) - 1);
            const floe_ans_symbol found = s->values[s->value_table[context]][symbol];
            floe_ans_write_raw(out, token >> (TOKEN_SYMBOL_BITS + TOKEN_CONTEXT_BITS),
                               active ? floe_context_nraw(symbol) : 0);
            floe_ans_write(out, active, found, FLOE_CONTEXT_VALUE_BITS);
        }
#pragma unroll 1
        for (uint32_t r = nrows; r-- > 0;) {
            const uint32_t token = r + 1 == nrows ? w.mask : mask_at(w, r);
            floe_ans_write(
                out, mine,
                s->masks[s->table_of_mask[token / FLOE_CONTEXT_MASK_SYMBOLS]][token % FLOE_CONTEXT_MASK_SYMBOLS],
                FLOE_CONTEXT_MASK_BITS);
        }
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
        floe_context_dev_window many = {0, 0}; /* of 32 windows, the last one first */
        tokens_ahead ahead = {};
        for (uint32_t i = n + 1; i-- > 0;) { /* window i - 1 is looked at, window i written */
            const tokens_ahead w = ahead;
            if (i > 0) {
                const uint32_t k = (n - i) % FLOE_WARP;
                if (k == 0)
                    many = i > lane ? windows[i - 1 - lane] : floe_context_dev_window{0, 0};
                const floe_context_dev_window at = {__shfl_sync(FLOE_ALL_LANES, many.at, (int)k),
                                                    __shfl_sync(FLOE_ALL_LANES, many.n, (int)k)};
                ahead = look(at, min(window, nrows - (i - 1) * window));
            }
            if (i < n)
                write(w, min(window, nrows - i * window), out);
        }
        return true;
    }
};

} // namespace

#endif
