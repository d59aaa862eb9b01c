/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chunk -> bytes. The tiles are coded in segments, in parallel, each segment into a slot of its own; offsets are a sum
 * over the sizes; then everything is copied to its place. Nothing depends on which worker did what.
 */
#include "codec/lorenzo/cpu/lorenzo_chunk.h"

#include "base/bytes.h"
#include "base/try.h"
#include "codec/lorenzo/cpu/lorenzo_segment.h"
#include "codec/lorenzo/format/lorenzo_begin_math.h"
#include "codec/lorenzo/format/lorenzo_layout.h"

enum { DENSE = 4 }; /* integers in a chunk that are one in so many of their range need no table */

typedef struct encoder {
    const floe_cpu *cpu;
    const floe_codec_params *params;
    const floe_segment_ops *ops;
    floe_tile_job job;
    floe_view view;
    floe_quantizer quantizer;
    bool huffman, swap;
    uint64_t ncells, nsegments;
    floe_segment *segments;
    uint32_t *entries, *sizes;
    uint32_t *slots;   /* drafts (huffman) or tiles, segment by segment */
    uint32_t *finals;  /* huffman: the tiles */
    uint64_t *slot_at; /* first word of each segment's final words */
    uint64_t *places;  /* word of each segment in the payload */
    double *sums;
    uint8_t *workers; /* scratch of each */
    size_t worker_nbytes;
    floe_huffman_hist *hist;
    floe_huffman_book *book;
    uint32_t *book_words;
    floe_table_slot *table_slots;
    uint64_t *table;
    uint8_t *dst; /* copy phase */
} encoder;

/* ---- sizes --------------------------------------------------------------------------------------------------------- */

static bool count_cells(uint32_t rank, const uint64_t *extent, uint64_t *ncells)
{
    *ncells = 1;
    for (uint32_t i = 0; i < rank; i++)
        if (!floe_mul64(*ncells, extent[i], ncells))
            return false;
    return *ncells <= UINT64_MAX / 64;
}

uint64_t floe_lorenzo_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent)
{
    uint64_t ncells;
    floe_view view, swapped;
    if (!count_cells(rank, extent, &ncells) || !floe_view_of(rank, extent, false, &view))
        return 0;
    uint64_t ntiles =
        floe_view_of(rank, extent, true, &swapped) ? floe_max64(view.ntiles, swapped.ntiles) : view.ntiles;
    uint64_t size = floe_dtype_size(params->dtype);
    uint64_t table = floe_lorenzo_table_most(params, ncells) * size;
    uint64_t book = params->preset == FLOE_PRESET_FAST ? 0 : 4 * FLOE_HUFFMAN_BOOK_WORDS;
    return FLOE_LORENZO_HEADER_NBYTES + table + book + 4 * ntiles + ncells * size;
}

/* Takes all scratch of an encoder from the arena: also the plan that sizes it. */
static void take_scratch(encoder *e, floe_arena *arena)
{
    uint64_t words = e->ncells * (floe_dtype_size(e->params->dtype) / 4);
    uint64_t drafts = e->huffman ? FLOE_TILE_DRAFT_WORDS(words) + 64 * e->view.ntiles : words;
    e->worker_nbytes = (e->ops->scratch_nbytes + 63) & ~(size_t)63;
    e->workers = floe_arena_take(arena, e->cpu->threads, e->worker_nbytes);
    e->segments = floe_arena_take(arena, e->nsegments, sizeof *e->segments);
    e->slot_at = floe_arena_take(arena, e->nsegments, sizeof *e->slot_at);
    e->places = floe_arena_take(arena, e->nsegments, sizeof *e->places);
    e->sums = floe_arena_take(arena, e->nsegments, sizeof *e->sums);
    e->entries = floe_arena_take(arena, e->view.ntiles, sizeof *e->entries);
    e->sizes = floe_arena_take(arena, e->view.ntiles, sizeof *e->sizes);
    e->slots = floe_arena_take(arena, drafts, sizeof *e->slots);
    if (e->huffman) {
        e->finals = floe_arena_take(arena, words, sizeof *e->finals);
        e->hist = floe_arena_take(arena, 1, sizeof *e->hist);
        e->book = floe_arena_take(arena, 1, sizeof *e->book);
        e->book_words = floe_arena_take(arena, FLOE_HUFFMAN_BOOK_WORDS, sizeof *e->book_words);
    }
    if (floe_lorenzo_may_have_table(e->params)) {
        e->table_slots = floe_arena_take(arena, FLOE_TABLE_SLOTS, sizeof *e->table_slots);
        e->table = floe_arena_take(arena, FLOE_TABLE_MAX, sizeof *e->table);
    }
}

