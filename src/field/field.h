/* SPDX-License-Identifier: BSD-3-Clause */
/* n-d arrays: checks, strides, boxes, and the scan that finds range and fill value. */
#ifndef FLOE_FIELD_FIELD_H
#define FLOE_FIELD_FIELD_H

#include <stdbool.h>

#include <floe/floe.h>

#include "backend/backend.h"

/* Checks dtype, rank, shape, place, data (may be NULL only if empty; aligned to an element) and strides (no two elements
 * may share an address in an output field: `writable`). Replaces all-0 strides, and those of axes of one element,
 * by the contiguous ones. Negative strides are allowed. */
floe_status floe_field_check(const floe_field *field, bool writable, floe_field *resolved, floe_error *err);

/* The box of extent `extent` at `lo` of a resolved field, as a field of its own. */
floe_field floe_field_box(const floe_field *field, const uint64_t *lo, const uint64_t *extent);

/* Does a resolved field lie in memory without gaps, in C order? And one over data that does, of the same shape and place. */
bool floe_field_is_contiguous(const floe_field *field);
floe_field floe_field_contiguous(void *data, const floe_field *like);

/* Copies between two resolved fields of the same shape and dtype that do not overlap. */
void floe_field_copy(const floe_field *from, const floe_field *to);

/* The elements of one or two resolved fields as rows, where the order of the visit does not matter: axes of extent 1 are
 * gone, axes are turned forward and sorted by the stride of the first field, and axes that follow one another in memory
 * are merged. Row r begins at element offset floe_rows_offset(rows, side, r) from data of its field. */
typedef struct floe_rows {
    uint64_t count, length; /* rows, and elements in each; count is 0 for an empty field */
    int64_t step[2];        /* distance of elements within a row */
    uint32_t outer;         /* axes that count rows, slowest first */
    uint64_t shape[FLOE_MAX_RANK];
    int64_t stride[2][FLOE_MAX_RANK];
    int64_t origin[2];
} floe_rows;
floe_rows floe_rows_of(const floe_field *first, const floe_field *second); /* second may be NULL */
int64_t floe_rows_offset(const floe_rows *rows, int side, uint64_t row);

/* What a scan of the values learnt. The parts of a field may be merged in any order. */
typedef struct floe_range {
    double min, max;     /* over finite values that are not fill; NaN if there are none; a zero is +0 */
    uint64_t nfinite;    /* values in min..max */
    uint64_t nfill;      /* values equal to the fill value */
    uint64_t nnonfinite; /* NaN and Inf */
    int64_t least, most; /* of integers, and a scan without fill: min and max exactly, where nfinite is not 0 */
    double low, high;    /* some value above min and some value below max (inf and -inf: none seen); as low and as high
                          * as a cheap scan saw them. They only spare fill detection its second pass. */
} floe_range;

/* What values lie between, where it is known. */
typedef struct floe_limits {
    bool known;
    double min, max;
} floe_limits;

void floe_range_init(floe_range *range);
void floe_range_merge(floe_range *into, const floe_range *part);

/* Adds all values of a resolved field to range; values whose bits equal fill_bits (if has_fill) count as fill.
 * The result does not depend on the number of threads. */
void floe_range_scan(const floe_cpu *cpu, const floe_field *field, bool has_fill, uint64_t fill_bits,
                     floe_range *range);

/*
 * Fill detection. A fill value is an extreme (the min or the max) that occurs at least twice and stands off from all other
 * values: either a conventional one (magnitude of 1e20 or more, or a row of nines and the like: fill_is_conventional) by
 * more than 10 times the range of the rest, or any other that marks at least 1 % of the values and stands off by more
 * than 1000 times that range, which must not be 0. So a few saturated cells, a hot pixel or a step are data.
 *
 * Pass 1 is floe_range_scan without fill. Where floe_fill_candidates (fill_math.h) then returns some, for each,
 * in order, pass 2 is a scan with that candidate as fill, and floe_fill_holds decides; the first that holds is
 * the fill value. On data without fill pass 2 hardly ever happens.
 */

/* The bits of value converted to dtype, in the low bits; and back. */
uint64_t floe_value_bits(floe_dtype dtype, double value);
double floe_value_of(floe_dtype dtype, uint64_t bits);
/* Whether params name a fill value; its bits, else 0. */
bool floe_fill_named(floe_dtype dtype, const floe_params *params, uint64_t *bits);
/* ARGUMENT: a fill value that is named, and no value of the dtype: an integer must be exact, a real not beyond what there is. */
floe_status floe_fill_check(floe_dtype dtype, const floe_params *params, floe_error *err);

#endif
