/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/coordinator.h"

#include <math.h>
#include <string.h>

#include "assess/coordinator_pass.h"
#include "assess/metric_table.h"
#include "assess/pair_copy.h"
#include "assess/pair_read.h"
#include "base/try.h"
#include "field/dtype_math.h"
#include "field/field.h"
#include "field/fill_math.h"

typedef unsigned long long ull;

/* ---- what is requested ---------------------------------------------------------------------------------------------- */

/* Spectra are found on the host, if it can be, where the GPU's library for them is missing. */
static floe_status spectrum_check(const floe_assessment *a, floe_error *err)
{
    floe_cufft cufft;
    if (!floe_assessment_on_device(a) || floe_assessment_host(a))
        return FLOE_OK;
    const floe_status status = floe_cufft_open(&cufft, err);
    floe_cufft_close(&cufft);
    return status;
}

/* Says why a metric cannot be found. */
static floe_status metric_check(const floe_assessment *a, uint32_t number, floe_error *err)
{
    const floe_metric *m = floe_metric_at(number);
    const uint32_t parts = floe_metric_parts(number);
    FLOE_CHECK(err, m->nfields == 1 || a->pair.decoded, FLOE_ERR_ARGUMENT,
               "metric '%s' compares two fields, and there is one", m->alias);
    FLOE_CHECK(err, m->pass != FLOE_PASS_REDUCTION || !(parts & FLOE_REDUCTION_OUTSIDE) || a->options.mode,
               FLOE_ERR_ARGUMENT, "metric '%s' needs a bound, and none was given", m->alias);
    FLOE_CHECK(err, floe_metric_axis(number) < (int)a->pair.rank, FLOE_ERR_ARGUMENT,
               "metric '%s': the field has %u axes", m->alias, a->pair.rank);
    const bool on_host = m->pass == FLOE_PASS_STENCIL && parts & FLOE_PART_ALL_SIMILAR;
    FLOE_CHECK(err, !on_host || floe_assessment_host(a), FLOE_ERR_UNSUPPORTED,
               "metric '%s' is found in host memory only: bring the fields there", m->alias);
    if (m->pass == FLOE_PASS_SPECTRUM)
        return spectrum_check(a, err);
    if (m->pass == FLOE_PASS_STENCIL && parts & FLOE_PART_ALL_SIMILAR)
        return floe_assessment_window_check(a, FLOE_PART_SSIM, err);
    return m->pass == FLOE_PASS_WINDOW ? floe_assessment_window_check(a, parts, err) : FLOE_OK;
}

/* What is named must be found; of a group, what can be. */
static floe_status metrics_choose(floe_assessment *a, floe_error *err)
{
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric_wish wish = floe_metric_wish_of(&a->options.metrics, i, !a->pair.decoded);
        if (wish == FLOE_METRIC_NAMED)
            FLOE_TRY(metric_check(a, i, err));
        if (wish == FLOE_METRIC_NAMED || (wish == FLOE_METRIC_IN_GROUP && metric_check(a, i, NULL) == FLOE_OK))
            floe_metric_set_add(&a->metrics, i);
    }
    return FLOE_OK;
}

static void parts_choose(floe_assessment *a)
{
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric_pass pass = floe_metric_at(i)->pass;
        uint32_t parts = floe_metric_parts(i);
        if (!floe_metric_set_has(&a->metrics, i))
            continue;
        if (pass == FLOE_PASS_REDUCTION && parts & FLOE_REDUCTION_SORTED) /* can be had in two ways */
            parts = a->options.exact ? FLOE_REDUCTION_SORTED : FLOE_REDUCTION_VALUES;
        a->parts[pass] |= parts;
        a->runs[pass] = true;
    }
}

/* On the GPU, or, where there is no cuFFT, on the host. */
static floe_status spectrum_init(floe_assessment *a, floe_error *err)
{
    const floe_pair *host = floe_assessment_host(a);
    if (floe_assessment_on_device(a)) {
        floe_spectrum_init(&a->spectrum, a->cpu, &a->pair);
        floe_status status = floe_spectrum_device_init(&a->spectrum_device, a->cuda, &a->spectrum, err);
        a->spectrum_on_device = status == FLOE_OK;
        if (status != FLOE_ERR_UNSUPPORTED || !host)
            return status;
    }
    floe_spectrum_init(&a->spectrum, a->cpu, host);
    return FLOE_OK;
}

