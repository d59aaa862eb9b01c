/* SPDX-License-Identifier: BSD-3-Clause */
/* What all kernels that open chunks of a whole stream find first. */
#ifndef FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_PEEK_CUH
#define FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_PEEK_CUH

#include "codec/lorenzo/gpu/decode/lorenzo_open.cuh"
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

/* Opens a chunk of the grid, which may turn out to have fewer; the grid is found out while the chunk is loaded. What came of
 * it. The whole block. */
FLOE_DEV uint32_t open_by_block(const floe_open_job &job, uint64_t nbytes, uint64_t chunk, floe_peek &peek, opening *o)
{
    const floe_lorenzo_decode_call &call = job.call;
    uint32_t status = FLOE_ERR_FORMAT, run[RUN];
    floe_dev_record record = {0, 0, 0};
    open_begin(call, job.guess, chunk, o);
    if (nbytes <= job.nbytes && floe_peek_load(call.stream, nbytes, job.guess.nchunks, chunk, &peek)) {
        const uint64_t nchunks = peek.footer[2];
        const bool is_there = chunk < nchunks && floe_peek_record(&peek, nbytes, nchunks, &record);
        if (is_there)
            load_chunk(call, record, o, run);
        if (threadIdx.x == 0)
            find_grid(job, peek, o);
        __syncthreads();
        if (o->nchunks > 0 && chunk >= o->nchunks)
            status = FLOE_OK;
        else if (o->nchunks > 0 && o->nchunks == nchunks && is_there)
            status = open_chunk(call, job.guess, chunk, record, o, run);
    }
    open_end(call, chunk, status, o);
    return status;
}

} // namespace

#endif
