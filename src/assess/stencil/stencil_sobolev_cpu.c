/* SPDX-License-Identifier: BSD-3-Clause */
/* Sobolev norms in double: of f64 fields, and of f32 fields whose magnitudes single does not hold. */
#define FLOE_WORK_BITS 64
#include "assess/stencil/stencil_sobolev_cpu.h"

void FLOE_V(floe_stencil_sobolev)(const floe_stencil_job *job, const floe_stencil_box *tile, floe_stencil_sums *sums)
{
    tile_walk(job, tile, block_add, sums);
}