static encoder encoder_of(const floe_cpu *cpu, const floe_codec_params *params, uint64_t ncells, const floe_view *view)
{
    encoder e = {.cpu = cpu, .params = params, .view = *view, .ncells = ncells};
    e.ops = floe_segment_ops_of(params->dtype, cpu->isa);
    e.huffman = params->preset != FLOE_PRESET_FAST;
    e.nsegments = floe_ceil_div(view->ntiles, FLOE_SEGMENT_TILES);
    return e;
}

size_t floe_lorenzo_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank,
                              const uint64_t *extent)
{
    uint64_t ncells;
    size_t most = 0;
    if (!count_cells(rank, extent, &ncells))
        return 0;
    for (int swap = 0; swap < 2; swap++) {
        floe_view view;
        if (!floe_view_of(rank, extent, swap, &view))
            continue;
        floe_arena plan = floe_arena_plan();
        encoder e = encoder_of(cpu, params, ncells, &view);
        take_scratch(&e, &plan);
        if (plan.overflow)
            return 0;
        most = plan.used > most ? plan.used : most;
    }
    const size_t decoding = floe_lorenzo_decode_workspace(cpu, params->dtype, rank, extent);
    return decoding > most || decoding == 0 ? decoding : most;
}

/* ---- four axes: which is the slow one of the tiles? ---------------------------------------------------------------- */

static double value_at(const floe_field *f, int64_t offset)
{
    switch (f->dtype) {
    case FLOE_F32: return (double)((const float *)f->data)[offset];
    case FLOE_I32: return (double)((const int32_t *)f->data)[offset];
    case FLOE_I64: return (double)((const int64_t *)f->data)[offset];
    default: return ((const double *)f->data)[offset];
    }
}

static bool prefers_swap(const floe_field *chunk, const floe_view *view)
{
    floe_sample sample;
    int64_t votes = 0;
    uint64_t state = FLOE_SAMPLE_SEED;
    floe_sample_of(view, chunk->shape, chunk->stride, &sample);
    for (int i = 0; i < FLOE_SAMPLE_CELLS; i++) {
        int64_t at = floe_sample_next(&sample, &state);
        votes += floe_sample_vote(value_at(chunk, at), value_at(chunk, at + sample.along_batch),
                                  value_at(chunk, at + sample.along_slow));
    }
    return votes > 0;
}

static void choose_view(const floe_field *chunk, floe_view *view, bool *swap)
{
    floe_view swapped;
    floe_view_of(chunk->rank, chunk->shape, false, view);
    *swap = floe_view_of(chunk->rank, chunk->shape, true, &swapped) && prefers_swap(chunk, view);
    if (*swap)
        *view = swapped;
}

/* ---- tasks --------------------------------------------------------------------------------------------------------- */

static void *worker_scratch(const encoder *e, uint32_t worker) { return e->workers + worker * e->worker_nbytes; }

static void begin_task(void *arg, uint64_t i, uint32_t worker)
{
    (void)worker;
    const encoder *e = arg;
    e->ops->begin(worker_scratch(e, (uint32_t)i));
}

