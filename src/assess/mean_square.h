/* SPDX-License-Identifier: BSD-3-Clause */
/* Where squares are too small for doubles, a sum of them shows nothing. */
#ifndef FLOE_ASSESS_MEAN_SQUARE_H
#define FLOE_ASSESS_MEAN_SQUARE_H

#include <float.h>
#include <math.h>

/* The root of a mean of n squares, one of which is that of `most` at least. NaN where the mean may be less than the least normal
 * number: then squares have lost digits, if not all of themselves, as those of values below 1e-154 do. */
static inline double floe_root_mean_square(double mean_square, double most, double n)
{
    return most > 0 && most * most / n < DBL_MIN ? NAN : sqrt(mean_square);
}

#endif
