/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuner for values in device memory: kernels count what it tries, the host compares. Waits. */
#ifndef FLOE_CODEC_INTERP_GPU_INTERP_TUNE_GPU_H
#define FLOE_CODEC_INTERP_GPU_INTERP_TUNE_GPU_H

#include "codec/interp/gpu/interp_codec_gpu.h"
#include "codec/interp/interp_encoder.h"

typedef struct floe_interp_gpu_thinning {
    const floe_interp_dev_check *check;
    uint8_t *originals;
    void *anchors, *stream;
    bool narrow,
        early; /* early: lattices may be thinned before the structure is chosen. Logarithms may not: their anchors have its errors */
    /* out */
    floe_interp_plan plan; /* of the lattices that are there */
    floe_interp_dev_thin steps[FLOE_INTERP_STEPS];
} floe_interp_gpu_thinning;

typedef struct floe_interp_gpu_tuning {
    const floe_codec_params *params;      /* max_abs is known, unless PWREL */
    const floe_interp_trials_job *trials; /* memory for them */
    uint32_t *status;
    void *stream;
    floe_interp_attempt attempt;
    floe_interp_gpu_thinning *thinning; /* NULL, or what may be done beside the first trials */
} floe_interp_gpu_tuning;

/* Begins *t: its memory is taken, all else is 0. */
void floe_interp_gpu_trials_take(floe_interp_trials_job *t, uint64_t ncells, size_t size, floe_arena *a);
/* chunk: its plan, and whether it is of logarithms. */
floe_status floe_interp_gpu_choose(const floe_interp_gpu_tuning *t, const floe_lattice_view *values,
                                   const uint64_t shape[FLOE_LATTICE_RANK], floe_interp_chunk *chunk, floe_error *err);

/* codec_device.h */
size_t floe_interp_gpu_estimate_workspace(const floe_codec_boxes *boxes);
floe_status floe_interp_gpu_estimate(const floe_codec_boxes *boxes, floe_arena *scratch, double *bits, void *stream,
                                     floe_error *err);

/* Originals of all lattices of a plan, and the anchors; unless they are there. */
floe_status floe_interp_gpu_thin(floe_interp_gpu_thinning *t, const floe_interp_plan *plan, floe_error *err);
/* The same for the structure with which the tuner begins, and which it mostly keeps, where t->early. It takes no more than the field and
 * its fill value, and need not wait until the host has that. */
floe_status floe_interp_gpu_thin_early(floe_interp_gpu_thinning *t, const uint64_t *shape, floe_error *err);

#endif
