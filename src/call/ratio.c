/* SPDX-License-Identifier: BSD-3-Clause */
/* The absolute bound for a ratio. Ratios rise with the bound, so both are searched in dB, where they are nearly in proportion: on a
 * sample until it has the ratio, then on the whole, whose size says how far off the sample was. */
#include <math.h>

#include "base/decibel.h"
#include "base/exact_math.h"
#include "base/try.h"
#include "call/choice.h"
#include "codec/resolve/resolve_math.h"
#include "field/dtype_math.h"

enum { TRIES_SAMPLE = 12, TRIES_WHOLE = 8 };
static const double enough_db = 0.08;           /* 0.9 % off */
static const double bit_db = 6.020599913279624; /* of a bound, for a bit of each value */
static const double span_db = 320;              /* so far below the range there are no bounds finer than lossless */
static const double usual_slope = 0.5;          /* of ratio over bound */
static const double leap_db = 30;               /* most that one step changes the bound */
static const double apart_db = 0.5; /* bounds that are nearer say nothing of the slope: ratios are not smooth */

typedef struct search {
    const floe_ratio *on;
    double wanted, least_db, most_db; /* of the bound */
    double at, slope;                 /* in: where to begin; out: the nearest */
    double enough_db, off_db;         /* off: out */
} search;

static double clamp(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }

static double bound_at(const search *s, double at) { return at > s->least_db ? floe_amplitude_of_decibel(at) : 0; }

/* How far the ratio lies above the wanted one, in dB. */
static floe_status excess_at(const search *s, double at, double *excess)
{
    uint64_t nbytes = 1;
    FLOE_TRY(s->on->attempt(s->on->user, bound_at(s, at), &nbytes));
    *excess = floe_decibel_of_amplitude((double)s->on->raw_nbytes / (double)nbytes / s->wanted);
    return FLOE_OK;
}

/* Where the excess was last below and above 0; NaN: nowhere yet. */
typedef struct bracket {
    double lo, hi, lo_excess, hi_excess;
} bracket;

static double next_try(const search *s, const bracket *b, double at, double excess, int tries)
{
    if (b->hi > b->lo) {
        const double part = -b->lo_excess / (b->hi_excess - b->lo_excess);
        return b->lo + (b->hi - b->lo) * (tries % 4 ? clamp(part, 0.05, 0.95) : 0.5);
    }
    return clamp(at + clamp(-excess / s->slope * 1.1, -leap_db, leap_db), s->least_db, s->most_db);
}

static floe_status search_run(search *s, int tries)
{
    bracket b = {NAN, NAN, 0, 0};
    double at = s->at, last = NAN, last_excess = 0, excess;
    s->off_db = INFINITY;
    for (; tries > 0; tries--) {
        FLOE_TRY(excess_at(s, at, &excess));
        if (fabs(excess) < s->off_db) {
            s->off_db = fabs(excess);
            s->at = at;
        }
        const bool ends = excess < 0 ? at >= s->most_db : at <= s->least_db;
        if (s->off_db <= s->enough_db || ends || fabs(b.hi - b.lo) < s->enough_db / 8)
            return FLOE_OK;
        if (excess < 0) {
            b.lo = at;
            b.lo_excess = excess;
        } else {
            b.hi = at;
            b.hi_excess = excess;
        }
        if (fabs(at - last) > apart_db)
            s->slope = clamp((excess - last_excess) / (at - last), 0.1, 3);
        last = at;
        last_excess = excess;
        at = next_try(s, &b, at, excess, tries);
    }
    return FLOE_OK;
}

typedef struct sample_trial {
    const floe_sample *sample;
    floe_codec_params params;
} sample_trial;

static floe_status sample_attempt(void *user, double abs_bound, uint64_t *nbytes)
{
    sample_trial *t = user;
    floe_header h = t->sample->header;
    h.abs_bound = abs_bound;
    t->params = floe_resolve_codec(&h);
    return floe_sample_code(t->sample, &t->params, nbytes);
}

floe_status floe_ratio_resolve(const floe_ratio *whole, const floe_sample *sample, const floe_range *range,
                               double *abs_bound, double *off_db)
{
    const floe_header *h = &sample->header;
    sample_trial trial = {.sample = sample};
    const floe_ratio part = {sample_attempt, &trial, floe_sample_raw_nbytes(sample)};
    const double width = floe_exact_range_width(range->min, range->max),
                 bits = 8 * (double)floe_dtype_size(h->dtype) / h->bound;
    search s = {.on = &part, .wanted = h->bound, .slope = usual_slope, .enough_db = enough_db};
    s.most_db = floe_decibel_of_amplitude(isinf(width) ? 0x1p1023 : width);
    s.least_db = floe_dtype_is_integer(h->dtype) ? clamp(-1, -1, s.most_db) : s.most_db - span_db;
    s.at = clamp(s.most_db - bits * bit_db, s.least_db, s.most_db);
    FLOE_TRY(search_run(&s, TRIES_SAMPLE));
    s.on = whole;
    if (whole)
        FLOE_TRY(search_run(&s, TRIES_WHOLE));
    *abs_bound = bound_at(&s, s.at);
    if (off_db)
        *off_db = s.off_db;
    return FLOE_OK;
}
