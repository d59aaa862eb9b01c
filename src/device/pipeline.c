/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/try.h"
#include "call/chunking.h"
#include "field/field.h"

bool floe_pipeline_wanted(const floe_ctx *ctx, const floe_header *header)
{
    return ctx->backend == FLOE_BACKEND_CUDA && floe_codec_on_gpu(floe_codec_of(header->codec), header->dtype);
}

#ifdef FLOE_HAVE_CUDA_BUILD

#include <cuda_runtime_api.h>

#include "codec/resolve/resolve_cuda.h"
#include "container/container_cuda.h"
#include "device/device.h"
#include "device/fused.h"

/* What the host writes for the kernels that decode a chunk: a field that is this chunk. Pinned. */
typedef struct upload {
    uint64_t layout[2][FLOE_MAX_RANK], nrecords;
    floe_dev_record record;
} upload;

/* A buffer of pinned host memory that grows. */
typedef struct pinned {
    void *data;
    size_t nbytes;
} pinned;

/* Kernels copy 16 bytes at a time, and records are multiples of 8: so many behind one are touched, if not looked at. */
enum { BEHIND_NBYTES = 8 };

/* One chunk under way. */
typedef struct slot {
    cudaStream_t stream;
    cudaEvent_t reported, done;
    floe_arena arena; /* of device memory; what follows is taken from it for each chunk */
    void *dev_values;
    uint8_t *dev_stream;
    upload *dev_upload; /* decode */
    void *dev_params;   /* encode */
    uint32_t *dev_status;
    void *dev_tallies; /* of what finishes or verifies the record */
    size_t cleared_nbytes;
    floe_codec_encode encode;
    floe_codec_decode decode;
    pinned in, out, upload_space;
    pinned report; /* encode: a kernel writes it; decode: its status is a copy */
    uint64_t chunk;
    floe_field target; /* decode: where the values go */
    bool direct;       /* the target is pinned and contiguous: nothing is left to copy */
} slot;

typedef struct floe_pipeline {
    slot slots[FLOE_PIPELINE_DEPTH];
    floe_header header;
    const floe_codec_device *codec;
    floe_codec_params params; /* encode */
    uint64_t stream_nbytes;   /* room for a record */
    uint64_t nput, nfetched, ngot;
} floe_pipeline;

/* ---- memory -------------------------------------------------------------------------------------------------------- */

static floe_status pinned_grow(floe_ctx *ctx, pinned *p, size_t nbytes)
{
    if (nbytes <= p->nbytes)
        return FLOE_OK;
    FLOE_TRY(floe_ctx_pinned(ctx, p->nbytes, nbytes));
    cudaFreeHost(p->data);
    *p = (pinned){.data = NULL};
    const int error = (int)cudaMallocHost(&p->data, nbytes);
    if (error != cudaSuccess)
        ctx->pinned_nbytes -= nbytes;
    FLOE_TRY(floe_cuda_status(error, "cudaMallocHost", &ctx->err));
    p->nbytes = nbytes;
    return FLOE_OK;
}

static void slot_free(slot *s)
{
    pinned *all[] = {&s->in, &s->out, &s->upload_space, &s->report};
    for (int i = 0; i < 4; i++)
        cudaFreeHost(all[i]->data);
    if (s->reported)
        cudaEventDestroy(s->reported);
    if (s->done)
        cudaEventDestroy(s->done);
    if (s->stream)
        cudaStreamDestroy(s->stream);
    memset(s, 0, sizeof *s);
}

void floe_pipeline_drain(floe_ctx *ctx)
{
    for (int i = 0; ctx->pipeline && i < FLOE_PIPELINE_DEPTH; i++)
        if (ctx->pipeline->slots[i].stream)
            (void)cudaStreamSynchronize(ctx->pipeline->slots[i].stream); /* which has reported failures, or will */
    (void)cudaGetLastError();                                            /* but not to the next call */
}

static void pipeline_free(floe_ctx *ctx)
{
    int before;
    if (!ctx->pipeline || floe_cuda_enter(&ctx->cuda, &before, NULL) != FLOE_OK)
        return;
    for (int i = 0; i < FLOE_PIPELINE_DEPTH; i++)
        slot_free(&ctx->pipeline->slots[i]);
    floe_cuda_leave(before);
    free(ctx->pipeline);
    ctx->pipeline = NULL;
    ctx->pinned_nbytes = 0;
}

