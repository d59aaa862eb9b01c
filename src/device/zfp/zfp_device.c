/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of <floe/zfp.h> that do not wait, and what all calls on a GPU put on the context's stream. */
#include "device/zfp/zfp_device.h"

#include "base/try.h"
#include "device/device.h"

typedef struct compress_call {
    const floe_field *field;
    const floe_zfp_stream *stream;
    void *dst;
    uint64_t capacity;
    const floe_zfp_index *index;
    floe_zfp_report *report;
} compress_call;

typedef struct decompress_call {
    const void *src;
    uint64_t nbytes;
    const floe_zfp_report *sizes;
    const floe_zfp_stream *stream;
    const floe_zfp_index *index;
    floe_field *out;
    floe_zfp_report *report;
} decompress_call;

typedef struct workspace_call {
    const floe_zfp_stream *stream;
    const floe_index_spec *spec;
    size_t *nbytes;
} workspace_call;

#ifdef FLOE_HAVE_CUDA_BUILD

#include "base/hd.h"
#include "codec/zfp/gpu/zfp_kernels.h"
#include "container/container_cuda.h"

enum { WALKED_CHUNK = 8 }; /* blocks: few places, and decoding takes little beside finding them */

static floe_prim prim_of(const floe_ctx *ctx, void *space, uint64_t nbytes)
{
    return (floe_prim){.stream = ctx->cuda.stream, .workspace = space, .workspace_nbytes = (size_t)nbytes};
}

static uint64_t nblocks_of(const floe_zfp_stream_desc *desc)
{
    return floe_zfp_nblocks(desc->array.rank, desc->array.shape);
}

static const floe_zfp_kernels *kernels_of(const floe_zfp_stream_desc *desc)
{
    return floe_zfp_kernels_of(floe_zfp_type_is_narrow(desc->array.type));
}

static floe_status index_space(const floe_ctx *ctx, const floe_zfp_stream_desc *desc, const floe_zfp_index *index,
                               uint64_t *nbytes, floe_error *err)
{
    const floe_prim p = prim_of(ctx, NULL, 0);
    *nbytes = 0;
    return index ? floe_index_prim_workspace(&p, &index->spec, nblocks_of(desc), nbytes, err) : FLOE_OK;
}

/* The checksums of a stream of at most nbytes and of the index in a file. */
static floe_status checksums(const void *src, uint64_t nbytes, const floe_zfp_index *index, floe_zfpx_found *found,
                             void *stream, floe_error *err)
{
    const floe_checksum_job job = {.data = {src, (const uint8_t *)index->data + FLOE_ZFPX_HEADER_NBYTES},
                                   .most = nbytes,
                                   .nbytes = found->nbytes,
                                   .sums = found->sums};
    FLOE_CUDA(err, floe_checksum_sums_cuda(&job, stream));
    return FLOE_OK;
}

static void own_take(floe_zfp_own_memory *own, floe_zfp_report **report, floe_arena *a)
{
    own->field = own->field_nbytes ? floe_arena_take(a, own->field_nbytes, 1) : NULL;
    own->stream = own->stream_nbytes ? floe_arena_take(a, own->stream_nbytes, 1) : NULL;
    own->index = own->index_nbytes ? floe_arena_take(a, own->index_nbytes, 1) : NULL;
    *report = own->report ? floe_arena_take(a, 1, sizeof **report) : *report;
}

/* ---- encoding -------------------------------------------------------------------------------------------------------- */

static floe_status encode_plan(floe_ctx *ctx, floe_zfp_device_encode *e)
{
    const floe_zfp_stream_desc *t = &e->desc;
    FLOE_CUDA(&ctx->err, kernels_of(t)->encode_scratch(&t->array, &t->params, &e->encode_nbytes));
    return index_space(ctx, t, e->index, &e->prim_nbytes, &ctx->err);
}

