/* SPDX-License-Identifier: BSD-3-Clause */
/* Corrections on a GPU: what a codec's own kernels do with the cells of a chunk (cells_cuda.h). */
#ifndef FLOE_STAGE_CELLS_DEV_CUH
#define FLOE_STAGE_CELLS_DEV_CUH

#include "backend/device_scan.cuh"
#include "stage/cells/cells_cuda.h"

enum {
    FLOE_CELLS_THREADS = 256,
    FLOE_CELLS_WARPS = FLOE_CELLS_THREADS / FLOE_WARP,
    FLOE_CELLS_SPAN_WORDS = FLOE_CELLS_SPAN / FLOE_CELLS_WORD,
    FLOE_CELLS_SPAN_TOPS = FLOE_CELLS_SPAN_WORDS / 64
};

/* ---- values ---------------------------------------------------------------------------------------------------------- */

FLOE_DEV uint64_t floe_cells_load(const void *data, int64_t i, floe_dtype dtype)
{
    return floe_dtype_is_narrow(dtype) ? ((const uint32_t *)data)[i] : ((const uint64_t *)data)[i];
}

/* The cells of a word: mostly they lie in one row. */
struct floe_cells_word {
    uint64_t cell; /* the first */
    int64_t at;    /* its offset */
    bool in_row;   /* so do all FLOE_CELLS_WORD */
};

FLOE_DEV floe_cells_word floe_cells_word_of(const floe_cells_array &a, uint64_t cell)
{
    uint64_t rows = cell;
    const uint64_t length = a.shape[a.rank - 1], x = floe_last_digit(&rows, length);
    return {cell, floe_cells_at(&a, cell), x + FLOE_CELLS_WORD <= length};
}

/* Offset of the word's cell i, in elements. */
FLOE_DEV int64_t floe_cells_in_word(const floe_cells_array &a, const floe_cells_word &w, uint32_t i)
{
    return w.in_row ? w.at + (int64_t)i * a.stride[a.rank - 1] : floe_cells_at(&a, w.cell + i);
}

/* The word that lane j has. */
FLOE_DEV floe_cells_word floe_cells_word_from(const floe_cells_word &mine, uint32_t j)
{
    const uint64_t cell = __shfl_sync(FLOE_ALL_LANES, mine.cell, (int)j);
    const int64_t at = __shfl_sync(FLOE_ALL_LANES, mine.at, (int)j);
    return {cell, at, __shfl_sync(FLOE_ALL_LANES, (int)mine.in_row, (int)j) != 0};
}

/* ---- spans ----------------------------------------------------------------------------------------------------------- */

/* A span of a chunk: its words and cells. */
struct floe_cells_part {
    floe_cells_chunk *chunk;
    floe_cells_span *span;
    uint64_t number, within, first, nwords, cell, ncells; /* of the chunk; of the span, its words, its cells */
};

/* Span i, counted through all chunks. */
FLOE_DEV floe_cells_part floe_cells_part_of(const floe_cells_grid &g, uint64_t i)
{
    floe_cells_part p;
    p.within = i % g.nspans;
    p.number = i / g.nspans;
    p.chunk = g.chunks + p.number;
    p.span = g.spans + i;
    p.first = p.within * FLOE_CELLS_SPAN_WORDS;
    p.cell = p.within * FLOE_CELLS_SPAN;
    p.ncells = p.cell < p.chunk->ncells ? floe_min64(FLOE_CELLS_SPAN, p.chunk->ncells - p.cell) : 0;
    p.nwords = floe_ceil_div(p.ncells, FLOE_CELLS_WORD);
    return p;
}

/* ---- encode ---------------------------------------------------------------------------------------------------------- */

/* What follows from the array; nothing is named. An encoder sets the palette, too (floe_cells_palette). */
FLOE_DEV void floe_cells_begin(floe_cells_chunk *c, const floe_cells_array &array)
{
    memset(c, 0, sizeof *c);
    c->array = array;
    c->ncells = 1;
    for (uint32_t i = 0; i < array.rank; i++)
        c->ncells *= array.shape[i];
    c->nwords = floe_ceil_div(c->ncells, FLOE_CELLS_WORD);
    c->nspans = floe_ceil_div(c->ncells, FLOE_CELLS_SPAN);
    c->first_odd = ~0ull;
}

