/* SPDX-License-Identifier: BSD-3-Clause */
/* Damage that is aware of what it damages: a mutant of a coded chunk still adds up, so that the lie is found where it stands and
 * not in the sizes. And streams whose checksums are made right again. */
#ifndef FLOE_TESTS_MUTATION_KIT_H
#define FLOE_TESTS_MUTATION_KIT_H

#include <stdlib.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "codec/lorenzo/format/lorenzo_layout.h"
#include "container/layout.h"
#include "tests/hostile_kit.h"

/* Bytes that grow and shrink. */
typedef struct mutant {
    uint8_t *data;
    uint64_t nbytes, capacity;
} mutant;

/* Not inlined: gcc would warn of sizes that do not occur. */
__attribute__((noinline, unused)) static void mutant_resize(mutant *m, uint64_t nbytes)
{
    if (nbytes > m->capacity) {
        m->capacity = 2 * nbytes;
        m->data = realloc(m->data, (size_t)m->capacity);
        if (!m->data)
            abort();
    }
    if (nbytes > m->nbytes)
        memset(m->data + m->nbytes, 0, (size_t)(nbytes - m->nbytes));
    m->nbytes = nbytes;
}

static inline void mutant_set(mutant *m, const uint8_t *data, uint64_t nbytes)
{
    mutant_resize(m, nbytes);
    memcpy(m->data, data, (size_t)nbytes);
}

/* Replaces `gone` bytes at `at` by n bytes (NULL: zeros). */
static inline void mutant_replace(mutant *m, uint64_t at, uint64_t gone, const uint8_t *bytes, uint64_t n)
{
    uint64_t behind = m->nbytes - at - gone, before = m->nbytes;
    if (n > gone)
        mutant_resize(m, before + n - gone);
    memmove(m->data + at + n, m->data + at + gone, (size_t)behind);
    if (n < gone)
        mutant_resize(m, before + n - gone);
    if (bytes)
        memcpy(m->data + at, bytes, (size_t)n);
    else
        memset(m->data + at, 0, (size_t)n);
}

/* ---- blind damage ------------------------------------------------------------------------------------------------ */

static inline uint64_t odd_number(uint64_t *state)
{
    static const uint64_t odd[] = {0,          1,          2,          31,         32,         33,
                                   127,        255,        256,        8191,       8192,       8193,
                                   0x7FFF,     0xFFFF,     0x10000,    0x7FFFFFFF, 0x80000000, 0xFFFFFFFE,
                                   0xFFFFFFFF, 1ull << 32, 1ull << 62, INT64_MAX,  UINT64_MAX};
    uint64_t r = hostile_random(state);
    return r % 4 ? odd[r / 4 % HOSTILE_COUNT(odd)] : hostile_random(state) >> r / 4 % 64;
}

static inline void damage_byte(mutant *m, uint64_t *state)
{
    if (m->nbytes == 0)
        return;
    uint8_t *at = m->data + hostile_below(state, m->nbytes);
    uint64_t r = hostile_random(state);
    *at = r & 1 ? (uint8_t)(*at ^ 1u << (r >> 8) % 8) : (uint8_t)(r >> 16);
}

static inline void damage_word(mutant *m, uint64_t *state)
{
    if (m->nbytes < 4)
        return;
    uint8_t *at = m->data + 4 * hostile_below(state, m->nbytes / 4);
    uint32_t w = floe_load32(at), r = (uint32_t)hostile_below(state, 4);
    floe_store32(at, r == 0 ? w + 1 : r == 1 ? w - 1 : r == 2 ? ~w : (uint32_t)odd_number(state));
}

/* Cut, grown, or a piece copied over another. */
static inline void damage_length(mutant *m, uint64_t *state)
{
    uint64_t r = hostile_below(state, 3), n = hostile_below(state, m->nbytes + 1);
    if (r == 0)
        mutant_resize(m, n);
    else if (r == 1)
        mutant_resize(m, m->nbytes + hostile_below(state, 64));
    else if (n)
        memmove(m->data + hostile_below(state, m->nbytes - n + 1), m->data + hostile_below(state, m->nbytes - n + 1),
                (size_t)n);
}

