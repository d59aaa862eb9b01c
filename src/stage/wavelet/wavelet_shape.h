/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of stage wavelet, for both compilers; wavelet.h has its contract. Steps and lattices are those of stage lattice. */
#ifndef FLOE_STAGE_WAVELET_SHAPE_H
#define FLOE_STAGE_WAVELET_SHAPE_H

#include "stage/lattice/lattice_math.h"

typedef enum floe_wavelet_bank {
    FLOE_WAVELET_97 =
        0, /* CDF banks first; in names of interpolating ones (DD) are the moments of prediction and update */
    FLOE_WAVELET_84 = 1,
    FLOE_WAVELET_53 = 2,
    FLOE_WAVELET_HAAR = 3,
    FLOE_WAVELET_DD44 = 4,
    FLOE_WAVELET_DD64 = 5,
    FLOE_WAVELET_DD66 = 6,
    FLOE_WAVELET_DD84 = 7,
    FLOE_WAVELET_BANKS = 8
} floe_wavelet_bank;

/* A range of a line's points, lo to hi - 1: of means (evens) [0], and of details (odds) [1]. */
typedef struct floe_wavelet_span {
    int64_t lo[2], hi[2];
} floe_wavelet_span;

enum { FLOE_WAVELET_SHIFTS = 3, FLOE_WAVELET_SHIFT_UNIT = 64 };

/* Sums over the codes of a step of magnitude 1, 2, and 3 or more: how many there are, and how far values lie from them, in 1 / 256. */
typedef struct floe_wavelet_means {
    int64_t sum[FLOE_WAVELET_SHIFTS];
    uint64_t count[FLOE_WAVELET_SHIFTS];
} floe_wavelet_means;

/* How far values lie from a code in the mean, in 1 / FLOE_WAVELET_SHIFT_UNIT, from such a sum and count. */
FLOE_HD int32_t floe_wavelet_shift_of(int64_t sum, uint64_t count)
{
    return count ? (int32_t)(sum / ((int64_t)count * (256 / FLOE_WAVELET_SHIFT_UNIT))) : 0;
}

#endif
