/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The quick way to SSIM, for what is requested most: sums in the values' own type, each of them a tree whose shape depends on
 * its place in the window only. Sums of 2, 4 and 8 neighbours come each from the ones before, along x, then y, then z; those
 * that the window's binary digits name make it up, the longest first:
 *
 *     s2[i] = v[i] + v[i + 1]     s4[i] = s2[i] + s2[i + 2]     s8[i] = s4[i] + s4[i + 4]     s7[i] = (s4[i] + s2[i + 4]) + v[i + 6]
 *
 * So every window comes to the same bits on whatever it is computed, and what is rounded is small: a sum of 512 is rounded
 * nine times. In a Gaussian window values as far from the middle as one another are added
 * first, then their products with the weights one after another from the outside, by fused operations.
 *
 * Sums of squares lose what is small beside the square of the mean. So values and errors are taken from pivots of their cell,
 * a box of windows that is cut from the field by its shape alone: means of samples.
 */
#ifndef FLOE_ASSESS_SSIM_TREE_H
#define FLOE_ASSESS_SSIM_TREE_H

#include "assess/window/ssim_plan.h"
#include "base/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FLOE_SSIM_TREE_WINDOW = 8, /* at most */
    FLOE_SSIM_TREE_X = 64,     /* windows of a cell; a GPU cuts cells further */
    FLOE_SSIM_TREE_Y = 48,
    FLOE_SSIM_TREE_LEAST_Z =
        16, /* of them that go along z as chunks: so many are worth the planes before the first window */
    FLOE_SSIM_TREE_MOST_Z = 192,
    FLOE_SSIM_TREE_CHUNKS = 66,    /* that keep a GPU busy, cells of one plane times chunks */
    FLOE_SSIM_SLICES_LEAST_Y = 64, /* of windows without an axis z, a cell of which is in one slice */
    FLOE_SSIM_SLICES_MOST_Y = 512,
    FLOE_SSIM_SLICES_CELLS = 1600, /* that keep a GPU busy */
    FLOE_SSIM_SLICES_SLAB = 16     /* rows that a GPU takes at once: so many divide a cell's */
};

/* Whether windows are such that the quick way could take them: the same size, 2 to FLOE_SSIM_TREE_WINDOW, along both of the
 * fastest axes, the same or 1 along the axis before, 1 along the slowest of four; or Gaussian along the fastest two; a step of
 * 1. */
bool floe_ssim_tree_knows(const floe_ssim_options *options);
/* Whether it does take them: where values are known to be within 2^30 ranges, and the range is far from the type's ends. */
bool floe_ssim_tree_takes(const floe_pair *pair, const floe_ssim_options *options);

/* Makes cells the tiles of a plan, and sets its units. */
void floe_ssim_tree_plan(floe_ssim_plan *plan);
/* A CPU's memory for sums of earlier planes of a cell. */
void *floe_ssim_tree_take(const floe_ssim_plan *plan, floe_arena *arena);
/* Options with which the quick way is taken if it takes the windows: to find out what scratch it may need. */
floe_ssim_options floe_ssim_tree_options(const floe_ssim_options *options);

#ifdef __cplusplus
}
#endif
#endif
