/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as CSV, a number a line: metric, short name, place, value, unit. The place is empty for a single number; of a
 * series the element's number from 1 (lag, shell; of a series over axes 1 is the slowest), of a histogram the lower edge
 * of the bin, of places the index, whose value is the error there. */
#include <inttypes.h>
#include <math.h>

#include "cli/check.h"
#include "cli/say.h"

static void real_text(double value, char text[CLI_TEXT])
{
    if (isnan(value))
        snprintf(text, CLI_TEXT, "nan"); /* without the sign that it may have */
    else
        cli_real_text(value, text);
}

static void row(const floe_metric *m, const char *place, const char *value)
{
    printf("%s,%s,%s,%s,%s\n", m->name, m->alias, place, value, m->unit);
}

static void real_row(const floe_metric *m, const char *place, double value)
{
    char text[CLI_TEXT];
    real_text(value, text);
    row(m, place, text);
}

static void count_row(const floe_metric *m, const char *place, uint64_t value)
{
    char text[CLI_TEXT];
    snprintf(text, sizeof text, "%" PRIu64, value);
    row(m, place, text);
}

static void histogram_rows(const floe_metric *m, const floe_histogram *h)
{
    char place[CLI_TEXT];
    for (uint32_t i = 0; i < h->nbins; i++) {
        real_text(floe_histogram_edge(h, i), place);
        count_row(m, place, h->count[i]);
    }
}

static void series_rows(const floe_metric *m, const floe_series *series)
{
    char place[CLI_TEXT];
    for (uint64_t i = 0; i < series->count; i++) {
        snprintf(place, sizeof place, "%" PRIu64, i + 1);
        real_row(m, place, series->value[i]);
    }
}

static void spots_rows(const floe_metric *m, const floe_spots *spots, uint32_t rank)
{
    char place[CLI_TEXT];
    for (uint64_t i = 0; i < spots->count; i++) {
        const floe_spot *spot = &spots->spot[i];
        size_t n = 0;
        for (uint32_t k = 0; k < rank; k++)
            n += (size_t)snprintf(place + n, sizeof place - n, "%s%" PRIu64, k ? " " : "", spot->index[k]);
        real_row(m, place, spot->decoded - spot->original);
    }
}

static void metric_rows(const check_result *result, const floe_metric *m)
{
    const void *at = check_metric_at(result, m);
    switch (m->kind) {
    case FLOE_METRIC_NUMBER: real_row(m, "", *(const double *)at); break;
    case FLOE_METRIC_COUNT: count_row(m, "", *(const uint64_t *)at); break;
    case FLOE_METRIC_HISTOGRAM: histogram_rows(m, at); break;
    case FLOE_METRIC_SERIES: series_rows(m, at); break;
    case FLOE_METRIC_SPOTS: spots_rows(m, at, result->report->rank); break;
    }
}

void check_csv_print(const check_result *result)
{
    puts("metric,short,place,value,unit");
    for (int i = 0; i < CHECK_FIGURES && check_has_stream(result); i++) {
        const check_figure *f = &result->figures[i];
        const floe_metric as_metric = {.name = f->name, .alias = f->alias, .unit = f->unit};
        real_row(&as_metric, "", f->value);
    }
    for (uint32_t i = 0; floe_metric_at(i); i++)
        if (floe_metric_set_has(&result->report->computed, i))
            metric_rows(result, floe_metric_at(i));
}