static void encode_take(floe_zfp_device_encode *e, floe_arena *arena)
{
    e->blocks.scratch = floe_arena_take(arena, e->encode_nbytes, 1); /* first: aligned as the workspace is */
    e->found = floe_arena_take(arena, 1, sizeof *e->found);
    e->blocks.lengths = e->index ? floe_arena_take(arena, nblocks_of(&e->desc), sizeof *e->blocks.lengths) : NULL;
    e->prim_space = floe_arena_take(arena, e->prim_nbytes, 1);
    own_take(&e->own, &e->report, arena);
}

floe_status floe_zfp_device_encode_take(floe_ctx *ctx, floe_zfp_device_encode *e)
{
    floe_arena plan = floe_arena_plan(), arena;
    FLOE_TRY(encode_plan(ctx, e));
    encode_take(e, &plan);
    FLOE_TRY(floe_cuda_workspace(&ctx->cuda, &plan, ctx->max_memory, &arena, &ctx->err));
    encode_take(e, &arena);
    return FLOE_OK;
}

/* The stream, and its header in front of it. Its parameters are then those that a reader of the header will have. */
static floe_status encode_blocks(floe_ctx *ctx, floe_zfp_device_encode *e)
{
    const floe_zfp_array array = e->desc.array;
    uint8_t header[FLOE_ZFP_HEADER_NBYTES] = {0};
    FLOE_TRY(floe_zfp_header_make(&e->desc, header, &ctx->err));
    FLOE_CUDA(&ctx->err,
              floe_zfp_header_put_cuda(header, e->desc.stream.header_nbits, e->dst, e->capacity, ctx->cuda.stream));
    e->desc.array = e->blocks.array = array;
    e->blocks.params = e->desc.params;
    e->blocks.dst = e->dst;
    e->blocks.capacity = e->capacity;
    e->blocks.begin = e->desc.stream.header_nbits;
    e->blocks.nbits = &e->found->nbits;
    e->blocks.status = &e->found->blocks;
    FLOE_CUDA(&ctx->err, kernels_of(&e->desc)->encode(&e->blocks, ctx->cuda.stream));
    return FLOE_OK;
}

static floe_status encode_index(floe_ctx *ctx, const floe_zfp_device_encode *e, const floe_prim *p,
                                const floe_zfpx_finish_job *finish)
{
    const floe_zfp_stream_desc *t = &e->desc;
    const floe_zfp_index *x = e->index;
    FLOE_CHECK(&ctx->err, x->capacity >= FLOE_ZFPX_HEADER_NBYTES, FLOE_ERR_CAPACITY,
               "an index file does not fit in %llu bytes", (unsigned long long)x->capacity);
    FLOE_TRY(floe_index_prim_encode(p, &x->spec,
                                    &(floe_index_blocks){e->blocks.lengths, nblocks_of(t), t->stream.header_nbits},
                                    floe_zfp_block_bits(&t->params, t->array.type, t->array.rank),
                                    &(floe_index_target){(uint8_t *)x->data + FLOE_ZFPX_HEADER_NBYTES,
                                                         x->capacity - FLOE_ZFPX_HEADER_NBYTES, &e->found->made},
                                    &ctx->err));
    FLOE_TRY(floe_zfpx_prim_sizes(p, finish, 1, &ctx->err));
    return checksums(e->dst, e->capacity, x, e->found, ctx->cuda.stream, &ctx->err);
}

floe_status floe_zfp_device_encode_start(floe_ctx *ctx, floe_zfp_device_encode *e)
{
    const floe_prim p = prim_of(ctx, e->prim_space, e->prim_nbytes);
    floe_zfpx_finish_job finish = {.file = e->index ? e->index->data : NULL, .found = e->found, .report = e->report};
    FLOE_TRY(floe_cuda_clear(&ctx->cuda, e->found, sizeof *e->found, &ctx->err));
    FLOE_TRY(encode_blocks(ctx, e));
    floe_zfpx_desc(&e->desc.array, &e->desc.params, finish.desc);
    if (e->index)
        FLOE_TRY(encode_index(ctx, e, &p, &finish));
    return floe_zfpx_prim_finish(&p, &finish, 1, &ctx->err);
}

