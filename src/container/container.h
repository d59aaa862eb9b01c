/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The .floe container: header, chunk records, index, footer. Knows bytes, not codecs. All parsing is of untrusted bytes:
 * every function that reads checks all that it returns. Layout: docs/format/container.md.
 *
 *   header | chunk record 0 | chunk record 1 | ... | index | footer
 */
#ifndef FLOE_CONTAINER_CONTAINER_H
#define FLOE_CONTAINER_CONTAINER_H

#include <stdbool.h>

#include <floe/floe.h>

#include "base/dev_record.h"

enum {
    FLOE_FORMAT_VERSION = 4,          /* the newest that is known */
    FLOE_HEADER_MIN_NBYTES = 16,      /* magic, version and header size: enough to know how much to read */
    FLOE_HEADER_MAX_NBYTES = 1 << 20, /* attributes included */
    FLOE_HEADER_MAX_ATTRS = 1024,
    FLOE_FOOTER_NBYTES = 40
};

/* The ranges that hold in every header; floe_header_write and floe_header_read refuse others. Lossless: bound and
 * abs_bound are 0 (writing: whatever they hold). Else bound > 0 and finite, for prec whole and at most 64; abs_bound >= 0 and
 * finite, but NaN for pwrel, rate and prec, the latter two of codec zfp only.
 * value_min and value_max: both NaN, or both finite and in order. Attributes: keys of 1 to 65535 bytes without control
 * characters, values without control characters other than tab and line ends; both UTF-8. A key that occurs twice: the
 * first counts. */
typedef struct floe_header {
    uint32_t version; /* reading: of the file; writing: ignored, the least that can hold it */
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    uint64_t chunk[FLOE_MAX_RANK]; /* shape of a full chunk, each 1..shape (0 only where shape is 0) */
    floe_codec codec;
    floe_preset preset;
    floe_bound_mode mode;        /* as requested */
    double bound;                /* as requested */
    double abs_bound;            /* resolved; 0 lossless, NaN pwrel, rate, prec */
    double tuner_bound;          /* of floe_codec_params; not in the stream */
    double value_min, value_max; /* NaN: not known */
    bool has_fill;
    uint64_t fill_bits;
    const floe_attr *attrs; /* writing: the caller's; reading: NULL, see floe_header_attr */
    uint32_t nattrs;
} floe_header;

/* Size of the header as written; 0 when the attributes are too many, too large or not valid texts. */
size_t floe_header_nbytes(const floe_header *header);
/* Writes exactly floe_header_nbytes bytes, as of the oldest version that can hold it. ARGUMENT for a header outside the ranges
 * above. */
floe_status floe_header_write(const floe_header *header, void *dst, size_t capacity, floe_error *err);
/* How many bytes the header has, from its first FLOE_HEADER_MIN_NBYTES bytes: FORMAT for no floe file,
 * VERSION for one from the future. */
floe_status floe_header_peek(const void *src, size_t nbytes, size_t *header_nbytes, floe_error *err);
/* Parses and checks a whole header (checksum, ranges, shape overflow, chunk grid). */
floe_status floe_header_read(const void *src, size_t nbytes, floe_header *header, floe_error *err);
/* One item behind the fixed part of a header. */
typedef struct floe_item {
    uint16_t tag;
    size_t key_nbytes, value_nbytes;
    const uint8_t *key, *value;
} floe_item;
/* Attribute i inside a header that floe_header_read accepted. */
floe_status floe_header_attr(const void *src, size_t nbytes, uint32_t i, floe_item *item, floe_error *err);

/* The grid of chunks, in C order. Shapes with a 0 have no chunks. */
uint64_t floe_grid_nchunks(const floe_header *header);
void floe_grid_box(const floe_header *header, uint64_t chunk, uint64_t *lo, uint64_t *extent);

/* One chunk: a head of FLOE_RECORD_HEAD_NBYTES bytes (with its own check, so that a scan can find it), then the payload,
 * zero-padded to a multiple of 8 bytes. */
typedef struct floe_record {
    uint64_t chunk;    /* number in the grid */
    uint64_t nbytes;   /* of the payload, without padding */
    uint64_t checksum; /* floe_checksum of the payload */
} floe_record;
uint64_t floe_record_nbytes(uint64_t payload_nbytes); /* head, payload and padding; 0 on overflow */
void floe_record_head_write(const floe_record *record, void *dst);
floe_status floe_record_head_read(const void *src, size_t nbytes, floe_record *record, floe_error *err);
/* Checks a payload and the padding behind it (nbytes in all are at hand) against its record. */
floe_status floe_payload_check(const floe_record *record, const void *payload, uint64_t nbytes, floe_error *err);

/* The index: for each chunk the offset of its record from the start of the stream, and its record. Records stand in grid
 * order without gaps: the first follows the header, the index follows the last. */
typedef struct floe_index_entry {
    uint64_t offset;
    floe_record record;
} floe_index_entry;
uint64_t floe_index_nbytes(uint64_t nchunks); /* entries with their checksum and the footer; 0 on overflow */
/* Writes index and footer; index_offset is where they will stand in the stream. Entries are in grid order. */
void floe_index_write(const floe_index_entry *entries, uint64_t nchunks, uint64_t index_offset, void *dst);
/* Footer: src is the last FLOE_FOOTER_NBYTES bytes (nbytes of them at hand) of a stream of stream_nbytes, whose header
 * has nchunks chunks. Gives where the index lies. */
floe_status floe_footer_read(const void *src, size_t nbytes, uint64_t stream_nbytes, uint64_t nchunks,
                             uint64_t *index_offset, floe_error *err);
/* Checks and reads entry i of an index (the bytes at index_offset, without footer). floe_index_check first, once: it
 * verifies the checksum and that the records fill the space between header and index. */
floe_status floe_index_check(const void *src, size_t nbytes, uint64_t nchunks, uint64_t header_nbytes,
                             uint64_t index_offset, floe_error *err);
void floe_index_entry_read(const void *src, uint64_t i, floe_index_entry *entry);

#endif
