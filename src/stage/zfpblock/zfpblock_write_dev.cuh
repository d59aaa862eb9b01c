/* SPDX-License-Identifier: BSD-3-Clause */
/* Values -> bit planes by the whole warp, and bit planes -> bits by a lane for each block, as zfpblock_encode_cpu.c does. */
#ifndef FLOE_STAGE_ZFPBLOCK_WRITE_DEV_CUH
#define FLOE_STAGE_ZFPBLOCK_WRITE_DEV_CUH

#include "stage/zfpblock/zfpblock_lanes_dev.cuh"
#include "stage/zfpblock/zfpblock_math.h"

/* What is written in front of a block's planes, and how many of these there are. */
struct floe_zfp_front {
    uint32_t bits, nbits;
    uint32_t zeros, nplanes; /* planes of zeros at the top, a bit each, and those that follow */
    bool empty;              /* nothing follows; reversible blocks of zeros are not filled up */
    int32_t e;               /* exponent, of reals that are not patterns */
};

/* ---- values to planes ------------------------------------------------------------------------------------------------ */

/* The or, or the largest, of what the lanes that share a block have. */
template <uint32_t RANK> FLOE_DEV floe_uint floe_zfp_or_of_block(floe_uint v)
{
    for (uint32_t d = floe_zfp_lanes<RANK>::BLOCKS; d < FLOE_WARP; d *= 2)
        v |= __shfl_xor_sync(FLOE_ALL_LANES, v, d);
    return v;
}
template <uint32_t RANK> FLOE_DEV floe_uint floe_zfp_most_of_block(floe_uint v)
{
    for (uint32_t d = floe_zfp_lanes<RANK>::BLOCKS; d < FLOE_WARP; d *= 2)
        v = max(v, __shfl_xor_sync(FLOE_ALL_LANES, v, d));
    return v;
}

/* The exponent of a block; *finite: no infinity or NaN in it. */
template <uint32_t RANK> FLOE_DEV int32_t floe_zfp_exponent_of_block(const floe_uint *v, bool *finite)
{
    floe_uint most = 0, numbers = 0;
#pragma unroll
    for (uint32_t i = 0; i < floe_zfp_lanes<RANK>::VALUES; i++)
        most = max(most, v[i] & (floe_uint)(FLOE_ZFP_SIGN - 1));
    most = floe_zfp_most_of_block<RANK>(most);
    *finite = most < FLOE_ZFP_INFINITY;
    if (__any_sync(FLOE_ALL_LANES, most > FLOE_ZFP_INFINITY)) {
#pragma unroll
        for (uint32_t i = 0; i < floe_zfp_lanes<RANK>::VALUES; i++)
            numbers = max(numbers, FLOE_R(floe_zfp_magnitude)(v[i]));
        most = floe_zfp_most_of_block<RANK>(numbers);
    }
    return FLOE_R(floe_zfp_exponent)(most);
}

/* Bit patterns of numbers -> whole numbers, in place. fits: all of them do. */
template <uint32_t N> FLOE_DEV void floe_zfp_make_whole(floe_uint *v, int32_t e, bool fits)
{
    const floe_real power = FLOE_R(floe_zfp_power)(FLOE_R(floe_zfp_scale)(e));
    if (fits) {
#pragma unroll
        for (uint32_t i = 0; i < N; i++)
            v[i] = (floe_uint)(floe_int)(FLOE_R(floe_real_of)(v[i]) * power);
        return;
    }
#pragma unroll
    for (uint32_t i = 0; i < N; i++)
        v[i] = FLOE_R(floe_zfp_whole)(FLOE_R(floe_real_of)(v[i]), power);
}

/* Whether whole numbers give the very values back. */
template <uint32_t RANK> FLOE_DEV bool floe_zfp_is_exact(const floe_uint *v, int32_t e, bool finite)
{
    const int32_t scale = FLOE_R(floe_zfp_scale)(e);
    const floe_real power = FLOE_R(floe_zfp_power)(scale), back = FLOE_R(floe_zfp_power)(-scale);
    const bool zero = e == -FLOE_ZFP_EXP_BIAS;
    floe_uint lost = 0;
#pragma unroll
    for (uint32_t i = 0; i < floe_zfp_lanes<RANK>::VALUES; i++) {
        const floe_uint whole = FLOE_R(floe_zfp_whole)(FLOE_R(floe_real_of)(v[i]), power);
        lost |= v[i] ^ (zero ? 0 : FLOE_R(floe_real_bits)(FLOE_R(floe_zfp_real)(whole, back)));
    }
    return floe_zfp_or_of_block<RANK>(lost) == 0 && finite;
}

