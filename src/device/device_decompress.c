/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole calls on a GPU: decompression. A stream's header and index are read by the device itself. It has no words for what it
 * refuses: calls that wait leave such a stream to the CPU, which decodes it or reports what is wrong with it.
 */
#include "device/device.h"

typedef struct decompress_call {
    const void *src;
    uint64_t nbytes;
    const uint64_t *dev_nbytes;
    const floe_params *params;
    floe_field *out;
    floe_device_report *report;
} decompress_call;

typedef struct workspace_call {
    const floe_field *field;
    const floe_params *params;
    size_t *nbytes;
} workspace_call;

#ifdef FLOE_HAVE_CUDA_BUILD

#include <string.h>

#include "call/choice.h"
#include "call/chunking.h"
#include "call/arg_check.h"
#include "call/info.h"
#include "call/resolve.h"
#include "container/container_cuda.h"
#include "container/header_math.h"
#include "device/fused.h"
#include "device/pipeline.h"
#include "device/report_cuda.h"
#include "device/stream.h"
#include "field/dtype_math.h"
#include "field/field.h"

typedef struct decompression {
    const floe_codec_device *codec; /* that the stream has, or is likely to have */
    const floe_fused *fused;        /* NULL: the general way */
    floe_codec_decode decode;
    floe_container_open open;
    floe_container_verify verify;
    void *fused_scratch;
    uint32_t *statuses;  /* STATUSES: what container and codec report */
    uint8_t *own_stream; /* where src is host memory */
    uint64_t own_nbytes;
} decompression;

enum { OF_CONTAINER, OF_CODEC, STATUSES };

static floe_status plan(decompression *d, floe_error *err)
{
    FLOE_TRY(d->codec->decode_plan(&d->decode, err));
    d->fused = floe_fused_decode(d->codec, &d->decode);
    return FLOE_OK;
}

static floe_status plan_of_header(const floe_header *h, decompression *d, floe_error *err)
{
    floe_codec_decode *decode = &d->decode;
    FLOE_TRY(floe_device_codec(h->codec, h->dtype, &d->codec, err));
    d->open.codec = h->codec;
    decode->dtype = h->dtype;
    decode->rank = h->rank;
    memcpy(decode->shape, h->shape, sizeof decode->shape);
    memcpy(decode->chunk, h->chunk, sizeof decode->chunk);
    decode->preset = h->preset;
    decode->mode = h->mode;
    decode->any = false;
    decode->most_lanes = FLOE_CUDA_LANES;
    return plan(d, err);
}

/* What a stream of such a field holds when it was written with these params; NULL: any of the default chunks. */
static floe_status plan_of(const floe_field *layout, const floe_params *params, decompression *d, floe_error *err)
{
    floe_params any;
    floe_header header;
    floe_params_init(&any);
    any.mode = FLOE_BOUND_LOSSLESS;
    FLOE_TRY(floe_header_init(&header, layout, params ? params : &any, err));
    return plan_of_header(&header, d, err);
}

static void take_all(decompression *d, floe_arena *a)
{
    const uint64_t n = d->decode.nchunks;
    d->statuses = floe_arena_take(a, STATUSES, sizeof *d->statuses);
    d->verify.scratch = floe_arena_take(a, floe_container_verify_nbytes(n), 1);
    d->open.header = floe_arena_take(a, 1, sizeof *d->open.header);
    d->open.nrecords = floe_arena_take(a, 1, sizeof *d->open.nrecords);
    d->open.records = floe_arena_take(a, n, sizeof *d->open.records);
    const size_t fused_nbytes = d->fused ? d->fused->decompress_nbytes(&d->decode) : 0;
    d->fused_scratch = fused_nbytes ? floe_arena_take(a, fused_nbytes, 1) : NULL;
    d->codec->decode_take(&d->decode, a);
    d->own_stream = floe_arena_take(a, d->own_nbytes, 1);
}

/* For chunks one after another where there is no room for several at once. */
static floe_status scratch_get(floe_ctx *ctx, decompression *d)
{
    floe_arena plan = floe_arena_plan(), arena;
    take_all(d, &plan);
    if (d->decode.lanes.n > 1 && floe_cuda_workspace(&ctx->cuda, &plan, ctx->max_memory, &arena, NULL) != FLOE_OK) {
        d->decode.most_lanes = 1;
        plan = floe_arena_plan();
        take_all(d, &plan);
    }
    FLOE_TRY(floe_cuda_workspace(&ctx->cuda, &plan, ctx->max_memory, &arena, &ctx->err));
    take_all(d, &arena);
    return FLOE_OK;
}

