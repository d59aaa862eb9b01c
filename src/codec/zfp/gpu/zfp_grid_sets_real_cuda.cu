/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cells of chunks, a span of them at a time: which ones zfp must not see; which ones it missed, as sets; and chunks that are
 * stored as they are. By words of 64 cells. Compiled for each element type.
 */
#include "codec/zfp/chunk/zfp_exact_math.h"
#include "codec/zfp/gpu/zfp_grid_dev.cuh"
#include "codec/zfp/gpu/zfp_kernels.h"

namespace
{

enum { THREADS = FLOE_ZFP_SPAN_THREADS, WARPS = THREADS / FLOE_WARP, WORDS_A_THREAD = FLOE_ZFP_SPAN_WORDS / THREADS };

/* Span i of a chunk: its words and cells. */
struct span {
    floe_zfp_dev_chunk *chunk;
    floe_zfp_dev_span *told;
    uint64_t number, first, nwords, cell, ncells; /* of the chunk; of the span's words; of its cells */
};

FLOE_DEV span span_of(const floe_zfp_grid_encode &call, uint64_t i)
{
    span s;
    const uint64_t within = i % call.room.nspans;
    s.number = i / call.room.nspans;
    s.chunk = call.chunks + s.number;
    s.told = floe_zfp_spans_of(call, s.number) + within;
    s.first = within * FLOE_ZFP_SPAN_WORDS;
    s.cell = within * FLOE_ZFP_SPAN_CELLS;
    s.ncells = s.cell < s.chunk->ncells ? floe_min64(FLOE_ZFP_SPAN_CELLS, s.chunk->ncells - s.cell) : 0;
    s.nwords = floe_ceil_div(s.ncells, FLOE_ZFP_WORD_CELLS);
    return s;
}

FLOE_DEV floe_uint value_at(const floe_zfp_dev_chunk *c, uint64_t cell)
{
    return ((const floe_uint *)c->array.data)[floe_zfp_cell_at(c->array, cell)];
}

/* Of cell i of a word. */
FLOE_DEV floe_uint value_in(const floe_zfp_dev_chunk *c, const floe_zfp_word &w, uint32_t i)
{
    return ((const floe_uint *)c->array.data)[floe_zfp_in_word(c->array, w, i)];
}

/* ---- values that would spoil their block ------------------------------------------------------------------------------- */

struct clean_shared {
    uint64_t words[FLOE_ZFP_SPAN_WORDS]; /* cells that are good */
    uint32_t last[WARPS];
    unsigned long long first_good;
};

/* Which cells are good. A warp takes every so-many-th word. */
FLOE_DEV void find_good(const floe_zfp_grid_encode &call, const span &s, clean_shared *shared)
{
    const bool has_fill = call.params->has_fill, real = !floe_dtype_is_integer(call.field.dtype);
    const floe_uint fill = (floe_uint)call.params->fill_bits;
    for (uint64_t w = threadIdx.x / FLOE_WARP; w < FLOE_ZFP_SPAN_WORDS; w += WARPS) {
        const floe_zfp_word word = floe_zfp_word_of(s.chunk->array, s.cell + w * FLOE_ZFP_WORD_CELLS);
        uint64_t good = 0;
#pragma unroll
        for (uint32_t half = 0; half < 2; half++) {
            const uint32_t i = half * FLOE_WARP + floe_lane();
            const bool is = w * FLOE_ZFP_WORD_CELLS + i < s.ncells &&
                            !FLOE_R(floe_zfp_spoils)(real, value_in(s.chunk, word, i), has_fill, fill);
            good |= (uint64_t)__ballot_sync(FLOE_ALL_LANES, is) << half * FLOE_WARP;
        }
        if (floe_lane() > 0)
            continue;
        shared->words[w] = good;
        if (w < s.nwords)
            call.bad[s.number * call.room.nwords + s.first + w] = ~good;
        if (good)
            atomicMin(&shared->first_good,
                      (unsigned long long)(s.cell + w * FLOE_ZFP_WORD_CELLS + (uint64_t)__ffsll((long long)good) - 1));
    }
}

/* The last good cell in front of each word, and 1; 0 if there is none. Threads have words that lie side by side. */
FLOE_DEV void find_last(const floe_zfp_grid_encode &call, const span &s, clean_shared *shared)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP, first = threadIdx.x * WORDS_A_THREAD;
    uint32_t last = 0, before = 0;
    for (uint32_t w = first; w < first + WORDS_A_THREAD; w++)
        if (shared->words[w])
            last = w * FLOE_ZFP_WORD_CELLS + floe_top_bit(shared->words[w]) + 1;
    for (uint32_t d = 1; d < FLOE_WARP; d *= 2) {
        const uint32_t below = __shfl_up_sync(FLOE_ALL_LANES, last, d);
        last = floe_lane() >= d ? max(last, below) : last;
    }
    if (floe_lane() == FLOE_WARP - 1)
        shared->last[warp] = last;
    before = __shfl_up_sync(FLOE_ALL_LANES, last, 1);
    before = floe_lane() > 0 ? before : 0;
    __syncthreads();
    for (uint32_t w = 0; w < warp; w++)
        before = max(before, shared->last[w]);
    for (uint32_t w = first; w < first + WORDS_A_THREAD; w++) {
        if (w < s.nwords)
            call.last_good[s.number * call.room.nwords + s.first + w] = before;
        if (shared->words[w])
            before = w * FLOE_ZFP_WORD_CELLS + floe_top_bit(shared->words[w]) + 1;
    }
}

