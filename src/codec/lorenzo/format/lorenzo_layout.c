/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/lorenzo/format/lorenzo_layout.h"

#include "base/bytes.h"
#include "base/try.h"

void floe_lorenzo_chunk_write(const floe_lorenzo_chunk *c, void *dst)
{
    uint32_t words[FLOE_LORENZO_HEADER_WORDS];
    floe_lorenzo_chunk_words(c, words);
    floe_words_store(dst, words, FLOE_LORENZO_HEADER_WORDS);
}

floe_status floe_lorenzo_chunk_read(const void *src, uint64_t nbytes, floe_dtype dtype, uint32_t rank,
                                    const uint64_t *extent, floe_lorenzo_chunk *c, floe_view *view, floe_error *err)
{
    FLOE_CHECK(err, nbytes >= FLOE_LORENZO_HEADER_NBYTES, FLOE_ERR_FORMAT, "chunk of %llu bytes has no header",
               (unsigned long long)nbytes);
    uint32_t words[FLOE_LORENZO_HEADER_WORDS];
    floe_words_load(words, src, FLOE_LORENZO_HEADER_WORDS);
    FLOE_CHECK(err, floe_lorenzo_chunk_of_words(words, dtype, c), FLOE_ERR_FORMAT,
               "chunk header: encoder %u, quantizer %u, swap %u, step %g", words[0] & 0xFF, words[0] >> 8 & 0xFF,
               words[0] >> 16 & 0xFF, floe_f64_of(floe_lorenzo_word64_of(words + 4)));
    uint64_t ncells = 1;
    for (uint32_t i = 0; i < rank; i++)
        ncells *= extent[i];
    FLOE_CHECK(err, floe_lorenzo_parts_are_sane(c, dtype, ncells), FLOE_ERR_FORMAT,
               "chunk header: table of %u values, codebook of %u words, tiles of %llu", c->table_size, c->book_nwords,
               (unsigned long long)c->payload_nwords);
    FLOE_CHECK(err, floe_view_of(rank, extent, c->swap, view) && c->ntiles == view->ntiles, FLOE_ERR_FORMAT,
               "chunk header says %llu tiles, its extent gives %llu", (unsigned long long)c->ntiles,
               (unsigned long long)view->ntiles);
    FLOE_CHECK(err, floe_lorenzo_chunk_offsets(c, dtype) && c->end == nbytes, FLOE_ERR_FORMAT,
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
