/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/lorenzo_layout.h"

#include <float.h>

#include "base/bytes.h"
#include "base/try.h"
#include "stage/huffman/huffman.h"

bool floe_lorenzo_chunk_place(floe_lorenzo_chunk *c, floe_dtype dtype)
{
    uint64_t entries, payload;
    c->table_at = FLOE_LORENZO_HEADER_NBYTES;
    c->book_at = c->table_at + (uint64_t)c->table_size * floe_dtype_size(dtype);
    c->entries_at = c->book_at + (uint64_t)c->book_nwords * 4;
    return floe_mul64(c->ntiles, 4, &entries) && floe_add64(c->entries_at, entries, &c->payload_at) &&
           floe_mul64(c->payload_nwords, 4, &payload) && floe_add64(c->payload_at, payload, &c->end);
}

void floe_lorenzo_chunk_write(const floe_lorenzo_chunk *c, void *dst)
{
    uint32_t words[FLOE_LORENZO_HEADER_WORDS];
    floe_lorenzo_chunk_words(c, words);
    floe_words_store(dst, words, FLOE_LORENZO_HEADER_WORDS);
}

static bool step_is_sane(const floe_lorenzo_chunk *c, floe_dtype dtype)
{
    if (c->kind != FLOE_QUANTIZER_LINEAR && c->kind != FLOE_QUANTIZER_LOG)
        return c->step == 0;
    double most = dtype == FLOE_F32 && c->kind == FLOE_QUANTIZER_LINEAR ? (double)FLT_MAX : DBL_MAX;
    return c->step >= 0 && c->step <= most; /* a linear step may underflow to 0 for f32: then all is literal */
}

floe_status floe_lorenzo_chunk_read(const void *src, uint64_t nbytes, floe_dtype dtype, uint32_t rank,
                                    const uint64_t *extent, floe_lorenzo_chunk *c, floe_view *view, floe_error *err)
{
    FLOE_CHECK(err, nbytes >= FLOE_LORENZO_HEADER_NBYTES, FLOE_ERR_FORMAT, "chunk of %llu bytes has no header",
               (unsigned long long)nbytes);
    floe_reader r = floe_reader_of(src, FLOE_LORENZO_HEADER_NBYTES);
    unsigned encoder = floe_read8(&r), kind = floe_read8(&r), swap = floe_read8(&r), zero = floe_read8(&r);
    *c =
        (floe_lorenzo_chunk){.encoder = (floe_lorenzo_encoder)encoder, .kind = (floe_quantizer_kind)kind, .swap = swap};
    c->table_size = floe_read32(&r);
    c->book_nwords = floe_read32(&r);
    zero |= floe_read32(&r);
    c->step = floe_read_f64(&r);
    for (int i = 0; i < FLOE_PALETTE_SIZE; i++)
        c->palette[i] = floe_read64(&r);
    c->ntiles = floe_read64(&r);
    for (int i = 0; i < FLOE_PALETTE_SIZE && dtype == FLOE_F32; i++)
        zero |= c->palette[i] >> 32 != 0; /* patterns have the bits of the dtype */
    c->payload_nwords = floe_read64(&r);
    FLOE_CHECK(err, encoder <= 1 && kind <= FLOE_QUANTIZER_TABLE && swap <= 1 && zero == 0 && step_is_sane(c, dtype),
               FLOE_ERR_FORMAT, "chunk header: encoder %u, quantizer %u, swap %u, step %g", encoder, kind, swap,
               c->step);
    FLOE_CHECK(
        err,
        (c->table_size != 0) == (kind == FLOE_QUANTIZER_TABLE) && c->table_size <= FLOE_TABLE_MAX &&
            (c->book_nwords != 0) == (encoder == FLOE_LORENZO_HUFFMAN) && c->book_nwords <= FLOE_HUFFMAN_BOOK_WORDS,
        FLOE_ERR_FORMAT, "chunk header: table of %u values, codebook of %u words", c->table_size, c->book_nwords);
    FLOE_CHECK(err, floe_view_of(rank, extent, swap, view) && c->ntiles == view->ntiles, FLOE_ERR_FORMAT,
               "chunk header says %llu tiles, its extent gives %llu", (unsigned long long)c->ntiles,
               (unsigned long long)view->ntiles);
    FLOE_CHECK(err, floe_lorenzo_chunk_place(c, dtype) && c->end == nbytes, FLOE_ERR_FORMAT,
               "chunk header adds up to %llu bytes, the chunk has %llu", (unsigned long long)c->end,
               (unsigned long long)nbytes);
    return FLOE_OK;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

void floe_words_store(void *dst, const uint32_t *words, uint64_t nwords) { memcpy(dst, words, (size_t)nwords * 4); }
void floe_words_load(uint32_t *words, const void *src, uint64_t nwords) { memcpy(words, src, (size_t)nwords * 4); }

#else

void floe_words_store(void *dst, const uint32_t *words, uint64_t nwords)
{
    for (uint64_t i = 0; i < nwords; i++)
        floe_store32((uint8_t *)dst + 4 * i, words[i]);
}
void floe_words_load(uint32_t *words, const void *src, uint64_t nwords)
{
    for (uint64_t i = 0; i < nwords; i++)
        words[i] = floe_load32((const uint8_t *)src + 4 * i);
}

#endif
