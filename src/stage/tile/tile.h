/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tile: what all stages of codec lorenzo agree on. docs/format/tile.md has the picture.
 *
 * A chunk is cut into tiles of 8192 values that decode on their own. A tile is walked in 8 steps of 1024 values along its
 * slow axis z; a step is cut into 32 groups of 32 values. On a GPU a warp owns a tile and each lane a group of the step.
 *
 *            rank 1          rank 2          rank 3 and 4
 *   step     1 x 1 x 1024    8 x 1 x 128     2 x 16 x 32      (z, y, x)
 *   group    1 x 1 x 32      8 x 1 x 4       2 x  4 x  4
 *   tile     8192 in a row   64 x 128        16 x 16 x 32
 *
 * A rank-1 chunk is seen as rows (z) of 1024. A rank-2 chunk has y = 1. A rank-4 chunk is a row of rank-3 chunks.
 * Groups are numbered x first, then y; values inside a group x first, then y, then z.
 */
#ifndef FLOE_STAGE_TILE_H
#define FLOE_STAGE_TILE_H

#include "base/hd.h"

enum {
    FLOE_TILE_STEPS = 8,
    FLOE_STEP_GROUPS = 32,
    FLOE_GROUP_VALUES = 32,
    FLOE_STEP_VALUES = FLOE_STEP_GROUPS * FLOE_GROUP_VALUES, /* 1024 */
    FLOE_TILE_VALUES = FLOE_TILE_STEPS * FLOE_STEP_VALUES,   /* 8192 */
    FLOE_TILE_GROUPS = FLOE_TILE_STEPS * FLOE_STEP_GROUPS    /* 256 */
};

/* Extents of a step and of a group, by rank. */
typedef struct floe_tile_geometry {
    uint32_t step_z, step_y, step_x;
    uint32_t group_z, group_y, group_x;
} floe_tile_geometry;

FLOE_HD floe_tile_geometry floe_tile_geometry_of(uint32_t rank)
{
    /* member by member: so a constant rank gives constants to the compiler, where a table would not */
    floe_tile_geometry g;
    g.step_z = rank == 1 ? 1 : rank == 2 ? 8 : 2;
    g.step_y = rank < 3 ? 1 : 16;
    g.step_x = rank == 1 ? 1024 : rank == 2 ? 128 : 32;
    g.group_z = g.step_z;
    g.group_y = rank < 3 ? 1 : 4;
    g.group_x = rank == 1 ? 32 : 4;
    return g;
}

#endif
