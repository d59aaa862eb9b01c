/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that walk along runs (runs_math.h), each so many elements at a time. */
#ifndef FLOE_FIELD_RUNS_CUDA_CUH
#define FLOE_FIELD_RUNS_CUDA_CUH

#include "backend/device.cuh"
#include "field/runs_math.h"

/* An element: `column` of a run that begins at offset `at`. */
typedef struct floe_runs_place {
    uint64_t run, column;
    int64_t at;
} floe_runs_place;

/* Puts a column that has run past the end of its run where it belongs. */
FLOE_DEV_COLD void floe_runs_wrap(const floe_runs *runs, floe_runs_place *p)
{
    p->run += p->column / runs->length;
    p->column %= runs->length;
    p->at = floe_runs_offset(runs, p->run);
}

FLOE_DEV floe_runs_place floe_runs_place_of(const floe_runs *runs, uint64_t element)
{
    floe_runs_place p = {0, element, 0};
    floe_runs_wrap(runs, &p);
    return p;
}

/* Goes n elements on; there is no need to request an offset behind the last run. */
FLOE_DEV void floe_runs_go(const floe_runs *runs, floe_runs_place *p, uint32_t n)
{
    p->column += n;
    if (p->column >= runs->length) {
        floe_runs_place copy = *p;
        floe_runs_wrap(runs, &copy);
        *p = copy;
    }
}

FLOE_DEV int64_t floe_runs_offset_of(const floe_runs *runs, const floe_runs_place *p)
{
    return p->at + (int64_t)p->column * runs->step;
}

#endif
