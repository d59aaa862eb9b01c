/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding a field: a persistent kernel. While a warp makes a tile in shared memory, another warp finds out where the one
 * before belongs. */
#include "codec/lorenzo_pack_tile_cuda.cuh"

namespace
{

/* ---- where tiles go ------------------------------------------------------------------------------------------------ */

/* Blocks take batches of WARPS tiles in order. Where a batch begins is found by one warp that adds up the sums of all
 * batches as they come in; a block asks for its own place a whole batch later, when it is there. Who waits has told its
 * own sum before, and batches are handed out by a counter to blocks that run, so the wait ends. */
enum {
    WARPS = 4,
    BLOCKS_A_PROCESSOR = 4,            /* 16 warps of 128 registers fill the 65536 of a multiprocessor */
    BLOCKS = 132 * BLOCKS_A_PROCESSOR, /* the multiprocessors of an H100 or H200; others are slower, not wrong */
    BUFFER_WORDS = FLOE_STEP_VALUES,   /* the step to come */
    /* A multiprocessor has 228 KiB of shared memory, of which each block costs 1 KiB: 14.2 KiB a warp. Less the buffer and
     * the block's own variables that is a little over 2400 words, two halves of 1200: tiles at a ratio of 7. */
    HALF_WORDS = 1200,
    STAGE_WORDS = 2 * HALF_WORDS,
    SHARED_NBYTES = WARPS * (BUFFER_WORDS + STAGE_WORDS) * 4,
    SPILL_WORDS = 2 * FLOE_TILE_VALUES /* a warp, both halves */
};

/* Workspace: head | a sum a batch | a place a batch | spill. All but the spill is cleared first. */
struct encode_head {
    floe_pack_report report;
    uint32_t ticket; /* 0: the scanner; i: batch i - 1 */
    uint32_t pad[7];
};
static_assert(sizeof(encode_head) == 64, "what follows is aligned");

static __host__ __device__ uint32_t batches_of(const floe_pack_grid &grid) { return (grid.ntiles + WARPS - 1) / WARPS; }
FLOE_DEV encode_head *head_of(const floe_pack_encode_job &job) { return (encode_head *)job.workspace; }
FLOE_DEV uint64_t *sums_of(const floe_pack_encode_job &job) { return (uint64_t *)(head_of(job) + 1); }
FLOE_DEV uint64_t *places_of(const floe_pack_encode_job &job) { return sums_of(job) + batches_of(job.grid); }
FLOE_DEV uint32_t *spill_of(const floe_pack_encode_job &job, uint32_t warp)
{
    return (uint32_t *)(places_of(job) + batches_of(job.grid)) + (uint64_t)(blockIdx.x * WARPS + warp) * SPILL_WORDS;
}

/* Sums and places are 0 until they are there; a flag keeps a sum or place of 0 apart. */
#define IS_THERE ((uint64_t)1 << 62)

FLOE_DEV uint64_t read_state(const uint64_t *p)
{
    uint64_t v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p));
    return v;
}
FLOE_DEV void write_state(uint64_t *p, uint64_t value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(IS_THERE | value));
}

/* A lane looks at WINDOW batches at a time. */
static __device__ __noinline__ void scan_batches(const floe_pack_encode_job &job)
{
    enum { WINDOW = 4 };
    const uint32_t lane = threadIdx.x % LANES;
    const uint32_t nbatches = batches_of(job.grid);
    const uint64_t *sums = sums_of(job);
    uint64_t *places = places_of(job), place = 0;
    for (uint32_t first = 0; first < nbatches;) {
        uint32_t v[WINDOW], here = 0, sum = 0, i = first + WINDOW * lane;
        bool run = true;
#pragma unroll
        for (int k = 0; k < WINDOW; k++) {
            uint64_t s = i + k < nbatches ? read_state(sums + i + k) : 0;
            run &= s != 0;
            here += run;
            v[k] = run ? (uint32_t)s : 0; /* less than 2^32 */
        }
        uint32_t whole = __ballot_sync(ALL, here == WINDOW), cut = ~whole ? __ffs(~whole) - 1 : 32;
        if (lane > cut)
            here = 0;
#pragma unroll
        for (int k = 0; k < WINDOW; k++)
            sum += k < here ? v[k] : 0;
        uint32_t scan = sum;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            uint32_t up = __shfl_up_sync(ALL, scan, d);
            scan += lane >= d ? up : 0;
        }
        uint64_t at = place + scan - sum;
#pragma unroll
        for (int k = 0; k < WINDOW; k++)
            if (k < here) {
                write_state(places + i + k, at);
                at += v[k];
            }
        place += __shfl_sync(ALL, scan, 31);
        uint32_t count = __reduce_add_sync(ALL, here);
        first += count;
        if (count == 0)
            __nanosleep(20);
    }
    if (lane == 0)
        head_of(job)->report.payload_nwords = place;
}

