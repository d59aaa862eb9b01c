/* SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700
#include "cli/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/progress.h"
#include "cli/request.h"
#include "cli/say.h"
#include "synth/synth.h"

enum { MAX_THREAD_COUNTS = 16, MAX_PRESETS = 8 };

typedef struct bench_job {
    const cli_args *args;
    floe_params params;
    floe_preset presets[MAX_PRESETS];
    uint32_t npresets;
    uint64_t seed;
    double link; /* bytes a second; 0: none */
    uint32_t repeats;
    uint32_t threads[MAX_THREAD_COUNTS], nthreads;
    double *seconds; /* 2 * repeats */
    bench_row *rows;
    uint32_t nrows;
    cli_progress progress;
    uint64_t done, total; /* runs */
} bench_job;

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static void array_free(bench_array *array)
{
    free(array->original.data);
    free(array->decoded.data);
    free(array->stream);
    memset(array, 0, sizeof *array);
}

/* Room for an array of this layout; every page is touched, so that no run pays for that. */
static int array_create(bench_array *array, const char *name, const floe_field *layout, const floe_params *params)
{
    char shape[CLI_TEXT];
    uint64_t nelems;
    memset(array, 0, sizeof *array);
    if (floe_field_nelems(layout, &nelems) != FLOE_OK || nelems == 0)
        return cli_fail(FLOE_ERR_ARGUMENT, "there is nothing to measure: '%s' is empty", name);
    array->nbytes = nelems * floe_dtype_size(layout->dtype);
    array->original = array->decoded = *layout;
    array->capacity = floe_compress_bound(layout, params) + array->nbytes / 4 + 4096; /* zfp may need more */
    array->original.data = malloc(array->nbytes);
    array->decoded.data = malloc(array->nbytes);
    array->stream = malloc(array->capacity);
    if (!array->original.data || !array->decoded.data || !array->stream)
        return cli_fail(FLOE_ERR_MEMORY, "out of memory: three times %llu bytes are needed",
                        (unsigned long long)array->nbytes);
    memset(array->decoded.data, 1, array->nbytes);
    memset(array->stream, 1, array->capacity);
    cli_shape_text(layout->rank, layout->shape, shape);
    for (char *c = shape, *to = shape; (*to = *c) != 0; c++)
        to += *c != ' '; /* "256 x 256" -> "256x256" */
    snprintf(array->name, sizeof array->name, "%.40s %.40s %s", name, shape, floe_dtype_name(layout->dtype));
    return 0;
}

static int array_of_kind(const bench_job *job, const char *kind, bench_array *array)
{
    floe_field layout;
    int failed = cli_layout_given(job->args, &layout);
    if (failed)
        return failed;
    if (!layout.rank)
        layout = floe_field_of(NULL, layout.dtype, 3, (const uint64_t[]){256, 256, 256});
    if (!layout.dtype)
        layout.dtype = FLOE_F32;
    if (!synth_find(kind))
        return cli_fail(FLOE_ERR_ARGUMENT, "unknown kind of field '%s'; 'floe fields' lists them", kind);
    if ((failed = array_create(array, kind, &layout, &job->params)))
        return failed;
    floe_status status = synth_fill(kind, layout.dtype, layout.rank, layout.shape, job->seed, 0,
                                    array->nbytes / floe_dtype_size(layout.dtype), array->original.data);
    return status == FLOE_OK ? 0 : cli_fail(status, "cannot make %s: %s", kind, floe_status_text(status));
}

