/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/interp/gpu/interp_codec_gpu.h"
#include "codec/interp/interp_chunk.h"

const floe_codec_ops floe_interp_codec = {
    .id = FLOE_CODEC_INTERP,
    .name = "interp",
    .sampled = true,
    .stacks = true,
    .finds_damage = true,
    .tunes = true,
    .whole = FLOE_LATTICE_CELLS_MOST,
    .units = floe_codec_any_units,
    .bound = floe_interp_bound,
    .least = floe_interp_least,
    .workspace = floe_interp_workspace,
    .decode_workspace = floe_interp_decode_workspace,
    .decode_scratch = floe_interp_decode_scratch,
    .level_nbytes = floe_interp_level_nbytes,
    .plan = floe_interp_plan_words,
    .encode = floe_interp_compress,
    .decode = floe_interp_decompress,
    .squared_error = floe_interp_squared_error,
    .estimate_workspace = floe_interp_estimate_workspace,
    .estimate = floe_interp_estimate,
    .device = FLOE_CODEC_ON_GPU(floe_interp_gpu),
};
