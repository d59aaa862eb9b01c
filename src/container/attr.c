/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes: items of a header that hold two texts. */
#include "container/layout.h"

#include "base/try.h"
#include "container/header_math.h"

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static bool text_valid(const uint8_t *p, size_t n, bool lines)
{
    while (n) {
        uint32_t code = 0, length = floe_utf8_next(p, n, &code);
        if (length == 0 || !floe_text_allows(code, lines))
            return false;
        p += length;
        n -= length;
    }
    return true;
}

static bool texts_valid(const void *key, size_t key_nbytes, const void *value, size_t value_nbytes)
{
    return floe_text_sizes_valid(key_nbytes, value_nbytes) && text_valid(key, key_nbytes, false) &&
           text_valid(value, value_nbytes, true);
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
    floe_item_sizes sizes = floe_item_unpack(floe_read64(reader));
    uint64_t used = floe_item_used(sizes), space = floe_round_up8(used);
    item->tag = (uint16_t)sizes.tag;
    item->key_nbytes = sizes.key_nbytes;
    item->value_nbytes = sizes.value_nbytes;
    item->key = floe_read_bytes(reader, space);
    FLOE_CHECK(err, !reader->bad, FLOE_ERR_FORMAT, "an attribute of %llu bytes reaches past the end of the header",
               (unsigned long long)used);
    item->value = item->key + item->key_nbytes;
    for (uint64_t i = used; i < space; i++)
        FLOE_CHECK(err, item->key[i] == 0, FLOE_ERR_FORMAT, "the padding behind an attribute is not zero");
    if (floe_item_is_optional(sizes))
        return FLOE_OK;
    FLOE_CHECK(err, item->tag == FLOE_ITEM_TEXT, FLOE_ERR_FORMAT, "the header has an item of unknown kind %u",
               item->tag);
    FLOE_CHECK(err, texts_valid(item->key, item->key_nbytes, item->value, item->value_nbytes), FLOE_ERR_FORMAT,
               "an attribute's key or value is no valid UTF-8 text");
    return FLOE_OK;
}
