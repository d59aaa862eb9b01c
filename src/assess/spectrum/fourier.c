/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FFTW plans one row and one group of columns; threads share the rows and groups, so their number does not matter. Plans
 * are estimated, not measured: the same each time, and nothing is written to data before its turn.
 */
#include "assess/spectrum/fourier.h"

#include "base/hd.h"
#include "base/try.h"

#ifdef HAVE_FFTW

#include <fftw3.h>

enum {
    ROWS = 16,   /* a task's */
    COLUMNS = 16 /* neighbours that are transformed together: 256 bytes of a row */
};

typedef struct axis_job {
    double *data;
    fftw_plan rows, group, rest; /* rest: the last columns, fewer than a group */
    uint64_t nrows, pitch;       /* doubles from row to row */
    uint64_t extent, stride;     /* of an axis: complex numbers from one of its elements to the next */
    uint64_t ngroups;            /* of columns, for each element of the axes before */
} axis_job;

bool floe_fourier_available(void) { return true; }

static void rows_task(void *arg, uint64_t task, uint32_t worker)
{
    const axis_job *j = arg;
    (void)worker;
    for (uint64_t row = task * ROWS; row < floe_min64((task + 1) * ROWS, j->nrows); row++)
        fftw_execute_dft_r2c(j->rows, j->data + row * j->pitch, (fftw_complex *)(void *)(j->data + row * j->pitch));
}

static void columns_task(void *arg, uint64_t task, uint32_t worker)
{
    const axis_job *j = arg;
    const uint64_t before = task / j->ngroups, column = task % j->ngroups * COLUMNS;
    fftw_complex *at = (fftw_complex *)(void *)j->data + before * j->extent * j->stride + column;
    (void)worker;
    fftw_execute_dft(column + COLUMNS <= j->stride ? j->group : j->rest, at, at);
}

static floe_status rows_transform(const floe_cpu *cpu, const uint64_t *shape, axis_job *j, floe_error *err)
{
    const fftw_iodim64 row = {(ptrdiff_t)shape[3], 1, 1};
    j->rows = fftw_plan_guru64_dft_r2c(1, &row, 0, NULL, j->data, (fftw_complex *)(void *)j->data, FFTW_ESTIMATE);
    FLOE_CHECK(err, j->rows, FLOE_ERR_MEMORY, "FFTW has no plan for rows of %llu values", (unsigned long long)shape[3]);
    floe_cpu_parallel(cpu, floe_ceil_div(j->nrows, ROWS), rows_task, j);
    return FLOE_OK;
}

/* Plan for n neighbouring columns. */
static floe_status columns_plan(const axis_job *j, uint64_t n, fftw_plan *plan, floe_error *err)
{
    const fftw_iodim64 axis = {(ptrdiff_t)j->extent, (ptrdiff_t)j->stride, (ptrdiff_t)j->stride};
    const fftw_iodim64 neighbours = {(ptrdiff_t)n, 1, 1};
    fftw_complex *data = (fftw_complex *)(void *)j->data;
    if (n)
        *plan = fftw_plan_guru64_dft(1, &axis, 1, &neighbours, data, data, FFTW_FORWARD, FFTW_ESTIMATE);
    FLOE_CHECK(err, !n || *plan, FLOE_ERR_MEMORY, "FFTW has no plan for an axis of %llu values",
               (unsigned long long)j->extent);
    return FLOE_OK;
}

static floe_status columns_transform(const floe_cpu *cpu, uint64_t before, axis_job *j, floe_error *err)
{
    j->ngroups = floe_ceil_div(j->stride, COLUMNS);
    FLOE_TRY(columns_plan(j, floe_min64(COLUMNS, j->stride), &j->group, err));
    FLOE_TRY(columns_plan(j, j->stride % COLUMNS, &j->rest, err));
    floe_cpu_parallel(cpu, before * j->ngroups, columns_task, j);
    return FLOE_OK;
}

static void plans_free(axis_job *j)
{
    if (j->rows)
        fftw_destroy_plan(j->rows);
    if (j->group)
        fftw_destroy_plan(j->group);
    if (j->rest)
        fftw_destroy_plan(j->rest);
}

floe_status floe_fourier_transform(const floe_cpu *cpu, const uint64_t *shape, double *data, floe_error *err)
{
    const uint64_t width = shape[3] / 2 + 1;
    axis_job rows = {.data = data, .nrows = shape[0] * shape[1] * shape[2], .pitch = 2 * width};
    fftw_make_planner_thread_safe(); /* other contexts may be planning */
    floe_status status = rows_transform(cpu, shape, &rows, err);
    plans_free(&rows);
    uint64_t stride = width, before = rows.nrows;
    for (int a = 2; a >= 0 && status == FLOE_OK; a--) {
        axis_job columns = {.data = data, .extent = shape[a], .stride = stride};
        before /= shape[a];
        if (shape[a] > 1)
            status = columns_transform(cpu, before, &columns, err);
        plans_free(&columns);
        stride *= shape[a];
    }
    return status;
}

#else

bool floe_fourier_available(void) { return false; }

floe_status floe_fourier_transform(const floe_cpu *cpu, const uint64_t *shape, double *data, floe_error *err)
{
    (void)cpu, (void)shape, (void)data;
    return floe_fail(err, FLOE_ERR_UNSUPPORTED, "spectra need FFTW, and this floe was built without it");
}

#endif
