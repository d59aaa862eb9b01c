/* SPDX-License-Identifier: BSD-3-Clause */
/* Bare streams of zfp and their side indexes, as public calls. */
#include <assert.h>
#include <string.h>

#include <floe/zfp.h>

#include "backend/cuda.h"
#include "base/bytes.h"
#include "base/try.h"
#include "call/ctx.h"
#include "call/arg_check.h"
#include "call/zfp/zfp_checks.h"
#include "call/zfp/zfp_mode.h"
#include "codec/resolve/resolve_math.h"
#include "codec/zfp/stream/zfp_index_file.h"
#include "codec/zfp/stream/zfp_stream.h"
#include "device/device.h"
#include "device/zfp/zfp_device.h"
#include "field/dtype_math.h"
#include "field/field.h"

typedef unsigned long long ull;

/* ---- describing --------------------------------------------------------------------------------------------------- */

typedef struct describe_call {
    const floe_field *field;
    const char *mode;
    int with_header;
    floe_zfp_stream *stream;
} describe_call;

/* rel: the tolerance that the range of the values leads to. */
static floe_status tolerance_of_range(floe_ctx *ctx, const floe_field *field, double rel, double *tolerance)
{
    floe_zfp_ranging scan = {.field = field};
    FLOE_CHECK(&ctx->err, field->data, FLOE_ERR_ARGUMENT, "rel needs the values");
    floe_range_init(&scan.range);
    if (field->place == FLOE_DEVICE)
        FLOE_TRY(floe_device_enter(ctx, FLOE_DEVICE_BODY(floe_zfp_device_range), &scan));
    else
        floe_range_scan(&ctx->cpu, field, false, 0, &scan.range);
    *tolerance = floe_resolve_abs_bound(FLOE_BOUND_REL, rel, &scan.range);
    FLOE_CHECK(&ctx->err, *tolerance > 0, FLOE_ERR_ARGUMENT,
               "rel of values that are all the same leaves no tolerance: use abs or lossless");
    return FLOE_OK;
}

static floe_status describe_body(floe_ctx *ctx, void *arg)
{
    const describe_call *call = arg;
    floe_error *err = &ctx->err;
    floe_field field;
    floe_zfp_mode_text mode;
    floe_zfp_params params;
    uint64_t nelems;
    uint8_t header[FLOE_ZFP_HEADER_NBYTES];
    uint32_t header_nbits = 0;
    FLOE_CHECK(err, call->field && call->mode && call->stream, FLOE_ERR_ARGUMENT,
               "no field, no mode or nowhere to put the stream's description");
    FLOE_CHECK(err, floe_field_nelems(call->field, &nelems) == FLOE_OK && nelems, FLOE_ERR_ARGUMENT,
               "the field is empty, or its element type or shape is not valid: zfp has no such arrays");
    field = *call->field;
    if (field.data)
        FLOE_TRY(floe_field_arg_check(call->field, false, &field, err));
    FLOE_TRY(floe_zfp_mode_parse(call->mode, field.dtype, &mode, err));
    double tolerance = mode.value;
    if (mode.kind == FLOE_ZFP_TEXT_REL)
        FLOE_TRY(tolerance_of_range(ctx, &field, mode.value, &tolerance));
    const floe_zfp_array array = floe_zfp_array_of_field(&field);
    FLOE_TRY(floe_zfp_mode_params(&mode, tolerance, array.type, array.rank, &params, err));
    if (call->with_header)
        FLOE_TRY(floe_zfp_header_write(&array, &params, header, &header_nbits, err));
    *call->stream = floe_zfp_stream_of(&array, &params, header_nbits);
    return FLOE_OK;
}

floe_status floe_zfp_describe(floe_ctx *ctx, const floe_field *field, const char *mode, int with_header,
                              floe_zfp_stream *stream)
{
    describe_call call = {field, mode, with_header, stream};
    return floe_ctx_run(ctx, describe_body, &call);
}

uint64_t floe_zfp_compress_bound(const floe_zfp_stream *stream)
{
    floe_zfp_stream_desc desc;
    if (!stream || floe_zfp_desc_check(stream, &desc, NULL) != FLOE_OK)
        return 0;
    return floe_zfp_stream_bound(&desc.array, &desc.params, desc.stream.header_nbits);
}

