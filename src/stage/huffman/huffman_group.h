/* SPDX-License-Identifier: BSD-3-Clause */
/* What coder and decoder of stage huffman share on a CPU: bytes of a word array, the symbols of a group, the lane. */
#ifndef FLOE_STAGE_HUFFMAN_GROUP_H
#define FLOE_STAGE_HUFFMAN_GROUP_H

#include "stage/huffman/huffman_math.h"
#include "stage/huffman/huffman_tile.h"

#if FLOE_AVX2
#include <immintrin.h>
#endif

/* ---- bits: any host byte order, 8 bytes at a time ---- */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline uint64_t bytes_load(const uint32_t *words, size_t byte)
{
    uint64_t x;
    memcpy(&x, (const uint8_t *)words + byte, sizeof x);
    return x;
}
static inline void bytes_store(uint32_t *words, size_t byte, uint64_t x)
{
    memcpy((uint8_t *)words + byte, &x, sizeof x);
}
#else
static inline uint64_t bytes_load(const uint32_t *words, size_t byte)
{
    uint64_t x = 0;
    for (uint32_t i = 0; i < 8; i++)
        x |= (uint64_t)(words[(byte + i) / 4] >> 8 * ((byte + i) % 4) & 0xff) << 8 * i;
    return x;
}
static inline void bytes_store(uint32_t *words, size_t byte, uint64_t x)
{
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t shift = 8 * (uint32_t)((byte + i) % 4), *word = &words[(byte + i) / 4];
        *word = (*word & ~((uint32_t)0xff << shift)) | ((uint32_t)(x >> 8 * i) & 0xff) << shift;
    }
}
#endif

/* The next bits from bit pos on, 57 at least. Touches 8 bytes. */
static inline uint64_t bits_peek(const uint32_t *words, size_t pos) { return bytes_load(words, pos >> 3) >> (pos & 7); }

/* A group of more than 8 bits: the symbol of each value, and the raw bits behind it. */
typedef struct wide_group {
    uint32_t symbol[FLOE_GROUP_VALUES], nraw[FLOE_GROUP_VALUES];
    floe_uint raw[FLOE_GROUP_VALUES];
} wide_group;

/* ---- a narrow group and its symbols: bit j of value i of a symbol of n values is the symbol's bit j * n + i ---- */

#if FLOE_AVX2
/* The low bytes of the 32 values. */
static inline __m256i group_bytes(const floe_uint *residual)
{
    const __m256i *r = (const __m256i *)residual;
    __m256i v[4];
    for (uint32_t i = 0; i < 4; i++) {
#if FLOE_REAL_BITS == 32
        v[i] = _mm256_loadu_si256(r + i);
#else
        __m256 lo = _mm256_castsi256_ps(_mm256_loadu_si256(r + 2 * i));
        __m256 hi = _mm256_castsi256_ps(_mm256_loadu_si256(r + 2 * i + 1));
        v[i] = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(lo, hi, 0x88)), 0xd8);
#endif
    }
    __m256i x = _mm256_packus_epi16(_mm256_packus_epi32(v[0], v[1]), _mm256_packus_epi32(v[2], v[3]));
    return _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* Stores 32 bytes as 32 values. */
static inline void group_store(floe_uint *residual, __m256i bytes)
{
    __m128i half[2] = {_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1)};
    __m256i *r = (__m256i *)residual;
    for (uint32_t h = 0; h < 2; h++, r += FLOE_REAL_BITS / 16) {
#if FLOE_REAL_BITS == 32
        _mm256_storeu_si256(r, _mm256_cvtepu8_epi32(half[h]));
        _mm256_storeu_si256(r + 1, _mm256_cvtepu8_epi32(_mm_srli_si128(half[h], 8)));
#else
        _mm256_storeu_si256(r, _mm256_cvtepu8_epi64(half[h]));
        _mm256_storeu_si256(r + 1, _mm256_cvtepu8_epi64(_mm_srli_si128(half[h], 4)));
        _mm256_storeu_si256(r + 2, _mm256_cvtepu8_epi64(_mm_srli_si128(half[h], 8)));
        _mm256_storeu_si256(r + 3, _mm256_cvtepu8_epi64(_mm_srli_si128(half[h], 12)));
#endif
    }
}

static inline __m256i twice(__m128i x) { return _mm256_broadcastsi128_si256(x); }

