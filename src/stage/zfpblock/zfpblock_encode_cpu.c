/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks -> bits: whole numbers, lifting, bit planes, and the planes' grammar, word by word. */
#include "stage/zfpblock/zfpblock_bits.h"
#include "stage/zfpblock/zfpblock_four.h"
#include "stage/zfpblock/zfpblock_planes.h"
#include "stage/zfpblock/zfpblock_walk.h"
#include "stage/zfpblock/zfpblock_whole.h"

/* What a run of blocks has in common, and where a block has enough. */
typedef struct coder {
    const floe_zfp_params *params;
    const uint8_t *stop; /* a writer that has come this far is beyond maxbits */
    floe_zfp_shuffles shuffles;
    zfp_four_codes fours;
} coder;

/* ---- planes ---------------------------------------------------------------------------------------------------------- */

/* One plane of `size` (up to 64) coefficients, of which n are known. Returns how many are known behind it. */
FLOE_INLINE uint32_t put_plane(floe_zfp_writer *w, uint64_t x, uint32_t n, uint32_t size)
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

/* The highest `precision` planes, or as many as the block has room for, and a bit more. block: coefficients in base -2;
 * any: the or of them. */
FLOE_INLINE void put_planes(floe_zfp_writer *w, const coder *c, const floe_uint *block, floe_uint any, uint32_t rank,
                            uint32_t precision)
{
    const uint32_t low = precision < FLOE_REAL_BITS ? FLOE_REAL_BITS - precision : 0;
    const uint32_t used = any ? floe_top_bit(any) + 1 : 0, high = used > low ? used : low;
    floe_zfp_planes planes;
    uint32_t n = 0;
    floe_zfp_put_zeros(w, FLOE_REAL_BITS - high);
    if (rank == 1) {
        zfp_put_fours(w, &c->fours, block, low, high, c->stop);
        return;
    }
    FLOE_V(floe_zfp_planes_split)(&c->shuffles, block, rank, low, high, &planes);
    for (uint32_t k = high; k-- > low && w->at < c->stop;)
        n = rank == 4 ? put_wide_plane(w, &planes, k, n) : put_plane(w, planes.plane[0][k], n, 1u << 2 * rank);
}

/* ---- blocks ---------------------------------------------------------------------------------------------------------- */

/* Base -2, in place. Returns the or of all. */
FLOE_INLINE floe_uint to_negabinary(floe_uint *block, uint32_t rank)
{
    floe_uint any = 0;
    for (uint32_t i = 0; i < 1u << 2 * rank; i++) {
        block[i] = FLOE_R(floe_zfp_negabinary)(block[i]);
        any |= block[i];
    }
    return any;
}

/* reversible: differences, behind the number of their planes. Else so many planes. */
FLOE_INLINE void put_whole(floe_zfp_writer *w, const coder *c, floe_uint *block, uint32_t rank, bool reversible,
                           uint32_t precision)
{
    zfp_transform(reversible ? ZFP_DIFFER : ZFP_LIFT, block, rank);
    const floe_uint any = to_negabinary(block, rank);
    if (reversible) {
        const uint32_t all = FLOE_R(floe_zfp_significant)(any);
        precision = (uint32_t)floe_max64(1, floe_min64(all, c->params->maxprec));
        floe_zfp_put(w, precision - 1, FLOE_ZFP_PREC_BITS);
    }
    put_planes(w, c, block, any, rank, precision);
}

/* A function for each rank, which all kinds of blocks call: see WHOLE in zfpblock_decode_cpu.c. The writer as a copy, which no
 * store of bytes can change. Not for one axis: such blocks are so short that a call costs 5 %. */
#define WHOLE(rank)                                                                                      \
    static void put_whole_##rank(floe_zfp_writer *to, const coder *c, floe_uint *block, bool reversible, \
                                 uint32_t precision)                                                     \
    {                                                                                                    \
        floe_zfp_writer w = *to;                                                                         \
        if (reversible)                                                                                  \
            put_whole(&w, c, block, rank, true, precision);                                              \
        else                                                                                             \
            put_whole(&w, c, block, rank, false, precision);                                             \
        *to = w;                                                                                         \
    }
WHOLE(2)
WHOLE(3)
WHOLE(4)

FLOE_INLINE void put_any(floe_zfp_writer *w, const coder *c, floe_uint *block, uint32_t rank, bool reversible,
                         uint32_t precision)
{
    switch (rank) {
    case 1: put_whole(w, c, block, 1, reversible, precision); break;
    case 2: put_whole_2(w, c, block, reversible, precision); break;
    case 3: put_whole_3(w, c, block, reversible, precision); break;
    default: put_whole_4(w, c, block, reversible, precision); break;
    }
}

