/* SPDX-License-Identifier: BSD-3-Clause */
/* The bound at which something that rises with it, such as a ratio, has a wanted value. Both are in dB, where they are nearly in
 * proportion. */
#ifndef FLOE_CALL_SEARCH_H
#define FLOE_CALL_SEARCH_H

#include "codec/codec.h"

typedef struct floe_bound_search {
    /* How far it lies above the wanted value, with such an absolute bound and tuner_bound (codec.h). */
    floe_status (*excess)(void *user, double abs_bound, double tuner_bound, double *excess_db);
    void *user;
    double least_db, most_db;        /* of the bound */
    bool least_is_none, never_above; /* the least one stands for 0; nothing above what is near is taken */
    bool tunes;                      /* tuner_bound changes something */
    double near_db;
    int tries;
    double slope;                  /* in, out: of the excess over the bound, about */
    double at_db;                  /* in: where to begin; out: the nearest */
    double abs_bound, tuner_bound; /* out: of the nearest */
    double off_db;                 /* out; infinite: nothing was taken */
} floe_bound_search;

floe_status floe_bound_search_run(floe_bound_search *search);

static inline double floe_search_clamp(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }

#endif
