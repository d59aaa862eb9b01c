/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens the chunks of a stream: nothing that they hold is trusted. What is refused, and why, is what zfp_chunk_decompress.c
 * refuses; a status is all that is reported.
 */
#include "base/grid_math.h"
#include "codec/zfp/gpu/zfp_grid_dev.cuh"
#include "codec/zfp/gpu/zfp_kernels.h"
#include "stage/index/index_dev.cuh"

namespace
{

enum { THREADS = FLOE_CELLS_THREADS, WARPS = FLOE_CELLS_WARPS, PLACE_BLOCKS = 64 };

/* Of a block that opens a chunk. */
struct open_shared {
    floe_cells_shared cells;
    uint32_t bad;
};

/* ---- what the chunk is ------------------------------------------------------------------------------------------------ */

/* One thread: the chunk's shape, and the part of it that is wanted. */
FLOE_DEV void describe(const floe_zfp_grid_decode &call, uint64_t number, floe_zfp_dev_chunk *c)
{
    const floe_dev_field &f = call.field;
    uint64_t lo[FLOE_MAX_RANK];
    int64_t at = 0;
    floe_grid_cut(f.rank, call.layout, call.layout + FLOE_MAX_RANK, number, lo, c->array.shape);
    bool wanted = true;
    for (uint32_t i = 0; i < f.rank; i++) {
        const uint64_t extent = c->array.shape[i];
        const uint64_t from = floe_max64(lo[i], call.lo[i]), to = floe_min64(lo[i] + extent, call.hi[i]);
        wanted &= from < to;
        c->array.lo[i] = from - lo[i];
        c->array.hi[i] = to - lo[i];
        c->array.boxed |= from > lo[i] || to < lo[i] + extent;
        at += (int64_t)(from - call.lo[i]) * f.stride[i];
    }
    c->array.data = (uint8_t *)f.data + at * (int64_t)floe_cells_size(f.dtype);
    floe_zfp_begin_chunk(c, f, call.cells.chunks + number);
    c->cells->wanted = wanted;
}

FLOE_DEV uint64_t full_cells(const floe_zfp_grid_decode &call)
{
    uint64_t ncells = 1;
    for (uint32_t i = 0; i < call.field.rank; i++)
        ncells *= call.layout[FLOE_MAX_RANK + i];
    return ncells;
}

/* One thread. False: the header cannot be. */
FLOE_DEV bool read_header(const floe_zfp_grid_decode &call, const floe_dev_record &record, floe_zfp_dev_chunk *c)
{
    floe_cells_chunk &cells = *c->cells;
    const uint64_t *words = (const uint64_t *)(call.stream + c->payload_at);
    if (record.nbytes < FLOE_ZFP_CHUNK_HEADER_NBYTES ||
        record.nbytes > floe_zfp_raw_nbytes(full_cells(call), call.field.dtype) ||
        floe_zfp_chunk_of_words(words, record.nbytes, call.field.dtype, cells.ncells, c->nblocks, &c->parts) !=
            FLOE_ZFP_CHUNK_FINE)
        return false;
    cells.all = c->parts.raw;
    cells.present = c->parts.raw ? 0 : c->parts.sets;
    memcpy(cells.palette, c->parts.palette, sizeof cells.palette);
    cells.literals_at = c->payload_at + FLOE_ZFP_CHUNK_HEADER_NBYTES;
    return true;
}

/* All threads: where all parts are. False: they are not. */
FLOE_DEV bool open_parts(const floe_zfp_grid_decode &call, uint64_t number, floe_zfp_dev_chunk *c, uint64_t nbytes,
                         open_shared *s)
{
    floe_cells_chunk *cells = c->cells;
    const uint64_t sets_at = FLOE_ZFP_CHUNK_HEADER_NBYTES + c->parts.index_nbytes;
    if (!floe_cells_open(cells, call.cells.spans + number * call.room.nspans, call.stream + c->payload_at + sets_at,
                         nbytes - sets_at, &s->cells))
        return false;
    if (threadIdx.x == 0) {
        floe_zfp_chunk_place(&c->parts, cells->sets_nbytes,
                             floe_cells_literals_nbytes(cells->nliterals, call.field.dtype));
        cells->sets_at = c->payload_at + c->parts.sets_at;
        cells->literals_at = c->payload_at + c->parts.literals_at;
    }
    __syncthreads();
    return c->parts.end == nbytes;
}

/* ---- the side index ---------------------------------------------------------------------------------------------------- */

/* One thread: its header. False: it is none, or that of another stream. */
FLOE_DEV bool open_index(floe_zfp_dev_chunk *c, const uint8_t *payload)
{
    const uint8_t *from = payload + c->parts.index_at;
    const uint64_t capacity = c->parts.index_nbytes;
    if (capacity < FLOE_INDEX_HEADER_NBYTES)
        return false;
    floe_index_spec spec;
    memset(&spec, 0, sizeof spec);
    const uint32_t form = floe_index_word(from, 0) & 255;
    if (form > FLOE_INDEX_PACKED)
        return false;
    spec.form = (floe_index_form)form;
    spec.chunk = floe_index_word(from, 2);
    spec.partition = floe_index_word(from, 3);
    if (!floe_index_spec_is_sane(&spec) || (!floe_index_has_partitions(spec.form) && spec.partition != 0))
        return false;
    floe_side_index x = floe_index_plan(&spec, c->nblocks, 0);
    floe_index_header_read(from, &x);
    c->index = x;
    c->each = spec.chunk;
    c->nplaces = x.nchunks;
    return floe_index_field(from, 8 * 16, 64) == c->nblocks && floe_index_field(from, 8 * 24, 64) == 0 &&
           x.end == c->parts.stream_nbits && x.end >> FLOE_INDEX_PLACE_BITS == 0 &&
           floe_index_word(from, 1) >> 16 == 0 && floe_index_widths_are_sane(&x) && floe_index_body_is_sane(&x) &&
           x.body_nwords <= (capacity - FLOE_INDEX_HEADER_NBYTES) / 4;
}

/* ---- a chunk --------------------------------------------------------------------------------------------------------- */

/* All threads. Returns a floe_status, the same in all. */
FLOE_DEV uint32_t open_chunk(const floe_zfp_grid_decode &call, uint64_t number, floe_zfp_dev_chunk *c, open_shared *s)
{
    const floe_dev_record record = call.records[number];
    const bool fits = c->nblocks <= call.room.nblocks && c->cells->nspans <= call.room.nspans;
    if (!fits)
        return FLOE_ERR_LIMIT;
    if (!c->cells->wanted)
        return FLOE_OK;
    if (threadIdx.x == 0) {
        c->payload_at = record.offset + FLOE_RECORD_HEAD_NBYTES;
        s->bad = !read_header(call, record, c);
    }
    __syncthreads();
    if (s->bad)
        return FLOE_ERR_FORMAT;
    if (c->parts.raw)
        return FLOE_OK;
    if (!open_parts(call, number, c, record.nbytes, s))
        return FLOE_ERR_FORMAT;
    if (threadIdx.x == 0) {
        c->each = 1; /* at a fixed rate */
        c->nplaces = c->nblocks;
        s->bad = floe_zfp_chunk_has_index(&c->parts.params) && !open_index(c, call.stream + c->payload_at);
    }
    __syncthreads();
    return s->bad ? FLOE_ERR_FORMAT : FLOE_OK;
}

/* Blocks take chunks in turn. */
__global__ void __launch_bounds__(THREADS) zfp_grid_open_kernel(const __grid_constant__ floe_zfp_grid_decode call)
{
    __shared__ open_shared s;
    const uint64_t nchunks = floe_min64(*call.nrecords, call.max_chunks);
    for (uint64_t number = blockIdx.x; number < nchunks; number += gridDim.x) {
        floe_zfp_dev_chunk *c = call.chunks + number;
        if (threadIdx.x == 0) {
            memset(c, 0, sizeof *c);
            describe(call, number, c);
        }
        __syncthreads();
        const uint32_t status = open_chunk(call, number, c, &s);
        __syncthreads();
        if (threadIdx.x == 0) {
            c->opened = status;
            if (status != FLOE_OK)
                *call.status = status;
        }
    }
}

/* The places of a chunk's blocks from its side index: warps take partitions in turn. blockIdx.y: chunks in turn. */
__global__ void __launch_bounds__(THREADS) zfp_grid_places_kernel(const __grid_constant__ floe_zfp_grid_decode call)
{
    const uint64_t nchunks = floe_min64(*call.nrecords, call.max_chunks);
    const uint64_t warp = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) / FLOE_WARP,
                   nwarps = (uint64_t)gridDim.x * WARPS;
    for (uint64_t number = blockIdx.y; number < nchunks; number += gridDim.y) {
        const floe_zfp_dev_chunk *c = call.chunks + number;
        if (c->opened != FLOE_OK || !c->cells->wanted || c->parts.raw || !floe_zfp_chunk_has_index(&c->parts.params))
            continue;
        uint64_t *places = call.places + number * (call.room.nblocks + 1);
        const floe_side_index x = c->index;
        for (uint64_t p = warp; p < x.npartitions; p += nwarps) {
            floe_index_part part;
            uint64_t end = 0, place, length;
            bool good = floe_index_warp_begin(&x, p, &part, &end);
            uint64_t sum = good ? part.place : 0;
            for (uint64_t at = 0; good && at < part.count; at += FLOE_WARP) {
                good = floe_index_warp_chunks(&x, &part, end, at, &sum, &place, &length);
                if (at + floe_lane() < part.count)
                    places[part.first + at + floe_lane()] = place;
            }
            if (!good && floe_lane() == 0)
                *call.status = FLOE_ERR_FORMAT;
        }
        if (warp == 0 && floe_lane() == 0)
            places[x.nchunks] = x.end;
    }
}

} // namespace

int floe_zfp_grid_open_cuda(const floe_zfp_grid_decode *call, void *stream)
{
    FLOE_LAUNCH(zfp_grid_open_kernel, floe_zfp_blocks_for(call->max_chunks), THREADS, 0, (cudaStream_t)stream, *call);
    const cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess)
        return (int)e;
    const uint64_t each = floe_ceil_div(floe_ceil_div(call->room.nindex, FLOE_INDEX_PARTITION), WARPS);
    const dim3 blocks(floe_zfp_blocks_for(floe_min64(each, PLACE_BLOCKS)),
                      (uint32_t)floe_min64(floe_max64(call->max_chunks, 1), 4096));
    FLOE_LAUNCH(zfp_grid_places_kernel, blocks, THREADS, 0, (cudaStream_t)stream, *call);
    return (int)cudaGetLastError();
}
