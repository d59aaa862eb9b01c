/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/stream.h"

#include <string.h>

#include "base/bytes.h"
#include "base/try.h"
#include "call/chunking.h"
#include "call/info.h"
#include "call/callbacks.h"
#include "call/text.h"
#include "device/pipeline.h"
#include "field/field.h"

typedef unsigned long long ull;

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

static floe_chunk_decode chunk_call(const floe_stream *s, const uint64_t *extent, const uint8_t *payload,
                                    uint64_t nbytes)
{
    return (floe_chunk_decode){.codec = s->header.codec,
                               .dtype = s->header.dtype,
                               .rank = s->header.rank,
                               .extent = extent,
                               .src = payload,
                               .nbytes = nbytes,
                               .level = s->level,
                               .fill_bits = s->header.fill_bits,
                               .limits = floe_limits_of(&s->header)};
}

/* A chunk of the stream: head and payload; of a level, or cut short, only its first bytes. */
typedef struct fetched {
    floe_record head;
    const uint8_t *payload;
    uint64_t have, need;                               /* bytes of the payload: there, and to be decoded */
    uint64_t offset;                                   /* of the payload, read forward */
    uint64_t at[FLOE_MAX_RANK], extent[FLOE_MAX_RANK]; /* of the chunk, of all values */
} fetched;

static floe_status payload_check(const fetched *f, floe_error *err)
{
    return floe_payload_check(&f->head, f->payload, floe_record_nbytes(f->head.nbytes) - FLOE_RECORD_HEAD_NBYTES, err);
}

/* Bytes that the level needs, by those that there are. */
static floe_status find_need(const floe_stream *s, fetched *f, floe_error *err)
{
    const floe_chunk_decode call = chunk_call(s, f->extent, f->payload, f->head.nbytes);
    f->need = f->head.nbytes;
    return s->level ? floe_codec_of(s->header.codec)->level_nbytes(&call, f->have, &f->need, err) : FLOE_OK;
}

/* Of a chunk whose level does not show yet how much it takes: read at first, or as much as the level took of the chunk before, if that is
 * less; read at least, or a 16th of what is there, if that is more, so that a chunk is not looked at too often. */
enum { FIRST_NBYTES = 4096, LEAST_NBYTES = 512 };

/* Bytes of the record at `offset`, of which *have are there. */
static floe_status fetch_up_to(floe_ctx *ctx, floe_stream *s, uint64_t offset, uint64_t to, uint64_t *have,
                               floe_error *err)
{
    size_t got = 0;
    void *record = s->record;
    if (!s->memory && to > s->record_nbytes) {
        FLOE_TRY(floe_ctx_record(ctx, to, *have, &record));
        s->record = record;
        s->record_nbytes = to;
    }
    if (*have < to)
        FLOE_TRY(floe_source_read(s->source, offset + *have, s->record + *have, (size_t)(to - *have), &got, err));
    *have += got;
    FLOE_CHECK(err, *have >= to, FLOE_ERR_FORMAT, "the stream ends within it");
    return FLOE_OK;
}

/* By the index; the index has been checked to stay within the stream. Of a source all is read, or as far as the level needs. */
static floe_status fetch_indexed(floe_ctx *ctx, floe_stream *s, uint64_t chunk, fetched *f, floe_error *err)
{
    floe_index_entry entry;
    floe_index_entry_read(s->index, chunk, &entry);
    FLOE_CHECK(err, entry.record.nbytes <= s->sizing.payload_nbytes, FLOE_ERR_FORMAT,
               "its %llu bytes are more than it can have", (ull)entry.record.nbytes);
    const uint64_t all = floe_record_nbytes(entry.record.nbytes);
    uint64_t have = s->memory ? all : 0, to = s->level ? floe_min64(all, s->likely_nbytes) : all;
    do {
        FLOE_TRY(fetch_up_to(ctx, s, entry.offset, to, &have, err));
        const uint8_t *record = s->memory ? s->memory + entry.offset : s->record;
        FLOE_TRY(floe_record_head_read(record, (size_t)have, &f->head, err));
        FLOE_CHECK(err,
                   f->head.chunk == chunk && f->head.nbytes == entry.record.nbytes &&
                       f->head.checksum == entry.record.checksum,
                   FLOE_ERR_FORMAT, "its head and the index differ");
        f->payload = record + FLOE_RECORD_HEAD_NBYTES;
        f->have = floe_min64(have - FLOE_RECORD_HEAD_NBYTES, f->head.nbytes);
        FLOE_TRY(find_need(s, f, err));
        to = f->need < f->head.nbytes ? FLOE_RECORD_HEAD_NBYTES + f->need : all;
        s->likely_nbytes = floe_min64(FIRST_NBYTES, floe_max64(LEAST_NBYTES, to));
        if (have < to)
            to = floe_min64(all, floe_max64(to, have + floe_max64(LEAST_NBYTES, have / 16)));
    } while (have < to);
    return FLOE_OK;
}

