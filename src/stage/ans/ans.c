/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/ans/ans.h"

#include <string.h>

/* ---- tables ------------------------------------------------------------------------------------------------------------ */

void floe_ans_table_write(const uint16_t *freq, const uint8_t *code, uint32_t n, floe_cursor *to)
{
    uint32_t pending = 0, npending = 0;
    for (uint32_t i = 0; i < n; i += 8) {
        uint32_t used = 0;
        for (uint32_t k = i; k < n && k < i + 8; k++)
            used |= (uint32_t)(freq[k] != 0) << (k - i);
        floe_write8(to, (uint8_t)used);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (freq[i] == 0)
            continue;
        pending |= (uint32_t)code[i] << npending;
        for (npending += 6; npending >= 8; npending -= 8, pending >>= 8)
            floe_write8(to, (uint8_t)pending);
    }
    if (npending)
        floe_write8(to, (uint8_t)pending);
}

/* Codes of the symbols that occur, of which freq is 1 at first, to frequencies. False unless exactly one symbol has the rest, and the others
 * leave some. */
static bool read_codes(const uint8_t *codes, uint32_t n, uint32_t bits, uint16_t *freq)
{
    uint32_t sum = 0, nused = 0, rest = n;
    for (uint32_t i = 0; i < n; i++) {
        if (freq[i] == 0)
            continue;
        const uint32_t at = 6 * nused++, byte = at / 8;
        const uint32_t code = (codes[byte] | (at % 8 > 2 ? (uint32_t)codes[byte + 1] << 8 : 0)) >> at % 8 & 63;
        if (code == FLOE_ANS_REST) {
            if (rest < n)
                return false;
            rest = i;
        } else {
            if ((code & 15) > bits || ((4 + (code >> 4)) << (code & 15)) % 4)
                return false;
            freq[i] = (uint16_t)floe_ans_freq_of(code);
            sum += freq[i];
        }
    }
    if (nused == 0)
        return true;
    if (rest == n || sum >= 1u << bits)
        return false;
    freq[rest] = (uint16_t)((1u << bits) - sum);
    return true;
}

bool floe_ans_table_read(floe_reader *from, uint32_t n, uint32_t bits, uint16_t *freq)
{
    const uint8_t *used = floe_read_bytes(from, (n + 7) / 8);
    uint32_t nused = 0;
    if (!used || (n % 8 && used[n / 8] >> n % 8))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        freq[i] = used[i / 8] >> i % 8 & 1;
        nused += freq[i];
    }
    const uint8_t *codes = floe_read_bytes(from, (6 * nused + 7) / 8);
    return codes && read_codes(codes, n, bits, freq);
}

void floe_ans_symbols_of(const uint16_t *freq, uint32_t n, uint32_t bits, floe_ans_symbol *symbols)
{
    uint32_t start = 0;
    for (uint32_t i = 0; i < n; start += freq[i++])
        symbols[i] = floe_ans_symbol_of(freq[i], start, bits);
}

void floe_ans_slots_of(const uint16_t *freq, uint32_t n, uint32_t bits, uint8_t *slots, uint32_t *spans)
{
    uint32_t start = 0;
    for (uint32_t i = 0; i < n; start += freq[i++]) {
        spans[i] = freq[i] | start << 16;
        memset(slots + start, (int)i, freq[i]);
    }
    memset(slots + start, 0, (1u << bits) - start);
}

/* ---- lanes ------------------------------------------------------------------------------------------------------------- */

uint32_t floe_ans_check_sum(const uint8_t *bytes, uint64_t first, uint64_t end)
{
    uint32_t sum = 0;
    for (uint64_t i = first; i < end; i++)
        sum += floe_ans_check_word(i, floe_load32(bytes + 4 * i));
    return sum;
}

static uint32_t words_of(const floe_ans_encoder *e) { return (uint32_t)(e->end - e->at); }

uint32_t floe_ans_encoder_nbytes(const floe_ans_encoder *e, uint32_t nlanes)
{
    const bool words = words_of(e) > 0;
    uint32_t nbits = FLOE_ANS_FLAGS + nlanes * floe_ans_width_bits(words);
    for (uint32_t i = 0; i < nlanes; i++)
        nbits += floe_ans_low_bits(floe_ans_stored_of(e->state[i], words).width);
    return (nbits + 31) / 32 * 4 + 2 * (words_of(e) + (words_of(e) & 1));
}

/* Writes bits, from the lowest one of a byte on. */
typedef struct bits {
    uint64_t pending;
    uint32_t n; /* less than 32 between calls */
    uint8_t *to;
} bits;

static void put_bits(bits *b, uint32_t value, uint32_t nbits)
{
    b->pending |= (uint64_t)value << b->n;
    b->n += nbits;
    if (b->n >= 32) {
        floe_store32(b->to, (uint32_t)b->pending);
        b->to += 4;
        b->pending >>= 32;
        b->n -= 32;
    }
}

