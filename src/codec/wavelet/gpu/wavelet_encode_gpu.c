/* SPDX-License-Identifier: BSD-3-Clause */
/* Values -> chunks: what of a chunk is written, and how. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/wavelet/gpu/wavelet_codec_gpu.h"

#include <cuda_runtime_api.h>
#include <string.h>

#include "backend/cuda.h"
#include "field/dtype_math.h"

typedef floe_wavelet_gpu_part part;
typedef floe_wavelet_gpu_work work;
typedef floe_wavelet_gpu_grids grids;

enum {
    LITERAL_CELLS = 4,
    RAW_HEADER_AT = FLOE_WAVELET_DEV_HEADER / 2,
    ZEROS_AT = RAW_HEADER_AT + 256,
    TRIALS_CELLS = 1 << 22 /* of all trials at once, if they are several: more of them keep a GPU busy alone */
};

/* ---- room -------------------------------------------------------------------------------------------------------------- */

static uint64_t blocks_of(uint64_t nmarks) { return floe_ceil_div(nmarks / 8, FLOE_WAVELET_DEV_BLOCK); }

/* Steps of any structure, and three grids of marks. */
static void add_room(const floe_wavelet_encoder *e, floe_wavelet_gpu_room *room)
{
    const floe_context_grid marks = floe_wavelet_marks_grid(e->chunk.plan.shape, FLOE_WAVELET_SHORTER);
    const uint64_t marks_chunks = floe_context_nchunks(&marks), nchunks = e->needs.nchunks + 3 * marks_chunks,
                   nrecords = e->needs.records / 16 + 3 * floe_context_nrecords(&marks);
    room->nchunks = floe_max64(room->nchunks, nchunks);
    room->slot_words = floe_max64(room->slot_words, 12 * nrecords + (4 * FLOE_ANS_LANES + 4) * nchunks);
    room->nwindows = floe_max64(room->nwindows, e->needs.nwindows + 3 * marks_chunks * marks.piece[0] * marks.piece[1]);
    room->ncells = floe_max64(room->ncells, e->ncells);
    room->nmarks = floe_max64(room->nmarks, e->nmarks);
    room->records = floe_max64(room->records, e->needs.records);
    room->nsteps = floe_max64(room->nsteps, e->needs.nsteps);
}

/* Marks that hold no more than a chunk's do are among its grids. As many trials at once as there are grids for. */
static void add_trial_room(const floe_wavelet_encoder *e, bool large, floe_wavelet_gpu_room *t)
{
    floe_wavelet_encoder trial;
    uint64_t shape[FLOE_LATTICE_RANK];
    floe_wavelet_trial_shape(e, large, shape);
    floe_wavelet_encoder_begin(&trial, e->cpu, e->params, FLOE_LATTICE_RANK, shape, 0);
    add_room(&trial, t);
    t->nmarks = (t->nmarks + 255) & ~(uint64_t)255;
    t->records = (t->records + 255) & ~(uint64_t)255;
    const uint64_t most = floe_min64(TRIALS_CELLS / floe_max64(t->ncells, 1), FLOE_WAVELET_GPU_GRIDS / (t->nsteps + 1));
    t->n = (uint32_t)floe_max64(floe_min64(most, FLOE_WAVELET_DEV_JOBS), 1);
}

/* Of a chunk of this extent: the whole of it, and trials. */
static bool add_chunk_room(const floe_codec_encode *call, const uint64_t *extent, floe_wavelet_gpu_encode *c)
{
    const floe_codec_params params = {.dtype = call->field.dtype, .preset = call->preset};
    const floe_cpu cpu = {.threads = 1, .isa = FLOE_ISA_PLAIN};
    floe_wavelet_encoder e;
    const uint32_t turns = floe_lattice_turns_of(call->field.rank, extent);
    if (!floe_wavelet_encoder_begin(&e, &cpu, &params, call->field.rank, extent, turns))
        return false;
    add_room(&e, &c->room);
    c->room.records = floe_max64(c->room.records, 2 * e.ncells + 64); /* of what fills holes */
    add_trial_room(&e, true, &c->trials[true]);
    if (floe_wavelet_has_small(&e))
        add_trial_room(&e, false, &c->trials[false]);
    return true;
}

