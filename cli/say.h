/* SPDX-License-Identifier: BSD-3-Clause */
/* What the command prints: one line for an error, numbers and sizes as people read them. */
#ifndef FLOE_CLI_SAY_H
#define FLOE_CLI_SAY_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <floe/floe.h>

#include "io/io.h"

/* Prints "floe: ...\n" on standard error as one line and returns the exit code of status. */
int cli_fail(floe_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_fail_with(const floe_error *err);
/* After a failed call of the library: prints the failure of the reader or the writer where that was the cause, else the
 * context's message, with the name of the reader. reader and writer may be NULL. */
int cli_fail_call(floe_status status, const floe_ctx *ctx, const io_reader *reader, const io_writer *writer);

/* Flushes standard output: 0, or the exit code after saying why it failed; of a pipe that nobody reads any more, nothing. */
int cli_stdout_finish(int exit_code);

enum { CLI_TEXT = 128 };

/* "6 x 241 x 480" */
void cli_shape_text(uint32_t rank, const uint64_t *shape, char text[CLI_TEXT]);
/* "2.8 MB"; a MB is 10^6 bytes. */
void cli_nbytes_text(uint64_t nbytes, char text[CLI_TEXT]);
/* "6 x 241 x 480, slowest axis first, f32, 2.8 MB" */
void cli_layout_text(uint32_t rank, const uint64_t *shape, floe_dtype dtype, char text[2 * CLI_TEXT]);
/* Element i of an array, which need not be aligned; an i64 is rounded to nearest. */
static inline double cli_number_at(floe_dtype dtype, const void *data, uint64_t i)
{
    union {
        float f32;
        double f64;
        int32_t i32;
        int64_t i64;
    } v;
    const char *at = (const char *)data;
    switch (dtype) {
    case FLOE_F32: return memcpy(&v, at + i * 4, 4), (double)v.f32;
    case FLOE_I32: return memcpy(&v, at + i * 4, 4), (double)v.i32;
    case FLOE_I64: return memcpy(&v, at + i * 8, 8), (double)v.i64;
    default: return memcpy(&v, at + i * 8, 8), v.f64;
    }
}
/* The shortest decimal that reads back as the same double. */
void cli_real_text(double value, char text[CLI_TEXT]);
static inline bool cli_dtype_is_integer(floe_dtype dtype) { return dtype == FLOE_I32 || dtype == FLOE_I64; }
/* A fill value exactly, as floe_info and floe_assess_report have it. */
void cli_fill_text(floe_dtype dtype, double value, int64_t integer, char text[CLI_TEXT]);
/* Prints a text of unknown origin with control characters as '?', so that a file cannot drive the terminal. */
void cli_print_safe(FILE *out, const char *text);

const char *cli_mode_name(floe_bound_mode mode);
/* rate and prec: how much to store, no bound. */
bool cli_mode_is_size(floe_bound_mode mode);
const char *cli_preset_name(floe_preset preset);

/* Seconds of a clock that only goes forward. */
double cli_seconds(void);

#endif