uint64_t floe_zfp_index_bound(const floe_zfp_stream *stream, const floe_index_spec *spec)
{
    floe_zfp_stream_desc desc;
    if (!stream || !spec || floe_zfp_desc_check(stream, &desc, NULL) != FLOE_OK)
        return 0;
    return floe_zfpx_bound(&desc.array, &desc.params, spec);
}

/* ---- what the calls on the CPU share ------------------------------------------------------------------------------- */

typedef struct coding {
    floe_zfp_stream_desc desc;
    uint16_t *lengths;  /* of all blocks, where an index is made */
    uint64_t *places;   /* decoding, where they are known */
    void *stream_space; /* of the codec */
    size_t stream_nbytes;
} coding;

static uint64_t nblocks_of(const coding *c) { return floe_zfp_nblocks(c->desc.array.rank, c->desc.array.shape); }

static void coding_take(coding *c, bool with_lengths, uint64_t nplaces, floe_arena *arena)
{
    c->lengths = with_lengths ? floe_arena_take(arena, nblocks_of(c), sizeof *c->lengths) : NULL;
    c->places = nplaces ? floe_arena_take(arena, nplaces, sizeof *c->places) : NULL;
    c->stream_space = floe_arena_take(arena, c->stream_nbytes, 1);
}

/* chunk: of the places that decoding will have. */
static floe_status coding_scratch(floe_ctx *ctx, coding *c, bool with_lengths, uint64_t nplaces, uint32_t chunk)
{
    floe_arena plan = floe_arena_plan(), arena;
    c->stream_nbytes = floe_zfp_stream_workspace(&ctx->cpu, &c->desc.array, &c->desc.params, chunk);
    FLOE_CHECK(&ctx->err, c->stream_nbytes, FLOE_ERR_MEMORY, "the array needs more memory than can be addressed");
    coding_take(c, with_lengths, nplaces, &plan);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    coding_take(c, with_lengths, nplaces, &arena);
    assert(!arena.overflow);
    return FLOE_OK;
}

/* As the codec has it. */
static floe_zfp_coding codec_call(const floe_ctx *ctx, const coding *c)
{
    return (floe_zfp_coding){&ctx->cpu, &c->desc.array, &c->desc.params, c->desc.stream.header_nbits};
}

/* ---- compressing -------------------------------------------------------------------------------------------------- */

typedef struct compress_call {
    const floe_field *field;
    const floe_zfp_stream *stream;
    void *dst;
    uint64_t capacity;
    uint64_t *nbytes;
    floe_zfp_index *index;
} compress_call;

/* Writes the header, if there is to be one. */
static floe_status header_put(coding *c, void *dst, uint64_t capacity, floe_error *err)
{
    uint8_t header[FLOE_ZFP_HEADER_NBYTES];
    const uint64_t nbytes = floe_ceil_div(c->desc.stream.header_nbits, 64) * 8; /* the rest of the last word is 0 */
    FLOE_TRY(floe_zfp_header_make(&c->desc, header, err));
    FLOE_CHECK(err, capacity >= nbytes, FLOE_ERR_CAPACITY, "the zfp stream needs more than the %llu bytes there are",
               (ull)capacity);
    memcpy(dst, header, (size_t)nbytes);
    return FLOE_OK;
}

static floe_status compress_here(floe_ctx *ctx, coding *c, floe_zfp_compression *call)
{
    floe_error *err = &ctx->err;
    uint64_t nbits;
    FLOE_TRY(coding_scratch(ctx, c, call->index != NULL, 0, 1));
    FLOE_TRY(header_put(c, call->dst, call->capacity, err));
    c->desc.array = floe_zfp_array_of_field(call->field);
    floe_arena scratch = floe_arena_of(c->stream_space, c->stream_nbytes);
    const floe_zfp_coding codec = codec_call(ctx, c);
    FLOE_TRY(floe_zfp_stream_compress(&codec, &scratch, call->dst, call->capacity, c->lengths, &nbits, err));
    call->nbytes = floe_ceil_div(nbits, 64) * 8;
    if (!call->index)
        return FLOE_OK;
    floe_zfp_index index = *call->index;
    FLOE_TRY(floe_zfpx_write(&codec, call->dst, call->nbytes, c->lengths, &index, err));
    call->index_nbytes = index.nbytes;
    return FLOE_OK;
}

