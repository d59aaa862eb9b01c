/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/device_sample.h"

#ifdef FLOE_HAVE_CUDA_BUILD

#include <cuda_runtime_api.h>

#include "base/bytes.h"
#include "call/chunking.h"
#include "codec/resolve/resolve_cuda.h"
#include "container/container.h"
#include "field/boxes_cuda.h"
#include "field/dtype_math.h"
#include "field/look_cuda.h"

typedef struct coding {
    const floe_codec_device *codec;
    floe_codec_encode encode;
    uint32_t *status;
    double *sum; /* of squared errors */
} coding;

static floe_status coding_take(floe_ctx *ctx, const floe_sample *s, floe_codec codec, floe_arena *a, coding *c)
{
    const floe_header h = floe_sample_header(s, codec);
    floe_sizing sizing;
    const floe_field values = floe_sample_values(s, codec);
    floe_codec_encode *e = &c->encode;
    *e = (floe_codec_encode){
        .field = floe_dev_field_of(&values), .preset = h.preset, .mode = h.mode, .cuda = &ctx->cuda};
    memcpy(e->chunk, h.shape, sizeof e->chunk);
    FLOE_TRY(floe_device_codec(codec, h.dtype, &c->codec, &ctx->err));
    FLOE_TRY(floe_sizing_of(NULL, &h, &sizing, &ctx->err));
    c->status = e->status = floe_arena_take(a, 1, sizeof *c->status);
    c->sum = floe_arena_take(a, 1, sizeof *c->sum);
    e->params = floe_arena_take(a, 1, c->codec->params_nbytes);
    e->capacity = floe_record_nbytes(sizing.payload_nbytes);
    e->stream = floe_arena_take(a, e->capacity, 1);
    FLOE_TRY(c->codec->encode_plan(e, &ctx->err));
    return c->codec->encode_take(e, a, a, &ctx->err);
}

static size_t most_nbytes(floe_ctx *ctx, const floe_sample *s, const floe_choice *choice)
{
    size_t most = 0;
    for (uint32_t i = 0; i < choice->n; i++) {
        floe_arena plan = floe_arena_plan();
        coding c;
        floe_arena_take(&plan, floe_sample_room_nbytes(s), 1);
        if (!floe_codec_on_gpu(floe_codec_of(choice->codecs[i]), s->header.dtype) ||
            coding_take(ctx, s, choice->codecs[i], &plan, &c) != FLOE_OK || plan.overflow)
            return 0;
        most = plan.used > most ? plan.used : most;
    }
    return most;
}

static size_t estimates_nbytes(const floe_sample *s, const floe_choice *choice)
{
    size_t most = 0;
    for (uint32_t i = 0; i < choice->n; i++) {
        const floe_codec_params params = floe_sample_params(s, choice->codecs[i]);
        const floe_codec_boxes boxes = floe_sample_boxes(s, &params);
        const size_t nbytes = floe_codec_of(choice->codecs[i])->device->estimate_workspace(&boxes);
        most = nbytes > most ? nbytes : most;
    }
    return most;
}

size_t floe_device_sample_nbytes(floe_ctx *ctx, const floe_sample *s, const floe_choice *choice)
{
    const floe_choice first = {1, false, {choice->codecs[0]}};
    const floe_sample whole = floe_sample_whole(s);
    const size_t coded = floe_sample_is_coded(s) ? most_nbytes(ctx, s, s->estimates ? &first : choice) : 0,
                 estimated = s->estimates ? estimates_nbytes(s, choice) : 0,
                 all = s->widens ? most_nbytes(ctx, &whole, choice) : 0;
    return (size_t)floe_max64(floe_max64(coded, estimated), all);
}

