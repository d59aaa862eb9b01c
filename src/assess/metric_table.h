/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of metrics, and what each needs to have run. */
#ifndef FLOE_ASSESS_METRIC_TABLE_H
#define FLOE_ASSESS_METRIC_TABLE_H

#include <stdbool.h>

#include <floe/assess.h>

/* Parts of the stencil and of the window pass; those of the reduction are its own (FLOE_REDUCTION_PDFS, ...). */
enum {
    FLOE_PART_DERIVATIVES = 1,
    FLOE_PART_SOBOLEV = 2,
    FLOE_PART_LAGS = 4,          /* autocorrelation of the error */
    FLOE_PART_ORIGINAL_LAGS = 8, /* of the original */
    FLOE_PART_SIMILAR =
        16, /* << 0 to 7: SSIM of first, of second derivatives along the axes, and of the other quantities
                                  * in the order of floe_stencil_quantity */
    FLOE_PART_ALL_SIMILAR = 255 * FLOE_PART_SIMILAR,
    FLOE_PART_DECODED_DERIVATIVES = 4096, /* of the decoded field by itself */
    FLOE_PART_DECODED_SOBOLEV = 8192,
    FLOE_PART_ALL_DECODED = FLOE_PART_DECODED_DERIVATIVES | FLOE_PART_DECODED_SOBOLEV,

    FLOE_PART_SSIM = 1,
    FLOE_PART_IMAGE = 2,
    FLOE_PART_GAUSSIAN = 4
};

/* ARGUMENT: a set requests what is in no table, as that of a newer floe may. */
floe_status floe_metric_set_check(const floe_metric_set *set, floe_error *err);

/* Whether a set requests a metric, and by its name. alone: of one field, whose properties are then what matters. */
typedef enum floe_metric_wish { FLOE_METRIC_NOT_ASKED, FLOE_METRIC_IN_GROUP, FLOE_METRIC_NAMED } floe_metric_wish;
floe_metric_wish floe_metric_wish_of(const floe_metric_set *set, uint32_t number, bool alone);
/* The axis of the field that it is of; -1: of all. */
int floe_metric_axis(uint32_t number);
/* What a metric's pass must do for it. */
uint32_t floe_metric_parts(uint32_t number);

/* A new report: numbers NaN, counts 0, no arrays. */
void floe_report_clear(floe_assess_report *report);

#endif
