/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The formulas of a block, once, for both compilers: exponent, whole numbers, lifting, order, negabinary, precision, and the
 * grammar of bit planes. docs/format/zfp.md. Integers wrap (mod 2^32 or 2^64); right shifts of signed ones keep the sign.
 */
#ifndef FLOE_STAGE_ZFPBLOCK_MATH_H
#define FLOE_STAGE_ZFPBLOCK_MATH_H

#include <stdbool.h>

#include "base/hd.h"
#include "base/real.h"
#include "stage/zfpblock/zfpblock.h"

#if FLOE_REAL_BITS == 32
enum { FLOE_ZFP_EXP_BITS = 8, FLOE_ZFP_EXP_BIAS = 127, FLOE_ZFP_MANTISSA_BITS = 23, FLOE_ZFP_PREC_BITS = 5 };
#else
enum { FLOE_ZFP_EXP_BITS = 11, FLOE_ZFP_EXP_BIAS = 1023, FLOE_ZFP_MANTISSA_BITS = 52, FLOE_ZFP_PREC_BITS = 6 };
#endif
#define FLOE_ZFP_SIGN ((floe_uint)1 << (FLOE_REAL_BITS - 1))

/* ---- the exponent of a block ----------------------------------------------------------------------------------------- */

#define FLOE_ZFP_INFINITY ((((floe_uint)1 << FLOE_ZFP_EXP_BITS) - 1) << FLOE_ZFP_MANTISSA_BITS)

/* The bits of |x|, by which magnitudes compare; 0 for what is no number. */
FLOE_HD floe_uint FLOE_R(floe_zfp_magnitude)(floe_uint bits)
{
    floe_uint magnitude = bits & (floe_uint)(FLOE_ZFP_SIGN - 1);
    return magnitude > FLOE_ZFP_INFINITY ? 0 : magnitude;
}

/* From the largest magnitude: e with that magnitude in 2^(e-1) .. 2^e; subnormals count as the smallest normal
 * numbers, 0 as less, and infinity as 1/2. */
FLOE_HD int32_t FLOE_R(floe_zfp_exponent)(floe_uint magnitude)
{
    if (magnitude == 0)
        return -FLOE_ZFP_EXP_BIAS;
    return magnitude == FLOE_ZFP_INFINITY ? 0 : (int32_t)(magnitude >> FLOE_ZFP_MANTISSA_BITS) - FLOE_ZFP_EXP_BIAS + 1;
}

/* Bit planes of a block with exponent e. Each step of the transform can add 2 planes' worth of error an axis. */
FLOE_HD uint32_t floe_zfp_precision(int32_t e, const floe_zfp_params *params, uint32_t rank)
{
    int64_t planes = (int64_t)e - params->minexp + 2 * ((int64_t)rank + 1);
    return planes < 0 ? 0 : planes < params->maxprec ? (uint32_t)planes : params->maxprec;
}

/* 2^k; infinite where it is too large, subnormal or 0 where it is too small. */
FLOE_HD floe_real FLOE_R(floe_zfp_power)(int32_t k)
{
    floe_uint bits;
    if (k > FLOE_ZFP_EXP_BIAS)
        bits = (floe_uint)(2 * FLOE_ZFP_EXP_BIAS + 1) << FLOE_ZFP_MANTISSA_BITS;
    else if (k > -FLOE_ZFP_EXP_BIAS)
        bits = (floe_uint)(k + FLOE_ZFP_EXP_BIAS) << FLOE_ZFP_MANTISSA_BITS;
    else /* a half of the smallest is rounded to 0 */
        bits = k < 1 - FLOE_ZFP_EXP_BIAS - FLOE_ZFP_MANTISSA_BITS
                   ? 0
                   : (floe_uint)1 << (k + FLOE_ZFP_EXP_BIAS - 1 + FLOE_ZFP_MANTISSA_BITS);
    return FLOE_R(floe_real_of)(bits);
}

/* A block's values are whole numbers of up to FLOE_REAL_BITS - 2 bits in units of 2^-scale(e). */
FLOE_HD int32_t FLOE_R(floe_zfp_scale)(int32_t e) { return FLOE_REAL_BITS - 2 - e; }

