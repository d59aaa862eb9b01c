/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that are stored as they are, or one for all, to their places. */
#include <floe/floe.h>

#include "stage/lattice/lattice_cuda.h"
#include "stage/lattice/lattice_patterns.cuh"

namespace
{

enum { THREADS = 256 };

/* A thread does a value of the box. */
__global__ void __launch_bounds__(THREADS) lattice_fill_kernel(const __grid_constant__ floe_lattice_dev_fill f)
{
    const floe_lattice_output &o = f.out;
    const uint64_t count = *f.status == FLOE_OK ? floe_lattice_box_points(&o.box) : 0;
    uint64_t n[FLOE_LATTICE_RANK], point[FLOE_LATTICE_RANK];
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        n[a] = o.box.hi[a] - o.box.lo[a];
    for (uint64_t i = first_item(); i < count; i += item_step()) {
        floe_lattice_point_of(n, i, point);
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            point[a] = (point[a] + o.box.lo[a]) << o.level;
        const uint64_t at = floe_lattice_index(f.shape, point) * o.size;
        put_pattern(o, point, f.values ? load_bytes(f.values + at, o.size) : f.pattern);
    }
}

} // namespace

int floe_lattice_fill_cuda(const floe_lattice_dev_fill *f, void *stream)
{
    const uint32_t nblocks = nblocks_of(floe_lattice_box_points(&f->out.box), THREADS);
    FLOE_LAUNCH(lattice_fill_kernel, nblocks, THREADS, 0, (cudaStream_t)stream, *f);
    return (int)cudaGetLastError();
}
