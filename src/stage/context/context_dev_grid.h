/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_STAGE_CONTEXT_DEV_GRID_H
#define FLOE_STAGE_CONTEXT_DEV_GRID_H

#include "stage/context/context.h"
#include "stage/context/context_cuda.h"

/* A grid of records as the kernels have it. */
static inline floe_context_dev_grid floe_context_dev_grid_of(const floe_context_spec *spec,
                                                             const floe_context_grid *grid, void *records)
{
    floe_context_dev_grid g = {.records = records, .grid = *grid, .width = spec->width, .window = spec->window};
    g.planes = spec->planes;
    g.nmasks = floe_context_masks(spec);
    g.nvalues = floe_context_values(spec);
    g.nchunks = (uint32_t)floe_context_nchunks(grid);
    return g;
}

/* The next grid of a job. */
static inline void floe_context_job_add(floe_context_job *job, const floe_context_dev_grid *g)
{
    job->ngrids++;
    job->nchunks += g->nchunks;
    job->warp_nbytes = (uint32_t)floe_max64(job->warp_nbytes, floe_context_warp_nbytes(g->window, g->width));
    job->nmasks = (uint32_t)floe_max64(job->nmasks, g->nmasks);
    job->nvalues = (uint32_t)floe_max64(job->nvalues, g->nvalues);
}

#endif
