/* SPDX-License-Identifier: BSD-3-Clause */
/* Decompression from a source into a sink: chunks in grid order, gathered into slabs, which are written in C order.
 * With salvage a chunk that cannot be read becomes NaN, or a number that stands for it, and the caller is told. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/try.h"
#include "call/chunking.h"
#include "call/info.h"
#include "call/region_check.h"
#include "call/stream_io.h"
#include "call/struct_copy.h"
#include "call/text.h"
#include "device/stream.h"
#include "field/dtype_math.h"
#include "field/field.h"

typedef struct decompression {
    floe_stream_options options;
    const floe_sink *sink;
    floe_stream stream;
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK]; /* the box */
    uint8_t *index_space;
    bool checks_end; /* read forward: note the records, and compare the index at the end with them */
    floe_index_entry *entries;
    floe_progress progress;
    uint64_t nlost; /* boxes */
    void *slab_data;
    floe_slab slab;                  /* being gathered; nchunks 0: none */
    uint64_t slab_lo[FLOE_MAX_RANK]; /* of its part within the box */
    floe_field slab_field;
} decompression;

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

static uint64_t slab_part_nelems(const decompression *d)
{
    floe_slab slab;
    const floe_header *h = &d->stream.header;
    if (d->stream.nchunks == 0)
        return 0;
    floe_slab_of(h, 0, &slab); /* none is larger than the first */
    for (uint32_t i = 0; i < h->rank; i++)
        slab.extent[i] = floe_min64(slab.extent[i], d->hi[i] - d->lo[i]);
    return floe_extent_nelems(h->rank, slab.extent);
}

static void take_all(decompression *d, floe_arena *arena)
{
    uint64_t index_nbytes = floe_stream_index_nbytes(&d->stream);
    floe_stream_take(&d->stream, arena);
    d->slab_data = floe_arena_take(arena, slab_part_nelems(d), floe_dtype_size(d->stream.header.dtype));
    if (d->checks_end) {
        d->entries = floe_arena_take(arena, d->stream.nchunks, sizeof *d->entries);
        index_nbytes = floe_index_nbytes(d->stream.nchunks);
    }
    d->index_space = floe_arena_take(arena, index_nbytes, 1);
}

static floe_status scratch_get(floe_ctx *ctx, decompression *d)
{
    floe_arena plan = floe_arena_plan(), arena;
    take_all(d, &plan);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    take_all(d, &arena);
    assert(!arena.overflow);
    return FLOE_OK;
}

/* ---- slabs ------------------------------------------------------------------------------------------------------- */

static floe_status slab_write(decompression *d, floe_error *err)
{
    if (d->slab.nchunks == 0)
        return FLOE_OK;
    uint64_t nelems = floe_extent_nelems(d->slab_field.rank, d->slab_field.shape);
    d->slab.nchunks = 0;
    floe_elements_swap(d->slab_field.dtype, d->slab_data, nelems);
    return floe_sink_write(d->sink, d->slab_data, (size_t)(nelems * floe_dtype_size(d->slab_field.dtype)), err);
}

