/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks -> bits: whole numbers, lifting, bit planes, and the planes' grammar, word by word. */
#include "stage/zfpblock/zfpblock_bits.h"
#include "stage/zfpblock/zfpblock_cpu.h"
#include "stage/zfpblock/zfpblock_lift.h"
#include "stage/zfpblock/zfpblock_planes.h"
#include "stage/zfpblock/zfpblock_walk.h"

/* ---- planes ---------------------------------------------------------------------------------------------------------- */

/* One plane of `size` (up to 64) coefficients, of which n are known. Returns how many are known behind it. */
ALWAYS_INLINE uint32_t put_plane(floe_zfp_writer *w, uint64_t x, uint32_t n, uint32_t size)
{
    if (n == size) {
        floe_zfp_put_long(w, x, n);
        return n;
    }
    floe_zfp_put_long(w, x & (((uint64_t)1 << n) - 1), n);
    for (uint64_t rest = x >> n; rest;) {
        const floe_zfp_group g = floe_zfp_group_encode(rest, size - n);
        floe_zfp_put_long(w, g.bits, g.nbits);
        n += g.ncoefs;
        if (n == size)
            return n;
        rest >>= g.ncoefs;
    }
    floe_zfp_put(w, 0, 1);
    return n;
}

/* First coefficient from n on whose bit is set; the block's size if there is none. */
static uint32_t next_one(const uint64_t x[FLOE_ZFP_PLANE_WORDS], uint32_t n)
{
    uint64_t rest = n < FLOE_ZFP_BLOCK_VALUES ? x[n / 64] >> n % 64 << n % 64 : 0;
    for (n /= 64; rest == 0; rest = x[n])
        if (++n >= FLOE_ZFP_PLANE_WORDS)
            return FLOE_ZFP_BLOCK_VALUES;
    return 64 * n + (uint32_t)__builtin_ctzll(rest);
}

/* The same for the 256 coefficients of four axes. */
static uint32_t put_wide_plane(floe_zfp_writer *w, const floe_zfp_planes *planes, uint32_t k, uint32_t n)
{
    uint64_t x[FLOE_ZFP_PLANE_WORDS];
    for (uint32_t i = 0; i < FLOE_ZFP_PLANE_WORDS; i++)
        x[i] = planes->plane[i][k];
    for (uint32_t i = 0; 64 * i < n; i++)
        floe_zfp_put_long(w, n - 64 * i < 64 ? x[i] & (((uint64_t)1 << n % 64) - 1) : x[i],
                          n - 64 * i < 64 ? n % 64 : 64);
    while (n < FLOE_ZFP_BLOCK_VALUES) {
        const uint32_t one = next_one(x, n);
        floe_zfp_put(w, one < FLOE_ZFP_BLOCK_VALUES, 1);
        if (one == FLOE_ZFP_BLOCK_VALUES)
            break;
        floe_zfp_put_zeros(w, one - n);
        if (one < FLOE_ZFP_BLOCK_VALUES - 1)
            floe_zfp_put(w, 1, 1);
        n = one + 1;
    }
    return n;
}

/* The highest `precision` planes; may stop behind bit `enough`. block: coefficients in base -2, `any`: the or of them. */
ALWAYS_INLINE void put_planes(floe_zfp_writer *w, const floe_uint *block, floe_uint any, uint32_t rank,
                              uint32_t precision, uint64_t enough)
{
    const uint32_t low = precision < FLOE_REAL_BITS ? FLOE_REAL_BITS - precision : 0;
    const uint32_t used = any ? floe_top_bit(any) + 1 : 0, high = used > low ? used : low;
    const uint8_t *const stop = w->base + enough / 8 + 1; /* from here on there is enough */
    floe_zfp_planes planes;
    uint32_t n = 0;
    floe_zfp_put_zeros(w, FLOE_REAL_BITS - high);
    FLOE_V(floe_zfp_planes_split)(block, rank, low, high, &planes);
    for (uint32_t k = high; k-- > low && w->at < stop;)
        n = rank == 4 ? put_wide_plane(w, &planes, k, n) : put_plane(w, planes.plane[0][k], n, 1u << 2 * rank);
}

