/* SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/axis_hint.h"
#include "cli/collapse.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/raw_zfp.h"
#include "cli/request.h"
#include "cli/say.h"
#include "cli/stream_head.h"

static const double near_ratio = 0.03; /* a ratio that is farther off is worth a warning */
enum { SMALL_NBYTES = 1 << 14 };       /* of such fields the header alone may be what makes a stream large */

typedef struct compress_job {
    const cli_args *args;
    bool quiet, json;
    io_reader *reader;
    io_writer *writer;
    floe_ctx_options machine;
    floe_ctx *ctx;
    floe_field layout;
    floe_params params;
    cli_attrs attrs;
    floe_source source;
    floe_sink sink;
    cli_collapse sample;
    unsigned char *head; /* of the stream, to read the resolved bound from: CLI_STREAM_HEAD_NBYTES */
    size_t head_nbytes;
    bool bound_printed;
    cli_progress progress;
    char hint[2 * CLI_TEXT];
    char warning[4 * CLI_TEXT]; /* that nearly all is lost, a ratio is missed, or nothing is gained; "": no */
    double seconds;
} compress_job;

/* ---- what it prints ---------------------------------------------------------------------------------------------- */

static bool prints_all(const compress_job *job) { return !job->quiet && !job->json; }

static void say_layout(const compress_job *job)
{
    char text[2 * CLI_TEXT];
    cli_layout_text(job->layout.rank, job->layout.shape, job->layout.dtype, text);
    if (prints_all(job))
        fprintf(stderr, "%s\n", text);
}

static void bound_text(const floe_info *info, char text[2 * CLI_TEXT])
{
    char requested[CLI_TEXT], absolute[CLI_TEXT];
    cli_real_text(info->bound, requested);
    snprintf(absolute, sizeof absolute, "%.6g", info->abs_bound);
    switch (info->mode) {
    case FLOE_BOUND_LOSSLESS: snprintf(text, 2 * CLI_TEXT, "lossless"); break;
    case FLOE_BOUND_ABS: snprintf(text, 2 * CLI_TEXT, "abs %.40s", requested); break;
    case FLOE_BOUND_PWREL: snprintf(text, 2 * CLI_TEXT, "pwrel %.40s: of each value", requested); break;
    case FLOE_BOUND_RATE: snprintf(text, 2 * CLI_TEXT, "none: rate %.40s, in bits a value", requested); break;
    case FLOE_BOUND_PREC: snprintf(text, 2 * CLI_TEXT, "none: prec %.40s, in bit planes", requested); break;
    default: snprintf(text, 2 * CLI_TEXT, "%s %.40s: abs %.40s", cli_mode_name(info->mode), requested, absolute); break;
    }
}

/* Says the resolved bound as soon as the header stands in the head. */
static void print_bound(compress_job *job)
{
    floe_info info = {.size = sizeof info};
    char text[2 * CLI_TEXT];
    if (job->bound_printed || !prints_all(job) || floe_stream_info(job->head, job->head_nbytes, &info, NULL) != FLOE_OK)
        return;
    bound_text(&info, text);
    fprintf(stderr, "bound %s\n", text);
    job->bound_printed = true;
}

static void print_result(const compress_job *job, const floe_stats *stats)
{
    char raw[CLI_TEXT], packed[CLI_TEXT], error[CLI_TEXT];
    double bits = stats->nelems ? 8.0 * (double)stats->stream_nbytes / (double)stats->nelems : 0;
    cli_nbytes_text(stats->raw_nbytes, raw);
    cli_nbytes_text(stats->stream_nbytes, packed);
    snprintf(error, sizeof error, "%.6g",
             job->params.mode == FLOE_BOUND_PWREL ? stats->max_pw_error : stats->max_error);
    fprintf(stderr, "%s -> %s: ratio %.2f, %.3f bits per value, max %s %s, %.0f MB/s%s\n", raw, packed,
            (double)stats->raw_nbytes / (double)stats->stream_nbytes, bits,
            job->params.mode == FLOE_BOUND_PWREL ? "relative error" : "error", error,
            (double)stats->raw_nbytes / 1e6 / job->seconds, cli_given(job->args, OPT_VERIFY) ? ", verified" : "");
}

