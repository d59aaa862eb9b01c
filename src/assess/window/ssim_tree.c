/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/window/ssim_tree.h"

#include <math.h>

bool floe_ssim_tree_knows(const floe_ssim_options *options)
{
    const uint64_t *window = options->window;
    for (uint32_t a = 0; a < FLOE_MAX_RANK; a++)
        if (options->step[a] != 1)
            return false;
    if (window[0] != 1 || window[2] != window[3] || window[3] == 1)
        return false;
    return options->weights == FLOE_SSIM_WEIGHTS_GAUSSIAN
               ? window[1] == 1
               : window[3] <= FLOE_SSIM_TREE_WINDOW && (window[1] == 1 || window[1] == window[3]);
}

/* In the type's own numbers a square of a window's sum, times another, must stay finite: see ssim_tree_math.h. */
bool floe_ssim_tree_takes(const floe_pair *pair, const floe_ssim_options *options)
{
    const bool is_f32 = pair->dtype == FLOE_F32;
    const double range = floe_ssim_range(options), low = is_f32 ? 0x1p-90 : 0x1p-300, high = is_f32 ? 0x1p90 : 0x1p300;
    const double far = 0x1p30 * range, middle = options->min / 2 + options->max / 2;
    return floe_ssim_tree_knows(options) && range >= low && range <= high && fabs(middle) <= far / 16 &&
           fabs(options->low - middle) <= far && fabs(options->high - middle) <= far;
}

/* Chunks of an axis of nwindows where a plane has ncells cells. */
static uint64_t chunks_of(uint64_t nwindows, uint64_t ncells)
{
    const uint64_t least = floe_ceil_div(nwindows, FLOE_SSIM_TREE_MOST_Z),
                   most = floe_max64(1, nwindows / FLOE_SSIM_TREE_LEAST_Z);
    return floe_max64(least, floe_min64(most, floe_ceil_div(FLOE_SSIM_TREE_CHUNKS, ncells)));
}

/* The planes of a chunk are a multiple of four, which is what a GPU takes at once. */
static uint64_t chunk_of(uint64_t nwindows, uint64_t window)
{
    const uint64_t nplanes = nwindows + window - 1;
    return floe_ceil_div(nplanes, 4) * 4 - (window - 1);
}

/* With weights sums are means. */
static void units_of(const floe_ssim_options *o, floe_ssim_tree *t)
{
    const double range = floe_ssim_range(o), nvalues = (double)(o->window[1] * o->window[2] * o->window[3]);
    const double n = o->weights == FLOE_SSIM_WEIGHTS_GAUSSIAN ? 1 : nvalues;
    int exponent;
    frexp(range * n, &exponent);
    t->scale = ldexp(1, 1 - exponent);
    const double unit = range * n * t->scale, share = o->sample ? (nvalues - 1) / nvalues : 1;
    t->n = n;
    t->middle = (o->min / 2 + o->max / 2) * t->scale;
    t->c1 = 2 * (FLOE_SSIM_K1 * unit) * (FLOE_SSIM_K1 * unit);
    t->c2 = 2 * (FLOE_SSIM_K2 * unit) * (FLOE_SSIM_K2 * unit) * share;
}

/* Boxes. */
static void boxes_cut(floe_ssim_plan *plan)
{
    const uint64_t *n = plan->nwindows;
    const uint64_t ncells = n[0] * floe_ceil_div(n[2], FLOE_SSIM_TREE_Y) * floe_ceil_div(n[3], FLOE_SSIM_TREE_X);
    plan->tile[2] = floe_min64(FLOE_SSIM_TREE_Y, n[2]);
    plan->tile[1] = floe_min64(n[1], chunk_of(floe_ceil_div(n[1], chunks_of(n[1], ncells)), plan->options.window[1]));
}

/* Equal parts of slices: so many that there are cells enough, if they can be. */
static void slices_cut(floe_ssim_plan *plan)
{
    enum { SLAB = FLOE_SSIM_SLICES_SLAB };
    const uint64_t *n = plan->nwindows, ncolumns = n[0] * n[1] * floe_ceil_div(n[3], FLOE_SSIM_TREE_X);
    const uint64_t least = floe_ceil_div(n[2], FLOE_SSIM_SLICES_MOST_Y),
                   most = floe_ceil_div(n[2], FLOE_SSIM_SLICES_LEAST_Y);
    const uint64_t nparts = floe_max64(least, floe_min64(most, floe_ceil_div(FLOE_SSIM_SLICES_CELLS, ncolumns)));
    plan->tile[2] = floe_min64(n[2], floe_ceil_div(floe_ceil_div(n[2], nparts), SLAB) * SLAB);
    plan->tile[1] = 1;
}

void floe_ssim_tree_plan(floe_ssim_plan *plan)
{
    units_of(&plan->options, &plan->tree);
    plan->is_tree = true;
    plan->tile[0] = 1;
    plan->tile[3] = floe_min64(FLOE_SSIM_TREE_X, plan->nwindows[3]);
    if (plan->options.window[1] > 1)
        boxes_cut(plan);
    else
        slices_cut(plan);
}

void *floe_ssim_tree_take(const floe_ssim_plan *plan, floe_arena *arena)
{
    const bool deep = plan->options.window[1] > 1;
    const uint64_t nsums = deep ? FLOE_SSIM_SUMS * plan->tile[2] * plan->tile[3] : 0;
    return floe_arena_take(arena, nsums, (FLOE_SSIM_TREE_WINDOW - 1) * sizeof(double));
}

floe_ssim_options floe_ssim_tree_options(const floe_ssim_options *options)
{
    floe_ssim_options o = *options;
    o.min = o.max = o.low = o.high = 0;
    return o;
}
