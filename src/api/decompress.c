/* SPDX-License-Identifier: BSD-3-Clause */
/* Decompression of a stream in memory, all of it or a box. */
#include <assert.h>
#include <string.h>

#include "backend/cuda_reach.h"
#include "base/try.h"
#include "call/chunking.h"
#include "call/field_arg_check.h"
#include "call/region_check.h"
#include "call/resolve.h"
#include "device/device.h"
#include "device/pipeline.h"
#include "device/stream.h"
#include "field/field.h"

typedef struct decompress_call {
    const void *src;
    uint64_t nbytes;
    const uint64_t *lo, *hi; /* NULL: all */
    const floe_field *out;
    bool src_on_device; /* and out is not */
    uint32_t level;
} decompress_call;

#ifdef FLOE_HAVE_CUDA_BUILD

/* A chunk that the GPU could not decode: the CPU says why, in the words of every other call. */
static floe_status chunk_retry(floe_ctx *ctx, floe_stream *s, uint64_t chunk, const uint64_t *lo, const uint64_t *hi,
                               const floe_field *out, floe_status status)
{
    if (!floe_status_is_damage(status) && status != FLOE_ERR_LIMIT)
        return status;
    s->by_cpu = true;
    status = floe_stream_decode(ctx, s, chunk, NULL, lo, hi, out, lo);
    s->by_cpu = false;
    return status;
}

static floe_status chunk_get(floe_ctx *ctx, floe_stream *s, const uint64_t *lo, const uint64_t *hi,
                             const floe_field *out)
{
    uint64_t chunk;
    floe_status status = floe_pipeline_get_values(ctx, &chunk);
    return status == FLOE_OK ? status : chunk_retry(ctx, s, chunk, lo, hi, out, status);
}

/* A chunk that has failed before it came to the GPU: those before it may fail, too, and the first failure is reported. */
static floe_status fail_in_order(floe_ctx *ctx, floe_stream *s, const uint64_t *lo, const uint64_t *hi,
                                 const floe_field *out, uint64_t under_way, floe_status status)
{
    const floe_error why = ctx->err;
    for (; under_way; under_way--)
        FLOE_TRY(chunk_get(ctx, s, lo, hi, out));
    ctx->err = why;
    return status;
}

/* While a chunk is decoded the one before it is copied out and the one behind it is checked and copied in. */
static floe_status chunks_pass_gpu(floe_ctx *ctx, floe_stream *s, const uint64_t *lo, const uint64_t *hi,
                                   const floe_field *out)
{
    uint64_t chunk, under_way = 0;
    for (floe_walk walk = floe_walk_of(&s->header, lo, hi); floe_walk_next(&walk, &chunk);) {
        if (under_way == FLOE_PIPELINE_DEPTH) {
            FLOE_TRY(chunk_get(ctx, s, lo, hi, out));
            under_way--;
        }
        const floe_status status = floe_stream_put(ctx, s, chunk, lo, hi, out, lo);
        if (status != FLOE_OK)
            return fail_in_order(ctx, s, lo, hi, out, under_way, status);
        under_way++;
    }
    for (; under_way; under_way--)
        FLOE_TRY(chunk_get(ctx, s, lo, hi, out));
    return FLOE_OK;
}

static floe_status decompress_by_gpu(floe_ctx *ctx, floe_stream *s, const uint64_t *lo, const uint64_t *hi,
                                     const floe_field *out)
{
    const floe_status status = chunks_pass_gpu(ctx, s, lo, hi, out);
    if (status != FLOE_OK)
        floe_pipeline_drain(ctx);
    return status;
}

#endif

/* What the call says of the box and the field, against what the stream holds. */
static floe_status call_check(floe_ctx *ctx, floe_stream *s, const decompress_call *call, uint64_t *lo, uint64_t *hi)
{
    floe_status status = floe_stream_at_level(ctx, s, call->level);
    if (status == FLOE_OK)
        status = floe_box_check(&s->header, call->lo, call->hi, lo, hi, &ctx->err);
    if (status == FLOE_OK)
        status = floe_region_check(&s->header, lo, hi, call->out, &ctx->err);
    return status == FLOE_OK ? status : floe_stream_refuse(ctx, s, status);
}

static floe_status chunks_decode(floe_ctx *ctx, floe_stream *s, const uint64_t *lo, const uint64_t *hi,
                                 const floe_field *out)
{
    uint64_t chunk;
    for (floe_walk walk = floe_walk_of(&s->header, lo, hi); floe_walk_next(&walk, &chunk);)
        FLOE_TRY(floe_stream_decode(ctx, s, chunk, NULL, lo, hi, out, lo));
    return FLOE_OK;
}

#ifdef FLOE_HAVE_CUDA_BUILD

