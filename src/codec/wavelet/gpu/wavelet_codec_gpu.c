/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/wavelet/gpu/wavelet_codec_gpu.h"

#include "codec/wavelet/gpu/wavelet_encode_gpu.h"
#include "field/dtype_math.h"

FLOE_CODEC_OWN_FITS(floe_wavelet_gpu_encode);
FLOE_CODEC_OWN_FITS(floe_wavelet_gpu_decode);

static floe_status encode_plan(floe_codec_encode *e, floe_error *err)
{
    floe_wavelet_gpu_encode *c = (void *)e->own.bytes;
    *c = (floe_wavelet_gpu_encode){.records = NULL};
    e->nchunks = floe_codec_nchunks(e->field.rank, e->field.shape, e->chunk);
    return e->nchunks ? floe_wavelet_gpu_encode_room(e, c, err) : FLOE_OK;
}

static floe_status encode_take(floe_codec_encode *e, floe_arena *state, floe_arena *arena, floe_error *err)
{
    (void)state, (void)err;
    floe_codec_written_take(e, arena);
    floe_wavelet_gpu_encode_take((void *)e->own.bytes, floe_dtype_size(e->field.dtype), arena);
    return FLOE_OK;
}

static floe_status decode_plan(floe_codec_decode *d, floe_error *err)
{
    floe_wavelet_gpu_decode *c = (void *)d->own.bytes;
    *c = (floe_wavelet_gpu_decode){.cursor = NULL};
    d->any = d->any || d->level == 0;
    d->nchunks = floe_codec_nchunks(d->rank, d->shape, d->chunk);
    return d->nchunks ? floe_wavelet_gpu_decode_room_of(d, c, err) : FLOE_OK;
}

static void decode_take(floe_codec_decode *d, floe_arena *arena)
{
    floe_wavelet_gpu_decode_take((void *)d->own.bytes, floe_dtype_size(d->dtype), arena);
}

const floe_codec_device floe_wavelet_gpu = {
    .waits = true,
    .params_nbytes = sizeof(floe_codec_params),
    .encode_plan = encode_plan,
    .encode_take = encode_take,
    .encode_aim = floe_codec_written_aim,
    .resolve = floe_codec_resolve_alone,
    .encode_start = floe_wavelet_gpu_encode_start,
    .squared_error = floe_wavelet_gpu_squared_error,
    .decode_plan = decode_plan,
    .decode_take = decode_take,
    .decode_aim = floe_codec_aim_nothing,
    .decode_open = floe_codec_open_nothing,
    .decode_start = floe_wavelet_gpu_decode_start,
};

#endif
