/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream of encoder pack: checked, opened and decoded by one kernel. The first block judges all of the stream but the
 * payloads, and reports when all others are done. Some open a chunk each. Others check pieces of the payloads, spread evenly
 * among those that decode, whose words they bring near: both walk through the stream at one pace.
 *
 * Where their tiles lie blocks find out themselves, if the stream is as most are; else of the opened chunk. Whoever comes first
 * opens it, so nobody waits for a block that may not run yet.
 *
 * A single chunk of few tiles of f32 is decoded a tile by a block, and takes as long as its loads wait for one another. So those
 * that check are its first blocks, the chunk's words are loaded from where they most likely are, and the last block reports.
 */
#include "device/lorenzo/lorenzo_fused_cuda.h"

#include "backend/device.cuh"
#include "base/dev_record.h"
#include "codec/lorenzo/gpu/decode/lorenzo_decode_by_block.cuh"
#include "codec/lorenzo/gpu/decode/lorenzo_decode_pack.cuh"
#include "codec/lorenzo/gpu/decode/lorenzo_open.cuh"
#include "container/container_validate.cuh"
#include "container/payload_hash.cuh"

namespace
{

using namespace FLOE_LORENZO_DECODING;

enum { PIECES = BATCH }; /* of a block that checks, where there are blocks enough */
static_assert((int)PACK_WARPS <= (int)JUDGE_WARPS_MAX && (int)PACK_WARPS == (int)BY_BLOCK_WARPS, "blocks of one size");

enum { OF_CONTAINER, OF_PAYLOADS, OF_OPENING, OF_DECODING, STATUSES };
static_assert(STATUSES == sizeof((floe_fused_decode_state *)0)->statuses / sizeof(uint32_t), "one each");

/* Of a chunk: nobody has opened it; somebody is at it; it is open. */
enum { CHUNK_CLOSED, CHUNK_CLAIMED, CHUNK_OPEN };

/* What a block finds out of its chunk; shared memory. */
struct early_chunk {
    floe_peek peek;
    floe_dev_chunk c;
    uint32_t head[FLOE_LORENZO_HEADER_WORDS], sums[PACK_WARPS];
};

/* A chunk that the block opens. */
struct open_shared {
    opening o;
    floe_peek peek;
    bool claimed;
};
static_assert(sizeof(validate_shared) <= PACK_SHARED_NBYTES && sizeof(hash_shared) <= PACK_SHARED_NBYTES &&
                  sizeof(open_shared) <= PACK_SHARED_NBYTES,
              "in the place of the words");
static_assert(sizeof(validate_shared) <= BY_BLOCK_WORDS * 4 && sizeof(hash_shared) <= BY_BLOCK_WORDS * 4 &&
                  sizeof(open_shared) <= BY_BLOCK_WORDS * 4,
              "and of those of a single tile");

/* How blocks are dealt out: behind those that judge and open, as many as have gone by when number * hash_rate passes a whole
 * number check pieces, the others decode. By block: the first nhash check, the others decode. */
struct shares {
    uint32_t nopen, nhash, ndecode;
    uint64_t hash_rate; /* in units of 2^-32, rounded up: exact for fewer than 2^32 blocks */
};

template <bool BY_BLOCK> shares shares_of(const floe_fused_decode_job &job)
{
    const uint64_t npieces = job.open.nbytes / FLOE_CHECKSUM_PIECE + 1 + job.chunk.call.max_chunks;
    const uint64_t processors = floe_gpu_limits_cuda().processors;
    shares s;
    s.nopen = (uint32_t)job.chunk.call.max_chunks;
    s.nhash =
        (uint32_t)(BY_BLOCK ? floe_min64(floe_ceil_div(npieces, PACK_WARPS), processors) /* a warp each */
                            : floe_min64(floe_ceil_div(npieces, PIECES), processors * 2 * PACK_BLOCKS_A_PROCESSOR));
    s.ndecode = (uint32_t)(BY_BLOCK ? job.chunk.expected.slots : floe_ceil_div(job.chunk.call.max_slots, PACK_WARPS));
    s.hash_rate = floe_ceil_div((uint64_t)s.nhash << 32, (uint64_t)s.nhash + s.ndecode);
    return s;
}

/* Of i blocks behind those that open, how many check. */
template <bool BY_BLOCK> FLOE_DEV uint32_t nhash_of(const shares &all, uint32_t i)
{
    return BY_BLOCK ? min(i, all.nhash) : (uint32_t)(i * all.hash_rate >> 32);
}

FLOE_DEV void set_status(const floe_fused_decode_job &job, uint32_t *reported, int who, uint32_t status)
{
    if (status == FLOE_OK)
        return;
    atomicExch(reported, 1u);
    atomicCAS(job.state->statuses + who, (uint32_t)FLOE_OK, status);
}

/* ---- checks -------------------------------------------------------------------------------------------------------- */

/* All but the payloads. A block. */
FLOE_DEV_COLD void judge(const floe_fused_decode_job &job, uint32_t *reported, validate_shared &s)
{
    uint64_t nrecords;
    const uint32_t status = container_validate(job.open, s, &nrecords);
    if (threadIdx.x == 0)
        set_status(job, reported, OF_CONTAINER, status);
}

/* The index of a stream as it stands there: nobody has judged it yet, but it lies inside. NULL: there is none, or none of so
 * few chunks as there is room for. By block: a copy of the one record that there may be, which comes with the footer. */
template <bool BY_BLOCK>
FLOE_DEV const floe_dev_record *index_of(const floe_fused_decode_job &job, uint64_t nbytes, floe_peek &peek,
                                         uint64_t *nrecords)
{
    if (BY_BLOCK) {
        floe_dev_record record;
        *nrecords = 1;
        const bool is_there = nbytes <= job.open.nbytes && floe_peek_load(job.open.stream, nbytes, 1, 0, &peek) &&
                              floe_peek_record(&peek, nbytes, 1, &record);
        return is_there ? (const floe_dev_record *)peek.entry : NULL;
    }
    static_assert(sizeof(floe_dev_record) == FLOE_INDEX_ENTRY_NBYTES, "entries are records");
    if (nbytes > job.open.nbytes || nbytes % 8 || nbytes < FLOE_HEADER_MIN_NBYTES + FLOE_FOOTER_NBYTES)
        return NULL;
    const uint64_t *footer = (const uint64_t *)(job.open.stream + nbytes) - FLOE_FOOTER_WORDS;
    const uint64_t n = footer[2], span = floe_index_span(n);
    if (n == 0 || n > job.open.max_records || span == 0 || span > nbytes)
        return NULL;
    *nrecords = n;
    return (const floe_dev_record *)(job.open.stream + nbytes - span);
}

/* This block's pieces of the payloads. Where nothing can be there, who judges the stream reports it. */
template <bool BY_BLOCK>
FLOE_DEV_COLD void check_payloads(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t block, uint32_t nblocks,
                                  floe_peek &peek, uint32_t *reported, hash_shared &s)
{
    uint64_t nrecords;
    const floe_dev_record *records = index_of<BY_BLOCK>(job, nbytes, peek, &nrecords);
    if (!records)
        return;
    payloads w = payloads_of(job.open.stream, nbytes, records, nrecords, block, nblocks);
    if (!BY_BLOCK)
        w.nblocks = floe_min64(w.nblocks, floe_ceil_div(w.nslots, PIECES));
    set_status(job, reported, OF_PAYLOADS, share_verify<PACK_WARPS>(w, job.tallies, s));
}

/* ---- opening ------------------------------------------------------------------------------------------------------- */

/* Opens a chunk, unless somebody else does; `wait`: until it is open. By a block. */
FLOE_DEV_COLD void open_once(const floe_fused_decode_job &job, uint64_t nbytes, uint64_t chunk, bool wait,
                             uint32_t *reported, open_shared &s)
{
    uint64_t *opened = job.opened + chunk;
    __syncthreads();
    if (threadIdx.x == 0)
        s.claimed = atomicCAS((unsigned long long *)opened, (unsigned long long)CHUNK_CLOSED,
                              (unsigned long long)CHUNK_CLAIMED) == CHUNK_CLOSED;
    __syncthreads();
    if (s.claimed) {
        const uint32_t status = open_by_block(job.chunk, nbytes, chunk, s.peek, &s.o);
        __syncthreads();
        if (threadIdx.x == 0) {
            set_status(job, reported, OF_OPENING, status);
            __threadfence();
            floe_store_shared_state(opened, CHUNK_OPEN);
            if (s.o.nchunks && s.o.as_expected && chunk < s.o.nchunks)
                atomicAdd((unsigned long long *)&job.state->nopen, 1ull);
            __threadfence(); /* who reports makes both 0 again */
        }
    } else if (wait && threadIdx.x == 0) {
        while (floe_load_acquire(opened) < CHUNK_OPEN)
            floe_dev_pause();
    }
    __syncthreads();
}

/* Opens the chunk of a slot, and finds the tile in it. False: the stream's grid has no such slot. By a block. */
FLOE_DEV_COLD bool open_of_slot(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t slot, uint32_t *reported,
                                open_shared &s, uint32_t *chunk, uint32_t *tile)
{
    open_once(job, nbytes, 0, true, reported, s); /* which writes the grid */
    *chunk = slot / job.chunk.call.grid->slots;
    *tile = slot % job.chunk.call.grid->slots;
    if (*chunk >= job.chunk.call.grid->nchunks)
        return false;
    open_once(job, nbytes, *chunk, true, reported, s);
    return true;
}

/* ---- tiles before their chunk is open ------------------------------------------------------------------------------ */

enum {
    EARLY_TILES = 65536, /* of a chunk, at most: 32 bits count their words */
    EARLY_ENTRIES = 4    /* of a thread, loaded with the chunk's header */
};
static_assert((uint64_t)EARLY_TILES * FLOE_TILE_NWORDS_MASK <= UINT32_MAX, "no sum wraps");

/* The chunk as it is expected, if it is a whole one. By a block, which synchronizes before it looks at it. */
FLOE_DEV bool expect_chunk(const floe_fused_decode_job &job, uint32_t chunk, early_chunk &e)
{
    const floe_lorenzo_expected_grid &expected = job.chunk.expected;
    const floe_dev_field &field = job.chunk.call.field;
    int64_t at = 0;
    uint32_t index = chunk;
    for (uint32_t i = field.rank; i-- > 0; index /= expected.along[i]) {
        const uint64_t lo = index % expected.along[i] * expected.chunk[i];
        at += (int64_t)lo * field.stride[i];
        if (lo + expected.chunk[i] > expected.shape[i])
            return false;
    }
    static_assert(sizeof e.c % 8 == 0, "whole words");
    for (uint32_t k = threadIdx.x; k < sizeof e.c / 8; k += PACK_THREADS)
        ((uint64_t *)&e.c)[k] = ((const uint64_t *)&expected.full)[k];
    __syncthreads();
    if (threadIdx.x == 0)
        e.c.origin = (uint8_t *)field.data + at * (int64_t)sizeof(floe_real);
    return true;
}

/* Where the chunk's words are, of which so many are there. NULL: the stream is not as it is expected; of a single chunk that is
 * left to who judges. By a block. */
template <bool BY_BLOCK>
FLOE_DEV const uint32_t *peek_chunk(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t chunk, early_chunk &e,
                                    uint64_t *nwords)
{
    const floe_lorenzo_expected_grid &expected = job.chunk.expected;
    const floe_dev_field &field = job.chunk.call.field;
    const uint64_t nchunks = BY_BLOCK ? 1 : expected.nchunks;
    uint64_t cut[FLOE_MAX_RANK];
    floe_dev_record record;
    if (nbytes > job.open.nbytes || !floe_peek_load(job.open.stream, nbytes, nchunks, chunk, &e.peek) ||
        !floe_peek_record(&e.peek, nbytes, nchunks, &record) ||
        (!BY_BLOCK && !floe_peek_layout(&e.peek, field.dtype, field.rank, expected.shape, cut)))
        return NULL;
    for (uint32_t i = 0; !BY_BLOCK && i < field.rank; i++)
        if (cut[i] != expected.chunk[i])
            return NULL;
    *nwords = record.nbytes / 4;
    return (const uint32_t *)(job.open.stream + record.offset + FLOE_RECORD_HEAD_NBYTES);
}

/* Entries of a chunk: of the block's tiles, and some of this thread, those before. */
struct early_entries {
    uint32_t own[PACK_WARPS], before[EARLY_ENTRIES];
};

/* Loads header and entries from a chunk's words, of which nwords are there. n: its tiles; tile: the first of the block's. The last warp
 * loads the header: the first one has other things to load. */
FLOE_DEV void load_early(const uint32_t *words, uint64_t nwords, uint32_t n, uint32_t tile, early_chunk &e,
                         early_entries &to)
{
    const uint32_t *entries = words + FLOE_LORENZO_HEADER_WORDS, lane = threadIdx.x - (PACK_THREADS - FLOE_WARP);
    if (lane < FLOE_LORENZO_HEADER_WORDS)
        e.head[lane] = lane < nwords ? words[lane] : 0;
    n = nwords < FLOE_LORENZO_HEADER_WORDS ? 0 : (uint32_t)floe_min64(n, nwords - FLOE_LORENZO_HEADER_WORDS);
#pragma unroll
    for (uint32_t i = 0; i < PACK_WARPS; i++)
        to.own[i] = tile + i < n ? entries[tile + i] : 0;
#pragma unroll
    for (uint32_t k = 0; k < EARLY_ENTRIES; k++) {
        const uint32_t i = k * PACK_THREADS + threadIdx.x;
        to.before[k] = i < tile && i < n ? entries[i] : 0;
    }
}

/* Words of the tiles before `tile`, of at most EARLY_TILES. By a block. */
FLOE_DEV uint32_t words_before(const uint32_t *entries, const early_entries &early, uint32_t tile, early_chunk &e)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < EARLY_ENTRIES; k++)
        sum += early.before[k] & FLOE_TILE_NWORDS_MASK;
