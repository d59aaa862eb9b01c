/* SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700
#include "cli/raw_zfp.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/collapse.h"
#include "cli/json.h"
#include "cli/say.h"

/* ---- what index shares -------------------------------------------------------------------------------------------- */

static const char *const form_names[] = {"offsets", "lengths", "hybrid", "packed"};

const char *cli_index_form_name(floe_index_form form) { return form_names[form]; }

static int number_of(const cli_args *args, cli_option_id id, uint64_t most, uint32_t fallback, uint32_t *value)
{
    const char *text = cli_value(args, id);
    uint64_t n = fallback;
    if (text && (!cli_uint_parse(&text, "", most, &n) || n == 0))
        return cli_fail(FLOE_ERR_ARGUMENT, "--%s '%s' is no number from 1 to %" PRIu64, cli_options[id].name,
                        cli_value(args, id), most);
    *value = (uint32_t)n;
    return 0;
}

int cli_index_spec(const cli_args *args, floe_index_spec *spec)
{
    const char *form = cli_value(args, OPT_FORM);
    int f = form ? 0 : FLOE_INDEX_HYBRID, failed;
    while (f < 4 && form && strcmp(form, form_names[f]) != 0)
        f++;
    if (f == 4)
        return cli_fail(FLOE_ERR_ARGUMENT, "--form '%s' is unknown; there are offsets, lengths, hybrid and packed",
                        form);
    spec->form = (floe_index_form)f;
    if ((failed = number_of(args, OPT_BLOCKS, UINT32_MAX, 1, &spec->chunk)))
        return failed;
    return number_of(args, OPT_PARTITION, 65536, 32, &spec->partition);
}

static int refuse(const cli_args *args, const cli_option_id *ids, size_t n, const char *why)
{
    for (size_t i = 0; i < n; i++)
        if (cli_given(args, ids[i]))
            return cli_fail(FLOE_ERR_ARGUMENT, "--%s means nothing %s", cli_options[ids[i]].name, why);
    return 0;
}

#define REFUSE(args, why, ...)                         \
    refuse(args, (const cli_option_id[]){__VA_ARGS__}, \
           sizeof(const cli_option_id[]){__VA_ARGS__} / sizeof(cli_option_id), why)

int cli_raw_zfp_absent(const cli_args *args)
{
    const bool decompress = args->command->run == cmd_decompress;
    int failed = REFUSE(args, "without --raw-zfp", OPT_NO_HEADER, OPT_INDEX, OPT_FORM, OPT_BLOCKS, OPT_PARTITION);
    if (!failed && decompress)
        failed = REFUSE(args, "without --raw-zfp: a .floe stream says it itself", OPT_SHAPE, OPT_DIMS, OPT_DTYPE,
                        OPT_BOUND, OPT_ABS, OPT_REL, OPT_PWREL, OPT_PSNR, OPT_LOSSLESS, OPT_RATE, OPT_PREC, OPT_RATIO);
    return failed;
}

/* The mode of a stream as the library takes it, from --bound or its short forms; NULL where none is given. */
static int mode_text(const cli_args *args, char text[CLI_TEXT], bool *given)
{
    static const cli_option_id shorts[] = {OPT_ABS, OPT_REL, OPT_LOSSLESS, OPT_RATE, OPT_PREC};
    const char *bound = cli_value(args, OPT_BOUND);
    int n = bound != NULL;
    snprintf(text, CLI_TEXT, "%s", bound ? bound : "");
    for (size_t i = 0; i < sizeof shorts / sizeof shorts[0]; i++) {
        if (!cli_given(args, shorts[i]))
            continue;
        const bool has_value = cli_options[shorts[i]].arg != NULL;
        snprintf(text, CLI_TEXT, "%s%s%.100s", cli_options[shorts[i]].name, has_value ? "=" : "",
                 cli_value(args, shorts[i]));
        n++;
    }
    *given = n > 0;
    int failed = REFUSE(args, "for a zfp stream", OPT_PWREL, OPT_PSNR, OPT_RATIO);
    if (failed)
        return failed;
    return n > 1 ? cli_fail(FLOE_ERR_ARGUMENT, "give one bound, not %d", n) : 0;
}

