/* SPDX-License-Identifier: BSD-3-Clause */
/* The header as bytes. What its fields may hold is in header_check.c. */
#include "container/layout.h"

#include "base/checksum.h"
#include "base/grid_math.h"
#include "base/try.h"
#include "container/header_math.h"

/* ---- writing ----------------------------------------------------------------------------------------------------- */

size_t floe_header_nbytes(const floe_header *header)
{
    if (header->rank < 1 || header->rank > FLOE_MAX_RANK || header->nattrs > FLOE_HEADER_MAX_ATTRS ||
        (header->nattrs && !header->attrs))
        return 0;
    uint64_t nbytes = floe_header_plain_nbytes(header->rank);
    for (uint32_t i = 0; i < header->nattrs; i++) {
        uint64_t item = floe_attr_nbytes(&header->attrs[i]);
        nbytes += item;
        if (item == 0 || nbytes > FLOE_HEADER_MAX_NBYTES)
            return 0;
    }
    return (size_t)nbytes;
}

/* A header that may not be written is the caller's mistake, not a bad file. */
static floe_status usage(floe_status status, floe_error *err)
{
    if (status != FLOE_OK && err)
        err->status = FLOE_ERR_ARGUMENT;
    return status == FLOE_OK ? FLOE_OK : FLOE_ERR_ARGUMENT;
}

