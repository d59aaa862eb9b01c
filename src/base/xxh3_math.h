/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XXH3-64 (seed 0, default secret) as its specification has it, once, for both compilers: one formula for each class of
 * lengths. Up to 240 bytes, pairs of words are folded by a 64 x 64 -> 128 bit product. Above, eight 64-bit lanes take 64-byte
 * stripes, and are scrambled after each block of 16. What can be summed in any order stands as terms, so that the lanes of
 * a warp may share them.
 *
 * On a GPU the data begins at a multiple of 8, and the aligned words that hold its first and last byte are read whole.
 */
#ifndef FLOE_BASE_XXH3_MATH_H
#define FLOE_BASE_XXH3_MATH_H

#include <stddef.h>

#ifndef __cplusplus
#include <stdalign.h>
#endif

#include "base/hd.h"

#define FLOE_XXH3_P32_1 0x9E3779B1u
#define FLOE_XXH3_P32_2 0x85EBCA77u
#define FLOE_XXH3_P32_3 0xC2B2AE3Du
#define FLOE_XXH3_P64_1 0x9E3779B185EBCA87u
#define FLOE_XXH3_P64_2 0xC2B2AE3D27D4EB4Fu
#define FLOE_XXH3_P64_3 0x165667B19E3779F9u
#define FLOE_XXH3_P64_4 0x85EBCA77C2B2AE63u
#define FLOE_XXH3_P64_5 0x27D4EB2F165667C5u
#define FLOE_XXH3_MX_1  0x165667919E3779F9u
#define FLOE_XXH3_MX_2  0x9FB21C651E98DF25u

enum {
    FLOE_XXH3_LANES = 8,
    FLOE_XXH3_STRIPE = 8 * FLOE_XXH3_LANES, /* bytes */
    FLOE_XXH3_SECRET = 192,                 /* bytes */
    /* the secret advances by one word a stripe */
    FLOE_XXH3_BLOCK_STRIPES = (FLOE_XXH3_SECRET - FLOE_XXH3_STRIPE) / 8,
    FLOE_XXH3_BLOCK = FLOE_XXH3_STRIPE * FLOE_XXH3_BLOCK_STRIPES, /* 1024 bytes */
    /* where in the secret each step reads */
    FLOE_XXH3_AT_SCRAMBLE = FLOE_XXH3_SECRET - FLOE_XXH3_STRIPE,
    FLOE_XXH3_AT_LAST_STRIPE = FLOE_XXH3_SECRET - FLOE_XXH3_STRIPE - 7,
    FLOE_XXH3_AT_MERGE = 11,
    FLOE_XXH3_SHORT_MAX = 240 /* the longest input without stripes */
};

