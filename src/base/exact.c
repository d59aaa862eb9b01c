/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/exact.h"

#include "base/exact_math.h"

double floe_range_width(double min, double max) { return floe_exact_range_width(min, max); }

bool floe_within_abs(double x, double y, double bound) { return floe_exact_within_abs(x, y, bound); }

bool floe_within_pwrel(double x, double y, double bound) { return floe_exact_within_pwrel(x, y, bound); }
