/* SPDX-License-Identifier: BSD-3-Clause */
/* What a bench measures and how it is shown. A speed is uncompressed MB (10^6 bytes) a second of one whole call. */
#ifndef FLOE_CLI_BENCH_H
#define FLOE_CLI_BENCH_H

#include "cli/command.h"

enum { BENCH_MIN_REPEATS = 3, BENCH_REPEATS = 10, BENCH_MAX_REPEATS = 1000, BENCH_NAME = 96 };

typedef struct bench_speed {
    double min, median, max;
} bench_speed;

/* One line of the table. */
typedef struct bench_row {
    char array[BENCH_NAME]; /* "turbulence 256x256x256 f32" */
    char coder[BENCH_NAME]; /* "floe fast", "zfp accuracy" */
    uint32_t threads;
    uint32_t repeats;
    uint64_t raw_nbytes, stream_nbytes, nchunks;
    double abs_bound, max_error;
    bench_speed compress, decompress, copy;
} bench_row;

/* The array under test with room for what comes out of it. */
typedef struct bench_array {
    char name[BENCH_NAME];
    floe_field original, decoded; /* contiguous, same shape */
    uint64_t nbytes;
    unsigned char *stream;
    uint64_t capacity;
} bench_array;

/* seconds[0 .. n) of calls that handle nbytes; sorts them. */
bench_speed bench_speed_of(double *seconds, uint32_t n, uint64_t nbytes);

/* memcpy of the original to decoded, repeats times after a warm-up. */
bench_speed bench_copy(const bench_array *array, uint32_t repeats, double *seconds);

/* Does decoded keep the bound of info? Where the bits differ both values have to be finite. Gives the largest error. */
bool bench_check(const bench_array *array, const floe_info *info, double *max_error);

/* libzfp, serial, fixed accuracy with tolerance row->abs_bound: fills stream_nbytes, max_error and speeds.
 * Returns 0 or an exit code after saying what is wrong (no libzfp in this build, the bound not kept). */
int bench_zfp(const bench_array *array, uint32_t repeats, double *seconds, bench_row *row);
bool bench_zfp_is_there(void);

/* Seconds of an array over a link: as it is; compressed, one step after another; and chunk by chunk, so that the steps overlap. And
 * the bytes a second of a link over which that gains nothing. */
typedef struct bench_transfer {
    double raw, serial, overlapped, serial_breaks_even, overlapped_breaks_even;
} bench_transfer;
bench_transfer bench_transfer_of(const bench_row *row, double bytes_per_s);
/* "1GB/s". Returns 0 or an exit code after saying what is wrong. */
int bench_link_parse(const char *text, double *bytes_per_s);

void bench_table_print(FILE *out, const bench_row *rows, uint32_t count);
void bench_link_print(FILE *out, const bench_row *rows, uint32_t count, double bytes_per_s);
/* bytes_per_s: of a link; 0: none. */
void bench_json_print(FILE *out, const bench_row *rows, uint32_t count, double bytes_per_s);

#endif
