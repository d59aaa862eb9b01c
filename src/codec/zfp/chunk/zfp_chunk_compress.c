/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chunk -> bytes. zfp makes no promise, so its own decoder is run: what did not come back as it must is named in sets
 * and stored beside the stream. A value that is not finite, or fill, would make its whole block inexact: zfp gets the good value
 * before it instead. Where too much is corrected, or the tolerance is finer than the values, the chunk is coded
 * reversibly; and where nothing helps, as it is.
 */

#include "base/try.h"
#include "codec/zfp/chunk/zfp_cells.h"
#include "codec/zfp/chunk/zfp_chunk.h"
#include "codec/zfp/stream/zfp_stream.h"
#include "field/dtype_math.h"

typedef struct encoder {
    const floe_cpu *cpu;
    const floe_codec_params *params;
    const floe_field *chunk; /* NULL while only sizes are requested */
    const floe_zfp_exact_ops *exact;
    floe_zfp_promise promise;
    floe_zfp_array array; /* what is coded: the chunk, or a copy with values replaced */
    uint32_t size;        /* of an element */
    uint64_t nblocks, good;
    floe_cells cells; /* of the chunk, those that are corrected */
    floe_zfp_chunk out;
    uint8_t *values; /* that copy, then what zfp makes of it; also the literals */
    uint8_t *stream;
    uint64_t stream_capacity;
    uint16_t *lengths;
    uint64_t *places; /* of the index's chunks, for the decoder that is run */
    uint8_t *index;
    uint64_t index_capacity;
    double *worst; /* of each span */
    uint8_t *room;
    size_t room_nbytes;
} encoder;

/* ---- sizes ----------------------------------------------------------------------------------------------------------- */

uint64_t floe_zfp_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent)
{
    uint64_t ncells;
    if (!floe_zfp_count_cells(rank, extent, &ncells))
        return 0;
    return floe_zfp_raw_nbytes(ncells, params->dtype);
}

static bool close_params(const encoder *e, floe_zfp_params *p)
{
    return floe_zfp_close_params(e->params, e->array.type, e->array.rank, e->cells.ncells, e->nblocks, p);
}

static void grow_room(encoder *e, const floe_zfp_params *p)
{
    const size_t nbytes =
        floe_zfp_stream_workspace(e->cpu, &e->array, p, floe_zfp_chunk_index_spec(e->array.rank).chunk);
    e->room_nbytes = nbytes > e->room_nbytes ? nbytes : e->room_nbytes;
}

/* Scratch is sized before rel and psnr have their bound: where that decides about planes, for any number of them. */
static void take_scratch(encoder *e, floe_arena *arena)
{
    const bool by_bound = e->params->mode == FLOE_BOUND_ABS && floe_dtype_is_integer(e->params->dtype);
    floe_zfp_params close;
    const floe_zfp_params p = floe_zfp_params_reversible(); /* no other stream can be larger */
    const floe_index_spec spec = floe_zfp_chunk_index_spec(e->array.rank);
    e->stream_capacity = floe_zfp_stream_bound(&e->array, &p, 0);
    e->index_capacity = floe_side_index_bound(&spec, e->nblocks, floe_zfp_block_bits(&p, e->array.type, e->array.rank));
    e->room_nbytes = 0;
    grow_room(e, &p);
    if (close_params(e, &close))
        grow_room(e, &close);
    for (uint32_t planes = 1; planes <= FLOE_ZFP_MAX_PREC && by_bound; planes++)
        if (floe_zfp_params_precision(planes, &close, NULL) == FLOE_OK)
            grow_room(e, &close);
    e->values = floe_arena_take(arena, e->cells.ncells, e->size);
    e->stream = floe_arena_take(arena, e->stream_capacity, 1);
    e->lengths = floe_arena_take(arena, e->nblocks, sizeof *e->lengths);
    e->places = floe_arena_take(arena, floe_ceil_div(e->nblocks, spec.chunk) + 1, sizeof *e->places);
    e->index = floe_arena_take(arena, e->index_capacity + 8, 1);
    floe_cells_take(&e->cells, true, arena);
    e->worst = floe_arena_take(arena, e->cells.nspans, sizeof *e->worst);
    e->room = floe_arena_take(arena, e->room_nbytes, 1);
}

static encoder encoder_of(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank, const uint64_t *extent)
{
    encoder e = {.cpu = cpu, .params = params, .size = floe_cells_size(params->dtype)};
    int64_t stride[FLOE_MAX_RANK];
    floe_zfp_contiguous(rank, extent, stride);
    e.cells = floe_cells_of(params->dtype, rank, extent, stride, NULL);
    e.array = floe_zfp_array_of(params->dtype, rank, extent, stride, NULL);
    e.nblocks = floe_zfp_nblocks(rank, extent);
    e.exact = floe_zfp_exact_ops_of(params->dtype, cpu->isa);
    e.promise = floe_zfp_promise_of(params);
    return e;
}

