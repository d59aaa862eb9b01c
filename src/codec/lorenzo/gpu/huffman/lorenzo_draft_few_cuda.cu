/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preset balanced, for a chunk of so few tiles that a block has one or two: drafts and the chunk's histogram, by one kernel
 * from the first attempt to the second. A tile is the work of a block, a warp two steps; its symbols stand where the values of
 * their step were until it is known whether all steps take the short way, and are counted there. Where no tile of the chunk
 * does, each warp takes tiles of its own. The block that is done last is the judge.
 */
#define FLOE_REAL_BITS 32 /* f64 takes the general path */
#include "codec/lorenzo/gpu/huffman/lorenzo_draft_few.h"

#include "codec/lorenzo/gpu/huffman/lorenzo_draft.cuh"
#include "codec/lorenzo/gpu/encode/lorenzo_encode_any.cuh"
#include "codec/lorenzo/gpu/encode/lorenzo_encode_split.cuh"
#include "codec/lorenzo/gpu/encode/lorenzo_place.cuh"
#include "stage/huffman/huffman_count_dev.cuh"

namespace
{

enum {
    THREADS = FLOE_WARP * SPLIT_WARPS,
    BLOCKS_A_PROCESSOR = 4, /* registers are filled */
    MOST_BLOCKS = FLOE_FEW_PROCESSORS * BLOCKS_A_PROCESSOR,
    SLOT_WORDS = FLOE_DRAFT_SLOT_WORDS * BASE_WORDS,
    BODY_AT = draft_symbols::BODY_AT,
    /* In front of the values, so that these stand at 16 aligned bytes: a draft as far as its symbols. */
    HEAD_WORDS = (BODY_AT + FLOE_SYMBOLS_HEAD_WORDS + 3) / 4 * 4,
    SHARED_NBYTES = (HEAD_WORDS + SPLIT_BUFFER_WORDS) * 4
};
static_assert(FLOE_STEP_VALUES / 32 * FLOE_REAL_BITS <= (int)BUFFER_WORDS, "symbols take no more than values");

/* Of a block. */
struct block_shared {
    floe_dev_chunk chunk; /* but for what is gathered */
    floe_quantizer bits;  /* of the second attempt */
    fast_work works[SPLIT_WARPS];
    split_shared split;
    floe_huffman_coder coders[SPLIT_WARPS]; /* the first: of the block's tile */
    uint32_t bins[FLOE_HUFFMAN_BINS];
    uint32_t step_nwords[FLOE_TILE_STEPS]; /* of symbols */
    floe_tile_result whole;                /* what one warp has made of the tile */
    uint32_t tile, attempt, ndone;         /* ndone: tiles in this attempt */
    uint32_t nothing;                      /* to do at all */
    uint64_t verdict;                      /* on the attempt: 1, it is to be done again */
};

/* A step's values, then its symbols. memory: the dynamic shared memory of the block. */
FLOE_DEV uint32_t *buffers_of(uint32_t *memory) { return memory + HEAD_WORDS; }
FLOE_DEV uint32_t symbols_at(uint32_t s) { return HEAD_WORDS + s * SPLIT_STEP_WORDS; }

FLOE_DEV floe_place_head *head_of(const floe_lorenzo_encode_call &call, uint32_t attempt)
{
    return floe_place_state_of(call, call.place_state[attempt]).head;
}

/* The next tile of an attempt, as a number that may be beyond the last. By one thread. */
FLOE_DEV uint32_t take_tile(const floe_lorenzo_encode_call &call, uint32_t attempt)
{
    return atomicAdd(&head_of(call, attempt)->drafts, 1u);
}

FLOE_DEV uint32_t *slot_of(const floe_lorenzo_encode_call &call, uint32_t tile)
{
    return call.drafts + (uint64_t)tile * SLOT_WORDS;
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

/* The symbols of a step stand where its values were, behind the head of a draft. */
struct split_symbols {
    typedef draft_symbols draft;
    enum { IN_PLACE = 1 };
    sink to;
    block_shared *sh;

    /* Notes which groups step s has, and where the tile has no such step, that the draft says so. */
    __device__ __forceinline__ bool begin(uint32_t s, uint32_t nsteps, bool present, uint32_t &at) const
    {
        sh->coders->heads.present[s] = __ballot_sync(FLOE_ALL_LANES, present);
        at = symbols_at(s);
        if (s < nsteps)
            return true;
        floe_symbols_put_head(to.words + BODY_AT, s, 0, 0, false);
        sh->step_nwords[s] = 0;
        return false;
    }
    template <bool WHOLE>
    __device__ __forceinline__ void end(uint32_t s, bool present, uint32_t at, split_part &part) const
    {
        const uint32_t nwords = at - symbols_at(s);
        if (!WHOLE)
            part.packed += packed_nwords(to.words + BODY_AT, s, present);
        part.nwords += nwords;
        sh->step_nwords[s] = nwords;
    }
};

/* The short way, by all warps. False when the tile cannot take it. */
template <int RANK> FLOE_DEV bool draft_short(block_shared &sh, uint32_t tile, uint32_t *memory, fast_result &r)
{
    fast_work *work = &sh.works[split_warp()];
    const split_symbols out = {{memory, NULL, SHARED_NBYTES / 4, 0}, &sh};
    begin_work<RANK>(&sh.chunk, tile, work);
    const bool whole = read_anew(work->tile.whole);
    if (whole) {
        split_fetch<RANK>(rows_anew<RANK>(work->tile), buffers_of(memory));
        split_wait();
    } else {
        split_fetch_loose<RANK>(work->tile, buffers_of(memory));
    }
    return encode_split_short<RANK>(*work, whole, out, buffers_of(memory), sh.split, r);
}

/* Counts a tile: each warp its steps, then threads quads and what follows them. By a block. */
FLOE_DEV void count_part(block_shared &sh, const uint32_t *memory, uint32_t nsteps)
{
    const uint32_t first = SPLIT_STEPS * split_warp(), end = min(first + SPLIT_STEPS, nsteps), *body = memory + BODY_AT;
    uint32_t *bins = floe_in_shared(sh.bins);
    floe_huffman_heads *heads = &sh.coders->heads;
#pragma unroll 1
    for (uint32_t s = first; s < end; s++) {
        const uint32_t lane = floe_lane(),
                       width = ((const uint8_t *)(body + FLOE_SYMBOLS_WIDTHS_AT))[s * FLOE_STEP_GROUPS + lane];
        const uint32_t wide = __ballot_sync(FLOE_ALL_LANES, width != 0);
        heads->width[s * FLOE_STEP_GROUPS + lane] = (uint8_t)width;
        if (lane == 0) {
            heads->flat[s] = body[s];
            heads->live[s] = body[s] | wide;
        }
        floe_huffman_count_step<floe_uint, FLOE_HUFFMAN_BYTES>(bins, floe_in_shared(memory + symbols_at(s)), width);
    }
    __syncthreads();
    floe_huffman_count_heads(bins, heads, nsteps, threadIdx.x, THREADS);
}

/* Copies symbols and their head to the draft, a warp its own steps. */
FLOE_DEV void put_draft(const block_shared &sh, const uint32_t *memory, uint64_t base, uint32_t *words)
{
    enum { COPIED = FLOE_SYMBOLS_HEAD_WORDS - FLOE_TILE_STEPS };
    const uint32_t first = SPLIT_STEPS * split_warp(), i = threadIdx.x;
    uint32_t *body = words + BODY_AT, at = FLOE_SYMBOLS_HEAD_WORDS;
    for (uint32_t s = 0; s < first; s++)
        at += sh.step_nwords[s];
    for (uint32_t s = first; s < first + SPLIT_STEPS; s++) {
        if (floe_lane() == 0)
            body[FLOE_SYMBOLS_PLACES_AT + s] = at;
        for (uint32_t k = floe_lane(); k < sh.step_nwords[s]; k += FLOE_WARP)
            body[at + k] = memory[symbols_at(s) + k];
        at += sh.step_nwords[s];
    }
    static_assert((int)FLOE_SYMBOLS_PLACES_AT == (int)FLOE_TILE_STEPS &&
                      (int)FLOE_SYMBOLS_WIDTHS_AT == 2 * FLOE_TILE_STEPS && (int)COPIED + (int)BODY_AT <= (int)THREADS,
                  "flats, places, and widths, a word a thread");
    if (i < COPIED) {
        const uint32_t k = i < FLOE_TILE_STEPS ? i : i + FLOE_TILE_STEPS; /* all but places */
        body[k] = memory[BODY_AT + k];
    } else if (i == COPIED) {
        words[0] = BASE_WORDS | FLOE_DRAFT_SYMBOLS;
    } else if (i < COPIED + BODY_AT) {
        words[i - COPIED] = (uint32_t)(base >> 32 * (i - COPIED - 1));
    }
}

/* A tile of the short way: counts it, and puts it into its slot unless it has no room there. By a block. */
FLOE_DEV floe_tile_result end_short(block_shared &sh, const uint32_t *memory, fast_result r, uint32_t *words)
{
    const fast_tile &t = sh.works[split_warp()].tile;
    const uint32_t ncells = read_anew(t.ncells), nsteps = read_anew(t.nsteps);
    const uint32_t ndescriptors = (nsteps + 1) / 2, symbols = r.nbody - ndescriptors;
    const sink out = {words, NULL, threadIdx.x == 0 && !r.coded ? (uint32_t)BASE_WORDS : 0, 0}; /* of a constant tile */
    if (ncells < FLOE_TILE_VALUES) { /* of such a tile nothing may be left: by the size that stage pack would have */
        r.nbody = ndescriptors;
#pragma unroll
        for (int i = 0; i < SPLIT_WARPS; i++)
            r.nbody += sh.split.parts[i].packed;
    }
    floe_tile_result m = end_fast(r, ncells, true, out);
    if (m.raw || !r.coded)
        return m;
    count_part(sh, memory, nsteps);
    m.nwords = BODY_AT + FLOE_SYMBOLS_HEAD_WORDS + symbols;
    if (m.nwords <= SLOT_WORDS)
        put_draft(sh, memory, r.base, words);
    return m;
}

/* The long way, by a warp, in device memory of the tile's own; also counts exceptions. buffer: shared memory for the values of a
 * step. */
FLOE_DEV floe_tile_result draft_long(const floe_lorenzo_encode_call &call, block_shared &sh, uint32_t tile,
                                     uint32_t *buffer)
{
    const uint32_t warp = split_warp();
    uint32_t *scratch = call.spill + (uint64_t)tile * SCRATCH_WORDS, ncells;
    floe_huffman_coder *coder = &sh.coders[warp];
    const sink out = {slot_of(call, tile), NULL, SLOT_WORDS, 0};
    tallies t;
    const floe_tile_result m = encode_any(&sh.chunk, tile, true, (floe_int *)buffer, scratch, out, t);
    const uint32_t nsteps = floe_draft_present(sh.chunk.view, tile, coder->heads, &ncells);
    if (floe_tile_kind(m.entry) == FLOE_TILE_CODED)
        floe_huffman_count_tile<floe_uint, FLOE_HUFFMAN_PLANES>(sh.bins, scratch + MASKS_WORDS, nsteps, coder);
    tallies_tell(&call.chunks->gathered[sh.attempt], t);
    return m;
}

/* One thread. */
FLOE_DEV void entry_tell(const floe_lorenzo_encode_call &call, uint32_t tile, const floe_tile_result &m)
{
    call.draft_entries[tile] = m.entry;
    call.draft_nwords[tile] = m.nwords;
}

/* The draft of the tile at hand; then the next one is. By a block. */
template <int RANK> FLOE_DEV void draft_tile(const floe_lorenzo_encode_call &call, block_shared &sh, uint32_t *memory)
{
    const uint32_t tile = read_anew(sh.tile);
    uint32_t *words = slot_of(call, tile);
    fast_result r;
    floe_tile_result m;
    const bool is_short = draft_short<RANK>(sh, tile, memory, r);
    /* not before: a tile that is cut off takes twice as long as others, and who has one should not have the next one too */
    const uint32_t next = threadIdx.x == 0 ? take_tile(call, read_anew(sh.attempt)) : 0;
    if (is_short) {
        m = end_short(sh, memory, r, words);
    } else if (split_warp() == 0) {
        m = draft_long(call, sh, tile, buffers_of(memory));
        if (floe_lane() == 0)
            sh.whole = m;
    }
    __syncthreads(); /* all has been read; raw words go over what one thread wrote */
    if (!is_short)
        m = sh.whole;
    if (m.raw)
        write_raw(&sh.chunk, tile, words, threadIdx.x, THREADS);
    if (threadIdx.x == 0) {
        errors_tell(&call.chunks->gathered[sh.attempt], is_short ? split_error(sh.split) : 0, 0);
        entry_tell(call, tile, m);
        sh.ndone++;
        sh.tile = next;
    }
    __syncthreads();
}

/* Whether tiles of the chunk may take the short way. */
template <int RANK> FLOE_DEV bool is_short(const floe_dev_chunk &chunk)
{
    return chunk.view.rank == RANK && chunk.quantizer.kind == FLOE_QUANTIZER_LINEAR && is_halved(&chunk.quantizer) &&
           chunk.stride[FLOE_VIEW_X] == 1;
}

FLOE_DEV uint32_t take_tile_by_warp(const floe_lorenzo_encode_call &call, uint32_t attempt)
{
    const uint32_t tile = floe_lane() == 0 ? take_tile(call, attempt) : 0;
    return __shfl_sync(FLOE_ALL_LANES, tile, 0);
}

/* Tiles of a chunk of which none does: a warp takes one after another, the first warp that at hand. */
FLOE_DEV void draft_by_warps(const floe_lorenzo_encode_call &call, block_shared &sh, uint32_t *memory)
{
    uint32_t *buffer = buffers_of(memory) + split_warp() * BUFFER_WORDS, ndone = 0;
    uint32_t tile = split_warp() == 0 ? read_anew(sh.tile) : take_tile_by_warp(call, sh.attempt);
    for (; tile < sh.chunk.view.ntiles; tile = take_tile_by_warp(call, sh.attempt)) {
        const floe_tile_result m = draft_long(call, sh, tile, buffer);
        __syncwarp();
        if (m.raw)
            write_raw(&sh.chunk, tile, slot_of(call, tile), floe_lane(), FLOE_WARP);
        if (floe_lane() == 0)
            entry_tell(call, tile, m);
        ndone++;
    }
    if (floe_lane() == 0)
        atomicAdd(&sh.ndone, ndone);
    __syncthreads();
}

/* ---- a chunk ------------------------------------------------------------------------------------------------------- */

/* The first attempt is judged: then those who have no tile left wait for what comes of it. */
FLOE_DEV bool is_judged(const floe_lorenzo_encode_call &call, const block_shared &sh)
{
    return call.lossy && sh.attempt == 0 && floe_lorenzo_is_judged(sh.chunk.quantizer.kind);
}

/* All tiles are drafted and counted: whether that is to be done again. By the block that was last. */
FLOE_DEV void judge(const floe_lorenzo_encode_call &call, block_shared &sh)
{
    const uint64_t nliterals = floe_load_shared_state((const uint64_t *)&call.chunks->gathered[0].nliterals);
    const bool again = floe_lorenzo_keeps_too_little(nliterals, sh.chunk.ncells);
    if (again) {
        uint32_t *counts = (uint32_t *)call.hists;
        for (uint32_t k = threadIdx.x; k < sizeof *call.hists / sizeof *counts; k += THREADS)
            counts[k] = 0;
        if (threadIdx.x == 0) {
            call.chunks->quantizer = sh.bits;
            call.chunks->attempt = 1;
            *call.retry = 1;
        }
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        floe_store_shared_state(&head_of(call, 0)->verdict, FLOE_PLACE_IS_THERE | again);
}

/* Adds what the block has counted to the histogram. True: there is a second attempt, which now begins. By a block. */
FLOE_DEV bool end_attempt(const floe_lorenzo_encode_call &call, block_shared &sh)
{
    if (sh.ndone)
        floe_huffman_bins_add<THREADS>(sh.bins, call.hists);
    if (!is_judged(call, sh))
        return false;
    __threadfence();
    __syncthreads();
    bool last = false;
    if (threadIdx.x == 0 && sh.ndone) {
        const uint64_t before =
            atomicAdd((unsigned long long *)&head_of(call, 0)->copied, (unsigned long long)sh.ndone);
        last = before + sh.ndone == sh.chunk.view.ntiles;
        __threadfence();
    }
    if (__syncthreads_or(last))
        judge(call, sh);
    if (threadIdx.x == 0)
        sh.verdict = floe_place_wait(&head_of(call, 0)->verdict, 0);
    __syncthreads();
    if (!sh.verdict)
        return false;
    __threadfence();
    floe_huffman_bins_clear(sh.bins);
    if (threadIdx.x == 0) {
        sh.chunk.quantizer = sh.bits;
        sh.attempt = 1;
        sh.ndone = 0;
        sh.tile = take_tile(call, 1);
    }
    __syncthreads();
    return true;
}

/* What all tiles of a block have in common. False: there is nothing to do. */
FLOE_DEV bool begin_block(const floe_lorenzo_encode_call &call, block_shared &sh)
{
    copy_by_block(&sh.chunk, call.chunks);
    if (call.lossy)
        copy_by_block(&sh.bits, &call.params->bits);
    if (threadIdx.x == 0) {
        sh.tile = take_tile(call, 0);
        sh.attempt = sh.ndone = 0;
    }
    if (threadIdx.x == THREADS - 1)
        sh.nothing = *call.status != FLOE_OK;
    floe_huffman_bins_clear(sh.bins);
    __syncthreads();
    return !sh.nothing;
}

/* A block takes tiles, in order of their numbers; a warp has two steps of a tile, a thread a group of each. Tiles are handed
 * out by a counter to blocks that run, and who waits has none, so every wait ends. */
template <int RANK>
__global__ __launch_bounds__(THREADS, BLOCKS_A_PROCESSOR) void lorenzo_draft_few_kernel(
    const __grid_constant__ floe_lorenzo_encode_call call)
{
    floe_dev_begin();
    FLOE_DYNAMIC_SHARED(uint32_t, memory);
    __shared__ block_shared sh;
    if (!begin_block(call, sh))
        return;
    do {
        if (!is_short<RANK>(sh.chunk))
            draft_by_warps(call, sh, memory);
        else
            while (read_anew(sh.tile) < sh.chunk.view.ntiles)
                draft_tile<RANK>(call, sh, memory);
    } while (end_attempt(call, sh));
}

template <int RANK> cudaError_t launch(const floe_lorenzo_encode_call &call, cudaStream_t stream)
{
    const cudaError_t e = cudaFuncSetAttribute(lorenzo_draft_few_kernel<RANK>,
                                               cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_NBYTES);
    if (e != cudaSuccess)
        return e;
    FLOE_LAUNCH_EARLY(lorenzo_draft_few_kernel<RANK>, floe_few_blocks(&call.grid, BLOCKS_A_PROCESSOR), THREADS,
                      SHARED_NBYTES, stream, call);
    return cudaGetLastError();
}

} // namespace

int floe_lorenzo_draft_few_cuda(const floe_lorenzo_encode_call *call, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    floe_view view;
    floe_view_of(call->field.rank, call->grid.chunk, false, &view); /* swap does not change the rank */
    return (int)(view.rank == 1 ? launch<1>(*call, s) : view.rank == 2 ? launch<2>(*call, s) : launch<3>(*call, s));
}

/* Also of the kernel of lorenzo_few.cuh, whose blocks are as many. */
uint64_t floe_lorenzo_few_spill_nbytes(const floe_dev_grid *grid)
{
    static_assert((int)FLOE_FEW_MOST == 2 * (int)MOST_BLOCKS, "as lorenzo_few.cuh has it");
    const uint64_t drafts = (uint64_t)grid->slots * SCRATCH_WORDS;
    const uint64_t tiles = floe_min64(grid->slots, MOST_BLOCKS) * SPLIT_SPILL_WORDS;
    return 4 * floe_max64(drafts, tiles);
}
