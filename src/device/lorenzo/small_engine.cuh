/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preset fast, for a chunk of so few tiles that a block has one or two: a tile is the work of a block, and one kernel does
 * all from the first attempt to the second. Where a tile belongs each block finds out itself: it adds up what the blocks
 * before have written. The last tile's adds up literals as well, and so is the judge.
 */
#ifndef FLOE_DEVICE_LORENZO_SMALL_ENGINE_CUH
#define FLOE_DEVICE_LORENZO_SMALL_ENGINE_CUH

#include "backend/device.cuh"
#include "codec/lorenzo/format/lorenzo_begin_math.h"
#include "codec/lorenzo/gpu/encode/lorenzo_encode_by_block.cuh"
#include "codec/lorenzo/gpu/encode/lorenzo_place.cuh"

namespace
{

using namespace FLOE_LORENZO_ENCODING;

enum {
    THREADS = FLOE_WARP * BY_BLOCK_WARPS,
    /* As for many tiles: registers and shared memory of a multiprocessor are filled. Besides a whole tile there is room for the
     * words of two steps at a ratio of 1.9; others go to the spill. */
    BLOCKS_A_PROCESSOR = 4,
    STAGE_WORDS = 1088, /* of a warp */
    SHARED_NBYTES = (BY_BLOCK_BUFFER_WORDS + BY_BLOCK_WARPS * STAGE_WORDS) * 4,
    MOST_BLOCKS = FLOE_SMALL_PROCESSORS * BLOCKS_A_PROCESSOR,
    LOOKS = (FLOE_SMALL_MOST + THREADS - 1) / THREADS /* sizes that a thread looks at */
};
static_assert((int)FLOE_SMALL_MOST == 2 * (int)MOST_BLOCKS, "the launches saved are worth a second round");

/* What a block reports of its tile: FLOE_PLACE_IS_SIZE, IS_TAKEN, words, and from this bit on literals. IS_TAKEN stands alone
 * before the tile is made, if it is one of those that blocks begin with. */
enum { LITERALS_SHIFT = 32 };
#define IS_TAKEN ((uint64_t)1 << 61)
static_assert(FLOE_TILE_VALUES < 1 << 16, "literals fit 16 bits");

/* Of a block. */
struct block_shared {
    floe_dev_chunk chunk; /* but for its stats */
    floe_quantizer bits;  /* of the second attempt */
    plain_work works[BY_BLOCK_WARPS];
    by_block_shared by_block;
    floe_tile_result whole;        /* what one warp has made of the tile */
    uint32_t tile, attempt, ndone; /* tiles in this attempt */
    uint32_t literals;             /* of the tile */
    uint32_t before[BY_BLOCK_WARPS][2];
    bool lost;         /* the tile is another block's */
    bool nothing;      /* to do at all */
    uint64_t decision; /* on the attempt: see decision_of */
};

/* A tile that a block has made; all threads have it. Lead: base and descriptors. */
struct block_tile {
    floe_tile_result m;
    uint64_t base;
    uint32_t nlead;       /* 0: one warp has made it, which has all words */
    uint32_t at, nwords;  /* of this warp's words: where in the tile, how many */
    uint32_t descriptors; /* of this warp's steps */
};

FLOE_DEV uint32_t *spill_of_block(const floe_lorenzo_encode_call &call)
{
    return call.spill + (uint64_t)blockIdx.x * BY_BLOCK_SPILL_WORDS;
}

/* Where this warp's steps of a tile go. */
FLOE_DEV sink part_of_warp(const floe_lorenzo_encode_call &call, uint32_t *memory)
{
    return {memory + BY_BLOCK_BUFFER_WORDS + by_block_warp() * STAGE_WORDS,
            spill_of_block(call) + by_block_warp() * BY_BLOCK_PART_WORDS, STAGE_WORDS, BY_BLOCK_PART_WORDS};
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

/* Puts the values of the block's first tile on their way where that is whole: before all else, which takes as long. */
template <int RANK> FLOE_DEV bool fetch_early(const floe_dev_chunk &chunk, uint32_t *buffers)
{
    const plain_tile t = plain_tile_of<RANK>(&chunk, blockIdx.x);
    const bool whole = blockIdx.x < chunk.view.ntiles && t.fit && t.whole;
    if (whole)
        by_block_fetch<RANK>(t, buffers);
    return whole;
}

/* Fetches a tile that takes the plain path; of a whole one, which it returns true for, the first step is there, and the others
 * are on their way. had: of the thread that has taken the tile,
 * not 0 where another block had. early: the values have been on their way. The whole block. */
template <int RANK>
FLOE_DEV bool fetch_tile(block_shared &sh, uint32_t tile, uint32_t had, bool early, uint32_t *buffers)
{
    plain_work *work = &sh.works[by_block_warp()];
    const bool fit = begin_work<RANK>(&sh.chunk, tile, work), whole = fit && reload(work->tile.whole);
    if (whole && !early)
        by_block_fetch<RANK>(reload_rows<RANK>(work->tile), buffers);
    if (threadIdx.x == 0) {
        sh.lost = had != 0;
        sh.literals = 0;
    }
    if (fit && !whole)
        by_block_fetch_unaligned<RANK>(work->tile, buffers);
    else
        by_block_wait();
    return whole;
}

/* This warp's part of such a tile. */
FLOE_DEV block_tile tile_of_parts(const block_shared &sh, const plain_result &r, const sink &out)
{
    const uint32_t ncells = reload(sh.works[0].tile.ncells), warp = by_block_warp();
    const uint32_t ndescriptors = (reload(sh.works[0].tile.nsteps) + BY_BLOCK_STEPS - 1) / BY_BLOCK_STEPS;
    block_tile t = {end_plain(r, ncells, false, out), r.base, (uint32_t)BASE_WORDS, 0, 0, 0};
    if (!r.coded)
        return t;
    t.at = t.nlead += ndescriptors;
    for (uint32_t i = 0; i < warp; i++)
        t.at += sh.by_block.parts[i].nwords;
    t.nwords = sh.by_block.parts[warp].nwords;
    t.descriptors = sh.by_block.parts[warp].descriptors;
    return t;
}

/* The general path, by the first warp, behind whose part the other parts give way; also counts exceptions. By a block. */
template <int RANK>
FLOE_DEV block_tile make_long(const floe_lorenzo_encode_call &call, block_shared &sh, uint32_t tile, const sink &part,
                              uint32_t *buffer)
{
    enum { PARTS_WORDS = BY_BLOCK_WARPS * BY_BLOCK_PART_WORDS };
    const uint32_t lane = floe_lane(), warp = by_block_warp();
    if (lane == 0)
        sh.by_block.error[warp] = 0;
    __syncthreads(); /* the others have left their parts */
    if (warp == 0) {
        const sink out = {part.words, part.spill, part.cap, PARTS_WORDS};
        tallies t;
        const floe_tile_result m =
            encode_general<RANK, RANK>(&sh.chunk, tile, false, (floe_int *)buffer, part.spill + PARTS_WORDS, out, t);
        tallies_report(&call.chunks->stats[sh.attempt], t);
        if (lane == 0) {
            sh.whole = m;
            sh.literals = t.nliterals;
        }
    }
    __syncthreads();
    const block_tile t = {sh.whole, 0, 0, 0, warp == 0 ? sh.whole.nwords : 0, 0};
    return t;
}

/* whole: as fetch_tile has it. */
template <int RANK>
FLOE_DEV block_tile make_tile(const floe_lorenzo_encode_call &call, block_shared &sh, uint32_t tile, bool whole,
                              const sink &out, uint32_t *buffers)
{
    plain_result r;
    const plain_work *work = &sh.works[by_block_warp()];
    if ((whole || reload(work->tile.fit)) && encode_by_block_plain<RANK>(*work, whole, out, buffers, sh.by_block, r))
        return tile_of_parts(sh, r, out);
    return make_long<RANK>(call, sh, tile, out, buffers);
}

/* ---- to its place -------------------------------------------------------------------------------------------------- */

/* Of the tiles before `tile` those that this thread looks at, once these have them; others have no words. */
FLOE_DEV void sizes_before(const uint64_t *sizes, uint32_t tile, uint64_t (&v)[LOOKS])
{
#pragma unroll
    for (int k = 0; k < LOOKS; k++) {
        const uint32_t i = threadIdx.x + k * THREADS;
        v[k] = i < tile ? floe_load_shared_state(sizes + i) : FLOE_PLACE_IS_SIZE;
    }
    for (;;) { /* those that are not there are loaded again, all at once */
        bool all = true;
#pragma unroll
        for (int k = 0; k < LOOKS; k++)
            all &= (v[k] & FLOE_PLACE_IS_SIZE) != 0;
        if (all)
            return;
        floe_dev_pause();
#pragma unroll
        for (int k = 0; k < LOOKS; k++)
            if (!(v[k] & FLOE_PLACE_IS_SIZE))
                v[k] = floe_load_shared_state(sizes + threadIdx.x + k * THREADS);
    }
}

/* Waits until all before have theirs; words and literals that lie before. By a block. */
FLOE_DEV void add_up_before(const uint64_t *sizes, uint32_t tile, block_shared &sh, uint32_t (&before)[2])
{
    uint64_t v[LOOKS];
    sizes_before(sizes, tile, v);
    before[0] = before[1] = 0;
#pragma unroll
    for (int k = 0; k < LOOKS; k++) {
        before[0] += (uint32_t)v[k];
        before[1] += (uint32_t)(v[k] >> LITERALS_SHIFT) & 0xFFFFu;
    }
    floe_block_sums(before, sh.before, BY_BLOCK_WARPS);
}

/* Copies a tile to where it belongs. By a block, a warp its own words. */
FLOE_DEV void copy_tile(const floe_lorenzo_encode_call &call, const block_shared &sh, uint32_t tile, uint64_t start,
                        uint64_t place, const block_tile &t, const sink &out)
{
    uint32_t *stream = (uint32_t *)call.stream, *dst = stream + place;
    if (place + t.m.nwords > floe_lorenzo_capacity(call))
        return;
    if (threadIdx.x == 0)
        stream[start - (uint32_t)sh.chunk.view.ntiles + tile] = t.m.entry;
    if (t.m.raw) {
        write_raw(&sh.chunk, tile, dst, threadIdx.x, THREADS);
        return;
    }
    if (threadIdx.x < t.nlead && threadIdx.x < BASE_WORDS)
        dst[threadIdx.x] = (uint32_t)(t.base >> threadIdx.x % 2 * 32);
    if (floe_lane() == 0 && BASE_WORDS + by_block_warp() < t.nlead)
        dst[BASE_WORDS + by_block_warp()] = t.descriptors;
    const uint32_t staged = min(t.nwords, out.cap);
    floe_place_copy(dst + t.at, out.words, staged);
    if (t.nwords > staged)
        floe_place_copy(dst + t.at + staged, out.spill, t.nwords - staged);
}

/* ---- a chunk ------------------------------------------------------------------------------------------------------- */

/* All literals are known: whether all is to be done again. The block of the last tile, one thread. */
FLOE_DEV bool judge(const floe_lorenzo_encode_call &call, const floe_dev_chunk &chunk, uint32_t attempt,
                    uint64_t nliterals)
{
    return call.lossy && attempt == 0 &&
           (chunk.quantizer.kind == FLOE_QUANTIZER_LINEAR || chunk.quantizer.kind == FLOE_QUANTIZER_LOG) &&
           floe_lorenzo_too_many_literals(nliterals, chunk.ncells);
}

/* What the block of the last tile reports to all others: whether all is to be done again, or how long the chunk is. */
FLOE_DEV uint64_t decision_of(bool again, uint64_t nbytes) { return nbytes << 1 | again; }
FLOE_DEV bool is_again(uint64_t decision) { return decision & 1; }
FLOE_DEV uint64_t nbytes_of(uint64_t decision) { return decision >> 1; }

/* All that needs the size of the chunk, unless it is to be done again. end: word behind the last. One thread. */
FLOE_DEV void end_attempt(const floe_lorenzo_encode_call &call, const floe_dev_chunk &chunk, floe_lorenzo_head *head,
                          uint64_t start, uint64_t end, const floe_lorenzo_parts &parts, bool again)
{
    const uint64_t nbytes = 4 * end - call.first_offset - FLOE_RECORD_HEAD_NBYTES;
    floe_store_shared_state(&head->decision, FLOE_PLACE_IS_THERE | decision_of(again, nbytes));
    if (again) {
        call.chunks->attempt = 1;
        *call.retry = 1;
    } else {
        *call.end = floe_lorenzo_places{call, 0}.finish(0, call.first_offset, start, end - start, parts);
        if (*call.end > call.capacity)
            atomicCAS(call.status, 0u, (uint32_t)FLOE_ERR_CAPACITY);
    }
}

/* ---- whose a tile is ----------------------------------------------------------------------------------------------- */

/* Tiles that blocks begin with, each with that of its own number. */
FLOE_DEV uint32_t first_tiles(const block_shared &sh) { return min(gridDim.x, (uint32_t)sh.chunk.view.ntiles); }

/* Takes one of these. Not 0: another block had. One thread, which need not wait before it looks at that. */
FLOE_DEV uint32_t take_first(const floe_lorenzo_encode_call &call, uint32_t tile)
{
    uint64_t *state = floe_lorenzo_state_of(call, 0).slots + tile;
    return (uint32_t)(atomicOr((unsigned long long *)state, (unsigned long long)IS_TAKEN) >> 32);
}

/* Whether all of these are taken: blocks begin in the order of their numbers. One thread. */
FLOE_DEV bool are_taken(const floe_lorenzo_encode_call &call, const block_shared &sh)
{
    const uint64_t *states = floe_lorenzo_state_of(call, 0).slots;
    return floe_load_shared_state(states + first_tiles(sh) - 1) & IS_TAKEN;
}

/* The next tile of an attempt, as a number that may be beyond the last. One thread. */
FLOE_DEV uint32_t take_ticket(const floe_lorenzo_encode_call &call, uint32_t attempt)
{
    return atomicAdd(&floe_lorenzo_head_of(call, attempt)->ticket, 1u);
}

/* Another tile of the first attempt. Those of blocks that have not begun, because not all fit the GPU at once, come first: they
 * are waited for. taken: there are none. One thread. */
FLOE_DEV uint32_t take_another(const floe_lorenzo_encode_call &call, const block_shared &sh, bool taken)
{
    const uint32_t nfirst = first_tiles(sh);
    while (!taken) {
        const uint32_t tile = atomicAdd(&floe_lorenzo_head_of(call, 0)->late, 1u);
        if (tile < nfirst && take_first(call, tile) == 0)
            return tile;
        taken = tile >= nfirst;
    }
    return nfirst < (uint32_t)sh.chunk.view.ntiles ? nfirst + take_ticket(call, 0) : nfirst;
}

/* Reports what the tile has, waits for those before it, takes another, and copies the one behind the others. By a block. */
FLOE_DEV void place_tile(const floe_lorenzo_encode_call &call, block_shared &sh, const block_tile &t, const sink &out)
{
    const uint32_t tile = reload(sh.tile), attempt = reload(sh.attempt);
    const floe_place_state state = floe_lorenzo_state_of(call, attempt);
    const floe_lorenzo_parts parts = floe_lorenzo_parts_of(call, &sh.chunk, 0);
    const uint64_t start = floe_lorenzo_places::start(call.first_offset, parts);
    if (threadIdx.x == 0)
        floe_store_shared_state(state.slots + tile,
                                FLOE_PLACE_IS_SIZE | IS_TAKEN | (uint64_t)sh.literals << LITERALS_SHIFT | t.m.nwords);
    const bool taken = threadIdx.x == 0 && are_taken(call, sh);
    if (tile == 0)
        floe_chunk_prefix_write(call, &sh.chunk, 0, start, threadIdx.x, THREADS);
    uint32_t before[2];
    add_up_before(state.slots, tile, sh, before);
    const uint64_t place = start + before[0];
    uint32_t next = 0;
    if (threadIdx.x == 0) {
        next = attempt == 0 ? take_another(call, sh, taken) : take_ticket(call, attempt);
        errors_report(&call.chunks->stats[attempt], by_block_error(sh.by_block), 0);
        sh.ndone++;
        if (tile + 1 == parts.ntiles)
            end_attempt(call, sh.chunk, floe_lorenzo_head_of(call, attempt), start, place + t.m.nwords, parts,
                        judge(call, sh.chunk, attempt, (uint64_t)before[1] + sh.literals));
    }
    copy_tile(call, sh, tile, start, place, t, out);
    __syncthreads(); /* what is in shared memory has been read */
    if (threadIdx.x == 0)
        sh.tile = next;
    __syncthreads();
}

/* A tile that another block makes: what of it is on its way comes to rest, and another is taken. By a block. */
FLOE_DEV_COLD void leave_tile(const floe_lorenzo_encode_call &call, block_shared &sh)
{
    floe_copy_async_wait();
    __syncthreads();
    if (threadIdx.x == 0)
        sh.tile = take_another(call, sh, are_taken(call, sh));
    __syncthreads();
}

FLOE_DEV floe_lorenzo_head *head_of(const floe_lorenzo_encode_call &call, const block_shared &sh)
{
    return floe_lorenzo_head_of(call, sh.attempt);
}

/* All tiles of the attempt are taken: reports how many of them the block has copied, and waits for the decision. By a block,
 * behind a barrier. */
FLOE_DEV uint64_t wait_for_decision(const floe_lorenzo_encode_call &call, block_shared &sh)
{
    if (threadIdx.x == 0) {
        floe_lorenzo_head *head = head_of(call, sh);
        floe_counter_add(&head->copied, sh.ndone);
        sh.decision = floe_place_wait(&head->decision, 0);
    }
    __syncthreads();
    return sh.decision;
}

/* Until all tiles of the attempt are where they belong. By a block. */
FLOE_DEV void wait_for_copies(const floe_lorenzo_encode_call &call, const block_shared &sh)
{
    if (threadIdx.x == 0)
        floe_counter_wait(&head_of(call, sh)->copied, sh.chunk.view.ntiles);
    __syncthreads();
}

/* The second attempt: what comes now goes where others have copied to. By a block. */
FLOE_DEV void begin_again(const floe_lorenzo_encode_call &call, block_shared &sh)
{
    wait_for_copies(call, sh);
    if (threadIdx.x == 0) {
        sh.chunk.quantizer = sh.bits;
        sh.attempt = 1;
        sh.ndone = 0;
        sh.tile = take_ticket(call, 1);
    }
    __syncthreads();
}

/* What all tiles of a block have in common. False: there is nothing to do. */
FLOE_DEV bool begin_block(const floe_lorenzo_encode_call &call, const floe_lorenzo_host_chunk &host_chunk,
                          bool has_host_chunk, block_shared &sh)
{
    if (threadIdx.x == 0) {
        sh.tile = blockIdx.x;
        sh.attempt = sh.ndone = 0;
        sh.nothing = !has_host_chunk && *call.status != FLOE_OK;
    }
    if (has_host_chunk) {
        copy_by_block(&sh.chunk, &host_chunk.chunk);
        copy_by_block(&sh.bits, &host_chunk.bits);
    } else {
        copy_by_block(&sh.chunk, call.chunks);
        if (call.lossy)
            copy_by_block(&sh.bits, &call.params->bits);
    }
    __syncthreads();
    return !sh.nothing;
}

/* A block begins with the tile of its number and goes on with others, in order; a warp has two steps of a tile, a thread a
 * group of each. Who waits has written all that it has before, blocks begin in the order of their numbers, and no tile is left
 * for those that have not begun: every wait ends. What is not the tile's own is read anew behind it: the loop over steps has
 * all registers. False: there was nothing to do. Else sh.decision has how long the chunk is, of whose tiles some may still be
 * on their way. */
template <int RANK>
FLOE_DEV bool encode_small(const floe_lorenzo_encode_call &call, const floe_lorenzo_host_chunk &host_chunk,
                           bool has_host_chunk, block_shared &sh, uint32_t *memory)
{
    bool early = has_host_chunk && fetch_early<RANK>(host_chunk.chunk, memory);
    if (!begin_block(call, host_chunk, has_host_chunk, sh))
        return false;
    uint32_t had = threadIdx.x == 0 && blockIdx.x < first_tiles(sh) ? take_first(call, blockIdx.x) : 0;
    for (;;) {
        const uint32_t tile = reload(sh.tile);
        if (tile < sh.chunk.view.ntiles) {
            const sink out = part_of_warp(call, memory);
            const bool whole = fetch_tile<RANK>(sh, tile, had, early, memory);
            if (reload(sh.lost)) {
                leave_tile(call, sh);
            } else {
                const block_tile t = make_tile<RANK>(call, sh, tile, whole, out, memory);
                place_tile(call, sh, t, out);
            }
            had = 0;
            early = false;
        } else {
            if (!is_again(wait_for_decision(call, sh)))
                return true;
            begin_again(call, sh);
        }
    }
}

} // namespace

#endif