/* bits: of the fields' own dtype. */
static void fill_set(floe_assessment *a, uint64_t bits)
{
    if (a->has_integers) {
        a->integers.fill = floe_integer_of(a->integers.given.dtype, bits);
        bits = floe_value_bits(FLOE_F64, (double)a->integers.fill);
    }
    a->pair.fill_bits = bits;
}

/* From here on the pair is one of doubles. Bytes are counted where it is made. */
static void integers_plan(floe_assessment *a)
{
    const uint64_t fill_bits = a->pair.fill_bits;
    floe_integers_init(&a->integers, a->cpu, &a->pair);
    a->has_integers = true;
    a->pair = floe_integers_pair(&a->integers);
    fill_set(a, fill_bits);
}

/* From here on the pair is the copy, which will lie in one piece. */
static void copy_plan(floe_assessment *a)
{
    a->host = a->pair;
    a->has_copy = true;
    floe_pair_copy_of(&a->host, &a->pair);
}

floe_status floe_assessment_init(floe_assessment *a, const floe_cpu *cpu, const floe_cuda *cuda, const floe_pair *pair,
                                 const floe_assess_options *options, floe_error *err)
{
    *a = (floe_assessment){.cpu = cpu, .cuda = cuda, .pair = *pair, .options = *options};
    const floe_params named = {
        .fill = options->fill, .fill_value = options->fill_value, .fill_integer = options->fill_integer};
    a->pair.has_fill = floe_fill_named(pair->dtype, &named, &a->pair.fill_bits);
    FLOE_TRY(floe_fill_check(pair->dtype, &named, err));
    if (floe_dtype_is_integer(pair->dtype))
        integers_plan(a);
    if (cuda && pair->place == FLOE_HOST)
        copy_plan(a);
    FLOE_TRY(metrics_choose(a, err));
    parts_choose(a);
    a->reduction_options = (floe_reduction_options){a->parts[FLOE_PASS_REDUCTION],
                                                    options->bins,
                                                    options->value_bins,
                                                    options->worst,
                                                    options->mode,
                                                    options->bound};
    if (a->has_integers)
        a->reduction_options.parts &= ~(uint32_t)FLOE_REDUCTION_BYTES;
    FLOE_TRY(floe_reduction_init(&a->reduction, cpu, &a->pair, &a->reduction_options, err));
    return a->runs[FLOE_PASS_SPECTRUM] ? spectrum_init(a, err) : FLOE_OK;
}

void floe_assessment_free(floe_assessment *a)
{
    if (a->spectrum_on_device)
        floe_spectrum_device_free(&a->spectrum_device);
    a->spectrum_on_device = false;
}

/* For the passes that follow the reduction. */
static void scratch_take(floe_assessment *a, floe_arena *arena)
{
    a->scratch_nbytes = 0;
    if (a->runs[FLOE_PASS_STENCIL])
        a->scratch_nbytes = floe_assessment_stencil_nbytes(a);
    if (a->runs[FLOE_PASS_WINDOW])
        a->scratch_nbytes = floe_max64(a->scratch_nbytes, floe_assessment_window_nbytes(a));
    if (a->spectrum_on_device) {
        floe_arena plan = floe_arena_plan();
        floe_spectrum_device_take(&a->spectrum_device, &plan);
        a->scratch_nbytes = floe_max64(a->scratch_nbytes, plan.overflow ? UINT64_MAX : plan.used);
    }
    a->scratch = floe_arena_take(arena, a->scratch_nbytes, 1);
}

static void integers_take(floe_assessment *a, floe_arena *arena)
{
    floe_pair *pair = a->has_copy ? &a->host : &a->pair;
    floe_integers_take(&a->integers, arena);
    const floe_pair made = floe_integers_pair(&a->integers);
    pair->original = made.original, pair->decoded = made.decoded;
}

