/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands before entropy chunks or a list: tables, sizes; checked, as floe_interp_decompress does it. One block. */
#include <floe/floe.h>

#include "codec/interp/gpu/interp_dev.h"
#include "stage/context/context_open.cuh"

namespace
{

enum { THREADS = 512, WARPS = THREADS / FLOE_WARP, MOST_GRIDS = 64 };

typedef floe_interp_open_job job;

struct opened : floe_context_opening {
    uint64_t tables_at[MOST_GRIDS];
    uint32_t tables_nbytes[MOST_GRIDS];
};

/* One thread: where the tables of each grid are. Moves s->at behind the sizes. */
FLOE_DEV void find_tables(const job &j, opened *s)
{
    for (uint32_t g = 0; g < j.ngrids && s->good; g++) {
        if (!(j.own >> g & 1)) {
            j.grids[g].tables = g ? j.grids[g - 1].tables : g;
            continue;
        }
        s->good = s->at + 2 <= j.nbytes && s->at + 2 + load16(j.src + s->at) <= j.nbytes;
        if (!s->good)
            return;
        j.grids[g].tables = g;
        s->tables_nbytes[g] = load16(j.src + s->at);
        s->tables_at[g] = s->at + 2;
        s->at += 2 + s->tables_nbytes[g];
    }
}

FLOE_DEV void open_grids(const job &j, opened *s)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    if (threadIdx.x == 0)
        find_tables(j, s);
    __syncthreads();
    if (!s->good)
        return;
    bool good = true;
    for (uint32_t g = warp; g < j.ngrids; g += WARPS) {
        if (!(j.own >> g & 1))
            continue;
        const table_reader from = {j.src + s->tables_at[g], s->tables_nbytes[g]};
        good = floe_context_read_tables(from, j.grids[g].nmasks, j.grids[g].nvalues, j.tables + g) && good;
    }
    if (__syncthreads_or(!good)) {
        s->good = false;
        return;
    }
    floe_context_find_chunks(s, j.nchunks, j.wide, j.checks_nbytes, j.places);
}

FLOE_DEV void open_list(const job &j, opened *s)
{
    if (threadIdx.x == 0) {
        s->good = s->at + 4 <= j.nbytes;
        const uint64_t count = s->good ? load32(j.src + s->at) : 0;
        s->at += 4;
        s->good = s->good && s->at + count * (4 + j.literal_nbytes) <= j.nbytes;
        *j.count = count;
        j.cursor[1] = s->at;
        s->at += 4 * count;
    }
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS) interp_open_kernel(const __grid_constant__ job j)
{
    __shared__ opened s;
    const bool stops = *j.status != FLOE_OK;
    __syncthreads();
    if (stops)
        return;
    if (threadIdx.x == 0) {
        s.src = j.src;
        s.nbytes = j.nbytes;
        s.at = j.further ? *j.cursor : j.at;
        s.good = true;
    }
    __syncthreads();
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