static inline void damage_blindly(mutant *m, uint64_t *state)
{
    switch (hostile_below(state, 8)) {
    case 0: damage_length(m, state); break;
    case 1:
    case 2:
    case 3: damage_word(m, state); break;
    default: damage_byte(m, state); break;
    }
}

/* ---- a chunk of codec lorenzo ------------------------------------------------------------------------------------ */

enum { AT_TABLE = 4, AT_BOOK = 8, AT_STEP = 16, AT_PALETTE = 24, AT_NTILES = 48, AT_NWORDS = 56 };

/* Where its parts begin, as its header has it. False when that lies outside. */
typedef struct chunk_parts {
    uint64_t book_at, entries_at, payload_at, ntiles;
} chunk_parts;

static inline bool chunk_parts_of(const mutant *m, floe_dtype dtype, chunk_parts *p)
{
    if (m->nbytes < FLOE_LORENZO_HEADER_NBYTES)
        return false;
    p->ntiles = floe_load64(m->data + AT_NTILES);
    p->book_at = FLOE_LORENZO_HEADER_NBYTES + floe_load32(m->data + AT_TABLE) * (uint64_t)floe_dtype_size(dtype);
    p->entries_at = p->book_at + 4 * (uint64_t)floe_load32(m->data + AT_BOOK);
    p->payload_at = p->entries_at + 4 * p->ntiles;
    return p->ntiles && p->ntiles < 1 << 20 && p->payload_at <= m->nbytes;
}

/* Makes sizes add up again: the payload is what the entries hold, and the chunk ends there. */
static inline void chunk_refit(mutant *m, floe_dtype dtype)
{
    chunk_parts p;
    uint64_t n = 0;
    if (!chunk_parts_of(m, dtype, &p))
        return;
    for (uint64_t i = 0; i < p.ntiles; i++)
        n += floe_load32(m->data + p.entries_at + 4 * i) & FLOE_TILE_NWORDS_MASK;
    if (n > 1 << 18)
        return; /* entries that are no entries: a megabyte of zeros would teach nothing */
    floe_store64(m->data + AT_NWORDS, n);
    mutant_resize(m, p.payload_at + 4 * n);
}

static inline void damage_header(mutant *m, uint64_t *state)
{
    if (m->nbytes < FLOE_LORENZO_HEADER_NBYTES)
        return;
    uint8_t *h = m->data;
    double step = hostile_value(
        FLOE_F64, hostile_random(state) % 3 ? hostile_special(FLOE_F64, hostile_random(state))
                                            : hostile_bits(FLOE_F64, ldexp(1, (int)hostile_below(state, 2000) - 1000)));
    switch (hostile_below(state, 10)) {
    case 0: h[0] ^= 1; break;
    case 1: h[1] = (uint8_t)hostile_below(state, 5); break;
    case 2: h[2] ^= 1; break;
    case 3: h[hostile_below(state, 16)] = (uint8_t)hostile_random(state); break;
    case 4: floe_store32(h + AT_TABLE, (uint32_t)odd_number(state)); break;
    case 5: floe_store32(h + AT_BOOK, (uint32_t)odd_number(state)); break;
    case 6: floe_store64(h + AT_PALETTE + 8 * hostile_below(state, 3), hostile_random(state)); break;
    case 7: floe_store64(h + (hostile_random(state) & 1 ? AT_NTILES : AT_NWORDS), odd_number(state)); break;
    default: floe_store64(h + AT_STEP, floe_bits_f64(fabs(step))); break;
    }
}

