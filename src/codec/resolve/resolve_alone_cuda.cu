/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolving alone: the host gets what comes of it. */
#include "codec/resolve/resolve.cuh"

namespace
{

struct beginning {
    typedef floe_resolve_host call;
    typedef floe_codec_params params;
    typedef uint64_t plan;
    typedef int shared; /* both unused */
    static constexpr bool INTEGERS = false;

    FLOE_DEV void make(uint32_t half, const floe_codec_params *p, params *to)
    {
        for (uint32_t i = 0; half == 0 && i < sizeof *p / 8; i++) /* padding, too: it is read */
            ((uint64_t *)to)[i] = ((const uint64_t *)p)[i];
    }
    FLOE_DEV void clear(floe_share, const call *) {}
    FLOE_DEV void early(const call *, const plan *, shared *) {}
    FLOE_DEV void late(const call *host, const plan *, const params *p)
    {
        const uint32_t i = threadIdx.x;
        if (i < sizeof *p / 8)
            ((uint64_t *)&host->to->params)[i] = ((const uint64_t *)p)[i];
        if (i == 0) {
            host->to->status = *host->status;
            *host->end = host->begin;
        }
    }
    template <bool EVEN> FLOE_DEV void ready(const call *host, const plan *none, const params *p, shared *)
    {
        late(host, none, p); /* by the only block there is */
    }
};

} // namespace

int floe_resolve_alone_cuda(const floe_resolve_job *job, const floe_resolve_host *host, void *stream)
{
    const uint64_t none = 0;
    const resolve_begin<beginning> begin = {host, &none, &job->codec, 1};
    const cudaStream_t q = (cudaStream_t)stream;
    return (int)(job->scans ? resolve_launch_scan(job, &begin, q) : resolve_launch_ready<false>(job, &begin, q));
}