static void json_result(const compress_job *job, const floe_stats *stats)
{
    cli_json json;
    floe_info info = {.size = sizeof info, .abs_bound = NAN, .bound = NAN};
    (void)floe_stream_info(job->head, job->head_nbytes, &info, NULL);
    cli_json_init(&json, io_writer_is_stdout(job->writer) ? stderr : stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "command", "compress");
    cli_json_text(&json, "input", io_reader_name(job->reader));
    cli_json_text(&json, "output", io_writer_name(job->writer));
    cli_json_text(&json, "dtype", floe_dtype_name(job->layout.dtype));
    cli_json_shape(&json, "shape", job->layout.rank, job->layout.shape);
    cli_json_text(&json, "mode", cli_mode_name(job->params.mode));
    cli_json_real(&json, "bound", job->params.mode == FLOE_BOUND_LOSSLESS ? 0 : job->params.bound);
    cli_json_real(&json, "abs_bound", info.abs_bound);
    cli_json_uint(&json, "elements", stats->nelems);
    cli_json_uint(&json, "raw_nbytes", stats->raw_nbytes);
    cli_json_uint(&json, "stream_nbytes", stats->stream_nbytes);
    cli_json_real(&json, "ratio", (double)stats->raw_nbytes / (double)stats->stream_nbytes);
    cli_json_real(&json, "bits_per_value",
                  stats->nelems ? 8.0 * (double)stats->stream_nbytes / (double)stats->nelems : NAN);
    cli_json_real(&json, "max_error", stats->max_error);
    if (job->params.mode == FLOE_BOUND_PWREL)
        cli_json_real(&json, "max_relative_error", stats->max_pw_error);
    cli_json_uint(&json, "exceptions", stats->nexceptions);
    cli_json_uint(&json, "chunks", stats->nchunks);
    cli_json_real(&json, "seconds", job->seconds);
    cli_json_real(&json, "mb_per_s", (double)stats->raw_nbytes / 1e6 / job->seconds);
    cli_json_bool(&json, "verified", cli_given(job->args, OPT_VERIFY));
    if (job->hint[0])
        cli_json_text(&json, "note", job->hint);
    if (job->warning[0])
        cli_json_text(&json, "warning", job->warning);
    cli_json_close(&json, '}');
}

/* ---- the work ---------------------------------------------------------------------------------------------------- */

static floe_status keep_head_and_write(void *user, const void *src, size_t nbytes)
{
    compress_job *job = user;
    size_t room = CLI_STREAM_HEAD_NBYTES - job->head_nbytes, n = nbytes < room ? nbytes : room;
    if (n > 0) {
        memcpy(job->head + job->head_nbytes, src, n);
        job->head_nbytes += n;
        print_bound(job);
    }
    return job->sink.write(job->sink.user, src, nbytes);
}

static floe_status read_and_sample(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    compress_job *job = user;
    floe_status status = job->source.read(job->source.user, offset, dst, nbytes, got);
    if (status == FLOE_OK)
        cli_collapse_see(&job->sample, offset, dst, *got);
    return status;
}

/* A codec that is named may be the wrong one for such a bound; a rate or a precision is what the stream is to take. */
static void judge_size(compress_job *job, const floe_stats *stats)
{
    const floe_codec codec = job->params.codec;
    if (!job->warning[0] && codec != FLOE_CODEC_AUTO && !cli_mode_is_size(job->params.mode) &&
        stats->raw_nbytes >= SMALL_NBYTES && stats->stream_nbytes >= stats->raw_nbytes)
        snprintf(job->warning, sizeof job->warning,
                 "the stream is no smaller than the values: codec %s gains nothing here; another one may take less",
                 floe_codec_name(codec));
}

