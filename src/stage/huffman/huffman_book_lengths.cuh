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
template <uint32_t N> struct floe_lengths_work {
    alignas(16) uint32_t weight[N]; /* by symbol, less 1, so that unused symbols are the heaviest */
    uint32_t sorted[N];             /* the same, each row in rising order */
    alignas(16) uint32_t list[2][2 * N];
    uint32_t leaf[N]; /* weights of the used symbols, rising */
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

FLOE_DEV uint32_t floe_lengths_pair(const uint32_t *list, uint32_t p)
{
    const uint2 two = *(const uint2 *)(list + 2 * p);
    const uint32_t sum = two.x + two.y;
    return sum < two.x ? UINT32_MAX : sum;
}

/* The length for symbol Members::member() of at most N, which occurs count times. At least two occur. nsymbols is the same
 * for all members; count is 0 for other symbols. All members; they are synchronized on return. */
template <typename Members, uint32_t N, uint32_t LIMIT>
FLOE_DEV uint32_t floe_lengths_find(floe_lengths_work<N> &work, uint32_t nsymbols, uint32_t count)
{
    const uint32_t i = Members::member();
    uint32_t place[LIMIT]; /* of leaf i in each round's list */
    work.weight[i] = count - 1;
    work.length[i] = 0;
    __syncwarp();
    uint32_t rank = floe_lengths_rank_in_row(work.weight, i);
    work.sorted[i / FLOE_WARP * FLOE_WARP + rank] = count - 1;
    const uint32_t n = Members::count(count > 0), keep = 2 * n - 2;
    if (count) {
        rank += floe_lengths_rank_in_others<N>(work.sorted, nsymbols, i, count - 1);
        work.leaf[rank] = work.list[0][rank] = count;
        work.symbol[rank] = (uint8_t)i;
    }
    Members::sync();
    const uint32_t leaf = i < n ? work.leaf[i] : 0, top = 1u << (31 - __clz(n));
    uint32_t nlist = n;
    place[0] = i;
#pragma unroll
    for (uint32_t r = 1; r < LIMIT; r++) {
        const uint32_t *before = work.list[(r + 1) & 1], npairs = nlist / 2;
        uint32_t *list = work.list[r & 1];
        const uint32_t pair = i < npairs ? floe_lengths_pair(before, i) : 0;
        uint32_t lighter = 0, leaves = 0; /* pairs before the leaf; leaves before the pair */
        for (uint32_t step = top; step; step >>= 1) {
            if (lighter + step <= npairs && floe_lengths_pair(before, lighter + step - 1) < leaf)
                lighter += step;
            if (leaves + step <= n && work.leaf[leaves + step - 1] <= pair)
                leaves += step;
        }
        place[r] = i + lighter;
        if (i < n && place[r] < keep)
            list[place[r]] = leaf;
        if (i < npairs && i + leaves < keep)
            list[i + leaves] = pair;
        nlist = min(keep, n + npairs);
        Members::sync();
    }
    uint32_t items = keep, length = 0;
#pragma unroll
    for (uint32_t r = LIMIT; r-- > 0;) {
        bool counts = i < n && place[r] < items;
        length += counts;
        items = 2 * (items - Members::count(counts));
    }
    if (i < n)
        work.length[work.symbol[i]] = (uint8_t)length;
    Members::sync();
    return work.length[i];
}

#endif
