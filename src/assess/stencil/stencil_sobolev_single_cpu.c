/* SPDX-License-Identifier: BSD-3-Clause */
/* Sobolev norms of f32 fields in f32. */
#include "base/real.h"

#if FLOE_REAL_BITS == 32
#define FLOE_WORK_BITS 32
#include "assess/stencil/stencil_sobolev_cpu.h"

void FLOE_V(floe_stencil_sobolev_single)(const floe_stencil_job *job, const floe_stencil_box *tile,
                                         floe_stencil_sums *sums)
{
    tile_walk(job, tile, block_add, sums);
}
#endif
