/* SPDX-License-Identifier: BSD-3-Clause */
#include "field/range_cuda.cuh"

namespace
{

/* Blocks take the tiles of the field in turn; the last one ends the scan. */
template <typename T, floe_range_mode MODE>
__global__ void __launch_bounds__(FLOE_RANGE_THREADS, FLOE_RANGE_BLOCKS_AN_SM)
    range_scan_kernel(const __grid_constant__ floe_range_job job, floe_dev_range *range)
{
    __shared__ floe_range_shared<T> shared;
    const uint32_t nscanners = gridDim.x - 1;
    if (blockIdx.x < nscanners) {
        floe_range_scan_share<T, MODE>(&job, nscanners, &shared);
        return;
    }
    const floe_range_part<T> part = floe_range_gather(&job, nscanners, nscanners, &shared);
    if (threadIdx.x == 0) {
        floe_range_answer<T, MODE>(&job, &part, range);
        *job.done = 0;
    }
}

template <typename T>
void launch(const floe_range_job *job, floe_dev_range *range, uint32_t nblocks, cudaStream_t stream)
{
    if (job->detect)
        FLOE_LAUNCH((range_scan_kernel<T, FLOE_RANGE_DETECT>), nblocks, FLOE_RANGE_THREADS, 0, stream, *job, range);
    else if (job->has_fill)
        FLOE_LAUNCH((range_scan_kernel<T, FLOE_RANGE_FILL>), nblocks, FLOE_RANGE_THREADS, 0, stream, *job, range);
    else
        FLOE_LAUNCH((range_scan_kernel<T, FLOE_RANGE_PLAIN>), nblocks, FLOE_RANGE_THREADS, 0, stream, *job, range);
}

floe_range_tiles tiles_of(const floe_range_job *job)
{
    floe_range_tiles t;
    const uint64_t size = floe_dtype_is_narrow(job->dtype) ? 4 : 8, a_tile = FLOE_RANGE_TILE_NBYTES / size;
    const uint64_t at = (uint64_t)job->data + (uint64_t)job->runs.origin * size;
    t.nelems = job->runs.count * job->runs.length;
    t.head = (16 - at % 16) % 16 / size;
    const bool flat = job->runs.count == 1 && job->runs.step == 1 && t.nelems > t.head;
    t.nwhole = flat ? (t.nelems - t.head) / a_tile : 0;
    t.ntiles = t.nwhole + floe_ceil_div(t.nelems - t.nwhole * a_tile, a_tile);
    return t;
}

} // namespace

floe_range_job floe_range_job_of(const void *data, floe_dtype dtype, uint32_t rank, const uint64_t *shape,
                                 const int64_t *stride)
{
    floe_range_job job;
    memset(&job, 0, sizeof job);
    job.data = data;
    job.dtype = dtype;
    floe_runs_of(rank, shape, stride, &job.runs);
    job.tiles = tiles_of(&job);
    return job;
}

uint64_t floe_range_scratch_nbytes(void) { return (uint64_t)FLOE_RANGE_MAX_BLOCKS * sizeof(floe_range_part<double>); }

uint32_t floe_range_blocks(const floe_range_job *job, uint32_t nothers)
{
    const uint64_t at_once = (uint64_t)floe_gpu_limits_cuda().processors * FLOE_RANGE_BLOCKS_AN_SM;
    const uint64_t most = floe_min64(at_once, FLOE_RANGE_MAX_BLOCKS);
    return (uint32_t)floe_min64(floe_max64(job->tiles.ntiles, 1) + nothers, most);
}

int floe_range_scan_cuda(const floe_range_job *job, floe_dev_range *range, void *stream)
{
    const uint32_t nblocks = floe_range_blocks(job, 1);
    switch (job->dtype) {
    case FLOE_F32: launch<float>(job, range, nblocks, (cudaStream_t)stream); break;
    case FLOE_I32: launch<int32_t>(job, range, nblocks, (cudaStream_t)stream); break;
    case FLOE_I64: launch<int64_t>(job, range, nblocks, (cudaStream_t)stream); break;
    default: launch<double>(job, range, nblocks, (cudaStream_t)stream); break;
    }
    return (int)cudaGetLastError();
}
