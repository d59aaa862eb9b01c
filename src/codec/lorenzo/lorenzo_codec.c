/* SPDX-License-Identifier: BSD-3-Clause */

#include "codec/lorenzo/cpu/lorenzo_chunk.h"
#include "codec/lorenzo/gpu/lorenzo_cuda.h"
#include "stage/quantizer/quantizer.h"

/* That of a lossless chunk, and a table of values as large as one may be. */
static uint64_t most(floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    const floe_codec_params any = {.dtype = dtype, .mode = FLOE_BOUND_LOSSLESS};
    const uint64_t bound = floe_lorenzo_bound(&any, rank, extent);
    return bound ? bound + FLOE_TABLE_MAX * floe_dtype_size(dtype) : 0;
}

const floe_codec_ops floe_lorenzo_codec = {
    .id = FLOE_CODEC_LORENZO,
    .name = "lorenzo",
    .sampled = true,
    .units = floe_codec_tile_units,
    .bound = floe_lorenzo_bound,
    .least = floe_lorenzo_least,
    .most = most,
    .workspace = floe_lorenzo_workspace,
    .decode_workspace = floe_lorenzo_decode_workspace,
    .encode = floe_lorenzo_compress,
    .decode = floe_lorenzo_decompress,
    .squared_error = floe_lorenzo_squared_error,
    .estimate_workspace = floe_lorenzo_estimate_workspace,
    .estimate = floe_lorenzo_estimate,
    .device = FLOE_CODEC_ON_GPU(floe_lorenzo_gpu),
};
