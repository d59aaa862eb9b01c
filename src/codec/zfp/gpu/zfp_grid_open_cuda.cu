/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens the chunks of a stream: nothing that they say is believed. What is refused, and why, is what zfp_chunk_decompress.c
 * refuses; a status is all that is told.
 */
#include "base/grid_math.h"
#include "codec/zfp/gpu/zfp_grid_dev.cuh"
#include "codec/zfp/gpu/zfp_kernels.h"
#include "stage/index/index_dev.cuh"

namespace
{

enum { THREADS = FLOE_ZFP_SPAN_THREADS, WARPS = THREADS / FLOE_WARP, PLACE_BLOCKS = 64 };

/* Of a block that opens a chunk. */
struct open_shared {
    uint64_t sums[WARPS];
    uint64_t at; /* of the next set, from the start of the payload */
    uint32_t bad;
};

FLOE_DEV uint32_t size_of(const floe_zfp_grid_decode &call) { return floe_dtype_is_narrow(call.field.dtype) ? 4 : 8; }

/* ---- what the chunk is ------------------------------------------------------------------------------------------------ */

/* One thread: the chunk's shape, and the part of it that is wanted. */
FLOE_DEV void describe(const floe_zfp_grid_decode &call, uint64_t number, floe_zfp_dev_chunk *c)
{
    const floe_dev_field &f = call.field;
    uint64_t lo[FLOE_MAX_RANK];
    int64_t at = 0;
    floe_grid_cut(f.rank, call.layout, call.layout + FLOE_MAX_RANK, number, lo, c->array.shape);
    floe_zfp_count(f, c);
    c->wanted = true;
    for (uint32_t i = 0; i < f.rank; i++) {
        const uint64_t extent = c->array.shape[i];
        const uint64_t from = floe_max64(lo[i], call.lo[i]), to = floe_min64(lo[i] + extent, call.hi[i]);
        c->wanted &= from < to;
        c->array.lo[i] = from - lo[i];
        c->array.hi[i] = to - lo[i];
        c->array.boxed |= from > lo[i] || to < lo[i] + extent;
        at += (int64_t)(from - call.lo[i]) * f.stride[i];
    }
    c->array.data = (uint8_t *)f.data + at * (int64_t)size_of(call);
}

FLOE_DEV uint64_t full_cells(const floe_zfp_grid_decode &call)
{
    uint64_t ncells = 1;
    for (uint32_t i = 0; i < call.field.rank; i++)
        ncells *= call.layout[FLOE_MAX_RANK + i];
    return ncells;
}

/* One thread. False: the header cannot be. */
FLOE_DEV bool read_header(const uint64_t *from, uint64_t nbytes, floe_zfp_dev_chunk *c, uint32_t size)
{
    floe_zfp_chunk &p = c->parts;
    if (nbytes < FLOE_ZFP_CHUNK_HEADER_NBYTES)
        return false;
    p.params.minbits = (uint32_t)from[0];
    p.params.maxbits = (uint32_t)(from[0] >> 32);
    p.params.maxprec = (uint32_t)from[1];
    p.params.minexp = (int32_t)(uint32_t)(from[1] >> 32);
    p.stream_nbits = from[2];
    p.index_nbytes = from[3];
    p.sets = (uint32_t)from[4];
    const uint32_t flags = (uint32_t)(from[4] >> 32);
    for (uint32_t i = 0; i < FLOE_ZFP_PALETTE; i++)
        p.palette[i] = from[5 + i];
    p.raw = flags == FLOE_ZFP_CHUNK_RAW;
    if (flags > FLOE_ZFP_CHUNK_RAW || p.sets >= 1u << FLOE_ZFP_SETS)
        return false;
    if (p.raw)
        return nbytes == floe_zfp_raw_nbytes(c->ncells, size);
    return floe_zfp_params_fault_of(&p.params, c->array.type) == FLOE_ZFP_PARAMS_FINE && p.stream_nbits <= 8 * nbytes &&
           p.stream_nbits >= c->nblocks && p.index_nbytes <= nbytes && p.index_nbytes % 8 == 0 &&
           p.index_nbytes <= nbytes - FLOE_ZFP_CHUNK_HEADER_NBYTES;
}

/* ---- sets -------------------------------------------------------------------------------------------------------------- */

/* All threads: words of a set in each span. False: it does not fit, or names what is not there. */
FLOE_DEV bool open_set(const floe_zfp_dev_chunk *c, floe_zfp_dev_span *spans, const uint8_t *payload, uint64_t nbytes,
                       uint32_t set, open_shared *s)
{
    const uint64_t at = s->at, ntops = floe_ceil_div(c->nwords, 64), over = c->nwords % 64, cells = c->ncells % 64;
    const uint64_t *tops = (const uint64_t *)(payload + at), *words = tops + ntops;
    uint64_t nwords = 0, all;
    if (8 * ntops > nbytes - at || (over && tops[ntops - 1] >> over))
        return false;
    for (uint64_t first = 0; first < c->nspans; first += THREADS) {
        const uint64_t i = first + threadIdx.x, end = floe_min64((i + 1) * FLOE_ZFP_SPAN_TOPS, ntops);
        uint32_t here = 0;
        for (uint64_t t = i * FLOE_ZFP_SPAN_TOPS; t < end; t++)
            here += (uint32_t)__popcll(tops[t]);
        const uint64_t front = floe_zfp_sum_before(here, s->sums, &all);
        if (i < c->nspans) {
            spans[i].words_at[set] = nwords + front;
            spans[i].nwords[set] = here;
        }
        nwords += all;
    }
    if (8 * nwords > nbytes - at - 8 * ntops)
        return false;
    const bool last = tops[ntops - 1] >> (c->nwords - 1) % 64 & 1;
    __syncthreads(); /* all have read where the set is */
    if (threadIdx.x == 0)
        s->at = at + 8 * (ntops + nwords);
    __syncthreads();
    return !(last && cells && words[nwords - 1] >> cells);
}

/* All threads: how many literals there are in front of each span. Returns how many in all. */
FLOE_DEV uint64_t count_literals(const floe_zfp_dev_chunk *c, floe_zfp_dev_span *spans, const uint8_t *payload,
                                 open_shared *s)
{
    const uint64_t *words = (const uint64_t *)(payload + c->set_at[FLOE_ZFP_LITERALS]) + floe_ceil_div(c->nwords, 64);
    uint64_t nliterals = 0, all;
    for (uint64_t i = threadIdx.x / FLOE_WARP; i < c->nspans; i += WARPS) {
        uint32_t here = 0;
        for (uint32_t k = floe_lane(); k < spans[i].nwords[FLOE_ZFP_LITERALS]; k += FLOE_WARP)
            here += (uint32_t)__popcll(words[spans[i].words_at[FLOE_ZFP_LITERALS] + k]);
        here = floe_warp_sum(here);
        if (floe_lane() == 0)
            spans[i].ncells[FLOE_ZFP_LITERALS] = here;
    }
    __syncthreads();
    for (uint64_t first = 0; first < c->nspans; first += THREADS) {
        const uint64_t i = first + threadIdx.x;
        const uint64_t front =
            floe_zfp_sum_before(i < c->nspans ? spans[i].ncells[FLOE_ZFP_LITERALS] : 0, s->sums, &all);
        if (i < c->nspans)
            spans[i].literals_at = nliterals + front;
        nliterals += all;
    }
    return nliterals;
}

/* All threads: where all parts are. False: they are not. */
FLOE_DEV bool open_parts(const floe_zfp_grid_decode &call, floe_zfp_dev_chunk *c, floe_zfp_dev_span *spans,
                         const uint8_t *payload, uint64_t nbytes, open_shared *s)
{
    uint64_t nliterals = 0;
    const uint64_t sets_at = FLOE_ZFP_CHUNK_HEADER_NBYTES + c->parts.index_nbytes;
    if (threadIdx.x == 0)
        s->at = sets_at;
    __syncthreads();
    for (uint32_t set = 0; set < FLOE_ZFP_SETS; set++) {
        if (!(c->parts.sets >> set & 1))
            continue;
        if (threadIdx.x == 0)
            c->set_at[set] = s->at;
        __syncthreads();
        if (!open_set(c, spans, payload, nbytes, set, s))
            return false;
    }
    if (c->parts.sets >> FLOE_ZFP_LITERALS & 1)
        nliterals = count_literals(c, spans, payload, s);
    __syncthreads();
    if (threadIdx.x == 0)
        floe_zfp_chunk_place(&c->parts, s->at - sets_at, nliterals, size_of(call));
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

/* One thread: fixed rate needs none. */
FLOE_DEV bool open_rate(floe_zfp_dev_chunk *c)
{
    const uint64_t rate = c->parts.params.maxbits;
    c->each = 1;
    c->nplaces = c->nblocks;
    return c->parts.index_nbytes == 0 && c->parts.stream_nbits / rate == c->nblocks &&
           c->parts.stream_nbits % rate == 0;
}

/* ---- a chunk --------------------------------------------------------------------------------------------------------- */

/* All threads. Returns a floe_status, the same in all. */
FLOE_DEV uint32_t open_chunk(const floe_zfp_grid_decode &call, uint64_t number, floe_zfp_dev_chunk *c, open_shared *s)
{
    const floe_dev_record record = call.records[number];
    const uint8_t *payload = call.stream + record.offset + FLOE_RECORD_HEAD_NBYTES;
    const bool fits = c->nblocks <= call.room.nblocks && c->nspans <= call.room.nspans;
    if (!fits)
        return FLOE_ERR_LIMIT;
    if (!c->wanted)
        return FLOE_OK;
    if (threadIdx.x == 0) {
        c->payload_at = record.offset + FLOE_RECORD_HEAD_NBYTES;
        s->bad = record.nbytes > floe_zfp_raw_nbytes(full_cells(call), size_of(call)) ||
                 !read_header((const uint64_t *)payload, record.nbytes, c, size_of(call));
    }
    __syncthreads();
    if (s->bad)
        return FLOE_ERR_FORMAT;
    if (c->parts.raw)
        return FLOE_OK;
    floe_zfp_dev_span *spans = call.spans + number * call.room.nspans;
    if (!open_parts(call, c, spans, payload, record.nbytes, s))
        return FLOE_ERR_FORMAT;
    if (threadIdx.x == 0)
        s->bad = !(floe_zfp_chunk_has_index(&c->parts.params) ? open_index(c, payload) : open_rate(c));
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
        if (c->opened != FLOE_OK || !c->wanted || c->parts.raw || !floe_zfp_chunk_has_index(&c->parts.params))
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
