/* SPDX-License-Identifier: BSD-3-Clause */
/* Planes of four coefficients: so short that the grammar is looked up, for there is nothing in a table that a processor
 * could guess wrong. Inside src/stage/zfpblock only. */
#ifndef FLOE_STAGE_ZFPBLOCK_FOUR_H
#define FLOE_STAGE_ZFPBLOCK_FOUR_H

#include "stage/zfpblock/zfpblock_bits.h"
#include "stage/zfpblock/zfpblock_planes.h"
#include "stage/zfpblock/zfpblock_reader.h"

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

/* Blocks of four coefficients from bits, many planes at a time. Inside src/stage/zfpblock only. */
/* Bits of a plane in which no coefficient becomes known. */
FLOE_INLINE uint32_t zfp_four_size(uint32_t known) { return known < ZFP_FOUR ? known + 1 : ZFP_FOUR; }

/*
 * Planes in which no coefficient becomes known are all alike: as many bits as are known, and a test that fails, where not
 * all are. So it goes by turns, one for each time that coefficients become known: the plane in which they do is looked up,
 * and up to 8 planes behind it are taken at once.
 */
enum {
    ZFP_FOUR_RUN = 8, /* planes: a turn of 7 + 8 * 4 bits at most fits into a window */
    ZFP_FOUR_CODES = 1 << ZFP_FOUR_BITS
};

/* A plane, and what those behind it are like if they are alike. */
typedef struct zfp_four_step {
    uint8_t plane, nbits, known;
    uint8_t size;  /* bits of a plane behind it */
    uint32_t part; /* 128 / size, rounded up: n * part / 128 is n / size for multiples up to ZFP_FOUR_RUN */
} zfp_four_step;

/* By coefficients that are known, and the bits that come next. */
typedef struct zfp_four_planes {
    zfp_four_step of[ZFP_FOUR + 1][ZFP_FOUR_CODES];
    uint64_t tests[ZFP_FOUR + 1][ZFP_FOUR_CODES]; /* which bits are tests in the planes behind it */
} zfp_four_planes;

/* The codes are a prefix code that leaves nothing out. */
static inline void zfp_four_planes_init(zfp_four_planes *planes)
{
    static const uint64_t tests[ZFP_FOUR + 1] = {~(uint64_t)0, 0xAAAAAAAAAAAAAAAA, 0x4924924924924924,
                                                 0x8888888888888888, 0};
    for (uint32_t known = 0; known <= ZFP_FOUR; known++)
        for (uint32_t plane = 0; plane < 1 << ZFP_FOUR; plane++) {
            const zfp_four f = zfp_four_of(known, plane);
            const uint32_t size = zfp_four_size(f.known);
            const zfp_four_step step = {f.plane, f.nbits, f.known, (uint8_t)size, (127 + size) / size};
            for (uint32_t next = f.code; next < ZFP_FOUR_CODES; next += 1u << f.nbits) {
                planes->of[known][next] = step;
                planes->tests[known][next] = tests[f.known];
            }
        }
}

FLOE_INLINE uint64_t zfp_low_bits(uint64_t w, uint32_t nbits) { return w & (((uint64_t)1 << nbits) - 1); }

/* ZFP_FOUR_RUN planes of `size` bits, the first one lowest: a byte each, the first one highest. */
FLOE_INLINE uint64_t zfp_four_spread(uint64_t w, uint32_t size)
{
#if FLOE_AVX2
    static const uint64_t spread[ZFP_FOUR + 1] = {0, 0x0101010101010101 * 1, 0x0101010101010101 * 3,
                                                  0x0101010101010101 * 7, 0x0101010101010101 * 15};
    return __builtin_bswap64(_pdep_u64(w, spread[size]));
#else
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < ZFP_FOUR_RUN; i++, w >>= size)
        bytes = bytes << 8 | zfp_low_bits(w, size);
    return bytes;
#endif
}

/* A block on its way. */
typedef struct zfp_four_turn {
    uint64_t w;         /* the next bits */
    int32_t valid;      /* how many; fewer than none: zeros were taken */
    uint32_t n, k, low; /* coefficients that are known, the lowest plane that was taken, and the lowest of all */
    uint8_t *planes;    /* a byte each; there are ZFP_FOUR_RUN bytes below them */
} zfp_four_turn;