/* A box of the field to device memory. */
static floe_status read_box(void *user, const uint64_t *lo, const floe_field *to)
{
    const floe_device_sample *d = user;
    const floe_field box = floe_field_box(d->field, lo, to->shape);
    floe_boxes_job job = {.from = box.data, .to = to->data, .nboxes = 1, .extent = {1, 1, 1, 1}};
    const uint32_t first = FLOE_MAX_RANK - box.rank;
    job.narrow = floe_dtype_size(box.dtype) == 4;
    memcpy(job.extent + first, box.shape, box.rank * sizeof *box.shape);
    memcpy(job.stride + first, box.stride, box.rank * sizeof *box.stride);
    FLOE_CUDA(&d->ctx->err, floe_boxes_gather_cuda(&job, d->ctx->cuda.stream));
    return FLOE_OK;
}

/* The bytes stay on the device. */
static floe_status code(void *user, const floe_sample *s, floe_trial *trial, const uint8_t **bytes, double *squares)
{
    (void)bytes;
    const floe_device_sample *d = user;
    const floe_cuda *cuda = &d->ctx->cuda;
    floe_error *err = &d->ctx->err;
    floe_arena a = floe_arena_of(d->room, d->nbytes);
    coding c;
    uint32_t status;
    floe_arena_take(&a, floe_sample_room_nbytes(s), 1);
    FLOE_TRY(coding_take(d->ctx, s, trial->params.codec, &a, &c));
    const floe_resolve_job known = floe_resolve_known(&c.encode, &trial->params, FLOE_ARENA_ALIGN);
    c.codec->encode_aim(&c.encode);
    FLOE_TRY(c.codec->resolve(&c.encode, &known, cuda->stream, err));
    if (squares) {
        FLOE_TRY(c.codec->squared_error(&c.encode, &trial->params, c.sum, cuda->stream, err));
        return floe_cuda_fetch(cuda, squares, c.sum, sizeof *squares, err);
    }
    FLOE_TRY(c.codec->encode_start(&c.encode, cuda->stream, err));
    FLOE_TRY(floe_cuda_bring(cuda, 0, &c.encode.records->nbytes, sizeof trial->nbytes, err));
    FLOE_TRY(floe_cuda_bring(cuda, sizeof trial->nbytes, c.status, sizeof status, err));
    FLOE_TRY(floe_cuda_wait(cuda, err));
    memcpy(&trial->nbytes, cuda->fetched, sizeof trial->nbytes);
    memcpy(&status, (const uint8_t *)cuda->fetched + sizeof trial->nbytes, sizeof status);
    FLOE_CHECK(err, status == FLOE_OK, (floe_status)status, "%s", floe_status_text((floe_status)status));
    return FLOE_OK;
}

static floe_status find_bits(void *user, const floe_sample *s, uint64_t *bits)
{
    const floe_device_sample *d = user;
    const floe_cuda *cuda = &d->ctx->cuda;
    const floe_look look = floe_sample_look_at(s, d->field);
    FLOE_CUDA(&d->ctx->err, floe_look_cuda(&look, NULL, d->room, cuda->stream));
    return floe_cuda_fetch(cuda, bits, d->room, floe_look_nplaces(&look) * sizeof *bits, &d->ctx->err);
}

/* By boxes where they are in the field: the room is scratch. */
static floe_status estimate(void *user, const floe_sample *s, floe_codec_boxes *boxes, double *bits)
{
    const floe_device_sample *d = user;
    floe_arena scratch = floe_arena_of(d->room, d->nbytes);
    boxes->data = d->field->data;
    memcpy(boxes->stride, d->field->stride, sizeof boxes->stride);
    for (uint32_t b = 0; b < boxes->n; b++) {
        uint64_t lo[FLOE_MAX_RANK];
        floe_sample_place(s, b, lo);
        for (uint32_t i = 0; i < boxes->rank; i++)
            boxes->at[b] += (int64_t)lo[i] * d->field->stride[i];
    }
    return floe_codec_of(boxes->params->codec)
        ->device->estimate(boxes, &scratch, bits, d->ctx->cuda.stream, &d->ctx->err);
}

floe_status floe_device_sample_load(floe_device_sample *d, floe_sample *s)
{
    s->values = d->room;
    s->read = read_box;
    s->code = code;
    s->find_bits = find_bits;
    s->estimate = estimate;
    s->user = d;
    return floe_sample_load(s);
}

#endif