#pragma unroll 8
    for (uint32_t i = EARLY_ENTRIES * PACK_THREADS + threadIdx.x; i < tile; i += PACK_THREADS)
        sum += entries[i] & FLOE_TILE_NWORDS_MASK;
    return floe_block_sum(sum, e.sums, PACK_WARPS);
}

/* A block's tiles: their entries, and where the words of the first are, of which so many are there. */
struct early_tiles {
    uint32_t entries[PACK_WARPS];
    const uint32_t *words;
    uint64_t nwords;
};

FLOE_DEV uint32_t entry_of_warp(const early_tiles &t)
{
    uint32_t entry = 0;
#pragma unroll
    for (uint32_t i = 0; i < PACK_WARPS; i++)
        entry = i == threadIdx.x / FLOE_WARP ? t.entries[i] : entry;
    return entry;
}

/* The tiles from `tile` on, if the chunk is as most are. That is known before anybody has opened the chunk; who opens it finds what is
 * wrong. By a block, which gets the same result. */
template <bool BY_BLOCK>
FLOE_DEV bool look_early(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t chunk, uint32_t tile,
                         early_chunk &e, early_tiles *t)
{
    const uint32_t ntiles = (uint32_t)job.chunk.expected.full.view.ntiles;
    const uint64_t likely = floe_header_plain_nbytes(job.chunk.call.field.rank) + FLOE_RECORD_HEAD_NBYTES;
    const uint32_t *expected =
        BY_BLOCK ? (const uint32_t *)(job.open.stream + likely) : NULL; /* there are no attributes */
    early_entries early;
    uint64_t nwords;
    if (BY_BLOCK)
        load_early(expected, likely < nbytes && nbytes <= job.open.nbytes ? (nbytes - likely) / 4 : 0, ntiles, tile, e,
                   early);
    const uint32_t *words = peek_chunk<BY_BLOCK>(job, nbytes, chunk, e, &nwords);
    if (!words || FLOE_LORENZO_HEADER_WORDS + (uint64_t)ntiles > nwords)
        return false;
    if (words != expected)
        load_early(words, nwords, ntiles, tile, e, early);
    const uint32_t before = words_before(words + FLOE_LORENZO_HEADER_WORDS, early, min(tile, ntiles), e);
    const uint64_t at = FLOE_LORENZO_HEADER_WORDS + (uint64_t)ntiles + before;
#pragma unroll
    for (uint32_t i = 0; i < PACK_WARPS; i++)
        t->entries[i] = early.own[i];
    t->words = words + at;
    t->nwords = nwords - at;
    return at <= nwords && lorenzo_is_usual(e.head) && floe_lorenzo_word64_of(e.head + 12) == ntiles;
}

