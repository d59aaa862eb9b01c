/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields that `floe check` and `floe stat` look at: raw or .npy arrays, mapped, or .floe streams, decoded.
 * Each function returns 0, or the exit code after saying what is wrong. */
#ifndef FLOE_CLI_CHECK_INPUT_H
#define FLOE_CLI_CHECK_INPUT_H

#include "cli/request.h"

typedef struct check_input {
    io_reader *reader;
    bool is_stream;
    floe_info info;         /* of a stream */
    uint64_t stream_nbytes; /* of a stream */
    double seconds;         /* to decode it */
    io_memory memory;       /* where it was decoded to */
    floe_field field;       /* once loaded */
} check_input;

/* Opens it and finds out what it is. Must be freed either way. */
int check_input_open(check_input *input, const char *path);

/* What --shape (or --dims) and --dtype give, and what inputs hold themselves, must be one layout. */
int check_input_layout(const cli_args *args, check_input *inputs, uint32_t ninputs, floe_field *layout);

/* Maps an array or decodes a stream, on `machine`: the CPU, from then on, where cli_ctx_retreat leads there. A field of
 * more than *memory_nbytes is decoded to a temporary file; what is taken is subtracted. Where --memory was given scratch counts,
 * too, beyond 8 MB. */
int check_input_load(const cli_args *args, floe_ctx_options *machine, check_input *input, const floe_field *layout,
                     uint64_t *memory_nbytes);

void check_input_free(check_input *input);

#endif
