/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the primitives do to an element, once, for both compilers.
 *
 * The order of a reduction. The array is cut into tiles of 2048 elements (the last may be shorter). In a tile lane l of 32
 * joins elements l, l + 32, l + 64 ... one after the other, beginning with the identity; then lane l joins lane l + 16 for
 * l < 16, and so on with 8, 4, 2, 1. The results of all tiles are the elements of the next round, until one is left.
 * Integers, smallest and largest give the same in any order, so there a backend may do as it likes.
 *
 * The order of a scan of floats. The totals of the tiles, by the order above, are scanned (exclusively) by this same rule:
 * that is P of each tile. A tile is 8 rows of 32 lines of 8 elements, with zeros where the array ends. Each line is summed
 * from its first element on: s[l]. In a row, for d = 1, 2, 4, 8, 16: all s[l] with l >= d become s[l] + s[l - d], at once.
 * R is the sum of the last s of all rows before, in order. The line starts from P + (R + s[l - 1]), or P + (R + 0) in the first
 * line of a row, and adds its elements one by one.
 *
 * Both add in 64 bits, whatever the type.
 */
#ifndef FLOE_PRIM_MATH_H
#define FLOE_PRIM_MATH_H

#include "base/hd.h"
#include "prim/prim.h"

enum {
    FLOE_PRIM_LANES = 32,
    FLOE_PRIM_LINE = 8,
    FLOE_PRIM_ROW = FLOE_PRIM_LANES * FLOE_PRIM_LINE,
    FLOE_PRIM_ROWS = 8,
    FLOE_PRIM_TILE = FLOE_PRIM_ROWS * FLOE_PRIM_ROW
};

/* ---- elements as bits -------------------------------------------------------------------------------------------- */

/* Words that may lie in arrays of any type. */
#ifdef __GNUC__
typedef uint32_t __attribute__((may_alias)) floe_any32;
typedef uint64_t __attribute__((may_alias)) floe_any64;
#else
typedef uint32_t floe_any32;
typedef uint64_t floe_any64;
#endif

FLOE_HD bool floe_prim_is_wide(floe_prim_type t) { return t >= FLOE_PRIM_U64; }
FLOE_HD bool floe_prim_is_signed(floe_prim_type t) { return t % 3 == FLOE_PRIM_I32; }
FLOE_HD bool floe_prim_is_float(floe_prim_type t) { return t % 3 == FLOE_PRIM_F32; }
FLOE_HD uint32_t floe_prim_nbytes(floe_prim_type t) { return floe_prim_is_wide(t) ? 8 : 4; }

/* Element i, in the low bits. */
FLOE_HD uint64_t floe_prim_get(bool wide, const void *p, uint64_t i)
{
    return wide ? ((const floe_any64 *)p)[i] : ((const floe_any32 *)p)[i];
}
FLOE_HD void floe_prim_set(bool wide, void *p, uint64_t i, uint64_t bits)
{
    if (wide)
        ((floe_any64 *)p)[i] = bits;
    else
        ((floe_any32 *)p)[i] = (uint32_t)bits;
}

FLOE_HD uint64_t floe_prim_sign(bool wide) { return wide ? (uint64_t)1 << 63 : (uint64_t)1 << 31; }
FLOE_HD uint64_t floe_prim_ones(bool wide) { return wide ? ~(uint64_t)0 : 0xFFFFFFFFu; }
FLOE_HD uint64_t floe_prim_nan(bool wide) { return wide ? FLOE_NAN64_BITS : FLOE_NAN32_BITS; }
FLOE_HD bool floe_prim_is_nan(floe_prim_type t, uint64_t bits)
{
    bool wide = floe_prim_is_wide(t);
    uint64_t inf = wide ? (uint64_t)0x7FF0 << 48 : 0x7F800000u;
    return floe_prim_is_float(t) && (bits & ~floe_prim_sign(wide)) > inf;
}

/* ---- total order: keys are unsigned numbers in the same order as the elements ------------------------------------ */

/* key = bits ^ (top bit of bits ? negative : positive), and bits = key ^ (top bit of key ? positive : negative). */
typedef struct floe_prim_order {
    uint64_t positive, negative;
} floe_prim_order;

