/* SPDX-License-Identifier: BSD-3-Clause */
/* A value before and after zfp, once, for both compilers: which are replaced, and which are corrected. */
#ifndef FLOE_CODEC_ZFP_CHUNK_ZFP_EXACT_MATH_H
#define FLOE_CODEC_ZFP_CHUNK_ZFP_EXACT_MATH_H

#include <math.h>

#include "field/dtype_math.h"
#include "stage/quantizer/quantizer_math.h"

/* It would make its whole block inexact: not finite, or fill; of integers only fill is no value. */
FLOE_HD bool FLOE_R(floe_zfp_needs_replacing)(bool real, floe_uint x, bool has_fill, floe_uint fill)
{
    return (real && (x & FLOE_REAL_EXPONENT) == FLOE_REAL_EXPONENT) || (has_fill && x == fill);
}

/* Rounded; NaN or infinite where one of both is not finite. */
FLOE_HD double FLOE_R(floe_zfp_error)(bool real, floe_uint x, floe_uint y)
{
    return real ? fabs((double)FLOE_R(floe_real_of)(x) - (double)FLOE_R(floe_real_of)(y))
                : (double)floe_integer_distance((floe_int)x, (floe_int)y);
}

/* y did not come back as it must. */
FLOE_HD bool FLOE_R(floe_zfp_needs_correction)(bool real, floe_uint x, floe_uint y, double error, double tolerance,
                                               bool has_fill, floe_uint fill)
{
    const bool exact = FLOE_R(floe_zfp_needs_replacing)(real, x, has_fill, fill) || (real && x == FLOE_REAL_SIGN);
    return x != y && (exact || !(error <= tolerance));
}

#endif