/* Full chunks, and those at the ends of axes. */
floe_status floe_wavelet_gpu_encode_plan(floe_codec_encode *call, floe_error *err)
{
    floe_wavelet_gpu_encode *c = (void *)call->own.bytes;
    floe_wavelet_gpu_room *room = &c->room;
    *c = (floe_wavelet_gpu_encode){.records = NULL};
    call->nchunks = floe_codec_nchunks(call->field.rank, call->field.shape, call->chunk);
    if (call->nchunks == 0)
        return FLOE_OK;
    for (uint32_t ends = 0; ends < 1u << call->field.rank; ends++) {
        uint64_t extent[FLOE_MAX_RANK];
        const bool there = floe_codec_end_extent(call->field.rank, call->field.shape, call->chunk, ends, extent);
        FLOE_CHECK(err, !there || add_chunk_room(call, extent, c), FLOE_ERR_LIMIT,
                   "chunks of no cells, or of more than codec wavelet takes");
    }
    for (int large = 0; large < 2; large++)
        room->nchunks = floe_max64(room->nchunks, c->trials[large].n * c->trials[large].nchunks);
    return floe_codec_ranks_plan(&c->ranks, blocks_of(room->nmarks), err);
}

static void take_grids(floe_wavelet_gpu_encode *c, floe_arena *a)
{
    const floe_wavelet_gpu_room *r = &c->room;
    floe_codec_record_job *record = &c->pack.record;
    floe_context_job *context = &record->context;
    floe_wavelet_lists_job *lists = &c->lists;
    const uint64_t coded = r->nsteps + 3;
    uint64_t n = coded;
    for (int large = 0; large < 2; large++)
        n = floe_max64(n, c->trials[large].n * (c->trials[large].nsteps + 1));
    context->grids = floe_arena_take(a, n, sizeof *context->grids);
    context->tables = floe_arena_take(a, coded * FLOE_CONTEXT_RUN, sizeof *context->tables);
    context->bytes = floe_arena_take(a, coded, sizeof *context->bytes);
    const size_t begin = a->used;
    context->tokens_taken = floe_arena_take(a, 1, sizeof *context->tokens_taken);
    context->tickets = floe_arena_take(a, n, sizeof *context->tickets);
    lists->nentries = floe_arena_take(a, n, sizeof *lists->nentries);
    context->counts = floe_arena_take(a, n * FLOE_CONTEXT_COUNTS, sizeof *context->counts);
    context->busy = floe_arena_take(a, r->nchunks, 1);
    context->done = floe_arena_take(a, 1, sizeof *context->done);
    context->slot_ends = floe_arena_take(a, r->nchunks + 1, sizeof *context->slot_ends); /* 0: of the first */
    c->cleared_nbytes = a->used - r->nchunks * sizeof *context->slot_ends - begin;
    c->coded_counts = floe_arena_take(a, coded * FLOE_CONTEXT_COUNTS, sizeof *c->coded_counts);
    context->sizes = floe_arena_take(a, r->nchunks, sizeof *context->sizes);
    context->windows = floe_arena_take(a, r->nwindows, sizeof *context->windows);
    context->slots = (uint16_t *)(void *)c->arrays;
    context->every = 1;
    record->sizes = floe_arena_take(a, r->nchunks + 1, sizeof *record->sizes);
    record->places = floe_arena_take(a, r->nchunks, sizeof *record->places);
    record->checks = floe_arena_take(a, FLOE_WAVELET_DEV_GRIDS, sizeof *record->checks);
    record->chunks_at = floe_arena_take(a, coded + 4, sizeof *record->chunks_at);
    record->pieces = floe_arena_take(a, FLOE_WAVELET_DEV_PIECES, sizeof *record->pieces);
    lists->grids = context->grids;
    lists->entries = floe_arena_take(a, n * FLOE_WAVELET_LIST_CODES, sizeof *lists->entries);
    lists->lists = floe_arena_take(a, n * (FLOE_WAVELET_LIST_BITS / 32), sizeof *lists->lists);
    floe_codec_ranks_take(&c->ranks, a);
}

