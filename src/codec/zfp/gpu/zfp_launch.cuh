/* SPDX-License-Identifier: BSD-3-Clause */
/* How the kernels of codec zfp are launched: with as many blocks of threads as work at once, each in a loop; and which instance. */
#ifndef FLOE_CODEC_ZFP_GPU_ZFP_LAUNCH_CUH
#define FLOE_CODEC_ZFP_GPU_ZFP_LAUNCH_CUH

#include "backend/device.cuh"
#include "base/hd.h"

/* Blocks that work at once where a processor takes so many of them. */
static inline uint64_t floe_zfp_blocks_at_once(uint32_t a_processor)
{
    return (uint64_t)floe_gpu_limits_cuda().processors * a_processor;
}

/* A kernel of one job, which takes shared memory when it is launched. */
template <class KERNEL, class JOB>
cudaError_t floe_zfp_launch(KERNEL kernel, dim3 blocks, uint32_t threads, size_t nbytes, cudaStream_t stream,
                            const JOB &job)
{
    const cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes);
    if (e != cudaSuccess)
        return e;
    FLOE_LAUNCH(kernel, blocks, threads, nbytes, stream, job);
    return cudaGetLastError();
}

/* An instance of a kernel, for what chooses it at run time: call(floe_zfp_case<RANK, REVERSIBLE>()). */
template <uint32_t OF_RANK, bool IS_REVERSIBLE> struct floe_zfp_case {
    static constexpr uint32_t RANK = OF_RANK;
    static constexpr bool REVERSIBLE = IS_REVERSIBLE;
};

template <bool REVERSIBLE, class CALL> cudaError_t floe_zfp_by_rank(uint32_t rank, CALL call)
{
    switch (rank) {
    case 1: return call(floe_zfp_case<1, REVERSIBLE>());
    case 2: return call(floe_zfp_case<2, REVERSIBLE>());
    case 3: return call(floe_zfp_case<3, REVERSIBLE>());
    default: return call(floe_zfp_case<4, REVERSIBLE>());
    }
}
template <class CALL> cudaError_t floe_zfp_by_case(uint32_t rank, bool reversible, CALL call)
{
    return reversible ? floe_zfp_by_rank<true>(rank, call) : floe_zfp_by_rank<false>(rank, call);
}

/* blockIdx.y: chunks in turn, up to `each` blocks for each; no more than work at once. */
static inline dim3 floe_zfp_blocks_of_chunks(uint64_t at_once, uint64_t nchunks, uint64_t each)
{
    const uint64_t y = floe_min64(floe_max64(nchunks, 1), at_once);
    return dim3((uint32_t)floe_min64(each, floe_max64(at_once / y, 1)), (uint32_t)y);
}

#endif
