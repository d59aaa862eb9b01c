/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/stencil/stencil.h"

#include <math.h>

#include "assess/stencil/stencil_cpu.h"
#include "assess/stencil/stencil_finish.h"
#include "base/arena.h"
#include "base/try.h"

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

enum {
    TILE_NELEMS = 1 << 16, /* points of a tile: with its partners in both fields it stays in L2 */
    TILE_ROW = 256,        /* of these along a row, where there are other axes */
    MAX_PIECES = 512       /* their sums lie in memory together */
};

/* Tiles in the order of their first points; a piece is some that follow one another. */
typedef struct grid {
    uint64_t extent[FLOE_MAX_RANK], count[FLOE_MAX_RANK], ntiles, npieces;
} grid;

static uint64_t root(uint64_t v, uint32_t degree)
{
    uint64_t r = 1;
    while (degree == 2 ? (r + 1) * (r + 1) <= v : (r + 1) * (r + 1) * (r + 1) <= v)
        r++;
    return r;
}

/* Rows first, then the outer axes as evenly as they allow, the fastest one first. */
static grid grid_of(const uint64_t *shape)
{
    grid g = {.ntiles = 1};
    uint64_t left = TILE_NELEMS;
    uint32_t outer = 0;
    for (int a = 0; a < FLOE_STENCIL_OUTER; a++)
        outer += shape[a] > 1;
    for (int a = FLOE_STENCIL_ROW; a >= 0; a--) {
        uint64_t share = a == FLOE_STENCIL_ROW && outer ? TILE_ROW : left;
        if (a != FLOE_STENCIL_ROW && outer > 1)
            share = root(left, outer);
        g.extent[a] = floe_max64(floe_min64(share, shape[a]), 1);
        outer -= a != FLOE_STENCIL_ROW && shape[a] > 1;
        left /= g.extent[a];
        g.count[a] = floe_ceil_div(shape[a], g.extent[a]);
        g.ntiles *= g.count[a];
    }
    g.npieces = floe_min64(g.ntiles, MAX_PIECES);
    return g;
}

