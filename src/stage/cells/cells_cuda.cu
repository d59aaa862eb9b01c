/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of cells, a span of them at a time, by words of 64 cells. */
#include "stage/cells/cells_dev.cuh"

namespace
{

enum { THREADS = FLOE_CELLS_THREADS, WARPS = FLOE_CELLS_WARPS, MOST_BLOCKS = 1 << 14 /* of a grid that strides */ };

/* ---- sort ------------------------------------------------------------------------------------------------------------ */

/* One thread, a word: named cells with a pattern of the palette leave the literals. */
FLOE_DEV void sort_word(const floe_cells_grid &g, const floe_cells_part &p, const uint64_t *palette, uint64_t w,
                        floe_cells_span *count)
{
    uint64_t words[FLOE_CELLS_SETS] = {0};
    const uint64_t place = p.number * g.nwords + p.first + w;
    const floe_cells_array &a = p.chunk->array;
    const floe_cells_word word = floe_cells_word_of(a, p.cell + w * FLOE_CELLS_WORD);
    for (uint64_t left = g.sets[FLOE_CELLS_LITERALS][place]; left; left &= left - 1) {
        const int64_t at = floe_cells_in_word(a, word, (uint32_t)__ffsll((long long)left) - 1);
        const uint32_t set = floe_cells_set_of(palette, floe_cells_load(a.data, at, a.dtype));
#pragma unroll
        for (uint32_t s = 0; s < FLOE_CELLS_SETS; s++)
            words[s] |= s == set ? left & (0 - left) : 0;
    }
    for (uint32_t s = 0; s < FLOE_CELLS_SETS; s++) {
        g.sets[s][place] = words[s];
        if (words[s]) {
            atomicAdd(count->nwords + s, 1u);
            atomicAdd(count->ncells + s, (uint32_t)__popcll(words[s]));
        }
    }
}

/* Blocks take spans in turn. */
__global__ void __launch_bounds__(THREADS) cells_sort_kernel(const __grid_constant__ floe_cells_grid g)
{
    __shared__ floe_cells_span count;
    if (*g.status != FLOE_OK)
        return;
    for (uint64_t i = blockIdx.x; i < g.nchunks * g.nspans; i += gridDim.x) {
        const floe_cells_part p = floe_cells_part_of(g, i);
        if (p.ncells == 0 || !p.span->named)
            continue;
        const uint64_t palette[FLOE_CELLS_PALETTE] = {p.chunk->palette[0], p.chunk->palette[1],
                                                      floe_cells_odd_of(*p.chunk)};
        if (threadIdx.x < FLOE_CELLS_SETS)
            count.nwords[threadIdx.x] = count.ncells[threadIdx.x] = 0;
        __syncthreads();
        for (uint64_t w = threadIdx.x; w < p.nwords; w += THREADS)
            sort_word(g, p, palette, w, &count);
        __syncthreads();
        if (threadIdx.x < FLOE_CELLS_SETS) {
            p.span->nwords[threadIdx.x] = count.nwords[threadIdx.x];
            p.span->ncells[threadIdx.x] = count.ncells[threadIdx.x];
        }
        __syncthreads();
    }
}

/* ---- write ----------------------------------------------------------------------------------------------------------- */

struct write_shared {
    uint32_t nwords[FLOE_CELLS_SPAN_TOPS], ncells[FLOE_CELLS_SPAN_TOPS]; /* in front of each word of the upper level */
};

/* The two words of a lane, of the 64 below a word of the upper level. */
struct words_of_top {
    uint64_t low, high, top;
};

FLOE_DEV words_of_top load_top(const floe_cells_part &p, const uint64_t *words, uint32_t t)
{
    const uint64_t w = (uint64_t)t * 64 + floe_lane();
    words_of_top v = {0, 0, 0};
    if (p.span->named) {
        v.low = w < p.nwords ? words[w] : 0;
        v.high = w + FLOE_WARP < p.nwords ? words[w + FLOE_WARP] : 0;
    }
    v.top = __ballot_sync(FLOE_ALL_LANES, v.low != 0) | (uint64_t)__ballot_sync(FLOE_ALL_LANES, v.high != 0)
                                                            << FLOE_WARP;
    return v;
}

/* How much is in front of each word of the upper level, in the span. All threads. */
FLOE_DEV void count_tops(const floe_cells_part &p, const uint64_t *words, write_shared *shared)
{
    for (uint32_t t = threadIdx.x / FLOE_WARP; t < FLOE_CELLS_SPAN_TOPS; t += WARPS) {
        const words_of_top v = load_top(p, words, t);
        const uint32_t cells = floe_warp_sum((uint32_t)(__popcll(v.low) + __popcll(v.high)));
        if (floe_lane() == 0) {
            shared->nwords[t] = (uint32_t)__popcll(v.top);
            shared->ncells[t] = cells;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t nwords = 0, ncells = 0;
        for (uint32_t t = 0; t < FLOE_CELLS_SPAN_TOPS; t++) {
            const uint32_t here = shared->nwords[t], cells = shared->ncells[t];
            shared->nwords[t] = nwords;
            shared->ncells[t] = ncells;
            nwords += here;
            ncells += cells;
        }
    }
    __syncthreads();
}

FLOE_DEV void store(void *data, uint64_t i, floe_dtype dtype, uint64_t bits)
{
    if (floe_dtype_is_narrow(dtype))
        ((uint32_t *)data)[i] = (uint32_t)bits;
    else
        ((uint64_t *)data)[i] = bits;
}

/* The values of a word's cells, as numbers `n`... of the literals. */
FLOE_DEV void write_literals(const floe_cells_part &p, uint64_t w, uint64_t cells, uint8_t *literals, uint64_t n)
{
    const floe_cells_array &a = p.chunk->array;
    const floe_cells_word word = floe_cells_word_of(a, p.cell + w * FLOE_CELLS_WORD);
    for (; cells; cells &= cells - 1) {
        const int64_t at = floe_cells_in_word(a, word, (uint32_t)__ffsll((long long)cells) - 1);
        store(literals, n++, a.dtype, floe_cells_load(a.data, at, a.dtype));
    }
}

/* A set's part of a span. All threads. */
FLOE_DEV void write_set(const floe_cells_grid &g, const floe_cells_part &p, uint32_t set, write_shared *shared)
{
    const uint64_t *words = g.sets[set] + p.number * g.nwords + p.first;
    uint64_t *tops = (uint64_t *)(g.stream + p.chunk->sets_at + p.chunk->set_at[set]);
    uint64_t *lower = tops + floe_ceil_div(p.chunk->nwords, 64) + p.span->words_at[set];
    uint8_t *literals = g.stream + p.chunk->literals_at;
    count_tops(p, words, shared);
    for (uint32_t t = threadIdx.x / FLOE_WARP; t * 64 < p.nwords; t += WARPS) {
        const words_of_top v = load_top(p, words, t);
        const uint64_t below = ((uint64_t)1 << floe_lane()) - 1, at = shared->nwords[t],
                       w = (uint64_t)t * 64 + floe_lane(), n = p.span->literals_at + shared->ncells[t];
        const uint32_t low = (uint32_t)__popcll(v.low), high = (uint32_t)__popcll(v.high);
        const uint32_t front = floe_warp_sum_before(low), behind = floe_warp_sum_before(high);
        const uint32_t lows = __shfl_sync(FLOE_ALL_LANES, front + low, FLOE_WARP - 1);
        if (floe_lane() == 0)
            tops[p.first / 64 + t] = v.top;
        if (v.low)
            lower[at + (uint64_t)__popcll(v.top & below)] = v.low;
        if (v.high)
            lower[at + (uint64_t)__popcll(v.top & (below << FLOE_WARP | UINT32_MAX))] = v.high;
        if (set != FLOE_CELLS_LITERALS)
            continue;
        write_literals(p, w, v.low, literals, n + front);
        write_literals(p, w + FLOE_WARP, v.high, literals, n + lows + behind);
    }
    __syncthreads();
}

/* Sets and literals, or values as they are, with zeros up to 8 bytes: blocks take spans in turn. */
__global__ void __launch_bounds__(THREADS) cells_write_kernel(const __grid_constant__ floe_cells_grid g)
{
    __shared__ write_shared shared;
    if (*g.status != FLOE_OK)
        return;
    for (uint64_t i = blockIdx.x; i < g.nchunks * g.nspans; i += gridDim.x) {
        const floe_cells_part p = floe_cells_part_of(g, i);
        const floe_cells_chunk &c = *p.chunk;
        const uint64_t nvalues = c.all ? c.ncells : c.present >> FLOE_CELLS_LITERALS & 1 ? c.nliterals : 0;
        if (threadIdx.x == 0 && p.within == 0 && floe_dtype_is_narrow(c.array.dtype) && nvalues % 2)
            store(g.stream + c.literals_at, nvalues, c.array.dtype, 0);
        for (uint32_t set = 0; set < FLOE_CELLS_SETS && p.ncells > 0; set++)
            if (c.present >> set & 1)
                write_set(g, p, set, &shared);
        for (uint64_t cell = p.cell + threadIdx.x; c.all && cell < p.cell + p.ncells; cell += THREADS)
            store(g.stream + c.literals_at, cell, c.array.dtype,
                  floe_cells_load(c.array.data, floe_cells_at(&c.array, cell), c.array.dtype));
    }
}

/* ---- put ------------------------------------------------------------------------------------------------------------- */

FLOE_DEV void put_cell(const floe_cells_array &a, uint64_t cell, uint64_t bits)
{
    int64_t at;
    if (floe_cells_in_box(&a, cell, &at))
        store(a.data, (uint64_t)at, a.dtype, bits);
}

/* What stands in the cells of a set: values of the stream, or, where that is NULL, a pattern. */
struct set_values {
    const uint8_t *literals;
    uint64_t n, pattern; /* n: of the literals, those in front */
};

/* Offset of a word's first cell in the box, and which of its cells are in there; `in_row` only. */
FLOE_DEV floe_cells_word box_word_of(const floe_cells_array &a, uint64_t cell, uint64_t *inside)
{
    const uint32_t last = a.rank - 1;
    uint64_t rows = cell;
    const uint64_t x = floe_last_digit(&rows, a.shape[last]);
    const bool in_row = x + FLOE_CELLS_WORD <= a.shape[last];
    int64_t at = ((int64_t)x - (int64_t)a.lo[last]) * a.stride[last];
    const uint64_t from = floe_min64(a.lo[last] > x ? a.lo[last] - x : 0, FLOE_CELLS_WORD),
                   to = floe_min64(a.hi[last] > x ? a.hi[last] - x : 0, FLOE_CELLS_WORD);
    *inside = from < to ? ~(uint64_t)0 >> (FLOE_CELLS_WORD - (to - from)) << from : 0;
    for (uint32_t i = last; i-- > 0;) {
        const uint64_t index = floe_last_digit(&rows, a.shape[i]);
        const bool within = index >= a.lo[i] && index < a.hi[i];
        *inside = within ? *inside : 0;
        at += within ? (int64_t)(index - a.lo[i]) * a.stride[i] : 0;
    }
    return {cell, at, in_row};
}

/* A warp: the cells of 64 words of a set, from their word of the upper level on; a lane has a cell of a word, then another.
 * Returns the literals that they took. */
FLOE_DEV uint32_t put_top(const floe_cells_array &a, uint64_t first_cell, uint64_t top, const uint64_t *words,
                          const set_values &v)
{
    uint32_t taken = 0;
    for (uint32_t half = 0; half < 2; half++) {
        const uint32_t i = half * FLOE_WARP + floe_lane();
        const bool there = top >> i & 1;
        const uint64_t named = there ? words[__popcll(top & (((uint64_t)1 << i) - 1))] : 0;
        const uint32_t here = (uint32_t)__popcll(named), upto = floe_warp_sum_to(here);
        uint64_t in_box = 0;
        floe_cells_word mine = {0, 0, true};
        if (named)
            mine = box_word_of(a, first_cell + i * FLOE_CELLS_WORD, &in_box);
        for (uint32_t some = __ballot_sync(FLOE_ALL_LANES, named != 0); some; some &= some - 1) {
            const int j = __ffs((int)some) - 1;
            const floe_cells_word word = floe_cells_word_from(mine, (uint32_t)j);
            const uint64_t cells = __shfl_sync(FLOE_ALL_LANES, named, j),
                           inside = __shfl_sync(FLOE_ALL_LANES, in_box, j),
                           n = v.n + taken + __shfl_sync(FLOE_ALL_LANES, upto - here, j);
#pragma unroll
            for (uint32_t k = floe_lane(); k < FLOE_CELLS_WORD; k += FLOE_WARP) {
                if (!(cells >> k & 1) || (word.in_row && !(inside >> k & 1)))
                    continue;
                const uint64_t number = n + (uint64_t)__popcll(cells & (((uint64_t)1 << k) - 1)),
                               bits = v.literals ? floe_cells_load(v.literals, (int64_t)number, a.dtype) : v.pattern;
                if (word.in_row)
                    store(a.data, (uint64_t)(word.at + (int64_t)k * a.stride[a.rank - 1]), a.dtype, bits);
                else
                    put_cell(a, word.cell + k, bits);
            }
        }
        taken += __shfl_sync(FLOE_ALL_LANES, upto, FLOE_WARP - 1);
    }
    return taken;
}

/* A set's cells of a span. Warps take words of the upper level in turn; of literals the first warp takes all, since where
 * those of a word are shows when all before are counted. */
FLOE_DEV void put_set(const floe_cells_grid &g, const floe_cells_part &p, uint32_t set)
{
    const floe_cells_chunk &c = *p.chunk;
    const uint64_t ntops = floe_ceil_div(c.nwords, 64), begin = p.within * FLOE_CELLS_SPAN_TOPS,
                   end = floe_min64(begin + FLOE_CELLS_SPAN_TOPS, ntops);
    const uint64_t *tops = (const uint64_t *)(g.stream + c.sets_at + c.set_at[set]);
    const uint64_t *words = tops + ntops + p.span->words_at[set];
    const bool listed = set == FLOE_CELLS_LITERALS;
    set_values v = {listed ? g.stream + c.literals_at : NULL, listed ? p.span->literals_at : 0,
                    listed ? 0 : c.palette[set]};
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    for (uint64_t t = begin; t < end && p.span->nwords[set] > 0; t++) {
        if (warp == (listed ? 0 : t % WARPS))
            v.n += put_top(c.array, t * 64 * FLOE_CELLS_WORD, tops[t], words, v);
        words += __popcll(tops[t]);
    }
}

/* Blocks take spans in turn. Sets go one after the other: in chunks that lie a cell may be in several, and the last one
 * counts. */
__global__ void __launch_bounds__(THREADS) cells_put_kernel(const __grid_constant__ floe_cells_grid g)
{
    const uint64_t nchunks = g.dev_nchunks ? floe_min64(*g.dev_nchunks, g.nchunks) : g.nchunks;
    if (*g.status != FLOE_OK)
        return;
    for (uint64_t i = blockIdx.x; i < nchunks * g.nspans; i += gridDim.x) {
        const floe_cells_part p = floe_cells_part_of(g, i);
        const floe_cells_chunk &c = *p.chunk;
        if (p.ncells == 0 || !c.wanted)
            continue;
        for (uint64_t cell = p.cell + threadIdx.x; c.all && cell < p.cell + p.ncells; cell += THREADS)
            put_cell(c.array, cell, floe_cells_load(g.stream + c.literals_at, (int64_t)cell, c.array.dtype));
        for (uint32_t set = 0; set < FLOE_CELLS_SETS && !c.all; set++) {
            if (c.present >> set & 1)
                put_set(g, p, set);
            __syncthreads();
        }
    }
}

uint32_t blocks_for(const floe_cells_grid &g)
{
    return (uint32_t)floe_min64(floe_max64(g.nchunks * g.nspans, 1), MOST_BLOCKS);
}

} // namespace

int floe_cells_sort_cuda(const floe_cells_grid *grid, void *stream)
{
    FLOE_LAUNCH(cells_sort_kernel, blocks_for(*grid), THREADS, 0, (cudaStream_t)stream, *grid);
    return (int)cudaGetLastError();
}

int floe_cells_write_cuda(const floe_cells_grid *grid, void *stream)
{
    FLOE_LAUNCH(cells_write_kernel, blocks_for(*grid), THREADS, 0, (cudaStream_t)stream, *grid);
    return (int)cudaGetLastError();
}

int floe_cells_put_cuda(const floe_cells_grid *grid, void *stream)
{
    FLOE_LAUNCH(cells_put_kernel, blocks_for(*grid), THREADS, 0, (cudaStream_t)stream, *grid);
    return (int)cudaGetLastError();
}
