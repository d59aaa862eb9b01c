/* SPDX-License-Identifier: BSD-3-Clause */
/* Header and index of a stream, checked before anything is allocated for what they claim. */
#include <string.h>

#include "base/bytes.h"
#include "base/try.h"
#include "call/callbacks.h"
#include "call/chunking.h"
#include "call/info.h"
#include "device/stream.h"

typedef unsigned long long ull;

bool floe_status_is_damage(floe_status status) { return status == FLOE_ERR_FORMAT || status == FLOE_ERR_CHECKSUM; }

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static floe_status chunks_fit(const floe_stream *s, floe_error *err)
{
    FLOE_CHECK(err, s->sizing.stream_nbytes <= s->nbytes, FLOE_ERR_FORMAT,
               "the stream is cut short: its %llu chunks take %llu bytes at least, it has %llu", (ull)s->nchunks,
               (ull)s->sizing.stream_nbytes, (ull)s->nbytes);
    return FLOE_OK;
}

/* Salvaging expects that most chunks are lost, but not more than there are bytes: then nothing shows that they ever were. */
static floe_status salvage_check(const floe_stream *s, floe_error *err)
{
    FLOE_CHECK(err, s->nchunks <= s->nbytes, FLOE_ERR_FORMAT,
               "the stream is cut short: its %llu bytes cannot hold %llu chunks", (ull)s->nbytes, (ull)s->nchunks);
    return FLOE_OK;
}

/* Limits, and that a stream which is whole has room for what its header holds, come before anything is allocated for that. */
static floe_status header_accept(floe_ctx *ctx, floe_stream *s)
{
    uint64_t nelems = floe_extent_nelems(s->header.rank, s->header.shape);
    s->nchunks = floe_grid_nchunks(&s->header);
    FLOE_CHECK(&ctx->err, !ctx->max_elems || nelems <= ctx->max_elems, FLOE_ERR_LIMIT,
               "the stream holds %llu elements, the limit is %llu", (ull)nelems, (ull)ctx->max_elems);
    const floe_status sized = floe_sizing_of_stream(&ctx->cpu, &s->header, s->header_nbytes, &s->sizing, &ctx->err);
    if (!s->salvages && s->nbytes != UINT64_MAX)
        FLOE_TRY(chunks_fit(s, &ctx->err));
    FLOE_TRY(sized);
    if (s->salvages)
        FLOE_TRY(salvage_check(s, &ctx->err));
    s->lanes = floe_lanes_of(&ctx->cpu, &s->sizing, 1, FLOE_ONE_CHUNK);
    s->payload_most = s->sizing.payload_nbytes;
    s->sizing.payload_nbytes = floe_min64(s->sizing.payload_nbytes, s->nbytes);
    memcpy(s->shape, s->header.shape, sizeof s->shape);
    memcpy(s->chunk, s->header.chunk, sizeof s->chunk);
    ctx->stats.nelems = nelems;
    ctx->stats.raw_nbytes = nelems * floe_dtype_size(s->header.dtype);
    ctx->stats.stream_nbytes = s->nbytes == UINT64_MAX ? 0 : s->nbytes;
    ctx->stats.nchunks = s->nchunks;
    return FLOE_OK;
}

floe_status floe_stream_at_level(floe_ctx *ctx, floe_stream *s, uint32_t level)
{
    floe_header *h = &s->header;
    const uint32_t most = floe_levels_of(h);
    if (level == 0)
        return FLOE_OK;
    FLOE_CHECK(&ctx->err, floe_codec_of(h->codec)->level_nbytes, FLOE_ERR_UNSUPPORTED,
               "a stream of codec %s has no levels: those of codecs interp and wavelet have",
               floe_codec_name(h->codec));
    FLOE_CHECK(&ctx->err, level <= most, FLOE_ERR_UNSUPPORTED,
               "level %u: the stream has levels 0 to %u, by its shape and where its chunks begin", level, most);
    for (uint32_t i = 0; i < h->rank; i++) {
        h->shape[i] = floe_ceil_div(h->shape[i], (uint64_t)1 << level);
        h->chunk[i] = floe_ceil_div(h->chunk[i], (uint64_t)1 << level);
    }
    s->level = level;
    s->by_cpu = true;
    ctx->stats.nelems = floe_extent_nelems(h->rank, h->shape);
    ctx->stats.raw_nbytes = ctx->stats.nelems * floe_dtype_size(h->dtype);
    return FLOE_OK;
}

static floe_status index_overlaps(floe_error *err)
{
    return floe_fail(err, FLOE_ERR_FORMAT, "the index overlaps the header");
}

static floe_status memory_index(floe_ctx *ctx, floe_stream *s)
{
    uint64_t index_offset;
    const size_t tail = (size_t)floe_min64(FLOE_FOOTER_NBYTES, s->nbytes - s->header_nbytes);
    FLOE_TRY(floe_footer_read(s->memory + s->nbytes - tail, tail, s->nbytes, s->nchunks, &index_offset, &ctx->err));
    if (index_offset < s->header_nbytes)
        return index_overlaps(&ctx->err);
    const uint8_t *index = s->memory + index_offset;
    FLOE_TRY(floe_index_check(index, (size_t)(s->nbytes - index_offset), s->nchunks, s->header_nbytes, index_offset,
                              &ctx->err));
    s->index = index;
    return FLOE_OK;
}

