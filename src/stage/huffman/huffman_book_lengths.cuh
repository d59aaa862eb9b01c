/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Optimal code lengths on a GPU: floe_huffman_lengths by a block or a warp, a thread a symbol.
 *
 * Each round of package-merge merges two sorted lists, leaves and pairs of the list before. The place of an item in the
 * merged list is its place in its own list and the number of items of the other one that come before it, which a binary
 * search finds. Weights are cut to 32 bits: leaves fit, and only whether a leaf is heavier than a pair is ever asked.
 */
#ifndef FLOE_STAGE_HUFFMAN_BOOK_LENGTHS_CUH
#define FLOE_STAGE_HUFFMAN_BOOK_LENGTHS_CUH

#include "stage/huffman/huffman_book_rows.cuh"

/* Who works together. count synchronizes, too. */
struct floe_block_members {
    static __device__ __forceinline__ uint32_t member() { return threadIdx.x; }
    static __device__ __forceinline__ void sync() { __syncthreads(); }
    static __device__ __forceinline__ uint32_t count(bool p) { return (uint32_t)__syncthreads_count(p); }
};
struct floe_warp_members {
    static __device__ __forceinline__ uint32_t member() { return floe_lane(); }
    static __device__ __forceinline__ void sync() { __syncwarp(); }
    static __device__ __forceinline__ uint32_t count(bool p)
    {
        __syncwarp();
        return __popc(__ballot_sync(FLOE_ALL_LANES, p));
    }
};

/* Shared memory of N members; N is a multiple of 32. */
template <uint32_t N, uint32_t LIMIT> struct floe_lengths_work {
    alignas(16) uint32_t weight[N]; /* by symbol, less 1, so that unused symbols are the heaviest */
    uint32_t sorted[N];             /* the same, each row in rising order */
    uint32_t leaf[2 * N];     /* weights of the used symbols, rising; then UINT32_MAX, as far as a search may look */
    uint32_t list[2][2 * N];  /* likewise */
    uint16_t place[LIMIT][N]; /* of each leaf in each round's list */
    uint8_t symbol[N], length[N];
};

/* The symbols of its own row that come before this one in the order of rising weight, then symbol number. */
FLOE_DEV uint32_t floe_lengths_rank_in_row(const uint32_t *weight, uint32_t s)
{
    const uint32_t mine = weight[s], row = s / FLOE_WARP * FLOE_WARP;
    uint32_t rank = 0;
#pragma unroll
    for (uint32_t i = 0; i < FLOE_WARP; i += 4) {
        const uint4 w = *(const uint4 *)(weight + row + i);
        rank += (w.x < mine || (w.x == mine && row + i < s)) + (w.y < mine || (w.y == mine && row + i + 1 < s));
        rank += (w.z < mine || (w.z == mine && row + i + 2 < s)) + (w.w < mine || (w.w == mine && row + i + 3 < s));
    }
    return rank;
}

/* The used symbols of other rows that come before used symbol s: those of rows before come first when they weigh the same. A
 * binary search in each row, all rows abreast. */
template <uint32_t N>
FLOE_DEV uint32_t floe_lengths_rank_in_others(const uint32_t *sorted, uint32_t nsymbols, uint32_t s, uint32_t mine)
{
    enum { ROWS = N / FLOE_WARP };
    uint32_t less[ROWS] = {0}, rank = 0;
#pragma unroll
    for (uint32_t step = FLOE_WARP / 2; step; step /= 2) {
#pragma unroll
        for (uint32_t r = 0; r < ROWS; r++)
            if (r * FLOE_WARP < nsymbols && r != s / FLOE_WARP)
                less[r] += sorted[r * FLOE_WARP + less[r] + step - 1] < mine + (r < s / FLOE_WARP) ? step : 0;
    }
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++)
        if (r * FLOE_WARP < nsymbols && r != s / FLOE_WARP)
            rank += less[r] + (sorted[r * FLOE_WARP + less[r]] < mine + (r < s / FLOE_WARP));
    return rank;
}

/* Where two items of the round before stand as a pair: before what is heavier, behind leaves that are not. */
FLOE_DEV uint32_t floe_lengths_pair(uint2 two)
{
    const uint32_t sum = two.x + two.y;
    return sum < two.x ? UINT32_MAX : sum;
}

FLOE_DEV bool floe_lengths_lighter(const uint32_t *list, uint32_t p, uint32_t leaf)
{
    const uint2 two = ((const uint2 *)list)[p];
    return two.x < leaf - two.y && two.y < leaf;
}