/* What is not there yet, as after a call that could not have all. */
static floe_status slot_open(floe_ctx *ctx, slot *s)
{
    floe_error *err = &ctx->err;
    if (!s->stream)
        FLOE_CUDA(err, cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    if (!s->reported)
        FLOE_CUDA(err, cudaEventCreateWithFlags(&s->reported, cudaEventDisableTiming));
    if (!s->done)
        FLOE_CUDA(err, cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming));
    FLOE_TRY(pinned_grow(ctx, &s->upload_space, sizeof(upload)));
    return pinned_grow(ctx, &s->report, sizeof(floe_device_report));
}

static floe_status pipeline_open(floe_ctx *ctx, const floe_codec_device *codec)
{
    if (!ctx->pipeline)
        ctx->pipeline = calloc(1, sizeof *ctx->pipeline);
    FLOE_CHECK(&ctx->err, ctx->pipeline, FLOE_ERR_MEMORY, "out of memory");
    ctx->pipeline->codec = codec;
    ctx->pipeline_free = pipeline_free;
    for (int i = 0; i < FLOE_PIPELINE_DEPTH; i++)
        FLOE_TRY(slot_open(ctx, &ctx->pipeline->slots[i]));
    return FLOE_OK;
}

/* ---- device memory of a slot ----------------------------------------------------------------------------------------- */

static void common_take(const floe_pipeline *p, slot *s, uint64_t nelems, floe_arena *a)
{
    s->dev_status = floe_arena_take(a, 1, sizeof *s->dev_status);
    s->dev_tallies = floe_arena_take(a, floe_max64(floe_container_finish_nbytes(1), floe_container_verify_nbytes(1)),
                                     1); /* cleared with the status */
    s->cleared_nbytes = a->used;
    s->dev_upload = floe_arena_take(a, 1, sizeof *s->dev_upload);
    s->dev_params = floe_arena_take(a, p->codec->params_nbytes, 1);
    s->dev_values = floe_arena_take(a, nelems, floe_dtype_size(p->header.dtype));
    s->dev_stream = floe_arena_take(a, p->stream_nbytes + BEHIND_NBYTES, 1);
}

/* An array of this extent in device memory, as if the chunk were the field. */
static floe_dev_field contiguous_of(const floe_header *h, const uint64_t *extent, void *dev)
{
    const floe_field layout = floe_field_of(NULL, h->dtype, h->rank, extent),
                     field = floe_field_contiguous(dev, &layout);
    return floe_dev_field_of(&field);
}

/* The pieces for a chunk of this extent; the arena may be a plan. */
static floe_status encode_take(const floe_pipeline *p, slot *s, const uint64_t *extent, floe_arena *a, floe_error *err)
{
    const floe_header *h = &p->header;
    floe_codec_encode *e = &s->encode;
    common_take(p, s, floe_extent_nelems(h->rank, extent), a);
    *e = (floe_codec_encode){.field = contiguous_of(h, extent, s->dev_values),
                             .preset = h->preset,
                             .mode = h->mode == FLOE_BOUND_PSNR ? FLOE_BOUND_REL : h->mode}; /* it has been resolved */
    memcpy(e->chunk, e->field.shape, sizeof e->chunk);
    FLOE_TRY(p->codec->encode_plan(e, err));
    return p->codec->encode_take(e, a, a, err);
}

static floe_status decode_take(const floe_pipeline *p, slot *s, const uint64_t *extent, uint64_t out_nelems,
                               floe_arena *a, floe_error *err)
{
    const floe_header *h = &p->header;
    floe_codec_decode *d = &s->decode;
    common_take(p, s, out_nelems, a);
    *d = (floe_codec_decode){.dtype = h->dtype, .rank = h->rank, .preset = h->preset, .mode = h->mode, .any = true};
    memcpy(d->shape, extent, h->rank * sizeof *extent);
    memcpy(d->chunk, extent, h->rank * sizeof *extent);
    FLOE_TRY(p->codec->decode_plan(d, err));
    p->codec->decode_take(d, a);
    return FLOE_OK;
}

