/* SPDX-License-Identifier: BSD-3-Clause */
/* Records, index, footer, and a whole tiny stream, whose bytes are the worked example of docs/format/container.md. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "container/layout.h"

/* ---- the worked example ------------------------------------------------------------------------------------------ */

enum { EXAMPLE_NBYTES = 328 };

/* 2 x 3 values f32 in two chunks of 1 x 3. The payloads are no codec's: the container does not look into them. */
static const struct {
    const char *bytes;
    size_t nbytes;
} payloads[2] = {{"floe", 4}, {"container", 9}};

/* clang-format off */
static const uint8_t example[] = {
    0xf1, 0x46, 0x4c, 0x4f, 0x45, 0x0d, 0x0a, 0x1a, 0x01, 0x00, 0x01, 0x00, 0x80, 0x00, 0x00, 0x00,
    0x01, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40,
    0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x70, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x30, 0x71, 0x40,
    0x00, 0x3c, 0x1c, 0xc6, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x05, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x75, 0x6e, 0x69, 0x74, 0x73, 0x4b, 0x00, 0x00, 0x70, 0x86, 0x26, 0x62, 0x73, 0xef, 0x8d, 0x90,
    0xf2, 0x43, 0x48, 0x55, 0x4e, 0x4b, 0x0d, 0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x85, 0xe1, 0x14, 0x45, 0xfd, 0x1e, 0x10, 0x4f,
    0x00, 0x00, 0x00, 0x00, 0x85, 0xa5, 0x18, 0xa1, 0x66, 0x6c, 0x6f, 0x65, 0x00, 0x00, 0x00, 0x00,
    0xf2, 0x43, 0x48, 0x55, 0x4e, 0x4b, 0x0d, 0x0a, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2b, 0xfd, 0x07, 0x94, 0xdd, 0x9c, 0xf5, 0x5f,
    0x00, 0x00, 0x00, 0x00, 0x7f, 0x27, 0xb8, 0x44, 0x63, 0x6f, 0x6e, 0x74, 0x61, 0x69, 0x6e, 0x65,
    0x72, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x85, 0xe1, 0x14, 0x45, 0xfd, 0x1e, 0x10, 0x4f,
    0xb0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x2b, 0xfd, 0x07, 0x94, 0xdd, 0x9c, 0xf5, 0x5f, 0xf7, 0x4c, 0x69, 0xdf, 0xc7, 0x01, 0x50, 0x3a,
    0xf3, 0x49, 0x4e, 0x44, 0x45, 0x58, 0x0d, 0x0a, 0xe8, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x48, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0xf3, 0x23, 0x15, 0xd9, 0xcb, 0xec, 0xd6, 0x93,
};
/* clang-format on */

static floe_header example_header(void)
{
    static const floe_attr units = {"units", "K"};
    floe_header h = {.dtype = FLOE_F32,
                     .rank = 2,
                     .shape = {2, 3},
                     .chunk = {1, 3},
                     .codec = FLOE_CODEC_LORENZO,
                     .mode = FLOE_BOUND_REL,
                     .bound = 0.5,
                     .abs_bound = 2,
                     .value_min = 271,
                     .value_max = 275,
                     .has_fill = true,
                     .fill_bits = 0xC61C3C00u, /* -9999 */
                     .attrs = &units,
                     .nattrs = 1};
    return h;
}

static size_t stream_write(const floe_header *h, uint8_t *dst, size_t capacity)
{
    size_t at = floe_header_nbytes(h);
    assert_int_equal(floe_header_write(h, dst, capacity, NULL), FLOE_OK);
    floe_index_entry entries[2];
    for (uint64_t i = 0; i < 2; i++) {
        const void *payload = payloads[i].bytes;
        size_t nbytes = payloads[i].nbytes, whole = (size_t)floe_record_nbytes(nbytes);
        assert_true(at + whole <= capacity);
        entries[i] = (floe_index_entry){at, {i, nbytes, floe_checksum(payload, nbytes)}};
        memset(dst + at, 0, whole);
        floe_record_head_write(&entries[i].record, dst + at);
        memcpy(dst + at + FLOE_RECORD_HEAD_NBYTES, payload, nbytes);
        at += whole;
    }
    assert_true(at + floe_index_nbytes(2) <= capacity);
    floe_index_write(entries, 2, at, dst + at);
    return at + (size_t)floe_index_nbytes(2);
}