/* Of so few segments not all threads have one: starting a thread takes longer than a small chunk. */
static uint32_t workers_of(const encoder *e) { return (uint32_t)floe_min64(e->cpu->threads, e->nsegments); }

static void begin_workers(encoder *e) { floe_cpu_parallel(e->cpu, workers_of(e), begin_task, e); }

static void encode_task(void *arg, uint64_t i, uint32_t worker)
{
    const encoder *e = arg;
    e->ops->encode(&e->job, e->huffman, &e->segments[i], worker_scratch(e, worker));
}

static void finish_task(void *arg, uint64_t i, uint32_t worker)
{
    const encoder *e = arg;
    e->ops->finish(&e->job, &e->segments[i], e->finals + e->slot_at[i], worker_scratch(e, worker));
}

static void copy_task(void *arg, uint64_t i, uint32_t worker)
{
    (void)worker;
    const encoder *e = arg;
    floe_words_store(e->dst + 4 * e->places[i], e->segments[i].words, e->segments[i].nwords);
}

static void error_task(void *arg, uint64_t i, uint32_t worker)
{
    const encoder *e = arg;
    e->sums[i] = e->ops->squared_error(&e->job, &e->segments[i], worker_scratch(e, worker));
}

/* ---- phases -------------------------------------------------------------------------------------------------------- */

/* Cuts the tiles in segments and gives each its slots. */
static void lay_segments(encoder *e)
{
    const uint64_t words_a_cell = floe_dtype_size(e->params->dtype) / 4;
    uint64_t draft_at = 0, final_at = 0;
    for (uint64_t i = 0; i < e->nsegments; i++) {
        floe_segment *s = &e->segments[i];
        s->first = i * FLOE_SEGMENT_TILES;
        s->count = (uint32_t)floe_min64(FLOE_SEGMENT_TILES, e->view.ntiles - s->first);
        s->entries = e->entries + s->first;
        s->sizes = e->sizes + s->first;
        s->words = e->slots + (e->huffman ? draft_at : final_at);
        e->slot_at[i] = final_at;
        for (uint32_t t = 0; t < s->count; t++) {
            floe_tile_box box;
            floe_view_tile(&e->view, s->first + t, &box);
            final_at += box.ncells * words_a_cell;
            draft_at += FLOE_TILE_DRAFT_WORDS(box.ncells * words_a_cell);
        }
    }
}

static void set_quantizer(encoder *e, floe_quantizer_kind kind)
{
    const floe_codec_params *p = e->params;
    floe_quantizer_init(&e->quantizer, kind, p->dtype, p->bound, p->max_abs, p->has_fill, p->fill_bits);
}

/* Whether integers are so close that their places in a table are hardly shorter than they are. */
static bool are_dense(const uint64_t *table, uint32_t count) { return (table[count - 1] - table[0]) / DENSE < count; }

static bool table_pays(const encoder *e, uint32_t count, uint32_t nchanged)
{
    uint32_t napart = 0;
    if (count == 0 || (e->quantizer.integer && are_dense(e->table, count)))
        return false;
    for (uint32_t i = 1; i < count; i++)
        napart += floe_lorenzo_are_apart(e->params, e->table[i - 1], e->table[i]);
    return floe_lorenzo_table_pays(e->params, e->ncells, nchanged, count, napart);
}

static uint64_t bits_at(const floe_field *f, int64_t at)
{
    return floe_dtype_is_narrow(f->dtype) ? ((const uint32_t *)f->data)[at] : ((const uint64_t *)f->data)[at];
}

