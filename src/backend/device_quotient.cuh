/* SPDX-License-Identifier: BSD-3-Clause */
/* Division that is correctly rounded, without the compiler's look at operands that are far from 1. */
#ifndef FLOE_BACKEND_DEVICE_QUOTIENT_CUH
#define FLOE_BACKEND_DEVICE_QUOTIENT_CUH

#include "backend/device.cuh"

/* a / b, 0 or more, where b is 2^-60 to 2^126 and a is 0 or at least 2^-100, so that what a division leaves does not underflow,
 * and a / b no larger than 2^60. NaN comes to NaN. */
FLOE_DEV float floe_quotient_tame(float a, float b)
{
#ifdef FLOE_EMULATED
    return a / b;
#else
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b)); /* to one unit of the last place */
    r = __fmaf_rn(r, __fmaf_rn(-b, r, 1.0f), r);
    float q = a * r;
    q = __fmaf_rn(r, __fmaf_rn(-b, q, a), q);
    return __fmaf_rn(r, __fmaf_rn(-b, q, a), q);
#endif
}

#endif
