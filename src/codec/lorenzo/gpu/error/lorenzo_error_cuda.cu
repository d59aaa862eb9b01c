/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of summation is the CPU's: tiles to segments, segments to chunks, chunks to the field. */
#include "backend/device.cuh"
#include "codec/lorenzo/cpu/lorenzo_segment.h"
#include "codec/lorenzo/gpu/lorenzo_kernels.h"

namespace
{

enum { THREADS = 256 };

/* Errors of the tiles of chunk c from segment `first` on, THREADS segments at most, added to *sum by thread 0. */
FLOE_DEV void add_segments(const double *tiles, uint64_t ntiles, uint64_t first, double *segments, double *sum)
{
    const uint64_t nsegments = floe_ceil_div(ntiles, FLOE_SEGMENT_TILES), mine = first + threadIdx.x;
    if (mine < nsegments) {
        double s = 0;
        for (uint64_t t = mine * FLOE_SEGMENT_TILES; t < floe_min64((mine + 1) * FLOE_SEGMENT_TILES, ntiles); t++)
            s += tiles[t];
        segments[threadIdx.x] = s;
    }
    __syncthreads();
    for (uint32_t i = 0; threadIdx.x == 0 && i < THREADS && first + i < nsegments; i++)
        *sum += segments[i];
    __syncthreads();
}

/* One block: its threads add up segments, the first one the rest. */
__global__ void __launch_bounds__(THREADS) error_sum_kernel(const __grid_constant__ floe_lorenzo_error_job job)
{
    __shared__ double segments[THREADS];
    double total = 0;
    for (uint64_t c = 0; c < job.grid.nchunks && job.params.mode != FLOE_BOUND_LOSSLESS; c++) {
        const uint64_t ntiles = job.chunks[c].view.ntiles;
        double sum = 0;
        for (uint64_t first = 0; first * FLOE_SEGMENT_TILES < ntiles; first += THREADS)
            add_segments(job.tiles + c * job.grid.slots, ntiles, first, segments, &sum);
        total += sum;
    }
    if (threadIdx.x == 0)
        *job.sum = total;
}

} // namespace

int floe_lorenzo_squared_error_cuda(const floe_lorenzo_error_job *job, void *stream)
{
    int error = (int)cudaSuccess;
    if (job->params.mode != FLOE_BOUND_LOSSLESS && job->grid.nchunks > 0)
        error = floe_lorenzo_kernels_of(job->params.dtype)->tile_errors(job, stream);
    if (error != (int)cudaSuccess)
        return error;
    FLOE_LAUNCH(error_sum_kernel, 1, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
