/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp/chunk/zfp_chunk.h"

#include "codec/zfp/chunk/zfp_exact_math.h"

static floe_uint bits_at(const void *src, int64_t i)
{
    floe_uint b;
    memcpy(&b, (const uint8_t *)src + i * (int64_t)sizeof b, sizeof b);
    return b;
}

/* `real` is a constant wherever these are inlined. */
static inline uint64_t replace_as(bool real, const floe_zfp_promise *promise, const void *src, int64_t step, uint64_t n,
                                  void *dst, uint64_t *good)
{
    const floe_uint fill = (floe_uint)promise->fill_bits;
    floe_uint last = (floe_uint)*good, *out = dst;
    uint64_t replaced = 0;
    for (uint64_t i = 0; i < n; i++) {
        const floe_uint b = bits_at(src, (int64_t)i * step);
        const bool bad = FLOE_R(floe_zfp_needs_replacing)(real, b, promise->has_fill, fill);
        last = bad ? last : b;
        replaced += bad;
        out[i] = last;
    }
    *good = last;
    return replaced;
}

static inline uint64_t corrections_as(bool real, const floe_zfp_promise *promise, const void *src, int64_t step,
                                      uint64_t n, const void *back, double *worst)
{
    const floe_uint fill = (floe_uint)promise->fill_bits;
    uint64_t corrected = 0;
    double most = *worst;
    for (uint64_t i = 0; i < n; i++) {
        const floe_uint x = bits_at(src, (int64_t)i * step), y = bits_at(back, (int64_t)i);
        const double error = FLOE_R(floe_zfp_error)(real, x, y);
        const bool wrong =
            FLOE_R(floe_zfp_needs_correction)(real, x, y, error, promise->tolerance, promise->has_fill, fill);
        most = !wrong && error > most ? error : most; /* of NaN and infinities it is no number */
        corrected |= (uint64_t)wrong << i;
    }
    *worst = most;
    return corrected;
}

static uint64_t replace(const floe_zfp_promise *promise, const void *src, int64_t step, uint64_t n, void *dst,
                        uint64_t *good)
{
    return promise->real ? replace_as(true, promise, src, step, n, dst, good)
                         : replace_as(false, promise, src, step, n, dst, good);
}

static uint64_t corrections(const floe_zfp_promise *promise, const void *src, int64_t step, uint64_t n,
                            const void *back, double *worst)
{
    return promise->real ? corrections_as(true, promise, src, step, n, back, worst)
                         : corrections_as(false, promise, src, step, n, back, worst);
}

const floe_zfp_exact_ops FLOE_V(floe_zfp_exact_ops)[1] = {{replace, corrections}};
