/* SPDX-License-Identifier: BSD-3-Clause */
/* All values of a block by the formulas of zfpblock_math.h, and, where a processor has no instruction for them, by what gives
 * the same bits faster: inside src/stage/zfpblock only. */
#ifndef FLOE_STAGE_ZFPBLOCK_WHOLE_H
#define FLOE_STAGE_ZFPBLOCK_WHOLE_H

#include "stage/zfpblock/zfpblock_lift.h"

#if FLOE_AVX2 && FLOE_REAL_BITS == 64
#include <immintrin.h>
#endif

/* The exponent of a block of bit patterns; *finite: no infinity or NaN among them. */
FLOE_INLINE int32_t zfp_exponent_of(const floe_uint *block, uint32_t rank, bool *finite)
{
    floe_uint most = 0;
    for (uint32_t i = 0; i < 1u << 2 * rank; i++) {
        const floe_uint m = block[i] & (FLOE_ZFP_SIGN - 1);
        most = m > most ? m : most;
    }
    *finite = most < FLOE_ZFP_INFINITY;
    if (most <= FLOE_ZFP_INFINITY)
        return FLOE_R(floe_zfp_exponent)(most);
    most = 0;
    for (uint32_t i = 0; i < 1u << 2 * rank; i++)
        most = FLOE_R(floe_zfp_magnitude)(block[i]) > most ? FLOE_R(floe_zfp_magnitude)(block[i]) : most;
    return FLOE_R(floe_zfp_exponent)(most);
}

#if FLOE_AVX2 && FLOE_REAL_BITS == 64

/* AVX2 knows no 64-bit integers when it converts. Towards 0: the mantissa, shifted to where the exponent says; a count of 64
 * and more, or less than 0, shifts everything out. */
FLOE_INLINE __m256i whole_of_four(__m256d scaled)
{
    const __m256i bits = _mm256_castpd_si256(scaled), one = _mm256_set1_epi64x(1);
    const __m256i unit = _mm256_set1_epi64x(FLOE_ZFP_EXP_BIAS + FLOE_ZFP_MANTISSA_BITS); /* exponent of 2^52 */
    const __m256i sign = _mm256_cmpgt_epi64(_mm256_setzero_si256(), bits);
    const __m256i exponent = _mm256_srli_epi64(_mm256_slli_epi64(bits, 1), FLOE_ZFP_MANTISSA_BITS + 1);
    const __m256i leading = _mm256_slli_epi64(one, FLOE_ZFP_MANTISSA_BITS);
    const __m256i mantissa = _mm256_or_si256(_mm256_and_si256(bits, _mm256_sub_epi64(leading, one)), leading);
    const __m256i up = _mm256_sllv_epi64(mantissa, _mm256_sub_epi64(exponent, unit));
    const __m256i down = _mm256_srlv_epi64(mantissa, _mm256_sub_epi64(unit, exponent));
    const __m256i magnitude = _mm256_or_si256(up, down); /* one of the two, or both are the mantissa */
    return _mm256_sub_epi64(_mm256_xor_si256(magnitude, sign), sign);
}

/* Rounded to nearest once: the low 32 bits as 2^52 + low, the high ones as 2^84 + 2^63 + 2^32 high; the first difference is
 * exact. */
FLOE_INLINE __m256d real_of_four(__m256i whole)
{
    const __m256i low = _mm256_blend_epi32(whole, _mm256_set1_epi64x(0x4330000000000000), 0xAA);
    const __m256i high = _mm256_xor_si256(_mm256_srli_epi64(whole, 32), _mm256_set1_epi64x(0x4530000080000000));
    const __m256d offset = _mm256_set1_pd(0x1p84 + 0x1p63 + 0x1p52);
    return _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), offset), _mm256_castsi256_pd(low));
}

#endif

/* Bit patterns of numbers -> whole numbers. fits: all of them do. */
FLOE_INLINE void zfp_to_whole(const floe_uint *bits, uint32_t rank, int32_t e, bool fits, floe_uint *whole)
{
    const floe_real power = FLOE_R(floe_zfp_power)(FLOE_R(floe_zfp_scale)(e));
    floe_real x[FLOE_ZFP_BLOCK_VALUES];
    memcpy(x, bits, sizeof *x << 2 * rank);
    if (!fits) {
        for (uint32_t i = 0; i < 1u << 2 * rank; i++)
            whole[i] = FLOE_R(floe_zfp_whole)(x[i], power);
        return;
    }
    for (uint32_t i = 0; i < 1u << 2 * rank; i += 4) {
#if FLOE_AVX2 && FLOE_REAL_BITS == 64
        const __m256d scaled = _mm256_mul_pd(_mm256_loadu_pd(x + i), _mm256_set1_pd(power));
        _mm256_storeu_si256((__m256i *)(whole + i), whole_of_four(scaled));
#else
        for (uint32_t j = i; j < i + 4; j++)
            whole[j] = (floe_uint)(floe_int)(x[j] * power);
#endif
    }
}

/* The way back. */
FLOE_INLINE void zfp_to_real(const floe_uint *whole, uint32_t rank, int32_t e, floe_uint *bits)
{
    const floe_real power = FLOE_R(floe_zfp_power)(-FLOE_R(floe_zfp_scale)(e));
    floe_real y[FLOE_ZFP_BLOCK_VALUES];
    for (uint32_t i = 0; i < 1u << 2 * rank; i += 4) {
#if FLOE_AVX2 && FLOE_REAL_BITS == 64
        const __m256d v = real_of_four(_mm256_loadu_si256((const __m256i *)(whole + i)));
        _mm256_storeu_pd(y + i, _mm256_mul_pd(_mm256_set1_pd(power), v));
#else
        for (uint32_t j = i; j < i + 4; j++)
            y[j] = FLOE_R(floe_zfp_real)(whole[j], power);
#endif
    }
    memcpy(bits, y, sizeof *y << 2 * rank);
}

#endif
