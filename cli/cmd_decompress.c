/* SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/json.h"
#include "cli/lost.h"
#include "cli/progress.h"
#include "cli/raw_zfp.h"
#include "cli/request.h"
#include "cli/say.h"
#include "cli/stream_head.h"

enum { LEVEL_MOST = 62 };

typedef struct decompress_job {
    const cli_args *args;
    bool quiet, json;
    io_reader *reader;
    io_writer *writer;
    floe_ctx_options machine;
    floe_ctx *ctx;
    floe_sink sink;
    floe_info info;
    bool has_region;
    uint32_t level;
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    floe_field out; /* what is written, once begun */
    bool begun;
    cli_progress progress;
    cli_lost lost;
    double seconds;
} decompress_job;

/* Once the header is read: prints what comes and writes the header of a .npy file. */
static floe_status begin(decompress_job *job, floe_error *err)
{
    char text[2 * CLI_TEXT];
    job->begun = true;
    job->out = floe_field_of(NULL, job->info.dtype, job->info.rank, job->info.shape);
    for (uint32_t i = 0; i < job->info.rank; i++) {
        const uint64_t lo = job->has_region ? job->lo[i] : 0, hi = job->has_region ? job->hi[i] : job->info.shape[i];
        const uint64_t round = ((uint64_t)1 << job->level) - 1; /* points from the first multiple of 2^level on */
        job->out.shape[i] = ((hi + round) >> job->level) - ((lo + round) >> job->level);
    }
    if (!job->quiet && !job->json) {
        cli_layout_text(job->out.rank, job->out.shape, job->out.dtype, text);
        fprintf(stderr, "%s\n", text);
    }
    return io_writer_begin(job->writer, &job->out, err);
}

static floe_status begin_and_write(void *user, const void *src, size_t nbytes)
{
    decompress_job *job = user;
    if (!job->begun) {
        floe_status status = begin(job, NULL); /* the writer keeps the message */
        if (status != FLOE_OK)
            return status;
    }
    return job->sink.write(job->sink.user, src, nbytes);
}

static void json_result(const decompress_job *job, const floe_stats *stats, uint64_t nbytes)
{
    cli_json json;
    cli_json_init(&json, io_writer_is_stdout(job->writer) ? stderr : stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "command", "decompress");
    cli_json_text(&json, "input", io_reader_name(job->reader));
    cli_json_text(&json, "output", io_writer_name(job->writer));
    cli_json_text(&json, "dtype", floe_dtype_name(job->out.dtype));
    cli_json_shape(&json, "shape", job->out.rank, job->out.shape);
    if (job->has_region)
        cli_json_shape(&json, "region_start", job->out.rank, job->lo);
    if (job->level)
        cli_json_uint(&json, "level", job->level);
    cli_json_uint(&json, "raw_nbytes", nbytes);
    cli_json_uint(&json, "chunks", stats->nchunks);
    cli_lost_json(&job->lost, &json, job->info.rank);
    cli_json_real(&json, "seconds", job->seconds);
    cli_json_real(&json, "mb_per_s", (double)nbytes / 1e6 / job->seconds);
    cli_json_close(&json, '}');
}

/* What stands in place of a value that is lost. */
static void lost_value_text(const floe_info *info, char text[CLI_TEXT])
{
    const bool is_integer = cli_dtype_is_integer(info->dtype);
    if (is_integer && info->has_fill)
        cli_fill_text(info->dtype, info->fill_value, info->fill_integer, text);
    else
        snprintf(text, CLI_TEXT, "%s", is_integer ? "the least number" : "NaN");
}

/* Reports how it went; the exit code shows whether chunks were lost. */
static int finish(const decompress_job *job)
{
    floe_stats stats = {.size = sizeof stats};
    uint64_t nbytes = floe_dtype_size(job->out.dtype);
    for (uint32_t i = 0; i < job->out.rank; i++)
        nbytes *= job->out.shape[i];
    cli_lost_finish(&job->lost);
    floe_ctx_stats(job->ctx, &stats);
    if (job->json)
        json_result(job, &stats, nbytes);
    else if (!job->quiet)
        fprintf(stderr, "%s: %.0f MB/s\n", io_writer_name(job->writer), (double)nbytes / 1e6 / job->seconds);
    if (!job->lost.count)
        return 0;
    char value[CLI_TEXT];
    lost_value_text(&job->info, value);
    return cli_fail(FLOE_ERR_CHECKSUM, "'%s': values of %" PRIu64 " of %" PRIu64 " chunks are lost; they are %s",
                    io_reader_name(job->reader), job->lost.nchunks, job->info.nchunks, value);
}

/* Of a stream that was cut short the finest level whose bytes are all there; 0: none. */
static uint32_t find_whole_level(decompress_job *job)
{
    const void *data;
    uint64_t nbytes, n;
    if (!job->info.levels || !io_reader_is_seekable(job->reader) ||
        io_reader_map(job->reader, &data, &nbytes, NULL) != FLOE_OK ||
        floe_stream_level_nbytes(job->ctx, data, nbytes, 0, &n) == FLOE_OK) /* it has an index */
        return 0;
    for (uint32_t k = 1; k <= job->info.levels; k++)
        if (floe_stream_level_nbytes(job->ctx, data, nbytes, k, &n) == FLOE_OK)
            return k;
    return 0;
}