/* Spreads the bits of each value to their places, then adds the neighbours, each one bit further left. */
static inline void symbols_of_group(uint32_t width, const floe_uint *residual, uint8_t *symbol)
{
    __m256i x = group_bytes(residual);
    if (width == 1) {
        uint32_t bits = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(x, 7));
        memcpy(symbol, &bits, sizeof bits);
    } else if (width == 2) {
        const __m128i spread = _mm_setr_epi8(0, 1, 16, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        x = _mm256_maddubs_epi16(_mm256_shuffle_epi8(twice(spread), x), _mm256_set1_epi32(0x08040201));
        x = _mm256_madd_epi16(x, _mm256_set1_epi16(1));
        __m128i s = _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
        _mm_storel_epi64((__m128i *)symbol, _mm_packus_epi16(s, s));
    } else if (width <= 4) {
        const __m128i spread = _mm_setr_epi8(0, 1, 4, 5, 16, 17, 20, 21, 64, 65, 68, 69, 80, 81, 84, 85);
        x = _mm256_maddubs_epi16(_mm256_shuffle_epi8(twice(spread), x), _mm256_set1_epi16(0x0201));
        _mm_storeu_si128((__m128i *)symbol,
                         _mm_packus_epi16(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)));
    } else {
        _mm256_storeu_si256((__m256i *)symbol, x);
    }
}

static inline __m256i at_most_1(__m256i x) { return _mm256_min_epu8(x, _mm256_set1_epi8(1)); }

static inline void group_of_symbols(uint32_t width, const uint8_t *symbol, floe_uint *residual)
{
    __m256i x;
    if (width == 1) { /* symbol v / 8 to byte v, of which bit v % 8 */
        const __m256i take = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
        uint32_t bits;
        memcpy(&bits, symbol, sizeof bits);
        x = _mm256_shuffle_epi8(_mm256_set1_epi32((int32_t)bits), take);
        x = at_most_1(_mm256_and_si256(x, _mm256_set1_epi64x((int64_t)0x8040201008040201)));
    } else if (width == 2) { /* symbol v / 4 to byte v, of which bits v % 4 and v % 4 + 4 */
        const __m256i take =
            _mm256_setr_epi64x(0x0101010100000000, 0x0303030302020202, 0x0505050504040404, 0x0707070706060606);
        x = _mm256_shuffle_epi8(twice(_mm_loadl_epi64((const __m128i *)symbol)), take);
        __m256i low = at_most_1(_mm256_and_si256(x, _mm256_set1_epi32(0x08040201)));
        __m256i high = at_most_1(_mm256_and_si256(x, _mm256_set1_epi32((int32_t)0x80402010)));
        x = _mm256_or_si256(low, _mm256_add_epi8(high, high));
    } else if (width <= 4) { /* the even bits of a symbol, then the odd ones */
        const __m128i even = _mm_setr_epi8(0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3);
        const __m128i odd = _mm_setr_epi8(0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3);
        const __m128i nibble = _mm_set1_epi8(15);
        __m128i s = _mm_loadu_si128((const __m128i *)symbol);
        __m128i low = _mm_and_si128(s, nibble), high = _mm_and_si128(_mm_srli_epi16(s, 4), nibble);
        __m128i high_even = _mm_shuffle_epi8(even, high), high_odd = _mm_shuffle_epi8(odd, high);
        __m128i first = _mm_or_si128(_mm_shuffle_epi8(even, low), _mm_slli_epi16(high_even, 2));
        __m128i second = _mm_or_si128(_mm_shuffle_epi8(odd, low), _mm_slli_epi16(high_odd, 2));
        x = _mm256_set_m128i(_mm_unpackhi_epi8(first, second), _mm_unpacklo_epi8(first, second));
    } else {
        x = _mm256_loadu_si256((const __m256i *)symbol);
    }
    group_store(residual, x);
}

#if FLOE_REAL_BITS == 32
/* Bit lengths (floe_bit_length) of values of 2 and more, from a float's exponent: of half the value, which is no
 * negative number, without the bit behind each one, so that rounding cannot carry into the exponent. */
static inline __m256i bit_lengths(__m256i v)
{
    __m256i half = _mm256_srli_epi32(v, 1);
    __m256 f = _mm256_cvtepi32_ps(_mm256_andnot_si256(_mm256_srli_epi32(half, 1), half));
    return _mm256_sub_epi32(_mm256_srli_epi32(_mm256_castps_si256(f), 23), _mm256_set1_epi32(127 - 2));
}