/* Reads all of a stream as a careful reader does. */
static floe_status stream_read(const uint8_t *p, size_t n, floe_error *err)
{
    floe_header h;
    size_t header_nbytes = 0;
    uint64_t index_offset = 0;
    if (floe_header_peek(p, n, &header_nbytes, err) != FLOE_OK || floe_header_read(p, n, &h, err) != FLOE_OK)
        return err->status;
    uint64_t nchunks = floe_grid_nchunks(&h);
    if (n < FLOE_FOOTER_NBYTES ||
        floe_footer_read(p + n - FLOE_FOOTER_NBYTES, FLOE_FOOTER_NBYTES, n, nchunks, &index_offset, err) != FLOE_OK)
        return err->status;
    const uint8_t *index = p + index_offset;
    if (floe_index_check(index, n - index_offset - FLOE_FOOTER_NBYTES, nchunks, header_nbytes, index_offset, err) !=
        FLOE_OK)
        return err->status;
    for (uint64_t i = 0; i < nchunks; i++) {
        floe_index_entry entry;
        floe_record record;
        floe_index_entry_read(index, i, &entry);
        const uint8_t *at = p + entry.offset;
        if (floe_record_head_read(at, n - entry.offset, &record, err) != FLOE_OK)
            return err->status;
        if (memcmp(&record, &entry.record, sizeof record) != 0)
            return FLOE_ERR_FORMAT;
        if (floe_payload_check(&record, at + FLOE_RECORD_HEAD_NBYTES,
                               index_offset - entry.offset - FLOE_RECORD_HEAD_NBYTES, err) != FLOE_OK)
            return err->status;
    }
    return FLOE_OK;
}

static void example_is_what_the_document_shows(void **state)
{
    (void)state;
    uint8_t bytes[EXAMPLE_NBYTES];
    floe_header h = example_header();
    size_t n = stream_write(&h, bytes, sizeof bytes);
    floe_error err;
    assert_int_equal(stream_read(bytes, n, &err), FLOE_OK);
    if (getenv("FLOE_PRINT_EXAMPLE"))
        for (size_t i = 0; i < n; i++)
            printf("0x%02x,%s", bytes[i], i % 16 == 15 || i + 1 == n ? "\n" : " ");
    assert_int_equal(n, sizeof example);
    assert_memory_equal(bytes, example, n);
}

static void every_changed_byte_of_a_stream_is_noticed(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(sizeof example);
    memcpy(bytes, example, sizeof example);
    for (size_t i = 0; i < sizeof example; i++)
        for (int x = 1; x < 256; x++) {
            floe_error err = {0};
            bytes[i] ^= (uint8_t)x;
            assert_int_not_equal(stream_read(bytes, sizeof example, &err), FLOE_OK);
            bytes[i] ^= (uint8_t)x;
        }
    free(bytes);
}

