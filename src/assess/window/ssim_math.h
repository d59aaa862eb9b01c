/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SSIM of a window, from four means over it.
 *
 * A pair of values x, y enters as s = (x - p) + (y - p) and d = x - y, where p is the middle of the original's range: data
 * far from zero lose nothing to their offset. Bars are means over the window. With
 *     vs = mean(s^2) - mean(s)^2     vd = mean(d^2) - mean(d)^2     m = mean(x + y)
 * the means mx, my, the variances vx, vy and the covariance cxy of x and y obey
 *     2 (mx^2 + my^2) = m^2 + mean(d)^2     2 mx my = mx^2 + my^2 - mean(d)^2
 *     2 (vx + vy)     = vs + vd             2 cxy   = vx + vy - vd
 * so that both factors of SSIM, (2 mx my + C1) / (mx^2 + my^2 + C1) and (2 cxy + C2) / (vx + vy + C2), are 1 minus a
 * quotient, and the loss 1 - SSIM is a sum of small terms where SSIM is near 1: nothing cancels.
 */
#ifndef FLOE_ASSESS_SSIM_MATH_H
#define FLOE_ASSESS_SSIM_MATH_H

#include <math.h>

#include "base/hd.h"

/* C1 = (K1 L)^2 and C2 = (K2 L)^2 with L the range of the original; as in the first paper on SSIM. */
#define FLOE_SSIM_K1 0.01
#define FLOE_SSIM_K2 0.03

/* Of f64 |s| and |d| are cut here, in units of about L: the fourth power of four times that is a double. f32 in double has
 * no such limits. */
#define FLOE_SSIM_LARGEST 0x1p230

/* A Gaussian of standard deviation 1.5, cut behind 5 values on each side (3.5 deviations); sums to 1. */
enum { FLOE_SSIM_TAPS = 11 };
#define FLOE_SSIM_GAUSSIAN                                                                                           \
    {                                                                                                                \
        0.0010283800844791099, 0.007598758135239184, 0.03600077212843082, 0.10936068950970002, 0.2130055377112537,   \
            0.26601172486179436, 0.2130055377112537, 0.10936068950970002, 0.03600077212843082, 0.007598758135239184, \
            0.0010283800844791099                                                                                    \
    }

/* The sums over a window that its SSIM is made of. */
enum { FLOE_SSIM_S, FLOE_SSIM_SS, FLOE_SSIM_D, FLOE_SSIM_DD, FLOE_SSIM_SUMS };

/* Of one field and one window. For f64 in units in which L is 1/2 to 2, so that its far ends work. */
typedef struct floe_ssim_constants {
    double scale;  /* a power of two; 1 for f32 */
    double pivot;  /* p */
    double per_n;  /* 1 / values in the window; 1 with weights, which sum to 1 */
    double c1, c2; /* 2 C1; 4 C2, divided by n / (n - 1) for sample covariances */
} floe_ssim_constants;

typedef struct floe_ssim_pair {
    double s, d;
} floe_ssim_pair;

/* NaN stays NaN. */
FLOE_HD double floe_ssim_cut(double v)
{
    const double low = v < -FLOE_SSIM_LARGEST ? -FLOE_SSIM_LARGEST : v;
    return low > FLOE_SSIM_LARGEST ? FLOE_SSIM_LARGEST : low;
}

/* s is NaN where x or y is not finite: so are the sums over all windows with the pair inside. is_f64: a constant. */
FLOE_HD floe_ssim_pair floe_ssim_pair_of(const floe_ssim_constants *c, double x, double y, int is_f64)
{
    const double special = (x - x) + (y - y);
    floe_ssim_pair p;
    if (is_f64) {
        x *= c->scale, y *= c->scale;
        p.s = floe_ssim_cut((x - c->pivot) + (y - c->pivot)) + special;
        p.d = floe_ssim_cut(x - y);
    } else {
        p.s = (x - c->pivot) + (y - c->pivot) + special;
        p.d = x - y;
    }
    return p;
}

/* v + |v|: twice a variance, or 0 for one that rounding has made negative. */
FLOE_HD double floe_ssim_twice(double v) { return v + fabs(v); }

/* 1 - SSIM from the four sums over a window; 0 to 2, or NaN. */
FLOE_HD double floe_ssim_loss(const floe_ssim_constants *c, double s, double ss, double d, double dd)
{
    const double mean_s = s * c->per_n, mean_d = d * c->per_n;
    const double square_d = mean_d * mean_d, m = mean_s + 2 * c->pivot;
    const double vs = floe_ssim_twice(ss * c->per_n - mean_s * mean_s);
    const double vd = floe_ssim_twice(dd * c->per_n - square_d);
    const double a = m * m + square_d + c->c1, b = vs + vd + c->c2;
    return 2 * (square_d * (b - 2 * vd) + vd * a) / (a * b);
}

#endif
