/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of the Lorenzo differences (mode xy, along z too) and of the sums that undo them: plain C, one thread, the same
 * loops for every tile shape. Residuals lie tile after tile. */
#define FLOE_REAL_BITS 32
#include "bench/tile_study.h"

#include <string.h>
#include <time.h>

#include "stage/lorenzo/lorenzo.h"

enum { MAX_ROW = 64, MAX_PLANE = 64 * 64, MAX_STEP = 2 * MAX_PLANE }; /* of the largest of the bench's shapes */

static const uint32_t no_row[MAX_ROW]; /* above the first row of a plane */

/* Of this thread: others on the machine do not count. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct walk {
    size_t row, plane; /* strides of the field */
    uint32_t nz, ny, nx;
    uint32_t step_z;            /* planes that are copied at once: the misses of many rows overlap */
    uint32_t before[MAX_PLANE]; /* differences of the plane before, row after row */
    uint32_t step[MAX_STEP];    /* the step's values, row after row */
} walk;

static void predict_row(const uint32_t *restrict q, const uint32_t *restrict above, uint32_t n,
                        uint32_t *restrict before, uint32_t *restrict residual)
{
    uint32_t first = q[0] - above[0];
    residual[0] = floe_zigzag_f32(first - before[0]);
    before[0] = first;
    for (uint32_t x = 1; x < n; x++) {
        uint32_t p = q[x] - q[x - 1] - above[x] + above[x - 1];
        residual[x] = floe_zigzag_f32(p - before[x]);
        before[x] = p;
    }
}

static void undo_row(const uint32_t *restrict residual, const uint32_t *restrict above, uint32_t n,
                     uint32_t *restrict before, uint32_t *restrict q)
{
    uint32_t sum = 0;
    for (uint32_t x = 0; x < n; x++)
        before[x] += floe_unzigzag_f32(residual[x]);
    for (uint32_t x = 0; x < n; x++) {
        sum += before[x];
        q[x] = sum + above[x];
    }
}

static void read_step(walk *w, const uint32_t *from, uint32_t nz)
{
    for (uint32_t z = 0; z < nz; z++)
        for (uint32_t y = 0; y < w->ny; y++)
            memcpy(w->step + (z * w->ny + y) * w->nx, from + z * w->plane + y * w->row, w->nx * sizeof *from);
}

static void write_step(const walk *w, uint32_t *to, uint32_t nz)
{
    for (uint32_t z = 0; z < nz; z++)
        for (uint32_t y = 0; y < w->ny; y++)
            memcpy(to + z * w->plane + y * w->row, w->step + (z * w->ny + y) * w->nx, w->nx * sizeof *to);
}

static void predict_plane(walk *w, const uint32_t *q, uint32_t *residual)
{
    for (uint32_t y = 0; y < w->ny; y++, q += w->nx, residual += w->nx)
        predict_row(q, y ? q - w->nx : no_row, w->nx, w->before + y * w->nx, residual);
}

static void undo_plane(walk *w, uint32_t *q, const uint32_t *residual)
{
    for (uint32_t y = 0; y < w->ny; y++, q += w->nx, residual += w->nx)
        undo_row(residual, y ? q - w->nx : no_row, w->nx, w->before + y * w->nx, q);
}

static uint32_t clip(uint32_t n, uint32_t from, uint32_t tile) { return n - from < tile ? n - from : tile; }

/* One tile, step by step: its values at from to residual, or residual to to. Returns the residuals used. */
static size_t walk_tile(walk *w, const uint32_t *from, uint32_t *residual, uint32_t *to)
{
    size_t area = (size_t)w->ny * w->nx;
    memset(w->before, 0, area * sizeof *w->before);
    for (uint32_t z0 = 0; z0 < w->nz; z0 += w->step_z) {
        uint32_t nz = clip(w->nz, z0, w->step_z);
        if (from)
            read_step(w, from + z0 * w->plane, nz);
        for (uint32_t z = 0; z < nz; z++)
            if (from)
                predict_plane(w, w->step + z * area, residual + (z0 + z) * area);
            else
                undo_plane(w, w->step + z * area, residual + (z0 + z) * area);
        if (to)
            write_step(w, to + z0 * w->plane, nz);
    }
    return w->nz * area;
}

/* One pass over all tiles: from, a field, to residual; or residual to to, a field. The other one is NULL. */
static void pass(const study_field *field, const study_shape *shape, const uint32_t *from, uint32_t *residual,
                 uint32_t *to)
{
    const uint32_t *n = field->n, *tile = shape->tile;
    walk w = {.row = n[2], .plane = (size_t)n[1] * n[2], .step_z = shape->group[0]};
    for (uint32_t z = 0; z < n[0]; z += tile[0])
        for (uint32_t y = 0; y < n[1]; y += tile[1])
            for (uint32_t x = 0; x < n[2]; x += tile[2]) {
                size_t at = z * w.plane + y * w.row + x;
                w.nz = clip(n[0], z, tile[0]);
                w.ny = clip(n[1], y, tile[1]);
                w.nx = clip(n[2], x, tile[2]);
                residual += walk_tile(&w, from ? from + at : NULL, residual, to ? to + at : NULL);
            }
}

bool study_measure_speed(const study_field *field, const study_shape *shape, uint32_t *residuals, uint32_t *back,
                         study_seconds *seconds)
{
    double started = now();
    pass(field, shape, field->q, residuals, NULL);
    double between = now();
    pass(field, shape, NULL, residuals, back);
    seconds->predict = between - started;
    seconds->undo = now() - between;
    return memcmp(field->q, back, field->nvalues * sizeof *back) == 0;
}
