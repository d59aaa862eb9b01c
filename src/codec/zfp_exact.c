/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp_exact.h"

#include <float.h>

#include "base/hd.h"
#include "field/dtype_math.h"

/* Of reals, and of integers, by their width. */
extern const floe_zfp_exact_ops floe_zfp_exact_ops_f32_plain[2], floe_zfp_exact_ops_f64_plain[2];
#ifdef FLOE_HAVE_AVX2_BUILD
extern const floe_zfp_exact_ops floe_zfp_exact_ops_f32_avx2[2], floe_zfp_exact_ops_f64_avx2[2];
#endif

const floe_zfp_exact_ops *floe_zfp_exact_ops_of(floe_dtype dtype, floe_isa isa)
{
    const bool narrow = floe_dtype_is_narrow(dtype);
    const int integer = floe_dtype_is_integer(dtype);
#ifdef FLOE_HAVE_AVX2_BUILD
    if (isa == FLOE_ISA_AVX2)
        return (narrow ? floe_zfp_exact_ops_f32_avx2 : floe_zfp_exact_ops_f64_avx2) + integer;
#else
    (void)isa;
#endif
    return (narrow ? floe_zfp_exact_ops_f32_plain : floe_zfp_exact_ops_f64_plain) + integer;
}

/* Of reals one step below the bound: rounding makes a difference smaller by less than half a step of its own, and not at all
 * where it is subnormal. Differences of integers are rounded only from 2^53 on, and rounding never takes one across a double:
 * a step below is safe there too. */
static double tolerance_of(const floe_codec_params *params)
{
    const double bound = params->bound;
    if (params->mode == FLOE_BOUND_RATE || params->mode == FLOE_BOUND_PREC)
        return DBL_MAX;
    if (floe_dtype_is_integer(params->dtype) && bound <= 0x1p53)
        return bound;
    return bound > 0 ? floe_f64_of(floe_bits_f64(bound) - 1) : 0;
}

floe_zfp_promise floe_zfp_promise_of(const floe_codec_params *params)
{
    return (floe_zfp_promise){tolerance_of(params), params->has_fill, params->fill_bits};
}