/* What the attempt before said of the chunk is void. */
FLOE_DEV void forget(const floe_zfp_grid_encode &call, const span &s)
{
    uint64_t *literals = floe_zfp_set_of(call, s.number, FLOE_ZFP_LITERALS) + s.first;
    for (uint64_t w = threadIdx.x; w < s.nwords; w += THREADS)
        literals[w] = 0;
    if (threadIdx.x > 0)
        return;
    s.told->missed = 0;
    if (s.cell == 0) {
        s.chunk->first_odd = ~0ull;
        call.gathered[s.number].max_error_bits = 0;
    }
}

/* Blocks take spans in turn, of chunks that are to be cleaned. */
__global__ void __launch_bounds__(THREADS) zfp_grid_clean_kernel(const __grid_constant__ floe_zfp_grid_encode call)
{
    __shared__ clean_shared shared;
    if (!floe_zfp_goes_on(call, FLOE_ZFP_CLEANED))
        return;
    for (uint64_t i = blockIdx.x; i < call.grid.nchunks * call.room.nspans; i += gridDim.x) {
        const span s = span_of(call, i);
        if (s.ncells == 0 || !s.chunk->cleaned)
            continue;
        __syncthreads(); /* the span before is done with what is shared */
        if (threadIdx.x == 0)
            shared.first_good = ~0ull;
        __syncthreads();
        find_good(call, s, &shared);
        __syncthreads();
        find_last(call, s, &shared);
        forget(call, s);
        if (threadIdx.x == 0 && shared.first_good != ~0ull)
            atomicMin(&s.chunk->first_good, shared.first_good);
    }
}

/* ---- sets -------------------------------------------------------------------------------------------------------------- */

/* Cells that were missed: those with a pattern of the palette leave the literals. One thread, a word. */
FLOE_DEV void sort_word(const floe_zfp_grid_encode &call, const span &s, const uint64_t *palette, uint64_t w,
                        uint32_t *nwords, uint32_t *ncells)
{
    uint64_t words[FLOE_ZFP_SETS] = {0};
    uint64_t *literals = floe_zfp_set_of(call, s.number, FLOE_ZFP_LITERALS) + s.first;
    const floe_zfp_word word = floe_zfp_word_of(s.chunk->array, s.cell + w * FLOE_ZFP_WORD_CELLS);
    for (uint64_t left = literals[w]; left; left &= left - 1) {
        const uint64_t v = value_in(s.chunk, word, (uint32_t)__ffsll((long long)left) - 1);
        words[v == palette[0] ? 0 : v == palette[1] ? 1 : v == palette[2] ? 2 : FLOE_ZFP_LITERALS] |= left & (0 - left);
    }
    for (uint32_t set = 0; set < FLOE_ZFP_SETS; set++) {
        floe_zfp_set_of(call, s.number, set)[s.first + w] = words[set];
        if (words[set]) {
            atomicAdd(nwords + set, 1u);
            atomicAdd(ncells + set, (uint32_t)__popcll(words[set]));
        }
    }
}