/* ---- decoding -------------------------------------------------------------------------------------------------------- */

bool floe_zfp_device_is_walked(const floe_zfp_device_decode *d)
{
    return !d->index && !floe_zfp_has_fixed_rate(&d->desc.params);
}

static floe_status decode_plan(floe_ctx *ctx, floe_zfp_device_decode *d)
{
    FLOE_TRY(index_space(ctx, &d->desc, d->index, &d->prim_nbytes, &ctx->err)); /* refuses chunks of 0 blocks */
    d->chunk = d->index ? d->index->spec.chunk : floe_zfp_device_is_walked(d) ? WALKED_CHUNK : 1;
    d->nplaces = d->index || floe_zfp_device_is_walked(d) ? floe_ceil_div(nblocks_of(&d->desc), d->chunk) + 1 : 0;
    return FLOE_OK;
}

static void decode_take(floe_zfp_device_decode *d, floe_arena *arena)
{
    d->found = floe_arena_take(arena, 1, sizeof *d->found);
    d->places = d->nplaces ? floe_arena_take(arena, d->nplaces, sizeof *d->places) : NULL;
    d->prim_space = floe_arena_take(arena, d->prim_nbytes, 1);
    own_take(&d->own, &d->report, arena);
}

floe_status floe_zfp_device_decode_take(floe_ctx *ctx, floe_zfp_device_decode *d)
{
    floe_arena plan = floe_arena_plan(), arena;
    FLOE_TRY(decode_plan(ctx, d));
    decode_take(d, &plan);
    FLOE_TRY(floe_cuda_workspace(&ctx->cuda, &plan, ctx->max_memory, &arena, &ctx->err));
    decode_take(d, &arena);
    return FLOE_OK;
}

/* Where the last block of a stream of fixed rate ends. */
static uint64_t fixed_end(const floe_zfp_stream_desc *desc)
{
    const uint64_t nblocks = nblocks_of(desc), begin = desc->stream.header_nbits;
    return nblocks <= (UINT64_MAX - begin) / desc->params.maxbits ? begin + nblocks * desc->params.maxbits : UINT64_MAX;
}

static floe_status open_job_of(const floe_zfp_device_decode *d, floe_zfpx_open_job *job, floe_error *err)
{
    *job = (floe_zfpx_open_job){.nbytes = d->nbytes, .sizes = d->sizes, .found = d->found, .report = d->report};
    floe_zfpx_desc(&d->desc.array, &d->desc.params, job->desc);
    if (!d->index) {
        job->end = floe_zfp_device_is_walked(d) ? 0 : fixed_end(&d->desc);
        return FLOE_OK;
    }
    job->file = d->index->data;
    job->file_nbytes = d->sizes ? d->index->capacity : d->index->nbytes;
    return floe_index_prim_plan(&d->index->spec, nblocks_of(&d->desc), d->desc.stream.header_nbits, &job->plan, err);
}

/* The index's places; and its checksums, which only show what came of it all, beside the rest. */
static floe_status decode_index(floe_ctx *ctx, const floe_zfp_device_decode *d, const floe_prim *p)
{
    FLOE_TRY(checksums(d->src, d->nbytes, d->index, d->found, ctx->cuda.side, &ctx->err));
    return floe_index_prim_decode_opened(p, &d->index->spec, nblocks_of(&d->desc), &d->found->index, d->places,
                                         &d->found->made, &ctx->err);
}

/* The places, by one lane that reads all blocks. */
static floe_status decode_walk(floe_ctx *ctx, const floe_zfp_device_decode *d)
{
    const floe_zfp_measure_call call = {.array = d->desc.array,
                                        .params = d->desc.params,
                                        .src = d->src,
                                        .nbytes = d->nbytes,
                                        .dev_nbytes = d->found->nbytes + FLOE_ZFPX_STREAM,
                                        .begin = d->desc.stream.header_nbits,
                                        .places = d->places,
                                        .chunk = d->chunk,
                                        .nbits = &d->found->nbits,
                                        .status = &d->found->blocks};
    FLOE_CUDA(&ctx->err, kernels_of(&d->desc)->measure(&call, ctx->cuda.stream));
    return FLOE_OK;
}

