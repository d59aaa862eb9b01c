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
    uint64_t raw_nbytes, stream_nbytes;
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

void bench_table_print(FILE *out, const bench_row *rows, uint32_t count);
void bench_json_print(FILE *out, const bench_row *rows, uint32_t count);

#endif