/* x * power to a whole number, towards 0. What does not fit (power is infinite, or x is no number) is the smallest. */
FLOE_HD floe_uint FLOE_R(floe_zfp_whole)(floe_real x, floe_real power)
{
    const floe_real limit = (floe_real)((floe_uint)1 << (FLOE_REAL_BITS - 2)) * 2;
    floe_real scaled = x * power;
    return scaled >= -limit && scaled < limit ? (floe_uint)(floe_int)scaled : FLOE_ZFP_SIGN;
}
FLOE_HD floe_real FLOE_R(floe_zfp_real)(floe_uint whole, floe_real power) { return power * (floe_real)(floe_int)whole; }

/* True where the power is finite: then all numbers of the block fit. */
FLOE_HD bool FLOE_R(floe_zfp_fits)(int32_t e) { return FLOE_R(floe_zfp_scale)(e) <= FLOE_ZFP_EXP_BIAS; }

/* Reversible, where whole numbers lose something: the bits of a value as an integer that grows with it; its own inverse. */
FLOE_HD floe_uint FLOE_R(floe_zfp_reinterpret)(floe_uint bits)
{
    return bits & FLOE_ZFP_SIGN ? bits ^ (floe_uint)(FLOE_ZFP_SIGN - 1) : bits;
}

/* A block that sticks out of the field, with n values inside along an axis: which of them stands at place i. */
FLOE_HD uint32_t floe_zfp_inside(uint32_t i, uint32_t n) { return i < n ? i : i == 2 && n == 2 ? 1 : 0; }

/* ---- decorrelation: four values along an axis ------------------------------------------------------------------------ */

/* U, I: unsigned and signed type of the values, or of vectors of them.
 *            ( 4  4  4  4) (x)               x: the mean
 * 1/16   *   ( 5  1 -1 -5) (y)               y, z, w: slope and so on, each rounded as the steps have it
 *            (-4  4  4 -4) (z)
 *            (-2  6 -6  2) (w)                                                                                       */
#define FLOE_ZFP_HALVE(U, I, v) ((U)((I)(v) >> 1))
#define FLOE_ZFP_LIFT(U, I, x, y, z, w) \
    do {                                \
        (x) += (w);                     \
        (x) = FLOE_ZFP_HALVE(U, I, x);  \
        (w) -= (x);                     \
        (z) += (y);                     \
        (z) = FLOE_ZFP_HALVE(U, I, z);  \
        (y) -= (z);                     \
        (x) += (z);                     \
        (x) = FLOE_ZFP_HALVE(U, I, x);  \
        (z) -= (x);                     \
        (w) += (y);                     \
        (w) = FLOE_ZFP_HALVE(U, I, w);  \
        (y) -= (w);                     \
        (w) += FLOE_ZFP_HALVE(U, I, y); \
        (y) -= FLOE_ZFP_HALVE(U, I, w); \
    } while (0)
#define FLOE_ZFP_UNLIFT(U, I, x, y, z, w) \
    do {                                  \
        (y) += FLOE_ZFP_HALVE(U, I, w);   \
        (w) -= FLOE_ZFP_HALVE(U, I, y);   \
        (y) += (w);                       \
        (w) = (w) + (w);                  \
        (w) -= (y);                       \
        (z) += (x);                       \
        (x) = (x) + (x);                  \
        (x) -= (z);                       \
        (y) += (z);                       \
        (z) = (z) + (z);                  \
        (z) -= (y);                       \
        (w) += (x);                       \
        (x) = (x) + (x);                  \
        (x) -= (w);                       \
    } while (0)

/* Reversible: differences of first, second and third order, and sums. */
#define FLOE_ZFP_DIFFER(x, y, z, w) \
    do {                            \
        (w) -= (z);                 \
        (z) -= (y);                 \
        (y) -= (x);                 \
        (w) -= (z);                 \
        (z) -= (y);                 \
        (w) -= (z);                 \
    } while (0)
#define FLOE_ZFP_SUM(x, y, z, w) \
    do {                         \
        (w) += (z);              \
        (z) += (y);              \
        (w) += (z);              \
        (y) += (x);              \
        (z) += (y);              \
        (w) += (z);              \
    } while (0)

