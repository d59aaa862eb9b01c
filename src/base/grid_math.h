/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in arrays, and the grid of chunks, for both compilers: chunk numbers in C order, full chunks but for the last along
 * each axis. */
#ifndef FLOE_BASE_GRID_MATH_H
#define FLOE_BASE_GRID_MATH_H

#include "base/hd.h"

/* The last digit of n in this base; n is left without it. Division of 64 bits takes long. */
FLOE_HD uint64_t floe_last_digit(uint64_t *n, uint64_t base)
{
    uint64_t digit;
    if (*n <= UINT32_MAX && base <= UINT32_MAX) {
        digit = (uint32_t)*n % (uint32_t)base;
        *n = (uint32_t)*n / (uint32_t)base;
    } else {
        digit = *n % base;
        *n /= base;
    }
    return digit;
}

/* Divides many numbers below 2^31 by the same one, which is not 0: by multiplication. times is above 2^shift / by, by 1 at most, and
 * n / 2^shift is below 1 / by: no quotient is too large. */
typedef struct floe_divisor {
    uint32_t by, times, shift;
} floe_divisor;

FLOE_HD floe_divisor floe_divisor_of(uint32_t by)
{
    const uint32_t bits = by > 1 ? floe_top_bit(by - 1) + 1 : 0;
    const floe_divisor d = {by, (uint32_t)(((uint64_t)1 << (31 + bits)) / by + 1), 31 + bits};
    return d;
}

/* n becomes the quotient; returns the rest. */
FLOE_HD uint32_t floe_divide(uint32_t *n, const floe_divisor *d)
{
    const uint32_t all = *n;
    *n = (uint32_t)((uint64_t)all * d->times >> d->shift);
    return all - *n * d->by;
}

/* First cell and extent of chunk number `index`; shape and chunk have no 0. */
FLOE_HD void floe_grid_cut(uint32_t rank, const uint64_t *shape, const uint64_t *chunk, uint64_t index, uint64_t *lo,
                           uint64_t *extent)
{
    for (uint32_t i = rank; i-- > 0;) {
        const uint64_t count = floe_ceil_div(shape[i], chunk[i]);
        lo[i] = index % count * chunk[i];
        extent[i] = floe_min64(chunk[i], shape[i] - lo[i]);
        index /= count;
    }
}

#endif