FLOE_HD floe_prim_order floe_prim_order_of(floe_prim_type t)
{
    uint64_t sign = floe_prim_sign(floe_prim_is_wide(t)), ones = floe_prim_ones(floe_prim_is_wide(t));
    floe_prim_order o = {0, 0};
    if (t % 3 != FLOE_PRIM_U32) {
        o.positive = sign;
        o.negative = floe_prim_is_float(t) ? ones : sign;
    }
    return o;
}
/* Without a branch, which signs at random would mislead. */
FLOE_HD uint64_t floe_prim_ordered(bool wide, floe_prim_order o, uint64_t bits)
{
    return bits ^ o.positive ^ ((0 - (bits >> (wide ? 63 : 31))) & (o.positive ^ o.negative));
}
FLOE_HD uint64_t floe_prim_unordered(bool wide, floe_prim_order o, uint64_t key)
{
    return key ^ o.negative ^ ((0 - (key >> (wide ? 63 : 31))) & (o.positive ^ o.negative));
}

/* The same of |x|, which is a key as it is. */
FLOE_HD uint64_t floe_prim_magnitude(floe_prim_type t, uint64_t bits)
{
    bool wide = floe_prim_is_wide(t);
    if (floe_prim_is_float(t))
        return bits & ~floe_prim_sign(wide);
    if (floe_prim_is_signed(t) && (bits & floe_prim_sign(wide)) != 0)
        return (0 - bits) & floe_prim_ones(wide);
    return bits;
}
FLOE_HD uint64_t floe_prim_key(floe_prim_type t, bool magnitude, uint64_t bits)
{
    return magnitude ? floe_prim_magnitude(t, bits)
                     : floe_prim_ordered(floe_prim_is_wide(t), floe_prim_order_of(t), bits);
}
FLOE_HD uint64_t floe_prim_unkey(floe_prim_type t, bool magnitude, uint64_t key)
{
    return magnitude ? key : floe_prim_unordered(floe_prim_is_wide(t), floe_prim_order_of(t), key);
}

/* Select finds a key digit by digit, from the top: 11 bits each, the last the 9 or 10 that remain. Sort goes up from the
 * lowest, by digits of 8 bits: an even number of passes. */
enum {
    FLOE_PRIM_SELECT_BITS = 11,
    FLOE_PRIM_SELECT_DIGITS = 1 << FLOE_PRIM_SELECT_BITS,
    FLOE_PRIM_SORT_BITS = 8,
    FLOE_PRIM_SORT_DIGITS = 1 << FLOE_PRIM_SORT_BITS
};

FLOE_HD uint32_t floe_prim_sort_digit(bool wide, floe_prim_order o, uint64_t bits, uint32_t shift)
{
    return (uint32_t)(floe_prim_ordered(wide, o, bits) >> shift) % FLOE_PRIM_SORT_DIGITS;
}

/* ---- what is reduced: words of 64 bits -----------------------------------------------------------------------------
 * Sums as u64, i64 or f64. Largest as keys; smallest as the largest of inverted keys. 0 is the identity of all, and the key of
 * a NaN is 0, which no number has. */

FLOE_HD uint64_t floe_prim_word(floe_prim_type t, floe_prim_op op, uint64_t bits)
{
    bool wide = floe_prim_is_wide(t);
    if (op == FLOE_PRIM_SUM) {
        if (t == FLOE_PRIM_F32)
            return floe_bits_f64((double)floe_f32_of((uint32_t)bits));
        return t == FLOE_PRIM_I32 ? (uint64_t)(int64_t)(int32_t)(uint32_t)bits : bits;
    }
    if (floe_prim_is_nan(t, bits))
        return 0;
    uint64_t key = floe_prim_key(t, false, bits);
    return op == FLOE_PRIM_MAX ? key : key ^ floe_prim_ones(wide);
}

FLOE_HD uint64_t floe_prim_join(floe_prim_type t, floe_prim_op op, uint64_t a, uint64_t b)
{
    if (op != FLOE_PRIM_SUM)
        return floe_max64(a, b);
    return floe_prim_is_float(t) ? floe_bits_f64(floe_f64_of(a) + floe_f64_of(b)) : a + b;
}