/* ---- a tile by a warp ---------------------------------------------------------------------------------------------- */

/* This warp's tile of those at `slot`, if both chunk and tile are as most are. By a block. */
FLOE_DEV_COLD bool find_early(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t slot, early_chunk &e,
                              tile_words *w)
{
    const uint32_t chunk = slot / (uint32_t)job.chunk.expected.slots, tile = slot % (uint32_t)job.chunk.expected.slots;
    const uint32_t warp = threadIdx.x / FLOE_WARP, ntiles = (uint32_t)job.chunk.expected.full.view.ntiles;
    early_tiles t;
    if (chunk >= job.chunk.expected.nchunks || tile >= ntiles || ntiles > EARLY_TILES || !expect_chunk(job, chunk, e) ||
        !look_early<false>(job, nbytes, chunk, tile, e, &t))
        return false;
    uint32_t before = 0;
#pragma unroll
    for (uint32_t i = 0; i < PACK_WARPS; i++)
        before += i < warp ? t.entries[i] & FLOE_TILE_NWORDS_MASK : 0;
    w->entry = entry_of_warp(t);
    w->encoder = FLOE_LORENZO_PACK;
    w->words = t.words + before;
    if (threadIdx.x == 0) {
        e.c.quantizer.kind = FLOE_QUANTIZER_LINEAR;
        e.c.quantizer.step = floe_f64_of(floe_lorenzo_word64_of(e.head + 4));
    }
    __syncthreads();
    return entry_is_plain(w->entry) && before + (w->entry & FLOE_TILE_NWORDS_MASK) <= t.nwords;
}