/* The box lo..hi of the stream's field goes to out. */
static void expect(decompression *d, const uint64_t *lo, const uint64_t *hi, const floe_field *out)
{
    floe_codec_decode *decode = &d->decode;
    decode->field = floe_dev_field_of(out);
    d->open.dtype = out->dtype;
    d->open.rank = out->rank;
    for (uint32_t i = 0; i < out->rank; i++) {
        d->open.shape[i] = decode->shape[i];
        decode->lo[i] = lo ? lo[i] : 0;
        decode->hi[i] = hi ? hi[i] : out->shape[i];
    }
}

/* What all kernels of a call work on. */
static void aim(decompression *d, floe_cuda *cuda, const void *src, uint64_t nbytes, const uint64_t *dev_nbytes)
{
    const bool early = d->codec->opens_early;
    floe_codec_decode *decode = &d->decode;
    decode->cuda = cuda;
    decode->stream = d->verify.stream = d->open.stream = src;
    decode->nbytes = d->verify.nbytes = d->open.nbytes = nbytes;
    decode->dev_nbytes = d->open.dev_nbytes = dev_nbytes;
    d->open.status = d->verify.status = d->statuses + OF_CONTAINER;
    d->open.max_records = d->verify.nrecords = decode->nchunks;
    d->open.verify_scratch = d->verify.scratch;
    d->verify.records = d->open.records;
    d->verify.dev_nrecords = d->open.nrecords;
    decode->status = d->statuses + OF_CODEC;
    decode->records = early ? NULL : d->open.records;
    decode->nrecords = early ? NULL : d->open.nrecords;
    decode->layout = early ? NULL : d->open.header->shape;
    decode->opened = NULL; /* that of another codec, where an attempt was made with it */
    if (d->codec->decode_aim)
        d->codec->decode_aim(decode);
}

/* Between fork and join: payloads, and header and index unless they have been checked, are checked beside decoding. */
static floe_status put_both(floe_ctx *ctx, const decompression *d, floe_error *err)
{
    if (d->codec->decode_open)
        FLOE_TRY(d->codec->decode_open(&d->decode, ctx->cuda.stream, err));
    if (d->codec->opens_early)
        FLOE_CUDA(err, floe_container_open_cuda(&d->open, ctx->cuda.side));
    FLOE_CUDA(err, floe_container_verify_cuda(&d->verify, ctx->cuda.side));
    return d->codec->decode_start(&d->decode, ctx->cuda.stream, err);
}

/* Puts all kernels of a call on the stream. A verdict is all that they have to report. */
static floe_status start(floe_ctx *ctx, decompression *d, const void *src, uint64_t nbytes, const uint64_t *dev_nbytes,
                         floe_device_report *report)
{
    floe_error *err = &ctx->err;
    aim(d, &ctx->cuda, src, nbytes, dev_nbytes);
    const floe_fused_decompress fused = {&d->decode, d->open, d->fused_scratch, report, &ctx->cuda};
    if (d->fused)
        return d->fused->decompress(&fused, err);
    if (!d->codec->opens_early) {
        FLOE_TRY(floe_cuda_clear(&ctx->cuda, d->statuses, STATUSES * sizeof *d->statuses, err));
        FLOE_CUDA(err, floe_container_open_cuda(&d->open, ctx->cuda.stream));
    }
    FLOE_TRY(floe_cuda_fork(&ctx->cuda, ctx->cuda.stream, err));
    FLOE_TRY(floe_cuda_join(&ctx->cuda, ctx->cuda.stream, put_both(ctx, d, err), err));
    const floe_report_job verdict = {.statuses = d->statuses,
                                     .nstatuses = STATUSES,
                                     .opened = d->decode.opened,
                                     .opened_stride = d->decode.opened_stride,
                                     .nchunks = d->decode.nchunks,
                                     .nbytes = nbytes,
                                     .dev_nbytes = dev_nbytes,
                                     .report = report};
    FLOE_CUDA(err, floe_report_cuda(&verdict, ctx->cuda.stream));
    return FLOE_OK;
}

