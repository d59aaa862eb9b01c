/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mask: one bit for each cell of a tile, where whole groups are mostly alike. docs/format/exception.md.
 *
 * A mask is a word for each group of each step, and every bit of it is also set in the parent mask that both sides have.
 * Coded as, for each step, a word "any" (group g has a bit set) and a word "all" (group g equals its parent); then the
 * words of the groups that are any but not all, in order.
 */
#ifndef FLOE_STAGE_MASK_H
#define FLOE_STAGE_MASK_H

#include <stdbool.h>

#include "stage/tile/tile.h"

enum { FLOE_MASK_WORDS = 2 * FLOE_TILE_STEPS + FLOE_TILE_GROUPS /* the most a mask can take */ };

typedef uint32_t floe_mask[FLOE_TILE_STEPS][FLOE_STEP_GROUPS];

/* Returns the words written. */
uint32_t floe_mask_encode(const floe_mask mask, const floe_mask parent, uint32_t nsteps, uint32_t *words);
/* Untrusted words. False when they run out or hold something that an encoder never writes. Steps from nsteps on are left. */
bool floe_mask_decode(const uint32_t *words, uint64_t nwords, const floe_mask parent, uint32_t nsteps, floe_mask mask,
                      uint32_t *used);
uint32_t floe_mask_count(const floe_mask mask, uint32_t nsteps);

#endif
