/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/lorenzo/gpu/lorenzo_cuda.h"

#include "backend/cuda.h"
#include "base/bytes.h"
#include "base/try.h"
#include "codec/lorenzo/format/lorenzo_begin_math.h"
#include "codec/lorenzo/gpu/huffman/lorenzo_draft_few.h"
#include "codec/lorenzo/gpu/begin/lorenzo_table.h"

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

#endif
