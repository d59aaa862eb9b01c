/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the container on a CPU share; the layout of its bytes is in layout_math.h and header_math.h. */
#ifndef FLOE_CONTAINER_LAYOUT_H
#define FLOE_CONTAINER_LAYOUT_H

#include "base/bytes.h"
#include "container/layout_math.h"

/* Reads the next item and checks that it is well formed: sizes, zero padding, and texts if it is one. */
floe_status floe_item_read(floe_reader *reader, floe_item *item, floe_error *err);
/* Bytes of an attribute as an item; 0 if its texts are not valid. */
uint64_t floe_attr_nbytes(const floe_attr *attr);
void floe_attr_write(floe_cursor *cursor, const floe_attr *attr);

static inline void floe_store_words(void *dst, const uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        floe_store64((uint8_t *)dst + 8 * i, words[i]);
}
static inline void floe_load_words(uint64_t *words, const void *src, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        words[i] = floe_load64((const uint8_t *)src + 8 * i);
}

/* Is every field within the ranges that container.h states? Says FORMAT or UNSUPPORTED, with what is wrong. */
floe_status floe_header_check(const floe_header *header, floe_error *err);

#endif
