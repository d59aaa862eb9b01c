/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolving and beginning in one kernel. */
#include "codec/lorenzo/format/lorenzo_params_math.h"
#include "codec/lorenzo/gpu/begin/lorenzo_begin_cuda.cuh"
#include "codec/lorenzo/gpu/lorenzo_cuda.h"
#include "codec/resolve/resolve.cuh"

namespace
{

/* Chunks that one block begins while the others are done; with more of them another kernel is quicker. */
enum { CHUNKS_AT_ONCE = 64, VOTES_AT_ONCE = 2 };

struct beginning {
    typedef floe_lorenzo_encode_call call;
    typedef floe_dev_params params;
    typedef int shared; /* votes */
    struct plan {
        uint64_t nchunks; /* that are begun; 0: all by another kernel */
        bool is_uniform;
        floe_lorenzo_uniform uniform; /* without quantizer, but where no value decides anything */
    };
    static constexpr bool INTEGERS = false;

    FLOE_DEV void make(uint32_t half, const floe_codec_params *p, params *to)
    {
        if (half == 0)
            floe_lorenzo_params_first(p, to);
        else
            floe_lorenzo_params_second(p, to);
    }
    FLOE_DEV void clear(floe_share share, const call *c) { floe_lorenzo_clear_share(share, c); }
    FLOE_DEV void early(const call *c, const plan *p, int *votes)
    {
        if (p->is_uniform)
            floe_lorenzo_begin_uniform({0, 1}, c, &p->uniform);
        else
            floe_lorenzo_begin_block(c, 0, p->nchunks, NULL, votes);
    }
    FLOE_DEV void late(const call *c, const plan *p, const params *known)
    {
        floe_lorenzo_begin_quantize(c, p->nchunks, &known->quantizer);
    }
    template <bool EVEN> FLOE_DEV void ready(const call *c, const plan *p, const params *known, int *votes)
    {
        if (EVEN)
            floe_lorenzo_begin_uniform(floe_share_all(), c, &p->uniform);
        else if (blockIdx.x == 0)
            floe_lorenzo_begin_block(c, 0, p->nchunks, &known->quantizer, votes);
    }
};

} // namespace

int floe_lorenzo_resolve_cuda(const floe_lorenzo_encode_call *call, const floe_resolve_job *job,
                              const floe_dev_params *params, void *stream)
{
    const uint64_t most = call->field.rank == FLOE_SAMPLE_AXES ? VOTES_AT_ONCE : CHUNKS_AT_ONCE;
    beginning::plan plan = {0, false, {}};
    plan.is_uniform = (!job->scans || call->grid.nchunks <= most) &&
                      floe_lorenzo_uniform_of(call, job->scans ? NULL : &params->quantizer, &plan.uniform);
    const bool few = plan.is_uniform || call->grid.nchunks <= most;
    plan.nchunks = few ? call->grid.nchunks : 0;
    const resolve_begin<beginning> begin = {call, &plan, params, floe_lorenzo_begin_blocks(call)};
    const cudaStream_t q = (cudaStream_t)stream;
    const cudaError_t error = job->scans        ? resolve_launch_scan(job, &begin, q)
                              : plan.is_uniform ? resolve_launch_ready<true>(job, &begin, q)
                                                : resolve_launch_ready<false>(job, &begin, q);
    if (error != cudaSuccess)
        return (int)error;
    return few ? floe_lorenzo_tables_cuda(call, stream) : floe_lorenzo_begin_cuda(call, stream);
}
