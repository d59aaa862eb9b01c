/* SPDX-License-Identifier: BSD-3-Clause */
/* What the heads of chunks of lattices are made of, as bytes. What is read is untrusted. */
#ifndef FLOE_STAGE_LATTICE_BYTES_H
#define FLOE_STAGE_LATTICE_BYTES_H

#include "base/bytes.h"
#include "stage/lattice/lattice_math.h"

/* What a chunk holds. */
typedef enum floe_lattice_kind {
    FLOE_LATTICE_CODED = 0,
    FLOE_LATTICE_RAW = 1,  /* the values as they are */
    FLOE_LATTICE_FLAT = 2, /* one pattern, and which values have others */
    FLOE_LATTICE_KINDS = 3
} floe_lattice_kind;
enum { FLOE_LATTICE_KIND_AT = 1 };
static inline bool floe_lattice_is_raw(const void *chunk, uint64_t nbytes)
{
    return nbytes > FLOE_LATTICE_KIND_AT && ((const uint8_t *)chunk)[FLOE_LATTICE_KIND_AT] == FLOE_LATTICE_RAW;
}
static inline uint64_t floe_lattice_values_nbytes(uint64_t header, uint64_t ncells, bool narrow)
{
    return header + floe_max64(ncells * (narrow ? 4 : 8), 8);
}

static inline void floe_lattice_real_write(floe_cursor *to, bool narrow, double v)
{
    if (narrow)
        floe_write32(to, floe_bits_f32((float)v));
    else
        floe_write64(to, floe_bits_f64(v));
}
static inline double floe_lattice_real_read(floe_reader *from, bool narrow)
{
    return narrow ? (double)floe_f32_of(floe_read32(from)) : floe_f64_of(floe_read64(from));
}

/* The axes of a step. Read: of a lattice of extent n; false where they cannot be. */
static inline void floe_lattice_axes_write(const floe_lattice_step *s, floe_cursor *to)
{
    uint32_t axes = s->naxes;
    for (uint32_t i = 0; i < s->naxes; i++)
        axes |= s->axis[i] << (2 + 2 * i);
    floe_write8(to, (uint8_t)axes);
}
static inline bool floe_lattice_axes_read(floe_lattice_step *s, const uint64_t n[FLOE_LATTICE_RANK], floe_reader *from)
{
    const uint32_t axes = floe_read8(from);
    s->naxes = axes & 3;
    for (uint32_t i = 0; i < s->naxes; i++) {
        s->axis[i] = axes >> (2 + 2 * i) & 3;
        for (uint32_t k = 0; k < i; k++)
            if (s->axis[k] == s->axis[i])
                return false;
        if (n[s->axis[i]] < 2)
            return false;
    }
    return s->naxes && axes >> (2 + 2 * s->naxes) == 0;
}

/* Zeros up to a multiple of 4 bytes from base on, where words begin. False where they are no zeros. */
static inline void floe_lattice_pad_write(floe_cursor *to, const uint8_t *base)
{
    while (!to->bad && (to->at - base) % 4)
        floe_write8(to, 0);
}
static inline bool floe_lattice_pad_read(floe_reader *from, const uint8_t *base)
{
    uint32_t sum = 0;
    while (!from->bad && (from->at - base) % 4)
        sum |= floe_read8(from);
    return !from->bad && sum == 0;
}

enum { FLOE_LATTICE_LEAST_CELLS = 4096 /* a chunk has a byte for so many, or zeros make it so long */ };
static inline uint64_t floe_lattice_least_nbytes(uint64_t header, uint32_t rank, const uint64_t *extent)
{
    uint64_t n = 1;
    for (uint32_t a = 0; a < rank; a++)
        if (!floe_mul64(n, extent[a], &n))
            return UINT64_MAX / 2;
    return header + 8 + n / FLOE_LATTICE_LEAST_CELLS;
}

#endif
