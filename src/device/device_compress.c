/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole calls on a GPU: compression. A call is a row of kernels on the context's stream, with one small report at the end;
 * the calls that wait fetch that report.
 */
#include "device/device.h"

#ifdef FLOE_HAVE_CUDA_BUILD

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "call/choice.h"
#include "call/arg_check.h"
#include "call/resolve.h"
#include "call/chunking.h"
#include "codec/resolve/resolve_cuda.h"
#include "codec/resolve/resolve_math.h"
#include "container/container_cuda.h"
#include "device/device_sample.h"
#include "device/fused.h"
#include "field/field.h"

typedef struct compression {
    floe_ctx *ctx;
    floe_params params;
    floe_field field;
    const floe_attr *attrs;
    uint32_t nattrs;
    const floe_codec_device *codec;
    const floe_fused *fused; /* NULL: the general way */
    floe_codec_encode encode;
    floe_container_finish finish;
    floe_resolve_job resolve;
    uint32_t *status;
    bool scans;                /* before anything else: psnr, ratio, or a codec to be chosen */
    double *error_sum;         /* psnr */
    uint64_t *scan_header;     /* scans: of FLOE_RESOLVE_MAX_WORDS, a header that goes nowhere */
    floe_device_sample sample; /* its room is scratch of codecs that estimate, too */
    uint8_t *own_stream;       /* where dst is host memory; and for trials of a ratio */
    uint64_t own_nbytes;
    /* What must be 0 at first. Fused: with the codec's state, in the context's, which the kernel leaves so; nobody clears it */
    uint8_t *cleared;
    size_t cleared_nbytes;
    void *fused_scratch;
} compression;

static void resolve_prepare(compression *c)
{
    floe_resolve_job *r = &c->resolve;
    r->header.has_fill = floe_fill_named(r->header.dtype, &c->params, &r->header.fill_bits);
    r->detect = c->params.fill == FLOE_FILL_AUTO;
    r->field = c->encode.field;
}

/* 0: there is no sample, or it is coded on the host. */
static size_t sample_nbytes(floe_ctx *ctx, const floe_header *header, const floe_field *field,
                            const floe_choice *choice)
{
    const floe_sample sample = floe_sample_of(NULL, header, field, choice->one_chunk, NULL);
    return choice->n > 1 || header->mode == FLOE_BOUND_RATIO ? floe_device_sample_nbytes(ctx, &sample, choice) : 0;
}

/* The header gets its attributes when all is done: kernels write one without, in front of the room for it. */
static floe_status compression_of(floe_ctx *ctx, const floe_field *field, const floe_params *params,
                                  const floe_stream_options *options, compression *c)
{
    *c = (compression){.ctx = ctx, .params = *params, .field = *field};
    floe_header *h = &c->resolve.header;
    FLOE_TRY(floe_header_init(h, field, params, &ctx->err));
    FLOE_TRY(floe_device_codec(h->codec, h->dtype, &c->codec, &ctx->err));
    floe_codec_encode *e = &c->encode;
    e->field = floe_dev_field_of(field);
    e->cuda = &ctx->cuda;
    e->cpu = &ctx->cpu;
    e->most_lanes = FLOE_CUDA_LANES;
    e->preset = h->preset;
    e->mode = h->mode;
    floe_header with_attrs = *h;
    if (options)
        c->attrs = with_attrs.attrs = options->attrs, c->nattrs = with_attrs.nattrs = options->nattrs;
    e->first_offset = floe_header_nbytes(&with_attrs);
    FLOE_CHECK(&ctx->err, e->first_offset, FLOE_ERR_ARGUMENT,
               "the attributes are not valid UTF-8 texts, or more than %d bytes in all", FLOE_HEADER_MAX_NBYTES);
    memcpy(e->chunk, h->chunk, sizeof e->chunk);
    resolve_prepare(c);
    FLOE_TRY(c->codec->encode_plan(e, &ctx->err));
    const floe_choice choice = floe_choice_of(field, params);
    c->scans = params->mode == FLOE_BOUND_PSNR || params->mode == FLOE_BOUND_RATIO || choice.n > 1;
    c->sample = (floe_device_sample){.ctx = ctx, .nbytes = sample_nbytes(ctx, h, field, &choice)};
    if (params->mode == FLOE_BOUND_RATIO) {
        floe_sizing sizing;
        FLOE_TRY(floe_sizing_of(NULL, &with_attrs, &sizing, &ctx->err));
        c->own_nbytes = sizing.stream_nbytes;
    }
    if (!c->scans)
        c->fused = floe_fused_encode(c->codec, e);
    return FLOE_OK;
}

