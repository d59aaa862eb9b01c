/* SPDX-License-Identifier: BSD-3-Clause */
/* Gates over figures and metrics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check.h"
#include "cli/say.h"

/* ---- gates -------------------------------------------------------------------------------------------------------- */

static int fail_form(const char *text)
{
    return cli_fail(FLOE_ERR_ARGUMENT, "--fail-if '%s' is not like psnr<60; there are < <= > >= and ==", text);
}

/* NAME OP NUMBER, with blanks anywhere between. */
static int split(check_gate *gate)
{
    static const char blanks[] = " \t";
    const char *c = gate->text + strspn(gate->text, blanks);
    char *end;
    const size_t nname = strcspn(c, " \t<>=!");
    if (nname == 0 || nname >= sizeof gate->name)
        return fail_form(gate->text);
    memcpy(gate->name, c, nname);
    c += nname;
    c += strspn(c, blanks);
    const size_t nop = strspn(c, "<>=!");
    if (nop == 0 || nop >= sizeof gate->op)
        return fail_form(gate->text);
    memcpy(gate->op, c, nop);
    c += nop;
    gate->limit = strtod(c, &end);
    if (end == c || isnan(gate->limit) || end[strspn(end, blanks)])
        return fail_form(gate->text);
    static const char *const ops[] = {"<", "<=", ">", ">=", "=="};
    for (int i = 0; i < 5; i++)
        if (strcmp(gate->op, ops[i]) == 0)
            return 0;
    return fail_form(gate->text);
}

static int find(check_gate *gate)
{
    floe_metric_set set = {{0}, 0, 0};
    const int figure = check_figure_number(gate->name);
    if (figure >= 0) {
        gate->is_figure = true;
        gate->number = (uint32_t)figure;
        return 0;
    }
    if (floe_metric_find(gate->name, &gate->number) != FLOE_OK) {
        const int failed = check_metric_add(&set, gate->name); /* prints what the name may have been meant to be */
        return failed ? failed
                      : cli_fail(FLOE_ERR_ARGUMENT, "'%s' is a group of metrics; a gate needs one", gate->name);
    }
    const floe_metric_kind kind = floe_metric_at(gate->number)->kind;
    if (kind != FLOE_METRIC_NUMBER && kind != FLOE_METRIC_COUNT)
        return cli_fail(FLOE_ERR_ARGUMENT, "metric '%s' is not one number, which a gate needs", gate->name);
    return 0;
}

int check_gates_parse(const cli_args *args, check_gates *gates)
{
    const char *text;
    *gates = (check_gates){.count = 0};
    while ((text = cli_value_at(args, OPT_FAIL_IF, (int)gates->count))) {
        check_gate *gate = &gates->gate[gates->count++];
        gate->text = text;
        int failed = split(gate);
        if (!failed)
            failed = find(gate);
        if (failed)
            return failed;
    }
    return 0;
}

static bool holds(const check_gate *gate)
{
    const double v = gate->value, limit = gate->limit;
    if (gate->op[0] == '=')
        return v == limit;
    if (gate->op[0] == '<')
        return gate->op[1] ? v <= limit : v < limit;
    return gate->op[1] ? v >= limit : v > limit;
}

/* Of fields of nothing but special values, the same in both: no metric of two fields has a value, nor anything to complain of. */
static bool compares_alike(const check_gate *gate, const floe_assess_report *report)
{
    return !gate->is_figure && floe_metric_at(gate->number)->nfields > 1 && report->nsame == report->nelems;
}

void check_gates_judge(check_gates *gates, const floe_assess_report *report, const check_figure *figures)
{
    gates->nfailed = 0;
    for (uint32_t i = 0; i < gates->count; i++) {
        check_gate *gate = &gates->gate[i];
        gate->value = gate->is_figure ? figures[gate->number].value : floe_metric_value(report, gate->number);
        gate->failed = isnan(gate->value) ? !compares_alike(gate, report) : holds(gate);
        gates->nfailed += gate->failed;
    }
}

int check_gates_say(const check_gates *gates)
{
    int failed = 0;
    for (uint32_t i = 0; i < gates->count; i++) {
        const check_gate *gate = &gates->gate[i];
        char value[CLI_TEXT];
        cli_real_text(gate->value, value);
        if (gate->failed && isnan(gate->value))
            failed = cli_fail(FLOE_ERR_BOUND, "gate '%s': %s has no value here", gate->text, gate->name);
        else if (gate->failed)
            failed = cli_fail(FLOE_ERR_BOUND, "gate '%s': %s is %s", gate->text, gate->name, value);
    }
    return failed;
}