/* Names up to 32 cells of a row of a chunk, bit i of mask: cell + i. */
FLOE_DEV void floe_cells_name(const floe_cells_grid &g, uint64_t number, uint64_t cell, uint32_t mask)
{
    floe_cells_chunk *c = g.chunks + number;
    uint32_t *words = (uint32_t *)(g.sets[FLOE_CELLS_LITERALS] + number * g.nwords) + cell / 32;
    const uint64_t moved = (uint64_t)mask << cell % 32;
    const int64_t first = floe_cells_at(&c->array, cell), step = c->array.stride[c->array.rank - 1];
    atomicOr(words, (uint32_t)moved);
    if (moved >> 32)
        atomicOr(words + 1, (uint32_t)(moved >> 32));
    for (; mask; mask &= mask - 1) {
        const uint32_t i = (uint32_t)__ffs((int)mask) - 1;
        g.spans[number * g.nspans + (cell + i) / FLOE_CELLS_SPAN].named = 1;
        const uint64_t bits = floe_cells_load(c->array.data, first + i * step, c->array.dtype);
        if (floe_cells_is_odd(c->palette, c->array.dtype, bits))
            atomicMin(&c->first_odd, (unsigned long long)(cell + i));
    }
}

FLOE_DEV uint64_t floe_cells_odd_of(const floe_cells_chunk &c)
{
    return c.first_odd < c.ncells ? floe_cells_load(c.array.data, floe_cells_at(&c.array, c.first_odd), c.array.dtype)
                                  : c.palette[1];
}

/* A block of FLOE_CELLS_THREADS, after the sort: where the words of each span go, and what the sets take. spans: the chunk's;
 * sums: shared memory, FLOE_CELLS_WARPS of them. */
FLOE_DEV void floe_cells_plan(floe_cells_chunk *c, floe_cells_span *spans, uint64_t *sums)
{
    uint64_t nwords[FLOE_CELLS_SETS] = {0}, ncells[FLOE_CELLS_SETS] = {0}, all;
    for (uint64_t first = 0; first < c->nspans; first += FLOE_CELLS_THREADS) {
        const uint64_t i = first + threadIdx.x;
        const bool mine = i < c->nspans;
        floe_cells_span *span = spans + (mine ? i : 0);
        for (uint32_t set = 0; set < FLOE_CELLS_SETS; set++) {
            const uint64_t words =
                floe_block_sum_before(mine ? (uint64_t)span->nwords[set] : 0, sums, FLOE_CELLS_WARPS, &all);
            if (mine)
                span->words_at[set] = nwords[set] + words;
            nwords[set] += all;
            const uint64_t cells =
                floe_block_sum_before(mine ? (uint64_t)span->ncells[set] : 0, sums, FLOE_CELLS_WARPS, &all);
            if (mine && set == FLOE_CELLS_LITERALS)
                span->literals_at = ncells[set] + cells;
            ncells[set] += all;
        }
    }
    if (threadIdx.x > 0)
        return;
    c->palette[2] = floe_cells_odd_of(*c);
    c->nliterals = ncells[FLOE_CELLS_LITERALS];
    for (uint32_t set = 0; set < FLOE_CELLS_SETS; set++) {
        c->set_at[set] = c->sets_nbytes;
        c->nnamed += ncells[set];
        if (ncells[set]) {
            c->present |= 1u << set;
            c->sets_nbytes += floe_cells_set_nbytes(c->nwords, nwords[set]);
        }
    }
}

/* ---- decode ---------------------------------------------------------------------------------------------------------- */

/* Of a block that opens sets. */
struct floe_cells_shared {
    uint64_t sums[FLOE_CELLS_WARPS];
    uint64_t at; /* of the next set, from the first one */
};

