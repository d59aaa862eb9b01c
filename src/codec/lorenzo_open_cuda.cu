/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening the chunks of a stream: headers checked, tables of values and codebooks read, tiles placed. A block owns a chunk:
 * one thread judges what is one of a kind while the tiles' entries are on their way, then all of them add up their words.
 *
 * Chunks that the box does not touch are not looked at, as on the CPU: they have no tiles.
 */
#include "backend/device.cuh"
#include "base/grid_math.h"
#include "codec/lorenzo_begin_math.h"
#include "codec/lorenzo_device.h"

namespace
{

enum {
    MAX_THREADS = 1024,
    RUN = 4, /* entries of a thread at a time: with 1024 threads, all of a chunk of 128 MiB of f32 */
    LAYOUT_WORDS = 2 * FLOE_MAX_RANK,
    MAX_SLOTS = 1 << 30
};

/* What a block knows of its chunk; in shared memory. */
struct opening {
    uint64_t layout[LAYOUT_WORDS]; /* as the call has it */
    uint32_t words[FLOE_LORENZO_HEADER_WORDS];
    uint32_t failed;  /* the call, before */
    floe_dev_chunk c; /* 0 at first */
    floe_lorenzo_chunk head;
    uint64_t ntiles, slots;
    const uint8_t *bytes; /* of the chunk */
    uint32_t status;      /* a floe_status */
    uint32_t idle;        /* nothing of this chunk is wanted */
    uint64_t sums[MAX_THREADS / FLOE_WARP];
};

FLOE_DEV void fail(uint32_t *status, uint32_t how) { atomicCAS(status, (uint32_t)FLOE_OK, how); }

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

/* The header's words; 0 where there is no header. By a warp. */
FLOE_DEV void load_head(const uint8_t *chunk, uint64_t nbytes, opening *o)
{
    const uint32_t *from = (const uint32_t *)chunk;
    const uint32_t i = threadIdx.x;
    if (i < FLOE_LORENZO_HEADER_WORDS)
        o->words[i] = nbytes < FLOE_LORENZO_HEADER_NBYTES ? 0 : from[i];
    __syncwarp();
}

/* The first entries of this thread, before anybody knows whether the header is right: those that it says are there, inside
 * the chunk. */
FLOE_DEV void load_entries(const uint8_t *chunk, uint64_t nbytes, floe_dtype dtype, uint32_t n[RUN])
{
    const uint32_t *words = (const uint32_t *)chunk;
    const uint64_t mine = (uint64_t)threadIdx.x * RUN;
    uint64_t at = 0, end = 0; /* words */
    if (nbytes >= FLOE_LORENZO_HEADER_NBYTES) {
        at = FLOE_LORENZO_HEADER_WORDS + (uint64_t)words[1] * (dtype == FLOE_F32 ? 1 : 2) + words[2];
        end = floe_min64(floe_lorenzo_word64_of(words + 12), nbytes / 4);
    }
#pragma unroll
    for (int i = 0; i < RUN; i++)
        n[i] = mine + i < end && at + mine + i < nbytes / 4 ? words[at + mine + i] & FLOE_TILE_NWORDS_MASK : 0;
}

/* As floe_lorenzo_chunk_read. */
FLOE_DEV floe_status read_head(const floe_lorenzo_decode_call &call, uint64_t nbytes, const uint64_t *extent,
                               const uint32_t words[FLOE_LORENZO_HEADER_WORDS], floe_lorenzo_chunk *head,
                               floe_dev_chunk *c)
{
    const floe_dtype dtype = call.field.dtype;
    if (nbytes < FLOE_LORENZO_HEADER_NBYTES || !floe_lorenzo_chunk_of_words(words, dtype, head) ||
        !floe_lorenzo_parts_are_sane(head))
        return FLOE_ERR_FORMAT;
    if (head->swap && !floe_view_of(call.field.rank, extent, true, &c->view))
        return FLOE_ERR_FORMAT;
    if (head->ntiles != c->view.ntiles || !floe_lorenzo_chunk_offsets(head, dtype) || head->end != nbytes)
        return FLOE_ERR_FORMAT;
    if ((head->encoder == FLOE_LORENZO_HUFFMAN && !call.decoders) || (head->table_size && !call.tables))
        return FLOE_ERR_LIMIT;
    return FLOE_OK;
}

FLOE_DEV const uint64_t *grid_shape(const opening *o) { return o->layout; }
FLOE_DEV const uint64_t *grid_chunk(const opening *o) { return o->layout + FLOE_MAX_RANK; }

FLOE_DEV void write_grid(const floe_lorenzo_decode_call &call, const opening *o, uint64_t nchunks, uint64_t slots)
{
    call.grid->nchunks = nchunks;
    call.grid->slots = (uint32_t)slots;
    for (uint32_t i = 0; i < FLOE_MAX_RANK; i++) {
        call.grid->shape[i] = i < call.field.rank ? grid_shape(o)[i] : 0;
        call.grid->chunk[i] = i < call.field.rank ? grid_chunk(o)[i] : 0;
    }
}

/* The grid's chunks; 0: more than there is room for. */
FLOE_DEV uint64_t count_chunks(const floe_lorenzo_decode_call &call, const opening *o)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < call.field.rank; i++) {
        const uint64_t along = grid_chunk(o)[i] ? floe_ceil_div(grid_shape(o)[i], grid_chunk(o)[i]) : 0;
        if (along == 0 || along > call.max_chunks)
            return 0;
        n *= along; /* each factor is at most max_chunks, and so is the product before */
        if (n > call.max_chunks)
            return 0;
    }
    return n;
}