/* The default secret of the specification. */
FLOE_HD const uint8_t *floe_xxh3_secret(void)
{
    alignas(8) static const uint8_t secret[FLOE_XXH3_SECRET] = {
        0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4,
        0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e,
        0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43,
        0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb,
        0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19,
        0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7,
        0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78,
        0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
        0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16,
        0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f,
        0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
    };
    return secret;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

FLOE_HD uint64_t floe_xxh3_swap64(uint64_t v)
{
    v = (v & 0x00FF00FF00FF00FFu) << 8 | (v >> 8 & 0x00FF00FF00FF00FFu);
    v = (v & 0x0000FFFF0000FFFFu) << 16 | (v >> 16 & 0x0000FFFF0000FFFFu);
    return v << 32 | v >> 32;
}
FLOE_HD uint64_t floe_xxh3_rotl64(uint64_t v, int n) { return v << n | v >> (64 - n); }

FLOE_HD uint32_t floe_xxh3_word32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The 8 bytes at p + at. On a CPU a load that the vectorizer sees as one; on a GPU, where loads must be aligned, two. */
FLOE_HD uint64_t floe_xxh3_word(const uint8_t *p, size_t at)
{
#if defined(__CUDA_ARCH__)
    const uint64_t *words = (const uint64_t *)p + at / 8;
    uint32_t shift = 8 * (uint32_t)(at % 8);
    return shift ? words[0] >> shift | words[1] << (64 - shift) : words[0];
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t v;
    memcpy(&v, p + at, sizeof v);
    return v;
#else
    return floe_xxh3_word32(p + at) | (uint64_t)floe_xxh3_word32(p + at + 4) << 32;
#endif
}
FLOE_HD uint64_t floe_xxh3_key(size_t at) { return floe_xxh3_word(floe_xxh3_secret(), at); }

/* High half xor low half of the 128-bit product. */
FLOE_HD uint64_t floe_xxh3_fold(uint64_t a, uint64_t b)
{
#if defined(__CUDA_ARCH__)
    return a * b ^ __umul64hi(a, b);
#elif defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    wide p = (wide)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
#else
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t mid = ah * bl + (al * bl >> 32), mid2 = al * bh + (uint32_t)mid;
    return (mid2 << 32 | (uint32_t)(al * bl)) ^ (ah * bh + (mid >> 32) + (mid2 >> 32));
#endif
}

FLOE_HD uint64_t floe_xxh3_avalanche(uint64_t h)
{
    h ^= h >> 37;
    h *= FLOE_XXH3_MX_1;
    return h ^ h >> 32;
}
FLOE_HD uint64_t floe_xxh3_avalanche_short(uint64_t h)
{
    h ^= h >> 33;
    h *= FLOE_XXH3_P64_2;
    h ^= h >> 29;
    h *= FLOE_XXH3_P64_3;
    return h ^ h >> 32;
}
FLOE_HD uint64_t floe_xxh3_mix16(const uint8_t *p, size_t at, size_t s)
{
    return floe_xxh3_fold(floe_xxh3_word(p, at) ^ floe_xxh3_key(s), floe_xxh3_word(p, at + 8) ^ floe_xxh3_key(s + 8));
}

/* ---- up to 240 bytes --------------------------------------------------------------------------------------------- */

FLOE_HD uint64_t floe_xxh3_0_3(const uint8_t *p, size_t n)
{
    if (n == 0)
        return floe_xxh3_avalanche_short(floe_xxh3_key(56) ^ floe_xxh3_key(64));
    uint32_t v = (uint32_t)p[0] << 16 | (uint32_t)p[n >> 1] << 24 | p[n - 1] | (uint32_t)n << 8;
    return floe_xxh3_avalanche_short(v ^ (uint64_t)((uint32_t)floe_xxh3_key(0) ^ (uint32_t)(floe_xxh3_key(0) >> 32)));
}

FLOE_HD uint64_t floe_xxh3_4_8(const uint8_t *p, size_t n)
{
    uint64_t v = floe_xxh3_word32(p + n - 4) + ((uint64_t)floe_xxh3_word32(p) << 32);
    uint64_t h = v ^ floe_xxh3_key(8) ^ floe_xxh3_key(16);
    h ^= floe_xxh3_rotl64(h, 49) ^ floe_xxh3_rotl64(h, 24);
    h *= FLOE_XXH3_MX_2;
    h ^= (h >> 35) + n;
    h *= FLOE_XXH3_MX_2;
    return h ^ h >> 28;
}

FLOE_HD uint64_t floe_xxh3_9_16(const uint8_t *p, size_t n)
{
    uint64_t lo = floe_xxh3_word(p, 0) ^ floe_xxh3_key(24) ^ floe_xxh3_key(32);
    uint64_t hi = floe_xxh3_word(p, n - 8) ^ floe_xxh3_key(40) ^ floe_xxh3_key(48);
    return floe_xxh3_avalanche(n + floe_xxh3_swap64(lo) + hi + floe_xxh3_fold(lo, hi));
}

FLOE_HD uint64_t floe_xxh3_0_16(const uint8_t *p, size_t n)
{
    return n <= 3 ? floe_xxh3_0_3(p, n) : n <= 8 ? floe_xxh3_4_8(p, n) : floe_xxh3_9_16(p, n);
}

/* Pairs of 16-byte words from both ends inwards: the even terms from the front, the odd ones from the back. */
FLOE_HD uint32_t floe_xxh3_17_128_terms(size_t n) { return 2 * ((uint32_t)(n - 1) / 32 + 1); }
FLOE_HD uint64_t floe_xxh3_17_128_term(const uint8_t *p, size_t n, uint32_t k)
{
    size_t at = 16 * (size_t)(k / 2);
    return floe_xxh3_mix16(p, k % 2 ? n - 16 - at : at, 16 * (size_t)k);
}
FLOE_HD uint64_t floe_xxh3_17_128_end(size_t n, uint64_t sum) { return floe_xxh3_avalanche(n * FLOE_XXH3_P64_1 + sum); }

FLOE_HD uint64_t floe_xxh3_17_128(const uint8_t *p, size_t n)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < floe_xxh3_17_128_terms(n); k++)
        sum += floe_xxh3_17_128_term(p, n, k);
    return floe_xxh3_17_128_end(n, sum);
}

/* Eight terms, then those of the 16-byte words behind them and of the last 16 bytes. */
enum { FLOE_XXH3_129_240_FIRST = 8 };
FLOE_HD uint32_t floe_xxh3_129_240_terms(size_t n) { return (uint32_t)n / 16 + 1; }
FLOE_HD uint64_t floe_xxh3_129_240_term(const uint8_t *p, size_t n, uint32_t k)
{
    if (k == (uint32_t)n / 16)
        return floe_xxh3_mix16(p, n - 16, 136 - 17);
    return floe_xxh3_mix16(p, 16 * (size_t)k,
                           k < FLOE_XXH3_129_240_FIRST ? 16 * k : 16 * (k - FLOE_XXH3_129_240_FIRST) + 3);
}
FLOE_HD uint64_t floe_xxh3_129_240_end(size_t n, uint64_t first_sum, uint64_t sum)
{
    return floe_xxh3_avalanche(floe_xxh3_avalanche(n * FLOE_XXH3_P64_1 + first_sum) + sum);
}