/* ---- coefficients ---------------------------------------------------------------------------------------------------- */

/* To base -2, where small numbers of either sign have no high bits, and back. */
#define FLOE_ZFP_NEGABINARY ((floe_uint)0xAAAAAAAAAAAAAAAAu)
FLOE_HD floe_uint FLOE_R(floe_zfp_negabinary)(floe_uint v) { return (v + FLOE_ZFP_NEGABINARY) ^ FLOE_ZFP_NEGABINARY; }
FLOE_HD floe_uint FLOE_R(floe_zfp_binary)(floe_uint v) { return (v ^ FLOE_ZFP_NEGABINARY) - FLOE_ZFP_NEGABINARY; }

/* Where in the block (x fastest) each coefficient of the stream stands: by the sum of its frequencies, then by the sum of
 * their squares. */
FLOE_HD const uint8_t *floe_zfp_order(uint32_t rank)
{
    static const uint8_t order1[4] = {0, 1, 2, 3};
    static const uint8_t order2[16] = {0, 1, 4, 5, 2, 8, 6, 9, 3, 12, 10, 7, 13, 11, 14, 15};
    static const uint8_t order3[64] = {0,  1,  4,  16, 20, 17, 5,  2,  8,  32, 21, 6,  18, 24, 9,  33,
                                       36, 3,  12, 48, 22, 25, 37, 40, 34, 10, 7,  19, 28, 13, 49, 52,
                                       41, 38, 26, 23, 29, 53, 11, 35, 44, 14, 50, 56, 42, 27, 39, 45,
                                       30, 54, 57, 60, 51, 15, 43, 46, 58, 61, 55, 31, 62, 59, 47, 63};
    static const uint8_t order4[256] = {
        0,   1,   4,   16,  64,  5,   80,  17,  68,  65,  20,  2,   8,   32,  128, 84,  81,  69,  21,  6,   18,  66,
        24,  72,  9,   96,  33,  36,  129, 132, 144, 3,   12,  48,  192, 85,  82,  70,  22,  73,  25,  88,  37,  100,
        97,  148, 145, 133, 10,  160, 34,  136, 130, 40,  7,   19,  67,  28,  76,  13,  112, 49,  52,  193, 196, 208,
        86,  89,  101, 149, 161, 137, 41,  134, 38,  164, 26,  152, 146, 104, 98,  74,  83,  71,  23,  77,  29,  92,
        53,  116, 113, 212, 209, 197, 11,  35,  131, 44,  140, 14,  176, 50,  56,  194, 200, 224, 90,  165, 102, 153,
        150, 105, 168, 162, 138, 42,  87,  93,  117, 213, 27,  75,  99,  39,  135, 147, 108, 45,  141, 156, 30,  78,
        177, 180, 54,  114, 120, 57,  198, 210, 216, 201, 225, 228, 15,  240, 51,  204, 195, 60,  169, 166, 154, 106,
        91,  103, 151, 109, 157, 94,  181, 118, 121, 214, 217, 229, 163, 139, 43,  142, 46,  172, 58,  184, 178, 232,
        226, 202, 241, 205, 61,  199, 55,  244, 31,  220, 211, 124, 115, 79,  170, 167, 155, 107, 158, 110, 173, 122,
        185, 182, 233, 230, 218, 95,  245, 119, 221, 215, 125, 242, 206, 62,  203, 59,  248, 47,  236, 227, 188, 179,
        143, 171, 174, 186, 234, 246, 222, 126, 219, 123, 249, 111, 237, 231, 189, 183, 159, 252, 243, 207, 63,  175,
        250, 187, 238, 235, 190, 253, 247, 223, 127, 254, 251, 239, 191, 255};
    return rank == 1 ? order1 : rank == 2 ? order2 : rank == 3 ? order3 : order4;
}

/* Zeros below the lowest bit that is set; v > 0. */
FLOE_HD uint32_t floe_zfp_low_zeros(uint64_t v)
{
#if defined(__CUDA_ARCH__)
    return (uint32_t)__ffsll((long long)v) - 1;
#else
    return (uint32_t)__builtin_ctzll(v);
#endif
}

