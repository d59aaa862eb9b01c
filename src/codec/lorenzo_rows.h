/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a tile in the caller's array: where they are, and reading and writing them whatever their stride. */
#ifndef FLOE_CODEC_LORENZO_ROWS_H
#define FLOE_CODEC_LORENZO_ROWS_H

#include "codec/lorenzo_tile.h"

/* A row of a step: its first cell in view coordinates, and its length. */
typedef struct floe_row {
    uint64_t at[FLOE_VIEW_AXES];
    uint32_t n;
} floe_row;

static inline floe_row floe_row_of(const floe_tile_job *job, const floe_tile_box *box, const floe_step_box *step,
                                   uint32_t s, uint32_t z, uint32_t y)
{
    floe_row row = {.n = step->nx};
    row.at[FLOE_VIEW_BATCH] = box->lo[FLOE_VIEW_BATCH];
    row.at[FLOE_VIEW_X] = box->lo[FLOE_VIEW_X];
    if (job->view->rank == 1) {
        row.at[FLOE_VIEW_X] += (uint64_t)s * FLOE_STEP_VALUES;
    } else {
        row.at[FLOE_VIEW_Z] = box->lo[FLOE_VIEW_Z] + (uint64_t)s * job->view->geometry.step_z + z;
        row.at[FLOE_VIEW_Y] = box->lo[FLOE_VIEW_Y] + y;
    }
    return row;
}

/* Address of the row's cell x when the array starts at view coordinates `origin`. */
static inline floe_real *floe_row_address(const floe_tile_job *job, const floe_row *row, const uint64_t *origin,
                                          uint32_t x)
{
    int64_t offset = 0;
    for (int a = 0; a < FLOE_VIEW_AXES; a++)
        offset += (int64_t)(row->at[a] - origin[a] + (a == FLOE_VIEW_X ? x : 0)) * job->stride[a];
    return (floe_real *)job->field->data + offset;
}

/* The values of a row: in place where they are contiguous, else gathered into buffer. */
static inline const floe_real *floe_row_read(const floe_tile_job *job, const floe_row *row, floe_real *buffer)
{
    static const uint64_t zero[FLOE_VIEW_AXES] = {0, 0, 0, 0};
    const floe_real *from = floe_row_address(job, row, zero, 0);
    const int64_t stride = job->stride[FLOE_VIEW_X];
    if (stride == 1 || row->n == 1)
        return from;
    for (uint32_t x = 0; x < row->n; x++)
        memcpy(&buffer[x], &from[(int64_t)x * stride], sizeof *buffer);
    return buffer;
}

/* The part x0 <= x < x1 of the row that lies in the region; empty when the row does not. */
static inline bool floe_row_clip(const floe_tile_job *job, const floe_row *row, uint32_t *x0, uint32_t *x1)
{
    for (int a = 0; a < FLOE_VIEW_X; a++)
        if (row->at[a] < job->region_lo[a] || row->at[a] >= job->region_hi[a])
            return false;
    uint64_t lo = job->region_lo[FLOE_VIEW_X], hi = job->region_hi[FLOE_VIEW_X], at = row->at[FLOE_VIEW_X];
    if (hi <= at || lo >= at + row->n)
        return false;
    *x0 = lo > at ? (uint32_t)(lo - at) : 0;
    *x1 = hi - at < row->n ? (uint32_t)(hi - at) : row->n;
    return true;
}

static inline void floe_row_write(const floe_tile_job *job, const floe_row *row, uint32_t x0, uint32_t x1,
                                  const floe_real *values)
{
    floe_real *to = floe_row_address(job, row, job->region_lo, x0);
    const int64_t stride = job->stride[FLOE_VIEW_X];
    if (stride == 1 || x1 - x0 == 1)
        memcpy(to, values + x0, (x1 - x0) * sizeof *to);
    else
        for (uint32_t x = x0; x < x1; x++)
            memcpy(&to[(int64_t)(x - x0) * stride], &values[x], sizeof *to);
}

#endif
