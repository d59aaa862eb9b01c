/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_STAGE_CONTEXT_TALLY_CUH
#define FLOE_STAGE_CONTEXT_TALLY_CUH

#include "backend/device_scan.cuh"
#include "stage/context/context_cuda.h"

namespace
{

/* What symbols of these counts take. By a block of so many warps. */
template <uint32_t WARPS> FLOE_DEV void context_tally(const uint32_t *counts, floe_context_tally *to)
{
    __shared__ unsigned long long sums[6];
    __syncthreads();
    if (threadIdx.x < 6)
        sums[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t c = threadIdx.x / FLOE_WARP; c < FLOE_CONTEXT_ALL; c += WARPS) {
        const bool mask = c < FLOE_CONTEXT_MASKS;
        const uint32_t n = mask ? FLOE_CONTEXT_MASK_SYMBOLS : FLOE_CONTEXT_VALUE_SYMBOLS;
        const uint32_t *of = mask ? counts + c * FLOE_CONTEXT_MASK_SYMBOLS
                                  : counts + FLOE_CONTEXT_VALUES_AT + (c - FLOE_CONTEXT_MASKS) * FLOE_CONTEXT_STRIDE;
        unsigned long long total = 0, logs = 0, raw = 0, used = 0, large = 0, longest = 0;
        for (uint32_t i = floe_lane(); i < n; i += FLOE_WARP) {
            const uint32_t count = __ldcg(of + i);
            total += count;
            logs += count ? count * floe_ans_log2(count) : 0;
            used += count != 0;
            raw += mask || i < FLOE_CONTEXT_FIRST_RAW ? 0 : (uint64_t)count * floe_context_nraw(i);
            large += !mask && i >= FLOE_CONTEXT_LARGE_SYMBOL ? count : 0;
            longest += !mask && i == FLOE_CONTEXT_LONGEST_SYMBOL ? count : 0;
        }
        total = floe_warp_sum(total);
        logs = floe_warp_sum(logs);
        raw = floe_warp_sum(raw);
        used = floe_warp_sum(used);
        large = floe_warp_sum(large);
        longest = floe_warp_sum(longest);
        if (floe_lane() == 0 && total) {
            atomicAdd(&sums[0], total * floe_ans_log2(total) - logs);
            atomicAdd(&sums[1], raw);
            atomicAdd(&sums[2], used);
            atomicAdd(&sums[3], large);
            atomicAdd(&sums[4], longest);
            atomicAdd(&sums[5], mask ? 0 : total);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        to->entropy = sums[0];
        to->raw = sums[1];
        to->used = sums[2];
        to->large = sums[3];
        to->longest = sums[4];
        to->ncodes = sums[5];
        to->lanes = 0;
    }
}

} // namespace

#endif
