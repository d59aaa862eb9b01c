/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of metrics, and what each needs to have run. */
#ifndef FLOE_ASSESS_METRIC_TABLE_H
#define FLOE_ASSESS_METRIC_TABLE_H

#include <floe/assess.h>

/* Metric `number` as its row, and what its pass must do for it: parts of the pass's own (FLOE_REDUCTION_PDFS, ...). */
uint32_t floe_metric_parts(uint32_t number);

/* A new report: numbers NaN, counts 0, no arrays. */
void floe_report_clear(floe_assess_report *report);

#endif
