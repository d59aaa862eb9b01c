/* SPDX-License-Identifier: BSD-3-Clause */
/* The header as bytes. What its fields may hold is in header_check.c. */
#include "container/layout.h"

#include <math.h>

#include "base/checksum.h"
#include "base/try.h"

/* ---- writing ----------------------------------------------------------------------------------------------------- */

size_t floe_header_nbytes(const floe_header *header)
{
    if (header->rank < 1 || header->rank > FLOE_MAX_RANK || header->nattrs > FLOE_HEADER_MAX_ATTRS ||
        (header->nattrs && !header->attrs))
        return 0;
    uint64_t nbytes = FLOE_HEADER_FIXED_NBYTES + 16 * header->rank + FLOE_HEADER_CHECK_NBYTES;
    for (uint32_t i = 0; i < header->nattrs; i++) {
        uint64_t item = floe_attr_nbytes(&header->attrs[i]);
        nbytes += item;
        if (item == 0 || nbytes > FLOE_HEADER_MAX_NBYTES)
            return 0;
    }
    return (size_t)nbytes;
}

/* NaN has one form in a file: other payloads would be other bytes for the same meaning. */
#define NAN_BITS 0x7FF8000000000000u

static void write_real(floe_cursor *c, double v)
{
    if (isnan(v))
        floe_write64(c, NAN_BITS);
    else
        floe_write_f64(c, v);
}

