/* SPDX-License-Identifier: BSD-3-Clause */
/* `floe check` with two fields and `floe stat` with one: all but their number is the same. */
#include <inttypes.h>
#include <string.h>

#include "cli/axis_hint.h"
#include "cli/check.h"
#include "cli/say.h"

typedef struct check_job {
    const cli_args *args;
    uint32_t nfields;
    check_input inputs[2];
    check_gates gates;
    check_figure figures[CHECK_FIGURES];
    uint64_t memory_nbytes;   /* that may still be taken */
    floe_ctx_options machine; /* that decodes, and finds the metrics */
    floe_ctx *ctx;
    floe_assess_options options;
    floe_metric_set wished; /* metrics that are found if the fields have them */
    floe_assess_report report;
    check_left_out_list left_out;
    char hint[2 * CLI_TEXT]; /* that axes may be mixed up; "": none */
    double seconds;
} check_job;

static const check_input *decoded(const check_job *job) { return job->nfields > 1 ? &job->inputs[1] : NULL; }

/* ---- what is requested -------------------------------------------------------------------------------------------- */

/* Figures are those of a .floe file. */
static int figures_check(const check_job *job)
{
    char word[CLI_TEXT];
    if (decoded(job) && decoded(job)->is_stream)
        return 0;
    for (uint32_t i = 0; i < job->gates.count; i++)
        if (job->gates.gate[i].is_figure)
            return cli_fail(FLOE_ERR_ARGUMENT, "gate '%s' is about a .floe file, and none is compared",
                            job->gates.gate[i].text);
    if (check_figure_listed(job->args, word))
        return cli_fail(FLOE_ERR_ARGUMENT, "metric '%s' is about a .floe file, and none is compared", word);
    return 0;
}

/* Nothing of the inputs is looked at before all that can be known without them is checked. */
static int request_read(check_job *job)
{
    const cli_args *args = job->args;
    int failed = check_gates_parse(args, &job->gates);
    if (!failed && cli_given(args, OPT_JSON) && cli_given(args, OPT_CSV))
        failed = cli_fail(FLOE_ERR_ARGUMENT, "give --json or --csv, not both");
    if (!failed && cli_given(args, OPT_EXPLAIN) && cli_given(args, OPT_CSV))
        failed = cli_fail(FLOE_ERR_ARGUMENT, "--explain goes with the table and with --json, not with --csv");
    if (!failed && job->nfields > 1 && strcmp(args->operand[0], "-") == 0 && strcmp(args->operand[1], "-") == 0)
        failed = cli_fail(FLOE_ERR_ARGUMENT, "only one of the two can come from standard input");
    if (!failed)
        failed = check_options(args, NULL, &job->options);
    if (!failed)
        failed = check_metrics(args, job->nfields, &job->gates, &job->options.metrics, &job->wished);
    if (!failed)
        failed = check_memory(args, &job->memory_nbytes);
    if (!failed)
        failed = cli_ctx_options(args, &job->machine);
    return failed ? failed : cli_threads(args, &job->machine.threads);
}

/* Only of a raw original is the order of axes what somebody typed, here or where it was compressed. */
static void axes_look(check_job *job, const floe_field *layout)
{
    check_input *original = &job->inputs[0];
    if (cli_given(job->args, OPT_QUIET) || original->is_stream || io_reader_layout(original->reader))
        return;
    cli_axis_hint(original->reader, layout, job->hint);
    if (job->hint[0])
        fprintf(stderr, "note: %s\n", job->hint);
}

static int inputs_read(check_job *job)
{
    floe_field layout;
    int failed = 0;
    for (uint32_t i = 0; i < job->nfields && !failed; i++)
        failed = check_input_open(&job->inputs[i], job->args->operand[i]);
    if (!failed)
        failed = figures_check(job);
    if (!failed)
        failed = check_input_layout(job->args, job->inputs, job->nfields, &layout);
    if (!failed) {
        axes_look(job, &layout);
        failed = cli_ctx_settle(job->args, &job->machine);
    }
    for (uint32_t i = 0; i < job->nfields && !failed; i++)
        failed = check_input_load(job->args, &job->machine, &job->inputs[i], &layout, &job->memory_nbytes);
    if (failed)
        return failed;
    const floe_metric_set metrics = job->options.metrics;
    const check_input *last = &job->inputs[job->nfields - 1];
    failed = check_options(job->args, last->is_stream ? &last->info : NULL, &job->options);
    job->options.metrics = metrics;
    return failed;
}

/* ---- the metrics -------------------------------------------------------------------------------------------------- */

