/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of 16 coefficients from bits: all groups of a plane are looked up at once, so that there is little that a processor
 * could guess wrong. Inside src/stage/zfpblock only. */
#ifndef FLOE_STAGE_ZFPBLOCK_SIXTEEN_H
#define FLOE_STAGE_ZFPBLOCK_SIXTEEN_H

#include "stage/zfpblock/zfpblock_planes.h"
#include "stage/zfpblock/zfpblock_reader.h"

enum {
    ZFP_SIXTEEN = 16,
    ZFP_SIXTEEN_MOST = 2 * ZFP_SIXTEEN,       /* bits of a plane: a test and a bit for each coefficient */
    ZFP_SIXTEEN_BITS = 8,                     /* that are looked up */
    ZFP_SIXTEEN_RESTS = ZFP_SIXTEEN_BITS + 2, /* of more coefficients the last is not reached within them */
    ZFP_SIXTEEN_FULL = 56                     /* bits that a window has at least, once filled */
};

/* The groups at the end of a plane. */
typedef struct zfp_groups {
    uint8_t nbits;  /* more than are looked up: too long, the rest does not hold */
    uint8_t ncoefs; /* that they cover */
    uint16_t plane; /* its bits, from the first one covered on */
} zfp_groups;

/* By coefficients that are not known, and the bits that come next. */
typedef struct zfp_sixteen_groups {
    zfp_groups of[ZFP_SIXTEEN_RESTS][1 << ZFP_SIXTEEN_BITS];
} zfp_sixteen_groups;

/* A group, and what is looked up for the rest behind it; as if zeros followed, which only groups that are too long can show. */
static inline void zfp_sixteen_groups_init(zfp_sixteen_groups *groups)
{
    memset(groups->of[0], 0, sizeof groups->of[0]);
    for (uint32_t rest = 1; rest < ZFP_SIXTEEN_RESTS; rest++)
        for (uint32_t next = 0; next < 1 << ZFP_SIXTEEN_BITS; next++) {
            zfp_groups g = {.nbits = 1};
            if (next & 1) {
                const uint32_t most = rest - 1, zeros = (uint32_t)__builtin_ctz(next >> 1 | 1u << most);
                const uint32_t nbits = 1 + zeros + (zeros < most);
                const zfp_groups behind = groups->of[most - zeros][next >> nbits];
                g.nbits = (uint8_t)(nbits + behind.nbits);
                g.ncoefs = (uint8_t)(zeros + 1 + behind.ncoefs);
                g.plane = (uint16_t)((1u | (uint32_t)behind.plane << 1) << zeros);
            }
            groups->of[rest][next] = g;
        }
}

/* The groups behind n known coefficients that are too long for the table; at: their first bit. */
static inline zfp_groups zfp_sixteen_long(const uint8_t *src, uint64_t at, uint32_t n)
{
    zfp_reader r = {.src = src, .at = at, .left = ZFP_SIXTEEN_MOST};
    uint32_t known = n;
    const uint64_t plane = zfp_get_groups(&r, &known, ZFP_SIXTEEN) >> n;
    return (zfp_groups){(uint8_t)(ZFP_SIXTEEN_MOST - r.left), (uint8_t)(known - n), (uint16_t)plane};
}

/* Planes k - 1 down to low, as long as some coefficients are not known and the block does not end before them. Returns the
 * lowest one that was read. The window is filled from bytes whose place does not depend on the plane before. */
FLOE_INLINE uint32_t zfp_sixteen_groups_get(zfp_reader *r, const zfp_sixteen_groups *groups, uint32_t *known,
                                            uint32_t low, uint32_t k, uint16_t *planes)
{
    const uint8_t *next = r->src + r->at / 8;
    uint64_t w = floe_load64(next) >> r->at % 8;
    uint32_t n = *known, left = r->left, valid = ZFP_SIXTEEN_FULL - (uint32_t)(r->at % 8);
    next += ZFP_SIXTEEN_FULL / 8;
    while (k > low && n < ZFP_SIXTEEN && left >= ZFP_SIXTEEN_MOST) {
        w |= floe_load64(next) << valid; /* the bits above the valid ones are those, if they are not 0 */
        next += (63 - valid) / 8;
        valid |= ZFP_SIXTEEN_FULL;
        const uint32_t rest = ZFP_SIXTEEN - n, row = rest < ZFP_SIXTEEN_RESTS ? rest : ZFP_SIXTEEN_RESTS - 1;
        zfp_groups g = groups->of[row][w >> n & ((1u << ZFP_SIXTEEN_BITS) - 1)];
        if (g.nbits > ZFP_SIXTEEN_BITS)
            g = zfp_sixteen_long(r->src, 8 * (uint64_t)(next - r->src) - valid + n, n);
        planes[--k] = (uint16_t)((w & ((1u << n) - 1)) | (uint32_t)g.plane << n);
        const uint32_t used = n + g.nbits;
        w >>= used;
        valid -= used;
        left -= used;
        n += g.ncoefs;
    }
    r->at = 8 * (uint64_t)(next - r->src) - valid;
    r->left = left;
    *known = n;
    return k;
}

