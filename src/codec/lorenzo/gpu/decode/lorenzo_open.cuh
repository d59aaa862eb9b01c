/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening a chunk of a stream: header checked, table of values read, tiles placed, by a block. One thread judges what is one
 * of a kind while the tiles' entries are on their way, then all of them add up their words.
 *
 * A chunk that the box does not touch is not looked at, as on the CPU: it has no tiles.
 */
#ifndef FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_OPEN_CUH
#define FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_OPEN_CUH

#include "backend/device_scan.cuh"
#include "base/grid_math.h"
#include "codec/lorenzo/format/lorenzo_begin_math.h"
#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "container/container_peek.cuh"

namespace
{

enum {
    MAX_THREADS = 1024,
    RUN = 16 /* entries of a thread at a time: with 256 threads, all of a chunk of 128 MiB of f32 */
};

/* What a block holds of its chunk; in shared memory. */
struct opening {
    uint64_t shape[FLOE_MAX_RANK], chunk[FLOE_MAX_RANK]; /* of the stream's field, and of a full chunk of it */
    uint64_t nchunks, slots;                             /* of the whole grid; of a chunk, as this call numbers them */
    bool as_expected;
    uint32_t words[FLOE_LORENZO_HEADER_WORDS];
    floe_dev_chunk c; /* at first the expected full chunk, or 0 */
    floe_lorenzo_chunk head;
    uint64_t ntiles;
    const uint8_t *bytes; /* of the chunk */
    uint32_t status;      /* a floe_status */
    bool idle;            /* nothing of this chunk is wanted */
    uint64_t sums[MAX_THREADS / FLOE_WARP];
};

/* ---- headers ------------------------------------------------------------------------------------------------------- */

/* The part of the box that lies in a chunk at lo, in view axes. False: none. */
FLOE_DEV bool set_region(const floe_lorenzo_decode_call &call, const uint64_t *lo, const uint64_t *extent,
                         floe_dev_chunk *c)
{
    uint64_t from[FLOE_MAX_RANK], to[FLOE_MAX_RANK];
    int64_t at = 0;
    for (uint32_t i = 0; i < call.field.rank; i++) {
        const uint64_t end = lo[i] + extent[i];
        from[i] = call.lo[i] > lo[i] ? call.lo[i] - lo[i] : 0;
        to[i] = (call.hi[i] < end ? call.hi[i] : end) - lo[i];
        if (call.hi[i] <= lo[i] || call.lo[i] >= end)
            return false;
        at += (int64_t)(lo[i] + from[i] - call.lo[i]) * call.field.stride[i];
    }
    for (int a = 0; a < FLOE_VIEW_AXES; a++) {
        const int axis = c->view.axis[a];
        c->region_lo[a] = axis < 0 ? 0 : from[axis];
        c->region_hi[a] = axis < 0 ? 1 : to[axis];
    }
    floe_lorenzo_strides(&c->view, call.field.stride, c->stride);
    c->origin = (uint8_t *)call.field.data + at * (call.field.dtype == FLOE_F32 ? 4 : 8);
    return true;
}

FLOE_DEV void set_quantizer(const floe_lorenzo_decode_call &call, uint64_t chunk, const floe_lorenzo_chunk *head,
                            floe_quantizer *q)
{
    q->kind = head->kind;
    q->step = head->step;
    for (int i = 0; i < FLOE_PALETTE_SIZE; i++)
        q->palette[i] = head->palette[i];
    q->table_size = head->table_size;
    q->table = call.tables ? call.tables + chunk * FLOE_TABLE_MAX : NULL;
}

/* The header's words; 0 where there is no header. By a block, whose last warp it is: the first one has other things to do. */
FLOE_DEV void load_head(const uint8_t *chunk, uint64_t nbytes, opening *o)
{
    const uint32_t i = threadIdx.x - (blockDim.x - FLOE_WARP);
    if (i < FLOE_LORENZO_HEADER_WORDS)
        o->words[i] = nbytes < FLOE_LORENZO_HEADER_NBYTES ? 0 : ((const uint32_t *)chunk)[i];
}

FLOE_DEV void load_run(const uint32_t *words, uint64_t at, uint64_t n, uint64_t nwords, uint32_t run[RUN])
{
    const uint64_t mine = (uint64_t)threadIdx.x * RUN;
#pragma unroll
    for (int i = 0; i < RUN; i++)
        run[i] = mine + i < n && at + mine + i < nwords ? words[at + mine + i] : 0;
}

/* The first entries of this thread, before it is known whether the header is right: those that it claims are there, inside
 * the chunk. They are on their way with the header; others may be looked at before they are settled. */
FLOE_DEV void load_entries(const uint8_t *chunk, uint64_t nbytes, uint32_t run[RUN])
{
    load_run((const uint32_t *)chunk, FLOE_LORENZO_HEADER_WORDS, nbytes / 4, nbytes / 4, run);
}

/* Once more where table or codebook lie between. */
FLOE_DEV void settle_entries(const uint8_t *chunk, uint64_t nbytes, floe_dtype dtype, uint32_t run[RUN])
{
    const uint32_t *words = (const uint32_t *)chunk;
    const bool is_there = nbytes >= FLOE_LORENZO_HEADER_NBYTES;
    const uint64_t skip = is_there ? (uint64_t)words[1] * (dtype == FLOE_F32 ? 1 : 2) + words[2] : 0;
    const uint64_t n = is_there ? floe_lorenzo_word64_of(words + 12) : 0;
    if (skip)
        load_run(words, FLOE_LORENZO_HEADER_WORDS + skip, n, nbytes / 4, run);
#pragma unroll
    for (int i = 0; i < RUN; i++)
        run[i] = (uint64_t)threadIdx.x * RUN + i < n ? run[i] : 0;
}

/* As floe_lorenzo_chunk_read. */
FLOE_DEV floe_status read_head(const floe_lorenzo_decode_call &call, uint64_t nbytes, const uint64_t *extent,
                               const uint32_t words[FLOE_LORENZO_HEADER_WORDS], floe_lorenzo_chunk *head,
                               floe_dev_chunk *c)
{
    const floe_dtype dtype = call.field.dtype;
    if (nbytes < FLOE_LORENZO_HEADER_NBYTES || !floe_lorenzo_chunk_of_words(words, dtype, head) ||
        !floe_lorenzo_parts_are_sane(head, dtype, c->ncells))
        return FLOE_ERR_FORMAT;
    if (head->swap && !floe_view_of(call.field.rank, extent, true, &c->view))
        return FLOE_ERR_FORMAT;
    if (head->ntiles != c->view.ntiles || !floe_lorenzo_chunk_offsets(head, dtype) || head->end != nbytes)
        return FLOE_ERR_FORMAT;
    if ((head->encoder == FLOE_LORENZO_HUFFMAN && !call.decoders) || (head->table_size && !call.tables))
        return FLOE_ERR_LIMIT;
    return FLOE_OK;
}

/* The first words of a chunk as most have them: pack, linear, no other view, neither table nor codebook. */
FLOE_DEV bool lorenzo_is_usual(const uint32_t *words)
{
    return words[0] == ((uint32_t)FLOE_LORENZO_PACK | (uint32_t)FLOE_QUANTIZER_LINEAR << 8) &&
           (words[1] | words[2]) == 0;
}

/* The grid's chunks; 0: more than there is room for, or none. */
FLOE_DEV uint64_t count_chunks(const floe_lorenzo_decode_call &call, const opening *o)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < call.field.rank; i++) {
        const uint64_t along = o->chunk[i] ? floe_ceil_div(o->shape[i], o->chunk[i]) : 0;
        if (along == 0 || along > call.max_chunks)
            return 0;
        n *= along; /* each factor is at most max_chunks, and so is the product before */
        if (n > call.max_chunks)
            return 0;
    }
    return n;
}

