/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a field <-> rows of the array that is transformed, and marks, which say what the transform does not keep. The marks of a row lie
 * in records of 7, as stage context codes them. docs/format/wavelet.md. */
#ifndef FLOE_STAGE_WAVELET_VALUES_H
#define FLOE_STAGE_WAVELET_VALUES_H

#include <stdbool.h>

#include "backend/backend.h"
#include "base/hd.h"
#include "field/field.h"

enum { FLOE_WAVELET_MARKS = 7, FLOE_WAVELET_CORRECTION_MOST = 127 };

/* The kind of a value, which is its mark. */
enum {
    FLOE_WAVELET_PLAIN = 0,
    FLOE_WAVELET_NEGATIVE = 1, /* in the domain of logarithms */
    FLOE_WAVELET_PATTERN = 2,  /* the first of three patterns */
    FLOE_WAVELET_LITERAL = 5
};

/* Where the mark of element x of a row is; x is below 2^32. */
FLOE_HD uint64_t floe_wavelet_mark(uint64_t x) { return x + (uint32_t)x / FLOE_WAVELET_MARKS; }

typedef struct floe_wavelet_row {
    void *field; /* n elements, `stride` from one to the next */
    int64_t stride;
    void *array;                 /* n reals, contiguous: value - center, or its logarithm - center */
    int8_t *kinds, *corrections; /* marks of the whole row; NULL: all are 0 */
    uint64_t x, n;               /* element 0 here is number x of that row */
    uint64_t fill;
    double center, unit; /* unit: of corrections */
    double tolerance;    /* encode: the largest error, as computed: absolute, or with log relative */
    bool log, squares;   /* log: the array has logarithms; squares: their sum is wanted */
    bool trial;          /* check: kinds stay as they are */
    floe_limits limits;  /* decode: values are cut to these */
} floe_wavelet_row;

/* What encoding found. The sum of squares is a whole number, so that it does not depend on the order of summing. */
typedef struct floe_wavelet_found {
    double min, max; /* of the array */
    double max_error, max_pw_error;
    uint64_t squares; /* errors squared, in units of (tolerance / 2^10)^2, rounded up */
    uint64_t ncorrections, nliterals;
} floe_wavelet_found;

typedef struct floe_wavelet_value_ops {
    /* Field -> array; does not subtract center. A value that no transform can hold becomes NaN with kind LITERAL, and is counted. */
    void (*take)(const floe_wavelet_row *r, floe_wavelet_found *found);
    /* Subtracts center from the array. */
    void (*shift)(const floe_wavelet_row *r, floe_wavelet_found *unused);
    /* Compares the array with the field. Sets the corrections, and kinds where corrections do not help. */
    void (*check)(const floe_wavelet_row *r, floe_wavelet_found *found);
    void (*give)(const floe_wavelet_row *r); /* array -> field; adds the corrections to the array, too */
} floe_wavelet_value_ops;

extern const floe_wavelet_value_ops floe_wavelet_value_ops_f32_plain, floe_wavelet_value_ops_f64_plain;
extern const floe_wavelet_value_ops floe_wavelet_value_ops_f32_avx2, floe_wavelet_value_ops_f64_avx2;
const floe_wavelet_value_ops *floe_wavelet_value_ops_of(floe_dtype dtype, floe_isa isa);

#endif