int cli_zfp_given(const cli_args *args, floe_ctx *ctx, floe_zfp_stream *stream, bool *given)
{
    floe_field layout;
    char mode[CLI_TEXT];
    int failed = cli_layout_given(args, &layout);
    if (failed || (failed = mode_text(args, mode, given)))
        return failed;
    const int n = (layout.rank != 0) + (layout.dtype != 0) + *given;
    if (n != 0 && n != 3)
        return cli_fail(FLOE_ERR_ARGUMENT,
                        "a zfp stream without header needs all of --shape (or --dims), --dtype and --bound");
    if (!*given)
        return 0;
    if (strncmp(mode, "rel=", 4) == 0)
        return cli_fail(FLOE_ERR_ARGUMENT, "a zfp stream does not know the range of its values: give --bound abs=");
    floe_status status = floe_zfp_describe(ctx, &layout, mode, 0, stream);
    return status == FLOE_OK ? 0 : cli_fail_call(status, ctx, NULL, NULL);
}

uint64_t cli_zfp_nblocks(const floe_zfp_stream *s)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < s->rank; i++)
        n *= (s->shape[i] - 1) / 4 + 1;
    return n;
}

int cli_zfp_fits(const floe_zfp_stream *stream, const io_reader *reader, uint64_t nbytes)
{
    char text[2 * CLI_TEXT];
    if (cli_zfp_nblocks(stream) / 8 <= nbytes)
        return 0;
    cli_layout_text(stream->rank, stream->shape, stream->dtype, text);
    return cli_fail(FLOE_ERR_FORMAT, "'%s': %" PRIu64 " bytes are too few for a zfp stream of %s",
                    io_reader_name(reader), nbytes, text);
}

/* A pipe that cannot be such a file is not copied first, as it may have no end. */
static int pipe_check(io_reader *reader, cli_zfp_input kind)
{
    static const char *const magics[] = {"", "zfp\x05", "\xF4ZFPX"};
    static const char *const wants[] = {
        "", "no zfp stream with a header; without one it needs --shape, --dtype and --bound",
        "no index of a zfp stream"};
    char head[8] = "";
    size_t got, n = strlen(magics[kind]);
    floe_source source = io_reader_source(reader);
    if (io_reader_is_seekable(reader))
        return 0;
    if (source.read(source.user, 0, head, n, &got) != FLOE_OK)
        return cli_fail_with(io_reader_error(reader));
    return memcmp(head, magics[kind], n) == 0
               ? 0
               : cli_fail(FLOE_ERR_FORMAT, "'%s' is %s", io_reader_name(reader), wants[kind]);
}

int cli_input_map(const char *path, cli_zfp_input kind, io_reader **reader, const void **data, uint64_t *nbytes)
{
    floe_error err = {0};
    if (io_reader_open(reader, path, &err) != FLOE_OK)
        return cli_fail_with(&err);
    const int failed = pipe_check(*reader, kind);
    if (failed)
        return failed;
    if (io_reader_spool(*reader, &err) != FLOE_OK || io_reader_map(*reader, data, nbytes, &err) != FLOE_OK)
        return cli_fail_with(&err);
    return 0;
}

int cli_zfp_has_no_header(const io_reader *reader, const void *src, uint64_t nbytes)
{
    floe_zfp_stream s;
    char text[2 * CLI_TEXT];
    if (floe_zfp_recognize(src, nbytes, &s, NULL) != FLOE_OK)
        return 0;
    cli_layout_text(s.rank, s.shape, s.dtype, text);
    return cli_fail(FLOE_ERR_ARGUMENT,
                    "'%s' has a header (%s): --shape, --dtype and --bound are for streams without one",
                    io_reader_name(reader), text);
}

static io_writer_options writer_options(const cli_args *args, const io_reader *input)
{
    return (io_writer_options){
        .force = cli_given(args, OPT_FORCE), .is_array = args->command->run == cmd_decompress, .input = input};
}

int cli_output_probe(const cli_args *args, const char *path, const io_reader *input)
{
    floe_error err = {0};
    io_writer *writer = NULL;
    struct stat st;
    const io_writer_options options = writer_options(args, input);
    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return 0;
    const floe_status status = io_writer_open(&writer, path, &options, &err);
    io_writer_free(&writer);
    return status == FLOE_OK ? 0 : cli_fail_with(&err);
}

int cli_output_write(const cli_args *args, const char *path, const io_reader *input, const floe_field *layout,
                     const void *data, uint64_t nbytes)
{
    floe_error err = {0};
    io_writer *writer = NULL;
    const io_writer_options options = writer_options(args, input);
    int failed = 0;
    if (io_writer_open(&writer, path, &options, &err) != FLOE_OK ||
        (layout && io_writer_begin(writer, layout, &err) != FLOE_OK)) {
        failed = cli_fail_with(&err);
    } else {
        floe_sink sink = io_writer_sink(writer);
        if (sink.write(sink.user, data, (size_t)nbytes) != FLOE_OK)
            failed = cli_fail_with(io_writer_error(writer));
        else if (io_writer_commit(writer, &err) != FLOE_OK)
            failed = cli_fail_with(&err);
    }
    io_writer_free(&writer);
    return failed;
}

