/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How codec lorenzo sees a chunk: `batch` arrays of 1 to 3 axes, cut into tiles. The view follows from the extent alone,
 * so the decoder finds the same one:
 *   1. axes of extent 1 are dropped;
 *   2. a fastest axis of extent 8 or less with other axes beside it holds components (vectors, colours): it becomes the
 *      batch axis, so that each component is predicted from itself;
 *   3. with four axes left, axis 0 becomes the batch axis and axis 1 the slow one, or, when `swap` says so, the reverse.
 */
#ifndef FLOE_STAGE_VIEW_H
#define FLOE_STAGE_VIEW_H

#include <stdbool.h>

#include "stage/tile/tile.h"

enum { FLOE_VIEW_BATCH = 0, FLOE_VIEW_Z = 1, FLOE_VIEW_Y = 2, FLOE_VIEW_X = 3, FLOE_VIEW_AXES = 4 };

enum { FLOE_VIEW_COMPONENTS_MAX = 8 };

typedef struct floe_view {
    uint32_t rank;                   /* of a tile: 1, 2 or 3 */
    floe_tile_geometry geometry;     /* of rank */
    int axis[FLOE_VIEW_AXES];        /* the chunk's axis seen as batch, z, y, x; -1: none (extent 1) */
    uint64_t extent[FLOE_VIEW_AXES]; /* rank 1: z counts rows of 1024 and x is the number of values */
    uint64_t tiles[FLOE_VIEW_AXES];  /* tiles along each axis */
    uint64_t ntiles;
} floe_view;

/* Where a tile lies: its first cell and how many cells it has along z, y, x. */
typedef struct floe_tile_box {
    uint64_t lo[FLOE_VIEW_AXES]; /* batch, z, y, x. rank 1: z is 0 and x the first value */
    uint32_t nz, ny, nx;         /* rank 1: nz rows of up to 1024, nx = values in all */
    uint32_t nsteps;             /* steps that hold at least one cell */
    uint64_t ncells;
} floe_tile_box;

/* Cells of step s: extents along z, y, x inside the field (each at least 1 for s < nsteps). */
typedef struct floe_step_box {
    uint32_t nz, ny, nx;
    bool full; /* all 1024 cells are inside */
} floe_step_box;

#include "stage/tile/view_math.h"

#endif
