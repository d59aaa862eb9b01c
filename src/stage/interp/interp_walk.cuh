/* SPDX-License-Identifier: BSD-3-Clause */
/* Points of a box, dealt to the threads of a block: none of them divides more than once. */
#ifndef FLOE_STAGE_INTERP_WALK_CUH
#define FLOE_STAGE_INTERP_WALK_CUH

#include "backend/device.cuh"
#include "stage/interp/interp_shape.h"

namespace
{

/* This thread's point, and how far it is to its next one. */
struct walk_of_points {
    uint32_t n[FLOE_INTERP_RANK], at[FLOE_INTERP_RANK], by[FLOE_INTERP_RANK], left;

    __device__ __forceinline__ void begin(const uint32_t *extent)
    {
        uint32_t count = 1, first = threadIdx.x, step = blockDim.x;
#pragma unroll
        for (uint32_t a = FLOE_INTERP_RANK; a-- > 0;) {
            n[a] = extent[a] ? extent[a] : 1;
            count *= extent[a];
            at[a] = first % n[a];
            by[a] = step % n[a];
            first /= n[a];
            step /= n[a];
        }
        left = count > threadIdx.x ? (count - threadIdx.x + blockDim.x - 1) / blockDim.x : 0;
    }
    __device__ __forceinline__ bool there() const { return left > 0; }
    __device__ __forceinline__ void next()
    {
        uint32_t carry = 0;
        left--;
#pragma unroll
        for (uint32_t a = FLOE_INTERP_RANK; a-- > 0;) {
            at[a] += by[a] + carry;
            carry = at[a] >= n[a];
            at[a] -= carry ? n[a] : 0;
        }
    }
};

} // namespace

#endif