static void encoder_take(floe_codec_encode *call, floe_arena *a)
{
    floe_wavelet_gpu_encode *c = (void *)call->own.bytes;
    const floe_wavelet_gpu_room *r = &c->room;
    const size_t size = floe_dtype_size(call->field.dtype);
    uint64_t arrays = 0, records = 0, marks = 0;
    for (int large = 0; large < 2; large++) {
        const floe_wavelet_gpu_room *t = &c->trials[large];
        arrays = floe_max64(arrays, (2 * t->n + 1) * floe_wavelet_gpu_buffer_nbytes(t->ncells, size));
        records = floe_max64(records, t->n * t->records);
        marks = floe_max64(marks, t->n * t->nmarks);
    }
    c->arrays = floe_arena_take(
        a, floe_max64(2 * floe_wavelet_gpu_buffer_nbytes(r->ncells, size), r->slot_words * sizeof(uint16_t)), 1);
    c->records = floe_arena_take(a, r->records, 1);
    c->kinds = floe_arena_take(a, r->nmarks, 1);
    c->corrections = floe_arena_take(a, r->nmarks, 1);
    c->differences = floe_arena_take(a, r->nmarks, 1);
    c->box = floe_arena_take(a, c->trials[true].ncells, size);
    c->trial_arrays = floe_arena_take(a, arrays, 1);
    c->trial_records = floe_arena_take(a, records, 1);
    c->holes = floe_arena_take(a, c->trials[true].nmarks, 1);
    c->trial_corrections = floe_arena_take(a, marks, 1);
    c->results = floe_arena_take(a, 1, sizeof *c->results);
    c->turned = floe_codec_turned_take(a, call->field.dtype, call->field.rank, call->field.shape, call->chunk, 0);
    c->payload_nbytes = floe_wavelet_raw_nbytes(r->ncells, size == 4) + 16 * FLOE_WAVELET_DEV_GRIDS;
    c->payload = floe_arena_take(a, c->payload_nbytes + 8, 1);
    c->pack.header = floe_arena_take(a, FLOE_WAVELET_DEV_HEADER, 1);
    c->pack.parts = floe_arena_take(a, FLOE_WAVELET_DEV_GRIDS, sizeof *c->pack.parts);
    take_grids(c, a);
}

floe_status floe_wavelet_gpu_encode_take(floe_codec_encode *call, floe_arena *state, floe_arena *a, floe_error *err)
{
    (void)state, (void)err;
    floe_codec_encoders_take(call, encoder_take, a);
    return FLOE_OK;
}

/* ---- a chunk ----------------------------------------------------------------------------------------------------------- */

typedef struct encoding {
    work w;
    const floe_codec_coding *c;
    floe_cpu cpu;
    part p;
    bool raw;
    grids counted, coded;
    uint32_t counted_as[FLOE_WAVELET_GPU_GRIDS]; /* of coded grids */
    floe_wavelet_dev_part parts[FLOE_WAVELET_DEV_GRIDS];
    uint32_t nparts;
    uint64_t payload_at; /* of what is in c->payload, in words */
    uint64_t nliterals;
    const uint32_t *literals;
} encoding;

static work work_of(const floe_codec_encode *call, void *stream, floe_error *err)
{
    return (work){
        .c = (const void *)call->own.bytes, .cuda = call->cuda, .stream = stream, .status = call->status, .err = err};
}

/* Room in c->payload; NULL where all of it would not be worth it. */
static uint32_t *take_payload(encoding *e, uint64_t nbytes)
{
    uint32_t *to = e->w.c->payload + e->payload_at;
    const uint64_t nwords = 2 * floe_ceil_div(nbytes, 8);
    if (nbytes > e->w.c->payload_nbytes || 4 * (e->payload_at + nwords) > e->w.c->payload_nbytes) {
        e->raw = true;
        return NULL;
    }
    e->payload_at += nwords;
    return to;
}

