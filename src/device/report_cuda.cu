/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/report_cuda.h"

#include "backend/device.cuh"
#include "base/dev_record.h"

namespace
{

/* The largest status of all chunks: which one does not matter. By a warp. */
FLOE_DEV uint32_t opened_of(const floe_report_job &job)
{
    uint32_t opened = FLOE_OK;
    for (uint64_t c = threadIdx.x; c < job.nchunks && job.opened; c += FLOE_WARP)
        opened = max(opened, *(const uint32_t *)((const uint8_t *)job.opened + c * job.opened_stride));
    return __reduce_max_sync(FLOE_ALL_LANES, opened);
}

/* The container's word comes first, then that of who opened chunks, then that of who decoded them. */
FLOE_DEV uint32_t decision(const floe_report_job &job, uint32_t opened)
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
    const uint32_t opened = opened_of(job);
    if (threadIdx.x == 0)
        floe_dev_report_write(job.report, decision(job, opened), job.dev_nbytes ? *job.dev_nbytes : job.nbytes, NULL,
                              false);
}

} // namespace

int floe_report_cuda(const floe_report_job *job, void *stream)
{
    FLOE_LAUNCH(report_kernel, 1, FLOE_WARP, 0, (cudaStream_t)stream, *job); /* not early: it follows on two streams */
    return (int)cudaGetLastError();
}
