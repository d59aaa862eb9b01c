/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that are stored as they are, or one for all, to their places. */
#include <floe/floe.h>

#include "stage/interp/interp_cuda.h"
#include "stage/interp/interp_patterns.cuh"

namespace
{

enum { THREADS = 256, BLOCKS = 16 /* of a processor, at most */ };

/* A thread does a value of the box. */
__global__ void __launch_bounds__(THREADS) interp_fill_kernel(const __grid_constant__ floe_interp_dev_fill f)
{
    const floe_interp_output &o = f.out;
    const uint64_t count = *f.status == FLOE_OK ? floe_interp_box_points(&o.box) : 0;
    uint64_t n[FLOE_INTERP_RANK], point[FLOE_INTERP_RANK];
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        n[a] = o.box.hi[a] - o.box.lo[a];
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (uint64_t)gridDim.x * THREADS) {
        floe_interp_point_of(n, i, point);
        for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
            point[a] = (point[a] + o.box.lo[a]) << o.level;
        const uint64_t at = floe_interp_index(f.shape, point) * o.size;
        put_pattern(o, point, f.values ? load_bytes(f.values + at, o.size) : f.pattern);
    }
}

} // namespace

int floe_interp_fill_cuda(const floe_interp_dev_fill *f, void *stream)
{
    const uint64_t nblocks = floe_ceil_div(floe_interp_box_points(&f->out.box), THREADS),
                   most = BLOCKS * (uint64_t)floe_gpu_limits_cuda().processors;
    FLOE_LAUNCH(interp_fill_kernel, (uint32_t)floe_min64(nblocks, most), THREADS, 0, (cudaStream_t)stream, *f);
    return (int)cudaGetLastError();
}
