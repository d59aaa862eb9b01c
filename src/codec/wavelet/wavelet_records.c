/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/wavelet/wavelet_records.h"

#include <string.h>

#include "stage/lattice/lattice_bytes.h"

static uint64_t ncodes(const floe_records *r) { return 8 * r->grid->size[0] * r->grid->size[1] * r->grid->size[2]; }

static int32_t code_at(const floe_records *r, uint64_t i)
{
    return r->spec->width == 1 ? ((const int8_t *)r->data)[i] : ((const int16_t *)r->data)[i];
}

/* ---- lists ------------------------------------------------------------------------------------------------------------- */

/* Of each code that is not 0, how many come before it since the last one: so many low bits as they are, the rest in unary; then its
 * sign, and its magnitude in unary. */
typedef struct listing {
    uint8_t *to; /* 0 at first; NULL: bits are counted alone */
    uint64_t nbits;
    uint32_t nlow;
} listing;

static void put_bits(listing *l, uint64_t v, uint32_t n)
{
    if (l->to)
        floe_wavelet_bits_put(l->to, l->nbits, n, v);
    l->nbits += n;
}

static void put_unary(listing *l, uint64_t v)
{
    l->nbits += v;
    put_bits(l, 1, 1);
}

static void put_code(listing *l, uint64_t gap, int32_t code)
{
    put_bits(l, gap & (((uint64_t)1 << l->nlow) - 1), l->nlow);
    put_unary(l, gap >> l->nlow);
    put_bits(l, code < 0, 1);
    put_unary(l, (uint64_t)(code < 0 ? -code : code) - 1);
}

/* Calls put_code for all codes that are not 0; returns how many. l: NULL counts them alone, up to more than a list may have. */
static uint64_t list_codes(const floe_records *r, listing *l)
{
    const uint64_t n = ncodes(r), each = 8 * r->spec->width;
    uint64_t count = 0, next = 0;
    for (uint64_t i = 0; i < n && count <= FLOE_WAVELET_LIST_CODES; i += 8) {
        uint64_t any[2] = {0};
        memcpy(any, (const uint8_t *)r->data + i / 8 * each, each);
        for (uint64_t k = i; (any[0] | any[1]) && k < i + 8; k++) {
            const int32_t code = code_at(r, k);
            if (code == 0)
                continue;
            if (l)
                put_code(l, k - next, code);
            next = k + 1;
            count++;
        }
    }
    return count;
}

static void write_list(const floe_records *r, floe_cursor *to)
{
    const uint64_t count = list_codes(r, NULL);
    uint8_t bits[FLOE_WAVELET_LIST_BITS / 8] = {0};
    listing l = {.to = bits, .nlow = floe_wavelet_list_low(ncodes(r), count)};
    floe_write8(to, FLOE_WAVELET_RECORDS_LIST);
    floe_write32(to, (uint32_t)count);
    floe_write8(to, (uint8_t)l.nlow);
    list_codes(r, &l);
    floe_write_bytes(to, bits, floe_ceil_div(l.nbits, 8));
}

typedef struct bits {
    floe_reader *from;
    uint32_t held, nheld;
} bits;

static uint64_t get_bits(bits *b, uint32_t n)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < n; i++, b->held >>= 1, b->nheld--) {
        if (b->nheld == 0) {
            b->held = floe_read8(b->from);
            b->nheld = 8;
        }
        v |= (uint64_t)(b->held & 1) << i;
    }
    return v;
}

static uint64_t get_unary(bits *b, uint64_t most)
{
    uint64_t n = 0;
    while (n < most && !b->from->bad && get_bits(b, 1) == 0)
        n++;
    return n;
}

/* Returns how many codes are not there, or none: more than 0. r->data NULL: looks for the end alone. */
static uint64_t read_list(const floe_records *r, uint32_t *nlow, floe_reader *from)
{
    const uint64_t n = ncodes(r), count = floe_read32(from), most = r->spec->width == 1 ? INT8_MAX : INT16_MAX;
    bits b = {.from = from};
    *nlow = floe_read8(from);
    if (from->bad || *nlow > 31)
        return 1;
    for (uint64_t i = 0, at = 0; i < count; i++, at++) {
        const uint64_t low = get_bits(&b, *nlow);
        at += low + (get_unary(&b, UINT32_MAX) << *nlow);
        const bool negative = get_bits(&b, 1);
        const uint64_t size = get_unary(&b, most) + 1;
        if (from->bad || (r->data && (at >= n || at % 8 == 7 || size > most)))
            return count - i;
        if (r->data && r->spec->width == 1)
            ((int8_t *)r->data)[at] = (int8_t)(negative ? -(int32_t)size : (int32_t)size);
        else if (r->data)
            ((int16_t *)r->data)[at] = (int16_t)(negative ? -(int32_t)size : (int32_t)size);
    }
    return 0;
}

