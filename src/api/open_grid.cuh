/* SPDX-License-Identifier: BSD-3-Clause */
/* What all kernels that open chunks of a whole stream find first. */
#ifndef FLOE_API_OPEN_GRID_CUH
#define FLOE_API_OPEN_GRID_CUH

#include "api/open_cuda.h"
#include "codec/lorenzo_open.cuh"
#include "container/container_peek.cuh"

namespace
{

/* Shape and full chunk of the stream, and the chunks that they make. One thread. */
FLOE_DEV void find_grid(const floe_open_job &job, const floe_peek &peek, opening *o)
{
    const floe_lorenzo_decode_call &call = job.call;
    const bool ok = floe_peek_layout(&peek, call.field.dtype, call.field.rank, job.shape, o->chunk);
    for (uint32_t i = 0; i < FLOE_MAX_RANK; i++)
        o->shape[i] = i < call.field.rank ? job.shape[i] : 0;
    if (ok)
        set_grid(call, job.guess, o);
}

} // namespace

#endif