/* ---- blocks ---------------------------------------------------------------------------------------------------------- */

/* Base -2, in place. Returns the or of all. */
ALWAYS_INLINE floe_uint to_negabinary(floe_uint *block, uint32_t rank)
{
    floe_uint any = 0;
    for (uint32_t i = 0; i < 1u << 2 * rank; i++) {
        block[i] = FLOE_R(floe_zfp_negabinary)(block[i]);
        any |= block[i];
    }
    return any;
}

ALWAYS_INLINE void put_whole(floe_zfp_writer *w, floe_uint *block, uint32_t rank, uint32_t precision, uint64_t enough)
{
    zfp_transform(ZFP_LIFT, block, rank);
    const floe_uint any = to_negabinary(block, rank);
    put_planes(w, block, any, rank, precision, enough);
}

ALWAYS_INLINE void put_whole_reversibly(floe_zfp_writer *w, floe_uint *block, uint32_t rank, uint32_t maxprec,
                                        uint64_t enough)
{
    zfp_transform(ZFP_DIFFER, block, rank);
    const floe_uint any = to_negabinary(block, rank);
    const uint32_t all = FLOE_R(floe_zfp_significant)(any), some = all < maxprec ? all : maxprec;
    const uint32_t precision = some ? some : 1;
    floe_zfp_put(w, precision - 1, FLOE_ZFP_PREC_BITS);
    put_planes(w, block, any, rank, precision, enough);
}

ALWAYS_INLINE int32_t exponent_of(const floe_uint *block, uint32_t rank)
{
    floe_uint most = 0;
    for (uint32_t i = 0; i < 1u << 2 * rank; i++) {
        const floe_uint m = FLOE_R(floe_zfp_magnitude)(block[i]);
        most = m > most ? m : most;
    }
    return FLOE_R(floe_zfp_exponent)(most);
}

/* Bit patterns of numbers -> whole numbers. */
ALWAYS_INLINE void to_whole(const floe_uint *bits, uint32_t rank, int32_t e, floe_uint *whole)
{
    const floe_real power = FLOE_R(floe_zfp_power)(FLOE_R(floe_zfp_scale)(e));
    floe_real x[FLOE_ZFP_BLOCK_VALUES];
    memcpy(x, bits, sizeof *x << 2 * rank);
    for (uint32_t i = 0; i < 1u << 2 * rank; i++)
        whole[i] = FLOE_R(floe_zfp_whole)(x[i], power);
}

/* True where whole numbers give the very values back. */
ALWAYS_INLINE bool loses_nothing(const floe_uint *bits, uint32_t rank, int32_t e, const floe_uint *whole)
{
    const floe_real power = FLOE_R(floe_zfp_power)(-FLOE_R(floe_zfp_scale)(e));
    floe_uint lost = 0;
    for (uint32_t i = 0; i < 1u << 2 * rank; i++) {
        floe_real y = FLOE_R(floe_zfp_real)(whole[i], power);
        floe_uint back;
        memcpy(&back, &y, sizeof back);
        lost |= back ^ bits[i];
    }
    return lost == 0;
}

ALWAYS_INLINE void put_real(floe_zfp_writer *w, const floe_zfp_params *params, floe_uint *block, uint32_t rank,
                            uint64_t enough)
{
    floe_uint whole[FLOE_ZFP_BLOCK_VALUES];
    const int32_t e = exponent_of(block, rank);
    const uint32_t precision = floe_zfp_precision(e, params, rank);
    if (e == -FLOE_ZFP_EXP_BIAS || precision == 0) {
        floe_zfp_put(w, 0, 1);
        return;
    }
    floe_zfp_put(w, 1 | (uint64_t)(e + FLOE_ZFP_EXP_BIAS) << 1, 1 + FLOE_ZFP_EXP_BITS);
    to_whole(block, rank, e, whole);
    put_whole(w, whole, rank, precision, enough);
}

