/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sort on a GPU: by digits of 8 bits from the lowest on, each pass stable, as in prim_sort_host.c. In a pass blocks count the
 * digits of their tiles; a scan of the counts, digits first and tiles second, says where each tile puts its elements of each
 * digit; then they are moved.
 */
#include "backend/device_scan.cuh"
#include "prim/prim_cuda.cuh"
#include "prim/prim_job.h"

namespace
{

enum {
    SORT_ROWS = 16, /* keys of a thread, in steps of a warp: a warp owns a stretch of the tile */
    SORT_STRETCH = SORT_ROWS * FLOE_WARP,
    SORT_TILE = WARPS * SORT_STRETCH,
    SORT_DIGITS = FLOE_PRIM_SORT_DIGITS
};
static_assert((int)BLOCK == (int)SORT_DIGITS, "a thread owns a digit");

inline uint64_t sort_tiles(uint64_t n) { return floe_ceil_div(n, SORT_TILE); }

struct sort_pass {
    const void *keys, *values;
    void *keys_to, *values_to;
    uint64_t n, ntiles;
    floe_prim_order order;
    uint32_t shift;
    uint32_t *counts; /* of digit d in tile i: counts[d * ntiles + i] */
    uint64_t *places; /* the scan of counts: where the first of them goes */
};

/* A block owns a tile. */
template <bool WIDE> __global__ void sort_count_kernel(const sort_pass s)
{
    __shared__ uint32_t bins[SORT_DIGITS];
    for (uint64_t tile = blockIdx.x; tile < s.ntiles; tile += gridDim.x) {
        uint64_t key[SORT_ROWS];
        shared_clear(bins, SORT_DIGITS);
#pragma unroll
        for (uint32_t r = 0; r < SORT_ROWS; r++) {
            const uint64_t i = tile * SORT_TILE + r * BLOCK + threadIdx.x;
            key[r] = i < s.n ? floe_prim_get(WIDE, s.keys, i) : 0;
        }
#pragma unroll
        for (uint32_t r = 0; r < SORT_ROWS; r++)
            count_bin(bins, floe_prim_sort_digit(WIDE, s.order, key[r], s.shift),
                      tile * SORT_TILE + r * BLOCK + threadIdx.x < s.n);
        __syncthreads();
        s.counts[threadIdx.x * s.ntiles + tile] = bins[threadIdx.x];
        __syncthreads();
    }
}

/* The lanes that are `there` and have this lane's digit. */
FLOE_DEV uint32_t lanes_alike(uint32_t digit, bool there)
{
    uint32_t alike = __ballot_sync(FLOE_ALL_LANES, there);
#pragma unroll
    for (uint32_t b = 0; b < FLOE_PRIM_SORT_BITS; b++) {
        const uint32_t ones = __ballot_sync(FLOE_ALL_LANES, digit >> b & 1);
        alike &= digit >> b & 1 ? ones : ~ones;
    }
    return alike;
}

struct sort_shared {
    uint32_t counts[WARPS][SORT_DIGITS]; /* of a warp's stretch, then where its first goes in the tile */
    uint64_t shift[SORT_DIGITS];         /* from a place in the sorted tile to that in the array */
    uint32_t warps[WARPS];
};

/* Counts of all warps to places in the sorted tile, digits first and warps second; all of the block. */
FLOE_DEV void sort_places(sort_shared *shared, const sort_pass &s, uint64_t tile)
{
    const uint32_t digit = threadIdx.x, warp = threadIdx.x / FLOE_WARP;
    uint32_t total = 0;
    for (uint32_t w = 0; w < WARPS; w++)
        total += shared->counts[w][digit];
    const uint32_t end = floe_warp_sum_to(total);
    if (floe_lane() == FLOE_WARP - 1)
        shared->warps[warp] = end;
    __syncthreads();
    uint32_t at = end - total;
    for (uint32_t w = 0; w < warp; w++)
        at += shared->warps[w];
    shared->shift[digit] = s.places[digit * s.ntiles + tile] - at;
    for (uint32_t w = 0; w < WARPS; w++) {
        const uint32_t here = shared->counts[w][digit];
        shared->counts[w][digit] = at;
        at += here;
    }
    __syncthreads();
}

/* A thread's elements: row r of its warp's stretch. */
FLOE_DEV uint32_t stretch_at(uint32_t r)
{
    return threadIdx.x / FLOE_WARP * SORT_STRETCH + r * FLOE_WARP + floe_lane();
}

/* place: among the stretch's keys of the same digit; their numbers are left in counts, the warp's own. */
template <bool WIDE>
FLOE_DEV void sort_rank(const sort_pass &s, const uint64_t key[SORT_ROWS], uint32_t count, uint32_t *counts,
                        uint32_t place[SORT_ROWS])
{
    for (uint32_t d = floe_lane(); d < SORT_DIGITS; d += FLOE_WARP)
        counts[d] = 0;
    __syncwarp();
#pragma unroll
    for (uint32_t r = 0; r < SORT_ROWS; r++) {
        const uint32_t digit = floe_prim_sort_digit(WIDE, s.order, key[r], s.shift);
        const uint32_t alike = lanes_alike(digit, stretch_at(r) < count);
        place[r] = counts[digit] + (uint32_t)__popc(alike & floe_lanes_below());
        __syncwarp();
        if (alike >> floe_lane() == 1) /* the last of them */
            counts[digit] = place[r] + 1;
        __syncwarp();
    }
}

/* Values go the way of their keys: place in the sorted tile, from there to the array; all of the block. */
template <bool WIDE>
FLOE_DEV void sort_move_values(const sort_pass &s, uint64_t begin, uint32_t count, const uint32_t place[SORT_ROWS],
                               const uint64_t to[SORT_ROWS], uint64_t *staged)
{
#pragma unroll
    for (uint32_t r = 0; r < SORT_ROWS; r++)
        if (stretch_at(r) < count)
            floe_prim_set(WIDE, staged, place[r], floe_prim_get(WIDE, s.values, begin + stretch_at(r)));
    __syncthreads();
#pragma unroll
    for (uint32_t r = 0; r < SORT_ROWS; r++)
        if (r * BLOCK + threadIdx.x < count)
            floe_prim_set(WIDE, s.values_to, to[r], floe_prim_get(WIDE, staged, r * BLOCK + threadIdx.x));
    __syncthreads();
}

/* A block owns a tile, and sorts it in shared memory, so that each digit's elements are written side by side. */
template <bool WIDE, int VALUE> __global__ void __launch_bounds__(BLOCK, 2) sort_move_kernel(const sort_pass s)
{
    __shared__ sort_shared shared;
    FLOE_DYNAMIC_SHARED(uint64_t, staged);
    uint32_t *counts = shared.counts[threadIdx.x / FLOE_WARP];
    for (uint64_t tile = blockIdx.x; tile < s.ntiles; tile += gridDim.x) {
        const uint64_t begin = tile * SORT_TILE;
        const uint32_t count = (uint32_t)floe_min64(s.n - begin, SORT_TILE);
        uint64_t key[SORT_ROWS], to[SORT_ROWS];
        uint32_t place[SORT_ROWS];
#pragma unroll
        for (uint32_t r = 0; r < SORT_ROWS; r++)
            key[r] = stretch_at(r) < count ? floe_prim_get(WIDE, s.keys, begin + stretch_at(r)) : 0;
        sort_rank<WIDE>(s, key, count, counts, place);
        __syncthreads();
        sort_places(&shared, s, tile);
#pragma unroll
        for (uint32_t r = 0; r < SORT_ROWS; r++) {
            place[r] += counts[floe_prim_sort_digit(WIDE, s.order, key[r], s.shift)];
            if (stretch_at(r) < count)
                floe_prim_set(WIDE, staged, place[r], key[r]);
        }
        __syncthreads();
#pragma unroll
        for (uint32_t r = 0; r < SORT_ROWS; r++) {
            const uint32_t i = r * BLOCK + threadIdx.x;
            const uint64_t sorted = i < count ? floe_prim_get(WIDE, staged, i) : 0;
            to[r] = shared.shift[floe_prim_sort_digit(WIDE, s.order, sorted, s.shift)] + i;
            if (i < count)
                floe_prim_set(WIDE, s.keys_to, to[r], sorted);
        }
        __syncthreads();
        if (VALUE != 0)
            sort_move_values<VALUE == 8>(s, begin, count, place, to, staged);
    }
}

int sort_pass_run(const sort_pass *pass, bool wide, uint32_t value_nbytes, const floe_prim_job *scan,
                  cudaStream_t stream, floe_arena *arena)
{
    typedef void (*kernel_fn)(sort_pass);
    static const kernel_fn counts[2] = {sort_count_kernel<false>, sort_count_kernel<true>};
    static const kernel_fn moves[2][3] = {
        {sort_move_kernel<false, 0>, sort_move_kernel<false, 4>, sort_move_kernel<false, 8>},
        {sort_move_kernel<true, 0>, sort_move_kernel<true, 4>, sort_move_kernel<true, 8>}};
    const kernel_fn count = counts[wide], move = moves[wide][value_nbytes / 4];
    const sort_pass s = *pass;
    const uint32_t grid = floe_prim_grid(s.ntiles), staged = SORT_TILE * (wide || value_nbytes == 8 ? 8 : 4);
    FLOE_LAUNCH(count, grid, BLOCK, 0, stream, s);
    TRY(cudaGetLastError());
    TRY(floe_prim_scan_cuda(scan, stream, arena));
    FLOE_LAUNCH(move, grid, BLOCK, staged, stream, s);
    return (int)cudaGetLastError();
}

} // namespace

