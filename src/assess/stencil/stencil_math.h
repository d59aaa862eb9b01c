/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the stencil pass finds at a point and what it sums up, once, for both compilers.
 *
 * f is a value, f- and f+ are its neighbours along an axis. At each point, for the original x and the decoded y:
 *     first derivative along an axis     (f+ - f-) / 2
 *     second derivative along an axis    f+ - 2 f + f-
 *     magnitude of the first             sum over the axes of |f+ - f-|: Eq. 1 of the cuZ-Checker paper, without the half
 *     gradient length                    sqrt(sum over the axes of ((f+ - f-) / 2)^2): the paper's Algorithm 2
 *     the same two of the second         sum of |f+ - 2 f + f-|, and sqrt(sum of (f+ - 2 f + f-)^2)
 *     divergence, Laplacian              sum over the axes of the first, of the second derivatives
 * For one axis the paper's two magnitudes differ by the factor 2; for more, by up to 2 sqrt(rank).
 *
 * The difference of a quantity that is linear in f is worked out from the errors y - x themselves, so it has all their digits;
 * of a magnitude it is that of y minus that of x.
 */
#ifndef FLOE_ASSESS_STENCIL_MATH_H
#define FLOE_ASSESS_STENCIL_MATH_H

#include "base/hd.h"

enum {
    FLOE_STENCIL_AXES = 4,
    FLOE_STENCIL_MAX_LAGS = 64,
    FLOE_STENCIL_LEAST_EXTENT = 3 /* of an axis with derivatives */
};

typedef enum floe_stencil_quantity {
    FLOE_STENCIL_FIRST = 0, /* + axis of the pair, 0 to 3 */
    FLOE_STENCIL_SECOND = FLOE_STENCIL_FIRST + FLOE_STENCIL_AXES,
    FLOE_STENCIL_FIRST_SUM = FLOE_STENCIL_SECOND + FLOE_STENCIL_AXES, /* Eq. 1 */
    FLOE_STENCIL_FIRST_LENGTH,                                        /* Algorithm 2: the gradient length */
    FLOE_STENCIL_SECOND_SUM,
    FLOE_STENCIL_SECOND_LENGTH,
    FLOE_STENCIL_DIVERGENCE,
    FLOE_STENCIL_LAPLACIAN,
    FLOE_STENCIL_QUANTITIES
} floe_stencil_quantity;

/* ---- formulas ------------------------------------------------------------------------------------------------------ */

/* Halves are exact, so a step may be halved when it has been added up. */
FLOE_HD double floe_stencil_step(double minus, double plus) { return plus - minus; }
FLOE_HD double floe_stencil_first(double minus, double plus) { return 0.5 * floe_stencil_step(minus, plus); }

/* As a difference of differences, which are exact where the field is smooth, whatever its offset. */
FLOE_HD double floe_stencil_second(double minus, double at, double plus) { return (plus - at) - (at - minus); }

/* d^2 f / da db from the corners: minus and plus along a, then b. */
FLOE_HD double floe_stencil_mixed(double mm, double mp, double pm, double pp) { return 0.25 * ((pp - pm) - (mp - mm)); }

/* Axes of a pair's shape that have derivatives: bit a for axis a. */
FLOE_HD uint32_t floe_stencil_active(const uint64_t *shape)
{
    uint32_t active = 0;
    for (uint32_t a = 0; a < FLOE_STENCIL_AXES; a++)
        active |= (uint32_t)(shape[a] >= FLOE_STENCIL_LEAST_EXTENT) << a;
    return active;
}

/* The longest lag t for which a point has p + t along every axis but `skip`; axes of one element do not exist. */
FLOE_HD uint64_t floe_stencil_reach(const uint64_t *shape, const uint64_t *at, uint32_t skip)
{
    uint64_t reach = UINT64_MAX;
    for (uint32_t a = 0; a < FLOE_STENCIL_AXES; a++)
        if (a != skip && shape[a] > 1)
            reach = floe_min64(reach, shape[a] - 1 - at[a]);
    return reach;
}

/* ---- sums ---------------------------------------------------------------------------------------------------------- */

/* Of one quantity at some of the points. */
typedef struct floe_stencil_moments {
    double min[2], max[2], squares[2]; /* of original and decoded; infinities of the wrong sign for no points */
    double max_error, error_squares;
} floe_stencil_moments;

/* Products of the signal with itself at one lag along one axis. Box: where the first point has its partner along every
 * axis; rest: elsewhere. */
typedef struct floe_stencil_lag {
    double box, rest;
    uint64_t nbox, nrest;
} floe_stencil_lag;

typedef struct floe_stencil_sums {
    uint64_t npoints, nskipped, nsobolev, nsignal;
    floe_stencil_moments of[FLOE_STENCIL_QUANTITIES];
    double sobolev[3];     /* squares: values, and what s1 and s2 add */
    double signal_squares; /* of signal - mean */
    floe_stencil_lag lag[FLOE_STENCIL_AXES][FLOE_STENCIL_MAX_LAGS];
} floe_stencil_sums;

FLOE_HD void floe_stencil_moments_init(floe_stencil_moments *m)
{
    const double inf = floe_f64_of(0x7ff0000000000000u);
    for (int side = 0; side < 2; side++) {
        m->min[side] = inf;
        m->max[side] = -inf;
        m->squares[side] = 0;
    }
    m->max_error = m->error_squares = 0;
}

FLOE_HD void floe_stencil_moments_join(floe_stencil_moments *into, const floe_stencil_moments *part)
{
    for (int side = 0; side < 2; side++) {
        into->min[side] = part->min[side] < into->min[side] ? part->min[side] : into->min[side];
        into->max[side] = part->max[side] > into->max[side] ? part->max[side] : into->max[side];
        into->squares[side] += part->squares[side];
    }
    into->max_error = part->max_error > into->max_error ? part->max_error : into->max_error;
    into->error_squares += part->error_squares;
}

FLOE_HD void floe_stencil_sums_init(floe_stencil_sums *s)
{
    memset(s, 0, sizeof *s);
    for (int q = 0; q < FLOE_STENCIL_QUANTITIES; q++)
        floe_stencil_moments_init(&s->of[q]);
}

FLOE_HD void floe_stencil_sums_join(floe_stencil_sums *into, const floe_stencil_sums *part)
{
    into->npoints += part->npoints;
    into->nskipped += part->nskipped;
    into->nsobolev += part->nsobolev;
    into->nsignal += part->nsignal;
    into->signal_squares += part->signal_squares;
    for (int k = 0; k < 3; k++)
        into->sobolev[k] += part->sobolev[k];
    for (int q = 0; q < FLOE_STENCIL_QUANTITIES; q++)
        floe_stencil_moments_join(&into->of[q], &part->of[q]);
    for (int a = 0; a < FLOE_STENCIL_AXES; a++)
        for (int t = 0; t < FLOE_STENCIL_MAX_LAGS; t++) {
            into->lag[a][t].box += part->lag[a][t].box;
            into->lag[a][t].rest += part->lag[a][t].rest;
            into->lag[a][t].nbox += part->lag[a][t].nbox;
            into->lag[a][t].nrest += part->lag[a][t].nrest;
        }
}

#endif
