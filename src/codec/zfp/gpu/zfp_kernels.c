/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/zfp/gpu/zfp_kernels.h"

#define F32(name, parameters) floe_zfp_##name##_f32,
#define F64(name, parameters) floe_zfp_##name##_f64,

const floe_zfp_kernels *floe_zfp_kernels_of(bool narrow)
{
    static const floe_zfp_kernels f32 = {FLOE_ZFP_KERNELS(F32)}, f64 = {FLOE_ZFP_KERNELS(F64)};
    return narrow ? &f32 : &f64;
}

#endif
