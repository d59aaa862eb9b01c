/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of <floe/zfp.h> that wait, on a GPU. What lies in host memory is copied there and back. The device has no words for
 * what it refuses: then the CPU does it.
 */
#include "device/device.h"
#include "device/stream.h"
#include "device/zfp/zfp_device.h"

#ifdef FLOE_HAVE_CUDA_BUILD

#include <string.h>

#include "base/hd.h"
#include "base/try.h"
#include "call/chunking.h"
#include "codec/zfp/stream/zfp_stream.h"
#include "field/range_cuda.h"

/* ---- between host and device --------------------------------------------------------------------------------------- */

static bool is_on_device(const void *p) { return floe_cuda_pointer_kind(p) == FLOE_POINTER_DEVICE; }

/* Is it, or in host memory? */
static floe_status aligned(floe_ctx *ctx, const void *p)
{
    return is_on_device(p) ? floe_device_stream_check(p, &ctx->err) : FLOE_OK;
}

static uint64_t field_nbytes(const floe_field *f) { return floe_extent_nbytes(f->dtype, f->rank, f->shape); }

/* Host memory of nbytes, from the context's workspace: where an array has gaps, or is somewhere else. */
static floe_status host_space(floe_ctx *ctx, uint64_t nbytes, void **space)
{
    floe_arena plan = floe_arena_plan(), arena;
    floe_arena_take(&plan, nbytes, 1);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    *space = floe_arena_take(&arena, nbytes, 1);
    return FLOE_OK;
}

/* A host field to dev, without gaps. */
static floe_status field_up(floe_ctx *ctx, const floe_field *field, void *dev)
{
    const void *from = field->data;
    if (!floe_field_is_contiguous(field)) {
        void *space;
        FLOE_TRY(host_space(ctx, field_nbytes(field), &space));
        const floe_field whole = floe_field_contiguous(space, field);
        floe_field_copy(field, &whole);
        from = space;
    }
    return floe_cuda_copy(&ctx->cuda, dev, from, (size_t)field_nbytes(field), &ctx->err);
}

static floe_status field_down(floe_ctx *ctx, const void *dev, const floe_field *field)
{
    void *to = field->data;
    const bool whole = floe_field_is_contiguous(field);
    if (!whole)
        FLOE_TRY(host_space(ctx, field_nbytes(field), &to));
    FLOE_TRY(floe_cuda_copy(&ctx->cuda, to, dev, (size_t)field_nbytes(field), &ctx->err));
    FLOE_TRY(floe_cuda_wait(&ctx->cuda, &ctx->err));
    if (!whole) {
        const floe_field from = floe_field_contiguous(to, field);
        floe_field_copy(&from, field);
    }
    return FLOE_OK;
}

/* The first bytes of memory of either side, at most `most` of nbytes. */
static floe_status head_fetch(floe_ctx *ctx, const void *src, uint64_t nbytes, size_t most, uint8_t *head)
{
    const size_t n = (size_t)floe_min64(nbytes, most);
    if (is_on_device(src))
        return floe_cuda_fetch(&ctx->cuda, head, src, n, &ctx->err);
    if (n)
        memcpy(head, src, n);
    return FLOE_OK;
}

/* A copy of device memory that the caller releases; *host is NULL, and *copy too, where src is NULL. Host memory is itself. */
static floe_status memory_fetch(floe_ctx *ctx, const void *src, uint64_t nbytes, const void **host, void **copy)
{
    *host = src;
    *copy = NULL;
    if (!is_on_device(src))
        return FLOE_OK;
    FLOE_TRY(floe_ctx_hold(ctx, nbytes, copy));
    *host = *copy;
    FLOE_TRY(floe_cuda_copy(&ctx->cuda, *copy, src, (size_t)nbytes, &ctx->err));
    return floe_cuda_wait(&ctx->cuda, &ctx->err);
}

/* ---- describing ---------------------------------------------------------------------------------------------------- */

floe_status floe_zfp_device_range(floe_ctx *ctx, void *arg)
{
    floe_zfp_ranging *call = arg;
    const floe_field *f = call->field;
    floe_range_job job = floe_range_job_of(f->data, f->dtype, f->rank, f->shape, f->stride);
    floe_arena plan = floe_arena_plan(), arena;
    floe_dev_range *range, found;
    FLOE_TRY(floe_device_field_check(ctx, f));
    floe_arena_take(&plan, 1, sizeof *range);
    floe_arena_take(&plan, floe_range_scratch_nbytes(), 1);
    FLOE_TRY(floe_cuda_workspace(&ctx->cuda, &plan, ctx->max_memory, &arena, &ctx->err));
    range = floe_arena_take(&arena, 1, sizeof *range);
    job.scratch = floe_arena_take(&arena, floe_range_scratch_nbytes(), 1);
    job.done = ctx->cuda.state;
    FLOE_CUDA(&ctx->err, floe_range_scan_cuda(&job, range, ctx->cuda.stream));
    FLOE_TRY(floe_cuda_fetch(&ctx->cuda, &found, range, sizeof found, &ctx->err));
    call->range = found.range;
    return FLOE_OK;
}

