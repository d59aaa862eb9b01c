/* SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700
#include "cli/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/raw_zfp.h"
#include "cli/say.h"

typedef struct index_job {
    const cli_args *args;
    floe_ctx_options machine;
    floe_ctx *ctx;
    io_reader *reader;
    const void *src;
    uint64_t nbytes;
    floe_zfp_stream stream;
    floe_zfp_index index;
} index_job;

static void print_result(const index_job *job)
{
    const floe_index_spec *spec = &job->index.spec;
    const uint64_t nblocks = cli_zfp_nblocks(&job->stream), nchunks = (nblocks - 1) / spec->chunk + 1;
    const double bits = 8 * (double)job->index.nbytes / (double)nchunks;
    char nbytes[CLI_TEXT];
    if (cli_given(job->args, OPT_JSON)) {
        cli_json json;
        cli_json_init(&json, strcmp(cli_value(job->args, OPT_OUTPUT), "-") == 0 ? stderr : stdout);
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "command", "index");
        cli_json_text(&json, "input", io_reader_name(job->reader));
        cli_json_text(&json, "output", cli_value(job->args, OPT_OUTPUT));
        cli_json_text(&json, "form", cli_index_form_name(spec->form));
        cli_json_uint(&json, "blocks", nblocks);
        cli_json_uint(&json, "chunks", nchunks);
        cli_json_uint(&json, "stream_nbytes", job->nbytes);
        cli_json_uint(&json, "index_nbytes", job->index.nbytes);
        cli_json_real(&json, "bits_per_chunk", bits);
        cli_json_real(&json, "overhead", (double)job->index.nbytes / (double)job->nbytes);
        cli_json_close(&json, '}');
        return;
    }
    if (cli_given(job->args, OPT_QUIET))
        return;
    cli_nbytes_text(job->index.nbytes, nbytes);
    fprintf(stderr, "%s: %s of %" PRIu64 " chunks, %s: %.2f bits a chunk, %.3f %% of the stream\n",
            cli_value(job->args, OPT_OUTPUT), cli_index_form_name(spec->form), nchunks, nbytes, bits,
            100 * (double)job->index.nbytes / (double)job->nbytes);
}

static int make(index_job *job)
{
    floe_error err = {0};
    bool given;
    int failed = cli_index_spec(job->args, &job->index.spec);
    if (failed || (failed = cli_zfp_given(job->args, job->ctx, &job->stream, &given)) ||
        (failed = cli_input_map(job->args->operand[0], given ? CLI_ZFP_BARE : CLI_ZFP_WITH_HEADER, &job->reader,
                                &job->src, &job->nbytes)))
        return failed;
    if ((failed = cli_output_probe(job->args, cli_value(job->args, OPT_OUTPUT), job->reader)) ||
        (given && (failed = cli_zfp_has_no_header(job->reader, job->src, job->nbytes))))
        return failed;
    if (!given && floe_zfp_recognize(job->src, job->nbytes, &job->stream, &err) != FLOE_OK)
        return cli_fail(err.status, "'%s': %s; without a header it needs --shape, --dtype and --bound",
                        io_reader_name(job->reader), err.message);
    if ((failed = cli_zfp_fits(&job->stream, job->reader, job->nbytes)))
        return failed;
    job->index.size = sizeof job->index;
    job->index.capacity = floe_zfp_index_bound(&job->stream, &job->index.spec);
    job->index.data = malloc((size_t)job->index.capacity);
    if (!job->index.data)
        return cli_fail(FLOE_ERR_MEMORY, "out of memory");
    floe_status status = floe_zfp_index_make(job->ctx, job->src, job->nbytes, &job->stream, &job->index);
    return status == FLOE_OK ? 0 : cli_fail_call(status, job->ctx, job->reader, NULL);
}

int cmd_index(const cli_args *args)
{
    index_job job = {.args = args};
    const char *out = cli_value(args, OPT_OUTPUT);
    int failed = out ? cli_ctx_create(args, &job.machine, &job.ctx) : cli_fail(FLOE_ERR_ARGUMENT, "index needs -o OUT");
    if (!failed && !(failed = make(&job)))
        failed = cli_output_write(args, out, job.reader, NULL, job.index.data, job.index.nbytes);
    if (!failed)
        print_result(&job);
    floe_ctx_free(&job.ctx);
    io_reader_free(&job.reader);
    free(job.index.data);
    return failed ? failed : cli_stdout_finish(0);
}