/* Of full chunks, and of those that are cut at the far ends of axes: what a codec takes for trials may be more there. */
static floe_status encode_plan(const floe_pipeline *p, floe_arena *most, floe_error *err)
{
    floe_chunk_kind kinds[FLOE_CHUNKING_KINDS];
    const uint32_t n = floe_chunking_kinds(&p->header, kinds);
    for (uint32_t i = 0; i < n && !most->overflow; i++) {
        slot s = {.chunk = 0};
        floe_arena plan = floe_arena_plan();
        FLOE_TRY(encode_take(p, &s, kinds[i].extent, &plan, err));
        *most = plan.used > most->used || plan.overflow ? plan : *most;
    }
    return FLOE_OK;
}

/* Decoding takes most of the full chunk. */
static floe_status slot_plan(const floe_pipeline *p, bool encode, size_t *nbytes, floe_error *err)
{
    slot s = {.chunk = 0};
    floe_arena plan = floe_arena_plan();
    if (encode)
        FLOE_TRY(encode_plan(p, &plan, err));
    else
        FLOE_TRY(decode_take(p, &s, p->header.chunk, floe_extent_nelems(p->header.rank, p->header.chunk), &plan, err));
    FLOE_CHECK(err, !plan.overflow && plan.used <= SIZE_MAX / 2 / FLOE_PIPELINE_DEPTH, FLOE_ERR_MEMORY,
               "a chunk needs more device memory than can be addressed");
    *nbytes = (plan.used + 255) & ~(size_t)255;
    return FLOE_OK;
}

/* No more chunks are under way than there are. */
static uint32_t nslots(const floe_header *header)
{
    return (uint32_t)floe_min64(floe_grid_nchunks(header), FLOE_PIPELINE_DEPTH);
}

static uint64_t record_room(const floe_sizing *sizing) { return floe_record_nbytes(sizing->payload_nbytes) + 16; }

floe_status floe_pipeline_workspace_nbytes(floe_ctx *ctx, const floe_header *header, size_t *nbytes)
{
    floe_pipeline p = {.header = *header, .codec = floe_codec_of(header->codec)->device};
    floe_sizing sizing;
    size_t encode, decode;
    *nbytes = 0;
    if (!p.codec) /* the CPU's work */
        return FLOE_OK;
    FLOE_TRY(floe_sizing_of(NULL, header, &sizing, &ctx->err));
    p.stream_nbytes = record_room(&sizing);
    FLOE_TRY(slot_plan(&p, true, &encode, &ctx->err));
    FLOE_TRY(slot_plan(&p, false, &decode, &ctx->err));
    *nbytes = nslots(header) * (encode > decode ? encode : decode);
    return FLOE_OK;
}

static floe_status begin(floe_ctx *ctx, const floe_header *header, const floe_sizing *sizing, bool encode)
{
    size_t each;
    floe_arena plan = floe_arena_plan(), arena;
    FLOE_TRY(pipeline_open(ctx, floe_codec_of(header->codec)->device));
    floe_pipeline *p = ctx->pipeline;
    p->header = *header;
    p->stream_nbytes = record_room(sizing);
    p->nput = p->nfetched = p->ngot = 0;
    FLOE_TRY(floe_cuda_wait(&ctx->cuda, &ctx->err)); /* the workspace may still be in use on the caller's stream */
    if (floe_grid_nchunks(header) == 0)
        return FLOE_OK;
    FLOE_TRY(slot_plan(p, encode, &each, &ctx->err));
    floe_arena_take(&plan, nslots(header), each);
    FLOE_TRY(floe_cuda_workspace(&ctx->cuda, &plan, ctx->max_memory, &arena, &ctx->err));
    for (uint32_t i = 0; i < nslots(header); i++)
        p->slots[i].arena = floe_arena_of(arena.base + i * each, each);
    return FLOE_OK;
}

static slot *slot_of(floe_pipeline *p, uint64_t turn) { return &p->slots[turn % FLOE_PIPELINE_DEPTH]; }

