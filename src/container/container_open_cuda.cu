/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading all of a stream in device memory but the payloads: one block. */
#include "container/container_validate.cuh"

namespace
{

enum { THREADS = JUDGE_WARPS_MAX * FLOE_WARP };

/* One block. */
__global__ __launch_bounds__(THREADS, 1) void container_open_kernel(const __grid_constant__ floe_container_open job)
{
    __shared__ validate_shared s;
    uint64_t nrecords;
    const uint32_t status = container_validate(job, s, &nrecords);
    uint64_t *scratch = (uint64_t *)job.verify_scratch;
    for (uint64_t i = threadIdx.x; scratch && i < (nrecords + 1) * FLOE_TALLY_NBYTES / 8; i += THREADS)
        scratch[i] = 0;
    if (threadIdx.x == 0) {
        *job.nrecords = nrecords;
        *job.status = status;
    }
}

} // namespace

int floe_container_open_cuda(const floe_container_open *job, void *stream)
{
    FLOE_LAUNCH(container_open_kernel, 1, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
