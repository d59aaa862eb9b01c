/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/json.h"
#include "cli/lost.h"
#include "cli/progress.h"
#include "cli/request.h"
#include "cli/say.h"
#include "cli/stream_head.h"

typedef struct verify_job {
    const cli_args *args;
    bool quiet, json;
    io_reader *reader, *original;
    floe_ctx_options machine;
    floe_ctx *ctx;
    floe_info info;
    cli_lost lost;
    cli_progress progress;
} verify_job;

static void print_json(const verify_job *job, const floe_stats *stats, bool ok, const char *why)
{
    cli_json json;
    cli_json_init(&json, stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "command", "verify");
    cli_json_text(&json, "input", io_reader_name(job->reader));
    if (job->original) {
        cli_json_text(&json, "against", io_reader_name(job->original));
        cli_json_text(&json, "mode", cli_mode_name(job->info.mode));
        cli_json_real(&json, "bound", job->info.mode == FLOE_BOUND_LOSSLESS ? 0 : job->info.bound);
        cli_json_real(&json, "abs_bound", job->info.abs_bound);
        cli_json_real(&json, "max_error", stats->max_error);
        cli_json_real(&json, "max_relative_error", stats->max_pw_error);
    }
    cli_json_uint(&json, "elements", job->info.raw_nbytes / floe_dtype_size(job->info.dtype));
    cli_json_uint(&json, "chunks", job->info.nchunks);
    cli_lost_json(&job->lost, &json, job->info.rank);
    cli_json_bool(&json, "ok", ok);
    if (!ok)
        cli_json_text(&json, "problem", why);
    cli_json_close(&json, '}');
}

/* ---- against the original ---------------------------------------------------------------------------------------- */

static int open_original(verify_job *job, const char *path, floe_field *field)
{
    floe_error err = {0};
    const void *data;
    uint64_t nbytes;
    floe_field layout = floe_field_of(NULL, job->info.dtype, job->info.rank, job->info.shape);
    if (io_reader_open(&job->original, path, &err) != FLOE_OK)
        return cli_fail_with(&err);
    const floe_field *known = io_reader_layout(job->original);
    bool differs = known && (known->dtype != layout.dtype || known->rank != layout.rank ||
                             memcmp(known->shape, layout.shape, layout.rank * sizeof layout.shape[0]) != 0);
    if (differs) {
        char have[2 * CLI_TEXT], want[2 * CLI_TEXT];
        cli_layout_text(known->rank, known->shape, known->dtype, have);
        cli_layout_text(layout.rank, layout.shape, layout.dtype, want);
        return cli_fail(FLOE_ERR_FORMAT, "'%s' is not the original: it holds %s; the stream holds %s", path, have,
                        want);
    }
    int failed = cli_raw_check(job->args, job->original);
    if (failed)
        return failed;
    if (io_reader_expect(job->original, &layout, &err) != FLOE_OK || io_reader_spool(job->original, &err) != FLOE_OK ||
        io_reader_map(job->original, &data, &nbytes, &err) != FLOE_OK)
        return cli_fail_with(&err);
    *field = floe_field_of(data, layout.dtype, layout.rank, layout.shape);
    return 0;
}

static void print_result(const verify_job *job, const floe_stats *stats)
{
    char bound[CLI_TEXT], absolute[CLI_TEXT];
    cli_real_text(job->info.bound, bound);
    cli_real_text(job->info.abs_bound, absolute);
    switch (job->info.mode) {
    case FLOE_BOUND_LOSSLESS: printf("ok: bit for bit the same\n"); break;
    case FLOE_BOUND_PWREL: printf("ok: max relative error %.6g, bound pwrel %s\n", stats->max_pw_error, bound); break;
    case FLOE_BOUND_RATE:
    case FLOE_BOUND_PREC:
        printf("ok: max error %.6g, no bound (%s %s); NaN, Inf, -0 and fill are exact\n", stats->max_error,
               cli_mode_name(job->info.mode), bound);
        break;
    case FLOE_BOUND_ABS: printf("ok: max error %.6g, bound abs %s\n", stats->max_error, bound); break;
    default:
        printf("ok: max error %.6g, bound %s %s, abs %s\n", stats->max_error, cli_mode_name(job->info.mode), bound,
               absolute);
        break;
    }
}