/* ---- copies between host arrays -------------------------------------------------------------------------------------- */

/* What a thread copies at least: less takes no longer alone than it takes to wait for others that are kept from running. */
enum { A_SHARE = 4 << 20 };

static uint64_t field_nbytes(const floe_field *f) { return floe_extent_nbytes(f->dtype, f->rank, f->shape); }

typedef struct copy_job {
    const floe_field *from, *to;
    uint32_t axis;
    uint64_t parts;
} copy_job;

static void copy_part(void *arg, uint64_t k, uint32_t worker)
{
    (void)worker;
    const copy_job *job = arg;
    uint64_t lo[FLOE_MAX_RANK] = {0}, extent[FLOE_MAX_RANK], n = job->from->shape[job->axis];
    memcpy(extent, job->from->shape, sizeof extent);
    lo[job->axis] = n * k / job->parts;
    extent[job->axis] = n * (k + 1) / job->parts - lo[job->axis];
    floe_field from = floe_field_box(job->from, lo, extent), to = floe_field_box(job->to, lo, extent);
    floe_field_copy(&from, &to);
}

/* Two resolved fields of the same shape, by as many threads as have a share. */
static void copy_parallel(const floe_cpu *cpu, const floe_field *from, const floe_field *to)
{
    copy_job job = {from, to, 0, 0};
    for (uint32_t i = 0; i < from->rank; i++)
        if (from->shape[i] > from->shape[job.axis])
            job.axis = i;
    for (uint32_t i = 0; i < from->rank; i++) /* the slowest axis that is long enough */
        if (from->shape[i] >= 4 * (uint64_t)cpu->threads) {
            job.axis = i;
            break;
        }
    const uint64_t shares = floe_min64(4 * (uint64_t)cpu->threads, field_nbytes(from) / A_SHARE);
    job.parts = floe_min64(floe_max64(shares, 1), from->shape[job.axis]);
    if (job.parts)
        floe_cpu_parallel(cpu, job.parts, copy_part, &job);
}

static void copy_bytes(const floe_cpu *cpu, const void *from, void *to, uint64_t nbytes)
{
    if (nbytes < A_SHARE) {
        memcpy(to, from, (size_t)nbytes);
        return;
    }
    const uint64_t words = nbytes / 4, part = words * 4;
    floe_field f = floe_field_of(from, FLOE_F32, 1, &words), t = floe_field_of(to, FLOE_F32, 1, &words);
    f.stride[0] = t.stride[0] = 1;
    copy_parallel(cpu, &f, &t);
    memcpy((uint8_t *)to + part, (const uint8_t *)from + part, (size_t)(nbytes - part));
}

static bool copies_directly(const floe_field *f)
{
    return floe_field_is_contiguous(f) && floe_cuda_pointer_kind(f->data) == FLOE_POINTER_PINNED;
}

/* ---- compression --------------------------------------------------------------------------------------------------- */

floe_status floe_pipeline_begin_encode(floe_ctx *ctx, const floe_header *header, const floe_codec_params *params)
{
    floe_sizing sizing;
    FLOE_TRY(floe_sizing_of(NULL, header, &sizing, &ctx->err));
    FLOE_TRY(begin(ctx, header, &sizing, true));
    ctx->pipeline->params = *params;
    return FLOE_OK;
}

/* The chunk's values to the device, by way of pinned memory where they are not, or do not stay. */
static floe_status values_send(floe_ctx *ctx, slot *s, const floe_field *view, bool stays)
{
    const void *from = view->data;
    if (!stays || !copies_directly(view)) {
        FLOE_TRY(pinned_grow(ctx, &s->in, (size_t)field_nbytes(view)));
        floe_field to = floe_field_contiguous(s->in.data, view);
        copy_parallel(&ctx->cpu, view, &to);
        from = s->in.data;
    }
    FLOE_CUDA(&ctx->err,
              cudaMemcpyAsync(s->dev_values, from, (size_t)field_nbytes(view), cudaMemcpyHostToDevice, s->stream));
    return FLOE_OK;
}