/* That of an opened chunk. */
FLOE_DEV found_slot find_open(const floe_fused_decode_job &job, uint32_t chunk, uint32_t tile, uint32_t slot)
{
    found_slot f = {job.chunk.call.chunks + chunk, words_of(job.chunk.call, slot), tile};
    if (f.words.encoder != FLOE_LORENZO_PACK)
        f.chunk = NULL;
    return f;
}

/* This warp's tile of those from slot `first` on. By a block. */
FLOE_DEV found_slot find_tile(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t first, early_chunk &e,
                              uint32_t *reported, open_shared &s)
{
    const floe_lorenzo_expected_grid &expected = job.chunk.expected;
    const uint32_t slot = first + threadIdx.x / FLOE_WARP, ahead = slot + AHEAD;
    const bool open = expected.nchunks && floe_load_acquire(&job.state->nopen) == expected.nchunks;
    found_slot f = {};
    uint32_t chunk, tile;
    if (__syncthreads_and(open)) { /* all chunks are, and the grid is as expected */
        if (slot / (uint32_t)expected.slots < expected.nchunks)
            f = find_open(job, slot / (uint32_t)expected.slots, slot % (uint32_t)expected.slots, slot);
        if (f.chunk && ahead < expected.nchunks * expected.slots)
            prefetch_tile(job.chunk.call, ahead);
        return f;
    }
    const bool early = expected.nchunks && expected.all && find_early(job, nbytes, first, e, &f.words);
    if (early) {
        f.chunk = &e.c;
        f.tile = slot % (uint32_t)expected.slots;
    }
    if (__syncthreads_and(early) || !open_of_slot(job, nbytes, first, reported, s, &chunk, &tile))
        return f;
    return early ? f : find_open(job, chunk, tile + threadIdx.x / FLOE_WARP, slot);
}