/* The sum as an element of type t: its own kind, in 64 or 32 bits. */
FLOE_HD uint64_t floe_prim_sum_bits(floe_prim_type t, uint64_t word)
{
    if (!floe_prim_is_float(t))
        return word;
    if (floe_prim_is_nan(FLOE_PRIM_F64, word))
        return floe_prim_nan(floe_prim_is_wide(t));
    return t == FLOE_PRIM_F64 ? word : floe_bits_f32((float)floe_f64_of(word));
}

/* The 64-bit type of the same kind. */
FLOE_HD floe_prim_type floe_prim_widened(floe_prim_type t) { return (floe_prim_type)(t % 3 + 3); }

FLOE_HD void floe_prim_store_result(floe_prim_type t, floe_prim_op op, uint64_t word, void *out)
{
    bool wide = floe_prim_is_wide(t);
    if (op == FLOE_PRIM_SUM)
        floe_prim_set(true, out, 0, floe_prim_sum_bits(floe_prim_widened(t), word));
    else if (floe_prim_is_float(t) && word == 0)
        floe_prim_set(wide, out, 0, floe_prim_nan(wide));
    else
        floe_prim_set(wide, out, 0,
                      floe_prim_unkey(t, false, op == FLOE_PRIM_MAX ? word : word ^ floe_prim_ones(wide)));
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

/* a >= b */
FLOE_HD bool floe_prim_at_least(floe_prim_type t, uint64_t a, uint64_t b)
{
    if (t == FLOE_PRIM_F32)
        return floe_f32_of((uint32_t)a) >= floe_f32_of((uint32_t)b);
    if (t == FLOE_PRIM_F64)
        return floe_f64_of(a) >= floe_f64_of(b);
    return floe_prim_key(t, false, a) >= floe_prim_key(t, false, b);
}
FLOE_HD bool floe_prim_magnitude_at_least(floe_prim_type t, uint64_t a, uint64_t b)
{
    a = floe_prim_magnitude(t, a), b = floe_prim_magnitude(t, b);
    return floe_prim_is_float(t) ? floe_prim_at_least(t, a, b) : a >= b;
}

FLOE_HD bool floe_prim_keeps(floe_prim_type t, const void *in, floe_prim_keep keep, uint64_t i)
{
    bool wide = floe_prim_is_wide(t);
    const uint8_t *flags = (const uint8_t *)keep.what;
    switch (keep.kind) {
    case FLOE_PRIM_KEEP_BYTES: return flags[i] != 0;
    case FLOE_PRIM_KEEP_BITS: return (flags[i / 8] >> i % 8 & 1) != 0;
    case FLOE_PRIM_KEEP_AT_LEAST:
        return floe_prim_at_least(t, floe_prim_get(wide, in, i), floe_prim_get(wide, keep.what, 0));
    default: return floe_prim_magnitude_at_least(t, floe_prim_get(wide, in, i), floe_prim_get(wide, keep.what, 0));
    }
}

/* ---- worklets: what FLOE_PRIM_MAP (prim_map.h) runs for each i --------------------------------------------------- */

typedef struct floe_prim_flag_job {
    const void *in;
    uint8_t *flags;
    floe_prim_keep keep;
    floe_prim_type type;
} floe_prim_flag_job;
FLOE_HD void floe_prim_flag_one(const floe_prim_flag_job *j, uint64_t i)
{
    j->flags[i] = floe_prim_keeps(j->type, j->in, j->keep, i);
}

typedef struct floe_prim_move_job {
    const void *in, *index;
    void *out;
    uint64_t limit; /* elements on the side that is indexed */
    bool wide, wide_index;
} floe_prim_move_job;
FLOE_HD void floe_prim_gather_one(const floe_prim_move_job *j, uint64_t i)
{
    uint64_t at = floe_prim_get(j->wide_index, j->index, i);
    floe_prim_set(j->wide, j->out, i, at < j->limit ? floe_prim_get(j->wide, j->in, at) : 0);
}
FLOE_HD void floe_prim_scatter_one(const floe_prim_move_job *j, uint64_t i)
{
    uint64_t at = floe_prim_get(j->wide_index, j->index, i);
    if (at < j->limit)
        floe_prim_set(j->wide, j->out, at, floe_prim_get(j->wide, j->in, i));
}

#endif