/* Head and checksum of the record, and its report. */
static floe_status record_finish(floe_ctx *ctx, slot *s)
{
    const floe_pipeline *p = ctx->pipeline;
    const floe_container_finish finish = {.stream = s->dev_stream,
                                          .capacity = p->stream_nbytes,
                                          .records = s->encode.records,
                                          .nrecords = 1,
                                          .first_record = s->chunk,
                                          .end = s->encode.end,
                                          .scratch = s->dev_tallies,
                                          .failed = s->dev_status,
                                          .report = s->report.data,
                                          .chunk_stats = s->encode.chunk_stats,
                                          .pwrel = p->params.mode == FLOE_BOUND_PWREL};
    FLOE_CUDA(&ctx->err, floe_container_finish_cuda(&finish, s->stream));
    FLOE_CUDA(&ctx->err, cudaEventRecord(s->reported, s->stream));
    return FLOE_OK;
}

/* The chunk's values, which are there, to its payload. */
static floe_status values_encode(floe_ctx *ctx, slot *s)
{
    const floe_pipeline *p = ctx->pipeline;
    floe_codec_encode *e = &s->encode;
    e->stream = s->dev_stream;
    e->capacity = p->stream_nbytes;
    e->status = s->dev_status;
    e->params = s->dev_params;
    e->cuda = &ctx->cuda;
    const floe_resolve_job known = floe_resolve_known(e, &p->params, s->cleared_nbytes);
    p->codec->encode_aim(e);
    FLOE_TRY(p->codec->resolve(e, &known, s->stream, &ctx->err));
    return floe_fused_encode_start(p->codec, e, s->stream, &ctx->err);
}

floe_status floe_pipeline_put_values(floe_ctx *ctx, uint64_t chunk, const floe_field *view, bool stays)
{
    floe_pipeline *p = ctx->pipeline;
    slot *s = slot_of(p, p->nput);
    s->chunk = chunk;
    s->arena.used = 0;
    FLOE_TRY(encode_take(p, s, view->shape, &s->arena, &ctx->err));
    FLOE_CHECK(&ctx->err, !s->arena.overflow, FLOE_ERR_INTERNAL, "a chunk larger than the first");
    FLOE_TRY(values_send(ctx, s, view, stays));
    FLOE_TRY(values_encode(ctx, s));
    FLOE_TRY(record_finish(ctx, s));
    p->nput++;
    return FLOE_OK;
}

floe_status floe_pipeline_fetch_record(floe_ctx *ctx, uint64_t *record_nbytes)
{
    floe_pipeline *p = ctx->pipeline;
    slot *s = slot_of(p, p->nfetched);
    const floe_device_report *r = s->report.data;
    FLOE_CUDA(&ctx->err, cudaEventSynchronize(s->reported));
    FLOE_CHECK(&ctx->err, r->status == FLOE_OK, FLOE_ERR_INTERNAL, "chunk %llu could not be coded on the GPU (%s)",
               (unsigned long long)s->chunk, floe_status_text((floe_status)r->status));
    *record_nbytes = r->nbytes;
    FLOE_TRY(pinned_grow(ctx, &s->out, (size_t)r->nbytes));
    FLOE_CUDA(&ctx->err,
              cudaMemcpyAsync(s->out.data, s->dev_stream, (size_t)r->nbytes, cudaMemcpyDeviceToHost, s->stream));
    FLOE_CUDA(&ctx->err, cudaEventRecord(s->done, s->stream));
    p->nfetched++;
    return FLOE_OK;
}

floe_status floe_pipeline_get_record(floe_ctx *ctx, uint8_t *dst, floe_record *record, floe_chunk_stats *stats)
{
    floe_pipeline *p = ctx->pipeline;
    slot *s = slot_of(p, p->ngot++);
    const floe_device_report *r = s->report.data;
    FLOE_CUDA(&ctx->err, cudaEventSynchronize(s->done));
    copy_bytes(&ctx->cpu, s->out.data, dst, r->nbytes);
    FLOE_TRY(floe_record_head_read(dst, (size_t)r->nbytes, record, &ctx->err));
    *stats = (floe_chunk_stats){r->nexceptions, r->max_error, p->params.mode == FLOE_BOUND_PWREL ? r->max_pw_error : 0};
    return FLOE_OK;
}

