/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunk records, index and footer. */
#include "container/layout.h"

#include "base/checksum.h"
#include "base/try.h"

typedef unsigned long long ull;

/* ---- records ----------------------------------------------------------------------------------------------------- */

enum { RECORD_CHECK_AT = FLOE_RECORD_HEAD_NBYTES - 4 };

uint64_t floe_record_nbytes(uint64_t payload_nbytes)
{
    return payload_nbytes <= UINT64_MAX - FLOE_RECORD_HEAD_NBYTES - 7
               ? FLOE_RECORD_HEAD_NBYTES + floe_round_up8(payload_nbytes)
               : 0;
}

void floe_record_head_write(const floe_record *record, void *dst)
{
    uint8_t *p = dst;
    memcpy(p, FLOE_MAGIC_RECORD, FLOE_MAGIC_NBYTES);
    floe_store64(p + 8, record->chunk);
    floe_store64(p + 16, record->nbytes);
    floe_store64(p + 24, record->checksum);
    floe_store32(p + 32, 0);
    floe_store32(p + RECORD_CHECK_AT, (uint32_t)floe_xxh3(p, RECORD_CHECK_AT));
}

floe_status floe_record_head_read(const void *src, size_t nbytes, floe_record *record, floe_error *err)
{
    const uint8_t *p = src;
    FLOE_CHECK(err, nbytes >= FLOE_RECORD_HEAD_NBYTES, FLOE_ERR_FORMAT,
               "the stream is cut short: a chunk's head has %d bytes, only %zu are there", (int)FLOE_RECORD_HEAD_NBYTES,
               nbytes);
    FLOE_CHECK(err, memcmp(p, FLOE_MAGIC_RECORD, FLOE_MAGIC_NBYTES) == 0, FLOE_ERR_FORMAT, "no chunk begins here");
    FLOE_CHECK(err, floe_load32(p + RECORD_CHECK_AT) == (uint32_t)floe_xxh3(p, RECORD_CHECK_AT), FLOE_ERR_CHECKSUM,
               "the head of a chunk is damaged: its checksum does not match");
    floe_record r = {floe_load64(p + 8), floe_load64(p + 16), floe_load64(p + 24)};
    FLOE_CHECK(err, floe_load32(p + 32) == 0, FLOE_ERR_FORMAT, "a reserved field in the head of chunk %llu is not zero",
               (ull)r.chunk);
    FLOE_CHECK(err, floe_record_nbytes(r.nbytes), FLOE_ERR_FORMAT,
               "chunk %llu says that it has %llu bytes, which cannot be", (ull)r.chunk, (ull)r.nbytes);
    *record = r;
    return FLOE_OK;
}

floe_status floe_payload_check(const floe_record *record, const void *payload, uint64_t nbytes, floe_error *err)
{
    const uint8_t *p = payload;
    uint64_t needed = floe_record_nbytes(record->nbytes);
    FLOE_CHECK(err, needed && nbytes >= needed - FLOE_RECORD_HEAD_NBYTES, FLOE_ERR_FORMAT,
               "the stream is cut short: chunk %llu has %llu bytes, only %llu are there", (ull)record->chunk,
               (ull)record->nbytes, (ull)nbytes);
    FLOE_CHECK(err, floe_checksum(p, record->nbytes) == record->checksum, FLOE_ERR_CHECKSUM,
               "chunk %llu is damaged: its checksum does not match", (ull)record->chunk);
    for (uint64_t i = record->nbytes; i < needed - FLOE_RECORD_HEAD_NBYTES; i++)
        FLOE_CHECK(err, p[i] == 0, FLOE_ERR_CHECKSUM, "chunk %llu is damaged: its padding is not zero",
                   (ull)record->chunk);
    return FLOE_OK;
}

/* ---- index and footer -------------------------------------------------------------------------------------------- */

/* 2^58 entries keep every size below 2^63. */
uint64_t floe_index_nbytes(uint64_t nchunks)
{
    if (nchunks > (uint64_t)1 << 58)
        return 0;
    return nchunks * FLOE_INDEX_ENTRY_NBYTES + FLOE_INDEX_CHECK_NBYTES + FLOE_FOOTER_NBYTES;
}