static floe_status ctx_create(check_job *job)
{
    job->machine.max_memory = job->memory_nbytes ? job->memory_nbytes : 1;
    floe_ctx_free(&job->ctx);
    return floe_ctx_create(&job->ctx, &job->machine);
}

static floe_status assess(check_job *job)
{
    const double started = cli_seconds();
    const floe_field *other = job->nfields > 1 ? &job->inputs[1].field : NULL;
    floe_status status = floe_assess(job->ctx, &job->inputs[0].field, other, &job->options, &job->report);
    job->seconds = cli_seconds() - started;
    return status;
}

/* Of properties, all but those of spectra, one by one; of two fields the group holds no autocorrelation of the original. */
static void properties_name(const check_job *job, floe_metric_set *metrics)
{
    uint32_t autocorr = UINT32_MAX;
    if (job->nfields > 1)
        floe_metric_find("original_autocorr", &autocorr);
    for (uint32_t i = 0; floe_metric_at(i); i++)
        if (floe_metric_at(i)->nfields == 1 && floe_metric_at(i)->pass != FLOE_PASS_SPECTRUM && i != autocorr)
            floe_metric_set_add(metrics, i);
}

/* Which would be everything. */
static bool is_nothing(const floe_metric_set *metrics)
{
    static const floe_metric_set nothing;
    return memcmp(metrics, &nothing, sizeof nothing) == 0;
}

static void spectrum_drop(check_job *job)
{
    const uint32_t spectrum = 1u << FLOE_PASS_SPECTRUM, one_field = 1u << FLOE_PASSES;
    floe_metric_set *metrics = &job->options.metrics;
    if (metrics->groups & one_field)
        properties_name(job, metrics);
    metrics->groups &= ~(spectrum | one_field);
}

static bool is_too_little(floe_status status) { return status == FLOE_ERR_LIMIT || status == FLOE_ERR_MEMORY; }

/* Spectra need copies of whole fields; where memory does not allow that, and nobody named them, all else is found. */
static floe_status assess_what_fits(check_job *job)
{
    const uint32_t spectrum = 1u << FLOE_PASS_SPECTRUM, one_field = 1u << FLOE_PASSES;
    floe_assess_options *o = &job->options;
    floe_status status = assess(job);
    if (!is_too_little(status) || !(o->metrics.groups & (spectrum | one_field)))
        return status;
    const floe_metric_set requested = o->metrics;
    spectrum_drop(job);
    if (is_nothing(&o->metrics)) {
        o->metrics = requested;
        return status;
    }
    const char *name = check_pass_name(FLOE_PASS_SPECTRUM);
    check_left_out_add(&job->left_out, name, name, floe_ctx_message(job->ctx));
    return assess(job);
}

/* Where --backend auto led to a GPU that cannot do it after all, the CPU does. */
static floe_status assess_anywhere(check_job *job)
{
    const char *backend = cli_value(job->args, OPT_BACKEND);
    const bool may_change = backend && strcmp(backend, "auto") == 0 && job->machine.backend == FLOE_BACKEND_CUDA;
    const floe_status status = may_change ? assess(job) : assess_what_fits(job);
    return cli_ctx_retreat(job->args, status, &job->machine, &job->ctx) ? assess_what_fits(job) : status;
}

static check_request request_of(const check_job *job)
{
    return (check_request){&job->inputs[0].field, job->nfields > 1 ? &job->inputs[1].field : NULL, &job->options};
}

/* A configuration is written once for many fields: what it wishes for and this one does not have is left out. */
static void wishes_add(check_job *job)
{
    const check_request request = request_of(job);
    floe_metric_set *metrics = &job->options.metrics;
    if (!is_nothing(&job->wished))
        check_wishes_add(&job->machine, &request, &job->wished, metrics, &job->left_out);
    if (is_nothing(metrics))
        check_metric_add(metrics, "n");
}

/* Where a group was requested, by name or as part of all: what of it is not there, and why. */
static void left_out_say(check_job *job)
{
    const check_request request = request_of(job);
    check_left_out_find(&request, &job->report.computed, &job->left_out);
    if (!cli_given(job->args, OPT_QUIET))
        check_left_out_say(&job->left_out);
}

/* Errors are those of pairs of numbers: where a NaN became a number, or a number a NaN, no error metric shows it. */
static void mismatch_say(const check_job *job)
{
    const floe_assess_report *r = &job->report;
    if (cli_given(job->args, OPT_QUIET))
        return;
    if (r->nsame == r->nelems)
        fprintf(stderr,
                "floe: all %" PRIu64 " pairs are of one special value each (NaN, infinite or fill): nothing differs\n",
                r->nelems);
    if (r->nmismatch == 0)
        return;
    fprintf(stderr, "floe: %" PRIu64 " special value%s (NaN, infinite or fill) paired with another value, first at [",
            r->nmismatch, r->nmismatch == 1 ? "" : "s");
    for (uint32_t i = 0; r->mismatch.count && i < r->rank; i++)
        fprintf(stderr, "%s%" PRIu64, i ? "," : "", r->mismatch.spot->index[i]);
    fputs("]: only special_mismatch counts such pairs, no error does\n", stderr);
}

