/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes the metrics that are requested and runs the passes that they need, each of which reads the two fields once.
 *
 *     floe_assessment_init -> floe_assessment_take (a plan, then the memory) -> floe_assessment_run
 */
#ifndef FLOE_ASSESS_COORDINATOR_H
#define FLOE_ASSESS_COORDINATOR_H

#include <floe/assess.h>

#include "assess/pair.h"
#include "assess/pair_integers.h"
#include "assess/reduction/reduction_device.h"
#include "assess/spectrum/spectrum_device.h"
#include "backend/backend.h"

typedef struct floe_assessment {
    const floe_cpu *cpu;
    const floe_cuda *cuda; /* where passes run on a GPU; open and current */
    floe_pair pair;        /* what passes read */
    floe_pair host;        /* where that is a copy in device memory: the caller's pair, for what a GPU does not do */
    bool has_copy;
    floe_integers integers; /* where the caller's pair is one of integers, and that to be assessed is made of it */
    bool has_integers;
    floe_assess_options options;
    floe_metric_set metrics;     /* those to be found */
    bool runs[FLOE_PASSES];      /* the passes that this takes */
    uint32_t parts[FLOE_PASSES]; /* what each must do */
    floe_reduction_options reduction_options;
    floe_reduction reduction;
    floe_reduction_device reduction_device;
    floe_spectrum spectrum;
    floe_spectrum_device spectrum_device;
    bool spectrum_on_device;
    /* taken; the other passes use the scratch, which is where the pair is, one after another */
    void *scratch, *similar_scratch;
    uint64_t scratch_nbytes;
    double *series, *derived[2];
    void *stage; /* for copies of what does not lie in one piece */
} floe_assessment;

/* pair: not empty, without fill, which options give; integers in host memory only. cuda: NULL for a pair in host memory that is
 * to be assessed there; else it is copied, and what a GPU does not do is still found on the CPU. Checks what is requested
 * against what is there. The assessment must stay where it is. */
floe_status floe_assessment_init(floe_assessment *a, const floe_cpu *cpu, const floe_cuda *cuda, const floe_pair *pair,
                                 const floe_assess_options *options, floe_error *err);
/* Host memory; and, where there is a GPU, device memory. */
void floe_assessment_take(floe_assessment *a, floe_arena *arena);
floe_status floe_assessment_take_device(floe_assessment *a, floe_arena *arena, floe_error *err);
floe_status floe_assessment_run(floe_assessment *a, floe_assess_report *report, floe_error *err);
/* Gives back what is no memory, whether init went well or not. */
void floe_assessment_free(floe_assessment *a);

#endif
