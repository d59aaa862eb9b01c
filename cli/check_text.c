/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as a table to be read. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/check.h"
#include "cli/say.h"

const void *check_metric_at(const check_result *result, const floe_metric *metric)
{
    return (const char *)result->report + metric->offset;
}

const char *check_pass_name(floe_metric_pass pass)
{
    static const char *const names[FLOE_PASSES] = {"reduction", "stencil", "window", "spectrum"};
    return names[pass];
}

bool check_has_stream(const check_result *result) { return result->decoded && result->decoded->is_stream; }

/* Six digits are enough to read; JSON and CSV have all. NaN without the sign that printf may give it. */
static void value_print(double value)
{
    if (isnan(value))
        fputs("nan", stdout);
    else
        printf("%.6g", value);
}

/* Units of the values themselves are not known. */
static void unit_print(const char *unit)
{
    if (unit[0] && unit[0] != 'x')
        printf(" %s", unit);
}

static void histogram_print(const floe_histogram *h)
{
    if (h->nbins == 0) {
        fputs("empty", stdout);
        return;
    }
    printf("%" PRIu64 " values in %" PRIu32 " %sbins from ", h->total, h->nbins,
           h->scale == FLOE_SCALE_LINEAR ? "" : "logarithmic ");
    value_print(floe_histogram_edge(h, 0));
    fputs(" to ", stdout);
    value_print(floe_histogram_edge(h, h->nbins));
}

/* The first few. */
static void series_print(const floe_series *series)
{
    enum { SHOWN = 8 };
    for (uint64_t i = 0; i < series->count && i < SHOWN; i++) {
        fputs(i ? " " : "", stdout);
        value_print(series->value[i]);
    }
    if (series->count > SHOWN)
        printf(" ... (%" PRIu64 " in all)", series->count);
    if (series->count == 0)
        fputs("none", stdout);
}

static void spot_print(const floe_spot *spot, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++)
        printf("%s%" PRIu64, i ? "," : "[", spot->index[i]);
    fputs("] ", stdout);
    value_print(spot->original);
    fputs(" -> ", stdout);
    value_print(spot->decoded);
    const double error = spot->decoded - spot->original;
    if (isfinite(error) && error != 0) { /* six digits of the two may be the same */
        fputs(", off by ", stdout);
        value_print(error);
    }
}

/* A line each. */
static void spots_print(const floe_spots *spots, uint32_t rank, int column)
{
    for (uint64_t i = 0; i < spots->count; i++) {
        if (i)
            printf("\n%*s", column, "");
        spot_print(&spots->spot[i], rank);
    }
    if (spots->count == 0)
        fputs("none", stdout);
}

static void metric_print(const check_result *result, const floe_metric *m, int width)
{
    const void *at = check_metric_at(result, m);
    printf("  %-*s  ", width, m->alias);
    switch (m->kind) {
    case FLOE_METRIC_NUMBER: value_print(*(const double *)at); break;
    case FLOE_METRIC_COUNT: printf("%" PRIu64, *(const uint64_t *)at); break;
    case FLOE_METRIC_HISTOGRAM: histogram_print(at); break;
    case FLOE_METRIC_SERIES: series_print(at); break;
    case FLOE_METRIC_SPOTS: spots_print(at, result->report->rank, width + 4); break;
    }
    if (m->kind == FLOE_METRIC_NUMBER || m->kind == FLOE_METRIC_SERIES)
        unit_print(m->unit);
    putchar('\n');
    if (result->explain) {
        fputs("      ", stdout);
        cli_wrapped(stdout, m->formula, 6, 6);
    }
}

static int widest(const check_result *result)
{
    int width = check_has_stream(result) ? (int)strlen("decompress_mb_per_s") : 16;
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const int n = (int)strlen(floe_metric_at(i)->alias);
        if (floe_metric_set_has(&result->report->computed, i) && n > width)
            width = n;
    }
    return width;
}

static void input_print(const char *what, const check_input *input)
{
    char text[2 * CLI_TEXT], number[CLI_TEXT];
    const floe_field *f = &input->field;
    cli_layout_text(f->rank, f->shape, f->dtype, text);
    printf("%-9s ", what);
    cli_print_safe(stdout, io_reader_name(input->reader));
    printf(": %s", text);
    if (input->is_stream && input->info.mode != FLOE_BOUND_LOSSLESS) {
        cli_real_text(input->info.bound, number);
        printf(", compressed with %s=%s", cli_mode_name(input->info.mode), number);
    } else if (input->is_stream) {
        fputs(", compressed lossless", stdout);
    }
    putchar('\n');
}

static void gates_print(const check_gates *gates)
{
    if (gates->count)
        puts("gates");
    for (uint32_t i = 0; i < gates->count; i++) {
        const check_gate *gate = &gates->gate[i];
        fputs("  ", stdout);
        cli_print_safe(stdout, gate->text);
        printf(": %s, ", gate->failed ? "FAILED" : "passed");
        value_print(gate->value);
        putchar('\n');
    }
}

static void stream_print(const check_result *result, int width)
{
    puts("stream");
    for (int i = 0; i < CHECK_FIGURES; i++) {
        printf("  %-*s  ", width, result->figures[i].alias);
        value_print(result->figures[i].value);
        unit_print(result->figures[i].unit);
        putchar('\n');
    }
}

/* The bound, where values outside of it were looked for. */
static void outside_print(const check_result *result)
{
    char number[CLI_TEXT];
    uint32_t outside;
    if (floe_metric_find("outside", &outside) != FLOE_OK || !floe_metric_set_has(&result->report->computed, outside))
        return;
    cli_real_text(result->options->bound, number);
    printf("%-9s %s=%s\n", "bound", cli_mode_name(result->options->mode), number);
}

void check_text_print(const check_result *result)
{
    const int width = widest(result);
    char fill[CLI_TEXT];
    int pass = -1;
    input_print(result->decoded ? "original" : "field", result->original);
    if (result->decoded)
        input_print("decoded", result->decoded);
    if (result->report->has_fill) {
        const floe_assess_report *r = result->report;
        cli_fill_text(r->dtype, r->fill_value, r->fill_integer, fill);
        printf("%-9s %s\n", "fill", fill);
    }
    outside_print(result);
    if (check_has_stream(result))
        stream_print(result, width);
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric *m = floe_metric_at(i);
        if (!floe_metric_set_has(&result->report->computed, i))
            continue;
        if ((int)m->pass != pass)
            puts(check_pass_name(m->pass));
        pass = (int)m->pass;
        metric_print(result, m, width);
    }
    gates_print(result->gates);
}
