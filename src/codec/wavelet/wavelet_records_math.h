/* SPDX-License-Identifier: BSD-3-Clause */
/* Anchors as whole numbers of their step, and how records of a grid begin and end; for both compilers. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_RECORDS_MATH_H
#define FLOE_CODEC_WAVELET_WAVELET_RECORDS_MATH_H

#include "stage/context/context_math.h"

/* Value number i of an array of reals of either type. */
FLOE_HD double floe_wavelet_real_at(const void *reals, bool narrow, uint64_t i)
{
    return narrow ? (double)((const float *)reals)[i] : ((const double *)reals)[i];
}
FLOE_HD void floe_wavelet_real_set(void *reals, bool narrow, uint64_t i, double v)
{
    if (narrow)
        ((float *)reals)[i] = (float)v;
    else
        ((double *)reals)[i] = v;
}

/* Puts v, of n bits, behind `at` others, the lowest bit first. What comes behind these is 0. */
FLOE_HD void floe_wavelet_bits_put(uint8_t *bits, uint64_t at, uint64_t n, uint64_t v)
{
    for (const uint64_t end = at + n; at < end; v >>= 8 - at % 8, at += floe_min64(8 - at % 8, end - at))
        bits[at / 8] |= (uint8_t)(v << at % 8);
}

/* ---- anchors ----------------------------------------------------------------------------------------------------------- */

FLOE_HD int64_t floe_wavelet_anchor_whole(double v, double inverse)
{
    const double most = 0x1p53;
    v = v != 0 ? v * inverse : 0; /* a step that is not normal has no finite inverse */
    v = v < -most ? -most : v > most ? most : v;
    return (int64_t)(v < 0 ? v - 0.5 : v + 0.5);
}

/* As floe_wavelet_finite has it. */
FLOE_HD double floe_wavelet_anchor_finite(double v, bool narrow)
{
    const double most = narrow ? 0x1p100 : 0x1p1000;
    v = v < most ? v : most;
    return v > -most ? v : -most;
}

/* As a double, which the type of reals rounds. */
FLOE_HD double floe_wavelet_anchor_real(int64_t whole, double step, bool narrow)
{
    return floe_wavelet_anchor_finite((double)whole * step, narrow);
}

/* Number i of bits. */
FLOE_HD int64_t floe_wavelet_anchor_get(const uint8_t *bits, uint32_t nbits, int64_t least, uint64_t i)
{
    uint64_t v = 0;
    for (uint64_t bit = i * nbits, end = bit + nbits, n = 0; bit < end; bit += 8 - bit % 8) {
        v |= (uint64_t)(bits[bit / 8] >> bit % 8) << n;
        n += 8 - bit % 8;
    }
    v &= ((uint64_t)1 << nbits) - 1;
    return (int64_t)((uint64_t)least + v);
}

/* ---- records ----------------------------------------------------------------------------------------------------------- */

enum {
    FLOE_WAVELET_RECORDS_WIDE = 1 /* sizes take 4 bytes, not 2 */,
    FLOE_WAVELET_RECORDS_TABLES = 2,
    FLOE_WAVELET_RECORDS_LIST = 4,
    FLOE_WAVELET_LIST_HEAD_BITS = 48,
    FLOE_WAVELET_CHECK_NBYTES = 4, /* from a multiple of 4 on */
    /* Of a list that a writer makes, at most: who reads it goes from code to code. */
    FLOE_WAVELET_LIST_CODES = 1024,
    FLOE_WAVELET_LIST_BITS = 1 << 16,
    /* About: of each symbol of a context that occurs, of a state, of a code of a list. */
    FLOE_WAVELET_USED_BITS = 4,
    FLOE_WAVELET_STATE_BITS = 32,
    FLOE_WAVELET_LEAST_BITS = 3
};

/* Anchors, or the records of a step, end at byte `at`: where the check behind them ends. checks: there is one. */
FLOE_HD uint64_t floe_wavelet_check_end(bool checks, uint64_t at)
{
    return checks ? ((at + 3) & ~(uint64_t)3) + FLOE_WAVELET_CHECK_NBYTES : at;
}

/* Low bits of a gap of a list. */
FLOE_HD uint32_t floe_wavelet_list_low(uint64_t ncodes, uint64_t count)
{
    return count ? floe_top_bit(ncodes / count) : 0;
}

/* Bits of chunks, by their entropy, raw bits, symbols that occur, and states. */
FLOE_HD uint64_t floe_wavelet_chunks_bits(const floe_context_tally *t)
{
    return (t->entropy >> 12) + t->raw + t->used * FLOE_WAVELET_USED_BITS + t->lanes * FLOE_WAVELET_STATE_BITS;
}

/* Whether a list of so many codes may take less than chunks; and whether it does. */
FLOE_HD bool floe_wavelet_may_list(uint64_t count, uint64_t chunks_bits)
{
    return count <= FLOE_WAVELET_LIST_CODES && count * FLOE_WAVELET_LEAST_BITS < chunks_bits;
}
FLOE_HD bool floe_wavelet_is_list(uint64_t nbits, uint64_t chunks_bits)
{
    return nbits <= FLOE_WAVELET_LIST_BITS && nbits + FLOE_WAVELET_LIST_HEAD_BITS < chunks_bits;
}

#endif