/* All device memory of a call. */
static floe_status take_all(compression *c, floe_arena *state, floe_arena *a, floe_error *err)
{
    floe_arena *const zero = c->fused ? state : a;
    c->resolve.done = floe_arena_take(state, 1, sizeof *c->resolve.done);
    const size_t begin = zero->used;
    c->cleared = floe_arena_take(zero, 0, 1);
    c->status = floe_arena_take(zero, 1, sizeof *c->status);
    c->finish.total = floe_arena_take(zero, 1, sizeof *c->finish.total);
    if (c->fused)
        c->fused_scratch = floe_arena_take(zero, c->fused->compress_nbytes, 1);
    else
        c->finish.scratch = floe_arena_take(zero, floe_container_finish_nbytes(c->encode.nchunks), 1);
    c->cleared_nbytes = zero->used - begin;
    c->resolve.params = floe_arena_take(a, c->codec->params_nbytes, 1);
    c->resolve.range = floe_arena_take(a, 1, sizeof *c->resolve.range);
    c->resolve.scratch = floe_arena_take(a, floe_range_scratch_nbytes(), 1);
    c->own_stream = floe_arena_take(a, c->own_nbytes, 1);
    c->sample.room = floe_arena_take(a, c->sample.nbytes, 1);
    if (c->scans) {
        c->error_sum = floe_arena_take(a, 1, sizeof *c->error_sum);
        c->scan_header = floe_arena_take(a, FLOE_RESOLVE_MAX_WORDS, sizeof *c->scan_header);
    }
    FLOE_TRY(c->codec->encode_take(&c->encode, zero, a, err));
    if (c->fused)
        c->cleared_nbytes = zero->used - begin;
    return FLOE_OK;
}

/* For chunks one after another where there is no room for several at once. */
static floe_status scratch_get(floe_ctx *ctx, compression *c)
{
    floe_arena plan = floe_arena_plan(), no_state = floe_arena_plan(), arena;
    floe_arena state = floe_arena_of(ctx->cuda.state, FLOE_CUDA_STATE_NBYTES);
    FLOE_TRY(take_all(c, &no_state, &plan, &ctx->err));
    if (c->encode.lanes.n > 1 && floe_cuda_workspace(&ctx->cuda, &plan, ctx->max_memory, &arena, NULL) != FLOE_OK) {
        c->encode.most_lanes = 1;
        plan = no_state = floe_arena_plan();
        FLOE_TRY(take_all(c, &no_state, &plan, &ctx->err));
    }
    FLOE_TRY(floe_cuda_workspace(&ctx->cuda, &plan, ctx->max_memory, &arena, &ctx->err));
    FLOE_TRY(take_all(c, &state, &arena, &ctx->err));
    assert(!state.overflow);
    return FLOE_OK;
}

/* A call that could not be started has left what it may have begun with as it is. */
static floe_status start_fused(floe_ctx *ctx, const compression *c)
{
    const floe_fused_compress job = {.encode = &c->encode,
                                     .resolve = &c->resolve,
                                     .scratch = c->fused_scratch,
                                     .cleared = c->cleared,
                                     .cleared_nbytes = c->cleared_nbytes,
                                     .report = c->finish.report,
                                     .pwrel = c->finish.pwrel,
                                     .cuda = &ctx->cuda};
    const floe_status status = c->fused->compress(&job, &ctx->err);
    if (status != FLOE_OK)
        (void)floe_cuda_clear(&ctx->cuda, c->cleared, c->cleared_nbytes, NULL);
    return status;
}

static void aim(compression *c, void *dst, uint64_t capacity)
{
    c->encode.stream = dst;
    c->encode.capacity = capacity;
    c->encode.status = c->status;
    c->encode.params = c->resolve.params;
    c->codec->encode_aim(&c->encode);
    c->resolve.stream = dst;
    c->resolve.capacity = capacity;
    c->resolve.status = c->status;
    c->resolve.cleared = c->fused ? NULL : c->cleared;
    c->resolve.cleared_nbytes = c->cleared_nbytes;
}

