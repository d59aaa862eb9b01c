/* SPDX-License-Identifier: BSD-3-Clause */
/* Decompression of a stream in memory. */
#include <assert.h>
#include <string.h>

#include "api/decoding.h"
#include "backend/cuda.h"
#include "base/try.h"
#include "call/chunking.h"
#include "call/arg_check.h"
#include "call/resolve.h"
#include "device/device.h"
#include "device/pipeline.h"
#include "field/field.h"

typedef struct decompress_call {
    const void *src;
    uint64_t nbytes;
    const floe_stream_options *options; /* as the caller has them; then checked */
    const floe_field *out;
    bool needs_box;
    bool src_on_device; /* and out is not */
} decompress_call;

#ifdef FLOE_HAVE_CUDA_BUILD

/* A chunk that the GPU could not decode: the CPU reports why, in the words of every other call. */
static floe_status chunk_retry(floe_ctx *ctx, floe_decoding *d, uint64_t chunk, floe_status status)
{
    if (!floe_status_is_damage(status) && status != FLOE_ERR_LIMIT)
        return status;
    d->stream.by_cpu = true;
    status = floe_decoding_chunk(ctx, d, chunk);
    d->stream.by_cpu = false;
    return status;
}

static floe_status chunk_get(floe_ctx *ctx, floe_decoding *d)
{
    uint64_t chunk;
    floe_status status = floe_pipeline_get_values(ctx, &chunk);
    if (status != FLOE_OK)
        FLOE_TRY(chunk_retry(ctx, d, chunk, status));
    return floe_decoding_progress(ctx, d, chunk);
}

/* A chunk that has failed before it came to the GPU: those before it may fail, too, and the first failure is reported. */
static floe_status fail_in_order(floe_ctx *ctx, floe_decoding *d, uint64_t under_way, floe_status status)
{
    const floe_error why = ctx->err;
    for (; under_way; under_way--)
        FLOE_TRY(chunk_get(ctx, d));
    ctx->err = why;
    return status;
}

/* While a chunk is decoded the one before it is copied out and the one behind it is checked and copied in. */
static floe_status chunks_pass_gpu(floe_ctx *ctx, floe_decoding *d)
{
    uint64_t chunk, under_way = 0;
    for (floe_walk walk = floe_walk_of(&d->stream.header, d->lo, d->hi); floe_walk_next(&walk, &chunk);) {
        if (under_way == FLOE_PIPELINE_DEPTH) {
            FLOE_TRY(chunk_get(ctx, d));
            under_way--;
        }
        const floe_status status = floe_stream_put(ctx, &d->stream, chunk, d->lo, d->hi, d->out, d->out_lo);
        if (status != FLOE_OK)
            return fail_in_order(ctx, d, under_way, status);
        under_way++;
    }
    for (; under_way; under_way--)
        FLOE_TRY(chunk_get(ctx, d));
    return FLOE_OK;
}

static floe_status decompress_by_gpu(floe_ctx *ctx, floe_decoding *d)
{
    const floe_status status = chunks_pass_gpu(ctx, d);
    if (status != FLOE_OK)
        floe_pipeline_drain(ctx);
    return status;
}

#endif

/* The stream of a call, and what the call gives for the box and the field against what it holds. */
static floe_status decoding_of(floe_ctx *ctx, const decompress_call *call, floe_device_source *source, floe_decoding *d)
{
    *d = (floe_decoding){.options = *call->options, .out = call->out};
    d->out_lo = d->lo;
    FLOE_TRY(floe_stream_of_place(ctx, call->src, call->nbytes, call->src_on_device, d->options.salvage, source,
                                  &d->stream));
    floe_status status = floe_decoding_box(ctx, d);
    if (status == FLOE_OK)
        status = floe_region_check(&d->stream.header, d->lo, d->hi, call->out, &ctx->err);
    return status == FLOE_OK ? status : floe_stream_refuse(ctx, &d->stream, status);
}

static floe_status chunks_decode(floe_ctx *ctx, floe_decoding *d)
{
    uint64_t chunk;
    for (floe_walk walk = floe_walk_of(&d->stream.header, d->lo, d->hi); floe_walk_next(&walk, &chunk);)
        FLOE_TRY(floe_decoding_add(ctx, d, chunk));
    return floe_decoding_flush(ctx, d);
}

#ifdef FLOE_HAVE_CUDA_BUILD

