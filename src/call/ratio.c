/* SPDX-License-Identifier: BSD-3-Clause */
/* The absolute bound for a ratio. Ratios rise with the bound, so both are searched in dB, where they are nearly in proportion: on a
 * sample until it has the ratio, then on the whole, whose size shows how far off the sample was. */
#include <math.h>

#include "base/decibel.h"
#include "base/exact_math.h"
#include "base/try.h"
#include "call/choice.h"
#include "call/search.h"
#include "codec/resolve/resolve_math.h"
#include "field/dtype_math.h"

enum { TRIES_SAMPLE = 20, TRIES_WHOLE = 16 };
static const double near_db = 0.08;             /* 0.9 % off */
static const double sample_db = 0.5;            /* as near to the whole a sample does not come */
static const double bit_db = 6.020599913279624; /* of a bound, for a bit of each value */
static const double usual_slope = 0.5;          /* of ratio over bound */

typedef struct search {
    const floe_ratio *on;
    double wanted;
} search;

static floe_status excess_at(void *user, double abs_bound, double tuner_bound, double *excess_db)
{
    const search *s = user;
    uint64_t nbytes = 1;
    FLOE_TRY(s->on->attempt(s->on->user, abs_bound, tuner_bound, &nbytes));
    *excess_db = floe_decibel_of_amplitude((double)s->on->raw_nbytes / (double)nbytes / s->wanted);
    return FLOE_OK;
}

typedef struct sample_trial {
    const floe_sample *sample;
    floe_codec_params params;
} sample_trial;

static floe_status sample_attempt(void *user, double abs_bound, double tuner_bound, uint64_t *nbytes)
{
    sample_trial *t = user;
    floe_header h = t->sample->header;
    h.abs_bound = abs_bound;
    h.tuner_bound = tuner_bound;
    t->params = floe_resolve_codec(&h);
    return floe_sample_code(t->sample, &t->params, nbytes);
}

floe_status floe_ratio_resolve(const floe_ratio *whole, const floe_sample *sample, const floe_range *range,
                               floe_header *h, double *off_db)
{
    sample_trial trial = {.sample = sample};
    const floe_ratio part = {sample_attempt, &trial, floe_sample_raw_nbytes(sample)};
    const double width = floe_exact_range_width(range->min, range->max),
                 bits = 8 * (double)floe_dtype_size(h->dtype) / h->bound;
    search s = {&part, h->bound};
    floe_bound_search of = {.excess = excess_at,
                            .user = &s,
                            .most_db = floe_decibel_of_amplitude(isinf(width) ? 0x1p1023 : width),
                            .least_is_none = true,
                            .tunes = floe_codec_of(h->codec)->tunes,
                            .near_db = whole ? sample_db : near_db,
                            .tries = TRIES_SAMPLE,
                            .slope = usual_slope};
    const double least = h->dtype == FLOE_F32 ? 0x1p-149 : h->dtype == FLOE_F64 ? 0x1p-1074 : 0.5; /* of the type */
    of.least_db = fmin(floe_decibel_of_amplitude(least), of.most_db);
    of.at_db = floe_search_clamp(of.most_db - bits * bit_db, of.least_db, of.most_db);
    FLOE_TRY(floe_bound_search_run(&of));
    s.on = whole;
    of.near_db = near_db;
    of.tries = TRIES_WHOLE;
    if (whole)
        FLOE_TRY(floe_bound_search_run(&of));
    h->abs_bound = of.abs_bound;
    h->tuner_bound = of.tuner_bound;
    if (off_db)
        *off_db = of.off_db;
    return FLOE_OK;
}
