/* SPDX-License-Identifier: BSD-3-Clause */
/* What the codec of a stream reports of its chunks: bytes of each level, and how they are coded. */
#include "backend/cuda.h"
#include "base/try.h"
#include "device/stream.h"

typedef struct plan_call {
    const void *src;
    uint64_t nbytes, chunk;
    uint32_t level;
    uint64_t *level_nbytes;
    floe_text text;
} plan_call;

static floe_status open_stream(floe_ctx *ctx, const plan_call *call, bool salvage, floe_stream *s)
{
    FLOE_CHECK(&ctx->err, floe_cuda_host_reaches(call->src), FLOE_ERR_ARGUMENT,
               "the stream lies in device memory: bring it to the host");
    return floe_stream_of_memory(ctx, call->src, call->nbytes, salvage, s);
}

static floe_status level_body(floe_ctx *ctx, void *arg)
{
    const plan_call *call = arg;
    floe_stream s;
    uint64_t n;
    FLOE_CHECK(&ctx->err, call->level_nbytes, FLOE_ERR_ARGUMENT, "nowhere to put the number of bytes");
    FLOE_TRY(open_stream(ctx, call, call->level, &s));
    FLOE_TRY(floe_stream_at_level(ctx, &s, call->level));
    *call->level_nbytes = call->level ? s.header_nbytes : call->nbytes;
    for (uint64_t i = 0; i < s.nchunks && call->level; i++) {
        FLOE_TRY(floe_stream_record_nbytes(&s, i, &n, &ctx->err));
        *call->level_nbytes += n;
    }
    return FLOE_OK;
}

floe_status floe_stream_level_nbytes(floe_ctx *ctx, const void *src, uint64_t nbytes, uint32_t level,
                                     uint64_t *level_nbytes)
{
    plan_call call = {.src = src, .nbytes = nbytes, .level = level, .level_nbytes = level_nbytes};
    return floe_ctx_run(ctx, level_body, &call);
}

static floe_status plan_body(floe_ctx *ctx, void *arg)
{
    plan_call *call = arg;
    floe_stream s;
    floe_chunk_decode chunk;
    uint64_t extent[FLOE_MAX_RANK];
    FLOE_CHECK(&ctx->err, call->text.at && call->text.capacity, FLOE_ERR_ARGUMENT, "nowhere to put the text");
    call->text.at[0] = '\0';
    FLOE_TRY(open_stream(ctx, call, false, &s));
    FLOE_CHECK(&ctx->err, call->chunk < s.nchunks, FLOE_ERR_ARGUMENT, "the stream has %llu chunks, none is number %llu",
               (unsigned long long)s.nchunks, (unsigned long long)call->chunk);
    FLOE_TRY(floe_stream_chunk(&s, call->chunk, extent, &chunk, &ctx->err));
    if (floe_codec_of(s.header.codec)->plan)
        FLOE_TRY(floe_codec_of(s.header.codec)->plan(&chunk, &call->text, &ctx->err));
    FLOE_CHECK(&ctx->err, call->text.length < call->text.capacity, FLOE_ERR_CAPACITY, "the text has %zu bytes",
               call->text.length);
    return FLOE_OK;
}

floe_status floe_stream_plan(floe_ctx *ctx, const void *src, uint64_t nbytes, uint64_t chunk, char *text,
                             size_t capacity)
{
    plan_call call = {.src = src, .nbytes = nbytes, .chunk = chunk, .text = {text, capacity, 0}};
    return floe_ctx_run(ctx, plan_body, &call);
}
