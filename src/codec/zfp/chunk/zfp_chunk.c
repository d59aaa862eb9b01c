/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp/chunk/zfp_chunk.h"

#include "base/bytes.h"
#include "base/try.h"

void floe_zfp_chunk_header_write(const floe_zfp_chunk *c, void *dst)
{
    uint64_t words[FLOE_ZFP_CHUNK_WORDS];
    floe_zfp_chunk_to_words(c, words);
    for (int i = 0; i < FLOE_ZFP_CHUNK_WORDS; i++)
        floe_store64((uint8_t *)dst + 8 * i, words[i]);
}

floe_status floe_zfp_chunk_header_read(const void *src, uint64_t nbytes, const floe_cells *cells, uint64_t nblocks,
                                       floe_zfp_chunk *c, floe_error *err)
{
    static const char *const text[] = {
        [FLOE_ZFP_CHUNK_FLAGS] = "a header that says nothing",
        [FLOE_ZFP_CHUNK_VALUES] = "values that take other bytes than it has",
        [FLOE_ZFP_CHUNK_PARAMS] = "parameters that cannot be",
        [FLOE_ZFP_CHUNK_PARTS] = "parts that are larger than the whole",
        [FLOE_ZFP_CHUNK_BLOCKS] = "a stream of other bits than its blocks take",
    };
    uint64_t words[FLOE_ZFP_CHUNK_WORDS];
    FLOE_CHECK(err, nbytes >= FLOE_ZFP_CHUNK_HEADER_NBYTES, FLOE_ERR_FORMAT, "zfp chunk: %llu bytes are no header",
               (unsigned long long)nbytes);
    for (int i = 0; i < FLOE_ZFP_CHUNK_WORDS; i++)
        words[i] = floe_load64((const uint8_t *)src + 8 * i);
    const floe_zfp_chunk_fault fault =
        floe_zfp_chunk_of_words(words, nbytes, cells->array.dtype, cells->ncells, nblocks, c);
    FLOE_CHECK(err, fault == FLOE_ZFP_CHUNK_FINE, FLOE_ERR_FORMAT, "zfp chunk: %s", text[fault]);
    return FLOE_OK;
}

extern const floe_zfp_exact_ops floe_zfp_exact_ops_f32_plain[1], floe_zfp_exact_ops_f64_plain[1];
extern const floe_zfp_exact_ops floe_zfp_exact_ops_f32_avx2[1], floe_zfp_exact_ops_f64_avx2[1];

const floe_zfp_exact_ops *floe_zfp_exact_ops_of(floe_dtype dtype, floe_isa isa)
{
    return floe_dtype_is_narrow(dtype) ? FLOE_BY_ISA(isa, floe_zfp_exact_ops_f32)
                                       : FLOE_BY_ISA(isa, floe_zfp_exact_ops_f64);
}

floe_zfp_promise floe_zfp_promise_of(const floe_codec_params *params)
{
    return (floe_zfp_promise){floe_zfp_tolerance(params), !floe_dtype_is_integer(params->dtype), params->has_fill,
                              params->fill_bits};
}
