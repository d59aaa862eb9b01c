/* SPDX-License-Identifier: BSD-3-Clause */
/* What stage wavelet is about, for both compilers; wavelet.h has its contract. Steps and lattices are those of stage interp. */
#ifndef FLOE_STAGE_WAVELET_SHAPE_H
#define FLOE_STAGE_WAVELET_SHAPE_H

#include "stage/interp/interp_shape.h"

typedef enum floe_wavelet_bank {
    FLOE_WAVELET_97 = 0, /* CDF; the numbers of interpolating ones are moments of prediction and update */
    FLOE_WAVELET_84 = 1,
    FLOE_WAVELET_53 = 2,
    FLOE_WAVELET_HAAR = 3,
    FLOE_WAVELET_DD44 = 4,
    FLOE_WAVELET_DD64 = 5,
    FLOE_WAVELET_DD66 = 6,
    FLOE_WAVELET_DD84 = 7,
    FLOE_WAVELET_BANKS = 8
} floe_wavelet_bank;

/* Of a line's means, [0], and details, [1]: numbers lo .. hi. */
typedef struct floe_wavelet_span {
    int64_t lo[2], hi[2];
} floe_wavelet_span;

enum { FLOE_WAVELET_SHIFTS = 3, FLOE_WAVELET_SHIFT_UNIT = 64 };

/* Of the codes of a step: how many have magnitude 1, 2, 3 or more, and how far values are from the codes, in 1 / 256. */
typedef struct floe_wavelet_means {
    int64_t sum[FLOE_WAVELET_SHIFTS];
    uint64_t count[FLOE_WAVELET_SHIFTS];
} floe_wavelet_means;

/* Of magnitude k + 1: what a code is off in the mean, in 1 / FLOE_WAVELET_SHIFT_UNIT. */
FLOE_HD int32_t floe_wavelet_shift_of(int64_t sum, uint64_t count)
{
    return count ? (int32_t)(sum / ((int64_t)count * (256 / FLOE_WAVELET_SHIFT_UNIT))) : 0;
}

#endif
