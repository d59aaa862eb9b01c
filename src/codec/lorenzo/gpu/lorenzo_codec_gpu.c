/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/lorenzo/gpu/lorenzo_cuda.h"

#include <string.h>

#include "backend/cuda.h"
#include "base/try.h"
#include "codec/lorenzo/format/lorenzo_params_math.h"
#include "codec/lorenzo/gpu/begin/lorenzo_table.h"

FLOE_CODEC_OWN_FITS(floe_lorenzo_encode_call);
FLOE_CODEC_OWN_FITS(floe_lorenzo_decoding);

static floe_lorenzo_encode_call *encode_own(floe_codec_encode *e) { return (void *)e->own.bytes; }
static floe_lorenzo_decoding *decode_own(floe_codec_decode *d) { return (void *)d->own.bytes; }

/* ---- compression --------------------------------------------------------------------------------------------------- */

/* Whether chunks may have tables: LOSSLESS chunks, which most modes may come to, and, but in preset fast, those within an absolute bound. */
static bool may_have_tables(floe_preset preset, floe_bound_mode mode)
{
    return mode != FLOE_BOUND_PWREL && (mode != FLOE_BOUND_ABS || preset != FLOE_PRESET_FAST);
}

static floe_status encode_plan(floe_codec_encode *e, floe_error *err)
{
    floe_lorenzo_encode_call *c = encode_own(e);
    *c = (floe_lorenzo_encode_call){.field = e->field,
                                    .huffman = e->preset != FLOE_PRESET_FAST,
                                    .has_tables = may_have_tables(e->preset, e->mode),
                                    .lossy = e->mode != FLOE_BOUND_LOSSLESS,
                                    .first_offset = e->first_offset};
    FLOE_TRY(floe_lorenzo_grid(e->field.rank, e->field.shape, e->chunk, &c->grid, err));
    e->nchunks = c->grid.nchunks;
    return FLOE_OK;
}

/* What few tiles want to be 0 where they are ready. */
static void state_take(floe_lorenzo_encode_call *c, floe_arena *arena)
{
    c->chunks = floe_arena_take(arena, c->grid.nchunks, sizeof *c->chunks);
    c->retry = floe_arena_take(arena, 1, sizeof *c->retry);
    c->place_nbytes = floe_lorenzo_place_nbytes(&c->grid);
    for (int i = 0; i < 2; i++)
        c->place_state[i] = floe_arena_take(arena, c->place_nbytes, 1);
}

static void scratch_take(floe_lorenzo_encode_call *c, floe_arena *arena)
{
    const uint64_t nchunks = c->grid.nchunks, nslots = nchunks * c->grid.slots;
    const size_t value = floe_dtype_size(c->field.dtype);
    c->records = floe_arena_take(arena, nchunks, sizeof *c->records);
    c->end = floe_arena_take(arena, 1, sizeof *c->end);
    c->spill = floe_arena_take(arena, floe_lorenzo_spill_nbytes(c), 1);
    if (c->huffman) {
        c->drafts = floe_arena_take(arena, nslots * FLOE_DRAFT_SLOT_WORDS, value);
        c->draft_entries = floe_arena_take(arena, nslots, sizeof *c->draft_entries);
        c->draft_nwords = floe_arena_take(arena, nslots, sizeof *c->draft_nwords);
        c->hists = floe_arena_take(arena, nchunks, sizeof *c->hists);
        c->books = floe_arena_take(arena, nchunks, sizeof *c->books);
        c->book_words = floe_arena_take(arena, nchunks * FLOE_HUFFMAN_BOOK_WORDS, sizeof *c->book_words);
        c->book_nwords = floe_arena_take(arena, nchunks, sizeof *c->book_nwords);
    }
    if (c->has_tables) {
        const floe_table_room room = floe_table_room_of(&c->grid, c->field.rank);
        c->table_slots = floe_arena_take(arena, nchunks * room.nslots, sizeof *c->table_slots);
        c->tables = floe_arena_take(arena, nchunks * room.most, sizeof *c->tables);
        c->table_scratch = floe_arena_take(arena, floe_table_scratch_nbytes(&c->grid, room), 1);
    }
}