/* ---- kernel -------------------------------------------------------------------------------------------------------- */

/* A tile that waits for its place. */
struct kept_tile {
    uint32_t *words, *spill; /* the first HALF_WORDS words, the others */
    uint32_t tile, entry, nwords;
    uint32_t before; /* words of the batch that lie before */
    bool raw, big;   /* big: raw or spilled */
};

struct block_shared {
    uint32_t sizes[WARPS];
    uint32_t next;
    uint64_t place;
    kept_tile kept[WARPS];
};

/* Waits for the place of a batch and copies each warp's kept tile there; the whole block. */
FLOE_DEV void flush_batch(const floe_pack_encode_job &job, block_shared &sh, uint32_t batch)
{
    const uint32_t warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    __syncthreads(); /* sh.place was read by all */
    if (threadIdx.x == 0) {
        uint64_t v;
        while ((v = read_state(places_of(job) + batch)) == 0)
            __nanosleep(20);
        sh.place = v & ~IS_THERE;
    }
    __syncthreads();
    const kept_tile k = sh.kept[warp];
    if (k.tile >= job.grid.ntiles)
        return;
    uint32_t *dst = job.payload + sh.place + k.before;
    if (lane == 0)
        job.entries[k.tile] = k.entry;
    if (!k.big) {
        for (uint32_t i = lane; i < k.nwords; i += LANES)
            dst[i] = k.words[i];
        return;
    }
    if (k.raw) {
        write_raw(job, tile_here(job.grid, k.tile), dst);
        return;
    }
    for (uint32_t i = lane; i < HALF_WORDS; i += LANES)
        dst[i] = k.words[i];
    for (uint32_t i = HALF_WORDS + lane; i < k.nwords; i += LANES)
        dst[i] = k.spill[i - HALF_WORDS];
    if (lane == 0)
        atomicAdd(&head_of(job)->report.nspilled, 1);
}

/* Makes a tile; k.words and k.spill say where. Returns the largest error's pattern. */
template <bool WHOLE>
FLOE_DEV uint32_t make_tile(const floe_pack_encode_job &job, const lane_place &l, uint32_t buffer, kept_tile &k)
{
    const tile_place t = tile_here(job.grid, k.tile);
    const uint32_t raw = tile_cells(t);
    floe_pack_report *report = &head_of(job)->report;
    checks c;
    tile_result r = encode_tile<float, WHOLE, WHOLE>(job, t, k.words, HALF_WORDS, k.spill, buffer, c);
    if (__any_sync(ALL, check_bad(c, job.tolerance)) && l.lane == 0)
        atomicAdd(&report->nunfit, 1);
    if (r.inexact) {
        __syncwarp(); /* other lanes write the same words again */
        r = encode_tile_wide<WHOLE>(job, t, k.words, HALF_WORDS, k.spill, c);
        if (l.lane == 0)
            atomicAdd(&report->nwide, 1);
    }
    k.raw = r.nwords >= raw;
    k.nwords = k.raw ? raw : r.nwords;
    k.big = k.raw || k.nwords > HALF_WORDS;
    uint32_t kind = r.coded ? FLOE_TILE_CODED : FLOE_TILE_CONSTANT;
    k.entry = k.nwords | (k.raw ? (uint32_t)FLOE_TILE_RAW << FLOE_TILE_KIND_SHIFT
                                : kind << FLOE_TILE_KIND_SHIFT | r.mode << FLOE_TILE_MODE_SHIFT);
    return floe_bits_f32(c.error);
}

template <bool WHOLE>
FLOE_DEV void fetch_first(const floe_pack_encode_job &job, const lane_place &l, uint32_t tile, uint32_t buffer)
{
    if (WHOLE && tile < job.grid.ntiles)
        fetch_group(job, tile_here(job.grid, tile), l, 0, buffer);
}