/* All zero: 0. Whole numbers: 1, 0, exponent. Bit patterns: 1, 1. */
ALWAYS_INLINE void put_real_reversibly(floe_zfp_writer *w, const floe_zfp_params *params, floe_uint *block,
                                       uint32_t rank, uint64_t enough)
{
    floe_uint whole[FLOE_ZFP_BLOCK_VALUES] = {0};
    const int32_t e = exponent_of(block, rank);
    if (e != -FLOE_ZFP_EXP_BIAS)
        to_whole(block, rank, e, whole);
    if (!loses_nothing(block, rank, e, whole)) {
        for (uint32_t i = 0; i < 1u << 2 * rank; i++)
            whole[i] = FLOE_R(floe_zfp_reinterpret)(block[i]);
        floe_zfp_put(w, 3, 2);
    } else if (e == -FLOE_ZFP_EXP_BIAS) {
        floe_zfp_put(w, 0, 1);
        return;
    } else {
        floe_zfp_put(w, 1 | (uint64_t)(e + FLOE_ZFP_EXP_BIAS) << 2, 2 + FLOE_ZFP_EXP_BITS);
    }
    put_whole_reversibly(w, whole, rank, params->maxprec, enough);
}

/* Cuts what was put since bit `start` to maxbits, or fills it up to minbits. Returns how much it is. Reversible blocks of
 * zeros stay one bit. */
ALWAYS_INLINE uint32_t fit(floe_zfp_writer *w, const floe_zfp_params *params, uint64_t start, bool real_reversibly)
{
    uint64_t nbits = floe_zfp_written(w) - start;
    if (real_reversibly && nbits == 1)
        return 1;
    if (nbits > params->maxbits) {
        nbits = params->maxbits;
        floe_zfp_rewind(w, start + nbits);
    }
    if (nbits < params->minbits) {
        floe_zfp_put_zeros(w, params->minbits - nbits);
        nbits = params->minbits;
    }
    return (uint32_t)nbits;
}

/* ---- runs ------------------------------------------------------------------------------------------------------------ */

ALWAYS_INLINE uint64_t encode(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t first,
                              uint64_t count, uint8_t *dst, uint16_t *lengths, uint32_t rank, bool real)
{
    const bool reversible = params->minexp < FLOE_ZFP_MIN_EXP;
    floe_zfp_writer w = {.base = dst, .at = dst};
    zfp_walk walk = zfp_walk_of(array, first);
    for (uint64_t i = 0; i < count; i++, zfp_walk_next(&walk)) {
        const uint64_t start = floe_zfp_written(&w), enough = start + params->maxbits;
        const zfp_place place = zfp_place_of(&walk, rank);
        floe_uint block[FLOE_ZFP_BLOCK_VALUES];
        zfp_load(&walk, &place, rank, block);
        if (real && reversible)
            put_real_reversibly(&w, params, block, rank, enough);
        else if (real)
            put_real(&w, params, block, rank, enough);
        else if (reversible)
            put_whole_reversibly(&w, block, rank, params->maxprec, enough);
        else
            put_whole(&w, block, rank, params->maxprec, enough);
        lengths[i] = (uint16_t)fit(&w, params, start, real && reversible);
    }
    floe_store64(w.at, w.pending);
    return floe_zfp_written(&w);
}

/* By rank and type, as constants, so that loops unroll. */
uint64_t FLOE_V(floe_zfp_encode)(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t first,
                                 uint64_t count, uint8_t *dst, uint16_t *lengths)
{
    const bool real = array->type == FLOE_ZFP_F32 || array->type == FLOE_ZFP_F64;
    switch (array->rank + (real ? 4 : 0)) {
    case 1: return encode(array, params, first, count, dst, lengths, 1, false);
    case 2: return encode(array, params, first, count, dst, lengths, 2, false);
    case 3: return encode(array, params, first, count, dst, lengths, 3, false);
    case 4: return encode(array, params, first, count, dst, lengths, 4, false);
    case 5: return encode(array, params, first, count, dst, lengths, 1, true);
    case 6: return encode(array, params, first, count, dst, lengths, 2, true);
    case 7: return encode(array, params, first, count, dst, lengths, 3, true);
    default: return encode(array, params, first, count, dst, lengths, 4, true);
    }
}
