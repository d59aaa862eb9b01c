/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps by the slope until the wanted value lies between two bounds, then a secant between them, and a bisection where that is no
 * good. A codec that tunes itself by the bound leaps where it chooses otherwise, and what is wanted may lie in the leap: so once two
 * bounds are near each other, the tuner keeps to one of them, while the bound moves on; and to the other, where that leaps, too.
 */
#include "call/search.h"

#include <math.h>

#include "base/decibel.h"
#include "base/try.h"

static const double leap_db = 40;      /* most that one step changes the bound; the next one, twice as much */
static const double apart_db = 1;      /* between points beside each other leaps hide the slope */
static const double keep_db = 1.5;     /* of bounds that are nearer the tuner keeps to one */
static const double leaps_db = 0.1;    /* between bounds that are so near there is a leap, */
static const double nothing_db = 1e-4; /* or nothing at all */

typedef struct point {
    double at, excess, weight; /* weight: of the excess, for the secant */
} point;

typedef struct state {
    floe_bound_search *s;
    point lo, hi; /* the last ones below and above; NaN: none */
    point other;  /* which the tuner may keep to next */
    double tuner_bound, leap;
} state;

static double bound_at(const floe_bound_search *s, double at)
{
    return s->least_is_none && !(at > s->least_db) ? 0 : floe_amplitude_of_decibel(at);
}

static point tuner_keep(state *t, point to)
{
    t->lo = t->hi = (point){NAN, NAN, 1};
    *(to.excess < 0 ? &t->lo : &t->hi) = to;
    t->tuner_bound = bound_at(t->s, to.at);
    return to;
}

/* First the better end: it takes fewer bytes at nearly the same bound, or, where nothing above may be taken, it is what has been
 * taken. False where there is nothing more to try. */
static bool narrow(state *t, point *from)
{
    const double gap = fabs(t->hi.at - t->lo.at);
    if (!t->s->tunes)
        return !(gap < nothing_db);
    if (t->tuner_bound == 0 && gap < keep_db) {
        const point better = t->s->never_above ? t->lo : t->hi;
        t->other = t->s->never_above ? t->hi : t->lo;
        *from = tuner_keep(t, better);
    } else if (t->tuner_bound > 0 && gap < leaps_db) {
        if (isnan(t->other.at))
            return false;
        *from = tuner_keep(t, t->other);
        t->other.at = NAN;
    }
    return true;
}

/* An end that stays counts for half as much from then on, so that the other one does not creep. */
static void bracket_set(state *t, point p, point last)
{
    point *end = p.excess < 0 ? &t->lo : &t->hi, *other = p.excess < 0 ? &t->hi : &t->lo;
    if ((p.excess < 0) == (last.excess < 0))
        other->weight /= 2;
    *end = p;
    end->weight = 1;
}

static void slope_set(floe_bound_search *s, point p, point last)
{
    const double slope = (p.excess - last.excess) / (p.at - last.at);
    s->slope = isnan(slope) ? s->slope : floe_search_clamp(slope, 0.25, 3);
}

static double next_try(state *t, point from)
{
    const floe_bound_search *s = t->s;
    const double below = -t->lo.excess * t->lo.weight, above = t->hi.excess * t->hi.weight, gap = t->hi.at - t->lo.at;
    if (gap > 0)
        return t->lo.at +
               gap * (below + above < leap_db ? floe_search_clamp(below / (below + above), 0.05, 0.95) : 0.5);
    const double step = floe_search_clamp(-from.excess / s->slope * 1.05, -t->leap, t->leap);
    t->leap = fabs(step) < t->leap ? leap_db : 2 * t->leap; /* a few values may make the range, far above all others */
    return floe_search_clamp(from.at + step, s->least_db, s->most_db);
}

/* Whether it is near enough. */
static bool take(const state *t, point p)
{
    floe_bound_search *s = t->s;
    const double off = fabs(p.excess);
    if (off < s->off_db && !(s->never_above && p.excess > s->near_db)) {
        s->off_db = off;
        s->at_db = p.at;
        s->abs_bound = bound_at(s, p.at);
        s->tuner_bound = t->tuner_bound;
    }
    return off <= s->near_db;
}

floe_status floe_bound_search_run(floe_bound_search *s)
{
    const point none = {NAN, NAN, 1};
    state t = {s, none, none, none, 0, leap_db};
    point p = {s->at_db, 0, 1}, last = none;
    s->off_db = INFINITY;
    for (int tries = s->tries; tries > 0; tries--) {
        FLOE_TRY(s->excess(s->user, bound_at(s, p.at), t.tuner_bound, &p.excess));
        const bool ends = p.excess < 0 ? p.at >= s->most_db : p.at <= s->least_db;
        if (take(&t, p) || ends)
            return FLOE_OK;
        bracket_set(&t, p, last);
        if (fabs(p.at - last.at) > apart_db || isnan(t.lo.at + t.hi.at))
            slope_set(s, p, last);
        if (!narrow(&t, &p))
            return FLOE_OK;
        last = p;
        p.at = next_try(&t, p);
    }
    return FLOE_OK;
}