void floe_assessment_take(floe_assessment *a, floe_arena *arena)
{
    if (a->has_integers)
        integers_take(a, arena);
    floe_reduction_take(&a->reduction, arena);
    if (a->runs[FLOE_PASS_SPECTRUM])
        floe_spectrum_take(&a->spectrum, arena);
    if (a->runs[FLOE_PASS_STENCIL])
        floe_assessment_stencil_take(a, arena);
    if (!floe_assessment_on_device(a))
        scratch_take(a, arena);
    a->stage = a->has_copy ? floe_arena_take(arena, floe_pair_stage_nbytes(&a->host), 1) : NULL;
}

/* The scratch first, where the arena begins: other takes are aligned less. */
floe_status floe_assessment_take_device(floe_assessment *a, floe_arena *arena, floe_error *err)
{
    scratch_take(a, arena);
    if (a->has_copy)
        floe_pair_copy_take(&a->pair, arena);
    FLOE_TRY(floe_reduction_device_init(&a->reduction_device, a->cuda, &a->reduction, err));
    floe_reduction_device_take(&a->reduction_device, arena);
    return FLOE_OK;
}

/* ---- fill ---------------------------------------------------------------------------------------------------------- */

/* The range of the original's values that count, with samples as witnesses that nothing stands off. */
static floe_range range_of(const floe_reduction_result *result)
{
    floe_range range;
    floe_range_init(&range);
    range.nfinite = result->total.count[FLOE_COUNT_PAIRS];
    range.min = -result->total.top[FLOE_TOP_X_LOW] + 0.0, range.max = result->total.top[FLOE_TOP_X] + 0.0;
    for (uint32_t i = result->nsamples; i-- > 0;)
        range.low = result->sample[i] > range.min ? result->sample[i] : range.low;
    for (uint32_t i = 0; i < result->nsamples; i++)
        range.high = result->sample[i] < range.max ? result->sample[i] : range.high;
    return range;
}

static floe_status original_scan(floe_assessment *a, bool has_fill, uint64_t fill_bits, floe_range *range,
                                 floe_error *err)
{
    if (floe_assessment_on_device(a) && !a->has_integers)
        return floe_reduction_device_range(&a->reduction_device, 0, has_fill, fill_bits, range, err);
    const floe_field field = floe_pair_field(a->has_integers ? &a->integers.given : &a->pair, 0);
    floe_range_init(range);
    floe_range_scan(a->cpu, &field, has_fill, fill_bits, range);
    return FLOE_OK;
}

/* The range of the original: where all of its numbers are in pairs that count, the reduction has it, but for that of integers. */
static floe_status original_range(floe_assessment *a, const floe_reduction_result *result, floe_range *all,
                                  floe_error *err)
{
    const uint64_t *count = result->total.count;
    if (a->has_integers ||
        count[FLOE_COUNT_PAIRS] + count[FLOE_COUNT_X_NAN] + count[FLOE_COUNT_X_INF] < a->reduction.nelems)
        return original_scan(a, false, 0, all, err);
    *all = range_of(result);
    return FLOE_OK;
}

/* Looks for a fill value in the original as compression does. Where there is one the reduction must run again. */
static floe_status fill_detect(floe_assessment *a, const floe_reduction_result *result, floe_error *err)
{
    uint64_t candidates[2];
    floe_range all;
    const floe_dtype dtype = a->has_integers ? a->integers.given.dtype : a->pair.dtype;
    FLOE_TRY(original_range(a, result, &all, err));
    const uint32_t ncandidates = floe_fill_candidates(&all, dtype, candidates);
    for (uint32_t i = 0; i < ncandidates && !a->pair.has_fill; i++) {
        floe_range rest;
        FLOE_TRY(original_scan(a, true, candidates[i], &rest, err));
        a->pair.has_fill = floe_fill_holds(&rest, floe_value_of(dtype, candidates[i]));
        fill_set(a, a->pair.has_fill ? candidates[i] : 0);
    }
    return FLOE_OK;
}

/* ---- passes -------------------------------------------------------------------------------------------------------- */

/* The fields as they are read: as doubles, and on the GPU. */
static floe_status pair_make(floe_assessment *a, floe_error *err)
{
    if (a->has_integers)
        floe_integers_read(&a->integers, a->pair.has_fill);
    return a->has_copy ? floe_pair_copy(a->cuda, &a->host, &a->pair, a->stage, err) : FLOE_OK;
}

static floe_status pairs_reduce(floe_assessment *a, floe_reduction_result *result, floe_error *err)
{
    return floe_assessment_on_device(a) ? floe_reduction_device_run(&a->reduction_device, result, err)
                                        : floe_reduction_run(&a->reduction, result, err);
}

