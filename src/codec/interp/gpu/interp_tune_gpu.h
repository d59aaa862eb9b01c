/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuner's choice for values in device memory: the boxes that it tries are fetched, and the CPU's code tries them. Waits. */
#ifndef FLOE_CODEC_INTERP_GPU_INTERP_TUNE_GPU_H
#define FLOE_CODEC_INTERP_GPU_INTERP_TUNE_GPU_H

#include "codec/interp/gpu/interp_codec_gpu.h"
#include "codec/interp/interp_encoder.h"

typedef struct floe_interp_gpu_tuning {
    const floe_codec_params *params; /* max_abs is known, unless PWREL */
    const floe_interp_dev_view *values;
    void *boxes; /* device memory for floe_interp_gpu_boxes_cells values */
    uint32_t *status;
    void *stream;
} floe_interp_gpu_tuning;

uint64_t floe_interp_gpu_boxes_cells(uint64_t ncells);
/* chunk: its plan, and whether it is of logarithms. */
floe_status floe_interp_gpu_choose(const floe_interp_gpu_tuning *t, const uint64_t shape[FLOE_INTERP_RANK],
                                   floe_interp_chunk *chunk, floe_error *err);

#endif