/* Puts all kernels of a call on the stream. */
static floe_status start(floe_ctx *ctx, compression *c, void *dst, uint64_t capacity, floe_device_report *report)
{
    floe_error *err = &ctx->err;
    void *stream = ctx->cuda.stream;
    const floe_codec_encode *e = &c->encode;
    aim(c, dst, capacity);
    c->finish.stream = dst;
    c->finish.capacity = capacity;
    c->finish.failed = c->status;
    c->finish.records = e->records;
    c->finish.nrecords = e->nchunks;
    c->finish.end = e->end;
    c->finish.again = e->again;
    c->finish.chunk_stats = e->chunk_stats;
    c->finish.with_index = true;
    c->finish.report = report;
    c->finish.pwrel = c->params.mode == FLOE_BOUND_PWREL;
    FLOE_TRY(floe_resolve_prepare(&c->resolve, err));
    if (c->fused)
        return start_fused(ctx, c);
    FLOE_TRY(c->codec->resolve(e, &c->resolve, stream, err));
    FLOE_TRY(floe_fused_encode_start(c->codec, e, stream, err));
    FLOE_CUDA(err, floe_container_finish_cuda(&c->finish, stream));
    return FLOE_OK;
}

/* ---- what the host decides, in rounds with it --------------------------------------------------------------------------- */

/* user: the compression, here and below. */
static floe_status squared_error(void *user, const floe_codec_params *params, double *sum)
{
    const compression *c = user;
    const floe_cuda *cuda = &c->ctx->cuda;
    FLOE_TRY(c->codec->squared_error(&c->encode, params, c->error_sum, cuda->stream, &c->ctx->err));
    return floe_cuda_fetch(cuda, sum, c->error_sum, sizeof *sum, &c->ctx->err);
}

/* A call for rel serves to scan the values and to lay out the chunks. */
static floe_status values_find(floe_ctx *ctx, compression *c, floe_device_values *values)
{
    floe_error *err = &ctx->err;
    floe_dev_range found;
    *values = (floe_device_values){.known = floe_resolve_needs_range(c->resolve.header.mode) || c->resolve.detect};
    floe_range_init(&values->range);
    if (!values->known)
        return FLOE_OK;
    aim(c, c->scan_header, FLOE_RESOLVE_MAX_WORDS * sizeof *c->scan_header);
    floe_resolve_job scan = c->resolve;
    scan.header.mode = FLOE_BOUND_REL;
    scan.header.bound = 0.5;
    FLOE_TRY(floe_resolve_prepare(&scan, err));
    FLOE_TRY(c->codec->resolve(&c->encode, &scan, ctx->cuda.stream, err));
    FLOE_TRY(floe_cuda_fetch(&ctx->cuda, &found, scan.range, sizeof found, err));
    values->has_fill = found.has_fill;
    values->fill_bits = found.fill_bits;
    values->range = found.range;
    return FLOE_OK;
}

static void values_set(compression *c, const floe_device_values *values)
{
    floe_header *h = &c->resolve.header;
    if (!values->known)
        return;
    h->has_fill = values->has_fill;
    h->fill_bits = values->fill_bits;
    h->value_min = values->range.min;
    h->value_max = values->range.max;
}

static floe_status box_read(void *user, const uint64_t *lo, const floe_field *to)
{
    const compression *c = user;
    const floe_field box = floe_field_box(&c->field, lo, to->shape);
    return floe_device_field_copy(&c->ctx->cuda, &box, to, &c->ctx->err);
}

/* c is read as long as the sample is used. */
static floe_status sample_load(compression *c, const floe_choice *choice, floe_sample *s)
{
    floe_ctx *ctx = c->ctx;
    floe_arena plan = floe_arena_plan(), arena;
    const floe_header *const h = &c->resolve.header;
    c->sample.field = &c->field;
    if (c->sample.nbytes) {
        *s = floe_sample_of(&ctx->cpu, h, &c->field, choice->one_chunk, &ctx->err);
        return floe_device_sample_load(&c->sample, s);
    }
    FLOE_TRY(floe_choice_sample(choice, &ctx->cpu, h, NULL, s, &ctx->err));
    floe_sample_take(s, &plan);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    floe_sample_take(s, &arena);
    s->read = box_read;
    s->user = c;
    return floe_sample_load(s);
}

