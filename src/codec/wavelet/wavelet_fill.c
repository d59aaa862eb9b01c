/* SPDX-License-Identifier: BSD-3-Clause */
/* Points of the array that are NaN: means of what is known around them, level by level from coarse to fine, then smoothed. */
#include <string.h>

#include "codec/wavelet/wavelet_encoder.h"

typedef floe_wavelet_fill_level level;

enum { LEVELS = 32 };

static floe_status fill_do(const floe_wavelet_filling *f, floe_wavelet_fill_what what, const level *l, bool *holes)
{
    const bool pair = what == FLOE_WAVELET_FILL_COARSEN || what == FLOE_WAVELET_FILL_REFINE;
    const floe_wavelet_fill_job job = {.what = what, .level = *l, .coarse = l[pair]};
    return f->run(f->user, &job, holes);
}

/* Coarse levels lie behind one another in values and holes. */
floe_status floe_wavelet_fill(const floe_wavelet_filling *f)
{
    level levels[LEVELS] = {f->array};
    uint8_t *values = f->values;
    uint32_t n = 0;
    for (;; n++) {
        const uint64_t count = floe_interp_points(levels[n].n);
        bool some = true;
        FLOE_TRY(fill_do(f, FLOE_WAVELET_FILL_MARK, &levels[n], &some));
        if (count == 1 || !some)
            break;
        levels[n + 1] = (level){.values = values, .holes = levels[n].holes + count, .narrow = f->array.narrow};
        for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
            levels[n + 1].n[a] = (levels[n].n[a] + 1) / 2;
        values += floe_interp_points(levels[n + 1].n) * (f->array.narrow ? sizeof(float) : sizeof(double));
        FLOE_TRY(fill_do(f, FLOE_WAVELET_FILL_COARSEN, &levels[n], NULL));
    }
    FLOE_TRY(fill_do(f, FLOE_WAVELET_FILL_ZERO, &levels[n], NULL));
    while (n-- > 0) {
        FLOE_TRY(fill_do(f, FLOE_WAVELET_FILL_REFINE, &levels[n], NULL));
        for (int k = 0; k < FLOE_WAVELET_FILL_PASSES; k++)
            FLOE_TRY(fill_do(f, k % 2 ? FLOE_WAVELET_FILL_ODD : FLOE_WAVELET_FILL_EVEN, &levels[n], NULL));
    }
    return FLOE_OK;
}

enum { ROWS = 32 /* of a task */ };

typedef struct filling {
    const floe_wavelet_fill_job *job;
    bool holes[FLOE_CPU_MAX_THREADS];
} filling;

/* From point x of a row on the next one that the job does; n: none. */
static uint64_t next_point(const floe_wavelet_fill_job *j, uint64_t row, uint64_t x, uint64_t n)
{
    const bool all = j->what == FLOE_WAVELET_FILL_MARK || j->what == FLOE_WAVELET_FILL_COARSEN;
    const uint8_t *holes = j->level.holes + row, *hole = all || x == n ? NULL : memchr(holes + x, true, n - x);
    return all ? x : hole ? (uint64_t)(hole - holes) : n;
}

static void rows_task(void *arg, uint64_t i, uint32_t worker)
{
    filling *f = arg;
    const floe_wavelet_fill_job *j = f->job;
    const uint64_t *n = j->what == FLOE_WAVELET_FILL_COARSEN ? j->coarse.n : j->level.n, nrows = n[0] * n[1] * n[2];
    for (uint64_t r = i * ROWS; r < nrows && r < (i + 1) * ROWS; r++) {
        const uint64_t row = r * n[3];
        uint64_t at[FLOE_INTERP_RANK];
        floe_interp_point_of(n, row, at);
        for (at[3] = next_point(j, row, 0, n[3]); at[3] < n[3]; at[3] = next_point(j, row, at[3] + 1, n[3]))
            floe_wavelet_fill_point(j, j->what, row + at[3], at);
        if (j->what == FLOE_WAVELET_FILL_MARK)
            f->holes[worker] |= memchr(j->level.holes + row, true, n[3]) != NULL;
    }
}

static floe_status fill_points(void *user, const floe_wavelet_fill_job *j, bool *holes)
{
    const floe_cpu *cpu = user;
    const uint64_t *n = j->what == FLOE_WAVELET_FILL_COARSEN ? j->coarse.n : j->level.n;
    filling f = {.job = j};
    floe_cpu_parallel(cpu, floe_ceil_div(n[0] * n[1] * n[2], ROWS), rows_task, &f);
    if (j->what == FLOE_WAVELET_FILL_MARK)
        *holes = memchr(f.holes, true, sizeof f.holes);
    return FLOE_OK;
}

void floe_wavelet_array_fill(floe_wavelet_encoder *e)
{
    floe_wavelet_filling f = {.run = fill_points, .user = (void *)e->cpu, .values = e->kept};
    f.array = (level){.values = e->bands.array, .holes = e->records, .narrow = e->narrow};
    memcpy(f.array.n, e->chunk.plan.shape, sizeof f.array.n);
    floe_wavelet_fill(&f);
}
