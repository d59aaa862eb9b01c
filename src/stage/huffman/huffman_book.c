/* SPDX-License-Identifier: BSD-3-Clause */
/* The codebook of a chunk: choosing it, its bits, and what coder and decoder look up. */
#include <assert.h>

#include "stage/huffman/huffman_book_math.h"

void floe_huffman_hist_clear(floe_huffman_hist *hist) { memset(hist, 0, sizeof *hist); }

void floe_huffman_hist_add(floe_huffman_hist *sum, const floe_huffman_hist *part)
{
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        for (uint32_t s = 0; s < FLOE_HUFFMAN_SYMBOLS; s++)
            sum->count[t][s] += part->count[t][s];
}

/* ---- the tokens of a table's lengths ---- */

static void lengths_as_predicted(const uint8_t *length, uint8_t *v)
{
    for (uint32_t s = 0; s < FLOE_HUFFMAN_SYMBOLS; s++)
        v[s] = (uint8_t)floe_huffman_predicted_as(length[s]);
}

/* Counts the tokens of a table; returns about how many bits they will take. */
static uint32_t tokens_count(uint32_t table, const uint8_t *length, uint32_t *count)
{
    uint8_t v[FLOE_HUFFMAN_SYMBOLS];
    uint32_t nbits = 0, extra, advance;
    lengths_as_predicted(length, v);
    for (uint32_t s = 0; s < floe_huffman_alphabet(table); s += advance) {
        uint32_t token = floe_huffman_token(table, v, s, &extra, &advance);
        count[token]++;
        nbits += FLOE_HUFFMAN_TYPICAL_TOKEN_BITS + floe_huffman_token_extra(token);
    }
    return nbits;
}

/* The code of the tokens of all CODED tables. */
static void tokens_code(const floe_huffman_book *book, uint8_t *length, uint16_t *code)
{
    uint32_t count[FLOE_HUFFMAN_TOKENS] = {0};
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        if (book->mode[t] == FLOE_HUFFMAN_CODED)
            tokens_count(t, book->length[t], count);
    floe_huffman_tokens_two(count);
    floe_huffman_lengths(count, FLOE_HUFFMAN_TOKENS, FLOE_HUFFMAN_TOKEN_LIMIT, length);
    bool complete = floe_huffman_codes(length, FLOE_HUFFMAN_TOKENS, code);
    assert(complete);
    (void)complete;
}

/* ---- choosing ---- */

/* Every number of fixed_bits bits is the code of itself, so that counted symbols and the rest need no telling apart. */
static void table_fixed(uint32_t table, uint8_t *length, uint16_t *code)
{
    uint32_t n = floe_huffman_fixed_bits(table);
    for (uint32_t s = 0; s < 1u << n; s++) {
        length[s] = (uint8_t)n;
        code[s] = (uint16_t)(s | n << FLOE_HUFFMAN_MAX_LENGTH);
    }
}

static void table_build(uint32_t table, const uint32_t *count, floe_huffman_book *book)
{
    uint32_t nsymbols = floe_huffman_alphabet(table), nused = 0, tokens[FLOE_HUFFMAN_TOKENS] = {0};
    uint64_t total = 0, coded = 0;
    uint8_t *length = book->length[table];
    for (uint32_t s = 0; s < nsymbols; s++) {
        nused += count[s] > 0;
        total += count[s];
        if (count[s])
            book->single[table] = (uint8_t)s;
    }
    book->mode[table] = nused == 0 ? FLOE_HUFFMAN_UNUSED : FLOE_HUFFMAN_SINGLE;
    if (nused < 2)
        return;
    book->single[table] = 0;
    floe_huffman_lengths(count, nsymbols, FLOE_HUFFMAN_MAX_LENGTH, length);
    for (uint32_t s = 0; s < nsymbols; s++)
        coded += (uint64_t)count[s] * length[s];
    coded += tokens_count(table, length, tokens);
    bool pays = coded < total * floe_huffman_fixed_bits(table);
    book->mode[table] = pays ? FLOE_HUFFMAN_CODED : FLOE_HUFFMAN_FIXED;
    bool complete = floe_huffman_codes(length, nsymbols, book->code[table]);
    assert(complete);
    (void)complete;
    if (!pays)
        table_fixed(table, length, book->code[table]);
}

void floe_huffman_book_build(const floe_huffman_hist *hist, floe_huffman_book *book)
{
    memset(book, 0, sizeof *book);
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        table_build(t, hist->count[t], book);
}

uint64_t floe_huffman_book_cost(const floe_huffman_hist *hist, const floe_huffman_book *book)
{
    uint64_t nbits = 0;
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++) {
        for (uint32_t s = 0; s < FLOE_HUFFMAN_SYMBOLS; s++)
            nbits += (uint64_t)hist->count[t][s] * (book->length[t][s] + floe_huffman_raw(t, s));
    }
    return nbits;
}