static void every_cut_and_every_tail_is_noticed(void **state)
{
    (void)state;
    for (size_t n = 0; n < 2 * sizeof example; n++) {
        uint8_t *bytes = calloc(1, n ? n : 1);
        memcpy(bytes, example, n < sizeof example ? n : sizeof example);
        floe_error err = {0};
        assert_true((stream_read(bytes, n, &err) == FLOE_OK) == (n == sizeof example));
        free(bytes);
    }
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void record_sizes_do_not_overflow(void **state)
{
    (void)state;
    assert_int_equal(floe_record_nbytes(0), 40);
    assert_int_equal(floe_record_nbytes(1), 48);
    assert_int_equal(floe_record_nbytes(8), 48);
    assert_int_equal(floe_record_nbytes(9), 56);
    assert_int_equal(floe_record_nbytes(UINT64_MAX), 0);
    assert_int_equal(floe_record_nbytes(UINT64_MAX - 46), 0);
    assert_int_equal(floe_record_nbytes(UINT64_MAX - 47), UINT64_MAX - 7);
}

static void heads_come_back(void **state)
{
    (void)state;
    static const floe_record records[] = {{0, 0, 0}, {1, 2, 3}, {UINT64_MAX, UINT64_MAX - 47, UINT64_MAX}};
    uint8_t head[FLOE_RECORD_HEAD_NBYTES];
    for (size_t i = 0; i < 3; i++) {
        floe_record back;
        floe_record_head_write(&records[i], head);
        assert_int_equal(floe_record_head_read(head, sizeof head, &back, NULL), FLOE_OK);
        assert_memory_equal(&back, &records[i], sizeof back);
        for (size_t n = 0; n < sizeof head; n++)
            assert_int_equal(floe_record_head_read(head, n, &back, NULL), FLOE_ERR_FORMAT);
    }
    floe_record too_large = {0, UINT64_MAX - 46, 0}, back;
    floe_record_head_write(&too_large, head);
    assert_int_equal(floe_record_head_read(head, sizeof head, &back, NULL), FLOE_ERR_FORMAT);
    floe_record_head_write(&records[1], head);
    floe_store32(head + 32, 1); /* reserved */
    floe_store32(head + 36, (uint32_t)floe_xxh3(head, 36));
    assert_int_equal(floe_record_head_read(head, sizeof head, &back, NULL), FLOE_ERR_FORMAT);
    head[3] ^= 1;
    assert_int_equal(floe_record_head_read(head, sizeof head, &back, NULL), FLOE_ERR_FORMAT);
}

/* A scan over 8-byte boundaries finds both heads of the example and nothing else. */
static void heads_can_be_found_by_a_scan(void **state)
{
    (void)state;
    uint64_t found = 0;
    for (size_t at = 0; at + FLOE_RECORD_HEAD_NBYTES <= sizeof example; at += 8) {
        floe_record record;
        if (floe_record_head_read(example + at, sizeof example - at, &record, NULL) != FLOE_OK)
            continue;
        assert_int_equal(record.chunk, found);
        assert_int_equal(record.nbytes, payloads[found].nbytes);
        found++;
    }
    assert_int_equal(found, 2);
}

static void payloads_are_checked_with_their_padding(void **state)
{
    (void)state;
    uint8_t payload[16] = "container";
    floe_record record = {3, 9, floe_checksum(payload, 9)};
    floe_error err;
    assert_int_equal(floe_payload_check(&record, payload, 16, &err), FLOE_OK);
    assert_int_equal(floe_payload_check(&record, payload, 15, &err), FLOE_ERR_FORMAT);
    payload[15] = 1;
    assert_int_equal(floe_payload_check(&record, payload, 16, &err), FLOE_ERR_CHECKSUM);
    payload[15] = 0, payload[0] ^= 1;
    assert_int_equal(floe_payload_check(&record, payload, 16, &err), FLOE_ERR_CHECKSUM);
    assert_string_equal(err.message, "its checksum does not match: the bytes are damaged");
    record.nbytes = UINT64_MAX;
    assert_int_equal(floe_payload_check(&record, payload, 16, &err), FLOE_ERR_FORMAT);
    record = (floe_record){4, 0, floe_checksum(NULL, 0)};
    assert_int_equal(floe_payload_check(&record, NULL, 0, &err), FLOE_OK);
}

/* ---- index and footer -------------------------------------------------------------------------------------------- */

static void index_sizes_do_not_overflow(void **state)
{
    (void)state;
    uint64_t most = (uint64_t)1 << 58;
    assert_int_equal(floe_index_nbytes(0), 48);
    assert_int_equal(floe_index_nbytes(1), 72);
    assert_int_equal(floe_index_nbytes(most), most * 24 + 48);
    assert_int_equal(floe_index_nbytes(most + 1), 0);
    assert_int_equal(floe_index_nbytes(UINT64_MAX), 0);
}

enum { NCHUNKS = 5, HEADER_NBYTES = 96 };

/* An index of chunks with payloads of 0, 1, .. bytes. */
static uint64_t index_make(floe_index_entry *entries, uint8_t *dst)
{
    uint64_t at = HEADER_NBYTES;
    for (uint64_t i = 0; i < NCHUNKS; i++) {
        entries[i] = (floe_index_entry){at, {i, i * 3, i * 1000003}};
        at += floe_record_nbytes(i * 3);
    }
    floe_index_write(entries, NCHUNKS, at, dst);
    return at;
}

static floe_status index_status(const floe_index_entry *entries, uint64_t index_offset, floe_error *err)
{
    uint8_t bytes[NCHUNKS * 24 + 48];
    floe_index_write(entries, NCHUNKS, index_offset, bytes);
    return floe_index_check(bytes, sizeof bytes - FLOE_FOOTER_NBYTES, NCHUNKS, HEADER_NBYTES, index_offset, err);
}

static void an_index_comes_back(void **state)
{
    (void)state;
    uint8_t bytes[NCHUNKS * 24 + 48];
    floe_index_entry entries[NCHUNKS], back;
    uint64_t at = index_make(entries, bytes), offset = 0;
    size_t body = sizeof bytes - FLOE_FOOTER_NBYTES;
    assert_int_equal(floe_footer_read(bytes + body, FLOE_FOOTER_NBYTES, at + sizeof bytes, NCHUNKS, &offset, NULL),
                     FLOE_OK);
    assert_int_equal(offset, at);
    assert_int_equal(floe_index_check(bytes, body, NCHUNKS, HEADER_NBYTES, at, NULL), FLOE_OK);
    assert_int_equal(floe_index_check(bytes, body - 1, NCHUNKS, HEADER_NBYTES, at, NULL), FLOE_ERR_FORMAT);
    assert_int_equal(floe_index_check(bytes, body, (uint64_t)-1, HEADER_NBYTES, at, NULL), FLOE_ERR_FORMAT);
    assert_int_equal(floe_index_check(bytes, body, NCHUNKS - 1, HEADER_NBYTES, at, NULL), FLOE_ERR_CHECKSUM);
    for (uint64_t i = 0; i < NCHUNKS; i++) {
        floe_index_entry_read(bytes, i, &back);
        assert_memory_equal(&back, &entries[i], sizeof back);
    }
}

static void an_index_that_lies_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[NCHUNKS * 24 + 48];
    floe_index_entry good[NCHUNKS], e[NCHUNKS];
    uint64_t at = index_make(good, bytes);
    floe_error err;
    static const uint64_t offsets[] = {
        0, 8, HEADER_NBYTES - 8, HEADER_NBYTES + 8, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63};
    assert_int_equal(index_status(good, at, &err), FLOE_OK);
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        memcpy(e, good, sizeof e);
        e[2].offset = offsets[i];
        assert_int_equal(index_status(e, at, &err), FLOE_ERR_FORMAT);
        memcpy(e, good, sizeof e);
        e[NCHUNKS - 1].record.nbytes = offsets[i] | 1 << 20;
        assert_int_equal(index_status(e, at, &err), FLOE_ERR_FORMAT);
        assert_int_equal(index_status(good, offsets[i], &err), FLOE_ERR_FORMAT);
    }
    memcpy(e, good, sizeof e); /* the last record ends early */
    e[NCHUNKS - 1].record.nbytes = 0;
    assert_int_equal(index_status(e, at, &err), FLOE_ERR_FORMAT);
    memcpy(e, good, sizeof e); /* two chunks share a record */
    e[2].offset = e[1].offset;
    assert_int_equal(index_status(e, at, &err), FLOE_ERR_FORMAT);
    assert_string_equal(err.message, "the index says that chunk 2 lies at 136 instead of 184");
}

