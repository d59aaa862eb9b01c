/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The container's bytes, once for both compilers: numbers of the format, records, index and footer as little-endian 64-bit
 * words, and the rules that reading them keeps. The header is in header_math.h. Layout: docs/format/container.md.
 */
#ifndef FLOE_CONTAINER_LAYOUT_MATH_H
#define FLOE_CONTAINER_LAYOUT_MATH_H

#include "base/hd.h"
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
    FLOE_HEADER_FIXED_NBYTES = 72, /* up to the shape */
    FLOE_HEADER_CHECK_NBYTES = 8,
    FLOE_HEADER_FLAG_FILL = 1,
    FLOE_ITEM_HEAD_NBYTES = 8,
    FLOE_ITEM_TEXT = 1,           /* an attribute */
    FLOE_ITEM_OPTIONAL = 0x8000,  /* items with this bit may be skipped by readers that do not know them */
    FLOE_RECORD_CHECK_AT = 36,    /* in a record's head: how much the check covers, and where it stands */
    FLOE_FOOTER_CHECK_AT = 32,    /* in the footer, likewise */
    FLOE_INDEX_ENTRY_NBYTES = 24, /* offset, payload size, payload checksum */
    FLOE_INDEX_CHECK_NBYTES = 8,
    /* the same in words */
    FLOE_RECORD_HEAD_WORDS = FLOE_RECORD_HEAD_NBYTES / 8,
    FLOE_FOOTER_WORDS = FLOE_FOOTER_NBYTES / 8,
    FLOE_INDEX_ENTRY_WORDS = FLOE_INDEX_ENTRY_NBYTES / 8
};

