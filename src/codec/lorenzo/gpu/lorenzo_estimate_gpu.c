/* SPDX-License-Identifier: BSD-3-Clause */
/* What codec lorenzo would take of a field in device memory, by boxes of it: they become a small field, which is coded. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include <cuda_runtime_api.h>
#include <string.h>

#include "backend/cuda.h"
#include "base/try.h"
#include "codec/lorenzo/cpu/lorenzo_chunk.h"
#include "codec/lorenzo/gpu/lorenzo_cuda.h"
#include "field/boxes_cuda.h"
#include "field/dtype_math.h"

typedef struct sample {
    floe_codec_encode encode;
    uint64_t part[FLOE_MAX_RANK], ncells; /* of a box's tiles */
    uint32_t *status;
} sample;

static floe_status take(const floe_codec_boxes *b, sample *s, floe_arena *a, floe_error *err)
{
    const floe_codec_params *p = b->params;
    floe_codec_encode *e = &s->encode;
    int64_t stride = 1;
    *e = (floe_codec_encode){.preset = p->preset, .mode = p->mode, .field = {.dtype = p->dtype, .rank = b->rank}};
    s->ncells = floe_lorenzo_estimate_shape(b, s->part, e->field.shape);
    memcpy(e->chunk, e->field.shape, sizeof e->chunk);
    for (uint32_t i = b->rank; i-- > 0; stride *= (int64_t)e->field.shape[i])
        e->field.stride[i] = stride;
    s->status = e->status = floe_arena_take(a, 1, sizeof *s->status);
    e->params = floe_arena_take(a, 1, floe_lorenzo_gpu.params_nbytes);
    e->field.data = floe_arena_take(a, b->n * s->ncells, floe_dtype_size(p->dtype));
    e->capacity = FLOE_RECORD_HEAD_NBYTES + floe_lorenzo_bound(p, b->rank, e->chunk);
    e->stream = floe_arena_take(a, e->capacity, 1);
    FLOE_TRY(floe_lorenzo_gpu.encode_plan(e, err));
    return floe_lorenzo_gpu.encode_take(e, a, a, err);
}

size_t floe_lorenzo_gpu_estimate_workspace(const floe_codec_boxes *boxes)
{
    sample s;
    floe_arena plan = floe_arena_plan();
    return take(boxes, &s, &plan, NULL) == FLOE_OK && !plan.overflow ? plan.used : 0;
}

static floe_status gather(const floe_codec_boxes *b, const sample *s, void *stream, floe_error *err)
{
    floe_boxes_job job = {.from = b->data,
                          .to = s->encode.field.data,
                          .narrow = floe_dtype_is_narrow(b->params->dtype),
                          .nboxes = b->n,
                          .extent = {1, 1, 1, 1}};
    const uint32_t first = FLOE_MAX_RANK - b->rank;
    memcpy(job.extent + first, s->part, b->rank * sizeof *s->part);
    memcpy(job.stride + first, b->stride, b->rank * sizeof *b->stride);
    static_assert((int)FLOE_BOXES_MOST == (int)FLOE_CODEC_BOXES, "all boxes");
    memcpy(job.at, b->at, sizeof job.at);
    FLOE_CUDA(err, floe_boxes_gather_cuda(&job, stream));
    return FLOE_OK;
}

static floe_status encode(const floe_codec_boxes *b, sample *s, void *stream, floe_error *err)
{
    floe_codec_encode *e = &s->encode;
    const floe_resolve_job known = floe_resolve_known(e, b->params, FLOE_ARENA_ALIGN);
    floe_lorenzo_gpu.encode_aim(e);
    FLOE_TRY(floe_lorenzo_gpu.resolve(e, &known, stream, err));
    return floe_lorenzo_gpu.encode_start(e, stream, err);
}

floe_status floe_lorenzo_gpu_estimate(const floe_codec_boxes *boxes, floe_arena *scratch, double *bits, void *stream,
                                      floe_error *err)
{
    sample s;
    floe_dev_record record;
    uint32_t book, status;
    FLOE_TRY(take(boxes, &s, scratch, err));
    FLOE_TRY(gather(boxes, &s, stream, err));
    FLOE_TRY(encode(boxes, &s, stream, err));
    const floe_lorenzo_encode_call *c = floe_lorenzo_encode_of(&s.encode);
    FLOE_CUDA(err, cudaMemcpyAsync(&record, c->records, sizeof record, cudaMemcpyDeviceToHost, stream));
    FLOE_CUDA(err, cudaMemcpyAsync(&book, c->book_nwords, sizeof book, cudaMemcpyDeviceToHost, stream));
    FLOE_CUDA(err, cudaMemcpyAsync(&status, s.status, sizeof status, cudaMemcpyDeviceToHost, stream));
    FLOE_CUDA(err, cudaStreamSynchronize(stream));
    FLOE_CHECK(err, status == FLOE_OK, (floe_status)status, "%s", floe_status_text((floe_status)status));
    *bits = floe_lorenzo_estimate_bits(boxes, s.ncells, record.nbytes, book);
    return FLOE_OK;
}

#endif
