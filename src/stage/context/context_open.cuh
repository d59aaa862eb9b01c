/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands before the entropy chunks of grids: their sizes, in units of 4 bytes, and zeros up to a multiple of 4 bytes. */
#ifndef FLOE_STAGE_CONTEXT_OPEN_CUH
#define FLOE_STAGE_CONTEXT_OPEN_CUH

#include "backend/device_scan.cuh"

namespace
{

/* Untrusted bytes, of which the first `at` have been read. Shared memory of a block. */
struct floe_context_opening {
    const uint8_t *src;
    uint64_t nbytes, at;
    bool good;
    uint64_t sums[FLOE_WARP];
};

FLOE_DEV uint32_t load16(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8; }
FLOE_DEV uint32_t load32(const uint8_t *p) { return load16(p) | load16(p + 2) << 16; }

/* Places of chunks, then of their end, in src. By a block, whose threads all know s->at; moves it behind the chunks. */
FLOE_DEV void floe_context_find_chunks(floe_context_opening *s, uint32_t nchunks, bool wide, uint64_t *places)
{
    const uint8_t *sizes = s->src + s->at;
    const uint64_t most = s->nbytes + 1; /* more is not there: sums stay small */
    __syncthreads();
    if (threadIdx.x == 0) {
        s->at += (uint64_t)nchunks * (wide ? 4 : 2);
        for (; s->good && (s->at % 4 || s->at > s->nbytes); s->at++)
            s->good = s->at < s->nbytes && s->src[s->at] == 0;
    }
    __syncthreads();
    uint64_t at = s->at;
    for (uint32_t begin = 0; begin < nchunks && s->good; begin += blockDim.x) {
        const uint32_t i = begin + threadIdx.x;
        const uint64_t units = i >= nchunks ? 0
                               : wide       ? load32(sizes + 4 * (uint64_t)i)
                                            : load16(sizes + 2 * (uint64_t)i);
        uint64_t all;
        const uint64_t before =
            floe_block_sum_before(floe_min64(4 * units, most), s->sums, blockDim.x / FLOE_WARP, &all);
        if (i < nchunks)
            places[i] = at + before;
        at = floe_min64(at + all, most);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        places[nchunks] = s->at = at;
        s->good = s->good && at <= s->nbytes;
    }
    __syncthreads();
}

} // namespace

#endif