static bool values_repeat(const encoder *e, uint32_t *nchanged)
{
    uint32_t ids[FLOE_TABLE_SAMPLE_SLOTS] = {0}, nvalues = 0, ndifferent = 0;
    const floe_field *f = e->job.field;
    for (uint32_t k = 0; k < floe_lorenzo_sample_size(e->ncells); k++) {
        int64_t next;
        const int64_t at = floe_lorenzo_sample_at(&e->view, e->job.stride, e->ncells, k, &next);
        const uint64_t bits = bits_at(f, at);
        const uint32_t id = floe_lorenzo_sample_id(f->dtype, bits, e->quantizer.fill);
        uint32_t slot = id % FLOE_TABLE_SAMPLE_SLOTS;
        while (id && ids[slot] && ids[slot] != id)
            slot = (slot + 1) % FLOE_TABLE_SAMPLE_SLOTS;
        *nchanged += bits != bits_at(f, at + next);
        nvalues += id != 0;
        ndifferent += id && !ids[slot];
        ids[slot] = id ? id : ids[slot];
    }
    return floe_lorenzo_sample_repeats(nvalues, ndifferent);
}

/* A table where the chunk has few values, each of them often; else nothing changes. */
static void choose_table(encoder *e)
{
    const floe_quantizer other = e->quantizer;
    const uint32_t most = floe_lorenzo_table_most(e->params, e->ncells), mask = floe_table_mask(most);
    uint32_t count = 0, nchanged = 0;
    bool few = most > 0 && (e->params->mode == FLOE_BOUND_LOSSLESS || values_repeat(e, &nchanged));
    if (!few)
        return;
    set_quantizer(e, FLOE_QUANTIZER_BITS);
    memset(e->table_slots, 0, (mask + 1) * sizeof *e->table_slots);
    for (uint64_t i = 0; i < e->nsegments && few; i++)
        few = e->ops->collect(&e->job, &e->segments[i], e->table_slots, &count, most, worker_scratch(e, 0));
    if (few)
        floe_table_finish(e->table_slots, mask, e->table, count);
    if (!few || !table_pays(e, count, nchanged)) {
        e->quantizer = other;
        return;
    }
    e->quantizer.kind = FLOE_QUANTIZER_TABLE;
    e->quantizer.table = e->table;
    e->quantizer.table_size = count;
    e->quantizer.slots = e->table_slots;
    e->quantizer.slots_mask = mask;
}

static void encode_segments(encoder *e, floe_segment_totals *totals)
{
    begin_workers(e);
    floe_cpu_parallel(e->cpu, e->nsegments, encode_task, e);
    *totals = (floe_segment_totals){.nexceptions = 0};
    if (e->huffman)
        floe_huffman_hist_clear(e->hist);
    for (uint32_t w = 0; w < workers_of(e); w++)
        e->ops->totals(worker_scratch(e, w), totals, e->huffman ? e->hist : NULL);
}

/* Offsets of the segments in the payload, and its size. */
static uint64_t place_segments(encoder *e)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < e->nsegments; i++) {
        e->places[i] = n;
        n += e->segments[i].nwords;
    }
    return n;
}

static void write_table(const encoder *e, uint8_t *at)
{
    const uint32_t size = (uint32_t)floe_dtype_size(e->params->dtype);
    for (uint32_t i = 0; i < e->quantizer.table_size; i++, at += size) {
        if (size == 4)
            floe_store32(at, (uint32_t)e->table[i]);
        else
            floe_store64(at, e->table[i]);
    }
}

