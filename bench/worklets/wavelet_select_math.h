/* SPDX-License-Identifier: BSD-3-Clause */
/* The k-th largest magnitude, digit by digit from the highest one, as worklets. */
#ifndef FLOE_BENCH_WAVELET_SELECT_MATH_H
#define FLOE_BENCH_WAVELET_SELECT_MATH_H

#include "prim/prim_math.h"

enum {
    FLOE_SELECT_BITS = 11, /* of a digit: its counts fit shared memory and a core's L1 */
    FLOE_SELECT_DIGITS = 1 << FLOE_SELECT_BITS,
    FLOE_SELECT_ROUNDS = 6, /* of f64; f32 has 3 */
    FLOE_SELECT_CORE = 1 << 18,
    FLOE_SELECT_BLOCKS = 1024, /* of a GPU, at most */
    FLOE_SELECT_KEPT = 16      /* of so many values one is kept, at most */
};

/* What earlier rounds found: the digits so far, and which of the values that begin so is wanted, from 1 on. */
typedef struct floe_select_state {
    uint64_t prefix, k;
} floe_select_state;

typedef struct floe_select {
    bool wide;
    void *values;
    uint64_t n;
    uint32_t before, shift; /* lowest bit of the digits so far, and of this one */
    uint32_t *counts;       /* of each digit */
    uint64_t *sums;         /* their inclusive scan */
    floe_select_state *from, *to;
    uint64_t first, *found; /* k; where the result is put, in the round that `ends` */
    bool ends;
    /* On a GPU: those that the second round counts are kept, by each block as far as it has room, and later rounds count them alone. */
    uint32_t round, *nkept; /* of each block */
    void *kept;
    uint64_t room;
} floe_select;

FLOE_HD uint64_t floe_select_magnitude(const floe_select *j, uint64_t i)
{
    const uint64_t bits = floe_prim_get(j->wide, j->values, i);
    return bits & ~((uint64_t)1 << (j->wide ? 63 : 31));
}

/* Before the first round: digit d has not been counted. */
FLOE_HD void floe_select_start(const floe_select *j, uint64_t d)
{
    j->counts[d] = 0;
    if (d == 0)
        *j->to = (floe_select_state){0, j->first};
}

/* The digit of value i, or FLOE_SELECT_DIGITS where its digits before are others than the wanted one's. */
FLOE_HD uint32_t floe_select_digit_of(const floe_select *j, uint64_t prefix, uint64_t i)
{
    const uint64_t m = floe_select_magnitude(j, i);
    if (m >> j->before != prefix)
        return FLOE_SELECT_DIGITS;
    return (uint32_t)(m >> j->shift) & (((uint32_t)1 << (j->before - j->shift)) - 1);
}

/* The digit of the wanted value decides. Counts are 0 again for the next round. */
FLOE_HD void floe_select_digit(const floe_select *j, uint64_t d)
{
    const uint64_t above = j->sums[FLOE_SELECT_DIGITS - 1] - j->sums[d], k = j->from->k, count = j->counts[d];
    j->counts[d] = 0;
    if (above < k && k <= above + count) {
        j->to->prefix = j->from->prefix << (j->before - j->shift) | d;
        j->to->k = k - above;
        if (j->ends)
            *j->found = j->to->prefix;
    }
}

/* What is smaller becomes 0. */
FLOE_HD void floe_select_keep(const floe_select *j, uint64_t i)
{
    if (floe_select_magnitude(j, i) < *j->found)
        floe_prim_set(j->wide, j->values, i, 0);
}

/* A box of words at the front of an array, to the same place in another one; by rows, planes, and boxes of these. */
typedef struct floe_select_box {
    const floe_any32 *from;
    floe_any32 *to;
    uint32_t fine[4], shape[4];
} floe_select_box;

FLOE_HD void floe_select_copy(const floe_select_box *j, uint64_t index)
{
    uint32_t i = (uint32_t)index, at = 0, stride = 1;
    for (int a = 3; a >= 0; a--) {
        at += i % j->fine[a] * stride;
        i /= j->fine[a];
        stride *= j->shape[a];
    }
    j->to[at] = j->from[at];
}

#endif
