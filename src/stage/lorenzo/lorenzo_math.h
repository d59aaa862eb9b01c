/* SPDX-License-Identifier: BSD-3-Clause */
/* The formulas of the Lorenzo stage, once, for both compilers. Integers wrap (mod 2^32 or 2^64): differences and sums then
 * undo each other exactly, whatever the values. */
#ifndef FLOE_STAGE_LORENZO_MATH_H
#define FLOE_STAGE_LORENZO_MATH_H

#include "base/hd.h"
#include "base/real.h"

/* Which in-plane differences a tile takes. On the border where a difference has no neighbour, the other axis is used. */
enum {
    FLOE_LORENZO_XY = 0,   /* along x, then along y */
    FLOE_LORENZO_X = 1,    /* along x; column 0 along y */
    FLOE_LORENZO_Y = 2,    /* along y; row 0 along x */
    FLOE_LORENZO_NONE = 3, /* difference to the tile's base */
    FLOE_LORENZO_MODES = 4
};

/* Small residuals of either sign -> small numbers: 0, -1, 1, -2, 2 ... -> 0, 1, 2, 3, 4 ... */
FLOE_HD floe_uint FLOE_R(floe_zigzag)(floe_uint r)
{
    return (floe_uint)(r << 1) ^ ((floe_uint)0 - (r >> (FLOE_REAL_BITS - 1)));
}
FLOE_HD floe_uint FLOE_R(floe_unzigzag)(floe_uint u) { return (u >> 1) ^ ((floe_uint)0 - (u & 1)); }

/* Residuals count for at most this much in a group's sum, so that 32 of them cannot overflow. */
#define FLOE_LORENZO_CAP ((floe_uint)1 << (FLOE_REAL_BITS - 6))

/* 8 log2(v), rounded down to what the 3 bits below the leading one say; v > 0. The cost of a group by its sum. */
FLOE_HD uint32_t floe_log2_eighths(uint64_t v)
{
    uint32_t top = floe_top_bit(v);
    uint32_t below = (uint32_t)((top >= 3 ? v >> (top - 3) : v << (3 - top)) & 7);
    return 8 * top + below;
}

#endif