static floe_status encode_take(floe_codec_encode *e, floe_arena *state, floe_arena *arena, floe_error *err)
{
    (void)err;
    floe_lorenzo_encode_call *c = encode_own(e);
    state_take(c, state);
    scratch_take(c, arena);
    if (e->mode == FLOE_BOUND_PSNR)
        c->error_tiles = floe_arena_take(arena, c->grid.nchunks * c->grid.slots, sizeof *c->error_tiles);
    e->records = c->records;
    e->end = c->end;
    return FLOE_OK;
}

bool floe_lorenzo_ends_with_attempt(const floe_lorenzo_encode_call *c)
{
    return c->grid.nchunks > 0 && c->lossy && !c->huffman && !floe_lorenzo_is_small(c);
}

static void encode_aim(floe_codec_encode *e)
{
    floe_lorenzo_encode_call *c = encode_own(e);
    c->stream = e->stream;
    c->capacity = e->capacity;
    c->status = e->status;
    c->params = e->params;
    e->chunk_stats = (floe_dev_stats_of_chunks){c->chunks->stats, &c->chunks->attempt, sizeof *c->chunks};
    e->again = floe_lorenzo_ends_with_attempt(c) ? c->retry : NULL;
}

static floe_status resolve(const floe_codec_encode *e, const floe_resolve_job *job, void *stream, floe_error *err)
{
    floe_dev_params params = {.codec = job->codec};
    if (!job->scans)
        floe_lorenzo_params_make(&job->codec, &params);
    FLOE_CUDA(err, floe_lorenzo_resolve_cuda(floe_lorenzo_encode_of(e), job, &params, stream));
    return FLOE_OK;
}

/* Without a chunk only *end is left to be written. The first step of encoder pack does that; those of huffman need books. */
static floe_status end_nothing(const floe_lorenzo_encode_call *c, void *stream, floe_error *err)
{
    floe_lorenzo_encode_call pack = *c;
    pack.huffman = false;
    FLOE_CUDA(err, floe_lorenzo_encode_cuda(&pack, 0, stream));
    return FLOE_OK;
}

/* All that is done before books are made; fast: all. */
static floe_status attempts_start(const floe_lorenzo_encode_call *c, void *stream, floe_error *err)
{
    FLOE_CUDA(err, floe_lorenzo_encode_cuda(c, 0, stream));
    if (c->lossy && c->huffman) /* fast: the first attempt judges itself */
        FLOE_CUDA(err, floe_lorenzo_decide_retry_cuda(c, stream));
    if (c->lossy)
        FLOE_CUDA(err, floe_lorenzo_encode_cuda(c, 1, stream));
    return FLOE_OK;
}

static floe_status encode_start(const floe_codec_encode *e, void *stream, floe_error *err)
{
    const floe_lorenzo_encode_call *c = floe_lorenzo_encode_of(e);
    if (c->grid.nchunks == 0)
        return end_nothing(c, stream, err);
    FLOE_TRY(attempts_start(c, stream, err));
    if (c->huffman) {
        FLOE_CUDA(err, floe_huffman_books_build_cuda(c->hists, (uint32_t)c->grid.nchunks, c->books, c->book_words,
                                                     c->book_nwords, NULL, stream));
        FLOE_CUDA(err, floe_lorenzo_code_cuda(c, stream));
    }
    return FLOE_OK;
}

static floe_status squared_error(const floe_codec_encode *e, const floe_codec_params *params, double *sum, void *stream,
                                 floe_error *err)
{
    const floe_lorenzo_encode_call *c = floe_lorenzo_encode_of(e);
    floe_lorenzo_error_job job = {
        .params = *params, .grid = c->grid, .chunks = c->chunks, .tiles = c->error_tiles, .sum = sum};
    FLOE_CUDA(err, floe_lorenzo_squared_error_cuda(&job, stream));
    return FLOE_OK;
}

/* ---- decompression ------------------------------------------------------------------------------------------------- */