/* ---- bits of the book ---- */

typedef struct book_writer {
    uint32_t *words;
    uint64_t capacity, at; /* bits */
    bool bad;
} book_writer;

/* value has no bits above nbits; nbits <= 31 */
static void book_put(book_writer *w, uint32_t value, uint32_t nbits)
{
    if (w->bad || nbits > w->capacity - w->at) {
        w->bad = true;
        return;
    }
    size_t word = (size_t)(w->at / 32), shift = w->at % 32;
    uint64_t bits = (uint64_t)value << shift | (shift ? w->words[word] : 0);
    w->at += nbits;
    if (nbits)
        w->words[word] = (uint32_t)bits;
    if (shift + nbits > 32)
        w->words[word + 1] = (uint32_t)(bits >> 32);
}

static void put_lengths(book_writer *w, uint32_t table, const uint8_t *length, const uint16_t *code)
{
    uint8_t v[FLOE_HUFFMAN_SYMBOLS];
    uint32_t extra, advance;
    lengths_as_predicted(length, v);
    for (uint32_t s = 0; s < floe_huffman_alphabet(table); s += advance) {
        uint32_t token = floe_huffman_token(table, v, s, &extra, &advance);
        book_put(w, code[token] & FLOE_HUFFMAN_CODE_MASK, code[token] >> FLOE_HUFFMAN_MAX_LENGTH);
        book_put(w, extra, floe_huffman_token_extra(token));
    }
}

static bool book_has_codes(const floe_huffman_book *book)
{
    bool any = false;
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        any = any || book->mode[t] == FLOE_HUFFMAN_CODED;
    return any;
}

size_t floe_huffman_book_write(const floe_huffman_book *book, uint32_t *words, size_t capacity)
{
    book_writer w = {words, (uint64_t)capacity * 32, 0, false};
    uint8_t token_length[FLOE_HUFFMAN_TOKENS];
    uint16_t token_code[FLOE_HUFFMAN_TOKENS];
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        book_put(&w, book->mode[t], FLOE_HUFFMAN_MODE_BITS);
    if (book_has_codes(book)) {
        tokens_code(book, token_length, token_code);
        for (uint32_t k = 0; k < FLOE_HUFFMAN_TOKENS; k++)
            book_put(&w, token_length[k], FLOE_HUFFMAN_TOKEN_LENGTH_BITS);
    }
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++) {
        if (book->mode[t] == FLOE_HUFFMAN_SINGLE)
            book_put(&w, book->single[t], FLOE_HUFFMAN_SINGLE_BITS);
        if (book->mode[t] == FLOE_HUFFMAN_CODED)
            put_lengths(&w, t, book->length[t], token_code);
    }
    return w.bad ? 0 : (size_t)((w.at + 31) / 32);
}

typedef struct book_reader {
    const uint32_t *words;
    uint64_t nbits, at;
    bool bad; /* read past the end; such bits are 0 */
} book_reader;

static uint32_t book_peek(const book_reader *r, uint32_t nbits)
{
    size_t word = (size_t)(r->at / 32);
    uint64_t bits = r->at < r->nbits ? r->words[word] : 0;
    if (r->at / 32 + 1 < r->nbits / 32)
        bits |= (uint64_t)r->words[word + 1] << 32;
    return (uint32_t)(bits >> r->at % 32) & ((1u << nbits) - 1);
}

static uint32_t book_get(book_reader *r, uint32_t nbits)
{
    uint32_t value = book_peek(r, nbits);
    r->bad = r->bad || nbits > r->nbits - r->at;
    r->at = r->bad ? r->nbits : r->at + nbits;
    return value;
}

/* token_entry: length | token << 4, by the next TOKEN_LIMIT bits. */
static floe_status tokens_read(book_reader *r, uint8_t *token_entry, floe_error *err)
{
    uint8_t length[FLOE_HUFFMAN_TOKENS];
    uint16_t code[FLOE_HUFFMAN_TOKENS];
    for (uint32_t k = 0; k < FLOE_HUFFMAN_TOKENS; k++)
        length[k] = (uint8_t)book_get(r, FLOE_HUFFMAN_TOKEN_LENGTH_BITS);
    FLOE_CHECK(err, floe_huffman_codes(length, FLOE_HUFFMAN_TOKENS, code), FLOE_ERR_FORMAT,
               "the code of the codebook is not complete");
    for (uint32_t k = 0; k < FLOE_HUFFMAN_TOKENS; k++)
        for (uint32_t i = code[k] & FLOE_HUFFMAN_CODE_MASK; length[k] && i < 1u << FLOE_HUFFMAN_TOKEN_LIMIT;
             i += 1u << length[k])
            token_entry[i] = (uint8_t)(length[k] | k << 4);
    return FLOE_OK;
}

