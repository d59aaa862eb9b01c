/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the bits of one block, and planes of any size group by group: inside src/stage/zfpblock only. Nothing that the bits
 * hold is trusted: a block ends with maxbits. */
#ifndef FLOE_STAGE_ZFPBLOCK_READER_H
#define FLOE_STAGE_ZFPBLOCK_READER_H

#include "stage/zfpblock/zfpblock_bits.h"
#include "stage/zfpblock/zfpblock_whole.h"

typedef struct zfp_reader {
    const uint8_t *src;
    uint64_t at;   /* the next bit */
    uint32_t left; /* bits that the block may still have */
} zfp_reader;

FLOE_INLINE void zfp_skip(zfp_reader *r, uint32_t nbits)
{
    r->at += nbits;
    r->left -= nbits;
}

/* n bits, at most 64; fewer where the block ends, then zeros. */
FLOE_INLINE uint64_t zfp_get(zfp_reader *r, uint32_t n)
{
    n = n < r->left ? n : r->left;
    const uint64_t v = floe_zfp_get(r->src, r->at, n);
    zfp_skip(r, n);
    return v;
}

/* Zeros in front of the next one bit, at most `most` (below 256). */
static inline uint32_t zfp_count_zeros(const zfp_reader *r, uint32_t most)
{
    most = most < r->left ? most : r->left;
    for (uint32_t zeros = 0; zeros < most; zeros += 56) {
        const uint64_t w = floe_zfp_window(r->src, r->at + zeros) & (((uint64_t)1 << 56) - 1);
        if (w)
            return (uint32_t)floe_min64(zeros + (uint32_t)__builtin_ctzll(w), most);
    }
    return most;
}

/* Planes of zeros at the top, above plane `low`, are one bit each. Returns the highest other one's number, and 1. */
FLOE_INLINE uint32_t zfp_skip_zeros(zfp_reader *r, uint32_t low)
{
    const uint32_t zeros = zfp_count_zeros(r, FLOE_REAL_BITS - low);
    zfp_skip(r, zeros);
    return FLOE_REAL_BITS - zeros;
}

/* The rest of a group behind its 1, where at most `most` more coefficients are zero. Returns how many are. */
static inline uint32_t zfp_get_group(zfp_reader *r, uint32_t most)
{
    const uint32_t zeros = zfp_count_zeros(r, most);
    zfp_skip(r, zeros + (zeros < most && zeros < r->left));
    return zeros;
}

/* The groups of a plane of `size` (up to 64) coefficients, of which *n are known. */
static inline uint64_t zfp_get_groups_slowly(zfp_reader *r, uint32_t *n, uint32_t size)
{
    uint64_t x = 0;
    while (*n < size && zfp_get(r, 1)) {
        *n += zfp_get_group(r, size - 1 - *n);
        x |= (uint64_t)1 << (*n)++;
    }
    return x;
}

/* The same where the block does not end before the plane: group after group from one window. */
FLOE_INLINE uint64_t zfp_get_groups(zfp_reader *r, uint32_t *known, uint32_t size)
{
    uint64_t x = 0, w = floe_zfp_window(r->src, r->at);
    uint32_t n = *known, used = 0, total = 0;
    while (n < size) {
        if (used > FLOE_ZFP_WINDOW / 2) {
            total += used;
            w = floe_zfp_window(r->src, r->at + total);
            used = 0;
        }
        if (!(w & 1)) {
            used++;
            break;
        }
        const uint32_t most = size - 1 - n, zeros = (uint32_t)__builtin_ctzll(w >> 1 | (uint64_t)1 << most);
        const uint32_t nbits = 1 + zeros + (zeros < most);
        if (used + nbits > FLOE_ZFP_WINDOW) { /* a long run of zeros */
            zfp_skip(r, total + used);
            *known = n;
            return x | zfp_get_groups_slowly(r, known, size);
        }
        used += nbits;
        w >>= nbits;
        n += zeros;
        x |= (uint64_t)1 << n++;
    }
    zfp_skip(r, total + used);
    *known = n;
    return x;
}

FLOE_INLINE uint64_t zfp_get_plane(zfp_reader *r, uint32_t *n, uint32_t size)
{
    if (r->left <= 2 * size)
        return zfp_get(r, *n) | zfp_get_groups_slowly(r, n, size);
    const uint64_t x = zfp_get(r, *n);
    return x | zfp_get_groups(r, n, size);
}

#endif
