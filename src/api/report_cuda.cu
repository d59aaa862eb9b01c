/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/report_cuda.h"

#include "backend/device.cuh"
#include "base/dev_report_math.h"

namespace
{

struct totals {
    unsigned long long nexceptions, max_error_bits, max_pw_error_bits;
    uint32_t opened; /* the largest status: which one does not matter */
};

FLOE_DEV unsigned long long larger(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

FLOE_DEV totals joined(totals t)
{
    for (int d = 16; d > 0; d /= 2) {
        t.nexceptions += __shfl_xor_sync(FLOE_ALL_LANES, t.nexceptions, d);
        t.max_error_bits = larger(t.max_error_bits, __shfl_xor_sync(FLOE_ALL_LANES, t.max_error_bits, d));
        t.max_pw_error_bits = larger(t.max_pw_error_bits, __shfl_xor_sync(FLOE_ALL_LANES, t.max_pw_error_bits, d));
    }
    t.opened = __reduce_max_sync(FLOE_ALL_LANES, t.opened);
    return t;
}

/* Of one thread: each 32nd chunk. */
FLOE_DEV totals gather(const floe_report_job &job)
{
    totals t = {0, 0, 0, FLOE_OK};
    for (uint64_t c = threadIdx.x; c < job.nchunks; c += FLOE_WARP) {
        if (job.encoded || job.gathered) {
            const floe_dev_gathered *g =
                job.gathered ? job.gathered + c : &job.encoded[c].gathered[job.encoded[c].attempt];
            t.nexceptions += g->nexceptions;
            t.max_error_bits = larger(t.max_error_bits, g->max_error_bits);
            t.max_pw_error_bits = larger(t.max_pw_error_bits, g->max_pw_error_bits);
        }
        if (job.opened)
            t.opened = max(t.opened, job.opened[c].opened);
    }
    return joined(t);
}

/* The container's word comes first, then that of who opened chunks, then that of who decoded them. */
FLOE_DEV uint32_t verdict(const floe_report_job &job, uint32_t opened)
{
    uint32_t status = job.statuses[0];
    if (status == FLOE_OK)
        status = opened;
    for (uint32_t i = 1; i < job.nstatuses && status == FLOE_OK; i++)
        status = job.statuses[i];
    return status;
}

/* One warp. */
__global__ void report_kernel(const floe_report_job job)
{
    floe_dev_begin();
    const totals t = gather(job);
    if (threadIdx.x != 0)
        return;
    const floe_dev_gathered met = {t.nexceptions, 0, t.max_error_bits, t.max_pw_error_bits};
    floe_dev_report_write(job.report, verdict(job, t.opened), job.dev_nbytes ? *job.dev_nbytes : job.nbytes,
                          job.encoded || job.gathered ? &met : NULL, job.pwrel);
}

} // namespace

int floe_report_cuda(const floe_report_job *job, void *stream)
{
    const floe_report_job j = *job;
    if (j.side)
        FLOE_LAUNCH(report_kernel, 1, FLOE_WARP, 0, (cudaStream_t)stream, j);
    else
        FLOE_LAUNCH_EARLY(report_kernel, 1, FLOE_WARP, 0, (cudaStream_t)stream, j);
    return (int)cudaGetLastError();
}