/* ---- compress ------------------------------------------------------------------------------------------------------- */

typedef struct zfp_job {
    const cli_args *args;
    floe_ctx_options machine;
    floe_ctx *ctx;
    io_reader *reader, *index_reader;
    floe_field field;
    floe_zfp_stream stream;
    floe_zfp_index index;
    uint8_t *data; /* the stream, or the elements */
    uint64_t nbytes;
    double seconds;
} zfp_job;

static void job_free(zfp_job *job)
{
    floe_ctx_free(&job->ctx);
    io_reader_free(&job->reader);
    io_reader_free(&job->index_reader);
    free(job->data);
    free(job->index.data);
}

static uint64_t raw_nbytes(const floe_field *f)
{
    uint64_t n = floe_dtype_size(f->dtype);
    for (uint32_t i = 0; i < f->rank; i++)
        n *= f->shape[i];
    return n;
}

static void say_compressed(const zfp_job *job)
{
    const uint64_t raw = raw_nbytes(&job->field);
    char from[CLI_TEXT], to[CLI_TEXT], extra[CLI_TEXT];
    if (cli_given(job->args, OPT_QUIET))
        return;
    cli_nbytes_text(raw, from);
    cli_nbytes_text(job->nbytes, to);
    cli_nbytes_text(job->index.nbytes, extra);
    fprintf(stderr, "%s -> %s: ratio %.2f, %.0f MB/s, a bare zfp stream %s header%s%s\n", from, to,
            (double)raw / (double)job->nbytes, (double)raw / 1e6 / job->seconds,
            job->stream.header_nbits ? "with its" : "without", job->index.data ? ", index " : "",
            job->index.data ? extra : "");
}

static int make_index_room(zfp_job *job)
{
    int failed = cli_index_spec(job->args, &job->index.spec);
    if (failed)
        return failed;
    job->index.size = sizeof job->index;
    job->index.capacity = floe_zfp_index_bound(&job->stream, &job->index.spec);
    job->index.data = malloc((size_t)job->index.capacity);
    return job->index.data ? 0 : cli_fail(FLOE_ERR_MEMORY, "out of memory");
}

/* A block of smaller values than this is stored as zeros; where no error is bounded, none is. */
static double zeros_below(const floe_zfp_stream *s)
{
    return s->minexp > -1074 ? ldexp(1, s->minexp - 2 * ((int)s->rank + 1)) : 0;
}

/* The same as for a .floe stream, from the array in memory. */
static int judge_bound(const zfp_job *job)
{
    char warning[4 * CLI_TEXT];
    const cli_collapse_facts facts = {
        .mode = FLOE_BOUND_ABS, .error = zeros_below(&job->stream), .min = NAN, .max = NAN};
    cli_collapse *sample = malloc(sizeof *sample);
    if (!sample)
        return cli_fail(FLOE_ERR_MEMORY, "out of memory");
    cli_collapse_init(sample, &job->field);
    cli_collapse_see(sample, 0, job->field.data, (size_t)raw_nbytes(&job->field));
    cli_collapse_judge(sample, &facts, warning);
    free(sample);
    if (warning[0] && cli_given(job->args, OPT_STRICT))
        return cli_fail(FLOE_ERR_ARGUMENT, "%s", warning);
    if (warning[0] && !cli_given(job->args, OPT_QUIET))
        fprintf(stderr, "warning: %s\n", warning);
    return 0;
}

