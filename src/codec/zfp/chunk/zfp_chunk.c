/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp/chunk/zfp_chunk.h"

#include "base/try.h"

/* ---- sets ------------------------------------------------------------------------------------------------------------ */

static uint32_t ones(uint64_t v) { return (uint32_t)__builtin_popcountll(v); }

/* Which of 64 words from `first` on are not 0. */
static uint64_t above(const uint64_t *words, uint64_t nwords, uint64_t first)
{
    uint64_t top = 0;
    for (uint64_t i = first; i < nwords && i < first + 64; i++)
        top |= (uint64_t)(words[i] != 0) << (i - first);
    return top;
}

uint64_t floe_zfp_set_nbytes(const uint64_t *words, uint64_t nwords)
{
    uint64_t present = 0;
    for (uint64_t i = 0; i < nwords; i++)
        present += words[i] != 0;
    return floe_zfp_set_span(nwords, present);
}

void floe_zfp_set_write(const uint64_t *words, uint64_t nwords, floe_cursor *to)
{
    for (uint64_t i = 0; i < nwords; i += 64)
        floe_write64(to, above(words, nwords, i));
    for (uint64_t i = 0; i < nwords; i++)
        if (words[i])
            floe_write64(to, words[i]);
}

bool floe_zfp_set_read(floe_reader *from, uint64_t ncells, uint64_t *words, uint64_t nwords, uint64_t *count)
{
    const uint64_t ntops = floe_ceil_div(nwords, 64);
    const uint8_t *tops = floe_read_bytes(from, 8 * ntops);
    *count = 0;
    for (uint64_t t = 0; t < ntops && tops; t++) {
        const uint64_t top = floe_load64(tops + 8 * t), here = floe_min64(64, nwords - 64 * t);
        if (here < 64 && top >> here)
            return false;
        for (uint64_t i = 0; i < here; i++) {
            words[64 * t + i] = top >> i & 1 ? floe_read64(from) : 0;
            *count += ones(words[64 * t + i]);
        }
    }
    const uint32_t over = (uint32_t)(ncells % FLOE_ZFP_WORD_CELLS);
    return tops && !from->bad && (over == 0 || words[nwords - 1] >> over == 0);
}

/* ---- the header ------------------------------------------------------------------------------------------------------ */

void floe_zfp_chunk_header_write(const floe_zfp_chunk *c, void *dst)
{
    floe_cursor to = floe_cursor_of(dst, FLOE_ZFP_CHUNK_HEADER_NBYTES);
    floe_write32(&to, c->params.minbits);
    floe_write32(&to, c->params.maxbits);
    floe_write32(&to, c->params.maxprec);
    floe_write32(&to, (uint32_t)c->params.minexp);
    floe_write64(&to, c->stream_nbits);
    floe_write64(&to, c->index_nbytes);
    floe_write32(&to, c->sets);
    floe_write32(&to, c->raw ? FLOE_ZFP_CHUNK_RAW : 0);
    for (int i = 0; i < FLOE_ZFP_PALETTE; i++)
        floe_write64(&to, c->palette[i]);
}

floe_status floe_zfp_chunk_header_read(const void *src, uint64_t nbytes, floe_zfp_type type, floe_zfp_chunk *c,
                                       floe_error *err)
{
    floe_reader from = floe_reader_of(src, (size_t)nbytes);
    memset(c, 0, sizeof *c);
    c->params.minbits = floe_read32(&from);
    c->params.maxbits = floe_read32(&from);
    c->params.maxprec = floe_read32(&from);
    c->params.minexp = (int32_t)floe_read32(&from);
    c->stream_nbits = floe_read64(&from);
    c->index_nbytes = floe_read64(&from);
    c->sets = floe_read32(&from);
    const uint32_t flags = floe_read32(&from);
    for (int i = 0; i < FLOE_ZFP_PALETTE; i++)
        c->palette[i] = floe_read64(&from);
    FLOE_CHECK(err, !from.bad && flags <= FLOE_ZFP_CHUNK_RAW && c->sets < 1u << FLOE_ZFP_SETS, FLOE_ERR_FORMAT,
               "zfp chunk: a header of %llu bytes that says nothing", (unsigned long long)nbytes);
    c->raw = flags == FLOE_ZFP_CHUNK_RAW;
    if (c->raw)
        return FLOE_OK;
    FLOE_CHECK(err, floe_zfp_params_check(&c->params, type, NULL) == FLOE_OK, FLOE_ERR_FORMAT,
               "zfp chunk: parameters that cannot be");
    FLOE_CHECK(err, c->stream_nbits <= 8 * nbytes && c->index_nbytes <= nbytes && c->index_nbytes % 8 == 0,
               FLOE_ERR_FORMAT, "zfp chunk: parts that are larger than the whole");
    return FLOE_OK;
}
