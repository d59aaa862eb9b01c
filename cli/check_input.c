/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/check_input.h"

#include <string.h>

#include "cli/say.h"
#include "cli/stream_head.h"

int check_input_open(check_input *input, const char *path)
{
    floe_error err = {0};
    int failed;
    if (io_reader_open(&input->reader, path, &err) != FLOE_OK)
        return cli_fail_with(&err);
    input->is_stream = cli_stream_is(input->reader, &failed);
    if (failed || !input->is_stream)
        return failed;
    return cli_stream_head(input->reader, &input->info);
}

void check_input_free(check_input *input)
{
    io_reader_free(&input->reader);
    io_memory_free(&input->memory);
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

/* What the input itself holds; false: nothing. */
static bool find_layout(const check_input *input, floe_field *layout)
{
    const floe_field *known = io_reader_layout(input->reader);
    if (known)
        *layout = *known;
    if (input->is_stream)
        *layout = floe_field_of(NULL, input->info.dtype, input->info.rank, input->info.shape);
    return known || input->is_stream;
}

static bool shapes_agree(const floe_field *a, const floe_field *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof a->shape[0]) == 0;
}

static int check_known(const check_input *input, const floe_field *known, const floe_field *given)
{
    char has[2 * CLI_TEXT];
    cli_layout_text(known->rank, known->shape, known->dtype, has);
    if (given->rank && !shapes_agree(known, given))
        return cli_fail(FLOE_ERR_ARGUMENT, "'%s' holds %s, not the shape that is given", io_reader_name(input->reader),
                        has);
    if (given->dtype && given->dtype != known->dtype)
        return cli_fail(FLOE_ERR_ARGUMENT, "'%s' holds %s, not %s", io_reader_name(input->reader), has,
                        floe_dtype_name(given->dtype));
    return 0;
}

/* Two that give what they are, and differ. */
static int fail_differ(const check_input *a, const floe_field *at, const check_input *b, const floe_field *bt)
{
    char has[2 * CLI_TEXT], other[2 * CLI_TEXT];
    cli_layout_text(at->rank, at->shape, at->dtype, has);
    cli_layout_text(bt->rank, bt->shape, bt->dtype, other);
    return cli_fail(FLOE_ERR_FORMAT, "'%s' holds %s; '%s' holds %s", io_reader_name(a->reader), has,
                    io_reader_name(b->reader), other);
}

/* The layout that inputs give, where one does; *who is its number. */
static int gather_told(check_input *inputs, uint32_t ninputs, const floe_field *given, floe_field *layout,
                       uint32_t *who)
{
    *who = ninputs;
    for (uint32_t i = 0; i < ninputs; i++) {
        floe_field known;
        if (!find_layout(&inputs[i], &known))
            continue;
        int failed = check_known(&inputs[i], &known, given);
        if (failed)
            return failed;
        if (*who < ninputs && (known.dtype != layout->dtype || !shapes_agree(&known, layout)))
            return fail_differ(&inputs[*who], layout, &inputs[i], &known);
        if (*who == ninputs) {
            *layout = known;
            *who = i;
        }
    }
    return 0;
}

/* Can this be assessed at all? */
static int check_worth(const check_input *input, const floe_field *layout)
{
    uint64_t nelems;
    if (floe_field_nelems(layout, &nelems) != FLOE_OK)
        return cli_fail(FLOE_ERR_FORMAT, "'%s' claims a shape that is too large", io_reader_name(input->reader));
    if (nelems == 0)
        return cli_fail(FLOE_ERR_FORMAT, "'%s' is empty: there is nothing to assess", io_reader_name(input->reader));
    return 0;
}

