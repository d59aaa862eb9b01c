/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What codec/placer needs of this codec: what stands around a chunk's tiles, and what is decided when all are made.
 *
 * Written by it: entries, chunk headers, tables of values, codebooks and padding; the chunks' offsets and sizes; records,
 * but for the checksum; *end. Nothing at or beyond capacity: that sets *status, unless all is going to be done again: the
 * first attempt of a fast call that is lossy finds that out, too, as judge does for others.
 */
#ifndef FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_PLACE_CUH
#define FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_PLACE_CUH

#include "codec/lorenzo/format/lorenzo_begin_math.h"
#include "codec/lorenzo/format/lorenzo_layout.h"
#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "codec/placer/placer.cuh"

/* The placer's head, with this codec's counters. */
typedef struct floe_lorenzo_head {
    uint32_t ticket;
    uint32_t drafts;   /* slots taken to be drafted, behind those that warps begin with */
    uint64_t decision; /* few tiles: FLOE_PLACE_IS_THERE, and 1 where all is to be done again */
    uint64_t copied;   /* few tiles: how many are where they belong, counted only before all is done again */
    uint32_t late;     /* few tiles: which one is looked at next for a block that has not begun */
    uint32_t pad[9];
} floe_lorenzo_head;
static_assert(sizeof(floe_lorenzo_head) == sizeof(floe_place_head), "it lies over that one");

FLOE_DEV floe_place_state floe_lorenzo_state_of(const floe_lorenzo_encode_call &call, uint32_t attempt)
{
    return floe_place_state_of(call.place_state[attempt], call.grid.nchunks);
}
FLOE_DEV floe_lorenzo_head *floe_lorenzo_head_of(const floe_lorenzo_encode_call &call, uint32_t attempt)
{
    return (floe_lorenzo_head *)call.place_state[attempt];
}

/* Few tiles: on how many processors, and their blocks. */
static inline uint32_t floe_small_processors(void)
{
    const uint32_t n = floe_gpu_limits_cuda().processors;
    return n < FLOE_SMALL_PROCESSORS ? n : (uint32_t)FLOE_SMALL_PROCESSORS;
}
static inline uint32_t floe_small_blocks(const floe_dev_grid *grid, uint32_t blocks_a_processor)
{
    const uint32_t most = floe_small_processors() * blocks_a_processor;
    return grid->slots < most ? grid->slots : most;
}

/* ---- chunks -------------------------------------------------------------------------------------------------------- */

/* What stands between a chunk's head and its tiles. */
typedef struct floe_lorenzo_parts {
    uint32_t ntiles, table_nwords, book_nwords;
} floe_lorenzo_parts;

FLOE_DEV floe_lorenzo_parts floe_lorenzo_parts_of(const floe_lorenzo_encode_call &call, const floe_dev_chunk *chunk,
                                                  uint64_t c)
{
    floe_lorenzo_parts p = {0, 0, 0};
    if (c >= call.grid.nchunks)
        return p;
    p.ntiles = (uint32_t)chunk->view.ntiles;
    if (chunk->quantizer.kind == FLOE_QUANTIZER_TABLE)
        p.table_nwords = chunk->quantizer.table_size * (call.field.dtype == FLOE_F32 ? 1 : 2);
    if (call.huffman)
        p.book_nwords = call.book_nwords[c];
    return p;
}

FLOE_DEV uint64_t floe_lorenzo_capacity(const floe_lorenzo_encode_call &call) { return call.capacity / 4; }

FLOE_DEV void floe_lorenzo_store(const floe_lorenzo_encode_call &call, uint64_t word, uint32_t value)
{
    if (word < floe_lorenzo_capacity(call))
        ((uint32_t *)call.stream)[word] = value;
}

/* Header (but for payload_nwords), table and codebook of chunk c whose payload starts at that word; thread `me` of a team of
 * so many threads. */
FLOE_DEV_COLD void floe_chunk_prefix_write(const floe_lorenzo_encode_call &call, const floe_dev_chunk *chunk,
                                           uint64_t c, uint64_t start, uint32_t me, uint32_t nthreads)
{
    floe_dev_wait(); /* for the books' words */
    const floe_lorenzo_parts p = floe_lorenzo_parts_of(call, chunk, c);
    const uint64_t book_at = start - p.ntiles - p.book_nwords, table_at = book_at - p.table_nwords;
    const uint32_t wide = call.field.dtype == FLOE_F32 ? 1 : 2;
    for (uint32_t i = me; i < p.table_nwords; i += nthreads)
        floe_lorenzo_store(call, table_at + i, (uint32_t)(chunk->quantizer.table[i / wide] >> i % wide * 32));
    for (uint32_t i = me; i < p.book_nwords; i += nthreads)
        floe_lorenzo_store(call, book_at + i, call.book_words[c * FLOE_HUFFMAN_BOOK_WORDS + i]);
    if (me != 0)
        return;
    floe_lorenzo_chunk head;
    uint32_t words[FLOE_LORENZO_HEADER_WORDS];
    head.encoder = call.huffman ? FLOE_LORENZO_HUFFMAN : FLOE_LORENZO_PACK;
    head.swap = chunk->swap != 0;
    head.kind = chunk->quantizer.kind;
    head.step = chunk->quantizer.step;
    for (int i = 0; i < FLOE_PALETTE_SIZE; i++)
        head.palette[i] = chunk->quantizer.palette[i];
    head.table_size = p.table_nwords / wide;
    head.book_nwords = p.book_nwords;
    head.ntiles = p.ntiles;
    head.payload_nwords = 0;
    floe_lorenzo_chunk_words(&head, words);
    for (int i = 0; i < FLOE_LORENZO_HEADER_WORDS - 2; i++)
        floe_lorenzo_store(call, table_at - FLOE_LORENZO_HEADER_WORDS + i, words[i]);
}