static floe_status ratio_attempt(void *user, double abs_bound, double tuner_bound, uint64_t *nbytes)
{
    compression *c = user;
    floe_ctx *ctx = c->ctx;
    const floe_device_report *report = ctx->cuda.fetched;
    c->resolve.header.abs_bound = abs_bound;
    c->resolve.header.tuner_bound = tuner_bound;
    FLOE_TRY(start(ctx, c, c->own_stream, c->own_nbytes, ctx->cuda.fetched));
    FLOE_TRY(floe_cuda_wait(&ctx->cuda, &ctx->err));
    FLOE_CHECK(&ctx->err, report->status == FLOE_OK, (floe_status)report->status, "%s",
               floe_status_text((floe_status)report->status));
    *nbytes = report->nbytes;
    return FLOE_OK;
}

static floe_status ratio_resolve(compression *c, const floe_range *range)
{
    floe_sample sample;
    floe_header *h = &c->resolve.header;
    const floe_choice choice = {1, false, {h->codec}};
    const floe_ratio ratio = {ratio_attempt, c, floe_extent_nbytes(h->dtype, h->rank, h->shape)};
    FLOE_TRY(sample_load(c, &choice, &sample));
    return floe_ratio_resolve(&ratio, &sample, range, h, NULL);
}

/* Finds the absolute bound: then the header is complete, and what follows is as for any other. */
static floe_status bound_resolve(floe_ctx *ctx, compression *c, const floe_device_values *values)
{
    floe_device_values found;
    floe_range range;
    floe_resolver resolver = {.cpu = &ctx->cpu, .err = &ctx->err, .squared_error = squared_error, .user = c};
    if (!values || c->params.mode == FLOE_BOUND_PSNR) { /* which wants the chunks that a scan lays out */
        FLOE_TRY(values_find(ctx, c, &found));
        values = &found;
    }
    values_set(c, values);
    range = values->range;
    c->resolve.complete = true;
    FLOE_TRY(floe_resolve_bound(&resolver, &c->resolve.header, &range));
    return c->params.mode == FLOE_BOUND_RATIO && floe_resolve_varies(&range) ? ratio_resolve(c, &range) : FLOE_OK;
}

/* ---- which codec ------------------------------------------------------------------------------------------------------- */

/* Whether the stream of each codec has the field as its only chunk, with the bound that a trial would have. */
static bool streams_are_trials(const compression *c, const floe_choice *choice)
{
    floe_params params = c->params;
    bool are = c->sample.nbytes && params.mode != FLOE_BOUND_PSNR;
    for (uint32_t i = 0; are && i < choice->n; i++) {
        floe_header h;
        params.codec = choice->codecs[i];
        are = floe_header_init(&h, &c->field, &params, NULL) == FLOE_OK && floe_grid_nchunks(&h) == 1;
    }
    return are;
}

floe_status floe_device_choose(floe_ctx *ctx, const floe_field *field, floe_params *params, floe_device_values *values,
                               floe_choice *left)
{
    const floe_choice choice = *left = floe_choice_of(field, params);
    compression c;
    values->known = false;
    params->codec = choice.n > 1 ? params->codec : choice.codecs[0];
    if (choice.n == 1)
        return FLOE_OK;
    FLOE_TRY(floe_device_field_check(ctx, field));
    FLOE_TRY(compression_of(ctx, field, params, NULL, &c));
    FLOE_TRY(scratch_get(ctx, &c));
    FLOE_TRY(values_find(ctx, &c, values));
    values_set(&c, values);
    floe_sample sample;
    FLOE_TRY(sample_load(&c, &choice, &sample));
    FLOE_TRY(floe_choice_by_sample(left, &sample, &values->range, &params->codec));
    /* Trials of a small field are not in the destination: nothing behind its stream is written. */
    if (left->n == 1 || (!sample.is_few && streams_are_trials(&c, left)))
        return FLOE_OK;
    FLOE_TRY(floe_choice_by_whole(left, &sample, &values->range, &params->codec));
    left->n = 1;
    return FLOE_OK;
}

