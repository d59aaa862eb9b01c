/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The primitives on a GPU, so that each result is that of prim_host.c. Kernels stride over their tiles, so any grid will do,
 * and no block waits for another: what a later one needs is another kernel's work.
 *
 * This is not CUB, since that brings the C++ library, getenv and dlopen into ours, and does neither add floats in an order that
 * the CPU can follow, nor select, nor tell -0 from +0 in a sort, nor run in the emulator.
 */
#include "backend/device.cuh"
#include "prim/prim_cuda.cuh"
#include "prim/prim_job.h"
#include "prim/prim_map.cuh"

FLOE_PRIM_MAP_CUDA(floe_prim_flag_map, floe_prim_flag_job, floe_prim_flag_one)
FLOE_PRIM_MAP_CUDA(floe_prim_gather_map, floe_prim_move_job, floe_prim_gather_one)
FLOE_PRIM_MAP_CUDA(floe_prim_scatter_map, floe_prim_move_job, floe_prim_scatter_one)

namespace
{

/* ---- reduce ------------------------------------------------------------------------------------------------------ */

/* A warp owns a tile. */
template <int T, int OP> __global__ void tile_reduce_kernel(const void *in, uint64_t n, uint64_t *words)
{
    constexpr floe_prim_type t = (floe_prim_type)T;
    constexpr floe_prim_op op = (floe_prim_op)OP;
    for (uint64_t tile = first_tile_of_warp(); tile * FLOE_PRIM_TILE < n; tile += warps_of_grid()) {
        const uint64_t begin = tile * FLOE_PRIM_TILE;
        const uint32_t count = (uint32_t)floe_min64(n - begin, FLOE_PRIM_TILE);
        uint64_t word = 0;
#pragma unroll 8
        for (uint32_t i = floe_lane(); i < count; i += FLOE_WARP)
            word =
                floe_prim_join(t, op, word, floe_prim_word(t, op, floe_prim_get(floe_prim_is_wide(t), in, begin + i)));
        for (uint32_t d = FLOE_WARP / 2; d > 0; d /= 2)
            word = floe_prim_join(t, op, word, __shfl_down_sync(FLOE_ALL_LANES, word, d));
        if (floe_lane() == 0)
            words[tile] = word;
    }
}

/* word NULL: of no elements */
__global__ void reduce_result_kernel(floe_prim_type t, floe_prim_op op, const uint64_t *word, void *out)
{
    floe_prim_store_result(t, op, word ? *word : 0, out);
}

int tiles_reduce(floe_prim_type t, floe_prim_op op, const void *in, uint64_t n, uint64_t *words, cudaStream_t stream)
{
    typedef void (*kernel_fn)(const void *, uint64_t, uint64_t *);
#define EACH_OP(T)                                                                   \
    {                                                                                \
        tile_reduce_kernel<T, 0>, tile_reduce_kernel<T, 1>, tile_reduce_kernel<T, 2> \
    }
    static const kernel_fn kernels[6][3] = {EACH_OP(0), EACH_OP(1), EACH_OP(2), EACH_OP(3), EACH_OP(4), EACH_OP(5)};
    const kernel_fn kernel = kernels[t][op];
    FLOE_LAUNCH(kernel, grid_of_warps(tiles_of(n)), BLOCK, 0, stream, in, n, words);
    return (int)cudaGetLastError();
}

int reduce_run(const floe_prim_job *job, cudaStream_t stream, floe_arena *arena)
{
    const floe_prim_op op = job->op == FLOE_PRIM_SUM ? FLOE_PRIM_SUM : FLOE_PRIM_MAX;
    const floe_prim_type word_type = op == FLOE_PRIM_SUM ? floe_prim_widened(job->type) : FLOE_PRIM_U64;
    uint64_t n = tiles_of(job->n);
    uint64_t *words = take<uint64_t>(arena, n), *next = take<uint64_t>(arena, tiles_of(n));
    if (job->sizing)
        return 0;
    if (n > 0)
        TRY(tiles_reduce(job->type, job->op, job->in, job->n, words, stream));
    while (n > 1) {
        uint64_t *from = words;
        TRY(tiles_reduce(word_type, op, from, n, next, stream));
        n = tiles_of(n);
        words = next;
        next = from;
    }
    const uint64_t *word = n ? words : NULL;
    FLOE_LAUNCH(reduce_result_kernel, 1, 1, 0, stream, job->type, job->op, word, job->out);
    return (int)cudaGetLastError();
}

/* ---- scan -------------------------------------------------------------------------------------------------------- */

/* Elements of a tile in shared memory, with a gap behind each line against bank conflicts. */
FLOE_DEV uint32_t staged_at(uint32_t i) { return i + i / FLOE_PRIM_LINE; }
enum { STAGED = FLOE_PRIM_TILE + FLOE_PRIM_TILE / FLOE_PRIM_LINE };

/* Where the thread's line starts, relative to the tile, from the line's sum; all of the block. */
template <int T> FLOE_DEV uint64_t line_start(uint64_t sum, uint64_t rows[WARPS])
{
    constexpr floe_prim_type t = (floe_prim_type)T;
    const uint32_t lane = floe_lane(), warp = threadIdx.x / FLOE_WARP;
    for (uint32_t d = 1; d < FLOE_WARP; d *= 2) {
        const uint64_t below = __shfl_up_sync(FLOE_ALL_LANES, sum, d);
        sum = lane >= d ? floe_prim_join(t, FLOE_PRIM_SUM, sum, below) : sum;
    }
    const uint64_t line = __shfl_up_sync(FLOE_ALL_LANES, sum, 1);
    uint64_t row = 0;
    if (lane == FLOE_WARP - 1)
        rows[warp] = sum;
    __syncthreads();
    for (uint32_t r = 0; r < warp; r++)
        row = floe_prim_join(t, FLOE_PRIM_SUM, row, rows[r]);
    return floe_prim_join(t, FLOE_PRIM_SUM, row, lane > 0 ? line : 0);
}

/* A block owns a tile, a warp a row, a thread a line. */
template <int T, int TO>
__global__ void tile_scan_kernel(bool inclusive, const void *in, void *out, uint64_t n, const uint64_t *starts)
{
    constexpr floe_prim_type t = (floe_prim_type)T, to = (floe_prim_type)TO;
    constexpr floe_prim_op op = FLOE_PRIM_SUM;
    static_assert((int)WARPS == (int)FLOE_PRIM_ROWS, "a warp owns a row");
    __shared__ uint64_t staged[STAGED], rows[WARPS];
    uint64_t *line = staged + staged_at(threadIdx.x * FLOE_PRIM_LINE);
    for (uint64_t tile = blockIdx.x; tile * FLOE_PRIM_TILE < n; tile += gridDim.x) {
        const uint64_t begin = tile * FLOE_PRIM_TILE;
        const uint32_t count = (uint32_t)floe_min64(n - begin, FLOE_PRIM_TILE);
#pragma unroll
        for (uint32_t i = threadIdx.x; i < FLOE_PRIM_TILE; i += BLOCK)
            staged[staged_at(i)] =
                i < count ? floe_prim_word(t, op, floe_prim_get(floe_prim_is_wide(t), in, begin + i)) : 0;
        __syncthreads();
        uint64_t sum = 0;
#pragma unroll
        for (uint32_t k = 0; k < FLOE_PRIM_LINE; k++)
            sum = floe_prim_join(t, op, sum, line[k]);
        uint64_t word = floe_prim_join(t, op, starts ? starts[tile] : 0, line_start<T>(sum, rows));
#pragma unroll
        for (uint32_t k = 0; k < FLOE_PRIM_LINE; k++) {
            const uint64_t before = word;
            word = floe_prim_join(t, op, word, line[k]);
            line[k] = inclusive ? word : before;
        }
        __syncthreads();
#pragma unroll
        for (uint32_t i = threadIdx.x; i < FLOE_PRIM_TILE; i += BLOCK)
            if (i < count)
                floe_prim_set(floe_prim_is_wide(to), out, begin + i, floe_prim_sum_bits(to, staged[staged_at(i)]));
        __syncthreads(); /* the next tile is staged */
    }
}

template <int T, int TO> int scan_tiles(const floe_prim_job *job, cudaStream_t stream, floe_arena *arena)
{
    const uint64_t ntiles = tiles_of(job->n);
    uint64_t *starts = NULL;
    if (ntiles > 1) {
        constexpr int wide = T % 3 + 3;
        starts = take<uint64_t>(arena, ntiles);
        floe_prim_job totals = *job;
        totals.type = totals.out_type = (floe_prim_type)wide;
        totals.scan_kind = FLOE_PRIM_EXCLUSIVE;
        totals.in = totals.out = starts;
        totals.n = ntiles;
        if (!job->sizing)
            TRY(tiles_reduce(job->type, FLOE_PRIM_SUM, job->in, job->n, starts, stream));
        TRY((scan_tiles<wide, wide>(&totals, stream, arena)));
    }
    if (job->sizing || job->n == 0)
        return 0;
    auto kernel = tile_scan_kernel<T, TO>;
    const bool inclusive = job->scan_kind == FLOE_PRIM_INCLUSIVE;
    FLOE_LAUNCH(kernel, floe_prim_grid(ntiles), BLOCK, 0, stream, inclusive, job->in, job->out, job->n, starts);
    return (int)cudaGetLastError();
}

int scan_run(const floe_prim_job *job, cudaStream_t stream, floe_arena *arena)
{
    typedef int (*scan_fn)(const floe_prim_job *, cudaStream_t, floe_arena *);
#define SCAN(T, TO) scan_tiles<FLOE_PRIM_##T, FLOE_PRIM_##TO>
    /* To the narrow and to the wide type. Signed and unsigned are the same where nothing is widened. */
    static const scan_fn scans[6][2] = {{SCAN(U32, U32), SCAN(U32, U64)}, {SCAN(U32, U32), SCAN(I32, I64)},
                                        {SCAN(F32, F32), SCAN(F32, F64)}, {NULL, SCAN(U64, U64)},
                                        {NULL, SCAN(U64, U64)},           {NULL, SCAN(F64, F64)}};
    return scans[job->type][floe_prim_is_wide(job->out_type)](job, stream, arena);
}

/* ---- counting: histogram, and the digits of select --------------------------------------------------------------- */

enum {
    COUNT_LOADS = 4,              /* loads of a thread at once */
    COUNT_BLOCKS_A_PROCESSOR = 8, /* a block's bins have 32 bits, enough for 2^32 elements each */
    COUNT_SHARED_BINS = 8192      /* 32 KiB */
};

inline uint32_t count_grid(uint64_t n)
{
    const uint64_t most = (uint64_t)floe_gpu_limits_cuda().processors * COUNT_BLOCKS_A_PROCESSOR;
    return (uint32_t)floe_min64(floe_ceil_div(n, BLOCK * COUNT_LOADS), most);
}

FLOE_DEV void add_global(bool wide, void *bins, uint64_t bin, uint32_t count)
{
    if (wide)
        atomicAdd((unsigned long long *)bins + bin, (unsigned long long)count);
    else
        atomicAdd((unsigned int *)bins + bin, count);
}

FLOE_DEV void shared_add(const uint32_t *bins, uint32_t nbins, bool wide, void *to)
{
    __syncthreads();
    for (uint32_t b = threadIdx.x; b < nbins; b += BLOCK)
        if (bins[b])
            add_global(wide, to, b, bins[b]);
}

/* Blocks take stretches of BLOCK * COUNT_LOADS keys in turn. SHARED: they count in bins of their own, added at the end. */
template <bool SHARED>
__global__ void histogram_kernel(const uint32_t *keys, uint64_t n, uint32_t nbins, bool wide, void *bins,
                                 uint64_t *outside)
{
    FLOE_DYNAMIC_SHARED(uint32_t, shared);
    uint32_t nout = 0;
    if (SHARED)
        shared_clear(shared, nbins);
    for (uint64_t base = (uint64_t)blockIdx.x * BLOCK * COUNT_LOADS; base < n;
         base += (uint64_t)gridDim.x * BLOCK * COUNT_LOADS) {
        uint32_t key[COUNT_LOADS];
        bool there[COUNT_LOADS];
#pragma unroll
        for (uint32_t u = 0; u < COUNT_LOADS; u++) {
            const uint64_t i = base + u * BLOCK + threadIdx.x;
            there[u] = i < n;
            key[u] = there[u] ? keys[i] : 0;
        }
#pragma unroll
        for (uint32_t u = 0; u < COUNT_LOADS; u++) {
            nout += there[u] && key[u] >= nbins;
            if (SHARED)
                count_bin(shared, key[u], there[u] && key[u] < nbins);
            else if (there[u] && key[u] < nbins)
                add_global(wide, bins, key[u], 1);
        }
    }
    if (SHARED)
        shared_add(shared, nbins, wide, bins);
    if (nout)
        add_global(true, outside, 0, nout);
}

int histogram_run(const floe_prim_job *job, cudaStream_t stream, floe_arena *)
{
    const bool wide = floe_prim_is_wide(job->out_type), shared = job->nbins <= COUNT_SHARED_BINS;
    auto kernel = shared ? histogram_kernel<true> : histogram_kernel<false>;
    if (job->sizing)
        return 0;
    TRY(cudaMemsetAsync(job->count, 0, sizeof *job->count, stream));
    if (job->nbins > 0)
        TRY(cudaMemsetAsync(job->out, 0, (size_t)job->nbins * floe_prim_nbytes(job->out_type), stream));
    if (job->n == 0)
        return 0;
    FLOE_LAUNCH(kernel, count_grid(job->n), BLOCK, shared ? job->nbins * sizeof(uint32_t) : 0, stream,
                (const uint32_t *)job->in, job->n, job->nbins, wide, job->out, job->count);
    return (int)cudaGetLastError();
}

/* ---- select ------------------------------------------------------------------------------------------------------ */

struct selecting {
    uint64_t known; /* of the key wanted: its top digits */
    uint64_t k;     /* its place among the keys that begin so */
    uint64_t bins[FLOE_PRIM_SELECT_DIGITS];
};

/* Counts the next digit, `bits` wide and `shift` from below, of the keys that begin with what is known. */
template <int T>
__global__ void digits_count_kernel(const void *in, uint64_t n, bool magnitude, uint32_t shift, uint32_t bits,
                                    selecting *s)
{
    constexpr floe_prim_type t = (floe_prim_type)T;
    __shared__ uint32_t shared[FLOE_PRIM_SELECT_DIGITS];
    const uint64_t known = s->known;
    shared_clear(shared, FLOE_PRIM_SELECT_DIGITS);
    for (uint64_t base = (uint64_t)blockIdx.x * BLOCK * COUNT_LOADS; base < n;
         base += (uint64_t)gridDim.x * BLOCK * COUNT_LOADS) {
        uint64_t element[COUNT_LOADS];
#pragma unroll
        for (uint32_t u = 0; u < COUNT_LOADS; u++) {
            const uint64_t i = base + u * BLOCK + threadIdx.x;
            element[u] = i < n ? floe_prim_get(floe_prim_is_wide(t), in, i) : 0;
        }
#pragma unroll
        for (uint32_t u = 0; u < COUNT_LOADS; u++) {
            const uint64_t key = floe_prim_key(t, magnitude, element[u]) >> shift;
            count_bin(shared, (uint32_t)key & ((1u << bits) - 1),
                      base + u * BLOCK + threadIdx.x < n && key >> bits == known);
        }
    }
    shared_add(shared, FLOE_PRIM_SELECT_DIGITS, true, s->bins);
}

/* One warp, a lane owns 64 bins: finds the bin of element k, and clears all for the next digit. k: in the first round. */
__global__ void digit_choose_kernel(floe_prim_job job, uint32_t shift, uint32_t bits, bool first, selecting *s)
{
    uint64_t *bins = s->bins + threadIdx.x * (FLOE_PRIM_SELECT_DIGITS / FLOE_WARP);
    uint64_t here = 0;
    uint64_t k = first ? job.k : s->k;
#pragma unroll 16
    for (uint32_t b = 0; b < FLOE_PRIM_SELECT_DIGITS / FLOE_WARP; b++)
        here += bins[b];
    const uint64_t end = floe_warp_sum_to(here), begin = end - here;
    __syncwarp();                /* all have read k */
    if (begin <= k && k < end) { /* one lane */
        uint32_t b = 0;
        for (k -= begin; k >= bins[b]; b++)
            k -= bins[b];
        s->known = s->known << bits | (threadIdx.x * (FLOE_PRIM_SELECT_DIGITS / FLOE_WARP) + b);
        s->k = k;
        if (shift == 0)
            floe_prim_set(floe_prim_is_wide(job.type), job.out, 0, floe_prim_unkey(job.type, job.magnitude, s->known));
    }
    for (uint32_t b = 0; b < FLOE_PRIM_SELECT_DIGITS / FLOE_WARP; b++)
        bins[b] = 0;
}

int select_run(const floe_prim_job *job, cudaStream_t stream, floe_arena *arena)
{
    typedef void (*kernel_fn)(const void *, uint64_t, bool, uint32_t, uint32_t, selecting *);
    static const kernel_fn kernels[6] = EACH_TYPE(digits_count_kernel);
    const kernel_fn kernel = kernels[job->type];
    selecting *s = take<selecting>(arena, 1);
    uint32_t shift = 8 * floe_prim_nbytes(job->type);
    if (job->sizing)
        return 0;
    TRY(cudaMemsetAsync(s, 0, sizeof *s, stream));
    for (bool first = true; shift > 0; first = false) {
        const uint32_t bits = shift < FLOE_PRIM_SELECT_BITS ? shift : FLOE_PRIM_SELECT_BITS;
        shift -= bits;
        FLOE_LAUNCH(kernel, count_grid(job->n), BLOCK, 0, stream, job->in, job->n, job->magnitude, shift, bits, s);
        FLOE_LAUNCH(digit_choose_kernel, 1, FLOE_WARP, 0, stream, *job, shift, bits, first, s);
    }
    return (int)cudaGetLastError();
}

/* ---- compact ----------------------------------------------------------------------------------------------------- */

/* A warp owns a tile. */
template <int T> __global__ void kept_count_kernel(const void *in, uint64_t n, floe_prim_keep keep, uint64_t *counts)
{
    for (uint64_t tile = first_tile_of_warp(); tile * FLOE_PRIM_TILE < n; tile += warps_of_grid()) {
        const uint64_t begin = tile * FLOE_PRIM_TILE, end = floe_min64(n, begin + FLOE_PRIM_TILE);
        uint32_t count = 0;
#pragma unroll 8
        for (uint64_t i = begin + floe_lane(); i < end; i += FLOE_WARP)
            count += floe_prim_keeps((floe_prim_type)T, in, keep, i);
        count = floe_warp_sum(count);
        if (floe_lane() == 0)
            counts[tile] = count;
    }
}

template <int T>
__global__ void kept_place_kernel(const void *in, uint64_t n, floe_prim_keep keep, const uint64_t *places, void *out,
                                  uint64_t *index)
{
    constexpr floe_prim_type t = (floe_prim_type)T;
    constexpr uint32_t LOADS = 4;
    for (uint64_t tile = first_tile_of_warp(); tile * FLOE_PRIM_TILE < n; tile += warps_of_grid()) {
        const uint64_t begin = tile * FLOE_PRIM_TILE, end = floe_min64(n, begin + FLOE_PRIM_TILE);
        uint64_t place = places[tile];
        for (uint64_t base = begin; base < end; base += LOADS * FLOE_WARP) {
            bool kept[LOADS];
            uint64_t element[LOADS];
#pragma unroll
            for (uint32_t u = 0; u < LOADS; u++) {
                const uint64_t i = base + u * FLOE_WARP + floe_lane();
                kept[u] = i < end && floe_prim_keeps(t, in, keep, i);
                element[u] = out && kept[u] ? floe_prim_get(floe_prim_is_wide(t), in, i) : 0;
            }
#pragma unroll
            for (uint32_t u = 0; u < LOADS; u++) {
                const uint32_t lanes = __ballot_sync(FLOE_ALL_LANES, kept[u]);
                const uint64_t to = place + (uint32_t)__popc(lanes & floe_lanes_below());
                if (kept[u] && out)
                    floe_prim_set(floe_prim_is_wide(t), out, to, element[u]);
                if (kept[u] && index)
                    index[to] = base + u * FLOE_WARP + floe_lane();
                place += (uint32_t)__popc(lanes);
            }
        }
    }
}

/* places: where each tile's elements go, and behind the last one how many there are. */
int compact_run(const floe_prim_job *job, cudaStream_t stream, floe_arena *arena)
{
    typedef void (*count_fn)(const void *, uint64_t, floe_prim_keep, uint64_t *);
    typedef void (*place_fn)(const void *, uint64_t, floe_prim_keep, const uint64_t *, void *, uint64_t *);
    static const count_fn counts[6] = EACH_TYPE(kept_count_kernel);
    static const place_fn moves[6] = EACH_TYPE(kept_place_kernel);
    const count_fn count = counts[job->type];
    const place_fn move = moves[job->type];
    const uint64_t ntiles = tiles_of(job->n);
    uint64_t *places = take<uint64_t>(arena, ntiles + 1);
    floe_prim_job scan = {};
    scan.sizing = job->sizing;
    scan.type = scan.out_type = FLOE_PRIM_U64;
    scan.scan_kind = FLOE_PRIM_INCLUSIVE;
    scan.in = scan.out = places ? places + 1 : NULL;
    scan.n = ntiles;
    if (!job->sizing) {
        TRY(cudaMemsetAsync(places, 0, sizeof *places, stream));
        if (ntiles > 0)
            FLOE_LAUNCH(count, grid_of_warps(ntiles), BLOCK, 0, stream, job->in, job->n, job->keep, places + 1);
        TRY(cudaGetLastError());
    }
    TRY(scan_run(&scan, stream, arena));
    if (job->sizing)
        return 0;
    if (ntiles > 0)
        FLOE_LAUNCH(move, grid_of_warps(ntiles), BLOCK, 0, stream, job->in, job->n, job->keep, places, job->out,
                    job->index);
    TRY(cudaGetLastError());
    return (int)cudaMemcpyAsync(job->count, places + ntiles, sizeof *places, cudaMemcpyDeviceToDevice, stream);
}

} // namespace

extern "C" int floe_prim_scan_cuda(const floe_prim_job *job, void *stream, floe_arena *arena)
{
    return scan_run(job, (cudaStream_t)stream, arena);
}

extern "C" int floe_prim_run_cuda(const floe_prim_job *job, void *stream, floe_arena *arena)
{
    typedef int (*run_fn)(const floe_prim_job *, cudaStream_t, floe_arena *);
    static const run_fn runs[] = {reduce_run, scan_run, histogram_run, compact_run, select_run}; /* as floe_prim_call */
    return job->call == FLOE_PRIM_SORT ? floe_prim_sort_cuda(job, stream, arena)
                                       : runs[job->call](job, (cudaStream_t)stream, arena);
}
