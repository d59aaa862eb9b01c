/* SPDX-License-Identifier: BSD-3-Clause */
/* What launches the kernels of codec zfp. Each puts its work on the stream and returns a cudaError_t as a number. */
#ifndef FLOE_CODEC_ZFP_GPU_ZFP_KERNELS_H
#define FLOE_CODEC_ZFP_GPU_ZFP_KERNELS_H

#include "codec/zfp/gpu/zfp_grid.h"
#include "codec/zfp/stream/zfp_stream_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Compiled for each element type: name, parameters. */
#define FLOE_ZFP_KERNELS(K)                                                                           \
    /* of bare streams; scratch: its bytes for the device that is current, data are not read */       \
    K(encode_scratch, (const floe_zfp_array *array, const floe_zfp_params *params, uint64_t *nbytes)) \
    K(encode, (const floe_zfp_encode_call *call, void *stream))                                       \
    K(decode, (const floe_zfp_decode_call *call, void *stream))                                       \
    K(measure, (const floe_zfp_measure_call *call, void *stream))                                     \
    /* of the chunks of a field */                                                                    \
    K(grid_spill, (uint32_t rank, const floe_dev_grid *grid, uint64_t *nbytes, uint64_t *words))      \
    K(grid_encode, (const floe_zfp_grid_encode *call, uint32_t attempt, void *stream))                \
    K(grid_replace, (const floe_zfp_grid_encode *call, void *stream))                                 \
    K(grid_check, (const floe_zfp_grid_encode *call, void *stream))                                   \
    K(grid_decode, (const floe_zfp_grid_decode *call, void *stream))

#define FLOE_ZFP_POINTER(name, parameters) int(*name) parameters;
#define FLOE_ZFP_DECLARE(name, parameters) int floe_zfp_##name##_f32 parameters, floe_zfp_##name##_f64 parameters;
typedef struct floe_zfp_kernels {
    FLOE_ZFP_KERNELS(FLOE_ZFP_POINTER)
} floe_zfp_kernels;
FLOE_ZFP_KERNELS(FLOE_ZFP_DECLARE)
#undef FLOE_ZFP_POINTER
#undef FLOE_ZFP_DECLARE

const floe_zfp_kernels *floe_zfp_kernels_of(bool narrow);

/* Compiled once. */
int floe_zfp_grid_begin_cuda(const floe_zfp_grid_encode *call, void *stream);
int floe_zfp_grid_finish_cuda(const floe_zfp_grid_encode *call, uint32_t attempt, void *stream);
int floe_zfp_grid_plan_cuda(const floe_zfp_grid_encode *call, uint32_t attempt, void *stream);
int floe_zfp_grid_place_cuda(const floe_zfp_grid_encode *call, void *stream);
int floe_zfp_grid_write_cuda(const floe_zfp_grid_encode *call, void *stream);
int floe_zfp_grid_error_sum_cuda(const floe_zfp_grid_encode *call, double *sum, void *stream);
int floe_zfp_grid_open_cuda(const floe_zfp_grid_decode *call, void *stream);

#ifdef __cplusplus
}
#endif
#endif