static void a_footer_that_lies_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[NCHUNKS * 24 + 48], *footer = bytes + NCHUNKS * 24 + 8;
    floe_index_entry entries[NCHUNKS];
    uint64_t total = index_make(entries, bytes) + sizeof bytes, offset;
    floe_error err;
    assert_int_equal(floe_footer_read(footer, 40, total, NCHUNKS + 2, &offset, &err), FLOE_ERR_FORMAT);
    assert_string_equal(err.message, "the header says 7 chunks, the index holds 5");
    assert_int_equal(floe_footer_read(footer, 40, total + 1, NCHUNKS, &offset, &err), FLOE_ERR_FORMAT);
    assert_int_equal(floe_footer_read(footer, 39, total, NCHUNKS, &offset, &err), FLOE_ERR_FORMAT);
    static const uint64_t values[] = {
        0, 1, 4, 6, UINT64_MAX, (uint64_t)1 << 63, (uint64_t)1 << 58, ((uint64_t)1 << 58) + 1};
    for (size_t field = 8; field < 32; field += 8)
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            uint8_t lie[40];
            memcpy(lie, footer, 40);
            floe_store64(lie + field, values[i]);
            floe_store64(lie + 32, floe_xxh3(lie, 32));
            uint64_t nchunks = field == 16 ? values[i] : NCHUNKS; /* agreed with the header, and yet wrong */
            uint64_t stream_nbytes = field == 24 ? values[i] : total;
            assert_int_equal(floe_footer_read(lie, 40, stream_nbytes, nchunks, &offset, &err), FLOE_ERR_FORMAT);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_is_what_the_document_shows),
        cmocka_unit_test(every_changed_byte_of_a_stream_is_noticed),
        cmocka_unit_test(every_cut_and_every_tail_is_noticed),
        cmocka_unit_test(record_sizes_do_not_overflow),
        cmocka_unit_test(heads_come_back),
        cmocka_unit_test(heads_can_be_found_by_a_scan),
        cmocka_unit_test(payloads_are_checked_with_their_padding),
        cmocka_unit_test(index_sizes_do_not_overflow),
        cmocka_unit_test(an_index_comes_back),
        cmocka_unit_test(an_index_that_lies_is_refused),
        cmocka_unit_test(a_footer_that_lies_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
