/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes -> the box of a chunk that was asked for: the stream's blocks that touch it, then the cells that the sets name. */
#include "base/try.h"
#include "codec/zfp/chunk/zfp_cells.h"
#include "codec/zfp/chunk/zfp_chunk.h"
#include "codec/zfp/chunk/zfp_chunk_codec.h"
#include "codec/zfp/stream/zfp_stream.h"

typedef struct decoder {
    const floe_cpu *cpu;
    const uint8_t *src;
    uint64_t nbytes;
    const floe_field *out;
    const uint64_t *lo, *hi;
    floe_zfp_array array;
    floe_zfp_chunk chunk;
    size_t size;
    uint64_t ncells, nwords, nblocks;
    uint64_t *sets[FLOE_ZFP_SETS];
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
    for (int s = 0; s < FLOE_ZFP_SETS; s++)
        d->sets[s] = floe_arena_take(scratch, d->nwords, sizeof(uint64_t));
}

size_t floe_zfp_decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    (void)cpu, (void)dtype;
    floe_arena plan = floe_arena_plan();
    decoder d = {.nblocks = floe_zfp_nblocks(rank, extent)};
    if (!floe_zfp_count_cells(rank, extent, &d.ncells))
        return 0;
    d.nwords = floe_ceil_div(d.ncells, FLOE_ZFP_WORD_CELLS);
    take_scratch(&d, &plan);
    floe_arena_take(&plan, d.nblocks, 1);
    return plan.overflow ? 0 : plan.used;
}

/* Puts a value at a cell, if that is in the box. */
static void put_cell(const decoder *d, uint64_t cell, uint64_t bits)
{
    uint64_t index[FLOE_MAX_RANK];
    int64_t at = 0;
    floe_zfp_cell_index(d->array.rank, d->array.shape, cell, index);
    for (uint32_t a = 0; a < d->array.rank; a++) {
        if (index[a] < d->lo[a] || index[a] >= d->hi[a])
            return;
        at += (int64_t)(index[a] - d->lo[a]) * d->out->stride[a];
    }
    floe_zfp_pattern_put(d->out->data, at, d->size, bits);
}

static floe_status copy_raw(const decoder *d, floe_error *err)
{
    const uint64_t nbytes = floe_zfp_raw_nbytes(d->ncells, (uint32_t)d->size);
    FLOE_CHECK(err, d->nbytes == nbytes, FLOE_ERR_FORMAT, "zfp chunk: %llu bytes instead of the values' %llu",
               (unsigned long long)d->nbytes, (unsigned long long)nbytes);
    for (uint64_t c = 0; c < d->ncells; c++)
        put_cell(d, c, floe_zfp_pattern_at(d->src + FLOE_ZFP_CHUNK_HEADER_NBYTES, (int64_t)c, d->size));
    return FLOE_OK;
}

/* ---- the parts ------------------------------------------------------------------------------------------------------- */