static floe_stencil_box tile_of(const grid *g, const uint64_t *shape, uint64_t tile)
{
    floe_stencil_box box;
    for (int a = FLOE_STENCIL_ROW; a >= 0; a--, tile /= g->count[a + 1]) {
        box.lo[a] = tile % g->count[a] * g->extent[a];
        box.hi[a] = floe_min64(box.lo[a] + g->extent[a], shape[a]);
    }
    return box;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

typedef struct walk {
    const floe_stencil_job *job;
    floe_stencil_job norms; /* the same for Sobolev norms */
    grid grid;
    floe_stencil_lags_fn *lags;
    floe_stencil_points_fn *points, *sobolev;
    floe_stencil_scratch *scratch; /* of each worker */
    floe_stencil_sums *pieces;
} walk;

static void functions_of(const floe_cpu *cpu, walk *w)
{
    const bool narrow = w->job->pair.dtype == FLOE_F32;
    w->lags = narrow ? floe_stencil_lags_f32_plain : floe_stencil_lags_f64_plain;
    w->points = narrow ? floe_stencil_points_f32_plain : floe_stencil_points_f64_plain;
    w->points = w->job->single ? floe_stencil_single_f32_plain : w->points;
    w->sobolev = narrow ? floe_stencil_sobolev_f32_plain : floe_stencil_sobolev_f64_plain;
    w->sobolev = w->norms.single ? floe_stencil_sobolev_single_f32_plain : w->sobolev;
#ifdef FLOE_HAVE_AVX2_BUILD
    if (cpu->isa == FLOE_ISA_AVX2) {
        w->lags = narrow ? floe_stencil_lags_f32_avx2 : floe_stencil_lags_f64_avx2;
        w->points = narrow ? floe_stencil_points_f32_avx2 : floe_stencil_points_f64_avx2;
        w->points = w->job->single ? floe_stencil_single_f32_avx2 : w->points;
        w->sobolev = narrow ? floe_stencil_sobolev_f32_avx2 : floe_stencil_sobolev_f64_avx2;
        w->sobolev = w->norms.single ? floe_stencil_sobolev_single_f32_avx2 : w->sobolev;
    }
#endif
    (void)cpu;
}

static void piece_add(void *arg, uint64_t k, uint32_t worker)
{
    const walk *w = arg;
    const floe_stencil_job *job = w->job;
    const uint64_t share = w->grid.ntiles / w->grid.npieces, rest = w->grid.ntiles % w->grid.npieces;
    const uint64_t from = k * share + floe_min64(k, rest), to = from + share + (k < rest);
    floe_stencil_sums_init(&w->pieces[k]);
    for (uint64_t tile = from; tile < to; tile++) {
        const floe_stencil_box box = tile_of(&w->grid, job->pair.shape, tile);
        if (job->lags)
            w->lags(job, &box, &w->scratch[worker], &w->pieces[k]);
        if (job->active && job->derivatives)
            w->points(job, &box, &w->pieces[k]);
        if (job->active && job->sobolev)
            w->sobolev(&w->norms, &box, &w->pieces[k]);
    }
}

static uint64_t workers(const floe_cpu *cpu, const grid *g) { return floe_min64(cpu->threads, g->npieces); }

static void take_all(const floe_cpu *cpu, walk *w, floe_arena *arena)
{
    w->pieces = floe_arena_take(arena, w->grid.npieces, sizeof *w->pieces);
    w->scratch = floe_arena_take(arena, workers(cpu, &w->grid), sizeof *w->scratch);
}

uint64_t floe_stencil_workspace(const floe_cpu *cpu, const floe_pair *pair)
{
    floe_arena plan = floe_arena_plan();
    walk w = {.grid = grid_of(pair->shape)};
    take_all(cpu, &w, &plan);
    return plan.used;
}

/* Neighbours of sums in a tree of pairs, so that rounding does not grow with their number. */
static void pieces_join(floe_stencil_sums *pieces, uint64_t n)
{
    for (uint64_t step = 1; step < n; step *= 2)
        for (uint64_t k = 0; k + step < n; k += 2 * step)
            floe_stencil_sums_join(&pieces[k], &pieces[k + step]);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static void leave_alone(floe_stencil_job *job)
{
    job->alone = true;
    job->pair.decoded = job->pair.original;
    memcpy(job->pair.decoded_stride, job->pair.original_stride, sizeof job->pair.original_stride);
}

static floe_stencil_job job_of(const floe_pair *pair)
{
    floe_stencil_job job = {.pair = *pair, .active = floe_stencil_active(pair->shape), .scale = 1};
    if (!pair->decoded)
        leave_alone(&job);
    return job;
}

static void single_set(floe_stencil_job *job, double scale)
{
    job->single = scale > 0;
    job->scale = scale > 0 ? scale : 1;
}

/* Sobolev norms are the original's; the decoded side only shows which pairs count. */
static floe_stencil_job norms_job_of(const floe_stencil_job *job, const floe_stencil_options *options)
{
    floe_stencil_job norms = *job;
    if (!job->masked)
        leave_alone(&norms);
    single_set(&norms, floe_stencil_sobolev_scale(&job->pair, options));
    return norms;
}

/* Sums of all pieces, in order. */
static floe_status walk_run(const floe_cpu *cpu, const floe_stencil_job *job, void *workspace, size_t workspace_nbytes,
                            walk *w, floe_error *err)
{
    floe_arena arena = floe_arena_of(workspace, workspace_nbytes);
    w->job = job;
    w->grid = grid_of(job->pair.shape);
    take_all(cpu, w, &arena);
    FLOE_CHECK(err, workspace && !arena.overflow, FLOE_ERR_MEMORY, "the stencil pass needs %llu bytes of workspace",
               (unsigned long long)floe_stencil_workspace(cpu, &job->pair));
    functions_of(cpu, w);
    floe_cpu_parallel(cpu, w->grid.npieces, piece_add, w);
    return FLOE_OK;
}

floe_status floe_stencil_assess(const floe_cpu *cpu, const floe_pair *pair, const floe_stencil_options *options,
                                void *workspace, size_t workspace_nbytes, floe_stencil_result *result, floe_error *err)
{
    floe_stencil_job job = job_of(pair);
    FLOE_TRY(floe_stencil_options_check(options, err));
    single_set(&job, floe_stencil_scale(pair, options));
    job.derivatives = options->derivatives;
    job.sobolev = options->sobolev;
    job.masked = !options->all_count;
    job.alone = job.alone || options->of_original;
    job.lags = options->lags;
    job.mean = options->mean;
    walk w = {.norms = norms_job_of(&job, options)};
    FLOE_TRY(walk_run(cpu, &job, workspace, workspace_nbytes, &w, err));
    pieces_join(w.pieces, w.grid.npieces);
    floe_stencil_sums_unscale(&w.pieces[0], job.single, job.scale);
    floe_stencil_finish(&w.pieces[0], pair, options, result);
    return FLOE_OK;
}

/* ---- derivatives as fields --------------------------------------------------------------------------------------- */

typedef struct blank {
    double *field;
    uint64_t nelems;
} blank;

static void blank_part(void *arg, uint64_t k, uint32_t worker)
{
    const blank *b = arg;
    (void)worker;
    for (uint64_t i = k * TILE_NELEMS; i < floe_min64((k + 1) * TILE_NELEMS, b->nelems); i++)
        b->field[i] = NAN;
}

floe_status floe_stencil_write(const floe_cpu *cpu, const floe_pair *pair, floe_stencil_quantity quantity,
                               double *original, double *decoded, void *workspace, size_t workspace_nbytes,
                               floe_error *err)
{
    floe_stencil_job job = job_of(pair);
    uint64_t nelems = 1;
    walk w = {.job = NULL};
    for (int a = 0; a < FLOE_STENCIL_AXES; a++)
        nelems *= pair->shape[a];
    job.derivatives = job.masked = true;
    job.wanted = quantity;
    job.out[0] = original;
    job.out[1] = decoded;
    for (int side = 0; side < 2; side++)
        if (job.out[side])
            floe_cpu_parallel(cpu, floe_ceil_div(nelems, TILE_NELEMS), blank_part, &(blank){job.out[side], nelems});
    return walk_run(cpu, &job, workspace, workspace_nbytes, &w, err);
}
