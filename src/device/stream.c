/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/stream.h"

#include <string.h>

#include "call/chunking.h"
#include "device/pipeline.h"
#include "call/stream_io.h"
#include "call/text.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/try.h"
#include "field/field.h"

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

/* Limits, and that a stream which is whole has room for what its header says, come before anything is allocated for that. */
static floe_status header_accept(floe_ctx *ctx, bool whole, floe_stream *s)
{
    uint64_t nelems = floe_extent_nelems(s->header.rank, s->header.shape);
    s->nchunks = floe_grid_nchunks(&s->header);
    FLOE_CHECK(&ctx->err, !ctx->max_elems || nelems <= ctx->max_elems, FLOE_ERR_LIMIT,
               "the stream holds %llu elements, the limit is %llu", (ull)nelems, (ull)ctx->max_elems);
    const floe_status sized = floe_sizing_of_stream(&ctx->cpu, &s->header, s->header_nbytes, &s->sizing, &ctx->err);
    if (whole && s->nbytes != UINT64_MAX)
        FLOE_TRY(chunks_fit(s, &ctx->err));
    FLOE_TRY(sized);
    s->sizing.payload_nbytes = floe_min64(s->sizing.payload_nbytes, s->nbytes);
    ctx->stats.nelems = nelems;
    ctx->stats.raw_nbytes = nelems * floe_dtype_size(s->header.dtype);
    ctx->stats.stream_nbytes = s->nbytes == UINT64_MAX ? 0 : s->nbytes;
    ctx->stats.nchunks = s->nchunks;
    return FLOE_OK;
}

static floe_status index_overlaps(floe_error *err)
{
    return floe_fail(err, FLOE_ERR_FORMAT, "the index overlaps the header");
}

floe_status floe_stream_of_memory(floe_ctx *ctx, const void *src, uint64_t nbytes, floe_stream *s)
{
    uint64_t index_offset;
    *s = (floe_stream){.memory = src, .nbytes = nbytes};
    FLOE_CHECK(&ctx->err, src || nbytes == 0, FLOE_ERR_ARGUMENT, "no stream given");
    FLOE_TRY(floe_header_peek(src, (size_t)nbytes, &s->header_nbytes, &ctx->err));
    FLOE_TRY(floe_header_read(src, (size_t)nbytes, &s->header, &ctx->err));
    FLOE_TRY(header_accept(ctx, true, s));
    size_t tail = (size_t)floe_min64(FLOE_FOOTER_NBYTES, nbytes - s->header_nbytes);
    FLOE_TRY(floe_footer_read(s->memory + nbytes - tail, tail, nbytes, s->nchunks, &index_offset, &ctx->err));
    if (index_offset < s->header_nbytes)
        return index_overlaps(&ctx->err);
    s->index = s->memory + index_offset;
    return floe_index_check(s->index, (size_t)(nbytes - index_offset), s->nchunks, s->header_nbytes, index_offset,
                            &ctx->err);
}

