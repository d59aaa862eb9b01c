/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block is widened to double first, specials set aside. Then sums and extremes are taken in four rounds over the block,
 * each with no more running values than there are vector registers.
 */
#include "assess/reduction/reduction_block.h"

#include "base/real.h"

#if FLOE_AVX2
#include <immintrin.h>
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */
#endif

#if FLOE_REAL_BITS == 32
#define BITS_OF   floe_bits_f32
#define CLASS_OF  floe_value_class_f32
#define INFINITE  0x7f800000u
#define MAGNITUDE 0x7fffffffu
#else
#define BITS_OF   floe_bits_f64
#define CLASS_OF  floe_value_class_f64
#define INFINITE  0x7ff0000000000000u
#define MAGNITUDE 0x7fffffffffffffffu
#endif

/* ---- which pairs count ------------------------------------------------------------------------------------------- */

static bool any_special(const floe_real *x, const floe_real *y, uint32_t n, const floe_reduction_rule *rule)
{
    const floe_uint fill = (floe_uint)rule->fill_bits;
    floe_uint special = 0;
    if (rule->has_fill)
        for (uint32_t i = 0; i < n; i++)
            special |= (floe_uint)(BITS_OF(x[i]) == fill) | (floe_uint)(BITS_OF(y[i]) == fill);
    for (uint32_t i = 0; i < n; i++)
        special |=
            (floe_uint)((BITS_OF(x[i]) & MAGNITUDE) >= INFINITE) | (floe_uint)((BITS_OF(y[i]) & MAGNITUDE) >= INFINITE);
    return special != 0;
}

/* Counts a special value; nan: the counter of NaN, those of the other specials follow. */
static void special_count(floe_value_class c, uint64_t *nan)
{
    nan[0] += c == FLOE_VALUE_NAN;
    nan[1] += c == FLOE_VALUE_INF || c == FLOE_VALUE_MINUS_INF;
    nan[2] += c == FLOE_VALUE_FILL;
}

static void sift(const floe_real *x, const floe_real *y, uint32_t n, const floe_reduction_rule *rule, uint64_t *count,
                 floe_reduction_block *block)
{
    const floe_uint fill = (floe_uint)rule->fill_bits;
    block->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const floe_value_class cx = CLASS_OF(BITS_OF(x[i]), rule->has_fill, fill);
        const floe_value_class cy = CLASS_OF(BITS_OF(y[i]), rule->has_fill, fill);
        special_count(cx, &count[FLOE_COUNT_X_NAN]);
        special_count(cy, &count[FLOE_COUNT_Y_NAN]);
        const floe_pair_class c = floe_pair_class_of(cx, cy);
        count[FLOE_COUNT_SAME] += c == FLOE_PAIR_SAME;
        count[FLOE_COUNT_MISMATCH] += c == FLOE_PAIR_DIFFERS;
        block->x[block->n] = (double)x[i];
        block->y[block->n] = (double)y[i];
        block->n += c == FLOE_PAIR_COUNTS;
    }
}

