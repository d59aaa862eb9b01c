/* SPDX-License-Identifier: BSD-3-Clause */
/* Planes of four coefficients: so short that the grammar is looked up, for there is nothing in a table that a processor
 * could guess wrong. Inside src/stage/zfpblock only. */
#ifndef FLOE_STAGE_ZFPBLOCK_FOUR_H
#define FLOE_STAGE_ZFPBLOCK_FOUR_H

#include "stage/zfpblock/zfpblock_bits.h"
#include "stage/zfpblock/zfpblock_whole.h"

#if FLOE_AVX2
#include <immintrin.h>
#endif

enum {
    ZFP_FOUR = 4,
    ZFP_FOUR_BITS = 7, /* the most that a plane takes: a test and a bit for each, but for the last one's bit */
    ZFP_FOUR_LENGTH = 8
};

/* A plane with its code. */
typedef struct zfp_four {
    uint8_t plane, code;
    uint8_t nbits; /* of the code */
    uint8_t known; /* coefficients that are known behind it */
} zfp_four;

/* By coefficients that have a bit in any plane above, and the plane: its code, and how long it is from bit ZFP_FOUR_LENGTH on.
 * Known are all up to the last one of these, so that none has to be looked up before the next. */
typedef struct zfp_four_codes {
    uint16_t of[1 << ZFP_FOUR][1 << ZFP_FOUR];
} zfp_four_codes;

FLOE_INLINE zfp_four zfp_four_of(uint32_t known, uint32_t plane)
{
    uint32_t code = plane & ((1u << known) - 1), nbits = known, n = known;
    for (uint32_t rest = plane >> n; rest;) {
        const floe_zfp_group g = floe_zfp_group_encode(rest, ZFP_FOUR - n);
        code |= (uint32_t)g.bits << nbits;
        nbits += g.nbits;
        n += g.ncoefs;
        rest >>= g.ncoefs;
    }
    return (zfp_four){(uint8_t)plane, (uint8_t)code, (uint8_t)(nbits + (n < ZFP_FOUR)), (uint8_t)n};
}

static inline void zfp_four_codes_init(zfp_four_codes *codes)
{
    uint32_t known = 0;
    for (uint32_t seen = 0; seen < 1 << ZFP_FOUR; seen++) {
        known += seen >> known; /* 1 where seen has come to a power of 2 */
        for (uint32_t plane = 0; plane < 1 << ZFP_FOUR; plane++) {
            const zfp_four f = zfp_four_of(known, plane);
            codes->of[seen][plane] = (uint16_t)(f.code | f.nbits << ZFP_FOUR_LENGTH);
        }
    }
}

/* Bit k of each coefficient: a plane's order is that of the block. */
FLOE_INLINE uint32_t zfp_four_plane(const floe_uint *block, uint32_t k)
{
#if FLOE_AVX2 && FLOE_REAL_BITS == 32
    const __m128i v = _mm_loadu_si128((const __m128i *)block);
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_sll_epi32(v, _mm_cvtsi32_si128((int)(31 - k)))));
#elif FLOE_AVX2
    const __m256i v = _mm256_loadu_si256((const __m256i *)block);
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_sll_epi64(v, _mm_cvtsi32_si128((int)(63 - k)))));
#else
    return (uint32_t)((block[0] >> k & 1) | (block[1] >> k & 1) << 1 | (block[2] >> k & 1) << 2 |
                      (block[3] >> k & 1) << 3);
#endif
}

/* Planes high - 1 down to low, or until the writer has come to `stop`. */
FLOE_INLINE void zfp_put_fours(floe_zfp_writer *w, const zfp_four_codes *codes, const floe_uint *block, uint32_t low,
                               uint32_t high, const uint8_t *stop)
{
    const uint64_t left = stop > w->at ? 8 * (uint64_t)(stop - w->at) : 0; /* after so many bits it is worth a look */
    const uint32_t full = (uint32_t)floe_min64(FLOE_ZFP_PUT_MAX - ZFP_FOUR_BITS, left);
    uint64_t bits = 0;
    uint32_t nbits = 0, seen = 0;
    for (uint32_t k = high; k-- > low;) {
        const uint32_t plane = zfp_four_plane(block, k), code = codes->of[seen][plane];
        bits |= (uint64_t)(code & ((1u << ZFP_FOUR_LENGTH) - 1)) << nbits;
        nbits += code >> ZFP_FOUR_LENGTH;
        seen |= plane;
        if (nbits >= full) {
            floe_zfp_put(w, bits, nbits);
            bits = nbits = 0;
            if (w->at >= stop)
                return;
        }
    }
    floe_zfp_put(w, bits, nbits);
}

#endif