/* No pair counts. */
static floe_status fail_nothing(const floe_assessment *a, const uint64_t *count, floe_error *err)
{
    const ull nelems = a->reduction.nelems, nnan = count[FLOE_COUNT_X_NAN], ninf = count[FLOE_COUNT_X_INF],
              nfill = count[FLOE_COUNT_X_FILL];
    if (!a->pair.decoded)
        return floe_fail(err, FLOE_ERR_ARGUMENT,
                         "there is nothing to assess: of %llu values, none is a number (%llu NaN, %llu infinite, %llu "
                         "fill)",
                         nelems, nnan, ninf, nfill);
    return floe_fail(err, FLOE_ERR_ARGUMENT,
                     "there is nothing to assess: of %llu pairs, none has numbers on both sides (%llu NaN, %llu "
                     "infinite, %llu fill in the original; %llu, %llu, %llu in the decoded field)",
                     nelems, nnan, ninf, nfill, (ull)count[FLOE_COUNT_Y_NAN], (ull)count[FLOE_COUNT_Y_INF],
                     (ull)count[FLOE_COUNT_Y_FILL]);
}

/* All pairs are of one special value each: nothing is lost, and nothing but counts is known. */
static void alike_finish(floe_assessment *a, const uint64_t *count, floe_assess_report *report)
{
    const floe_metric_set chosen = a->metrics;
    a->metrics = (floe_metric_set){{0}, 0, 0};
    for (uint32_t i = 0; floe_metric_at(i); i++)
        if (floe_metric_set_has(&chosen, i) && floe_metric_at(i)->pass == FLOE_PASS_REDUCTION &&
            floe_metric_at(i)->kind == FLOE_METRIC_COUNT)
            floe_metric_set_add(&a->metrics, i);
    for (int pass = 0; pass < FLOE_PASSES; pass++)
        a->runs[pass] = false;
    report->nsame = count[FLOE_COUNT_SAME];
    report->original.nnan = report->decoded.nnan = count[FLOE_COUNT_X_NAN];
    report->original.ninf = report->decoded.ninf = count[FLOE_COUNT_X_INF];
    report->original.nfill = report->decoded.nfill = count[FLOE_COUNT_X_FILL];
}

static floe_status reduction_run(floe_assessment *a, floe_assess_report *report, floe_error *err)
{
    floe_reduction_result result;
    const uint64_t *count = result.total.count;
    FLOE_TRY(pairs_reduce(a, &result, err));
    if (a->options.fill == FLOE_FILL_AUTO)
        FLOE_TRY(fill_detect(a, &result, err));
    if (a->options.fill == FLOE_FILL_AUTO && a->pair.has_fill) {
        if (a->has_integers)
            FLOE_TRY(pair_make(a, err));
        FLOE_TRY(pairs_reduce(a, &result, err));
    }
    if (count[FLOE_COUNT_PAIRS] == 0) {
        if (!a->pair.decoded || count[FLOE_COUNT_SAME] < a->reduction.nelems)
            return fail_nothing(a, count, err);
        alike_finish(a, count, report);
        return FLOE_OK;
    }
    result.range = result.total.top[FLOE_TOP_X] + result.total.top[FLOE_TOP_X_LOW];
    if (a->has_integers)
        floe_integers_errors(&a->integers, &a->reduction, &result);
    floe_reduction_finish(&a->reduction_options, &result, report);
    if (!a->pair.decoded) { /* it was compared with itself */
        floe_assess_report blank;
        floe_report_clear(&blank);
        report->decoded = blank.decoded, report->error = blank.error, report->distribution = blank.distribution;
    }
    return FLOE_OK;
}

/* The window pass, where nothing else is requested: on a GPU it needs no more than the original's range, unless it turns out
 * that some pair does not count, or is too far off to go the quick way. */