static floe_status begin_chunk(encoding *e, const floe_codec_coding *coding)
{
    const floe_field chunk = floe_codec_cut(coding->call, coding->index);
    floe_wavelet_encoder *to = &e->p.e;
    e->c = coding;
    e->w = work_of(coding->call, coding->stream, coding->err);
    const floe_wavelet_gpu_encode *c = e->w.c;
    const uint32_t turns = floe_lattice_turns_of(chunk.rank, chunk.shape);
    FLOE_TRY(floe_cpu_init(&e->cpu, 1, FLOE_ISA_AUTO, coding->err));
    floe_wavelet_encoder_begin(to, &e->cpu, &coding->known->params, chunk.rank, chunk.shape, turns);
    to->values = floe_lattice_view_of(&chunk, turns);
    to->records = c->records;
    to->marks[FLOE_WAVELET_VALUE_KINDS] = c->kinds;
    to->marks[FLOE_WAVELET_CORRECTIONS] = c->corrections;
    e->p.w = &e->w;
    e->p.findings = c->results->part;
    FLOE_CUDA(e->w.err, cudaMemsetAsync(c->results, 0, sizeof *c->results, e->w.stream)); /* all of it is fetched */
    floe_wavelet_gpu_arrays_of(&e->p, c->arrays);
    return floe_codec_turn_in(&to->values, c->turned, to->chunk.plan.shape, (uint32_t)to->size, e->w.stream, e->w.err);
}

/* The array, and what differs from it. *good: false where values are better kept as they are. */
static floe_status code_values(encoding *e, bool *good)
{
    part *p = &e->p;
    p->e.chunk.log = p->e.params->mode == FLOE_BOUND_PWREL;
    p->e.bound = floe_codec_domain_bound(p->e.params);
    FLOE_TRY(floe_wavelet_gpu_array_take(p));
    const uint64_t nholes = p->found.nliterals, nsigns = p->found.nmarks;
    FLOE_TRY(floe_wavelet_gpu_tune(p));
    floe_wavelet_plan_make(&p->e, &p->e.structure);
    p->anchors = e->w.c->payload; /* no more than the values take */
    FLOE_TRY(floe_wavelet_gpu_array_forward(p));
    FLOE_TRY(floe_wavelet_gpu_array_code(p, good));
    if (!*good)
        return FLOE_OK;
    take_payload(e, floe_wavelet_anchors_nbytes(&p->e.chunk));
    FLOE_TRY(floe_wavelet_gpu_array_check(p));
    floe_wavelet_chunk_shorten(&p->e.chunk, p->e.params->preset, p->found.nmarks);
    p->e.chunk.marked[FLOE_WAVELET_CORRECTIONS] = p->found.nmarks > 0;
    p->e.chunk.marked[FLOE_WAVELET_VALUE_KINDS] = nholes + nsigns + p->found.nliterals > 0;
    e->nliterals = nholes + p->found.nliterals;
    return FLOE_OK;
}

/* ---- kinds ------------------------------------------------------------------------------------------------------------- */

static floe_wavelet_kinds_job kinds_of(const encoding *e)
{
    const floe_wavelet_encoder *p = &e->p.e;
    floe_wavelet_kinds_job job = {
        .values = {.view = p->values, .size = (uint32_t)p->size}, .nrecords = p->nmarks / 8, .kinds = e->w.c->kinds};
    memcpy(job.shape, p->chunk.plan.shape, sizeof job.shape);
    job.apart = floe_wavelet_marks_apart(job.shape);
    job.to = e->w.c->differences;
    job.npalette = p->chunk.npalette;
    job.has_fill = p->params->has_fill;
    job.flat = p->chunk.kind == FLOE_LATTICE_FLAT;
    job.fill = p->params->fill_bits;
    job.base = p->chunk.base;
    memcpy(job.palette, p->chunk.palette, sizeof job.palette);
    job.out = &e->p.findings->out;
    job.tallies = e->w.c->ranks.tallies;
    job.ranks = e->w.c->ranks.ranks;
    job.status = e->w.status;
    return job;
}

