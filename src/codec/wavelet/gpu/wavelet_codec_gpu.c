/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/wavelet/gpu/wavelet_codec_gpu.h"

FLOE_CODEC_OWN_FITS(floe_wavelet_gpu_encode);
FLOE_CODEC_OWN_FITS(floe_wavelet_gpu_decode);

const floe_codec_device floe_wavelet_gpu = {
    .waits = true,
    .params_nbytes = sizeof(floe_codec_params),
    .encode_plan = floe_wavelet_gpu_encode_plan,
    .encode_take = floe_wavelet_gpu_encode_take,
    .encode_aim = floe_codec_written_aim,
    .resolve = floe_codec_resolve_alone,
    .encode_start = floe_wavelet_gpu_encode_start,
    .squared_error = floe_wavelet_gpu_squared_error,
    .decode_plan = floe_wavelet_gpu_decode_plan,
    .decode_take = floe_wavelet_gpu_decode_take,
    .decode_start = floe_wavelet_gpu_decode_start,
};

#endif
