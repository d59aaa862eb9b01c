/* SPDX-License-Identifier: BSD-3-Clause */
/* The header of a chunk as words, once, for both compilers. Included by lorenzo_layout.h, which has the struct. */
#ifndef FLOE_CODEC_LORENZO_LAYOUT_MATH_H
#define FLOE_CODEC_LORENZO_LAYOUT_MATH_H

#include "codec/lorenzo_layout.h"

enum { FLOE_LORENZO_HEADER_WORDS = FLOE_LORENZO_HEADER_NBYTES / 4 };

FLOE_HD void floe_lorenzo_word64(uint32_t *words, uint64_t v)
{
    words[0] = (uint32_t)v;
    words[1] = (uint32_t)(v >> 32);
}

FLOE_HD void floe_lorenzo_chunk_words(const floe_lorenzo_chunk *c, uint32_t words[FLOE_LORENZO_HEADER_WORDS])
{
    words[0] = (uint32_t)c->encoder | (uint32_t)c->kind << 8 | (uint32_t)c->swap << 16;
    words[1] = c->table_size;
    words[2] = c->book_nwords;
    words[3] = 0;
    floe_lorenzo_word64(words + 4, floe_bits_f64(c->step));
    for (int i = 0; i < FLOE_PALETTE_SIZE; i++)
        floe_lorenzo_word64(words + 6 + 2 * i, c->palette[i]);
    floe_lorenzo_word64(words + 12, c->ntiles);
    floe_lorenzo_word64(words + 14, c->payload_nwords);
}

#endif