static int verify_against(verify_job *job, const char *path)
{
    floe_error err = {0};
    floe_field field;
    floe_stats stats = {.size = sizeof stats};
    const void *data;
    uint64_t nbytes;
    int failed = open_original(job, path, &field);
    if (failed)
        return failed;
    if (io_reader_map(job->reader, &data, &nbytes, &err) != FLOE_OK)
        return cli_fail_with(&err);
    floe_status status;
    do
        status = floe_verify(job->ctx, data, nbytes, &field);
    while (cli_ctx_retreat(job->args, status, &job->machine, &job->ctx));
    floe_ctx_stats(job->ctx, &stats);
    if (job->json && (status == FLOE_OK || status == FLOE_ERR_BOUND))
        print_json(job, &stats, status == FLOE_OK, floe_ctx_message(job->ctx));
    else if (status == FLOE_OK && !job->quiet)
        print_result(job, &stats);
    return status == FLOE_OK ? 0 : cli_fail_call(status, job->ctx, job->reader, NULL);
}

/* ---- by itself --------------------------------------------------------------------------------------------------- */

static floe_status discard(void *user, const void *src, size_t nbytes)
{
    (void)user;
    (void)src;
    (void)nbytes;
    return FLOE_OK;
}

/* Decodes all of it. Salvaging goes on behind damage and counts the lost chunks, but does not mind a bad index. */
static floe_status decode_all(verify_job *job, bool salvage)
{
    floe_source source = io_reader_source(job->reader);
    floe_sink sink = {.write = discard};
    floe_stream_options options = {.size = sizeof options,
                                   .progress = cli_progress_update,
                                   .progress_user = &job->progress,
                                   .salvage = salvage,
                                   .damaged = cli_lost_add,
                                   .damaged_user = &job->lost};
    floe_status status;
    do {
        cli_progress_start(&job->progress, "verifying", job->quiet || job->json);
        status = floe_decompress_stream(job->ctx, &source, &sink, &options, NULL);
        cli_progress_stop(&job->progress);
    } while (job->lost.count == 0 && cli_ctx_retreat(job->args, status, &job->machine, &job->ctx));
    return status;
}

static int verify_alone(verify_job *job)
{
    floe_stats stats = {.size = sizeof stats};
    floe_error first = {.status = decode_all(job, false)};
    bool damaged = first.status == FLOE_ERR_FORMAT || first.status == FLOE_ERR_CHECKSUM;
    snprintf(first.message, sizeof first.message, "%s", floe_ctx_message(job->ctx));
    if (first.status != FLOE_OK && !(damaged && decode_all(job, true) == FLOE_OK))
        return cli_fail_call(first.status, job->ctx, job->reader, NULL);
    cli_lost_finish(&job->lost);
    floe_ctx_stats(job->ctx, &stats);
    if (job->json)
        print_json(job, &stats, !damaged, first.message);
    else if (!damaged && !job->quiet)
        printf("ok: index and all chunks (%" PRIu64 ") are whole and decode\n", job->info.nchunks);
    if (job->lost.count)
        return cli_fail(first.status, "'%s': %" PRIu64 " of %" PRIu64 " chunks are damaged",
                        io_reader_name(job->reader), job->lost.nchunks, job->info.nchunks);
    return damaged ? cli_fail(first.status, "'%s': %s", io_reader_name(job->reader), first.message) : 0;
}

static int run(verify_job *job)
{
    const char *against = cli_value(job->args, OPT_AGAINST), *in = job->args->operand[0];
    floe_error err = {0};
    int failed;
    if (against && strcmp(against, "-") == 0 && strcmp(in, "-") == 0)
        return cli_fail(FLOE_ERR_ARGUMENT, "only one of the two can come from standard input");
    if ((failed = cli_ctx_create(job->args, &job->machine, &job->ctx)))
        return failed;
    if ((failed = cli_stream_open(in, &job->reader, &job->info)))
        return failed;
    if (io_reader_spool(job->reader, &err) != FLOE_OK)
        return cli_fail_with(&err);
    return against ? verify_against(job, against) : verify_alone(job);
}

int cmd_verify(const cli_args *args)
{
    verify_job job = {.args = args, .quiet = cli_given(args, OPT_QUIET), .json = cli_given(args, OPT_JSON)};
    job.lost.out = job.quiet || job.json ? NULL : stdout;
    job.lost.progress = &job.progress;
    int failed = cli_stdout_finish(run(&job));
    floe_ctx_free(&job.ctx);
    io_reader_free(&job.original);
    io_reader_free(&job.reader);
    return failed;
}
