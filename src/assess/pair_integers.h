/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fields of whole numbers are assessed as copies in double, which all passes then read. These are exact for i32, and for i64 up
 * to 2^53; beyond, values are rounded to the nearest double. Of the integers themselves are the entropy of their bytes, all that
 * the reduction finds of errors but their histograms, values outside the bound, the range, and what is fill.
 */
#ifndef FLOE_ASSESS_PAIR_INTEGERS_H
#define FLOE_ASSESS_PAIR_INTEGERS_H

#include <floe/assess.h>

#include "assess/pair.h"
#include "assess/reduction/reduction.h"
#include "backend/backend.h"
#include "base/arena.h"

typedef struct floe_integers_part floe_integers_part; /* of a stretch of the fields */

typedef struct floe_integers {
    const floe_cpu *cpu;
    floe_pair given; /* in host memory */
    uint64_t nelems, nparts;
    bool has_fill;
    int64_t fill; /* set before it is read */
    /* taken */
    double *values[2];
    floe_integers_part *parts;
} floe_integers;

/* given: of i32 or i64, in host memory. */
void floe_integers_init(floe_integers *n, const floe_cpu *cpu, const floe_pair *given);
/* 8 bytes for each element of each side, and some more. */
void floe_integers_take(floe_integers *n, floe_arena *arena);
/* The pair of doubles, once taken; in a plan without data, but for what shows that there is a decoded side. */
floe_pair floe_integers_pair(const floe_integers *n);
/* Fills it in. No value but fill looks like fill there. */
void floe_integers_read(floe_integers *n, bool has_fill);

/* What the reduction found of errors, and of the original's range, where doubles were not exact: found again from integers. */
void floe_integers_errors(floe_integers *n, floe_reduction *reduction, floe_reduction_result *result);

/* The numbers of the report that are the integers' own: of bytes where requested. */
void floe_integers_finish(floe_integers *n, bool bytes, floe_assess_report *report);

#endif
