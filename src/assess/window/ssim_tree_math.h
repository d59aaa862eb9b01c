/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SSIM of a window from sums that are trees, in the values' own type: the quick way (ssim_tree.h).
 *
 * As in ssim_math.h, but s and d of a pair are taken from pivots that are near by,
 *
 *     s = (x - p) + (y - p)     d = (x - y) - q
 *
 * and all is in units in which L n is 1 to 2, n being the number of values in a window: sums are near 1, and the fourth
 * power of what is 2^30 ranges off is still an f32. The loss is found from n times the means.
 *
 * What stands here comes to the same bits on a CPU and on a GPU.
 */
#ifndef FLOE_ASSESS_SSIM_TREE_MATH_H
#define FLOE_ASSESS_SSIM_TREE_MATH_H

#include <math.h>

#include "base/hd.h"
#include "base/real.h"

enum {
    FLOE_SSIM_TREE_GROUP = 4, /* rows of windows whose losses are added before they become a double */
    FLOE_SSIM_TREE_EDGE = 4,  /* places along each axis of a cell that its pivots are taken from */
    FLOE_SSIM_TREE_SAMPLES = FLOE_SSIM_TREE_EDGE * FLOE_SSIM_TREE_EDGE * FLOE_SSIM_TREE_EDGE
};

/* Of a field, and of a cell of it: in units. */
typedef struct floe_ssim_tree_units {
    floe_real scale;          /* a power of two */
    floe_real n;              /* values in a window */
    floe_real c1, c2;         /* 2 C1 n^2; 4 C2 n^2, divided by n / (n - 1) for sample covariances */
    floe_real p, q;           /* pivots */
    floe_real p_mean, q_mean; /* 2 p n, q n: what the means lack */
} floe_ssim_tree_units;

typedef struct floe_ssim_tree_pair {
    floe_real s, d;
} floe_ssim_tree_pair;

/* A loss is twice over / under. */
typedef struct floe_ssim_tree_loss {
    floe_real over, under;
} floe_ssim_tree_loss;

/* v * scale + c. The product is exact, or far below what could matter: so a GPU, which has one operation for it, rounds as a
 * CPU does. */
FLOE_HD floe_real floe_ssim_tree_scaled(floe_real v, floe_real scale, floe_real c)
{
#if defined(__CUDA_ARCH__)
    return fma(v, scale, c);
#else
    return v * scale + c;
#endif
}

/* Both are NaN or infinite where x or y is. */
FLOE_HD floe_ssim_tree_pair floe_ssim_tree_pair_of(const floe_ssim_tree_units *u, floe_real x, floe_real y)
{
    floe_ssim_tree_pair v;
    v.s = floe_ssim_tree_scaled(x, u->scale, -u->p) + floe_ssim_tree_scaled(y, u->scale, -u->p);
    v.d = floe_ssim_tree_scaled(x - y, u->scale, -u->q);
    return v;
}

/* v + |v|: twice a variance, or 0 for one that rounding has made negative. */
FLOE_HD floe_real floe_ssim_tree_twice(floe_real v) { return v + (floe_real)fabs(v); }

/* From the four sums over a window. NaN where one of them is, or is infinite. */
FLOE_HD floe_ssim_tree_loss floe_ssim_tree_loss_of(const floe_ssim_tree_units *u, floe_real s, floe_real ss,
                                                   floe_real d, floe_real dd)
{
    const floe_real m = s + u->p_mean, error = d + u->q_mean, square = error * error;
    const floe_real vs = floe_ssim_tree_twice(u->n * ss - s * s), vd = floe_ssim_tree_twice(u->n * dd - d * d);
    const floe_real a = m * m + (square + u->c1), b = (vs + vd) + u->c2;
    floe_ssim_tree_loss l;
    l.over = square * (b - (vd + vd)) + vd * a;
    l.under = a * b;
    return l;
}

/* Where sample number k, below FLOE_SSIM_TREE_SAMPLES, of a cell is: the axis'th of the last three digits, of places that
 * cover `extent` values. */
FLOE_HD uint64_t floe_ssim_tree_sample(uint32_t k, uint32_t axis, uint64_t extent)
{
    const uint32_t digit = k >> (2 * (2 - axis)) & (FLOE_SSIM_TREE_EDGE - 1);
    return (extent - 1) * digit / (FLOE_SSIM_TREE_EDGE - 1);
}

/* A sample's x or y, no farther off than the original's values are: what is off must not draw the pivot after it. */
FLOE_HD double floe_ssim_tree_tamed(double v, double min, double max) { return v < min ? min : v > max ? max : v; }

/* The pivots of a cell: half the mean of x + y, and the mean of x - y, over n samples that count. middle: for none. */
FLOE_HD void floe_ssim_tree_pivot(floe_ssim_tree_units *u, double sum, double error, double n, double middle)
{
    u->p = (floe_real)(n > 0 ? sum / (2 * n) * u->scale : middle);
    u->q = (floe_real)(n > 0 ? error / n * u->scale : 0);
    u->p_mean = 2 * u->p * u->n;
    u->q_mean = u->q * u->n;
}

#endif
