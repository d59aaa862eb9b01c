/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/interp/interp_chunk.h"

#include "base/try.h"
#include "codec/interp/gpu/interp_codec_gpu.h"
#include "field/dtype_math.h"

static floe_status check(const floe_field *layout, const floe_params *params, floe_error *err)
{
    (void)params;
    FLOE_CHECK(err, !floe_dtype_is_integer(layout->dtype), FLOE_ERR_UNSUPPORTED,
               "codec interp takes f32 and f64, not %s: use codec lorenzo or zfp", floe_dtype_name(layout->dtype));
    return FLOE_OK;
}

static uint64_t most(floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    const floe_codec_params any = {.dtype = dtype};
    return floe_interp_bound(&any, rank, extent);
}

const floe_codec_ops floe_interp_codec = {
    .id = FLOE_CODEC_INTERP,
    .name = "interp",
    .sampled = true,
    .stacks = true,
    .finds_damage = true,
    .tunes = true,
    .whole = FLOE_INTERP_CELLS_MOST,
    .check = check,
    .units = floe_codec_any_units,
    .bound = floe_interp_bound,
    .least = floe_interp_least,
    .most = most,
    .workspace = floe_interp_workspace,
    .decode_workspace = floe_interp_decode_workspace,
    .level_nbytes = floe_interp_level_nbytes,
    .plan = floe_interp_plan_words,
    .encode = floe_interp_compress,
    .decode = floe_interp_decompress,
    .squared_error = floe_interp_squared_error,
    .estimate_workspace = floe_interp_estimate_workspace,
    .estimate = floe_interp_estimate,
    .device = FLOE_CODEC_ON_GPU(floe_interp_gpu),
};
