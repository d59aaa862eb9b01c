/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp_exact.h"

#include <math.h>

#include "base/hd.h"
#include "field/dtype_math.h"
#include "stage/quantizer/quantizer_math.h"

static floe_uint bits_at(const void *src, int64_t i)
{
    floe_uint b;
    memcpy(&b, (const uint8_t *)src + i * (int64_t)sizeof b, sizeof b);
    return b;
}

static uint64_t clean(const floe_zfp_promise *promise, const void *src, int64_t step, uint64_t n, void *dst,
                      uint64_t *good)
{
    const floe_uint fill = (floe_uint)promise->fill_bits;
    floe_uint last = (floe_uint)*good, *out = dst;
    uint64_t replaced = 0;
    for (uint64_t i = 0; i < n; i++) {
        const floe_uint b = bits_at(src, (int64_t)i * step);
        const bool bad = (b & FLOE_REAL_EXPONENT) == FLOE_REAL_EXPONENT || (promise->has_fill && b == fill);
        last = bad ? last : b;
        replaced += bad;
        out[i] = last;
    }
    *good = last;
    return replaced;
}

static uint64_t misses(const floe_zfp_promise *promise, const void *src, int64_t step, uint64_t n, const void *back,
                       double *worst)
{
    const floe_uint fill = (floe_uint)promise->fill_bits;
    uint64_t missed = 0;
    double most = *worst;
    for (uint64_t i = 0; i < n; i++) {
        const floe_uint x = bits_at(src, (int64_t)i * step), y = bits_at(back, (int64_t)i);
        const double error = fabs((double)FLOE_R(floe_real_of)(x) - (double)FLOE_R(floe_real_of)(y));
        const bool exact =
            (x & FLOE_REAL_EXPONENT) == FLOE_REAL_EXPONENT || x == FLOE_REAL_SIGN || (promise->has_fill && x == fill);
        const bool miss = x != y && (exact || !(error <= promise->tolerance));
        most = !miss && error > most ? error : most; /* of NaN and infinities it is no number */
        missed |= (uint64_t)miss << i;
    }
    *worst = most;
    return missed;
}

/* ---- integers -------------------------------------------------------------------------------------------------------- */

/* Only fill is no value. */
static uint64_t clean_integers(const floe_zfp_promise *promise, const void *src, int64_t step, uint64_t n, void *dst,
                               uint64_t *good)
{
    const floe_uint fill = (floe_uint)promise->fill_bits;
    floe_uint last = (floe_uint)*good, *out = dst;
    uint64_t replaced = 0;
    for (uint64_t i = 0; i < n; i++) {
        const floe_uint b = bits_at(src, (int64_t)i * step);
        const bool bad = promise->has_fill && b == fill;
        last = bad ? last : b;
        replaced += bad;
        out[i] = last;
    }
    *good = last;
    return replaced;
}

static uint64_t misses_integers(const floe_zfp_promise *promise, const void *src, int64_t step, uint64_t n,
                                const void *back, double *worst)
{
    const floe_uint fill = (floe_uint)promise->fill_bits;
    uint64_t missed = 0;
    double most = *worst;
    for (uint64_t i = 0; i < n; i++) {
        const floe_uint x = bits_at(src, (int64_t)i * step), y = bits_at(back, (int64_t)i);
        const double error = (double)floe_integer_distance((floe_int)x, (floe_int)y);
        const bool miss = x != y && ((promise->has_fill && x == fill) || error > promise->tolerance);
        most = !miss && error > most ? error : most;
        missed |= (uint64_t)miss << i;
    }
    *worst = most;
    return missed;
}

const floe_zfp_exact_ops FLOE_V(floe_zfp_exact_ops)[2] = {{clean, misses}, {clean_integers, misses_integers}};
