/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which modes of a spectrum belong together, once, for both compilers.
 *
 * Mode m of an axis of n elements has m / n cycles an element, m from -n/2 to n/2. Of a mode of the field |k| is the length of
 * the vector of these; one step from a value to its neighbour is 1 along every axis. Shell s holds the modes with
 * s - 1/2 <= |k| N < s + 1/2, where N is the length of the longest axis, at most 2 FLOE_SPECTRUM_MAX_SHELL. Shells go to N / 2:
 * what is shorter than two elements, in the corners of the box of modes, belongs to none.
 */
#ifndef FLOE_ASSESS_SPECTRUM_MATH_H
#define FLOE_ASSESS_SPECTRUM_MATH_H

#include <math.h>

#include "base/hd.h"

enum { FLOE_SPECTRUM_AXES = 4, FLOE_SPECTRUM_MAX_SHELL = 4096 };

/* N. */
FLOE_HD uint64_t floe_spectrum_scale(const uint64_t *shape)
{
    uint64_t n = 1;
    for (int a = 0; a < FLOE_SPECTRUM_AXES; a++)
        n = floe_max64(n, shape[a]);
    return floe_min64(n, 2 * FLOE_SPECTRUM_MAX_SHELL);
}

FLOE_HD uint32_t floe_spectrum_shells(const uint64_t *shape) { return (uint32_t)(floe_spectrum_scale(shape) / 2) + 1; }

/* Cycles an element of coefficient i of n, times N. */
FLOE_HD double floe_spectrum_wave(uint64_t i, uint64_t n, uint64_t scale)
{
    const uint64_t m = floe_min64(i, n - i);
    return (double)m * (double)scale / (double)n;
}

/* The shell of a mode from the sum of the squares of its waves; it may be beyond the last. */
FLOE_HD uint64_t floe_spectrum_shell(double squares) { return (uint64_t)(sqrt(squares) + 0.5); }

/* Coefficients of a row are there for i up to n / 2; the others mirror them. */
FLOE_HD uint32_t floe_spectrum_weight(uint64_t i, uint64_t n) { return i == 0 || 2 * i == n ? 1 : 2; }

#endif
