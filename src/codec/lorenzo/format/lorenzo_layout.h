/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a chunk of codec lorenzo. docs/format/lorenzo_chunk.md. All parts are whole 32-bit little-endian words:
 *
 *   header (16 words) | table of values | codebook | tile entries (1 word each) | tiles
 */
#ifndef FLOE_CODEC_LORENZO_FORMAT_LORENZO_LAYOUT_H
#define FLOE_CODEC_LORENZO_FORMAT_LORENZO_LAYOUT_H

#include <float.h>

#include <floe/floe.h>

#include "stage/quantizer/quantizer.h"
#include "stage/tile/view.h"
#include "field/dtype_math.h"
#include "stage/huffman/huffman.h"

enum { FLOE_LORENZO_HEADER_NBYTES = 64 };

typedef enum floe_lorenzo_encoder { FLOE_LORENZO_PACK = 0, FLOE_LORENZO_HUFFMAN = 1 } floe_lorenzo_encoder;

/* Tile entry: what the tile is and how many words it has. */
enum {
    FLOE_TILE_NWORDS_MASK = 0xFFFF,
    FLOE_TILE_KIND_SHIFT = 16, /* 2 bits */
    FLOE_TILE_CODED = 0,       /* base, sections, groups */
    FLOE_TILE_RAW = 1,         /* the values themselves */
    FLOE_TILE_CONSTANT = 2,    /* base, sections: all residuals are 0 */
    FLOE_TILE_SPECIAL = 3,     /* nothing: all values are palette[mode] */
    FLOE_TILE_EXCEPTIONS = 1 << 18,
    FLOE_TILE_SIGNS = 1 << 19,
    FLOE_TILE_MODE_SHIFT = 20, /* 2 bits: FLOE_LORENZO_XY ...; special: which pattern of the palette; raw: 0 */
    FLOE_TILE_USED_BITS = 22
};

/* Room for the draft of a tile that takes raw words uncoded: a larger one is stored raw. */
#define FLOE_TILE_DRAFT_WORDS(raw) (2 * (raw) + 64)

/* What stands in the header, and where the parts are (bytes from the start of the chunk). */
typedef struct floe_lorenzo_chunk {
    floe_lorenzo_encoder encoder;
    bool swap; /* see floe_view_of */
    floe_quantizer_kind kind;
    double step;
    uint64_t palette[FLOE_PALETTE_SIZE];
    uint32_t table_size; /* entries of dtype's size */
    uint32_t book_nwords;
    uint64_t ntiles;
    uint64_t payload_nwords;
    uint64_t table_at, book_at, entries_at, payload_at, end;
} floe_lorenzo_chunk;

void floe_lorenzo_chunk_write(const floe_lorenzo_chunk *chunk, void *dst);

/* Checks everything but the parts' contents; extent gives the view, which is returned as well. */
floe_status floe_lorenzo_chunk_read(const void *src, uint64_t nbytes, floe_dtype dtype, uint32_t rank,
                                    const uint64_t *extent, floe_lorenzo_chunk *chunk, floe_view *view,
                                    floe_error *err);

/* Words between memory and the stream's little-endian bytes. */
void floe_words_store(void *dst, const uint32_t *words, uint64_t nwords);
void floe_words_load(uint32_t *words, const void *src, uint64_t nwords);

/* The header of a chunk as words, and what must be so of it, once, for both compilers. */

enum { FLOE_LORENZO_HEADER_WORDS = FLOE_LORENZO_HEADER_NBYTES / 4 };

FLOE_HD void floe_lorenzo_word64(uint32_t *words, uint64_t v)
{
    words[0] = (uint32_t)v;
    words[1] = (uint32_t)(v >> 32);
}

FLOE_HD void floe_lorenzo_chunk_words(const floe_lorenzo_chunk *c, uint32_t words[FLOE_LORENZO_HEADER_WORDS])
{
    words[0] = (uint32_t)c->encoder | (uint32_t)c->kind << 8 | (uint32_t)c->swap << 16;
    words[1] = c->table_size;
    words[2] = c->book_nwords;
    words[3] = 0;
    floe_lorenzo_word64(words + 4, floe_bits_f64(c->step));
    for (int i = 0; i < FLOE_PALETTE_SIZE; i++)
        floe_lorenzo_word64(words + 6 + 2 * i, c->palette[i]);
    floe_lorenzo_word64(words + 12, c->ntiles);
    floe_lorenzo_word64(words + 14, c->payload_nwords);
}

