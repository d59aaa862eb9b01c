/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes: items of a header that hold two texts. */
#include "container/layout.h"

#include "base/try.h"

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* Length of the UTF-8 character at p (n > 0 bytes are there) and its code point; 0 if it is not well formed: wrong
 * continuation bytes, an overlong form, a surrogate, or past U+10FFFF. */
static size_t utf8_next(const uint8_t *p, size_t n, uint32_t *code)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > n)
        return 0;
    *code = length == 1 ? p[0] : p[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        *code = *code << 6 | (p[i] & 0x3Fu);
    }
    bool wrong = *code < least[length] || *code > 0x10FFFF || (*code >= 0xD800 && *code <= 0xDFFF);
    return wrong ? 0 : length;
}

/* Texts are shown on terminals, so control characters stay out, but for tab and line ends where lines are allowed. */
static bool text_valid(const uint8_t *p, size_t n, bool lines)
{
    while (n) {
        uint32_t code = 0;
        size_t length = utf8_next(p, n, &code);
        bool line = code == '\t' || code == '\n' || code == '\r';
        if (length == 0 || ((code < 0x20 || (code >= 0x7F && code <= 0x9F)) && !(lines && line)))
            return false;
        p += length;
        n -= length;
    }
    return true;
}

static bool texts_valid(const void *key, size_t key_nbytes, const void *value, size_t value_nbytes)
{
    return key_nbytes >= 1 && key_nbytes <= UINT16_MAX && value_nbytes <= FLOE_HEADER_MAX_NBYTES &&
           text_valid(key, key_nbytes, false) && text_valid(value, value_nbytes, true);
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

uint64_t floe_attr_nbytes(const floe_attr *attr)
{
    if (!attr->key || !attr->value)
        return 0;
    size_t key_nbytes = strlen(attr->key), value_nbytes = strlen(attr->value);
    if (!texts_valid(attr->key, key_nbytes, attr->value, value_nbytes))
        return 0;
    return floe_round_up8(FLOE_ITEM_HEAD_NBYTES + key_nbytes + value_nbytes);
}

void floe_attr_write(floe_cursor *cursor, const floe_attr *attr)
{
    size_t key_nbytes = strlen(attr->key), value_nbytes = strlen(attr->value), used = key_nbytes + value_nbytes;
    size_t space = (size_t)floe_round_up8(used);
    floe_write16(cursor, FLOE_ITEM_TEXT);
    floe_write16(cursor, (uint16_t)key_nbytes);
    floe_write32(cursor, (uint32_t)value_nbytes);
    uint8_t *p = floe_write_space(cursor, space);
    if (p) {
        memcpy(p, attr->key, key_nbytes);
        memcpy(p + key_nbytes, attr->value, value_nbytes);
        memset(p + used, 0, space - used);
    }
}

floe_status floe_item_read(floe_reader *reader, floe_item *item, floe_error *err)
{
    item->tag = floe_read16(reader);
    item->key_nbytes = floe_read16(reader);
    item->value_nbytes = floe_read32(reader);
    uint64_t used = (uint64_t)item->key_nbytes + item->value_nbytes, space = floe_round_up8(used);
    item->key = floe_read_bytes(reader, space);
    FLOE_CHECK(err, !reader->bad, FLOE_ERR_FORMAT, "an attribute of %llu bytes reaches past the end of the header",
               (unsigned long long)used);
    item->value = item->key + item->key_nbytes;
    for (uint64_t i = used; i < space; i++)
        FLOE_CHECK(err, item->key[i] == 0, FLOE_ERR_FORMAT, "the padding behind an attribute is not zero");
    if (item->tag & FLOE_ITEM_OPTIONAL)
        return FLOE_OK;
    FLOE_CHECK(err, item->tag == FLOE_ITEM_TEXT, FLOE_ERR_FORMAT, "the header has an item of unknown kind %u",
               item->tag);
    FLOE_CHECK(err, texts_valid(item->key, item->key_nbytes, item->value, item->value_nbytes), FLOE_ERR_FORMAT,
               "an attribute's key or value is no valid UTF-8 text");
    return FLOE_OK;
}
