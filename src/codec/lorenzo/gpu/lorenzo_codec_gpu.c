/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/lorenzo/gpu/lorenzo_codec_gpu.h"

#include <string.h>

#include "backend/cuda.h"
#include "base/try.h"
#include "codec/lorenzo/format/lorenzo_params_math.h"
#include "codec/lorenzo/gpu/error/lorenzo_error.h"

FLOE_CODEC_OWN_FITS(floe_lorenzo_encode_call);
FLOE_CODEC_OWN_FITS(floe_lorenzo_decoding);

static void params_make(const floe_codec_params *params, void *to) { floe_lorenzo_params_make(params, to); }

/* ---- compression --------------------------------------------------------------------------------------------------- */

static floe_status encode_plan(floe_codec_encode *e, floe_error *err)
{
    floe_lorenzo_encode_call *c = floe_lorenzo_encode_own(e);
    *c = (floe_lorenzo_encode_call){.field = e->field,
                                    .huffman = e->preset != FLOE_PRESET_FAST,
                                    .lossless = e->mode != FLOE_BOUND_ABS && e->mode != FLOE_BOUND_PWREL,
                                    .lossy = e->mode != FLOE_BOUND_LOSSLESS,
                                    .first_offset = e->first_offset};
    FLOE_TRY(floe_lorenzo_grid(e->field.rank, e->field.shape, e->chunk, &c->grid, err));
    e->nchunks = c->grid.nchunks;
    return FLOE_OK;
}

static floe_status encode_take(floe_codec_encode *e, floe_arena *state, floe_arena *arena, floe_error *err)
{
    (void)err;
    floe_lorenzo_encode_call *c = floe_lorenzo_encode_own(e);
    floe_lorenzo_state_take(c, state);
    floe_lorenzo_encode_take(c, arena);
    if (e->mode == FLOE_BOUND_PSNR)
        c->error_tiles = floe_arena_take(arena, c->grid.nchunks * c->grid.slots, sizeof *c->error_tiles);
    e->records = c->records;
    e->end = c->end;
    return FLOE_OK;
}

static void encode_aim(floe_codec_encode *e)
{
    floe_lorenzo_encode_call *c = floe_lorenzo_encode_own(e);
    c->stream = e->stream;
    c->capacity = e->capacity;
    c->status = e->status;
    c->params = e->params;
    e->met = (floe_dev_met){c->chunks->gathered, &c->chunks->attempt, sizeof *c->chunks};
    e->again = floe_lorenzo_ends_with_attempt(c) ? c->retry : NULL;
}

static floe_status encode_begin(const floe_codec_encode *e, void *stream, floe_error *err)
{
    FLOE_CUDA(err, floe_lorenzo_begin_cuda(floe_lorenzo_encode_of(e), stream));
    return FLOE_OK;
}

static floe_status resolve(const floe_codec_encode *e, const floe_resolve_job *job, void *stream, floe_error *err)
{
    floe_dev_params params = {.codec = job->codec};
    if (!floe_resolve_scans(job))
        floe_lorenzo_params_make(&job->codec, &params);
    FLOE_CUDA(err, floe_lorenzo_resolve_cuda(floe_lorenzo_encode_of(e), job, &params, stream));
    return FLOE_OK;
}

static floe_status encode_start(const floe_codec_encode *e, void *stream, floe_error *err)
{
    return floe_lorenzo_encode_start(floe_lorenzo_encode_of(e), stream, err);
}

static floe_status squared_error(const floe_codec_encode *e, const floe_codec_params *params, double *sum, void *stream,
                                 floe_error *err)
{
    const floe_lorenzo_encode_call *c = floe_lorenzo_encode_of(e);
    floe_lorenzo_error_job job = {
        .params = *params, .grid = c->grid, .chunks = c->chunks, .tiles = c->error_tiles, .sum = sum};
    FLOE_CUDA(err, floe_lorenzo_squared_error_cuda(&job, stream));
    return FLOE_OK;
}

/* ---- decompression ------------------------------------------------------------------------------------------------- */

static floe_status decode_plan(floe_codec_decode *d, floe_error *err)
{
    floe_lorenzo_decoding *own = floe_lorenzo_decode_own(d);
    *own = (floe_lorenzo_decoding){.job.call.field.dtype = d->dtype};
    FLOE_TRY(floe_lorenzo_grid(d->rank, d->shape, d->chunk, &own->grid, err));
    d->nchunks = own->grid.nchunks;
    own->room =
        (floe_lorenzo_decode_room){.max_chunks = d->nchunks,
                                   .max_slots = d->nchunks * own->grid.slots,
                                   .huffman = d->any || d->preset != FLOE_PRESET_FAST,
                                   .tables = d->any || (d->mode != FLOE_BOUND_ABS && d->mode != FLOE_BOUND_PWREL)};
    d->any = own->room.huffman && own->room.tables;
    return FLOE_OK;
}

static void decode_take(floe_codec_decode *d, floe_arena *arena)
{
    floe_lorenzo_decoding *own = floe_lorenzo_decode_own(d);
    floe_lorenzo_decode_call *c = &own->job.call;
    c->grid = floe_arena_take(arena, 1, sizeof *c->grid);
    floe_lorenzo_decode_take(c, &own->room, arena);
}

static void decode_aim(floe_codec_decode *d)
{
    floe_lorenzo_decoding *own = floe_lorenzo_decode_own(d);
    floe_lorenzo_decode_call *c = &own->job.call;
    c->field = d->field;
    memcpy(c->lo, d->lo, sizeof c->lo);
    memcpy(c->hi, d->hi, sizeof c->hi);
    c->layout = d->layout;
    c->records = d->records;
    c->stream = d->stream;
    c->status = d->status;
    memcpy(own->job.shape, d->shape, sizeof d->shape);
    own->job.nbytes = d->nbytes;
    own->job.dev_nbytes = d->dev_nbytes;
    d->opened = &c->chunks->opened;
    d->opened_stride = sizeof *c->chunks;
    if (!d->records)
        floe_lorenzo_guess_of(&own->grid, c, &own->job.guess);
}

static floe_status decode_open(const floe_codec_decode *d, void *stream, floe_error *err)
{
    FLOE_CUDA(err, floe_lorenzo_open_cuda(&floe_lorenzo_decode_of(d)->job, stream));
    return FLOE_OK;
}

static floe_status decode_start(const floe_codec_decode *d, void *stream, floe_error *err)
{
    const floe_lorenzo_decode_call *c = &floe_lorenzo_decode_of(d)->job.call;
    FLOE_CUDA(err, floe_lorenzo_books_cuda(c, stream));
    FLOE_CUDA(err, floe_lorenzo_decode_cuda(c, stream));
    return FLOE_OK;
}

const floe_codec_device floe_lorenzo_gpu = {
    .params_nbytes = sizeof(floe_dev_params),
    .params_make = params_make,
    .encode_plan = encode_plan,
    .encode_take = encode_take,
    .encode_aim = encode_aim,
    .encode_begin = encode_begin,
    .resolve = resolve,
    .encode_start = encode_start,
    .squared_error = squared_error,
    .opens_early = true,
    .decode_plan = decode_plan,
    .decode_take = decode_take,
    .decode_aim = decode_aim,
    .decode_open = decode_open,
    .decode_start = decode_start,
};

#endif
