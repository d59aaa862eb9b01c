/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands before entropy chunks or a list: tables, sizes; checked, as floe_interp_decompress does it. One block. */
#include <floe/floe.h>

#include "codec/interp/gpu/interp_dev.h"
#include "stage/context/context_open.cuh"

namespace
{

enum { THREADS = 512 };

typedef floe_interp_open_job job;

/* The first grid has tables of its own. */
FLOE_DEV void open_grids(const job &j, floe_context_opening *s)
{
    for (uint32_t g = 0; g < j.ngrids && threadIdx.x == 0; g++) {
        const bool own = j.own >> g & 1;
        j.grids[g].tables = own ? g : j.grids[g - 1].tables;
        if (own)
            floe_context_skip_tables(s, g);
    }
    __syncthreads();
    const bool good = s->good && floe_context_read_grids(s, j.grids, j.ngrids, j.tables);
    if (good)
        floe_context_find_chunks(s, j.nchunks, j.wide, j.checks_nbytes, j.places);
    else
        s->good = false;
}

FLOE_DEV void open_list(const job &j, floe_context_opening *s)
{
    if (threadIdx.x == 0) {
        s->good = s->at + 4 <= j.nbytes;
        const uint64_t count = s->good ? load32(j.src + s->at) : 0;
        s->at += 4;
        s->good = s->good && s->at + count * (4 + j.literal_nbytes) <= j.nbytes;
        j.cursor[1] = s->at;
        j.cursor[2] = count;
        s->at += 4 * count;
    }
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS) interp_open_kernel(const __grid_constant__ job j)
{
    __shared__ floe_context_opening s;
    const bool stops = *j.status != FLOE_OK;
    __syncthreads();
    if (stops)
        return;
    floe_context_open(&s, j.src, j.nbytes, j.further ? *j.cursor : j.at);
    for (uint64_t i = threadIdx.x; i < j.anchors_nbytes / 4; i += THREADS)
        ((uint32_t *)j.anchors)[i] = load32((const uint8_t *)j.anchors_src + 4 * i);
    if (j.list)
        open_list(j, &s);
    else
        open_grids(j, &s);
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    if (!s.good)
        *j.status = FLOE_ERR_FORMAT;
    else
        *j.cursor = s.at;
}

} // namespace

int floe_interp_open_cuda(const floe_interp_open_job *job, void *stream)
{
    FLOE_LAUNCH(interp_open_kernel, 1, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