/* From in to the workspace, to out and so on: out has the last, since the number of passes is even. */
extern "C" int floe_prim_sort_cuda(const floe_prim_job *job, void *stream, floe_arena *arena)
{
    const bool wide = floe_prim_is_wide(job->type);
    const uint64_t ntiles = sort_tiles(job->n);
    sort_pass s = {};
    void *keys = floe_arena_take(arena, job->n, floe_prim_nbytes(job->type));
    void *values = floe_arena_take(arena, job->n, job->value_nbytes);
    s.counts = take<uint32_t>(arena, ntiles * SORT_DIGITS);
    s.places = take<uint64_t>(arena, ntiles * SORT_DIGITS);
    s.keys = job->in, s.values = job->values;
    s.keys_to = keys, s.values_to = values;
    s.n = job->n, s.ntiles = ntiles;
    s.order = floe_prim_order_of(job->type);

    floe_prim_job scan = {};
    scan.sizing = job->sizing;
    scan.type = FLOE_PRIM_U32, scan.out_type = FLOE_PRIM_U64;
    scan.in = s.counts, scan.out = s.places;
    scan.n = ntiles * SORT_DIGITS;
    if (job->sizing)
        return floe_prim_scan_cuda(&scan, stream, arena);
    if (job->n == 0)
        return 0;
    for (; s.shift < 8 * floe_prim_nbytes(job->type); s.shift += FLOE_PRIM_SORT_BITS) {
        floe_arena again = *arena; /* all scans use the same scratch */
        TRY(sort_pass_run(&s, wide, job->value_nbytes, &scan, (cudaStream_t)stream, &again));
        const bool there = s.keys_to == keys;
        s.keys = s.keys_to, s.values = s.values_to;
        s.keys_to = there ? job->out : keys, s.values_to = there ? job->out_values : values;
    }
    return 0;
}
