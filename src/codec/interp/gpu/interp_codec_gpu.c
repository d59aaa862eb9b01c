/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/interp/gpu/interp_codec_gpu.h"
#include "codec/interp/gpu/interp_tune_gpu.h"

#include <cuda_runtime_api.h>

#include "backend/cuda.h"
#include "codec/interp/interp_sets.h"
#include "field/dtype_math.h"

FLOE_CODEC_OWN_FITS(floe_interp_gpu_encode);
FLOE_CODEC_OWN_FITS(floe_interp_gpu_decode);

/* ---- what both directions have in common ------------------------------------------------------------------------------- */

enum {
    WINDOW_RECORDS = 16, /* most windows have more */
    TOKENS = 3,          /* words of a record: half a word and one for each value, of which there are seven at most */
    KEPT_BESIDES = 65536
};
enum { LEAST_CHUNK = 16, CHUNKS_BESIDES = 64 /* a chunk has so many records, but for so many of a step's */ };

/* What a chunk of this shape needs, if it is more. */
static void room_widen(floe_interp_gpu_room *room, const uint64_t *shape)
{
    const floe_context_grid mask = floe_interp_mask_grid(shape);
    floe_interp_needs *most = &room->needs, needs;
    floe_interp_needs_of(shape, &needs);
    most->coarse = floe_max64(most->coarse, needs.coarse);
    for (int i = 0; i < 2; i++)
        most->lattice[i] = floe_max64(most->lattice[i], needs.lattice[i]);
    most->records = floe_max64(most->records, needs.records);
    most->step_records = floe_max64(most->step_records, needs.step_records);
    most->nsteps = floe_max64(most->nsteps, needs.nsteps);
    room->ncells = floe_lattice_points(shape);
    room->nwords = floe_max64(room->nwords, floe_interp_bits_room(shape));
    room->mask_records = floe_max64(room->mask_records, floe_context_nrecords(&mask));
    room->mask_chunks = floe_max64(room->mask_chunks, floe_context_nchunks(&mask));
}

/* Of one of nchunks chunks, of which none exceeds the extent. */
static floe_status room_of(floe_dtype dtype, uint32_t rank, const uint64_t *extent, uint64_t nchunks,
                           floe_interp_gpu_room *room, floe_interp_gpu_scratch *s, floe_error *err)
{
    uint64_t shape[FLOE_LATTICE_RANK];
    const floe_interp_needs *needs = &room->needs;
    *room = (floe_interp_gpu_room){.ncells = 0};
    for (uint32_t turns = 0; turns < rank; turns++) {
        if (!floe_codec_may_turn(turns, rank, extent, nchunks))
            continue;
        FLOE_CHECK(err, !floe_dtype_is_integer(dtype) && floe_lattice_shape_of(rank, extent, turns, shape),
                   FLOE_ERR_LIMIT, "chunks of no cells, or of more than codec interp takes");
        room_widen(room, shape);
    }
    room->nchunks =
        needs->records / 16 / LEAST_CHUNK + CHUNKS_BESIDES * (needs->nsteps + 1) + FLOE_INTERP_SETS * room->mask_chunks;
    room->slot_words =
        12 * (needs->records / 16) + FLOE_INTERP_SETS * room->mask_records + 4 * FLOE_ANS_LANES * room->nchunks;
    const uint64_t nrecords = needs->records / 16 + FLOE_INTERP_SETS * room->mask_records;
    room->windows = nrecords / WINDOW_RECORDS + KEPT_BESIDES;
    room->tokens = floe_min64(TOKENS * nrecords, UINT32_MAX - KEPT_BESIDES) + KEPT_BESIDES;
    return floe_codec_ranks_plan(&s->ranks, room->nwords, err);
}