/* Steps of a search that go on, of three; each holds only if those before do. */
FLOE_DEV uint32_t floe_lengths_steps(bool first, bool second, bool third, uint32_t step)
{
    const uint32_t less = first ? step : 0, more = third ? 3 * step : 2 * step;
    return second ? more : less;
}

/* How many pairs of a list are lighter than leaf, and how many leaves are not heavier than pair; both searches abreast. There
 * are less than N pairs. Each turn looks at the ends of three quarters: what counts is how often one waits for shared memory. */
template <uint32_t N>
FLOE_DEV void floe_lengths_search(const uint32_t *list, const uint32_t *leaves, uint32_t leaf, uint32_t pair,
                                  uint32_t *npairs, uint32_t *nleaves)
{
    uint32_t lighter = 0, lower = 0, left = N;
    if (N & 0xAAAAAAAA) { /* not a power of 4 */
        left = N / 2;
        lighter = floe_lengths_lighter(list, left - 1, leaf) ? left : 0;
        lower = leaves[left - 1] <= pair ? left : 0;
    }
#pragma unroll
    for (uint32_t step = left / 4; step; step /= 4) {
        const uint32_t p = lighter + step - 1, l = lower + step - 1;
        lighter += floe_lengths_steps(floe_lengths_lighter(list, p, leaf), floe_lengths_lighter(list, p + step, leaf),
                                      floe_lengths_lighter(list, p + 2 * step, leaf), step);
        lower += floe_lengths_steps(leaves[l] <= pair, leaves[l + step] <= pair, leaves[l + 2 * step] <= pair, step);
    }
    *npairs = lighter;
    *nleaves = leaves[N - 1] <= pair ? N : lower;
}

/* Clears the lists and ranks the symbols. Returns how many occur. */
template <typename Members, uint32_t N, uint32_t LIMIT>
FLOE_DEV uint32_t floe_lengths_sort(floe_lengths_work<N, LIMIT> &work, uint32_t nsymbols, uint32_t count)
{
    const uint32_t i = Members::member();
    work.weight[i] = count - 1;
    work.length[i] = 0;
    work.leaf[i] = UINT32_MAX;
    for (uint32_t k = i; k < 2 * N; k += N)
        work.list[0][k] = work.list[1][k] = UINT32_MAX;
    __syncwarp();
    uint32_t rank = floe_lengths_rank_in_row(work.weight, i);
    work.sorted[i / FLOE_WARP * FLOE_WARP + rank] = count - 1;
    const uint32_t n = Members::count(count > 0);
    if (count) {
        rank += floe_lengths_rank_in_others<N>(work.sorted, nsymbols, i, count - 1);
        work.leaf[rank] = work.list[0][rank] = count;
        work.symbol[rank] = (uint8_t)i;
    }
    Members::sync();
    return n;
}

/* The length for symbol Members::member() of at most N, which occurs count times. At least two occur. nsymbols is the same
 * for all members; count is 0 for other symbols. All members; they are synchronized on return. */
template <typename Members, uint32_t N, uint32_t LIMIT>
FLOE_DEV uint32_t floe_lengths_find(floe_lengths_work<N, LIMIT> &work, uint32_t nsymbols, uint32_t count)
{
    const uint32_t i = Members::member(), n = floe_lengths_sort<Members>(work, nsymbols, count);
    const uint32_t keep = 2 * n - 2, leaf = work.leaf[i];
    uint32_t nlist = n, lighter, leaves;
    work.place[0][i] = (uint16_t)(i < n ? i : UINT16_MAX);
    for (uint32_t r = 1; r < LIMIT; r++) {
        const uint32_t *before = work.list[~r & 1], npairs = nlist / 2;
        uint32_t *list = work.list[r & 1];
        const uint32_t pair = floe_lengths_pair(((const uint2 *)before)[i]);
        floe_lengths_search<N>(before, work.leaf, leaf, pair, &lighter, &leaves);
        const uint32_t leaf_at = i + lighter, pair_at = i + min(leaves, n);
        work.place[r][i] = (uint16_t)(i < n ? leaf_at : UINT16_MAX);
        if (i < n && leaf_at < keep)
            list[leaf_at] = leaf;
        if (i < npairs && pair_at < keep)
            list[pair_at] = pair;
        nlist = min(keep, n + npairs);
        Members::sync();
    }
    uint32_t items = keep, length = 0;
    for (uint32_t r = LIMIT; r-- > 0;) {
        const bool counts = work.place[r][i] < items;
        length += counts;
        items = 2 * (items - Members::count(counts));
    }
    if (i < n)
        work.length[work.symbol[i]] = (uint8_t)length;
    Members::sync();
    return work.length[i];
}

#endif