static int array_of_file(const bench_job *job, const char *path, bench_array *array)
{
    io_reader *reader;
    floe_field layout;
    floe_error err = {0};
    const void *data;
    uint64_t nbytes;
    const char *slash = strrchr(path, '/');
    if (io_reader_open(&reader, path, &err) != FLOE_OK)
        return cli_fail_with(&err);
    int failed = cli_layout_of(job->args, reader, &layout);
    if (!failed)
        failed = array_create(array, slash ? slash + 1 : path, &layout, &job->params);
    if (!failed && (io_reader_spool(reader, &err) != FLOE_OK || io_reader_map(reader, &data, &nbytes, &err) != FLOE_OK))
        failed = cli_fail_with(&err);
    if (!failed)
        memcpy(array->original.data, data, nbytes);
    io_reader_free(&reader);
    return failed;
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

static bench_row *new_row(bench_job *job, const bench_array *array, const char *coder, uint32_t threads)
{
    bench_row *row = &job->rows[job->nrows++];
    *row = (bench_row){.threads = threads, .repeats = job->repeats, .raw_nbytes = array->nbytes, .nchunks = 1};
    snprintf(row->array, sizeof row->array, "%s", array->name);
    snprintf(row->coder, sizeof row->coder, "%s", coder);
    return row;
}

/* One round trip, timed and checked. */
static int round_trip(floe_ctx *ctx, const floe_params *params, bench_array *array, bench_row *row, double *in,
                      double *out)
{
    floe_info info = {.size = sizeof info};
    double started = cli_seconds();
    floe_status status =
        floe_compress(ctx, &array->original, params, array->stream, array->capacity, &row->stream_nbytes);
    *in = cli_seconds() - started;
    if (status != FLOE_OK)
        return cli_fail_call(status, ctx, NULL, NULL);
    started = cli_seconds();
    status = floe_decompress(ctx, array->stream, row->stream_nbytes, &array->decoded);
    *out = cli_seconds() - started;
    if (status != FLOE_OK)
        return cli_fail_call(status, ctx, NULL, NULL);
    if (floe_stream_info(array->stream, row->stream_nbytes, &info, NULL) != FLOE_OK)
        return cli_fail(FLOE_ERR_INTERNAL, "the stream cannot be read back");
    row->abs_bound = info.abs_bound;
    row->nchunks = info.nchunks ? info.nchunks : 1;
    if (!bench_check(array, &info, &row->max_error))
        return cli_fail(FLOE_ERR_BOUND, "%s: %s missed the bound", row->array, row->coder);
    return 0;
}

static int measure_floe(bench_job *job, bench_array *array, floe_preset preset, uint32_t threads, double *abs_bound)
{
    char coder[BENCH_NAME];
    floe_params params = job->params;
    floe_ctx_options machine;
    floe_ctx *ctx;
    double in, out;
    params.preset = preset;
    snprintf(coder, sizeof coder, "floe %s", cli_preset_name(preset));
    int failed = cli_ctx_create_with(job->args, threads, &machine, &ctx);
    if (failed)
        return failed;
    bench_row *row = new_row(job, array, coder, threads);
    row->copy = bench_copy(array, job->repeats, job->seconds);
    failed = round_trip(ctx, &params, array, row, &in, &out); /* the warm-up */
    if (!failed) {
        floe_status status = floe_verify(ctx, array->stream, row->stream_nbytes, &array->original);
        failed = status == FLOE_OK ? 0 : cli_fail_call(status, ctx, NULL, NULL);
    }
    for (uint32_t i = 0; i < job->repeats && !failed; i++) {
        failed = round_trip(ctx, &params, array, row, &job->seconds[i], &job->seconds[job->repeats + i]);
        cli_progress_update(&job->progress, ++job->done, job->total);
    }
    if (!failed) {
        row->compress = bench_speed_of(job->seconds, job->repeats, array->nbytes);
        row->decompress = bench_speed_of(job->seconds + job->repeats, job->repeats, array->nbytes);
        *abs_bound = row->abs_bound;
    }
    floe_ctx_free(&ctx);
    return failed;
}

static int measure_array(bench_job *job, bench_array *array)
{
    int failed = 0;
    double abs_bound = 0;
    for (uint32_t p = 0; p < job->npresets && !failed; p++)
        for (uint32_t t = 0; t < job->nthreads && !failed; t++)
            failed = measure_floe(job, array, job->presets[p], job->threads[t], &abs_bound);
    const floe_dtype dtype = array->original.dtype;
    const bool integer = dtype == FLOE_I32 || dtype == FLOE_I64;
    if (failed || !cli_given(job->args, OPT_PEERS) || !(abs_bound > 0) || integer)
        return failed; /* zfp has no mode that keeps a bound of 0, one relative to each value, or one of integers */
    bench_row *row = new_row(job, array, "zfp serial", 1);
    row->abs_bound = abs_bound;
    row->copy = bench_copy(array, job->repeats, job->seconds);
    return bench_zfp(array, job->repeats, job->seconds, row);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int parse_threads(bench_job *job)
{
    const char *given = cli_value(job->args, OPT_THREADS_LIST), *at = given ? given : "1";
    for (;; at++) {
        uint64_t n;
        if (job->nthreads == MAX_THREAD_COUNTS || !cli_uint_parse(&at, ",", 1024, &n))
            return cli_fail(FLOE_ERR_ARGUMENT, "--threads '%s' is no list of numbers such as 1,2", given);
        job->threads[job->nthreads++] = (uint32_t)n;
        if (*at == 0)
            return 0;
    }
}

/* The one that is given, or all that the table of options has. */
static void list_presets(bench_job *job)
{
    const char *word =
        cli_given(job->args, OPT_PRESET) ? cli_value(job->args, OPT_PRESET) : cli_options[OPT_PRESET].choices;
    for (size_t n; job->npresets < MAX_PRESETS && (n = strcspn(word, " ")) > 0; word += n + (word[n] == ' ')) {
        char text[CLI_TEXT];
        floe_params params;
        snprintf(text, sizeof text, "preset=%.*s", (int)n, word);
        if (floe_params_parse(&params, text, NULL) == FLOE_OK)
            job->presets[job->npresets++] = params.preset;
    }
}

static int parse(bench_job *job)
{
    const char *repeats = cli_value(job->args, OPT_REPEATS), *seed = cli_value(job->args, OPT_SEED);
    const char *at = repeats, *seed_at = seed;
    uint64_t n = BENCH_REPEATS;
    int failed = cli_params(job->args, "rel=1e-3", &job->params);
    const char *link = cli_value(job->args, OPT_LINK);
    if (failed || (failed = parse_threads(job)) || (link && (failed = bench_link_parse(link, &job->link))))
        return failed;
    if (repeats && (!cli_uint_parse(&at, "", BENCH_MAX_REPEATS, &n) || n < BENCH_MIN_REPEATS))
        return cli_fail(FLOE_ERR_ARGUMENT, "--repeats '%s' is no number from %d to %d", repeats, BENCH_MIN_REPEATS,
                        BENCH_MAX_REPEATS);
    if (seed && !cli_uint_parse(&seed_at, "", UINT64_MAX, &job->seed))
        return cli_fail(FLOE_ERR_ARGUMENT, "--seed '%s' is no whole number", seed);
    if (cli_given(job->args, OPT_PEERS) && !bench_zfp_is_there())
        return bench_zfp(NULL, 0, NULL, NULL);
    job->repeats = (uint32_t)n;
    list_presets(job);
    return 0;
}

static int measure_all(bench_job *job)
{
    bench_array array = {.nbytes = 0};
    bool any_file = cli_given(job->args, OPT_IN), any_kind = cli_given(job->args, OPT_FIELD) || !any_file;
    const char *name;
    int failed = 0;
    for (int i = 0; !failed && any_file && (name = cli_value_at(job->args, OPT_IN, i)) != NULL; i++) {
        failed = array_of_file(job, name, &array);
        failed = failed ? failed : measure_array(job, &array);
        array_free(&array);
    }
    for (int i = 0; !failed && any_kind; i++) {
        name = cli_value_at(job->args, OPT_FIELD, i);
        if (!name && (i > 0 || cli_given(job->args, OPT_FIELD)))
            break;
        failed = array_of_kind(job, name ? name : "turbulence", &array);
        failed = failed ? failed : measure_array(job, &array);
        array_free(&array);
    }
    return failed;
}

static int report(const bench_job *job)
{
    const char *path = cli_value(job->args, OPT_JSON_FILE);
    io_writer *writer;
    floe_error err = {0};
    char *text = NULL;
    size_t nbytes = 0;
    if (path) {
        io_writer_options options = {.force = cli_given(job->args, OPT_FORCE), .may_be_terminal = true};
        FILE *out = open_memstream(&text, &nbytes);
        if (!out)
            return cli_fail(FLOE_ERR_MEMORY, "out of memory");
        bench_json_print(out, job->rows, job->nrows, job->link);
        fclose(out);
        floe_status status = io_writer_open(&writer, path, &options, &err);
        if (status == FLOE_OK) {
            floe_sink sink = io_writer_sink(writer);
            status = sink.write(sink.user, text, nbytes);
            if (status == FLOE_OK)
                status = io_writer_commit(writer, &err);
            else
                err = *io_writer_error(writer);
            io_writer_free(&writer);
        }
        free(text);
        if (status != FLOE_OK)
            return cli_fail_with(&err);
    }
    if (!(path && strcmp(path, "-") == 0) && !cli_given(job->args, OPT_QUIET)) {
        bench_table_print(stdout, job->rows, job->nrows);
        if (job->link > 0)
            bench_link_print(stdout, job->rows, job->nrows, job->link);
    }
    return cli_stdout_finish(0);
}

int cmd_bench(const cli_args *args)
{
    bench_job job = {.args = args};
    int failed = parse(&job);
    if (failed)
        return failed;
    uint64_t narrays = args->nrepeats ? (uint64_t)args->nrepeats : 1; /* only --in and --field repeat here */
    job.total = narrays * job.nthreads * job.npresets * job.repeats;
    job.seconds = malloc(2 * job.repeats * sizeof *job.seconds);
    job.rows = calloc(narrays * (job.nthreads * job.npresets + 1), sizeof *job.rows);
    if (!job.seconds || !job.rows)
        failed = cli_fail(FLOE_ERR_MEMORY, "out of memory");
    cli_progress_start(&job.progress, "measuring", cli_given(args, OPT_QUIET));
    failed = failed ? failed : measure_all(&job);
    cli_progress_stop(&job.progress);
    failed = failed ? failed : report(&job);
    free(job.seconds);
    free(job.rows);
    return failed;
}
