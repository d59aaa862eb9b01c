/* SPDX-License-Identifier: BSD-3-Clause */

#include "codec/zfp/chunk/zfp_cells.h"
#include "codec/zfp/chunk/zfp_chunk.h"
#include "codec/zfp/gpu/zfp_grid.h"

/* A rate that this type and rank have. */
static floe_status check(const floe_field *layout, const floe_params *params, floe_error *err)
{
    floe_zfp_params unused;
    return params->mode != FLOE_BOUND_RATE
               ? FLOE_OK
               : floe_zfp_params_rate(params->bound, floe_zfp_type_of(layout->dtype), layout->rank, &unused, err);
}

const floe_codec_ops floe_zfp_codec = {
    .id = FLOE_CODEC_ZFP,
    .name = "zfp",
    .integers_on_gpu = true,
    .check = check,
    .units = floe_codec_tile_units,
    .bound = floe_zfp_bound,
    .least = floe_zfp_least,
    .workspace = floe_zfp_workspace,
    .decode_workspace = floe_zfp_decode_workspace,
    .encode = floe_zfp_chunk_compress,
    .decode = floe_zfp_chunk_decompress,
    .squared_error = floe_zfp_squared_error,
    .device = FLOE_CODEC_ON_GPU(floe_zfp_gpu),
};