/* Counts chunks, and their slots: all there are, shared out among the chunks. One thread. */
FLOE_DEV void set_grid(const floe_lorenzo_decode_call &call, const floe_lorenzo_expected_grid &expected, opening *o)
{
    bool same = expected.nchunks != 0;
    for (uint32_t i = 0; i < FLOE_MAX_RANK; i++)
        same &= i >= call.field.rank || (o->shape[i] == expected.shape[i] && o->chunk[i] == expected.chunk[i]);
    o->as_expected = same;
    o->nchunks = same ? expected.nchunks : count_chunks(call, o);
    o->slots = same ? expected.slots : 0;
    if (!same && o->nchunks)
        o->slots = floe_min64(call.max_slots / o->nchunks, FLOE_DEV_MOST_SLOTS) / FLOE_BATCH_TILES * FLOE_BATCH_TILES;
}

/* Where there is no grid later kernels find one without chunks. One thread. */
FLOE_DEV void write_grid(const floe_lorenzo_decode_call &call, const opening *o)
{
    call.grid->nchunks = o->nchunks;
    call.grid->slots = o->slots ? (uint32_t)o->slots : (uint32_t)FLOE_BATCH_TILES;
    for (uint32_t i = 0; i < FLOE_MAX_RANK; i++) {
        call.grid->shape[i] = i < call.field.rank ? o->shape[i] : 0;
        call.grid->chunk[i] = i < call.field.rank ? o->chunk[i] : 0;
    }
}

