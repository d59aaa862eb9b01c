/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of the format that only the container itself needs; the layout is in docs/format/container.md. */
#ifndef FLOE_CONTAINER_LAYOUT_H
#define FLOE_CONTAINER_LAYOUT_H

#include "base/bytes.h"
#include "container/container.h"

/* Magics begin with a byte that no text has, and hold a CR LF that a transfer as text would change. */
#define FLOE_MAGIC_HEADER \
    "\xf1"                \
    "FLOE\r\n\x1a"
#define FLOE_MAGIC_RECORD \
    "\xf2"                \
    "CHUNK\r\n"
#define FLOE_MAGIC_FOOTER \
    "\xf3"                \
    "INDEX\r\n"

enum {
    FLOE_MAGIC_NBYTES = 8,
    FLOE_MIN_READER_VERSION = 1,   /* oldest reader that understands what we write */
    FLOE_HEADER_FIXED_NBYTES = 72, /* up to the shape */
    FLOE_HEADER_CHECK_NBYTES = 8,
    FLOE_HEADER_FLAG_FILL = 1,
    FLOE_ITEM_HEAD_NBYTES = 8,
    FLOE_ITEM_TEXT = 1,           /* an attribute */
    FLOE_ITEM_OPTIONAL = 0x8000,  /* items with this bit may be skipped by readers that do not know them */
    FLOE_INDEX_ENTRY_NBYTES = 24, /* offset, payload size, payload checksum */
    FLOE_INDEX_CHECK_NBYTES = 8
};

/* One item behind the fixed part of a header. */
typedef struct floe_item {
    uint16_t tag;
    size_t key_nbytes, value_nbytes;
    const uint8_t *key, *value;
} floe_item;

/* Reads the next item and checks that it is well formed: sizes, zero padding, and texts if it is one. */
floe_status floe_item_read(floe_reader *reader, floe_item *item, floe_error *err);
/* Bytes of an attribute as an item; 0 if its texts are not valid. */
uint64_t floe_attr_nbytes(const floe_attr *attr);
void floe_attr_write(floe_cursor *cursor, const floe_attr *attr);

/* Is every field within the ranges that container.h states? Says FORMAT or UNSUPPORTED, with what is wrong. */
floe_status floe_header_check(const floe_header *header, floe_error *err);

static inline uint64_t floe_round_up8(uint64_t n) { return (n + 7) & ~(uint64_t)7; } /* n <= UINT64_MAX - 7 */

#endif