/* The first block to start owns the scan; every other takes batches of WARPS tiles until none is left. A warp owns a tile
 * of the batch and two half stages, so that one tile waits for its place while the next is made; a thread owns a group of
 * each step. */
template <bool WHOLE>
__global__ __launch_bounds__(LANES *WARPS, BLOCKS_A_PROCESSOR) void lorenzo_pack_encode_3d_kernel(
    const __grid_constant__ floe_pack_encode_job job)
{
    extern __shared__ __align__(16) uint32_t stages[];
    __shared__ block_shared sh;
    const lane_place l = lane_here();
    const uint32_t warp = threadIdx.x / LANES, nbatches = batches_of(job.grid), none = ALL;
    uint32_t *stage = stages + WARPS * BUFFER_WORDS + warp * STAGE_WORDS;
    const uint32_t buffer = (uint32_t)__cvta_generic_to_shared(stages + warp * BUFFER_WORDS);
    if (threadIdx.x == 0)
        sh.next = atomicAdd(&head_of(job)->ticket, 1);
    __syncthreads();
    if (sh.next == 0) {
        if (warp == 0)
            scan_batches(job);
        return;
    }
    uint32_t batch = sh.next - 1, kept = none, turn = 0, worst = 0;
    __syncthreads(); /* next was read */
    if (batch < nbatches)
        fetch_first<WHOLE>(job, l, batch * WARPS + warp, buffer);
    while (batch < nbatches) {
        kept_tile k = {stage + turn * HALF_WORDS, spill_of(job, warp) + turn * FLOE_TILE_VALUES, batch * WARPS + warp};
        if (k.tile < job.grid.ntiles)
            worst = max(worst, make_tile<WHOLE>(job, l, buffer, k));
        if (l.lane == 0)
            sh.sizes[warp] = k.nwords;
        if (threadIdx.x == 0)
            sh.next = atomicAdd(&head_of(job)->ticket, 1) - 1;
        __syncthreads();
        uint32_t sum = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            k.before += w < warp ? sh.sizes[w] : 0;
            sum += sh.sizes[w];
        }
        const uint32_t next = sh.next;
        if (threadIdx.x == 0)
            write_state(sums_of(job) + batch, sum);
        if (next < nbatches)
            fetch_first<WHOLE>(job, l, next * WARPS + warp, buffer);
        if (kept != none)
            flush_batch(job, sh, kept);
        __syncwarp();
        if (l.lane == 0)
            sh.kept[warp] = k;
        __syncwarp();
        kept = batch;
        batch = next;
        turn ^= 1;
        __syncthreads(); /* sizes and next were read */
    }
    if (kept != none)
        flush_batch(job, sh, kept);
    worst = __reduce_max_sync(ALL, worst);
    if (l.lane == 0)
        atomicMax(&head_of(job)->report.max_error_bits, worst);
}

/* ---- launch -------------------------------------------------------------------------------------------------------- */

uint32_t blocks_of(const floe_pack_grid &grid)
{
    uint32_t most = batches_of(grid) + 1; /* the scanner */
    return most < BLOCKS ? most : BLOCKS;
}

uint64_t cleared_nbytes(const floe_pack_grid &grid) { return sizeof(encode_head) + 16 * (uint64_t)batches_of(grid); }

template <bool WHOLE> cudaError_t launch(const floe_pack_encode_job &job, cudaStream_t stream)
{
    cudaError_t e = cudaFuncSetAttribute(lorenzo_pack_encode_3d_kernel<WHOLE>,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_NBYTES);
    if (e == cudaSuccess)
        e = cudaMemsetAsync(job.workspace, 0, cleared_nbytes(job.grid), stream);
    if (e != cudaSuccess)
        return e;
    lorenzo_pack_encode_3d_kernel<WHOLE><<<blocks_of(job.grid), LANES * WARPS, SHARED_NBYTES, stream>>>(job);
    return cudaGetLastError();
}

} // namespace

uint64_t floe_pack_encode_workspace_cuda(const floe_pack_grid *grid)
{
    return cleared_nbytes(*grid) + (uint64_t)blocks_of(*grid) * WARPS * SPILL_WORDS * 4;
}

int floe_pack_encode_f32_cuda(const floe_pack_encode_job *job, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    return (int)(grid_is_whole(job->grid) ? launch<true>(*job, s) : launch<false>(*job, s));
}
