/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of values, and bytes of a stream that become some; by a thread. And items, a thread each in turn. */
#ifndef FLOE_STAGE_LATTICE_PATTERNS_CUH
#define FLOE_STAGE_LATTICE_PATTERNS_CUH

#include "backend/device.cuh"
#include "stage/lattice/lattice_output_math.h"

namespace
{

FLOE_DEV uint64_t first_item() { return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; }
FLOE_DEV uint64_t item_step() { return (uint64_t)gridDim.x * blockDim.x; }
inline uint32_t nblocks_of(uint64_t nitems, uint32_t nthreads)
{
    const uint64_t most = 16 * (uint64_t)floe_gpu_limits_cuda().processors;
    return (uint32_t)floe_max64(floe_min64(floe_ceil_div(nitems, nthreads), most), 1);
}

FLOE_DEV uint64_t load_pattern(const void *p, uint32_t size)
{
    return size == 4 ? *(const uint32_t *)p : *(const uint64_t *)p;
}
FLOE_DEV void store_pattern(void *p, uint32_t size, uint64_t pattern)
{
    if (size == 4)
        *(uint32_t *)p = (uint32_t)pattern;
    else
        *(uint64_t *)p = pattern;
}

/* Bytes of a stream, wherever they begin. */
FLOE_DEV uint64_t load_bytes(const uint8_t *p, uint32_t nbytes)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < nbytes; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

FLOE_DEV void set_damaged(uint32_t *status) { atomicCAS(status, (uint32_t)FLOE_OK, (uint32_t)FLOE_ERR_FORMAT); }

FLOE_DEV uint64_t pattern_of(const floe_lattice_view &v, const uint64_t *shape, uint32_t size, uint64_t position)
{
    return load_pattern((const uint8_t *)v.data + floe_lattice_view_number(&v, shape, position) * (int64_t)size, size);
}

FLOE_DEV void put_pattern(const floe_lattice_output &o, const uint64_t *point, uint64_t pattern)
{
    uint8_t *to = floe_lattice_output_place(&o, point);
    if (to)
        store_pattern(to, o.size, pattern);
}

} // namespace

#endif