floe_status floe_stream_of_memory(floe_ctx *ctx, const void *src, uint64_t nbytes, bool salvage, floe_stream *s)
{
    *s = (floe_stream){.memory = src, .nbytes = nbytes, .salvages = salvage};
    FLOE_CHECK(&ctx->err, src || nbytes == 0, FLOE_ERR_ARGUMENT, "no stream given");
    FLOE_TRY(floe_header_peek(src, (size_t)nbytes, &s->header_nbytes, &ctx->err));
    FLOE_TRY(floe_header_read(src, (size_t)nbytes, &s->header, &ctx->err));
    FLOE_TRY(header_accept(ctx, s));
    s->reader.offset = s->header_nbytes;
    const floe_status status = memory_index(ctx, s);
    return salvage ? FLOE_OK : status;
}

/* Most headers are read at once, where a source can go back. */
floe_status floe_stream_of_source(floe_ctx *ctx, const floe_source *source, bool salvage, floe_stream *s)
{
    uint8_t start[1024], *bytes = start;
    const size_t first = source->seekable ? sizeof start : FLOE_HEADER_MIN_NBYTES;
    size_t got, more = 0;
    floe_arena plan = floe_arena_plan(), arena;
    *s = (floe_stream){
        .source = source, .nbytes = source->nbytes_total, .reader = {.source = source}, .salvages = salvage};
    FLOE_TRY(floe_source_read(source, 0, start, first, &got, &ctx->err));
    FLOE_TRY(floe_header_peek(start, got, &s->header_nbytes, &ctx->err));
    if (s->header_nbytes > sizeof start) {
        floe_arena_take(&plan, s->header_nbytes, 1);
        FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
        bytes = floe_arena_take(&arena, s->header_nbytes, 1);
        memcpy(bytes, start, got);
    }
    if (s->header_nbytes > got)
        FLOE_TRY(floe_source_read(source, got, bytes + got, s->header_nbytes - got, &more, &ctx->err));
    FLOE_TRY(floe_header_read(bytes, got + more, &s->header, &ctx->err));
    s->reader.offset = s->header_nbytes;
    FLOE_TRY(header_accept(ctx, s));
    s->needs_index = floe_stream_index_nbytes(s) != 0;
    return FLOE_OK;
}

/* A stream with too little room for its index: what a reader of its last bytes finds. */
static floe_status index_lacks(const floe_stream *s, floe_error *err)
{
    uint8_t tail[FLOE_FOOTER_NBYTES];
    uint64_t index_offset;
    size_t n = (size_t)floe_min64(sizeof tail, s->nbytes - s->header_nbytes), got;
    FLOE_TRY(floe_source_read(s->source, s->nbytes - n, tail, n, &got, err));
    FLOE_TRY(floe_footer_read(tail, got, s->nbytes, s->nchunks, &index_offset, err));
    return index_overlaps(err);
}

floe_status floe_stream_of_place(floe_ctx *ctx, const void *src, uint64_t nbytes, bool on_device, bool salvage,
                                 floe_device_source *source, floe_stream *s)
{
    if (!on_device && !salvage)
        return floe_stream_of_memory(ctx, src, nbytes, false, s);
    FLOE_CHECK(&ctx->err, src || nbytes == 0, FLOE_ERR_ARGUMENT, "no stream given");
    floe_device_source_init(source, on_device ? &ctx->cuda : NULL, src, nbytes);
    FLOE_TRY(floe_stream_of_source(ctx, &source->source, salvage, s));
    return salvage || s->needs_index ? FLOE_OK : index_lacks(s, &ctx->err);
}

uint64_t floe_stream_index_nbytes(const floe_stream *s)
{
    uint64_t nbytes = floe_index_nbytes(s->nchunks);
    bool found = s->source->seekable && s->nbytes != UINT64_MAX;
    return found && s->header_nbytes <= s->nbytes && nbytes <= s->nbytes - s->header_nbytes ? nbytes : 0;
}

floe_status floe_stream_index_load(floe_stream *s, uint8_t *space, floe_error *err)
{
    uint64_t nbytes = floe_stream_index_nbytes(s), index_offset;
    size_t got;
    FLOE_TRY(floe_source_read(s->source, s->nbytes - nbytes, space, (size_t)nbytes, &got, err));
    FLOE_CHECK(err, got == nbytes, FLOE_ERR_FORMAT, "the stream is cut short: it has fewer than %llu bytes",
               (ull)s->nbytes);
    FLOE_TRY(floe_footer_read(space + nbytes - FLOE_FOOTER_NBYTES, FLOE_FOOTER_NBYTES, s->nbytes, s->nchunks,
                              &index_offset, err));
    FLOE_TRY(floe_index_check(space, (size_t)(nbytes - FLOE_FOOTER_NBYTES), s->nchunks, s->header_nbytes, index_offset,
                              err));
    s->index = space;
    return FLOE_OK;
}

floe_status floe_stream_refuse(floe_ctx *ctx, floe_stream *s, floe_status status)
{
    const floe_error why = ctx->err;
    floe_arena plan = floe_arena_plan(), arena;
    if (!s->needs_index || s->salvages)
        return status;
    floe_arena_take(&plan, floe_stream_index_nbytes(s), 1);
    floe_status result = floe_ctx_workspace(ctx, &plan, &arena);
    if (result == FLOE_OK)
        result = floe_stream_index_load(s, arena.base, &ctx->err);
    if (floe_status_is_damage(result))
        return result;
    ctx->err = why;
    return status;
}
