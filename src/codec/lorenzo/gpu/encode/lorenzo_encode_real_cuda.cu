/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that encode tiles of one element type: to their places (fast), or as drafts with their histograms (balanced).
 * lorenzo_encode_half2.cuh, lorenzo_encode_plain.cuh and lorenzo_encode_fill.cuh take the tiles that they can,
 * lorenzo_encode_general.cuh the others. */
#include "codec/lorenzo/gpu/lorenzo_kernels.h"

#include "codec/lorenzo/gpu/encode/lorenzo_encode_fill.cuh"
#if FLOE_REAL_BITS == 32
#include "codec/lorenzo/gpu/encode/lorenzo_encode_half2.cuh"
#endif
#include "codec/lorenzo/gpu/encode/lorenzo_place.cuh"

namespace
{

using namespace FLOE_LORENZO_ENCODING;

enum {
    /* Warps of 128 registers (f64: 255) fill the 65536 of a multiprocessor. */
    BLOCKS_A_PROCESSOR = FLOE_REAL_BITS == 32 ? 4 : 2,
    /* A multiprocessor has 228 KiB of shared memory, of which each block costs 1 KiB: 14.2 KiB a warp (f64: 28.2). Less the
     * step to come and the block's own variables that is a little over 2272 words (f64: 4872), two halves: tiles at a
     * ratio of 7. A block of f64 has fewer where the GPU gives it less: others of a tile go to the spill. */
    HALF_WORDS = FLOE_REAL_BITS == 32 ? 1136 : 2436,
    OWN_NBYTES = 4 << 10, /* for the block's own variables */
    DRAFT_SLOT_WORDS = FLOE_DRAFT_SLOT_WORDS * BASE_WORDS,
    DRAFT_SHARED_NBYTES = FLOE_PLACE_WARPS * UNALIGNED_WORDS * 4
};

/* ---- statistics of the tiles of a chunk ----------------------------------------------------------------------------- */

/* Of a warp's values, since the chunk began; shared memory. Patterns of doubles. */
struct tile_stats {
    uint32_t chunk;
    uint64_t error, pw_error;
};

template <class Real> FLOE_DEV void stats_add(uint64_t &largest, Real v)
{
    const uint64_t bits = floe_bits_f64(largest_of_warp(v));
    if (floe_lane() == 0 && bits > largest)
        largest = bits;
}

FLOE_DEV void stats_flush(const floe_lorenzo_encode_call &call, uint32_t attempt, const tile_stats &m)
{
    if (floe_lane() != 0 || m.chunk >= call.grid.nchunks)
        return;
    floe_dev_chunk_stats *g = &call.chunks[m.chunk].stats[attempt];
    if (m.error)
        atomicMax(&g->max_error_bits, (unsigned long long)m.error);
    if (m.pw_error)
        atomicMax(&g->max_pw_error_bits, (unsigned long long)m.pw_error);
}

FLOE_DEV void stats_begin(tile_stats &m, uint32_t chunk)
{
    if (floe_lane() != 0)
        return;
    m.chunk = chunk;
    m.error = m.pw_error = 0;
}

/* Lane 0 alone has what lies there. */
FLOE_DEV void stats_chunk(const floe_lorenzo_encode_call &call, uint32_t attempt, uint32_t chunk, tile_stats &m)
{
    if (floe_lane() != 0 || m.chunk == chunk)
        return;
    stats_flush(call, attempt, m);
    stats_begin(m, chunk);
}

/* ---- tiles --------------------------------------------------------------------------------------------------------- */

FLOE_DEV uint32_t *spill_of_warp(const floe_lorenzo_encode_call &call)
{
    return call.spill + (uint64_t)(blockIdx.x * FLOE_PLACE_WARPS + threadIdx.x / FLOE_WARP) * SPILL_WORDS;
}
/* Where it takes the general path: SCRATCH_WORDS behind its two halves. */
FLOE_DEV uint32_t *scratch_of_warp(const floe_lorenzo_encode_call &call) { return spill_of_warp(call) + 2 * RAW_WORDS; }

/* What a warp encodes with. */
struct workplace {
    uint32_t *buffer; /* shared memory: a step */
    plain_work *work; /* shared memory: the tile */
};

/* The first step of a tile that takes the plain path, to the buffer. */
template <int RANK, bool ONCE> FLOE_DEV void fetch_first(const workplace &at)
{
    if (reload(at.work->tile.whole))
        fetch_next<RANK, true, ONCE>(at.work->tile, 0, at.buffer);
    else
        fetch_next<RANK, false, ONCE>(at.work->tile, 0, at.buffer);
}

/* A tile that the plain path has not taken; also tallies exceptions. holes: there may be some. */
template <int RANK, bool DRAFT>
FLOE_DEV floe_tile_result encode_off_plain(const floe_lorenzo_encode_call &call, floe_dev_chunk *chunk,
                                           uint32_t attempt, uint32_t tile, bool holes, const workplace &at, sink out,
                                           tile_stats &m)
{
    tallies t;
    floe_tile_result r;
    bool done = false;
    if (holes) {
        const floe_uint pattern = (floe_uint)chunk->quantizer.palette[0];
        fetch_next<RANK, false, false>(at.work->tile, 0, at.buffer);
        done = encode_fill<RANK, DRAFT>(at.work, pattern, out, at.buffer, t, r);
    }
    if (!done)
        r = encode_general<1, RANK>(chunk, tile, DRAFT, (floe_int *)at.buffer, scratch_of_warp(call), out, t);
    stats_add(m.error, t.error);
    stats_add(m.pw_error, t.pw_error);
    if (floe_lane() == 0 && t.count) {
        atomicAdd(&chunk->stats[attempt].nexceptions, (unsigned long long)t.count);
        atomicAdd(&chunk->stats[attempt].nliterals, (unsigned long long)t.nliterals);
        __threadfence(); /* before the tile's size is there, see floe_lorenzo_chunks_retry */
    }
    return r;
}

/* A tile, the first step of which is on its way. */
template <int RANK, bool WHOLE, bool BY_SUM, class Draft>
FLOE_DEV plain_result encode_one(const workplace &at, const sink &out, uint32_t lead, checks &c)
{
#if FLOE_REAL_BITS == 32
    return encode_half2<RANK, WHOLE, BY_SUM, Draft>(*at.work, out, lead, at.buffer, c);
#else
    return encode_plain<RANK, WHOLE, BY_SUM, Draft>(*at.work, out, lead, at.buffer, c);
#endif
}

/* One that is cut off, or not aligned. A call of its own, so that the common path keeps nothing for it. */
template <int RANK, bool BY_SUM> FLOE_DEV_COLD checked_result encode_cut(workplace at, sink out, uint32_t lead)
{
    checked_result t;
    t.r = encode_one<RANK, false, BY_SUM, no_draft>(at, out, lead, t.c);
    return t;
}

/* How a tile was encoded. */
enum path { PATH_GENERAL, PATH_FILL, PATH_UNALIGNED, PATH_ALIGNED }; /* ALIGNED: a draft is one of symbols */

/* Encodes a tile on the plain path, its first step being on its way. PATH_GENERAL when it cannot, PATH_FILL when there may be exceptions:
 * nothing that it left counts. */
template <int RANK, class Draft>
FLOE_DEV path encode_on_plain(const workplace &at, const sink &out, tile_stats &m, floe_tile_result &r)
{
    enum { DRAFT = Draft::DRAFTS };
    if (!reload(at.work->tile.fit))
        return PATH_GENERAL;
    const uint32_t lead = DRAFT ? 1 : 0;
    path taken = PATH_UNALIGNED;
    checked_result t;
    if (reload(at.work->tile.whole)) {
        taken = PATH_ALIGNED;
        t.r = encode_one<RANK, true, DRAFT, Draft>(at, out, lead, t.c);
    } else {
        t = encode_cut<RANK, DRAFT>(at, out, lead);
    }
    if (t.r.unfit || t.r.inexact) {
        floe_copy_async_wait(); /* of the buffer */
        __syncwarp();
        return t.r.unfit ? PATH_FILL : PATH_GENERAL;
    }
    stats_add(m.error, t.c.error);
    r = end_plain(t.r, reload(at.work->tile.ncells), DRAFT, out);
    return taken;
}

/* ---- to their places ----------------------------------------------------------------------------------------------- */

template <int RANK> struct tile_maker {
    const floe_lorenzo_encode_call &call;
    uint32_t attempt;
    workplace at;
    tile_stats &m;

    __device__ __forceinline__ void fetch(const floe_place_tile &p) const
    {
        if (begin_work<RANK>(call.chunks + p.chunk, p.tile, at.work))
            fetch_first<RANK, true>(at);
    }

    __device__ __forceinline__ void make(floe_place_tile &p)
    {
        const sink out = {p.words, p.spill, p.half_words, p.spill_words};
        floe_dev_chunk *chunk = call.chunks + p.chunk;
        floe_tile_result r;
        stats_chunk(call, attempt, p.chunk, m);
        __syncwarp(); /* the stage is about to be written */
        const path taken = encode_on_plain<RANK, no_draft>(at, out, m, r);
        if (taken == PATH_GENERAL || taken == PATH_FILL)
            r = encode_off_plain<RANK, false>(call, chunk, attempt, p.tile, taken == PATH_FILL, at, out, m);
        p.entry = r.entry;
        p.nwords = r.nwords;
        p.raw = r.raw;
    }

    __device__ __forceinline__ void raw(const floe_place_tile &p, uint32_t *dst) const
    {
        write_raw(call.chunks + p.chunk, p.tile, dst, floe_lane(), FLOE_WARP);
    }
};

/* Whether this launch has something to do; the whole block. */
FLOE_DEV bool is_wanted(const floe_lorenzo_encode_call &call, uint32_t attempt, uint32_t *shared)
{
    if (threadIdx.x == 0) {
        const uint32_t status = *call.status, retry = *call.retry; /* at once */
        *shared = status == 0 && (attempt == 0 || retry != 0);
    }
    __syncthreads();
    const bool wanted = *shared != 0;
    __syncthreads();
    return wanted;
}

/* A warp owns a tile, a thread a group of each step. */
template <int RANK>
__global__ __launch_bounds__(FLOE_PLACE_THREADS, BLOCKS_A_PROCESSOR) void lorenzo_encode_kernel(
    const __grid_constant__ floe_lorenzo_encode_call call, uint32_t attempt, uint32_t given_words)
{
    const uint32_t half_words = FLOE_REAL_BITS == 32 ? (uint32_t)HALF_WORDS : given_words;
    if (attempt == 0)
        floe_dev_begin();
    else
        floe_dev_begin_then_launch(); /* who comes next need not wait for this one if there is nothing to do */
    FLOE_DYNAMIC_SHARED(uint32_t, stages);
    __shared__ floe_place_shared sh;
    __shared__ plain_work works[FLOE_PLACE_WARPS];
    __shared__ tile_stats all_stats[FLOE_PLACE_WARPS];
    if (!is_wanted(call, attempt, &sh.warp[0].next))
        return;
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    uint32_t *spill = spill_of_warp(call), *stage = stages + FLOE_PLACE_WARPS * UNALIGNED_WORDS + warp * 2 * half_words;
    tile_maker<RANK> maker = {call, attempt, {stages + warp * UNALIGNED_WORDS, works + warp}, all_stats[warp]};
    stats_begin(maker.m, FLOE_PLACE_NONE);
    const floe_lorenzo_places layout = {call, attempt};
    const floe_place_stage tiles = {stage, half_words, half_words, spill, RAW_WORDS};
    floe_place_run(layout, maker, sh, tiles);
    stats_flush(call, attempt, maker.m);
}

/* ---- drafts -------------------------------------------------------------------------------------------------------- */

/* Shared memory of a warp that makes drafts, besides the step: works of this tile and of the next one. */
struct drafter {
    plain_work works[2];
    tile_stats m;
};

static_assert(1 + BASE_WORDS + FLOE_SYMBOLS_HEAD_WORDS + FLOE_TILE_VALUES / 32 * number::KEPT_BITS <= DRAFT_SLOT_WORDS,
              "a slot has room for all symbols of a tile that the plain path takes");
static_assert((int)DRAFT_SLOT_WORDS < (int)FLOE_TILE_DRAFT_WORDS(RAW_WORDS), "such a tile does not become raw");

/* The draft of a tile to its slot, as floe_tile_encode leaves it or with symbols. */
template <int RANK>
FLOE_DEV void draft_tile(const floe_lorenzo_encode_call &call, uint32_t attempt, uint32_t slot, const workplace &at,
                         tile_stats &m)
{
    const uint32_t c = slot / call.grid.slots, tile = slot % call.grid.slots;
    floe_dev_chunk *chunk = call.chunks + c;
    uint32_t *words = call.drafts + (uint64_t)slot * DRAFT_SLOT_WORDS;
    const sink out = {words, NULL, DRAFT_SLOT_WORDS, 0};
    floe_tile_result r;
    stats_chunk(call, attempt, c, m);
    const path taken = encode_on_plain<RANK, draft_symbols>(at, out, m, r);
    if (taken == PATH_GENERAL || taken == PATH_FILL)
        r = encode_off_plain<RANK, true>(call, chunk, attempt, tile, taken == PATH_FILL, at, out, m);
    __syncwarp(); /* raw words go over what others wrote */
    if (r.raw)
        write_raw(chunk, tile, words, floe_lane(), FLOE_WARP);
    if (floe_lane() == 0) {
        if (taken == PATH_ALIGNED && floe_tile_kind(r.entry) == FLOE_TILE_CODED)
            words[0] = BASE_WORDS | FLOE_DRAFT_SYMBOLS;
        call.draft_entries[slot] = r.entry;
        call.draft_nwords[slot] = r.nwords;
    }
}

/* Whether there is a draft to be made for this slot. */
FLOE_DEV bool is_drafted(const floe_lorenzo_encode_call &call, uint32_t attempt, uint32_t slot)
{
    const floe_dev_chunk *chunk = call.chunks + slot / call.grid.slots;
    return slot % call.grid.slots < chunk->view.ntiles && (attempt == 0 || chunk->attempt == 1);
}

/* Makes a tile to come its work, and has its first step brought near. */
template <int RANK> FLOE_DEV void draft_prepare(const floe_lorenzo_encode_call &call, uint32_t slot, plain_work *work)
{
    if (begin_work<RANK>(call.chunks + slot / call.grid.slots, slot % call.grid.slots, work) &&
        reload(work->tile.whole))
        prefetch_step<RANK>(reload_rows<RANK>(work->tile), 0);
}

/* A warp begins with the slot of its own number, and has one slot ahead; a thread owns a group of each step. */
template <int RANK>
__global__ __launch_bounds__(FLOE_PLACE_THREADS, BLOCKS_A_PROCESSOR) void lorenzo_draft_kernel(
    const __grid_constant__ floe_lorenzo_encode_call call, uint32_t attempt)
{
    floe_dev_begin();
    FLOE_DYNAMIC_SHARED(uint32_t, buffers);
    __shared__ drafter drafters[FLOE_PLACE_WARPS];
    __shared__ uint32_t wanted;
    if (!is_wanted(call, attempt, &wanted))
        return;
    const uint32_t warp = threadIdx.x / FLOE_WARP, nslots = (uint32_t)floe_place_slots(&call.grid);
    drafter &own = drafters[warp];
    uint32_t *buffer = buffers + warp * UNALIGNED_WORDS, turn = 0;
    stats_begin(own.m, FLOE_PLACE_NONE);
    uint32_t slot = blockIdx.x * FLOE_PLACE_WARPS + warp;
    if (slot < nslots && is_drafted(call, attempt, slot))
        draft_prepare<RANK>(call, slot, own.works);
    while (slot < nslots) {
        const bool drafted = is_drafted(call, attempt, slot);
        const workplace at = {buffer, own.works + turn};
        if (drafted && reload(at.work->tile.fit))
            fetch_first<RANK, false>(at);
        const uint32_t ticket = floe_lane() == 0 ? atomicAdd(&floe_lorenzo_head_of(call, attempt)->drafts, 1u) : 0;
        const uint32_t next = gridDim.x * FLOE_PLACE_WARPS + __shfl_sync(FLOE_ALL_LANES, ticket, 0);
        turn ^= 1;
        if (next < nslots && is_drafted(call, attempt, next))
            draft_prepare<RANK>(call, next, own.works + turn);
        if (drafted)
            draft_tile<RANK>(call, attempt, slot, at, own.m);
        slot = next;
    }
    stats_flush(call, attempt, own.m);
}

/* ---- launch -------------------------------------------------------------------------------------------------------- */

template <int RANK> cudaError_t launch(const floe_lorenzo_encode_call &call, uint32_t attempt, cudaStream_t stream)
{
    const uint32_t blocks = floe_place_blocks(&call.grid, BLOCKS_A_PROCESSOR);
    if (call.huffman) {
        FLOE_LAUNCH_EARLY(lorenzo_draft_kernel<RANK>, blocks, FLOE_PLACE_THREADS, DRAFT_SHARED_NBYTES, stream, call,
                          attempt);
        return cudaGetLastError();
    }
    const uint32_t most = floe_gpu_limits_cuda().shared_nbytes - OWN_NBYTES;
    const uint32_t half = FLOE_REAL_BITS == 32
                              ? (uint32_t)HALF_WORDS
                              : min((uint32_t)HALF_WORDS, (most / 4 / FLOE_PLACE_WARPS - UNALIGNED_WORDS) / 8 * 4);
    const uint32_t nbytes = FLOE_PLACE_WARPS * (UNALIGNED_WORDS + 2 * half) * 4;
    cudaError_t e =
        cudaFuncSetAttribute(lorenzo_encode_kernel<RANK>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes);
    if (e != cudaSuccess)
        return e;
    FLOE_LAUNCH_EARLY(lorenzo_encode_kernel<RANK>, blocks, FLOE_PLACE_THREADS, nbytes, stream, call, attempt, half);
    return cudaGetLastError();
}

} // namespace

int FLOE_R(floe_lorenzo_encode)(const floe_lorenzo_encode_call *call, uint32_t rank, uint32_t attempt, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    return (int)(rank == 1   ? launch<1>(*call, attempt, s)
                 : rank == 2 ? launch<2>(*call, attempt, s)
                             : launch<3>(*call, attempt, s));
}

uint64_t FLOE_R(floe_lorenzo_encode_spill)(const floe_dev_grid *grid)
{
    return (uint64_t)floe_place_blocks(grid, BLOCKS_A_PROCESSOR) * FLOE_PLACE_WARPS * SPILL_WORDS * 4;
}