static void word_add(char *list, size_t capacity, const char *word)
{
    const size_t n = strlen(list);
    snprintf(list + n, capacity - n, "%s%s", n ? ", " : "", word);
}

/* All else is found while the fields are read through: what of that which was requested is not. */
static void copies_list(const check_job *job, char list[512])
{
    const floe_assess_options *o = &job->options;
    const floe_dtype dtype = job->inputs[0].field.dtype;
    list[0] = '\0';
    if (dtype == FLOE_I32 || dtype == FLOE_I64)
        word_add(list, 512, "integers (as doubles)");
    if (o->exact && job->nfields > 1)
        word_add(list, 512, "--exact");
    if (job->machine.backend == FLOE_BACKEND_CUDA)
        word_add(list, 512, "--backend cuda (on the GPU)");
    if (o->metrics.groups >> FLOE_PASS_SPECTRUM & 1)
        word_add(list, 512, check_pass_name(FLOE_PASS_SPECTRUM));
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric *m = floe_metric_at(i);
        const bool of_derivatives = m->pass == FLOE_PASS_STENCIL && strstr(m->name, "_ssim");
        if (floe_metric_set_has(&o->metrics, i) && (of_derivatives || m->pass == FLOE_PASS_SPECTRUM))
            word_add(list, 512, m->alias);
    }
}

static int fail_memory(const check_job *job)
{
    char copies[512];
    copies_list(job, copies);
    if (!copies[0])
        return cli_fail(FLOE_ERR_MEMORY, "%s; --memory raises it, other --metrics may need less",
                        floe_ctx_message(job->ctx));
    return cli_fail(FLOE_ERR_MEMORY, "%s; --memory raises it. Whole copies are needed by: %s",
                    floe_ctx_message(job->ctx), copies);
}

static int metrics_find(check_job *job)
{
    wishes_add(job);
    floe_status status = ctx_create(job);
    if (status == FLOE_OK || cli_ctx_retreat(job->args, status, &job->machine, &job->ctx))
        status = assess_anywhere(job);
    if (status == FLOE_ERR_LIMIT)
        return fail_memory(job);
    if (status != FLOE_OK)
        return cli_fail_call(status, job->ctx, NULL, NULL);
    left_out_say(job);
    if (!cli_given(job->args, OPT_QUIET))
        check_options_idle_say(job->args, &job->report.computed);
    mismatch_say(job);
    return 0;
}

/* ---- the command -------------------------------------------------------------------------------------------------- */

static int run(check_job *job)
{
    int failed = request_read(job);
    if (!failed)
        failed = inputs_read(job);
    if (!failed)
        failed = metrics_find(job);
    if (failed)
        return failed;
    check_figures_find(decoded(job), job->figures);
    check_gates_judge(&job->gates, &job->report, job->figures);
    const check_result result = {.command = job->args->command->name,
                                 .original = &job->inputs[0],
                                 .decoded = decoded(job),
                                 .report = &job->report,
                                 .figures = job->figures,
                                 .gates = &job->gates,
                                 .options = &job->options,
                                 .left_out = &job->left_out,
                                 .hint = job->hint,
                                 .explain = cli_given(job->args, OPT_EXPLAIN),
                                 .on_gpu = job->machine.backend == FLOE_BACKEND_CUDA,
                                 .seconds = job->seconds};
    if (cli_given(job->args, OPT_JSON))
        check_json_print(&result);
    else if (cli_given(job->args, OPT_CSV))
        check_csv_print(&result);
    else if (!cli_given(job->args, OPT_QUIET))
        check_text_print(&result);
    fflush(stdout); /* so that gates stand behind the table */
    return check_gates_say(&job->gates);
}

static int run_with(const cli_args *args, uint32_t nfields)
{
    check_job job = {.args = args, .nfields = nfields, .report = {.size = sizeof job.report}};
    int failed = cli_stdout_finish(run(&job));
    floe_ctx_free(&job.ctx);
    for (uint32_t i = 0; i < nfields; i++)
        check_input_free(&job.inputs[i]);
    return failed;
}

int cmd_check(const cli_args *args) { return run_with(args, 2); }
int cmd_stat(const cli_args *args) { return run_with(args, 1); }
