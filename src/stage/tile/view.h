/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How codec lorenzo sees a chunk: `batch` arrays of 1 to 3 axes, cut into tiles. The view follows from the extent alone,
 * so the decoder finds the same one:
 *   1. axes of extent 1 are dropped;
 *   2. a fastest axis of extent 8 or less with other axes beside it holds components (vectors, colours): it becomes the
 *      batch axis, so that each component is predicted from itself;
 *   3. with four axes left, axis 0 becomes the batch axis and axis 1 the slow one, or, when `swap` is set, the reverse.
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

/* The geometry of tiles, once, for both compilers. */

FLOE_HD uint32_t floe_view_clip(uint64_t extent, uint64_t lo, uint32_t size)
{
    return (uint32_t)floe_min64(extent - lo, size);
}

/* Cells of a tile along each axis of the view. */
FLOE_HD void floe_view_tile_size(const floe_view *view, uint32_t size[FLOE_VIEW_AXES])
{
    const floe_tile_geometry *g = &view->geometry;
    size[FLOE_VIEW_BATCH] = 1;
    size[FLOE_VIEW_Z] = view->rank == 1 ? 1 : FLOE_TILE_STEPS * g->step_z;
    size[FLOE_VIEW_Y] = g->step_y;
    size[FLOE_VIEW_X] = view->rank == 1 ? (uint32_t)FLOE_TILE_VALUES : g->step_x;
}

/* False when swap is requested and there are not four axes left to choose from. */
FLOE_HD bool floe_view_of(uint32_t rank, const uint64_t *extent, bool swap, floe_view *view)
{
    int left[4] = {-1, -1, -1, -1};
    uint32_t n = 0, size[FLOE_VIEW_AXES];
    for (uint32_t i = 0; i < rank; i++)
        if (extent[i] != 1)
            left[n++] = (int)i;
    int batch = -1;
    if (n > 1 && extent[left[n - 1]] <= FLOE_VIEW_COMPONENTS_MAX)
        batch = left[--n];
    if (swap && n != 4)
        return false;
    if (n == 4) {
        batch = left[swap ? 1 : 0];
        left[0] = left[swap ? 0 : 1];
        left[1] = left[2];
        left[2] = left[3];
        n = 3;
    }
    view->rank = n ? n : 1;
    view->geometry = floe_tile_geometry_of(view->rank);
    view->axis[FLOE_VIEW_BATCH] = batch;
    view->axis[FLOE_VIEW_Z] = n >= 2 ? left[0] : -1;
    view->axis[FLOE_VIEW_Y] = n == 3 ? left[1] : -1;
    view->axis[FLOE_VIEW_X] = n ? left[n - 1] : -1;
    floe_view_tile_size(view, size);
    view->ntiles = 1;
    for (int a = 0; a < FLOE_VIEW_AXES; a++) {
        view->extent[a] = view->axis[a] < 0 ? 1 : extent[view->axis[a]];
        view->tiles[a] = floe_ceil_div(view->extent[a], size[a]);
        view->ntiles *= view->tiles[a];
    }
    return true;
}

