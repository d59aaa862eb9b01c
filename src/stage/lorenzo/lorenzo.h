/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lorenzo: integers of a tile -> residuals of its groups, and back. docs/format/lorenzo.md.
 *
 * A tile is walked step by step along z. In each plane the values are differenced in x and y as the tile's mode says, giving
 * p; each group then takes either p ("flat") or p minus the p of the plane before it, whichever is smaller. The decoder
 * undoes this with sums inside the tile: along z in place, along y and x as prefix sums. The first value of each plane is
 * always predicted by the first value of the plane before (rank 1: by the last value before it).
 */
#ifndef FLOE_STAGE_LORENZO_H
#define FLOE_STAGE_LORENZO_H

#include "base/real.h"
#include "stage/lorenzo/lorenzo_math.h"
#include "stage/tile/step.h"
#include "stage/tile/view.h"

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
 * residuals gains by that. Else such a group is not flat. Decoders do not ask. */
void FLOE_V(floe_lorenzo_begin)(FLOE_R(floe_lorenzo) * walk, uint32_t rank, uint32_t mode, floe_int base, bool by_sum);

void FLOE_V(floe_lorenzo_encode_step)(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_int *q,
                                      floe_step *step);

/* Any step is valid: sums wrap. */
void FLOE_V(floe_lorenzo_decode_step)(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_step *step,
                                      floe_int *q);

#endif