static inline void damage_entry(mutant *m, const chunk_parts *p, uint64_t *state)
{
    uint64_t i = hostile_below(state, p->ntiles);
    uint8_t *at = m->data + p->entries_at + 4 * i;
    uint32_t e = floe_load32(at), n = e & FLOE_TILE_NWORDS_MASK;
    switch (hostile_below(state, 6)) {
    case 0: e ^= (uint32_t)(1 + hostile_below(state, 3)) << FLOE_TILE_KIND_SHIFT; break;
    case 1: e ^= FLOE_TILE_EXCEPTIONS; break;
    case 2: e ^= FLOE_TILE_SIGNS; break;
    case 3: e ^= (uint32_t)(1 + hostile_below(state, 3)) << FLOE_TILE_MODE_SHIFT; break;
    case 4: e = (e - n) | (uint32_t)odd_number(state) % 0x10000; break;
    default: /* words wander to the next tile: all sizes still add up */
        if (i + 1 < p->ntiles && n) {
            uint32_t some = 1 + (uint32_t)hostile_below(state, n), next = floe_load32(at + 4);
            if ((next & FLOE_TILE_NWORDS_MASK) + some <= FLOE_TILE_NWORDS_MASK) {
                e -= some;
                floe_store32(at + 4, next + some);
            }
        }
    }
    floe_store32(at, e);
}

/* Words of one tile are changed near its start, where its structure stands, or come or go. */
static inline void damage_tile(mutant *m, const chunk_parts *p, uint64_t *state)
{
    uint64_t i = hostile_below(state, p->ntiles), at = p->payload_at;
    for (uint64_t k = 0; k < i; k++)
        at += 4 * (uint64_t)(floe_load32(m->data + p->entries_at + 4 * k) & FLOE_TILE_NWORDS_MASK);
    uint8_t *entry = m->data + p->entries_at + 4 * i;
    uint64_t n = floe_load32(entry) & FLOE_TILE_NWORDS_MASK;
    if (n == 0 || at + 4 * n > m->nbytes)
        return;
    uint64_t word = hostile_below(state, 1 + hostile_below(state, n)), some = 1 + hostile_below(state, 4);
    uint64_t r = hostile_below(state, 6);
    if (r == 0 && n + some <= FLOE_TILE_NWORDS_MASK) {
        mutant_replace(m, at + 4 * word, 0, NULL, 4 * some);
        floe_store32(m->data + p->entries_at + 4 * i, floe_load32(m->data + p->entries_at + 4 * i) + (uint32_t)some);
    } else if (r == 1 && word + some <= n) {
        mutant_replace(m, at + 4 * word, 4 * some, NULL, 0);
        floe_store32(m->data + p->entries_at + 4 * i, floe_load32(m->data + p->entries_at + 4 * i) - (uint32_t)some);
    } else {
        uint32_t w = floe_load32(m->data + at + 4 * word), bit = 1u << hostile_below(state, 32);
        floe_store32(m->data + at + 4 * word, r < 4 ? w ^ bit : (uint32_t)odd_number(state));
    }
}

/* A part of another chunk takes the place of ours: table, book, entries or tiles. */
static inline void damage_splice(mutant *m, const chunk_parts *p, const mutant *other, floe_dtype dtype,
                                 uint64_t *state)
{
    chunk_parts q;
    if (!chunk_parts_of(other, dtype, &q))
        return;
    const uint64_t ours[] = {FLOE_LORENZO_HEADER_NBYTES, p->book_at, p->entries_at, p->payload_at, m->nbytes};
    const uint64_t theirs[] = {FLOE_LORENZO_HEADER_NBYTES, q.book_at, q.entries_at, q.payload_at, other->nbytes};
    const int counts[] = {AT_TABLE, AT_BOOK, AT_NTILES, AT_NWORDS};
    uint64_t part = hostile_below(state, 5);
    if (part == 4) { /* the header, with our counts or theirs */
        memcpy(m->data + (hostile_random(state) & 1 ? 0 : AT_STEP), other->data, AT_NTILES - AT_STEP);
        return;
    }
    memcpy(m->data + counts[part], other->data + counts[part], part < 2 ? 4 : 8);
    mutant_replace(m, ours[part], ours[part + 1] - ours[part], other->data + theirs[part],
                   theirs[part + 1] - theirs[part]);
}

/* One to four changes, and mostly sizes that add up. */
static inline void chunk_damage(mutant *m, const mutant *other, floe_dtype dtype, uint64_t *state)
{
    for (uint64_t k = 1 + hostile_below(state, 4); k > 0; k--) {
        chunk_parts p;
        uint64_t what = hostile_below(state, 16);
        if (what < 2 || !chunk_parts_of(m, dtype, &p))
            damage_blindly(m, state);
        else if (what < 4)
            damage_header(m, state);
        else if (what < 7)
            damage_entry(m, &p, state);
        else if (what < 9)
            damage_splice(m, &p, other, dtype, state);
        else
            damage_tile(m, &p, state);
    }
    if (hostile_below(state, 8))
        chunk_refit(m, dtype);
}

