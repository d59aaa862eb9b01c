/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunk records, index and footer. */
#include "container/layout.h"

#include "base/checksum.h"
#include "base/try.h"

typedef unsigned long long ull;

/* ---- records ----------------------------------------------------------------------------------------------------- */

uint64_t floe_record_nbytes(uint64_t payload_nbytes) { return floe_record_span(payload_nbytes); }

void floe_record_head_write(const floe_record *record, void *dst)
{
    uint64_t words[FLOE_RECORD_HEAD_WORDS];
    floe_record_pack(record, words);
    floe_store_words(dst, words, FLOE_RECORD_HEAD_WORDS);
    words[4] = floe_record_check_word(floe_xxh3(dst, FLOE_RECORD_CHECK_AT));
    floe_store64((uint8_t *)dst + 32, words[4]);
}

static floe_status head_fail(floe_fault fault, const floe_record *r, floe_error *err)
{
    floe_status status = floe_fault_status(fault);
    switch (fault) {
    case FLOE_FAULT_MAGIC: return floe_fail(err, status, "no chunk begins here");
    case FLOE_FAULT_CHECKSUM:
        return floe_fail(err, status, "the head of a chunk is damaged: its checksum does not match");
    case FLOE_FAULT_RESERVED:
        return floe_fail(err, status, "a reserved field in the head of chunk %llu is not zero", (ull)r->chunk);
    default:
        return floe_fail(err, status, "chunk %llu says that it has %llu bytes, which cannot be", (ull)r->chunk,
                         (ull)r->nbytes);
    }
}

floe_status floe_record_head_read(const void *src, size_t nbytes, floe_record *record, floe_error *err)
{
    FLOE_CHECK(err, nbytes >= FLOE_RECORD_HEAD_NBYTES, FLOE_ERR_FORMAT,
               "the stream is cut short: a chunk's head has %d bytes, only %zu are there", (int)FLOE_RECORD_HEAD_NBYTES,
               nbytes);
    uint64_t words[FLOE_RECORD_HEAD_WORDS];
    floe_load_words(words, src, FLOE_RECORD_HEAD_WORDS);
    bool looks_right = memcmp(src, FLOE_MAGIC_RECORD, FLOE_MAGIC_NBYTES) == 0; /* else a scan need not hash */
    floe_record r;
    floe_fault fault = floe_record_unpack(words, looks_right ? floe_xxh3(src, FLOE_RECORD_CHECK_AT) : 0, &r);
    if (fault != FLOE_FAULT_NONE)
        return head_fail(fault, &r, err);
    *record = r;
    return FLOE_OK;
}

floe_status floe_payload_check(const floe_record *record, const void *payload, uint64_t nbytes, floe_error *err)
{
    const uint8_t *p = payload;
    uint64_t needed = floe_record_span(record->nbytes);
    FLOE_CHECK(err, needed && nbytes >= needed - FLOE_RECORD_HEAD_NBYTES, FLOE_ERR_FORMAT,
               "the stream is cut short: the chunk has %llu bytes, only %llu are there", (ull)record->nbytes,
               (ull)nbytes);
    FLOE_CHECK(err, floe_checksum(p, record->nbytes) == record->checksum, FLOE_ERR_CHECKSUM,
               "its checksum does not match: the bytes are damaged");
    for (uint64_t i = record->nbytes; i < needed - FLOE_RECORD_HEAD_NBYTES; i++)
        FLOE_CHECK(err, p[i] == 0, FLOE_ERR_CHECKSUM, "its padding is not zero: the bytes are damaged");
    return FLOE_OK;
}

/* ---- index and footer -------------------------------------------------------------------------------------------- */

uint64_t floe_index_nbytes(uint64_t nchunks) { return floe_index_span(nchunks); }

void floe_index_write(const floe_index_entry *entries, uint64_t nchunks, uint64_t index_offset, void *dst)
{
    uint8_t *p = dst;
    uint64_t words[FLOE_FOOTER_WORDS];
    for (uint64_t i = 0; i < nchunks; i++, p += FLOE_INDEX_ENTRY_NBYTES) {
        floe_index_entry_pack(entries[i].offset, entries[i].record.nbytes, entries[i].record.checksum, words);
        floe_store_words(p, words, FLOE_INDEX_ENTRY_WORDS);
    }
    floe_store64(p, floe_checksum(dst, nchunks * FLOE_INDEX_ENTRY_NBYTES));
    p += FLOE_INDEX_CHECK_NBYTES;
    floe_footer_pack(nchunks, index_offset, words);
    floe_store_words(p, words, FLOE_FOOTER_WORDS);
    floe_store64(p + FLOE_FOOTER_CHECK_AT, floe_xxh3(p, FLOE_FOOTER_CHECK_AT));
}

