/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/zfp/gpu/zfp_grid.h"

#include <cuda_runtime_api.h>
#include <string.h>

#include "backend/cuda.h"
#include "base/bytes.h"
#include "base/try.h"
#include "codec/zfp/gpu/zfp_kernels.h"
#include "field/dtype_math.h"

FLOE_CODEC_OWN_FITS(floe_zfp_grid_encode);
FLOE_CODEC_OWN_FITS(floe_zfp_grid_decode);

static floe_zfp_grid_encode *encode_own(floe_codec_encode *e) { return (void *)e->own.bytes; }
static const floe_zfp_grid_encode *encode_of(const floe_codec_encode *e) { return (const void *)e->own.bytes; }
static floe_zfp_grid_decode *decode_own(floe_codec_decode *d) { return (void *)d->own.bytes; }
static const floe_zfp_grid_decode *decode_of(const floe_codec_decode *d) { return (const void *)d->own.bytes; }

static const floe_zfp_kernels *kernels_of(const floe_dev_field *field)
{
    return floe_zfp_kernels_of(floe_dtype_is_narrow(field->dtype));
}

floe_status floe_zfp_grid_of(floe_dtype dtype, uint32_t rank, const uint64_t *shape, const uint64_t *chunk,
                             floe_dev_grid *grid, floe_zfp_dev_room *room, floe_error *err)
{
    const floe_index_spec spec = floe_zfp_chunk_index_spec(rank);
    uint64_t ncells = 1, nblocks = 1;
    for (uint32_t i = 0; i < rank; i++) {
        ncells *= chunk[i];
        nblocks *= floe_ceil_div(chunk[i], FLOE_ZFP_SIDE);
    }
    const uint64_t slots = floe_ceil_div(nblocks, floe_zfp_tile_blocks(rank));
    FLOE_CHECK(err, floe_dev_grid_of(rank, shape, chunk, slots, grid), FLOE_ERR_LIMIT,
               "a field of more than 2^35 zfp blocks, too many for a GPU at once: choose larger chunks, or the CPU");
    *room = (floe_zfp_dev_room){.nblocks = nblocks, .nindex = floe_ceil_div(nblocks, spec.chunk)};
    room->nwords = floe_ceil_div(ncells, FLOE_CELLS_WORD);
    room->nspans = floe_ceil_div(ncells, FLOE_CELLS_SPAN);
    room->npartitions = floe_ceil_div(room->nindex, spec.partition);
    room->stream_words = floe_cells_literals_nbytes(ncells, dtype) / 4;
    return FLOE_OK;
}

/* ---- compression --------------------------------------------------------------------------------------------------- */

static floe_status encode_plan(floe_codec_encode *e, floe_error *err)
{
    floe_zfp_grid_encode *c = encode_own(e);
    *c = (floe_zfp_grid_encode){.field = e->field,
                                .lossy = e->mode != FLOE_BOUND_LOSSLESS,
                                .cut = e->mode == FLOE_BOUND_RATE,
                                .first_offset = e->first_offset};
    FLOE_TRY(floe_zfp_grid_of(e->field.dtype, e->field.rank, e->field.shape, e->chunk, &c->grid, &c->room, err));
    e->nchunks = c->grid.nchunks;
    return FLOE_OK;
}

/* What is 0 at first stands together. */
static void take_cleared(floe_zfp_grid_encode *c, bool with_errors, floe_arena *a)
{
    const uint64_t nchunks = c->grid.nchunks, nslots = nchunks * c->grid.slots;
    const size_t begin = a->used;
    c->cleared = floe_arena_take(a, FLOE_ZFP_GRID_WORDS, sizeof *c->cleared);
    c->states = floe_arena_take(a, FLOE_ZFP_ATTEMPTS * nslots, sizeof *c->states);
    c->stats = floe_arena_take(a, nchunks, sizeof *c->stats);
    if (c->lossy) {
        c->cells.spans = floe_arena_take(a, nchunks * c->room.nspans, sizeof *c->cells.spans);
        c->cells.sets[FLOE_CELLS_LITERALS] = floe_arena_take(a, nchunks * c->room.nwords, sizeof(uint64_t));
    }
    if (with_errors)
        c->summed = floe_arena_take(a, 1, sizeof *c->summed);
    c->cleared_nbytes = a->used - begin;
}

static void take_sets(floe_zfp_grid_encode *c, floe_arena *a)
{
    const uint64_t nwords = c->grid.nchunks * c->room.nwords;
    for (int s = 0; s < FLOE_CELLS_LITERALS; s++)
        c->cells.sets[s] = floe_arena_take(a, nwords, sizeof(uint64_t));
    c->bad = floe_arena_take(a, nwords, sizeof *c->bad);
    c->last_good = floe_arena_take(a, nwords, sizeof *c->last_good);
}