floe_status floe_header_write(const floe_header *header, void *dst, size_t capacity, floe_error *err)
{
    floe_header h = *header;
    h.version = FLOE_FORMAT_VERSION;
    if (h.mode == FLOE_BOUND_LOSSLESS)
        h.bound = h.abs_bound = 0;
    FLOE_TRY(usage(floe_header_check(&h, err), err));
    size_t nbytes = floe_header_nbytes(header);
    FLOE_CHECK(
        err, nbytes, FLOE_ERR_ARGUMENT,
        "attributes must be UTF-8 texts without control characters, at most %d, with the header at most %d bytes",
        (int)FLOE_HEADER_MAX_ATTRS, (int)FLOE_HEADER_MAX_NBYTES);
    FLOE_CHECK(err, nbytes <= capacity, FLOE_ERR_CAPACITY, "the header needs %zu bytes, there are %zu", nbytes,
               capacity);
    floe_cursor c = floe_cursor_of(dst, nbytes);
    uint64_t words[FLOE_HEADER_FIELD_WORDS_MAX];
    uint32_t nwords = floe_header_field_words(h.rank);
    floe_header_pack(&h, (uint32_t)nbytes, words);
    floe_store_words(floe_write_space(&c, 8 * nwords), words, nwords);
    for (uint32_t i = 0; i < header->nattrs; i++)
        floe_attr_write(&c, &header->attrs[i]);
    floe_write64(&c, floe_xxh3(dst, nbytes - FLOE_HEADER_CHECK_NBYTES));
    return FLOE_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static floe_status open_fail(floe_fault fault, const uint8_t *p, uint64_t word1, floe_error *err)
{
    floe_status status = floe_fault_status(fault);
    unsigned version = (uint16_t)word1, min_reader = (uint16_t)(word1 >> 16);
    switch (fault) {
    case FLOE_FAULT_MAGIC:
        if (memcmp(p + 1, &FLOE_MAGIC_HEADER[1], 4) == 0)
            return floe_fail(err, status,
                             "this was a floe file, but its first bytes are damaged, as by a transfer in text mode");
        if (memcmp(p, "zfp", 3) == 0)
            return floe_fail(err, status, "this is a bare zfp stream, not a floe file");
        return floe_fail(err, status, "this is no floe file (it begins with %02x %02x %02x %02x)", p[0], p[1], p[2],
                         p[3]);
    case FLOE_FAULT_FUTURE:
        return floe_fail(
            err, status,
            "the file has format version %u and needs a reader of version %u; this floe reads up to version %d",
            version, min_reader, (int)FLOE_FORMAT_VERSION);
    case FLOE_FAULT_VERSIONS:
        return floe_fail(err, status, "the header says format version %u for readers of version %u, which cannot be",
                         version, min_reader);
    default:
        return floe_fail(err, status, "the header says that it has %u bytes, which cannot be",
                         floe_header_size_field(word1));
    }
}

floe_status floe_header_peek(const void *src, size_t nbytes, size_t *header_nbytes, floe_error *err)
{
    FLOE_CHECK(err, nbytes >= FLOE_HEADER_MIN_NBYTES, FLOE_ERR_FORMAT,
               "only %zu bytes: too short for a floe file, whose header alone has more", nbytes);
    uint64_t words[2];
    floe_load_words(words, src, 2);
    floe_fault fault = floe_header_open_fault(words[0], words[1]);
    if (fault != FLOE_FAULT_NONE)
        return open_fail(fault, src, words[1], err);
    *header_nbytes = floe_header_size_field(words[1]);
    return FLOE_OK;
}

/* Everything up to the items. */
static floe_status read_fields(const uint8_t *p, size_t header_nbytes, floe_header *h, uint32_t *nitems,
                               floe_error *err)
{
    uint64_t words[FLOE_HEADER_FIELD_WORDS_MAX];
    uint64_t nwords = (header_nbytes - FLOE_HEADER_CHECK_NBYTES) / 8;
    floe_load_words(words, p, (uint32_t)floe_min64(nwords, FLOE_HEADER_FIELD_WORDS_MAX));
    floe_fault fault = floe_header_unpack(words, nwords, h, nitems);
    FLOE_CHECK(err, fault != FLOE_FAULT_RANK, FLOE_ERR_FORMAT, "the header says %u axes; there are 1 to %d", h->rank,
               FLOE_MAX_RANK);
    FLOE_CHECK(err, fault != FLOE_FAULT_AXES, FLOE_ERR_FORMAT, "the header is too short for its %u axes", h->rank);
    FLOE_CHECK(err, fault != FLOE_FAULT_RESERVED, FLOE_ERR_FORMAT, "a reserved field of the header is not zero");
    FLOE_CHECK(err, fault == FLOE_FAULT_NONE, FLOE_ERR_FORMAT, "a number in the header is a NaN of a wrong form");
    return FLOE_OK;
}

static floe_status read_items(floe_reader *r, uint32_t nitems, uint32_t *nattrs, floe_error *err)
{
    FLOE_CHECK(err, nitems <= FLOE_HEADER_MAX_ATTRS, FLOE_ERR_FORMAT,
               "the header says %u attributes; at most %d are allowed", nitems, (int)FLOE_HEADER_MAX_ATTRS);
    *nattrs = 0;
    for (uint32_t i = 0; i < nitems; i++) {
        floe_item item;
        FLOE_TRY(floe_item_read(r, &item, err));
        *nattrs += item.tag == FLOE_ITEM_TEXT;
    }
    FLOE_CHECK(err, floe_reader_left(r) == 0, FLOE_ERR_FORMAT, "the header has %zu bytes behind its %u attributes",
               floe_reader_left(r), nitems);
    return FLOE_OK;
}

/* Fields, and a reader of the items. */
static floe_status header_open(const void *src, size_t nbytes, floe_header *h, uint32_t *nitems, floe_reader *items,
                               floe_error *err)
{
    size_t size = 0;
    FLOE_TRY(floe_header_peek(src, nbytes, &size, err));
    FLOE_CHECK(err, nbytes >= size, FLOE_ERR_FORMAT,
               "the file is cut short: its header has %zu bytes, only %zu are there", size, nbytes);
    const uint8_t *p = src;
    size_t checked = size - FLOE_HEADER_CHECK_NBYTES;
    FLOE_CHECK(err, floe_xxh3(p, checked) == floe_load64(p + checked), FLOE_ERR_CHECKSUM,
               "the header is damaged: its checksum does not match");
    FLOE_TRY(read_fields(p, size, h, nitems, err));
    size_t fields = 8 * floe_header_field_words(h->rank);
    *items = floe_reader_of(p + fields, checked - fields);
    return FLOE_OK;
}

floe_status floe_header_read(const void *src, size_t nbytes, floe_header *header, floe_error *err)
{
    floe_reader items;
    floe_header h = {.attrs = NULL};
    uint32_t nitems = 0;
    FLOE_TRY(header_open(src, nbytes, &h, &nitems, &items, err));
    FLOE_TRY(read_items(&items, nitems, &h.nattrs, err));
    FLOE_TRY(floe_header_check(&h, err));
    *header = h;
    return FLOE_OK;
}

floe_status floe_header_attr(const void *src, size_t nbytes, uint32_t i, floe_item *item, floe_error *err)
{
    floe_reader items;
    floe_header h;
    uint32_t nitems = 0, seen = 0;
    FLOE_TRY(header_open(src, nbytes, &h, &nitems, &items, err));
    for (uint32_t k = 0; k < nitems && k < FLOE_HEADER_MAX_ATTRS; k++) {
        FLOE_TRY(floe_item_read(&items, item, err));
        if (item->tag == FLOE_ITEM_TEXT && seen++ == i)
            return FLOE_OK;
    }
    return floe_fail(err, FLOE_ERR_ARGUMENT, "attribute %u requested, there are %u", i, seen);
}

/* ---- the grid of chunks --------------------------------------------------------------------------------------------- */

uint64_t floe_grid_nchunks(const floe_header *header) { return floe_grid_count(header); }

void floe_grid_box(const floe_header *header, uint64_t chunk, uint64_t *lo, uint64_t *extent)
{
    floe_grid_cut(header->rank, header->shape, header->chunk, chunk, lo, extent);
}
