/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/window/ssim_plan.h"

#include <math.h>

#include "assess/window/ssim_cpu.h"
#include "assess/window/ssim_cuda.h"
#include "assess/window/ssim_tree.h"

enum {
    LAST = FLOE_MAX_RANK - 1,
    TILE_NELEMS = 64 << 10,  /* values worth a task, where slices are small */
    MOST_SCRATCH = 64 << 20, /* bytes of a worker, unless tiles would be very small */
    LEAST_TILE = 16          /* values along an axis that are not too small */
};

/* ---- constants --------------------------------------------------------------------------------------------------- */

/* f64: L * scale is in [1, 2), but for ranges below 2^-1000. */
static floe_ssim_constants constants_of(const floe_ssim_options *o, floe_dtype dtype)
{
    const double half = floe_ssim_half_range(o);
    int exponent;
    frexp(half, &exponent);
    exponent = exponent < -1000 ? -1000 : exponent;
    floe_ssim_constants c = {.scale = dtype == FLOE_F64 ? ldexp(1, -exponent) : 1};
    c.pivot = (o->min / 2 + o->max / 2) * c.scale;
    double n = 1, range = 2 * (half * c.scale);
    for (int a = 0; a < FLOE_MAX_RANK; a++)
        n *= (double)o->window[a];
    c.per_n = o->weights == FLOE_SSIM_WEIGHTS_GAUSSIAN ? 1 : 1 / n;
    c.c1 = 2 * (FLOE_SSIM_K1 * range) * (FLOE_SSIM_K1 * range);
    c.c2 = 4 * (FLOE_SSIM_K2 * range) * (FLOE_SSIM_K2 * range) * (o->sample ? (n - 1) / n : 1);
    return c;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

uint64_t floe_ssim_plan_covered(const floe_ssim_plan *plan, uint32_t axis, uint64_t nwindows)
{
    return (nwindows - 1) * plan->options.step[axis] + plan->options.window[axis];
}

/* Sums over windows of axis a and those below, of one tile and one place along the axes above. */
static uint64_t nsums_of(const floe_ssim_plan *plan, uint32_t axis)
{
    uint64_t n = FLOE_SSIM_SUMS;
    for (uint32_t a = axis; a < FLOE_MAX_RANK; a++)
        n *= plan->tile[a];
    return n;
}

floe_ssim_room floe_ssim_room_take(const floe_ssim_plan *plan, floe_arena *arena)
{
    floe_ssim_room room = {.row = NULL};
    if (plan->is_tree) {
        room.tree = floe_ssim_tree_take(plan, arena);
        return room;
    }
    for (uint32_t a = plan->top; a < LAST; a++) {
        floe_ssim_stage *s = &room.stage[a];
        s->nsums = nsums_of(plan, a + 1);
        s->slots = floe_arena_take(arena, s->nsums, plan->options.window[a] * sizeof(double));
        s->prefix = floe_arena_take(arena, s->nsums, sizeof(double));
    }
    room.row = floe_arena_take(arena, floe_ssim_plan_covered(plan, LAST, plan->tile[LAST]),
                               (FLOE_SSIM_SUMS + 2) * sizeof(double));
    room.sums =
        floe_arena_take(arena, plan->top < LAST ? nsums_of(plan, plan->top + 1) : nsums_of(plan, LAST), sizeof(double));
    return room;
}

static uint64_t room_nbytes(const floe_ssim_plan *plan)
{
    floe_arena arena = floe_arena_plan();
    floe_ssim_room_take(plan, &arena);
    return arena.overflow ? UINT64_MAX : arena.used;
}

/* Values of a tile along the axes from the top axis on: the state of all stages stays near the core, and what neighbours
 * share is little. */
static void tile_below_top(floe_ssim_plan *plan)
{
    static const uint16_t values[FLOE_MAX_RANK][FLOE_MAX_RANK] = {
        {32, 32, 16, 64}, {0, 64, 32, 64}, {0, 0, 128, 512}, {0, 0, 0, 8192}};
    for (uint32_t a = plan->top; a < FLOE_MAX_RANK; a++) {
        uint64_t n = floe_max64(values[plan->top][a], 2 * plan->options.window[a]);
        plan->tile[a] = floe_min64(floe_ceil_div(n, plan->options.step[a]), plan->nwindows[a]);
    }
    while (plan->top < LAST && room_nbytes(plan) > MOST_SCRATCH) {
        uint32_t most = LAST;
        for (uint32_t a = plan->top + 1; a < LAST; a++)
            most = plan->tile[a] > plan->tile[most] ? a : most;
        if (plan->tile[most] * plan->options.step[most] <= LEAST_TILE || plan->tile[most] == 1)
            break;
        plan->tile[most] = (plan->tile[most] + 1) / 2;
    }
}

/* Small slices are taken several at a time. */
static void tile_above_top(floe_ssim_plan *plan)
{
    uint64_t n = 1;
    for (uint32_t a = plan->top; a < FLOE_MAX_RANK; a++)
        n *= floe_ssim_plan_covered(plan, a, plan->tile[a]);
    for (uint32_t a = plan->top; a-- > 0;) {
        plan->tile[a] = floe_max64(1, floe_min64(TILE_NELEMS / n, plan->nwindows[a]));
        n *= plan->tile[a];
    }
}

void floe_ssim_plan_of(const floe_pair *pair, const floe_ssim_options *options, floe_ssim_plan *plan)
{
    *plan = (floe_ssim_plan){.options = *options, .constants = constants_of(options, pair->dtype), .top = LAST};
    for (uint32_t a = FLOE_MAX_RANK; a-- > 0;) {
        plan->nwindows[a] = (pair->shape[a] - options->window[a]) / options->step[a] + 1;
        plan->top = options->window[a] > 1 ? a : plan->top;
    }
    if (floe_ssim_tree_takes(pair, options)) {
        floe_ssim_tree_plan(plan);
    } else {
        tile_below_top(plan);
        tile_above_top(plan);
    }
    for (uint32_t a = 0; a < FLOE_MAX_RANK; a++)
        plan->ntiles[a] = floe_ceil_div(plan->nwindows[a], plan->tile[a]);
}

uint64_t floe_ssim_plan_ntiles(const floe_ssim_plan *plan)
{
    return plan->ntiles[0] * plan->ntiles[1] * plan->ntiles[2] * plan->ntiles[3];
}

floe_ssim_box floe_ssim_plan_box(const floe_ssim_plan *plan, uint64_t tile)
{
    floe_ssim_box box;
    for (uint32_t a = FLOE_MAX_RANK; a-- > 0; tile /= plan->ntiles[a]) {
        box.lo[a] = tile % plan->ntiles[a] * plan->tile[a];
        box.n[a] = floe_min64(plan->tile[a], plan->nwindows[a] - box.lo[a]);
    }
    return box;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Neumaier's sum: the error of each addition is kept. */
floe_ssim_result floe_ssim_join(const floe_ssim_plan *plan, const floe_ssim_part *parts, uint64_t nparts)
{
    double sum = 0, lost = 0, max = -1;
    uint64_t n = 0, all = 1;
    for (uint64_t k = 0; k < nparts; k++) {
        const double loss = parts[k].loss, next = sum + loss;
        lost += fabs(sum) >= fabs(loss) ? (sum - next) + loss : (loss - next) + sum;
        sum = next;
        max = parts[k].max > max ? parts[k].max : max;
        n += parts[k].nwindows;
    }
    for (int a = 0; a < FLOE_MAX_RANK; a++)
        all *= plan->nwindows[a];
    floe_ssim_result r = {.mean_loss = NAN, .max_loss = NAN, .nwindows = n, .nleft_out = all - n};
    if (n > 0) {
        r.mean_loss = (sum + lost) / (double)n;
        r.max_loss = max;
    }
    r.mean = 1 - r.mean_loss;
    r.min = 1 - r.max_loss;
    return r;
}

#ifdef FLOE_HAVE_CUDA_BUILD
floe_ssim_fast_grid floe_ssim_fast_grid_of(const floe_ssim_plan *plan)
{
    floe_ssim_fast_grid g;
    g.nx = floe_ceil_div(plan->nwindows[3], FLOE_SSIM_FAST_X);
    g.ny = floe_ceil_div(plan->nwindows[2], FLOE_SSIM_FAST_ROWS - (floe_ssim_fast_strips(plan->options.window[2]) - 1) *
                                                                      FLOE_SSIM_FAST_STRIP);
    g.nchunk = floe_ceil_div(plan->nwindows[1], floe_ceil_div(plan->nwindows[1], FLOE_SSIM_FAST_Z));
    g.nz = floe_ceil_div(plan->nwindows[1], g.nchunk);
    g.nblocks = g.nx * g.ny * g.nz * plan->nwindows[0];
    return g;
}
#endif
