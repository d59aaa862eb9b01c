/* SPDX-License-Identifier: BSD-3-Clause */
/* Bare zfp streams in the command: --raw-zfp of compress and decompress, and what `floe index` shares with them. */
#ifndef FLOE_CLI_RAW_ZFP_H
#define FLOE_CLI_RAW_ZFP_H

#include <floe/zfp.h>

#include "cli/request.h"

/* Each returns the exit code, having printed what is wrong. */
int cli_raw_zfp_compress(const cli_args *args);
int cli_raw_zfp_decompress(const cli_args *args);

/* Refuses what means nothing without --raw-zfp. Both commands call it when that is not given. */
int cli_raw_zfp_absent(const cli_args *args);

/* --form, --blocks, --partition. */
int cli_index_spec(const cli_args *args, floe_index_spec *spec);
const char *cli_index_form_name(floe_index_form form);

/* What --shape (or --dims), --dtype and --bound give for a stream without header; *given: whether they do. */
int cli_zfp_given(const cli_args *args, floe_ctx *ctx, floe_zfp_stream *stream, bool *given);

uint64_t cli_zfp_nblocks(const floe_zfp_stream *stream);
/* Refuses a stream of fewer bits than blocks, before memory is taken for its values. */
int cli_zfp_fits(const floe_zfp_stream *stream, const io_reader *reader, uint64_t nbytes);

/* Refuses a header where the options show that there is none: its bits would become values. */
int cli_zfp_has_no_header(const io_reader *reader, const void *src, uint64_t nbytes);

typedef enum cli_zfp_input { CLI_ZFP_BARE, CLI_ZFP_WITH_HEADER, CLI_ZFP_INDEX } cli_zfp_input;

/* A whole input in memory, a pipe by way of a temporary file; *reader must be freed either way. */
int cli_input_map(const char *path, cli_zfp_input kind, io_reader **reader, const void **data, uint64_t *nbytes);

/* What keeps a file from being written as path is reported before work is spent on it; pipes and devices are left alone. */
int cli_output_probe(const cli_args *args, const char *path, const io_reader *input);
/* Writes data to path; layout (may be NULL): what the writer puts into a header. */
int cli_output_write(const cli_args *args, const char *path, const io_reader *input, const floe_field *layout,
                     const void *data, uint64_t nbytes);

#endif
