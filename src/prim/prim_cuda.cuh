/* SPDX-License-Identifier: BSD-3-Clause */
/* What the primitives' kernels and their launchers share. */
#ifndef FLOE_PRIM_CUDA_CUH
#define FLOE_PRIM_CUDA_CUH

#include "backend/device_scan.cuh"
#include "prim/prim_job.h"
#include "prim/prim_map.cuh"

namespace
{

#define TRY(call)            \
    do {                     \
        int e = (int)(call); \
        if (e)               \
            return e;        \
    } while (0)

/* One instance for each element type, in the order of floe_prim_type. */
#define EACH_TYPE(kernel)                                                \
    {                                                                    \
        kernel<0>, kernel<1>, kernel<2>, kernel<3>, kernel<4>, kernel<5> \
    }

enum { BLOCK = FLOE_PRIM_BLOCK, WARPS = BLOCK / FLOE_WARP };

FLOE_DEV uint64_t first_tile_of_warp() { return (uint64_t)blockIdx.x * WARPS + threadIdx.x / FLOE_WARP; }
FLOE_DEV uint64_t warps_of_grid() { return (uint64_t)gridDim.x * WARPS; }
inline uint64_t tiles_of(uint64_t n) { return floe_ceil_div(n, FLOE_PRIM_TILE); }
inline uint32_t grid_of_warps(uint64_t ntiles) { return floe_prim_grid(floe_ceil_div(ntiles, WARPS)); }

template <class T> T *take(floe_arena *arena, uint64_t count) { return (T *)floe_arena_take(arena, count, sizeof(T)); }

FLOE_DEV void shared_clear(uint32_t *bins, uint32_t nbins)
{
    for (uint32_t b = threadIdx.x; b < nbins; b += BLOCK)
        bins[b] = 0;
    __syncthreads();
}

/* By whole warps. One atomic for all lanes that agree with the first, since data are often all alike. */
FLOE_DEV void count_bin(uint32_t *bins, uint32_t bin, bool counts)
{
    const uint32_t lanes = __ballot_sync(FLOE_ALL_LANES, counts);
    if (lanes == 0)
        return;
    const uint32_t first = (uint32_t)__ffs((int)lanes) - 1, common = __shfl_sync(FLOE_ALL_LANES, bin, (int)first);
    const uint32_t alike = __ballot_sync(FLOE_ALL_LANES, counts && bin == common);
    if (floe_lane() == first)
        atomicAdd(bins + common, (uint32_t)__popc(alike));
    else if (counts && bin != common)
        atomicAdd(bins + bin, 1u);
}

} // namespace

#endif