/* A turn. cut: bits behind the block's end that count as if they were its. */
FLOE_INLINE void zfp_four_take(zfp_four_turn *t, const zfp_four_planes *codes, uint64_t cut)
{
    const uint32_t next = (uint32_t)((t->w | cut) & (ZFP_FOUR_CODES - 1));
    const zfp_four_step f = codes->of[t->n][next];
    const uint64_t w = t->w >> f.nbits, tests = codes->tests[t->n][next];
    t->planes[--t->k] = f.plane;
    const uint32_t left = t->k - t->low, most = (left < ZFP_FOUR_RUN ? left : ZFP_FOUR_RUN) * f.size;
    const uint32_t alike = (w & tests ? (uint32_t)__builtin_ctzll(w & tests) : 64) - f.known,
                   nbits = alike < most ? alike : most;
    floe_store64(t->planes + t->k - ZFP_FOUR_RUN, zfp_four_spread(zfp_low_bits(w, nbits), f.size));
    t->n = f.known;
    t->k -= nbits * f.part >> 7;
    t->w = w >> nbits;
    t->valid -= (int32_t)(f.nbits + nbits);
}

/* Where what the block may still have fits into a window. Behind its end there are zeros, but that a group which is cut off
 * ends with a one: which is where an odd number of ones is in front of the end, for tests and values take turns at them. */
FLOE_INLINE void zfp_four_take_last(zfp_reader *r, zfp_four_turn *t, const zfp_four_planes *codes)
{
    t->w = zfp_low_bits(floe_zfp_window(r->src, r->at), r->left);
    t->valid = (int32_t)r->left;
    if (t->n == 0) {
        const uint64_t ones = t->w | (uint64_t)1 << 63; /* a plane of zeros is a bit */
        const uint32_t zeros = (uint32_t)floe_min64((uint32_t)__builtin_ctzll(ones), t->k - t->low);
        t->k -= zeros;
        t->w >>= zeros;
        t->valid -= (int32_t)zeros;
    }
    while (t->k > t->low && t->w)
        zfp_four_take(t, codes, (uint64_t)(__builtin_parityll(t->w >> t->n)) << t->valid);
    const int64_t left = t->valid - (int64_t)(t->k - t->low) * zfp_four_size(t->n); /* behind planes of zeros */
    zfp_skip(r, left > 0 ? r->left - (uint32_t)left : r->left);
}

/* Planes down to low, or to the block's end. */
FLOE_INLINE void zfp_four_take_all(zfp_reader *r, const zfp_four_planes *codes, uint32_t low, uint8_t *planes)
{
    zfp_four_turn t = {.k = FLOE_REAL_BITS, .low = low, .planes = planes};
    if (r->left > FLOE_ZFP_WINDOW)
        t.k = zfp_skip_zeros(r, low);
    while (t.k > low && r->left > FLOE_ZFP_WINDOW) {
        t.w = floe_zfp_window(r->src, r->at);
        t.valid = 0;
        zfp_four_take(&t, codes, 0);
        zfp_skip(r, (uint32_t)-t.valid);
    }
    if (t.k > low)
        zfp_four_take_last(r, &t, codes);
}

/* Planes, a byte each -> coefficients. */
FLOE_INLINE void zfp_four_join(const uint8_t *planes, floe_uint *block)
{
    memset(block, 0, ZFP_FOUR * sizeof *block);
#if FLOE_AVX2
    for (uint32_t k = 0; k < FLOE_REAL_BITS; k += 32)
        for (uint32_t i = 0; i < ZFP_FOUR; i++) {
            const __m256i all = _mm256_loadu_si256((const __m256i *)(planes + k));
            block[i] |= (floe_uint)(uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(all, 7 - (int)i)) << k;
        }
#else
    for (uint32_t k = 0; k < FLOE_REAL_BITS; k += 8) {
        const uint64_t columns = zfp_turn8(floe_load64(planes + k));
        for (uint32_t i = 0; i < ZFP_FOUR; i++)
            block[i] |= (floe_uint)(columns >> 8 * i & 255) << k;
    }
#endif
}

/* Planes down to low, or to the block's end -> coefficients; nothing where block is NULL. */
FLOE_INLINE void zfp_four_get(zfp_reader *r, const zfp_four_planes *codes, uint32_t low, floe_uint *block)
{
    uint8_t planes[ZFP_FOUR_RUN + FLOE_REAL_BITS] = {0};
    zfp_four_take_all(r, codes, low, planes + ZFP_FOUR_RUN);
    if (block)
        zfp_four_join(planes + ZFP_FOUR_RUN, block);
}

#endif
