/* SPDX-License-Identifier: BSD-3-Clause */
/* The header of a chunk as words, and what must be so of it, once, for both compilers. Included by lorenzo_layout.h, which
 * has the struct. */
#ifndef FLOE_CODEC_LORENZO_FORMAT_LORENZO_LAYOUT_MATH_H
#define FLOE_CODEC_LORENZO_FORMAT_LORENZO_LAYOUT_MATH_H

#include <float.h>

#include "codec/lorenzo/format/lorenzo_layout.h"
#include "field/dtype_math.h"
#include "stage/huffman/huffman.h"

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

FLOE_HD uint64_t floe_lorenzo_word64_of(const uint32_t *words) { return words[0] | (uint64_t)words[1] << 32; }

/* LINEAR: a step may underflow to 0 for f32; then all is literal. That of integers is whole and fits them. */
FLOE_HD bool floe_lorenzo_step_is_sane(floe_quantizer_kind kind, double step, floe_dtype dtype)
{
    if (floe_dtype_is_integer(dtype) && kind == FLOE_QUANTIZER_LINEAR)
        return step >= 1 && step <= (dtype == FLOE_I32 ? 0x1p31 - 1 : 0x1p53) && (double)(int64_t)step == step;
    if (kind != FLOE_QUANTIZER_LINEAR && kind != FLOE_QUANTIZER_LOG)
        return step == 0;
    double most = dtype == FLOE_F32 && kind == FLOE_QUANTIZER_LINEAR ? (double)FLT_MAX : DBL_MAX;
    return step >= 0 && step <= most;
}

/* Fills all but the offsets from untrusted words. False: no chunk of the dtype has such a header. */
FLOE_HD bool floe_lorenzo_chunk_of_words(const uint32_t words[FLOE_LORENZO_HEADER_WORDS], floe_dtype dtype,
                                         floe_lorenzo_chunk *c)
{
    const uint32_t encoder = words[0] & 0xFF, kind = words[0] >> 8 & 0xFF, swap = words[0] >> 16 & 0xFF;
    uint32_t zero = words[0] >> 24 | words[3];
    if (encoder > FLOE_LORENZO_HUFFMAN || kind > FLOE_QUANTIZER_TABLE || swap > 1 ||
        (kind == FLOE_QUANTIZER_LOG && floe_dtype_is_integer(dtype)))
        return false;
    c->encoder = (floe_lorenzo_encoder)encoder;
    c->kind = (floe_quantizer_kind)kind;
    c->swap = swap != 0;
    c->table_size = words[1];
    c->book_nwords = words[2];
    c->step = floe_f64_of(floe_lorenzo_word64_of(words + 4));
    for (int i = 0; i < FLOE_PALETTE_SIZE; i++) {
        c->palette[i] = floe_lorenzo_word64_of(words + 6 + 2 * i);
        zero |=
            floe_dtype_is_narrow(dtype) ? (uint32_t)(c->palette[i] >> 32) : 0; /* patterns have the bits of the dtype */
    }
    c->ntiles = floe_lorenzo_word64_of(words + 12);
    c->payload_nwords = floe_lorenzo_word64_of(words + 14);
    return zero == 0 && floe_lorenzo_step_is_sane(c->kind, c->step, dtype);
}

/* A table where the quantizer has one, a codebook where the encoder has one, and none of the parts too large. */
FLOE_HD bool floe_lorenzo_parts_are_sane(const floe_lorenzo_chunk *c, floe_dtype dtype, uint64_t ncells)
{
    return (c->table_size != 0) == (c->kind == FLOE_QUANTIZER_TABLE) && c->table_size <= FLOE_TABLE_MAX &&
           (c->book_nwords != 0) == (c->encoder == FLOE_LORENZO_HUFFMAN) && c->book_nwords <= FLOE_HUFFMAN_BOOK_WORDS &&
           c->payload_nwords <= ncells * (floe_dtype_is_narrow(dtype) ? 1 : 2);
}

/* *sum += n * nbytes; false on overflow. */
FLOE_HD bool floe_lorenzo_add_part(uint64_t *sum, uint64_t n, uint32_t nbytes)
{
    if (n > (UINT64_MAX - *sum) / nbytes)
        return false;
    *sum += n * nbytes;
    return true;
}

/* Fills the offsets. False on overflow. */
FLOE_HD bool floe_lorenzo_chunk_offsets(floe_lorenzo_chunk *c, floe_dtype dtype)
{
    c->table_at = FLOE_LORENZO_HEADER_NBYTES;
    c->book_at = c->table_at + (uint64_t)c->table_size * (floe_dtype_is_narrow(dtype) ? 4 : 8);
    c->entries_at = c->book_at + (uint64_t)c->book_nwords * 4;
    c->payload_at = c->entries_at;
    if (!floe_lorenzo_add_part(&c->payload_at, c->ntiles, 4))
        return false;
    c->end = c->payload_at;
    return floe_lorenzo_add_part(&c->end, c->payload_nwords, 4);
}

#endif
