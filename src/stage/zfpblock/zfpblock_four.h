/* SPDX-License-Identifier: BSD-3-Clause */
/* Planes of four coefficients: so short that the grammar is looked up, for there is nothing in a table that a processor
 * could guess wrong. Inside src/stage/zfpblock only. */
#ifndef FLOE_STAGE_ZFPBLOCK_FOUR_H
#define FLOE_STAGE_ZFPBLOCK_FOUR_H

#include "stage/zfpblock/zfpblock_bits.h"
#include "stage/zfpblock/zfpblock_lift.h"

enum {
    ZFP_FOUR = 4,
    ZFP_FOUR_BITS = 7 /* the most that a plane takes: a test and a bit for each, but for the last one's bit */
};

/* A plane with its code. */
typedef struct zfp_four {
    uint8_t plane, code;
    uint8_t nbits; /* of the code */
    uint8_t known; /* coefficients that are known behind it */
} zfp_four;

/* By coefficients that are known, and the plane. */
typedef struct zfp_four_codes {
    zfp_four of[ZFP_FOUR][1 << ZFP_FOUR];
} zfp_four_codes;

/* By coefficients that are known, and the bits that come next. */
typedef struct zfp_four_planes {
    zfp_four of[ZFP_FOUR][1 << ZFP_FOUR_BITS];
} zfp_four_planes;

ALWAYS_INLINE zfp_four zfp_four_of(uint32_t known, uint32_t plane)
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
    for (uint32_t known = 0; known < ZFP_FOUR; known++)
        for (uint32_t plane = 0; plane < 1 << ZFP_FOUR; plane++)
            codes->of[known][plane] = zfp_four_of(known, plane);
}

/* The codes are a prefix code that leaves nothing out. */
static inline void zfp_four_planes_init(zfp_four_planes *planes)
{
    for (uint32_t known = 0; known < ZFP_FOUR; known++)
        for (uint32_t plane = 0; plane < 1 << ZFP_FOUR; plane++) {
            const zfp_four f = zfp_four_of(known, plane);
            for (uint32_t next = f.code; next < 1 << ZFP_FOUR_BITS; next += 1u << f.nbits)
                planes->of[known][next] = f;
        }
}

/* Planes high - 1 down to low, or until the writer has come to `stop`. */
ALWAYS_INLINE void zfp_put_fours(floe_zfp_writer *w, const zfp_four_codes *codes, const uint64_t *planes, uint32_t low,
                                 uint32_t high, const uint8_t *stop)
{
    const uint64_t left = stop > w->at ? 8 * (uint64_t)(stop - w->at) : 0; /* after so many bits it is worth a look */
    const uint32_t full = (uint32_t)floe_min64(FLOE_ZFP_PUT_MAX - ZFP_FOUR_BITS, left);
    uint64_t bits = 0;
    uint32_t nbits = 0, known = 0, k = high;
    while (k > low && known < ZFP_FOUR) {
        const zfp_four f = codes->of[known][planes[--k]];
        bits |= (uint64_t)f.code << nbits;
        nbits += f.nbits;
        known = f.known;
        if (nbits >= full) {
            floe_zfp_put(w, bits, nbits);
            bits = nbits = 0;
            if (w->at >= stop)
                return;
        }
    }
    while (k > low) {
        bits |= planes[--k] << nbits;
        nbits += ZFP_FOUR;
        if (nbits >= full) {
            floe_zfp_put(w, bits, nbits);
            bits = nbits = 0;
            if (w->at >= stop)
                return;
        }
    }
    floe_zfp_put(w, bits, nbits);
}

/* The way back, from bit *at, of which *left belong to the block. Returns the lowest plane that was read; where it is above
 * `low` fewer than ZFP_FOUR_BITS are left, and *known coefficients are known. */
ALWAYS_INLINE uint32_t zfp_get_fours(const uint8_t *src, uint64_t *at, uint32_t *left, uint32_t *known,
                                     const zfp_four_planes *codes, uint64_t *planes, uint32_t low, uint32_t high)
{
    uint32_t n = 0, k = high, rest = *left;
    while (k > low && rest >= ZFP_FOUR_BITS) {
        uint64_t w = floe_zfp_window(src, *at);
        const uint32_t room = rest < FLOE_ZFP_WINDOW ? rest : FLOE_ZFP_WINDOW;
        uint32_t used = 0;
        while (n < ZFP_FOUR && k > low && used + ZFP_FOUR_BITS <= room) {
            const zfp_four f = codes->of[n][w & ((1u << ZFP_FOUR_BITS) - 1)];
            planes[--k] = f.plane;
            n = f.known;
            used += f.nbits;
            w >>= f.nbits;
        }
        for (; n == ZFP_FOUR && k > low && used + ZFP_FOUR <= room; used += ZFP_FOUR, w >>= ZFP_FOUR)
            planes[--k] = w & ((1u << ZFP_FOUR) - 1);
        *at += used;
        rest -= used;
    }
    *left = rest;
    *known = n;
    return k;
}

#endif