/* One chunk's part of the box, by way of values on the host. */
static floe_status chunk_by_cpu(floe_ctx *ctx, floe_decoding *d, uint64_t chunk, void *values)
{
    uint64_t from[FLOE_MAX_RANK], to[FLOE_MAX_RANK], at[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    const uint32_t rank = d->stream.header.rank;
    floe_chunk_clip(&d->stream.header, chunk, d->lo, d->hi, from, to);
    for (uint32_t i = 0; i < rank; i++) {
        extent[i] = to[i] - from[i];
        at[i] = from[i] - d->lo[i];
    }
    const floe_field there = floe_field_box(d->out, at, extent), shape = floe_field_of(NULL, there.dtype, rank, extent);
    const floe_field here = floe_field_contiguous(values, &shape);
    FLOE_TRY(floe_stream_decode(ctx, &d->stream, chunk, NULL, from, to, &here, from));
    FLOE_TRY(floe_device_field_copy(&ctx->cuda, &here, &there, &ctx->err));
    return floe_decoding_progress(ctx, d, chunk);
}

/* Into device memory, chunk by chunk on the CPU: what the GPU as a whole leaves to it. */
static floe_status device_by_cpu(floe_ctx *ctx, const decompress_call *call)
{
    floe_decoding d;
    floe_device_source source;
    uint64_t chunk;
    floe_arena plan = floe_arena_plan(), arena;
    FLOE_TRY(decoding_of(ctx, call, &source, &d));
    const floe_header *h = &d.stream.header;
    const uint64_t nelems = floe_extent_nelems(h->rank, h->chunk);
    d.stream.by_cpu = true;
    floe_decoding_spread(ctx, &d, 1, FLOE_ONE_CHUNK);
    floe_stream_take(&d.stream, &plan);
    floe_arena_take(&plan, nelems, floe_dtype_size(h->dtype));
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    floe_stream_take(&d.stream, &arena);
    void *values = floe_arena_take_dense(&arena, nelems, floe_dtype_size(h->dtype));
    FLOE_TRY(floe_stream_begin_decode(ctx, &d.stream));
    for (floe_walk walk = floe_walk_of(h, d.lo, d.hi); floe_walk_next(&walk, &chunk);)
        FLOE_TRY(chunk_by_cpu(ctx, &d, chunk, values));
    return FLOE_OK;
}

/* Too little memory: that is reported of streams that are not damaged, as far as header and index show. */
static floe_status device_refuse(floe_ctx *ctx, const decompress_call *call, floe_status status)
{
    floe_stream s;
    floe_device_source source;
    const floe_error why = ctx->err;
    if (status != FLOE_ERR_MEMORY && status != FLOE_ERR_LIMIT)
        return status;
    FLOE_TRY(floe_stream_of_place(ctx, call->src, call->nbytes, call->src_on_device, false, &source, &s));
    ctx->err = why;
    return floe_stream_refuse(ctx, &s, status);
}

/* Into device memory, by the GPU as a whole, but for a box of a level. */
static floe_status device_body(floe_ctx *ctx, void *arg)
{
    const decompress_call *call = arg;
    const floe_stream_options *o = call->options;
    bool decided = !(o->level && o->lo);
    FLOE_CHECK(&ctx->err, !o->salvage, FLOE_ERR_UNSUPPORTED,
               "salvage does not work into device memory: decompress to host memory, and copy the values");
    const floe_status status =
        decided ? floe_device_decompress(ctx, call->src, call->nbytes, o->level, o->lo, o->hi, call->out, &decided)
                : FLOE_OK;
    if (status != FLOE_OK)
        return device_refuse(ctx, call, status);
    return decided ? floe_progress_whole(o, ctx->stats.raw_nbytes, &ctx->err) : device_by_cpu(ctx, call);
}

#endif

/* Into host memory, chunk by chunk. */
static floe_status host_body(floe_ctx *ctx, void *arg)
{
    const decompress_call *call = arg;
    floe_decoding d;
    floe_device_source source;
    floe_width width = FLOE_MANY_CHUNKS;
    floe_arena plan, arena;
    FLOE_TRY(decoding_of(ctx, call, &source, &d));
    do {
        plan = floe_arena_plan();
        floe_decoding_spread(ctx, &d, UINT64_MAX, width);
        floe_stream_take(&d.stream, &plan);
    } while (floe_lanes_narrow(ctx, &plan, &width));
    if (d.stream.exact)
        floe_ctx_trim(ctx, &plan);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    floe_stream_take(&d.stream, &arena);
    assert(!arena.overflow);
    FLOE_TRY(floe_stream_begin_decode(ctx, &d.stream));
#ifdef FLOE_HAVE_CUDA_BUILD
    if (floe_pipeline_wanted(ctx, &d.stream.header) && !d.stream.by_cpu && !d.options.salvage)
        return decompress_by_gpu(ctx, &d);
#endif
    return chunks_decode(ctx, &d);
}

static floe_status decompress_body(floe_ctx *ctx, void *arg)
{
    const decompress_call *given = arg;
    decompress_call call = *given;
    floe_stream_options options;
    floe_field out;
    FLOE_TRY(floe_stream_options_read(given->options, &options, &ctx->err));
    FLOE_CHECK(&ctx->err, !call.needs_box || options.lo, FLOE_ERR_ARGUMENT, "a region needs both lo and hi");
    FLOE_TRY(floe_field_arg_check(given->out, true, &out, &ctx->err));
    call.options = &options;
    call.out = &out;
    call.src_on_device = !floe_cuda_host_reaches(call.src);
    if (out.place == FLOE_DEVICE)
        return floe_device_enter(ctx, FLOE_DEVICE_BODY(device_body), &call);
    return call.src_on_device ? floe_device_enter(ctx, host_body, &call) : host_body(ctx, &call);
}

floe_status floe_decompress_with(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_stream_options *options,
                                 floe_field *out)
{
    decompress_call call = {.src = src, .nbytes = nbytes, .options = options, .out = out};
    return floe_ctx_run(ctx, decompress_body, &call);
}

floe_status floe_decompress(floe_ctx *ctx, const void *src, uint64_t nbytes, floe_field *out)
{
    return floe_decompress_with(ctx, src, nbytes, NULL, out);
}

floe_status floe_decompress_region(floe_ctx *ctx, const void *src, uint64_t nbytes, const uint64_t *lo,
                                   const uint64_t *hi, floe_field *out)
{
    const floe_stream_options box = {.size = sizeof box, .lo = lo, .hi = hi};
    decompress_call call = {.src = src, .nbytes = nbytes, .options = &box, .out = out, .needs_box = true};
    return floe_ctx_run(ctx, decompress_body, &call);
}

floe_status floe_decompress_level(floe_ctx *ctx, const void *src, uint64_t nbytes, uint32_t level, floe_field *out)
{
    const floe_stream_options options = {.size = sizeof options, .level = level};
    return floe_decompress_with(ctx, src, nbytes, &options, out);
}
