/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands before entropy chunks or a list: tables, sizes; checked, as floe_interp_decompress does it. One block. */
#include <floe/floe.h>

#include "codec/interp/gpu/interp_dev.h"
#include "stage/context/context_read.cuh"

namespace
{

enum { THREADS = 512, WARPS = THREADS / FLOE_WARP, MOST_GRIDS = 64 };

typedef floe_interp_open_job job;

struct opened {
    uint64_t tables_at[MOST_GRIDS], at, carry;
    uint64_t sums[WARPS];
    uint32_t tables_nbytes[MOST_GRIDS];
    bool good;
};

FLOE_DEV uint32_t load16(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8; }
FLOE_DEV uint32_t load32(const uint8_t *p) { return load16(p) | load16(p + 2) << 16; }

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
    uint64_t end = s->at + (uint64_t)j.nchunks * (j.wide ? 4 : 2); /* zeros up to where words begin */
    for (; s->good && (end % 4 || end > j.nbytes); end++)
        s->good = end < j.nbytes && j.src[end] == 0;
}

/* Where the chunks are, behind their sizes. By a block. */
FLOE_DEV void find_chunks(const job &j, opened *s)
{
    const uint8_t *sizes = j.src + s->at;
    const uint64_t begin_at = (s->at + (uint64_t)j.nchunks * (j.wide ? 4 : 2) + 3) & ~(uint64_t)3;
    const uint32_t warp = threadIdx.x / FLOE_WARP, lane = floe_lane();
    __syncthreads();
    if (threadIdx.x == 0)
        s->carry = begin_at;
    __syncthreads();
    for (uint32_t begin = 0; begin < j.nchunks; begin += THREADS) {
        const uint32_t i = begin + threadIdx.x;
        const uint64_t size =
            i >= j.nchunks ? 0
                           : 4 * (uint64_t)(j.wide ? load32(sizes + 4 * (uint64_t)i) : load16(sizes + 2 * (uint64_t)i));
        unsigned long long upto = floe_min64(size, j.nbytes + 1); /* more is not there: sums stay small */
        for (uint32_t d = 1; d < FLOE_WARP; d *= 2) {
            const unsigned long long below = __shfl_up_sync(FLOE_ALL_LANES, upto, d);
            upto += lane >= d ? below : 0;
        }
        if (lane == FLOE_WARP - 1)
            s->sums[warp] = upto;
        __syncthreads();
        for (uint32_t w = 0; w < warp; w++)
            upto += s->sums[w];
        if (i < j.nchunks)
            j.places[i] = s->carry + upto - floe_min64(size, j.nbytes + 1);
        __syncthreads();
        if (threadIdx.x == THREADS - 1)
            s->carry += upto;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        j.places[j.nchunks] = s->at = s->carry;
        s->good = s->good && s->at <= j.nbytes;
    }
    __syncthreads();
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
        const table_reader from = {j.src + s->tables_at[g], s->tables_nbytes[g]};
        if (j.own >> g & 1)
            good = floe_context_read_tables(from, j.grids[g].nmasks, j.grids[g].nvalues, j.tables + g) && good;
    }
    if (__syncthreads_or(!good)) {
        s->good = false;
        return;
    }
    find_chunks(j, s);
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