/* Most headers are read at once, where a source can go back. */
floe_status floe_stream_of_source(floe_ctx *ctx, const floe_source *source, bool whole, floe_stream *s)
{
    uint8_t start[1024], *bytes = start;
    const size_t first = source->seekable ? sizeof start : FLOE_HEADER_MIN_NBYTES;
    size_t got, more = 0;
    floe_arena plan = floe_arena_plan(), arena;
    *s = (floe_stream){.source = source, .nbytes = source->nbytes_total, .window = {.source = source}};
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
    s->window.offset = s->header_nbytes;
    return header_accept(ctx, whole, s);
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

floe_status floe_stream_of_place(floe_ctx *ctx, const void *src, uint64_t nbytes, bool on_device,
                                 floe_device_source *source, floe_stream *s)
{
    if (!on_device)
        return floe_stream_of_memory(ctx, src, nbytes, s);
    floe_device_source_init(source, &ctx->cuda, src, nbytes);
    FLOE_TRY(floe_stream_of_source(ctx, &source->source, true, s));
    s->needs_index = true;
    return floe_stream_index_nbytes(s) ? FLOE_OK : index_lacks(s, &ctx->err);
}

void floe_stream_take(floe_stream *s, floe_arena *arena)
{
    s->codec_scratch = floe_arena_take(arena, s->sizing.codec_nbytes, 1);
    if (s->memory)
        return;
    if (s->needs_index)
        s->index_space = floe_arena_take(arena, floe_stream_index_nbytes(s), 1);
    s->record = floe_arena_take(arena, floe_record_nbytes(s->sizing.payload_nbytes), 1);
    s->window.bytes = floe_arena_take(arena, FLOE_WINDOW_NBYTES, 1);
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
    if (!s->needs_index)
        return status;
    floe_arena_take(&plan, floe_stream_index_nbytes(s), 1);
    floe_status said = floe_ctx_workspace(ctx, &plan, &arena);
    if (said == FLOE_OK)
        said = floe_stream_index_load(s, arena.base, &ctx->err);
    if (floe_status_is_damage(said))
        return said;
    ctx->err = why;
    return status;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* The payload and the padding behind it. */
static floe_status payload_check(const uint8_t *payload, const floe_record *record, floe_error *err)
{
    uint64_t end = floe_record_nbytes(record->nbytes) - FLOE_RECORD_HEAD_NBYTES;
    FLOE_CHECK(err, floe_checksum(payload, record->nbytes) == record->checksum, FLOE_ERR_CHECKSUM,
               "its checksum does not match: the bytes are damaged");
    for (uint64_t i = record->nbytes; i < end; i++)
        FLOE_CHECK(err, payload[i] == 0, FLOE_ERR_CHECKSUM, "its padding is not zero: the bytes are damaged");
    return FLOE_OK;
}

/* By the index; the index has been checked to stay within the stream. */
static floe_status fetch_indexed(floe_stream *s, uint64_t chunk, const uint8_t **payload, floe_record *head,
                                 floe_error *err)
{
    floe_index_entry entry;
    floe_index_entry_read(s->index, chunk, &entry);
    FLOE_CHECK(err, entry.record.nbytes <= s->sizing.payload_nbytes, FLOE_ERR_FORMAT,
               "its %llu bytes are more than it can have", (ull)entry.record.nbytes);
    const uint8_t *record = s->memory ? s->memory + entry.offset : s->record;
    size_t record_nbytes = (size_t)floe_record_nbytes(entry.record.nbytes), got = record_nbytes;
    if (!s->memory)
        FLOE_TRY(floe_source_read(s->source, entry.offset, s->record, record_nbytes, &got, err));
    FLOE_CHECK(err, got == record_nbytes, FLOE_ERR_FORMAT, "the stream ends within it");
    FLOE_TRY(floe_record_head_read(record, got, head, err));
    FLOE_CHECK(err,
               head->chunk == chunk && head->nbytes == entry.record.nbytes && head->checksum == entry.record.checksum,
               FLOE_ERR_FORMAT, "its head and the index differ");
    *payload = record + FLOE_RECORD_HEAD_NBYTES;
    return FLOE_OK;
}

static floe_status fetch_forward(floe_stream *s, uint64_t chunk, bool salvage, const uint8_t **payload,
                                 floe_record *head, floe_error *err)
{
    floe_window *w = &s->window;
    floe_head_rule rule = {salvage, salvage ? chunk : 0, s->nchunks, s->sizing.payload_nbytes};
    size_t got;
    while (!w->has_head || w->head.chunk < chunk) {
        if (w->has_head) /* of a chunk that nobody asked for */
            FLOE_TRY(floe_window_skip(w, floe_record_nbytes(w->head.nbytes) - FLOE_RECORD_HEAD_NBYTES, err));
        w->has_head = false;
        FLOE_TRY(floe_window_head(w, &rule, err));
    }
    FLOE_CHECK(err, w->head.chunk == chunk, FLOE_ERR_FORMAT, "it is missing: chunk %llu comes in its place",
               (ull)w->head.chunk);
    size_t padded = (size_t)(floe_record_nbytes(w->head.nbytes) - FLOE_RECORD_HEAD_NBYTES);
    FLOE_TRY(floe_window_read(w, s->record, padded, &got, err));
    w->has_head = false;
    FLOE_CHECK(err, got == padded, FLOE_ERR_FORMAT, "the stream ends within it");
    *payload = s->record;
    *head = w->head;
    return FLOE_OK;
}

/* A chunk's payload with its padding, not checked yet; valid until the next call. Read forward: in growing order only, and
 * with salvage heads that are damaged are searched past. */
static floe_status fetch(floe_stream *s, uint64_t chunk, bool salvage, const uint8_t **payload, floe_record *head,
                         floe_error *err)
{
    return s->index ? fetch_indexed(s, chunk, payload, head, err)
                    : fetch_forward(s, chunk, salvage, payload, head, err);
}

/* The part of a chunk that lies within lo..hi of the field, and its place in out, which begins at out_lo. */
typedef struct chunk_part {
    uint64_t at[FLOE_MAX_RANK], extent[FLOE_MAX_RANK]; /* of the chunk */
    uint64_t from[FLOE_MAX_RANK], to[FLOE_MAX_RANK];   /* of the field */
    floe_field out;
} chunk_part;

static chunk_part part_of(const floe_header *h, uint64_t chunk, const uint64_t *lo, const uint64_t *hi,
                          const floe_field *out, const uint64_t *out_lo)
{
    chunk_part p;
    uint64_t box_lo[FLOE_MAX_RANK], box_extent[FLOE_MAX_RANK];
    floe_grid_box(h, chunk, p.at, p.extent);
    memcpy(p.from, lo, h->rank * sizeof *lo);
    memcpy(p.to, hi, h->rank * sizeof *hi);
    floe_box_clip(h->rank, p.from, p.to, p.at, p.extent);
    for (uint32_t i = 0; i < h->rank; i++) {
        box_lo[i] = p.from[i] - out_lo[i];
        box_extent[i] = p.to[i] - p.from[i];
    }
    p.out = floe_field_box(out, box_lo, box_extent);
    return p;
}

floe_status floe_stream_begin_decode(floe_ctx *ctx, floe_stream *s)
{
    if (s->needs_index)
        FLOE_TRY(floe_stream_index_load(s, s->index_space, &ctx->err));
#ifdef FLOE_HAVE_CUDA_BUILD
    if (floe_pipeline_wanted(ctx, &s->header) && !s->by_cpu)
        return floe_pipeline_begin_decode(ctx, &s->header, &s->sizing);
#endif
    return FLOE_OK;
}

/* The part's cells relative to its chunk, by the CPU. */
static floe_status decode_here(const floe_cpu *cpu, floe_stream *s, const chunk_part *p, const uint8_t *payload,
                               uint64_t nbytes, floe_error *err)
{
    const floe_header *h = &s->header;
    uint64_t from[FLOE_MAX_RANK], to[FLOE_MAX_RANK];
    for (uint32_t i = 0; i < h->rank; i++) {
        from[i] = p->from[i] - p->at[i];
        to[i] = p->to[i] - p->at[i];
    }
    floe_arena scratch = floe_arena_of(s->codec_scratch, s->sizing.codec_nbytes);
    const floe_chunk_decode call = {.cpu = cpu,
                                    .codec = h->codec,
                                    .dtype = h->dtype,
                                    .rank = h->rank,
                                    .extent = p->extent,
                                    .src = payload,
                                    .nbytes = nbytes,
                                    .lo = from,
                                    .hi = to,
                                    .out = &p->out,
                                    .scratch = &scratch};
    return floe_codec_of(h->codec)->decode(&call, err);
}

static floe_status decode_fetched(floe_ctx *ctx, floe_stream *s, uint64_t chunk, bool salvage, const uint64_t *lo,
                                  const uint64_t *hi, const floe_field *out, const uint64_t *out_lo, floe_error *err)
{
    const uint8_t *payload = NULL;
    floe_record head = {.chunk = chunk};
    FLOE_TRY(fetch(s, chunk, salvage, &payload, &head, err));
    chunk_part p = part_of(&s->header, chunk, lo, hi, out, out_lo);
#ifdef FLOE_HAVE_CUDA_BUILD
    if (floe_pipeline_wanted(ctx, &s->header) && !s->by_cpu) {
        FLOE_TRY(floe_pipeline_put_payload(ctx, &head, payload, true, p.from, &p.out));
        floe_status status = floe_pipeline_get_values(ctx, &chunk);
        if (!floe_status_is_damage(status) && status != FLOE_ERR_LIMIT) /* then the CPU says why, or does it */
            return status;
    }
#endif
    FLOE_TRY(payload_check(payload, &head, err));
    return decode_here(&ctx->cpu, s, &p, payload, head.nbytes, err);
}

/* A failure's message names chunk and box. */
static floe_status chunk_fails(const floe_header *h, uint64_t chunk, floe_status status, const floe_error *why,
                               floe_error *err)
{
    char box[FLOE_BOX_TEXT];
    uint64_t at[FLOE_MAX_RANK], end[FLOE_MAX_RANK];
    floe_grid_box(h, chunk, at, end);
    for (uint32_t i = 0; i < h->rank; i++)
        end[i] += at[i];
    return floe_fail(err, status, "chunk %llu (%s): %s", (ull)chunk, floe_box_format(h->rank, at, end, box),
                     why->message[0] ? why->message : floe_status_text(status));
}

floe_status floe_stream_decode(floe_ctx *ctx, floe_stream *s, uint64_t chunk, bool salvage, const uint64_t *lo,
                               const uint64_t *hi, const floe_field *out, const uint64_t *out_lo)
{
    floe_error why = {.status = FLOE_OK};
    floe_status status = decode_fetched(ctx, s, chunk, salvage, lo, hi, out, out_lo, &why);
    if (status == FLOE_OK)
        return status;
    if (!why.message[0]) /* the context has it already */
        why = ctx->err;
    return chunk_fails(&s->header, chunk, status, &why, &ctx->err);
}

#ifdef FLOE_HAVE_CUDA_BUILD

floe_status floe_stream_put(floe_ctx *ctx, floe_stream *s, uint64_t chunk, const uint64_t *lo, const uint64_t *hi,
                            const floe_field *out, const uint64_t *out_lo)
{
    floe_error why = {.status = FLOE_OK};
    const uint8_t *payload = NULL;
    floe_record head = {.chunk = chunk};
    floe_status status = fetch(s, chunk, false, &payload, &head, &why);
    if (status != FLOE_OK)
        return chunk_fails(&s->header, chunk, status, &why, &ctx->err);
    chunk_part p = part_of(&s->header, chunk, lo, hi, out, out_lo);
    return floe_pipeline_put_payload(ctx, &head, payload, s->memory != NULL, p.from, &p.out);
}

#endif
