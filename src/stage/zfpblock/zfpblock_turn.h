/* SPDX-License-Identifier: BSD-3-Clause */
/* Square matrices of bits: rows become columns. Inside src/stage/zfpblock only. */
#ifndef FLOE_STAGE_ZFPBLOCK_TURN_H
#define FLOE_STAGE_ZFPBLOCK_TURN_H

#include "base/real.h"

#if FLOE_AVX2
#include <immintrin.h>
#endif

/* 8 rows of 8 bits in a word. */
FLOE_INLINE uint64_t zfp_turn8(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & 0x00AA00AA00AA00AAu;
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000CCCC0000CCCCu;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000F0F0F0F0u;
    return x ^ t ^ t << 28;
}

#if FLOE_AVX2
/* The same in each 64-bit number. */
FLOE_INLINE __m256i zfp_turn8_each(__m256i x)
{
    const __m256i m1 = _mm256_set1_epi64x(0x00AA00AA00AA00AA), m2 = _mm256_set1_epi64x(0x0000CCCC0000CCCC),
                  m4 = _mm256_set1_epi64x(0x00000000F0F0F0F0);
    __m256i t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, 7)), m1);
    x = _mm256_xor_si256(x, _mm256_xor_si256(t, _mm256_slli_epi64(t, 7)));
    t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, 14)), m2);
    x = _mm256_xor_si256(x, _mm256_xor_si256(t, _mm256_slli_epi64(t, 14)));
    t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, 28)), m4);
    return _mm256_xor_si256(x, _mm256_xor_si256(t, _mm256_slli_epi64(t, 28)));
}
#endif

#endif