size_t floe_zfp_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank, const uint64_t *extent)
{
    uint64_t ncells;
    if (!floe_zfp_count_cells(rank, extent, &ncells))
        return 0;
    floe_arena plan = floe_arena_plan();
    encoder e = encoder_of(cpu, params, rank, extent);
    take_scratch(&e, &plan);
    const size_t decoding = floe_zfp_decode_workspace(cpu, params->dtype, rank, extent);
    return plan.overflow ? 0 : decoding > plan.used ? decoding : plan.used;
}

/* ---- tasks: a span of cells each -------------------------------------------------------------------------------------- */

static uint64_t span_end(const encoder *e, uint64_t i)
{
    return floe_min64((i + 1) * FLOE_CELLS_SPAN, e->cells.ncells);
}

static const uint8_t *cell_at(const encoder *e, uint64_t cell)
{
    return (const uint8_t *)e->chunk->data + floe_cells_at(&e->cells.array, cell) * (int64_t)e->size;
}

/* Each span begins with the chunk's first good value, so that it does not depend on the one before. */
static void replace_task(void *arg, uint64_t i, uint32_t worker)
{
    (void)worker;
    const encoder *e = arg;
    const floe_field *f = e->chunk;
    uint64_t good = e->good;
    for (uint64_t c = i * FLOE_CELLS_SPAN, n; c < span_end(e, i); c += n) {
        n = floe_zfp_row_left(f->rank, f->shape, c, span_end(e, i) - c);
        e->exact->replace(&e->promise, cell_at(e, c), f->stride[f->rank - 1], n, e->values + c * e->size, &good);
    }
}

static void corrections_task(void *arg, uint64_t i, uint32_t worker)
{
    (void)worker;
    const encoder *e = arg;
    const floe_field *f = e->chunk;
    uint64_t *words = e->cells.sets[FLOE_CELLS_LITERALS];
    e->worst[i] = 0;
    for (uint64_t c = i * FLOE_CELLS_SPAN, n; c < span_end(e, i); c += n) {
        const uint64_t word = c / FLOE_CELLS_WORD, bit = c % FLOE_CELLS_WORD;
        const uint64_t most = floe_min64(FLOE_CELLS_WORD - bit, span_end(e, i) - c);
        n = floe_zfp_row_left(f->rank, f->shape, c, most);
        const uint64_t corrected = e->exact->corrections(&e->promise, cell_at(e, c), f->stride[f->rank - 1], n,
                                                         e->values + c * e->size, &e->worst[i]);
        words[word] = (bit ? words[word] : 0) | corrected << bit;
    }
}

/* ---- phases ---------------------------------------------------------------------------------------------------------- */

/* The first value that zfp may see; 0 if there is none. */
static void find_good(encoder *e)
{
    uint64_t patterns[2] = {0, 0};
    e->good = 0;
    for (uint64_t c = 0; c < e->cells.ncells; c++) {
        uint64_t last = 0;
        if (e->exact->replace(&e->promise, cell_at(e, c), 1, 1, patterns, &last) == 0) {
            e->good = last;
            return;
        }
    }
}

static floe_status code(encoder *e, const floe_zfp_params *params, floe_error *err)
{
    floe_arena arena = floe_arena_of(e->room, e->room_nbytes);
    e->out.params = *params;
    e->out.index_nbytes = 0;
    FLOE_TRY(floe_zfp_stream_compress(&(floe_zfp_coding){e->cpu, &e->array, params, 0}, &arena, e->stream,
                                      e->stream_capacity, e->lengths, &e->out.stream_nbits, err));
    if (!floe_zfp_chunk_has_index(params))
        return FLOE_OK;
    const floe_index_spec spec = floe_zfp_chunk_index_spec(e->array.rank);
    uint64_t nbytes;
    FLOE_TRY(floe_side_index_encode(&spec, &(floe_index_blocks){e->lengths, e->nblocks, 0}, e->index, e->index_capacity,
                                    &nbytes, err));
    memset(e->index + nbytes, 0, 8); /* to whole 8 bytes */
    e->out.index_nbytes = (nbytes + 7) & ~(uint64_t)7;
    return FLOE_OK;
}

/* Decodes the stream, in parallel, over the values that it was made of. */
static floe_status decode_back(encoder *e, floe_error *err)
{
    const uint32_t chunk = floe_zfp_chunk_index_spec(e->array.rank).chunk;
    floe_arena arena = floe_arena_of(e->room, e->room_nbytes);
    uint64_t at = 0;
    for (uint64_t i = 0; i < e->nblocks; at += e->lengths[i++])
        if (i % chunk == 0)
            e->places[i / chunk] = at;
    e->places[floe_ceil_div(e->nblocks, chunk)] = at;
    return floe_zfp_stream_decompress(&(floe_zfp_coding){e->cpu, &e->array, &e->out.params, 0}, e->stream,
                                      floe_ceil_div(e->out.stream_nbits, 8), e->places, chunk, &arena, err);
}

