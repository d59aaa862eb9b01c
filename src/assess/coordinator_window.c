/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "assess/coordinator_pass.h"
#include "assess/metric_table.h"
#include "assess/window/ssim_cuda.h"
#include "assess/window/ssim_tree.h"
#include "base/try.h"

static floe_ssim_options options_of(const floe_assessment *a, uint32_t part, double min, double max)
{
    if (part == FLOE_PART_SSIM)
        return floe_ssim_options_of(&a->pair, a->options.window, a->options.step, min, max);
    return floe_ssim_options_image(part == FLOE_PART_GAUSSIAN ? FLOE_SSIM_WEIGHTS_GAUSSIAN : FLOE_SSIM_WEIGHTS_UNIFORM,
                                   min, max);
}

floe_status floe_assessment_window_check(const floe_assessment *a, uint32_t part, floe_error *err)
{
    const floe_ssim_options options = options_of(a, part, 0, 0);
    FLOE_CHECK(err, part == FLOE_PART_SSIM || a->pair.rank >= 2, FLOE_ERR_ARGUMENT,
               "SSIM of images: the field has a single axis");
    return floe_ssim_check(&a->pair, &options, err);
}

/* Of the parts that are requested. to: where their results go in a report; NULL: nowhere. Returns how many. */
static uint32_t options_list(const floe_assessment *a, double min, double max, floe_assess_report *report,
                             floe_ssim_options *options, floe_similarity **to)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < FLOE_SSIM_AT_ONCE; i++) {
        const uint32_t part = (uint32_t)FLOE_PART_SSIM << i;
        if (!(a->parts[FLOE_PASS_WINDOW] & part))
            continue;
        if (report)
            to[n] = i == 0 ? &report->ssim : i == 1 ? &report->ssim_image : &report->ssim_gaussian;
        options[n++] = options_of(a, part, min, max);
    }
    return n;
}

uint64_t floe_assessment_window_nbytes(const floe_assessment *a)
{
    floe_ssim_options options[FLOE_SSIM_AT_ONCE];
    const uint32_t n = options_list(a, 0, 0, NULL, options, NULL);
    uint64_t most = 0;
    if (floe_assessment_on_device(a))
        return floe_ssim_device_nbytes(&a->pair, options, n);
    for (uint32_t k = 0; k < n; k++)
        most = floe_max64(most, floe_ssim_scratch_nbytes(a->cpu, &a->pair, &options[k]));
    return most;
}

static floe_similarity similarity_of(const floe_ssim_result *r)
{
    return (floe_similarity){r->mean, r->min, r->mean_loss, r->max_loss, r->nwindows, r->nleft_out};
}

floe_status floe_assessment_window_run(floe_assessment *a, floe_assess_report *report, floe_error *err)
{
    floe_ssim_options options[FLOE_SSIM_AT_ONCE];
    floe_ssim_result r[FLOE_SSIM_AT_ONCE];
    floe_similarity *to[FLOE_SSIM_AT_ONCE];
    const uint32_t n = options_list(a, report->original.min, report->original.max, report, options, to);
    for (uint32_t k = 0; k < n; k++) {
        options[k].low = fmin(report->original.min, report->decoded.min);
        options[k].high = fmax(report->original.max, report->decoded.max);
    }
    if (floe_assessment_on_device(a))
        FLOE_TRY(floe_ssim_assess_device(a->cuda, &a->pair, options, n, a->scratch, r, err));
    for (uint32_t k = 0; k < n && !floe_assessment_on_device(a); k++)
        FLOE_TRY(floe_ssim_assess(a->cpu, &a->pair, &options[k], a->scratch, &r[k], err));
    for (uint32_t k = 0; k < n; k++)
        *to[k] = similarity_of(&r[k]);
    return FLOE_OK;
}

bool floe_assessment_window_is_quick(const floe_assessment *a)
{
    floe_ssim_options options[FLOE_SSIM_AT_ONCE];
    const uint32_t n = options_list(a, 0, 0, NULL, options, NULL);
    bool quick = floe_assessment_on_device(a) && a->pair.decoded && a->pair.dtype == FLOE_F32;
    for (uint32_t k = 0; k < n; k++)
        quick &= floe_ssim_tree_knows(&options[k]);
    return quick;
}

floe_status floe_assessment_window_alone(floe_assessment *a, floe_assess_report *report, bool *known, floe_error *err)
{
    const double min = report->original.min, max = report->original.max;
    floe_ssim_options options[FLOE_SSIM_AT_ONCE];
    floe_ssim_result r[FLOE_SSIM_AT_ONCE];
    floe_similarity *to[FLOE_SSIM_AT_ONCE];
    const uint32_t n = options_list(a, min, max, report, options, to);
    for (uint32_t k = 0; k < n; k++)
        options[k].low = min, options[k].high = max;
    FLOE_TRY(floe_ssim_assume_device(a->cuda, &a->pair, options, n, a->scratch, r, known, err));
    for (uint32_t k = 0; k < n && *known; k++)
        *to[k] = similarity_of(&r[k]);
    return FLOE_OK;
}

/* ---- of derivatives -------------------------------------------------------------------------------------------------- */

uint64_t floe_assessment_similar_nbytes(const floe_assessment *a, const floe_pair *pair)
{
    const floe_ssim_options options = floe_ssim_options_of(pair, a->options.window, a->options.step, 0, 0);
    return floe_ssim_scratch_nbytes(a->cpu, pair, &options);
}

floe_status floe_assessment_similar(floe_assessment *a, const floe_pair *pair, double min, double max,
                                    floe_ssim_result *result, floe_error *err)
{
    const floe_ssim_options options = floe_ssim_options_of(pair, a->options.window, a->options.step, min, max);
    return floe_ssim_assess(a->cpu, pair, &options, a->similar_scratch, result, err);
}