static floe_status decode_blocks(floe_ctx *ctx, const floe_zfp_device_decode *d, const floe_prim *p)
{
    const floe_zfp_decode_call blocks = {.array = d->desc.array,
                                         .params = d->desc.params,
                                         .src = d->src,
                                         .nbytes = d->nbytes,
                                         .begin = d->desc.stream.header_nbits,
                                         .chunk = d->chunk,
                                         .places = d->places,
                                         .status = &d->found->blocks};
    if (d->index)
        FLOE_TRY(decode_index(ctx, d, p));
    else if (floe_zfp_device_is_walked(d) && !d->places_are_set)
        FLOE_TRY(decode_walk(ctx, d));
    FLOE_CUDA(&ctx->err, kernels_of(&d->desc)->decode(&blocks, ctx->cuda.stream));
    return FLOE_OK;
}

floe_status floe_zfp_device_decode_start(floe_ctx *ctx, floe_zfp_device_decode *d)
{
    const floe_prim p = prim_of(ctx, d->prim_space, d->prim_nbytes);
    floe_zfpx_open_job job;
    FLOE_TRY(open_job_of(d, &job, &ctx->err));
    FLOE_TRY(floe_cuda_clear(&ctx->cuda, d->found, sizeof *d->found, &ctx->err));
    FLOE_TRY(floe_zfpx_prim_open(&p, &job, 1, &ctx->err));
    if (d->index)
        FLOE_TRY(floe_cuda_fork(&ctx->cuda, ctx->cuda.stream, &ctx->err));
    floe_status status = decode_blocks(ctx, d, &p);
    if (d->index)
        status = floe_cuda_join(&ctx->cuda, ctx->cuda.stream, status, &ctx->err);
    FLOE_TRY(status);
    return floe_zfpx_prim_judge(&p, &job, 1, &ctx->err);
}

/* ---- calls that do not wait ------------------------------------------------------------------------------------------ */

static floe_status memory_check(floe_ctx *ctx, const floe_field *f, const void *stream, const floe_zfp_index *index,
                                const floe_zfp_report *report)
{
    FLOE_TRY(floe_device_async_check(ctx, f, stream, report));
    if (!index)
        return FLOE_OK;
    FLOE_TRY(floe_device_stream_check(index->data, &ctx->err));
    return floe_device_check(ctx, index->data, "the index");
}

static floe_status compress_body(floe_ctx *ctx, void *arg)
{
    const compress_call *call = arg;
    floe_error *err = &ctx->err;
    floe_zfp_device_encode e = {.dst = call->dst, .capacity = call->capacity, .report = call->report};
    floe_field field;
    floe_zfp_index index;
    FLOE_CHECK(err, call->stream && call->dst && call->report, FLOE_ERR_ARGUMENT,
               "no description of the stream, no destination or no report given");
    FLOE_TRY(floe_field_check(call->field, false, &field, err));
    FLOE_TRY(floe_zfp_desc_check(call->stream, &e.desc, err));
    FLOE_TRY(floe_zfp_field_matches(&field, &e.desc, err));
    if (call->index)
        FLOE_TRY(floe_zfp_index_check(call->index, &index, err));
    e.index = call->index ? &index : NULL;
    FLOE_TRY(memory_check(ctx, &field, call->dst, e.index, call->report));
    e.desc.array = floe_zfp_array_of_field(&field);
    FLOE_TRY(floe_zfp_device_encode_take(ctx, &e));
    return floe_zfp_device_encode_start(ctx, &e);
}