/* ---- calls that wait ------------------------------------------------------------------------------------------------- */

static floe_status report_take(floe_ctx *ctx, const compression *c, const floe_device_report *r)
{
    FLOE_CHECK(
        &ctx->err, r->status != FLOE_ERR_CAPACITY, FLOE_ERR_CAPACITY,
        "the destination has %llu bytes, and the stream is longer; floe_compress_bound says what surely suffices",
        (unsigned long long)c->finish.capacity);
    FLOE_CHECK(&ctx->err, r->status == FLOE_OK, (floe_status)r->status, "%s", floe_status_text((floe_status)r->status));
    ctx->stats.nelems = 1;
    for (uint32_t i = 0; i < c->encode.field.rank; i++)
        ctx->stats.nelems *= c->encode.field.shape[i];
    ctx->stats.raw_nbytes = ctx->stats.nelems * floe_dtype_size(c->encode.field.dtype);
    ctx->stats.stream_nbytes = r->nbytes;
    ctx->stats.nexceptions = r->nexceptions;
    ctx->stats.max_error = r->max_error;
    ctx->stats.max_pw_error = r->max_pw_error;
    ctx->stats.nchunks = c->encode.nchunks;
    return FLOE_OK;
}

/* In place of the header without attributes; waits. */
static floe_status attrs_put(floe_ctx *ctx, const compression *c, uint8_t *stream)
{
    uint64_t words[FLOE_RESOLVE_MAX_WORDS];
    const size_t nbytes = (size_t)c->encode.first_offset, plain_nbytes = floe_header_nbytes(&c->resolve.header);
    floe_header h;
    void *bytes;
    if (c->nattrs == 0)
        return FLOE_OK;
    FLOE_TRY(floe_cuda_fetch(&ctx->cuda, words, stream, plain_nbytes, &ctx->err));
    FLOE_TRY(floe_header_read(words, plain_nbytes, &h, &ctx->err));
    h.attrs = c->attrs;
    h.nattrs = c->nattrs;
    FLOE_TRY(floe_ctx_hold(ctx, nbytes, &bytes));
    floe_status status = floe_header_write(&h, bytes, nbytes, &ctx->err);
    if (status == FLOE_OK)
        status = floe_cuda_copy(&ctx->cuda, stream, bytes, nbytes, &ctx->err);
    if (status == FLOE_OK)
        status = floe_cuda_wait(&ctx->cuda, &ctx->err);
    floe_ctx_release(ctx, nbytes, &bytes);
    return status;
}

floe_status floe_device_compress(floe_ctx *ctx, const floe_compress_call *call)
{
    void *const dst = call->dst;
    compression c;
    uint64_t room = call->capacity;
    const floe_device_report *report = ctx->cuda.fetched;
    const bool to_device = floe_cuda_pointer_kind(dst) == FLOE_POINTER_DEVICE;
    if (to_device)
        FLOE_TRY(floe_device_stream_check(dst, &ctx->err));
    FLOE_TRY(floe_device_field_check(ctx, call->field));
    FLOE_TRY(compression_of(ctx, call->field, call->params, call->options, &c));
    if (!to_device) {
        floe_sizing sizing;
        FLOE_TRY(floe_sizing_of(NULL, &c.resolve.header, &sizing, &ctx->err));
        const uint64_t more = c.encode.first_offset - floe_header_nbytes(&c.resolve.header);
        room = floe_min64(call->capacity, sizing.stream_nbytes + more);
        c.own_nbytes = floe_max64(c.own_nbytes, room);
    }
    FLOE_TRY(scratch_get(ctx, &c));
    if (c.scans || (call->values && call->values->known))
        FLOE_TRY(bound_resolve(ctx, &c, call->values));
    FLOE_TRY(start(ctx, &c, to_device ? dst : c.own_stream, room, ctx->cuda.fetched));
    FLOE_TRY(floe_cuda_wait(&ctx->cuda, &ctx->err));
    FLOE_TRY(report_take(ctx, &c, report));
    *call->nbytes = report->nbytes; /* before another one is fetched */
    FLOE_TRY(attrs_put(ctx, &c, to_device ? dst : c.own_stream));
    if (!to_device) {
        FLOE_TRY(floe_cuda_copy(&ctx->cuda, dst, c.own_stream, (size_t)*call->nbytes, &ctx->err));
        FLOE_TRY(floe_cuda_wait(&ctx->cuda, &ctx->err));
    }
    return FLOE_OK;
}

