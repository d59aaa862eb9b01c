/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "assess/coordinator_pass.h"
#include "assess/metric_table.h"
#include "assess/window/ssim_cuda.h"
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

uint64_t floe_assessment_window_nbytes(const floe_assessment *a)
{
    uint64_t most = 0;
    for (uint32_t part = FLOE_PART_SSIM; part <= FLOE_PART_GAUSSIAN; part *= 2)
        if (a->parts[FLOE_PASS_WINDOW] & part) {
            const floe_ssim_options options = options_of(a, part, 0, 0);
            most =
                floe_max64(most, floe_assessment_on_device(a) ? floe_ssim_device_nbytes(&a->pair, &options)
                                                              : floe_ssim_scratch_nbytes(a->cpu, &a->pair, &options));
        }
    return most;
}

floe_status floe_assessment_window_run(floe_assessment *a, floe_assess_report *report, floe_error *err)
{
    floe_similarity *const to[] = {&report->ssim, &report->ssim_image, &report->ssim_gaussian};
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t part = (uint32_t)FLOE_PART_SSIM << i;
        floe_ssim_result r;
        if (!(a->parts[FLOE_PASS_WINDOW] & part))
            continue;
        floe_ssim_options options = options_of(a, part, report->original.min, report->original.max);
        options.low = fmin(report->original.min, report->decoded.min);
        options.high = fmax(report->original.max, report->decoded.max);
        FLOE_TRY(floe_assessment_on_device(a)
                     ? floe_ssim_assess_device(a->cuda, &a->pair, &options, a->scratch, &r, err)
                     : floe_ssim_assess(a->cpu, &a->pair, &options, a->scratch, &r, err));
        *to[i] = (floe_similarity){r.mean, r.min, r.mean_loss, r.max_loss, r.nwindows, r.nleft_out};
    }
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
