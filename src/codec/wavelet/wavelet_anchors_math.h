/* SPDX-License-Identifier: BSD-3-Clause */
/* Anchors <-> whole numbers of their step, for both compilers. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_ANCHORS_MATH_H
#define FLOE_CODEC_WAVELET_WAVELET_ANCHORS_MATH_H

#include <stdbool.h>

#include "base/hd.h"

FLOE_HD int64_t floe_wavelet_anchor_whole(double v, double inverse)
{
    const double most = 0x1p53;
    v = v != 0 ? v * inverse : 0; /* a step that is not normal has no finite inverse */
    v = v < -most ? -most : v > most ? most : v;
    return (int64_t)(v < 0 ? v - 0.5 : v + 0.5);
}

/* As floe_wavelet_finite has it. */
FLOE_HD double floe_wavelet_anchor_finite(double v, bool narrow)
{
    const double most = narrow ? 0x1p100 : 0x1p1000;
    v = v < most ? v : most;
    return v > -most ? v : -most;
}

/* As a double, which the type of reals rounds. */
FLOE_HD double floe_wavelet_anchor_real(int64_t whole, double step, bool narrow)
{
    return floe_wavelet_anchor_finite((double)whole * step, narrow);
}

/* Number i of bits. */
FLOE_HD int64_t floe_wavelet_anchor_get(const uint8_t *bits, uint32_t nbits, int64_t least, uint64_t i)
{
    uint64_t v = 0;
    for (uint64_t bit = i * nbits, end = bit + nbits, n = 0; bit < end; bit += 8 - bit % 8) {
        v |= (uint64_t)(bits[bit / 8] >> bit % 8) << n;
        n += 8 - bit % 8;
    }
    v &= ((uint64_t)1 << nbits) - 1;
    return (int64_t)((uint64_t)least + v);
}

#endif
