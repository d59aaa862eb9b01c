/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The primitives on a GPU, so that each result is that of prim_host.c. Kernels stride over their tiles, so any grid will do,
 * and no block waits for another: what a later one needs is another kernel's work.
 *
 * This is not CUB, since that brings the C++ library, getenv and dlopen into ours, does not distinguish -0 from +0 in a sort, and does
 * not run in the emulator.
 */
#include "backend/device_scan.cuh"
#include "prim/prim_map.cuh"
#include "prim/prim_math.h"

namespace
{

#define TRY(call)            \
    do {                     \
        int e = (int)(call); \
        if (e)               \
            return e;        \
    } while (0)

enum {
    BLOCK = FLOE_PRIM_BLOCK,
    WARPS = BLOCK / FLOE_WARP,
    LINE = 8, /* elements of a thread that scans */
    TILE = BLOCK * LINE
};

inline uint64_t tiles_of(uint64_t n) { return floe_ceil_div(n, TILE); }

/* ---- max ----------------------------------------------------------------------------------------------------------- */

/* A thread takes every so-many-th element. */
template <bool WIDE> __global__ void max_kernel(const void *in, uint64_t n, void *out)
{
    uint64_t most = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (uint64_t)gridDim.x * BLOCK)
        most = floe_max64(most, floe_prim_get(WIDE, in, i));
    most = floe_warp_max(most);
    if (floe_lane() != 0)
        return;
    if (WIDE)
        atomicMax((unsigned long long *)out, (unsigned long long)most);
    else
        atomicMax((unsigned int *)out, (unsigned int)most);
}

int max_run(const floe_prim_job *job, cudaStream_t stream)
{
    const bool wide = floe_prim_is_wide(job->type);
    if (job->sizing)
        return 0;
    TRY(cudaMemsetAsync(job->out, 0, floe_prim_nbytes(job->type), stream));
    if (job->n > 0)
        FLOE_LAUNCH((wide ? max_kernel<true> : max_kernel<false>), floe_prim_grid(tiles_of(job->n)), BLOCK, 0, stream,
                    job->in, job->n, job->out);
    return (int)cudaGetLastError();
}

/* ---- scan ---------------------------------------------------------------------------------------------------------- */

/* A warp owns a tile. */
template <bool WIDE> __global__ void tile_sum_kernel(const void *in, uint64_t n, uint64_t *sums)
{
    const uint64_t first = (uint64_t)blockIdx.x * WARPS + threadIdx.x / FLOE_WARP;
    for (uint64_t tile = first; tile * TILE < n; tile += (uint64_t)gridDim.x * WARPS) {
        const uint64_t begin = tile * TILE, end = floe_min64(n, begin + TILE);
        uint64_t sum = 0;
#pragma unroll 8
        for (uint64_t i = begin + floe_lane(); i < end; i += FLOE_WARP)
            sum += floe_prim_get(WIDE, in, i);
        sum = floe_warp_sum(sum);
        if (floe_lane() == 0)
            sums[tile] = sum;
    }
}

/* An element of a tile in shared memory, with a gap behind each line against bank conflicts. */
FLOE_DEV uint32_t staged_at(uint32_t i) { return i + i / LINE; }

/* A block owns a tile, a thread a line. starts: what lies before each tile; NULL: there is one. */
template <bool WIDE>
__global__ void tile_scan_kernel(bool inclusive, const void *in, uint64_t *out, uint64_t n, const uint64_t *starts)
{
    __shared__ uint64_t staged[TILE + BLOCK], warps[WARPS];
    uint64_t *line = staged + staged_at(threadIdx.x * LINE);
    for (uint64_t tile = blockIdx.x; tile * TILE < n; tile += gridDim.x) {
        const uint64_t begin = tile * TILE;
        const uint32_t count = (uint32_t)floe_min64(n - begin, TILE);
#pragma unroll
        for (uint32_t i = threadIdx.x; i < TILE; i += BLOCK)
            staged[staged_at(i)] = i < count ? floe_prim_get(WIDE, in, begin + i) : 0;
        __syncthreads();
        uint64_t sum = 0;
#pragma unroll
        for (uint32_t k = 0; k < LINE; k++)
            sum += line[k];
        const uint64_t end = floe_warp_sum_to(sum);
        if (floe_lane() == FLOE_WARP - 1)
            warps[threadIdx.x / FLOE_WARP] = end;
        __syncthreads();
        uint64_t word = (starts ? starts[tile] : 0) + (end - sum);
        for (uint32_t w = 0; w < threadIdx.x / FLOE_WARP; w++)
            word += warps[w];
#pragma unroll
        for (uint32_t k = 0; k < LINE; k++) {
            const uint64_t before = word;
            word += line[k];
            line[k] = inclusive ? word : before;
        }
        __syncthreads();
#pragma unroll
        for (uint32_t i = threadIdx.x; i < TILE; i += BLOCK)
            if (i < count)
                out[begin + i] = staged[staged_at(i)];
        __syncthreads(); /* the next tile is staged */
    }
}

