/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of fill detection, once, for both compilers; what they mean is in field.h. And the same rules for a scan that
 * has seen enough to need no other one. */
#ifndef FLOE_FIELD_FILL_MATH_H
#define FLOE_FIELD_FILL_MATH_H

#include <math.h>

#include "base/hd.h"
#include "field/dtype_math.h"
#include "field/field.h"

/* Distances are taken of 1/32 of the values, so that none overflows. */
#define FLOE_FILL_SCALE 0.03125

FLOE_HD uint64_t floe_fill_bits_of(floe_dtype dtype, double value)
{
    if (floe_dtype_is_integer(dtype))
        return floe_integer_bits(dtype, value);
    return dtype == FLOE_F32 ? floe_bits_f32((float)value) : floe_bits_f64(value);
}

FLOE_HD double floe_fill_value_of(floe_dtype dtype, uint64_t bits)
{
    if (floe_dtype_is_integer(dtype))
        return (double)floe_integer_of(dtype, bits);
    return dtype == FLOE_F32 ? (double)floe_f32_of((uint32_t)bits) : floe_f64_of(bits);
}

FLOE_HD bool floe_fill_is_conventional(double v)
{
    return v == -99.0 || v == -999.0 || v == 9999.0 || v == -9999.0 || v == 99999.0 || v == -99999.0 || v == 32767.0 ||
           v == -32767.0 || v == -32768.0 || v == -2147483648.0 || fabs(v) >= 1e20;
}

/* Does v stand off from all of lo..hi by more than `times` their range? */
FLOE_HD bool floe_fill_stands_off(double v, double lo, double hi, double times)
{
    double gap = v < lo ? lo * FLOE_FILL_SCALE - v * FLOE_FILL_SCALE : v * FLOE_FILL_SCALE - hi * FLOE_FILL_SCALE;
    return gap > times * (hi * FLOE_FILL_SCALE - lo * FLOE_FILL_SCALE);
}

/* Whether min may be fill as far as the values low (above min) and max show: if all values but min lay where fill needs
 * them, low would too. The same for max and high (below max). */
FLOE_HD bool floe_fill_min_possible(double min, double low, double max)
{
    return !(low < max) || floe_fill_stands_off(min, low, max, 10);
}
FLOE_HD bool floe_fill_max_possible(double min, double high, double max)
{
    return !(high > min) || floe_fill_stands_off(max, min, high, 10);
}

/* Returns how many candidates there are. */
FLOE_HD uint32_t floe_fill_candidates(const floe_range *all, floe_dtype dtype, uint64_t candidate_bits[2])
{
    uint32_t n = 0;
    if (all->nfinite < 3 || !(all->min < all->max))
        return 0;
    const bool low = floe_fill_min_possible(all->min, all->low, all->max);
    const bool high = floe_fill_max_possible(all->min, all->high, all->max);
    const int first = fabs(all->max) > fabs(all->min); /* the larger magnitude first */
    for (int k = 0; k < 2; k++) {
        const bool is_max = k ^ first;
        if (is_max ? high : low)
            candidate_bits[n++] = floe_dtype_is_integer(dtype)
                                      ? floe_integer_pattern(dtype, is_max ? all->most : all->least)
                                      : floe_fill_bits_of(dtype, is_max ? all->max : all->min);
    }
    return n;
}

/* rest: with the candidate as fill. */
FLOE_HD bool floe_fill_holds(const floe_range *rest, double candidate)
{
    if (rest->nfill < 2 || rest->nfinite < 1 || (candidate >= rest->min && candidate <= rest->max))
        return false;
    if (floe_fill_is_conventional(candidate))
        return floe_fill_stands_off(candidate, rest->min, rest->max, 10);
    return rest->min < rest->max && rest->nfill >= (rest->nfill + rest->nfinite) / 100 &&
           floe_fill_stands_off(candidate, rest->min, rest->max, 1000);
}

/*
 * What one scan without fill has to know for certainty: all.low is the least value above all.min, and nmin gives how many
 * have the bits of all.min (as floe_value_bits gives them), of integers those of all.least. Where any value for which floe_fill_min_possible is false may
 * stand for all.low, and does, nmin need not be right. The same for all.high and nmax.
 */
typedef struct floe_extremes {
    floe_range all;
    uint64_t nmin, nmax;
} floe_extremes;

/* Whether there is a fill value, and what; *rest is then the range of the other values, as a scan with it would find. */
FLOE_HD bool floe_fill_decide(const floe_extremes *e, floe_dtype dtype, uint64_t *fill_bits, floe_range *rest)
{
    uint64_t candidates[2];
    const uint32_t n = floe_fill_candidates(&e->all, dtype, candidates);
    for (uint32_t k = 0; k < n; k++) {
        const double candidate = floe_fill_value_of(dtype, candidates[k]);
        const bool is_max = candidate == e->all.max;
        floe_range r = e->all;
        r.min = is_max ? r.min : r.low;
        r.max = is_max ? r.high : r.max;
        r.nfill = is_max ? e->nmax : e->nmin;
        r.nfinite -= r.nfill;
        if (!floe_fill_holds(&r, candidate))
            continue;
        *fill_bits = candidates[k];
        *rest = r;
        return true;
    }
    return false;
}

#endif
