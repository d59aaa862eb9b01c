/* SPDX-License-Identifier: BSD-3-Clause */
/* Of numbers of 16 bits what floe uses: pairs of them, rounded to even. */
#ifndef FLOE_EMULATED_CUDA_FP16_H
#define FLOE_EMULATED_CUDA_FP16_H

#include <math.h>
#include <stdint.h>
#include <string.h>

struct __half2 {
    uint16_t low, high;
};

static inline float floe_float_of_half(uint16_t h)
{
    const int exponent = h >> 10 & 31, mantissa = h & 1023;
    float v = exponent == 31 ? (mantissa ? NAN : INFINITY)
              : exponent     ? ldexpf((float)(1024 + mantissa), exponent - 25)
                             : ldexpf((float)mantissa, -24);
    return h >> 15 ? -v : v;
}

static inline uint16_t floe_half_of_float(float v)
{
    const uint16_t sign = signbit(v) ? 0x8000 : 0;
    const float size = fabsf(v);
    int exponent;
    if (isnan(v))
        return 0x7FFF;
    if (size >= 65520.0f)
        return (uint16_t)(sign | 0x7C00);
    frexpf(size, &exponent);
    if (size == 0 || exponent < -13) /* not normal: units of 2^-24 */
        return (uint16_t)(sign | (int)nearbyintf(ldexpf(size, 24)));
    const int mantissa = (int)nearbyintf(ldexpf(size, 11 - exponent)); /* 1024 to 2048 */
    return (uint16_t)(sign | (((exponent + 13) << 10) + mantissa));
}

static inline __half2 __floats2half2_rn(float low, float high)
{
    return __half2{floe_half_of_float(low), floe_half_of_float(high)};
}
static inline __half2 __float2half2_rn(float v) { return __floats2half2_rn(v, v); }
static inline float __low2float(__half2 v) { return floe_float_of_half(v.low); }
static inline float __high2float(__half2 v) { return floe_float_of_half(v.high); }
/* A sum of two is exact in a float, or so near to it that it rounds as the exact one does. */
static inline __half2 __hadd2(__half2 a, __half2 b)
{
    return __floats2half2_rn(__low2float(a) + __low2float(b), __high2float(a) + __high2float(b));
}
static inline __half2 __hsub2(__half2 a, __half2 b)
{
    return __floats2half2_rn(__low2float(a) - __low2float(b), __high2float(a) - __high2float(b));
}
static inline __half2 __habs2(__half2 v) { return __half2{(uint16_t)(v.low & 0x7FFF), (uint16_t)(v.high & 0x7FFF)}; }

#endif
