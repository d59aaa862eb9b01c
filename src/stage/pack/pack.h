/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack: the groups of a step as bit planes of just the width that each group needs. docs/format/pack.md.
 *
 * A step becomes a 16-bit descriptor and words:
 *   flat word      only where some, but not all, present groups are flat
 *   width planes   the bits of (width - smallest width), one word a bit, group g at bit g
 *   value planes   for each bit b from 0: one word (value i at bit i) for each group wider than b, in group order
 */
#ifndef FLOE_STAGE_PACK_H
#define FLOE_STAGE_PACK_H

#include <floe/status.h>

#include "base/real.h"
#include "stage/tile/step.h"

enum {
    FLOE_PACK_WIDTH_PLANES = 7,                                                           /* widths reach 64 */
    FLOE_PACK_STEP_WORDS = 1 + FLOE_PACK_WIDTH_PLANES + FLOE_STEP_GROUPS * FLOE_REAL_BITS /* the most a step can take */
};

/* Bits of the descriptor; the others are 0. */
enum {
    FLOE_PACK_LEAST_SHIFT = 0,  /* 7 bits: smallest width of a present group */
    FLOE_PACK_PLANES_SHIFT = 7, /* 3 bits: number of width planes */
    FLOE_PACK_FLAT_SHIFT = 10,  /* 2 bits: 0 no group is flat, 1 all present ones are, 2 a flat word shows it */
    FLOE_PACK_USED_BITS = 12
};

/* words: room for FLOE_PACK_STEP_WORDS. Returns how many were written. */
uint32_t FLOE_V(floe_pack_encode_step)(const floe_step *step, uint32_t *words, uint16_t *descriptor);

/* step->present must be set; everything else is filled. Untrusted input: reads at most nwords words. */
floe_status FLOE_V(floe_pack_decode_step)(uint16_t descriptor, const uint32_t *words, uint64_t nwords, uint32_t *used,
                                          floe_step *step);

/* 32 values <-> their `width` bit planes (value i at bit i of each). */
void FLOE_V(floe_planes_of_values)(const floe_uint *values, uint32_t width, uint32_t *planes);
void FLOE_V(floe_values_of_planes)(const uint32_t *planes, uint32_t width, floe_uint *values);

/* The same for 32 bytes and up to 8 planes. */
void FLOE_V(floe_planes_of_bytes)(const uint8_t *bytes, uint32_t width, uint32_t *planes);
void FLOE_V(floe_bytes_of_planes)(const uint32_t *planes, uint32_t width, uint8_t *bytes);

/* How many of 32 bytes are above `least`, which is below 128 as they are. */
uint32_t FLOE_V(floe_bytes_above)(const uint8_t *bytes, uint32_t least);

#endif
