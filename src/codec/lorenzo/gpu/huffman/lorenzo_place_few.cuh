/* SPDX-License-Identifier: BSD-3-Clause */
/* Few tiles to their places, a tile a block: all tell their sizes, and each adds up those before its own. */
#ifndef FLOE_CODEC_LORENZO_GPU_HUFFMAN_LORENZO_PLACE_FEW_CUH
#define FLOE_CODEC_LORENZO_GPU_HUFFMAN_LORENZO_PLACE_FEW_CUH

#include "codec/lorenzo/gpu/encode/lorenzo_place.cuh"

/* Of the tiles before `tile` those that this thread of THREADS looks at, once they have told; it has LOOKS of them at most, and
 * others have no words. */
template <int THREADS, int LOOKS>
FLOE_DEV void floe_place_few_sizes(const uint64_t *sizes, uint32_t tile, uint64_t (&v)[LOOKS])
{
#pragma unroll
    for (int k = 0; k < LOOKS; k++) {
        const uint32_t i = threadIdx.x + k * THREADS;
        v[k] = i < tile ? floe_load_shared_state(sizes + i) : FLOE_PLACE_IS_SIZE;
    }
    for (;;) { /* who has not told is asked again, all at once */
        bool all = true;
#pragma unroll
        for (int k = 0; k < LOOKS; k++)
            all &= (v[k] & FLOE_PLACE_IS_SIZE) != 0;
        if (all)
            return;
        floe_dev_pause();
#pragma unroll
        for (int k = 0; k < LOOKS; k++)
            if (!(v[k] & FLOE_PLACE_IS_SIZE))
                v[k] = floe_load_shared_state(sizes + threadIdx.x + k * THREADS);
    }
}

#endif
