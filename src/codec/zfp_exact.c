/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp_exact.h"

#include "base/hd.h"

extern const floe_zfp_exact_ops floe_zfp_exact_ops_f32_plain, floe_zfp_exact_ops_f64_plain;
#ifdef FLOE_HAVE_AVX2_BUILD
extern const floe_zfp_exact_ops floe_zfp_exact_ops_f32_avx2, floe_zfp_exact_ops_f64_avx2;
#endif

const floe_zfp_exact_ops *floe_zfp_exact_ops_of(floe_dtype dtype, floe_isa isa)
{
#ifdef FLOE_HAVE_AVX2_BUILD
    if (isa == FLOE_ISA_AVX2)
        return dtype == FLOE_F32 ? &floe_zfp_exact_ops_f32_avx2 : &floe_zfp_exact_ops_f64_avx2;
#else
    (void)isa;
#endif
    return dtype == FLOE_F32 ? &floe_zfp_exact_ops_f32_plain : &floe_zfp_exact_ops_f64_plain;
}

/* One step below the bound: rounding makes a difference smaller by less than half a step of its own, and not at all where it
 * is subnormal. */
double floe_zfp_tolerance_of(double bound) { return bound > 0 ? floe_f64_of(floe_bits_f64(bound) - 1) : 0; }
