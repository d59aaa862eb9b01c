/* SPDX-License-Identifier: BSD-3-Clause */
/* Bit planes of a block's coefficients, in the order of the stream: coefficient i is bit i % 64 of word i / 64. */
#ifndef FLOE_STAGE_ZFPBLOCK_PLANES_H
#define FLOE_STAGE_ZFPBLOCK_PLANES_H

#include "base/real.h"
#include "stage/zfpblock/zfpblock.h"

#if FLOE_AVX2
#include <immintrin.h>
#endif

enum { FLOE_ZFP_PLANE_WORDS = FLOE_ZFP_BLOCK_VALUES / 64 };

/* plane[w][b]: word w of bit plane b; only the first word where the rank is below 4. */
typedef struct floe_zfp_planes {
    uint64_t plane[FLOE_ZFP_PLANE_WORDS][FLOE_REAL_BITS];
} floe_zfp_planes;

/* The order of 16 or 64 coefficients as byte shuffles: of dst's 16-byte lanes from src's, for vector units that move bytes
 * within a lane. to: from the block to the stream; from: back. */
typedef struct floe_zfp_shuffles {
    _Alignas(32) uint8_t to[4][64],
        from[4][64]; /* [lane of the source][byte of the result]: byte in the lane, or 128 */
} floe_zfp_shuffles;

void FLOE_V(floe_zfp_shuffles_init)(floe_zfp_shuffles *shuffles, uint32_t rank);

/* The planes from bit `low` (rounded down to a multiple of 8) to `high` - 1 (up to a multiple of 8) of a block of 4^rank
 * coefficients in base -2, each at its place in the block. */
void FLOE_V(floe_zfp_planes_split)(const floe_zfp_shuffles *shuffles, const floe_uint *block, uint32_t rank,
                                   uint32_t low, uint32_t high, floe_zfp_planes *planes);

/* The way back; planes outside low .. high - 1 count as 0, and must be 0 in that range rounded to bytes where the rank is
 * above 1. */
void FLOE_V(floe_zfp_planes_join)(const floe_zfp_shuffles *shuffles, const floe_zfp_planes *planes, uint32_t rank,
                                  uint32_t low, uint32_t high, floe_uint *block);

/* What zfpblock_encode_cpu.c and zfpblock_decode_cpu.c have; the contracts are in zfpblock.h. */
uint64_t FLOE_V(floe_zfp_encode)(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t first,
                                 uint64_t count, uint8_t *dst, uint16_t *lengths);

extern const floe_zfpblock_ops FLOE_V(floe_zfpblock_ops);

/* Returns what run gives for these arguments, and the rank and whether values are real as constants, so that loops unroll. */
#define FLOE_ZFP_BY_KIND(rank, type, run, ...)                                     \
    switch ((rank) + ((type) == FLOE_ZFP_F32 || (type) == FLOE_ZFP_F64 ? 4 : 0)) { \
    case 1: return run(__VA_ARGS__, 1, false);                                     \
    case 2: return run(__VA_ARGS__, 2, false);                                     \
    case 3: return run(__VA_ARGS__, 3, false);                                     \
    case 4: return run(__VA_ARGS__, 4, false);                                     \
    case 5: return run(__VA_ARGS__, 1, true);                                      \
    case 6: return run(__VA_ARGS__, 2, true);                                      \
    case 7: return run(__VA_ARGS__, 3, true);                                      \
    default: return run(__VA_ARGS__, 4, true);                                     \
    }

/* A square matrix of 8 rows of 8 bits in a word: rows become columns. */
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
