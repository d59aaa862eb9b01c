/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coefficients <-> bit planes, up to 64 coefficients at a time: as bytes, those of the same significance together and in the
 * order of the stream, 8 planes to 64 bytes. With AVX2, 64 coefficients are split into bytes, and the bytes put in order, within
 * registers; others are put in order first.
 */
#include "stage/zfpblock/zfpblock_planes.h"

#include "base/bytes.h"
#include "stage/zfpblock/zfpblock_math.h"

enum { GROUP = 64, NBYTES = FLOE_REAL_BITS / 8 };

typedef uint8_t group_bytes[GROUP]; /* the bytes of one significance */

void FLOE_V(floe_zfp_shuffles_init)(floe_zfp_shuffles *shuffles, uint32_t rank)
{
    const uint8_t *order = floe_zfp_order(rank);
    if (rank != 2 && rank != 3)
        return;
    memset(shuffles, 128, sizeof *shuffles);
    for (uint32_t i = 0; i < 1u << 2 * rank; i++) {
        shuffles->to[order[i] / 16][i] = order[i] % 16;
        shuffles->from[i / 16][order[i]] = (uint8_t)(i % 16);
    }
}

/* ---- 64 bytes <-> 8 planes ------------------------------------------------------------------------------------------- */

FLOE_INLINE void planes_of_bytes(const group_bytes bytes, uint32_t count, uint64_t *planes)
{
    for (uint32_t j = 0; j < 8; j++)
        planes[j] = 0;
    for (uint32_t g = 0; g < floe_ceil_div(count, 8); g++) {
        uint64_t columns = zfp_turn8(floe_load64(bytes + 8 * g));
        for (uint32_t j = 0; j < 8; j++)
            planes[j] |= (columns >> 8 * j & 255) << 8 * g;
    }
}

FLOE_INLINE void bytes_of_planes(const uint64_t *planes, uint32_t count, group_bytes bytes)
{
    for (uint32_t g = 0; g < floe_ceil_div(count, 8); g++) {
        uint64_t columns = 0;
        for (uint32_t j = 0; j < 8; j++)
            columns |= (planes[j] >> 8 * g & 255) << 8 * j;
        floe_store64(bytes + 8 * g, zfp_turn8(columns));
    }
}

/* ---- blocks, byte by byte -------------------------------------------------------------------------------------------- */

FLOE_INLINE void split(const floe_uint *block, uint32_t rank, uint32_t low, uint32_t high, floe_zfp_planes *planes)
{
    const uint32_t size = 1u << 2 * rank, count = size < GROUP ? size : GROUP;
    const uint8_t *order = floe_zfp_order(rank);
    for (uint32_t g = 0; g * GROUP < size; g++)
        for (uint32_t b = low / 8; 8 * b < high; b++) {
            group_bytes bytes = {0};
            for (uint32_t i = 0; i < count; i++)
                bytes[i] = (uint8_t)(block[order[g * GROUP + i]] >> 8 * b);
            planes_of_bytes(bytes, count, planes->plane[g] + 8 * b);
        }
}

FLOE_INLINE void join(const floe_zfp_planes *planes, uint32_t rank, uint32_t low, uint32_t high, floe_uint *block)
{
    const uint32_t size = 1u << 2 * rank, count = size < GROUP ? size : GROUP;
    const uint8_t *order = floe_zfp_order(rank);
    memset(block, 0, size * sizeof *block);
    for (uint32_t g = 0; g * GROUP < size; g++)
        for (uint32_t b = low / 8; 8 * b < high; b++) {
            group_bytes bytes;
            bytes_of_planes(planes->plane[g] + 8 * b, count, bytes);
            for (uint32_t i = 0; i < count; i++)
                block[order[g * GROUP + i]] |= (floe_uint)bytes[i] << 8 * b;
        }
}

#if FLOE_AVX2

/* ---- blocks in registers --------------------------------------------------------------------------------------------- */

/* What is done in halves of 32 coefficients: lane 0 has coefficients 0 to 15 of the half, lane 1 those from 16 on. */
typedef struct half_bytes {
    __m256i of[NBYTES]; /* by significance */
} half_bytes;