static floe_status decode_plan(floe_codec_decode *d, floe_error *err)
{
    floe_lorenzo_decoding *own = decode_own(d);
    *own = (floe_lorenzo_decoding){.job.call.field.dtype = d->dtype};
    FLOE_TRY(floe_lorenzo_grid(d->rank, d->shape, d->chunk, &own->grid, err));
    d->nchunks = own->grid.nchunks;
    own->huffman = d->any || d->preset != FLOE_PRESET_FAST;
    own->tables = d->any || may_have_tables(d->preset, d->mode);
    d->any = own->huffman && own->tables;
    return FLOE_OK;
}

static void decode_take(floe_codec_decode *d, floe_arena *arena)
{
    floe_lorenzo_decoding *own = decode_own(d);
    floe_lorenzo_decode_call *c = &own->job.call;
    const uint64_t n = c->max_chunks = d->nchunks;
    c->max_slots = n * own->grid.slots;
    c->grid = floe_arena_take(arena, 1, sizeof *c->grid);
    c->chunks = floe_arena_take(arena, n, sizeof *c->chunks);
    c->slots = floe_arena_take(arena, c->max_slots, sizeof *c->slots);
    c->book_at = floe_arena_take(arena, n, sizeof *c->book_at);
    c->book_nwords = floe_arena_take(arena, n, sizeof *c->book_nwords);
    c->book_bad = floe_arena_take(arena, n, sizeof *c->book_bad);
    if (own->huffman) {
        c->spill = floe_arena_take(arena, floe_lorenzo_decode_spill_nbytes(c->field.dtype, c->max_slots), 1);
        c->decoders = floe_arena_take(arena, n, sizeof *c->decoders);
    }
    if (own->tables)
        c->tables = floe_arena_take(arena, n * FLOE_TABLE_MAX, sizeof *c->tables);
}

static void decode_aim(floe_codec_decode *d)
{
    floe_lorenzo_decoding *own = decode_own(d);
    floe_lorenzo_decode_call *c = &own->job.call;
    c->field = d->field;
    memcpy(c->lo, d->lo, sizeof c->lo);
    memcpy(c->hi, d->hi, sizeof c->hi);
    c->layout = d->layout;
    c->records = d->records;
    c->stream = d->stream;
    c->status = d->status;
    memcpy(own->job.shape, d->shape, sizeof d->shape);
    own->job.nbytes = d->nbytes;
    own->job.dev_nbytes = d->dev_nbytes;
    d->opened = &c->chunks->opened;
    d->opened_stride = sizeof *c->chunks;
    if (!d->records)
        floe_lorenzo_expected_grid_of(&own->grid, c, &own->job.expected);
}

static floe_status decode_open(const floe_codec_decode *d, void *stream, floe_error *err)
{
    FLOE_CUDA(err, floe_lorenzo_open_cuda(&floe_lorenzo_decode_of(d)->job, stream));
    return FLOE_OK;
}

static floe_status decode_start(const floe_codec_decode *d, void *stream, floe_error *err)
{
    const floe_lorenzo_decode_call *c = &floe_lorenzo_decode_of(d)->job.call;
    FLOE_CUDA(err, floe_lorenzo_books_cuda(c, stream));
    FLOE_CUDA(err, floe_lorenzo_decode_cuda(c, stream));
    return FLOE_OK;
}

const floe_codec_device floe_lorenzo_gpu = {
    .params_nbytes = sizeof(floe_dev_params),
    .encode_plan = encode_plan,
    .encode_take = encode_take,
    .encode_aim = encode_aim,
    .resolve = resolve,
    .encode_start = encode_start,
    .squared_error = squared_error,
    .estimate_workspace = floe_lorenzo_gpu_estimate_workspace,
    .estimate = floe_lorenzo_gpu_estimate,
    .opens_early = true,
    .decode_plan = decode_plan,
    .decode_take = decode_take,
    .decode_aim = decode_aim,
    .decode_open = decode_open,
    .decode_start = decode_start,
};

#endif
