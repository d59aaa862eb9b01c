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

/* Codes of the symbols that occur -> frequencies. False unless just one has the rest, and there is one. */
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

/* Words of 32 bits that a short chunk takes; nlanes: there is none, or it is no shorter. */
static uint32_t short_words(const floe_ans_encoder *e, uint32_t nlanes)
{
    uint32_t nbits = FLOE_ANS_WIDTH_BITS * nlanes;
    for (uint32_t i = 0; i < nlanes; i++)
        nbits += floe_ans_width_stored(floe_ans_width(e->state[i] - FLOE_ANS_BEGIN));
    const uint32_t n = (nbits + 31) / 32;
    return words_of(e) == 0 && n < nlanes ? n : nlanes;
}

uint32_t floe_ans_encoder_nbytes(const floe_ans_encoder *e, uint32_t nlanes)
{
    return 4 * short_words(e, nlanes) + 2 * (words_of(e) + (words_of(e) & 1));
}

static void put_bits(uint8_t *dst, uint32_t *at, uint32_t value, uint32_t nbits)
{
    for (uint32_t i = 0; i < nbits; i++, ++*at)
        dst[*at / 8] |= (uint8_t)((value >> i & 1) << *at % 8);
}

static uint32_t get_bits(const uint8_t *src, uint32_t *at, uint32_t nbits)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < nbits; i++, ++*at)
        value |= (uint32_t)(src[*at / 8] >> *at % 8 & 1) << i;
    return value;
}

static void end_short(const floe_ans_encoder *e, uint32_t nlanes, uint32_t nwords, uint8_t *dst)
{
    uint32_t at = 0;
    memset(dst, 0, 4 * nwords);
    for (uint32_t i = 0; i < nlanes; i++)
        put_bits(dst, &at, floe_ans_width(e->state[i] - FLOE_ANS_BEGIN), FLOE_ANS_WIDTH_BITS);
    for (uint32_t i = 0; i < nlanes; i++) {
        const uint32_t distance = e->state[i] - FLOE_ANS_BEGIN, width = floe_ans_width(distance);
        put_bits(dst, &at, floe_ans_distance_low(distance, width), floe_ans_width_stored(width));
    }
}

void floe_ans_encoder_end(const floe_ans_encoder *e, uint32_t nlanes, uint8_t *dst)
{
    const uint32_t pad = words_of(e) & 1, nwords = short_words(e, nlanes);
    if (nwords < nlanes) {
        end_short(e, nlanes, nwords, dst);
        return;
    }
    for (uint32_t i = 0; i < nlanes; i++)
        floe_store32(dst + 4 * i, e->state[i] | (i == 0 ? pad << 31 : 0));
    dst += 4 * nlanes;
    if (pad) {
        floe_store16(dst, 0);
        dst += 2;
    }
    for (const uint16_t *w = e->at; w < e->end; w++, dst += 2)
        floe_store16(dst, *w);
}

static bool begin_short(floe_ans_decoder *d, uint32_t nlanes, const uint8_t *src, uint32_t nbits)
{
    uint32_t at = 0, widths[FLOE_ANS_LANES], needed = FLOE_ANS_WIDTH_BITS * nlanes;
    if (needed > nbits)
        return false;
    for (uint32_t i = 0; i < nlanes; i++) {
        widths[i] = get_bits(src, &at, FLOE_ANS_WIDTH_BITS);
        needed += floe_ans_width_stored(widths[i]);
    }
    if ((needed + 31) / 32 * 32 != nbits)
        return false;
    for (uint32_t i = 0; i < nlanes; i++)
        d->state[i] = d->begin + floe_ans_distance_of(widths[i], get_bits(src, &at, floe_ans_width_stored(widths[i])));
    d->at = d->end = src + nbits / 8;
    return get_bits(src, &at, nbits - needed) == 0;
}

static bool begin_lanes(floe_ans_decoder *d, uint32_t nlanes, const uint8_t *src, uint64_t nbytes)
{
    if (nbytes % 4)
        return false;
    if (nbytes < 4 * (uint64_t)nlanes)
        return begin_short(d, nlanes, src, 8 * (uint32_t)nbytes);
    for (uint32_t i = 0; i < nlanes; i++)
        d->state[i] = floe_load32(src + 4 * i);
    const uint32_t pad = d->state[0] >> 31;
    d->state[0] &= ~(1u << 31);
    d->at = src + 4 * nlanes + 2 * pad;
    d->end = src + nbytes;
    return d->at <= d->end;
}

bool floe_ans_decoder_begin(floe_ans_decoder *d, uint32_t begin, uint32_t nlanes, const uint8_t *src, uint64_t nbytes)
{
    memset(d, 0, sizeof *d);
    d->begin = begin;
    if (!begin_lanes(d, nlanes, src, nbytes))
        return false;
    d->least = begin == FLOE_ANS_LEAST || d->at != d->end ? FLOE_ANS_LEAST : 0; /* without words no state was lifted */
    return true;
}

bool floe_ans_decoder_ended(const floe_ans_decoder *d, uint32_t nlanes)
{
    bool ended = d->at == d->end && !d->cut;
    for (uint32_t i = 0; i < nlanes; i++)
        ended = ended && d->state[i] == d->begin;
    return ended;
}