static int compress_run(zfp_job *job)
{
    const cli_args *args = job->args;
    char mode[CLI_TEXT];
    bool given;
    int failed = mode_text(args, mode, &given);
    if (failed || (failed = cli_layout_of(args, job->reader, &job->field)))
        return failed;
    if (!given)
        return cli_fail(FLOE_ERR_ARGUMENT, "--raw-zfp needs a bound: rate=, prec=, abs=, rel=, lossless or expert=");
    const void *data;
    uint64_t nbytes;
    floe_error err = {0};
    if (io_reader_spool(job->reader, &err) != FLOE_OK || io_reader_map(job->reader, &data, &nbytes, &err) != FLOE_OK)
        return cli_fail_with(&err);
    job->field = floe_field_of(data, job->field.dtype, job->field.rank, job->field.shape);
    floe_status status = floe_zfp_describe(job->ctx, &job->field, mode, !cli_given(args, OPT_NO_HEADER), &job->stream);
    if (status != FLOE_OK)
        return cli_fail_call(status, job->ctx, NULL, NULL);
    if ((failed = judge_bound(job)))
        return failed;
    const uint64_t capacity = floe_zfp_compress_bound(&job->stream);
    job->data = malloc((size_t)capacity);
    if (!job->data)
        return cli_fail(FLOE_ERR_MEMORY, "out of memory");
    if (cli_given(args, OPT_INDEX) && (failed = make_index_room(job)))
        return failed;
    do {
        const double started = cli_seconds();
        status = floe_zfp_compress(job->ctx, &job->field, &job->stream, job->data, capacity, &job->nbytes,
                                   job->index.data ? &job->index : NULL);
        job->seconds = fmax(cli_seconds() - started, 1e-9);
    } while (cli_ctx_retreat(args, status, &job->machine, &job->ctx));
    return status == FLOE_OK ? 0 : cli_fail_call(status, job->ctx, NULL, NULL);
}

/* The folder of a path. */
static bool folder_stat(const char *path, struct stat *st)
{
    const char *slash = strrchr(path, '/');
    char folder[4096];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return stat(folder, st) == 0;
}

static const char *base_of(const char *path) { return strrchr(path, '/') ? strrchr(path, '/') + 1 : path; }

