/* SPDX-License-Identifier: BSD-3-Clause */
/* Between zfp_stream_cuda.cu, which knows no element type, and the files that are compiled for each. */
#ifndef FLOE_CODEC_ZFP_STREAM_ZFP_REAL_CUDA_H
#define FLOE_CODEC_ZFP_STREAM_ZFP_REAL_CUDA_H

#include "codec/zfp/stream/zfp_stream_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

int floe_zfp_decode_f32(const floe_zfp_decode_call *call, void *stream);
int floe_zfp_decode_f64(const floe_zfp_decode_call *call, void *stream);

int floe_zfp_measure_f32(const floe_zfp_measure_call *call, void *stream);
int floe_zfp_measure_f64(const floe_zfp_measure_call *call, void *stream);

int floe_zfp_encode_f32(const floe_zfp_encode_call *call, void *stream);
int floe_zfp_encode_f64(const floe_zfp_encode_call *call, void *stream);
int floe_zfp_encode_scratch_f32(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t *nbytes);
int floe_zfp_encode_scratch_f64(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t *nbytes);

#ifdef __cplusplus
}
#endif
#endif