/* What can be wrong with a part: a number above the status that it means. Readers on a CPU report it in words. */
#define FLOE_FAULT_OF(number, status) ((number) << 8 | (int)(status))
typedef enum floe_fault {
    FLOE_FAULT_NONE = 0,
    FLOE_FAULT_MAGIC = FLOE_FAULT_OF(1, FLOE_ERR_FORMAT),
    FLOE_FAULT_CHECKSUM = FLOE_FAULT_OF(2, FLOE_ERR_CHECKSUM),
    FLOE_FAULT_RESERVED = FLOE_FAULT_OF(3, FLOE_ERR_FORMAT),
    FLOE_FAULT_CUT = FLOE_FAULT_OF(4, FLOE_ERR_FORMAT), /* fewer bytes than a part needs */
    /* header */
    FLOE_FAULT_FUTURE = FLOE_FAULT_OF(10, FLOE_ERR_VERSION),
    FLOE_FAULT_VERSIONS = FLOE_FAULT_OF(11, FLOE_ERR_FORMAT),
    FLOE_FAULT_HEADER_SIZE = FLOE_FAULT_OF(12, FLOE_ERR_FORMAT),
    FLOE_FAULT_RANK = FLOE_FAULT_OF(13, FLOE_ERR_FORMAT),
    FLOE_FAULT_AXES = FLOE_FAULT_OF(14, FLOE_ERR_FORMAT),
    FLOE_FAULT_NAN = FLOE_FAULT_OF(15, FLOE_ERR_FORMAT),
    FLOE_FAULT_DTYPE = FLOE_FAULT_OF(16, FLOE_ERR_FORMAT),
    FLOE_FAULT_PRESET = FLOE_FAULT_OF(17, FLOE_ERR_FORMAT),
    FLOE_FAULT_MODE = FLOE_FAULT_OF(18, FLOE_ERR_FORMAT),
    FLOE_FAULT_CODEC = FLOE_FAULT_OF(19, FLOE_ERR_FORMAT),
    FLOE_FAULT_CODEC_UNKNOWN = FLOE_FAULT_OF(20, FLOE_ERR_UNSUPPORTED),
    FLOE_FAULT_SHAPE = FLOE_FAULT_OF(21, FLOE_ERR_FORMAT),
    FLOE_FAULT_CHUNK = FLOE_FAULT_OF(22, FLOE_ERR_FORMAT),
    FLOE_FAULT_NCHUNKS = FLOE_FAULT_OF(23, FLOE_ERR_FORMAT),
    FLOE_FAULT_LOSSLESS = FLOE_FAULT_OF(24, FLOE_ERR_FORMAT),
    FLOE_FAULT_BOUND = FLOE_FAULT_OF(25, FLOE_ERR_FORMAT),
    FLOE_FAULT_NOT_ABSOLUTE = FLOE_FAULT_OF(26, FLOE_ERR_FORMAT),
    FLOE_FAULT_ABS_BOUND = FLOE_FAULT_OF(27, FLOE_ERR_FORMAT),
    FLOE_FAULT_VALUES = FLOE_FAULT_OF(28, FLOE_ERR_FORMAT),
    FLOE_FAULT_FILL = FLOE_FAULT_OF(29, FLOE_ERR_FORMAT),
    /* its items */
    FLOE_FAULT_ITEMS = FLOE_FAULT_OF(40, FLOE_ERR_FORMAT),      /* too many */
    FLOE_FAULT_ITEM_LONG = FLOE_FAULT_OF(41, FLOE_ERR_FORMAT),  /* reaches past the header's end */
    FLOE_FAULT_ITEM_KIND = FLOE_FAULT_OF(42, FLOE_ERR_FORMAT),  /* unknown, and not optional */
    FLOE_FAULT_ITEM_TEXT = FLOE_FAULT_OF(43, FLOE_ERR_FORMAT),  /* no valid text */
    FLOE_FAULT_ITEM_PAD = FLOE_FAULT_OF(44, FLOE_ERR_FORMAT),   /* padding that is not zero */
    FLOE_FAULT_ITEMS_TAIL = FLOE_FAULT_OF(45, FLOE_ERR_FORMAT), /* bytes behind the last item */
    /* records, index, footer */
    FLOE_FAULT_RECORD_SIZE = FLOE_FAULT_OF(60, FLOE_ERR_FORMAT),
    FLOE_FAULT_STREAM_SIZE = FLOE_FAULT_OF(61, FLOE_ERR_FORMAT),
    FLOE_FAULT_COUNT = FLOE_FAULT_OF(62, FLOE_ERR_FORMAT),
    FLOE_FAULT_INDEX_PLACE = FLOE_FAULT_OF(63, FLOE_ERR_FORMAT),
    FLOE_FAULT_ENTRY_OFFSET = FLOE_FAULT_OF(64, FLOE_ERR_FORMAT),
    FLOE_FAULT_ENTRY_SIZE = FLOE_FAULT_OF(65, FLOE_ERR_FORMAT),
    FLOE_FAULT_ENTRIES_END = FLOE_FAULT_OF(66, FLOE_ERR_FORMAT),
    FLOE_FAULT_RECORD_OTHER = FLOE_FAULT_OF(67, FLOE_ERR_FORMAT) /* a head differs from the index */
} floe_fault;

FLOE_HD floe_status floe_fault_status(floe_fault fault) { return (floe_status)(fault & 0xFF); }

FLOE_HD uint64_t floe_round_up8(uint64_t n) { return (n + 7) & ~(uint64_t)7; } /* n <= UINT64_MAX - 7 */