static floe_status encode_take(floe_codec_encode *e, floe_arena *state, floe_arena *a, floe_error *err)
{
    (void)state;
    floe_zfp_grid_encode *c = encode_own(e);
    const bool with_errors = e->mode == FLOE_BOUND_PSNR;
    const uint64_t nchunks = c->grid.nchunks;
    uint64_t spill_nbytes;
    FLOE_CUDA(err, kernels_of(&c->field)->grid_spill(c->field.rank, &c->grid, &spill_nbytes, &c->spill_words));
    c->cells = (floe_cells_grid){.nchunks = nchunks, .nwords = c->room.nwords, .nspans = c->room.nspans};
    take_cleared(c, with_errors, a);
    c->cells.chunks = floe_arena_take(a, nchunks, sizeof *c->cells.chunks);
    c->records = floe_arena_take(a, nchunks, sizeof *c->records);
    c->end = floe_arena_take(a, 1, sizeof *c->end);
    c->chunks = floe_arena_take(a, nchunks, sizeof *c->chunks);
    c->edges = floe_arena_take(a, nchunks * c->grid.slots, sizeof *c->edges);
    c->spill = floe_arena_take(a, spill_nbytes, 1);
    c->coded = floe_arena_take(a, nchunks * c->room.stream_words, sizeof *c->coded);
    c->offsets = floe_arena_take(a, nchunks * (c->room.nindex + 1), sizeof *c->offsets);
    c->part_needs =
        floe_arena_take(a, nchunks * FLOE_ZFP_PART_ARRAYS * (c->room.npartitions + 1), sizeof *c->part_needs);
    if (c->lossy)
        take_sets(c, a);
    if (with_errors) {
        c->block_errors = floe_arena_take(a, nchunks * c->room.nblocks, sizeof *c->block_errors);
        c->error_sums = floe_arena_take(a, nchunks, sizeof *c->error_sums);
    }
    e->records = c->records;
    e->end = c->end;
    return FLOE_OK;
}

static void encode_aim(floe_codec_encode *e)
{
    floe_zfp_grid_encode *c = encode_own(e);
    c->stream = e->stream;
    c->capacity = e->capacity;
    c->status = e->status;
    c->params = e->params;
    e->chunk_stats = (floe_dev_stats_of_chunks){c->stats, NULL, sizeof *c->stats};
    e->again = NULL;
}

static floe_status clear(const floe_zfp_grid_encode *c, void *stream, floe_error *err)
{
    FLOE_CUDA(err, cudaMemsetAsync(c->cleared, 0, c->cleared_nbytes, stream));
    return FLOE_OK;
}

static floe_status resolve(const floe_codec_encode *e, const floe_resolve_job *job, void *stream, floe_error *err)
{
    FLOE_TRY(clear(encode_of(e), stream, err));
    FLOE_CUDA(err, floe_zfp_resolve_cuda(encode_of(e), job, stream));
    return FLOE_OK;
}

static floe_status code(const floe_zfp_grid_encode *c, uint32_t attempt, void *stream, floe_error *err)
{
    FLOE_CUDA(err, kernels_of(&c->field)->grid_encode(c, attempt, stream));
    FLOE_CUDA(err, floe_zfp_grid_finish_cuda(c, attempt, stream));
    return FLOE_OK;
}

/* Within the bound; then once more those chunks in which values must be replaced. */
static floe_status code_closely(const floe_zfp_grid_encode *c, void *stream, floe_error *err)
{
    FLOE_TRY(code(c, FLOE_ZFP_CLOSELY, stream, err));
    FLOE_CUDA(err, kernels_of(&c->field)->grid_replace(c, stream));
    FLOE_TRY(code(c, FLOE_ZFP_REPLACED, stream, err));
    if (c->cut)
        FLOE_CUDA(err, kernels_of(&c->field)->grid_check(c, stream));
    return FLOE_OK;
}

static floe_status encode_start(const floe_codec_encode *e, void *stream, floe_error *err)
{
    floe_zfp_grid_encode c = *encode_of(e);
    c.block_errors = NULL;
    c.cells.stream = c.stream;
    c.cells.status = c.status;
    if (c.grid.nchunks == 0) { /* the end of all records is all that there is to report */
        FLOE_CUDA(err, floe_zfp_grid_place_cuda(&c, stream));
        return FLOE_OK;
    }
    if (c.lossy) {
        FLOE_TRY(code_closely(&c, stream, err));
        FLOE_CUDA(err, floe_cells_sort_cuda(&c.cells, stream));
        FLOE_CUDA(err, floe_zfp_grid_plan_cuda(&c, FLOE_ZFP_CLOSELY, stream));
    }
    FLOE_TRY(code(&c, FLOE_ZFP_REVERSIBLY, stream, err));
    FLOE_CUDA(err, floe_zfp_grid_plan_cuda(&c, FLOE_ZFP_REVERSIBLY, stream));
    if (c.lossy) {
        FLOE_TRY(code(&c, FLOE_ZFP_CLOSELY_AGAIN, stream, err));
        FLOE_CUDA(err, floe_zfp_grid_plan_cuda(&c, FLOE_ZFP_CLOSELY_AGAIN, stream));
    }
    FLOE_CUDA(err, floe_zfp_grid_place_cuda(&c, stream));
    FLOE_CUDA(err, floe_zfp_grid_write_cuda(&c, stream));
    FLOE_CUDA(err, floe_cells_write_cuda(&c.cells, stream));
    return FLOE_OK;
}

