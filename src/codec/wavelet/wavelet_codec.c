/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/wavelet/gpu/wavelet_codec_gpu.h"
#include "codec/wavelet/wavelet_chunk.h"
#include "codec/wavelet/wavelet_layout.h"

const floe_codec_ops floe_wavelet_codec = {
    .id = FLOE_CODEC_WAVELET,
    .name = "wavelet",
    .sampled = true,
    .stacks = true,
    .tunes = true,
    .whole = FLOE_LATTICE_CELLS_MOST,
    .units = floe_codec_any_units,
    .bound = floe_wavelet_bound,
    .least = floe_wavelet_least,
    .workspace = floe_wavelet_workspace,
    .decode_workspace = floe_wavelet_decode_workspace,
    .decode_scratch = floe_wavelet_decode_scratch,
    .level_nbytes = floe_wavelet_level_nbytes,
    .plan = floe_wavelet_plan_words,
    .encode = floe_wavelet_compress,
    .decode = floe_wavelet_decompress,
    .squared_error = floe_wavelet_squared_error,
    .device = FLOE_CODEC_ON_GPU(floe_wavelet_gpu),
};
