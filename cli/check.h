/* SPDX-License-Identifier: BSD-3-Clause */
/* What `floe check` and `floe stat` share: metrics and options understood, gates, and a report in three forms. */
#ifndef FLOE_CLI_CHECK_H
#define FLOE_CLI_CHECK_H

#include <floe/assess.h>

#include "cli/check_input.h"
#include "cli/say.h"

/* ---- figures ------------------------------------------------------------------------------------------------------ */

/* What a .floe file adds to the metrics of the library: its size, and the time to decode it. */
typedef struct check_figure {
    const char *name, *alias, *unit;
    double value; /* NaN: there is no .floe file */
} check_figure;

enum { CHECK_FIGURES = 5 };
/* input may be NULL: then all values are NaN. */
void check_figures_find(const check_input *input, check_figure figures[CHECK_FIGURES]);
/* The number of a name or alias, or -1. */
int check_figure_number(const char *name);

/* ---- gates -------------------------------------------------------------------------------------------------------- */

/* --fail-if "psnr<60": what must not be. */
typedef struct check_gate {
    const char *text; /* as it was given */
    char name[64];
    char op[3];
    double limit;
    bool is_figure;
    uint32_t number; /* of the metric or the figure */
    double value;    /* once found; NaN: there is none, which fails */
    bool failed;
} check_gate;

typedef struct check_gates {
    check_gate gate[CLI_MAX_REPEATS];
    uint32_t count, nfailed;
} check_gates;

int check_gates_parse(const cli_args *args, check_gates *gates);
/* Fills in values and verdicts. */
void check_gates_judge(check_gates *gates, const floe_assess_report *report, const check_figure *figures);
/* Says each gate that failed: the exit code. */
int check_gates_say(const check_gates *gates);

/* ---- request ------------------------------------------------------------------------------------------------------ */

/* Adds the metric or group of a word; a name of a figure adds nothing, and is no mistake. */
int check_metric_add(floe_metric_set *set, const char *word);
/* Whether --metrics names a figure: the first that it names. */
bool check_figure_listed(const cli_args *args, char word[CLI_TEXT]);
/* All that is requested: --metrics and the gates, and what --config wishes for if the fields have it; nothing of these: all
 * that applies. */
int check_metrics(const cli_args *args, uint32_t nfields, const check_gates *gates, floe_metric_set *set,
                  floe_metric_set *wished);
/* Says on standard error which options were given and changed nothing, as no metric that was found depends on them. */
void check_options_idle_say(const cli_args *args, const floe_metric_set *found);
/* All options but the metrics. stream (may be NULL): a .floe file that is compared, which has its bound and fill value. */
int check_options(const cli_args *args, const floe_info *stream, floe_assess_options *options);
/* --memory, or half of the machine's. */
int check_memory(const cli_args *args, uint64_t *nbytes);

/* ---- what is left out --------------------------------------------------------------------------------------------- */

enum { CHECK_WHY = 256 };

/* A metric, or a group of which nothing is found. */
typedef struct check_left_out {
    const char *name, *alias;
    char why[CHECK_WHY];
} check_left_out;

typedef struct check_left_out_list {
    check_left_out of[16];
    uint32_t count;
} check_left_out_list;

/* What was requested. */
typedef struct check_request {
    const floe_field *original, *decoded; /* decoded: NULL where there is one field */
    const floe_assess_options *options;
} check_request;

/* Once for each alias. */
void check_left_out_add(check_left_out_list *list, const char *name, const char *alias, const char *why);
/* Adds to `set` what is wished for and can be found, to the list what cannot. */
void check_wishes_add(const floe_ctx_options *machine, const check_request *request, const floe_metric_set *wished,
                      floe_metric_set *set, check_left_out_list *list);
/* Adds what groups that were requested hold and is not among `computed`. */
void check_left_out_find(const check_request *request, const floe_metric_set *computed, check_left_out_list *list);
/* A line on standard error for each reason. */
void check_left_out_say(const check_left_out_list *list);

/* ---- the report --------------------------------------------------------------------------------------------------- */

typedef struct check_result {
    const char *command;
    const check_input *original, *decoded; /* decoded: NULL where there is one field */
    const floe_assess_report *report;
    const check_figure *figures;
    const check_gates *gates;
    const floe_assess_options *options;
    const check_left_out_list *left_out;
    const char *hint; /* that axes may be mixed up; "": none */
    bool explain;     /* formulas, too */
    bool on_gpu;      /* it found the metrics */
    double seconds;   /* of the call that found the metrics */
} check_result;

/* What lies in the report at the metric's place. */
const void *check_metric_at(const check_result *result, const floe_metric *metric);
const char *check_pass_name(floe_metric_pass pass);
bool check_has_stream(const check_result *result);

void check_text_print(const check_result *result);
void check_json_print(const check_result *result);
void check_csv_print(const check_result *result);

#endif
