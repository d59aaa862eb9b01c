/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/wavelet/wavelet_codec.h"

#include "base/try.h"
#include "codec/wavelet/gpu/wavelet_codec_gpu.h"
#include "codec/wavelet/wavelet_chunk.h"
#include "codec/wavelet/wavelet_layout.h"
#include "field/dtype_math.h"

static floe_status check(const floe_field *layout, const floe_params *params, floe_error *err)
{
    (void)params;
    FLOE_CHECK(err, !floe_dtype_is_integer(layout->dtype), FLOE_ERR_UNSUPPORTED,
               "codec wavelet takes f32 and f64, not %s: use codec lorenzo or zfp", floe_dtype_name(layout->dtype));
    return FLOE_OK;
}

static uint64_t most(floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    const floe_codec_params any = {.dtype = dtype};
    return floe_wavelet_bound(&any, rank, extent);
}

const floe_codec_ops floe_wavelet_codec = {
    .id = FLOE_CODEC_WAVELET,
    .name = "wavelet",
    .sampled = true,
    .tunes = true,
    .whole = FLOE_INTERP_CELLS_MOST,
    .check = check,
    .units = floe_codec_any_units,
    .bound = floe_wavelet_bound,
    .least = floe_wavelet_least,
    .most = most,
    .workspace = floe_wavelet_workspace,
    .decode_workspace = floe_wavelet_decode_workspace,
    .level_nbytes = floe_wavelet_level_nbytes,
    .encode = floe_wavelet_compress,
    .decode = floe_wavelet_decompress,
    .squared_error = floe_wavelet_squared_error,
    .device = FLOE_CODEC_ON_GPU(floe_wavelet_gpu),
};