void floe_ans_encoder_end(const floe_ans_encoder *e, uint32_t nlanes, uint8_t *dst)
{
    const bool words = words_of(e) > 0, pad = words_of(e) & 1;
    bits b = {0, 0, dst};
    put_bits(&b, floe_ans_flags_of(words_of(e), e->begin), FLOE_ANS_FLAGS);
    for (uint32_t i = 0; i < nlanes; i++)
        put_bits(&b, floe_ans_stored_of(e->state[i], words).width - floe_ans_width_least(words),
                 floe_ans_width_bits(words));
    for (uint32_t i = 0; i < nlanes; i++) {
        const floe_ans_stored s = floe_ans_stored_of(e->state[i], words);
        put_bits(&b, floe_ans_low_of(s), floe_ans_low_bits(s.width));
    }
    put_bits(&b, 0, (32 - b.n) % 32);
    if (pad)
        floe_store16(b.to, 0);
    dst = b.to + 2 * pad;
    for (const uint16_t *w = e->at; w < e->end; w++, dst += 2)
        floe_store16(dst, *w);
}

/* Reads bits; zeros follow the end. */
static uint32_t get_bits(const uint8_t *src, uint64_t nbytes, uint32_t *at, uint32_t nbits)
{
    const uint64_t i = *at / 32 * 4, low = i + 4 <= nbytes ? floe_load32(src + i) : 0,
                   high = i + 8 <= nbytes ? floe_load32(src + i + 4) : 0;
    const uint64_t value = (low | high << 32) >> *at % 32 & (((uint64_t)1 << nbits) - 1);
    *at += nbits;
    return (uint32_t)value;
}

/* Reads the states from bit *at on: widths, low bits, and zeros up to whole words; moves *at behind them. False if the zeros are none. */
static bool read_states(floe_ans_decoder *d, uint32_t nlanes, bool words, const uint8_t *src, uint64_t nbytes,
                        uint32_t *at)
{
    for (uint32_t i = 0; i < nlanes; i++) /* widths for now */
        d->state[i] = get_bits(src, nbytes, at, floe_ans_width_bits(words)) + floe_ans_width_least(words);
    for (uint32_t i = 0; i < nlanes; i++) {
        const uint32_t low = get_bits(src, nbytes, at, floe_ans_low_bits(d->state[i]));
        d->state[i] = floe_ans_state_of(d->state[i], low, words);
    }
    return get_bits(src, nbytes, at, (0u - *at) % 32) == 0;
}

static bool begin_lanes(floe_ans_decoder *d, uint32_t nlanes, const uint8_t *src, uint64_t nbytes)
{
    uint32_t at = 0;
    const uint32_t flags = get_bits(src, nbytes, &at, FLOE_ANS_FLAGS), pad = flags / FLOE_ANS_PAD & 1;
    const bool words = flags & FLOE_ANS_WORDS, zeros = read_states(d, nlanes, words, src, nbytes, &at);
    const uint64_t begin = at / 8 + 2 * pad;
    if (!zeros || (words ? begin >= nbytes : begin != nbytes || flags))
        return false;
    d->begin = flags & FLOE_ANS_UNLIFTED ? FLOE_ANS_LEAST : FLOE_ANS_BEGIN;
    d->at = src + begin;
    d->least = words ? FLOE_ANS_LEAST : 0; /* without words no state was lifted */
    return true;
}

/* Begins a chunk of an older stream. Either each state has 32 bits, and bit 31 of the first says that there is a pad; or there are no words,
 * and states stand as in newer streams, without flags. */
static bool begin_unlifted(floe_ans_decoder *d, uint32_t nlanes, const uint8_t *src, uint64_t nbytes)
{
    uint32_t at = 0;
    d->least = FLOE_ANS_LEAST;
    if (nbytes < 4 * (uint64_t)nlanes) {
        const bool zeros = read_states(d, nlanes, false, src, nbytes, &at);
        for (uint32_t i = 0; i < nlanes; i++)
            d->state[i] += FLOE_ANS_LEAST - FLOE_ANS_BEGIN;
        d->at = d->end;
        return zeros && at == 8 * nbytes;
    }
    for (uint32_t i = 0; i < nlanes; i++)
        d->state[i] = floe_load32(src + 4 * i);
    const uint32_t pad = d->state[0] >> 31;
    d->state[0] &= ~(1u << 31);
    d->at = src + 4 * nlanes + 2 * pad;
    return d->at <= d->end;
}

bool floe_ans_decoder_begin(floe_ans_decoder *d, uint32_t begin, uint32_t nlanes, const uint8_t *src, uint64_t nbytes)
{
    memset(d, 0, sizeof *d);
    d->begin = begin;
    d->end = src + nbytes;
    if (nbytes % 4)
        return false;
    return begin == FLOE_ANS_LEAST ? begin_unlifted(d, nlanes, src, nbytes) : begin_lanes(d, nlanes, src, nbytes);
}

bool floe_ans_decoder_ended(const floe_ans_decoder *d, uint32_t nlanes)
{
    bool ended = d->at == d->end && !d->cut;
    for (uint32_t i = 0; i < nlanes; i++)
        ended = ended && d->state[i] == d->begin;
    return ended;
}
