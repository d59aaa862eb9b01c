/* SPDX-License-Identifier: BSD-3-Clause */
/* How a chunk begins, by a thread. */
#ifndef FLOE_CODEC_ZFP_GPU_ZFP_GRID_BEGIN_CUH
#define FLOE_CODEC_ZFP_GPU_ZFP_GRID_BEGIN_CUH

#include "base/grid_math.h"
#include "codec/zfp/gpu/zfp_grid_dev.cuh"

namespace
{

/* What does not depend on params. */
FLOE_DEV void begin_early(const floe_zfp_grid_encode &call, uint64_t number)
{
    const floe_dev_field &f = call.field;
    floe_zfp_dev_chunk *c = call.chunks + number;
    uint64_t lo[FLOE_MAX_RANK];
    int64_t at = 0;
    memset(c, 0, sizeof *c);
    floe_grid_cut(f.rank, call.grid.shape, call.grid.chunk, number, lo, c->array.shape);
    floe_zfp_count(f, c);
    for (uint32_t i = 0; i < f.rank; i++)
        at += (int64_t)lo[i] * f.stride[i];
    c->array.data = (uint8_t *)f.data + at * (int64_t)floe_zfp_size_of(call);
    c->first_good = c->first_odd = ~0ull;
}

FLOE_DEV void begin_late(const floe_zfp_grid_encode &call, uint64_t number, const floe_codec_params *params)
{
    floe_zfp_dev_chunk *c = call.chunks + number;
    const bool close = floe_zfp_close_params(params, c->array.type, c->array.rank, c->ncells, c->nblocks, &c->close);
    floe_zfp_want(call, c, close ? FLOE_ZFP_CLOSELY : FLOE_ZFP_REVERSIBLY);
}

} // namespace

#endif