/* Fetches what it finds. */
static floe_status kinds_find(const encoding *e, floe_wavelet_kinds_what what, int first, unsigned long long *out)
{
    const floe_wavelet_kinds_job job = kinds_of(e);
    FLOE_CUDA(e->w.err, cudaMemsetAsync(job.out, first, sizeof *job.out, e->w.stream));
    FLOE_CUDA(e->w.err, floe_wavelet_kinds_cuda(&job, what, e->w.stream));
    return floe_codec_fetch(out, job.out, sizeof *out, e->w.stream, e->w.err);
}

static floe_status fetch_pattern(const encoding *e, uint64_t position, uint64_t *pattern)
{
    const floe_wavelet_encoder *p = &e->p.e;
    const int64_t at = floe_lattice_view_number(&p->values, p->chunk.plan.shape, position) * (int64_t)p->size;
    *pattern = 0; /* little-endian wherever there is a GPU */
    return floe_codec_fetch(pattern, (const uint8_t *)p->values.data + at, p->size, e->w.stream, e->w.err);
}

/* Literals become patterns of the palette, which has those that come first. */
static floe_status sort_kinds(encoding *e)
{
    floe_wavelet_chunk *c = &e->p.e.chunk;
    unsigned long long found;
    while (c->npalette < FLOE_WAVELET_PALETTE) {
        FLOE_TRY(kinds_find(e, FLOE_WAVELET_KINDS_SPECIAL, 0xFF, &found));
        if (found == ~0ull)
            break;
        FLOE_TRY(fetch_pattern(e, found, &c->palette[c->npalette]));
        c->npalette++;
    }
    FLOE_TRY(kinds_find(e, FLOE_WAVELET_KINDS_SORT, 0, &found));
    e->nliterals = found;
    e->raw = e->raw || e->nliterals > e->p.e.ncells / LITERAL_CELLS;
    return FLOE_OK;
}

static floe_status make_flat(encoding *e)
{
    const floe_wavelet_gpu_encode *c = e->w.c;
    e->p.e.chunk.kind = FLOE_LATTICE_FLAT;
    e->p.e.chunk.marked[FLOE_WAVELET_VALUE_KINDS] = true; /* unless there are none */
    FLOE_CUDA(e->w.err, cudaMemsetAsync(c->kinds, 0, e->p.e.nmarks, e->w.stream));
    FLOE_CUDA(e->w.err, cudaMemsetAsync(e->p.findings, 0, sizeof *e->p.findings, e->w.stream));
    FLOE_TRY(fetch_pattern(e, 0, &e->p.e.chunk.base));
    const floe_wavelet_kinds_job job = kinds_of(e);
    FLOE_CUDA(e->w.err, floe_wavelet_kinds_cuda(&job, FLOE_WAVELET_KINDS_FLAT, e->w.stream));
    return sort_kinds(e);
}

static floe_status make_literals(encoding *e)
{
    floe_wavelet_kinds_job job = kinds_of(e);
    e->literals = e->nliterals ? take_payload(e, e->nliterals * e->p.e.size) : NULL;
    if (!e->literals)
        return FLOE_OK;
    job.literals = (void *)e->literals;
    FLOE_CUDA(e->w.err, floe_wavelet_kinds_cuda(&job, FLOE_WAVELET_KINDS_TALLY, e->w.stream));
    FLOE_TRY(floe_codec_ranks_find(&e->w.c->ranks, blocks_of(e->p.e.nmarks), e->w.stream, e->w.err));
    FLOE_CUDA(e->w.err, floe_wavelet_kinds_cuda(&job, FLOE_WAVELET_KINDS_LITERALS, e->w.stream));
    return FLOE_OK;
}

/* ---- records ----------------------------------------------------------------------------------------------------------- */