/* Sums of tiles, their scan, the tiles. */
int scan_run(const floe_prim_job *job, cudaStream_t stream, floe_arena *arena)
{
    const bool wide = floe_prim_is_wide(job->type);
    const uint64_t ntiles = tiles_of(job->n);
    uint64_t *starts = NULL;
    if (ntiles > 1) {
        starts = (uint64_t *)floe_arena_take(arena, ntiles, sizeof *starts);
        floe_prim_job totals = *job;
        totals.type = FLOE_PRIM_U64;
        totals.inclusive = false;
        totals.in = totals.out = starts;
        totals.n = ntiles;
        if (!job->sizing)
            FLOE_LAUNCH((wide ? tile_sum_kernel<true> : tile_sum_kernel<false>),
                        floe_prim_grid(floe_ceil_div(ntiles, WARPS)), BLOCK, 0, stream, job->in, job->n, starts);
        TRY(scan_run(&totals, stream, arena));
    }
    if (job->sizing || job->n == 0)
        return 0;
    FLOE_LAUNCH((wide ? tile_scan_kernel<true> : tile_scan_kernel<false>), floe_prim_grid(ntiles), BLOCK, 0, stream,
                job->inclusive, job->in, (uint64_t *)job->out, job->n, starts);
    return (int)cudaGetLastError();
}

/* ---- sort ---------------------------------------------------------------------------------------------------------- */

/* As in prim_host.c. In a pass blocks count the digits of their tiles; a scan of the counts, digits first and tiles second, shows
 * where each tile puts its elements of each digit; then they are moved. */

enum {
    SORT_ROWS = 16, /* elements of a thread, in steps of a warp: a warp owns a stretch of the tile */
    SORT_STRETCH = SORT_ROWS * FLOE_WARP,
    SORT_TILE = WARPS * SORT_STRETCH,
    DIGITS = FLOE_PRIM_DIGITS
};
static_assert((int)BLOCK == (int)DIGITS, "a thread owns a digit");

struct sort_pass {
    const void *from;
    void *to;
    uint64_t n, ntiles;
    bool is_float;
    uint32_t shift;
    uint32_t *counts; /* of digit d in tile i: counts[d * ntiles + i] */
    uint64_t *places; /* the scan of counts: where the first of them goes */
};

template <bool WIDE> FLOE_DEV uint32_t digit_of(const sort_pass &s, uint64_t bits)
{
    return floe_prim_digit(WIDE, s.is_float, bits, s.shift);
}

/* By whole warps. One atomic for all lanes that agree with the first, since data are often all alike. */
FLOE_DEV void count_digit(uint32_t *bins, uint32_t digit, bool counts)
{
    const uint32_t lanes = __ballot_sync(FLOE_ALL_LANES, counts);
    if (lanes == 0)
        return;
    const uint32_t first = (uint32_t)__ffs((int)lanes) - 1, common = __shfl_sync(FLOE_ALL_LANES, digit, (int)first);
    const uint32_t alike = __ballot_sync(FLOE_ALL_LANES, counts && digit == common);
    if (floe_lane() == first)
        atomicAdd(bins + common, (uint32_t)__popc(alike));
    else if (counts && digit != common)
        atomicAdd(bins + digit, 1u);
}