/* Are both names of one file, or one name of a file that is missing? */
static bool same_file(const char *one, const char *other)
{
    struct stat a, b;
    if (stat(one, &a) == 0 && stat(other, &b) == 0)
        return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    return strcmp(base_of(one), base_of(other)) == 0 && folder_stat(one, &a) && folder_stat(other, &b) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Stream and index must not be one file. */
static int outputs_check(const char *stream, const char *index)
{
    const bool same = strcmp(stream, index) == 0 || same_file(stream, index);
    return same ? cli_fail(FLOE_ERR_ARGUMENT, "'%s' is to be the stream: give its index another name", index) : 0;
}

static int outputs_probe(const zfp_job *job)
{
    const char *out = cli_value(job->args, OPT_OUTPUT), *index = cli_value(job->args, OPT_INDEX);
    int failed = cli_output_probe(job->args, out, job->reader);
    if (!failed && index && !(failed = outputs_check(out, index)))
        failed = cli_output_probe(job->args, index, job->reader);
    return failed;
}

static int outputs_write(const zfp_job *job)
{
    const char *out = cli_value(job->args, OPT_OUTPUT), *index = cli_value(job->args, OPT_INDEX);
    int failed = cli_output_write(job->args, out, job->reader, NULL, job->data, job->nbytes);
    if (!failed && index)
        failed = cli_output_write(job->args, index, job->reader, NULL, job->index.data, job->index.nbytes);
    return failed;
}

int cli_raw_zfp_compress(const cli_args *args)
{
    zfp_job job = {.args = args};
    floe_error err = {0};
    int failed =
        REFUSE(args, "with --raw-zfp", OPT_CODEC, OPT_PRESET, OPT_FILL, OPT_CHUNK, OPT_ATTR, OPT_VERIFY, OPT_JSON);
    if (!failed && !cli_given(args, OPT_INDEX))
        failed = REFUSE(args, "without --index", OPT_FORM, OPT_BLOCKS, OPT_PARTITION);
    if (!failed && !cli_value(args, OPT_OUTPUT))
        failed = cli_fail(FLOE_ERR_ARGUMENT, "compress needs -o OUT");
    if (!failed && !(failed = cli_ctx_create(args, &job.machine, &job.ctx)) &&
        io_reader_open(&job.reader, args->operand[0], &err) != FLOE_OK)
        failed = cli_fail_with(&err);
    if (!failed && !(failed = outputs_probe(&job)) && !(failed = compress_run(&job)) && !(failed = outputs_write(&job)))
        say_compressed(&job);
    job_free(&job);
    return failed ? failed : cli_stdout_finish(0);
}

/* ---- decompress ----------------------------------------------------------------------------------------------------- */

/* What is known of the stream: given by options, or what the index or the stream itself holds. */
static int describe(zfp_job *job, const void *src, uint64_t nbytes, const void *index, uint64_t index_nbytes,
                    bool *given)
{
    floe_index_spec spec;
    floe_error err = {0};
    int failed = cli_zfp_given(job->args, job->ctx, &job->stream, given);
    if (failed || *given)
        return failed ? failed : cli_zfp_has_no_header(job->reader, src, nbytes);
    floe_status status = index ? floe_zfp_index_info(index, index_nbytes, &job->stream, &spec, &err)
                               : floe_zfp_recognize(src, nbytes, &job->stream, &err);
    if (status == FLOE_OK)
        return 0;
    if (index)
        return cli_fail(status, "'%s': %s", cli_value(job->args, OPT_INDEX), err.message);
    return cli_fail(status, "'%s': %s; without a header it needs --shape, --dtype and --bound",
                    io_reader_name(job->reader), err.message);
}

static int decompress_run(zfp_job *job)
{
    const cli_args *args = job->args;
    const void *src, *index = NULL;
    uint64_t nbytes, index_nbytes = 0;
    bool given = false;
    const bool may_be_bare = cli_given(args, OPT_INDEX) || cli_given(args, OPT_DTYPE);
    int failed =
        cli_input_map(args->operand[0], may_be_bare ? CLI_ZFP_BARE : CLI_ZFP_WITH_HEADER, &job->reader, &src, &nbytes);
    if (!failed)
        failed = cli_output_probe(args, cli_value(args, OPT_OUTPUT), job->reader);
    if (!failed && cli_given(args, OPT_INDEX))
        failed = cli_input_map(cli_value(args, OPT_INDEX), CLI_ZFP_INDEX, &job->index_reader, &index, &index_nbytes);
    if (!failed && index)
        failed = cli_output_probe(args, cli_value(args, OPT_OUTPUT), job->index_reader);
    if (failed || (failed = describe(job, src, nbytes, index, index_nbytes, &given)) ||
        (failed = cli_zfp_fits(&job->stream, job->reader, nbytes)))
        return failed;
    job->field = floe_field_of(NULL, job->stream.dtype, job->stream.rank, job->stream.shape);
    job->nbytes = raw_nbytes(&job->field);
    job->data = malloc((size_t)job->nbytes);
    if (!job->data)
        return cli_fail(FLOE_ERR_MEMORY, "out of memory");
    job->field.data = job->data;
    floe_status status;
    do {
        const double started = cli_seconds();
        status =
            floe_zfp_decompress(job->ctx, src, nbytes, given ? &job->stream : NULL, index, index_nbytes, &job->field);
        job->seconds = fmax(cli_seconds() - started, 1e-9);
    } while (cli_ctx_retreat(args, status, &job->machine, &job->ctx));
    return status == FLOE_OK ? 0 : cli_fail_call(status, job->ctx, job->reader, NULL);
}

static void say_decompressed(const zfp_job *job)
{
    const floe_zfp_stream *s = &job->stream;
    const bool reversible = s->minexp < -1074; /* whose blocks of zeros stay one bit */
    const bool fixed = s->minbits == s->maxbits && !reversible, on_gpu = job->machine.backend == FLOE_BACKEND_CUDA;
    const char *why = on_gpu
                          ? ", its blocks found by one thread of the CPU: the rate is variable, and there is no index"
                          : ", by one thread: the rate is variable, and there is no index";
    char text[2 * CLI_TEXT];
    if (cli_given(job->args, OPT_QUIET))
        return;
    cli_layout_text(job->field.rank, job->field.shape, job->field.dtype, text);
    fprintf(stderr, "%s\n%s: %.0f MB/s%s\n", text, cli_value(job->args, OPT_OUTPUT),
            (double)job->nbytes / 1e6 / job->seconds, fixed || job->index_reader ? "" : why);
}

int cli_raw_zfp_decompress(const cli_args *args)
{
    zfp_job job = {.args = args};
    int failed =
        REFUSE(args, "with --raw-zfp", OPT_REGION, OPT_LEVEL, OPT_SALVAGE, OPT_MEMORY_LIMIT, OPT_MAX_ELEMS, OPT_JSON);
    if (!failed && !cli_value(args, OPT_OUTPUT))
        failed = cli_fail(FLOE_ERR_ARGUMENT, "decompress needs -o OUT");
    if (!failed && !(failed = cli_ctx_create(args, &job.machine, &job.ctx)) && !(failed = decompress_run(&job)))
        failed = cli_output_write(args, cli_value(args, OPT_OUTPUT), job.reader, &job.field, job.data, job.nbytes);
    if (!failed)
        say_decompressed(&job);
    job_free(&job);
    return failed ? failed : cli_stdout_finish(0);
}
