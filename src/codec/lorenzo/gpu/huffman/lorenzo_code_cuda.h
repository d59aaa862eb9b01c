/* SPDX-License-Identifier: BSD-3-Clause */
/* Between lorenzo_code_cuda.cu, which knows no element type, and lorenzo_code_real_cuda.cu, compiled for each. */
#ifndef FLOE_CODEC_LORENZO_GPU_HUFFMAN_LORENZO_CODE_CUDA_H
#define FLOE_CODEC_LORENZO_GPU_HUFFMAN_LORENZO_CODE_CUDA_H

#include "codec/lorenzo/gpu/lorenzo_device.h"

#ifdef __cplusplus
extern "C" {
#endif

int floe_lorenzo_code_f32(const floe_lorenzo_encode_call *call, void *stream);
int floe_lorenzo_code_f64(const floe_lorenzo_encode_call *call, void *stream);
/* One chunk of at most so many tile slots: a block a tile. */
uint32_t floe_lorenzo_code_few_most_f32(void);
uint32_t floe_lorenzo_code_few_most_f64(void);
int floe_lorenzo_code_few_f32(const floe_lorenzo_encode_call *call, void *stream);
int floe_lorenzo_code_few_f64(const floe_lorenzo_encode_call *call, void *stream);
/* What coding needs of floe_lorenzo_encode_call.spill. */
uint64_t floe_lorenzo_code_spill_nbytes(floe_dtype dtype, const floe_dev_grid *grid);
uint64_t floe_lorenzo_code_few_spill_nbytes_f32(const floe_dev_grid *grid);
uint64_t floe_lorenzo_code_few_spill_nbytes_f64(const floe_dev_grid *grid);
uint64_t floe_lorenzo_code_spill_nbytes_f32(const floe_dev_grid *grid);
uint64_t floe_lorenzo_code_spill_nbytes_f64(const floe_dev_grid *grid);

#ifdef __cplusplus
}
#endif
#endif