static uint64_t list_end(const floe_records *r, const uint8_t *base, uint64_t at, uint64_t have)
{
    floe_reader from = floe_reader_of(base + at, (size_t)(have - at));
    uint32_t nlow;
    const uint64_t left = read_list(r, &nlow, &from);
    if (!from.bad)
        return (uint64_t)(from.at - base);
    /* of one code a bit at least; of the others the low bits, and one of each of their parts */
    return have + floe_ceil_div(1 + (left - 1) * (nlow + 3), 8);
}

/* Records that a list does not name. */
static void clear(const floe_records *r, const floe_context_box *p)
{
    const uint64_t each = 8 * r->spec->width, *n = r->grid->size;
    for (uint64_t plane = p->lo[0]; plane < p->hi[0]; plane++)
        for (uint64_t row = p->lo[1]; row < p->hi[1]; row++)
            memset((uint8_t *)r->data + ((plane * n[1] + row) * n[2] + p->lo[2]) * each, 0,
                   (p->hi[2] - p->lo[2]) * each);
}

/* ---- either ------------------------------------------------------------------------------------------------------------ */

uint64_t floe_wavelet_records_bits(const floe_records_coder *e, const floe_records *r, uint32_t *counts, bool *list)
{
    const uint64_t lanes = floe_records_count(e, r, 1, counts);
    floe_context_tally t = floe_context_tally_of(r->spec, counts);
    t.lanes = lanes;
    listing l = {.nlow = floe_wavelet_list_low(ncodes(r), t.ncodes)};
    const uint64_t coded = floe_wavelet_chunks_bits(&t);
    *list = floe_wavelet_may_list(t.ncodes, coded);
    if (*list) {
        list_codes(r, &l);
        *list = floe_wavelet_is_list(l.nbits, coded);
    }
    if (*list)
        memset(counts, 0, sizeof *counts * FLOE_CONTEXT_COUNTS);
    return *list ? l.nbits + FLOE_WAVELET_LIST_HEAD_BITS : coded;
}

void floe_wavelet_records_begin(const floe_records *r, const floe_wavelet_records_way *way, floe_records_sizes *sizes,
                                floe_cursor *to)
{
    if (way->list) {
        write_list(r, to);
        return;
    }
    floe_write8(
        to, (uint8_t)((sizes->wide ? FLOE_WAVELET_RECORDS_WIDE : 0) | (way->own ? FLOE_WAVELET_RECORDS_TABLES : 0)));
    if (way->own)
        floe_records_tables_write(r->spec, way->tables, to);
    sizes->at = floe_write_space(to, floe_context_nchunks(r->grid) * (sizes->wide ? 4 : 2));
    floe_lattice_pad_write(to, way->base);
}

bool floe_wavelet_records_open(const floe_records_coder *e, const floe_records *r,
                               const floe_wavelet_records_wanted *wanted, floe_records_stream *stream,
                               floe_reader *from)
{
    const uint32_t flags = floe_read8(from);
    uint32_t nlow;
    *stream = (floe_records_stream){.wide = flags & FLOE_WAVELET_RECORDS_WIDE};
    if (flags == FLOE_WAVELET_RECORDS_LIST) {
        for (uint32_t i = 0; i < wanted->nparts; i++)
            clear(r, &wanted->parts[i]);
        return read_list(r, &nlow, from) == 0;
    }
    if (from->bad || flags > (FLOE_WAVELET_RECORDS_WIDE | FLOE_WAVELET_RECORDS_TABLES))
        return false;
    if (flags & FLOE_WAVELET_RECORDS_TABLES && !floe_records_tables_read(r->spec, from, wanted->tables))
        return false;
    floe_context_decoder_of(r->spec, wanted->tables, wanted->ans_begin, e->decoder);
    stream->sizes = floe_read_bytes(from, floe_context_nchunks(r->grid) * (stream->wide ? 4 : 2));
    return stream->sizes && floe_lattice_pad_read(from, wanted->base);
}

uint64_t floe_wavelet_records_find(const floe_records *r, const uint8_t *base, uint64_t at, uint64_t have,
                                   floe_records_stream *stream)
{
    *stream = (floe_records_stream){.sizes = NULL};
    if (at >= have)
        return at + 1;
    const uint32_t flags = base[at++];
    if (flags == FLOE_WAVELET_RECORDS_LIST)
        return list_end(r, base, at, have);
    if (flags & FLOE_WAVELET_RECORDS_TABLES) {
        at += 2;
        if (at > have)
            return at;
        at += floe_load16(base + at - 2);
    }
    stream->wide = flags & FLOE_WAVELET_RECORDS_WIDE;
    stream->sizes = base + at;
    return (at + floe_context_nchunks(r->grid) * (stream->wide ? 4 : 2) + 3) & ~(uint64_t)3;
}

uint64_t floe_wavelet_records_end(const floe_records *r, const uint8_t *base, uint64_t at, uint64_t have)
{
    floe_records_stream s;
    at = floe_wavelet_records_find(r, base, at, have, &s);
    return at + (s.sizes && at <= have ? floe_records_sizes_add(s.sizes, s.wide, floe_context_nchunks(r->grid)) : 0);
}