/* Four tiles, a warp each. */
FLOE_DEV void decode_tiles(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t block, uint32_t *reported,
                           early_chunk &e, uint32_t *stages)
{
    uint32_t *stage = stages + threadIdx.x / FLOE_WARP * STAGE_WORDS;
    const found_slot f = find_tile(job, nbytes, block * PACK_WARPS, e, reported, *(open_shared *)stages);
    if (f.chunk && decode_found(f, stage) != TILE_DONE && floe_lane() == 0)
        set_status(job, reported, OF_DECODING, FLOE_ERR_FORMAT);
}

/* ---- a tile by a block --------------------------------------------------------------------------------------------- */

/* Whether the block of a tile decodes it together. */
template <int RANK> FLOE_DEV bool is_by_block(uint32_t entry, floe_quantizer_kind kind, const target &t)
{
    return t.wanted && entry_is_plain<RANK>(entry, kind, t) && by_block_has_room<RANK>(entry);
}

/* Decodes this warp's tile by the general path, if `mine`. By a block. */
template <int RANK>
FLOE_DEV_COLD void decode_left(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t tile, bool mine,
                               uint32_t *reported, uint32_t *stage)
{
    const floe_dev_chunk *chunk = job.chunk.call.chunks;
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    open_once(job, nbytes, 0, true, reported, *(open_shared *)stage);
    if (!mine || tile + warp >= chunk->view.ntiles)
        return;
    const tile_words w = words_of(job.chunk.call, tile + warp);
    const pack_opener opener = {stage + warp * LONG_WORDS, LONG_WORDS};
    if (decode_general<RANK>(chunk, tile + warp, w.entry, w.words, opener) != TILE_DONE && floe_lane() == 0)
        set_status(job, reported, OF_DECODING, FLOE_ERR_FORMAT);
}