void floe_index_write(const floe_index_entry *entries, uint64_t nchunks, uint64_t index_offset, void *dst)
{
    uint8_t *p = dst;
    for (uint64_t i = 0; i < nchunks; i++, p += FLOE_INDEX_ENTRY_NBYTES) {
        floe_store64(p, entries[i].offset);
        floe_store64(p + 8, entries[i].record.nbytes);
        floe_store64(p + 16, entries[i].record.checksum);
    }
    floe_store64(p, floe_checksum(dst, nchunks * FLOE_INDEX_ENTRY_NBYTES));
    p += FLOE_INDEX_CHECK_NBYTES;
    memcpy(p, FLOE_MAGIC_FOOTER, FLOE_MAGIC_NBYTES);
    floe_store64(p + 8, index_offset);
    floe_store64(p + 16, nchunks);
    floe_store64(p + 24, index_offset + floe_index_nbytes(nchunks));
    floe_store64(p + 32, floe_xxh3(p, 32));
}

floe_status floe_footer_read(const void *src, size_t nbytes, uint64_t stream_nbytes, uint64_t nchunks,
                             uint64_t *index_offset, floe_error *err)
{
    const uint8_t *p = src;
    FLOE_CHECK(err, nbytes >= FLOE_FOOTER_NBYTES, FLOE_ERR_FORMAT,
               "the stream is cut short: its footer has %d bytes, only %zu are there", (int)FLOE_FOOTER_NBYTES, nbytes);
    FLOE_CHECK(err, memcmp(p, FLOE_MAGIC_FOOTER, FLOE_MAGIC_NBYTES) == 0, FLOE_ERR_FORMAT,
               "the stream has no footer at its end: it is cut short, or something follows it");
    FLOE_CHECK(err, floe_load64(p + 32) == floe_xxh3(p, 32), FLOE_ERR_CHECKSUM,
               "the footer is damaged: its checksum does not match");
    uint64_t offset = floe_load64(p + 8), count = floe_load64(p + 16), total = floe_load64(p + 24);
    FLOE_CHECK(err, total == stream_nbytes, FLOE_ERR_FORMAT, "the footer says %llu bytes in all, the stream has %llu",
               (ull)total, (ull)stream_nbytes);
    FLOE_CHECK(err, count == nchunks, FLOE_ERR_FORMAT, "the header says %llu chunks, the index holds %llu",
               (ull)nchunks, (ull)count);
    uint64_t index_nbytes = floe_index_nbytes(nchunks);
    FLOE_CHECK(err, index_nbytes && index_nbytes <= total && offset == total - index_nbytes, FLOE_ERR_FORMAT,
               "the footer says that the index lies at %llu, which does not fit %llu chunks in %llu bytes", (ull)offset,
               (ull)count, (ull)total);
    *index_offset = offset;
    return FLOE_OK;
}

floe_status floe_index_check(const void *src, size_t nbytes, uint64_t nchunks, uint64_t header_nbytes,
                             uint64_t index_offset, floe_error *err)
{
    const uint8_t *p = src;
    uint64_t needed = floe_index_nbytes(nchunks), at = header_nbytes;
    FLOE_CHECK(err, needed && nbytes >= needed - FLOE_FOOTER_NBYTES, FLOE_ERR_FORMAT,
               "the index is cut short: %llu chunks, but %zu bytes", (ull)nchunks, nbytes);
    uint64_t entries_nbytes = nchunks * FLOE_INDEX_ENTRY_NBYTES;
    FLOE_CHECK(err, floe_load64(p + entries_nbytes) == floe_checksum(p, entries_nbytes), FLOE_ERR_CHECKSUM,
               "the index is damaged: its checksum does not match");
    for (uint64_t i = 0; i < nchunks; i++) {
        floe_index_entry entry;
        floe_index_entry_read(p, i, &entry);
        uint64_t record_nbytes = floe_record_nbytes(entry.record.nbytes);
        FLOE_CHECK(err, entry.offset == at, FLOE_ERR_FORMAT,
                   "the index says that chunk %llu lies at %llu instead of %llu", (ull)i, (ull)entry.offset, (ull)at);
        FLOE_CHECK(err, record_nbytes && at <= index_offset && record_nbytes <= index_offset - at, FLOE_ERR_FORMAT,
                   "the index says that chunk %llu has %llu bytes, which reach past the chunks' end at %llu", (ull)i,
                   (ull)entry.record.nbytes, (ull)index_offset);
        at += record_nbytes;
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