/* First cell and extent of a chunk. True: it is the expected full one, which o->c is from the beginning on, and its
 * origin is set. */
FLOE_DEV bool cut_chunk(const floe_lorenzo_decode_call &call, const floe_lorenzo_expected_grid &expected,
                        uint64_t chunk, opening *o, uint64_t *lo, uint64_t *extent)
{
    bool full = o->as_expected && expected.all;
    int64_t at = 0;
    if (!o->as_expected) {
        floe_grid_cut(call.field.rank, o->shape, o->chunk, chunk, lo, extent);
        return false;
    }
    uint32_t index = (uint32_t)chunk; /* division of 32 bits is much cheaper */
    for (uint32_t i = call.field.rank; i-- > 0; index /= expected.along[i]) {
        lo[i] = index % expected.along[i] * o->chunk[i];
        extent[i] = floe_min64(o->chunk[i], o->shape[i] - lo[i]);
        full &= extent[i] == o->chunk[i];
        at += (int64_t)lo[i] * call.field.stride[i];
    }
    o->c.origin = (uint8_t *)call.field.data + at * (call.field.dtype == FLOE_F32 ? 4 : 8);
    return full;
}

/* A chunk of the grid, of which the header's words are there. One thread. */
FLOE_DEV void validate_chunk(const floe_lorenzo_decode_call &call, const floe_lorenzo_expected_grid &expected,
                             uint64_t chunk, const floe_dev_record &record, opening *o)
{
    uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    floe_dev_chunk *c = &o->c;
    if (!cut_chunk(call, expected, chunk, o, lo, extent)) {
        floe_view_of(call.field.rank, extent, false, &c->view);
        c->ncells = 1;
        for (uint32_t i = 0; i < call.field.rank; i++)
            c->ncells *= extent[i];
        if (!set_region(call, lo, extent, c)) {
            c->view.ntiles = 0;
            return;
        }
    }
    o->status = read_head(call, record.nbytes, extent, o->words, &o->head, c);
    if (o->status == FLOE_OK && c->view.ntiles > o->slots)
        o->status = FLOE_ERR_LIMIT;
    if (o->status != FLOE_OK)
        return;
    if (o->head.swap)
        set_region(call, lo, extent, c); /* by the other view */
    set_quantizer(call, chunk, &o->head, &c->quantizer);
    c->swap = o->head.swap;
    c->encoder = o->head.encoder;
    c->book_nwords = o->head.book_nwords;
    c->payload_nwords = o->head.payload_nwords;
    const uint64_t at = record.offset + FLOE_RECORD_HEAD_NBYTES;
    c->entries_at = at + o->head.entries_at;
    c->payload_at = at + o->head.payload_at;
    if (c->encoder == FLOE_LORENZO_HUFFMAN) {
        call.book_at[chunk] = at + o->head.book_at;
        call.book_nwords[chunk] = c->book_nwords;
    }
    o->bytes = call.stream + at;
    o->ntiles = c->view.ntiles;
    o->idle = false;
}

/* ---- what the block does together ---------------------------------------------------------------------------------- */