/* Where anything lies on the GPU, or all is to be done there. */
static bool is_by_gpu(const floe_ctx *ctx, const floe_field *field, const void *stream, const void *index)
{
    return field->place == FLOE_DEVICE || ctx->backend == FLOE_BACKEND_CUDA || !floe_cuda_host_reaches(stream) ||
           !floe_cuda_host_reaches(index);
}

static floe_status compress_body(floe_ctx *ctx, void *arg)
{
    const compress_call *call = arg;
    floe_error *err = &ctx->err;
    floe_field field;
    floe_zfp_index index = {.data = NULL};
    coding c;
    FLOE_CHECK(err, call->stream && call->dst && call->nbytes, FLOE_ERR_ARGUMENT,
               "no description of the stream, or no destination");
    FLOE_TRY(floe_field_arg_check(call->field, false, &field, err));
    FLOE_TRY(floe_zfp_desc_check(call->stream, &c.desc, err));
    FLOE_TRY(floe_zfp_field_matches(&field, &c.desc, err));
    if (call->index)
        FLOE_TRY(floe_zfp_index_check(call->index, &index, err));
    floe_zfp_compression work = {&c.desc, &field, call->dst, call->capacity, call->index ? &index : NULL, 0, 0};
    FLOE_TRY(is_by_gpu(ctx, &field, call->dst, index.data)
                 ? floe_device_enter(ctx, FLOE_DEVICE_BODY(floe_zfp_device_compress), &work)
                 : compress_here(ctx, &c, &work));
    *call->nbytes = work.nbytes;
    if (call->index)
        call->index->nbytes = work.index_nbytes;
    return FLOE_OK;
}

floe_status floe_zfp_compress(floe_ctx *ctx, const floe_field *field, const floe_zfp_stream *stream, void *dst,
                              uint64_t capacity, uint64_t *nbytes, floe_zfp_index *index)
{
    compress_call call = {field, stream, dst, capacity, nbytes, index};
    return floe_ctx_run(ctx, compress_body, &call);
}

/* ---- indexing ------------------------------------------------------------------------------------------------------ */

floe_status floe_zfp_index_of_stream(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_zfp_stream *stream,
                                     floe_zfp_index *index)
{
    floe_error *err = &ctx->err;
    coding c;
    uint64_t nbits;
    FLOE_TRY(floe_zfp_desc_resolve(src, nbytes, stream, &c.desc, err));
    FLOE_TRY(floe_zfp_blocks_fit(&c.desc.array, nbytes, err));
    FLOE_TRY(coding_scratch(ctx, &c, true, 0, 1));
    const floe_zfp_coding codec = codec_call(ctx, &c);
    FLOE_TRY(floe_zfp_stream_measure(&codec, src, nbytes, c.lengths, &nbits, err));
    return floe_zfpx_write(&codec, src, nbytes, c.lengths, index, err);
}

static floe_status index_body(floe_ctx *ctx, void *arg)
{
    const floe_zfp_indexing *given = arg;
    floe_zfp_indexing call = *given;
    floe_zfp_index index;
    FLOE_CHECK(&ctx->err, call.index, FLOE_ERR_ARGUMENT, "nowhere to put the index");
    FLOE_TRY(floe_zfp_index_check(call.index, &index, &ctx->err));
    call.index = &index;
    if (!floe_cuda_host_reaches(call.src) || !floe_cuda_host_reaches(index.data))
        FLOE_TRY(floe_device_enter(ctx, FLOE_DEVICE_BODY(floe_zfp_device_index), &call));
    else
        FLOE_TRY(floe_zfp_index_of_stream(ctx, call.src, call.nbytes, call.stream, &index));
    given->index->nbytes = index.nbytes;
    return FLOE_OK;
}

floe_status floe_zfp_index_make(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_zfp_stream *stream,
                                floe_zfp_index *index)
{
    floe_zfp_indexing call = {src, nbytes, stream, index};
    return floe_ctx_run(ctx, index_body, &call);
}