/* ---- compressing --------------------------------------------------------------------------------------------------- */

typedef struct compression {
    floe_zfp_device_encode encode;
    floe_zfp_index index; /* as the device has it */
} compression;

/* What is on the device, and what has to get there. */
static floe_status compression_of(floe_ctx *ctx, const floe_zfp_compression *call, compression *c)
{
    const floe_zfp_stream_desc *t = call->desc;
    floe_zfp_own_memory *own = &c->encode.own;
    *c = (compression){.encode = {.desc = *t, .dst = call->dst, .capacity = call->capacity, .own = {.report = true}}};
    own->field_nbytes = call->field->place == FLOE_HOST ? field_nbytes(call->field) : 0;
    if (is_on_device(call->dst)) {
        FLOE_TRY(floe_device_stream_check(call->dst, &ctx->err));
    } else {
        const uint64_t bound = floe_zfp_stream_bound(&t->array, &t->params, t->stream.header_nbits);
        c->encode.capacity = floe_min64(call->capacity, bound);
        own->stream_nbytes = floe_max64(c->encode.capacity, 1);
    }
    if (!call->index)
        return FLOE_OK;
    c->index = *call->index;
    c->encode.index = &c->index;
    if (is_on_device(c->index.data))
        return floe_device_stream_check(c->index.data, &ctx->err);
    const uint64_t bound = floe_zfpx_bound(&t->array, &t->params, &c->index.spec);
    c->index.capacity = own->index_nbytes = floe_min64(c->index.capacity, bound);
    return FLOE_OK;
}

static floe_status report_take(floe_ctx *ctx, const compression *c, const floe_zfp_report *r, uint64_t capacity)
{
    FLOE_CHECK(&ctx->err, r->status != FLOE_ERR_CAPACITY || c->encode.index, FLOE_ERR_CAPACITY,
               "the zfp stream needs more than the %llu bytes there are", (unsigned long long)capacity);
    FLOE_CHECK(&ctx->err, r->status != FLOE_ERR_CAPACITY, FLOE_ERR_CAPACITY,
               "the zfp stream needs more than the %llu bytes there are, or its index more than %llu",
               (unsigned long long)capacity, (unsigned long long)c->index.capacity);
    FLOE_CHECK(&ctx->err, r->status == FLOE_OK, (floe_status)r->status, "%s", floe_status_text((floe_status)r->status));
    return FLOE_OK;
}

floe_status floe_zfp_device_compress(floe_ctx *ctx, void *arg)
{
    floe_zfp_compression *call = arg;
    compression c;
    const floe_zfp_own_memory *own = &c.encode.own;
    floe_zfp_report report;
    floe_field field = *call->field;
    FLOE_TRY(floe_device_field_check(ctx, &field));
    FLOE_TRY(compression_of(ctx, call, &c));
    FLOE_TRY(floe_zfp_device_encode_take(ctx, &c.encode));
    if (own->field) {
        FLOE_TRY(field_up(ctx, &field, own->field));
        field = floe_field_contiguous(own->field, &field);
    }
    c.encode.desc.array = floe_zfp_array_of_field(&field);
    c.encode.dst = own->stream ? own->stream : call->dst;
    c.index.data = own->index ? own->index : c.index.data;
    FLOE_TRY(floe_zfp_device_encode_start(ctx, &c.encode));
    FLOE_TRY(floe_cuda_fetch(&ctx->cuda, &report, c.encode.report, sizeof report, &ctx->err));
    FLOE_TRY(report_take(ctx, &c, &report, call->capacity));
    if (own->stream)
        FLOE_TRY(floe_cuda_copy(&ctx->cuda, call->dst, own->stream, (size_t)report.nbytes, &ctx->err));
    if (own->index)
        FLOE_TRY(floe_cuda_copy(&ctx->cuda, call->index->data, own->index, (size_t)report.index_nbytes, &ctx->err));
    FLOE_TRY(floe_cuda_wait(&ctx->cuda, &ctx->err));
    call->nbytes = report.nbytes;
    call->index_nbytes = report.index_nbytes;
    return FLOE_OK;
}

/* ---- decompressing --------------------------------------------------------------------------------------------------- */

typedef struct decompression {
    floe_zfp_device_decode decode;
    floe_zfp_index index; /* as the device has it */
} decompression;