void floe_interp_gpu_scratch_take(const floe_interp_gpu_room *room, uint64_t ngrids, uint64_t ntables, size_t size,
                                  floe_interp_gpu_scratch *s, floe_arena *a)
{
    s->records = floe_arena_take(a, room->needs.records, 1);
    s->mask_records = floe_arena_take(a, FLOE_INTERP_SETS * room->mask_records, 1);
    s->grids = floe_arena_take(a, ngrids, sizeof *s->grids);
    s->tables = floe_arena_take(a, ntables, sizeof *s->tables);
    s->places = floe_arena_take(a, 2 * room->nchunks, sizeof *s->places);
    for (int i = 0; i < 2; i++)
        s->lattices[i] = floe_arena_take(a, room->needs.lattice[i], size);
    for (int i = 0; i < 2; i++)
        s->bits[i] = floe_arena_take(a, room->nwords, sizeof *s->bits[i]);
    floe_codec_ranks_take(&s->ranks, a);
    s->out = floe_arena_take(a, FLOE_INTERP_SETS, sizeof *s->out);
}

floe_status floe_interp_gpu_rank(const floe_interp_gpu_scratch *s, const floe_interp_bits_job *job, void *stream,
                                 floe_error *err)
{
    floe_interp_bits_job tally = *job;
    tally.what = FLOE_INTERP_BITS_TALLY;
    tally.tallies = s->ranks.tallies;
    FLOE_CUDA(err, floe_interp_bits_cuda(&tally, stream));
    return floe_codec_ranks_find(&s->ranks, job->nwords, stream, err);
}

/* ---- the row ----------------------------------------------------------------------------------------------------------- */

static floe_status encode_plan(floe_codec_encode *e, floe_error *err)
{
    floe_interp_gpu_encode *c = (void *)e->own.bytes;
    *c = (floe_interp_gpu_encode){.lists = NULL};
    e->nchunks = floe_codec_nchunks(e->field.rank, e->field.shape, e->chunk);
    return e->nchunks ? room_of(e->field.dtype, e->field.rank, e->chunk, e->nchunks, &c->room, &c->s, err) : FLOE_OK;
}

void floe_interp_gpu_encoder_take(floe_codec_encode *call, floe_arena *a)
{
    floe_interp_gpu_encode *c = (void *)call->own.bytes;
    const size_t size = floe_dtype_size(call->field.dtype);
    const floe_interp_gpu_room *r = &c->room;
    floe_interp_pack_job *pack = &c->pack;
    floe_codec_record_job *record = &pack->record;
    floe_context_job *context = &record->context;
    const uint64_t ngrids = r->needs.nsteps + FLOE_INTERP_SETS;
    floe_interp_gpu_scratch_take(r, ngrids, ngrids * FLOE_CONTEXT_RUN, size, &c->s, a);
    c->originals = floe_arena_take(a, r->needs.coarse, size);
    c->anchors = floe_arena_take(a, r->needs.lattice[1], size);
    record->sizes = floe_arena_take(a, r->nchunks, sizeof *record->sizes);
    pack->header = floe_arena_take(a, 2 * FLOE_INTERP_HEADER_MOST, 1);
    context->sizes = floe_arena_take(a, r->nchunks, sizeof *context->sizes);
    context->sums = floe_arena_take(a, r->nchunks, sizeof *context->sums);
    pack->checks = floe_arena_take(a, r->nchunks, sizeof *pack->checks);
    c->lists = floe_arena_take(
        a, FLOE_INTERP_SETS * (floe_max64(r->ncells / FLOE_INTERP_LIST_CELLS, FLOE_INTERP_LIST_LEAST) + 1),
        sizeof *c->lists);
    c->literals =
        floe_arena_take(a, floe_max64(r->ncells / FLOE_INTERP_LITERAL_CELLS, FLOE_INTERP_LIST_LEAST) + 1, size);
    c->turned = floe_codec_turned_take(a, call->field.dtype, call->field.rank, call->field.shape, call->chunk, 0);
    floe_interp_gpu_trials_take(&c->trials, r->ncells, size, a);
    record->checks = floe_arena_take(a, 1, sizeof *record->checks);
    record->chunks_at = floe_arena_take(a, ngrids + 4, sizeof *record->chunks_at);
    context->bytes = floe_arena_take(a, ngrids, sizeof *context->bytes);
    context->slots = floe_arena_take(a, r->slot_words, sizeof *context->slots);
    context->windows = floe_arena_take(a, r->windows, sizeof *context->windows);
    context->tokens = floe_arena_take(a, r->tokens, sizeof *context->tokens);
    context->ntokens = r->tokens;
    record->pieces = floe_arena_take(a, FLOE_INTERP_DEV_PIECES, sizeof *record->pieces);
    const size_t begin = a->used;
    c->cleared = floe_arena_take(a, 0, 1);
    c->found = floe_arena_take(a, 1, sizeof *c->found);
    c->apart = floe_arena_take(a, r->nwords, sizeof *c->apart);
    context->done = floe_arena_take(a, 2, sizeof *context->done);
    context->tokens_taken = floe_arena_take(a, 1, sizeof *context->tokens_taken);
    context->tickets = floe_arena_take(a, 2 * ngrids, sizeof *context->tickets);
    context->counts = floe_arena_take(a, ngrids * FLOE_CONTEXT_COUNTS, sizeof *context->counts);
    context->slot_ends = floe_arena_take(a, r->nchunks + 1, sizeof *context->slot_ends);
    c->cleared_nbytes = a->used - begin;
    context->grids = c->s.grids;
    context->tables = c->s.tables;
    context->every = 1;
    record->places = c->s.places;
    pack->anchors = c->anchors;
    pack->literals = c->literals;
}

