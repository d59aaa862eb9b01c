/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/request.h"
#include "cli/say.h"
#include "cli/stream_head.h"

enum {
    PLAN_CAPACITY = 1 << 14,
    PLANS = 16 /* chunks of which it is reported */
};

typedef struct info_job {
    io_reader *reader;
    const void *data;
    uint64_t nbytes;
    floe_info info;
    char *key, *value; /* of the attribute that was read last */
    char problem[256]; /* why not all of it can be decoded; "" when nothing was found */
    bool damaged;      /* is the problem; else it is not known */
    floe_ctx *ctx;
    bool verbose;
    char plan[PLAN_CAPACITY];
} info_job;

/* Decodes the first element, for which index and first chunk have to be there. Cheap, and finds a stream cut short. */
static void look_for_damage(info_job *job)
{
    static const uint64_t lo[FLOE_MAX_RANK];
    static const uint64_t one[FLOE_MAX_RANK] = {1, 1, 1, 1};
    double element = 0;
    floe_field out = floe_field_of(&element, job->info.dtype, job->info.rank, one);
    floe_ctx_options options = {.size = sizeof options, .threads = 1};
    if (floe_ctx_create(&job->ctx, &options) != FLOE_OK || job->info.raw_nbytes == 0)
        return;
    const floe_status status = floe_decompress_region(job->ctx, job->data, job->nbytes, lo, one, &out);
    job->damaged = status == FLOE_ERR_FORMAT || status == FLOE_ERR_CHECKSUM;
    if (status != FLOE_OK)
        snprintf(job->problem, sizeof job->problem, "%s", floe_ctx_message(job->ctx));
}

/* Bytes that a level takes; false where they are not all there. */
static bool level_nbytes(info_job *job, uint32_t level, uint64_t *nbytes)
{
    return job->ctx && floe_stream_level_nbytes(job->ctx, job->data, job->nbytes, level, nbytes) == FLOE_OK;
}

static bool find_plan(info_job *job, uint64_t chunk)
{
    return job->verbose && !job->problem[0] && chunk < job->info.nchunks && chunk < PLANS &&
           floe_stream_plan(job->ctx, job->data, job->nbytes, chunk, job->plan, PLAN_CAPACITY) == FLOE_OK;
}

static bool attr(info_job *job, uint32_t i)
{
    size_t key_nbytes, value_nbytes;
    free(job->key), free(job->value);
    job->key = job->value = NULL;
    if (floe_stream_attr_nbytes(job->data, job->nbytes, i, &key_nbytes, &value_nbytes) != FLOE_OK)
        return false;
    job->key = malloc(key_nbytes + 1), job->value = malloc(value_nbytes + 1);
    return job->key && job->value &&
           floe_stream_attr(job->data, job->nbytes, i, job->key, key_nbytes + 1, job->value, value_nbytes + 1) ==
               FLOE_OK;
}

static void print_real(const char *label, double value)
{
    char text[CLI_TEXT];
    cli_real_text(value, text);
    printf("%-14s %s\n", label, text);
}

static void print_levels(info_job *job)
{
    uint64_t nbytes;
    char number[CLI_TEXT], shape[CLI_TEXT];
    for (uint32_t k = 1; k <= job->info.levels; k++) {
        uint64_t n[FLOE_MAX_RANK];
        for (uint32_t i = 0; i < job->info.rank; i++)
            n[i] = ((job->info.shape[i] - 1) >> k) + 1;
        cli_shape_text(job->info.rank, n, shape);
        const bool is_whole = level_nbytes(job, k, &nbytes);
        if (is_whole)
            cli_nbytes_text(nbytes, number);
        printf("level %-8" PRIu32 " %s, %s%s\n", k, shape, is_whole ? "from " : "not whole", is_whole ? number : "");
    }
}

static void print_plans(info_job *job)
{
    for (uint64_t i = 0; find_plan(job, i) && job->plan[0]; i++) {
        printf("chunk %" PRIu64 "\n", i);
        for (char *line = job->plan, *end; (end = strchr(line, '\n')); line = end + 1)
            printf("  %.*s\n", (int)(end - line), line);
    }
}

static double bits_per_value(const info_job *job)
{
    double nelems = (double)job->info.raw_nbytes / (double)floe_dtype_size(job->info.dtype);
    return nelems > 0 ? 8.0 * (double)job->nbytes / nelems : 0;
}