/* ---- calls that wait ------------------------------------------------------------------------------------------------- */

typedef struct waiting_call {
    const void *src;
    uint64_t nbytes;
    uint32_t level;
    const uint64_t *lo, *hi;
    const floe_field *out;
    bool on_device; /* src */
} waiting_call;

/* A stream of many small chunks can need thousands of times its size: it is left to the CPU, which takes them one by one. Of a box or a
 * level the GPU decodes more than these values. What the header says of the field counts as far as a stream of that size may hold it. */
static bool needs_too_much(decompression *d, const waiting_call *call)
{
    enum { TIMES = 32, BESIDES = 1 << 29, RATIO = 1 << 12 };
    floe_arena plan = floe_arena_plan();
    take_all(d, &plan);
    const uint64_t out_nbytes = floe_extent_nbytes(call->out->dtype, call->out->rank, call->out->shape),
                   field_nbytes = floe_extent_nbytes(d->decode.dtype, d->decode.rank, d->decode.shape),
                   held = floe_min64(field_nbytes, call->nbytes * RATIO);
    return plan.overflow ||
           (plan.used > BESIDES && (plan.used - BESIDES) / TIMES > call->nbytes + floe_max64(out_nbytes, held));
}

static floe_status attempt(floe_ctx *ctx, decompression *d, const waiting_call *call, floe_device_report *report)
{
    d->own_nbytes = call->on_device ? 0 : call->nbytes;
    expect(d, call->lo, call->hi, call->out);
    *report = (floe_device_report){.status = FLOE_ERR_LIMIT};
    if (needs_too_much(d, call))
        return FLOE_OK;
    FLOE_TRY(scratch_get(ctx, d));
    if (!call->on_device)
        FLOE_TRY(floe_cuda_copy(&ctx->cuda, d->own_stream, call->src, (size_t)call->nbytes, &ctx->err));
    FLOE_TRY(start(ctx, d, call->on_device ? call->src : d->own_stream, call->nbytes, NULL, ctx->cuda.fetched));
    FLOE_TRY(floe_cuda_wait(&ctx->cuda, &ctx->err));
    memcpy(report, ctx->cuda.fetched, sizeof *report);
    return FLOE_OK;
}

/* With room for what the header holds; then, since its preset and mode are for information, for whatever chunks may hold. Nothing
 * is attempted where the CPU would refuse header or call. */
static floe_status attempt_by_header(floe_ctx *ctx, decompression *d, const waiting_call *call,
                                     floe_device_report *report)
{
    floe_stream s;
    floe_device_source source;
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    report->status = FLOE_ERR_FORMAT;
    if (floe_stream_of_place(ctx, call->src, call->nbytes, call->on_device, false, &source, &s) != FLOE_OK)
        return FLOE_OK;
    const floe_header whole = s.header;
    if (floe_stream_at_level(ctx, &s, call->level) != FLOE_OK ||
        floe_box_check(&s.header, call->lo, call->hi, lo, hi, &ctx->err) != FLOE_OK ||
        floe_region_check(&s.header, lo, hi, call->out, &ctx->err) != FLOE_OK)
        return FLOE_OK;
    report->status = FLOE_ERR_UNSUPPORTED;
    if (!floe_codec_of(s.header.codec)->device)
        return FLOE_OK;
    d->decode.level = call->level;
    d->decode.limits = floe_limits_of(&whole);
    FLOE_TRY(plan_of_header(&whole, d, &ctx->err));
    const bool lossless = s.header.mode == FLOE_BOUND_LOSSLESS || s.header.mode == FLOE_BOUND_PWREL ||
                          floe_mode_is_size((int)s.header.mode);
    floe_params_init(&ctx->dev_likely);
    ctx->dev_likely.codec = s.header.codec;
    ctx->dev_likely.preset = s.header.preset;
    ctx->dev_likely.mode = lossless ? FLOE_BOUND_LOSSLESS : FLOE_BOUND_ABS;
    ctx->dev_likely.bound = lossless ? 0 : 1; /* any */
    FLOE_TRY(attempt(ctx, d, call, report));
    if (report->status != FLOE_ERR_LIMIT || d->decode.any)
        return FLOE_OK;
    d->decode.any = true;
    FLOE_TRY(plan(d, &ctx->err));
    return attempt(ctx, d, call, report);
}

