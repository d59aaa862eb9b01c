/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SSIM of a window from sums in the values' own type: the quick way (ssim_tree.h).
 *
 * As in ssim_math.h, but s and d of a pair are taken from pivots that are near by,
 *
 *     s = (x - p) + (y - p)     d = (x - y) - q
 *
 * and all is in units in which L n is 1 to 2, n being the number of values in a window: sums are near 1, and the fourth
 * power of what is 2^30 ranges off is still an f32. The loss is found from n times the means; with weights n is 1.
 *
 * What stands here comes to the same bits on a CPU and on a GPU.
 */
#ifndef FLOE_ASSESS_SSIM_TREE_MATH_H
#define FLOE_ASSESS_SSIM_TREE_MATH_H

#include <math.h>

#include "assess/window/ssim_math.h"
#include "base/hd.h"
#include "base/real.h"

enum {
    FLOE_SSIM_TREE_GROUP = 4, /* rows of windows whose losses are added before they become a double */
    FLOE_SSIM_TREE_EDGE = 4,  /* places along each axis of a cell that its pivots are taken from */
    FLOE_SSIM_TREE_SAMPLES = FLOE_SSIM_TREE_EDGE * FLOE_SSIM_TREE_EDGE * FLOE_SSIM_TREE_EDGE
};

/* FLOE_SSIM_GAUSSIAN in the type's own numbers, up to the one in the middle. All together sum to 1 exactly, or squares of means
 * would not meet means of squares: for that those of f32 have the outermost changed by 7e-7 of itself. */
enum { FLOE_SSIM_TREE_SIDE = FLOE_SSIM_TAPS / 2 };
#if FLOE_REAL_BITS == 32
#define FLOE_SSIM_TREE_GAUSSIAN                                                                         \
    {                                                                                                   \
        0x1.0d9578p-10f, 0x1.f1fe02p-8f, 0x1.26eb18p-5f, 0x1.bff0fep-4f, 0x1.b43c40p-3f, 0x1.106560p-2f \
    }
#else
#define FLOE_SSIM_TREE_GAUSSIAN                                                                                    \
    {                                                                                                              \
        0.0010283800844791099, 0.007598758135239184, 0.03600077212843082, 0.10936068950970002, 0.2130055377112537, \
            0.26601172486179436                                                                                    \
    }
#endif

/*
 * Where both the square of the mean of errors and their variance, times n^2, are no more than this in all windows, no value of
 * the decoded field is 2^30 ranges off: n dd is then below 2^32, so that dd is below 2^32 / n and an error below 2^16 sqrt(n)
 * ranges; with weights, the least of which is above 2^-20, below 2^26 ranges.
 */
#define FLOE_SSIM_TREE_NEAR 0x1p30f

/* Of a field, and of a cell of it: in units. */
typedef struct floe_ssim_tree_units {
    floe_real scale;          /* a power of two */
    floe_real n;              /* values in a window; 1 with weights, which sum to 1 */
    floe_real c1, c2;         /* 2 C1 n^2; 2 C2 n^2, divided by N / (N - 1) for sample covariances of N values */
    floe_real p, q;           /* pivots */
    floe_real p_mean, q_mean; /* 2 p n, q n: what the means lack */
} floe_ssim_tree_units;

typedef struct floe_ssim_tree_pair {
    floe_real s, d;
} floe_ssim_tree_pair;

/* A loss is twice over / under. Of errors: n^2 times the square of their mean, and their variance. */
typedef struct floe_ssim_tree_loss {
    floe_real over, under;
    floe_real square, variance;
} floe_ssim_tree_loss;

/* a b + c, rounded once: written out, so that it is the same everywhere. */
FLOE_HD floe_real floe_ssim_tree_fma(floe_real a, floe_real b, floe_real c)
{
#if FLOE_REAL_BITS == 32
    return fmaf(a, b, c);
#else
    return fma(a, b, c);
#endif
}

/* v * scale + c. The product is exact, or far below what could matter: so it does not matter how it is rounded. */
FLOE_HD floe_real floe_ssim_tree_scaled(floe_real v, floe_real scale, floe_real c)
{
#if defined(__CUDA_ARCH__)
    return fma(v, scale, c);
#else
    return v * scale + c;
#endif
}

/* s is 2 (x - p) - (x - y): an operation less than adding the two sides. Both are NaN or infinite where x or y is. */
FLOE_HD floe_ssim_tree_pair floe_ssim_tree_pair_of(const floe_ssim_tree_units *u, floe_real x, floe_real y)
{
    const floe_real difference = x - y;
    floe_ssim_tree_pair v;
    v.s = floe_ssim_tree_scaled(difference, -u->scale, floe_ssim_tree_scaled(x, 2 * u->scale, -2 * u->p));
    v.d = floe_ssim_tree_scaled(difference, u->scale, -u->q);
    return v;
}

/* n^2 times a variance, or 0 for one that rounding has made negative. */
FLOE_HD floe_real floe_ssim_tree_variance(floe_real n, floe_real sum, floe_real squares)
{
    const floe_real v = floe_ssim_tree_fma(n, squares, -(sum * sum));
    return v > 0 ? v : 0;
}

/* From the four sums over a window. NaN where s is, or s or d is infinite. */
FLOE_HD floe_ssim_tree_loss floe_ssim_tree_loss_of(const floe_ssim_tree_units *u, floe_real s, floe_real ss,
                                                   floe_real d, floe_real dd)
{
    const floe_real m = s + u->p_mean, error = d + u->q_mean, square = error * error;
    const floe_real vs = floe_ssim_tree_variance(u->n, s, ss) + u->c2, vd = floe_ssim_tree_variance(u->n, d, dd);
    const floe_real a = floe_ssim_tree_fma(m, m, square + u->c1);
    floe_ssim_tree_loss l;
    l.over = floe_ssim_tree_fma(vd, a, square * (vs - vd));
    l.under = a * (vs + vd);
    l.square = square, l.variance = vd;
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