static floe_status coded_get(floe_ctx *ctx, const floe_field *values, uint8_t *dst, floe_trial *trial)
{
    uint64_t nbytes;
    floe_record record;
    FLOE_TRY(floe_pipeline_put_values(ctx, 0, values, true));
    FLOE_TRY(floe_pipeline_fetch_record(ctx, &nbytes));
    FLOE_TRY(floe_pipeline_get_record(ctx, dst, &record, &trial->stats));
    trial->nbytes = record.nbytes;
    return FLOE_OK;
}

/* A squared error is the host's work: targets of PSNR have it of small fields alone. */
floe_status floe_pipeline_code_sample(void *user, const floe_sample *s, floe_trial *trial, const uint8_t **bytes,
                                      double *squares)
{
    floe_ctx *ctx = ((floe_sample_source *)user)->ctx;
    const floe_header h = floe_sample_header(s, trial->params.codec);
    const floe_field values = floe_sample_values(s, h.codec);
    if (squares || !floe_pipeline_wanted(ctx, &h))
        return FLOE_ERR_UNSUPPORTED;
    FLOE_TRY(floe_pipeline_begin_encode(ctx, &h, &trial->params));
    const floe_status status = coded_get(ctx, &values, s->coded, trial);
    if (status != FLOE_OK)
        floe_pipeline_drain(ctx);
    *bytes = s->coded + FLOE_RECORD_HEAD_NBYTES;
    return status;
}

/* ---- decompression ------------------------------------------------------------------------------------------------- */

floe_status floe_pipeline_begin_decode(floe_ctx *ctx, const floe_header *header, const floe_sizing *sizing)
{
    return begin(ctx, header, sizing, false);
}

/* The part of a chunk from lo on goes to an array of its own on the device. */
static void decode_aim(const floe_pipeline *p, slot *s, const floe_field *part, const uint64_t *lo, floe_cuda *cuda)
{
    floe_codec_decode *d = &s->decode;
    d->field = contiguous_of(&p->header, part->shape, s->dev_values);
    for (uint32_t i = 0; i < part->rank; i++) {
        d->lo[i] = lo[i];
        d->hi[i] = lo[i] + part->shape[i];
    }
    d->layout = s->dev_upload->layout[0];
    d->nrecords = &s->dev_upload->nrecords;
    d->records = &s->dev_upload->record;
    d->stream = s->dev_stream;
    d->status = s->dev_status;
    d->cuda = cuda;
    if (p->codec->decode_aim)
        p->codec->decode_aim(d);
}

/* The payload to the device, by way of pinned memory where it is not, or does not stay; and there against its checksum. */
static floe_status payload_send(floe_ctx *ctx, slot *s, const floe_record *record, const uint8_t *payload, bool stays)
{
    floe_error *err = &ctx->err;
    const uint64_t record_nbytes = floe_record_nbytes(record->nbytes), nbytes = record_nbytes - FLOE_RECORD_HEAD_NBYTES;
    upload *u = s->upload_space.data;
    *u = (upload){.nrecords = 1, .record = {0, record->nbytes, record->checksum}};
    memcpy(u->layout[0], s->decode.shape, sizeof u->layout[0]);
    memcpy(u->layout[1], s->decode.chunk, sizeof u->layout[1]);
    if (!stays || floe_cuda_pointer_kind(payload) != FLOE_POINTER_PINNED) {
        FLOE_TRY(pinned_grow(ctx, &s->in, (size_t)nbytes));
        copy_bytes(&ctx->cpu, payload, s->in.data, nbytes);
        payload = s->in.data;
    }
    FLOE_CUDA(err, cudaMemsetAsync(s->dev_status, 0, s->cleared_nbytes, s->stream));
    FLOE_CUDA(err, cudaMemcpyAsync(s->dev_upload, u, sizeof *u, cudaMemcpyHostToDevice, s->stream));
    FLOE_CUDA(err, cudaMemcpyAsync(s->dev_stream + FLOE_RECORD_HEAD_NBYTES, payload, (size_t)nbytes,
                                   cudaMemcpyHostToDevice, s->stream));
    if (record_nbytes % 16)
        FLOE_CUDA(err, cudaMemsetAsync(s->dev_stream + record_nbytes, 0, BEHIND_NBYTES, s->stream));
    const floe_container_verify verify = {.stream = s->dev_stream,
                                          .nbytes = record_nbytes,
                                          .records = &s->dev_upload->record,
                                          .nrecords = 1,
                                          .scratch = s->dev_tallies,
                                          .status = s->dev_status};
    FLOE_CUDA(err, floe_container_verify_cuda(&verify, s->stream));
    return FLOE_OK;
}

