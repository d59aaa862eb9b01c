/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in the field, looked for where the parts of the pieces show that they are. */
#ifndef FLOE_ASSESS_REDUCTION_SEARCH_H
#define FLOE_ASSESS_REDUCTION_SEARCH_H

#include "assess/pair_math.h"
#include "assess/reduction/reduction.h"

typedef struct floe_found {
    uint64_t at;
    double x, y;
    floe_pair_class class;
} floe_found;

/* A list of the largest so far, largest first; of equal ones the first stays ahead. */
typedef struct floe_ranking {
    uint32_t n, most;
    struct {
        double size;
        floe_found pair; /* of a ranking of pieces: at is the piece */
    } entry[FLOE_ASSESS_MAX_WORST];
} floe_ranking;

void floe_ranking_add(floe_ranking *ranking, double size, const floe_found *pair);

floe_spot floe_reduction_place(const floe_reduction *r, const floe_found *pair);

/* The worst errors, those outside the bound, special values that differ: fills places and noutside of result. */
void floe_reduction_search(floe_reduction *r, floe_reduction_result *result);

#endif