static floe_status write_chunk(encoder *e, uint8_t *dst, uint64_t capacity, uint64_t *nbytes, floe_error *err)
{
    floe_lorenzo_chunk c = {.encoder = e->huffman ? FLOE_LORENZO_HUFFMAN : FLOE_LORENZO_PACK,
                            .swap = e->swap,
                            .kind = e->quantizer.kind,
                            .step = e->quantizer.step,
                            .table_size = e->quantizer.table_size,
                            .ntiles = e->view.ntiles,
                            .payload_nwords = place_segments(e)};
    memcpy(c.palette, e->quantizer.palette, sizeof c.palette);
    if (e->huffman)
        c.book_nwords = (uint32_t)floe_huffman_book_write(e->book, e->book_words, FLOE_HUFFMAN_BOOK_WORDS);
    FLOE_CHECK(err, floe_lorenzo_chunk_offsets(&c, e->params->dtype) && c.end <= capacity, FLOE_ERR_CAPACITY,
               "the chunk needs %llu bytes, there are %llu", (unsigned long long)c.end, (unsigned long long)capacity);
    floe_lorenzo_chunk_write(&c, dst);
    write_table(e, dst + c.table_at);
    if (e->huffman)
        floe_words_store(dst + c.book_at, e->book_words, c.book_nwords);
    floe_words_store(dst + c.entries_at, e->entries, c.ntiles);
    e->dst = dst + c.payload_at;
    floe_cpu_parallel(e->cpu, e->nsegments, copy_task, e);
    *nbytes = c.end;
    return FLOE_OK;
}

static floe_status begin_chunk(encoder *e, const floe_chunk_encode *c, floe_error *err)
{
    const floe_field *chunk = c->chunk;
    floe_arena *arena = c->scratch;
    floe_view view;
    uint64_t ncells;
    bool swap;
    FLOE_CHECK(err, count_cells(chunk->rank, chunk->shape, &ncells) && ncells > 0, FLOE_ERR_ARGUMENT,
               "a chunk of no cells");
    choose_view(chunk, &view, &swap);
    *e = encoder_of(c->cpu, c->params, ncells, &view);
    e->swap = swap;
    take_scratch(e, arena);
    FLOE_CHECK(err, !arena->overflow && arena->base, FLOE_ERR_MEMORY,
               "the workspace is too small for a chunk of %llu values", (unsigned long long)ncells);
    e->job = (floe_tile_job){.view = &e->view, .quantizer = &e->quantizer, .field = chunk};
    memcpy(e->job.region_hi, view.extent, sizeof view.extent);
    floe_lorenzo_strides(&view, chunk->stride, e->job.stride);
    lay_segments(e);
    begin_workers(e);
    return FLOE_OK;
}

floe_status floe_lorenzo_compress(const floe_chunk_encode *c, floe_error *err)
{
    const floe_codec_params *params = c->params;
    encoder e;
    floe_segment_totals totals;
    FLOE_TRY(begin_chunk(&e, c, err));
    set_quantizer(&e, floe_lorenzo_kind_of(params->mode));
    if (floe_lorenzo_may_have_table(params))
        choose_table(&e);
    encode_segments(&e, &totals);
    if (floe_lorenzo_may_retry(e.quantizer.kind) && floe_lorenzo_too_many_literals(totals.nliterals, e.ncells)) {
        set_quantizer(&e, FLOE_QUANTIZER_BITS);
        lay_segments(&e);
        encode_segments(&e, &totals);
    }
    if (e.huffman) {
        floe_huffman_book_build(e.hist, e.book);
        e.job.book = e.book;
        floe_cpu_parallel(c->cpu, e.nsegments, finish_task, &e);
    }
    *c->stats = (floe_chunk_stats){totals.nexceptions, totals.stats.max_error, totals.stats.max_pw_error};
    return write_chunk(&e, c->dst, c->capacity, c->nbytes, err);
}

floe_status floe_lorenzo_squared_error(const floe_chunk_encode *c, double *sum, floe_error *err)
{
    const floe_codec_params *params = c->params;
    encoder e;
    *sum = 0;
    if (params->mode == FLOE_BOUND_LOSSLESS)
        return FLOE_OK;
    FLOE_TRY(begin_chunk(&e, c, err));
    set_quantizer(&e, floe_lorenzo_kind_of(params->mode));
    floe_cpu_parallel(c->cpu, e.nsegments, error_task, &e);
    for (uint64_t i = 0; i < e.nsegments; i++)
        *sum += e.sums[i];
    return FLOE_OK;
}
