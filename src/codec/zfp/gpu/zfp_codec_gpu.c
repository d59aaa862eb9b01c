/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/zfp/gpu/zfp_grid.h"

#include <cuda_runtime_api.h>
#include <string.h>

#include "backend/cuda.h"
#include "base/try.h"
#include "codec/zfp/gpu/zfp_kernels.h"

FLOE_CODEC_OWN_FITS(floe_zfp_grid_encode);
FLOE_CODEC_OWN_FITS(floe_zfp_grid_decode);

static floe_zfp_grid_encode *encode_own(floe_codec_encode *e) { return (void *)e->own.bytes; }
static const floe_zfp_grid_encode *encode_of(const floe_codec_encode *e) { return (const void *)e->own.bytes; }
static floe_zfp_grid_decode *decode_own(floe_codec_decode *d) { return (void *)d->own.bytes; }
static const floe_zfp_grid_decode *decode_of(const floe_codec_decode *d) { return (const void *)d->own.bytes; }

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

static floe_status encode_take(floe_codec_encode *e, floe_arena *state, floe_arena *arena, floe_error *err)
{
    (void)state;
    floe_zfp_grid_encode *c = encode_own(e);
    FLOE_TRY(floe_zfp_grid_encode_take(c, e->mode == FLOE_BOUND_PSNR, arena, err));
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
    e->met = (floe_dev_stats_of_chunks){c->stats, NULL, sizeof *c->stats};
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

static floe_status encode_start(const floe_codec_encode *e, void *stream, floe_error *err)
{
    return floe_zfp_grid_encode_start(encode_of(e), stream, err);
}

static floe_status squared_error(const floe_codec_encode *e, const floe_codec_params *params, double *sum, void *stream,
                                 floe_error *err)
{
    FLOE_CUDA(err, cudaMemcpyAsync(e->params, params, sizeof *params, cudaMemcpyHostToDevice, stream));
    FLOE_CUDA(err, cudaStreamSynchronize(stream)); /* before the caller changes them */
    FLOE_TRY(clear(encode_of(e), stream, err));
    FLOE_CUDA(err, floe_zfp_grid_begin_cuda(encode_of(e), stream));
    return floe_zfp_grid_squared_error(encode_of(e), sum, stream, err);
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