/* Slots of a chunk, as this call numbers them: all there are, shared out among the chunks. */
FLOE_DEV uint64_t count_slots(const floe_lorenzo_decode_call &call, uint64_t nchunks)
{
    return floe_min64(call.max_slots / nchunks, MAX_SLOTS) / FLOE_BATCH_TILES * FLOE_BATCH_TILES;
}

/* A chunk of the grid, of which the header's words are there. One thread. */
FLOE_DEV void open_chunk(const floe_lorenzo_decode_call &call, uint64_t chunk, uint64_t nchunks,
                         const floe_dev_record &record, opening *o)
{
    uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    floe_dev_chunk *c = &o->c;
    o->slots = count_slots(call, nchunks);
    if (chunk == 0)
        write_grid(call, o, nchunks, o->slots);
    floe_grid_cut(call.field.rank, grid_shape(o), grid_chunk(o), chunk, lo, extent);
    floe_view_of(call.field.rank, extent, false, &c->view);
    if (!set_region(call, lo, extent, c)) {
        call.chunks[chunk].view.ntiles = 0;
        return;
    }
    o->status = read_head(call, record.nbytes, extent, o->words, &o->head, c);
    if (o->status == FLOE_OK && c->view.ntiles > o->slots)
        o->status = FLOE_ERR_LIMIT;
    if (o->status != FLOE_OK)
        return;
    if (o->head.swap)
        set_region(call, lo, extent, c); /* by the other view */
    set_quantizer(call, chunk, &o->head, &c->quantizer);
    c->ncells = 1;
    for (int a = 0; a < FLOE_VIEW_AXES; a++)
        c->ncells *= c->view.extent[a];
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
    o->idle = 0;
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

/* Sum over the threads before this one; *all: over all of them. The whole block. */
FLOE_DEV uint64_t sum_before(uint64_t v, uint64_t *sums, uint64_t *all)
{
    const uint32_t lane = floe_lane(), warp = threadIdx.x / FLOE_WARP, nwarps = blockDim.x / FLOE_WARP;
    uint64_t sum = v;
#pragma unroll
    for (int d = 1; d < FLOE_WARP; d *= 2) {
        const uint64_t up = __shfl_up_sync(FLOE_ALL_LANES, (unsigned long long)sum, d);
        sum += lane >= (uint32_t)d ? up : 0;
    }
    if (lane == FLOE_WARP - 1)
        sums[warp] = sum;
    __syncthreads();
    uint64_t below = lane < warp ? sums[lane] : 0, total = lane < nwarps ? sums[lane] : 0;
#pragma unroll
    for (int d = FLOE_WARP / 2; d > 0; d /= 2) {
        below += __shfl_xor_sync(FLOE_ALL_LANES, (unsigned long long)below, d);
        total += __shfl_xor_sync(FLOE_ALL_LANES, (unsigned long long)total, d);
    }
    __syncthreads();
    *all = total;
    return below + sum - v;
}

/* Where each tile's words are; n: this thread's first entries. False when the tiles do not add up to the payload. */
FLOE_DEV bool place_tiles(const uint32_t *entries, uint32_t n[RUN], uint64_t *places, opening *o)
{
    uint64_t total = 0;
    for (uint64_t first = 0; first < o->ntiles; first += (uint64_t)blockDim.x * RUN) {
        const uint64_t mine = first + (uint64_t)threadIdx.x * RUN;
        uint32_t sum = 0;
        uint64_t all;
#pragma unroll
        for (int i = 0; first && i < RUN; i++)
            n[i] = mine + i < o->ntiles ? entries[mine + i] & FLOE_TILE_NWORDS_MASK : 0;
#pragma unroll
        for (int i = 0; i < RUN; i++)
            sum += n[i];
        uint64_t at = total + sum_before(sum, o->sums, &all);
#pragma unroll
        for (int i = 0; i < RUN; i++) {
            if (mine + i < o->ntiles)
                places[mine + i] = at;
            at += n[i];
        }
        total += all;
    }
    return total == o->head.payload_nwords;
}

/* What decides where the header is, all at once. The whole block. */
FLOE_DEV void begin_opening(const floe_lorenzo_decode_call &call, opening *o)
{
    static_assert(sizeof o->c % 4 == 0, "whole words");
    const uint32_t i = threadIdx.x;
    if (i < LAYOUT_WORDS)
        o->layout[i] = i % FLOE_MAX_RANK < call.field.rank ? call.layout[i] : 0;
    if (i == 0) {
        o->failed = *(volatile uint32_t *)call.status;
        o->idle = 1;
        o->status = FLOE_OK;
        call.book_at[blockIdx.x] = UINT64_MAX; /* whatever becomes of it: books are read next */
        call.book_bad[blockIdx.x] = 0;
    }
    for (uint32_t k = i; k < sizeof o->c / 4; k += blockDim.x)
        ((uint32_t *)&o->c)[k] = 0;
    __syncthreads();
}

/* A block owns a chunk. Blocks are whole warps. */
__global__
__launch_bounds__(MAX_THREADS) void lorenzo_open_kernel(const __grid_constant__ floe_lorenzo_decode_call call)
{
    __shared__ opening o;
    const uint64_t chunk = blockIdx.x;
    const floe_dev_record record = {call.records[chunk].offset, call.records[chunk].nbytes,
                                    0}; /* if it is of the grid */
    begin_opening(call, &o);
    const uint64_t nchunks = count_chunks(call, &o);
    if (o.failed || chunk >= nchunks) {
        if (!o.failed && nchunks == 0 && threadIdx.x == 0)
            fail(call.status, FLOE_ERR_LIMIT);
        return;
    }
    const uint8_t *bytes = call.stream + record.offset + FLOE_RECORD_HEAD_NBYTES;
    uint32_t n[RUN];
    load_entries(bytes, record.nbytes, call.field.dtype, n);
    if (threadIdx.x < FLOE_WARP)
        load_head(bytes, record.nbytes, &o);
    if (threadIdx.x == 0) {
        open_chunk(call, chunk, nchunks, record, &o);
        if (o.status != FLOE_OK)
            fail(call.status, o.status);
    }
    __syncthreads();
    if (o.idle)
        return;
    for (uint32_t k = threadIdx.x; k < sizeof o.c / 4; k += blockDim.x)
        ((uint32_t *)(call.chunks + chunk))[k] = ((const uint32_t *)&o.c)[k];
    bool ok = true;
    if (o.head.table_size)
        ok = read_table(call, chunk, &o);
    ok &= place_tiles((const uint32_t *)(o.bytes + o.head.entries_at), n, call.places + chunk * o.slots, &o);
    if (!ok)
        fail(call.status, FLOE_ERR_FORMAT);
}

/* ---- launch -------------------------------------------------------------------------------------------------------- */

/* Threads that have a run each in a chunk of the average number of slots. */
uint32_t threads_for(const floe_lorenzo_decode_call *call)
{
    const uint64_t slots = call->max_slots / floe_max64(call->max_chunks, 1);
    uint32_t n = FLOE_WARP;
    while (n < MAX_THREADS && (uint64_t)n * RUN < slots)
        n *= 2;
    return n;
}

} // namespace

int floe_lorenzo_open_cuda(const floe_lorenzo_decode_call *call, void *stream)
{
    cudaStream_t on = (cudaStream_t)stream;
    if (call->max_chunks == 0)
        return cudaSuccess;
    FLOE_LAUNCH(lorenzo_open_kernel, (uint32_t)call->max_chunks, threads_for(call), 0, on, *call);
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess || !call->decoders)
        return (int)e;
    return floe_huffman_books_read_cuda(call->stream, call->book_at, call->book_nwords, (uint32_t)call->max_chunks,
                                        call->decoders, call->book_bad, stream);
}