/* With --strict a bound that loses nearly all is an error, while the output has no name yet. */
static int judge_bound(compress_job *job, const floe_stats *stats)
{
    floe_info info = {.size = sizeof info};
    if (floe_stream_info(job->head, job->head_nbytes, &info, NULL) != FLOE_OK || isnan(info.abs_bound))
        return 0;
    const cli_collapse_facts facts = {.mode = info.mode,
                                      .error = fmin(info.abs_bound, stats->max_error),
                                      .min = info.value_min,
                                      .max = info.value_max,
                                      .has_fill = info.has_fill,
                                      .fill = info.fill_value};
    cli_collapse_judge(&job->sample, &facts, job->warning);
    if (job->warning[0] && cli_given(job->args, OPT_STRICT))
        return cli_fail(FLOE_ERR_ARGUMENT, "%s", job->warning);
    const double ratio = (double)stats->raw_nbytes / (double)stats->stream_nbytes;
    const size_t used = strlen(job->warning);
    if (info.mode == FLOE_BOUND_RATIO && fabs(ratio / info.bound - 1) > near_ratio)
        snprintf(job->warning + used, sizeof job->warning - used,
                 "%sthe ratio is %.4g: no bound that was tried for this field and codec comes nearer to %.4g",
                 used ? "; " : "", ratio, info.bound);
    return 0;
}

/* A pipe has to be spooled where something reads it again. The library would do without looking for a fill value, but
 * then the same values would give other bytes from a pipe than from a file. */
static int make_seekable(compress_job *job)
{
    floe_error err = {0};
    const uint32_t passes = floe_compress_passes(&job->layout, &job->params);
    if (io_reader_is_seekable(job->reader))
        return 0;
    bool verify = cli_given(job->args, OPT_VERIFY);
    if (!passes && !verify)
        return 0;
    if (prints_all(job))
        fprintf(stderr, "standard input is read more than once (%s): copying it to a temporary file\n",
                passes & FLOE_PASSES_RANGE   ? "the bound needs the range"
                : verify                     ? "--verify"
                : passes & FLOE_PASSES_CODEC ? "a sample decides on the codec"
                                             : "--fill auto");
    return io_reader_spool(job->reader, &err) == FLOE_OK ? 0 : cli_fail_with(&err);
}

/* Decodes what was written and compares it with the input, before the output gets its name. */
static int verify_output(compress_job *job)
{
    floe_error err = {0};
    io_reader *stream = NULL;
    const void *data, *original;
    uint64_t nbytes, original_nbytes;
    if (io_writer_read_back(job->writer, &stream, &err) != FLOE_OK)
        return cli_fail_with(&err);
    int failed = 0;
    if (io_reader_map(stream, &data, &nbytes, &err) != FLOE_OK ||
        io_reader_map(job->reader, &original, &original_nbytes, &err) != FLOE_OK) {
        failed = cli_fail_with(&err);
    } else {
        floe_field field = floe_field_of(original, job->layout.dtype, job->layout.rank, job->layout.shape);
        floe_status status;
        do
            status = floe_verify(job->ctx, data, nbytes, &field);
        while (cli_ctx_retreat(job->args, status, &job->machine, &job->ctx));
        if (status != FLOE_OK)
            failed = cli_fail_call(status, job->ctx, NULL, NULL);
    }
    io_reader_free(&stream);
    return failed;
}

static int run(compress_job *job)
{
    floe_error err = {0};
    floe_stats stats = {.size = sizeof stats};
    job->source = io_reader_source(job->reader);
    floe_source source = job->source;
    source.user = job;
    source.read = read_and_sample;
    cli_collapse_init(&job->sample, &job->layout);
    floe_sink sink = {.user = job, .write = keep_head_and_write};
    floe_stream_options options = {.size = sizeof options,
                                   .attrs = job->attrs.attrs,
                                   .nattrs = job->attrs.count,
                                   .progress = cli_progress_update,
                                   .progress_user = &job->progress};
    floe_status status;
    do { /* a GPU that has too little memory reports it before the first byte */
        double started = cli_seconds();
        cli_progress_start(&job->progress, "compressing", job->quiet || job->json);
        status = floe_compress_stream(job->ctx, &job->layout, &job->params, &source, &sink, &options);
        cli_progress_stop(&job->progress);
        job->seconds = fmax(cli_seconds() - started, 1e-9);
    } while (job->head_nbytes == 0 && cli_ctx_retreat(job->args, status, &job->machine, &job->ctx));
    if (status != FLOE_OK)
        return cli_fail_call(status, job->ctx, job->reader, job->writer);
    floe_ctx_stats(job->ctx, &stats);
    if (io_reader_finish(job->reader, &err) != FLOE_OK)
        return cli_fail_with(&err);
    int failed = judge_bound(job, &stats);
    judge_size(job, &stats);
    if (!failed && job->warning[0] && prints_all(job))
        fprintf(stderr, "warning: %s\n", job->warning);
    if (!failed && cli_given(job->args, OPT_VERIFY))
        failed = verify_output(job);
    if (failed)
        return failed;
    if (io_writer_commit(job->writer, &err) != FLOE_OK)
        return cli_fail_with(&err);
    if (job->json)
        json_result(job, &stats);
    else if (!job->quiet)
        print_result(job, &stats);
    return cli_stdout_finish(0);
}

