/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/chunks/codec_turn.h"

#include <floe/floe.h>

#include "backend/device.cuh"

namespace
{

enum { THREADS = 256, TALL = 32, TILE = 1024, MOST_BLOCKS = 1 << 14 };

/* A tile lies along two axes: x, in whose order it is stored, and y, in whose order it is loaded; `outer` are the other two. */
struct turn {
    floe_codec_turn_job job;
    uint32_t x, y, outer[2], wide; /* wide: points of a tile along x */
    uint64_t nx, ny, count;        /* tiles along both axes, and all */
};

/* A block does tiles. Rows of the tile are one longer, so that neither way of going through it is slow. */
template <typename T> __global__ void __launch_bounds__(THREADS) codec_turn_kernel(const __grid_constant__ turn t)
{
    __shared__ T tile[TILE + TALL];
    const floe_lattice_view &from = t.job.from, &to = t.job.to;
    const uint64_t *n = t.job.n, count = t.job.status && *t.job.status != FLOE_OK ? 0 : t.count;
    for (uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
        uint64_t left = i, point[FLOE_LATTICE_RANK];
        point[t.x] = floe_last_digit(&left, t.nx) * t.wide;
        point[t.y] = floe_last_digit(&left, t.ny) * TALL;
        point[t.outer[1]] = floe_last_digit(&left, n[t.outer[1]]);
        point[t.outer[0]] = left;
        const T *source = (const T *)from.data + floe_lattice_view_at(&from, point);
        T *target = (T *)to.data + floe_lattice_view_at(&to, point);
        const uint32_t wx = (uint32_t)floe_min64(t.wide, n[t.x] - point[t.x]),
                       wy = (uint32_t)floe_min64(TALL, n[t.y] - point[t.y]);
        for (uint32_t k = threadIdx.x; k < wx * wy; k += THREADS)
            tile[k % wy * (t.wide + 1) + k / wy] =
                source[(int64_t)(k / wy) * from.stride[t.x] + (int64_t)(k % wy) * from.stride[t.y]];
        __syncthreads();
        for (uint32_t k = threadIdx.x; k < wx * wy; k += THREADS)
            target[(int64_t)(k % wx) * to.stride[t.x] + (int64_t)(k / wx) * to.stride[t.y]] =
                tile[k / wx * (t.wide + 1) + k % wx];
        __syncthreads();
    }
}

/* The axis of more than one point, other than `but`, along which values are closest. */
uint32_t closest(const floe_lattice_view *v, const uint64_t *n, uint32_t but)
{
    uint32_t best = but == FLOE_LATTICE_RANK - 1 ? but - 1 : FLOE_LATTICE_RANK - 1;
    uint64_t least = UINT64_MAX;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        const uint64_t far = (uint64_t)(v->stride[a] < 0 ? -v->stride[a] : v->stride[a]);
        if (a == but || n[a] == 1 || far >= least)
            continue;
        best = a;
        least = far;
    }
    return best;
}

turn turn_of(const floe_codec_turn_job *job)
{
    turn t = {};
    const uint64_t *n = job->n;
    uint32_t k = 0;
    t.job = *job;
    t.x = closest(&job->to, n, FLOE_LATTICE_RANK);
    t.y = closest(&job->from, n, t.x);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        if (a != t.x && a != t.y)
            t.outer[k++] = a;
    t.wide = TALL;
    while (2 * t.wide * floe_min64(n[t.y], TALL) <= TILE)
        t.wide *= 2;
    t.nx = floe_ceil_div(n[t.x], t.wide);
    t.ny = floe_ceil_div(n[t.y], TALL);
    t.count = t.nx * t.ny * n[t.outer[0]] * n[t.outer[1]];
    return t;
}

} // namespace

int floe_codec_turn_cuda(const floe_codec_turn_job *job, void *stream)
{
    const turn t = turn_of(job);
    const uint32_t nblocks = (uint32_t)floe_min64(t.count, MOST_BLOCKS);
    if (job->size == 4)
        FLOE_LAUNCH(codec_turn_kernel<uint32_t>, nblocks, THREADS, 0, (cudaStream_t)stream, t);
    else
        FLOE_LAUNCH(codec_turn_kernel<uint64_t>, nblocks, THREADS, 0, (cudaStream_t)stream, t);
    return (int)cudaGetLastError();
}
