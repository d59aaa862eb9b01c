/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes a stream chunk by chunk and checks every value, and what the header holds about the bound itself. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/verify_chunk.h"
#include "backend/cuda.h"
#include "base/bytes.h"
#include "base/decibel.h"
#include "base/exact_math.h"
#include "base/try.h"
#include "call/arg_check.h"
#include "call/resolve.h"
#include "call/text.h"
#include "codec/resolve/resolve_math.h"
#include "device/device.h"
#include "device/stream.h"
#include "field/dtype_math.h"
#include "field/field.h"

typedef unsigned long long ull;

static const double rounding_db = 1e-9; /* of the sums behind a PSNR */

typedef struct verification {
    floe_stream stream;
    floe_device_source source;
    floe_field original;
    floe_range range; /* rel and psnr only */
    floe_verify_rule rule;
    void *decoded;
    floe_verify_sums *pieces;
    double squared_error;
} verification;

/* ---- what the header promises ------------------------------------------------------------------------------------ */

static floe_status abs_bound_check(const floe_header *h, double allowed, floe_error *err)
{
    char has[FLOE_NUMBER_TEXT], may[FLOE_NUMBER_TEXT], bound[FLOE_NUMBER_TEXT];
    FLOE_CHECK(err, h->abs_bound <= allowed, FLOE_ERR_BOUND,
               "the stream has an absolute bound of %s, but %s=%s of this field allows only %s",
               floe_number_format(h->abs_bound, has), h->mode == FLOE_BOUND_REL ? "rel" : "abs",
               floe_number_format(h->bound, bound), floe_number_format(allowed, may));
    return FLOE_OK;
}

static floe_status rule_make(floe_ctx *ctx, verification *v)
{
    const floe_header *h = &v->stream.header;
    floe_codec_params params = floe_resolve_codec(h);
    v->rule = (floe_verify_rule){params.mode, params.bound, h->has_fill, h->fill_bits, 0};
    if (floe_mode_is_size((int)h->mode)) { /* any finite value will do for a finite one */
        v->rule.mode = FLOE_BOUND_ABS;
        v->rule.bound = INFINITY;
        return FLOE_OK;
    }
    if (h->mode == FLOE_BOUND_ABS)
        return abs_bound_check(h, h->bound, &ctx->err);
    if (h->mode != FLOE_BOUND_REL && h->mode != FLOE_BOUND_PSNR)
        return FLOE_OK;
    floe_range_init(&v->range);
    floe_range_scan(&ctx->cpu, &v->original, h->has_fill, h->fill_bits, &v->range);
    bool varies = v->range.nfinite && v->range.max > v->range.min;
    if (h->mode == FLOE_BOUND_REL) {
        floe_range narrow = v->range;
        floe_resolve_round_inward(h->dtype, &narrow);
        return abs_bound_check(h, floe_resolve_abs_bound(h->mode, h->bound, &narrow), &ctx->err);
    }
    double width = varies ? floe_exact_range_width(v->range.min, v->range.max) : 0;
    v->rule.unit = isinf(width) ? 0x1p1023 : width;
    return FLOE_OK;
}

