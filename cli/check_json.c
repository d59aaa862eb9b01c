/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as JSON, with all digits and all elements. */
#include <math.h>

#include "cli/check.h"
#include "cli/json.h"
#include "cli/say.h"

static void histogram_put(cli_json *json, const char *key, const floe_histogram *h)
{
    cli_json_open(json, key, '{');
    cli_json_text(json, "scale", h->scale == FLOE_SCALE_LINEAR ? "linear" : "logarithmic");
    cli_json_real(json, "low", h->low);
    if (h->scale == FLOE_SCALE_LINEAR)
        cli_json_real(json, "width", h->width);
    else
        cli_json_uint(json, "per_octave", h->per_octave);
    cli_json_uint(json, "total", h->total);
    cli_json_uints(json, "count", h->nbins, h->count);
    cli_json_close(json, '}');
}

static void spots_put(cli_json *json, const char *key, const floe_spots *spots, uint32_t rank)
{
    cli_json_open(json, key, '[');
    for (uint64_t i = 0; i < spots->count; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_shape(json, "index", rank, spots->spot[i].index);
        cli_json_real(json, "original", spots->spot[i].original);
        cli_json_real(json, "decoded", spots->spot[i].decoded);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void metric_put(cli_json *json, const check_result *result, const floe_metric *m)
{
    const void *at = check_metric_at(result, m);
    const floe_series *series = at;
    switch (m->kind) {
    case FLOE_METRIC_NUMBER: cli_json_real(json, m->name, *(const double *)at); break;
    case FLOE_METRIC_COUNT: cli_json_uint(json, m->name, *(const uint64_t *)at); break;
    case FLOE_METRIC_HISTOGRAM: histogram_put(json, m->name, at); break;
    case FLOE_METRIC_SERIES: cli_json_reals(json, m->name, series->count, series->value); break;
    case FLOE_METRIC_SPOTS: spots_put(json, m->name, at, result->report->rank); break;
    }
}

static void stream_put(cli_json *json, const check_result *result)
{
    const check_input *in = result->decoded;
    cli_json_open(json, "stream", '{');
    cli_json_text(json, "mode", cli_mode_name(in->info.mode));
    cli_json_real(json, "bound", in->info.mode == FLOE_BOUND_LOSSLESS ? 0 : in->info.bound);
    cli_json_real(json, "abs_bound", in->info.abs_bound);
    cli_json_uint(json, "raw_nbytes", in->info.raw_nbytes);
    cli_json_uint(json, "stream_nbytes", in->stream_nbytes);
    cli_json_real(json, "ratio", result->figures[1].value);
    cli_json_real(json, "bits_per_value", result->figures[2].value);
    cli_json_real(json, "seconds", result->figures[3].value);
    cli_json_real(json, "mb_per_s", result->figures[4].value);
    cli_json_close(json, '}');
}

static void gates_put(cli_json *json, const check_gates *gates)
{
    cli_json_open(json, "gates", '[');
    for (uint32_t i = 0; i < gates->count; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "fail_if", gates->gate[i].text);
        cli_json_real(json, "value", gates->gate[i].value);
        cli_json_bool(json, "failed", gates->gate[i].failed);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

/* What the numbers depend on besides the fields. */
static void options_put(cli_json *json, const check_result *result)
{
    const floe_assess_options *o = result->options;
    cli_json_open(json, "options", '{');
    if (result->decoded && o->mode) {
        cli_json_text(json, "bound_mode", cli_mode_name(o->mode));
        cli_json_real(json, "bound", o->bound);
    }
    if (result->decoded) {
        cli_json_uint(json, "window", o->window);
        cli_json_uint(json, "step", o->step);
        cli_json_uint(json, "bins", o->bins);
        cli_json_uint(json, "worst", o->worst);
        cli_json_bool(json, "exact", o->exact);
    }
    cli_json_uint(json, "value_bins", o->value_bins);
    cli_json_uint(json, "lags", o->lags);
    cli_json_bool(json, "periodic", o->periodic);
    cli_json_close(json, '}');
}

static void formulas_put(cli_json *json, const floe_metric_set *computed)
{
    cli_json_open(json, "formulas", '{');
    for (uint32_t i = 0; floe_metric_at(i); i++)
        if (floe_metric_set_has(computed, i))
            cli_json_text(json, floe_metric_at(i)->name, floe_metric_at(i)->formula);
    cli_json_close(json, '}');
}

/* Names of metrics or groups, with the reason. */
static void left_out_put(cli_json *json, const check_left_out_list *list)
{
    cli_json_open(json, "left_out", '{');
    for (uint32_t i = 0; i < list->count; i++)
        cli_json_text(json, list->of[i].name, list->of[i].why);
    cli_json_close(json, '}');
}

static void inputs_put(cli_json *json, const check_result *result)
{
    const floe_assess_report *report = result->report;
    cli_json_text(json, "command", result->command);
    cli_json_text(json, result->decoded ? "original" : "input", io_reader_name(result->original->reader));
    if (result->decoded)
        cli_json_text(json, "decoded", io_reader_name(result->decoded->reader));
    cli_json_text(json, "dtype", floe_dtype_name(report->dtype));
    cli_json_shape(json, "shape", report->rank, report->shape);
    cli_json_uint(json, "elements", report->nelems);
    if (report->nmismatch)
        cli_json_uint(json, "special_mismatch", report->nmismatch);
    if (report->has_fill)
        cli_json_fill(json, report->dtype, report->fill_value, report->fill_integer);
}

void check_json_print(const check_result *result)
{
    cli_json json;
    cli_json_init(&json, stdout);
    cli_json_open(&json, NULL, '{');
    inputs_put(&json, result);
    if (check_has_stream(result))
        stream_put(&json, result);
    options_put(&json, result);
    cli_json_open(&json, "metrics", '{');
    for (uint32_t i = 0; floe_metric_at(i); i++)
        if (floe_metric_set_has(&result->report->computed, i))
            metric_put(&json, result, floe_metric_at(i));
    cli_json_close(&json, '}');
    if (result->explain)
        formulas_put(&json, &result->report->computed);
    if (result->gates->count)
        gates_put(&json, result->gates);
    if (result->left_out->count)
        left_out_put(&json, result->left_out);
    if (result->hint[0])
        cli_json_text(&json, "note", result->hint);
    cli_json_text(&json, "backend", result->on_gpu ? "cuda" : "cpu");
    cli_json_real(&json, "seconds", result->seconds);
    cli_json_bool(&json, "ok", result->gates->nfailed == 0);
    cli_json_close(&json, '}');
}