static void print_text(info_job *job)
{
    const floe_info *info = &job->info;
    char text[2 * CLI_TEXT], number[CLI_TEXT];
    cli_layout_text(info->rank, info->shape, info->dtype, text);
    printf("%-14s %s\n", "array", text);
    cli_real_text(info->bound, number);
    printf("%-14s %s%s%s%s\n", "bound", cli_mode_is_size(info->mode) ? "none: " : "", cli_mode_name(info->mode),
           info->mode == FLOE_BOUND_LOSSLESS ? "" : " ", info->mode == FLOE_BOUND_LOSSLESS ? "" : number);
    if (info->mode == FLOE_BOUND_REL || info->mode == FLOE_BOUND_PSNR || info->mode == FLOE_BOUND_RATIO)
        print_real("absolute bound", info->abs_bound);
    if (!isnan(info->value_min)) {
        print_real("smallest value", info->value_min);
        print_real("largest value", info->value_max);
    }
    if (info->has_fill) {
        cli_fill_text(info->dtype, info->fill_value, info->fill_integer, number);
        printf("%-14s %s\n", "fill value", number);
    }
    printf("%-14s %s, preset %s\n", "codec", floe_codec_name(info->codec), cli_preset_name(info->preset));
    cli_shape_text(info->rank, info->chunk, number);
    printf("%-14s %" PRIu64 " of %s\n", "chunks", info->nchunks, number);
    cli_nbytes_text(job->nbytes, number);
    if (job->problem[0])
        printf("%-14s %s, %s: %s\n", "stream", number, job->damaged ? "damaged" : "not checked", job->problem);
    else
        printf("%-14s %s, ratio %.2f, %.3f bits per value\n", "stream", number,
               (double)info->raw_nbytes / (double)job->nbytes, bits_per_value(job));
    printf("%-14s %" PRIu32 "\n", "format version", info->format_version);
    print_levels(job);
    for (uint32_t i = 0; i < info->nattrs && attr(job, i); i++) {
        fputs("attribute      ", stdout);
        cli_print_safe(stdout, job->key);
        fputs(" = ", stdout);
        cli_print_safe(stdout, job->value);
        fputc('\n', stdout);
    }
    print_plans(job);
}

static void levels_json(info_job *job, cli_json *json)
{
    uint64_t nbytes;
    cli_json_open(json, "level_nbytes", '[');
    for (uint32_t k = 0; k <= job->info.levels; k++)
        if (level_nbytes(job, k, &nbytes))
            cli_json_uint(json, NULL, nbytes);
        else
            cli_json_real(json, NULL, NAN);
    cli_json_close(json, ']');
}

static void plans_json(info_job *job, cli_json *json)
{
    cli_json_open(json, "plans", '[');
    for (uint64_t i = 0; find_plan(job, i); i++) {
        cli_json_open(json, NULL, '[');
        for (char *line = job->plan, *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            cli_json_text(json, NULL, line);
        }
        cli_json_close(json, ']');
    }
    cli_json_close(json, ']');
}

/* Of a key that occurs twice the first value counts, and JSON takes no more than one. */
static void attributes_json(info_job *job, cli_json *json)
{
    const uint32_t n = job->info.nattrs;
    char **keys = calloc(n ? n : 1, sizeof *keys);
    cli_json_open(json, "attributes", '{');
    for (uint32_t i = 0; keys && i < n && attr(job, i); i++) {
        uint32_t first = 0;
        while (first < i && strcmp(keys[first], job->key) != 0)
            first++;
        if (first == i)
            cli_json_text(json, job->key, job->value);
        keys[i] = job->key;
        job->key = NULL;
    }
    cli_json_close(json, '}');
    for (uint32_t i = 0; keys && i < n && keys[i]; i++)
        free(keys[i]);
    free(keys);
}

static void print_json(info_job *job)
{
    const floe_info *info = &job->info;
    cli_json json;
    cli_json_init(&json, stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "command", "info");
    cli_json_text(&json, "input", io_reader_name(job->reader));
    cli_json_uint(&json, "format_version", info->format_version);
    cli_json_text(&json, "dtype", floe_dtype_name(info->dtype));
    cli_json_shape(&json, "shape", info->rank, info->shape);
    cli_json_shape(&json, "chunk", info->rank, info->chunk);
    cli_json_uint(&json, "chunks", info->nchunks);
    cli_json_text(&json, "codec", floe_codec_name(info->codec));
    cli_json_text(&json, "preset", cli_preset_name(info->preset));
    cli_json_text(&json, "mode", cli_mode_name(info->mode));
    cli_json_real(&json, "bound", info->mode == FLOE_BOUND_LOSSLESS ? 0 : info->bound);
    cli_json_real(&json, "abs_bound", info->abs_bound);
    cli_json_real(&json, "value_min", info->value_min);
    cli_json_real(&json, "value_max", info->value_max);
    if (info->has_fill)
        cli_json_fill(&json, info->dtype, info->fill_value, info->fill_integer);
    cli_json_uint(&json, "raw_nbytes", info->raw_nbytes);
    cli_json_uint(&json, "stream_nbytes", job->nbytes);
    if (!job->problem[0])
        cli_json_real(&json, "ratio", (double)info->raw_nbytes / (double)job->nbytes);
    if (info->levels)
        levels_json(job, &json);
    if (job->verbose)
        plans_json(job, &json);
    attributes_json(job, &json);
    if (job->problem[0] && !job->damaged)
        cli_json_real(&json, "damaged", NAN);
    else
        cli_json_bool(&json, "damaged", job->damaged);
    if (job->problem[0])
        cli_json_text(&json, "problem", job->problem);
    cli_json_close(&json, '}');
}

int cmd_info(const cli_args *args)
{
    info_job job = {.verbose = cli_given(args, OPT_VERBOSE)};
    floe_error err = {0};
    int failed = 0;
    if (!(failed = cli_stream_open(args->operand[0], &job.reader, &job.info)) &&
        (io_reader_spool(job.reader, &err) != FLOE_OK ||
         io_reader_map(job.reader, &job.data, &job.nbytes, &err) != FLOE_OK))
        failed = cli_fail_with(&err);
    if (!failed) {
        look_for_damage(&job);
        if (cli_given(args, OPT_JSON))
            print_json(&job);
        else
            print_text(&job);
        failed = cli_stdout_finish(0);
    }
    floe_ctx_free(&job.ctx);
    io_reader_free(&job.reader);
    free(job.key), free(job.value);
    return failed;
}