static floe_status squared_error(const floe_codec_encode *e, const floe_codec_params *params, double *sum, void *stream,
                                 floe_error *err)
{
    FLOE_CUDA(err, cudaMemcpyAsync(e->params, params, sizeof *params, cudaMemcpyHostToDevice, stream));
    FLOE_CUDA(err, cudaStreamSynchronize(stream)); /* before the caller changes them */
    FLOE_TRY(clear(encode_of(e), stream, err));
    FLOE_CUDA(err, floe_zfp_grid_begin_cuda(encode_of(e), stream));
    FLOE_TRY(code_closely(encode_of(e), stream, err));
    FLOE_CUDA(err, floe_zfp_grid_error_sum_cuda(encode_of(e), sum, stream));
    return FLOE_OK;
}

/* ---- decompression ------------------------------------------------------------------------------------------------- */

static floe_status decode_plan(floe_codec_decode *d, floe_error *err)
{
    floe_zfp_grid_decode *c = decode_own(d);
    floe_dev_grid grid;
    *c = (floe_zfp_grid_decode){.max_chunks = 0};
    FLOE_TRY(floe_zfp_grid_of(d->dtype, d->rank, d->shape, d->chunk, &grid, &c->room, err));
    c->max_chunks = d->nchunks = grid.nchunks;
    d->any = true;
    return FLOE_OK;
}

void floe_zfp_grid_decode_take(floe_zfp_grid_decode *c, floe_arena *a)
{
    c->chunks = floe_arena_take(a, c->max_chunks, sizeof *c->chunks);
    c->cells = (floe_cells_grid){.nchunks = c->max_chunks, .nwords = c->room.nwords, .nspans = c->room.nspans};
    c->cells.chunks = floe_arena_take(a, c->max_chunks, sizeof *c->cells.chunks);
    c->cells.spans = floe_arena_take(a, c->max_chunks * c->room.nspans, sizeof *c->cells.spans);
    c->places = floe_arena_take(a, c->max_chunks * (c->room.nblocks + 1), sizeof *c->places);
}

floe_status floe_zfp_grid_decode_start(const floe_zfp_grid_decode *call, void *stream, floe_error *err)
{
    floe_zfp_grid_decode c = *call;
    c.cells.stream = (uint8_t *)(uintptr_t)c.stream;
    c.cells.status = c.status;
    c.cells.dev_nchunks = c.nrecords;
    FLOE_CUDA(err, kernels_of(&c.field)->grid_decode(&c, stream));
    FLOE_CUDA(err, floe_cells_put_cuda(&c.cells, stream));
    return FLOE_OK;
}

static void decode_take(floe_codec_decode *d, floe_arena *arena) { floe_zfp_grid_decode_take(decode_own(d), arena); }

static void decode_aim(floe_codec_decode *d)
{
    floe_zfp_grid_decode *c = decode_own(d);
    c->field = d->field;
    memcpy(c->lo, d->lo, sizeof c->lo);
    memcpy(c->hi, d->hi, sizeof c->hi);
    c->layout = d->layout;
    c->nrecords = d->nrecords;
    c->records = d->records;
    c->stream = d->stream;
    c->status = d->status;
    d->opened = NULL;
}

static floe_status decode_open(const floe_codec_decode *d, void *stream, floe_error *err)
{
    if (d->nchunks > 0)
        FLOE_CUDA(err, floe_zfp_grid_open_cuda(decode_of(d), stream));
    return FLOE_OK;
}

static floe_status decode_start(const floe_codec_decode *d, void *stream, floe_error *err)
{
    return d->nchunks > 0 ? floe_zfp_grid_decode_start(decode_of(d), stream, err) : FLOE_OK;
}

/* ---- the row ----------------------------------------------------------------------------------------------------- */

#define F32(name, parameters) floe_zfp_##name##_f32,
#define F64(name, parameters) floe_zfp_##name##_f64,

const floe_zfp_kernels *floe_zfp_kernels_of(bool narrow)
{
    static const floe_zfp_kernels f32 = {FLOE_ZFP_KERNELS(F32)}, f64 = {FLOE_ZFP_KERNELS(F64)};
    return narrow ? &f32 : &f64;
}

const floe_codec_device floe_zfp_gpu = {
    .params_nbytes = sizeof(floe_codec_params),
    .encode_plan = encode_plan,
    .encode_take = encode_take,
    .encode_aim = encode_aim,
    .resolve = resolve,
    .encode_start = encode_start,
    .squared_error = squared_error,
    .decode_plan = decode_plan,
    .decode_take = decode_take,
    .decode_aim = decode_aim,
    .decode_open = decode_open,
    .decode_start = decode_start,
};

#endif