/* ---- a stream ---------------------------------------------------------------------------------------------------- */

/* Makes all checksums and the length in the footer right. */
static inline void stream_repair(uint8_t *p, uint64_t n)
{
    size_t header = 0;
    if (floe_header_peek(p, (size_t)n, &header, NULL) == FLOE_OK && header <= n && header >= FLOE_HEADER_CHECK_NBYTES)
        floe_store64(p + header - FLOE_HEADER_CHECK_NBYTES, floe_xxh3(p, header - FLOE_HEADER_CHECK_NBYTES));
    for (uint64_t at = 0; at + FLOE_RECORD_HEAD_NBYTES <= n; at += 8)
        if (memcmp(p + at, FLOE_MAGIC_RECORD, FLOE_MAGIC_NBYTES) == 0) {
            uint64_t nbytes = floe_load64(p + at + 16);
            if (nbytes <= n - at - FLOE_RECORD_HEAD_NBYTES)
                floe_store64(p + at + 24, floe_checksum(p + at + FLOE_RECORD_HEAD_NBYTES, nbytes));
            floe_store32(p + at + 36, (uint32_t)floe_xxh3(p + at, 36));
        }
    if (n < FLOE_FOOTER_NBYTES + FLOE_INDEX_CHECK_NBYTES)
        return;
    uint8_t *footer = p + n - FLOE_FOOTER_NBYTES;
    floe_store64(footer + 24, n);
    floe_store64(footer + 32, floe_xxh3(footer, 32));
    uint64_t index = floe_load64(footer + 8), end = n - FLOE_FOOTER_NBYTES - FLOE_INDEX_CHECK_NBYTES;
    if (index <= end)
        floe_store64(p + end, floe_checksum(p + index, end - index));
}

/* Copies the checksums of the records, as they stand, to their entries in the index. */
static inline void stream_reindex(uint8_t *p, uint64_t n)
{
    if (n < FLOE_FOOTER_NBYTES + FLOE_INDEX_CHECK_NBYTES)
        return;
    uint64_t index = floe_load64(p + n - FLOE_FOOTER_NBYTES + 8);
    for (uint64_t at = index; at <= n && n - at >= FLOE_INDEX_ENTRY_NBYTES + FLOE_FOOTER_NBYTES;
         at += FLOE_INDEX_ENTRY_NBYTES) {
        uint64_t record = floe_load64(p + at);
        if (record <= n && n - record >= FLOE_RECORD_HEAD_NBYTES)
            floe_store64(p + at + 16, floe_load64(p + record + 24));
    }
}

/* Mostly blind, as the layout of a container is tested for each field elsewhere; then checksums that are right. */
static inline void stream_damage(mutant *m, const mutant *other, uint64_t *state)
{
    for (uint64_t k = 1 + hostile_below(state, 4); k > 0; k--) {
        uint64_t what = hostile_below(state, 12), n = m->nbytes < other->nbytes ? m->nbytes : other->nbytes;
        if (what == 0 && n > 8) { /* the same place of another stream */
            uint64_t at = 8 * hostile_below(state, n / 8), some = 8 * (1 + hostile_below(state, (n - at) / 8 + 1));
            memcpy(m->data + at, other->data + at, (size_t)(at + some <= n ? some : n - at));
        } else if (what < 4 && m->nbytes >= 120) { /* header: mostly sizes */
            floe_store64(m->data + 16 + 8 * hostile_below(state, 13), odd_number(state));
        } else if (what < 6 && m->nbytes >= 200) { /* index and footer */
            floe_store64(m->data + m->nbytes - 8 * (1 + hostile_below(state, 20)), odd_number(state));
        } else {
            damage_blindly(m, state);
        }
    }
    if (hostile_below(state, 8)) {
        stream_repair(m->data, m->nbytes);
        stream_reindex(m->data, m->nbytes);
        stream_repair(m->data, m->nbytes);
    }
}

#endif
