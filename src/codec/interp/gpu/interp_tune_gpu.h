/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuner for values in device memory: kernels count what it tries, the host compares. Waits. */
#ifndef FLOE_CODEC_INTERP_GPU_INTERP_TUNE_GPU_H
#define FLOE_CODEC_INTERP_GPU_INTERP_TUNE_GPU_H

#include "backend/cuda.h"
#include "codec/interp/gpu/interp_codec_gpu.h"
#include "codec/interp/interp_encoder.h"

typedef struct floe_interp_gpu_tuning {
    const floe_codec_params *params; /* max_abs is known, unless PWREL */
    const floe_interp_view *values;
    const floe_interp_gpu_trials *trials;
    uint32_t *status;
    void *stream;
    /* of floe_interp_gpu_choose: what it thins, and what it makes of it */
    const floe_cuda *cuda; /* with this stream */
    const floe_interp_dev_check *check;
    uint8_t *originals;
    void *anchors;
    floe_interp_dev_lattice *lattices;
} floe_interp_gpu_tuning;

void floe_interp_gpu_trials_take(floe_interp_gpu_trials *t, uint64_t ncells, size_t size, floe_arena *a);
/* chunk: its plan, and whether it is of logarithms. Then makes originals of all its lattices, and anchors. */
floe_status floe_interp_gpu_choose(const floe_interp_gpu_tuning *t, const uint64_t shape[FLOE_INTERP_RANK],
                                   floe_interp_chunk *chunk, floe_error *err);

/* codec_device.h */
size_t floe_interp_gpu_estimate_workspace(const floe_codec_boxes *boxes);
floe_status floe_interp_gpu_estimate(const floe_codec_boxes *boxes, floe_arena *scratch, double *bits, void *stream,
                                     floe_error *err);

/* Lattices 1 to nsteps of a field of this shape, from `at` on; of a field without steps: itself. Returns how many. */
uint32_t floe_interp_gpu_lattices(const floe_interp_plan *p, uint8_t *at, uint32_t size, floe_interp_dev_lattice *l);
/* Step i of such a field, without records and lattices of results; without steps: the one that leaves all. */
floe_interp_dev_job floe_interp_gpu_job(const floe_interp_plan *p, const floe_interp_dev_check *check,
                                        const floe_interp_dev_lattice *lattices, uint32_t i);

#endif