/* Blocks take spans in turn. */
__global__ void __launch_bounds__(THREADS) zfp_grid_sort_kernel(const __grid_constant__ floe_zfp_grid_encode call)
{
    __shared__ uint32_t nwords[FLOE_ZFP_SETS], ncells[FLOE_ZFP_SETS];
    if (!floe_zfp_goes_on(call, FLOE_ZFP_CLOSELY))
        return;
    for (uint64_t i = blockIdx.x; i < call.grid.nchunks * call.room.nspans; i += gridDim.x) {
        const span s = span_of(call, i);
        if (s.ncells == 0 || !s.told->missed || !floe_zfp_wants(s.chunk, FLOE_ZFP_CLOSELY))
            continue;
        uint64_t palette[FLOE_ZFP_PALETTE];
        floe_zfp_palette_of(call, s.chunk, palette);
        if (threadIdx.x < FLOE_ZFP_SETS)
            nwords[threadIdx.x] = ncells[threadIdx.x] = 0;
        __syncthreads();
        for (uint64_t w = threadIdx.x; w < s.nwords; w += THREADS)
            sort_word(call, s, palette, w, nwords, ncells);
        __syncthreads();
        if (threadIdx.x < FLOE_ZFP_SETS) {
            s.told->nwords[threadIdx.x] = nwords[threadIdx.x];
            s.told->ncells[threadIdx.x] = ncells[threadIdx.x];
        }
        __syncthreads();
    }
}

/* ---- to the stream ----------------------------------------------------------------------------------------------------- */

struct put_shared {
    uint32_t nwords[FLOE_ZFP_SPAN_TOPS], ncells[FLOE_ZFP_SPAN_TOPS]; /* in front of each word of the upper level */
};

/* The two words of a lane, of the 64 below a word of the upper level. */
struct words_of_top {
    uint64_t low, high, top;
};

FLOE_DEV words_of_top load_top(const span &s, const uint64_t *words, uint32_t t)
{
    const uint64_t w = (uint64_t)t * 64 + floe_lane();
    words_of_top v = {0, 0, 0};
    if (s.told->missed) {
        v.low = w < s.nwords ? words[w] : 0;
        v.high = w + FLOE_WARP < s.nwords ? words[w + FLOE_WARP] : 0;
    }
    v.top = __ballot_sync(FLOE_ALL_LANES, v.low != 0) | (uint64_t)__ballot_sync(FLOE_ALL_LANES, v.high != 0)
                                                            << FLOE_WARP;
    return v;
}

