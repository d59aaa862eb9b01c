/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels that are compiled for each element type: their launchers, which name what they export with FLOE_R, and a table
 * of them. */
#ifndef FLOE_CODEC_LORENZO_GPU_LORENZO_KERNELS_H
#define FLOE_CODEC_LORENZO_GPU_LORENZO_KERNELS_H

#include "codec/lorenzo/gpu/lorenzo_cuda.h"

typedef struct floe_lorenzo_kernels {
    /* rank: of the view of most tiles, which the kernel is made for; others take the general path. */
    int (*encode)(const floe_lorenzo_encode_call *call, uint32_t rank, uint32_t attempt, void *stream);
    /* Balanced, behind it: the drafts of this attempt to the histograms. */
    int (*count)(const floe_lorenzo_encode_call *call, uint32_t attempt, void *stream);
    int (*code)(const floe_lorenzo_encode_call *call, void *stream);
    int (*decode)(const floe_lorenzo_decode_call *call, void *stream);
    int (*tile_errors)(const floe_lorenzo_error_job *job, void *stream);
    /* What they need of the spill of a call. */
    uint64_t (*encode_spill)(const floe_dev_grid *grid), (*count_spill)(const floe_dev_grid *grid);
    uint64_t (*code_spill)(const floe_dev_grid *grid), (*decode_spill)(uint64_t max_slots);
} floe_lorenzo_kernels;

extern const floe_lorenzo_kernels floe_lorenzo_kernels_f32, floe_lorenzo_kernels_f64;

static inline const floe_lorenzo_kernels *floe_lorenzo_kernels_of(floe_dtype dtype)
{
    return dtype == FLOE_F32 ? &floe_lorenzo_kernels_f32 : &floe_lorenzo_kernels_f64;
}

#ifdef FLOE_REAL_BITS
#include "base/real.h"

int FLOE_R(floe_lorenzo_encode)(const floe_lorenzo_encode_call *call, uint32_t rank, uint32_t attempt, void *stream);
int FLOE_R(floe_lorenzo_count)(const floe_lorenzo_encode_call *call, uint32_t attempt, void *stream);
int FLOE_R(floe_lorenzo_code)(const floe_lorenzo_encode_call *call, void *stream);
int FLOE_R(floe_lorenzo_decode)(const floe_lorenzo_decode_call *call, void *stream);
int FLOE_R(floe_lorenzo_tile_errors)(const floe_lorenzo_error_job *job, void *stream);
uint64_t FLOE_R(floe_lorenzo_encode_spill)(const floe_dev_grid *grid);
uint64_t FLOE_R(floe_lorenzo_count_spill)(const floe_dev_grid *grid);
uint64_t FLOE_R(floe_lorenzo_code_spill)(const floe_dev_grid *grid);
uint64_t FLOE_R(floe_lorenzo_decode_spill)(uint64_t max_slots);
#endif

#endif
