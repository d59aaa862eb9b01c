/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/lorenzo/gpu/lorenzo_cuda.h"

#include <string.h>

#include "backend/cuda.h"
#include "base/bytes.h"
#include "base/try.h"
#include "codec/lorenzo/format/lorenzo_begin_math.h"
#include "codec/lorenzo/gpu/huffman/lorenzo_draft_few.h"
#include "codec/lorenzo/gpu/begin/lorenzo_table.h"

/* Tiles are numbered by 32 bits on the device, with room for the batches of all blocks behind the last. */
enum { MAX_SLOTS = 1 << 30 };

floe_status floe_lorenzo_grid(uint32_t rank, const uint64_t *shape, const uint64_t *chunk, floe_dev_grid *grid,
                              floe_error *err)
{
    uint64_t slots = floe_lorenzo_slots(rank, chunk); /* of a full chunk: no other has more */
    *grid = (floe_dev_grid){.nchunks = 1};
    for (uint32_t i = 0; i < rank; i++) {
        grid->shape[i] = shape[i];
        grid->chunk[i] = chunk[i];
        grid->nchunks *= chunk[i] ? floe_ceil_div(shape[i], chunk[i]) : 0;
    }
    FLOE_CHECK(err, slots <= MAX_SLOTS && grid->nchunks <= MAX_SLOTS / floe_max64(slots, 1), FLOE_ERR_LIMIT,
               "a field of more than 2^30 tiles, too many for a GPU at once: choose larger chunks, or the CPU");
    grid->slots = (uint32_t)slots;
    return FLOE_OK;
}

/* The first one, as it is opened without swap. */
static void full_chunk(const floe_dev_grid *grid, const floe_dev_field *field, floe_dev_chunk *full)
{
    (void)floe_view_of(field->rank, grid->chunk, false, &full->view); /* fails with swap only */
    full->ncells = 1;
    for (int a = 0; a < FLOE_VIEW_AXES; a++) {
        full->region_hi[a] = full->view.extent[a];
        full->ncells *= full->view.extent[a];
    }
    floe_lorenzo_strides(&full->view, field->stride, full->stride);
    full->origin = field->data;
}

void floe_lorenzo_guess_of(const floe_dev_grid *grid, const floe_lorenzo_decode_call *call, floe_lorenzo_guess *guess)
{
    *guess = (floe_lorenzo_guess){.all = true};
    if (grid->nchunks == 0 || grid->nchunks > UINT32_MAX)
        return;
    guess->nchunks = grid->nchunks;
    guess->slots = floe_min64(call->max_slots / grid->nchunks, MAX_SLOTS) / FLOE_BATCH_TILES * FLOE_BATCH_TILES;
    for (uint32_t i = 0; i < call->field.rank; i++) {
        guess->shape[i] = grid->shape[i];
        guess->chunk[i] = grid->chunk[i];
        guess->along[i] = (uint32_t)floe_ceil_div(grid->shape[i], grid->chunk[i]);
        guess->all &= call->lo[i] == 0 && call->hi[i] == grid->shape[i];
    }
    full_chunk(grid, &call->field, &guess->full);
}

/* ---- compression --------------------------------------------------------------------------------------------------- */

void floe_lorenzo_state_take(floe_lorenzo_encode_call *c, floe_arena *arena)
{
    c->chunks = floe_arena_take(arena, c->grid.nchunks, sizeof *c->chunks);
    c->retry = floe_arena_take(arena, 1, sizeof *c->retry);
    c->place_nbytes = floe_lorenzo_place_nbytes(&c->grid);
    for (int i = 0; i < 2; i++)
        c->place_state[i] = floe_arena_take(arena, c->place_nbytes, 1);
}

void floe_lorenzo_encode_take(floe_lorenzo_encode_call *c, floe_arena *arena)
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
    if (c->lossless) {
        const floe_table_room room = floe_table_room_of(&c->grid, c->field.rank);
        c->table_slots = floe_arena_take(arena, nchunks * room.nslots, sizeof *c->table_slots);
        c->tables = floe_arena_take(arena, nchunks * room.most, sizeof *c->tables);
        c->table_scratch = floe_arena_take(arena, floe_table_scratch_nbytes(&c->grid, room), 1);
    }
}