#if FLOE_AVX2

/* 16 planes -> the coefficients' bytes of 8 planes in either lane, in the order of the block. */
FLOE_INLINE __m256i zfp_sixteen_bytes(const floe_zfp_shuffles *s, const uint16_t *planes)
{
    const __m256i halves = _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15, 0, 2, 4, 6, 8, 10, 12,
                                            14, 1, 3, 5, 7, 9, 11, 13, 15);
    const __m256i order = _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)s->from[0]));
    const __m256i rows = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)planes), halves);
    return _mm256_shuffle_epi8(zfp_turn8_each(rows), order);
}

/* Four rows of bytes of rising significance, a row in the same lane of each -> coefficients' 32-bit parts, four by four. */
FLOE_INLINE void zfp_sixteen_weave(const __m256i bytes[4], __m256i quads[4])
{
    const __m256i l = _mm256_unpacklo_epi8(bytes[0], bytes[1]), m = _mm256_unpacklo_epi8(bytes[2], bytes[3]);
    const __m256i u = _mm256_unpackhi_epi8(bytes[0], bytes[1]), v = _mm256_unpackhi_epi8(bytes[2], bytes[3]);
    quads[0] = _mm256_unpacklo_epi16(l, m);
    quads[1] = _mm256_unpackhi_epi16(l, m);
    quads[2] = _mm256_unpacklo_epi16(u, v);
    quads[3] = _mm256_unpackhi_epi16(u, v);
}

#endif

/* Planes -> coefficients in base -2, each at its place in the block. All planes but low to high - 1 are 0. */
FLOE_INLINE void zfp_sixteen_join(const floe_zfp_shuffles *s, const uint16_t planes[FLOE_REAL_BITS], uint32_t low,
                                  uint32_t high, floe_uint *block)
{
#if FLOE_AVX2
    (void)low;
    (void)high;
    __m256i bytes[4], quads[4];
    for (uint32_t i = 0; i < 2; i++) {
        const __m256i a = zfp_sixteen_bytes(s, planes + 16 * i);
#if FLOE_REAL_BITS == 32
        const __m256i b = a; /* the upper lanes are not used */
#else
        const __m256i b = zfp_sixteen_bytes(s, planes + 16 * i + 32);
#endif
        bytes[2 * i] = _mm256_permute2x128_si256(a, b, 0x20);
        bytes[2 * i + 1] = _mm256_permute2x128_si256(a, b, 0x31);
    }
    zfp_sixteen_weave(bytes, quads);
    for (uint32_t i = 0; i < 4; i++) {
#if FLOE_REAL_BITS == 32
        _mm_storeu_si128((__m128i *)(block + 4 * i), _mm256_castsi256_si128(quads[i]));
#else
        const __m256i both = _mm256_permutevar8x32_epi32(quads[i], _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        _mm256_storeu_si256((__m256i *)(block + 4 * i), both);
#endif
    }
#else
    floe_zfp_planes wide;
    for (uint32_t k = low & ~7u; k < high || k % 8; k++)
        wide.plane[0][k] = planes[k];
    FLOE_V(floe_zfp_planes_join)(s, &wide, 2, low, high, block);
#endif
}

/* Planes high - 1 down to low, or to the block's end -> coefficients; nothing where block is NULL. False: all are 0. */
FLOE_INLINE bool zfp_sixteen_get(zfp_reader *r, const floe_zfp_shuffles *shuffles, const zfp_sixteen_groups *groups,
                                 uint32_t low, uint32_t high, floe_uint *block)
{
    uint16_t planes[FLOE_REAL_BITS] = {0};
    uint32_t n = 0, k = zfp_sixteen_groups_get(r, groups, &n, low, high, planes);
    for (; n == ZFP_SIXTEEN && k > low && r->left >= ZFP_SIXTEEN; zfp_skip(r, ZFP_SIXTEEN))
        planes[--k] = (uint16_t)floe_zfp_window(r->src, r->at);
    while (k > low && r->left)
        planes[--k] = (uint16_t)zfp_get_plane(r, &n, ZFP_SIXTEEN);
    if (block && k < high)
        zfp_sixteen_join(shuffles, planes, k, high, block);
    return k < high;
}

#endif
