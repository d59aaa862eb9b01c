/* SPDX-License-Identifier: BSD-3-Clause */
/* What tile_study_bench measures of a tile shape: the ratio that it allows, and what predicting in it costs. */
#ifndef FLOE_BENCH_TILE_STUDY_H
#define FLOE_BENCH_TILE_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Integers in units of twice the bound, C order; axes z, y, x, the last one fastest. */
typedef struct study_field {
    const uint32_t *q; /* two's complement: differences wrap */
    uint32_t n[3];
    size_t nvalues;
} study_field;

/* A group has 32 values; its extents divide those of the tile. */
typedef struct study_shape {
    uint32_t tile[3], group[3];
} study_shape;

/* Where the mode (stage/lorenzo/lorenzo.h) of a tile comes from. */
typedef enum study_scope { STUDY_FIRST_STEP, STUDY_WHOLE_TILE, STUDY_EACH_STEP } study_scope;
typedef struct study_choice {
    const char *name;
    uint32_t candidates; /* bit m: mode m is tried */
    study_scope scope;
} study_choice;

/* Uncompressed over compressed bytes with each encoder. Everything that a chunk stores counts, but its header. */
typedef struct study_ratio {
    double pack, huffman;
} study_ratio;

/* NULL memory: false. */
bool study_measure_ratio(const study_field *field, const study_shape *shape, const study_choice *choice,
                         study_ratio *ratio);

/* Seconds of one pass over the field each way: differences in all three axes, and the sums that undo them. */
typedef struct study_seconds {
    double predict, undo;
} study_seconds;

/* residuals and back have room for the field. False when what comes back is not what went in. */
bool study_measure_speed(const study_field *field, const study_shape *shape, uint32_t *residuals, uint32_t *back,
                         study_seconds *seconds);

#endif