static floe_status lengths_read(book_reader *r, const uint8_t *token_entry, uint32_t table, uint8_t *length,
                                floe_error *err)
{
    uint8_t v[FLOE_HUFFMAN_SYMBOLS];
    uint32_t nsymbols = floe_huffman_alphabet(table);
    for (uint32_t s = 0; s < nsymbols;) {
        uint32_t entry = token_entry[book_peek(r, FLOE_HUFFMAN_TOKEN_LIMIT)], token = entry >> 4;
        book_get(r, entry & 15);
        uint32_t run = floe_huffman_token_least(token) + book_get(r, floe_huffman_token_extra(token));
        FLOE_CHECK(err, !r->bad && run <= nsymbols - s, FLOE_ERR_FORMAT, "code lengths of table %u overrun", table);
        for (uint32_t step = run == 1 ? token : 0; run > 0; run--, s++) {
            v[s] = (uint8_t)floe_huffman_stepped(floe_huffman_predict(table, v, s), step);
            length[s] = (uint8_t)floe_huffman_length_of(v[s]);
        }
    }
    return FLOE_OK;
}

static floe_status table_read(book_reader *r, const uint8_t *token_entry, uint32_t table, floe_huffman_book *book,
                              floe_error *err)
{
    uint8_t *length = book->length[table];
    switch (book->mode[table]) {
    case FLOE_HUFFMAN_SINGLE:
        book->single[table] = (uint8_t)book_get(r, FLOE_HUFFMAN_SINGLE_BITS);
        FLOE_CHECK(err, book->single[table] < floe_huffman_alphabet(table), FLOE_ERR_FORMAT,
                   "the symbol of table %u is out of range", table);
        break;
    case FLOE_HUFFMAN_FIXED: table_fixed(table, length, book->code[table]); break;
    case FLOE_HUFFMAN_CODED:
        FLOE_TRY(lengths_read(r, token_entry, table, length, err));
        FLOE_CHECK(err, floe_huffman_codes(length, floe_huffman_alphabet(table), book->code[table]), FLOE_ERR_FORMAT,
                   "the code of table %u is not complete", table);
        break;
    default: break;
    }
    return FLOE_OK;
}

floe_status floe_huffman_book_read(const uint32_t *words, size_t nwords, floe_huffman_book *book, size_t *used,
                                   floe_error *err)
{
    size_t limit = nwords < FLOE_HUFFMAN_BOOK_WORDS ? nwords : FLOE_HUFFMAN_BOOK_WORDS;
    book_reader r = {words, (uint64_t)limit * 32, 0, false};
    uint8_t token_entry[1 << FLOE_HUFFMAN_TOKEN_LIMIT] = {0};
    memset(book, 0, sizeof *book);
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        book->mode[t] = (uint8_t)book_get(&r, FLOE_HUFFMAN_MODE_BITS);
    if (book_has_codes(book))
        FLOE_TRY(tokens_read(&r, token_entry, err));
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        FLOE_TRY(table_read(&r, token_entry, t, book, err));
    FLOE_CHECK(err, !r.bad, FLOE_ERR_FORMAT, "the codebook is cut short");
    *used = (size_t)((r.at + 31) / 32);
    FLOE_CHECK(err, book_get(&r, (uint32_t)(*used * 32 - r.at)) == 0, FLOE_ERR_FORMAT,
               "the codebook is followed by bits that are not 0");
    return FLOE_OK;
}

/* ---- decoding tables ---- */

void floe_huffman_decoder_build(const floe_huffman_book *book, floe_huffman_decoder *decoder)
{
    uint32_t start = 0;
    decoder->unused = 0;
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++) {
        uint32_t longest = 0;
        for (uint32_t s = 0; s < FLOE_HUFFMAN_SYMBOLS; s++)
            longest = book->length[t][s] > longest ? book->length[t][s] : longest;
        uint16_t *entry = decoder->entry + start;
        decoder->start[t] = (uint16_t)start;
        decoder->mask[t] = (uint16_t)((1u << longest) - 1);
        decoder->unused |= (uint32_t)(book->mode[t] == FLOE_HUFFMAN_UNUSED) << t;
        entry[0] = floe_huffman_entry(t, book->single[t], 0);
        for (uint32_t s = 0; s < FLOE_HUFFMAN_SYMBOLS; s++)
            for (uint32_t n = book->length[t][s], i = book->code[t][s] & FLOE_HUFFMAN_CODE_MASK; n && i < 1u << longest;
                 i += 1u << n)
                entry[i] = floe_huffman_entry(t, s, n);
        start += 1u << longest;
    }
}