/* A block owns a tile, a thread a digit. */
template <bool WIDE> __global__ void sort_count_kernel(const sort_pass s)
{
    __shared__ uint32_t bins[DIGITS];
    for (uint64_t tile = blockIdx.x; tile < s.ntiles; tile += gridDim.x) {
        uint64_t key[SORT_ROWS];
        bins[threadIdx.x] = 0;
        __syncthreads();
#pragma unroll
        for (uint32_t r = 0; r < SORT_ROWS; r++) {
            const uint64_t i = tile * SORT_TILE + r * BLOCK + threadIdx.x;
            key[r] = i < s.n ? floe_prim_get(WIDE, s.from, i) : 0;
        }
#pragma unroll
        for (uint32_t r = 0; r < SORT_ROWS; r++)
            count_digit(bins, digit_of<WIDE>(s, key[r]), tile * SORT_TILE + r * BLOCK + threadIdx.x < s.n);
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
    for (uint32_t b = 0; b < FLOE_PRIM_DIGIT_BITS; b++) {
        const uint32_t ones = __ballot_sync(FLOE_ALL_LANES, digit >> b & 1);
        alike &= digit >> b & 1 ? ones : ~ones;
    }
    return alike;
}

struct sort_shared {
    uint32_t counts[WARPS][DIGITS]; /* of a warp's stretch, then where its first goes in the tile */
    uint64_t shift[DIGITS];         /* from a place in the sorted tile to that in the array */
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
    for (uint32_t d = floe_lane(); d < DIGITS; d += FLOE_WARP)
        counts[d] = 0;
    __syncwarp();
#pragma unroll
    for (uint32_t r = 0; r < SORT_ROWS; r++) {
        const uint32_t digit = digit_of<WIDE>(s, key[r]), alike = lanes_alike(digit, stretch_at(r) < count);
        place[r] = counts[digit] + (uint32_t)__popc(alike & floe_lanes_below());
        __syncwarp();
        if (alike >> floe_lane() == 1) /* the last of them */
            counts[digit] = place[r] + 1;
        __syncwarp();
    }
}

/* A block owns a tile, and sorts it in shared memory, so that each digit's elements are written side by side. */
template <bool WIDE> __global__ void __launch_bounds__(BLOCK, 2) sort_move_kernel(const sort_pass s)
{
    __shared__ sort_shared shared;
    FLOE_DYNAMIC_SHARED(uint64_t, staged);
    uint32_t *counts = shared.counts[threadIdx.x / FLOE_WARP];
    for (uint64_t tile = blockIdx.x; tile < s.ntiles; tile += gridDim.x) {
        const uint64_t begin = tile * SORT_TILE;
        const uint32_t count = (uint32_t)floe_min64(s.n - begin, SORT_TILE);
        uint64_t key[SORT_ROWS];
        uint32_t place[SORT_ROWS];
#pragma unroll
        for (uint32_t r = 0; r < SORT_ROWS; r++)
            key[r] = stretch_at(r) < count ? floe_prim_get(WIDE, s.from, begin + stretch_at(r)) : 0;
        sort_rank<WIDE>(s, key, count, counts, place);
        __syncthreads();
        sort_places(&shared, s, tile);
#pragma unroll
        for (uint32_t r = 0; r < SORT_ROWS; r++)
            if (stretch_at(r) < count)
                floe_prim_set(WIDE, staged, place[r] + counts[digit_of<WIDE>(s, key[r])], key[r]);
        __syncthreads();
#pragma unroll
        for (uint32_t r = 0; r < SORT_ROWS; r++) {
            const uint32_t i = r * BLOCK + threadIdx.x;
            const uint64_t sorted = i < count ? floe_prim_get(WIDE, staged, i) : 0;
            if (i < count)
                floe_prim_set(WIDE, s.to, shared.shift[digit_of<WIDE>(s, sorted)] + i, sorted);
        }
        __syncthreads();
    }
}

int sort_pass_run(const sort_pass &s, bool wide, cudaStream_t stream, floe_arena arena)
{
    floe_prim_job scan = {};
    scan.type = FLOE_PRIM_U32;
    scan.in = s.counts, scan.out = s.places;
    scan.n = s.ntiles * DIGITS;
    const uint32_t grid = floe_prim_grid(s.ntiles);
    FLOE_LAUNCH((wide ? sort_count_kernel<true> : sort_count_kernel<false>), grid, BLOCK, 0, stream, s);
    TRY(scan_run(&scan, stream, &arena));
    FLOE_LAUNCH((wide ? sort_move_kernel<true> : sort_move_kernel<false>), grid, BLOCK, SORT_TILE * (wide ? 8 : 4),
                stream, s);
    return (int)cudaGetLastError();
}

/* From in to the workspace, to out and so on: out has the last, since the number of passes is even. */
int sort_run(const floe_prim_job *job, cudaStream_t stream, floe_arena *arena)
{
    const uint32_t nbytes = floe_prim_nbytes(job->type);
    sort_pass s = {};
    void *scratch = floe_arena_take(arena, job->n, nbytes);
    s.ntiles = floe_ceil_div(job->n, SORT_TILE);
    s.counts = (uint32_t *)floe_arena_take(arena, s.ntiles * DIGITS, sizeof *s.counts);
    s.places = (uint64_t *)floe_arena_take(arena, s.ntiles * DIGITS, sizeof *s.places);
    s.from = job->in;
    s.to = scratch;
    s.n = job->n;
    s.is_float = floe_prim_is_float(job->type);
    if (job->sizing) {
        floe_prim_job scan = *job;
        scan.type = FLOE_PRIM_U32;
        scan.n = s.ntiles * DIGITS;
        return scan_run(&scan, stream, arena);
    }
    if (job->n == 0)
        return 0;
    for (; s.shift < 8 * nbytes; s.shift += FLOE_PRIM_DIGIT_BITS) {
        TRY(sort_pass_run(s, nbytes == 8, stream, *arena)); /* all scans use the same scratch */
        s.from = s.to;
        s.to = s.from == scratch ? job->out : scratch;
    }
    return 0;
}

} // namespace

extern "C" int floe_prim_run_cuda(const floe_prim_job *job, void *stream, floe_arena *arena)
{
    cudaStream_t s = (cudaStream_t)stream;
    return job->call == FLOE_PRIM_MAX    ? max_run(job, s)
           : job->call == FLOE_PRIM_SCAN ? scan_run(job, s, arena)
                                         : sort_run(job, s, arena);
}