FLOE_HD uint64_t floe_magic_word(const char *magic)
{
    uint64_t word = 0;
    for (int i = 0; i < FLOE_MAGIC_NBYTES; i++)
        word |= (uint64_t)(uint8_t)magic[i] << 8 * i;
    return word;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Head, payload and padding; 0 on overflow. */
FLOE_HD uint64_t floe_record_span(uint64_t payload_nbytes)
{
    return payload_nbytes <= UINT64_MAX - FLOE_RECORD_HEAD_NBYTES - 7
               ? FLOE_RECORD_HEAD_NBYTES + floe_round_up8(payload_nbytes)
               : 0;
}

/* The head, whose check is still 0: it stands in the high half of the last word. */
FLOE_HD void floe_record_pack(const floe_record *record, uint64_t words[FLOE_RECORD_HEAD_WORDS])
{
    words[0] = floe_magic_word(FLOE_MAGIC_RECORD);
    words[1] = record->chunk;
    words[2] = record->nbytes;
    words[3] = record->checksum;
    words[4] = 0;
}
FLOE_HD uint64_t floe_record_check_word(uint64_t hash) { return hash << 32; }

/* check: floe_xxh3 of the first FLOE_RECORD_CHECK_AT bytes; anything where the magic is not right. */
FLOE_HD floe_fault floe_record_unpack(const uint64_t words[FLOE_RECORD_HEAD_WORDS], uint64_t check, floe_record *record)
{
    record->chunk = words[1];
    record->nbytes = words[2];
    record->checksum = words[3];
    return words[0] != floe_magic_word(FLOE_MAGIC_RECORD) ? FLOE_FAULT_MAGIC
           : words[4] >> 32 != (uint32_t)check            ? FLOE_FAULT_CHECKSUM
           : (uint32_t)words[4] != 0                      ? FLOE_FAULT_RESERVED
           : floe_record_span(words[2]) == 0              ? FLOE_FAULT_RECORD_SIZE
                                                          : FLOE_FAULT_NONE;
}

/* ---- index and footer -------------------------------------------------------------------------------------------- */

/* Entries, their checksum and the footer; 0 on overflow: 2^58 entries keep every size below 2^63. */
FLOE_HD uint64_t floe_index_span(uint64_t nchunks)
{
    if (nchunks > (uint64_t)1 << 58)
        return 0;
    return nchunks * FLOE_INDEX_ENTRY_NBYTES + FLOE_INDEX_CHECK_NBYTES + FLOE_FOOTER_NBYTES;
}

FLOE_HD void floe_index_entry_pack(uint64_t offset, uint64_t nbytes, uint64_t checksum,
                                   uint64_t words[FLOE_INDEX_ENTRY_WORDS])
{
    words[0] = offset;
    words[1] = nbytes;
    words[2] = checksum;
}

/* at: where the record before ends, or the header if there is none. */
FLOE_HD floe_fault floe_index_entry_fault(uint64_t offset, uint64_t nbytes, uint64_t at, uint64_t index_offset)
{
    uint64_t span = floe_record_span(nbytes);
    return offset != at                                                         ? FLOE_FAULT_ENTRY_OFFSET
           : span == 0 || offset > index_offset || span > index_offset - offset ? FLOE_FAULT_ENTRY_SIZE
                                                                                : FLOE_FAULT_NONE;
}

/* The footer, whose check (floe_xxh3 of all before it) goes to the last word. */
FLOE_HD void floe_footer_pack(uint64_t nchunks, uint64_t index_offset, uint64_t words[FLOE_FOOTER_WORDS])
{
    words[0] = floe_magic_word(FLOE_MAGIC_FOOTER);
    words[1] = index_offset;
    words[2] = nchunks;
    words[3] = index_offset + floe_index_span(nchunks);
    words[4] = 0;
}

/* nchunks: as the header has them. When all is right the index lies at words[1]. */
FLOE_HD floe_fault floe_footer_fault(const uint64_t words[FLOE_FOOTER_WORDS], uint64_t check, uint64_t stream_nbytes,
                                     uint64_t nchunks)
{
    uint64_t offset = words[1], total = words[3], span = floe_index_span(nchunks);
    return words[0] != floe_magic_word(FLOE_MAGIC_FOOTER)        ? FLOE_FAULT_MAGIC
           : words[4] != check                                   ? FLOE_FAULT_CHECKSUM
           : total != stream_nbytes                              ? FLOE_FAULT_STREAM_SIZE
           : words[2] != nchunks                                 ? FLOE_FAULT_COUNT
           : span == 0 || span > total || offset != total - span ? FLOE_FAULT_INDEX_PLACE
                                                                 : FLOE_FAULT_NONE;
}

#endif