/* What zfp's decoder makes of the stream, against what was promised. */
static floe_status find_corrections(encoder *e, floe_chunk_stats *stats, floe_error *err)
{
    FLOE_TRY(decode_back(e, err));
    floe_cpu_parallel(e->cpu, e->cells.nspans, corrections_task, e);
    floe_cells_sort(&e->cells, e->cpu, e->params->has_fill, e->params->fill_bits);
    e->out.sets = e->cells.present;
    memcpy(e->out.palette, e->cells.palette, sizeof e->out.palette);
    *stats = (floe_chunk_stats){.nexceptions = 0};
    for (int s = 0; s < FLOE_CELLS_SETS; s++)
        stats->nexceptions += e->cells.count.ncells[s];
    for (uint64_t i = 0; i < e->cells.nspans; i++)
        stats->max_error = e->worst[i] > stats->max_error ? e->worst[i] : stats->max_error;
    return FLOE_OK;
}

static void write_parts(const encoder *e, uint8_t *dst)
{
    const floe_zfp_chunk *c = &e->out;
    floe_zfp_chunk_header_write(c, dst);
    memcpy(dst + c->index_at, e->index, (size_t)c->index_nbytes);
    if (c->sets)
        floe_cells_write(&e->cells, dst + c->sets_at);
    memcpy(dst + c->stream_at, e->stream, (size_t)(c->end - c->stream_at));
}

/* The values as they are, in C order. */
static void write_raw(encoder *e, uint8_t *dst)
{
    e->out = (floe_zfp_chunk){.raw = true};
    floe_zfp_chunk_header_write(&e->out, dst);
    floe_cells_write_all(&e->cells, dst + FLOE_ZFP_CHUNK_HEADER_NBYTES);
}

/* ---- a chunk --------------------------------------------------------------------------------------------------------- */

static floe_status begin(encoder *e, const floe_chunk_encode *c, floe_error *err)
{
    const floe_field *chunk = c->chunk;
    floe_arena *scratch = c->scratch;
    uint64_t ncells;
    FLOE_CHECK(err, c->params->mode != FLOE_BOUND_PWREL, FLOE_ERR_UNSUPPORTED,
               "codec zfp has no bound relative to each value: use abs, rel, psnr or lossless");
    FLOE_CHECK(err, floe_zfp_count_cells(chunk->rank, chunk->shape, &ncells), FLOE_ERR_ARGUMENT, "a chunk of no cells");
    *e = encoder_of(c->cpu, c->params, chunk->rank, chunk->shape);
    e->chunk = chunk;
    e->cells = floe_cells_of(chunk->dtype, chunk->rank, chunk->shape, chunk->stride, chunk->data);
    take_scratch(e, scratch);
    FLOE_CHECK(err, !scratch->overflow && scratch->base, FLOE_ERR_MEMORY,
               "the workspace is too small for a chunk of %llu values", (unsigned long long)ncells);
    return FLOE_OK;
}

static floe_status code_reversibly(encoder *e, floe_chunk_stats *stats, floe_error *err)
{
    const floe_zfp_params params = floe_zfp_params_reversible();
    const floe_field *f = e->chunk;
    e->array = floe_zfp_array_of(f->dtype, f->rank, f->shape, f->stride, f->data);
    *stats = (floe_chunk_stats){.nexceptions = 0};
    e->out.sets = 0;
    memset(e->out.palette, 0, sizeof e->out.palette);
    FLOE_TRY(code(e, &params, err));
    floe_zfp_chunk_place(&e->out, 0, 0);
    return FLOE_OK;
}

/* As requested; what then misses the bound, or must come back exactly and does not, goes to the sets. */
static floe_status code_closely(encoder *e, const floe_zfp_params *params, floe_chunk_stats *stats, floe_error *err)
{
    find_good(e);
    floe_zfp_contiguous(e->array.rank, e->array.shape, e->array.stride);
    e->array.data = e->values;
    floe_cpu_parallel(e->cpu, e->cells.nspans, replace_task, e);
    FLOE_TRY(code(e, params, err));
    FLOE_TRY(find_corrections(e, stats, err));
    floe_zfp_chunk_place(&e->out, e->cells.sets_nbytes, e->cells.literals_nbytes);
    return FLOE_OK;
}

