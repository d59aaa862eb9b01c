/* SPDX-License-Identifier: BSD-3-Clause */
/* Compression, of memory and of sources: resolve the bound, then header, one record a chunk, index. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "api/compression.h"
#include "backend/cuda.h"
#include "base/bytes.h"
#include "base/try.h"
#include "call/choice.h"
#include "call/ctx.h"
#include "call/arg_check.h"
#include "call/resolve.h"
#include "call/chunking.h"
#include "codec/resolve/resolve_math.h"
#include "device/device.h"
#include "device/pipeline.h"
#include "field/field.h"

typedef floe_compression compression;

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

static void take_all(compression *c, const floe_sizing *s, floe_arena *arena)
{
    c->index = floe_arena_take(arena, c->nchunks, sizeof *c->index);
    floe_chunks_take(c, arena);
    floe_chunk_source_take(&c->chunks, arena);
    if (c->header.mode == FLOE_BOUND_RATIO)
        floe_sample_take(&c->sample, arena);
    if (c->output.sink || c->header.mode == FLOE_BOUND_RATIO) { /* holds whatever is written at once */
        uint64_t record = floe_record_nbytes(s->payload_nbytes);
        uint64_t ends = floe_max64(floe_header_nbytes(&c->header), floe_index_nbytes(c->nchunks));
        c->staging.capacity = floe_max64(record, ends);
        c->staging.buffer = floe_arena_take(arena, c->staging.capacity, 1);
    }
}

/* What there is to take, for the header and all that it leads to. */
static floe_status plan_all(floe_ctx *ctx, compression *c, floe_width width, floe_sizing *sizing, floe_arena *plan)
{
    *plan = floe_arena_plan();
    FLOE_TRY(floe_sizing_of(&ctx->cpu, &c->header, sizing, &ctx->err));
    c->nchunks = floe_grid_nchunks(&c->header);
    floe_chunks_spread(c, sizing, width);
    if (c->header.mode == FLOE_BOUND_RATIO) {
        c->sample = floe_sample_of(&ctx->cpu, &c->header, NULL, false, &ctx->err);
        FLOE_TRY(floe_sample_add(&c->sample, c->header.codec));
    }
    take_all(c, sizing, plan);
    return FLOE_OK;
}