static void list_part(const encoding *e, uint32_t i, floe_wavelet_dev_part *to)
{
    to->list_head = FLOE_WAVELET_LIST_HEAD_BITS / 8;
    to->list_nbytes = floe_ceil_div(e->counted.bits[i] - FLOE_WAVELET_LIST_HEAD_BITS, 8);
    to->list = e->w.c->lists.lists + (uint64_t)i * (FLOE_WAVELET_LIST_BITS / 32);
    to->head[0] = FLOE_WAVELET_RECORDS_LIST;
    floe_store32(to->head + 1, (uint32_t)e->counted.count[i]);
    to->head[5] =
        (uint8_t)floe_wavelet_list_low(8 * floe_context_nrecords(&e->counted.grid[i].grid), e->counted.count[i]);
}

/* Counted grid i is written: as a list, or its chunks are coded. */
static void add_part(encoding *e, uint32_t i, bool shares)
{
    floe_wavelet_dev_part *to = &e->parts[e->nparts++];
    floe_context_dev_grid *grid = &e->coded.grid[e->coded.n];
    *to = (floe_wavelet_dev_part){.grid = e->coded.n, .ends = {e->counted.grid[i].nchunks}};
    if (e->counted.list[i]) {
        list_part(e, i, to);
        return;
    }
    *grid = e->counted.grid[i];
    grid->shares = shares && e->coded.n > 0;
    grid->counts = e->coded.n;
    e->counted_as[e->coded.n++] = i;
}

/* Of the last part, a step. */
static void set_runs(encoding *e)
{
    const floe_wavelet_plan *plan = &e->p.e.chunk.plan;
    const uint32_t step = plan->nsteps - e->nparts;
    floe_wavelet_dev_part *to = &e->parts[e->nparts - 1];
    for (uint32_t j = 0; j <= step; j++) {
        const floe_wavelet_run run = floe_wavelet_run_of(plan, step, j);
        to->ends[run.kept] = (uint32_t)run.end;
        to->kept = run.kept;
    }
}

/* What is left of c->payload behind anchors and literals takes tokens. */
static void place_tokens(encoding *e)
{
    const uint64_t room = e->w.c->payload_nbytes / sizeof(uint32_t),
                   at = (e->payload_at + floe_ceil_div(e->nliterals * e->p.e.size, 8) * 2 + 15) & ~(uint64_t)15;
    e->counted.tokens = e->coded.tokens = e->w.c->payload + at;
    e->counted.ntokens = e->coded.ntokens = at < room ? floe_min64(room - at, UINT32_MAX / 2) : 0;
}

/* All grids, counted together: steps, corrections, kinds, and their differences. */
static floe_status count_grids(encoding *e, uint32_t at[FLOE_WAVELET_MARK_SETS])
{
    const floe_wavelet_gpu_encode *c = e->w.c;
    floe_wavelet_chunk *chunk = &e->p.e.chunk;
    const uint64_t *shape = chunk->plan.shape;
    floe_wavelet_gpu_results found;
    floe_context_grid marks;
    if (chunk->kind == FLOE_LATTICE_CODED)
        floe_wavelet_gpu_steps_add(&e->counted, &e->p.e);
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS; s++) {
        at[s] = e->counted.n;
        marks = floe_wavelet_marks_grid(shape, chunk->shorter[s]);
        if (chunk->marked[s])
            floe_wavelet_gpu_grid_add(&e->counted, &floe_wavelet_marks_spec, &marks, e->p.e.marks[s]);
    }
    const bool differ = chunk->marked[FLOE_WAVELET_VALUE_KINDS] && floe_lattice_slowest(shape) < FLOE_LATTICE_RANK - 1;
    if (differ) {
        const floe_wavelet_kinds_job job = kinds_of(e);
        FLOE_CUDA(e->w.err, floe_wavelet_kinds_cuda(&job, FLOE_WAVELET_KINDS_DIFFER, e->w.stream));
        floe_wavelet_gpu_grid_add(&e->counted, &floe_wavelet_marks_spec, &marks, c->differences);
    }
    place_tokens(e);
    FLOE_TRY(floe_wavelet_gpu_count(&e->w, &e->counted, 0, &found));
    e->coded.nwindows = e->counted.nwindows;
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS; s++)
        chunk->marked[s] = chunk->marked[s] && e->counted.count[at[s]] > 0;
    const uint32_t kinds = at[FLOE_WAVELET_VALUE_KINDS];
    chunk->differ =
        differ && chunk->marked[FLOE_WAVELET_VALUE_KINDS] && e->counted.bits[kinds + 1] < e->counted.bits[kinds];
    at[FLOE_WAVELET_VALUE_KINDS] += chunk->differ;
    return FLOE_OK;
}

