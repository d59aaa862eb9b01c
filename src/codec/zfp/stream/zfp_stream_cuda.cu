/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp/stream/zfp_stream_cuda.h"

#include "codec/zfp/gpu/zfp_tiles.cuh"

namespace
{

enum { HEADER_WORDS = FLOE_ZFP_HEADER_NBYTES / 4, FINISH_THREADS = 256 };

struct header_words {
    uint32_t word[HEADER_WORDS];
};

/* A thread puts a word. */
__global__ void zfp_header_kernel(const __grid_constant__ header_words header, uint32_t *dst)
{
    dst[threadIdx.x] = header.word[threadIdx.x];
}

/* A thread owns the word in which a tile begins. */
__global__ void __launch_bounds__(FINISH_THREADS)
    zfp_finish_kernel(floe_zfp_tiles tiles, uint64_t ntiles, uint64_t *nbits, uint32_t *status)
{
    const uint64_t tile = (uint64_t)blockIdx.x * FINISH_THREADS + threadIdx.x;
    if (tile >= ntiles)
        return;
    const uint64_t begin = floe_zfp_finish_tile(tiles, tile);
    if (tile + 1 < ntiles)
        return;
    const uint64_t end = floe_zfp_finish_stream(tiles, tile, begin);
    *nbits = end;
    if ((end + 63) / 64 * 2 > tiles.capacity_words)
        *status = FLOE_ERR_CAPACITY;
}

} // namespace

int floe_zfp_finish_cuda(const floe_zfp_tiles *tiles, uint64_t ntiles, uint64_t *nbits, uint32_t *status, void *stream)
{
    FLOE_LAUNCH(zfp_finish_kernel, (uint32_t)floe_ceil_div(ntiles, FINISH_THREADS), FINISH_THREADS, 0,
                (cudaStream_t)stream, *tiles, ntiles, nbits, status);
    return (int)cudaGetLastError();
}

int floe_zfp_header_put_cuda(const uint8_t header[FLOE_ZFP_HEADER_NBYTES], uint32_t nbits, void *dst, uint64_t capacity,
                             void *stream)
{
    header_words h;
    const uint32_t nwords = (uint32_t)floe_min64((nbits + 31) / 32, capacity / 4);
    uint32_t *words = (uint32_t *)dst;
    memcpy(&h, header, sizeof h);
    if (nwords == 0)
        return (int)cudaSuccess;
    FLOE_LAUNCH(zfp_header_kernel, 1, nwords, 0, (cudaStream_t)stream, h, words);
    return (int)cudaGetLastError();
}
