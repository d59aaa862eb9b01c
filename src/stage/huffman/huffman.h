/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage huffman: turns the groups of a tile (stage/tile/step.h) into bits and back, with one codebook a chunk.
 * docs/format/huffman.md has the layout. This header is what does not depend on the element type; huffman_tile.h has the rest.
 *
 *     encode   floe_huffman_hist_clear(hist)       decode   floe_huffman_book_read(words, nwords, book, &used)
 *              count_tile(hist, ...) every tile             floe_huffman_decoder_build(book, decoder)
 *              floe_huffman_book_build(hist, book)          decode_tile(decoder, ...) any tile, any thread
 *              floe_huffman_book_write(book, ...)
 *              encode_tile(book, ...) any tile, any thread
 *
 * All streams are arrays of 32-bit words in host order, filled from bit 0; whoever writes them out makes them
 * little-endian. Nothing here allocates; every struct is the caller's (hist 20 KiB, book 11 KiB, decoder at most 80 KiB).
 */
#ifndef FLOE_STAGE_HUFFMAN_H
#define FLOE_STAGE_HUFFMAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/try.h"

enum {
    FLOE_HUFFMAN_SYMBOLS = 256,  /* of the largest alphabet */
    FLOE_HUFFMAN_MAX_LENGTH = 11 /* bits of the longest code: five codes fit a 64-bit load, a table fits 4 KiB */
};

/* The tables, in the order in which the stream has them. */
enum {
    FLOE_HUFFMAN_QUAD = 0,   /* 2: which of 4 groups are live, by whether the quad before had any */
    FLOE_HUFFMAN_HEADER = 2, /* 4: 2 * width + flat, by the width of the live group before */
    FLOE_HUFFMAN_VALUE = 6,  /* 14: residuals by width: 1..8, then 9-10, 11-12, 13-16, 17-24, 25-32, 33-64 */
    FLOE_HUFFMAN_TABLES = 20,
    FLOE_HUFFMAN_BOOK_WORDS =
        2048 /* no book takes more: 20 tables of 256 lengths of at most 7 + 5 bits, and a header */
};

/* How often each symbol occurs. Histograms of several threads are added; a chunk may hold less than 2^32 values. */
typedef struct floe_huffman_hist {
    uint32_t count[FLOE_HUFFMAN_TABLES][FLOE_HUFFMAN_SYMBOLS];
} floe_huffman_hist;

typedef enum floe_huffman_mode {
    FLOE_HUFFMAN_UNUSED = 0, /* no symbol may occur */
    FLOE_HUFFMAN_SINGLE = 1, /* one symbol, which takes no bits */
    FLOE_HUFFMAN_FIXED = 2,  /* every symbol takes the bits of the alphabet */
    FLOE_HUFFMAN_CODED = 3   /* a complete canonical code */
} floe_huffman_mode;

/* A codebook. Valid when built or read without error; then each CODED table's lengths fulfil Kraft's equality. */
typedef struct floe_huffman_book {
    uint8_t mode[FLOE_HUFFMAN_TABLES];
    uint8_t single[FLOE_HUFFMAN_TABLES];                       /* the symbol of a SINGLE table, else 0 */
    uint8_t length[FLOE_HUFFMAN_TABLES][FLOE_HUFFMAN_SYMBOLS]; /* 0: the symbol has no code, or takes no bits */
    uint16_t code[FLOE_HUFFMAN_TABLES][FLOE_HUFFMAN_SYMBOLS];  /* first bit lowest | length << 11 */
} floe_huffman_book;

/* Decoding tables: entry[start[t] + (next bits & mask[t])] = length | symbol << 8. The length counts raw bits, too. */
typedef struct floe_huffman_decoder {
    uint32_t unused; /* bit t: table t is UNUSED */
    uint16_t start[FLOE_HUFFMAN_TABLES];
    uint16_t mask[FLOE_HUFFMAN_TABLES]; /* 2^(longest code of the table) - 1 */
    uint16_t entry[FLOE_HUFFMAN_TABLES << FLOE_HUFFMAN_MAX_LENGTH];
} floe_huffman_decoder;

void floe_huffman_hist_clear(floe_huffman_hist *hist);
void floe_huffman_hist_add(floe_huffman_hist *sum, const floe_huffman_hist *part);

/* Chooses mode and lengths of every table; the same histogram gives the same book everywhere. */
void floe_huffman_book_build(const floe_huffman_hist *hist, floe_huffman_book *book);

/* Bits that the symbols of hist and the raw bits behind them take with book, without book and tile headers. */
uint64_t floe_huffman_book_cost(const floe_huffman_hist *hist, const floe_huffman_book *book);

/* capacity in words; FLOE_HUFFMAN_BOOK_WORDS always suffices. Returns the words written, 0 when they do not fit. */
size_t floe_huffman_book_write(const floe_huffman_book *book, uint32_t *words, size_t capacity);

/* Reads a book from the front of untrusted words; *used: the words that it takes. After a failure book is undefined. */
floe_status floe_huffman_book_read(const uint32_t *words, size_t nwords, floe_huffman_book *book, size_t *used,
                                   floe_error *err);

/* book must be valid. */
void floe_huffman_decoder_build(const floe_huffman_book *book, floe_huffman_decoder *decoder);

#endif
