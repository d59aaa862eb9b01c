/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/choice.h"

#include <math.h>
#include <string.h>

#include "base/try.h"
#include "call/chunking.h"
#include "codec/resolve/resolve_math.h"
#include "field/dtype_math.h"

/* Whether AUTO tries a codec on a sample; in preset fast it is the first one of the table. */
static bool tries(floe_preset preset, const floe_codec_ops *codec)
{
    return preset == FLOE_PRESET_BEST ? codec->sampled : preset == FLOE_PRESET_BALANCED && codec->estimate;
}

/* Other codecs store reals as they are where nothing may be lost; integers they code. */
static bool is_settled(floe_dtype dtype, floe_bound_mode mode)
{
    return mode == FLOE_BOUND_LOSSLESS && !floe_dtype_is_integer(dtype);
}

enum { LEAST = 4096 /* values of a field that is worth a choice in preset balanced */ };

/* Adds a codec that can have the field. */
static void add(floe_choice *c, const floe_codec_ops *codec, const floe_field *layout, const floe_params *params)
{
    floe_params p = *params;
    floe_header header;
    floe_sizing sizing;
    p.codec = codec->id;
    if (!tries(params->preset, codec) ||
        !(floe_codec_modes((int)p.codec, (int)layout->dtype) & FLOE_MODE_BIT(p.mode)) ||
        floe_header_init(&header, layout, &p, NULL) != FLOE_OK ||
        floe_sizing_of(NULL, &header, &sizing, NULL) != FLOE_OK)
        return;
    c->codecs[c->n++] = codec->id;
    c->one_chunk = c->one_chunk && memcmp(header.chunk, layout->shape, layout->rank * sizeof *header.chunk) == 0;
}

floe_choice floe_choice_of(const floe_field *layout, const floe_params *params)
{
    const floe_codec_ops *codec = floe_codec_chosen(params->codec);
    floe_choice c = {1, true, {codec->id}};
    const uint64_t nelems = floe_extent_nelems(layout->rank, layout->shape);
    if (params->codec != FLOE_CODEC_AUTO || is_settled(layout->dtype, params->mode) ||
        nelems < (params->preset == FLOE_PRESET_BEST ? 1 : LEAST))
        return c;
    for (uint32_t i = 0; c.n < FLOE_CHOICE_MOST && (codec = floe_codec_at(i)) != NULL; i++)
        if (codec->id != c.codecs[0])
            add(&c, codec, layout, params);
    return c;
}

floe_status floe_choice_sample(const floe_choice *choice, const floe_cpu *cpu, const floe_header *header,
                               const floe_field *here, floe_sample *sample, floe_error *err)
{
    *sample = floe_sample_of(cpu, header, here, choice->one_chunk, err);
    for (uint32_t i = 0; i < choice->n; i++)
        FLOE_TRY(floe_sample_add(sample, choice->codecs[i]));
    return FLOE_OK;
}

/* ---- a codec ----------------------------------------------------------------------------------------------------- */

/* What is least is best: first how far a ratio is missed, in dB, then bytes, or bits of a value, or the bound that gives the ratio. */
typedef struct cost {
    double off_db, least;
} cost;
static const double near_db = 0.25; /* 3 %: no miss */
static const double few_bits = 0.2; /* of a value */
/* What lorenzo's tables of values spare of lossless integers, of which a box shows little. */
static const double tables_gain = 1.05;
enum { LARGE = 4000000 /* values of a field */ };

/* Another codec is near whose sample takes up to so many times the bytes, or bits of a value, of the best: the field may take fewer by it.
 * The fewer there are, the less a sample shows. What estimates is to be fast: of large fields few bits alone are worth a second coding. */
static double near_of(const floe_sample *s, double least)
{
    if (s->estimates)
        return least < few_bits ? 3 : floe_extent_nelems(s->header.rank, s->header.shape) < LARGE ? 1.5 : 1;
    return least < 1024 ? 1e6 : least < 8192 ? 2 : least < 65536 ? 1.5 : 1.25;
}

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
    if (sample->estimates) {
        FLOE_TRY(floe_sample_estimate(sample, params, best, &c->least));
        if (params->mode == FLOE_BOUND_LOSSLESS && params->codec != floe_codec_at(0)->id)
            c->least *= tables_gain;
        return FLOE_OK;
    }
    if (sample->header.mode == FLOE_BOUND_PSNR)
        FLOE_TRY(psnr_params(sample, range, params));
    FLOE_TRY(floe_sample_code(sample, params, &nbytes));
    c->least = (double)floe_record_nbytes(nbytes);
    return FLOE_OK;
}

/* The best by this sample; other codecs whose costs are not near leave the choice. */
static floe_status choose(floe_choice *choice, const floe_sample *sample, const floe_range *range,
                          const floe_codec_params *params, floe_codec *codec)
{
    cost costs[FLOE_CHOICE_MOST], best = {INFINITY, INFINITY};
    uint32_t left = 0;
    for (uint32_t i = 0; i < choice->n; i++) {
        floe_codec_params p = *params;
        p.codec = choice->codecs[i];
        FLOE_TRY(cost_of(sample, range, &p, best.least, &costs[i]));
        if (costs[i].off_db < best.off_db || (costs[i].off_db == best.off_db && costs[i].least < best.least)) {
            best = costs[i];
            *codec = p.codec;
        }
    }
    for (uint32_t i = 0; i < choice->n; i++)
        if (costs[i].least <= best.least * near_of(sample, best.least))
            choice->codecs[left++] = choice->codecs[i];
    choice->n = left;
    return FLOE_OK;
}

static floe_codec_params params_of(const floe_sample *sample, const floe_range *range)
{
    floe_header h = sample->header;
    h.abs_bound = floe_resolve_abs_bound(h.mode, h.bound, range);
    return floe_resolve_codec(&h);
}

floe_status floe_choice_by_sample(floe_choice *choice, floe_sample *sample, const floe_range *range, floe_codec *codec)
{
    const floe_header h = sample->header;
    floe_codec_params params = params_of(sample, range);
    const bool searches = h.mode == FLOE_BOUND_RATIO || h.mode == FLOE_BOUND_PSNR;
    *codec = choice->codecs[0];
    if (searches ? !floe_resolve_varies(range) : is_settled(h.dtype, params.mode)) {
        choice->n = 1;
        return FLOE_OK;
    }
    if (sample->is_few) { /* which no sample decides; the last codec mostly takes the fewest bytes */
        *codec = choice->codecs[choice->n - 1];
        return FLOE_OK;
    }
    if (h.mode == FLOE_BOUND_PSNR && sample->estimates) /* which are for one bound: that of the first codec */
        FLOE_TRY(psnr_params(sample, range, &params));
    if (sample->estimates || !searches)
        FLOE_TRY(floe_sample_look(sample, &params));
    FLOE_TRY(choose(choice, sample, range, &params, codec));
    if (!sample->widens)
        *choice = (floe_choice){1, choice->one_chunk, {*codec}};
    return FLOE_OK;
}

floe_status floe_choice_by_whole(floe_choice *choice, floe_sample *sample, const floe_range *range, floe_codec *codec)
{
    const floe_codec_params params = params_of(sample, range);
    FLOE_TRY(floe_sample_widen(sample));
    return choose(choice, sample, range, &params, codec);
}

floe_status floe_choice_make(const floe_choice *choice, floe_sample *sample, const floe_range *range, floe_codec *codec)
{
    floe_choice left = *choice;
    FLOE_TRY(floe_choice_by_sample(&left, sample, range, codec));
    return left.n > 1 ? floe_choice_by_whole(&left, sample, range, codec) : FLOE_OK;
}