/* What stream and index hold about themselves, as floe_zfp_decompress finds it: not that they are sound. */
static floe_status decompression_desc(floe_ctx *ctx, const floe_zfp_decompression *call, decompression *d)
{
    uint8_t head[FLOE_ZFP_HEADER_NBYTES], index_head[FLOE_ZFPX_PEEK_NBYTES];
    const floe_zfp_stream *given = call->stream;
    floe_zfp_stream desc;
    floe_zfpx file;
    FLOE_TRY(head_fetch(ctx, call->src, call->nbytes, sizeof head, head));
    if (!call->index)
        return floe_zfp_desc_resolve(head, call->nbytes, given, &d->decode.desc, &ctx->err);
    FLOE_TRY(head_fetch(ctx, call->index, call->index_nbytes, sizeof index_head, index_head));
    FLOE_TRY(floe_zfpx_peek(index_head, call->index_nbytes, &file, &ctx->err));
    desc = floe_zfp_stream_of(&file.array, &file.params, (uint32_t)file.index.begin);
    if (!given && desc.header_nbits == 0)
        given = &desc;
    FLOE_TRY(floe_zfp_desc_resolve(head, call->nbytes, given, &d->decode.desc, &ctx->err));
    d->index = (floe_zfp_index){.size = sizeof d->index,
                                .spec = {file.index.form, file.index.chunk, file.index.partition},
                                .nbytes = call->index_nbytes};
    d->decode.index = &d->index;
    return floe_zfp_index_agrees(&file, &d->decode.desc.stream, &ctx->err);
}

/* To be copied, from host memory, or so that words are whole. */
static void decompression_plan(const floe_zfp_decompression *call, decompression *d)
{
    floe_zfp_own_memory *own = &d->decode.own;
    const bool is_whole = is_on_device(call->src) && call->nbytes % 8 == 0;
    own->stream_nbytes = is_whole ? 0 : floe_ceil_div(call->nbytes, 8) * 8;
    own->field_nbytes = call->out->place == FLOE_HOST ? field_nbytes(call->out) : 0;
    own->index_nbytes = call->index && !is_on_device(call->index) ? call->index_nbytes : 0;
    own->report = true;
}

static floe_status copies_up(floe_ctx *ctx, const floe_zfp_decompression *call, decompression *d)
{
    const floe_cuda *cuda = &ctx->cuda;
    const floe_zfp_own_memory *own = &d->decode.own;
    memcpy(&d->index.data, &call->index, sizeof d->index.data); /* nobody writes it */
    d->decode.src = call->src;
    if (own->stream) {
        FLOE_TRY(floe_cuda_clear(cuda, (uint8_t *)own->stream + own->stream_nbytes - 8, 8, &ctx->err));
        FLOE_TRY(floe_cuda_copy(cuda, own->stream, call->src, (size_t)call->nbytes, &ctx->err));
        d->decode.src = own->stream;
    }
    if (own->index) {
        FLOE_TRY(floe_cuda_copy(cuda, own->index, call->index, (size_t)call->index_nbytes, &ctx->err));
        d->index.data = own->index;
    }
    return FLOE_OK;
}

/* The places of chunks of a stream that has no index: one thread of the CPU reads its blocks, which takes a fraction of the time
 * that a lane of the GPU would need. */
static floe_status places_up(floe_ctx *ctx, const floe_zfp_decompression *call, decompression *d)
{
    const floe_zfp_stream_desc *t = &d->decode.desc;
    const uint64_t nblocks = floe_zfp_nblocks(t->array.rank, t->array.shape);
    floe_arena plan = floe_arena_plan(), arena;
    const void *src;
    void *copy;
    uint64_t at = t->stream.header_nbits, nbits;
    floe_arena_take(&plan, nblocks, sizeof(uint16_t));
    floe_arena_take(&plan, d->decode.nplaces, sizeof *d->decode.places);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    uint16_t *lengths = floe_arena_take(&arena, nblocks, sizeof *lengths);
    uint64_t *places = floe_arena_take(&arena, d->decode.nplaces, sizeof *places);
    floe_status status = memory_fetch(ctx, call->src, call->nbytes, &src, &copy);
    if (status == FLOE_OK)
        status = floe_zfp_stream_measure(&(floe_zfp_coding){&ctx->cpu, &t->array, &t->params, t->stream.header_nbits},
                                         src, call->nbytes, lengths, &nbits, &ctx->err);
    floe_ctx_release(ctx, call->nbytes, &copy);
    FLOE_TRY(status);
    for (uint64_t i = 0; i < nblocks; at += lengths[i++])
        if (i % d->decode.chunk == 0)
            places[i / d->decode.chunk] = at;
    places[d->decode.nplaces - 1] = at;
    d->decode.places_are_set = true;
    return floe_cuda_copy(&ctx->cuda, d->decode.places, places, (size_t)d->decode.nplaces * sizeof *places, &ctx->err);
}

