/* SPDX-License-Identifier: BSD-3-Clause */
/* `floe help metrics`: what docs/metrics.md has in tables, for those who have only the command. */
#include "cli/check.h"

static void metric_print(FILE *out, const char *alias, const char *name, const char *formula, const char *unit)
{
    enum { CAPACITY = 1024, INDENT = 6 };
    char text[CAPACITY];
    const bool has_unit = unit[0] && unit[0] != 'x';
    snprintf(text, sizeof text, "%s (%s)%s%s%s%s%s", alias, name, formula[0] ? ": " : "", formula, has_unit ? " [" : "",
             has_unit ? unit : "", has_unit ? "]" : "");
    fputs("  ", out);
    cli_wrapped(out, text, 2, INDENT);
}

static void group_print(FILE *out, const char *title, floe_metric_pass pass, uint32_t nfields)
{
    bool any = false;
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric *m = floe_metric_at(i);
        if (m->pass != pass || m->nfields != nfields)
            continue;
        if (!any)
            fprintf(out, "\n%s, %s:\n", check_pass_name(pass), title);
        any = true;
        metric_print(out, m->alias, m->name, m->formula, m->unit);
    }
}

void cli_metrics_print(FILE *out)
{
    check_figure figures[CHECK_FIGURES];
    check_figures_find(NULL, figures);
    cli_wrapped(
        out,
        "Metrics of floe check and floe stat, for --metrics, --fail-if and --config.\n"
        "\n"
        "A metric has a short name and, in parentheses, a full one. x is a value of the original, y the decoded "
        "one at the same place, e = y - x the error; mean and sum go over the n pairs that count: both values "
        "finite, neither of them fill. f is a value of a field, f+ and f- are its neighbours along an axis.\n"
        "Groups: reduction, stencil, window, spectrum; properties (all that say something of one field); all.",
        0, 0);
    for (int pass = 0; pass < FLOE_PASSES; pass++) {
        group_print(out, "of one field or two", (floe_metric_pass)pass, 1);
        group_print(out, "of two fields", (floe_metric_pass)pass, 2);
    }
    fputs("\nof a .floe file that floe check compares:\n", out);
    for (int i = 0; i < CHECK_FIGURES; i++)
        metric_print(out, figures[i].alias, figures[i].name, "", figures[i].unit);
}
