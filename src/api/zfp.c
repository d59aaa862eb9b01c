/* SPDX-License-Identifier: BSD-3-Clause */
/* Bare streams of zfp and their side indexes, as public calls. */
#include <assert.h>
#include <string.h>

#include <floe/zfp.h>

#include "api/ctx.h"
#include "api/out_check.h"
#include "api/resolve_math.h"
#include "api/struct_copy.h"
#include "api/text.h"
#include "api/zfp_mode.h"
#include "base/bytes.h"
#include "base/try.h"
#include "codec/zfp_index_file.h"
#include "codec/zfp_stream.h"
#include "field/dtype_math.h"
#include "field/field.h"

typedef unsigned long long ull;

/* ---- between the public structs and those of the stage ----------------------------------------------------------- */

static floe_zfp_type type_of(floe_dtype dtype)
{
    switch (dtype) {
    case FLOE_F32: return FLOE_ZFP_F32;
    case FLOE_I32: return FLOE_ZFP_I32;
    case FLOE_I64: return FLOE_ZFP_I64;
    default: return FLOE_ZFP_F64;
    }
}

static floe_dtype dtype_of(floe_zfp_type type)
{
    static const floe_dtype dtypes[] = {FLOE_F64, FLOE_I32, FLOE_I64, FLOE_F32, FLOE_F64};
    return dtypes[type];
}

static floe_zfp_params params_of(const floe_zfp_stream *s)
{
    return (floe_zfp_params){s->minbits, s->maxbits, s->maxprec, s->minexp};
}

static floe_zfp_stream stream_of(const floe_zfp_array *array, const floe_zfp_params *p, uint32_t header_nbits)
{
    floe_zfp_stream s = {.size = sizeof s,
                         .dtype = dtype_of(array->type),
                         .rank = array->rank,
                         .minbits = p->minbits,
                         .maxbits = p->maxbits,
                         .maxprec = p->maxprec,
                         .minexp = p->minexp,
                         .header_nbits = header_nbits};
    memcpy(s.shape, array->shape, array->rank * sizeof *s.shape);
    return s;
}

/* A resolved field as the stage sees it. */
static floe_zfp_array array_of(const floe_field *f)
{
    floe_zfp_array a = {.data = f->data, .type = type_of(f->dtype), .rank = f->rank};
    memcpy(a.shape, f->shape, sizeof a.shape);
    memcpy(a.stride, f->stride, sizeof a.stride);
    return a;
}

/* The contiguous array of a stream, without data. Checks all that the caller said of the stream. */
static floe_status stream_check(const floe_zfp_stream *given, floe_zfp_stream *stream, floe_zfp_array *array,
                                floe_error *err)
{
    uint64_t nelems;
    *stream = (floe_zfp_stream){.size = sizeof *stream};
    FLOE_TRY(floe_struct_copy(stream, sizeof *stream, given, "floe_zfp_stream", err));
    floe_field f = floe_field_of(NULL, stream->dtype, stream->rank, stream->shape);
    FLOE_CHECK(err, floe_field_nelems(&f, &nelems) == FLOE_OK, FLOE_ERR_ARGUMENT,
               "the zfp stream's element type or shape is not valid");
    FLOE_CHECK(err, nelems, FLOE_ERR_ARGUMENT, "zfp has no empty arrays");
    int64_t stride = 1;
    for (uint32_t i = f.rank; i-- > 0; stride *= (int64_t)f.shape[i])
        f.stride[i] = stride;
    *array = array_of(&f);
    const floe_zfp_params params = params_of(stream);
    FLOE_TRY(floe_zfp_params_check(&params, array->type, err));
    FLOE_CHECK(err,
               stream->header_nbits == 0 || stream->header_nbits == FLOE_ZFP_HEADER_SHORT ||
                   stream->header_nbits == FLOE_ZFP_HEADER_LONG,
               FLOE_ERR_ARGUMENT, "a zfp header has %d or %d bits, not %u", (int)FLOE_ZFP_HEADER_SHORT,
               (int)FLOE_ZFP_HEADER_LONG, stream->header_nbits);
    return FLOE_OK;
}