/* Reads the sets, and finds where everything is. */
static floe_status read_parts(decoder *d, floe_error *err)
{
    floe_zfp_chunk *c = &d->chunk;
    uint64_t nliterals = 0;
    c->index_at = FLOE_ZFP_CHUNK_HEADER_NBYTES;
    c->sets_at = c->index_at + c->index_nbytes;
    FLOE_CHECK(err, c->sets_at <= d->nbytes, FLOE_ERR_FORMAT, "zfp chunk: it ends within its index");
    floe_reader from = floe_reader_of(d->src + c->sets_at, (size_t)(d->nbytes - c->sets_at));
    for (int s = 0; s < FLOE_ZFP_SETS; s++)
        if (c->sets >> s & 1)
            FLOE_CHECK(err, floe_zfp_set_read(&from, d->ncells, d->sets[s], d->nwords, &nliterals), FLOE_ERR_FORMAT,
                       "zfp chunk: the set of cells %d is cut short, or names what is not there", s);
    c->literals_at = d->nbytes - floe_reader_left(&from);
    if (!(c->sets >> FLOE_ZFP_LITERALS & 1))
        nliterals = 0;
    c->stream_at = c->literals_at + ((nliterals * d->size + 7) & ~(uint64_t)7);
    c->end = c->stream_at + floe_ceil_div(c->stream_nbits, 64) * 8;
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
        FLOE_CHECK(err, c->index_nbytes == 0 && c->stream_nbits / rate == d->nblocks && c->stream_nbits % rate == 0,
                   FLOE_ERR_FORMAT, "zfp chunk: %llu bits are not %llu blocks of %llu",
                   (unsigned long long)c->stream_nbits, (unsigned long long)d->nblocks, (unsigned long long)rate);
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

static void put_sets(const decoder *d)
{
    const uint8_t *literals = d->src + d->chunk.literals_at;
    int64_t n = 0;
    for (int s = 0; s < FLOE_ZFP_SETS; s++)
        for (uint64_t w = 0; w < d->nwords && d->chunk.sets >> s & 1; w++)
            for (uint64_t left = d->sets[s][w]; left; left &= left - 1) {
                const uint64_t cell = w * FLOE_ZFP_WORD_CELLS + (uint64_t)__builtin_ctzll(left);
                put_cell(d, cell,
                         s == FLOE_ZFP_LITERALS ? floe_zfp_pattern_at(literals, n++, d->size) : d->chunk.palette[s]);
            }
}

/* ---- a chunk --------------------------------------------------------------------------------------------------------- */

static bool is_whole(const decoder *d)
{
    for (uint32_t a = 0; a < d->array.rank; a++)
        if (d->lo[a] > 0 || d->hi[a] < d->array.shape[a])
            return false;
    return true;
}

floe_status floe_zfp_chunk_decompress(const floe_chunk_decode *c, floe_error *err)
{
    decoder d = {.cpu = c->cpu, .src = c->src, .nbytes = c->nbytes, .out = c->out, .lo = c->lo, .hi = c->hi};
    const uint32_t rank = c->rank;
    const uint64_t *extent = c->extent;
    floe_arena *scratch = c->scratch;
    uint32_t each;
    FLOE_CHECK(err, floe_zfp_count_cells(rank, extent, &d.ncells), FLOE_ERR_ARGUMENT, "a chunk of no cells");
    d.size = floe_dtype_size(c->dtype);
    d.array = floe_zfp_array_of(c->dtype, rank, extent, c->out->stride, c->out->data);
    FLOE_TRY(floe_zfp_chunk_header_read(c->src, c->nbytes, d.array.type, &d.chunk, err));
    if (d.chunk.raw)
        return copy_raw(&d, err);
    d.nwords = floe_ceil_div(d.ncells, FLOE_ZFP_WORD_CELLS);
    d.nblocks = floe_zfp_nblocks(rank, extent);
    FLOE_CHECK(err, d.chunk.stream_nbits >= d.nblocks, FLOE_ERR_FORMAT, "zfp chunk: %llu bits are no %llu blocks",
               (unsigned long long)d.chunk.stream_nbits, (unsigned long long)d.nblocks);
    take_scratch(&d, scratch);
    FLOE_CHECK(err, !scratch->overflow && scratch->base, FLOE_ERR_MEMORY,
               "the workspace is too small for a chunk of %llu values", (unsigned long long)d.ncells);
    FLOE_TRY(read_parts(&d, err));
    FLOE_TRY(read_places(&d, &each, err));
    if (!is_whole(&d)) {
        d.array.boxed = true;
        memcpy(d.array.lo, c->lo, rank * sizeof *c->lo);
        memcpy(d.array.hi, c->hi, rank * sizeof *c->hi);
    }
    FLOE_TRY(floe_zfp_stream_decompress(c->cpu, &d.array, &d.chunk.params, 0, d.src + d.chunk.stream_at,
                                        floe_ceil_div(d.chunk.stream_nbits, 8), d.places, each, scratch, err));
    put_sets(&d);
    return FLOE_OK;
}
