/* SPDX-License-Identifier: BSD-3-Clause */
/* How the coordinator runs passes that start from what the reduction has found. */
#ifndef FLOE_ASSESS_COORDINATOR_PASS_H
#define FLOE_ASSESS_COORDINATOR_PASS_H

#include "assess/coordinator.h"
#include "assess/stencil/stencil.h"
#include "assess/window/ssim.h"

/* Whether the passes run on a GPU. */
static inline bool floe_assessment_on_device(const floe_assessment *a) { return a->pair.place == FLOE_DEVICE; }
/* The pair in host memory; NULL: there is none. */
static inline const floe_pair *floe_assessment_host(const floe_assessment *a)
{
    return a->has_copy ? &a->host : floe_assessment_on_device(a) ? NULL : &a->pair;
}

/* Scratch that the pass needs, in the memory of the pair that it reads; 256-byte aligned on a device. */
uint64_t floe_assessment_stencil_nbytes(const floe_assessment *a);
uint64_t floe_assessment_window_nbytes(const floe_assessment *a);

/* Series and derivatives that the report points to, or that are looked at as fields. */
void floe_assessment_stencil_take(floe_assessment *a, floe_arena *arena);

/* Fill their part of the report, whose reduction is complete. */
floe_status floe_assessment_stencil_run(floe_assessment *a, floe_assess_report *report, floe_error *err);
floe_status floe_assessment_window_run(floe_assessment *a, floe_assess_report *report, floe_error *err);
/* Where nothing else is requested, and all of it may go the quick way on a GPU: from the range of the original, which
 * report->original has. known: whether there are results. */
bool floe_assessment_window_is_quick(const floe_assessment *a);
floe_status floe_assessment_window_alone(floe_assessment *a, floe_assess_report *report, bool *known, floe_error *err);

/* Whether the field is large enough for the windows of a part. */
floe_status floe_assessment_window_check(const floe_assessment *a, uint32_t part, floe_error *err);

/* ssim of any pair in host memory, with the options' window, in the similar_scratch. */
floe_status floe_assessment_similar(floe_assessment *a, const floe_pair *pair, double min, double max,
                                    floe_ssim_result *result, floe_error *err);
uint64_t floe_assessment_similar_nbytes(const floe_assessment *a, const floe_pair *pair);

#endif
