/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec zfp on a GPU: what chunks are; resolving and beginning in one kernel. */
#include "codec/resolve/resolve.cuh"
#include "codec/zfp/gpu/zfp_grid_dev.cuh"
#include "codec/zfp/gpu/zfp_kernels.h"

namespace
{

enum { THREADS = FLOE_RANGE_THREADS };

/* A thread owns a chunk. */
__global__ void __launch_bounds__(THREADS) zfp_grid_begin_kernel(const __grid_constant__ floe_zfp_grid_encode call)
{
    const uint64_t number = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (number >= call.grid.nchunks || *call.status != FLOE_OK)
        return;
    floe_zfp_begin_early(call, number);
    floe_zfp_begin_late(call, number, call.params);
}

/* ---- with resolving -------------------------------------------------------------------------------------------------- */

enum { CHUNKS_AT_ONCE = 1024 }; /* that one block begins; with more of them another kernel is quicker */

struct beginning {
    typedef floe_zfp_grid_encode call;
    typedef floe_codec_params params;
    typedef uint64_t plan; /* chunks that are begun; 0: all by another kernel */
    typedef int shared;    /* unused */
    static constexpr bool INTEGERS = true;

    FLOE_DEV void make(uint32_t half, const floe_codec_params *p, params *to)
    {
        if (half == 0)
            *to = *p;
    }
    FLOE_DEV void clear(floe_share, const call *) {} /* has been done */
    FLOE_DEV void early(const call *c, const plan *nchunks, shared *)
    {
        for (uint64_t i = threadIdx.x; i < *nchunks; i += blockDim.x)
            floe_zfp_begin_early(*c, i);
    }
    FLOE_DEV void late(const call *c, const plan *nchunks, const params *known)
    {
        for (uint64_t i = threadIdx.x; i < *nchunks; i += blockDim.x)
            floe_zfp_begin_late(*c, i, known);
    }
    template <bool EVEN> FLOE_DEV void ready(const call *c, const plan *nchunks, const params *known, shared *s)
    {
        if (blockIdx.x > 0)
            return;
        early(c, nchunks, s);
        late(c, nchunks, known); /* the same threads */
    }
};

} // namespace

int floe_zfp_grid_begin_cuda(const floe_zfp_grid_encode *call, void *stream)
{
    FLOE_LAUNCH(zfp_grid_begin_kernel, (uint32_t)floe_ceil_div(call->grid.nchunks, THREADS), THREADS, 0,
                (cudaStream_t)stream, *call);
    return (int)cudaGetLastError();
}

int floe_zfp_resolve_cuda(const floe_zfp_grid_encode *call, const floe_resolve_job *job, void *stream)
{
    const uint64_t plan = call->grid.nchunks <= CHUNKS_AT_ONCE ? call->grid.nchunks : 0;
    const resolve_begin<beginning> begin = {call, &plan, &job->codec, 1};
    const cudaStream_t q = (cudaStream_t)stream;
    const cudaError_t error =
        job->scans ? resolve_launch_scan(job, &begin, q) : resolve_launch_ready<false>(job, &begin, q);
    return error != cudaSuccess || plan || call->grid.nchunks == 0 ? (int)error
                                                                   : floe_zfp_grid_begin_cuda(call, stream);
}
