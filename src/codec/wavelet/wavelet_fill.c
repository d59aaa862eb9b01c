/* SPDX-License-Identifier: BSD-3-Clause */
/* Points of the array that are NaN: means of what is known around them, level by level from coarse to fine, then smoothed. First along
 * axes that are smooth alone: planes of a stack may differ much. Then along all of them, where that leaves any. */
#include <math.h>
#include <string.h>

#include "codec/wavelet/wavelet_encoder.h"

typedef floe_wavelet_fill_level level;

enum { LEVELS = 32, PROBES = 1024 /* that rough axes are found by */ };

static floe_status fill_do(const floe_wavelet_filling *f, floe_wavelet_fill_what what, const level *l, bool *holes)
{
    const bool pair = what == FLOE_WAVELET_FILL_COARSEN || what == FLOE_WAVELET_FILL_REFINE;
    const floe_wavelet_fill_job job = {.what = what, .level = *l, .coarse = l[pair]};
    return f->run(f->user, &job, holes);
}

/* An axis is rough that takes a bit more for a value than two others do. So an axis that is too short to look along is, too. */
static floe_status find_rough(const floe_wavelet_encoder *e, const floe_wavelet_filling *f, uint32_t *rough)
{
    const uint64_t *n = f->array.n;
    floe_look look = floe_wavelet_trial_look(e, e, f->array.values, 0);
    uint64_t bits = 0, most = 0;
    double mean[FLOE_LATTICE_RANK];
    if (look.nprobes == 0 || floe_lattice_slowest(n) + 2 >= FLOE_LATTICE_RANK)
        return FLOE_OK;
    look.nprobes = PROBES;
    look.inverse = 0x1p15 / (e->max_abs - fabs(e->chunk.plan.center));
    FLOE_TRY(f->look(f->user, &look, &bits));
    look.inverse *= 0x1p900; /* so that all that is not 0, nor NaN, takes FLOE_LOOK_BITS */
    FLOE_TRY(f->look(f->user, &look, &most));
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        const double along = (double)floe_look_along(most, a) / FLOE_LOOK_BITS;
        const bool is_short = n[a] > 1 && !floe_look_reach(n[a]);
        mean[a] = is_short ? FLOE_LOOK_BITS : along > 0 ? (double)floe_look_along(bits, a) / along : 0;
    }
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        uint32_t smoother = 0;
        for (uint32_t b = 0; b < FLOE_LATTICE_RANK; b++)
            smoother += n[b] > 1 && mean[b] + 1 <= mean[a];
        *rough |= (uint32_t)(smoother >= 2) << a;
    }
    return FLOE_OK;
}

/* Coarse levels lie behind one another in values and holes: they have room, since there are two axes that are not rough, or no rough
 * ones. With rough axes, holes may be left where no other axis leads to a value. */
static floe_status fill_along(const floe_wavelet_filling *f, uint32_t rough, bool *left)
{
    level levels[LEVELS] = {f->array};
    levels[0].rough = rough;
    uint8_t *values = f->values;
    uint32_t n = 0;
    for (;; n++) {
        const uint64_t count = floe_lattice_points(levels[n].n);
        *left = true;
        FLOE_TRY(fill_do(f, FLOE_WAVELET_FILL_MARK, &levels[n], left));
        levels[n + 1] = levels[n];
        levels[n + 1].values = values;
        levels[n + 1].holes += count;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            levels[n + 1].n[a] = floe_ceil_div(levels[n].n[a], 1 + floe_wavelet_fill_halved(&levels[n], a));
        if (!*left || floe_lattice_points(levels[n + 1].n) == count)
            break;
        values += floe_lattice_points(levels[n + 1].n) * (f->array.narrow ? sizeof(float) : sizeof(double));
        FLOE_TRY(fill_do(f, FLOE_WAVELET_FILL_COARSEN, &levels[n], NULL));
    }
    if (!rough)
        FLOE_TRY(fill_do(f, FLOE_WAVELET_FILL_ZERO, &levels[n], NULL));
    while (n-- > 0) {
        FLOE_TRY(fill_do(f, FLOE_WAVELET_FILL_REFINE, &levels[n], NULL));
        for (int k = 0; k < FLOE_WAVELET_FILL_PASSES; k++)
            FLOE_TRY(fill_do(f, k % 2 ? FLOE_WAVELET_FILL_ODD : FLOE_WAVELET_FILL_EVEN, &levels[n], NULL));
    }
    return FLOE_OK;
}

floe_status floe_wavelet_fill(const floe_wavelet_encoder *e, floe_wavelet_filling *f)
{
    uint32_t rough = 0;
    bool left = true;
    f->array.narrow = e->narrow;
    memcpy(f->array.n, e->chunk.plan.shape, sizeof f->array.n);
    FLOE_TRY(find_rough(e, f, &rough));
    if (rough)
        FLOE_TRY(fill_along(f, rough, &left));
    return left ? fill_along(f, 0, &left) : FLOE_OK;
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
    const uint8_t *holes = j->level.holes + row;
    if (all || x == n || holes[x])
        return x;
    const uint8_t *hole = memchr(holes + x, true, n - x);
    return hole ? (uint64_t)(hole - holes) : n;
}

static void rows_task(void *arg, uint64_t i, uint32_t worker)
{
    filling *f = arg;
    const floe_wavelet_fill_job *j = f->job;
    const uint64_t *n = j->what == FLOE_WAVELET_FILL_COARSEN ? j->coarse.n : j->level.n, nrows = n[0] * n[1] * n[2];
    for (uint64_t r = i * ROWS; r < nrows && r < (i + 1) * ROWS; r++) {
        const uint64_t row = r * n[3];
        uint64_t at[FLOE_LATTICE_RANK];
        floe_lattice_point_of(n, row, at);
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

static floe_status look_at(void *user, const floe_look *look, uint64_t *bits)
{
    floe_look_all(user, look, bits);
    return FLOE_OK;
}

void floe_wavelet_array_fill(floe_wavelet_encoder *e)
{
    floe_wavelet_filling f = {.run = fill_points, .look = look_at, .user = (void *)e->cpu, .values = e->kept};
    f.array = (level){.values = e->bands.array, .holes = e->records};
    floe_wavelet_fill(e, &f);
}