/* Values as ordered patterns, which must ascend. */
FLOE_DEV bool read_table(const floe_lorenzo_decode_call &call, uint64_t chunk, const opening *o)
{
    const uint32_t *words = (const uint32_t *)(o->bytes + o->head.table_at);
    uint64_t *to = call.tables + chunk * FLOE_TABLE_MAX;
    bool ok = true;
    for (uint32_t i = threadIdx.x; i < o->head.table_size; i += blockDim.x) {
        int64_t v[2] = {0, 0};
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t at = i == 0 ? 0 : i - 1 + k;
            v[k] = call.field.dtype == FLOE_F32 ? (int64_t)(int32_t)words[at]
                                                : (int64_t)floe_lorenzo_word64_of(words + 2 * (uint64_t)at);
        }
        to[i] = (uint64_t)v[1];
        ok &= i == 0 || v[0] < v[1];
    }
    return ok;
}

/* Entries and where their words are, for all slots of the chunk; run: this thread's first entries. False when the tiles do
 * not add up to the payload. */
FLOE_DEV bool place_tiles(const uint32_t *entries, uint32_t run[RUN], floe_lorenzo_slot *slots, opening *o)
{
    uint64_t total = 0;
    for (uint64_t first = 0; first < o->slots; first += (uint64_t)blockDim.x * RUN) {
        const uint64_t mine = first + (uint64_t)threadIdx.x * RUN;
        uint32_t sum = 0;
        uint64_t all;
#pragma unroll
        for (int i = 0; first && i < RUN; i++)
            run[i] = mine + i < o->ntiles ? entries[mine + i] : 0;
#pragma unroll
        for (int i = 0; i < RUN; i++)
            sum += run[i] & FLOE_TILE_NWORDS_MASK;
        uint64_t at =
            o->c.payload_at / 4 + total + floe_block_sum_before<uint64_t>(sum, o->sums, blockDim.x / FLOE_WARP, &all);
#pragma unroll
        for (int i = 0; i < RUN; i++) {
            const floe_lorenzo_slot slot = {at, run[i], o->c.encoder};
            if (mine + i < o->slots)
                slots[mine + i] = slot;
            at += run[i] & FLOE_TILE_NWORDS_MASK;
        }
        total += all;
    }
    return total == o->head.payload_nwords;
}

/* Slots without tiles. */
FLOE_DEV void place_none(uint64_t nslots, floe_lorenzo_slot *slots)
{
    const floe_lorenzo_slot none = {0, 0, 0};
    for (uint64_t i = threadIdx.x; i < nslots; i += blockDim.x)
        slots[i] = none;
}

/* ---- a chunk ------------------------------------------------------------------------------------------------------- */

/* First of all: nothing is known yet. The block synchronizes later. */
FLOE_DEV void open_begin(const floe_lorenzo_decode_call &call, const floe_lorenzo_expected_grid &expected,
                         uint64_t chunk, opening *o)
{
    static_assert(sizeof o->c % 4 == 0, "whole words");
    for (uint32_t k = threadIdx.x; k < sizeof o->c / 4; k += blockDim.x)
        ((uint32_t *)&o->c)[k] = ((const uint32_t *)&expected.full)[k];
    if (threadIdx.x != 0)
        return;
    o->idle = true;
    o->status = FLOE_OK;
    o->nchunks = o->slots = 0;
    call.book_at[chunk] = UINT64_MAX; /* whatever becomes of it: books are read next */
    call.book_bad[chunk] = 0;
}

FLOE_DEV const uint8_t *chunk_at(const floe_lorenzo_decode_call &call, const floe_dev_record &record)
{
    return call.stream + record.offset + FLOE_RECORD_HEAD_NBYTES;
}

/* Puts on its way what opening begins with, of a chunk whose record lies inside the stream. The block synchronizes before it
 * opens the chunk. */
FLOE_DEV void load_chunk(const floe_lorenzo_decode_call &call, const floe_dev_record &record, opening *o,
                         uint32_t run[RUN])
{
    load_entries(chunk_at(call, record), record.nbytes, run);
    load_head(chunk_at(call, record), record.nbytes, o);
}

