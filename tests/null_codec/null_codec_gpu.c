/* SPDX-License-Identifier: BSD-3-Clause */
/* What a codec has to offer on a GPU, at its least. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "null_codec_gpu.h"

#include <cuda_runtime_api.h>
#include <string.h>

#include "backend/cuda.h"
#include "base/bytes.h"
#include "base/try.h"

FLOE_CODEC_OWN_FITS(null_encode);
FLOE_CODEC_OWN_FITS(null_decode);

static null_encode *encode_own(floe_codec_encode *e) { return (void *)e->own.bytes; }
static const null_encode *encode_of(const floe_codec_encode *e) { return (const void *)e->own.bytes; }

static uint64_t count_chunks(uint32_t rank, const uint64_t *shape, const uint64_t *chunk)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < rank; i++)
        n *= chunk[i] ? floe_ceil_div(shape[i], chunk[i]) : 0;
    return n;
}

static floe_status encode_plan(floe_codec_encode *e, floe_error *err)
{
    null_encode *c = encode_own(e);
    *c = (null_encode){.field = e->field, .first_offset = e->first_offset};
    memcpy(c->grid.shape, e->field.shape, sizeof c->grid.shape);
    memcpy(c->grid.chunk, e->chunk, sizeof c->grid.chunk);
    c->grid.nchunks = e->nchunks = count_chunks(e->field.rank, e->field.shape, e->chunk);
    FLOE_CHECK(err, e->nchunks < UINT32_MAX, FLOE_ERR_LIMIT, "too many chunks");
    return FLOE_OK;
}

static floe_status encode_take(floe_codec_encode *e, floe_arena *state, floe_arena *arena, floe_error *err)
{
    (void)state, (void)err;
    null_encode *c = encode_own(e);
    e->records = c->records = floe_arena_take(arena, e->nchunks, sizeof *c->records);
    e->end = c->end = floe_arena_take(arena, 1, sizeof *c->end);
    c->stats = floe_arena_take(arena, e->nchunks, sizeof *c->stats);
    return FLOE_OK;
}

static void encode_aim(floe_codec_encode *e)
{
    null_encode *c = encode_own(e);
    c->stream = e->stream;
    c->capacity = e->capacity;
    c->status = e->status;
    e->chunk_stats = (floe_dev_stats_of_chunks){c->stats, NULL, sizeof *c->stats};
}

static floe_status resolve(const floe_codec_encode *e, const floe_resolve_job *job, void *stream, floe_error *err)
{
    FLOE_CUDA(err, floe_null_resolve_cuda(encode_of(e), job, stream));
    return FLOE_OK;
}

static floe_status encode_start(const floe_codec_encode *e, void *stream, floe_error *err)
{
    FLOE_CUDA(err, floe_null_encode_cuda(encode_of(e), stream));
    return FLOE_OK;
}

static floe_status squared_error(const floe_codec_encode *e, const floe_codec_params *params, double *sum, void *stream,
                                 floe_error *err)
{
    (void)e, (void)params;
    FLOE_CUDA(err, cudaMemsetAsync(sum, 0, sizeof *sum, stream));
    return FLOE_OK;
}

static floe_status decode_plan(floe_codec_decode *d, floe_error *err)
{
    d->nchunks = count_chunks(d->rank, d->shape, d->chunk);
    d->any = true;
    FLOE_CHECK(err, d->nchunks < UINT32_MAX, FLOE_ERR_LIMIT, "too many chunks");
    return FLOE_OK;
}

static void decode_take(floe_codec_decode *d, floe_arena *arena) { (void)d, (void)arena; }

static floe_status decode_start(const floe_codec_decode *d, void *stream, floe_error *err)
{
    null_decode c = {.field = d->field,
                     .layout = d->layout,
                     .nrecords = d->nrecords,
                     .records = d->records,
                     .stream = d->stream,
                     .max_chunks = d->nchunks,
                     .status = d->status};
    memcpy(c.lo, d->lo, sizeof c.lo);
    memcpy(c.hi, d->hi, sizeof c.hi);
    FLOE_CUDA(err, floe_null_decode_cuda(&c, stream));
    return FLOE_OK;
}

const floe_codec_device floe_null_gpu = {
    .params_nbytes = sizeof(floe_codec_params),
    .encode_plan = encode_plan,
    .encode_take = encode_take,
    .encode_aim = encode_aim,
    .resolve = resolve,
    .encode_start = encode_start,
    .squared_error = squared_error,
    .decode_plan = decode_plan,
    .decode_take = decode_take,
    .decode_start = decode_start,
};

#endif