static floe_status field_matches(const floe_field *f, const floe_zfp_stream *s, floe_error *err)
{
    char has[FLOE_SHAPE_TEXT], is[FLOE_SHAPE_TEXT];
    FLOE_CHECK(err, f->place == FLOE_HOST, FLOE_ERR_UNSUPPORTED,
               "bare zfp streams are the CPU's work: the field must lie in host memory");
    FLOE_CHECK(
        err, f->dtype == s->dtype && f->rank == s->rank && memcmp(f->shape, s->shape, f->rank * sizeof *f->shape) == 0,
        FLOE_ERR_ARGUMENT, "the zfp stream is of %s of %s, the field is %s of %s",
        floe_shape_format(s->rank, s->shape, is), floe_dtype_name(s->dtype), floe_shape_format(f->rank, f->shape, has),
        floe_dtype_name(f->dtype));
    return FLOE_OK;
}

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
    floe_range range;
    FLOE_CHECK(&ctx->err, field->place == FLOE_HOST && field->data, FLOE_ERR_ARGUMENT,
               "rel needs the values, in host memory");
    floe_range_init(&range);
    floe_range_scan(&ctx->cpu, field, false, 0, &range);
    *tolerance = floe_resolve_abs_bound(FLOE_BOUND_REL, rel, &range);
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
        FLOE_TRY(floe_field_check(call->field, false, &field, err));
    FLOE_TRY(floe_zfp_mode_parse(call->mode, field.dtype, &mode, err));
    double tolerance = mode.value;
    if (mode.kind == FLOE_ZFP_TEXT_REL)
        FLOE_TRY(tolerance_of_range(ctx, &field, mode.value, &tolerance));
    const floe_zfp_array array = array_of(&field);
    FLOE_TRY(floe_zfp_mode_params(&mode, tolerance, array.type, array.rank, &params, err));
    if (call->with_header)
        FLOE_TRY(floe_zfp_header_write(&array, &params, header, &header_nbits, err));
    *call->stream = stream_of(&array, &params, header_nbits);
    return FLOE_OK;
}

floe_status floe_zfp_describe(floe_ctx *ctx, const floe_field *field, const char *mode, int with_header,
                              floe_zfp_stream *stream)
{
    describe_call call = {field, mode, with_header, stream};
    return floe_ctx_run(ctx, describe_body, &call);
}

/* No block is shorter than a bit. Without this a short stream could ask for any amount of memory. */
static floe_status blocks_fit(const floe_zfp_array *array, uint64_t nbytes, floe_error *err)
{
    FLOE_CHECK(err, floe_zfp_nblocks(array->rank, array->shape) <= 8 * floe_min64(nbytes, UINT64_MAX / 8),
               FLOE_ERR_FORMAT, "the zfp stream of %llu bytes is too short for its shape", (ull)nbytes);
    return FLOE_OK;
}

floe_status floe_zfp_recognize(const void *src, uint64_t nbytes, floe_zfp_stream *stream, floe_error *err)
{
    floe_zfp_array array;
    floe_zfp_params params;
    uint32_t header_nbits;
    FLOE_CHECK(err, stream && (src || nbytes == 0), FLOE_ERR_ARGUMENT, "no stream, or nowhere to put what it says");
    FLOE_TRY(floe_zfp_header_read(src, nbytes, &array, &params, &header_nbits, err));
    FLOE_TRY(blocks_fit(&array, nbytes, err));
    *stream = stream_of(&array, &params, header_nbits);
    return FLOE_OK;
}

uint64_t floe_zfp_compress_bound(const floe_zfp_stream *stream)
{
    floe_zfp_stream s;
    floe_zfp_array array;
    if (!stream || stream_check(stream, &s, &array, NULL) != FLOE_OK)
        return 0;
    const floe_zfp_params params = params_of(&s);
    return floe_zfp_stream_bound(&array, &params, s.header_nbits);
}

uint64_t floe_zfp_index_bound(const floe_zfp_stream *stream, const floe_index_spec *spec)
{
    floe_zfp_stream s;
    floe_zfp_array array;
    if (!stream || !spec || stream_check(stream, &s, &array, NULL) != FLOE_OK)
        return 0;
    const floe_zfp_params params = params_of(&s);
    return floe_zfpx_bound(&array, &params, spec);
}

/* ---- what compressing and indexing share -------------------------------------------------------------------------- */

typedef struct coding {
    floe_zfp_stream stream;
    floe_zfp_array array;
    floe_zfp_params params;
    uint16_t *lengths;  /* of all blocks, where an index is made */
    void *stream_space; /* of the codec */
    size_t stream_nbytes;
} coding;

