/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of a chunk, for both compilers: where numbers stand in its header. docs/format/interp.md. */
#ifndef FLOE_CODEC_INTERP_INTERP_HEAD_MATH_H
#define FLOE_CODEC_INTERP_INTERP_HEAD_MATH_H

#include "stage/lattice/lattice_output_math.h"

/* Values that the lattice does not give, in order: those whose sign is set; those of a pattern of the palette; literals. */
enum {
    FLOE_INTERP_PALETTE = 3,
    FLOE_INTERP_NEGATIVE = 0,
    FLOE_INTERP_PATTERNS = 1,
    FLOE_INTERP_LITERALS = FLOE_INTERP_PATTERNS + FLOE_INTERP_PALETTE,
    FLOE_INTERP_SETS
};
/* The set of a value apart. */
FLOE_HD uint32_t floe_interp_set_of(const uint64_t *palette, uint32_t npalette, uint64_t pattern)
{
    const uint32_t s = floe_lattice_palette_place(palette, npalette, pattern);
    return s < npalette ? FLOE_INTERP_PATTERNS + s : FLOE_INTERP_LITERALS;
}

enum {
    FLOE_INTERP_STEPS = 64, /* of a chunk, at most */
    FLOE_INTERP_HEADER_NBYTES = 20,
    FLOE_INTERP_HEADER_MOST = 1024, /* bytes that no header with its steps exceeds */
    FLOE_INTERP_FLAGS_AT = 3,
    FLOE_INTERP_TURNS_AT = 9,
    FLOE_INTERP_SIZE_AT = 12,    /* of all that is apart, in words of 4 bytes */
    FLOE_INTERP_CHECK_WORD = 4,  /* of the head: the check, which is not of the sum */
    FLOE_INTERP_FLAG_LOG = 1,    /* of the flags */
    FLOE_INTERP_FLAG_SIZES = 2,  /* sizes of entropy chunks take 4 bytes, not 2 */
    FLOE_INTERP_OWN_TABLES = 32, /* of a step's second byte */
    FLOE_INTERP_MASK_CELLS = 7   /* values of a record of a mask */
};

#endif