static floe_status windows_alone_run(floe_assessment *a, floe_assess_report *report, bool *known, floe_error *err)
{
    const bool others = a->runs[FLOE_PASS_REDUCTION] || a->runs[FLOE_PASS_STENCIL] || a->runs[FLOE_PASS_SPECTRUM];
    floe_values *x = &report->original;
    floe_dev_range found;
    *known = false;
    if (!a->runs[FLOE_PASS_WINDOW] || others || !floe_assessment_window_is_quick(a))
        return FLOE_OK;
    FLOE_TRY(floe_reduction_device_original(&a->reduction_device, a->options.fill == FLOE_FILL_AUTO, &found, err));
    if (found.range.nfinite < report->nelems || (found.has_fill && !a->pair.has_fill))
        return FLOE_OK;
    const floe_values blank = *x;
    x->min = found.range.min + 0.0, x->max = found.range.max + 0.0, x->range = x->max - x->min;
    FLOE_TRY(floe_assessment_window_alone(a, report, known, err));
    if (*known)
        report->ncounted = report->nelems;
    else
        *x = blank;
    return FLOE_OK;
}

static floe_status spectrum_run(floe_assessment *a, floe_assess_report *report, floe_error *err)
{
    const floe_spectrum_options options = {a->options.periodic ? FLOE_SPECTRUM_NO_WINDOW : FLOE_SPECTRUM_HANN,
                                           {report->original.mean, report->decoded.mean}};
    floe_power *to = &report->spectrum;
    floe_spectrum_result r;
    if (!isfinite(options.mean[0]) || (a->pair.decoded && !isfinite(options.mean[1])))
        return FLOE_OK; /* a sum overflowed: there is no spectrum, as the report has already */
    if (a->spectrum_on_device) {
        floe_arena scratch = floe_arena_of(a->scratch, a->scratch_nbytes);
        floe_spectrum_device_take(&a->spectrum_device, &scratch);
        FLOE_TRY(floe_spectrum_device_run(&a->spectrum_device, &options, &r, err));
    } else {
        FLOE_TRY(floe_spectrum_run(&a->spectrum, &options, &r, err));
    }
    to->frequency = (floe_series){r.nshells, r.frequency};
    to->original = (floe_series){r.nshells, r.power[0]};
    to->nfilled = r.nfilled;
    if (!a->pair.decoded)
        return FLOE_OK;
    to->decoded = (floe_series){r.nshells, r.power[1]};
    to->ratio = (floe_series){r.nshells, r.ratio};
    to->deviation = NAN;
    for (uint32_t i = 0; i < r.nshells; i++)
        to->deviation = fmax(to->deviation, fabs(r.ratio[i] - 1)); /* fmax passes over NaN */
    return FLOE_OK;
}

/* The reduction runs unless windows are all there is: what the other passes start from, as the range, is of its finding. */
floe_status floe_assessment_run(floe_assessment *a, floe_assess_report *report, floe_error *err)
{
    const floe_pair *p = &a->pair;
    bool windows_are_known;
    floe_report_clear(report);
    FLOE_TRY(pair_make(a, err));
    report->dtype = a->has_integers ? a->integers.given.dtype : p->dtype, report->rank = p->rank;
    memcpy(report->shape, p->shape + FLOE_MAX_RANK - p->rank, p->rank * sizeof *p->shape);
    report->nelems = floe_pair_nelems(p);
    report->nfields = p->decoded ? 2 : 1;
    FLOE_TRY(windows_alone_run(a, report, &windows_are_known, err));
    if (!windows_are_known)
        FLOE_TRY(reduction_run(a, report, err));
    a->host.has_fill = p->has_fill, a->host.fill_bits = p->fill_bits;
    if (a->runs[FLOE_PASS_STENCIL])
        FLOE_TRY(floe_assessment_stencil_run(a, report, err));
    if (a->runs[FLOE_PASS_WINDOW] && !windows_are_known)
        FLOE_TRY(floe_assessment_window_run(a, report, err));
    if (a->runs[FLOE_PASS_SPECTRUM])
        FLOE_TRY(spectrum_run(a, report, err));
    report->has_fill = (int)p->has_fill;
    report->fill_value = p->has_fill ? floe_value_of(p->dtype, p->fill_bits) : 0;
    report->fill_integer = p->has_fill && a->has_integers ? a->integers.fill : 0;
    report->computed = a->metrics;
    if (a->has_integers)
        floe_integers_finish(&a->integers, a->parts[FLOE_PASS_REDUCTION] & FLOE_REDUCTION_BYTES, report);
    return FLOE_OK;
}