/* Whether there are chunks of which too little is kept, for a second attempt then. By the warp that has seen the sizes of all
 * tiles: who wrote a size had counted its literals before that. */
FLOE_DEV bool floe_lorenzo_chunks_retry(const floe_lorenzo_encode_call &call)
{
    bool again = false;
    __threadfence();
    for (uint64_t c = floe_lane(); c < call.grid.nchunks; c += FLOE_WARP) {
        floe_dev_chunk *chunk = call.chunks + c;
        if (!floe_lorenzo_may_retry(chunk->quantizer.kind) ||
            !floe_lorenzo_too_many_literals(*(volatile unsigned long long *)&chunk->stats[0].nliterals, chunk->ncells))
            continue;
        chunk->quantizer =
            call.params->bits; /* others may be writing the first attempt, which does not count any more */
        chunk->attempt = 1;
        again = true;
    }
    again = __any_sync(FLOE_ALL_LANES, again);
    if (again && floe_lane() == 0)
        *call.retry = 1;
    return again;
}

/* The layout of codec/placer. */
struct floe_lorenzo_places {
    typedef floe_lorenzo_parts parts;
    const floe_lorenzo_encode_call &call;
    uint32_t attempt;

    __device__ __forceinline__ floe_placer placer() const
    {
        floe_placer p = {(uint32_t *)call.stream, floe_lorenzo_capacity(call), call.grid.slots,
                         call.grid.nchunks,       call.first_offset,           floe_lorenzo_state_of(call, attempt)};
        return p;
    }
    __device__ __forceinline__ void wait() const { floe_dev_wait(); /* for the books' words */ }
    __device__ __forceinline__ parts parts_of(uint64_t c) const
    {
        return floe_lorenzo_parts_of(call, call.chunks + c, c);
    }
    /* The payload's first word in a record that begins there. */
    FLOE_DEV uint64_t start(uint64_t offset, const parts &p)
    {
        return (offset + FLOE_RECORD_HEAD_NBYTES) / 4 + FLOE_LORENZO_HEADER_WORDS + p.table_nwords + p.book_nwords +
               p.ntiles;
    }
    __device__ __forceinline__ uint64_t finish(uint64_t c, uint64_t offset, uint64_t start, uint64_t nwords,
                                               const parts &p) const
    {
        const uint64_t payload = offset + FLOE_RECORD_HEAD_NBYTES, end = 4 * (start + nwords);
        floe_dev_chunk *chunk = call.chunks + c;
        chunk->entries_at = 4 * (start - p.ntiles);
        chunk->payload_at = 4 * start;
        chunk->payload_nwords = nwords;
        chunk->book_nwords = p.book_nwords;
        call.records[c].offset = offset;
        call.records[c].nbytes = end - payload;
        floe_lorenzo_store(call, payload / 4 + 14, (uint32_t)nwords);
        floe_lorenzo_store(call, payload / 4 + 15, (uint32_t)(nwords >> 32));
        if (end % 8)
            floe_lorenzo_store(call, end / 4, 0);
        return (end + 7) & ~(uint64_t)7;
    }
    __device__ __forceinline__ void end(uint64_t offset) const
    {
        const bool judged = call.lossy && !call.huffman && attempt == 0;
        const bool again = judged && floe_lorenzo_chunks_retry(call);
        if (floe_lane() == 0) {
            *call.end = offset;
            if (offset > call.capacity && !again)
                atomicCAS(call.status, 0u, (uint32_t)FLOE_ERR_CAPACITY);
        }
    }
    __device__ __forceinline__ uint32_t ntiles(uint32_t c) const { return (uint32_t)call.chunks[c].view.ntiles; }
    __device__ __forceinline__ void prefix(uint32_t c, uint64_t start) const
    {
        floe_chunk_prefix_write(call, call.chunks + c, c, start, floe_lane(), FLOE_WARP);
    }
    __device__ __forceinline__ void enter(const floe_place_tile &t, uint64_t start) const
    {
        ((uint32_t *)call.stream)[start - ntiles(t.chunk) + t.tile] = t.entry;
    }
};

#endif