/* What the stream was written with, as far as that can be known without waiting for it. False: it cannot. */
static bool likely_params(const floe_ctx *ctx, const floe_field *out, floe_params *params)
{
    const floe_codec_ops *codec = floe_codec_chosen(ctx->dev_likely.codec);
    *params = ctx->dev_likely;
    if (floe_codec_on_gpu(codec, out->dtype))
        return params->codec != FLOE_CODEC_AUTO;
    for (uint32_t i = 0; (codec = floe_codec_at(i)) && !floe_codec_on_gpu(codec, out->dtype);) /* others are refused */
        i++;
    floe_params_init(params);
    params->mode = FLOE_BOUND_LOSSLESS;
    params->codec = codec ? codec->id : FLOE_CODEC_AUTO;
    return codec;
}

static bool is_other_stream(const floe_device_report *r)
{
    return r->status == FLOE_ERR_LIMIT || r->status == FLOE_ERR_ARGUMENT || r->status == FLOE_ERR_UNSUPPORTED;
}

floe_status floe_device_decompress(floe_ctx *ctx, const void *src, uint64_t nbytes, uint32_t level, const uint64_t *lo,
                                   const uint64_t *hi, const floe_field *out, bool *decided)
{
    decompression d = {.own_nbytes = 0};
    const bool on_device = floe_cuda_pointer_kind(src) == FLOE_POINTER_DEVICE;
    const uint64_t nelems = floe_extent_nelems(out->rank, out->shape);
    const waiting_call call = {src, nbytes, level, lo, hi, out, on_device};
    floe_device_report report = {.status = FLOE_ERR_LIMIT};
    floe_params likely;
    FLOE_TRY(floe_device_field_check(ctx, out));
    if (on_device)
        FLOE_TRY(floe_device_stream_check(src, &ctx->err));
    const bool allowed = !ctx->max_elems || nelems <= ctx->max_elems;
    if (!lo && !level && on_device && allowed && likely_params(ctx, out, &likely)) {
        FLOE_TRY(plan_of(out, &likely, &d, &ctx->err));
        const floe_status status = attempt(ctx, &d, &call, &report);
        if (status == FLOE_ERR_MEMORY || status == FLOE_ERR_LIMIT) /* more than the stream needs, perhaps */
            report.status = FLOE_ERR_LIMIT;
        else
            FLOE_TRY(status);
    }
    if (is_other_stream(&report))
        FLOE_TRY(attempt_by_header(ctx, &d, &call, &report));
    *decided = report.status == FLOE_OK;
    ctx->stats.nelems = nelems;
    ctx->stats.raw_nbytes = nelems * floe_dtype_size(out->dtype);
    ctx->stats.stream_nbytes = nbytes;
    return FLOE_OK;
}

/* ---- calls that do not ----------------------------------------------------------------------------------------------- */