static void widen(const floe_real *x, const floe_real *y, uint32_t n, floe_reduction_block *block)
{
    for (uint32_t i = 0; i < n; i++)
        block->x[i] = (double)x[i], block->y[i] = (double)y[i];
    block->n = n;
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

enum { LANES = FLOE_REDUCTION_LANES };
typedef double vec __attribute__((vector_size(8 * FLOE_REDUCTION_LANES)));
typedef int64_t ivec __attribute__((vector_size(8 * FLOE_REDUCTION_LANES)));

FLOE_INLINE vec load(const double *p)
{
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
FLOE_INLINE void store(double *p, vec v) { memcpy(p, &v, sizeof v); }
FLOE_INLINE vec all(double v) { return (vec){v, v, v, v}; }
FLOE_INLINE vec where(ivec mask, vec a, vec b) { return (vec)(((ivec)a & mask) | ((ivec)b & ~mask)); }
FLOE_INLINE vec magnitude(vec v) { return (vec)((ivec)v & INT64_MAX); }
FLOE_INLINE vec larger(vec a, vec b)
{
#if FLOE_AVX2
    return (vec)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
    return where((ivec)(a > b), a, b);
#endif
}

/* Up to LANES pairs: mask shows which of them are there. */
typedef struct quad {
    vec x, y;
    ivec mask;
    bool whole; /* all of them; a constant wherever it is looked at */
} quad;

FLOE_INLINE vec only(const quad *q, vec v) { return q->whole ? v : (vec)((ivec)v & q->mask); }
FLOE_INLINE vec topped(const quad *q, vec top, vec v)
{
    return larger(q->whole ? v : where(q->mask, v, all(-__builtin_inf())), top);
}

/* ---- four rounds ------------------------------------------------------------------------------------------------- */

typedef struct state {
    vec sum[4], top[3], pivot[2];
    ivec count[2];
} state;

FLOE_INLINE void errors_add(const quad *q, state *s)
{
    const vec e = only(q, q->y - q->x), a = magnitude(e);
    s->sum[0] += e;
    s->sum[1] += a;
    s->sum[2] += e * e;
    s->top[0] = topped(q, s->top[0], e);
    s->top[1] = topped(q, s->top[1], -e);
    s->top[2] = topped(q, s->top[2], -a);
}

FLOE_INLINE void values_add(const quad *q, vec v, vec pivot, state *s)
{
    const vec d = only(q, v - pivot), d2 = d * d;
    s->sum[0] += d;
    s->sum[1] += d2;
    s->sum[2] += d2 * d;
    s->sum[3] += d2 * d2;
    s->top[0] = topped(q, s->top[0], v);
    s->top[1] = topped(q, s->top[1], -v);
    s->count[0] -= (ivec)(v == all(0)) & q->mask;
}
FLOE_INLINE void originals_add(const quad *q, state *s) { values_add(q, q->x, s->pivot[0], s); }
FLOE_INLINE void decoded_add(const quad *q, state *s) { values_add(q, q->y, s->pivot[1], s); }

FLOE_INLINE void products_add(const quad *q, state *s)
{
    const vec e = only(q, q->y - q->x), dx = only(q, q->x - s->pivot[0]), dy = only(q, q->y - s->pivot[1]);
    const ivec zero = (ivec)(q->x == all(0)), divides = q->mask & ~zero;
    const vec ratio = (vec)((ivec)(magnitude(e) / magnitude(q->x)) & divides);
    s->sum[0] += dx * e;
    s->sum[1] += dx * dy;
    s->sum[2] += ratio;
    s->top[0] = larger(ratio, s->top[0]);
    s->top[1] = larger(where(divides, -ratio, all(-__builtin_inf())), s->top[1]);
    s->count[0] -= divides;
    s->count[1] -= zero & q->mask & (ivec)(e != all(0));
}

/* add is a constant wherever this is inlined. */
FLOE_INLINE void round_run(const floe_reduction_block *b, void (*add)(const quad *, state *), state *s)
{
    uint32_t i = 0;
    for (; i + LANES <= b->n; i += LANES) {
        const quad q = {load(b->x + i), load(b->y + i), {-1, -1, -1, -1}, true};
        add(&q, s);
    }
    if (i < b->n) {
        const int64_t left = (int64_t)(b->n - i);
        const ivec number = {0, 1, 2, 3}, there = (ivec)(number < (ivec){left, left, left, left});
        const quad q = {load(b->x + i), load(b->y + i), there, false};
        add(&q, s);
    }
}

/* Where a round's running values lie in the lanes. */
typedef struct round_places {
    uint32_t nsums, sum, ntops, top, ncounts, count[2];
} round_places;

FLOE_INLINE void round_take(const floe_reduction_block *b, void (*add)(const quad *, state *), const double *pivot,
                            round_places at, floe_reduction_lanes *lanes)
{
    state s = {.pivot = {all(pivot[0]), all(pivot[1])}};
    for (uint32_t k = 0; k < at.nsums; k++)
        s.sum[k] = load(lanes->sum[at.sum + k]);
    for (uint32_t k = 0; k < at.ntops; k++)
        s.top[k] = load(lanes->top[at.top + k]);
    round_run(b, add, &s);
    for (uint32_t k = 0; k < at.nsums; k++)
        store(lanes->sum[at.sum + k], s.sum[k]);
    for (uint32_t k = 0; k < at.ntops; k++)
        store(lanes->top[at.top + k], s.top[k]);
    for (uint32_t k = 0; k < at.ncounts; k++)
        lanes->count[at.count[k]] += (uint64_t)(s.count[k][0] + s.count[k][1] + s.count[k][2] + s.count[k][3]);
}

static void rounds(floe_reduction_block *b, const double *pivot, floe_reduction_lanes *lanes)
{
    for (uint32_t i = b->n; i % LANES; i++)
        b->x[i] = b->y[i] = 1; /* masked, but no trap for the division */
    round_take(b, errors_add, pivot, (round_places){3, FLOE_SUM_E, 3, FLOE_TOP_E, 0, {0, 0}}, lanes);
    round_take(b, originals_add, pivot, (round_places){4, FLOE_SUM_X, 2, FLOE_TOP_X, 1, {FLOE_COUNT_X_ZERO, 0}}, lanes);
    round_take(b, decoded_add, pivot, (round_places){4, FLOE_SUM_Y, 2, FLOE_TOP_Y, 1, {FLOE_COUNT_Y_ZERO, 0}}, lanes);
    round_take(b, products_add, pivot,
               (round_places){3, FLOE_SUM_XE, 2, FLOE_TOP_PW, 2, {FLOE_COUNT_PW, FLOE_COUNT_PW_UNDEFINED}}, lanes);
}

void FLOE_V(floe_reduction_add)(const void *x, const void *y, uint32_t n, const floe_reduction_rule *rule,
                                floe_reduction_lanes *lanes, floe_reduction_block *block)
{
    if (any_special(x, y, n, rule))
        sift(x, y, n, rule, lanes->count, block);
    else
        widen(x, y, n, block);
    lanes->count[FLOE_COUNT_PAIRS] += block->n;
    rounds(block, rule->pivot, lanes);
}

/* ---- bins -------------------------------------------------------------------------------------------------------- */

/* floe_bins_index less the frame's first bin, of LANES values: rounded to the nearest whole number by 1.5 * 2^52, then down. What
 * is infinite becomes 0 (floe_bins_frame_of). */
FLOE_INLINE void bins_store(vec any, vec per_width, vec first, uint64_t *bin)
{
    const vec v = (vec)((ivec)any & (ivec)(any - any == all(0)));
    const vec magic = all(0x1.8p52), widths = v * per_width, nearest = (widths + magic) - magic;
    const ivec above = (ivec)(nearest > widths), tiny = (ivec)(widths == all(0)) & (ivec)(v < all(0));
    const vec down = nearest - (vec)((ivec)all(1) & (above | tiny));
    const ivec bits = (ivec)((down - first) + all(0x1p52)) & 0xffffffff;
    memcpy(bin, &bits, sizeof bits);
}

FLOE_INLINE uint32_t ratio_of(double e, double x, uint32_t nbits, uint32_t none)
{
#if FLOE_REAL_BITS == 32
    const uint32_t bin = floe_log_bins_f32((float)e / (float)x, nbits);
#else
    const uint32_t bin = floe_log_bins_f64(e / x, nbits);
#endif
    return x > 0 ? bin : none;
}

/* Arrays have room for whole vectors, and what lies behind the block's n is not looked at. */
void FLOE_V(floe_reduction_mark_errors)(const floe_reduction_block *b, const floe_bins_frame *frame,
                                        uint32_t ratio_nbits, floe_reduction_marks *marks)
{
    const vec per_width = all(floe_bins_power(-frame->exponent)), first = all((double)frame->first);
    const uint32_t none = floe_log_bins_count(ratio_nbits);
    for (uint32_t i = 0; i < b->n; i += LANES)
        bins_store(load(b->y + i) - load(b->x + i), per_width, first, marks->error + i);
    for (uint32_t i = 0; i < b->n; i++)
        marks->ratio[i] = ratio_of(__builtin_fabs(b->y[i] - b->x[i]), __builtin_fabs(b->x[i]), ratio_nbits, none);
}

void FLOE_V(floe_reduction_mark_values)(const floe_reduction_block *b, const floe_bins_frame *frame,
                                        floe_reduction_marks *marks)
{
    const vec per_width = all(floe_bins_power(-frame->exponent)), first = all((double)frame->first);
    for (uint32_t i = 0; i < b->n; i += LANES) {
        bins_store(load(b->x + i), per_width, first, marks->x + i);
        bins_store(load(b->y + i), per_width, first, marks->y + i);
    }
}