static floe_status scratch_get(floe_ctx *ctx, compression *c)
{
    floe_sizing sizing;
    floe_arena plan, arena;
    floe_width width = FLOE_MANY_CHUNKS;
    do
        FLOE_TRY(plan_all(ctx, c, width, &sizing, &plan));
    while (floe_lanes_narrow(ctx, &plan, &width));
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    take_all(c, &sizing, &arena);
    assert(!arena.overflow);
    if (c->output.sink) {
        c->output.buffer = c->staging.buffer;
        c->output.capacity = c->staging.capacity;
    }
    return FLOE_OK;
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

static floe_status header_put(compression *c, floe_error *err)
{
    uint8_t *space;
    size_t nbytes = floe_header_nbytes(&c->header);
    FLOE_TRY(floe_output_reserve(&c->output, nbytes, &space, err));
    FLOE_TRY(floe_header_write(&c->header, space, nbytes, err));
    return floe_output_commit(&c->output, nbytes, err);
}

static floe_status index_put(compression *c, floe_error *err)
{
    uint8_t *space;
    uint64_t nbytes = floe_index_nbytes(c->nchunks);
    FLOE_TRY(floe_output_reserve(&c->output, nbytes, &space, err));
    floe_index_write(c->index, c->nchunks, c->output.written, space);
    return floe_output_commit(&c->output, nbytes, err);
}

static void stats_begin(floe_ctx *ctx, const compression *c)
{
    ctx->stats.nelems = floe_extent_nelems(c->header.rank, c->header.shape);
    ctx->stats.raw_nbytes = ctx->stats.nelems * floe_dtype_size(c->header.dtype);
    ctx->stats.nchunks = c->nchunks;
    ctx->stats.nexceptions = 0;
    ctx->stats.max_error = 0;
    ctx->stats.max_pw_error = c->header.mode == FLOE_BOUND_PWREL ? 0 : NAN;
}

/* Whole, by the header's absolute bound. */
static floe_status stream_put(floe_ctx *ctx, compression *c)
{
    stats_begin(ctx, c);
    c->codec = floe_resolve_codec(&c->header);
    FLOE_TRY(floe_chunks_begin(c));
    FLOE_TRY(header_put(c, &ctx->err));
    FLOE_TRY(floe_chunks_put(c));
    FLOE_TRY(floe_chunk_source_end(&c->chunks, &ctx->err));
    return index_put(c, &ctx->err);
}

/* ---- bounds and codecs that are tried ---------------------------------------------------------------------------- */

static floe_resolver resolver_of(floe_ctx *ctx, compression *c)
{
    return (floe_resolver){.cpu = &ctx->cpu,
                           .params = &c->params,
                           .chunks = &c->chunks,
                           .progress = &c->progress,
                           .lanes = &c->lanes,
                           .err = &ctx->err};
}

static floe_status sample_load(floe_ctx *ctx, compression *c, floe_sample *sample)
{
    c->sample_source = (floe_sample_source){&c->chunks, ctx};
    sample->header = c->header;
    floe_sample_read_from(sample, &c->sample_source);
#ifdef FLOE_HAVE_CUDA_BUILD
    sample->code = floe_pipeline_code_sample;
#endif
    return floe_sample_load(sample);
}

static floe_status write_nowhere(void *user, const void *src, size_t nbytes)
{
    (void)user, (void)src, (void)nbytes;
    return FLOE_OK;
}

static floe_status ratio_attempt(void *user, double abs_bound, double tuner_bound, uint64_t *nbytes)
{
    static const floe_sink nowhere = {NULL, write_nowhere};
    compression *c = user;
    const floe_output output = c->output;
    c->header.abs_bound = abs_bound;
    c->header.tuner_bound = tuner_bound;
    c->output = c->staging;
    c->output.sink = &nowhere;
    c->tries = true;
    const floe_status status = stream_put(c->ctx, c);
    *nbytes = c->output.written;
    c->output = output;
    c->tries = false;
    return status;
}

static floe_status ratio_resolve(floe_ctx *ctx, compression *c, const floe_range *range)
{
    const floe_ratio ratio = {ratio_attempt, c, floe_extent_nbytes(c->header.dtype, c->header.rank, c->header.shape)};
    FLOE_TRY(sample_load(ctx, c, &c->sample));
    return floe_ratio_resolve(&ratio, &c->sample, range, &c->header, NULL);
}

/* Keeps the smallest trial of the whole field beside the workspace, whose bytes others take before the field is coded. Not where a caller
 * owns that, for whom nothing is allocated, nor where memory is limited. */
static floe_status trial_keep(void *keeper, const floe_trial *trial, const uint8_t *bytes)
{
    compression *c = keeper;
    floe_ctx *ctx = c->ctx;
    if (ctx->caller_owns || ctx->max_memory || (c->coded && trial->nbytes >= c->trial.nbytes))
        return FLOE_OK;
    floe_ctx_release(ctx, c->trial.nbytes, &c->coded);
    c->trial = *trial;
    FLOE_TRY(floe_ctx_hold(ctx, trial->nbytes, &c->coded));
    memcpy(c->coded, bytes, (size_t)trial->nbytes);
    return FLOE_OK;
}

/* The codec of a header that was made for the first of several, by a sample. Range and fill are known then. */
static floe_status codec_choose(floe_ctx *ctx, compression *c, const floe_field *layout, floe_range *range)
{
    const floe_choice choice = floe_choice_of(layout, &c->params);
    floe_arena plan = floe_arena_plan(), arena;
    floe_sample sample;
    const bool repeats = floe_chunk_source_repeats(&c->chunks);
    FLOE_CHECK(&ctx->err, repeats || floe_resolve_needs_range(c->header.mode), FLOE_ERR_UNSUPPORTED,
               "codec auto looks at a sample, so the source is read more than once, and this one cannot seek: put it "
               "into a file first, or name a codec, such as lorenzo");
    if (repeats && c->chunks.source && !c->chunks.source->seekable)
        FLOE_TRY(floe_chunk_source_hold(&c->chunks, ctx, &c->held, &c->held_nbytes));
    const floe_field *const here = c->chunks.source ? NULL : &c->chunks.field;
    FLOE_TRY(floe_choice_sample(&choice, &ctx->cpu, &c->header, here, &sample, &ctx->err));
    floe_chunk_source_take(&c->chunks, &plan);
    floe_sample_take(&sample, &plan);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    floe_chunk_source_take(&c->chunks, &arena);
    floe_sample_take(&sample, &arena);
    const floe_resolver resolver = resolver_of(ctx, c);
    FLOE_TRY(floe_resolve_values(&resolver, &c->header, range));
    FLOE_TRY(sample_load(ctx, c, &sample));
    sample.keep = trial_keep;
    sample.keeper = c;
    FLOE_TRY(floe_choice_make(&choice, &sample, range, &c->params.codec));
    c->header.codec = c->params.codec;
    return floe_chunking_choose(layout, &c->params, c->header.chunk, &ctx->err);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Header, chunks and output are set up; the rest is the same for memory and streams. */
static floe_status compress_run(floe_ctx *ctx, compression *c, const floe_field *layout)
{
    floe_range range;
    const bool chooses = floe_choice_of(layout, &c->params).n > 1;
    if (chooses)
        FLOE_TRY(codec_choose(ctx, c, layout, &range));
    FLOE_TRY(scratch_get(ctx, c));
    const floe_resolver resolver = resolver_of(ctx, c);
    if (!chooses)
        FLOE_TRY(floe_resolve_values(&resolver, &c->header, &range));
    FLOE_TRY(floe_resolve_bound(&resolver, &c->header, &range));
    if (c->header.mode == FLOE_BOUND_RATIO && floe_resolve_varies(&range))
        FLOE_TRY(ratio_resolve(ctx, c, &range));
    FLOE_TRY(stream_put(ctx, c));
    ctx->stats.stream_nbytes = c->output.written;
    if (c->header.mode != FLOE_BOUND_PWREL)
        ctx->stats.max_pw_error = NAN;
    return FLOE_OK;
}

/* What options hold beside the values: attributes and progress, of a header that has all else. */
static floe_status options_take(compression *c, const floe_stream_options *options, floe_error *err)
{
    floe_header *h = &c->header;
    h->attrs = options->attrs;
    h->nattrs = options->nattrs;
    FLOE_CHECK(err, floe_header_nbytes(h), FLOE_ERR_ARGUMENT,
               "the attributes are not valid UTF-8 texts, or more than %d bytes in all", FLOE_HEADER_MAX_NBYTES);
    c->progress =
        (floe_progress){options->progress, options->progress_user, 0, floe_extent_nbytes(h->dtype, h->rank, h->shape)};
    return FLOE_OK;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static floe_status host_compress(floe_ctx *ctx, const floe_compress_call *call, const floe_output *output)
{
    compression c = {.ctx = ctx, .params = *call->params, .output = *output};
    FLOE_TRY(floe_header_init(&c.header, call->field, &c.params, &ctx->err));
    FLOE_TRY(options_take(&c, call->options, &ctx->err));
    c.chunks = floe_chunk_source_of_field(&c.header, call->field);
    const floe_status status = compress_run(ctx, &c, call->field);
    floe_ctx_release(ctx, c.trial.nbytes, &c.coded);
    FLOE_TRY(status);
    *call->nbytes = c.output.written;
    return FLOE_OK;
}

/* A field in host memory, to a stream in device memory: piece by piece. */
static floe_status to_device_body(floe_ctx *ctx, void *arg)
{
    const floe_compress_call *call = arg;
    floe_device_sink to;
    FLOE_TRY(floe_device_stream_check(call->dst, &ctx->err));
    floe_device_sink_init(&to, &ctx->cuda, call->dst, call->capacity);
    const floe_status status = host_compress(ctx, call, &(floe_output){.sink = &to.sink});
    if (status == FLOE_ERR_CAPACITY)
        return floe_output_full(&(floe_output){.capacity = call->capacity}, &ctx->err);
    return status;
}

#ifdef FLOE_HAVE_CUDA_BUILD

/* A field in device memory whose codec has no kernels: by way of the host. */
static floe_status device_by_cpu(floe_ctx *ctx, floe_compress_call *call)
{
    const uint64_t nbytes = floe_extent_nbytes(call->field->dtype, call->field->rank, call->field->shape);
    void *values;
    FLOE_TRY(floe_device_field_check(ctx, call->field));
    FLOE_TRY(floe_ctx_hold(ctx, nbytes, &values));
    floe_field here = floe_field_contiguous(values, call->field);
    here.place = FLOE_HOST;
    floe_status status = floe_device_field_copy(&ctx->cuda, call->field, &here, &ctx->err);
    call->field = &here;
    if (status == FLOE_OK)
        status = floe_cuda_host_reaches(call->dst)
                     ? host_compress(ctx, call, &(floe_output){.buffer = call->dst, .capacity = call->capacity})
                     : to_device_body(ctx, call);
    floe_ctx_release(ctx, nbytes, &values);
    return status;
}

static floe_status device_body(floe_ctx *ctx, void *arg)
{
    floe_compress_call call = *(const floe_compress_call *)arg;
    floe_params params = *call.params;
    floe_device_values values;
    floe_choice left;
    call.params = &params;
    FLOE_TRY(floe_device_choose(ctx, call.field, &params, &values, &left));
    call.values = values.known ? &values : NULL;
    if (!floe_codec_of(params.codec)->device)
        return device_by_cpu(ctx, &call);
    FLOE_TRY(left.n > 1 ? floe_device_compress_shortest(ctx, &call, &left) : floe_device_compress(ctx, &call));
    return floe_progress_whole(call.options, ctx->stats.raw_nbytes, &ctx->err);
}

#endif

static floe_status compress_body(floe_ctx *ctx, void *arg)
{
    const floe_compress_call *given = arg;
    floe_compress_call call = *given;
    floe_field field;
    floe_params params;
    floe_stream_options options;
    FLOE_CHECK(&ctx->err, call.nbytes && (call.dst || !call.capacity), FLOE_ERR_ARGUMENT, "no destination given");
    FLOE_TRY(floe_field_arg_check(given->field, false, &field, &ctx->err));
    FLOE_TRY(floe_params_check(given->params, field.dtype, &params, &ctx->err));
    FLOE_TRY(floe_stream_options_read(given->options, &options, &ctx->err));
    call.field = &field;
    call.params = &params;
    call.options = &options;
    if (field.place == FLOE_DEVICE)
        return floe_device_enter(ctx, FLOE_DEVICE_BODY(device_body), &call);
    if (!floe_cuda_host_reaches(call.dst))
        return floe_device_enter(ctx, to_device_body, &call);
    return host_compress(ctx, &call, &(floe_output){.buffer = call.dst, .capacity = call.capacity});
}

floe_status floe_compress_with(floe_ctx *ctx, const floe_field *field, const floe_params *params,
                               const floe_stream_options *options, void *dst, uint64_t capacity, uint64_t *nbytes)
{
    floe_compress_call call = {field, params, options, dst, capacity, nbytes, NULL, NULL};
    return floe_ctx_run(ctx, compress_body, &call);
}

floe_status floe_compress(floe_ctx *ctx, const floe_field *field, const floe_params *params, void *dst,
                          uint64_t capacity, uint64_t *nbytes)
{
    return floe_compress_with(ctx, field, params, NULL, dst, capacity, nbytes);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

typedef struct workspace_call {
    const floe_field *field;
    const floe_params *params;
    size_t *nbytes;
} workspace_call;

static floe_status workspace_body(floe_ctx *ctx, void *arg)
{
    const workspace_call *call = arg;
    compression c = {.ctx = ctx};
    floe_sizing sizing;
    floe_sample sample;
    floe_arena most = floe_arena_plan();
    FLOE_CHECK(&ctx->err, call->nbytes, FLOE_ERR_ARGUMENT, "nowhere to put the number of bytes");
    FLOE_TRY(floe_header_of_layout(call->field, call->params, &c.params, &c.header, &ctx->err));
    const floe_choice choice = floe_choice_of(call->field, &c.params);
    if (choice.n > 1) {
        FLOE_TRY(floe_choice_sample(&choice, &ctx->cpu, &c.header, call->field, &sample, &ctx->err));
        floe_sample_take(&sample, &most);
    }
    for (uint32_t i = 0; i < choice.n; i++) {
        floe_arena plan;
        c.params.codec = choice.codecs[i];
        FLOE_TRY(floe_header_init(&c.header, call->field, &c.params, &ctx->err));
        FLOE_TRY(plan_all(ctx, &c, FLOE_MANY_CHUNKS, &sizing, &plan));
        FLOE_CHECK(&ctx->err, !plan.overflow, FLOE_ERR_LIMIT, "the index of %llu chunks does not fit into memory",
                   (unsigned long long)c.nchunks);
        most.used = plan.used > most.used ? plan.used : most.used;
    }
    *call->nbytes = most.used;
    return FLOE_OK;
}

floe_status floe_workspace_nbytes(floe_ctx *ctx, const floe_field *field, const floe_params *params, size_t *nbytes)
{
    workspace_call call = {field, params, nbytes};
    return floe_ctx_run(ctx, workspace_body, &call);
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

typedef struct stream_call {
    const floe_field *layout;
    const floe_params *params;
    const floe_source *source;
    const floe_sink *sink;
    const floe_stream_options *options;
} stream_call;

static floe_status stream_body(floe_ctx *ctx, void *arg)
{
    const stream_call *call = arg;
    floe_error *err = &ctx->err;
    floe_stream_options options;
    compression c = {.ctx = ctx, .output = {.sink = call->sink}};
    FLOE_CHECK(err, call->source && call->source->read, FLOE_ERR_ARGUMENT, "no source given");
    FLOE_CHECK(err, call->sink && call->sink->write, FLOE_ERR_ARGUMENT, "no sink given");
    FLOE_TRY(floe_stream_options_read(call->options, &options, err));
    FLOE_TRY(floe_header_of_layout(call->layout, call->params, &c.params, &c.header, err));
    FLOE_TRY(options_take(&c, &options, err));
    FLOE_TRY(floe_chunk_source_of_source(&c.header, call->source, &c.chunks, err));
    const floe_status status = compress_run(ctx, &c, call->layout);
    floe_ctx_release(ctx, c.held_nbytes, &c.held);
    floe_ctx_release(ctx, c.trial.nbytes, &c.coded);
    return status;
}

floe_status floe_compress_stream(floe_ctx *ctx, const floe_field *layout, const floe_params *params,
                                 const floe_source *source, const floe_sink *sink, const floe_stream_options *options)
{
    stream_call call = {layout, params, source, sink, options};
    return floe_ctx_run(ctx, stream_body, &call);
}