/* Values become whole numbers. Returns the planes that there may be, or 0: the block is empty. */
template <uint32_t RANK, bool REVERSIBLE>
FLOE_DEV uint32_t floe_zfp_begin_real(floe_uint *v, const floe_zfp_params &params, floe_zfp_front &front)
{
    enum { N = floe_zfp_lanes<RANK>::VALUES };
    bool finite;
    const int32_t e = floe_zfp_exponent_of_block<RANK>(v, &finite);
    const bool zero = e == -FLOE_ZFP_EXP_BIAS, patterns = REVERSIBLE && !floe_zfp_is_exact<RANK>(v, e, finite);
    const uint32_t biased = (uint32_t)(e + FLOE_ZFP_EXP_BIAS);
    const uint32_t planes = REVERSIBLE ? FLOE_REAL_BITS : floe_zfp_precision(e, &params, RANK);
    if (patterns) {
        front.bits = 3;
        front.nbits = 2;
#pragma unroll
        for (uint32_t i = 0; i < N; i++)
            v[i] = FLOE_R(floe_zfp_reinterpret)(v[i]);
        return planes;
    }
    front.e = e;
    front.empty = zero || planes == 0;
    front.bits = front.empty ? 0 : 1 | biased << (REVERSIBLE ? 2 : 1);
    front.nbits = front.empty ? 1 : FLOE_ZFP_EXP_BITS + (REVERSIBLE ? 2 : 1);
    floe_zfp_make_whole<N>(v, e, finite && FLOE_R(floe_zfp_fits)(e));
    return front.empty ? 0 : planes;
}

/* All lanes: values -> planes, the highest first, in the warp's shared memory. */
template <uint32_t RANK, bool REVERSIBLE>
FLOE_DEV floe_zfp_front floe_zfp_split_block(bool real, floe_uint *v, const floe_zfp_params &params, uint32_t *planes,
                                             uint32_t block, uint32_t share)
{
    enum { N = floe_zfp_lanes<RANK>::VALUES };
    floe_zfp_front front = {0, 0, 0, 0, false, 0};
    uint32_t most = real ? floe_zfp_begin_real<RANK, REVERSIBLE>(v, params, front) : params.maxprec;
    floe_zfp_cube<RANK, false, REVERSIBLE>(v);
    floe_uint coefs[N], any = 0;
    if (RANK > 3)
        floe_zfp_exchange<false, REVERSIBLE>(planes, block, share, v);
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
        coefs[i] = FLOE_R(floe_zfp_negabinary)(v[RANK > 3 ? i : floe_zfp_order(RANK < 4 ? RANK : 1)[i % 64]]);
        any |= coefs[i];
    }
    any = floe_zfp_or_of_block<RANK>(any);
    if (REVERSIBLE && !front.empty) {
        most = max(min(FLOE_R(floe_zfp_significant)(any), params.maxprec), 1u);
        front.bits |= (most - 1) << front.nbits;
        front.nbits += FLOE_ZFP_PREC_BITS;
    }
    most = min(most, (uint32_t)FLOE_REAL_BITS);
    if (front.empty)
        return front;
    const uint32_t used = any ? floe_top_bit(any) + 1 : 0;
    front.zeros = min(FLOE_REAL_BITS - used, most);
    front.nplanes = most - front.zeros;
#pragma unroll
    for (uint32_t i = 0; i < N; i++)
        v[i] = coefs[i] << min(front.zeros, (uint32_t)FLOE_REAL_BITS - 1);
    return front;
}

/* ---- planes to bits -------------------------------------------------------------------------------------------------- */

#define INLINE __device__ __forceinline__

/* A plane of one block. */
template <uint32_t RANK> struct floe_zfp_plane {
    uint64_t bits;
    INLINE floe_zfp_plane(const uint32_t *plane)
    {
        bits = plane[0];
        if (RANK > 2)
            bits |= (uint64_t)plane[floe_zfp_lanes<RANK>::BLOCKS] << 32;
    }
    /* Coefficients up to the last one that is set. */
    INLINE uint32_t end() const { return bits ? floe_top_bit(bits) + 1 : 0; }
    INLINE uint32_t ones_from(uint32_t n) const { return n < 64 ? (uint32_t)__popcll(bits >> n) : 0; }
    INLINE uint32_t word(uint32_t w) const { return (uint32_t)(bits >> 32 * w); }
    /* The next 8 and more. */
    INLINE uint32_t from(uint32_t n) const { return (uint32_t)(bits >> n); }
};
template <> struct floe_zfp_plane<4> {
    const uint32_t *plane;
    INLINE floe_zfp_plane(const uint32_t *plane_) : plane(plane_) {}
    INLINE uint32_t word(uint32_t w) const
    {
        return w < floe_zfp_lanes<4>::WORDS ? plane[w * floe_zfp_lanes<4>::BLOCKS] : 0;
    }
    INLINE uint32_t end() const
    {
        for (uint32_t w = floe_zfp_lanes<4>::WORDS; w-- > 0;)
            if (word(w))
                return 32 * w + floe_top_bit(word(w)) + 1;
        return 0;
    }
    INLINE uint32_t ones_from(uint32_t n) const
    {
        uint32_t ones = (uint32_t)__popc(word(n / 32) >> n % 32);
        for (uint32_t w = n / 32 + 1; w < floe_zfp_lanes<4>::WORDS; w++)
            ones += (uint32_t)__popc(word(w));
        return ones;
    }
    INLINE uint32_t from(uint32_t n) const { return __funnelshift_r(word(n / 32), word(n / 32 + 1), n); }
};

