/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/choice.h"

#include <math.h>

#include "base/try.h"
#include "call/chunking.h"
#include "codec/resolve/resolve_math.h"

/* Whether AUTO tries a codec on a sample; in preset fast it is the first one of the table. */
static bool tries(floe_preset preset, const floe_codec_ops *codec)
{
    return preset == FLOE_PRESET_BEST ? codec->sampled : preset == FLOE_PRESET_BALANCED && codec->estimate;
}

enum { LEAST = 4096 /* values of a field that is worth a choice in preset balanced */ };

static bool can(const floe_codec_ops *codec, const floe_field *layout, const floe_params *params)
{
    floe_params p = *params;
    floe_header header;
    floe_sizing sizing;
    p.codec = codec->id;
    return tries(params->preset, codec) && floe_codec_modes((int)p.codec) & FLOE_MODE_BIT(p.mode) &&
           floe_header_init(&header, layout, &p, NULL) == FLOE_OK &&
           floe_sizing_of(NULL, &header, &sizing, NULL) == FLOE_OK;
}

floe_choice floe_choice_of(const floe_field *layout, const floe_params *params)
{
    const floe_codec_ops *codec = floe_codec_chosen(params->codec);
    floe_choice c = {1, {codec->id}};
    const uint64_t nelems = floe_extent_nelems(layout->rank, layout->shape);
    if (params->codec != FLOE_CODEC_AUTO || params->mode == FLOE_BOUND_LOSSLESS ||
        nelems < (params->preset == FLOE_PRESET_BEST ? 1 : LEAST))
        return c;
    for (uint32_t i = 0; c.n < FLOE_CHOICE_MOST && (codec = floe_codec_at(i)) != NULL; i++)
        if (codec->id != c.codecs[0] && can(codec, layout, params))
            c.codecs[c.n++] = codec->id;
    return c;
}

/* ---- a codec ----------------------------------------------------------------------------------------------------- */

/* What is least is best: first how far a ratio is missed, in dB, then bytes, or bits of a value, or the bound that gives the ratio. */
typedef struct cost {
    double off_db, least;
} cost;
static const double near_db = 0.25;     /* 3 %: no miss */
static const double few_nbytes = 65536; /* of a sample: they say little of what fine steps take */
/* A sample of at least so many bytes by one codec, of which every other one takes so many times more: a larger one shows the same. */
static const double clear_nbytes = 1024, clear = 1.5;
static const double near = 1.25; /* of which another one takes no more: the field may take fewer by that */

static floe_status squared_error(void *sample, const floe_codec_params *params, double *sum)
{
    return floe_sample_squared_error(sample, params, sum);
}

/* The bound at which this codec reaches a PSNR, by what is coded of the sample: codecs differ in it by up to 10 dB. */
static floe_status psnr_params(const floe_sample *sample, const floe_range *range, floe_codec_params *params)
{
    floe_sample s = *sample;
    floe_header h = s.header;
    floe_range part = *range;
    const uint64_t nelems = floe_extent_nelems(h.rank, h.shape), n = s.nboxes * floe_extent_nelems(h.rank, s.box);
    const floe_resolver resolver = {.cpu = s.cpu, .err = s.err, .squared_error = squared_error, .user = &s};
    h.codec = params->codec;
    part.nfinite = (uint64_t)((double)range->nfinite / (double)nelems * (double)n) + 1;
    FLOE_TRY(floe_psnr_resolve(&resolver, &h, &part));
    *params = floe_resolve_codec(&h);
    return FLOE_OK;
}

static floe_status cost_of(const floe_sample *sample, const floe_range *range, floe_codec_params *params, double best,
                           cost *c)
{
    uint64_t nbytes;
    *c = (cost){0, 0};
    if (sample->header.mode == FLOE_BOUND_RATIO) {
        floe_sample s = *sample;
        s.header.codec = params->codec;
        FLOE_TRY(floe_ratio_resolve(NULL, &s, range, &s.header, &c->off_db));
        c->least = s.header.abs_bound;
        c->off_db = c->off_db > near_db ? c->off_db : 0;
        return FLOE_OK;
    }
    if (sample->estimates)
        return floe_sample_estimate(sample, params, best, &c->least);
    if (sample->header.mode == FLOE_BOUND_PSNR)
        FLOE_TRY(psnr_params(sample, range, params));
    FLOE_TRY(floe_sample_code(sample, params, &nbytes));
    c->least = (double)nbytes;
    return FLOE_OK;
}

/* The best by this sample, and its cost. second: the least that the others cost. */
static floe_status choose(const floe_choice *choice, const floe_sample *sample, const floe_range *range,
                          const floe_codec_params *params, floe_codec *codec, cost *best, double *second)
{
    *best = (cost){INFINITY, INFINITY};
    *second = INFINITY;
    for (uint32_t i = 0; i < choice->n; i++) {
        floe_codec_params p = *params;
        cost now;
        p.codec = choice->codecs[i];
        FLOE_TRY(cost_of(sample, range, &p, best->least, &now));
        if (now.off_db < best->off_db || (now.off_db == best->off_db && now.least < best->least)) {
            *second = best->least;
            *best = now;
            *codec = p.codec;
        } else if (now.least < *second) {
            *second = now.least;
        }
    }
    return FLOE_OK;
}

floe_status floe_choice_make(const floe_choice *choice, floe_sample *sample, const floe_range *range, floe_codec *codec)
{
    floe_header h = sample->header;
    cost best;
    double second;
    *codec = choice->codecs[0];
    h.abs_bound = floe_resolve_abs_bound(h.mode, h.bound, range);
    floe_codec_params params = floe_resolve_codec(&h);
    const bool searches = h.mode == FLOE_BOUND_RATIO || h.mode == FLOE_BOUND_PSNR;
    if (searches ? !floe_resolve_varies(range) : params.mode == FLOE_BOUND_LOSSLESS)
        return FLOE_OK;
    if (h.mode == FLOE_BOUND_PSNR && sample->estimates) /* which are for one bound: that of the first codec */
        FLOE_TRY(psnr_params(sample, range, &params));
    if (sample->estimates || !searches)
        FLOE_TRY(floe_sample_look(sample, &params));
    FLOE_TRY(choose(choice, sample, range, &params, codec, &best, &second));
    const bool is_clear = best.least >= clear_nbytes && second > best.least * clear;
    const bool is_near = second < best.least * near;
    if (sample->widens && (is_near || (best.least < few_nbytes && !is_clear))) {
        FLOE_TRY(floe_sample_widen(sample));
        FLOE_TRY(choose(choice, sample, range, &params, codec, &best, &second));
    }
    return FLOE_OK;
}