FLOE_INLINE __m256i load_lanes(const void *low, const void *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(low)), _mm_loadu_si128(high), 1);
}
FLOE_INLINE void store_lanes(void *low, void *high, __m256i v)
{
    _mm_storeu_si128(low, _mm256_castsi256_si128(v));
    _mm_storeu_si128(high, _mm256_extracti128_si256(v, 1));
}

/* In each lane a 4 x 4 matrix of 32-bit numbers, a row in each register: rows become columns. */
FLOE_INLINE void transpose4(__m256i v[4])
{
    __m256i a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpackhi_epi32(v[0], v[1]);
    __m256i c = _mm256_unpacklo_epi32(v[2], v[3]), d = _mm256_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm256_unpacklo_epi64(a, c);
    v[1] = _mm256_unpackhi_epi64(a, c);
    v[2] = _mm256_unpacklo_epi64(b, d);
    v[3] = _mm256_unpackhi_epi64(b, d);
}

/* In each lane a 4 x 4 matrix of bytes: rows become columns. */
FLOE_INLINE __m256i transpose4_bytes(__m256i v)
{
    return _mm256_shuffle_epi8(v, _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1,
                                                   5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
}

/* 16 coefficients at `low` and 16 at `high` -> their bytes. */
FLOE_INLINE half_bytes bytes_of_half(const floe_uint *low, const floe_uint *high)
{
    half_bytes h;
    for (int k = 0; k < 4; k++) {
#if FLOE_REAL_BITS == 32
        h.of[k] = transpose4_bytes(load_lanes(low + 4 * k, high + 4 * k));
#else
        __m256 a = _mm256_castsi256_ps(load_lanes(low + 4 * k, high + 4 * k));
        __m256 b = _mm256_castsi256_ps(load_lanes(low + 4 * k + 2, high + 4 * k + 2));
        h.of[k] = transpose4_bytes(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)));
        h.of[4 + k] = transpose4_bytes(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xDD)));
#endif
    }
    for (int b = 0; b < NBYTES; b += 4)
        transpose4(h.of + b);
    return h;
}

/* The way back. */
FLOE_INLINE void half_of_bytes(half_bytes h, floe_uint *low, floe_uint *high)
{
    for (int b = 0; b < NBYTES; b += 4)
        transpose4(h.of + b);
    for (int k = 0; k < 4; k++) {
#if FLOE_REAL_BITS == 32
        store_lanes(low + 4 * k, high + 4 * k, transpose4_bytes(h.of[k]));
#else
        __m256i l = transpose4_bytes(h.of[k]), u = transpose4_bytes(h.of[4 + k]);
        store_lanes(low + 4 * k, high + 4 * k, _mm256_unpacklo_epi32(l, u));
        store_lanes(low + 4 * k + 2, high + 4 * k + 2, _mm256_unpackhi_epi32(l, u));
#endif
    }
}

FLOE_INLINE __m256i mask_at(const uint8_t *mask) { return _mm256_load_si256((const __m256i *)mask); }

/* 64 bytes, in two registers, to the places that the shuffle gives. */
FLOE_INLINE void shuffle64(const uint8_t shuffle[4][64], __m256i *a, __m256i *b)
{
    const __m256i lane[4] = {_mm256_permute4x64_epi64(*a, 0x44), _mm256_permute4x64_epi64(*a, 0xEE),
                             _mm256_permute4x64_epi64(*b, 0x44), _mm256_permute4x64_epi64(*b, 0xEE)};
    __m256i r[2];
    for (int half = 0; half < 2; half++) {
        __m256i x = _mm256_shuffle_epi8(lane[0], mask_at(shuffle[0] + 32 * half));
        __m256i y = _mm256_shuffle_epi8(lane[1], mask_at(shuffle[1] + 32 * half));
        x = _mm256_or_si256(x, _mm256_shuffle_epi8(lane[2], mask_at(shuffle[2] + 32 * half)));
        y = _mm256_or_si256(y, _mm256_shuffle_epi8(lane[3], mask_at(shuffle[3] + 32 * half)));
        r[half] = _mm256_or_si256(x, y);
    }
    *a = r[0];
    *b = r[1];
}

