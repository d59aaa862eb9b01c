/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolving alone. */
#include "codec/resolve/resolve.cuh"

namespace
{

struct beginning {
    typedef uint64_t call;
    typedef floe_codec_params params;
    typedef uint64_t plan;
    typedef int shared; /* all unused */
    static constexpr bool INTEGERS = false;

    FLOE_DEV void make(uint32_t half, const floe_codec_params *p, params *to)
    {
        if (half == 0)
            *to = *p;
    }
    FLOE_DEV void clear(floe_share, const call *) {}
    FLOE_DEV void early(const call *, const plan *, shared *) {}
    FLOE_DEV void late(const call *, const plan *, const params *) {}
    template <bool EVEN> FLOE_DEV void ready(const call *, const plan *, const params *, shared *) {}
};

} // namespace

int floe_resolve_alone_cuda(const floe_resolve_job *job, void *stream)
{
    const uint64_t none = 0;
    const resolve_begin<beginning> begin = {&none, &none, &job->codec, 1};
    const cudaStream_t q = (cudaStream_t)stream;
    return (int)(job->scans ? resolve_launch_scan(job, &begin, q) : resolve_launch_ready<false>(job, &begin, q));
}
