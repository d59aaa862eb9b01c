/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows first, then each other axis as columns: several at once, copied to where one worker transforms them. */
#include "assess/spectrum/fourier.h"

#include "base/hd.h"

enum {
    LANES = 8,      /* rows or columns that are transformed together: 128 bytes of a row */
    LONG = 1 << 16, /* elements of a column from which on that would take too much memory */
    LONG_LANES = 2,
    LONG_ROW = 1 << 13 /* from which on a row fills its vectors alone */
};

typedef struct axis_job {
    const floe_fourier *fourier;
    double *data;
    int axis;
    uint64_t count, lanes; /* rows in all, or columns for each element of the axes before; a task's */
    uint64_t pitch;        /* coefficients of a row */
} axis_job;

/* How an axis becomes tasks; returns how many. */
static uint64_t axis_plan(const floe_fourier *f, int axis, axis_job *j)
{
    const uint64_t extent = f->shape[axis];
    uint64_t before = 1;
    *j = (axis_job){.fourier = f, .axis = axis, .count = 1, .pitch = f->shape[3] / 2 + 1};
    for (int a = 0; a < axis; a++)
        before *= f->shape[a];
    if (axis == 3) {
        j->count = before;
        j->lanes = extent < LONG_ROW ? floe_min64(LANES, before) : 1;
        return floe_ceil_div(before, j->lanes);
    }
    for (int a = axis + 1; a < 3; a++)
        j->count *= f->shape[a];
    j->count *= j->pitch;
    j->lanes = floe_min64(extent < LONG ? LANES : LONG_LANES, j->count);
    return before * floe_ceil_div(j->count, j->lanes);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

/* An even row of n is n / 2 complex numbers, which are transformed; their even and odd values are separated afterwards. */
static void row_split(const floe_fourier *f, const double *coded, uint64_t lanes, double *row)
{
    const uint64_t half = f->shape[3] / 2, plane = f->axis[3].length * lanes;
    for (uint64_t k = 0; k <= half; k++) {
        const uint64_t up = k % half * lanes, down = (half - k) % half * lanes;
        const double even_re = (coded[up] + coded[down]) / 2, even_im = (coded[plane + up] - coded[plane + down]) / 2;
        const double odd_re = (coded[plane + up] + coded[plane + down]) / 2, odd_im = (coded[down] - coded[up]) / 2;
        row[2 * k] = even_re + (odd_re * f->turn_re[k] - odd_im * f->turn_im[k]);
        row[2 * k + 1] = even_im + (odd_re * f->turn_im[k] + odd_im * f->turn_re[k]);
    }
}

static void rows_task(void *arg, uint64_t task, uint32_t worker)
{
    const axis_job *j = arg;
    const floe_fourier *f = j->fourier;
    const uint64_t n = f->shape[3], first = task * j->lanes, lanes = floe_min64(j->lanes, j->count - first);
    const uint64_t plane = f->axis[3].length * lanes;
    double *const work = f->work + worker * floe_fft_nwork(&f->axis[3], j->lanes);
    for (uint64_t lane = 0; lane < lanes; lane++) {
        const double *const row = j->data + 2 * (first + lane) * j->pitch;
        for (uint64_t k = 0; k < f->axis[3].n; k++) {
            work[k * lanes + lane] = n % 2 ? row[k] : row[2 * k];
            work[plane + k * lanes + lane] = n % 2 ? 0 : row[2 * k + 1];
        }
    }
    const double *const coded = floe_fft_run(&f->axis[3], lanes, work);
    for (uint64_t lane = 0; lane < lanes; lane++) {
        double *const row = j->data + 2 * (first + lane) * j->pitch;
        if (n % 2 == 0)
            row_split(f, coded + lane, lanes, row);
        for (uint64_t k = 0; n % 2 && k < j->pitch; k++)
            row[2 * k] = coded[k * lanes + lane], row[2 * k + 1] = coded[plane + k * lanes + lane];
    }
}

/* ---- columns --------------------------------------------------------------------------------------------------------- */

static void columns_task(void *arg, uint64_t task, uint32_t worker)
{
    const axis_job *j = arg;
    const floe_fft *fft = &j->fourier->axis[j->axis];
    const uint64_t ngroups = floe_ceil_div(j->count, j->lanes), first = task % ngroups * j->lanes;
    const uint64_t lanes = floe_min64(j->lanes, j->count - first), plane = fft->length * lanes;
    double *const at = j->data + 2 * (task / ngroups * fft->n * j->count + first);
    double *const work = j->fourier->work + worker * floe_fft_nwork(fft, j->lanes);
    for (uint64_t k = 0; k < fft->n; k++)
        for (uint64_t lane = 0; lane < lanes; lane++) {
            work[k * lanes + lane] = at[2 * (k * j->count + lane)];
            work[plane + k * lanes + lane] = at[2 * (k * j->count + lane) + 1];
        }
    const double *const coded = floe_fft_run(fft, lanes, work);
    for (uint64_t k = 0; k < fft->n; k++)
        for (uint64_t lane = 0; lane < lanes; lane++) {
            at[2 * (k * j->count + lane)] = coded[k * lanes + lane];
            at[2 * (k * j->count + lane) + 1] = coded[plane + k * lanes + lane];
        }
}

/* ---- all of it ------------------------------------------------------------------------------------------------------- */

/* Threads that an axis keeps busy: each has its own work. */
static uint32_t nworkers(const floe_fourier *f, uint64_t ntasks)
{
    return (uint32_t)floe_min64(f->cpu->threads, ntasks);
}

void floe_fourier_take(floe_fourier *f, const floe_cpu *cpu, const uint64_t *shape, floe_arena *arena)
{
    uint64_t nwork = 0;
    *f = (floe_fourier){.cpu = cpu};
    for (int a = 0; a < FLOE_MAX_RANK; a++)
        f->shape[a] = shape[a];
    for (int a = 0; a < FLOE_MAX_RANK; a++) {
        axis_job j;
        const uint64_t ntasks = axis_plan(f, a, &j);
        floe_fft_take(&f->axis[a], a == 3 && shape[a] % 2 == 0 ? shape[a] / 2 : shape[a], arena);
        nwork = floe_max64(nwork, floe_fft_nwork(&f->axis[a], j.lanes) * nworkers(f, ntasks));
    }
    f->turn_re = floe_arena_take(arena, shape[3] / 2 + 1, sizeof(double));
    f->turn_im = floe_arena_take(arena, shape[3] / 2 + 1, sizeof(double));
    f->work = floe_arena_take(arena, nwork, sizeof(double));
}

void floe_fourier_begin(floe_fourier *f)
{
    for (int a = 0; a < FLOE_MAX_RANK; a++)
        floe_fft_begin(&f->axis[a], f->work);
    for (uint64_t k = 0; k <= f->shape[3] / 2; k++)
        floe_fft_root(k, f->shape[3], &f->turn_re[k], &f->turn_im[k]);
}

void floe_fourier_transform(const floe_fourier *f, double *data)
{
    for (int a = FLOE_MAX_RANK - 1; a >= 0; a--) {
        axis_job j;
        const uint64_t ntasks = axis_plan(f, a, &j);
        const floe_cpu cpu = {.threads = nworkers(f, ntasks), .isa = f->cpu->isa, .team = f->cpu->team};
        j.data = data;
        if (a == 3 || f->shape[a] > 1)
            floe_cpu_parallel(&cpu, ntasks, a == 3 ? rows_task : columns_task, &j);
    }
}
