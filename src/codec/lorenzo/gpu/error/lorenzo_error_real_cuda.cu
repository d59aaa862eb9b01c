/* SPDX-License-Identifier: BSD-3-Clause */
#include "backend/device.cuh"
#include "codec/lorenzo/gpu/lorenzo_kernels.h"
#include "stage/quantizer/quantizer_init_math.h"
#include "stage/quantizer/quantizer_math.h"

namespace
{

enum {
    WARPS = 4,
    THREADS = WARPS * FLOE_WARP,
    ROUND = 1024, /* cells whose errors are worked out, and then added up in order */
    BLOCKS_A_PROCESSOR = 16
};

/* The squared error of a value; 0 for an exception. */
FLOE_DEV double value_error(floe_real x, const floe_quantizer *z)
{
    double error;
    bool ok;
    if (z->kind == FLOE_QUANTIZER_LINEAR) {
        const floe_real step = (floe_real)z->step;
        const FLOE_R(floe_linear) r =
            FLOE_R(floe_linear_encode)(x, (floe_real)z->inverse, step, (floe_real)z->tolerance, (floe_uint)z->fill);
        ok = r.ok;
        error = (double)x - (double)FLOE_R(floe_linear_decode)(r.q, step);
    } else {
        const FLOE_R(floe_log) r = FLOE_R(floe_log_encode)(x, z->step, z->tolerance, (floe_uint)z->fill);
        const double value = (double)x;
        ok = r.ok;
        error = (value < 0 ? -value : value) - (double)FLOE_R(floe_log_decode)(r.q, z->step);
    }
    return ok ? error * error : 0.0;
}

/* Cell i of a tile, in the order in which its errors are added up. */
FLOE_DEV const floe_real *cell_of(const floe_dev_chunk *c, const floe_tile_box *box, uint32_t i)
{
    const uint64_t *lo = box->lo;
    uint32_t z = 0, y = 0, x = i;
    if (c->view.rank > 1) { /* the steps are cuts across z, so one after another they are the tile in order */
        x = i % box->nx;
        y = i / box->nx % box->ny;
        z = i / box->nx / box->ny;
    }
    return (const floe_real *)c->origin + (int64_t)lo[FLOE_VIEW_BATCH] * c->stride[FLOE_VIEW_BATCH] +
           (int64_t)(lo[FLOE_VIEW_Z] + z) * c->stride[FLOE_VIEW_Z] +
           (int64_t)(lo[FLOE_VIEW_Y] + y) * c->stride[FLOE_VIEW_Y] +
           (int64_t)(lo[FLOE_VIEW_X] + x) * c->stride[FLOE_VIEW_X];
}

/* By a warp; the sum is lane 0's. */
FLOE_DEV double tile_error(const floe_dev_chunk *c, uint64_t tile, const floe_quantizer *z, double *errors)
{
    floe_tile_box box;
    double sum = 0;
    floe_view_tile(&c->view, tile, &box);
    for (uint32_t first = 0; first < box.ncells; first += ROUND) {
        const uint32_t n = (uint32_t)floe_min64(ROUND, box.ncells - first);
        for (uint32_t i = floe_lane(); i < n; i += FLOE_WARP)
            errors[i] = value_error(*cell_of(c, &box, first + i), z);
        __syncwarp();
        for (uint32_t i = 0; i < n && floe_lane() == 0; i++)
            sum += errors[i];
        __syncwarp();
    }
    return sum;
}

/* A warp takes a tile after another. */
__global__ void __launch_bounds__(THREADS) tile_error_kernel(const __grid_constant__ floe_lorenzo_error_job job)
{
    __shared__ double errors[WARPS][ROUND];
    const floe_codec_params *p = &job.params;
    const uint64_t nslots = job.grid.nchunks * job.grid.slots, warp = threadIdx.x / FLOE_WARP;
    floe_quantizer z;
    floe_quantizer_make(&z, p->mode == FLOE_BOUND_PWREL ? FLOE_QUANTIZER_LOG : FLOE_QUANTIZER_LINEAR, p->dtype,
                        p->bound, p->max_abs, p->has_fill, p->fill_bits);
    for (uint64_t i = blockIdx.x * WARPS + warp; i < nslots; i += (uint64_t)gridDim.x * WARPS) {
        const floe_dev_chunk *c = &job.chunks[i / job.grid.slots];
        const uint64_t tile = i % job.grid.slots;
        if (tile >= c->view.ntiles)
            continue;
        const double sum = tile_error(c, tile, &z, errors[warp]);
        if (floe_lane() == 0)
            job.tiles[i] = sum;
    }
}

} // namespace

int FLOE_R(floe_lorenzo_tile_errors)(const floe_lorenzo_error_job *job, void *stream)
{
    const uint64_t nblocks = floe_ceil_div(job->grid.nchunks * job->grid.slots, WARPS);
    const uint64_t at_once = (uint64_t)floe_gpu_limits_cuda().processors * BLOCKS_A_PROCESSOR;
    FLOE_LAUNCH(tile_error_kernel, (uint32_t)floe_min64(nblocks, at_once), THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
