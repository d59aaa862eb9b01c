/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts in bins that grow with the values: one thread's, to be added up at the end. */
#ifndef FLOE_ASSESS_BINS_H
#define FLOE_ASSESS_BINS_H

#include <stdbool.h>

#include "assess/reduction/bins_math.h"

/* One frame for `tables` tables of counts, such as those of both fields. */
typedef struct floe_bins {
    floe_bins_frame frame; /* all `capacity` bins, from one that lies below low */
    double low, high;      /* of the values so far */
    double per_width;
    uint32_t capacity, tables;
    uint64_t *count; /* tables * capacity */
    uint64_t *spare; /* capacity: for moving */
} floe_bins;

/* Values from low to high are coming: v is to be counted in bin floe_bins_index(v, per_width) - frame.first. */
void floe_bins_cover(floe_bins *bins, double low, double high);
/* Adds a table to the counts of a frame that holds all its values. */
void floe_bins_collect(const floe_bins *bins, uint32_t table, const floe_bins_frame *frame, uint64_t *count);

#endif
