/* SPDX-License-Identifier: BSD-3-Clause */
/* The seam between the launch of an encoding and its kernels, which are compiled for each element type. */
#ifndef FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_REAL_H
#define FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_REAL_H

#include "codec/lorenzo/gpu/lorenzo_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* rank: of the view of most tiles, which the kernel is made for; others take the long way. */
int floe_lorenzo_encode_real_cuda_f32(const floe_lorenzo_encode_call *call, uint32_t rank, uint32_t attempt,
                                      void *stream);
int floe_lorenzo_encode_real_cuda_f64(const floe_lorenzo_encode_call *call, uint32_t rank, uint32_t attempt,
                                      void *stream);
uint64_t floe_lorenzo_encode_spill_nbytes_f32(const floe_dev_grid *grid);
uint64_t floe_lorenzo_encode_spill_nbytes_f64(const floe_dev_grid *grid);

/* Balanced, behind it: the drafts of this attempt to the histograms. */
int floe_lorenzo_count_real_cuda_f32(const floe_lorenzo_encode_call *call, uint32_t attempt, void *stream);
int floe_lorenzo_count_real_cuda_f64(const floe_lorenzo_encode_call *call, uint32_t attempt, void *stream);
uint64_t floe_lorenzo_count_spill_nbytes_f32(const floe_dev_grid *grid);
uint64_t floe_lorenzo_count_spill_nbytes_f64(const floe_dev_grid *grid);

#ifdef __cplusplus
}
#endif
#endif