static floe_status encode_take(floe_codec_encode *e, floe_arena *state, floe_arena *a, floe_error *err)
{
    (void)state, (void)err;
    floe_codec_encoders_take(e, floe_interp_gpu_encoder_take, a);
    return FLOE_OK;
}

/* Of a level: what its own lattice and steps take, if no axis begins late. */
static void room_cut(const floe_codec_decode *d, floe_interp_gpu_room *room)
{
    uint64_t shape[FLOE_LATTICE_RANK];
    floe_interp_needs *needs = &room->needs;
    *needs = (floe_interp_needs){.coarse = 0};
    for (uint32_t turns = 0; turns < d->rank; turns++) {
        if (!floe_codec_may_turn(turns, d->rank, d->chunk, d->nchunks))
            continue;
        floe_lattice_shape_of(d->rank, d->chunk, turns, shape);
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            shape[a] = floe_ceil_div(shape[a], (uint64_t)1 << d->level);
        room_widen(room, shape);
    }
    needs->lattice[0] = needs->lattice[1] = floe_lattice_points(shape);
}

static floe_status decode_plan(floe_codec_decode *d, floe_error *err)
{
    floe_interp_gpu_decode *c = (void *)d->own.bytes;
    *c = (floe_interp_gpu_decode){.cursor = NULL};
    d->any = d->any || d->level == 0;
    d->nchunks = floe_codec_nchunks(d->rank, d->shape, d->chunk);
    if (d->nchunks)
        FLOE_TRY(room_of(d->dtype, d->rank, d->chunk, d->nchunks, &c->room, &c->s, err));
    if (d->nchunks && !d->any)
        room_cut(d, &c->room);
    return FLOE_OK;
}

const floe_codec_device floe_interp_gpu = {
    .waits = true,
    .params_nbytes = sizeof(floe_codec_params),
    .encode_plan = encode_plan,
    .encode_take = encode_take,
    .encode_aim = floe_codec_written_aim,
    .resolve = floe_codec_resolve_alone,
    .encode_start = floe_interp_gpu_encode_start,
    .squared_error = floe_interp_gpu_squared_error,
    .estimate_workspace = floe_interp_gpu_estimate_workspace,
    .estimate = floe_interp_gpu_estimate,
    .decode_plan = decode_plan,
    .decode_take = floe_interp_gpu_decode_take,
    .decode_start = floe_interp_gpu_decode_start,
};

#endif