static inline void symbols_of_wide(const floe_uint *residual, wide_group *w)
{
    const __m256i three = _mm256_set1_epi32(3), four = _mm256_set1_epi32(4), ones = _mm256_set1_epi32(-1);
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i += 8) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(residual + i)), n = bit_lengths(v);
        __m256i has_raw = _mm256_cmpgt_epi32(n, four);
        __m256i nraw = _mm256_and_si256(has_raw, _mm256_sub_epi32(n, three));
        __m256i more = _mm256_and_si256(has_raw, _mm256_add_epi32(_mm256_slli_epi32(nraw, 2), four));
        _mm256_storeu_si256((__m256i *)(w->symbol + i), _mm256_add_epi32(_mm256_srlv_epi32(v, nraw), more));
        _mm256_storeu_si256((__m256i *)(w->nraw + i), nraw);
        _mm256_storeu_si256((__m256i *)(w->raw + i), _mm256_andnot_si256(_mm256_sllv_epi32(ones, nraw), v));
    }
}
#endif

static inline uint32_t widths_nonzero(const uint8_t *width)
{
    __m256i w = _mm256_loadu_si256((const __m256i *)width);
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(w, _mm256_setzero_si256()));
}
#else
/* Symbols of n values of `width` bits: constants, which the compiler unrolls. */
FLOE_INLINE void symbols_of_values(uint32_t width, uint32_t n, const floe_uint *value, uint8_t *symbol)
{
    for (uint32_t k = 0; k < FLOE_GROUP_VALUES / n; k++) {
        uint32_t s = 0;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < width; j++)
                s |= (uint32_t)(value[k * n + i] >> j & 1) << (j * n + i);
        symbol[k] = (uint8_t)s;
    }
}
FLOE_INLINE void values_of_symbols(uint32_t width, uint32_t n, const uint8_t *symbol, floe_uint *value)
{
    for (uint32_t k = 0; k < FLOE_GROUP_VALUES / n; k++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t v = 0;
            for (uint32_t j = 0; j < width; j++)
                v |= (symbol[k] >> (j * n + i) & 1u) << j;
            value[k * n + i] = v;
        }
}

static inline void symbols_of_group(uint32_t width, const floe_uint *residual, uint8_t *symbol)
{
    switch (width) {
    case 1: symbols_of_values(1, 8, residual, symbol); break;
    case 2: symbols_of_values(2, 4, residual, symbol); break;
    case 3:
    case 4: symbols_of_values(4, 2, residual, symbol); break;
    default: /* not bit by bit, which -O2 does not see through */
        for (uint32_t k = 0; k < FLOE_GROUP_VALUES; k++)
            symbol[k] = (uint8_t)residual[k];
    }
}

static inline void group_of_symbols(uint32_t width, const uint8_t *symbol, floe_uint *residual)
{
    switch (width) {
    case 1: values_of_symbols(1, 8, symbol, residual); break;
    case 2: values_of_symbols(2, 4, symbol, residual); break;
    case 3:
    case 4: values_of_symbols(4, 2, symbol, residual); break;
    default:
        for (uint32_t k = 0; k < FLOE_GROUP_VALUES; k++)
            residual[k] = symbol[k];
    }
}

static inline uint32_t widths_nonzero(const uint8_t *width)
{
    uint32_t mask = 0;
    for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
        mask |= (uint32_t)(width[g] != 0) << g;
    return mask;
}
#endif

#if !FLOE_AVX2 || FLOE_REAL_BITS == 64
static inline void symbols_of_wide(const floe_uint *residual, wide_group *w)
{
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++) {
        w->nraw[i] = floe_huffman_wide_raw_of(residual[i]);
        w->symbol[i] = floe_huffman_wide_symbol(residual[i], w->nraw[i]);
        w->raw[i] = residual[i] & (((floe_uint)1 << w->nraw[i]) - 1);
    }
}
#endif

/* ---- what coder and decoder remember within a lane ---- */

typedef struct lane_state {
    uint32_t quad;  /* the quad symbol before */
    uint32_t width; /* the width of the live group before */
} lane_state;

static inline lane_state lane_start(void) { return (lane_state){1, FLOE_HUFFMAN_NO_WIDTH}; }

static inline uint32_t quad_of(uint32_t mask, uint32_t q) { return mask >> (q % FLOE_HUFFMAN_STEP_QUADS * 4) & 15; }

#endif
