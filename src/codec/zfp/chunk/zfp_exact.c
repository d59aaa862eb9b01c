/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp/chunk/zfp_exact.h"

#include "codec/zfp/chunk/zfp_chunk_math.h"

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

floe_zfp_promise floe_zfp_promise_of(const floe_codec_params *params)
{
    return (floe_zfp_promise){floe_zfp_tolerance(params), params->has_fill, params->fill_bits};
}
