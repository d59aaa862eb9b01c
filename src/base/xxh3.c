/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XXH3-64 as its specification says: one formula for each class of lengths. Up to 240 bytes, pairs of words are folded by
 * a 64 x 64 -> 128 bit product. Above, eight 64-bit lanes take 64-byte stripes, and are scrambled after each block of 16.
 */
#include "base/xxh3.h"

#include "base/bytes.h"

#define P32_1 0x9E3779B1u
#define P32_2 0x85EBCA77u
#define P32_3 0xC2B2AE3Du
#define P64_1 0x9E3779B185EBCA87u
#define P64_2 0xC2B2AE3D27D4EB4Fu
#define P64_3 0x165667B19E3779F9u
#define P64_4 0x85EBCA77C2B2AE63u
#define P64_5 0x27D4EB2F165667C5u
#define MX_1  0x165667919E3779F9u
#define MX_2  0x9FB21C651E98DF25u

enum {
    LANES = 8,
    STRIPE = 8 * LANES,                        /* bytes */
    SECRET = 192,                              /* bytes */
    STRIPES_PER_BLOCK = (SECRET - STRIPE) / 8, /* the secret advances by one word a stripe */
    BLOCK = STRIPE * STRIPES_PER_BLOCK,        /* 1024 bytes */
    SECRET_SCRAMBLE = SECRET - STRIPE,         /* where in the secret each step reads */
    SECRET_LAST_STRIPE = SECRET - STRIPE - 7,
    SECRET_MERGE = 11
};

/* The default secret of the specification. */
static const uint8_t secret[SECRET] = {
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

/* ---- words ------------------------------------------------------------------------------------------------------- */

static uint64_t swap64(uint64_t v)
{
    v = (v & 0x00FF00FF00FF00FFu) << 8 | (v >> 8 & 0x00FF00FF00FF00FFu);
    v = (v & 0x0000FFFF0000FFFFu) << 16 | (v >> 16 & 0x0000FFFF0000FFFFu);
    return v << 32 | v >> 32;
}
static uint64_t rotl64(uint64_t v, int n) { return v << n | v >> (64 - n); }

/* A load that the vectorizer sees as one (the byte-wise floe_load64 is merged too late for it). */
static inline uint64_t word(const uint8_t *p)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
#else
    return floe_load64(p);
#endif
}

/* High half xor low half of the 128-bit product. */
static uint64_t fold(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    wide p = (wide)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
#else
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t mid = ah * bl + (al * bl >> 32), mid2 = al * bh + (uint32_t)mid;
    return (mid2 << 32 | (uint32_t)(al * bl)) ^ (ah * bh + (mid >> 32) + (mid2 >> 32));
#endif
}

static uint64_t avalanche(uint64_t h)
{
    h ^= h >> 37;
    h *= MX_1;
    return h ^ h >> 32;
}
static uint64_t avalanche_short(uint64_t h)
{
    h ^= h >> 33;
    h *= P64_2;
    h ^= h >> 29;
    h *= P64_3;
    return h ^ h >> 32;
}
static uint64_t mix16(const uint8_t *p, size_t s)
{
    return fold(word(p) ^ word(secret + s), word(p + 8) ^ word(secret + s + 8));
}

/* ---- up to 240 bytes --------------------------------------------------------------------------------------------- */

static uint64_t hash_0_3(const uint8_t *p, size_t n)
{
    if (n == 0)
        return avalanche_short(word(secret + 56) ^ word(secret + 64));
    uint32_t v = (uint32_t)p[0] << 16 | (uint32_t)p[n >> 1] << 24 | p[n - 1] | (uint32_t)n << 8;
    return avalanche_short(v ^ (uint64_t)(floe_load32(secret) ^ floe_load32(secret + 4)));
}