/* How much is in front of each word of the upper level, in the span. All threads. */
FLOE_DEV void count_tops(const span &s, const uint64_t *words, put_shared *shared)
{
    for (uint32_t t = threadIdx.x / FLOE_WARP; t < FLOE_ZFP_SPAN_TOPS; t += WARPS) {
        const words_of_top v = load_top(s, words, t);
        const uint32_t cells = floe_warp_sum((uint32_t)(__popcll(v.low) + __popcll(v.high)));
        if (floe_lane() == 0) {
            shared->nwords[t] = (uint32_t)__popcll(v.top);
            shared->ncells[t] = cells;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t nwords = 0, ncells = 0;
        for (uint32_t t = 0; t < FLOE_ZFP_SPAN_TOPS; t++) {
            const uint32_t here = shared->nwords[t], cells = shared->ncells[t];
            shared->nwords[t] = nwords;
            shared->ncells[t] = ncells;
            nwords += here;
            ncells += cells;
        }
    }
    __syncthreads();
}

/* The values of a word's cells. */
FLOE_DEV void put_literals(const span &s, uint64_t w, uint64_t cells, floe_uint *to)
{
    const floe_zfp_word word = floe_zfp_word_of(s.chunk->array, s.cell + w * FLOE_ZFP_WORD_CELLS);
    for (; cells; cells &= cells - 1)
        *to++ = value_in(s.chunk, word, (uint32_t)__ffsll((long long)cells) - 1);
}

/* A set's part of a span. All threads. */
FLOE_DEV void put_set(const floe_zfp_grid_encode &call, const span &s, uint32_t set, uint8_t *payload,
                      put_shared *shared)
{
    const uint64_t *words = floe_zfp_set_of(call, s.number, set) + s.first;
    uint64_t *tops = (uint64_t *)(payload + s.chunk->parts.sets_at + s.chunk->set_at[set]);
    uint64_t *lower = tops + floe_ceil_div(s.chunk->nwords, 64) + s.told->words_at[set];
    floe_uint *literals = (floe_uint *)(payload + s.chunk->parts.literals_at) + s.told->literals_at;
    count_tops(s, words, shared);
    for (uint32_t t = threadIdx.x / FLOE_WARP; t * 64 < s.nwords; t += WARPS) {
        const words_of_top v = load_top(s, words, t);
        const uint64_t below = ((uint64_t)1 << floe_lane()) - 1, at = shared->nwords[t],
                       w = (uint64_t)t * 64 + floe_lane();
        const uint32_t low = (uint32_t)__popcll(v.low), high = (uint32_t)__popcll(v.high);
        const uint32_t front = floe_warp_sum_before(low), behind = floe_warp_sum_before(high);
        const uint32_t lows = __shfl_sync(FLOE_ALL_LANES, front + low, FLOE_WARP - 1);
        if (floe_lane() == 0)
            tops[s.first / 64 + t] = v.top;
        if (v.low)
            lower[at + (uint64_t)__popcll(v.top & below)] = v.low;
        if (v.high)
            lower[at + (uint64_t)__popcll(v.top & (below << FLOE_WARP | UINT32_MAX))] = v.high;
        if (set != FLOE_ZFP_LITERALS)
            continue;
        put_literals(s, w, v.low, literals + shared->ncells[t] + front);
        put_literals(s, w + FLOE_WARP, v.high, literals + shared->ncells[t] + lows + behind);
    }
    __syncthreads();
}

/* Sets and literals, or values as they are: blocks take spans in turn. */
__global__ void __launch_bounds__(THREADS) zfp_grid_put_kernel(const __grid_constant__ floe_zfp_grid_encode call)
{
    __shared__ put_shared shared;
    if (*call.status != FLOE_OK)
        return;
    for (uint64_t i = blockIdx.x; i < call.grid.nchunks * call.room.nspans; i += gridDim.x) {
        const span s = span_of(call, i);
        uint8_t *payload = call.stream + s.chunk->payload_at;
        for (uint32_t set = 0; set < FLOE_ZFP_SETS && s.ncells > 0; set++)
            if (s.chunk->parts.sets >> set & 1)
                put_set(call, s, set, payload, &shared);
        floe_uint *values = (floe_uint *)(payload + FLOE_ZFP_CHUNK_HEADER_NBYTES) + s.cell;
        for (uint64_t c = threadIdx.x; s.chunk->parts.raw && c < s.ncells; c += THREADS)
            values[c] = value_at(s.chunk, s.cell + c);
    }
}

} // namespace

int FLOE_R(floe_zfp_grid_clean)(const floe_zfp_grid_encode *call, void *stream)
{
    FLOE_LAUNCH(zfp_grid_clean_kernel, floe_zfp_blocks_for(call->grid.nchunks * call->room.nspans), THREADS, 0,
                (cudaStream_t)stream, *call);
    return (int)cudaGetLastError();
}

int FLOE_R(floe_zfp_grid_sort)(const floe_zfp_grid_encode *call, void *stream)
{
    FLOE_LAUNCH(zfp_grid_sort_kernel, floe_zfp_blocks_for(call->grid.nchunks * call->room.nspans), THREADS, 0,
                (cudaStream_t)stream, *call);
    return (int)cudaGetLastError();
}

int FLOE_R(floe_zfp_grid_put)(const floe_zfp_grid_encode *call, void *stream)
{
    FLOE_LAUNCH(zfp_grid_put_kernel, floe_zfp_blocks_for(call->grid.nchunks * call->room.nspans), THREADS, 0,
                (cudaStream_t)stream, *call);
    return (int)cudaGetLastError();
}
