/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a chunk of codec lorenzo. docs/format/lorenzo_chunk.md. All parts are whole 32-bit little-endian words:
 *
 *   header (16 words) | table of values | codebook | tile entries (1 word each) | tiles
 */
#ifndef FLOE_CODEC_LORENZO_FORMAT_LORENZO_LAYOUT_H
#define FLOE_CODEC_LORENZO_FORMAT_LORENZO_LAYOUT_H

#include <floe/floe.h>

#include "stage/quantizer/quantizer.h"
#include "stage/tile/view.h"

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

/* Fills the offsets. False on overflow. */
bool floe_lorenzo_chunk_place(floe_lorenzo_chunk *chunk, floe_dtype dtype);

void floe_lorenzo_chunk_write(const floe_lorenzo_chunk *chunk, void *dst);

/* Checks everything but the parts' contents; extent gives the view, which is returned as well. */
floe_status floe_lorenzo_chunk_read(const void *src, uint64_t nbytes, floe_dtype dtype, uint32_t rank,
                                    const uint64_t *extent, floe_lorenzo_chunk *chunk, floe_view *view,
                                    floe_error *err);

/* Words between memory and the stream's little-endian bytes. */
void floe_words_store(void *dst, const uint32_t *words, uint64_t nwords);
void floe_words_load(uint32_t *words, const void *src, uint64_t nwords);

#include "codec/lorenzo/format/lorenzo_layout_math.h"

#endif
