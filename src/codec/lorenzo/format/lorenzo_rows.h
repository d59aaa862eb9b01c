/* SPDX-License-Identifier: BSD-3-Clause */
/* The cells of a step in the caller's array: where they are, and moving them to and from the step's own array
 * [step_z][step_y][step_x] whatever the strides. */
#ifndef FLOE_CODEC_LORENZO_FORMAT_LORENZO_ROWS_H
#define FLOE_CODEC_LORENZO_FORMAT_LORENZO_ROWS_H

#include "codec/lorenzo/format/lorenzo_tile.h"

/* Cells lo..hi-1 of an axis, seen from a step whose cells are at..at+n-1. */
static inline void floe_clip_axis(uint64_t lo, uint64_t hi, uint64_t at, uint32_t n, uint32_t *first, uint32_t *end)
{
    *first = lo <= at ? 0 : lo - at < n ? (uint32_t)(lo - at) : n;
    *end = hi <= at ? 0 : hi - at < n ? (uint32_t)(hi - at) : n;
}

static inline floe_step_rows floe_step_rows_of(const floe_tile_job *job, const floe_tile_box *box,
                                               const floe_step_box *step, uint32_t s)
{
    floe_step_rows r;
    uint64_t at[FLOE_VIEW_AXES];
    memcpy(at, box->lo, sizeof at);
    if (job->view->rank == 1)
        at[FLOE_VIEW_X] += (uint64_t)s * FLOE_STEP_VALUES;
    else
        at[FLOE_VIEW_Z] += (uint64_t)s * job->view->geometry.step_z;
    const uint64_t *lo = job->region_lo, *hi = job->region_hi;
    const int batch = FLOE_VIEW_BATCH, z = FLOE_VIEW_Z, y = FLOE_VIEW_Y, x = FLOE_VIEW_X;
    floe_clip_axis(lo[z], hi[z], at[z], step->nz, &r.z0, &r.z1);
    floe_clip_axis(lo[y], hi[y], at[y], step->ny, &r.y0, &r.y1);
    floe_clip_axis(lo[x], hi[x], at[x], step->nx, &r.x0, &r.x1);
    if (at[batch] < lo[batch] || at[batch] >= hi[batch] || r.y0 >= r.y1 || r.x0 >= r.x1)
        r.z1 = r.z0;
    r.stride_z = job->stride[z];
    r.stride_y = job->stride[y];
    r.stride_x = job->stride[x];
    r.origin = job->field->data;
    if (r.z0 < r.z1)
        r.origin += (int64_t)(at[batch] - lo[batch]) * job->stride[batch] +
                    (int64_t)(at[z] + r.z0 - lo[z]) * r.stride_z + (int64_t)(at[y] + r.y0 - lo[y]) * r.stride_y +
                    (int64_t)(at[x] + r.x0 - lo[x]) * r.stride_x;
    return r;
}

/* A row of n values. Bits are kept, whatever they are; the common length is a constant to the compiler. */
static inline void floe_row_copy(floe_real *to, int64_t to_stride, const floe_real *from, int64_t from_stride,
                                 uint32_t n)
{
    if (to_stride == 1 && from_stride == 1 && n == 32)
        memcpy(to, from, 32 * sizeof *to);
    else if (to_stride == 1 && from_stride == 1)
        memcpy(to, from, n * sizeof *to);
    else
        for (uint32_t i = 0; i < n; i++)
            memcpy(&to[(int64_t)i * to_stride], &from[(int64_t)i * from_stride], sizeof *to);
}

static inline void floe_step_read(const floe_step_rows *r, const floe_tile_geometry *g, floe_real *values)
{
    for (uint32_t z = r->z0; z < r->z1; z++)
        for (uint32_t y = r->y0; y < r->y1; y++)
            floe_row_copy(values + (z * g->step_y + y) * g->step_x + r->x0, 1,
                          r->origin + (int64_t)(z - r->z0) * r->stride_z + (int64_t)(y - r->y0) * r->stride_y,
                          r->stride_x, r->x1 - r->x0);
}

static inline void floe_step_write(const floe_step_rows *r, const floe_tile_geometry *g, const floe_real *values)
{
    for (uint32_t z = r->z0; z < r->z1; z++)
        for (uint32_t y = r->y0; y < r->y1; y++)
            floe_row_copy(r->origin + (int64_t)(z - r->z0) * r->stride_z + (int64_t)(y - r->y0) * r->stride_y,
                          r->stride_x, values + (z * g->step_y + y) * g->step_x + r->x0, 1, r->x1 - r->x0);
}

#endif