/* The next one of a stream in memory that has no index, as far as it goes. */
static floe_status fetch_next(floe_stream *s, fetched *f, floe_error *err)
{
    const uint64_t chunk = f->head.chunk, at = floe_min64(s->reader.offset, s->nbytes), left = s->nbytes - at;
    FLOE_TRY(floe_record_head_read(s->memory + at, (size_t)left, &f->head, err));
    FLOE_CHECK(err, f->head.chunk == chunk && f->head.nbytes <= s->payload_most, FLOE_ERR_FORMAT,
               "another chunk is in its place");
    f->payload = s->memory + at + FLOE_RECORD_HEAD_NBYTES;
    f->have = floe_min64(left - FLOE_RECORD_HEAD_NBYTES, f->head.nbytes);
    s->reader.offset = at + floe_record_nbytes(f->head.nbytes);
    FLOE_TRY(find_need(s, f, err));
    FLOE_CHECK(err, f->need <= f->have, FLOE_ERR_FORMAT, "the stream ends within it");
    return FLOE_OK;
}

static floe_status fetch_forward(floe_stream *s, uint64_t chunk, bool salvage, fetched *f, floe_error *err)
{
    floe_forward_reader *w = &s->reader;
    const bool parts = salvage && floe_codec_of(s->header.codec)->finds_damage;
    const bool cut = parts || (salvage && s->level); /* of a chunk its first bytes may suffice */
    floe_head_rule rule = {salvage, salvage ? chunk : 0, s->nchunks, cut ? s->payload_most : s->sizing.payload_nbytes};
    size_t got;
    while (!w->has_head || w->head.chunk < chunk) {
        if (w->has_head) /* of a chunk that nobody requested */
            FLOE_TRY(floe_forward_skip(w, floe_record_nbytes(w->head.nbytes) - FLOE_RECORD_HEAD_NBYTES, err));
        w->has_head = false;
        FLOE_TRY(floe_forward_head(w, &rule, err));
    }
    FLOE_CHECK(err, w->head.chunk == chunk, FLOE_ERR_FORMAT, "it is missing: chunk %llu comes in its place",
               (ull)w->head.chunk);
    const uint64_t padded = floe_record_nbytes(w->head.nbytes) - FLOE_RECORD_HEAD_NBYTES;
    const uint64_t room =
        floe_record_nbytes(s->sizing.payload_nbytes) - FLOE_RECORD_HEAD_NBYTES; /* for all of a source that is cut */
    FLOE_TRY(floe_forward_read(w, s->record, (size_t)floe_min64(padded, room), &got, err));
    w->has_head = false;
    f->head = w->head;
    f->payload = s->record;
    f->offset = w->offset - got;
    f->have = floe_min64(got, f->head.nbytes);
    if (got < padded || (salvage && s->level)) /* bytes may have gone missing within it, and other chunks follow */
        floe_forward_back(w, f->offset);
    FLOE_TRY(find_need(s, f, err));
    if (parts)
        f->need = floe_min64(f->need, f->have);
    if (salvage && f->have == f->head.nbytes) /* padding at most is missing, of zeros */
        memset(s->record + got, 0, (size_t)(padded - got));
    FLOE_CHECK(err, got == padded || (salvage && f->need <= f->have), FLOE_ERR_FORMAT, "the stream ends within it");
    return FLOE_OK;
}

/* A chunk's payload with its padding, not checked yet; valid until the next call. Read forward: in growing order only, and
 * with salvage heads that are damaged are searched past. */
static floe_status fetch(floe_ctx *ctx, floe_stream *s, uint64_t chunk, bool salvage, fetched *f, floe_error *err)
{
    floe_header all = s->header;
    memcpy(all.shape, s->shape, sizeof s->shape);
    memcpy(all.chunk, s->chunk, sizeof s->chunk);
    *f = (fetched){.head = {.chunk = chunk}};
    floe_grid_box(&all, chunk, f->at, f->extent);
    if (s->memory && !s->index)
        return fetch_next(s, f, err);
    return s->index ? fetch_indexed(ctx, s, chunk, f, err) : fetch_forward(s, chunk, salvage, f, err);
}

