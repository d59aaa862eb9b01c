/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exception: the values of a tile that the quantizer could not keep, bit for bit. docs/format/exception.md.
 *
 * Where they are is a mask; what they are is a kind each: 1 to 3 for a pattern of the chunk's palette (fill value, -0, ...),
 * 0 for a literal. They stand in the order of their places (step, group, value), so they are placed by counting, never
 * appended as they come.
 *
 *   word    bits 0..15 count, bit 16 all of one kind, bits 17..18 that kind
 *   mask    the places
 *   2 masks low and high bit of the kind, only where kinds differ
 *   words   literals, REAL_BITS each, low word first
 */
#ifndef FLOE_STAGE_EXCEPTION_H
#define FLOE_STAGE_EXCEPTION_H

#include "base/real.h"
#include "stage/mask/mask.h"
#include "stage/quantizer/quantizer.h"

enum {
    FLOE_EXCEPTION_LITERAL_WORDS = FLOE_REAL_BITS / 32,
    FLOE_EXCEPTION_WORDS = 1 + 3 * FLOE_MASK_WORDS + FLOE_TILE_VALUES * FLOE_EXCEPTION_LITERAL_WORDS
};

/* Bits of the first word. */
enum { FLOE_EXCEPTIONS_ONE_KIND_BIT = 16, FLOE_EXCEPTIONS_KIND_SHIFT = 17, FLOE_EXCEPTIONS_USED_BITS = 19 };

/* kind: where all are of one. */
FLOE_HD uint32_t floe_exceptions_head(uint32_t count, bool one_kind, uint32_t kind)
{
    return count | (one_kind ? 1u << FLOE_EXCEPTIONS_ONE_KIND_BIT | kind << FLOE_EXCEPTIONS_KIND_SHIFT : 0);
}

typedef struct FLOE_R(floe_exceptions) {
    uint32_t count, nliterals;
    floe_mask place, kind_low, kind_high;
    floe_uint literal[FLOE_TILE_VALUES];
} FLOE_R(floe_exceptions);

/* Adds the exceptions of one group, in the order of steps and groups. bits: the 32 patterns of the group. */
void FLOE_V(floe_exceptions_add)(FLOE_R(floe_exceptions) * e, const uint64_t *palette, uint32_t step, uint32_t group,
                                 uint32_t places, const floe_uint *bits);

/* valid: the cells of the tile that lie inside the field. Returns the words written (room: FLOE_EXCEPTION_WORDS). */
uint32_t FLOE_V(floe_exceptions_encode)(const FLOE_R(floe_exceptions) * e, const floe_mask valid, uint32_t nsteps,
                                        uint32_t *words);

/* Untrusted words. False when they are no exceptions of such a tile. */
bool FLOE_V(floe_exceptions_decode)(const uint32_t *words, uint64_t nwords, const floe_mask valid, uint32_t nsteps,
                                    FLOE_R(floe_exceptions) * e, uint32_t *used);

/* The patterns of one group, in order, into bits[k] for each k in its places. *next counts literals: 0 before the first
 * group of the tile. */
void FLOE_V(floe_exceptions_get)(const FLOE_R(floe_exceptions) * e, const uint64_t *palette, uint32_t step,
                                 uint32_t group, uint32_t *next, floe_uint *bits);

#endif