static void write_fields(floe_cursor *c, const floe_header *h, size_t nbytes)
{
    floe_write16(c, FLOE_FORMAT_VERSION);
    floe_write16(c, FLOE_MIN_READER_VERSION);
    floe_write32(c, (uint32_t)nbytes);
    floe_write8(c, (uint8_t)h->dtype);
    floe_write8(c, (uint8_t)h->rank);
    floe_write8(c, (uint8_t)h->codec);
    floe_write8(c, (uint8_t)h->preset);
    floe_write8(c, (uint8_t)h->mode);
    floe_write8(c, h->has_fill ? FLOE_HEADER_FLAG_FILL : 0);
    floe_write16(c, 0);
    floe_write32(c, h->nattrs);
    floe_write32(c, 0);
    write_real(c, h->bound);
    write_real(c, h->abs_bound);
    write_real(c, h->value_min);
    write_real(c, h->value_max);
    floe_write64(c, h->fill_bits);
    for (uint32_t i = 0; i < h->rank; i++)
        floe_write64(c, h->shape[i]);
    for (uint32_t i = 0; i < h->rank; i++)
        floe_write64(c, h->chunk[i]);
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
    memcpy(floe_write_space(&c, FLOE_MAGIC_NBYTES), FLOE_MAGIC_HEADER, FLOE_MAGIC_NBYTES);
    write_fields(&c, &h, nbytes);
    for (uint32_t i = 0; i < header->nattrs; i++)
        floe_attr_write(&c, &header->attrs[i]);
    floe_write64(&c, floe_xxh3(dst, nbytes - FLOE_HEADER_CHECK_NBYTES));
    return FLOE_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static floe_status magic_check(const uint8_t *p, floe_error *err)
{
    if (memcmp(p, FLOE_MAGIC_HEADER, FLOE_MAGIC_NBYTES) == 0)
        return FLOE_OK;
    if (memcmp(p + 1, &FLOE_MAGIC_HEADER[1], 4) == 0)
        return floe_fail(err, FLOE_ERR_FORMAT,
                         "this was a floe file, but its first bytes are damaged, as by a transfer in text mode");
    return floe_fail(err, FLOE_ERR_FORMAT, "this is no floe file (it begins with %02x %02x %02x %02x)", p[0], p[1],
                     p[2], p[3]);
}

floe_status floe_header_peek(const void *src, size_t nbytes, size_t *header_nbytes, floe_error *err)
{
    FLOE_CHECK(err, nbytes >= FLOE_HEADER_MIN_NBYTES, FLOE_ERR_FORMAT,
               "only %zu bytes: too short for a floe file, whose header alone has more", nbytes);
    FLOE_TRY(magic_check(src, err));
    const uint8_t *p = src;
    unsigned version = floe_load16(p + 8), min_reader = floe_load16(p + 10);
    uint32_t size = floe_load32(p + 12);
    FLOE_CHECK(err, min_reader <= FLOE_FORMAT_VERSION, FLOE_ERR_VERSION,
               "the file has format version %u and needs a reader of version %u; this floe reads up to version %d",
               version, min_reader, (int)FLOE_FORMAT_VERSION);
    FLOE_CHECK(err, min_reader >= 1 && min_reader <= version, FLOE_ERR_FORMAT,
               "the header says format version %u for readers of version %u, which cannot be", version, min_reader);
    FLOE_CHECK(err,
               size % 8 == 0 && size >= FLOE_HEADER_FIXED_NBYTES + 16 + FLOE_HEADER_CHECK_NBYTES &&
                   size <= FLOE_HEADER_MAX_NBYTES,
               FLOE_ERR_FORMAT, "the header says that it has %u bytes, which cannot be", size);
    *header_nbytes = size;
    return FLOE_OK;
}

static double read_real(floe_reader *r, bool *canonical)
{
    uint64_t bits = floe_read64(r);
    *canonical &= bits <= 0x7FF0000000000000u || bits == NAN_BITS || (bits >> 63 && bits <= 0xFFF0000000000000u);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Everything between version and items. */
static floe_status read_fields(floe_reader *r, floe_header *h, uint32_t *nitems, floe_error *err)
{
    bool canonical = true;
    h->dtype = (floe_dtype)floe_read8(r);
    h->rank = floe_read8(r);
    h->codec = (floe_codec)floe_read8(r);
    h->preset = (floe_preset)floe_read8(r);
    h->mode = (floe_bound_mode)floe_read8(r);
    uint8_t flags = floe_read8(r);
    uint32_t reserved = floe_read16(r);
    *nitems = floe_read32(r);
    reserved |= floe_read32(r);
    h->bound = read_real(r, &canonical);
    h->abs_bound = read_real(r, &canonical);
    h->value_min = read_real(r, &canonical);
    h->value_max = read_real(r, &canonical);
    h->fill_bits = floe_read64(r);
    h->has_fill = flags & FLOE_HEADER_FLAG_FILL;
    FLOE_CHECK(err, h->rank >= 1 && h->rank <= FLOE_MAX_RANK, FLOE_ERR_FORMAT,
               "the header says %u axes; there are 1 to %d", h->rank, FLOE_MAX_RANK);
    for (uint32_t i = 0; i < h->rank; i++)
        h->shape[i] = floe_read64(r);
    for (uint32_t i = 0; i < h->rank; i++)
        h->chunk[i] = floe_read64(r);
    FLOE_CHECK(err, !r->bad, FLOE_ERR_FORMAT, "the header is too short for its %u axes", h->rank);
    FLOE_CHECK(err, reserved == 0 && (flags & ~FLOE_HEADER_FLAG_FILL) == 0, FLOE_ERR_FORMAT,
               "a reserved field of the header is not zero");
    FLOE_CHECK(err, canonical, FLOE_ERR_FORMAT, "a number in the header is a NaN of a wrong form");
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

static floe_status header_open(const void *src, size_t nbytes, floe_reader *fields, floe_error *err)
{
    size_t size = 0;
    FLOE_TRY(floe_header_peek(src, nbytes, &size, err));
    FLOE_CHECK(err, nbytes >= size, FLOE_ERR_FORMAT,
               "the file is cut short: its header has %zu bytes, only %zu are there", size, nbytes);
    const uint8_t *p = src;
    FLOE_CHECK(err, floe_xxh3(p, size - FLOE_HEADER_CHECK_NBYTES) == floe_load64(p + size - FLOE_HEADER_CHECK_NBYTES),
               FLOE_ERR_CHECKSUM, "the header is damaged: its checksum does not match");
    *fields = floe_reader_of(p + FLOE_HEADER_MIN_NBYTES, size - FLOE_HEADER_MIN_NBYTES - FLOE_HEADER_CHECK_NBYTES);
    return FLOE_OK;
}

floe_status floe_header_read(const void *src, size_t nbytes, floe_header *header, floe_error *err)
{
    floe_reader r;
    floe_header h = {.attrs = NULL};
    uint32_t nitems = 0;
    FLOE_TRY(header_open(src, nbytes, &r, err));
    h.version = floe_load16((const uint8_t *)src + 8);
    FLOE_TRY(read_fields(&r, &h, &nitems, err));
    FLOE_TRY(read_items(&r, nitems, &h.nattrs, err));
    FLOE_TRY(floe_header_check(&h, err));
    *header = h;
    return FLOE_OK;
}

floe_status floe_header_attr(const void *src, size_t nbytes, uint32_t i, const char **key, size_t *key_nbytes,
                             const char **value, size_t *value_nbytes, floe_error *err)
{
    floe_reader r;
    floe_header h;
    uint32_t nitems = 0, seen = 0;
    FLOE_TRY(header_open(src, nbytes, &r, err));
    FLOE_TRY(read_fields(&r, &h, &nitems, err));
    for (uint32_t k = 0; k < nitems && k < FLOE_HEADER_MAX_ATTRS; k++) {
        floe_item item;
        FLOE_TRY(floe_item_read(&r, &item, err));
        if (item.tag != FLOE_ITEM_TEXT || seen++ != i)
            continue;
        *key = (const char *)item.key, *key_nbytes = item.key_nbytes;
        *value = (const char *)item.value, *value_nbytes = item.value_nbytes;
        return FLOE_OK;
    }
    return floe_fail(err, FLOE_ERR_ARGUMENT, "attribute %u asked for, there are %u", i, seen);
}