FLOE_HD void floe_view_tile(const floe_view *view, uint64_t tile, floe_tile_box *box)
{
    const floe_tile_geometry *g = &view->geometry;
    uint64_t at[FLOE_VIEW_AXES];
    for (int a = FLOE_VIEW_AXES - 1; a >= 0; a--) {
        at[a] = tile % view->tiles[a];
        tile /= view->tiles[a];
    }
    box->lo[FLOE_VIEW_BATCH] = at[FLOE_VIEW_BATCH];
    if (view->rank == 1) {
        box->lo[FLOE_VIEW_Z] = box->lo[FLOE_VIEW_Y] = 0;
        box->lo[FLOE_VIEW_X] = at[FLOE_VIEW_X] * FLOE_TILE_VALUES;
        box->nx = floe_view_clip(view->extent[FLOE_VIEW_X], box->lo[FLOE_VIEW_X], FLOE_TILE_VALUES);
        box->ny = 1;
        box->nz = (uint32_t)floe_ceil_div(box->nx, g->step_x);
        box->ncells = box->nx;
    } else {
        uint32_t size[FLOE_VIEW_AXES];
        floe_view_tile_size(view, size);
        for (int a = FLOE_VIEW_Z; a < FLOE_VIEW_AXES; a++)
            box->lo[a] = at[a] * size[a];
        box->nz = floe_view_clip(view->extent[FLOE_VIEW_Z], box->lo[FLOE_VIEW_Z], size[FLOE_VIEW_Z]);
        box->ny = floe_view_clip(view->extent[FLOE_VIEW_Y], box->lo[FLOE_VIEW_Y], size[FLOE_VIEW_Y]);
        box->nx = floe_view_clip(view->extent[FLOE_VIEW_X], box->lo[FLOE_VIEW_X], size[FLOE_VIEW_X]);
        box->ncells = (uint64_t)box->nz * box->ny * box->nx;
    }
    box->nsteps = (uint32_t)floe_ceil_div(box->nz, g->step_z);
}

FLOE_HD floe_step_box floe_tile_step(const floe_view *view, const floe_tile_box *box, uint32_t step)
{
    const floe_tile_geometry *g = &view->geometry;
    floe_step_box s;
    s.nz = floe_view_clip(box->nz, (uint64_t)step * g->step_z, g->step_z);
    s.ny = box->ny;
    s.nx = view->rank == 1 ? floe_view_clip(box->nx, (uint64_t)step * g->step_x, g->step_x) : box->nx;
    s.full = s.nz == g->step_z && s.ny == g->step_y && s.nx == g->step_x;
    return s;
}

/* How many of `size` cells from `at` on lie inside the extent. */
FLOE_HD uint32_t floe_cells_inside(uint32_t extent, uint32_t at, uint32_t size)
{
    return extent <= at ? 0 : extent - at < size ? extent - at : size;
}

/* Which cells of a group of such a step are inside (bit k: value k). */
FLOE_HD uint32_t floe_group_valid(const floe_tile_geometry *g, const floe_step_box *box, uint32_t group)
{
    uint32_t across = g->step_x / g->group_x;
    uint32_t nx = floe_cells_inside(box->nx, group % across * g->group_x, g->group_x);
    uint32_t ny = floe_cells_inside(box->ny, group / across * g->group_y, g->group_y);
    uint32_t row = nx >= 32 ? UINT32_MAX : (1u << nx) - 1, bits = 0;
    for (uint32_t z = 0; z < box->nz; z++)
        for (uint32_t y = 0; y < ny; y++)
            bits |= row << (g->group_x * (y + g->group_y * z)) % 32;
    return bits;
}

FLOE_HD void floe_step_valid(const floe_tile_geometry *g, const floe_step_box *box, uint32_t valid[FLOE_STEP_GROUPS])
{
    if (box->full) {
        memset(valid, 0xFF, FLOE_STEP_GROUPS * sizeof *valid);
        return;
    }
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++)
        valid[group] = floe_group_valid(g, box, group);
}

/* Which groups of such a step have a cell inside. */
FLOE_HD uint32_t floe_step_present(const floe_tile_geometry *g, const floe_step_box *box)
{
    uint32_t present = 0;
    if (box->full)
        return UINT32_MAX;
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++)
        present |= (uint32_t)(floe_group_valid(g, box, group) != 0) << group;
    return present;
}

/* Where value k of a group stands in a step's array [step_z][step_y][step_x]. */
FLOE_HD uint32_t floe_group_place(const floe_tile_geometry *g, uint32_t group, uint32_t k)
{
    const uint32_t across = g->step_x / g->group_x;
    uint32_t x = group % across * g->group_x + k % g->group_x;
    uint32_t y = group / across * g->group_y + k / g->group_x % g->group_y;
    return (k / (g->group_x * g->group_y) * g->step_y + y) * g->step_x + x;
}

#endif
