/* SPDX-License-Identifier: BSD-3-Clause */
/* The windows of one tile on a CPU, for each element type and instruction set. */
#ifndef FLOE_ASSESS_SSIM_CPU_H
#define FLOE_ASSESS_SSIM_CPU_H

#include "assess/window/ssim_plan.h"
#include "base/arena.h"

/* What of an axis between the tile's windows and its values is kept; see ssim_cpu.c. */
typedef struct floe_ssim_stage {
    double *slots, *prefix;
    uint64_t nsums; /* doubles of a slot, and of prefix */
} floe_ssim_stage;

/* A worker's scratch. */
typedef struct floe_ssim_room {
    floe_ssim_stage stage[FLOE_MAX_RANK - 1];
    double *row;  /* terms of the values of a row, and room for two more rows of them */
    double *sums; /* of the windows that one step of the top axis completes */
    void *tree;   /* the quick way's: sums of earlier planes */
} floe_ssim_room;

/* Takes what a tile of the plan needs. */
floe_ssim_room floe_ssim_room_take(const floe_ssim_plan *plan, floe_arena *arena);

typedef floe_ssim_part floe_ssim_tile_fn(const floe_ssim_plan *plan, const floe_pair *pair, const floe_ssim_box *box,
                                         const floe_ssim_room *room);
/* The quick way's is floe_ssim_tree. */
floe_ssim_tile_fn floe_ssim_tree_f32_plain, floe_ssim_tree_f64_plain, floe_ssim_tree_f32_avx2, floe_ssim_tree_f64_avx2;
floe_ssim_tile_fn floe_ssim_tile_f32_plain, floe_ssim_tile_f64_plain, floe_ssim_tile_f32_avx2, floe_ssim_tile_f64_avx2;

#endif