bool floe_lorenzo_ready_of(const floe_lorenzo_encode_call *c, const floe_dev_params *params, floe_lorenzo_ready *ready)
{
    if (!floe_lorenzo_is_few(c) || c->lossless || c->field.rank == FLOE_SAMPLE_AXES ||
        memcmp(c->grid.chunk, c->grid.shape, sizeof c->grid.shape) != 0)
        return false;
    *ready = (floe_lorenzo_ready){.bits = params->bits};
    full_chunk(&c->grid, &c->field, &ready->chunk);
    ready->chunk.encoder = FLOE_LORENZO_PACK;
    ready->chunk.quantizer = params->quantizer;
    return true;
}

bool floe_lorenzo_even_of(const floe_lorenzo_encode_call *c, const floe_quantizer *quantizer, floe_lorenzo_even *even)
{
    const floe_dev_grid *g = &c->grid;
    if (g->nchunks == 0 || c->field.rank == FLOE_SAMPLE_AXES)
        return false;
    *even = (floe_lorenzo_even){.along = {1, 1, 1, 1}};
    for (uint32_t i = 0; i < c->field.rank; i++) {
        if (g->shape[i] % g->chunk[i] != 0)
            return false;
        even->along[i] = (uint32_t)(g->shape[i] / g->chunk[i]); /* floe_lorenzo_grid allows no more */
        even->step[i] = (int64_t)(g->chunk[i] * floe_dtype_size(c->field.dtype)) * c->field.stride[i];
    }
    full_chunk(g, &c->field, &even->chunk);
    even->chunk.encoder = c->huffman ? FLOE_LORENZO_HUFFMAN : FLOE_LORENZO_PACK;
    if (quantizer)
        even->chunk.quantizer = *quantizer;
    return true;
}

/* Without a chunk only *end is left to be told. The first step of encoder pack does that; those of huffman need books. */
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
    if (floe_lorenzo_drafts_are_few(c)) {
        FLOE_CUDA(err, floe_lorenzo_draft_few_cuda(c, stream));
        return FLOE_OK;
    }
    FLOE_CUDA(err, floe_lorenzo_encode_cuda(c, 0, stream));
    if (c->lossy && c->huffman) /* fast: the first attempt judges itself */
        FLOE_CUDA(err, floe_lorenzo_judge_cuda(c, stream));
    if (c->lossy)
        FLOE_CUDA(err, floe_lorenzo_encode_cuda(c, 1, stream));
    return FLOE_OK;
}

floe_status floe_lorenzo_encode_start(const floe_lorenzo_encode_call *c, void *stream, floe_error *err)
{
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

bool floe_lorenzo_ends_with_attempt(const floe_lorenzo_encode_call *c)
{
    return c->grid.nchunks > 0 && c->lossy && !c->huffman && !floe_lorenzo_is_few(c);
}

/* ---- decompression ------------------------------------------------------------------------------------------------- */

void floe_lorenzo_decode_take(floe_lorenzo_decode_call *c, const floe_lorenzo_decode_room *room, floe_arena *arena)
{
    const uint64_t n = room->max_chunks;
    c->max_chunks = n;
    c->max_slots = room->max_slots;
    c->chunks = floe_arena_take(arena, n, sizeof *c->chunks);
    c->slots = floe_arena_take(arena, room->max_slots, sizeof *c->slots);
    c->book_at = floe_arena_take(arena, n, sizeof *c->book_at);
    c->book_nwords = floe_arena_take(arena, n, sizeof *c->book_nwords);
    c->book_bad = floe_arena_take(arena, n, sizeof *c->book_bad);
    c->spill = NULL;
    c->decoders = NULL;
    c->tables = NULL;
    if (room->huffman) {
        c->spill = floe_arena_take(arena, floe_lorenzo_decode_spill_nbytes(c->field.dtype, room->max_slots), 1);
        c->decoders = floe_arena_take(arena, n, sizeof *c->decoders);
    }
    if (room->tables)
        c->tables = floe_arena_take(arena, n * FLOE_TABLE_MAX, sizeof *c->tables);
}

floe_status floe_lorenzo_decode_start(const floe_lorenzo_decode_call *c, void *stream, floe_error *err)
{
    FLOE_CUDA(err, floe_lorenzo_open_cuda(c, stream));
    FLOE_CUDA(err, floe_lorenzo_decode_cuda(c, stream));
    return FLOE_OK;
}

#endif