FLOE_INLINE void put_real(floe_zfp_writer *w, const coder *c, const floe_uint *block, uint32_t rank)
{
    floe_uint whole[FLOE_ZFP_BLOCK_VALUES];
    bool finite;
    const int32_t e = zfp_exponent_of(block, rank, &finite);
    const uint32_t precision = floe_zfp_precision(e, c->params, rank);
    if (e == -FLOE_ZFP_EXP_BIAS || precision == 0) {
        floe_zfp_put(w, 0, 1);
        return;
    }
    floe_zfp_put(w, 1 | (uint64_t)(e + FLOE_ZFP_EXP_BIAS) << 1, 1 + FLOE_ZFP_EXP_BITS);
    zfp_to_whole(block, rank, e, finite && FLOE_R(floe_zfp_fits)(e), whole);
    put_any(w, c, whole, rank, false, precision);
}

/* Whole numbers that give the very values back. False: there are none. */
FLOE_INLINE bool to_whole_exactly(const floe_uint *block, uint32_t rank, int32_t e, bool finite, floe_uint *whole)
{
    floe_uint back[FLOE_ZFP_BLOCK_VALUES], lost = 0;
    if (!finite)
        return false;
    if (e == -FLOE_ZFP_EXP_BIAS) {
        memset(whole, 0, sizeof *whole << 2 * rank);
        memset(back, 0, sizeof *back << 2 * rank);
    } else {
        zfp_to_whole(block, rank, e, FLOE_R(floe_zfp_fits)(e), whole);
        zfp_to_real(whole, rank, e, back);
    }
    for (uint32_t i = 0; i < 1u << 2 * rank; i++)
        lost |= back[i] ^ block[i];
    return lost == 0;
}

/* All zero: 0. Whole numbers: 1, 0, exponent. Bit patterns: 1, 1. */
FLOE_INLINE void put_real_reversibly(floe_zfp_writer *w, const coder *c, const floe_uint *block, uint32_t rank)
{
    floe_uint whole[FLOE_ZFP_BLOCK_VALUES];
    bool finite;
    const int32_t e = zfp_exponent_of(block, rank, &finite);
    if (!to_whole_exactly(block, rank, e, finite, whole)) {
        for (uint32_t i = 0; i < 1u << 2 * rank; i++)
            whole[i] = FLOE_R(floe_zfp_reinterpret)(block[i]);
        floe_zfp_put(w, 3, 2);
    } else if (e == -FLOE_ZFP_EXP_BIAS) {
        floe_zfp_put(w, 0, 1);
        return;
    } else {
        floe_zfp_put(w, 1 | (uint64_t)(e + FLOE_ZFP_EXP_BIAS) << 2, 2 + FLOE_ZFP_EXP_BITS);
    }
    put_any(w, c, whole, rank, true, 0);
}

/* Cuts what was put since bit `start` to maxbits, or fills it up to minbits. Returns how much it is. */
FLOE_INLINE uint32_t fit(floe_zfp_writer *w, const floe_zfp_params *params, uint64_t start)
{
    uint64_t nbits = floe_zfp_written(w) - start;
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

typedef struct run {
    const floe_zfp_array *array;
    const floe_zfp_params *params;
    uint64_t first, count; /* blocks */
    uint8_t *dst;
    uint16_t *lengths;
} run;

FLOE_INLINE uint64_t encode(run r, uint32_t rank, bool real)
{
    const floe_zfp_params *params = r.params;
    const bool reversible = params->minexp < FLOE_ZFP_MIN_EXP;
    floe_zfp_writer w = {.base = r.dst, .at = r.dst};
    zfp_walk walk = zfp_walk_of(r.array, r.first);
    coder c;
    c.params = params;
    FLOE_V(floe_zfp_shuffles_init)(&c.shuffles, rank);
    if (rank == 1)
        zfp_four_codes_init(&c.fours);
    for (uint64_t i = 0; i < r.count; i++, zfp_walk_next(&walk, rank)) {
        const uint64_t start = floe_zfp_written(&w);
        const zfp_place place = zfp_place_of(&walk, rank);
        floe_uint block[FLOE_ZFP_BLOCK_VALUES];
        zfp_load(&walk, &place, rank, block);
        c.stop = r.dst + (start + params->maxbits) / 8 + 1;
        if (real && reversible)
            put_real_reversibly(&w, &c, block, rank);
        else if (real)
            put_real(&w, &c, block, rank);
        else
            put_any(&w, &c, block, rank, reversible, params->maxprec);
        const bool zeros = real && reversible && floe_zfp_written(&w) == start + 1; /* stays one bit */
        r.lengths[i] = (uint16_t)(zeros ? 1 : fit(&w, params, start));
    }
    floe_store64(w.at, w.pending);
    return floe_zfp_written(&w);
}

/* By rank and type, as constants, so that loops unroll. */
uint64_t FLOE_V(floe_zfp_encode)(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t first,
                                 uint64_t count, uint8_t *dst, uint16_t *lengths)
{
    const run r = {array, params, first, count, dst, lengths};
    FLOE_ZFP_BY_KIND(array->rank, array->type, encode, r)
}