/* Bits of one block to their place among those of others; words between are shared with the blocks beside it, and 0 before. */
struct floe_zfp_lane_writer {
    uint32_t *at; /* word of the next bit */
    uint64_t pending;
    uint32_t fill; /* bits that are pending: below 32 */
    uint32_t left; /* bits that the block may still have */

    INLINE void put(uint32_t v, uint32_t n) /* up to 32; v has no others */
    {
        if (n > left) {
            n = left;
            v &= (uint32_t)(((uint64_t)1 << n) - 1);
        }
        pending |= (uint64_t)v << fill;
        fill += n;
        left -= n;
        if (fill >= 32) {
            atomicOr(at++, (uint32_t)pending);
            pending >>= 32;
            fill -= 32;
        }
    }
    INLINE void end()
    {
        if (fill)
            atomicOr(at, (uint32_t)pending);
    }
};

#undef INLINE

/* Bits of a plane of which n coefficients are known; *n becomes how many are behind it. */
template <uint32_t RANK> FLOE_DEV uint32_t floe_zfp_plane_nbits(const floe_zfp_plane<RANK> &plane, uint32_t *n)
{
    enum { SIZE = floe_zfp_lanes<RANK>::SIZE };
    const uint32_t known = *n, end = plane.end();
    if (end <= known)
        return known + (known < SIZE);
    *n = end;
    /* a test in front, coefficients, a test behind each one; at the end of the block neither the last one nor its test */
    return known + 1 + (end - known) + plane.ones_from(known) - (end == SIZE ? 2 : 0);
}

/* Bits that a block takes. */
template <uint32_t RANK, bool REVERSIBLE>
FLOE_DEV uint32_t floe_zfp_block_nbits(const floe_zfp_front &front, const floe_zfp_params &params,
                                       const uint32_t *planes, uint32_t block)
{
    uint32_t nbits = front.nbits + front.zeros, n = 0;
    if (REVERSIBLE && front.empty)
        return 1;
    for (uint32_t k = 0; k < front.nplanes && nbits < params.maxbits; k++)
        nbits += floe_zfp_plane_nbits<RANK>(planes + floe_zfp_plane_at<RANK>(k, 0, block), &n);
    return max(min(nbits, params.maxbits), params.minbits);
}

/* The groups of a plane: up to 8 coefficients at a time. */
template <uint32_t RANK>
FLOE_DEV uint32_t floe_zfp_put_groups(floe_zfp_lane_writer &w, const uint16_t *spread,
                                      const floe_zfp_plane<RANK> &plane, uint32_t n)
{
    enum { SIZE = floe_zfp_lanes<RANK>::SIZE };
    const uint32_t end = plane.end();
    if (n == SIZE)
        return n;
    if (end <= n) {
        w.put(0, 1);
        return n;
    }
    for (uint32_t test = 1; n < end; n += FLOE_ZFP_STEP_BITS, test = 0) { /* a 1 in front of the first */
        const uint32_t count = min(end - n, (uint32_t)FLOE_ZFP_STEP_BITS);
        const uint32_t coefs = plane.from(n) & ((1u << count) - 1);
        uint32_t bits = spread[coefs], nbits = count + (uint32_t)__popc(coefs);
        if (n + count == end) { /* the last one has a 0 behind it, or goes without saying */
            bits ^= 1u << (nbits - 1);
            if (end == SIZE) {
                nbits -= 2;
                bits &= (1u << nbits) - 1;
            }
        }
        w.put(bits << test | test, nbits + test);
    }
    return end;
}

/* One lane: a block's bits from bit `at` of words on, where its words are 0. */
template <uint32_t RANK>
FLOE_DEV void floe_zfp_write_block(const floe_zfp_front &front, const floe_zfp_params &params, const uint16_t *spread,
                                   const uint32_t *planes, uint32_t block, uint32_t *words, uint32_t at)
{
    floe_zfp_lane_writer w = {words + at / 32, 0, at % 32, params.maxbits};
    uint32_t known = 0;
    w.put(front.bits, front.nbits);
    for (uint32_t zeros = front.zeros; zeros > 0; zeros -= min(zeros, 32u))
        w.put(0, min(zeros, 32u));
    for (uint32_t k = 0; k < front.nplanes && w.left > 0; k++) {
        const floe_zfp_plane<RANK> plane(planes + floe_zfp_plane_at<RANK>(k, 0, block));
        for (uint32_t i = 0; i < known; i += 32) {
            const uint32_t n = min(known - i, 32u);
            w.put(plane.word(i / 32) & (uint32_t)(((uint64_t)1 << n) - 1), n);
        }
        known = floe_zfp_put_groups<RANK>(w, spread, plane, known);
    }
    w.end();
}

#endif