static void coding_take(coding *c, bool with_lengths, floe_arena *arena)
{
    const uint64_t nblocks = floe_zfp_nblocks(c->array.rank, c->array.shape);
    c->lengths = with_lengths ? floe_arena_take(arena, nblocks, sizeof *c->lengths) : NULL;
    c->stream_space = floe_arena_take(arena, c->stream_nbytes, 1);
}

/* chunk: of the places that decoding will have. */
static floe_status coding_scratch(floe_ctx *ctx, coding *c, bool with_lengths, uint32_t chunk)
{
    floe_arena plan = floe_arena_plan(), arena;
    c->stream_nbytes = floe_zfp_stream_workspace(&ctx->cpu, &c->array, &c->params, chunk);
    FLOE_CHECK(&ctx->err, c->stream_nbytes, FLOE_ERR_MEMORY, "the array needs more memory than can be addressed");
    coding_take(c, with_lengths, &plan);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    coding_take(c, with_lengths, &arena);
    assert(!arena.overflow);
    return FLOE_OK;
}

static floe_status index_check(const floe_zfp_index *given, floe_zfp_index *index, floe_error *err)
{
    *index = (floe_zfp_index){.size = sizeof *index};
    FLOE_TRY(floe_struct_copy(index, sizeof *index, given, "floe_zfp_index", err));
    FLOE_CHECK(err, index->data, FLOE_ERR_ARGUMENT, "the index has no memory");
    return FLOE_OK;
}