floe_status floe_stream_record_nbytes(floe_stream *s, uint64_t chunk, uint64_t *nbytes, floe_error *err)
{
    fetched f;
    FLOE_TRY(fetch(NULL, s, chunk, false, &f, err));
    *nbytes = f.need < f.head.nbytes ? FLOE_RECORD_HEAD_NBYTES + f.need : floe_record_nbytes(f.need);
    return FLOE_OK;
}

floe_status floe_stream_chunk(floe_stream *s, uint64_t chunk, uint64_t *extent, floe_chunk_decode *call,
                              floe_error *err)
{
    fetched f;
    FLOE_TRY(fetch(NULL, s, chunk, false, &f, err));
    memcpy(extent, f.extent, s->header.rank * sizeof *extent);
    *call = chunk_call(s, extent, f.payload, f.head.nbytes);
    return FLOE_OK;
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
    floe_chunk_clip(h, chunk, lo, hi, p.from, p.to);
    for (uint32_t i = 0; i < h->rank; i++) {
        box_lo[i] = p.from[i] - out_lo[i];
        box_extent[i] = p.to[i] - p.from[i];
    }
    p.out = floe_field_box(out, box_lo, box_extent);
    return p;
}

/* ---- decoding ------------------------------------------------------------------------------------------------------ */

/* One that is decoded beside others. */
typedef struct floe_batch_chunk {
    fetched f;
    chunk_part p;
    floe_error err;
} batch_chunk;

/* Where only the first bytes of a chunk are read, its space grows. */
static size_t record_space(const floe_stream *s)
{
    const size_t all = (size_t)floe_record_nbytes(s->sizing.payload_nbytes);
    return s->first_bytes && all > FIRST_NBYTES ? FIRST_NBYTES : all;
}

void floe_stream_spread(floe_ctx *ctx, floe_stream *s, uint64_t nchunks, floe_width width)
{
    const bool by_gpu = floe_pipeline_wanted(ctx, &s->header) && !s->by_cpu;
    const bool indexed = s->memory ? s->index != NULL : s->needs_index;
    if (width == FLOE_MANY_CHUNKS && (!indexed || s->salvages || by_gpu))
        width = FLOE_ONE_CHUNK;
    s->lanes = floe_lanes_of(&ctx->cpu, &s->sizing, nchunks, width);
    const bool limited = ctx->caller_owns || ctx->max_memory;
    s->exact = s->part && floe_codec_of(s->header.codec)->decode_scratch && !by_gpu && !(s->lanes.n > 1 && limited);
    s->first_bytes = s->level && s->lanes.n == 1 && indexed && !s->salvages && !ctx->caller_owns;
    if (s->exact)
        s->lanes.nbytes = 0;
}

void floe_stream_take(floe_stream *s, floe_arena *arena)
{
    floe_lanes_take(&s->lanes, arena);
    s->batch = s->lanes.n > 1 ? floe_arena_take(arena, s->lanes.batch, sizeof *s->batch) : NULL;
    if (s->memory)
        return;
    if (s->needs_index)
        s->index_space = floe_arena_take(arena, floe_stream_index_nbytes(s), 1);
    s->records = floe_arena_take(arena, s->lanes.batch, record_space(s));
    s->record = s->records;
    s->record_nbytes = record_space(s);
    s->likely_nbytes = FIRST_NBYTES;
    s->reader.bytes = floe_arena_take(arena, FLOE_FORWARD_NBYTES, 1);
}

floe_status floe_stream_begin_decode(floe_ctx *ctx, floe_stream *s)
{
    const floe_status status = s->needs_index ? floe_stream_index_load(s, s->index_space, &ctx->err) : FLOE_OK;
    FLOE_TRY(s->salvages && floe_status_is_damage(status) ? FLOE_OK : status);
#ifdef FLOE_HAVE_CUDA_BUILD
    if (floe_pipeline_wanted(ctx, &s->header) && !s->by_cpu)
        return floe_pipeline_begin_decode(ctx, &s->header, &s->sizing);
#endif
    return FLOE_OK;
}