/* Attributes are UTF-8 without control characters; the names of files may be anything. */
static bool is_plain_text(const char *text)
{
    int n = 1;
    for (const unsigned char *c = (const unsigned char *)text; n && *c; c += n) {
        const bool control = *c < 0x20 || *c == 0x7F || (c[0] == 0xC2 && c[1] < 0xA0);
        n = control ? 0 : cli_utf8_nbytes(c);
    }
    return n != 0;
}

/* Keeps the name of a .npy file without folder and suffix, unless it is no text, or the user gives a name. */
static void name_attribute(compress_job *job)
{
    const char *name = io_reader_name(job->reader), *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    size_t n = strlen(name);
    if (strcmp(io_reader_format(job->reader), "npy") == 0 && n > 4 && strcmp(name + n - 4, ".npy") == 0 &&
        is_plain_text(name))
        cli_attrs_add(&job->attrs, "name", name, n - 4);
}

static int prepare(compress_job *job)
{
    const cli_args *args = job->args;
    const char *out = cli_value(args, OPT_OUTPUT);
    floe_error err = {0};
    int failed;
    if (!out)
        return cli_fail(FLOE_ERR_ARGUMENT, "compress needs -o OUT");
    if ((failed = cli_params(args, NULL, &job->params)) || (failed = cli_attrs_parse(args, &job->attrs)) ||
        (failed = cli_ctx_create(args, &job->machine, &job->ctx)))
        return failed;
    if (io_reader_open(&job->reader, args->operand[0], &err) != FLOE_OK)
        return cli_fail_with(&err);
    if ((failed = cli_layout_of(args, job->reader, &job->layout)))
        return failed;
    name_attribute(job);
    io_writer_options options = {
        .force = cli_given(args, OPT_FORCE), .read_back = cli_given(args, OPT_VERIFY), .input = job->reader};
    if (io_writer_open(&job->writer, out, &options, &err) != FLOE_OK)
        return cli_fail_with(&err);
    job->sink = io_writer_sink(job->writer);
    job->head = malloc(CLI_STREAM_HEAD_NBYTES);
    if (!job->head)
        return cli_fail(FLOE_ERR_MEMORY, "out of memory");
    say_layout(job);
    if ((failed = make_seekable(job)))
        return failed;
    if (!job->quiet)
        cli_axis_hint(job->reader, &job->layout, job->hint);
    if (job->hint[0] && prints_all(job))
        fprintf(stderr, "note: %s\n", job->hint);
    return 0;
}

int cmd_compress(const cli_args *args)
{
    if (cli_given(args, OPT_RAW_ZFP))
        return cli_raw_zfp_compress(args);
    int absent = cli_raw_zfp_absent(args);
    if (absent)
        return absent;
    compress_job job = {.args = args, .quiet = cli_given(args, OPT_QUIET), .json = cli_given(args, OPT_JSON)};
    int failed = prepare(&job);
    if (!failed)
        failed = run(&job);
    floe_ctx_free(&job.ctx);
    io_writer_free(&job.writer);
    io_reader_free(&job.reader);
    free(job.head);
    return failed;
}
