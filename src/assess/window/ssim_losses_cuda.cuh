/* SPDX-License-Identifier: BSD-3-Clause */
/* How the kernels of both ways add up losses: a lane its own, then a warp, a block, and at last all blocks, in an order that
 * depends on nothing but the shape. */
#ifndef FLOE_ASSESS_SSIM_LOSSES_CUDA_CUH
#define FLOE_ASSESS_SSIM_LOSSES_CUDA_CUH

#include "assess/window/ssim_cuda.h"
#include "backend/device.cuh"

/* A loss of NaN is no loss. */
FLOE_DEV void floe_ssim_part_add(floe_ssim_part *p, double loss)
{
    p->loss += loss == loss ? loss : 0;
    p->nwindows += loss == loss;
    p->max = loss > p->max ? loss : p->max;
}

FLOE_DEV void floe_ssim_part_merge(floe_ssim_part *p, const floe_ssim_part *other)
{
    p->loss += other->loss;
    p->max = other->max > p->max ? other->max : p->max;
    p->nwindows += other->nwindows;
}

/* Of all lanes, for lane 0. */
FLOE_DEV floe_ssim_part floe_ssim_part_of_warp(floe_ssim_part p)
{
    for (int d = FLOE_WARP / 2; d > 0; d /= 2) {
        floe_ssim_part other;
        other.loss = __shfl_down_sync(FLOE_ALL_LANES, p.loss, d);
        other.max = __shfl_down_sync(FLOE_ALL_LANES, p.max, d);
        other.nwindows = __shfl_down_sync(FLOE_ALL_LANES, (unsigned long long)p.nwindows, d);
        floe_ssim_part_merge(&p, &other);
    }
    return p;
}

/* Of all threads of a block, for thread 0; warps: one for each warp, in shared memory. */
FLOE_DEV floe_ssim_part floe_ssim_part_of_block(floe_ssim_part p, floe_ssim_part *warps, uint32_t nwarps)
{
    p = floe_ssim_part_of_warp(p);
    if (floe_lane() == 0)
        warps[threadIdx.x / FLOE_WARP] = p;
    __syncthreads();
    if (threadIdx.x == 0)
        for (uint32_t w = 1; w < nwarps; w++)
            floe_ssim_part_merge(&p, &warps[w]);
    return p;
}

#endif
