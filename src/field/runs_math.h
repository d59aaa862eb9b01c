/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of a strided array as runs of equal distance, where the order of the visit does not matter: floe_rows of one
 * array, for both compilers. */
#ifndef FLOE_FIELD_RUNS_MATH_H
#define FLOE_FIELD_RUNS_MATH_H

#include "base/hd.h"

enum { FLOE_RUNS_AXES = 4 };

/* Run r begins floe_runs_offset(runs, r) elements behind the array's first element. */
typedef struct floe_runs {
    uint64_t count, length; /* runs, and elements in each; count is 0 for an empty array */
    int64_t step;           /* distance of elements within a run */
    int64_t origin;         /* of run 0 */
    uint32_t outer;         /* axes that count runs, slowest first */
    uint64_t shape[FLOE_RUNS_AXES];
    int64_t stride[FLOE_RUNS_AXES];
} floe_runs;

FLOE_HD uint64_t floe_runs_distance(int64_t stride) { return stride < 0 ? -(uint64_t)stride : (uint64_t)stride; }

/* Axes with more than one element, by falling distance. */
FLOE_HD uint32_t floe_runs_axes(uint32_t rank, const uint64_t *shape, const int64_t *stride,
                                uint32_t axes[FLOE_RUNS_AXES])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rank; i++) {
        if (shape[i] == 1)
            continue;
        uint32_t at = n++;
        for (; at > 0 && floe_runs_distance(stride[axes[at - 1]]) < floe_runs_distance(stride[i]); at--)
            axes[at] = axes[at - 1];
        axes[at] = i;
    }
    return n;
}

/* rank 1 to 4. Axes are turned forward, and merged where one ends at the next step of the other. */
FLOE_HD void floe_runs_of(uint32_t rank, const uint64_t *shape, const int64_t *stride, floe_runs *r)
{
    uint32_t axes[FLOE_RUNS_AXES], n = floe_runs_axes(rank, shape, stride, axes), used = 0;
    r->count = r->length = 1;
    r->step = 1;
    r->origin = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t extent = shape[axes[k]];
        int64_t distance = stride[axes[k]];
        r->count = extent ? r->count : 0;
        if (distance < 0) {
            r->origin += (int64_t)(extent - 1) * distance;
            distance = -distance;
        }
        if (used && r->stride[used - 1] == (int64_t)extent * distance) {
            r->shape[used - 1] *= extent;
        } else {
            r->shape[used] = extent;
            used++;
        }
        r->stride[used - 1] = distance;
    }
    if (used) { /* the fastest axis is the run itself */
        used--;
        r->length = r->shape[used];
        r->step = r->stride[used];
    }
    r->outer = used;
    for (uint32_t i = 0; i < used; i++)
        r->count *= r->shape[i];
}

FLOE_HD int64_t floe_runs_offset(const floe_runs *runs, uint64_t run)
{
    int64_t offset = runs->origin;
    for (uint32_t i = runs->outer; i-- > 0; run /= runs->shape[i])
        offset += (int64_t)(run % runs->shape[i]) * runs->stride[i];
    return offset;
}

#endif