/* A tile: of the chunk that is expected, if it is as most are. Those for the general path are left to the warps of each fourth block,
 * which look at its tile and the three behind it. */
template <int RANK>
FLOE_DEV void decode_by_block(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t tile, uint32_t *reported,
                              early_chunk &e, uint32_t *stage)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const bool leads = tile % PACK_WARPS == 0;
    const floe_dev_chunk *chunk = &job.chunk.expected.full;
    early_tiles of;
    const bool early =
        look_early<true>(job, nbytes, 0, tile, e, &of) && (of.entries[0] & FLOE_TILE_NWORDS_MASK) <= of.nwords;
    if (!early) {
        open_once(job, nbytes, 0, true, reported, *(open_shared *)stage);
        chunk = job.chunk.call.chunks;
    }
    if (tile >= chunk->view.ntiles)
        return;
    const bool has_own = leads && tile + warp < chunk->view.ntiles;
    const tile_words w =
        early ? tile_words{of.entries[0], FLOE_LORENZO_PACK, of.words} : words_of(job.chunk.call, tile);
    const uint32_t own = early ? entry_of_warp(of) : has_own ? words_of(job.chunk.call, tile + warp).entry : 0;
    word_window window;
    if (entry_is_plain(w.entry) && by_block_has_room<RANK>(w.entry))
        window_open_whole(window, w.words, w.entry & FLOE_TILE_NWORDS_MASK, stage);
    const floe_quantizer_kind kind = early ? FLOE_QUANTIZER_LINEAR : chunk->quantizer.kind;
    const floe_real step = (floe_real)(early ? floe_f64_of(floe_lorenzo_word64_of(e.head + 4)) : chunk->quantizer.step);
    bool left = false;
    if (has_own) {
        const target t = target_of<RANK>(chunk, tile + warp);
        left = t.wanted && !is_by_block<RANK>(own, kind, t);
    }
    const target t = target_of<RANK>(chunk, tile);
    window_wait();
    __syncthreads();
    outcome result = TILE_DONE;
    if (is_by_block<RANK>(w.entry, kind, t))
        result = decode_pack_by_block<RANK>(t, w.entry, step, window, stage);
    if (result == TILE_BAD && threadIdx.x == 0)
        set_status(job, reported, OF_DECODING, FLOE_ERR_FORMAT);
    left |= result == TILE_UNFIT && warp == 0;
    if (__syncthreads_or(left))
        decode_left<RANK>(job, nbytes, tile, left, reported, stage);
}

/* ---- the end ------------------------------------------------------------------------------------------------------- */

/* Reports what all blocks have found, whom ndone has counted; the state is 0 again. A thread. */
FLOE_DEV void report(const floe_fused_decode_job &job, uint64_t nbytes, uint64_t ndone)
{
    floe_fused_decode_state *state = job.state;
    uint32_t status = FLOE_OK;
    for (int i = 0; ndone >> 32 && i < STATUSES; i++) {
        const uint32_t said = *(volatile uint32_t *)(state->statuses + i);
        status = status == FLOE_OK ? said : status;
    }
    floe_dev_report_write(job.report, status, nbytes, NULL, false);
    const floe_fused_decode_state none = {};
    *state = none;
}

/* What a block ends with. Most have nothing to report, and need not wait for their values to be written. The first one reports when
 * all others are done; by block the last one does, which is sooner but has each wait for its number. Returns whether this one has. A thread. */
