/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of values as bits, in rows of whole words: made, coded, and read. */
#ifndef FLOE_CODEC_INTERP_INTERP_SETS_H
#define FLOE_CODEC_INTERP_INTERP_SETS_H

#include "codec/interp/interp_layout.h"

/* Bits of a shape: each row of its last axis begins with a word. */
typedef struct floe_interp_bits {
    const uint64_t *shape;
    uint64_t *words, nrows, row; /* row: words of one */
    const floe_lattice_box *box; /* NULL, or a decoder's: rows without a point of it are undefined */
} floe_interp_bits;

floe_interp_bits floe_interp_bits_of(const uint64_t shape[FLOE_LATTICE_RANK], uint64_t *words);
static inline uint64_t floe_interp_bits_room(const uint64_t shape[FLOE_LATTICE_RANK])
{
    return shape[0] * shape[1] * shape[2] * floe_ceil_div(shape[3], 64);
}
uint64_t floe_interp_bits_count(const floe_interp_bits *b);

/* The first point of row r. */
static inline void floe_interp_bits_point(const floe_interp_bits *b, uint64_t r, uint64_t point[FLOE_LATTICE_RANK])
{
    floe_lattice_point_of(b->shape, r * b->shape[3], point);
}

/* Points of a set in order: the first from {.next = 0}. False behind the last. */
typedef struct floe_interp_member {
    uint64_t point[FLOE_LATTICE_RANK], next, left; /* the next word; bits of this one that are left */
} floe_interp_member;
bool floe_interp_bits_next(const floe_interp_bits *b, floe_interp_member *m);

/* Along an axis each bit becomes its difference from the one before, in place; and back. */
void floe_interp_bits_differ(const floe_interp_bits *b, uint32_t axis, bool back);
/* Records of 7 bits; room for whole rows of the grid. */
void floe_interp_bits_to_records(const floe_interp_bits *b, uint8_t *records, uint64_t nrecords);
/* False where a record has a bit beyond its row. */
bool floe_interp_bits_of_records(const floe_interp_bits *b, const uint8_t *records);

/* Positions from a list of so many, which must rise. */
bool floe_interp_bits_of_list(const floe_interp_bits *b, const uint8_t *list, uint64_t count);

#endif