/* One chunk's part of the box lo..hi, by way of values on the host. */
static floe_status chunk_by_cpu(floe_ctx *ctx, floe_stream *s, uint64_t chunk, const decompress_call *call,
                                const uint64_t *lo, const uint64_t *hi, void *values)
{
    uint64_t from[FLOE_MAX_RANK], to[FLOE_MAX_RANK], at[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    const uint32_t rank = s->header.rank;
    memcpy(from, lo, rank * sizeof *lo);
    memcpy(to, hi, rank * sizeof *hi);
    floe_grid_box(&s->header, chunk, at, extent);
    floe_box_clip(rank, from, to, at, extent);
    for (uint32_t i = 0; i < rank; i++) {
        extent[i] = to[i] - from[i];
        at[i] = from[i] - lo[i];
    }
    const floe_field there = floe_field_box(call->out, at, extent),
                     shape = floe_field_of(NULL, there.dtype, rank, extent);
    const floe_field here = floe_field_contiguous(values, &shape);
    FLOE_TRY(floe_stream_decode(ctx, s, chunk, NULL, from, to, &here, from));
    return floe_device_field_copy(&ctx->cuda, &here, &there, &ctx->err);
}

/* Into device memory, chunk by chunk on the CPU: what the GPU as a whole leaves to it. */
static floe_status device_by_cpu(floe_ctx *ctx, const decompress_call *call)
{
    floe_stream s;
    floe_device_source source;
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], chunk;
    floe_arena plan = floe_arena_plan(), arena;
    FLOE_TRY(floe_stream_of_place(ctx, call->src, call->nbytes, call->src_on_device, &source, &s));
    FLOE_TRY(call_check(ctx, &s, call, lo, hi));
    const uint64_t nelems = floe_extent_nelems(s.header.rank, s.header.chunk);
    s.by_cpu = true;
    floe_stream_take(&s, &plan);
    floe_arena_take(&plan, nelems, floe_dtype_size(s.header.dtype));
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    floe_stream_take(&s, &arena);
    void *values = floe_arena_take(&arena, nelems, floe_dtype_size(s.header.dtype));
    FLOE_TRY(floe_stream_begin_decode(ctx, &s));
    for (floe_walk walk = floe_walk_of(&s.header, lo, hi); floe_walk_next(&walk, &chunk);)
        FLOE_TRY(chunk_by_cpu(ctx, &s, chunk, call, lo, hi, values));
    return FLOE_OK;
}

/* Too little memory: that is said of streams that are not damaged, as far as header and index tell. */
static floe_status device_refuse(floe_ctx *ctx, const decompress_call *call, floe_status status)
{
    floe_stream s;
    floe_device_source source;
    const floe_error why = ctx->err;
    if (status != FLOE_ERR_MEMORY && status != FLOE_ERR_LIMIT)
        return status;
    FLOE_TRY(floe_stream_of_place(ctx, call->src, call->nbytes, call->src_on_device, &source, &s));
    ctx->err = why;
    return floe_stream_refuse(ctx, &s, status);
}

/* Into device memory, by the GPU as a whole. */
static floe_status device_body(floe_ctx *ctx, void *arg)
{
    const decompress_call *call = arg;
    bool decided = true;
    const floe_status status =
        floe_device_decompress(ctx, call->src, call->nbytes, call->level, call->lo, call->hi, call->out, &decided);
    if (status != FLOE_OK)
        return device_refuse(ctx, call, status);
    return decided ? FLOE_OK : device_by_cpu(ctx, call);
}

#endif

/* Into host memory, chunk by chunk. */
static floe_status host_body(floe_ctx *ctx, void *arg)
{
    const decompress_call *call = arg;
    floe_stream s;
    floe_device_source source;
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    floe_arena plan = floe_arena_plan(), arena;
    FLOE_TRY(floe_stream_of_place(ctx, call->src, call->nbytes, call->src_on_device, &source, &s));
    FLOE_TRY(call_check(ctx, &s, call, lo, hi));
    floe_stream_take(&s, &plan);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    floe_stream_take(&s, &arena);
    assert(!arena.overflow);
    FLOE_TRY(floe_stream_begin_decode(ctx, &s));
#ifdef FLOE_HAVE_CUDA_BUILD
    if (floe_pipeline_wanted(ctx, &s.header) && !s.by_cpu)
        return decompress_by_gpu(ctx, &s, lo, hi, call->out);
#endif
    return chunks_decode(ctx, &s, lo, hi, call->out);
}

static floe_status decompress_body(floe_ctx *ctx, void *arg)
{
    const decompress_call *given = arg;
    decompress_call call = *given;
    floe_field out;
    FLOE_TRY(floe_field_arg_check(given->out, true, &out, &ctx->err));
    call.out = &out;
    call.src_on_device = !floe_cuda_host_reaches(call.src);
    if (out.place == FLOE_DEVICE)
        return floe_device_enter(ctx, FLOE_DEVICE_BODY(device_body), &call);
    return call.src_on_device ? floe_device_enter(ctx, host_body, &call) : host_body(ctx, &call);
}

floe_status floe_decompress(floe_ctx *ctx, const void *src, uint64_t nbytes, floe_field *out)
{
    decompress_call call = {.src = src, .nbytes = nbytes, .out = out};
    return floe_ctx_run(ctx, decompress_body, &call);
}

static floe_status region_body(floe_ctx *ctx, void *arg)
{
    const decompress_call *call = arg;
    FLOE_CHECK(&ctx->err, call->lo && call->hi, FLOE_ERR_ARGUMENT, "a region needs both lo and hi");
    return decompress_body(ctx, arg);
}

floe_status floe_decompress_region(floe_ctx *ctx, const void *src, uint64_t nbytes, const uint64_t *lo,
                                   const uint64_t *hi, floe_field *out)
{
    decompress_call call = {.src = src, .nbytes = nbytes, .lo = lo, .hi = hi, .out = out};
    return floe_ctx_run(ctx, region_body, &call);
}

floe_status floe_decompress_level(floe_ctx *ctx, const void *src, uint64_t nbytes, uint32_t level, floe_field *out)
{
    decompress_call call = {.src = src, .nbytes = nbytes, .out = out, .level = level};
    return floe_ctx_run(ctx, decompress_body, &call);
}