/* Boxes that a chunk has lost, as those of the field. */
typedef struct losing {
    const floe_salvage *salvage;
    const floe_stream *s;
    const chunk_part *p;
    uint64_t chunk;
} losing;

static void part_lost(void *user, const uint64_t *lo, const uint64_t *hi)
{
    const losing *l = user;
    uint64_t from[FLOE_MAX_RANK], to[FLOE_MAX_RANK];
    for (uint32_t i = 0; i < l->s->header.rank; i++) {
        from[i] = l->p->at[i] + lo[i];
        to[i] = l->p->at[i] + hi[i];
    }
    l->salvage->lost(l->salvage->user, l->chunk, from, to);
}

/* Scratch for the part of a chunk. */
static size_t exact_nbytes(const floe_stream *s, const floe_cpu *cpu, const fetched *f)
{
    floe_chunk_decode call = chunk_call(s, f->extent, f->payload, f->need);
    call.cpu = cpu;
    return floe_codec_of(s->header.codec)->decode_scratch(&call);
}

/* For a chunk by itself: for one thread where there is not enough for all. */
static floe_status scratch_of(floe_ctx *ctx, const floe_stream *s, const fetched *f, floe_cpu *cpu, floe_arena *scratch)
{
    *cpu = s->lanes.cpu;
    *scratch = floe_arena_of(s->lanes.scratch, s->lanes.nbytes);
    if (!s->exact)
        return FLOE_OK;
    if (!ctx->caller_owns && !floe_ctx_scratch_fits(ctx, exact_nbytes(s, cpu, f)))
        cpu->threads = 1;
    return floe_ctx_scratch(ctx, exact_nbytes(s, cpu, f), scratch);
}

/* The part's cells relative to its chunk, by the CPU. lost: what to do with damage, or NULL. */
static floe_status decode_here(const floe_cpu *cpu, floe_arena *scratch, const floe_stream *s, const chunk_part *p,
                               const fetched *f, losing *lost, floe_error *err)
{
    uint64_t from[FLOE_MAX_RANK], to[FLOE_MAX_RANK];
    floe_chunk_decode call = chunk_call(s, f->extent, f->payload, f->need);
    for (uint32_t i = 0; i < s->header.rank; i++) {
        from[i] = p->from[i] - p->at[i];
        to[i] = p->to[i] - p->at[i];
    }
    call.cpu = cpu;
    call.lo = from;
    call.hi = to;
    call.out = &p->out;
    call.scratch = scratch;
    call.lost = lost ? part_lost : NULL;
    call.user = lost;
    return floe_codec_of(s->header.codec)->decode(&call, err);
}

