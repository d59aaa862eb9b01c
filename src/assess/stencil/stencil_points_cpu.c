/* SPDX-License-Identifier: BSD-3-Clause */
/* Derivatives in double: of f64 fields, and of f32 fields whose magnitudes single does not hold. */
#define FLOE_WORK_BITS 64
#include "assess/stencil/stencil_points_cpu.h"

void FLOE_V(floe_stencil_points)(const floe_stencil_job *job, const floe_stencil_box *tile, floe_stencil_sums *sums)
{
    tile_walk(job, tile, block_add, sums);
}
