/* SPDX-License-Identifier: BSD-3-Clause */

#include "codec/lorenzo/cpu/lorenzo_chunk.h"
#include "codec/lorenzo/gpu/lorenzo_cuda.h"
#include "stage/quantizer/quantizer.h"
#include "stage/tile/view.h"

enum { ROWS_APART = 3 };

/* That of a lossless chunk, and a table of values as large as one may be. */
static uint64_t most(floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    const floe_codec_params any = {.dtype = dtype, .mode = FLOE_BOUND_LOSSLESS};
    const uint64_t bound = floe_lorenzo_bound(&any, rank, extent);
    return bound ? bound + FLOE_TABLE_MAX * floe_dtype_size(dtype) : 0;
}

/* Groups are 8 values thick in rank 2, and 2 x 4 in rank 3: of two or three rows, such as the components of a vector, or of so many
 * times so many, most would be padding. */
static uint32_t apart(uint32_t rank, const uint64_t *extent)
{
    floe_view view;
    floe_view_of(rank, extent, false, &view);
    const uint64_t *n = view.extent;
    int last = -1;
    if (view.rank == 2 && n[FLOE_VIEW_Z] <= ROWS_APART)
        last = view.axis[FLOE_VIEW_Z];
    if (view.rank == 3 && n[FLOE_VIEW_Z] <= ROWS_APART && n[FLOE_VIEW_Y] <= ROWS_APART)
        last = view.axis[FLOE_VIEW_Y];
    return n[FLOE_VIEW_X] >= FLOE_TILE_VALUES ? (uint32_t)(last + 1) : 0;
}

const floe_codec_ops floe_lorenzo_codec = {
    .id = FLOE_CODEC_LORENZO,
    .name = "lorenzo",
    .sampled = true,
    .units = floe_codec_tile_units,
    .apart = apart,
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
