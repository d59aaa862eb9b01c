/* SPDX-License-Identifier: BSD-3-Clause */
/* The seam between the launch of coding drafts and its kernel, which is compiled for each element type. */
#ifndef FLOE_CODEC_LORENZO_GPU_HUFFMAN_LORENZO_CODE_CUDA_H
#define FLOE_CODEC_LORENZO_GPU_HUFFMAN_LORENZO_CODE_CUDA_H

#include "codec/lorenzo/gpu/lorenzo_device.h"

#ifdef __cplusplus
extern "C" {
#endif

int floe_lorenzo_code_f32(const floe_lorenzo_encode_call *call, void *stream);
int floe_lorenzo_code_f64(const floe_lorenzo_encode_call *call, void *stream);
/* What coding needs of floe_lorenzo_encode_call.spill. */
uint64_t floe_lorenzo_code_spill_nbytes_f32(const floe_dev_grid *grid);
uint64_t floe_lorenzo_code_spill_nbytes_f64(const floe_dev_grid *grid);

#ifdef __cplusplus
}
#endif
#endif