FLOE_INLINE void split_64(const floe_zfp_shuffles *s, const floe_uint *block, uint32_t low, uint32_t high,
                          uint64_t *planes)
{
    const half_bytes first = bytes_of_half(block, block + 16), second = bytes_of_half(block + 32, block + 48);
    for (uint32_t byte = low / 8; 8 * byte < high; byte++) {
        __m256i a = first.of[byte], b = second.of[byte];
        shuffle64(s->to, &a, &b);
        for (uint32_t j = 8; j-- > 0;) {
            planes[8 * byte + j] = (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b)
                                                                           << 32;
            a = _mm256_add_epi8(a, a);
            b = _mm256_add_epi8(b, b);
        }
    }
}

/* 8 planes -> 64 bytes: a byte of each plane makes a matrix of 8 x 8 bits. */
FLOE_INLINE void bytes_of_8_planes(const uint64_t *planes, __m256i *a, __m256i *b)
{
    const __m256i pairs = _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0, 8, 1, 9, 2, 10, 3,
                                           11, 4, 12, 5, 13, 6, 14, 7, 15);
    /* lanes: planes 0 1 | 4 5 and 2 3 | 6 7, bytes of two planes interleaved; then of four: groups 0-3, and 4-7 */
    const __m256i p = _mm256_shuffle_epi8(load_lanes(planes, planes + 4), pairs);
    const __m256i q = _mm256_shuffle_epi8(load_lanes(planes + 2, planes + 6), pairs);
    const __m256i l = _mm256_unpacklo_epi16(p, q), u = _mm256_unpackhi_epi16(p, q);
    /* planes 0-3 of a group in lane 0, 4-7 in lane 1, 4 bytes each: bring the two together */
    const __m256i together = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    *a = zfp_turn8_each(_mm256_permutevar8x32_epi32(l, together));
    *b = zfp_turn8_each(_mm256_permutevar8x32_epi32(u, together));
}

FLOE_INLINE void join_64(const floe_zfp_shuffles *s, const uint64_t *planes, uint32_t low, uint32_t high,
                         floe_uint *block)
{
    half_bytes first, second;
    for (uint32_t byte = 0; byte < NBYTES; byte++) {
        first.of[byte] = second.of[byte] = _mm256_setzero_si256();
        if (8 * byte + 8 <= low || 8 * byte >= high)
            continue;
        bytes_of_8_planes(planes + 8 * byte, &first.of[byte], &second.of[byte]);
        shuffle64(s->from, &first.of[byte], &second.of[byte]);
    }
    half_of_bytes(first, block, block + 16);
    half_of_bytes(second, block + 32, block + 48);
}

#endif

/* ---- by rank, as a constant ------------------------------------------------------------------------------------------ */

void FLOE_V(floe_zfp_planes_split)(const floe_zfp_shuffles *shuffles, const floe_uint *block, uint32_t rank,
                                   uint32_t low, uint32_t high, floe_zfp_planes *planes)
{
    (void)shuffles;
    switch (rank) {
    case 2: split(block, 2, low, high, planes); break;
#if FLOE_AVX2
    case 3: split_64(shuffles, block, low, high, planes->plane[0]); break;
#else
    case 3: split(block, 3, low, high, planes); break;
#endif
    default: split(block, 4, low, high, planes); break;
    }
}

void FLOE_V(floe_zfp_planes_join)(const floe_zfp_shuffles *shuffles, const floe_zfp_planes *planes, uint32_t rank,
                                  uint32_t low, uint32_t high, floe_uint *block)
{
    (void)shuffles;
    switch (rank) {
    case 2: join(planes, 2, low, high, block); break;
#if FLOE_AVX2
    case 3: join_64(shuffles, planes->plane[0], low, high, block); break;
#else
    case 3: join(planes, 3, low, high, block); break;
#endif
    default: join(planes, 4, low, high, block); break;
    }
}
