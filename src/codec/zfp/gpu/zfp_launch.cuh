/* SPDX-License-Identifier: BSD-3-Clause */
/* How many blocks of threads the kernels of codec zfp are launched with: as many as work at once, each in a loop. */
#ifndef FLOE_CODEC_ZFP_GPU_ZFP_LAUNCH_CUH
#define FLOE_CODEC_ZFP_GPU_ZFP_LAUNCH_CUH

#include "backend/device.cuh"
#include "base/hd.h"

/* Blocks that work at once where a processor takes so many of them. */
static inline uint64_t floe_zfp_blocks_at_once(uint32_t a_processor)
{
    return (uint64_t)floe_gpu_limits_cuda().processors * a_processor;
}

/* The same for a kernel that takes shared memory when it is launched. */
template <typename KERNEL>
cudaError_t floe_zfp_prepare(KERNEL kernel, size_t shared_nbytes, uint32_t a_processor, uint64_t *nblocks)
{
    *nblocks = floe_zfp_blocks_at_once(a_processor);
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_nbytes);
}

/* blockIdx.y: chunks in turn, up to `each` blocks for each; no more than work at once. */
static inline dim3 floe_zfp_blocks_of_chunks(uint64_t at_once, uint64_t nchunks, uint64_t each)
{
    const uint64_t y = floe_min64(floe_max64(nchunks, 1), at_once);
    return dim3((uint32_t)floe_min64(each, floe_max64(at_once / y, 1)), (uint32_t)y);
}

#endif
