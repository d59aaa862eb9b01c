/* SPDX-License-Identifier: BSD-3-Clause */
/* How a field of windows is cut into tiles, and how what they found is joined. Depends on shapes and options only. */
#ifndef FLOE_ASSESS_SSIM_PLAN_H
#define FLOE_ASSESS_SSIM_PLAN_H

#include "assess/window/ssim.h"
#include "assess/window/ssim_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Windows lo to lo + n - 1 of each axis. */
typedef struct floe_ssim_box {
    uint64_t lo[FLOE_MAX_RANK], n[FLOE_MAX_RANK];
} floe_ssim_box;

/* Of the quick way, ssim_tree.h. In units in which the range times n is 1 to 2. */
typedef struct floe_ssim_tree {
    double scale, n; /* a power of two; values in a window */
    double middle;   /* of the range, in units */
    double c1, c2;   /* as in ssim_tree_math.h */
} floe_ssim_tree;

typedef struct floe_ssim_plan {
    floe_ssim_options options;
    floe_ssim_constants constants;
    bool is_tree; /* the quick way is taken; tiles are its cells */
    floe_ssim_tree tree;
    uint64_t nwindows[FLOE_MAX_RANK];
    uint64_t tile[FLOE_MAX_RANK]; /* windows of a tile */
    uint64_t ntiles[FLOE_MAX_RANK];
    uint32_t top; /* the slowest axis with a window; 3 if there is none */
} floe_ssim_plan;

/* Of some windows. */
typedef struct floe_ssim_part {
    double loss, max; /* sum and greatest; max -1: of none */
    uint64_t nwindows;
} floe_ssim_part;

/* L, halved: that does not overflow where L does. */
static inline double floe_ssim_half_range(const floe_ssim_options *o)
{
    const double half = o->max / 2 - o->min / 2;
    return half != 0 ? half : o->max != 0 ? fabs(o->max) / 2 : 0.5;
}
static inline double floe_ssim_range(const floe_ssim_options *o) { return 2 * floe_ssim_half_range(o); }

void floe_ssim_plan_of(const floe_pair *pair, const floe_ssim_options *options, floe_ssim_plan *plan);
uint64_t floe_ssim_plan_ntiles(const floe_ssim_plan *plan);
floe_ssim_box floe_ssim_plan_box(const floe_ssim_plan *plan, uint64_t tile);
/* Values along an axis that the windows of a tile cover. */
uint64_t floe_ssim_plan_covered(const floe_ssim_plan *plan, uint32_t axis, uint64_t nwindows);
/* In order, with a compensated sum. */
floe_ssim_result floe_ssim_join(const floe_ssim_plan *plan, const floe_ssim_part *parts, uint64_t nparts);

#ifdef __cplusplus
}
#endif
#endif
