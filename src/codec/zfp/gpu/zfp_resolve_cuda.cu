/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolving and beginning in one kernel. */
#include "codec/resolve/resolve.cuh"
#include "codec/zfp/gpu/zfp_codec_gpu.h"
#include "codec/zfp/gpu/zfp_grid_begin.cuh"
#include "codec/zfp/gpu/zfp_kernels.h"

namespace
{

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
            begin_early(*c, i);
    }
    FLOE_DEV void late(const call *c, const plan *nchunks, const params *known)
    {
        for (uint64_t i = threadIdx.x; i < *nchunks; i += blockDim.x)
            begin_late(*c, i, known);
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

int floe_zfp_resolve_cuda(const floe_zfp_grid_encode *call, const floe_resolve_job *job, void *stream)
{
    const uint64_t plan = call->grid.nchunks <= CHUNKS_AT_ONCE ? call->grid.nchunks : 0;
    const resolve_begin<beginning> begin = {call, &plan, &job->codec, 1};
    const cudaStream_t q = (cudaStream_t)stream;
    const cudaError_t error =
        floe_resolve_scans(job) ? resolve_launch_scan(job, &begin, q) : resolve_launch_ready<false>(job, &begin, q);
    return error != cudaSuccess || plan || call->grid.nchunks == 0 ? (int)error
                                                                   : floe_zfp_grid_begin_cuda(call, stream);
}
