/* SPDX-License-Identifier: BSD-3-Clause */
/* The absolute bound for a PSNR. Each try requests from the codec the squared error that encoding would leave, so the bound
 * that is taken is known to reach the aim. Errors spread evenly over +-bound have an RMSE of bound / sqrt(3), so a change
 * of the bound by 1 dB changes the PSNR by 1 dB: two or three tries do. */
#include <math.h>

#include "base/decibel.h"
#include "base/exact_math.h"
#include "base/try.h"
#include "call/resolve.h"
#include "call/search.h"
#include "codec/resolve/resolve_math.h"

enum { TRIES = 18 };
static const double aim_db = 0.1;                   /* above what is requested, and as much is near enough */
static const double margin_db = 1e-6;               /* for rounding in the sums */
static const double exact_db = -1000;               /* where there is no error */
static const double far_db = 40;                    /* where it cannot be computed */
static const double uniform_db = 4.771212547196624; /* 20 log10(sqrt(3)) */

typedef struct search {
    const floe_resolver *r;
    floe_codec_params codec;
    double requested_db, width;
    uint64_t nvalues;
} search;

enum { AT_ONCE = 64 /* chunks that are handed out to lanes */ };

typedef struct part {
    floe_field view;
    double sum;
    floe_error err;
} part;

typedef struct parts {
    const search *s;
    part of[AT_ONCE];
} parts;

static void part_sum(void *arg, uint64_t i, const floe_cpu *cpu, floe_arena *scratch)
{
    parts *p = arg;
    part *of = &p->of[i];
    const floe_codec_params *codec = &p->s->codec;
    const floe_chunk_encode call = {.cpu = cpu, .params = codec, .chunk = &of->view, .scratch = scratch};
    of->err = (floe_error){.status = FLOE_OK};
    of->err.status = floe_codec_of(codec->codec)->squared_error(&call, &of->sum, &of->err);
}

/* The squared error of the whole field: a sum over its chunks, in order. */
static floe_status squared_error(search *s, double *sum)
{
    const floe_resolver *r = s->r;
    const uint64_t nchunks = floe_grid_nchunks(r->chunks->header);
    const uint64_t most = r->lanes->n > 1 ? AT_ONCE : 1;
    parts p = {.s = s};
    for (uint64_t first = 0, n; first < nchunks; first += n) {
        n = floe_chunk_source_together(r->chunks, first, most);
        for (uint64_t i = 0; i < n; i++)
            FLOE_TRY(floe_chunk_source_view(r->chunks, first + i, &p.of[i].view, r->err));
        floe_lanes_run(r->lanes, n, part_sum, &p);
        for (uint64_t i = 0; i < n; i++) {
            if (p.of[i].err.status != FLOE_OK)
                *r->err = p.of[i].err;
            FLOE_TRY(p.of[i].err.status);
            FLOE_TRY(floe_progress_add(r->progress, 0, r->err));
            *sum += p.of[i].sum;
        }
    }
    return FLOE_OK;
}

/* How far the PSNR lies below what is aimed at. */
static floe_status excess_at(void *user, double abs_bound, double tuner_bound, double *excess_db)
{
    search *s = user;
    double sum = 0;
    s->codec.bound = abs_bound;
    s->codec.tuner_bound = tuner_bound;
    FLOE_TRY(s->r->squared_error ? s->r->squared_error(s->r->user, &s->codec, &sum) : squared_error(s, &sum));
    const double rmse = sqrt(sum / (double)s->nvalues);
    if (rmse == 0)
        *excess_db = exact_db;
    else
        *excess_db =
            isfinite(rmse) ? s->requested_db + margin_db + aim_db - floe_decibel_of_amplitude(s->width / rmse) : far_db;
    return FLOE_OK;
}

floe_status floe_psnr_resolve(const floe_resolver *r, floe_header *h, const floe_range *range)
{
    search s = {r, floe_resolve_codec(h), h->bound, floe_exact_range_width(range->min, range->max), range->nfinite};
    s.codec.mode = FLOE_BOUND_ABS;
    /* An RMSE is never above the bound, so this one is safe without a try. It is also the result where squares leave
     * the range of doubles. */
    const double width = isinf(s.width) ? 0x1p1023 : s.width;
    h->abs_bound = width * floe_amplitude_of_decibel(-h->bound) * (1 - 1e-9);
    if (!(s.width < 1e140 && h->abs_bound > 1e-140))
        return FLOE_OK;
    floe_bound_search of = {.excess = excess_at,
                            .user = &s,
                            .least_db = -1e300,
                            .most_db = floe_decibel_of_amplitude(width), /* nobody wants a bound beyond the range */
                            .never_above = true,
                            .tunes = floe_codec_of(h->codec)->tunes,
                            .near_db = aim_db,
                            .tries = TRIES,
                            .slope = 1};
    of.at_db = floe_search_clamp(of.most_db - h->bound + uniform_db - aim_db, of.least_db, of.most_db);
    FLOE_TRY(floe_bound_search_run(&of));
    if (isfinite(of.off_db)) {
        h->abs_bound = of.abs_bound;
        h->tuner_bound = of.tuner_bound;
    }
    return FLOE_OK;
}
