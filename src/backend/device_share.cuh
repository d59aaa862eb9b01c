/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that some blocks of a grid share, whatever the others do. */
#ifndef FLOE_BACKEND_DEVICE_SHARE_CUH
#define FLOE_BACKEND_DEVICE_SHARE_CUH

#include "backend/device.cuh"

/* Work of nblocks blocks, of which this is number `block`. */
typedef struct floe_share {
    uint32_t block, nblocks;
} floe_share;

FLOE_DEV floe_share floe_share_all()
{
    floe_share c = {blockIdx.x, gridDim.x};
    return c;
}

/* to is 16-byte aligned. */
FLOE_DEV void floe_clear_share(floe_share c, void *to, uint64_t nbytes)
{
    const uint64_t nthreads = (uint64_t)c.nblocks * blockDim.x, me = (uint64_t)c.block * blockDim.x + threadIdx.x;
    for (uint64_t i = me; i < nbytes / 16; i += nthreads)
        ((uint4 *)to)[i] = make_uint4(0, 0, 0, 0);
    for (uint64_t i = nbytes / 16 * 16 + me; i < nbytes; i += nthreads)
        ((uint8_t *)to)[i] = 0;
}

#endif