static floe_status slab_begin(decompression *d, uint64_t chunk, floe_error *err)
{
    const floe_header *h = &d->stream.header;
    uint64_t end[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    floe_slab_of(h, chunk, &d->slab);
    memcpy(d->slab_lo, d->lo, sizeof d->lo);
    memcpy(end, d->hi, sizeof d->hi);
    floe_box_clip(h->rank, d->slab_lo, end, d->slab.lo, d->slab.extent);
    for (uint32_t i = 0; i < h->rank; i++)
        extent[i] = end[i] - d->slab_lo[i];
    floe_field field = floe_field_of(d->slab_data, h->dtype, h->rank, extent);
    return floe_field_check(&field, true, &d->slab_field, err);
}

/* ---- salvage ----------------------------------------------------------------------------------------------------- */

/* The bits that stand for a value that is lost. */
static uint64_t lost_bits(const floe_header *h)
{
    if (floe_dtype_is_integer(h->dtype))
        return h->has_fill ? h->fill_bits : floe_dtype_sign(h->dtype);
    return h->dtype == FLOE_F32 ? 0x7FC00000u : 0x7FF8000000000000u;
}

static void bits_fill(const floe_field *slab, const uint64_t *lo, const uint64_t *extent, uint64_t bits)
{
    const uint32_t narrow = (uint32_t)bits;
    floe_field box = floe_field_box(slab, lo, extent);
    floe_rows rows = floe_rows_of(&box, NULL);
    size_t size = floe_dtype_size(box.dtype);
    const void *value = size == 4 ? (const void *)&narrow : (const void *)&bits;
    for (uint64_t r = 0; r < rows.count; r++)
        for (uint64_t i = 0; i < rows.length; i++)
            memcpy((uint8_t *)box.data + (floe_rows_offset(&rows, 0, r) + (int64_t)i * rows.step[0]) * (int64_t)size,
                   value, size);
}

/* Values of a chunk, all of those in the box: out of the slab, and to the caller. */
static void box_lose(decompression *d, uint64_t chunk, const uint64_t *at, const uint64_t *end, const char *why)
{
    const floe_header *h = &d->stream.header;
    uint64_t extent[FLOE_MAX_RANK], lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    for (uint32_t i = 0; i < h->rank; i++)
        extent[i] = end[i] - at[i];
    memcpy(lo, d->lo, sizeof lo);
    memcpy(hi, d->hi, sizeof hi);
    floe_box_clip(h->rank, lo, hi, at, extent);
    for (uint32_t i = 0; i < h->rank; i++) {
        extent[i] = hi[i] - lo[i];
        lo[i] -= d->slab_lo[i];
    }
    bits_fill(&d->slab_field, lo, extent, lost_bits(h));
    d->nlost++;
    if (d->options.damaged)
        d->options.damaged(d->options.damaged_user, chunk, at, end, why);
}

static void part_lose(void *user, uint64_t chunk, const uint64_t *lo, const uint64_t *hi)
{
    decompression *d = user;
    char box[FLOE_BOX_TEXT], why[FLOE_BOX_TEXT + 128];
    uint64_t n = 1;
    for (uint32_t i = 0; i < d->stream.header.rank; i++)
        n *= hi[i] - lo[i];
    snprintf(why, sizeof why, "%llu values (%s) of chunk %llu: the bytes that they depend on are damaged",
             (unsigned long long)n, floe_box_format(d->stream.header.rank, lo, hi, box), (unsigned long long)chunk);
    box_lose(d, chunk, lo, hi, why);
}

static void chunk_lose(floe_ctx *ctx, decompression *d, uint64_t chunk)
{
    uint64_t at[FLOE_MAX_RANK], end[FLOE_MAX_RANK];
    floe_grid_box(&d->stream.header, chunk, at, end);
    for (uint32_t i = 0; i < d->stream.header.rank; i++)
        end[i] += at[i];
    box_lose(d, chunk, at, end, ctx->err.message);
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

/* Notes where a record that is read forward stood, for the check of the index at the end. */
static void entry_note(decompression *d, uint64_t chunk, uint64_t *offset)
{
    if (!d->checks_end)
        return;
    d->entries[chunk] = (floe_index_entry){*offset, d->stream.window.head};
    *offset = d->stream.window.offset;
}

static uint64_t cells_in_box(const decompression *d, uint64_t chunk)
{
    uint64_t at[FLOE_MAX_RANK], extent[FLOE_MAX_RANK], lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], n = 1;
    floe_grid_box(&d->stream.header, chunk, at, extent);
    memcpy(lo, d->lo, sizeof lo);
    memcpy(hi, d->hi, sizeof hi);
    floe_box_clip(d->stream.header.rank, lo, hi, at, extent);
    for (uint32_t i = 0; i < d->stream.header.rank; i++)
        n *= hi[i] - lo[i];
    return n;
}

static floe_status chunks_decode(floe_ctx *ctx, decompression *d)
{
    const floe_salvage salvage = {part_lose, d};
    uint64_t chunk, offset = d->stream.header_nbytes;
    for (floe_walk walk = floe_walk_of(&d->stream.header, d->lo, d->hi); floe_walk_next(&walk, &chunk);) {
        if (!floe_slab_holds(&d->slab, chunk)) {
            FLOE_TRY(slab_write(d, &ctx->err));
            FLOE_TRY(slab_begin(d, chunk, &ctx->err));
        }
        const uint64_t before = d->nlost;
        const floe_status status = floe_stream_decode(ctx, &d->stream, chunk, d->options.salvage ? &salvage : NULL,
                                                      d->lo, d->hi, &d->slab_field, d->slab_lo);
        if (d->options.salvage && floe_status_is_damage(status))
            chunk_lose(ctx, d, chunk);
        else
            FLOE_TRY(status);
        ctx->stats.nchunks_damaged += d->nlost > before;
        entry_note(d, chunk, &offset);
        FLOE_TRY(floe_progress_add(&d->progress, cells_in_box(d, chunk) * floe_dtype_size(d->stream.header.dtype),
                                   &ctx->err));
    }
    return slab_write(d, &ctx->err);
}

/* Read forward: behind the last chunk there must be the index that a writer of these records writes, and no more. */
static floe_status end_check(floe_ctx *ctx, decompression *d)
{
    uint8_t piece[4096];
    size_t got;
    uint64_t index_offset = d->stream.window.offset, nbytes = floe_index_nbytes(d->stream.nchunks);
    floe_index_write(d->entries, d->stream.nchunks, index_offset, d->index_space);
    for (uint64_t at = 0; at < nbytes; at += got) {
        size_t part = (size_t)floe_min64(sizeof piece, nbytes - at);
        FLOE_TRY(floe_window_read(&d->stream.window, piece, part, &got, &ctx->err));
        FLOE_CHECK(&ctx->err, got == part, FLOE_ERR_FORMAT,
                   "the stream is cut short: it ends in its index, after all chunks");
        FLOE_CHECK(&ctx->err, memcmp(piece, d->index_space + at, part) == 0, FLOE_ERR_CHECKSUM,
                   "the index at the end of the stream is damaged, or does not fit the chunks");
    }
    FLOE_TRY(floe_window_read(&d->stream.window, piece, 1, &got, &ctx->err));
    FLOE_CHECK(&ctx->err, got == 0, FLOE_ERR_FORMAT, "something follows the end of the stream");
    ctx->stats.stream_nbytes = d->stream.window.offset;
    return FLOE_OK;
}

static floe_status index_find(floe_ctx *ctx, decompression *d)
{
    if (floe_stream_index_nbytes(&d->stream) == 0)
        return FLOE_OK;
    floe_status status = floe_stream_index_load(&d->stream, d->index_space, &ctx->err);
    return d->options.salvage && floe_status_is_damage(status) ? FLOE_OK : status;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

typedef struct stream_call {
    const floe_source *source;
    const floe_sink *sink;
    const floe_stream_options *options;
    floe_info *info;
} stream_call;

static floe_status call_check(floe_ctx *ctx, const stream_call *call, floe_stream_options *options)
{
    FLOE_CHECK(&ctx->err, call->source && call->source->read, FLOE_ERR_ARGUMENT, "no source given");
    FLOE_CHECK(&ctx->err, call->sink && call->sink->write, FLOE_ERR_ARGUMENT, "no sink given");
    if (call->info)
        FLOE_TRY(floe_struct_check(call->info, "floe_info", &ctx->err));
    FLOE_TRY(floe_stream_options_read(call->options, options, &ctx->err));
    FLOE_CHECK(&ctx->err, !options->lo || call->source->seekable, FLOE_ERR_UNSUPPORTED,
               "a region needs a source that can seek: put the stream into a file first");
    return FLOE_OK;
}

/* Salvaging expects that most chunks are lost, but not more than there are bytes: then nothing says that they ever were. */
static floe_status salvage_check(const floe_stream *s, floe_error *err)
{
    FLOE_CHECK(err, s->nchunks <= s->nbytes, FLOE_ERR_FORMAT,
               "the stream is cut short: its %llu bytes cannot hold %llu chunks", (unsigned long long)s->nbytes,
               (unsigned long long)s->nchunks);
    return FLOE_OK;
}

static floe_status decompress_stream_body(floe_ctx *ctx, void *arg)
{
    const stream_call *call = arg;
    decompression d = {.sink = call->sink};
    FLOE_TRY(call_check(ctx, call, &d.options));
    FLOE_TRY(floe_stream_of_source(ctx, call->source, !d.options.salvage, &d.stream));
    if (call->info)
        floe_info_fill(call->info, &d.stream.header, ctx->stats.stream_nbytes);
    if (d.options.salvage)
        FLOE_TRY(salvage_check(&d.stream, &ctx->err));
    FLOE_TRY(floe_box_check(&d.stream.header, d.options.lo, d.options.hi, d.lo, d.hi, &ctx->err));
    FLOE_TRY(floe_stream_at_level(ctx, &d.stream, d.options.level));
    for (uint32_t i = 0; i < d.stream.header.rank; i++) {
        d.lo[i] = floe_ceil_div(d.lo[i], (uint64_t)1 << d.stream.level);
        d.hi[i] = floe_ceil_div(d.hi[i], (uint64_t)1 << d.stream.level);
    }
    d.checks_end = floe_stream_index_nbytes(&d.stream) == 0 && !d.options.salvage && !d.options.lo;
    FLOE_TRY(scratch_get(ctx, &d));
    FLOE_TRY(floe_stream_begin_decode(ctx, &d.stream));
    FLOE_TRY(index_find(ctx, &d));
    d.progress =
        (floe_progress){d.options.progress, d.options.progress_user, 0, floe_dtype_size(d.stream.header.dtype)};
    for (uint32_t i = 0; i < d.stream.header.rank; i++)
        d.progress.total *= d.hi[i] - d.lo[i];
    FLOE_TRY(chunks_decode(ctx, &d));
    return d.checks_end ? end_check(ctx, &d) : FLOE_OK;
}

floe_status floe_decompress_stream(floe_ctx *ctx, const floe_source *source, const floe_sink *sink,
                                   const floe_stream_options *options, floe_info *info)
{
    stream_call call = {source, sink, options, info};
    return floe_ctx_run(ctx, decompress_stream_body, &call);
}
