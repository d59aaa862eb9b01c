/* SPDX-License-Identifier: BSD-3-Clause */
/* The seam between the launch of a decoding and its kernels, which are compiled for each element type. */
#ifndef FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_REAL_H
#define FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_REAL_H

#include "codec/lorenzo/gpu/lorenzo_device.h"

#ifdef __cplusplus
extern "C" {
#endif

int floe_lorenzo_decode_real_cuda_f32(const floe_lorenzo_decode_call *call, void *stream);
int floe_lorenzo_decode_real_cuda_f64(const floe_lorenzo_decode_call *call, void *stream);
uint64_t floe_lorenzo_decode_spill_nbytes_f32(uint64_t max_slots);
uint64_t floe_lorenzo_decode_spill_nbytes_f64(uint64_t max_slots);

#ifdef __cplusplus
}
#endif
#endif