static floe_status footer_fail(floe_fault fault, const uint64_t *words, uint64_t stream_nbytes, uint64_t nchunks,
                               floe_error *err)
{
    floe_status status = floe_fault_status(fault);
    switch (fault) {
    case FLOE_FAULT_MAGIC:
        return floe_fail(err, status, "the stream has no footer at its end: it is cut short, or something follows it");
    case FLOE_FAULT_CHECKSUM: return floe_fail(err, status, "the footer is damaged: its checksum does not match");
    case FLOE_FAULT_STREAM_SIZE:
        return floe_fail(err, status, "the footer says %llu bytes in all, the stream has %llu", (ull)words[3],
                         (ull)stream_nbytes);
    case FLOE_FAULT_COUNT:
        return floe_fail(err, status, "the header says %llu chunks, the index holds %llu", (ull)nchunks, (ull)words[2]);
    default:
        return floe_fail(err, status,
                         "the footer says that the index lies at %llu, which does not fit %llu chunks in %llu bytes",
                         (ull)words[1], (ull)words[2], (ull)words[3]);
    }
}

floe_status floe_footer_read(const void *src, size_t nbytes, uint64_t stream_nbytes, uint64_t nchunks,
                             uint64_t *index_offset, floe_error *err)
{
    FLOE_CHECK(err, nbytes >= FLOE_FOOTER_NBYTES, FLOE_ERR_FORMAT,
               "the stream is cut short: its footer has %d bytes, only %zu are there", (int)FLOE_FOOTER_NBYTES, nbytes);
    uint64_t words[FLOE_FOOTER_WORDS];
    floe_load_words(words, src, FLOE_FOOTER_WORDS);
    floe_fault fault = floe_footer_fault(words, floe_xxh3(src, FLOE_FOOTER_CHECK_AT), stream_nbytes, nchunks);
    if (fault != FLOE_FAULT_NONE)
        return footer_fail(fault, words, stream_nbytes, nchunks, err);
    *index_offset = words[1];
    return FLOE_OK;
}

floe_status floe_index_check(const void *src, size_t nbytes, uint64_t nchunks, uint64_t header_nbytes,
                             uint64_t index_offset, floe_error *err)
{
    const uint8_t *p = src;
    uint64_t needed = floe_index_span(nchunks), at = header_nbytes;
    FLOE_CHECK(err, needed && nbytes >= needed - FLOE_FOOTER_NBYTES, FLOE_ERR_FORMAT,
               "the index is cut short: %llu chunks, but %zu bytes", (ull)nchunks, nbytes);
    uint64_t entries_nbytes = nchunks * FLOE_INDEX_ENTRY_NBYTES;
    FLOE_CHECK(err, floe_load64(p + entries_nbytes) == floe_checksum(p, entries_nbytes), FLOE_ERR_CHECKSUM,
               "the index is damaged: its checksum does not match");
    for (uint64_t i = 0; i < nchunks; i++) {
        floe_index_entry entry;
        floe_index_entry_read(p, i, &entry);
        floe_fault fault = floe_index_entry_fault(entry.offset, entry.record.nbytes, at, index_offset);
        FLOE_CHECK(err, fault != FLOE_FAULT_ENTRY_OFFSET, FLOE_ERR_FORMAT,
                   "the index says that chunk %llu lies at %llu instead of %llu", (ull)i, (ull)entry.offset, (ull)at);
        FLOE_CHECK(err, fault == FLOE_FAULT_NONE, FLOE_ERR_FORMAT,
                   "the index says that chunk %llu has %llu bytes, which reach past the chunks' end at %llu", (ull)i,
                   (ull)entry.record.nbytes, (ull)index_offset);
        at += floe_record_span(entry.record.nbytes);
    }
    FLOE_CHECK(err, at == index_offset, FLOE_ERR_FORMAT, "the chunks end at %llu, the index begins at %llu", (ull)at,
               (ull)index_offset);
    return FLOE_OK;
}

void floe_index_entry_read(const void *src, uint64_t i, floe_index_entry *entry)
{
    const uint8_t *p = (const uint8_t *)src + i * FLOE_INDEX_ENTRY_NBYTES;
    *entry = (floe_index_entry){floe_load64(p), {i, floe_load64(p + 8), floe_load64(p + 16)}};
}
