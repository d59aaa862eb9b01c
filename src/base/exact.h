/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences and products of doubles rounded to the safe side, and comparisons without rounding error. All rest on
 * IEEE arithmetic to nearest and on fma, which is exact wherever it exists. */
#ifndef FLOE_BASE_EXACT_H
#define FLOE_BASE_EXACT_H

#include <stdbool.h>

/* max - min, rounded down; infinite when it overflows. */
double floe_range_width(double min, double max);

/* |x - y| <= bound, exactly. All finite, bound >= 0. */
bool floe_within_abs(double x, double y, double bound);

/* |x - y| <= bound * |x|, exactly. All finite, 0 <= bound < 1. */
bool floe_within_pwrel(double x, double y, double bound);

#endif
