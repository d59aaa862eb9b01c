/* SPDX-License-Identifier: BSD-3-Clause */
/* Decompression from a source into a sink: chunks in grid order, gathered into slabs, which are written in C order. */
#include <assert.h>
#include <string.h>

#include "api/decoding.h"
#include "base/bytes.h"
#include "base/try.h"
#include "call/chunking.h"
#include "call/info.h"
#include "call/struct_copy.h"
#include "field/field.h"

typedef struct decompression {
    floe_decoding all;
    const floe_sink *sink;
    bool checks_end; /* read forward: note the records, and compare the index at the end with them */
    floe_index_entry *entries;
    uint8_t *index_space;
    void *slab_data;
    floe_slab slab;                  /* being gathered; nchunks 0: none */
    uint64_t slab_lo[FLOE_MAX_RANK]; /* of its part within the box */
    floe_field slab_field;
} decompression;

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

static uint64_t slab_part_nelems(const decompression *d)
{
    floe_slab slab;
    const floe_header *h = &d->all.stream.header;
    if (d->all.stream.nchunks == 0)
        return 0;
    floe_slab_of(h, 0, &slab); /* none is larger than the first */
    for (uint32_t i = 0; i < h->rank; i++)
        slab.extent[i] = floe_min64(slab.extent[i], d->all.hi[i] - d->all.lo[i]);
    return floe_extent_nelems(h->rank, slab.extent);
}

static void take_all(decompression *d, floe_arena *arena)
{
    floe_stream_take(&d->all.stream, arena);
    d->slab_data = floe_arena_take_dense(arena, slab_part_nelems(d), floe_dtype_size(d->all.stream.header.dtype));
    if (d->checks_end) {
        d->entries = floe_arena_take(arena, d->all.stream.nchunks, sizeof *d->entries);
        d->index_space = floe_arena_take(arena, floe_index_nbytes(d->all.stream.nchunks), 1);
    }
}

static floe_status scratch_get(floe_ctx *ctx, decompression *d)
{
    floe_width width = FLOE_MANY_CHUNKS;
    floe_arena plan, arena;
    floe_slab slab = {.nchunks = 1};
    if (d->all.stream.nchunks)
        floe_slab_of(&d->all.stream.header, 0, &slab); /* none is larger than the first */
    do {
        plan = floe_arena_plan();
        floe_decoding_spread(ctx, &d->all, slab.nchunks, width);
        take_all(d, &plan);
    } while (floe_lanes_narrow(ctx, &plan, &width));
    if (d->all.stream.exact)
        floe_ctx_trim(ctx, &plan);
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
    const floe_header *h = &d->all.stream.header;
    uint64_t end[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    floe_slab_of(h, chunk, &d->slab);
    memcpy(d->slab_lo, d->all.lo, sizeof d->all.lo);
    memcpy(end, d->all.hi, sizeof d->all.hi);
    floe_box_clip(h->rank, d->slab_lo, end, d->slab.lo, d->slab.extent);
    for (uint32_t i = 0; i < h->rank; i++)
        extent[i] = end[i] - d->slab_lo[i];
    floe_field field = floe_field_of(d->slab_data, h->dtype, h->rank, extent);
    return floe_field_check(&field, true, &d->slab_field, err);
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

/* Notes where a record that is read forward stood, for the check of the index at the end. */
static void entry_note(decompression *d, uint64_t chunk, uint64_t *offset)
{
    if (!d->checks_end)
        return;
    d->entries[chunk] = (floe_index_entry){*offset, d->all.stream.reader.head};
    *offset = d->all.stream.reader.offset;
}

static floe_status chunks_decode(floe_ctx *ctx, decompression *d)
{
    uint64_t chunk, offset = d->all.stream.header_nbytes;
    for (floe_walk walk = floe_walk_of(&d->all.stream.header, d->all.lo, d->all.hi); floe_walk_next(&walk, &chunk);) {
        if (!floe_slab_holds(&d->slab, chunk)) {
            FLOE_TRY(floe_decoding_flush(ctx, &d->all));
            FLOE_TRY(slab_write(d, &ctx->err));
            FLOE_TRY(slab_begin(d, chunk, &ctx->err));
        }
        FLOE_TRY(floe_decoding_add(ctx, &d->all, chunk));
        entry_note(d, chunk, &offset);
    }
    FLOE_TRY(floe_decoding_flush(ctx, &d->all));
    return slab_write(d, &ctx->err);
}

/* Read forward: behind the last chunk there must be the index that a writer of these records writes, and no more. */
static floe_status end_check(floe_ctx *ctx, decompression *d)
{
    uint8_t piece[4096];
    size_t got;
    uint64_t index_offset = d->all.stream.reader.offset, nbytes = floe_index_nbytes(d->all.stream.nchunks);
    floe_index_write(d->entries, d->all.stream.nchunks, index_offset, d->index_space);
    for (uint64_t at = 0; at < nbytes; at += got) {
        size_t part = (size_t)floe_min64(sizeof piece, nbytes - at);
        FLOE_TRY(floe_forward_read(&d->all.stream.reader, piece, part, &got, &ctx->err));
        FLOE_CHECK(&ctx->err, got == part, FLOE_ERR_FORMAT,
                   "the stream is cut short: it ends in its index, after all chunks");
        FLOE_CHECK(&ctx->err, memcmp(piece, d->index_space + at, part) == 0, FLOE_ERR_CHECKSUM,
                   "the index at the end of the stream is damaged, or does not fit the chunks");
    }
    FLOE_TRY(floe_forward_read(&d->all.stream.reader, piece, 1, &got, &ctx->err));
    FLOE_CHECK(&ctx->err, got == 0, FLOE_ERR_FORMAT, "something follows the end of the stream");
    ctx->stats.stream_nbytes = d->all.stream.reader.offset;
    return FLOE_OK;
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

static floe_status decompress_stream_body(floe_ctx *ctx, void *arg)
{
    const stream_call *call = arg;
    decompression d = {.sink = call->sink};
    FLOE_TRY(call_check(ctx, call, &d.all.options));
    const floe_stream_options *o = &d.all.options;
    FLOE_TRY(floe_stream_of_source(ctx, call->source, o->salvage, &d.all.stream));
    if (call->info)
        floe_info_fill(call->info, &d.all.stream.header, ctx->stats.stream_nbytes);
    FLOE_TRY(floe_decoding_box(ctx, &d.all));
    d.all.out = &d.slab_field;
    d.all.out_lo = d.slab_lo;
    d.checks_end = !d.all.stream.needs_index && !o->salvage && !o->lo;
    FLOE_TRY(scratch_get(ctx, &d));
    FLOE_TRY(floe_stream_begin_decode(ctx, &d.all.stream));
    FLOE_TRY(chunks_decode(ctx, &d));
    return d.checks_end ? end_check(ctx, &d) : FLOE_OK;
}

floe_status floe_decompress_stream(floe_ctx *ctx, const floe_source *source, const floe_sink *sink,
                                   const floe_stream_options *options, floe_info *info)
{
    stream_call call = {source, sink, options, info};
    return floe_ctx_run(ctx, decompress_stream_body, &call);
}
