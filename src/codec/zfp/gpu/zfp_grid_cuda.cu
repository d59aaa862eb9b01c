/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec zfp on a GPU: how large the parts of chunks become, and where they go. */
#include "codec/zfp/gpu/zfp_grid_dev.cuh"
#include "codec/zfp/gpu/zfp_kernels.h"

#include "backend/device.cuh"
#include "stage/index/index_prim_math.h"

namespace
{

enum {
    THREADS = FLOE_CELLS_THREADS, /* as floe_cells_plan has it */
    PIECE_NBYTES = 1 << 16,       /* of a stream that is copied */
    PIECE_SLOTS = 1 << 12,        /* chunks of a side index whose words are made at once */
    SUM_LANES = FLOE_ZFP_ERROR_LANES
};

/* ---- when all tiles have left ---------------------------------------------------------------------------------------- */

/* A warp: what partition p of a chunk's side index needs. `end`: bits of the stream. */
FLOE_DEV void find_need(const floe_zfp_grid_encode &call, const floe_zfp_dev_chunk *c, uint64_t number, uint64_t p,
                        uint64_t end)
{
    const floe_index_spec spec = floe_zfp_chunk_index_spec(call.field.rank);
    const uint64_t *offsets = floe_zfp_offsets_of(call, number), i = p * spec.partition + floe_lane();
    const uint64_t nindex = floe_ceil_div(c->nblocks, spec.chunk),
                   count = floe_min64(spec.partition, nindex - p * spec.partition);
    const bool mine = floe_lane() < count;
    const uint32_t length = mine ? (uint32_t)((i + 1 < nindex ? offsets[i + 1] : end) - offsets[i]) : 0;
    const uint32_t most = __reduce_max_sync(FLOE_ALL_LANES, length);
    const uint32_t least = __reduce_min_sync(FLOE_ALL_LANES, mine ? length : UINT32_MAX);
    const uint32_t width = floe_bit_length(most - least);
    if (floe_lane() > 0)
        return;
    floe_zfp_parts_of(call, number, FLOE_ZFP_PART_LEAST)[p] = least;
    floe_zfp_parts_of(call, number, FLOE_ZFP_PART_WIDTH)[p] = width;
    floe_zfp_parts_of(call, number, FLOE_ZFP_PART_NWORDS)[p] = floe_index_packed_nwords(count, width);
}

/* A thread of chunk c: words that tiles share; of the last tile: the stream's end. */
FLOE_DEV void finish_tile(const floe_zfp_grid_encode &call, floe_zfp_dev_chunk *c, uint64_t number, uint32_t attempt,
                          uint64_t tile, uint64_t ntiles)
{
    const floe_zfp_tiles tiles = floe_zfp_tiles_of(call, number, attempt);
    const uint64_t begin = floe_zfp_finish_tile(tiles, tile);
    if (tile + 1 < ntiles)
        return;
    const floe_index_spec spec = floe_zfp_chunk_index_spec(call.field.rank);
    const uint64_t end = floe_zfp_finish_stream(tiles, tile, begin);
    c->parts.stream_nbits = end;
    floe_zfp_offsets_of(call, number)[floe_ceil_div(c->nblocks, spec.chunk)] = end;
}

/* Warps take partitions in turn, threads take tiles. blockIdx.y: chunks in turn. */
__global__ void __launch_bounds__(THREADS)
    zfp_grid_finish_kernel(const __grid_constant__ floe_zfp_grid_encode call, uint32_t attempt)
{
    if (!floe_zfp_goes_on(call, attempt))
        return;
    const uint64_t tile_blocks = floe_zfp_tile_blocks(call.field.rank);
    const uint64_t part_blocks = (uint64_t)FLOE_INDEX_PARTITION * floe_zfp_chunk_index_spec(call.field.rank).chunk;
    const uint64_t thread = (uint64_t)blockIdx.x * THREADS + threadIdx.x, nthreads = (uint64_t)gridDim.x * THREADS;
    for (uint64_t number = blockIdx.y; number < call.grid.nchunks; number += gridDim.y) {
        floe_zfp_dev_chunk *c = call.chunks + number;
        if (!floe_zfp_is_done(c, attempt) || floe_zfp_is_void(c, attempt))
            continue;
        const uint64_t ntiles = floe_ceil_div(c->nblocks, tile_blocks), nparts = floe_ceil_div(c->nblocks, part_blocks);
        const uint64_t end = floe_zfp_tiles_of(call, number, attempt).state[ntiles - 1] & FLOE_ZFP_STATE_MASK;
        for (uint64_t tile = thread; tile < ntiles; tile += nthreads)
            finish_tile(call, c, number, attempt, tile, ntiles);
        for (uint64_t p = thread / FLOE_WARP; p < nparts; p += nthreads / FLOE_WARP)
            find_need(call, c, number, p, end);
    }
}

/* ---- plan ------------------------------------------------------------------------------------------------------------ */

/* Of a block that plans. */
struct plan_shared {
    uint64_t sums[THREADS / FLOE_WARP];
    unsigned long long least, width; /* the most of all partitions */
};

/* Words of the side index's partitions, one behind the other; its header. All threads. */
FLOE_DEV void plan_index(const floe_zfp_grid_encode &call, floe_zfp_dev_chunk *c, uint64_t number, plan_shared *s)
{
    const floe_index_spec spec = floe_zfp_chunk_index_spec(call.field.rank);
    floe_side_index x;
    memset(&x, 0, sizeof x);
    x.form = spec.form, x.chunk = spec.chunk, x.partition = spec.partition;
    x.nblocks = c->nblocks;
    x.nchunks = floe_index_chunks(x.nblocks, x.chunk);
    x.npartitions = floe_index_partitions(x.form, x.partition, x.nchunks);
    x.end = c->parts.stream_nbits;
    uint64_t *at = floe_zfp_parts_of(call, number, FLOE_ZFP_PART_AT), before = 0, all;
    if (threadIdx.x == 0)
        s->least = s->width = 0;
    __syncthreads();
    for (uint64_t first = 0; first < x.npartitions; first += THREADS) {
        const uint64_t p = first + threadIdx.x;
        const bool mine = p < x.npartitions;
        const uint64_t nwords = mine ? floe_zfp_parts_of(call, number, FLOE_ZFP_PART_NWORDS)[p] : 0;
        const uint64_t front = floe_block_sum_before(nwords, s->sums, FLOE_CELLS_WARPS, &all);
        if (mine) {
            at[p] = before + front;
            atomicMax(&s->least, (unsigned long long)floe_zfp_parts_of(call, number, FLOE_ZFP_PART_LEAST)[p]);
            atomicMax(&s->width, (unsigned long long)floe_zfp_parts_of(call, number, FLOE_ZFP_PART_WIDTH)[p]);
        }
        before += all;
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    const uint64_t most[FLOE_INDEX_MOSTS] = {0, s->least, s->width};
    floe_index_build b;
    memset(&b, 0, sizeof b);
    at[x.npartitions] = before;
    b.offsets = floe_zfp_offsets_of(call, number);
    b.at = at;
    b.most = (uint64_t *)most;
    floe_index_build_widths(&b, &x);
    c->index = x;
    c->parts.index_nbytes = floe_cells_round8(FLOE_INDEX_HEADER_NBYTES + 4 * x.body_nwords);
}

/* One thread, after an attempt whose parts are known: is it good enough? */
FLOE_DEV void decide(const floe_zfp_grid_encode &call, floe_zfp_dev_chunk *c, uint32_t attempt)
{
    const uint64_t raw = floe_zfp_raw_nbytes(c->cells->ncells, call.field.dtype);
    if (attempt == FLOE_ZFP_REVERSIBLY) {
        const bool was_close = floe_zfp_wants(c, FLOE_ZFP_CLOSELY);
        floe_zfp_chunk_place(&c->parts, 0, 0);
        if (was_close && c->close_parts.end < c->parts.end && c->close_parts.end < raw)
            floe_zfp_want(call, c, FLOE_ZFP_CLOSELY_AGAIN);
        return;
    }
    const floe_cells_chunk &cells = *c->cells;
    c->parts.sets = cells.present;
    memcpy(c->parts.palette, cells.palette, sizeof c->parts.palette);
    floe_zfp_chunk_place(&c->parts, cells.sets_nbytes, floe_cells_literals_nbytes(cells.nliterals, call.field.dtype));
    if (attempt == FLOE_ZFP_CLOSELY && cells.nliterals > cells.ncells / FLOE_ZFP_MANY_LITERALS) {
        c->close_parts = c->parts;
        floe_zfp_want(call, c, FLOE_ZFP_REVERSIBLY);
    }
}

/* A block takes chunks in turn. */
__global__ void __launch_bounds__(THREADS)
    zfp_grid_plan_kernel(const __grid_constant__ floe_zfp_grid_encode call, uint32_t attempt)
{
    __shared__ plan_shared s;
    if (!floe_zfp_goes_on(call, attempt))
        return;
    for (uint64_t number = blockIdx.x; number < call.grid.nchunks; number += gridDim.x) {
        floe_zfp_dev_chunk *c = call.chunks + number;
        if (!floe_zfp_wants(c, attempt))
            continue;
        if (threadIdx.x == 0) {
            const uint64_t nbits = c->parts.stream_nbits;
            memset(&c->parts, 0, sizeof c->parts);
            c->parts.stream_nbits = nbits;
            c->parts.params = floe_zfp_params_for(c, attempt);
        }
        __syncthreads();
        if (floe_zfp_chunk_has_index(&c->parts.params))
            plan_index(call, c, number, &s);
        else if (threadIdx.x == 0)
            c->index.nchunks = 0;
        __syncthreads();
        if (attempt == FLOE_ZFP_CLOSELY)
            floe_cells_plan(c->cells, call.cells.spans + number * call.room.nspans, s.sums);
        if (threadIdx.x == 0)
            decide(call, c, attempt);
        __syncthreads();
    }
}

/* ---- place ----------------------------------------------------------------------------------------------------------- */

/* One thread: what the chunk has become. Returns its bytes. */
FLOE_DEV uint64_t settle(const floe_zfp_grid_encode &call, floe_zfp_dev_chunk *c, uint64_t number)
{
    const uint64_t raw = floe_zfp_raw_nbytes(c->cells->ncells, call.field.dtype);
    floe_dev_chunk_stats *stats = call.stats + number;
    const bool close = floe_zfp_wants(c, FLOE_ZFP_CLOSELY) &&
                       (!floe_zfp_wants(c, FLOE_ZFP_REVERSIBLY) || floe_zfp_wants(c, FLOE_ZFP_CLOSELY_AGAIN));
    if (c->parts.end >= raw) {
        memset(&c->parts, 0, sizeof c->parts);
        c->parts.raw = true;
        c->parts.literals_at = FLOE_ZFP_CHUNK_HEADER_NBYTES;
        c->parts.end = raw;
    }
    c->cells->all = c->parts.raw;
    c->cells->present = c->parts.sets;
    stats->nexceptions = close && !c->parts.raw ? c->cells->nnamed : 0;
    stats->nliterals = close && !c->parts.raw ? c->cells->nliterals : 0;
    if (!close || c->parts.raw)
        stats->max_error_bits = 0;
    return c->parts.end;
}

FLOE_DEV void place_parts(floe_zfp_dev_chunk &c, uint64_t payload_at)
{
    c.payload_at = payload_at;
    c.cells->sets_at = payload_at + c.parts.sets_at;
    c.cells->literals_at = payload_at + c.parts.literals_at;
}

/* One block: records one behind the other. */
__global__ void __launch_bounds__(THREADS) zfp_grid_place_kernel(const __grid_constant__ floe_zfp_grid_encode call)
{
    __shared__ uint64_t sums[THREADS / FLOE_WARP];
    uint64_t at = call.first_offset, all;
    if (*call.status != FLOE_OK)
        return;
    for (uint64_t first = 0; first < call.grid.nchunks; first += THREADS) {
        const uint64_t number = first + threadIdx.x;
        const bool mine = number < call.grid.nchunks;
        const uint64_t nbytes = mine ? settle(call, call.chunks + number, number) : 0;
        const uint64_t front =
            floe_block_sum_before(mine ? FLOE_RECORD_HEAD_NBYTES + nbytes : (uint64_t)0, sums, FLOE_CELLS_WARPS, &all);
        if (mine) {
            call.records[number].offset = at + front;
            call.records[number].nbytes = nbytes;
            call.records[number].checksum = 0;
            place_parts(call.chunks[number], at + front + FLOE_RECORD_HEAD_NBYTES);
        }
        at += all;
    }
    if (threadIdx.x > 0)
        return;
    *call.end = at;
    if (at > call.capacity)
        *call.status = FLOE_ERR_CAPACITY;
}

/* ---- write ----------------------------------------------------------------------------------------------------------- */

/* All threads: piece `piece` of the side index. */
FLOE_DEV void write_index(const floe_zfp_grid_encode &call, const floe_zfp_dev_chunk *c, uint64_t number,
                          uint64_t piece, uint32_t *to)
{
    floe_index_report fine = {0, FLOE_OK, 0};
    floe_index_build b;
    memset(&b, 0, sizeof b);
    b.dst = to;
    b.offsets = floe_zfp_offsets_of(call, number);
    b.needs[FLOE_INDEX_MOST_LEAST] = floe_zfp_parts_of(call, number, FLOE_ZFP_PART_LEAST);
    b.needs[FLOE_INDEX_MOST_WIDTH] = floe_zfp_parts_of(call, number, FLOE_ZFP_PART_WIDTH);
    b.nwords = floe_zfp_parts_of(call, number, FLOE_ZFP_PART_NWORDS);
    b.at = floe_zfp_parts_of(call, number, FLOE_ZFP_PART_AT);
    b.index = (floe_side_index *)&c->index;
    b.report = &fine;
    if (piece == 0 && threadIdx.x == 0) {
        floe_index_build_store(&c->index, to);
        if (c->index.body_nwords % 2)
            to[FLOE_INDEX_HEADER_NBYTES / 4 + c->index.body_nwords] = 0;
    }
    const uint64_t heads = floe_index_lengths_at(&c->index),
                   end = floe_min64((piece + 1) * PIECE_SLOTS, c->index.nchunks);
    for (uint64_t slot = piece * PIECE_SLOTS + threadIdx.x; slot < end; slot += THREADS) {
        floe_index_build_slot(&b, slot);
        /* a partition has fewer words in its head than slots, but for the last one */
        if (slot < heads)
            floe_index_build_word(&b, slot);
    }
    for (uint64_t w = c->index.nchunks + threadIdx.x; piece == 0 && w < heads; w += THREADS)
        floe_index_build_word(&b, w);
}

/* All threads: a piece of the stream. */
FLOE_DEV void copy_stream(const uint64_t *from, uint64_t *to, uint64_t piece, uint64_t nwords)
{
    const uint64_t first = piece * (PIECE_NBYTES / 8), end = floe_min64(first + PIECE_NBYTES / 8, nwords);
    for (uint64_t i = first + threadIdx.x; i < end; i += THREADS)
        to[i] = from[i];
}

/* Header, side index and stream of all chunks: blocks take pieces in turn. */
__global__ void __launch_bounds__(THREADS)
    zfp_grid_write_kernel(const __grid_constant__ floe_zfp_grid_encode call, uint64_t stream_pieces, uint64_t pieces)
{
    if (*call.status != FLOE_OK)
        return;
    for (uint64_t i = blockIdx.x; i < call.grid.nchunks * pieces; i += gridDim.x) {
        const uint64_t number = i / pieces, piece = i % pieces;
        const floe_zfp_dev_chunk *c = call.chunks + number;
        uint8_t *to = call.stream + c->payload_at;
        if (piece == 0 && threadIdx.x == 0)
            floe_zfp_chunk_to_words(&c->parts, (uint64_t *)to);
        if (c->parts.raw)
            continue;
        if (piece < stream_pieces)
            copy_stream((const uint64_t *)floe_zfp_coded_of(call, number), (uint64_t *)(to + c->parts.stream_at), piece,
                        floe_ceil_div(c->parts.stream_nbits, 64));
        else if ((piece - stream_pieces) * PIECE_SLOTS < c->index.nchunks)
            write_index(call, c, number, piece - stream_pieces, (uint32_t *)(to + c->parts.index_at));
    }
}

/* ---- squared errors --------------------------------------------------------------------------------------------------- */

/* A block owns chunks in turn: each thread sums every so-many-th block of values; then halves are added to halves.
 * The first block's first thread adds up the chunks in their order. */
__global__ void __launch_bounds__(SUM_LANES)
    zfp_grid_error_kernel(const __grid_constant__ floe_zfp_grid_encode call, double *total)
{
    __shared__ double sums[SUM_LANES];
    for (uint64_t number = blockIdx.x; number < call.grid.nchunks; number += gridDim.x) {
        const double *errors = call.block_errors + number * call.room.nblocks;
        double sum = 0;
        for (uint64_t i = threadIdx.x; i < call.chunks[number].nblocks; i += SUM_LANES)
            sum += errors[i];
        sums[threadIdx.x] = sum;
        for (uint32_t half = SUM_LANES / 2; half > 0; half /= 2) {
            __syncthreads();
            if (threadIdx.x < half)
                sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        if (threadIdx.x == 0) {
            call.error_sums[number] = sums[0];
            floe_counter_add(call.summed, 1);
        }
        __syncthreads();
    }
    if (blockIdx.x > 0 || threadIdx.x > 0)
        return;
    floe_counter_wait(call.summed, call.grid.nchunks); /* for blocks that wait for none */
    double sum = 0;
    for (uint64_t i = 0; i < call.grid.nchunks; i++)
        sum += call.error_sums[i];
    *total = sum;
}

} // namespace

/* ---- launches ---------------------------------------------------------------------------------------------------------- */

int floe_zfp_grid_finish_cuda(const floe_zfp_grid_encode *call, uint32_t attempt, void *stream)
{
    const uint64_t each = floe_max64(call->grid.slots, call->room.npartitions * FLOE_WARP);
    const dim3 blocks(floe_zfp_blocks_for(floe_min64(floe_ceil_div(each, THREADS), 256)),
                      (uint32_t)floe_min64(call->grid.nchunks, 4096));
    FLOE_LAUNCH(zfp_grid_finish_kernel, blocks, THREADS, 0, (cudaStream_t)stream, *call, attempt);
    return (int)cudaGetLastError();
}

int floe_zfp_grid_plan_cuda(const floe_zfp_grid_encode *call, uint32_t attempt, void *stream)
{
    FLOE_LAUNCH(zfp_grid_plan_kernel, floe_zfp_blocks_for(call->grid.nchunks), THREADS, 0, (cudaStream_t)stream, *call,
                attempt);
    return (int)cudaGetLastError();
}

int floe_zfp_grid_place_cuda(const floe_zfp_grid_encode *call, void *stream)
{
    FLOE_LAUNCH(zfp_grid_place_kernel, 1, THREADS, 0, (cudaStream_t)stream, *call);
    return (int)cudaGetLastError();
}

int floe_zfp_grid_write_cuda(const floe_zfp_grid_encode *call, void *stream)
{
    const uint64_t stream_pieces = floe_ceil_div(4 * call->room.stream_words, PIECE_NBYTES);
    const uint64_t pieces = stream_pieces + floe_ceil_div(call->room.nindex, PIECE_SLOTS);
    FLOE_LAUNCH(zfp_grid_write_kernel, floe_zfp_blocks_for(call->grid.nchunks * pieces), THREADS, 0,
                (cudaStream_t)stream, *call, stream_pieces, pieces);
    return (int)cudaGetLastError();
}

int floe_zfp_grid_error_sum_cuda(const floe_zfp_grid_encode *call, double *sum, void *stream)
{
    FLOE_LAUNCH(zfp_grid_error_kernel, floe_zfp_blocks_for(call->grid.nchunks), SUM_LANES, 0, (cudaStream_t)stream,
                *call, sum);
    return (int)cudaGetLastError();
}