static floe_status make_parts(encoding *e)
{
    const floe_wavelet_chunk *chunk = &e->p.e.chunk;
    uint32_t at[FLOE_WAVELET_MARK_SETS];
    FLOE_TRY(count_grids(e, at));
    for (uint32_t i = 0; chunk->kind == FLOE_LATTICE_CODED && i < chunk->plan.nsteps; i++) {
        add_part(e, i, true);
        set_runs(e);
    }
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS; s++)
        if (chunk->marked[s])
            add_part(e, at[s], false);
    return make_literals(e);
}

/* Counts of the grids that are no lists, in their order: most follow each other as they are. */
static floe_status gather_counts(const encoding *e)
{
    const floe_wavelet_gpu_encode *c = e->w.c;
    const uint32_t *from = e->counted_as, *counts = c->pack.record.context.counts;
    for (uint32_t i = 0, n; i < e->coded.n; i += n) {
        for (n = 1; i + n < e->coded.n && from[i + n] == from[i] + n;)
            n++;
        FLOE_CUDA(e->w.err, cudaMemcpyAsync(c->coded_counts + (uint64_t)i * FLOE_CONTEXT_COUNTS,
                                            counts + (uint64_t)from[i] * FLOE_CONTEXT_COUNTS,
                                            (uint64_t)n * FLOE_CONTEXT_COUNTS * sizeof *counts,
                                            cudaMemcpyDeviceToDevice, e->w.stream));
    }
    return FLOE_OK;
}

