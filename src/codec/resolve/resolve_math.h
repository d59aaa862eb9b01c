/* SPDX-License-Identifier: BSD-3-Clause */
/* What the range of all values decides, once, for both compilers. */
#ifndef FLOE_CODEC_RESOLVE_RESOLVE_MATH_H
#define FLOE_CODEC_RESOLVE_RESOLVE_MATH_H

#include <string.h>

#include "base/exact_math.h"
#include "codec/codec.h"
#include "container/header_math.h"
#include "field/dtype_math.h"
#include "field/field.h"

/* Whether a mode cannot be resolved without the range. */
FLOE_HD bool floe_resolve_needs_range(floe_bound_mode mode)
{
    return mode == FLOE_BOUND_REL || mode == FLOE_BOUND_PSNR || mode == FLOE_BOUND_RATIO;
}

/* The distance of x > 0 or < 0 from the next double away from 0. */
FLOE_HD double floe_resolve_ulp(double x) { return fabs(floe_f64_of(floe_bits_f64(x) + 1) - x); }

FLOE_HD bool floe_resolve_varies(const floe_range *range) { return range->nfinite && range->max > range->min; }

/* Of integers that a double cannot hold range has the nearest ones: makes it no wider than the true range. */
FLOE_HD void floe_resolve_round_inward(floe_dtype dtype, floe_range *range)
{
    if (dtype != FLOE_I64 || !floe_resolve_varies(range))
        return;
    range->min += range->min < -0x1p53 || range->min > 0x1p53 ? floe_resolve_ulp(range->min) : 0;
    range->max -= range->max < -0x1p53 || range->max > 0x1p53 ? floe_resolve_ulp(range->max) : 0;
    if (range->max < range->min)
        range->max = range->min;
}

/* The absolute bound of any mode but PSNR. 0: none, be lossless; NaN: the mode has none. range is looked at for REL only. */
FLOE_HD double floe_resolve_abs_bound(floe_bound_mode mode, double bound, const floe_range *range)
{
    switch (mode) {
    case FLOE_BOUND_ABS: return bound;
    case FLOE_BOUND_REL:
        return floe_resolve_varies(range) ? floe_exact_bound_of_range(bound, range->min, range->max) : 0;
    case FLOE_BOUND_RATE:
    case FLOE_BOUND_PREC:
    case FLOE_BOUND_PWREL: return floe_f64_of(FLOE_NAN64_BITS);
    default: return 0;
    }
}

/* NaN where both are not known. */
FLOE_HD double floe_resolve_max_abs(double min, double max)
{
    const double a = fabs(min), b = fabs(max);
    return a >= b ? a : b;
}

/* 0 where the range is not known, or has both signs or 0. */
FLOE_HD double floe_resolve_least_abs(double min, double max) { return min > 0 ? min : max < 0 ? -max : 0; }

/* In preset fast, or without a range, codec lorenzo makes no tables within a bound. */
FLOE_HD uint32_t floe_resolve_tables(const floe_header *h)
{
    const bool is_absolute = h->mode == FLOE_BOUND_ABS || h->mode == FLOE_BOUND_REL;
    const double steps = (h->value_max - h->value_min) / 2 / h->abs_bound;
    if (!is_absolute || h->preset == FLOE_PRESET_FAST || !(steps >= 0))
        return 0;
    return steps < UINT16_MAX ? (uint32_t)steps + 1 : (uint32_t)UINT16_MAX + 1;
}

/* What a codec takes of a header; decoding, too, for sizes. */
FLOE_HD floe_codec_params floe_resolve_codec(const floe_header *h)
{
    floe_codec_params p;
    memset(&p, 0, sizeof p); /* it is copied word by word: all bits are defined */
    p.dtype = h->dtype;
    p.codec = h->codec;
    p.preset = h->preset;
    const bool as_requested = h->mode == FLOE_BOUND_PWREL || floe_mode_is_size((int)h->mode);
    const bool exact = floe_dtype_is_integer(h->dtype) ? !(h->abs_bound >= 1) : !(h->abs_bound > 0);
    p.mode = as_requested ? h->mode : h->mode == FLOE_BOUND_LOSSLESS || exact ? FLOE_BOUND_LOSSLESS : FLOE_BOUND_ABS;
    p.bound = as_requested ? h->bound : p.mode == FLOE_BOUND_ABS ? h->abs_bound : 0;
    p.tuner_bound = h->tuner_bound;
    p.mean = h->mode == FLOE_BOUND_PSNR;
    p.tables = floe_resolve_tables(h);
    p.max_abs = floe_resolve_max_abs(h->value_min, h->value_max);
    p.least_abs = floe_resolve_least_abs(h->value_min, h->value_max);
    p.has_fill = h->has_fill;
    p.fill_bits = h->fill_bits;
    return p;
}

#endif
