/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes -> the box of a chunk that is wanted: the stream's blocks that touch it, then the cells that the sets name. */
#include "base/try.h"
#include "codec/zfp/chunk/zfp_cells.h"
#include "codec/zfp/chunk/zfp_chunk.h"
#include "codec/zfp/stream/zfp_stream.h"

typedef struct decoder {
    const floe_cpu *cpu;
    const uint8_t *src;
    uint64_t nbytes;
    floe_zfp_array array;
    floe_zfp_chunk chunk;
    uint64_t nblocks;
    floe_cells cells;
    uint64_t *places;
} decoder;

/* Blocks take a bit each at least; values as they are take more. */
uint64_t floe_zfp_least(uint32_t rank, const uint64_t *extent)
{
    return FLOE_ZFP_CHUNK_HEADER_NBYTES + floe_ceil_div(floe_zfp_nblocks(rank, extent), 64) * 8;
}

/* Places, sets, and what reading a stream takes: a byte a task, of which none has less than a block. */
static void take_scratch(decoder *d, floe_arena *scratch)
{
    d->places = floe_arena_take(scratch, d->nblocks + 1, sizeof *d->places);
    floe_cells_take(&d->cells, false, scratch);
}

size_t floe_zfp_decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    (void)cpu;
    floe_arena plan = floe_arena_plan();
    decoder d = {.nblocks = floe_zfp_nblocks(rank, extent)};
    const int64_t stride[FLOE_MAX_RANK] = {0};
    uint64_t ncells;
    if (!floe_zfp_count_cells(rank, extent, &ncells))
        return 0;
    d.cells = floe_cells_of(dtype, rank, extent, stride, NULL);
    take_scratch(&d, &plan);
    floe_arena_take(&plan, d.nblocks, 1);
    return plan.overflow ? 0 : plan.used;
}

/* ---- the parts ------------------------------------------------------------------------------------------------------- */

/* Reads the sets, and finds where everything is. */
static floe_status read_parts(decoder *d, floe_error *err)
{
    floe_zfp_chunk *c = &d->chunk;
    const uint64_t sets_at = FLOE_ZFP_CHUNK_HEADER_NBYTES + c->index_nbytes;
    d->cells.present = c->sets;
    memcpy(d->cells.palette, c->palette, sizeof c->palette);
    FLOE_TRY(floe_cells_read(&d->cells, d->src + sets_at, d->nbytes - sets_at, err));
    floe_zfp_chunk_place(c, d->cells.sets_nbytes, d->cells.literals_nbytes);
    FLOE_CHECK(err, c->end == d->nbytes, FLOE_ERR_FORMAT, "zfp chunk: its parts take %llu bytes, it has %llu",
               (unsigned long long)c->end, (unsigned long long)d->nbytes);
    return FLOE_OK;
}

/* Places of the chunks of the index, or of as many blocks where all are alike. */
static floe_status read_places(decoder *d, uint32_t *each, floe_error *err)
{
    const floe_zfp_chunk *c = &d->chunk;
    const uint64_t rate = c->params.maxbits;
    floe_side_index index;
    uint64_t nbytes;
    *each = floe_zfp_chunk_index_spec(d->array.rank).chunk;
    if (!floe_zfp_chunk_has_index(&c->params)) {
        for (uint64_t i = 0; i * *each < d->nblocks; i++)
            d->places[i] = i * *each * rate;
        d->places[floe_ceil_div(d->nblocks, *each)] = c->stream_nbits;
        return FLOE_OK;
    }
    FLOE_TRY(floe_side_index_open(d->src + c->index_at, c->index_nbytes, c->stream_nbits, &index, &nbytes, err));
    FLOE_CHECK(err, index.nblocks == d->nblocks && index.chunk > 0 && index.begin == 0 && index.end == c->stream_nbits,
               FLOE_ERR_FORMAT, "zfp chunk: its index is that of another stream");
    *each = index.chunk;
    return floe_side_index_decode(d->cpu, &index, d->places, err);
}

/* ---- a chunk --------------------------------------------------------------------------------------------------------- */

/* The box of the chunk that is wanted. */
static void set_box(decoder *d, const uint64_t *lo, const uint64_t *hi)
{
    for (uint32_t a = 0; a < d->array.rank; a++) {
        d->array.boxed |= lo[a] > 0 || hi[a] < d->array.shape[a];
        d->array.lo[a] = d->cells.array.lo[a] = lo[a];
        d->array.hi[a] = d->cells.array.hi[a] = hi[a];
    }
}

floe_status floe_zfp_chunk_decompress(const floe_chunk_decode *c, floe_error *err)
{
    decoder d = {.cpu = c->cpu, .src = c->src, .nbytes = c->nbytes};
    const uint32_t rank = c->rank;
    const uint64_t *extent = c->extent;
    floe_arena *scratch = c->scratch;
    uint64_t ncells;
    uint32_t each;
    FLOE_CHECK(err, floe_zfp_count_cells(rank, extent, &ncells), FLOE_ERR_ARGUMENT, "a chunk of no cells");
    d.nblocks = floe_zfp_nblocks(rank, extent);
    d.cells = floe_cells_of(c->dtype, rank, extent, c->out->stride, c->out->data);
    d.array = floe_zfp_array_of(c->dtype, rank, extent, c->out->stride, c->out->data);
    set_box(&d, c->lo, c->hi);
    FLOE_TRY(floe_zfp_chunk_header_read(c->src, c->nbytes, &d.cells, d.nblocks, &d.chunk, err));
    if (d.chunk.raw) {
        floe_cells_put_all(&d.cells, d.src + FLOE_ZFP_CHUNK_HEADER_NBYTES);
        return FLOE_OK;
    }
    take_scratch(&d, scratch);
    FLOE_CHECK(err, !scratch->overflow && scratch->base, FLOE_ERR_MEMORY,
               "the workspace is too small for a chunk of %llu values", (unsigned long long)ncells);
    FLOE_TRY(read_parts(&d, err));
    FLOE_TRY(read_places(&d, &each, err));
    FLOE_TRY(floe_zfp_stream_decompress(&(floe_zfp_coding){c->cpu, &d.array, &d.chunk.params, 0},
                                        d.src + d.chunk.stream_at, floe_ceil_div(d.chunk.stream_nbits, 8), d.places,
                                        each, scratch, err));
    floe_cells_put(&d.cells, d.src + d.chunk.sets_at);
    return FLOE_OK;
}