FLOE_HD uint64_t floe_lorenzo_word64_of(const uint32_t *words) { return words[0] | (uint64_t)words[1] << 32; }

/* LINEAR: a step may underflow to 0 for f32; then all is literal. That of integers is whole and fits them. */
FLOE_HD bool floe_lorenzo_step_is_sane(floe_quantizer_kind kind, double step, floe_dtype dtype)
{
    if (floe_dtype_is_integer(dtype) && kind == FLOE_QUANTIZER_LINEAR)
        return step >= 1 && step <= (dtype == FLOE_I32 ? 0x1p31 - 1 : 0x1p53) && (double)(int64_t)step == step;
    if (kind != FLOE_QUANTIZER_LINEAR && kind != FLOE_QUANTIZER_LOG)
        return step == 0;
    double most = dtype == FLOE_F32 && kind == FLOE_QUANTIZER_LINEAR ? (double)FLT_MAX : DBL_MAX;
    return step >= 0 && step <= most;
}

/* Fills all but the offsets from untrusted words. False: no chunk of the dtype has such a header. */
FLOE_HD bool floe_lorenzo_chunk_of_words(const uint32_t words[FLOE_LORENZO_HEADER_WORDS], floe_dtype dtype,
                                         floe_lorenzo_chunk *c)
{
    const uint32_t encoder = words[0] & 0xFF, kind = words[0] >> 8 & 0xFF, swap = words[0] >> 16 & 0xFF;
    uint32_t zero = words[0] >> 24 | words[3];
    if (encoder > FLOE_LORENZO_HUFFMAN || kind > FLOE_QUANTIZER_TABLE || swap > 1 ||
        (kind == FLOE_QUANTIZER_LOG && floe_dtype_is_integer(dtype)))
        return false;
    c->encoder = (floe_lorenzo_encoder)encoder;
    c->kind = (floe_quantizer_kind)kind;
    c->swap = swap != 0;
    c->table_size = words[1];
    c->book_nwords = words[2];
    c->step = floe_f64_of(floe_lorenzo_word64_of(words + 4));
    for (int i = 0; i < FLOE_PALETTE_SIZE; i++) {
        c->palette[i] = floe_lorenzo_word64_of(words + 6 + 2 * i);
        zero |=
            floe_dtype_is_narrow(dtype) ? (uint32_t)(c->palette[i] >> 32) : 0; /* patterns have the bits of the dtype */
    }
    c->ntiles = floe_lorenzo_word64_of(words + 12);
    c->payload_nwords = floe_lorenzo_word64_of(words + 14);
    return zero == 0 && floe_lorenzo_step_is_sane(c->kind, c->step, dtype);
}

/* A table where the quantizer has one, a codebook where the encoder has one, and none of the parts too large. */
FLOE_HD bool floe_lorenzo_parts_are_sane(const floe_lorenzo_chunk *c, floe_dtype dtype, uint64_t ncells)
{
    return (c->table_size != 0) == (c->kind == FLOE_QUANTIZER_TABLE) && c->table_size <= FLOE_TABLE_MAX &&
           (c->book_nwords != 0) == (c->encoder == FLOE_LORENZO_HUFFMAN) && c->book_nwords <= FLOE_HUFFMAN_BOOK_WORDS &&
           c->payload_nwords <= ncells * (floe_dtype_is_narrow(dtype) ? 1 : 2);
}

/* *sum += n * nbytes; false on overflow. */
FLOE_HD bool floe_lorenzo_add_part(uint64_t *sum, uint64_t n, uint32_t nbytes)
{
    if (n > (UINT64_MAX - *sum) / nbytes)
        return false;
    *sum += n * nbytes;
    return true;
}

/* Fills the offsets. False on overflow. */
FLOE_HD bool floe_lorenzo_chunk_offsets(floe_lorenzo_chunk *c, floe_dtype dtype)
{
    c->table_at = FLOE_LORENZO_HEADER_NBYTES;
    c->book_at = c->table_at + (uint64_t)c->table_size * (floe_dtype_is_narrow(dtype) ? 4 : 8);
    c->entries_at = c->book_at + (uint64_t)c->book_nwords * 4;
    c->payload_at = c->entries_at;
    if (!floe_lorenzo_add_part(&c->payload_at, c->ntiles, 4))
        return false;
    c->end = c->payload_at;
    return floe_lorenzo_add_part(&c->end, c->payload_nwords, 4);
}

#endif