floe_status floe_device_compress_shortest(floe_ctx *ctx, const floe_compress_call *call, const floe_choice *left)
{
    floe_params params = *call->params;
    floe_compress_call one = *call;
    const floe_codec likely = params.codec;
    floe_codec best = likely;
    floe_status status;
    uint64_t least = UINT64_MAX;
    bool passed = false, first = false; /* the likeliest, in the order of codecs: also before the best of the others */
    one.params = &params;
    for (uint32_t i = 0; i < left->n; i++) {
        params.codec = left->codecs[i];
        passed = passed || params.codec == likely;
        if (params.codec == likely)
            continue;
        status = floe_device_compress(ctx, &one);
        FLOE_TRY(status == FLOE_ERR_CAPACITY ? FLOE_OK : status);
        if (status == FLOE_OK && *call->nbytes < least) {
            least = *call->nbytes;
            best = params.codec;
            first = passed;
        }
    }
    params.codec = likely;
    ctx->err = (floe_error){.status = FLOE_OK};
    status = floe_device_compress(ctx, &one);
    if (least == UINT64_MAX || (status == FLOE_OK && (*call->nbytes < least || (first && *call->nbytes == least))))
        return status;
    FLOE_TRY(status == FLOE_ERR_CAPACITY ? FLOE_OK : status);
    params.codec = best;
    ctx->err = (floe_error){.status = FLOE_OK};
    return floe_device_compress(ctx, &one);
}

/* ---- calls that do not ----------------------------------------------------------------------------------------------- */

static floe_status call_body(floe_ctx *ctx, void *arg)
{
    const floe_compress_call *call = arg;
    compression c;
    floe_field field;
    floe_params params;
    FLOE_CHECK(&ctx->err, call->dst && call->report, FLOE_ERR_ARGUMENT, "no destination or no report given");
    FLOE_TRY(floe_field_check(call->field, false, &field, &ctx->err));
    FLOE_TRY(floe_device_async_check(ctx, &field, call->dst, call->report));
    FLOE_TRY(floe_params_check(call->params, field.dtype, &params, &ctx->err));
    FLOE_CHECK(&ctx->err, params.mode != FLOE_BOUND_PSNR && params.mode != FLOE_BOUND_RATIO, FLOE_ERR_UNSUPPORTED,
               "%s takes several rounds with the host: floe_compress does that, floe_compress_async cannot",
               params.mode == FLOE_BOUND_PSNR ? "psnr" : "ratio");
    FLOE_CHECK(
        &ctx->err, floe_choice_of(&field, &params).n == 1, FLOE_ERR_UNSUPPORTED,
        "codec auto is chosen by a sample, with the host: floe_compress does that, floe_compress_async cannot, so "
        "name a codec, such as lorenzo");
    FLOE_TRY(compression_of(ctx, &field, &params, NULL, &c));
    FLOE_TRY(floe_device_waits_check(c.codec, c.resolve.header.codec, "floe_compress", &ctx->err));
    FLOE_TRY(scratch_get(ctx, &c));
    return start(ctx, &c, call->dst, call->capacity, call->report);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------------ */

floe_status floe_device_compress_nbytes(floe_ctx *ctx, const floe_field *field, const floe_params *params,
                                        size_t *nbytes)
{
    compression c;
    floe_arena plan = floe_arena_plan(), state = floe_arena_plan();
    FLOE_TRY(compression_of(ctx, field, params, NULL, &c));
    FLOE_TRY(take_all(&c, &state, &plan, &ctx->err));
    FLOE_CHECK(&ctx->err, !plan.overflow, FLOE_ERR_MEMORY, "more device memory is needed than can be addressed");
    *nbytes = plan.used;
    return FLOE_OK;
}

#endif

floe_status floe_compress_async(floe_ctx *ctx, const floe_field *field, const floe_params *params, void *dst,
                                uint64_t capacity, floe_device_report *report)
{
    floe_compress_call call = {field, params, NULL, dst, capacity, NULL, report, NULL};
    return floe_device_run(ctx, FLOE_DEVICE_BODY(call_body), &call);
}
