/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/json.h"
#include "cli/progress.h"
#include "cli/request.h"
#include "cli/say.h"
#include "synth/synth.h"

enum { PIECE_NELEMS = 1 << 20 };

static int list_kinds(bool as_json)
{
    cli_json json;
    cli_json_init(&json, stdout);
    if (as_json)
        cli_json_open(&json, NULL, '{');
    for (uint32_t i = 0; i < synth_count(); i++) {
        const synth_kind *kind = synth_kind_at(i);
        if (as_json)
            cli_json_text(&json, kind->name, kind->about);
        else
            printf("%-14s %s\n", kind->name, kind->about);
    }
    if (as_json)
        cli_json_close(&json, '}');
    return cli_stdout_finish(0);
}

static int fail_unknown_kind(const char *name)
{
    const char *words[64];
    int count = 0;
    for (; count < 64 && synth_kind_at((uint32_t)count); count++)
        words[count] = synth_kind_at((uint32_t)count)->name;
    const char *nearest = cli_nearest(name, words, count);
    if (nearest)
        return cli_fail(FLOE_ERR_ARGUMENT, "unknown kind of field '%s'; did you mean '%s'?", name, nearest);
    return cli_fail(FLOE_ERR_ARGUMENT, "unknown kind of field '%s'; 'floe fields' lists them", name);
}

/* Piece by piece, so that memory stays bounded for any shape. */
static int write_field(io_writer *writer, const char *kind, const floe_field *layout, uint64_t seed, bool quiet)
{
    floe_sink sink = io_writer_sink(writer);
    floe_error err = {0};
    cli_progress progress;
    uint64_t total;
    size_t size = floe_dtype_size(layout->dtype);
    void *piece = malloc(PIECE_NELEMS * size);
    floe_status status = piece ? floe_field_nelems(layout, &total) : FLOE_ERR_MEMORY;
    if (status != FLOE_OK) {
        free(piece);
        return cli_fail(status, "%s", floe_status_text(status));
    }
    cli_progress_start(&progress, "making", quiet);
    status = io_writer_begin(writer, layout, &err);
    for (uint64_t first = 0; first < total && status == FLOE_OK; first += PIECE_NELEMS) {
        uint64_t count = total - first < PIECE_NELEMS ? total - first : PIECE_NELEMS;
        status = synth_fill(kind, layout->dtype, layout->rank, layout->shape, seed, first, count, piece);
        if (status == FLOE_OK)
            status = sink.write(sink.user, piece, (size_t)count * size);
        cli_progress_update(&progress, first + count, total);
    }
    cli_progress_stop(&progress);
    free(piece);
    if (status != FLOE_OK)
        return err.message[0] ? cli_fail_with(&err) : cli_fail_call(status, NULL, NULL, writer);
    return io_writer_commit(writer, &err) == FLOE_OK ? 0 : cli_fail_with(&err);
}

static void print_result(const cli_args *args, const io_writer *writer, const floe_field *layout, uint64_t seed)
{
    char text[2 * CLI_TEXT];
    cli_json json;
    if (cli_given(args, OPT_JSON)) {
        cli_json_init(&json, io_writer_is_stdout(writer) ? stderr : stdout);
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "command", "fields");
        cli_json_text(&json, "kind", args->operand[0]);
        cli_json_text(&json, "output", io_writer_name(writer));
        cli_json_text(&json, "dtype", floe_dtype_name(layout->dtype));
        cli_json_shape(&json, "shape", layout->rank, layout->shape);
        cli_json_uint(&json, "seed", seed);
        cli_json_close(&json, '}');
    } else if (!cli_given(args, OPT_QUIET)) {
        cli_layout_text(layout->rank, layout->shape, layout->dtype, text);
        fprintf(stderr, "%s: %s, %s\n", io_writer_name(writer), args->operand[0], text);
    }
}

int cmd_fields(const cli_args *args)
{
    const char *out = cli_value(args, OPT_OUTPUT), *seed_text = cli_value(args, OPT_SEED);
    const char *at = seed_text;
    uint64_t seed = 0;
    floe_field layout;
    floe_error err = {0};
    io_writer *writer;
    if (args->noperands == 0 && out)
        return cli_fail(FLOE_ERR_ARGUMENT, "which kind of field? 'floe fields' lists them");
    if (args->noperands == 0)
        return list_kinds(cli_given(args, OPT_JSON));
    if (!synth_find(args->operand[0]))
        return fail_unknown_kind(args->operand[0]);
    if (seed_text && !cli_uint_parse(&at, "", UINT64_MAX, &seed))
        return cli_fail(FLOE_ERR_ARGUMENT, "--seed '%s' is no whole number", seed_text);
    int failed = cli_layout_given(args, &layout);
    if (failed)
        return failed;
    if (!layout.rank || !out)
        return cli_fail(FLOE_ERR_ARGUMENT, "fields %s needs %s", args->operand[0],
                        layout.rank ? "-o OUT" : "--shape, slowest axis first (or --dims)");
    if (!layout.dtype)
        layout.dtype = FLOE_F32;
    if (io_writer_open(&writer, out, &(io_writer_options){.force = cli_given(args, OPT_FORCE), .is_array = true},
                       &err) != FLOE_OK)
        return cli_fail_with(&err);
    failed =
        write_field(writer, args->operand[0], &layout, seed, cli_given(args, OPT_QUIET) || cli_given(args, OPT_JSON));
    if (!failed)
        print_result(args, writer, &layout, seed);
    io_writer_free(&writer);
    return failed ? failed : cli_stdout_finish(0);
}