static floe_status call_body(floe_ctx *ctx, void *arg)
{
    const decompress_call *call = arg;
    decompression d = {.own_nbytes = 0};
    floe_field out;
    floe_params params;
    FLOE_CHECK(&ctx->err, call->src && call->report, FLOE_ERR_ARGUMENT, "no stream or no report given");
    FLOE_TRY(floe_field_check(call->out, true, &out, &ctx->err));
    const uint64_t nelems = floe_extent_nelems(out.rank, out.shape);
    FLOE_CHECK(&ctx->err, !ctx->max_elems || nelems <= ctx->max_elems, FLOE_ERR_LIMIT,
               "the field holds %llu elements, the limit is %llu", (unsigned long long)nelems,
               (unsigned long long)ctx->max_elems);
    FLOE_TRY(floe_device_async_check(ctx, &out, call->src, call->report));
    if (call->dev_nbytes)
        FLOE_TRY(floe_device_words_check(ctx, call->dev_nbytes, "the stream's size"));
    if (call->params)
        FLOE_TRY(floe_params_check(call->params, out.dtype, &params, &ctx->err));
    FLOE_TRY(plan_of(&out, call->params ? &params : NULL, &d, &ctx->err));
    FLOE_TRY(floe_device_waits_check(d.codec, d.open.codec, "floe_decompress", &ctx->err));
    expect(&d, NULL, NULL, &out);
    FLOE_TRY(scratch_get(ctx, &d));
    return start(ctx, &d, call->src, call->nbytes, call->dev_nbytes, call->report);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------------ */

floe_status floe_device_decompress_nbytes(floe_ctx *ctx, const floe_field *field, const floe_params *params,
                                          size_t *nbytes)
{
    decompression d = {.own_nbytes = 0};
    floe_arena plan = floe_arena_plan();
    FLOE_TRY(plan_of(field, params, &d, &ctx->err));
    take_all(&d, &plan);
    FLOE_CHECK(&ctx->err, !plan.overflow, FLOE_ERR_MEMORY, "more device memory is needed than can be addressed");
    *nbytes = plan.used;
    return FLOE_OK;
}

static void raise_to(size_t *most, size_t n) { *most = n > *most ? n : *most; }

/* Of a field in host memory, chunk by chunk; and of its sample, where one is coded. */
static floe_status host_nbytes(floe_ctx *ctx, const floe_header *header, const floe_choice *choice, size_t *most)
{
    const floe_sample sample = floe_sample_of(NULL, header, NULL, choice->one_chunk, NULL),
                      whole = floe_sample_whole(&sample);
    const bool coded = (choice->n > 1 || header->mode == FLOE_BOUND_RATIO) && (!sample.estimates || sample.widens);
    const floe_header headers[] = {*header, floe_sample_header(&sample, header->codec),
                                   floe_sample_header(&whole, header->codec)};
    for (int i = 0; i < 1 + coded + (coded && sample.widens); i++) {
        size_t n;
        FLOE_TRY(floe_pipeline_workspace_nbytes(ctx, &headers[i], &n));
        raise_to(most, n);
    }
    return FLOE_OK;
}

static floe_status workspace_body(floe_ctx *ctx, void *arg)
{
    const workspace_call *call = arg;
    floe_params params;
    floe_field layout;
    uint64_t nelems;
    size_t n;
    FLOE_CHECK(&ctx->err, call->nbytes, FLOE_ERR_ARGUMENT, "nowhere to put the number of bytes");
    FLOE_CHECK(&ctx->err, floe_field_nelems(call->field, &nelems) == FLOE_OK, FLOE_ERR_ARGUMENT,
               "the field's element type or shape is not valid");
    FLOE_TRY(floe_params_check(call->params, call->field->dtype, &params, &ctx->err));
    layout = floe_field_of(NULL, call->field->dtype, call->field->rank, call->field->shape);
    const floe_choice choice = floe_choice_of(&layout, &params);
    *call->nbytes = 0;
    for (uint32_t i = 0; i < choice.n; i++) {
        floe_header header;
        if (call->field->place == FLOE_DEVICE && choice.n > 1 && i == 0) { /* what choosing takes */
            FLOE_TRY(floe_device_compress_nbytes(ctx, &layout, &params, &n));
            raise_to(call->nbytes, n);
        }
        params.codec = choice.codecs[i];
        FLOE_TRY(floe_header_init(&header, &layout, &params, &ctx->err));
        if (call->field->place == FLOE_HOST) { /* chunk by chunk */
            FLOE_TRY(host_nbytes(ctx, &header, &choice, call->nbytes));
        } else if (floe_codec_of(params.codec)->device) {
            FLOE_TRY(floe_device_compress_nbytes(ctx, &layout, &params, &n));
            raise_to(call->nbytes, n);
            FLOE_TRY(floe_device_decompress_nbytes(ctx, &layout, &params, &n));
            raise_to(call->nbytes, n);
        }
    }
    return FLOE_OK;
}

#endif

floe_status floe_decompress_async(floe_ctx *ctx, const void *src, uint64_t nbytes, const uint64_t *dev_nbytes,
                                  const floe_params *params, floe_field *out, floe_device_report *report)
{
    decompress_call call = {src, nbytes, dev_nbytes, params, out, report};
    return floe_device_run(ctx, FLOE_DEVICE_BODY(call_body), &call);
}

floe_status floe_device_workspace_nbytes(floe_ctx *ctx, const floe_field *field, const floe_params *params,
                                         size_t *nbytes)
{
    workspace_call call = {field, params, nbytes};
    return floe_device_run(ctx, FLOE_DEVICE_BODY(workspace_body), &call);
}
