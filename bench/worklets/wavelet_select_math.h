/* SPDX-License-Identifier: BSD-3-Clause */
/* The k-th largest magnitude, digit by digit from the highest one, as worklets. */
#ifndef FLOE_BENCH_WAVELET_SELECT_MATH_H
#define FLOE_BENCH_WAVELET_SELECT_MATH_H

#include "prim/prim_math.h"

enum {
    FLOE_SELECT_BITS = 16, /* of a digit */
    FLOE_SELECT_DIGITS = 1 << FLOE_SELECT_BITS,
    FLOE_SELECT_ROUNDS = 4, /* of f64; f32 has 2 */
    FLOE_SELECT_LANE = 32,  /* values of an index on a GPU */
    FLOE_SELECT_CORE = 1 << 18
};

/* What earlier rounds found: the digits so far, and which of the values that begin so is wanted, from 1 on. */
typedef struct floe_select_state {
    uint64_t prefix, k;
} floe_select_state;

typedef struct floe_select {
    bool wide;
    void *values;
    uint64_t n, nindexes;
    uint32_t before, shift; /* lowest bit of the digits so far, and of this one */
    uint32_t *counts;       /* of each digit */
    uint64_t *sums;         /* their inclusive scan */
    floe_select_state *from, *to;
    uint64_t first, *found; /* k; where the result is put, in the round that `ends` */
    bool ends;
} floe_select;

FLOE_HD uint64_t floe_select_magnitude(const floe_select *j, uint64_t i)
{
    const uint64_t bits = floe_prim_get(j->wide, j->values, i);
    return bits & ~((uint64_t)1 << (j->wide ? 63 : 31));
}

FLOE_HD void floe_select_add(uint32_t *to, uint32_t count)
{
#ifdef __CUDA_ARCH__
    atomicAdd(to, count);
#else
    __atomic_fetch_add(to, count, __ATOMIC_RELAXED);
#endif
}

FLOE_HD void floe_select_start(const floe_select *j, uint64_t i)
{
    j->to[i].prefix = 0;
    j->to[i].k = j->first;
}

FLOE_HD void floe_select_clear(const floe_select *j, uint64_t i) { j->counts[i] = 0; }

/* Values i, i + nindexes, ...; digits that follow each other and are equal are counted at once. */
FLOE_HD void floe_select_count_lane(const floe_select *j, uint64_t index)
{
    const uint64_t prefix = j->from->prefix;
    uint32_t last = 0, count = 0;
    for (uint64_t i = index; i < j->n; i += j->nindexes) {
        const uint64_t m = floe_select_magnitude(j, i);
        const uint32_t digit = (uint32_t)(m >> j->shift) & (((uint32_t)1 << (j->before - j->shift)) - 1);
        if (m >> j->before != prefix)
            continue;
        if (digit != last && count > 0) {
            floe_select_add(&j->counts[last], count);
            count = 0;
        }
        last = digit;
        count++;
    }
    if (count > 0)
        floe_select_add(&j->counts[last], count);
}

/* Neighbours. */
FLOE_HD void floe_select_count_core(const floe_select *j, uint64_t index)
{
    const uint64_t prefix = j->from->prefix, end = floe_min64((index + 1) * FLOE_SELECT_CORE, j->n);
    const uint32_t mask = ((uint32_t)1 << (j->before - j->shift)) - 1;
    uint32_t counts[FLOE_SELECT_DIGITS];
    memset(counts, 0, sizeof counts);
    for (uint64_t i = index * FLOE_SELECT_CORE; i < end; i++) {
        const uint64_t m = floe_select_magnitude(j, i);
        if (m >> j->before == prefix)
            counts[(uint32_t)(m >> j->shift) & mask]++;
    }
    for (uint32_t d = 0; d <= mask; d++)
        if (counts[d])
            floe_select_add(&j->counts[d], counts[d]);
}

/* The digit of the wanted value says so. */
FLOE_HD void floe_select_digit(const floe_select *j, uint64_t d)
{
    const uint64_t above = j->sums[FLOE_SELECT_DIGITS - 1] - j->sums[d], k = j->from->k;
    if (above < k && k <= above + j->counts[d]) {
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