/* All threads: words of a set in each span. False: it does not fit, or names what is not there. */
FLOE_DEV bool floe_cells_open_set(floe_cells_chunk *c, floe_cells_span *spans, const uint8_t *src, uint64_t nbytes,
                                  uint32_t set, floe_cells_shared *s)
{
    const uint64_t at = s->at, ntops = floe_ceil_div(c->nwords, 64), over = c->nwords % 64, cells = c->ncells % 64;
    const uint64_t *tops = (const uint64_t *)(src + at), *words = tops + ntops;
    uint64_t nwords = 0, all;
    if (8 * ntops > nbytes - at || (over && tops[ntops - 1] >> over))
        return false;
    for (uint64_t first = 0; first < c->nspans; first += FLOE_CELLS_THREADS) {
        const uint64_t i = first + threadIdx.x, end = floe_min64((i + 1) * FLOE_CELLS_SPAN_TOPS, ntops);
        uint64_t here = 0;
        for (uint64_t t = i * FLOE_CELLS_SPAN_TOPS; t < end; t++)
            here += (uint32_t)__popcll(tops[t]);
        const uint64_t front = floe_block_sum_before(here, s->sums, FLOE_CELLS_WARPS, &all);
        if (i < c->nspans) {
            spans[i].words_at[set] = nwords + front;
            spans[i].nwords[set] = (uint32_t)here;
        }
        nwords += all;
    }
    if (8 * nwords > nbytes - at - 8 * ntops)
        return false;
    const bool last = tops[ntops - 1] >> (c->nwords - 1) % 64 & 1;
    __syncthreads(); /* all have read where the set is */
    if (threadIdx.x == 0) {
        c->set_at[set] = at;
        s->at = at + 8 * (ntops + nwords);
    }
    __syncthreads();
    return !(last && cells && words[nwords - 1] >> cells);
}

/* All threads: how many literals there are in front of each span. Returns how many in all. */
FLOE_DEV uint64_t floe_cells_count_literals(const floe_cells_chunk *c, floe_cells_span *spans, const uint8_t *src,
                                            floe_cells_shared *s)
{
    const uint64_t *words = (const uint64_t *)(src + c->set_at[FLOE_CELLS_LITERALS]) + floe_ceil_div(c->nwords, 64);
    uint64_t nliterals = 0, all;
    for (uint64_t i = threadIdx.x / FLOE_WARP; i < c->nspans; i += FLOE_CELLS_WARPS) {
        uint32_t here = 0;
        for (uint32_t k = floe_lane(); k < spans[i].nwords[FLOE_CELLS_LITERALS]; k += FLOE_WARP)
            here += (uint32_t)__popcll(words[spans[i].words_at[FLOE_CELLS_LITERALS] + k]);
        here = floe_warp_sum(here);
        if (floe_lane() == 0)
            spans[i].ncells[FLOE_CELLS_LITERALS] = here;
    }
    __syncthreads();
    for (uint64_t first = 0; first < c->nspans; first += FLOE_CELLS_THREADS) {
        const uint64_t i = first + threadIdx.x;
        const uint64_t here = i < c->nspans ? spans[i].ncells[FLOE_CELLS_LITERALS] : 0;
        const uint64_t front = floe_block_sum_before(here, s->sums, FLOE_CELLS_WARPS, &all);
        if (i < c->nspans)
            spans[i].literals_at = nliterals + front;
        nliterals += all;
    }
    return nliterals;
}

/* A block of FLOE_CELLS_THREADS: the sets that are present, within nbytes from src on, which are untrusted. Sets set_at,
 * sets_nbytes and nliterals; whether these fit is for the caller. False: FLOE_ERR_FORMAT. */
FLOE_DEV bool floe_cells_open(floe_cells_chunk *c, floe_cells_span *spans, const uint8_t *src, uint64_t nbytes,
                              floe_cells_shared *s)
{
    if (threadIdx.x == 0)
        s->at = 0;
    __syncthreads();
    for (uint32_t set = 0; set < FLOE_CELLS_SETS; set++)
        if ((c->present >> set & 1) && !floe_cells_open_set(c, spans, src, nbytes, set, s))
            return false;
    const bool listed = c->present >> FLOE_CELLS_LITERALS & 1;
    const uint64_t nliterals = listed ? floe_cells_count_literals(c, spans, src, s) : 0;
    if (threadIdx.x == 0) {
        c->nliterals = nliterals;
        c->sets_nbytes = s->at;
    }
    __syncthreads();
    return true;
}

#endif
