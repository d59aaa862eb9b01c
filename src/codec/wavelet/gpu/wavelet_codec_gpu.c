/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/wavelet/gpu/wavelet_codec_gpu.h"

#include "backend/cuda.h"
#include "codec/resolve/resolve_cuda.h"
#include "codec/wavelet/gpu/wavelet_encode_gpu.h"
#include "field/dtype_math.h"

FLOE_CODEC_OWN_FITS(floe_wavelet_gpu_encode);
FLOE_CODEC_OWN_FITS(floe_wavelet_gpu_decode);

static floe_wavelet_gpu_encode *encode_own(floe_codec_encode *e) { return (void *)e->own.bytes; }
static const floe_wavelet_gpu_encode *encode_of(const floe_codec_encode *e) { return (const void *)e->own.bytes; }
static floe_wavelet_gpu_decode *decode_own(floe_codec_decode *d) { return (void *)d->own.bytes; }
static const floe_wavelet_gpu_decode *decode_of(const floe_codec_decode *d) { return (const void *)d->own.bytes; }

static uint64_t nchunks_of(uint32_t rank, const uint64_t *shape, const uint64_t *chunk)
{
    uint64_t n = 1;
    for (uint32_t a = 0; a < rank; a++)
        n *= chunk[a] ? floe_ceil_div(shape[a], chunk[a]) : 0;
    return n;
}

static floe_status encode_plan(floe_codec_encode *e, floe_error *err)
{
    floe_wavelet_gpu_encode *c = encode_own(e);
    *c = (floe_wavelet_gpu_encode){.chunks = NULL};
    e->nchunks = nchunks_of(e->field.rank, e->field.shape, e->chunk);
    return e->nchunks ? floe_wavelet_gpu_encode_room(e, &c->room, err) : FLOE_OK;
}

static floe_status encode_take(floe_codec_encode *e, floe_arena *state, floe_arena *arena, floe_error *err)
{
    floe_wavelet_gpu_encode *c = encode_own(e);
    (void)state, (void)err;
    floe_wavelet_gpu_encode_take(c, e->nchunks, floe_dtype_size(e->field.dtype), arena);
    e->records = c->chunks;
    e->end = c->end;
    return FLOE_OK;
}

static void encode_aim(floe_codec_encode *e)
{
    const floe_wavelet_gpu_encode *c = encode_of(e);
    e->met = (floe_dev_stats_of_chunks){c->stats, NULL, sizeof *c->stats};
    e->again = NULL;
}

static floe_status resolve(const floe_codec_encode *e, const floe_resolve_job *job, void *stream, floe_error *err)
{
    (void)e;
    FLOE_CUDA(err, floe_resolve_alone_cuda(job, stream));
    return FLOE_OK;
}

static floe_status encode_start(const floe_codec_encode *e, void *stream, floe_error *err)
{
    return floe_wavelet_gpu_encode_start(encode_of(e), e, stream, err);
}

static floe_status squared_error(const floe_codec_encode *e, const floe_codec_params *params, double *sum, void *stream,
                                 floe_error *err)
{
    return floe_wavelet_gpu_squared_error(encode_of(e), e, params, sum, stream, err);
}

static floe_status decode_plan(floe_codec_decode *d, floe_error *err)
{
    floe_wavelet_gpu_decode *c = decode_own(d);
    *c = (floe_wavelet_gpu_decode){.cursor = NULL};
    d->any = d->any || d->level == 0;
    d->nchunks = nchunks_of(d->rank, d->shape, d->chunk);
    return d->nchunks ? floe_wavelet_gpu_decode_room_of(d, &c->room, err) : FLOE_OK;
}

static void decode_take(floe_codec_decode *d, floe_arena *arena)
{
    floe_wavelet_gpu_decode_take(decode_own(d), floe_dtype_size(d->dtype), arena);
}

static void decode_aim(floe_codec_decode *d) { d->opened = NULL; }

static floe_status decode_open(const floe_codec_decode *d, void *stream, floe_error *err)
{
    (void)d, (void)stream, (void)err;
    return FLOE_OK;
}

static floe_status decode_start(const floe_codec_decode *d, void *stream, floe_error *err)
{
    return d->nchunks > 0 ? floe_wavelet_gpu_decode_start(decode_of(d), d, stream, err) : FLOE_OK;
}

const floe_codec_device floe_wavelet_gpu = {
    .waits = true,
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
