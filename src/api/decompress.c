/* SPDX-License-Identifier: BSD-3-Clause */
/* Decompression of a stream in memory, all of it or a box. */
#include <assert.h>
#include <string.h>

#include "api/chunking.h"
#include "api/out_check.h"
#include "api/stream.h"
#include "base/try.h"
#include "field/field.h"

typedef struct decompress_call {
    const void *src;
    uint64_t nbytes;
    const uint64_t *lo, *hi; /* NULL: all */
    const floe_field *out;
} decompress_call;

static floe_status decompress_body(floe_ctx *ctx, void *arg)
{
    const decompress_call *call = arg;
    floe_stream s;
    floe_field out;
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], chunk;
    floe_arena plan = floe_arena_plan(), arena;
    FLOE_TRY(floe_field_check(call->out, true, &out, &ctx->err));
    FLOE_TRY(floe_stream_of_memory(ctx, call->src, call->nbytes, &s));
    FLOE_TRY(floe_box_check(&s.header, call->lo, call->hi, lo, hi, &ctx->err));
    FLOE_TRY(floe_out_check(&s.header, lo, hi, &out, &ctx->err));
    floe_stream_take(&s, &plan);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    floe_stream_take(&s, &arena);
    assert(!arena.overflow);
    for (floe_walk walk = floe_walk_of(&s.header, lo, hi); floe_walk_next(&walk, &chunk);)
        FLOE_TRY(floe_stream_decode(&ctx->cpu, &s, chunk, false, lo, hi, &out, lo, &ctx->err));
    return FLOE_OK;
}

floe_status floe_decompress(floe_ctx *ctx, const void *src, uint64_t nbytes, floe_field *out)
{
    decompress_call call = {src, nbytes, NULL, NULL, out};
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
    decompress_call call = {src, nbytes, lo, hi, out};
    return floe_ctx_run(ctx, region_body, &call);
}