floe_status floe_zfp_chunk_compress(const floe_chunk_encode *c, floe_error *err)
{
    encoder e;
    floe_zfp_params close;
    uint64_t nliterals = UINT64_MAX, closely = UINT64_MAX;
    FLOE_TRY(begin(&e, c, err));
    if (close_params(&e, &close)) {
        FLOE_TRY(code_closely(&e, &close, c->stats, err));
        nliterals = e.cells.count.ncells[FLOE_CELLS_LITERALS];
        closely = e.out.end;
    }
    if (nliterals > e.cells.ncells / FLOE_ZFP_MANY_LITERALS) {
        FLOE_TRY(code_reversibly(&e, c->stats, err));
        if (closely < e.out.end)
            FLOE_TRY(code_closely(&e, &close, c->stats, err));
    }
    const uint64_t raw = floe_zfp_bound(c->params, c->chunk->rank, c->chunk->shape);
    *c->nbytes = floe_min64(e.out.end, raw);
    FLOE_CHECK(err, *c->nbytes <= c->capacity, FLOE_ERR_CAPACITY, "the chunk needs %llu bytes, there are %llu",
               (unsigned long long)*c->nbytes, (unsigned long long)c->capacity);
    if (e.out.end < raw) {
        write_parts(&e, c->dst);
        return FLOE_OK;
    }
    *c->stats = (floe_chunk_stats){.nexceptions = 0};
    write_raw(&e, c->dst);
    return FLOE_OK;
}

/* ---- squared errors -------------------------------------------------------------------------------------------------- */

static double difference(floe_dtype dtype, uint64_t x, uint64_t y)
{
    switch (dtype) {
    case FLOE_F32: return (double)floe_f32_of((uint32_t)x) - (double)floe_f32_of((uint32_t)y);
    case FLOE_F64: return floe_f64_of(x) - floe_f64_of(y);
    default: return (double)floe_integer_distance(floe_integer_of(dtype, x), floe_integer_of(dtype, y));
    }
}

static double cell_error(const encoder *e, uint64_t c)
{
    const uint64_t word = c / FLOE_CELLS_WORD, bit = c % FLOE_CELLS_WORD;
    for (int s = 0; s < FLOE_CELLS_SETS; s++)
        if (e->cells.sets[s][word] >> bit & 1)
            return 0;
    const uint64_t x = floe_cells_get(cell_at(e, c), 0, e->size), y = floe_cells_get(e->values, (int64_t)c, e->size);
    const double d = difference(e->params->dtype, x, y);
    return d * d;
}

/* Of a block: cells in their order, those of each cube for themselves; then sums of two. */
static double block_error(const encoder *e, uint64_t block)
{
    const floe_zfp_array *a = &e->array;
    uint64_t corner[FLOE_MAX_RANK];
    double cubes[FLOE_ZFP_SIDE] = {0};
    for (uint32_t k = a->rank; k-- > 0; block /= floe_ceil_div(a->shape[k], FLOE_ZFP_SIDE))
        corner[k] = block % floe_ceil_div(a->shape[k], FLOE_ZFP_SIDE) * FLOE_ZFP_SIDE;
    const uint32_t x = a->rank - 1;
    const uint64_t end = floe_min64(corner[x] + FLOE_ZFP_SIDE, a->shape[x]);
    for (uint32_t i = 0; i < 1u << 2 * a->rank; i += FLOE_ZFP_SIDE) { /* a row */
        uint64_t row = 0;
        bool inside = true;
        for (uint32_t k = 0; k < x; k++) {
            const uint64_t at = corner[k] + (i >> 2 * (x - k)) % FLOE_ZFP_SIDE;
            inside &= at < a->shape[k];
            row = (row + at) * a->shape[k + 1];
        }
        for (uint64_t at = corner[x]; inside && at < end; at++)
            cubes[i / 64] += cell_error(e, row + at);
    }
    return (cubes[0] + cubes[1]) + (cubes[2] + cubes[3]);
}

/* Sums side by side of every so-many-th block; then halves are added to halves. */
floe_status floe_zfp_squared_error(const floe_chunk_encode *c, double *sum, floe_error *err)
{
    encoder e;
    floe_zfp_params close;
    floe_chunk_stats stats;
    double lanes[FLOE_ZFP_ERROR_LANES] = {0};
    *sum = 0;
    if (c->params->mode == FLOE_BOUND_LOSSLESS)
        return FLOE_OK;
    FLOE_TRY(begin(&e, c, err));
    FLOE_CHECK(err, close_params(&e, &close), FLOE_ERR_ARGUMENT, "a bound of %g", c->params->bound);
    FLOE_TRY(code_closely(&e, &close, &stats, err));
    for (uint64_t i = 0; i < e.nblocks; i++)
        lanes[i % FLOE_ZFP_ERROR_LANES] += block_error(&e, i);
    for (uint32_t half = FLOE_ZFP_ERROR_LANES / 2; half > 0; half /= 2)
        for (uint32_t i = 0; i < half; i++)
            lanes[i] += lanes[i + half];
    *sum = lanes[0];
    return FLOE_OK;
}