floe_status floe_zfp_index_info(const void *index, uint64_t index_nbytes, floe_zfp_stream *stream,
                                floe_index_spec *spec, floe_error *err)
{
    floe_zfpx file;
    FLOE_CHECK(err, stream && spec && (index || index_nbytes == 0), FLOE_ERR_ARGUMENT,
               "no index, or nowhere to put what it says");
    FLOE_CHECK(err, floe_cuda_host_reaches(index), FLOE_ERR_ARGUMENT,
               "the index lies in device memory: it is read on the host, bring it there");
    FLOE_TRY(floe_zfpx_read(index, index_nbytes, &file, err));
    *stream = floe_zfp_stream_of(&file.array, &file.params, (uint32_t)file.index.begin);
    *spec = (floe_index_spec){file.index.form, file.index.chunk, file.index.partition};
    return FLOE_OK;
}

/* ---- decompressing ------------------------------------------------------------------------------------------------- */

static void fixed_places(const coding *c, uint32_t chunk, uint64_t nchunks)
{
    for (uint64_t i = 0; i <= nchunks; i++)
        c->places[i] = c->desc.stream.header_nbits + floe_min64(i * chunk, nblocks_of(c)) * c->desc.params.maxbits;
}

/* The index file (file->array.rank 0: there is none), and the stream that it or the stream itself or the caller gives. */
static floe_status decoding_begin(floe_ctx *ctx, const floe_zfp_decompression *call, floe_zfpx *file, coding *c)
{
    floe_zfp_stream desc;
    const floe_zfp_stream *given = call->stream;
    memset(file, 0, sizeof *file);
    if (call->index) {
        FLOE_TRY(floe_zfpx_read(call->index, call->index_nbytes, file, &ctx->err));
        desc = floe_zfp_stream_of(&file->array, &file->params, (uint32_t)file->index.begin);
        if (!given && desc.header_nbits == 0)
            given = &desc;
    }
    FLOE_TRY(floe_zfp_desc_resolve(call->src, call->nbytes, given, &c->desc, &ctx->err));
    if (!call->index)
        return FLOE_OK;
    FLOE_TRY(floe_zfp_index_agrees(file, &c->desc.stream, &ctx->err));
    return floe_zfpx_belongs(&ctx->cpu, file, call->src, call->nbytes, &ctx->err);
}

floe_status floe_zfp_decompress_here(floe_ctx *ctx, const floe_zfp_decompression *call)
{
    enum { FIXED_CHUNK = 64 }; /* blocks */
    floe_error *err = &ctx->err;
    floe_zfpx file;
    coding c;
    FLOE_TRY(decoding_begin(ctx, call, &file, &c));
    FLOE_TRY(floe_zfp_field_matches(call->out, &c.desc, err));
    const bool fixed = !call->index && floe_zfp_has_fixed_rate(&c.desc.params);
    const uint32_t chunk = call->index ? file.index.chunk : FIXED_CHUNK;
    const uint64_t nchunks = floe_ceil_div(nblocks_of(&c), chunk);
    FLOE_TRY(coding_scratch(ctx, &c, false, call->index || fixed ? nchunks + 1 : 0, chunk));
    if (call->index)
        FLOE_TRY(floe_side_index_decode(&ctx->cpu, &file.index, c.places, err));
    else if (fixed)
        fixed_places(&c, chunk, nchunks);
    c.desc.array = floe_zfp_array_of_field(call->out);
    floe_arena scratch = floe_arena_of(c.stream_space, c.stream_nbytes);
    const floe_zfp_coding codec = codec_call(ctx, &c);
    return floe_zfp_stream_decompress(&codec, call->src, call->nbytes, c.places, chunk, &scratch, err);
}

static floe_status decompress_body(floe_ctx *ctx, void *arg)
{
    floe_zfp_decompression call = *(const floe_zfp_decompression *)arg;
    floe_field out;
    FLOE_TRY(floe_field_arg_check(call.out, true, &out, &ctx->err));
    call.out = &out;
    if (!is_by_gpu(ctx, &out, call.src, call.index))
        return floe_zfp_decompress_here(ctx, &call);
    FLOE_CHECK(&ctx->err, call.src || call.nbytes == 0, FLOE_ERR_ARGUMENT, "no zfp stream given");
    return floe_device_enter(ctx, FLOE_DEVICE_BODY(floe_zfp_device_decompress), &call);
}

floe_status floe_zfp_decompress(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_zfp_stream *stream,
                                const void *index, uint64_t index_nbytes, floe_field *out)
{
    floe_zfp_decompression call = {src, nbytes, stream, index, index_nbytes, out};
    return floe_ctx_run(ctx, decompress_body, &call);
}
