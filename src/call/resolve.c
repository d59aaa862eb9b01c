/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/resolve.h"

#include <math.h>
#include <string.h>

#include "base/try.h"
#include "call/arg_check.h"
#include "call/text.h"
#include "codec/resolve/resolve_math.h"
#include "field/dtype_math.h"
#include "field/fill_math.h"

floe_status floe_place_check(floe_dtype dtype, floe_place place, floe_error *err)
{
    FLOE_CHECK(err, place == FLOE_HOST || !floe_dtype_is_integer(dtype), FLOE_ERR_UNSUPPORTED,
               "values of %s are the CPU's work: bring them to host memory", floe_dtype_name(dtype));
    return FLOE_OK;
}

/* What makes no sense for integers. */
static floe_status integers_check(const floe_field *layout, const floe_params *params, floe_error *err)
{
    const floe_dtype dtype = layout->dtype;
    if (!floe_codec_chosen(params->codec)->integers_on_gpu)
        FLOE_TRY(floe_place_check(dtype, layout->place, err));
    FLOE_TRY(floe_fill_check(dtype, params, err));
    if (!floe_dtype_is_integer(dtype))
        return FLOE_OK;
    FLOE_CHECK(err, params->mode != FLOE_BOUND_PWREL, FLOE_ERR_UNSUPPORTED,
               "pwrel is not for values of %s: abs, rel, psnr and lossless work", floe_dtype_name(dtype));
    return FLOE_OK;
}

floe_status floe_header_init(floe_header *header, const floe_field *layout, const floe_params *params, floe_error *err)
{
    FLOE_TRY(integers_check(layout, params, err));
    const floe_codec_ops *codec = floe_codec_chosen(params->codec);
    if (codec->check)
        FLOE_TRY(codec->check(layout, params, err));
    *header = (floe_header){.version = FLOE_FORMAT_VERSION,
                            .dtype = layout->dtype,
                            .rank = layout->rank,
                            .codec = codec->id,
                            .preset = params->preset,
                            .mode = params->mode,
                            .bound = params->mode == FLOE_BOUND_LOSSLESS ? 0 : params->bound,
                            .value_min = NAN,
                            .value_max = NAN};
    memcpy(header->shape, layout->shape, layout->rank * sizeof *header->shape);
    return floe_chunking_choose(layout, params, header->chunk, err);
}

floe_status floe_header_of_layout(const floe_field *field, const floe_params *params, floe_params *checked,
                                  floe_header *header, floe_error *err)
{
    uint64_t nelems;
    FLOE_CHECK(err, floe_field_nelems(field, &nelems) == FLOE_OK, FLOE_ERR_ARGUMENT,
               "the field's element type or shape is not valid");
    FLOE_TRY(floe_params_check(params, field->dtype, checked, err));
    return floe_header_init(header, field, checked, err);
}

/* ---- range and fill ---------------------------------------------------------------------------------------------- */

static floe_status scan(const floe_resolver *r, bool has_fill, uint64_t fill_bits, floe_range *range)
{
    uint64_t nchunks = floe_grid_nchunks(r->chunks->header);
    floe_range_init(range);
    for (uint64_t i = 0, n; i < nchunks; i += n) {
        floe_field view;
        FLOE_TRY(floe_chunk_source_slab(r->chunks, i, &view, &n, r->err));
        floe_range_scan(r->cpu, &view, has_fill, fill_bits, range);
        FLOE_TRY(floe_progress_add(r->progress, 0, r->err));
    }
    return FLOE_OK;
}

/* Looks for a fill value in data whose range without one is known; range becomes that of the rest. */
static floe_status fill_detect(const floe_resolver *r, floe_header *h, floe_range *range)
{
    uint64_t candidates[2];
    const uint32_t ncandidates = floe_fill_candidates(range, h->dtype, candidates);
    for (uint32_t i = 0; i < ncandidates && !h->has_fill; i++) {
        floe_range rest;
        FLOE_TRY(scan(r, true, candidates[i], &rest));
        if (floe_fill_holds(&rest, floe_value_of(h->dtype, candidates[i]))) {
            h->has_fill = true;
            h->fill_bits = candidates[i];
            *range = rest;
        }
    }
    return FLOE_OK;
}

floe_status floe_resolve_values(const floe_resolver *r, floe_header *h, floe_range *range)
{
    h->has_fill = floe_fill_named(h->dtype, r->params, &h->fill_bits);
    bool needs_range = floe_resolve_needs_range(h->mode);
    bool repeats = floe_chunk_source_repeats(r->chunks);
    bool detects = r->params->fill == FLOE_FILL_AUTO && repeats;
    floe_range_init(range);
    if (!needs_range && !detects)
        return FLOE_OK;
    FLOE_CHECK(r->err, repeats, FLOE_ERR_UNSUPPORTED,
               "%s needs the range of all values, so the source is read more than once, and this one cannot seek: "
               "put it into a file first, or use abs, pwrel or lossless",
               h->mode == FLOE_BOUND_REL    ? "rel"
               : h->mode == FLOE_BOUND_PSNR ? "psnr"
                                            : "ratio");
    FLOE_TRY(scan(r, h->has_fill, h->fill_bits, range));
    if (detects)
        FLOE_TRY(fill_detect(r, h, range));
    h->value_min = range->min;
    h->value_max = range->max;
    return FLOE_OK;
}

/* ---- the bound --------------------------------------------------------------------------------------------------- */

floe_status floe_resolve_bound(const floe_resolver *r, floe_header *h, floe_range *range)
{
    floe_resolve_round_inward(h->dtype, range);
    h->abs_bound = floe_resolve_abs_bound(h->mode, h->bound, range);
    return h->mode == FLOE_BOUND_PSNR && floe_resolve_varies(range) ? floe_psnr_resolve(r, h, range) : FLOE_OK;
}
