/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coefficients <-> bit planes, 64 coefficients at a time: first as bytes, those of the same significance together and in the
 * order of the stream, then 8 planes from each 64 bytes.
 */
#include "stage/zfpblock/zfpblock_planes.h"

#include "base/bytes.h"
#include "stage/zfpblock/zfpblock_math.h"

#if FLOE_AVX2
#include <immintrin.h>
#endif

enum { GROUP = 64, NBYTES = FLOE_REAL_BITS / 8 };

typedef uint8_t group_bytes[GROUP]; /* the bytes of one significance */

/* ---- 64 bytes <-> 8 planes ------------------------------------------------------------------------------------------- */

/* 8 rows of 8 bits in a word: rows become columns. */
static inline uint64_t transpose8(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & 0x00AA00AA00AA00AAu;
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000CCCC0000CCCCu;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000F0F0F0F0u;
    return x ^ t ^ t << 28;
}

#if FLOE_AVX2

static inline void planes_of_bytes(const group_bytes bytes, uint32_t count, uint64_t *planes)
{
    (void)count;
    __m256i a = _mm256_load_si256((const __m256i *)bytes), b = _mm256_load_si256((const __m256i *)(bytes + 32));
    for (int j = 7; j >= 0; j--) {
        planes[j] = (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
        a = _mm256_add_epi8(a, a);
        b = _mm256_add_epi8(b, b);
    }
}

#else

static inline void planes_of_bytes(const group_bytes bytes, uint32_t count, uint64_t *planes)
{
    for (uint32_t j = 0; j < 8; j++)
        planes[j] = 0;
    for (uint32_t g = 0; g < floe_ceil_div(count, 8); g++) {
        uint64_t columns = transpose8(floe_load64(bytes + 8 * g));
        for (uint32_t j = 0; j < 8; j++)
            planes[j] |= (columns >> 8 * j & 255) << 8 * g;
    }
}

#endif

static inline void bytes_of_planes(const uint64_t *planes, uint32_t count, group_bytes bytes)
{
    for (uint32_t g = 0; g < floe_ceil_div(count, 8); g++) {
        uint64_t columns = 0;
        for (uint32_t j = 0; j < 8; j++)
            columns |= (planes[j] >> 8 * g & 255) << 8 * j;
        floe_store64(bytes + 8 * g, transpose8(columns));
    }
}

/* ---- blocks ---------------------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void split(const floe_uint *block, uint32_t rank, uint32_t low,
                                                        uint32_t high, floe_zfp_planes *planes)
{
    const uint32_t size = 1u << 2 * rank, count = size < GROUP ? size : GROUP;
    const uint8_t *order = floe_zfp_order(rank);
    for (uint32_t g = 0; g * GROUP < size; g++)
        for (uint32_t b = low / 8; 8 * b < high; b++) {
            _Alignas(32) group_bytes bytes = {0};
            for (uint32_t i = 0; i < count; i++)
                bytes[i] = (uint8_t)(block[order[g * GROUP + i]] >> 8 * b);
            planes_of_bytes(bytes, count, planes->plane[g] + 8 * b);
        }
}

static inline __attribute__((always_inline)) void join(const floe_zfp_planes *planes, uint32_t rank, uint32_t low,
                                                       uint32_t high, floe_uint *block)
{
    const uint32_t size = 1u << 2 * rank, count = size < GROUP ? size : GROUP;
    const uint8_t *order = floe_zfp_order(rank);
    memset(block, 0, size * sizeof *block);
    for (uint32_t g = 0; g * GROUP < size; g++)
        for (uint32_t b = low / 8; 8 * b < high; b++) {
            _Alignas(32) group_bytes bytes;
            bytes_of_planes(planes->plane[g] + 8 * b, count, bytes);
            for (uint32_t i = 0; i < count; i++)
                block[order[g * GROUP + i]] |= (floe_uint)bytes[i] << 8 * b;
        }
}

void FLOE_V(floe_zfp_planes_split)(const floe_uint *block, uint32_t rank, uint32_t low, uint32_t high,
                                   floe_zfp_planes *planes)
{
    switch (rank) {
    case 1: split(block, 1, low, high, planes); break;
    case 2: split(block, 2, low, high, planes); break;
    case 3: split(block, 3, low, high, planes); break;
    default: split(block, 4, low, high, planes); break;
    }
}

void FLOE_V(floe_zfp_planes_join)(const floe_zfp_planes *planes, uint32_t rank, uint32_t low, uint32_t high,
                                  floe_uint *block)
{
    switch (rank) {
    case 1: join(planes, 1, low, high, block); break;
    case 2: join(planes, 2, low, high, block); break;
    case 3: join(planes, 3, low, high, block); break;
    default: join(planes, 4, low, high, block); break;
    }
}
