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
 * of a magnitude it is that of y minus that of x. First derivatives are added up as steps f+ - f- and halved at the end.
 *
 * Precision. f64 fields are worked on in double. f32 fields are worked on in f32, "single", where their magnitudes allow it:
 * differences of neighbours are as good as the values, which are f32 too (exact where the field is smooth, else rounded by
 * 2^-24 of themselves), and so are their errors. What is summed is first added up in f32 over groups of four points that lie
 * side by side in the row, the first at a multiple of four: (a + b) + (c + d), but squares of one number a point one after
 * another by fused multiply-adds; points that do not count are 0; groups are added up in double. So a sum of squares is off by
 * 2^-22 of itself at most, by far less where there are many groups; the difference of two magnitudes by 2^-22 of these. So are
 * Sobolev norms, by 2^-22 of themselves at most. A CPU and a GPU do the same operations in a group, so they find the same
 * numbers but for the order in which groups are added up.
 */
#ifndef FLOE_ASSESS_STENCIL_MATH_H
#define FLOE_ASSESS_STENCIL_MATH_H

#include <math.h>
#include <stdbool.h>

#include "base/hd.h"

enum {
    FLOE_STENCIL_AXES = 4,
    FLOE_STENCIL_MAX_LAGS = 64,
    FLOE_STENCIL_LEAST_EXTENT = 3, /* of an axis with derivatives */
    FLOE_STENCIL_QUAD = 4          /* points whose squares are added up in single */
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

FLOE_HD double floe_stencil_first(double minus, double plus) { return 0.5 * (plus - minus); }
FLOE_HD float floe_stencil_step_f32(float minus, float plus) { return plus - minus; }
FLOE_HD double floe_stencil_step_f64(double minus, double plus) { return plus - minus; }

/* As a difference of differences, which are exact where the field is smooth, whatever its offset. */
FLOE_HD float floe_stencil_second_f32(float minus, float at, float plus) { return (plus - at) - (at - minus); }
FLOE_HD double floe_stencil_second_f64(double minus, double at, double plus) { return (plus - at) - (at - minus); }

/* Squares of which a length is the root, of Sobolev norms too. In single they begin with FLOE_STENCIL_TINY, so that a GPU need
 * not check whether it can find the root: what has no length is FLOE_STENCIL_SHORT then, for which floe_stencil_sums_unscale
 * allows. */
#define FLOE_STENCIL_TINY  0x1p-100f
#define FLOE_STENCIL_SHORT 0x1p-50f
FLOE_HD float floe_stencil_no_squares_f32(void) { return FLOE_STENCIL_TINY; }
FLOE_HD double floe_stencil_no_squares_f64(void) { return 0; }
FLOE_HD float floe_stencil_square_add_f32(float squares, float v) { return fmaf(v, v, squares); }
FLOE_HD double floe_stencil_square_add_f64(double squares, double v) { return squares + v * v; }
/* Of a group of points. */
FLOE_HD float floe_stencil_squares_f32(float a, float b, float c, float d)
{
    return floe_stencil_square_add_f32(floe_stencil_square_add_f32(floe_stencil_square_add_f32(a * a, b), c), d);
}
FLOE_HD float floe_stencil_length_f32(float squares) { return sqrtf(squares); }
FLOE_HD double floe_stencil_length_f64(double squares) { return sqrt(squares); }

/* Four times d^2 f / da db: the step along a of steps along b, of which these are the ones at minus and plus along a. */
FLOE_HD float floe_stencil_twist_f32(float minus, float plus) { return plus - minus; }
FLOE_HD double floe_stencil_twist_f64(double minus, double plus) { return plus - minus; }

/* What f32 values are multiplied by to be worked on in single, a power of two; 0: they are worked on in double. peak: the
 * largest magnitude of a value of either side, error_peak: of an error. The difference of two magnitudes has what rounding,
 * 2^-24, left of them; so errors must not be much smaller than values. Squares must neither overflow nor vanish. */
FLOE_HD double floe_stencil_single_scale(double peak, double error_peak)
{
    const double low = 0x1p-11, high = 0x1p60;
    if (!(peak >= 0x1p-126 && peak < 0x1p128) || (error_peak > 0 && error_peak < 0x1p-17 * peak))
        return 0;
    if (peak >= low && peak < high)
        return 1;
    const int shift = 59 - ((int)(floe_bits_f64(peak) >> 52) - 1023);
    return floe_f64_of((uint64_t)(1023 + (shift < 127 ? shift : 127)) << 52);
}

/* The same for Sobolev norms: of the original alone, with room for squares of six mixed derivatives, times 16, at four
 * points. */
FLOE_HD double floe_stencil_norm_scale(double peak) { return floe_stencil_single_scale(2 * peak, 0); }

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

/* Of one quantity at some of the points. Squares of the original are kept where metrics request them: of the gradient length
 * and the Laplacian. */
typedef struct floe_stencil_moments {
    double min, max, squares; /* of the original; infinities of the wrong sign for no points */
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
    double values, steps, seconds, twists; /* of Sobolev norms: squares of what the original has in each point */
    double signal_squares;                 /* of signal - mean */
    floe_stencil_lag lag[FLOE_STENCIL_AXES][FLOE_STENCIL_MAX_LAGS];
} floe_stencil_sums;

FLOE_HD void floe_stencil_moments_init(floe_stencil_moments *m)
{
    const double inf = floe_f64_of(0x7ff0000000000000u);
    m->min = inf;
    m->max = -inf;
    m->squares = m->max_error = m->error_squares = 0;
}

FLOE_HD void floe_stencil_moments_join(floe_stencil_moments *into, const floe_stencil_moments *part)
{
    into->min = part->min < into->min ? part->min : into->min;
    into->max = part->max > into->max ? part->max : into->max;
    into->squares += part->squares;
    into->max_error = part->max_error > into->max_error ? part->max_error : into->max_error;
    into->error_squares += part->error_squares;
}

FLOE_HD void floe_stencil_sums_init(floe_stencil_sums *s)
{
    memset(s, 0, sizeof *s);
    for (int q = 0; q < FLOE_STENCIL_QUANTITIES; q++)
        floe_stencil_moments_init(&s->of[q]);
}

/* Whether a quantity is made of first derivatives that were not halved. */
FLOE_HD bool floe_stencil_in_steps(int q)
{
    return q < FLOE_STENCIL_SECOND || q == FLOE_STENCIL_FIRST_LENGTH || q == FLOE_STENCIL_DIVERGENCE;
}

/* Derivatives in steps, of values that were multiplied by a scale, become what they are; in single the shortest lengths 0. */
FLOE_HD void floe_stencil_sums_unscale(floe_stencil_sums *s, bool single, double scale)
{
    for (int q = 0; q < FLOE_STENCIL_QUANTITIES; q++) {
        floe_stencil_moments *m = &s->of[q];
        const bool is_length = q == FLOE_STENCIL_FIRST_LENGTH || q == FLOE_STENCIL_SECOND_LENGTH;
        const double unit = (floe_stencil_in_steps(q) ? 0.5 : 1) / scale;
        const bool has_least = single && is_length && m->min <= FLOE_STENCIL_SHORT;
        const bool has_none = single && is_length && m->max <= FLOE_STENCIL_SHORT;
        m->min = has_least ? 0 : m->min * unit;
        m->max = has_none ? 0 : m->max * unit;
        m->squares = has_none ? 0 : m->squares * unit * unit;
        m->max_error *= unit;
        m->error_squares *= unit * unit;
    }
}

/* The squares of Sobolev norms times the number of points, of values that were multiplied by a scale; in single no steps at all
 * have squares too, with which they began. */
FLOE_HD void floe_stencil_norms_of(const floe_stencil_sums *s, bool single, double scale, double norms[3])
{
    const double none = single ? (double)s->nsobolev * (double)FLOE_STENCIL_TINY : 0;
    const double steps = s->steps > none ? s->steps : 0, seconds = s->seconds > none ? s->seconds : 0;
    norms[0] = s->values / scale / scale;
    norms[1] = norms[0] + 0.25 * steps / scale / scale;
    norms[2] = norms[1] + (seconds + 0.0625 * s->twists) / scale / scale;
}

FLOE_HD void floe_stencil_sums_join(floe_stencil_sums *into, const floe_stencil_sums *part)
{
    into->npoints += part->npoints;
    into->nskipped += part->nskipped;
    into->nsobolev += part->nsobolev;
    into->nsignal += part->nsignal;
    into->signal_squares += part->signal_squares;
    into->values += part->values;
    into->steps += part->steps;
    into->seconds += part->seconds;
    into->twists += part->twists;
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
