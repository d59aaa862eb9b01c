/* SPDX-License-Identifier: BSD-3-Clause */
/* Two fields of one shape side by side: what every pass of the assessment reads. */
#ifndef FLOE_ASSESS_PAIR_H
#define FLOE_ASSESS_PAIR_H

#include <floe/floe.h>

#include "assess/pair_math.h"

/*
 * Both sides have dtype, place and shape in common; the coordinator has checked them. There are always four axes, slowest
 * first: fields of a lower rank have leading axes of extent 1, with stride 0. Strides are in elements and spelled out;
 * they may be negative. A field on its own (its properties only) has decoded == NULL.
 */
typedef struct floe_pair {
    const void *original, *decoded;
    floe_dtype dtype; /* f32 or f64; pair_integers.h has those of integers */
    floe_place place;
    uint32_t rank; /* as the caller gave it, 1 to 4: axes 4 - rank to 3 are his */
    uint64_t shape[FLOE_MAX_RANK];
    int64_t original_stride[FLOE_MAX_RANK], decoded_stride[FLOE_MAX_RANK];
    uint32_t has_fill;
    uint64_t fill_bits; /* of dtype, in the low bits; values with exactly these bits are missing */
} floe_pair;

#endif
