/* SPDX-License-Identifier: BSD-3-Clause */
/* n-d arrays: checks, strides, boxes, and the scan that finds range and fill value. */
#ifndef FLOE_FIELD_FIELD_H
#define FLOE_FIELD_FIELD_H

#include <stdbool.h>

#include <floe/floe.h>

#include "backend/backend.h"

/* Checks dtype, rank, shape, place, data (may be NULL only if empty) and strides (no two elements may share an address
 * in an output field: `writable`). Replaces all-0 strides by the contiguous ones. Negative strides are allowed. */
floe_status floe_field_check(const floe_field *field, bool writable, floe_field *resolved, floe_error *err);

/* The box of extent `extent` at `lo` of a resolved field, as a field of its own. */
floe_field floe_field_box(const floe_field *field, const uint64_t *lo, const uint64_t *extent);

/* Copies between two resolved fields of the same shape and dtype. */
void floe_field_copy(const floe_field *from, const floe_field *to);

/* What a scan of the values learnt; ranges of parts are merged in order with floe_range_merge. */
typedef struct floe_range {
    double min, max;     /* over finite values that are not fill; NaN if there are none */
    uint64_t nfinite;    /* values in min..max */
    uint64_t nfill;      /* values equal to the fill value */
    uint64_t nnonfinite; /* NaN and Inf */
} floe_range;

void floe_range_init(floe_range *range);
void floe_range_merge(floe_range *into, const floe_range *part);

/* Adds all values of a resolved field to range; values whose bits equal fill_bits (if has_fill) count as fill.
 * The result does not depend on the number of threads. */
void floe_range_scan(const floe_cpu *cpu, const floe_field *field, bool has_fill, uint64_t fill_bits,
                     floe_range *range);

/* Fill detection. A fill value is an extreme (the min or max) that occurs at least twice and stands off from all other
 * values by more than 10 times their range. Pass 1 is floe_range_scan without fill. Where floe_fill_suspect then says
 * true it names one candidate (min or max); pass 2 is a scan with that candidate as fill; floe_fill_confirm decides.
 * Then the candidate on the other side is tried the same way, with the first kept if confirmed: at most one fill value
 * is ever reported, the one that stands off farther. */
bool floe_fill_suspect(const floe_range *all, floe_dtype dtype, uint64_t candidate_bits[2], uint32_t *ncandidates);
bool floe_fill_confirm(const floe_range *rest, double candidate);

/* The bits of value converted to dtype, in the low bits. */
uint64_t floe_value_bits(floe_dtype dtype, double value);

#endif