static floe_status decompress_body(floe_ctx *ctx, void *arg)
{
    const decompress_call *call = arg;
    floe_error *err = &ctx->err;
    floe_zfp_device_decode d = {.src = call->src, .nbytes = call->nbytes, .sizes = call->sizes, .report = call->report};
    floe_field out;
    floe_zfp_index index;
    uint8_t header[FLOE_ZFP_HEADER_NBYTES];
    FLOE_CHECK(err, call->stream && call->src && call->report, FLOE_ERR_ARGUMENT,
               "no stream, no description of it or no report given");
    FLOE_CHECK(err, call->nbytes && call->nbytes % 8 == 0, FLOE_ERR_ARGUMENT,
               "a zfp stream has whole words of 8 bytes, not %llu bytes", (unsigned long long)call->nbytes);
    FLOE_TRY(floe_field_check(call->out, true, &out, err));
    FLOE_TRY(floe_zfp_desc_check(call->stream, &d.desc, err));
    FLOE_TRY(floe_zfp_field_matches(&out, &d.desc, err));
    FLOE_TRY(floe_zfp_header_make(&d.desc, header, err)); /* parameters as its reader has them */
    if (call->index)
        FLOE_TRY(floe_zfp_index_check(call->index, &index, err));
    d.index = call->index ? &index : NULL;
    FLOE_TRY(memory_check(ctx, &out, call->src, d.index, call->report));
    if (call->sizes)
        FLOE_TRY(floe_device_words_check(ctx, call->sizes, "the stream's size"));
    d.desc.array = floe_zfp_array_of_field(&out);
    FLOE_TRY(floe_zfp_device_decode_take(ctx, &d));
    return floe_zfp_device_decode_start(ctx, &d);
}

static floe_status workspace_body(floe_ctx *ctx, void *arg)
{
    const workspace_call *call = arg;
    floe_zfp_index index = {.size = sizeof index};
    floe_zfp_device_encode e = {.capacity = 0};
    floe_zfp_device_decode d = {.nbytes = 0};
    floe_arena in = floe_arena_plan(), out = floe_arena_plan();
    FLOE_CHECK(&ctx->err, call->stream && call->nbytes, FLOE_ERR_ARGUMENT,
               "no description of the stream, or nowhere to put the number of bytes");
    FLOE_TRY(floe_zfp_desc_check(call->stream, &e.desc, &ctx->err));
    if (call->spec)
        index.spec = *call->spec;
    d.desc = e.desc;
    d.index = e.index = call->spec ? &index : NULL;
    FLOE_TRY(encode_plan(ctx, &e));
    FLOE_TRY(decode_plan(ctx, &d));
    encode_take(&e, &in);
    decode_take(&d, &out);
    FLOE_CHECK(&ctx->err, !in.overflow && !out.overflow, FLOE_ERR_MEMORY,
               "more device memory is needed than can be addressed");
    *call->nbytes = in.used > out.used ? in.used : out.used;
    return FLOE_OK;
}

#endif

floe_status floe_zfp_compress_async(floe_ctx *ctx, const floe_field *field, const floe_zfp_stream *stream, void *dst,
                                    uint64_t capacity, const floe_zfp_index *index, floe_zfp_report *report)
{
    compress_call call = {field, stream, dst, capacity, index, report};
    return floe_device_run(ctx, FLOE_DEVICE_BODY(compress_body), &call);
}

floe_status floe_zfp_decompress_async(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_zfp_report *sizes,
                                      const floe_zfp_stream *stream, const floe_zfp_index *index, floe_field *out,
                                      floe_zfp_report *report)
{
    decompress_call call = {src, nbytes, sizes, stream, index, out, report};
    return floe_device_run(ctx, FLOE_DEVICE_BODY(decompress_body), &call);
}

floe_status floe_zfp_device_workspace_nbytes(floe_ctx *ctx, const floe_zfp_stream *stream, const floe_index_spec *index,
                                             size_t *nbytes)
{
    workspace_call call = {stream, index, nbytes};
    return floe_device_run(ctx, FLOE_DEVICE_BODY(workspace_body), &call);
}
