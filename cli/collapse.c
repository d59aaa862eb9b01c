/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values that become one lie within twice the largest error of each other. So the sorted sample is searched for the window of this
 * width that holds the most values. A field that is nearly all one value already loses nothing by that: what counts is what differs
 * from the most frequent value.
 */
#include "cli/collapse.h"

#include <math.h>
#include <stdlib.h>

static const double NEARLY_ALL = 0.999; /* of the values, in one window */
static const double VARIES = 0.01;      /* of them, other than the most frequent one */
static const double FAR = 100;          /* the range is so many times that of nearly all values */

void cli_collapse_init(cli_collapse *c, const floe_field *layout)
{
    c->dtype = layout->dtype;
    c->nelems = 0;
    (void)floe_field_nelems(layout, &c->nelems);
    c->step = c->nelems ? (c->nelems - 1) / CLI_COLLAPSE_SAMPLES + 1 : 1;
    c->count = (c->nelems + c->step - 1) / c->step;
    for (uint64_t i = 0; i < c->count; i++)
        c->value[i] = NAN;
}

/* The element that is kept of part i; that of the last part may lie behind the field. */
static uint64_t place(const cli_collapse *c, uint64_t i)
{
    uint64_t hash = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return i * c->step + (hash >> 32) % c->step;
}

void cli_collapse_see(cli_collapse *c, uint64_t offset, const void *src, size_t nbytes)
{
    const size_t size = floe_dtype_size(c->dtype);
    const uint64_t first = (offset + size - 1) / size, end = (offset + nbytes) / size;
    for (uint64_t i = first / c->step; i < c->count && i * c->step < end; i++) {
        const uint64_t at = place(c, i);
        if (at >= first && at < end && isnan(c->value[i])) /* the source may be read more than once */
            c->value[i] = cli_number_at(c->dtype, (const char *)src + (at * size - offset), 0);
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Drops values that do not count; how many are left. */
static uint64_t keep_valid(cli_collapse *c, const cli_collapse_facts *facts)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < c->count; i++)
        if (isfinite(c->value[i]) && !(facts->has_fill && c->value[i] == facts->fill))
            c->value[n++] = c->value[i];
    return n;
}

/* How often the most frequent of n sorted values occurs. */
static uint64_t most_frequent(const double *sorted, uint64_t n)
{
    uint64_t most = 0, run = 0;
    for (uint64_t i = 0; i < n; i++) {
        run = i && sorted[i] == sorted[i - 1] ? run + 1 : 1;
        most = run > most ? run : most;
    }
    return most;
}

/* The window of this width that holds the most of n sorted values: where it begins, and how many. */
static uint64_t fullest_window(const double *sorted, uint64_t n, double width, uint64_t *begin)
{
    uint64_t most = 0, from = 0;
    for (uint64_t i = 0; i < n; i++) {
        while (sorted[i] - sorted[from] > width)
            from++;
        if (i - from + 1 > most) {
            most = i - from + 1;
            *begin = from;
        }
    }
    return most;
}

static void text_of(const cli_collapse_facts *facts, bool is_all, double low, double high, char text[4 * CLI_TEXT])
{
    char from[CLI_TEXT], to[CLI_TEXT], far_off[CLI_TEXT];
    const bool of_range =
        facts->mode == FLOE_BOUND_REL || facts->mode == FLOE_BOUND_PSNR || facts->mode == FLOE_BOUND_RATIO;
    const double range = facts->max - facts->min;
    snprintf(from, sizeof from, "%.6g", low);
    snprintf(to, sizeof to, "%.6g", high);
    snprintf(far_off, sizeof far_off, "%.6g",
             fabs(facts->max - high) > fabs(low - facts->min) ? facts->max : facts->min);
    int n = snprintf(text, 4 * CLI_TEXT,
                     "the bound is wider than the field varies: %s of the values, %.30s to %.30s, may become one",
                     is_all ? "all" : "more than 99.9 %", from, to);
    if (of_range && range > FAR * (high - low))
        snprintf(
            text + n, 4 * CLI_TEXT - (size_t)n,
            "; a few as far off as %.30s make the range: pwrel= or abs= suits such data, --fill %.30s missing cells",
            far_off, far_off);
}

/* Most fields are far from collapsing. Where nearly all values lie in one window, so do most of a few of them. */
static bool is_hopeless(const double *values, uint64_t n, double width)
{
    enum { FEW = 64, MOST = FEW * 7 / 8 };
    double some[FEW];
    uint64_t unused;
    if (n < 16 * FEW)
        return false;
    for (uint64_t i = 0; i < FEW; i++)
        some[i] = values[n / FEW * i];
    qsort(some, FEW, sizeof *some, ascending);
    return fullest_window(some, FEW, width, &unused) < MOST;
}

void cli_collapse_judge(cli_collapse *c, const cli_collapse_facts *facts, char text[4 * CLI_TEXT])
{
    uint64_t begin = 0;
    text[0] = 0;
    if (!(facts->error > 0))
        return;
    const uint64_t n = keep_valid(c, facts);
    if (is_hopeless(c->value, n, 2 * facts->error))
        return;
    qsort(c->value, (size_t)n, sizeof *c->value, ascending);
    const uint64_t held = fullest_window(c->value, n, 2 * facts->error, &begin);
    const uint64_t differ = held - most_frequent(c->value + begin, held);
    const double all = (double)n;
    const double range = facts->max - facts->min;
    const bool is_all = held == n && !(range > 2 * facts->error);
    if ((double)held >= NEARLY_ALL * all && (double)differ >= (is_all ? 1 : fmax(1, VARIES * all)))
        text_of(facts, is_all && !isnan(range), c->value[begin], c->value[begin + held - 1], text);
}