static floe_status index_write(floe_ctx *ctx, const coding *c, const void *src, uint64_t nbytes, floe_zfp_index *given,
                               const floe_zfp_index *index)
{
    return floe_zfpx_write(&ctx->cpu, &c->array, &c->params, &index->spec, src, nbytes, c->stream.header_nbits,
                           c->lengths, index->data, index->capacity, &given->nbytes, &ctx->err);
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

/* Writes the header; the parameters are then those that a reader of it will have. */
static floe_status header_put(coding *c, void *dst, uint64_t capacity, floe_error *err)
{
    uint8_t header[FLOE_ZFP_HEADER_NBYTES];
    uint32_t nbits;
    if (c->stream.header_nbits == 0)
        return FLOE_OK;
    FLOE_TRY(floe_zfp_header_write(&c->array, &c->params, header, &nbits, err));
    FLOE_CHECK(err, nbits == c->stream.header_nbits, FLOE_ERR_ARGUMENT, "the header of this stream has %u bits, not %u",
               nbits, c->stream.header_nbits);
    const uint64_t nbytes = floe_ceil_div(nbits, 64) * 8; /* the rest of the last word is 0 */
    FLOE_CHECK(err, capacity >= nbytes, FLOE_ERR_CAPACITY, "the zfp stream needs more than the %llu bytes there are",
               (ull)capacity);
    memcpy(dst, header, (size_t)nbytes);
    return floe_zfp_header_read(header, sizeof header, &c->array, &c->params, &nbits, err);
}

static floe_status compress_body(floe_ctx *ctx, void *arg)
{
    const compress_call *call = arg;
    floe_error *err = &ctx->err;
    floe_field field;
    floe_zfp_index index;
    coding c;
    uint64_t nbits;
    FLOE_CHECK(err, call->stream && call->dst && call->nbytes, FLOE_ERR_ARGUMENT,
               "no description of the stream, or no destination");
    FLOE_TRY(floe_field_check(call->field, false, &field, err));
    FLOE_TRY(stream_check(call->stream, &c.stream, &c.array, err));
    FLOE_TRY(field_matches(&field, &c.stream, err));
    if (call->index)
        FLOE_TRY(index_check(call->index, &index, err));
    c.params = params_of(&c.stream);
    FLOE_TRY(coding_scratch(ctx, &c, call->index != NULL, 1));
    FLOE_TRY(header_put(&c, call->dst, call->capacity, err));
    c.array = array_of(&field);
    floe_arena scratch = floe_arena_of(c.stream_space, c.stream_nbytes);
    FLOE_TRY(floe_zfp_stream_compress(&ctx->cpu, &c.array, &c.params, c.stream.header_nbits, &scratch, call->dst,
                                      call->capacity, c.lengths, &nbits, err));
    *call->nbytes = floe_ceil_div(nbits, 64) * 8;
    return call->index ? index_write(ctx, &c, call->dst, *call->nbytes, call->index, &index) : FLOE_OK;
}

floe_status floe_zfp_compress(floe_ctx *ctx, const floe_field *field, const floe_zfp_stream *stream, void *dst,
                              uint64_t capacity, uint64_t *nbytes, floe_zfp_index *index)
{
    compress_call call = {field, stream, dst, capacity, nbytes, index};
    return floe_ctx_run(ctx, compress_body, &call);
}

/* ---- indexing ------------------------------------------------------------------------------------------------------ */

typedef struct index_call {
    const void *src;
    uint64_t nbytes;
    const floe_zfp_stream *stream;
    floe_zfp_index *index;
} index_call;

/* What is known of a stream: what its header says, if it has one, else what the caller says. (A header may say the same
 * parameters in other numbers: all maxbits that no block reaches are one.) */
static floe_status stream_resolve(const void *src, uint64_t nbytes, const floe_zfp_stream *given,
                                  floe_zfp_stream *stream, floe_zfp_array *array, floe_error *err)
{
    floe_zfp_stream read;
    FLOE_CHECK(err, src || nbytes == 0, FLOE_ERR_ARGUMENT, "no zfp stream given");
    if (given)
        FLOE_TRY(stream_check(given, stream, array, err));
    if (given && stream->header_nbits == 0)
        return FLOE_OK;
    FLOE_TRY(floe_zfp_recognize(src, nbytes, &read, err));
    FLOE_CHECK(err,
               !given || (read.dtype == stream->dtype && read.rank == stream->rank &&
                          memcmp(read.shape, stream->shape, read.rank * sizeof *read.shape) == 0),
               FLOE_ERR_ARGUMENT, "the zfp stream's header says another element type or shape");
    return stream_check(&read, stream, array, err);
}

static floe_status index_body(floe_ctx *ctx, void *arg)
{
    const index_call *call = arg;
    floe_error *err = &ctx->err;
    floe_zfp_index index;
    coding c;
    uint64_t nbits;
    FLOE_CHECK(err, call->index, FLOE_ERR_ARGUMENT, "nowhere to put the index");
    FLOE_TRY(index_check(call->index, &index, err));
    FLOE_TRY(stream_resolve(call->src, call->nbytes, call->stream, &c.stream, &c.array, err));
    c.params = params_of(&c.stream);
    FLOE_TRY(blocks_fit(&c.array, call->nbytes, err));
    FLOE_TRY(coding_scratch(ctx, &c, true, 1));
    FLOE_TRY(floe_zfp_stream_measure(&ctx->cpu, &c.array, &c.params, c.stream.header_nbits, call->src, call->nbytes,
                                     c.lengths, &nbits, err));
    return index_write(ctx, &c, call->src, call->nbytes, call->index, &index);
}

floe_status floe_zfp_index_make(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_zfp_stream *stream,
                                floe_zfp_index *index)
{
    index_call call = {src, nbytes, stream, index};
    return floe_ctx_run(ctx, index_body, &call);
}

floe_status floe_zfp_index_info(const void *index, uint64_t index_nbytes, floe_zfp_stream *stream,
                                floe_index_spec *spec, floe_error *err)
{
    floe_zfpx file;
    FLOE_CHECK(err, stream && spec && (index || index_nbytes == 0), FLOE_ERR_ARGUMENT,
               "no index, or nowhere to put what it says");
    FLOE_TRY(floe_zfpx_read(index, index_nbytes, &file, err));
    *stream = stream_of(&file.array, &file.params, (uint32_t)file.index.begin);
    *spec = (floe_index_spec){file.index.form, file.index.chunk, file.index.partition};
    return FLOE_OK;
}

/* ---- decompressing ------------------------------------------------------------------------------------------------- */

typedef struct decompress_call {
    const void *src;
    uint64_t nbytes;
    const floe_zfp_stream *stream;
    const void *index;
    uint64_t index_nbytes;
    floe_field *out;
} decompress_call;

static void decoding_take(coding *c, uint64_t nplaces, uint64_t **places, floe_arena *arena)
{
    *places = nplaces ? floe_arena_take(arena, nplaces, sizeof **places) : NULL;
    c->stream_space = floe_arena_take(arena, c->stream_nbytes, 1);
}

static floe_status decoding_scratch(floe_ctx *ctx, coding *c, uint32_t chunk, uint64_t nplaces, uint64_t **places)
{
    floe_arena plan = floe_arena_plan(), arena;
    c->stream_nbytes = floe_zfp_stream_workspace(&ctx->cpu, &c->array, &c->params, chunk);
    FLOE_CHECK(&ctx->err, c->stream_nbytes, FLOE_ERR_MEMORY, "the array needs more memory than can be addressed");
    decoding_take(c, nplaces, places, &plan);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    decoding_take(c, nplaces, places, &arena);
    assert(!arena.overflow);
    return FLOE_OK;
}

/* Blocks of one length begin at multiples of it: places for free. (Reversible blocks may be shorter than minbits.) */
static bool has_fixed_rate(const floe_zfp_params *p)
{
    return p->minbits == p->maxbits && p->minexp >= FLOE_ZFP_MIN_EXP;
}

static void fixed_places(const coding *c, uint32_t chunk, uint64_t nchunks, uint64_t *places)
{
    const uint64_t nblocks = floe_zfp_nblocks(c->array.rank, c->array.shape);
    for (uint64_t i = 0; i <= nchunks; i++)
        places[i] = c->stream.header_nbits + floe_min64(i * chunk, nblocks) * c->params.maxbits;
}

static floe_status index_agrees(const floe_zfpx *file, const floe_zfp_stream *stream, floe_error *err)
{
    const floe_zfp_params *p = &file->params;
    const bool same_params = p->minbits == stream->minbits && p->maxbits == stream->maxbits &&
                             p->maxprec == stream->maxprec && p->minexp == stream->minexp;
    const floe_zfp_array *a = &file->array;
    const bool same_array = dtype_of(a->type) == stream->dtype && a->rank == stream->rank &&
                            memcmp(a->shape, stream->shape, a->rank * sizeof *a->shape) == 0;
    FLOE_CHECK(err, same_params && same_array && file->index.begin == stream->header_nbits, FLOE_ERR_FORMAT,
               "the index is that of a stream of another element type, shape, mode or header");
    return FLOE_OK;
}

/* The index file (file->array.rank 0: there is none), and the stream that it or the stream itself or the caller says. */
static floe_status decoding_begin(floe_ctx *ctx, const decompress_call *call, floe_zfpx *file, coding *c)
{
    floe_zfp_stream told;
    const floe_zfp_stream *given = call->stream;
    memset(file, 0, sizeof *file);
    if (call->index) {
        FLOE_TRY(floe_zfpx_read(call->index, call->index_nbytes, file, &ctx->err));
        told = stream_of(&file->array, &file->params, (uint32_t)file->index.begin);
        if (!given && told.header_nbits == 0)
            given = &told;
    }
    FLOE_TRY(stream_resolve(call->src, call->nbytes, given, &c->stream, &c->array, &ctx->err));
    c->params = params_of(&c->stream);
    if (!call->index)
        return FLOE_OK;
    FLOE_TRY(index_agrees(file, &c->stream, &ctx->err));
    return floe_zfpx_belongs(&ctx->cpu, file, call->src, call->nbytes, &ctx->err);
}

static floe_status decompress_body(floe_ctx *ctx, void *arg)
{
    enum { FIXED_CHUNK = 64 }; /* blocks */
    const decompress_call *call = arg;
    floe_error *err = &ctx->err;
    floe_field out;
    floe_zfpx file;
    coding c;
    uint64_t *places;
    FLOE_TRY(floe_field_check(call->out, true, &out, err));
    FLOE_TRY(decoding_begin(ctx, call, &file, &c));
    FLOE_TRY(field_matches(&out, &c.stream, err));
    const bool fixed = !call->index && has_fixed_rate(&c.params);
    const uint32_t chunk = call->index ? file.index.chunk : FIXED_CHUNK;
    const uint64_t nchunks = floe_ceil_div(floe_zfp_nblocks(c.array.rank, c.array.shape), chunk);
    FLOE_TRY(decoding_scratch(ctx, &c, chunk, call->index || fixed ? nchunks + 1 : 0, &places));
    if (call->index)
        FLOE_TRY(floe_side_index_decode(&ctx->cpu, &file.index, places, err));
    else if (fixed)
        fixed_places(&c, chunk, nchunks, places);
    c.array = array_of(&out);
    floe_arena scratch = floe_arena_of(c.stream_space, c.stream_nbytes);
    return floe_zfp_stream_decompress(&ctx->cpu, &c.array, &c.params, c.stream.header_nbits, call->src, call->nbytes,
                                      places, chunk, &scratch, err);
}

floe_status floe_zfp_decompress(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_zfp_stream *stream,
                                const void *index, uint64_t index_nbytes, floe_field *out)
{
    decompress_call call = {src, nbytes, stream, index, index_nbytes, out};
    return floe_ctx_run(ctx, decompress_body, &call);
}