/* Chunks of the grids that are no lists, which keep the numbers that they were counted by. */
static floe_status code_grids(encoding *e, floe_context_job *job)
{
    const floe_wavelet_gpu_encode *c = e->w.c;
    *job = floe_wavelet_gpu_context(&e->w, &e->coded);
    job->counts = c->coded_counts;
    if (job->ngrids == 0 || e->raw)
        return FLOE_OK;
    FLOE_TRY(gather_counts(e));
    FLOE_TRY(floe_codec_send(job->grids, e->coded.grid, job->ngrids * sizeof *e->coded.grid, e->w.stream, e->w.err));
    FLOE_CUDA(e->w.err, cudaMemsetAsync(job->tickets, 0, job->ngrids * sizeof *job->tickets, e->w.stream));
    FLOE_CUDA(e->w.err, floe_context_tables_cuda(job, e->w.stream));
    FLOE_CUDA(e->w.err, floe_context_encode_cuda(job, e->w.stream));
    return FLOE_OK;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------- */

/* Header of the chunk, and of one that is stored raw. */
static floe_status send_headers(const encoding *e, uint32_t *nbytes)
{
    uint8_t bytes[FLOE_WAVELET_DEV_HEADER] = {0};
    floe_cursor to = floe_cursor_of(bytes, RAW_HEADER_AT), raw_to = floe_cursor_of(bytes + RAW_HEADER_AT, 256);
    const floe_wavelet_chunk raw = {.kind = FLOE_LATTICE_RAW, .turns = e->p.e.chunk.turns};
    if (!e->raw)
        floe_wavelet_header_write(&e->p.e.chunk, e->p.e.narrow, &to);
    floe_wavelet_header_write(&raw, e->p.e.narrow, &raw_to);
    FLOE_CHECK(e->w.err, !to.bad, FLOE_ERR_INTERNAL, "the header is too long");
    *nbytes = (uint32_t)(to.at - bytes);
    FLOE_TRY(floe_codec_send(e->w.c->pack.parts, e->parts, e->nparts * sizeof *e->parts, e->w.stream, e->w.err));
    return floe_codec_send(e->w.c->pack.header, bytes, sizeof bytes, e->w.stream, e->w.err);
}

static floe_status pack(encoding *e, const floe_context_job *context)
{
    const floe_wavelet_gpu_encode *c = e->w.c;
    const floe_wavelet_encoder *p = &e->p.e;
    floe_wavelet_pack_job job = c->pack;
    floe_codec_record_job *record = &job.record;
    job.nparts = e->nparts;
    FLOE_TRY(send_headers(e, &job.header_nbytes));
    job.coded = p->chunk.kind == FLOE_LATTICE_CODED;
    job.nsteps = job.coded ? p->chunk.plan.nsteps : 0;
    job.anchors = c->payload;
    job.anchors_nbytes = floe_wavelet_anchors_nbytes(&p->chunk);
    job.literals = e->literals;
    job.literals_nbytes = e->nliterals * p->size;
    record->context = *context;
    record->raw = e->raw;
    if (e->raw)
        record->context.ngrids = 0;
    record->most = floe_wavelet_raw_nbytes(p->ncells, p->narrow);
    record->least = floe_wavelet_least(FLOE_LATTICE_RANK, p->chunk.plan.shape);
    record->raw_header = job.header + RAW_HEADER_AT;
    record->raw_header_nbytes = FLOE_WAVELET_HEADER_NBYTES;
    record->zeros = job.header + ZEROS_AT;
    record->size = (uint32_t)p->size;
    record->values = p->values;
    memcpy(record->shape, p->chunk.plan.shape, sizeof record->shape);
    record->nexceptions = e->p.found.nliterals;
    record->max_error = &e->p.findings->found.max_error;
    record->max_pw_error = &e->p.findings->found.max_pw_error;
    record->out = floe_codec_written_place(e->c->call, e->c->index);
    FLOE_CUDA(e->w.err, floe_wavelet_place_cuda(&job, e->w.stream));
    FLOE_CUDA(e->w.err, floe_codec_record_cuda(record, e->w.stream));
    return FLOE_OK;
}

/* Kinds of the first chunk are cleared before all. */
static floe_status encode_chunk(const floe_codec_coding *c)
{
    encoding e = {.p.cleared = c->index == 0};
    floe_context_job context;
    bool good = true;
    FLOE_TRY(begin_chunk(&e, c));
    if (e.p.e.params->mode == FLOE_BOUND_LOSSLESS) {
        FLOE_TRY(make_flat(&e));
    } else {
        FLOE_TRY(code_values(&e, &good));
        e.raw = !good;
        if (good && e.nliterals)
            FLOE_TRY(sort_kinds(&e));
    }
    if (!e.raw)
        FLOE_TRY(make_parts(&e));
    FLOE_TRY(code_grids(&e, &context));
    FLOE_TRY(floe_codec_turn(c));
    return pack(&e, &context);
}

/* ---- a field ----------------------------------------------------------------------------------------------------------- */

floe_status floe_wavelet_gpu_encode_start(const floe_codec_encode *call, void *stream, floe_error *err)
{
    floe_codec_known known;
    const work w = work_of(call, stream, err);
    floe_status s = floe_wavelet_gpu_clear_beside(&w, w.c->kinds, w.c->room.nmarks);
    s = s == FLOE_OK ? floe_codec_take_params(call, &known, stream, err) : s;
    FLOE_TRY(floe_cuda_join(w.cuda, stream, s, err));
    const floe_codec_encoding each = {encoder_take, encode_chunk};
    return floe_codec_encode_all(call, &known, &each, NULL, stream, err);
}

static floe_status add_squares(const floe_codec_coding *c)
{
    encoding e = {.nparts = 0};
    bool good;
    FLOE_TRY(begin_chunk(&e, c));
    e.p.e.squares = true;
    FLOE_TRY(code_values(&e, &good));
    return floe_codec_squares_add(c, good ? e.p.found.squares : 0);
}

floe_status floe_wavelet_gpu_squared_error(const floe_codec_encode *call, const floe_codec_params *params, double *sum,
                                           void *stream, floe_error *err)
{
    const floe_codec_encoding each = {encoder_take, add_squares};
    return floe_codec_squared_error(call, params, &each, sum, stream, err);
}

#endif