static floe_status psnr_check(floe_ctx *ctx, const verification *v)
{
    const floe_header *h = &v->stream.header;
    char has[FLOE_NUMBER_TEXT], bound[FLOE_NUMBER_TEXT];
    if (h->mode != FLOE_BOUND_PSNR || v->squared_error == 0)
        return FLOE_OK;
    double width = v->range.max / v->rule.unit - v->range.min / v->rule.unit;
    double psnr = floe_decibel_of_amplitude(width / sqrt(v->squared_error / (double)v->range.nfinite));
    FLOE_CHECK(&ctx->err, psnr >= h->bound - rounding_db, FLOE_ERR_BOUND, "the PSNR is %s dB, %s dB were requested",
               floe_number_format(psnr, has), floe_number_format(h->bound, bound));
    return FLOE_OK;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

static const char *value_text(floe_dtype dtype, uint64_t bits, bool with_bits, char text[64])
{
    char number[FLOE_NUMBER_TEXT];
    floe_number_format(floe_value_of(dtype, bits), number);
    if (floe_dtype_is_integer(dtype))
        snprintf(text, 64, "%lld", (long long)floe_integer_of(dtype, bits));
    else if (with_bits)
        snprintf(text, 64, "%s (bits %0*llx)", number, dtype == FLOE_F32 ? 8 : 16, (ull)bits);
    else
        snprintf(text, 64, "%s", number);
    return text;
}

static const char *place_text(const floe_header *h, uint64_t chunk, uint64_t at, char text[FLOE_SHAPE_TEXT])
{
    uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    size_t n = 0;
    floe_grid_box(h, chunk, lo, extent);
    for (uint32_t i = h->rank; i-- > 0; at /= extent[i])
        lo[i] += at % extent[i];
    text[0] = '\0';
    for (uint32_t i = 0; i < h->rank; i++)
        n += (size_t)snprintf(text + n, FLOE_SHAPE_TEXT - n, "%s%llu", i ? "," : "", (ull)lo[i]);
    return text;
}

static floe_status value_fails(const verification *v, uint64_t chunk, uint64_t at, uint64_t x_bits, uint64_t y_bits,
                               floe_error *err)
{
    const floe_header *h = &v->stream.header;
    char place[FLOE_SHAPE_TEXT], x_text[64], y_text[64], bound[FLOE_NUMBER_TEXT];
    double x = floe_value_of(h->dtype, x_bits), y = floe_value_of(h->dtype, y_bits);
    bool integer = floe_dtype_is_integer(h->dtype);
    bool exact = v->rule.mode == FLOE_BOUND_LOSSLESS || !isfinite(x) || !isfinite(y) || (x == 0 && !integer) ||
                 (v->rule.has_fill && x_bits == v->rule.fill_bits);
    place_text(h, chunk, at, place);
    value_text(h->dtype, x_bits, exact, x_text);
    value_text(h->dtype, y_bits, exact, y_text);
    floe_number_format(v->rule.bound, bound);
    if (exact)
        return floe_fail(err, FLOE_ERR_BOUND, "the value at [%s] is %s, but %s was decoded; it must come back exactly",
                         place, x_text, y_text);
    return floe_fail(err, FLOE_ERR_BOUND, "the value at [%s] is %s, but %s was decoded; the bound is %s%s", place,
                     x_text, y_text, bound, v->rule.mode == FLOE_BOUND_PWREL ? " of the value" : "");
}

static floe_status chunk_verify(floe_ctx *ctx, verification *v, uint64_t chunk)
{
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    const floe_header *h = &v->stream.header;
    floe_grid_box(h, chunk, lo, extent);
    for (uint32_t i = 0; i < h->rank; i++)
        hi[i] = lo[i] + extent[i];
    floe_field given = floe_field_of(v->decoded, h->dtype, h->rank, extent), decoded;
    floe_field original = floe_field_box(&v->original, lo, extent);
    FLOE_TRY(floe_field_check(&given, true, &decoded, &ctx->err));
    FLOE_TRY(floe_stream_decode(ctx, &v->stream, chunk, NULL, lo, hi, &decoded, lo));
    floe_verify_sums sums = floe_verify_chunk(&ctx->cpu, &v->rule, &original, v->decoded, v->pieces);
    ctx->stats.max_error = fmax(ctx->stats.max_error, sums.max_error);
    ctx->stats.max_pw_error = fmax(ctx->stats.max_pw_error, sums.max_pw_error);
    v->squared_error += sums.squared_error;
    if (!sums.failed)
        return FLOE_OK;
    return value_fails(v, chunk, sums.at, floe_verify_bits(&original, sums.at), floe_verify_bits(&decoded, sums.at),
                       &ctx->err);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static void take_all(verification *v, floe_arena *arena)
{
    const floe_sizing *s = &v->stream.sizing;
    floe_stream_take(&v->stream, arena);
    v->decoded = floe_arena_take_dense(arena, s->chunk_nelems, floe_dtype_size(v->stream.header.dtype));
    v->pieces = floe_verify_take(arena, s->chunk_nelems);
}

typedef struct verify_call {
    const void *src;
    uint64_t nbytes;
    bool src_on_device;
    const floe_field *original;
} verify_call;

static floe_status stream_verify(floe_ctx *ctx, void *arg)
{
    const verify_call *call = arg;
    verification v = {.squared_error = 0};
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    floe_arena plan = floe_arena_plan(), arena;
    FLOE_TRY(floe_field_arg_check(call->original, false, &v.original, &ctx->err));
    FLOE_CHECK(&ctx->err, v.original.place == FLOE_HOST, FLOE_ERR_UNSUPPORTED,
               "floe_verify takes a field in host memory: the exact check is the CPU's, bring the field there");
    FLOE_TRY(floe_stream_of_place(ctx, call->src, call->nbytes, call->src_on_device, false, &v.source, &v.stream));
    FLOE_TRY(floe_box_check(&v.stream.header, NULL, NULL, lo, hi, &ctx->err));
    FLOE_TRY(floe_region_check(&v.stream.header, lo, hi, &v.original, &ctx->err));
    take_all(&v, &plan);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    take_all(&v, &arena);
    assert(!arena.overflow);
    FLOE_TRY(floe_stream_begin_decode(ctx, &v.stream));
    FLOE_TRY(rule_make(ctx, &v));
    ctx->stats.max_error = ctx->stats.max_pw_error = 0;
    for (uint64_t i = 0; i < v.stream.nchunks; i++)
        FLOE_TRY(chunk_verify(ctx, &v, i));
    return psnr_check(ctx, &v);
}

static floe_status verify_body(floe_ctx *ctx, void *arg)
{
    verify_call *call = arg;
    call->src_on_device = !floe_cuda_host_reaches(call->src);
    return call->src_on_device ? floe_device_enter(ctx, stream_verify, call) : stream_verify(ctx, call);
}

floe_status floe_verify(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_field *original)
{
    verify_call call = {.src = src, .nbytes = nbytes, .original = original};
    return floe_ctx_run(ctx, verify_body, &call);
}