/* Opens a chunk that load_chunk has begun with, in a grid that o has; the chunk's status. The whole block. */
FLOE_DEV uint32_t open_chunk(const floe_lorenzo_decode_call &call, const floe_lorenzo_expected_grid &expected,
                             uint64_t chunk, const floe_dev_record &record, opening *o, uint32_t run[RUN])
{
    settle_entries(chunk_at(call, record), record.nbytes, call.field.dtype, run);
    if (threadIdx.x == 0)
        validate_chunk(call, expected, chunk, record, o);
    __syncthreads();
    if (o->idle)
        return o->status;
    bool ok = true;
    if (o->head.table_size)
        ok = read_table(call, chunk, o);
    ok &= place_tiles((const uint32_t *)(o->bytes + o->head.entries_at), run, call.slots + chunk * o->slots, o);
    return __syncthreads_and(ok) ? (uint32_t)FLOE_OK : (uint32_t)FLOE_ERR_FORMAT;
}

/* Last of all: what later kernels find, no tiles where the chunk is not right. The whole block. */
FLOE_DEV void open_end(const floe_lorenzo_decode_call &call, uint64_t chunk, uint32_t status, opening *o)
{
    __syncthreads();
    if (chunk < o->nchunks && (status != FLOE_OK || o->idle))
        place_none(o->slots, call.slots + chunk * o->slots);
    if (chunk == 0) /* those that no chunk has */
        place_none(call.max_slots - o->nchunks * o->slots, call.slots + o->nchunks * o->slots);
    if (threadIdx.x == 0) {
        o->c.opened = status;
        if (status != FLOE_OK || o->idle)
            o->c.view.ntiles = 0;
        if (chunk == 0)
            write_grid(call, o);
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < sizeof o->c / 4; k += blockDim.x)
        ((uint32_t *)(call.chunks + chunk))[k] = ((const uint32_t *)&o->c)[k];
}

/* Threads that have a run each in a chunk of the average number of slots. */
inline uint32_t open_threads(const floe_lorenzo_decode_call *call)
{
    const uint64_t slots = call->max_slots / floe_max64(call->max_chunks, 1);
    uint32_t n = FLOE_WARP;
    while (n < MAX_THREADS && (uint64_t)n * RUN < slots)
        n *= 2;
    return n;
}

/* ---- of a whole stream ----------------------------------------------------------------------------------------------- */

/* Shape and full chunk of the stream, and the chunks that they make. One thread. */
FLOE_DEV void find_grid(const floe_open_job &job, const floe_peek &peek, opening *o)
{
    const floe_lorenzo_decode_call &call = job.call;
    const bool ok = floe_peek_layout(&peek, call.field.dtype, call.field.rank, job.shape, o->chunk);
    for (uint32_t i = 0; i < FLOE_MAX_RANK; i++)
        o->shape[i] = i < call.field.rank ? job.shape[i] : 0;
    if (ok)
        set_grid(call, job.expected, o);
}

/* Opens a chunk of the grid, which may turn out to have fewer; the grid is found out while the chunk is loaded. What came of
 * it. The whole block. */
FLOE_DEV uint32_t open_by_block(const floe_open_job &job, uint64_t nbytes, uint64_t chunk, floe_peek &peek, opening *o)
{
    const floe_lorenzo_decode_call &call = job.call;
    uint32_t status = FLOE_ERR_FORMAT, run[RUN];
    floe_dev_record record = {0, 0, 0};
    open_begin(call, job.expected, chunk, o);
    if (nbytes <= job.nbytes && floe_peek_load(call.stream, nbytes, job.expected.nchunks, chunk, &peek)) {
        const uint64_t nchunks = peek.footer[2];
        const bool is_there = chunk < nchunks && floe_peek_record(&peek, nbytes, nchunks, &record);
        if (is_there)
            load_chunk(call, record, o, run);
        if (threadIdx.x == 0)
            find_grid(job, peek, o);
        __syncthreads();
        if (o->nchunks > 0 && chunk >= o->nchunks)
            status = FLOE_OK;
        else if (o->nchunks > 0 && o->nchunks == nchunks && is_there)
            status = open_chunk(call, job.expected, chunk, record, o, run);
    }
    open_end(call, chunk, status, o);
    return status;
}

} // namespace

#endif