static floe_status decompress(floe_ctx *ctx, const floe_zfp_decompression *call)
{
    decompression d = {.decode = {.nbytes = call->nbytes}};
    const floe_zfp_own_memory *own = &d.decode.own;
    floe_zfp_report report;
    floe_field out = *call->out;
    FLOE_TRY(aligned(ctx, call->src));
    FLOE_TRY(aligned(ctx, call->index));
    FLOE_TRY(decompression_desc(ctx, call, &d));
    FLOE_TRY(floe_zfp_field_matches(&out, &d.decode.desc, &ctx->err));
    FLOE_CHECK(&ctx->err, call->nbytes, FLOE_ERR_FORMAT, "an empty zfp stream");
    decompression_plan(call, &d);
    FLOE_TRY(floe_zfp_device_decode_take(ctx, &d.decode));
    FLOE_TRY(copies_up(ctx, call, &d));
    if (floe_zfp_device_is_walked(&d.decode))
        FLOE_TRY(places_up(ctx, call, &d));
    if (own->field)
        out = floe_field_contiguous(own->field, &out);
    d.decode.desc.array = floe_zfp_array_of_field(&out);
    FLOE_TRY(floe_zfp_device_decode_start(ctx, &d.decode));
    FLOE_TRY(floe_cuda_fetch(&ctx->cuda, &report, d.decode.report, sizeof report, &ctx->err));
    FLOE_CHECK(&ctx->err, report.status == FLOE_OK, (floe_status)report.status, "%s",
               floe_status_text((floe_status)report.status));
    return own->field ? field_down(ctx, own->field, call->out) : FLOE_OK;
}

/* By the CPU, into host memory that nobody looks at: for the message of its failure. */
static floe_status explain(floe_ctx *ctx, const floe_zfp_decompression *call, floe_status status)
{
    floe_field host = floe_field_contiguous(NULL, call->out);
    floe_zfp_decompression here = *call;
    void *src_copy, *index_copy = NULL;
    host.place = FLOE_HOST;
    here.out = &host;
    floe_status result = memory_fetch(ctx, call->src, call->nbytes, &here.src, &src_copy);
    if (result == FLOE_OK)
        result = memory_fetch(ctx, call->index, call->index_nbytes, &here.index, &index_copy);
    if (result == FLOE_OK)
        result = floe_ctx_hold(ctx, field_nbytes(&host), &host.data);
    if (result == FLOE_OK)
        result = floe_zfp_decompress_here(ctx, &here);
    if (result == FLOE_OK)
        result = floe_fail(&ctx->err, FLOE_ERR_INTERNAL, "the GPU refuses a zfp stream that the CPU takes (%s)",
                           floe_status_text(status));
    floe_ctx_release(ctx, call->nbytes, &src_copy);
    floe_ctx_release(ctx, call->index_nbytes, &index_copy);
    floe_ctx_release(ctx, field_nbytes(&host), &host.data);
    return result;
}

floe_status floe_zfp_device_decompress(floe_ctx *ctx, void *arg)
{
    const floe_zfp_decompression *call = arg;
    FLOE_TRY(floe_device_field_check(ctx, call->out));
    const floe_status status = decompress(ctx, call);
    return floe_status_is_damage(status) ? explain(ctx, call, status) : status;
}

/* ---- indexing -------------------------------------------------------------------------------------------------------- */

static floe_status index_on_host(floe_ctx *ctx, floe_zfp_indexing *call, const void *src)
{
    floe_zfp_index host = *call->index;
    const bool on_device = is_on_device(host.data);
    if (!on_device)
        return floe_zfp_index_of_stream(ctx, src, call->nbytes, call->stream, call->index);
    FLOE_TRY(floe_ctx_hold(ctx, host.capacity, &host.data));
    floe_status status = floe_zfp_index_of_stream(ctx, src, call->nbytes, call->stream, &host);
    if (status == FLOE_OK)
        status = floe_cuda_copy(&ctx->cuda, call->index->data, host.data, (size_t)host.nbytes, &ctx->err);
    if (status == FLOE_OK)
        status = floe_cuda_wait(&ctx->cuda, &ctx->err);
    floe_ctx_release(ctx, host.capacity, &host.data);
    call->index->nbytes = host.nbytes;
    return status;
}

floe_status floe_zfp_device_index(floe_ctx *ctx, void *arg)
{
    floe_zfp_indexing *call = arg;
    const void *src;
    void *copy;
    floe_status status = memory_fetch(ctx, call->src, call->nbytes, &src, &copy);
    if (status == FLOE_OK)
        status = index_on_host(ctx, call, src);
    floe_ctx_release(ctx, call->nbytes, &copy);
    return status;
}

#endif