static floe_status decode_fetched(floe_ctx *ctx, floe_stream *s, uint64_t chunk, const floe_salvage *salvage,
                                  const uint64_t *lo, const uint64_t *hi, const floe_field *out, const uint64_t *out_lo,
                                  floe_error *err)
{
    fetched f;
    FLOE_TRY(fetch(ctx, s, chunk, salvage, &f, err));
    chunk_part p = part_of(&s->header, chunk, lo, hi, out, out_lo);
#ifdef FLOE_HAVE_CUDA_BUILD
    if (floe_pipeline_wanted(ctx, &s->header) && !s->by_cpu && f.need == f.head.nbytes) {
        FLOE_TRY(floe_pipeline_put_payload(ctx, &f.head, f.payload, true, p.from, &p.out));
        floe_status status = floe_pipeline_get_values(ctx, &chunk);
        if (!floe_status_is_damage(status) && status != FLOE_ERR_LIMIT) /* then the CPU reports why, or does it */
            return status;
    }
#endif
    /* The first bytes of a chunk have no checksum: they are checked by its codec, as far as that goes. */
    const floe_status status = f.need == f.head.nbytes ? payload_check(&f, err) : FLOE_OK;
    if (salvage && !s->index && status != FLOE_OK) /* the same */
        floe_forward_back(&s->reader, f.offset);
    const bool looks = salvage && floe_codec_of(s->header.codec)->finds_damage;
    losing lost = {salvage, s, &p, chunk};
    const bool partly = looks && (status == FLOE_ERR_CHECKSUM || f.need < f.head.nbytes);
    floe_cpu cpu;
    floe_arena scratch;
    FLOE_TRY(partly ? FLOE_OK : status);
    FLOE_TRY(scratch_of(ctx, s, &f, &cpu, &scratch));
    return decode_here(&cpu, &scratch, s, &p, &f, partly ? &lost : NULL, err);
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

floe_status floe_stream_decode(floe_ctx *ctx, floe_stream *s, uint64_t chunk, const floe_salvage *salvage,
                               const uint64_t *lo, const uint64_t *hi, const floe_field *out, const uint64_t *out_lo)
{
    floe_error why = {.status = FLOE_OK};
    floe_status status = decode_fetched(ctx, s, chunk, salvage, lo, hi, out, out_lo, &why);
    if (status == FLOE_OK)
        return status;
    if (!why.message[0]) /* the context has it already */
        why = ctx->err;
    return chunk_fails(&s->header, chunk, status, &why, &ctx->err);
}

static void batch_decode(void *arg, uint64_t i, const floe_cpu *cpu, floe_arena *scratch)
{
    const floe_stream *s = arg;
    batch_chunk *k = &s->batch[i];
    if (k->err.status == FLOE_OK && k->f.need == k->f.head.nbytes)
        k->err.status = payload_check(&k->f, &k->err);
    if (k->err.status == FLOE_OK)
        k->err.status = decode_here(cpu, scratch, s, &k->p, &k->f, NULL, &k->err);
}

/* Of each lane the most that a chunk of the batch needs. */
static floe_status lanes_scratch(floe_ctx *ctx, floe_stream *s, uint64_t n)
{
    floe_arena arena;
    floe_cpu one = s->lanes.cpu;
    one.threads = 1;
    s->lanes.nbytes = 0;
    for (uint64_t i = 0; i < n; i++)
        if (s->batch[i].err.status == FLOE_OK) {
            const size_t nbytes = exact_nbytes(s, &one, &s->batch[i].f);
            s->lanes.nbytes = nbytes > s->lanes.nbytes ? nbytes : s->lanes.nbytes;
        }
    FLOE_TRY(floe_ctx_scratch(ctx, s->lanes.n * s->lanes.nbytes, &arena));
    floe_lanes_take(&s->lanes, &arena);
    return FLOE_OK;
}

floe_status floe_stream_batch_flush(floe_ctx *ctx, floe_stream *s, floe_chunk_done_fn done, void *user)
{
    const uint64_t n = s->nbatch;
    s->nbatch = 0;
    if (s->exact)
        FLOE_TRY(lanes_scratch(ctx, s, n));
    floe_lanes_run(&s->lanes, n, batch_decode, s);
    for (uint64_t i = 0; i < n; i++) {
        const batch_chunk *k = &s->batch[i];
        if (k->err.status != FLOE_OK)
            return chunk_fails(&s->header, k->f.head.chunk, k->err.status, &k->err, &ctx->err);
        FLOE_TRY(done(ctx, user, k->f.head.chunk));
    }
    return FLOE_OK;
}

floe_status floe_stream_batch_add(floe_ctx *ctx, floe_stream *s, uint64_t chunk, const uint64_t *lo, const uint64_t *hi,
                                  const floe_field *out, const uint64_t *out_lo, floe_chunk_done_fn done, void *user)
{
    batch_chunk *k = &s->batch[s->nbatch];
    if (!s->memory)
        s->record = s->records + s->nbatch * record_space(s);
    s->nbatch++;
    k->err = (floe_error){.status = FLOE_OK};
    k->err.status = fetch(ctx, s, chunk, false, &k->f, &k->err);
    k->p = part_of(&s->header, chunk, lo, hi, out, out_lo);
    if (k->err.status == FLOE_OK && s->nbatch < s->lanes.batch)
        return FLOE_OK;
    k->f.head.chunk = chunk; /* of a head that is damaged, too */
    return floe_stream_batch_flush(ctx, s, done, user);
}

#ifdef FLOE_HAVE_CUDA_BUILD

floe_status floe_stream_put(floe_ctx *ctx, floe_stream *s, uint64_t chunk, const uint64_t *lo, const uint64_t *hi,
                            const floe_field *out, const uint64_t *out_lo)
{
    floe_error why = {.status = FLOE_OK};
    fetched f;
    floe_status status = fetch(ctx, s, chunk, false, &f, &why);
    if (status != FLOE_OK)
        return chunk_fails(&s->header, chunk, status, &why, &ctx->err);
    chunk_part p = part_of(&s->header, chunk, lo, hi, out, out_lo);
    return floe_pipeline_put_payload(ctx, &f.head, f.payload, s->memory != NULL, p.from, &p.out);
}

#endif
