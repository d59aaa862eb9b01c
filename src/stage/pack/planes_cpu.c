/* SPDX-License-Identifier: BSD-3-Clause */
/* Bit planes of 32 values. With AVX2 the values are split into bytes, 32 of which fill a register: a plane is then one
 * movemask, and going back is a compare against one bit a byte. */
#include <string.h>

#include "stage/pack/pack.h"

#if FLOE_AVX2
#include <immintrin.h>

/* Byte `b` of each of 32 words, in order. */
static inline __m256i byte_of_words(const uint32_t *v, uint32_t b)
{
    const __m256i low = _mm256_set1_epi32(0xFF);
    __m128i shift = _mm_cvtsi32_si128((int)(8 * b));
    __m256i w[4];
    for (int i = 0; i < 4; i++) {
        w[i] = _mm256_loadu_si256((const __m256i *)(v + 8 * i));
        w[i] = _mm256_and_si256(_mm256_srl_epi32(w[i], shift), low);
    }
    __m256i a = _mm256_packus_epi32(w[0], w[1]), c = _mm256_packus_epi32(w[2], w[3]);
    __m256i bytes = _mm256_packus_epi16(a, c); /* the packs work in halves: put the 4-byte pieces back in order */
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

static inline void planes_of_bytes(__m256i bytes, uint32_t width, uint32_t *planes)
{
    for (uint32_t b = 0; b < width; b++) {
        __m256i top = _mm256_sll_epi16(bytes, _mm_cvtsi32_si128((int)(7 - b)));
        planes[b] = (uint32_t)_mm256_movemask_epi8(top);
    }
}

static inline __m256i bytes_of_planes(const uint32_t *planes, uint32_t width)
{
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3,
                                            3, 3, 3, 3, 3, 3, 3);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201u);
    __m256i bytes = _mm256_setzero_si256();
    for (uint32_t b = 0; b < width; b++) {
        __m256i plane = _mm256_shuffle_epi8(_mm256_set1_epi32((int)planes[b]), spread);
        __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(plane, bit), bit);
        bytes = _mm256_or_si256(bytes, _mm256_and_si256(set, _mm256_set1_epi8((char)(1u << b))));
    }
    return bytes;
}

/* values[i] |= byte i << 8 b */
static inline void add_bytes(__m256i bytes, uint32_t b, uint32_t *v)
{
    __m128i shift = _mm_cvtsi32_si128((int)(8 * b)), half = _mm256_castsi256_si128(bytes);
    for (int i = 0; i < 4; i++) {
        if (i == 2)
            half = _mm256_extracti128_si256(bytes, 1);
        __m256i wide = _mm256_cvtepu8_epi32(i & 1 ? _mm_srli_si128(half, 8) : half);
        __m256i *at = (__m256i *)(v + 8 * i);
        wide = _mm256_sll_epi32(wide, shift);
        _mm256_storeu_si256(at, b ? _mm256_or_si256(_mm256_loadu_si256(at), wide) : wide);
    }
}

static void planes_of_words(const uint32_t *v, uint32_t width, uint32_t *planes)
{
    for (uint32_t b = 0; 8 * b < width; b++)
        planes_of_bytes(byte_of_words(v, b), width - 8 * b < 8 ? width - 8 * b : 8, planes + 8 * b);
}

static void words_of_planes(const uint32_t *planes, uint32_t width, uint32_t *v)
{
    if (width == 0)
        memset(v, 0, FLOE_GROUP_VALUES * sizeof *v);
    for (uint32_t b = 0; 8 * b < width; b++)
        add_bytes(bytes_of_planes(planes + 8 * b, width - 8 * b < 8 ? width - 8 * b : 8), b, v);
}

#else

static void planes_of_words(const uint32_t *v, uint32_t width, uint32_t *planes)
{
    for (uint32_t b = 0; b < width; b++) {
        uint32_t plane = 0;
        for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++)
            plane |= (v[i] >> b & 1) << i;
        planes[b] = plane;
    }
}

static void words_of_planes(const uint32_t *planes, uint32_t width, uint32_t *v)
{
    memset(v, 0, FLOE_GROUP_VALUES * sizeof *v);
    for (uint32_t b = 0; b < width; b++)
        for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++)
            v[i] |= (planes[b] >> i & 1) << b;
}

#endif

void FLOE_V(floe_planes_of_bytes)(const uint8_t *bytes, uint32_t width, uint32_t *planes)
{
#if FLOE_AVX2
    planes_of_bytes(_mm256_loadu_si256((const __m256i *)bytes), width, planes);
#else
    for (uint32_t b = 0; b < width; b++) {
        planes[b] = 0;
        for (uint32_t i = 0; i < 32; i++)
            planes[b] |= (uint32_t)(bytes[i] >> b & 1) << i;
    }
#endif
}

void FLOE_V(floe_bytes_of_planes)(const uint32_t *planes, uint32_t width, uint8_t *bytes)
{
#if FLOE_AVX2
    _mm256_storeu_si256((__m256i *)bytes, bytes_of_planes(planes, width));
#else
    memset(bytes, 0, 32);
    for (uint32_t b = 0; b < width; b++)
        for (uint32_t i = 0; i < 32; i++)
            bytes[i] |= (uint8_t)((planes[b] >> i & 1) << b);
#endif
}

uint32_t FLOE_V(floe_bytes_above)(const uint8_t *bytes, uint32_t least)
{
#if FLOE_AVX2
    __m256i above = _mm256_cmpgt_epi8(_mm256_loadu_si256((const __m256i *)bytes), _mm256_set1_epi8((char)least));
    return (uint32_t)__builtin_popcount((uint32_t)_mm256_movemask_epi8(above));
#else
    uint32_t n = 0;
    for (uint32_t i = 0; i < 32; i++)
        n += bytes[i] > least;
    return n;
#endif
}

#if FLOE_REAL_BITS == 32

void FLOE_V(floe_planes_of_values)(const floe_uint *values, uint32_t width, uint32_t *planes)
{
    planes_of_words(values, width, planes);
}

void FLOE_V(floe_values_of_planes)(const uint32_t *planes, uint32_t width, floe_uint *values)
{
    words_of_planes(planes, width, values);
}

#else /* 64 bits: the low and the high words, each as above */

void FLOE_V(floe_planes_of_values)(const floe_uint *values, uint32_t width, uint32_t *planes)
{
    uint32_t half[FLOE_GROUP_VALUES];
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++)
        half[i] = (uint32_t)values[i];
    planes_of_words(half, width < 32 ? width : 32, planes);
    if (width <= 32)
        return;
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++)
        half[i] = (uint32_t)(values[i] >> 32);
    planes_of_words(half, width - 32, planes + 32);
}

void FLOE_V(floe_values_of_planes)(const uint32_t *planes, uint32_t width, floe_uint *values)
{
    uint32_t low[FLOE_GROUP_VALUES], high[FLOE_GROUP_VALUES];
    words_of_planes(planes, width < 32 ? width : 32, low);
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++)
        values[i] = low[i];
    if (width <= 32)
        return;
    words_of_planes(planes + 32, width - 32, high);
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++)
        values[i] |= (floe_uint)high[i] << 32;
}

#endif
