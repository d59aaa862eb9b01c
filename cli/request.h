/* SPDX-License-Identifier: BSD-3-Clause */
/* From options to what the library takes. Each function returns 0, or the exit code after saying what is wrong. */
#ifndef FLOE_CLI_REQUEST_H
#define FLOE_CLI_REQUEST_H

#include "cli/command.h"
#include "io/io.h"

/* A whole number that fills the text up to one of the characters in `ends` (or its end), within the limit; *text then
 * stands behind it. */
bool cli_uint_parse(const char **text, const char *ends, uint64_t limit, uint64_t *value);

/* "6x241x480" or "6,241,480": 1 to 4 axes, none 0. `option` is named in messages. */
int cli_shape_parse(const char *option, const char *text, uint32_t *rank, uint64_t shape[FLOE_MAX_RANK]);

/* --shape or --dims, and --dtype: rank is 0, dtype is 0 where not given. */
int cli_layout_given(const cli_args *args, floe_field *layout);
/* Refuses a raw input that begins as a file of another format does, unless --raw is given. */
int cli_raw_check(const cli_args *args, io_reader *reader);
/* --shape or --dims, and --dtype of an input: what a .npy file holds must agree with what is given; a raw one needs both. */
int cli_layout_of(const cli_args *args, io_reader *reader, floe_field *layout);

/* The bound and how to code. The default is the bound where none is given; NULL: then that is an error. */
int cli_params(const cli_args *args, const char *default_bound, floe_params *params);

/* --attr: attrs point into the arguments and into texts, which the caller keeps. */
typedef struct cli_attrs {
    floe_attr attrs[CLI_MAX_REPEATS + 1];
    uint32_t count;
    char texts[4096];
    size_t used;
} cli_attrs;
int cli_attrs_parse(const cli_args *args, cli_attrs *attrs);
/* Adds key and value unless the key is there; silently not where there is no room. */
void cli_attrs_add(cli_attrs *attrs, const char *key, const char *value, size_t value_nbytes);

/* MB given by an option, in bytes; *nbytes stays as it is where it is not given. */
int cli_memory(const cli_args *args, cli_option_id id, uint64_t *nbytes);

/* --threads, --backend, --isa, --memory and --max-elems as limits: understood, and a context made of them. */
int cli_threads(const cli_args *args, uint32_t *threads);
int cli_ctx_options(const cli_args *args, floe_ctx_options *options);
/* Where `auto` leads: to the GPU if one is usable, else to the CPU, which is reported. */
int cli_ctx_settle(const cli_args *args, floe_ctx_options *options);
/* options: what was made. */
int cli_ctx_create(const cli_args *args, floe_ctx_options *options, floe_ctx **ctx);
int cli_ctx_create_with(const cli_args *args, uint32_t threads, floe_ctx_options *options, floe_ctx **ctx);
/* After a call that came to `status`: where `auto` led to a GPU that cannot do it after all, most often as its memory is taken,
 * reports it and makes *ctx one of the CPU. True: the call can be made again. */
bool cli_ctx_retreat(const cli_args *args, floe_status status, floe_ctx_options *options, floe_ctx **ctx);

/* "0:64,:,10:20": the box lo <= index < hi; an index alone is one element. */
int cli_region_parse(const char *text, uint32_t rank, const uint64_t *shape, uint64_t *lo, uint64_t *hi);

#endif