int check_input_layout(const cli_args *args, check_input *inputs, uint32_t ninputs, floe_field *layout)
{
    floe_error err = {0};
    floe_field given;
    uint32_t who;
    int failed = cli_layout_given(args, &given);
    if (!failed)
        failed = gather_told(inputs, ninputs, &given, layout, &who);
    if (!failed && who == ninputs) {
        who = 0;
        failed = cli_layout_of(args, inputs[0].reader, layout);
    }
    for (uint32_t i = 0; i < ninputs && !failed; i++) {
        io_reader *reader = inputs[i].reader;
        if (!inputs[i].is_stream && (failed = cli_raw_check(args, reader)))
            break;
        if ((!inputs[i].is_stream && io_reader_expect(reader, layout, &err) != FLOE_OK) ||
            io_reader_spool(reader, &err) != FLOE_OK) /* of a raw pipe no more than is expected */
            failed = cli_fail_with(&err);
    }
    return failed ? failed : check_worth(&inputs[who], layout);
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

typedef struct decoding {
    const cli_args *args;
    floe_ctx_options *machine;
    check_input *input;
    const void *stream;
    floe_ctx *ctx;
} decoding;

/* Where --backend auto led to a GPU that cannot do it after all, the CPU does, and what follows. */
static floe_status decode(decoding *d)
{
    floe_ctx_free(&d->ctx);
    floe_status status = floe_ctx_create(&d->ctx, d->machine);
    if (status != FLOE_OK && !cli_ctx_retreat(d->args, status, d->machine, &d->ctx))
        return status;
    do {
        const double started = cli_seconds();
        status = floe_decompress(d->ctx, d->stream, d->input->stream_nbytes, &d->input->field);
        d->input->seconds = cli_seconds() - started;
    } while (cli_ctx_retreat(d->args, status, d->machine, &d->ctx));
    return status;
}

/* Room for the values, and what of memory is then left for scratch: a limit where --memory was given, which chunks of a megabyte
 * always have. */
static int room_take(decoding *d, uint64_t nbytes, bool in_file, uint64_t memory_nbytes)
{
    floe_error err = {0};
    const uint64_t least = 8000000, left = memory_nbytes - (in_file ? 0 : nbytes);
    io_memory_free(&d->input->memory);
    if (io_memory_take(&d->input->memory, nbytes, in_file, &err) != FLOE_OK)
        return cli_fail_with(&err);
    d->input->field.data = d->input->memory.data;
    d->machine->max_memory = !cli_given(d->args, OPT_MEMORY) ? 0 : left > least ? left : least;
    return 0;
}

static int fail_decode(const decoding *d, floe_status status)
{
    char shape[CLI_TEXT];
    if (status != FLOE_ERR_LIMIT || !d->machine->max_memory)
        return cli_fail_call(status, d->ctx, d->input->reader, NULL);
    cli_shape_text(d->input->info.rank, d->input->info.chunk, shape);
    return cli_fail(FLOE_ERR_MEMORY,
                    "'%s': %s; --memory raises it. Its chunks are of %s values: of smaller ones (--chunk of floe "
                    "compress) less is needed",
                    io_reader_name(d->input->reader), floe_ctx_message(d->ctx), shape);
}

/* To memory, if there is room for the values and scratch, or else to a file. */
static int decode_to_room(decoding *d, uint64_t nbytes, uint64_t *memory_nbytes)
{
    bool in_file = nbytes > *memory_nbytes;
    int failed = room_take(d, nbytes, in_file, *memory_nbytes);
    floe_status status = failed ? FLOE_OK : decode(d);
    if (status == FLOE_ERR_LIMIT && !in_file) {
        in_file = true;
        failed = room_take(d, nbytes, in_file, *memory_nbytes);
        status = failed ? FLOE_OK : decode(d);
    }
    if (status != FLOE_OK)
        failed = fail_decode(d, status);
    *memory_nbytes -= in_file ? 0 : nbytes;
    return failed;
}

int check_input_load(const cli_args *args, floe_ctx_options *machine, check_input *input, const floe_field *layout,
                     uint64_t *memory_nbytes)
{
    floe_error err = {0};
    const void *data;
    uint64_t nbytes, nelems;
    if (io_reader_map(input->reader, &data, &nbytes, &err) != FLOE_OK)
        return cli_fail_with(&err);
    input->field = floe_field_of(data, layout->dtype, layout->rank, layout->shape);
    if (!input->is_stream)
        return 0;
    decoding d = {.args = args, .machine = machine, .input = input, .stream = data};
    input->stream_nbytes = nbytes;
    floe_field_nelems(layout, &nelems);
    const int failed = decode_to_room(&d, nelems * floe_dtype_size(layout->dtype), memory_nbytes);
    floe_ctx_free(&d.ctx);
    return failed;
}