static uint64_t hash_4_8(const uint8_t *p, size_t n)
{
    uint64_t v = floe_load32(p + n - 4) + ((uint64_t)floe_load32(p) << 32);
    uint64_t h = v ^ word(secret + 8) ^ word(secret + 16);
    h ^= rotl64(h, 49) ^ rotl64(h, 24);
    h *= MX_2;
    h ^= (h >> 35) + n;
    h *= MX_2;
    return h ^ h >> 28;
}

static uint64_t hash_9_16(const uint8_t *p, size_t n)
{
    uint64_t lo = word(p) ^ word(secret + 24) ^ word(secret + 32);
    uint64_t hi = word(p + n - 8) ^ word(secret + 40) ^ word(secret + 48);
    return avalanche(n + swap64(lo) + hi + fold(lo, hi));
}

/* Pairs of 16-byte words from both ends inwards. */
static uint64_t hash_17_128(const uint8_t *p, size_t n)
{
    uint64_t acc = n * P64_1;
    for (size_t i = (n - 1) / 32 + 1; i-- > 0;)
        acc += mix16(p + 16 * i, 32 * i) + mix16(p + n - 16 * (i + 1), 32 * i + 16);
    return avalanche(acc);
}

static uint64_t hash_129_240(const uint8_t *p, size_t n)
{
    uint64_t acc = n * P64_1;
    for (size_t i = 0; i < 8; i++)
        acc += mix16(p + 16 * i, 16 * i);
    acc = avalanche(acc);
    for (size_t i = 8; i < n / 16; i++)
        acc += mix16(p + 16 * i, 16 * (i - 8) + 3);
    return avalanche(acc + mix16(p + n - 16, 136 - 17));
}

/* ---- more than 240 bytes ----------------------------------------------------------------------------------------- */

static inline void stripe(uint64_t acc[LANES], const uint8_t *p, const uint8_t *key)
{
    for (size_t i = 0; i < LANES; i++) {
        uint64_t v = word(p + 8 * i), k = v ^ word(key + 8 * i);
        acc[i ^ 1] += v;
        acc[i] += (uint64_t)(uint32_t)k * (k >> 32);
    }
}

static void stripes(uint64_t acc[LANES], const uint8_t *p, size_t count)
{
    for (size_t s = 0; s < count; s++)
        stripe(acc, p + STRIPE * s, secret + 8 * s);
}

static void scramble(uint64_t acc[LANES])
{
    for (size_t i = 0; i < LANES; i++)
        acc[i] = (acc[i] ^ acc[i] >> 47 ^ word(secret + SECRET_SCRAMBLE + 8 * i)) * P32_1;
}

static uint64_t hash_long(const uint8_t *p, size_t n)
{
    uint64_t acc[LANES] = {P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1};
    size_t nblocks = (n - 1) / BLOCK;
    for (size_t b = 0; b < nblocks; b++) {
        stripes(acc, p + BLOCK * b, STRIPES_PER_BLOCK);
        scramble(acc);
    }
    stripes(acc, p + BLOCK * nblocks, (n - 1 - BLOCK * nblocks) / STRIPE);
    stripe(acc, p + n - STRIPE, secret + SECRET_LAST_STRIPE);

    uint64_t h = n * P64_1;
    for (size_t i = 0; i < LANES; i += 2)
        h += fold(acc[i] ^ word(secret + SECRET_MERGE + 8 * i), acc[i + 1] ^ word(secret + SECRET_MERGE + 8 * i + 8));
    return avalanche(h);
}

uint64_t floe_xxh3_own(const void *data, size_t nbytes)
{
    const uint8_t *p = data;
    if (nbytes <= 3)
        return hash_0_3(p, nbytes);
    if (nbytes <= 8)
        return hash_4_8(p, nbytes);
    if (nbytes <= 16)
        return hash_9_16(p, nbytes);
    if (nbytes <= 128)
        return hash_17_128(p, nbytes);
    if (nbytes <= 240)
        return hash_129_240(p, nbytes);
    return hash_long(p, nbytes);
}
