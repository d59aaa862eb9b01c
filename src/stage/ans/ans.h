/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage ans: up to 32 interleaved rANS states. docs/format/ans.md has the layout.
 *
 *     encode   floe_ans_normalise(counts, ...)            decode   floe_ans_table_read(...)
 *              floe_ans_symbols_of(freq, ...)                      floe_ans_slots_of(freq, ...)
 *              floe_ans_encoder_begin(...)                         floe_ans_decoder_begin(...)
 *              put_raw, put: last step first, highest lane first   get, get_raw: first step first, lowest lane first
 *              _lift before the lanes' symbols of a step,          _step behind them, and behind their raw bits
 *              and before their raw bits
 *              floe_ans_encoder_end(...)                           floe_ans_decoder_ended(...)
 *
 * A decoder reads words upwards, so an encoder writes them downwards. Nothing allocates; an untrusted stream is never read
 * beyond its end: words that are missing are 0, and floe_ans_decoder_ended reports it.
 */
#ifndef FLOE_STAGE_ANS_H
#define FLOE_STAGE_ANS_H

#include "base/bytes.h"
#include "stage/ans/ans_math.h"

/* ---- tables ------------------------------------------------------------------------------------------------------------ */

/* freq: n frequencies, which are all 0 or add up to 2^bits. Writes 1 bit for each symbol, then 6 bits for each symbol that occurs. */
void floe_ans_table_write(const uint16_t *freq, const uint8_t *code, uint32_t n, floe_cursor *to);
/* The bytes are untrusted. Returns false when they are cut short, or their frequencies cannot add up to 2^bits. An empty table
 * gives zeros. */
bool floe_ans_table_read(floe_reader *from, uint32_t n, uint32_t bits, uint16_t *freq);

void floe_ans_symbols_of(const uint16_t *freq, uint32_t n, uint32_t bits, floe_ans_symbol *symbols);

/* slots: 2^bits symbols, indexed by the low bits of a state; spans: freq | start << 16 of each symbol. An empty table makes both 0. */
void floe_ans_slots_of(const uint16_t *freq, uint32_t n, uint32_t bits, uint8_t *slots, uint32_t *spans);

/* The sum of floe_ans_check_word over words first to end - 1 of bytes. */
uint32_t floe_ans_check_sum(const uint8_t *bytes, uint64_t first, uint64_t end);

/* ---- lanes ------------------------------------------------------------------------------------------------------------- */

typedef struct floe_ans_encoder {
    uint32_t state[FLOE_ANS_LANES];
    uint16_t *at, *end; /* the words written so far, in host order; the caller gives room for all, and one word more */
    uint32_t begin;     /* the state with which each lane began */
    bool lifted;        /* all states have been raised by FLOE_ANS_LEAST */
    bool failed; /* a state was too large to be lifted: the caller encodes again, beginning with FLOE_ANS_LEAST */
} floe_ans_encoder;

/* begin: FLOE_ANS_BEGIN, or FLOE_ANS_LEAST after an encoder has failed. */
static inline void floe_ans_encoder_begin(floe_ans_encoder *e, uint32_t begin, uint16_t *end)
{
    for (int i = 0; i < FLOE_ANS_LANES; i++)
        e->state[i] = begin;
    e->at = e->end = end;
    e->begin = begin;
    e->lifted = begin == FLOE_ANS_LEAST;
    e->failed = false;
}

/* Lifts all states before the first word leaves. full: some lane is about to emit a word. Does nothing once states are lifted. */
static inline void floe_ans_encoder_lift(floe_ans_encoder *e, bool full)
{
    if (e->lifted || !full)
        return;
    for (int i = 0; i < FLOE_ANS_LANES; i++) {
        e->failed |= e->state[i] > FLOE_ANS_MOST - FLOE_ANS_LEAST;
        e->state[i] += FLOE_ANS_LEAST;
    }
    e->lifted = true;
}

FLOE_INLINE void floe_ans_encoder_emit(floe_ans_encoder *e, uint32_t lane, bool full)
{
    e->at[-1] = (uint16_t)e->state[lane];
    e->at -= full;
    e->state[lane] >>= 16 * (uint32_t)full;
}

FLOE_INLINE void floe_ans_encoder_put(floe_ans_encoder *e, uint32_t lane, floe_ans_symbol s, uint32_t bits)
{
    floe_ans_encoder_emit(e, lane, floe_ans_is_full(e->state[lane], s, bits));
    e->state[lane] = floe_ans_put(e->state[lane], s, bits);
}

FLOE_INLINE void floe_ans_encoder_put_raw(floe_ans_encoder *e, uint32_t lane, uint32_t raw, uint32_t nbits)
{
    floe_ans_encoder_emit(e, lane, floe_ans_is_full_raw(e->state[lane], nbits));
    e->state[lane] = e->state[lane] << nbits | raw;
}

/* The bytes that nlanes lanes take: their states and words. _end writes them, little-endian. */
uint32_t floe_ans_encoder_nbytes(const floe_ans_encoder *e, uint32_t nlanes);
void floe_ans_encoder_end(const floe_ans_encoder *e, uint32_t nlanes, uint8_t *dst);

typedef struct floe_ans_decoder {
    uint32_t state[FLOE_ANS_LANES];
    uint32_t begin, least;   /* begin: the state with which encoding began; a state below `least` reads a word */
    const uint8_t *at, *end; /* words, little-endian */
    bool cut;                /* a word was missing */
} floe_ans_decoder;

/* begin: FLOE_ANS_BEGIN; for older streams, whose chunks have no flags, FLOE_ANS_LEAST. Returns false when the bytes are too few, or
 * are not whole words. */
bool floe_ans_decoder_begin(floe_ans_decoder *d, uint32_t begin, uint32_t nlanes, const uint8_t *src, uint64_t nbytes);
/* Whether all words are read, and all states are what encoding began with. */
bool floe_ans_decoder_ended(const floe_ans_decoder *d, uint32_t nlanes);

FLOE_INLINE uint32_t floe_ans_decoder_fill(floe_ans_decoder *d, uint32_t x)
{
    const uint32_t low = x < d->least;
    if (d->at == d->end) {
        d->cut |= low;
        return x << 16 * low;
    }
    const uint32_t word = floe_load16(d->at) & (0 - low);
    d->at += 2 * low;
    return x << 16 * low | word;
}

/* The encoder lifted all states just before it wrote its first word, which is the last one read: here they are lowered again. */
FLOE_INLINE void floe_ans_decoder_step(floe_ans_decoder *d)
{
    if (d->at != d->end || d->least == 0 || d->begin == FLOE_ANS_LEAST)
        return;
    for (int i = 0; i < FLOE_ANS_LANES; i++)
        d->state[i] -= FLOE_ANS_LEAST;
    d->least = 0;
}

FLOE_INLINE uint32_t floe_ans_decoder_get(floe_ans_decoder *d, uint32_t lane, const uint8_t *slots,
                                          const uint32_t *spans, uint32_t bits)
{
    const uint32_t x = d->state[lane], symbol = slots[x & ((1u << bits) - 1)], span = spans[symbol];
    d->state[lane] = floe_ans_decoder_fill(d, floe_ans_take(x, span & 0xFFFF, span >> 16, bits));
    return symbol;
}

FLOE_INLINE uint32_t floe_ans_decoder_get_raw(floe_ans_decoder *d, uint32_t lane, uint32_t nbits)
{
    const uint32_t x = d->state[lane];
    d->state[lane] = floe_ans_decoder_fill(d, x >> nbits);
    return x & ((1u << nbits) - 1);
}

#endif
