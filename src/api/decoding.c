/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/decoding.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hd.h"
#include "base/try.h"
#include "call/chunking.h"
#include "call/arg_check.h"
#include "call/text.h"
#include "field/dtype_math.h"
#include "field/field.h"

floe_status floe_decoding_box(floe_ctx *ctx, floe_decoding *d)
{
    const floe_stream_options *o = &d->options;
    const floe_header *h = &d->stream.header;
    FLOE_TRY(floe_box_check(h, o->lo, o->hi, d->lo, d->hi, &ctx->err));
    FLOE_TRY(floe_stream_at_level(ctx, &d->stream, o->level));
    d->stream.part = o->level || o->lo;
    d->progress = (floe_progress){o->progress, o->progress_user, 0, floe_dtype_size(h->dtype)};
    for (uint32_t i = 0; i < h->rank; i++) {
        d->lo[i] = floe_ceil_div(d->lo[i], (uint64_t)1 << o->level);
        d->hi[i] = floe_ceil_div(d->hi[i], (uint64_t)1 << o->level);
        d->progress.total *= d->hi[i] - d->lo[i];
    }
    return FLOE_OK;
}

/* ---- lost values --------------------------------------------------------------------------------------------------- */

/* The bits that stand for a value that is lost. */
static uint64_t lost_bits(const floe_header *h)
{
    if (floe_dtype_is_integer(h->dtype))
        return h->has_fill ? h->fill_bits : floe_dtype_sign(h->dtype);
    return h->dtype == FLOE_F32 ? FLOE_NAN32_BITS : FLOE_NAN64_BITS;
}

static void bits_fill(const floe_field *out, const uint64_t *lo, const uint64_t *extent, uint64_t bits)
{
    const uint32_t narrow = (uint32_t)bits;
    floe_field box = floe_field_box(out, lo, extent);
    floe_rows rows = floe_rows_of(&box, NULL);
    size_t size = floe_dtype_size(box.dtype);
    const void *value = size == 4 ? (const void *)&narrow : (const void *)&bits;
    for (uint64_t r = 0; r < rows.count; r++)
        for (uint64_t i = 0; i < rows.length; i++)
            memcpy((uint8_t *)box.data + (floe_rows_offset(&rows, 0, r) + (int64_t)i * rows.step[0]) * (int64_t)size,
                   value, size);
}

/* Values of a chunk, all of those in the box: replaced, and to the caller. */
static void box_lose(floe_decoding *d, uint64_t chunk, const uint64_t *at, const uint64_t *end, const char *why)
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
        lo[i] -= d->out_lo[i];
    }
    bits_fill(d->out, lo, extent, lost_bits(h));
    d->nlost++;
    if (d->options.damaged)
        d->options.damaged(d->options.damaged_user, chunk, at, end, why);
}

static void part_lose(void *user, uint64_t chunk, const uint64_t *lo, const uint64_t *hi)
{
    floe_decoding *d = user;
    char box[FLOE_BOX_TEXT], why[FLOE_BOX_TEXT + 128];
    uint64_t n = 1;
    for (uint32_t i = 0; i < d->stream.header.rank; i++)
        n *= hi[i] - lo[i];
    snprintf(why, sizeof why, "%llu values (%s) of chunk %llu: the bytes that they depend on are damaged or missing",
             (unsigned long long)n, floe_box_format(d->stream.header.rank, lo, hi, box), (unsigned long long)chunk);
    box_lose(d, chunk, lo, hi, why);
}

static void chunk_lose(floe_ctx *ctx, floe_decoding *d, uint64_t chunk)
{
    uint64_t at[FLOE_MAX_RANK], end[FLOE_MAX_RANK];
    floe_grid_box(&d->stream.header, chunk, at, end);
    for (uint32_t i = 0; i < d->stream.header.rank; i++)
        end[i] += at[i];
    box_lose(d, chunk, at, end, ctx->err.message);
}

/* ---- chunks -------------------------------------------------------------------------------------------------------- */

static uint64_t cells_in_box(const floe_decoding *d, uint64_t chunk)
{
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], n = 1;
    floe_chunk_clip(&d->stream.header, chunk, d->lo, d->hi, lo, hi);
    for (uint32_t i = 0; i < d->stream.header.rank; i++)
        n *= hi[i] - lo[i];
    return n;
}

floe_status floe_decoding_progress(floe_ctx *ctx, floe_decoding *d, uint64_t chunk)
{
    return floe_progress_add(&d->progress, cells_in_box(d, chunk) * floe_dtype_size(d->stream.header.dtype), &ctx->err);
}

floe_status floe_decoding_chunk(floe_ctx *ctx, floe_decoding *d, uint64_t chunk)
{
    const floe_salvage salvage = {part_lose, d};
    const uint64_t before = d->nlost;
    const floe_status status = floe_stream_decode(ctx, &d->stream, chunk, d->options.salvage ? &salvage : NULL, d->lo,
                                                  d->hi, d->out, d->out_lo);
    if (d->options.salvage && floe_status_is_damage(status))
        chunk_lose(ctx, d, chunk);
    else
        FLOE_TRY(status);
    ctx->stats.nchunks_damaged += d->nlost > before;
    return FLOE_OK;
}

/* ---- chunks side by side ------------------------------------------------------------------------------------------- */

void floe_decoding_spread(floe_ctx *ctx, floe_decoding *d, uint64_t slab, floe_width width)
{
    const floe_walk walk = floe_walk_of(&d->stream.header, d->lo, d->hi);
    if (d->options.salvage && width == FLOE_MANY_CHUNKS)
        width = FLOE_ONE_CHUNK;
    floe_stream_spread(ctx, &d->stream, floe_min64(slab, floe_walk_nchunks(&walk)), width);
}

static floe_status chunk_done(floe_ctx *ctx, void *user, uint64_t chunk)
{
    return floe_decoding_progress(ctx, user, chunk);
}

floe_status floe_decoding_add(floe_ctx *ctx, floe_decoding *d, uint64_t chunk)
{
    if (d->stream.lanes.n > 1)
        return floe_stream_batch_add(ctx, &d->stream, chunk, d->lo, d->hi, d->out, d->out_lo, chunk_done, d);
    FLOE_TRY(floe_decoding_chunk(ctx, d, chunk));
    return floe_decoding_progress(ctx, d, chunk);
}

floe_status floe_decoding_flush(floe_ctx *ctx, floe_decoding *d)
{
    return floe_stream_batch_flush(ctx, &d->stream, chunk_done, d);
}