FLOE_HD uint64_t floe_xxh3_129_240(const uint8_t *p, size_t n)
{
    uint64_t first = 0, sum = 0;
    for (uint32_t k = 0; k < FLOE_XXH3_129_240_FIRST; k++)
        first += floe_xxh3_129_240_term(p, n, k);
    for (uint32_t k = FLOE_XXH3_129_240_FIRST; k < floe_xxh3_129_240_terms(n); k++)
        sum += floe_xxh3_129_240_term(p, n, k);
    return floe_xxh3_129_240_end(n, first, sum);
}

/* ---- more than 240 bytes ----------------------------------------------------------------------------------------- */

/* Lane i begins with start(i). Word v of a stripe, with the secret's word for it, adds product(v ^ key) to its own lane and
 * v to the lane's neighbour i ^ 1. */
FLOE_HD uint64_t floe_xxh3_start(uint32_t i)
{
    static const uint64_t start[FLOE_XXH3_LANES] = {FLOE_XXH3_P32_3, FLOE_XXH3_P64_1, FLOE_XXH3_P64_2, FLOE_XXH3_P64_3,
                                                    FLOE_XXH3_P64_4, FLOE_XXH3_P32_2, FLOE_XXH3_P64_5, FLOE_XXH3_P32_1};
    return start[i];
}
FLOE_HD uint64_t floe_xxh3_product(uint64_t k) { return (uint64_t)(uint32_t)k * (k >> 32); }
FLOE_HD uint64_t floe_xxh3_scramble(uint64_t acc, uint64_t key) { return (acc ^ acc >> 47 ^ key) * FLOE_XXH3_P32_1; }
/* The hash, from the sum of the folds of lanes 0 and 1, 2 and 3, ... each first xored with the secret. */
FLOE_HD uint64_t floe_xxh3_long_end(size_t n, uint64_t folds)
{
    return floe_xxh3_avalanche(n * FLOE_XXH3_P64_1 + folds);
}

FLOE_HD void floe_xxh3_stripe(uint64_t acc[FLOE_XXH3_LANES], const uint8_t *p, size_t at, size_t key_at)
{
    for (size_t i = 0; i < FLOE_XXH3_LANES; i++) {
        uint64_t v = floe_xxh3_word(p, at + 8 * i);
        acc[i ^ 1] += v;
        acc[i] += floe_xxh3_product(v ^ floe_xxh3_key(key_at + 8 * i));
    }
}

FLOE_HD void floe_xxh3_stripes(uint64_t acc[FLOE_XXH3_LANES], const uint8_t *p, size_t at, size_t count)
{
    for (size_t s = 0; s < count; s++)
        floe_xxh3_stripe(acc, p, at + FLOE_XXH3_STRIPE * s, 8 * s);
}

FLOE_HD uint64_t floe_xxh3_long(const uint8_t *p, size_t n)
{
    uint64_t acc[FLOE_XXH3_LANES], folds = 0;
    for (uint32_t i = 0; i < FLOE_XXH3_LANES; i++)
        acc[i] = floe_xxh3_start(i);
    size_t nblocks = (n - 1) / FLOE_XXH3_BLOCK, at = 0;
    for (size_t b = 0; b < nblocks; b++, at += FLOE_XXH3_BLOCK) {
        floe_xxh3_stripes(acc, p, at, FLOE_XXH3_BLOCK_STRIPES);
        for (size_t i = 0; i < FLOE_XXH3_LANES; i++)
            acc[i] = floe_xxh3_scramble(acc[i], floe_xxh3_key(FLOE_XXH3_AT_SCRAMBLE + 8 * i));
    }
    floe_xxh3_stripes(acc, p, at, (n - 1 - at) / FLOE_XXH3_STRIPE);
    floe_xxh3_stripe(acc, p, n - FLOE_XXH3_STRIPE, FLOE_XXH3_AT_LAST_STRIPE);
    for (size_t i = 0; i < FLOE_XXH3_LANES; i += 2)
        folds += floe_xxh3_fold(acc[i] ^ floe_xxh3_key(FLOE_XXH3_AT_MERGE + 8 * i),
                                acc[i + 1] ^ floe_xxh3_key(FLOE_XXH3_AT_MERGE + 8 * i + 8));
    return floe_xxh3_long_end(n, folds);
}

/* The hash of any input, by one thread. */
FLOE_HD uint64_t floe_xxh3_of(const uint8_t *p, size_t n)
{
    return n <= 16                    ? floe_xxh3_0_16(p, n)
           : n <= 128                 ? floe_xxh3_17_128(p, n)
           : n <= FLOE_XXH3_SHORT_MAX ? floe_xxh3_129_240(p, n)
                                      : floe_xxh3_long(p, n);
}

#endif