template <bool BY_BLOCK> FLOE_DEV bool finish(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t reported)
{
    const unsigned long long mine = reported ? (1ull << 32) + 1 : 1;
    if (reported)
        __threadfence();
    uint64_t ndone = atomicAdd((unsigned long long *)&job.state->ndone, mine) + mine;
    if (!BY_BLOCK && blockIdx.x != 0)
        return false;
    while (!BY_BLOCK && (uint32_t)(ndone = floe_load_shared_state(&job.state->ndone)) != gridDim.x)
        floe_dev_pause();
    if ((uint32_t)ndone != gridDim.x)
        return false;
    if (!BY_BLOCK || ndone >> 32)
        __threadfence();
    report(job, nbytes, ndone);
    return true;
}

/* RANK: of the tiles that are decoded by block; 0: by warp. */
template <int RANK>
__global__ __launch_bounds__(PACK_THREADS, PACK_BLOCKS_A_PROCESSOR) void fused_decode_kernel(
    const __grid_constant__ floe_fused_decode_job job, const shares all)
{
    enum { BY_BLOCK = RANK != 0 };
    floe_dev_begin();
    FLOE_DYNAMIC_SHARED(uint32_t, stages);
    __shared__ early_chunk early;
    __shared__ uint32_t reported; /* the block has set a status that others look at */
    const uint64_t nbytes = job.open.dev_nbytes ? *job.open.dev_nbytes : job.open.nbytes;
    const uint32_t i = blockIdx.x - 1 - all.nopen, before = nhash_of<BY_BLOCK>(all, i);
    if (threadIdx.x == 0)
        reported = 0;
    __syncthreads();
    if (blockIdx.x == 0)
        judge(job, &reported, *(validate_shared *)stages);
    else if (blockIdx.x <= all.nopen)
        open_once(job, nbytes, blockIdx.x - 1, false, &reported, *(open_shared *)stages);
    else if (nhash_of<BY_BLOCK>(all, i + 1) != before)
        check_payloads<BY_BLOCK>(job, nbytes, before, all.nhash, early.peek, &reported, *(hash_shared *)stages);
    else if constexpr (BY_BLOCK)
        decode_by_block<RANK>(job, nbytes, i - before, &reported, early, stages);
    else
        decode_tiles(job, nbytes, i - before, &reported, early, stages);
    __syncthreads();
    const bool reports = threadIdx.x == 0 && finish<BY_BLOCK>(job, nbytes, reported);
    if ((BY_BLOCK || blockIdx.x == 0) && __syncthreads_or(reports))
        for (uint64_t k = threadIdx.x; k < FLOE_FUSED_DECODE_WORDS(job.chunk.call.max_chunks); k += PACK_THREADS)
            job.tallies[k] = 0;
}

template <int RANK> cudaError_t launch(const floe_fused_decode_job &job, cudaStream_t stream)
{
    enum { SHARED_NBYTES = RANK ? (int)BY_BLOCK_WORDS * 4 : (int)PACK_SHARED_NBYTES };
    const shares all = shares_of<RANK != 0>(job);
    static_assert(BY_BLOCK_WORDS * 4 + sizeof(early_chunk) <= 47 << 10, "a block has that without a grant");
    const cudaError_t e = RANK ? cudaSuccess
                               : cudaFuncSetAttribute(fused_decode_kernel<RANK>,
                                                      cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_NBYTES);
    if (e != cudaSuccess)
        return e;
    FLOE_LAUNCH_EARLY(fused_decode_kernel<RANK>, 1 + all.nopen + all.nhash + all.ndecode, PACK_THREADS, SHARED_NBYTES,
                      stream, job, all);
    return cudaGetLastError();
}

} // namespace

/* By block: a single chunk of few tiles of f32, which would not keep a device busy with a warp each. Of f64 those kernels would take
 * long to compile. */
int FLOE_R(floe_fused_decode_real_cuda)(const floe_fused_decode_job *job, void *stream)
{
#if FLOE_REAL_BITS == 32
    enum { FEW_SLOTS = 4096 };
    const floe_lorenzo_expected_grid &expected = job->chunk.expected;
    const bool is_few = expected.nchunks == 1 && expected.all && expected.slots <= FEW_SLOTS;
    if (is_few && expected.full.view.rank == 3)
        return (int)launch<3>(*job, (cudaStream_t)stream);
    if (is_few && expected.full.view.rank == 2)
        return (int)launch<2>(*job, (cudaStream_t)stream);
#endif
    return (int)launch<0>(*job, (cudaStream_t)stream);
}
