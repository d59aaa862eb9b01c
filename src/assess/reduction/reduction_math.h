/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a stretch of pairs adds up to, how stretches are joined, and how fields are cut into them.
 *
 * The cut depends on the number of pairs only, and parts are joined in a fixed tree, so sums are the same whoever worked
 * out the parts, and in whatever order. Values are summed as their distance (dx, dy) from a pivot near the median or the mean
 * of their side, so that squares of a field far from 0 keep its variation.
 */
#ifndef FLOE_ASSESS_REDUCTION_MATH_H
#define FLOE_ASSESS_REDUCTION_MATH_H

#include <stdbool.h>

#include "base/hd.h"

/* ---- pieces ------------------------------------------------------------------------------------------------------- */

enum {
    FLOE_REDUCTION_PIECE = 1 << 16,     /* pairs, in C order; a piece of a larger field is larger: */
    FLOE_REDUCTION_MAX_PIECES = 1 << 16 /* their parts lie in memory together */
};

FLOE_HD uint64_t floe_reduction_piece_nelems(uint64_t nelems)
{
    uint64_t n = FLOE_REDUCTION_PIECE;
    while (floe_ceil_div(nelems, n) > FLOE_REDUCTION_MAX_PIECES)
        n *= 2;
    return n;
}

/* ---- parts -------------------------------------------------------------------------------------------------------- */

/* Sums over the pairs that count. */
typedef enum floe_reduction_sum {
    FLOE_SUM_X,  /* dx, and its powers */
    FLOE_SUM_X2, /* */
    FLOE_SUM_X3,
    FLOE_SUM_X4,
    FLOE_SUM_Y,
    FLOE_SUM_Y2,
    FLOE_SUM_Y3,
    FLOE_SUM_Y4,
    FLOE_SUM_E, /* e, its magnitude, its square */
    FLOE_SUM_E_ABS,
    FLOE_SUM_E2,
    FLOE_SUM_XE, /* dx * e */
    FLOE_SUM_XY, /* dx * dy */
    FLOE_SUM_PW, /* |e| / |x| where x is not 0 */
    FLOE_SUMS
} floe_reduction_sum;

/* The largest of each over the pairs that count; -infinity for none. The least of v is kept as the largest of -v. */
typedef enum floe_reduction_top {
    FLOE_TOP_X,
    FLOE_TOP_X_LOW,
    FLOE_TOP_Y,
    FLOE_TOP_Y_LOW,
    FLOE_TOP_E,
    FLOE_TOP_E_LOW,
    FLOE_TOP_E_ABS_LOW,
    FLOE_TOP_PW,
    FLOE_TOP_PW_LOW,
    FLOE_TOPS
} floe_reduction_top;

typedef enum floe_reduction_count {
    FLOE_COUNT_PAIRS,        /* that count */
    FLOE_COUNT_SAME,         /* special alike */
    FLOE_COUNT_MISMATCH,     /* special, and not alike */
    FLOE_COUNT_PW,           /* pairs that count, with x not 0 */
    FLOE_COUNT_PW_UNDEFINED, /* pairs that count, with x = 0 and e not */
    FLOE_COUNT_X_ZERO,
    FLOE_COUNT_X_NAN,
    FLOE_COUNT_X_INF,
    FLOE_COUNT_X_FILL,
    FLOE_COUNT_Y_ZERO,
    FLOE_COUNT_Y_NAN,
    FLOE_COUNT_Y_INF,
    FLOE_COUNT_Y_FILL,
    FLOE_COUNTS
} floe_reduction_count;

typedef struct floe_reduction_part {
    double sum[FLOE_SUMS], top[FLOE_TOPS];
    uint64_t count[FLOE_COUNTS];
} floe_reduction_part;

FLOE_HD void floe_reduction_part_init(floe_reduction_part *p)
{
    for (int i = 0; i < FLOE_SUMS; i++)
        p->sum[i] = 0;
    for (int i = 0; i < FLOE_TOPS; i++)
        p->top[i] = -floe_f64_of(0x7ff0000000000000u);
    for (int i = 0; i < FLOE_COUNTS; i++)
        p->count[i] = 0;
}

FLOE_HD void floe_reduction_part_join(floe_reduction_part *into, const floe_reduction_part *part)
{
    for (int i = 0; i < FLOE_SUMS; i++)
        into->sum[i] += part->sum[i];
    for (int i = 0; i < FLOE_TOPS; i++)
        into->top[i] = part->top[i] > into->top[i] ? part->top[i] : into->top[i];
    for (int i = 0; i < FLOE_COUNTS; i++)
        into->count[i] += part->count[i];
}

/* What a GPU finds of a piece, so that a search may pass it by. The largest |e| and |e| / |x| (where the job requests them), or
 * a little more; negative without any pair. */
typedef struct floe_reduction_look {
    double worst, ratio;
    double inexact;                 /* the most that is a little more than an |e|: where it is less, worst is exact */
    uint32_t nundefined, nmismatch; /* as FLOE_COUNT_PW_UNDEFINED, FLOE_COUNT_MISMATCH */
} floe_reduction_look;

/* ---- sums of y from others ------------------------------------------------------------------------------------------ */

/* Fills in FLOE_SUM_Y, Y2 and XY, as dy is dx + e less the distance of the pivots. False: too little would be left of what is
 * added up to be worth the name. */
FLOE_HD bool floe_reduction_part_complete(floe_reduction_part *p, const double *pivot)
{
    const double n = (double)p->count[FLOE_COUNT_PAIRS], apart = pivot[1] - pivot[0], *s = p->sum;
    const double x = s[FLOE_SUM_X], x2 = s[FLOE_SUM_X2], e = s[FLOE_SUM_E], e2 = s[FLOE_SUM_E2], xe = s[FLOE_SUM_XE];
    const double both = xe - apart * x, most = x2 + e2 + n * apart * apart, y2 = most + 2 * (both - apart * e);
    p->sum[FLOE_SUM_Y] = x + e - n * apart;
    p->sum[FLOE_SUM_Y2] = y2;
    p->sum[FLOE_SUM_XY] = x2 + both;
    return 64 * y2 >= most; /* not of NaN */
}

/* ---- places ------------------------------------------------------------------------------------------------------- */

enum { FLOE_REDUCTION_SAMPLES = 255 };

/* Of sample i < min(SAMPLES, nelems): spread evenly over the field. */
FLOE_HD uint64_t floe_reduction_sample_place(uint64_t nelems, uint32_t i)
{
    const uint64_t share = nelems / FLOE_REDUCTION_SAMPLES, rest = nelems % FLOE_REDUCTION_SAMPLES;
    return nelems <= FLOE_REDUCTION_SAMPLES ? i : i * share + floe_min64(i, rest) + share / 2;
}

/* The |e| that is not outside a bound, or of the range of x if so. */
FLOE_HD double floe_reduction_allowed(bool of_range, double bound, const floe_reduction_part *total)
{
    return of_range ? bound * (total->top[FLOE_TOP_X] + total->top[FLOE_TOP_X_LOW]) : bound;
}

/* The largest |e| of a part; -infinity for none. */
FLOE_HD double floe_reduction_worst(const floe_reduction_part *p)
{
    return p->top[FLOE_TOP_E] > p->top[FLOE_TOP_E_LOW] ? p->top[FLOE_TOP_E] : p->top[FLOE_TOP_E_LOW];
}

#endif