/* Planes that hold all bits of coefficients whose or is `any`. */
FLOE_HD uint32_t FLOE_R(floe_zfp_significant)(floe_uint any)
{
    return any ? FLOE_REAL_BITS - floe_zfp_low_zeros(any) : 0;
}

/* ---- the grammar of a bit plane -------------------------------------------------------------------------------------- */

/*
 * A plane is one bit of each coefficient, in order. The first `known` of them, as far as any plane above reached, stand as
 * they are. Behind them come groups: a 1, the zeros up to the next one bit, and that bit, which is left out where only the
 * last coefficient is left; then a 0, unless the last coefficient was reached.
 */
typedef struct floe_zfp_group {
    uint64_t bits;   /* the code */
    uint32_t nbits;  /* its length */
    uint32_t ncoefs; /* coefficients that it covers */
} floe_zfp_group;

/* The group in front of `rest` (not 0), of which `left` coefficients (1 to 64) are left. */
FLOE_HD floe_zfp_group floe_zfp_group_encode(uint64_t rest, uint32_t left)
{
    const uint32_t zeros = floe_zfp_low_zeros(rest);
    const uint32_t last = zeros + 1 == left;
    floe_zfp_group g = {1 | (uint64_t)!last << 1 << zeros, zeros + 2 - last, zeros + 1};
    return g;
}

/*
 * The groups of a bit plane several bits at a time: what a table holds that is looked up by the next bits.
 *
 * Between two bits a reader is in front of a group, or in its run of zeros. In front: 0 ends the plane, 1 begins a run. In a
 * run: 0 is a coefficient's, 1 is one's too and ends the run.
 */
enum {
    FLOE_ZFP_STEP_BITS = 8,                       /* bits that are looked at, at most */
    FLOE_ZFP_STEP_KEYS = 2 << FLOE_ZFP_STEP_BITS, /* up to 8 bits with a 1 above them, which gives how many they are */
    FLOE_ZFP_STEP_TABLE = 2 * FLOE_ZFP_STEP_KEYS, /* in front of a group; in a run */
    FLOE_ZFP_SPREAD_TABLE = 1 << FLOE_ZFP_STEP_BITS /* by bits of coefficients */
};

/* Fields of a step: the coefficients' bits, from bit 0 on; how many there are; how many bits were read; what comes next. */
#define FLOE_ZFP_STEP_NCOEFS(step) ((step) >> 8 & 15)
#define FLOE_ZFP_STEP_NBITS(step)  ((step) >> 12 & 15)
#define FLOE_ZFP_STEP_IN_RUN(step) ((step) >> 16 & 1)
#define FLOE_ZFP_STEP_ENDED(step)  ((step) >> 17) /* the plane */

/* The step for a key: FLOE_ZFP_STEP_KEYS if in a run, plus the next bits with a 1 above them. */
FLOE_HD uint32_t floe_zfp_step(uint32_t key)
{
    uint32_t in_run = key / FLOE_ZFP_STEP_KEYS, bits = key % FLOE_ZFP_STEP_KEYS;
    uint32_t coefs = 0, ncoefs = 0, nbits = 0, ended = 0;
    for (; bits > 1 && !ended; bits >>= 1, nbits++) {
        const uint32_t bit = bits & 1;
        if (in_run) {
            coefs |= bit << ncoefs++;
            in_run = !bit;
        } else {
            in_run = bit;
            ended = !bit;
        }
    }
    return coefs | ncoefs << 8 | nbits << 12 | in_run << 16 | ended << 17;
}

/* The way back, for 8 coefficients behind the first 1 of a plane: each as it is, and behind each one a 1, for there is more to
 * come. Bits: 8 and one more for each coefficient that is one. */
FLOE_HD uint32_t floe_zfp_spread(uint32_t coefs)
{
    uint32_t bits = 0, nbits = 0;
    for (uint32_t i = 0; i < FLOE_ZFP_STEP_BITS; i++) {
        const uint32_t one = coefs >> i & 1;
        bits |= (one ? 3u : 0u) << nbits;
        nbits += 1 + one;
    }
    return bits;
}

#endif