/* Where the values go on the host: into the target itself, or into pinned memory on the way there. */
static floe_status target_find(floe_ctx *ctx, slot *s)
{
    s->direct = copies_directly(&s->target);
    return s->direct ? FLOE_OK : pinned_grow(ctx, &s->out, (size_t)field_nbytes(&s->target));
}

static floe_status values_fetch(floe_ctx *ctx, slot *s)
{
    floe_error *err = &ctx->err;
    floe_device_report *r = s->report.data;
    const size_t nbytes = (size_t)field_nbytes(&s->target);
    FLOE_CUDA(err, cudaMemcpyAsync(&r->status, s->dev_status, sizeof r->status, cudaMemcpyDeviceToHost, s->stream));
    FLOE_CUDA(err, cudaMemcpyAsync(s->direct ? s->target.data : s->out.data, s->dev_values, nbytes,
                                   cudaMemcpyDeviceToHost, s->stream));
    FLOE_CUDA(err, cudaEventRecord(s->done, s->stream));
    return FLOE_OK;
}

floe_status floe_pipeline_put_payload(floe_ctx *ctx, const floe_record *record, const uint8_t *payload, bool stays,
                                      const uint64_t *lo, const floe_field *out)
{
    floe_pipeline *p = ctx->pipeline;
    slot *s = slot_of(p, p->nput);
    uint64_t at[FLOE_MAX_RANK], extent[FLOE_MAX_RANK], from[FLOE_MAX_RANK];
    const uint64_t record_nbytes = floe_record_nbytes(record->nbytes);
    FLOE_CHECK(&ctx->err, record_nbytes && record_nbytes <= p->stream_nbytes, FLOE_ERR_FORMAT,
               "its %llu bytes are more than it can have", (unsigned long long)record->nbytes);
    floe_grid_box(&p->header, record->chunk, at, extent);
    s->chunk = record->chunk;
    s->target = *out;
    s->arena.used = 0;
    for (uint32_t i = 0; i < p->header.rank; i++)
        from[i] = lo[i] - at[i];
    FLOE_TRY(decode_take(p, s, extent, floe_extent_nelems(out->rank, out->shape), &s->arena, &ctx->err));
    FLOE_CHECK(&ctx->err, !s->arena.overflow, FLOE_ERR_INTERNAL, "a chunk larger than the first");
    decode_aim(p, s, out, from, &ctx->cuda);
    FLOE_TRY(target_find(ctx, s)); /* memory first: what fails leaves nothing under way */
    FLOE_TRY(payload_send(ctx, s, record, payload, stays));
    if (p->codec->decode_open)
        FLOE_TRY(p->codec->decode_open(&s->decode, s->stream, &ctx->err));
    FLOE_TRY(p->codec->decode_start(&s->decode, s->stream, &ctx->err));
    FLOE_TRY(values_fetch(ctx, s));
    p->nput++;
    return FLOE_OK;
}

floe_status floe_pipeline_get_values(floe_ctx *ctx, uint64_t *chunk)
{
    floe_pipeline *p = ctx->pipeline;
    slot *s = slot_of(p, p->ngot++);
    const floe_device_report *r = s->report.data;
    *chunk = s->chunk;
    FLOE_CUDA(&ctx->err, cudaEventSynchronize(s->done));
    if (r->status != FLOE_OK)
        return (floe_status)r->status;
    if (!s->direct) {
        floe_field from = floe_field_contiguous(s->out.data, &s->target);
        copy_parallel(&ctx->cpu, &from, &s->target);
    }
    return FLOE_OK;
}

#else /* no CUDA in this build: no context wants a pipeline */

#endif