/* Of a stream that is damaged or cut short: what --salvage can do. */
static int fail(decompress_job *job, floe_status status)
{
    char why[1024], level[64] = "";
    const bool is_damage = status == FLOE_ERR_FORMAT || status == FLOE_ERR_CHECKSUM;
    if (!is_damage || cli_given(job->args, OPT_SALVAGE) || job->info.nchunks > io_reader_nbytes(job->reader) ||
        io_reader_error(job->reader)->status != FLOE_OK || io_writer_error(job->writer)->status != FLOE_OK)
        return cli_fail_call(status, job->ctx, job->reader, job->writer);
    snprintf(why, sizeof why, "%s", floe_ctx_message(job->ctx));
    const uint32_t whole = find_whole_level(job);
    if (whole)
        snprintf(level, sizeof level, ", and with --level %" PRIu32 " all of that level", whole);
    return cli_fail(status, "'%s': %s (--salvage gives what is whole%s)", io_reader_name(job->reader), why, level);
}

static int run(decompress_job *job)
{
    floe_error err = {0};
    floe_source source = io_reader_source(job->reader);
    floe_sink sink = {.user = job, .write = begin_and_write};
    floe_stream_options options = {.size = sizeof options,
                                   .progress = cli_progress_update,
                                   .progress_user = &job->progress,
                                   .salvage = cli_given(job->args, OPT_SALVAGE),
                                   .lo = job->has_region ? job->lo : NULL,
                                   .hi = job->has_region ? job->hi : NULL,
                                   .damaged = cli_lost_add,
                                   .damaged_user = &job->lost,
                                   .level = job->level};
    floe_status status;
    do { /* a GPU that has too little memory reports it before the first value */
        double started = cli_seconds();
        cli_progress_start(&job->progress, "decompressing", job->quiet || job->json);
        status = floe_decompress_stream(job->ctx, &source, &sink, &options, &job->info);
        cli_progress_stop(&job->progress);
        job->seconds = fmax(cli_seconds() - started, 1e-9);
    } while (!job->begun && job->lost.count == 0 && cli_ctx_retreat(job->args, status, &job->machine, &job->ctx));
    if (status != FLOE_OK)
        return fail(job, status);
    if (!job->begun && begin(job, &err) != FLOE_OK) /* an empty field */
        return cli_fail_with(&err);
    if (io_writer_commit(job->writer, &err) != FLOE_OK)
        return cli_fail_with(&err);
    return cli_stdout_finish(finish(job));
}

static int parse_level(decompress_job *job)
{
    const char *text = cli_value(job->args, OPT_LEVEL), *at = text;
    uint64_t level = 0;
    if (text && !cli_uint_parse(&at, "", LEVEL_MOST, &level))
        return cli_fail(FLOE_ERR_ARGUMENT, "--level '%s' is no whole number up to %d", text, LEVEL_MOST);
    job->level = (uint32_t)level;
    return 0;
}

/* A box may lie between the values of a level. */
static int region_check(const decompress_job *job, const char *region)
{
    const uint64_t between = ((uint64_t)1 << job->level) - 1;
    for (uint32_t i = 0; i < job->info.rank; i++)
        if ((job->lo[i] + between) >> job->level == (job->hi[i] + between) >> job->level)
            return cli_fail(FLOE_ERR_ARGUMENT, "--region '%s' holds no value of level %" PRIu32 " (axis %" PRIu32 ")",
                            region, job->level, i);
    return 0;
}

/* Logarithms of magnitudes have been transformed, signs stand beside them. */
static void note_signs(const decompress_job *job)
{
    const floe_info *info = &job->info;
    const bool no_signs = info->codec == FLOE_CODEC_WAVELET && info->mode == FLOE_BOUND_PWREL && job->level > 0 &&
                          job->level <= info->levels && !(info->value_min >= 0);
    if (no_signs && !job->quiet && !job->json)
        fprintf(stderr, "note: a level of codec wavelet with pwrel has magnitudes, without signs\n");
}

static int prepare(decompress_job *job)
{
    const cli_args *args = job->args;
    const char *out = cli_value(args, OPT_OUTPUT), *region = cli_value(args, OPT_REGION);
    floe_error err = {0};
    int failed;
    if (!out)
        return cli_fail(FLOE_ERR_ARGUMENT, "decompress needs -o OUT");
    if ((failed = cli_ctx_create(args, &job->machine, &job->ctx)))
        return failed;
    if ((failed = cli_stream_open(args->operand[0], &job->reader, &job->info)))
        return failed;
    if ((failed = parse_level(job)))
        return failed;
    if ((region || job->level || cli_given(args, OPT_SALVAGE)) && io_reader_spool(job->reader, &err) != FLOE_OK)
        return cli_fail_with(&err);
    job->has_region = region != NULL;
    if (region && (failed = cli_region_parse(region, job->info.rank, job->info.shape, job->lo, job->hi)))
        return failed;
    if (region && job->level <= job->info.levels && (failed = region_check(job, region)))
        return failed;
    io_writer_options options = {.force = cli_given(args, OPT_FORCE), .is_array = true, .input = job->reader};
    if (io_writer_open(&job->writer, out, &options, &err) != FLOE_OK)
        return cli_fail_with(&err);
    job->sink = io_writer_sink(job->writer);
    note_signs(job);
    return 0;
}

int cmd_decompress(const cli_args *args)
{
    if (cli_given(args, OPT_RAW_ZFP))
        return cli_raw_zfp_decompress(args);
    int absent = cli_raw_zfp_absent(args);
    if (absent)
        return absent;
    decompress_job job = {.args = args, .quiet = cli_given(args, OPT_QUIET), .json = cli_given(args, OPT_JSON)};
    job.lost.out = job.quiet || job.json ? NULL : stderr;
    job.lost.progress = &job.progress;
    int failed = prepare(&job);
    if (!failed)
        failed = run(&job);
    floe_ctx_free(&job.ctx);
    io_writer_free(&job.writer);
    io_reader_free(&job.reader);
    return failed;
}
