/* SPDX-License-Identifier: BSD-3-Clause */
/* The absolute bound for a PSNR. Each try asks the codec for the squared error that encoding would leave, so the bound
 * that is taken is known to reach the aim. Errors spread evenly over +-bound have an RMSE of bound / sqrt(3), so a change
 * of the bound by 1 dB changes the PSNR by 1 dB: two or three tries do. Where data are not like that (few values that
 * differ, a bound near the range) the tries become a bisection of the logarithm of the bound. */
#include <math.h>

#include "base/decibel.h"
#include "base/exact_math.h"
#include "base/try.h"
#include "call/resolve.h"
#include "codec/resolve/resolve_math.h"

enum { TRIES = 14, TRIES_SECANT = 7 };
static const double aim_db = 0.08;                  /* above what is asked for */
static const double enough_db = 0.2;                /* stop when not more above it */
static const double margin_db = 1e-6;               /* for rounding in the sums */
static const double leap_db = 40;                   /* most that one step changes the bound */
static const double uniform_db = 4.771212547196624; /* 20 log10(sqrt(3)) */

typedef struct search {
    const floe_resolver *r;
    floe_codec_params codec;
    double asked_db, width;
    uint64_t nvalues;
} search;

/* The squared error of the whole field: a sum over its chunks, in order. */
static floe_status squared_error(search *s, double *sum)
{
    uint64_t nchunks = floe_grid_nchunks(s->r->supply->header);
    for (uint64_t i = 0; i < nchunks; i++) {
        floe_field view;
        double part = 0;
        floe_arena scratch = s->r->scratch;
        FLOE_TRY(floe_supply_chunk(s->r->supply, i, &view, s->r->err));
        const floe_chunk_encode call = {.cpu = s->r->cpu, .params = &s->codec, .chunk = &view, .scratch = &scratch};
        FLOE_TRY(floe_codec_of(s->codec.codec)->squared_error(&call, &part, s->r->err));
        FLOE_TRY(floe_progress_add(s->r->progress, 0, s->r->err));
        *sum += part;
    }
    return FLOE_OK;
}

/* How far PSNR lies above what was asked for, in dB; infinite when there is no error at all. */
static floe_status try_bound(search *s, double bound, double *excess_db)
{
    double sum = 0;
    s->codec.bound = bound;
    FLOE_TRY(s->r->squared_error ? s->r->squared_error(s->r->user, &s->codec, &sum) : squared_error(s, &sum));
    double rmse = sqrt(sum / (double)s->nvalues);
    if (rmse == 0)
        *excess_db = INFINITY;
    else
        *excess_db = isfinite(rmse) ? floe_decibel_of_amplitude(s->width / rmse) - s->asked_db - margin_db : -leap_db;
    return FLOE_OK;
}

static double clamp(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }

/* Bounds tried so far, in dB: the largest that reached, the smallest that did not. */
typedef struct bracket {
    double reached, missed;               /* -inf, inf: none */
    double reached_excess, missed_excess; /* >= 0, < 0 */
} bracket;

static double next_try(const bracket *b, int tries)
{
    double gap = b->missed - b->reached;
    if (isinf(gap)) {
        bool low = isinf(b->missed);
        double step = low ? b->reached_excess - aim_db : b->missed_excess - aim_db;
        return low ? b->reached + clamp(step, 0.1, leap_db) : b->missed + clamp(step, -leap_db, -0.1);
    }
    double fall = b->reached_excess - b->missed_excess;
    double at = (b->reached_excess - aim_db) / fall;
    return b->reached + gap * (tries < TRIES_SECANT && isfinite(fall) ? clamp(at, 0.05, 0.95) : 0.5);
}

static floe_status search_run(search *s, bracket *b)
{
    double width_db = floe_decibel_of_amplitude(s->width);
    double at = clamp(width_db - s->asked_db + uniform_db - aim_db, -1e300, width_db);
    for (int tries = 0; tries < TRIES && b->missed - b->reached > 0.01; tries++) {
        double excess;
        FLOE_TRY(try_bound(s, floe_amplitude_of_decibel(at), &excess));
        if (excess >= 0) {
            b->reached = at;
            b->reached_excess = excess;
            if (excess <= enough_db || at >= width_db) /* nobody wants a bound beyond the range */
                return FLOE_OK;
        } else {
            b->missed = at;
            b->missed_excess = excess;
        }
        at = clamp(next_try(b, tries), -1e300, width_db);
    }
    return FLOE_OK;
}

double floe_psnr_guess(const floe_header *h, const floe_range *range)
{
    const double width = floe_resolve_varies(range) ? floe_exact_range_width(range->min, range->max) : 0;
    return (isinf(width) ? 0x1p1023 : width) * floe_amplitude_of_decibel(uniform_db - h->bound);
}

floe_status floe_psnr_resolve(const floe_resolver *r, const floe_header *header, const floe_range *range,
                              double *abs_bound)
{
    search s = {r, floe_resolve_codec(header), header->bound, floe_exact_range_width(range->min, range->max),
                range->nfinite};
    bracket b = {-INFINITY, INFINITY, 0, 0};
    s.codec.mode = FLOE_BOUND_ABS;
    /* An RMSE is never above the bound, so this one is safe without a try. It is also the result where squares leave
     * the range of doubles. */
    double width = isinf(s.width) ? 0x1p1023 : s.width;
    double safe = width * floe_amplitude_of_decibel(-header->bound) * (1 - 1e-9);
    bool squares_fit = s.width < 1e140 && safe > 1e-140;
    if (squares_fit)
        FLOE_TRY(search_run(&s, &b));
    *abs_bound = isinf(b.reached) ? safe : floe_amplitude_of_decibel(b.reached);
    return FLOE_OK;
}
