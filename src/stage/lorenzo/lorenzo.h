/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lorenzo: integers of a tile -> residuals of its groups, and back. docs/format/lorenzo.md.
 *
 * A tile is walked step by step along z. In each plane the values are differenced in x and y as the tile's mode has it, giving
 * p; each group then takes either p ("flat") or p minus the p of the plane before it, whichever is smaller. The decoder
 * undoes this with sums inside the tile: along z in place, along y and x as prefix sums. The first value of each plane is
 * always predicted by the first value of the plane before (rank 1: by the last value before it).
 */
#ifndef FLOE_STAGE_LORENZO_H
#define FLOE_STAGE_LORENZO_H

#include "base/real.h"
#include "stage/tile/step.h"
#include "stage/tile/view.h"

/* The formulas of the Lorenzo stage, once, for both compilers. Integers wrap (mod 2^32 or 2^64): differences and sums then
 * undo each other exactly, whatever the values. */

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

/* 8 log2(v), rounded down to what the 3 bits below the leading one hold; v > 0. The cost of a group by its sum. */
FLOE_HD uint32_t floe_log2_eighths(uint64_t v)
{
    uint32_t top = floe_top_bit(v);
    uint32_t below = (uint32_t)((top >= 3 ? v >> (top - 3) : v << (3 - top)) & 7);
    return 8 * top + below;
}

/* The walk through one tile, in either direction. */
typedef struct FLOE_R(floe_lorenzo) {
    uint32_t rank; /* of the tile: 1, 2 or 3 */
    uint32_t mode;
    floe_int base;                      /* first value of the tile */
    floe_int corner;                    /* the value that predicts the first one of the next plane */
    bool by_sum;                        /* encode: of two ways as wide that of the smaller sum is taken */
    floe_uint before[FLOE_STEP_VALUES]; /* p of the plane before, step_y * step_x of them */
} FLOE_R(floe_lorenzo);

/* A step's integers q are [step_z][step_y][step_x]; what stands outside box is ignored, and unspecified when decoded.
 * Before q[0] there is one element more that may be read: its value does not matter. */

/* The mode that codes this first step of a tile in the fewest bits. */
uint32_t FLOE_V(floe_lorenzo_choose)(uint32_t rank, const floe_step_box *box, const floe_int *q);

/* by_sum: where a group is as wide either way, the smaller sum decides: an encoder whose codes are shorter for smaller
 * residuals gains by that. Else such a group is not flat. Decoders do not need that. */
void FLOE_V(floe_lorenzo_begin)(FLOE_R(floe_lorenzo) * walk, uint32_t rank, uint32_t mode, floe_int base, bool by_sum);

void FLOE_V(floe_lorenzo_encode_step)(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_int *q,
                                      floe_step *step);

/* Any step is valid: sums wrap. */
void FLOE_V(floe_lorenzo_decode_step)(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_step *step,
                                      floe_int *q);

#endif
