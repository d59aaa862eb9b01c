/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/window/ssim.h"

#include <inttypes.h>
#include <math.h>

#include "assess/pair_read.h"
#include "assess/window/ssim_cpu.h"
#include "assess/window/ssim_tree.h"
#include "base/try.h"

/* ---- options ----------------------------------------------------------------------------------------------------- */

floe_ssim_options floe_ssim_options_of(const floe_pair *pair, uint64_t window, uint64_t step, double min, double max)
{
    floe_ssim_options o = {
        .weights = FLOE_SSIM_WEIGHTS_UNIFORM, .min = min, .max = max, .low = -INFINITY, .high = INFINITY};
    const bool is_one_value = floe_pair_nelems(pair) == 1;
    for (uint32_t a = 0; a < FLOE_MAX_RANK; a++) {
        const bool is_callers = a >= FLOE_MAX_RANK - pair->rank, slides = pair->shape[a] > 1 || is_one_value;
        o.window[a] = is_callers && slides ? window : 1;
        o.step[a] = is_callers && slides ? step : 1;
    }
    return o;
}

floe_ssim_options floe_ssim_options_image(floe_ssim_weights weights, double min, double max)
{
    const uint64_t edge = weights == FLOE_SSIM_WEIGHTS_GAUSSIAN ? FLOE_SSIM_TAPS : FLOE_SSIM_IMAGE_WINDOW;
    return (floe_ssim_options){.window = {1, 1, edge, edge},
                               .step = {1, 1, 1, 1},
                               .weights = weights,
                               .sample = true,
                               .min = min,
                               .max = max,
                               .low = -INFINITY,
                               .high = INFINITY};
}

floe_status floe_ssim_check(const floe_pair *pair, const floe_ssim_options *options, floe_error *err)
{
    const bool gaussian = options->weights == FLOE_SSIM_WEIGHTS_GAUSSIAN;
    bool any = false;
    for (uint32_t a = 0; a < FLOE_MAX_RANK; a++) {
        const uint64_t window = options->window[a], extent = pair->shape[a];
        const uint32_t skipped = FLOE_MAX_RANK - pair->rank, axis = a < skipped ? 0 : a - skipped;
        FLOE_CHECK(err, window > 0 && options->step[a] > 0, FLOE_ERR_ARGUMENT,
                   "SSIM: window and step are at least 1, but axis %" PRIu32 " has %" PRIu64 " and %" PRIu64, axis,
                   window, options->step[a]);
        FLOE_CHECK(err, window <= extent, FLOE_ERR_ARGUMENT,
                   "SSIM: a window of %" PRIu64 " is larger than the field, which has %" PRIu64
                   " values along axis %" PRIu32,
                   window, extent, axis);
        FLOE_CHECK(err, !gaussian || window == 1 || window == FLOE_SSIM_TAPS, FLOE_ERR_ARGUMENT,
                   "SSIM: a Gaussian window has %d values, not %" PRIu64, (int)FLOE_SSIM_TAPS, window);
        any |= window > 1;
    }
    FLOE_CHECK(err, any || !options->sample, FLOE_ERR_ARGUMENT,
               "SSIM: sample covariances need windows of more than one value");
    FLOE_CHECK(err, isfinite(options->min) && isfinite(options->max) && options->min <= options->max, FLOE_ERR_ARGUMENT,
               "SSIM: the original has no values to take a range from");
    return FLOE_OK;
}

/* ---- on a CPU ---------------------------------------------------------------------------------------------------- */

typedef struct run {
    floe_ssim_plan plan;
    const floe_pair *pair;
    floe_ssim_tile_fn *tile;
    floe_ssim_part *parts; /* of each tile */
    floe_ssim_room *rooms; /* of each worker */
} run;

static uint64_t nworkers_of(const floe_cpu *cpu, const floe_ssim_plan *plan)
{
    return floe_min64(cpu->threads, floe_ssim_plan_ntiles(plan));
}

static void scratch_take(run *r, const floe_cpu *cpu, floe_arena *arena)
{
    const uint64_t nworkers = nworkers_of(cpu, &r->plan);
    r->parts = floe_arena_take(arena, floe_ssim_plan_ntiles(&r->plan), sizeof *r->parts);
    r->rooms = floe_arena_take(arena, nworkers, sizeof *r->rooms);
    for (uint64_t w = 0; w < nworkers; w++) {
        const floe_ssim_room room = floe_ssim_room_take(&r->plan, arena);
        if (r->rooms)
            r->rooms[w] = room;
    }
}

static uint64_t scratch_of(const floe_cpu *cpu, const floe_pair *pair, const floe_ssim_options *options)
{
    run r = {.pair = pair};
    floe_arena arena = floe_arena_plan();
    floe_ssim_plan_of(pair, options, &r.plan);
    scratch_take(&r, cpu, &arena);
    return arena.overflow ? UINT64_MAX : arena.used;
}

/* For either way: which it is may not be known yet. */
uint64_t floe_ssim_scratch_nbytes(const floe_cpu *cpu, const floe_pair *pair, const floe_ssim_options *options)
{
    floe_ssim_options careful = *options;
    const floe_ssim_options quick = floe_ssim_tree_options(options);
    careful.high = INFINITY;
    return floe_max64(scratch_of(cpu, pair, &careful), scratch_of(cpu, pair, &quick));
}

static floe_ssim_tile_fn *tile_of(const floe_cpu *cpu, floe_dtype dtype, bool is_tree)
{
    const bool is_f32 = dtype == FLOE_F32;
    return is_tree ? FLOE_BY_REAL_AND_ISA(is_f32, cpu->isa, floe_ssim_tree)
                   : FLOE_BY_REAL_AND_ISA(is_f32, cpu->isa, floe_ssim_tile);
}

static void tile_run(void *arg, uint64_t tile, uint32_t worker)
{
    const run *r = arg;
    const floe_ssim_box box = floe_ssim_plan_box(&r->plan, tile);
    r->parts[tile] = r->tile(&r->plan, r->pair, &box, &r->rooms[worker]);
}

floe_status floe_ssim_assess(const floe_cpu *cpu, const floe_pair *pair, const floe_ssim_options *options,
                             void *scratch, floe_ssim_result *result, floe_error *err)
{
    FLOE_TRY(floe_ssim_check(pair, options, err));
    run r = {.pair = pair};
    floe_arena arena = floe_arena_of(scratch, SIZE_MAX);
    floe_ssim_plan_of(pair, options, &r.plan);
    r.tile = tile_of(cpu, pair->dtype, r.plan.is_tree);
    scratch_take(&r, cpu, &arena);
    floe_cpu_parallel(cpu, floe_ssim_plan_ntiles(&r.plan), tile_run, &r);
    *result = floe_ssim_join(&r.plan, r.parts, floe_ssim_plan_ntiles(&r.plan));
    return FLOE_OK;
}
