/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage lattice: a chunk as codecs interp and wavelet see it. Its axes turned, at most four; the box of values that a decoder gives;
 * and what both codecs say of a chunk. docs/format/lattice.md.
 */
#ifndef FLOE_STAGE_LATTICE_H
#define FLOE_STAGE_LATTICE_H

#include "backend/backend.h"
#include "base/bytes.h"
#include "base/text_buffer.h"
#include "stage/lattice/lattice_bytes.h"
#include "stage/lattice/lattice_output_math.h"

enum {
    FLOE_LATTICE_CELLS_MOST = 1 << 30,
    FLOE_LATTICE_ENDS = 4,  /* an axis of so few points is left alone; others are thinned to so many, or to one */
    FLOE_LATTICE_MANY = 16, /* where a lattice is left with so many times its points, */
    FLOE_LATTICE_FEW = 14   /* and with more than one of 2^FEW of all */
};

/* Rows of a few values leave machines idle, and codes without context. So a chunk is turned whose last axes are short: as many of them as
 * `turns` come before the two axes that are last then. Components of a vector, and levels that lie side by side, become planes. Axes of one
 * point do not count. */
uint32_t floe_lattice_turns_of(uint32_t rank, const uint64_t *extent);
/* The turns that byte `at` of a chunk has. Returns whether an encoder makes them: none, or those of the extent. */
bool floe_lattice_turns_read(const void *src, uint64_t nbytes, uint64_t at, uint32_t rank, const uint64_t *extent,
                             uint32_t *turns);

/* A chunk as this stage sees it: turned, axes of one point left out, then ones in front. False where it is empty, or has more than
 * FLOE_LATTICE_CELLS_MOST values. */
bool floe_lattice_shape_of(uint32_t rank, const uint64_t *extent, uint32_t turns, uint64_t shape[FLOE_LATTICE_RANK]);
/* The axes that are left, as numbers of the shape's; those of one point: FLOE_LATTICE_RANK. */
void floe_lattice_axes_of(uint32_t rank, const uint64_t *extent, uint32_t turns, uint32_t *axis);
/* To how few points codecs thin an axis, if some (bit a: axis a) are not thinned. */
uint64_t floe_lattice_ends(const uint64_t shape[FLOE_LATTICE_RANK], uint32_t whole);
/* A field's strides by the axes of such a shape; those of axes of one point are 0. */
floe_lattice_view floe_lattice_view_of(const floe_field *f, uint32_t turns);

/* The step of a quantizer for a bound, in the type of reals; max_abs: the largest magnitude. A value is off by half a step, and what
 * rounding adds: of the sum, of the difference, of the quotient. */
double floe_lattice_quantizer_step(double bound, double max_abs, bool narrow);
double floe_lattice_least_step(bool narrow); /* smaller bounds have it, too, and many values apart */

/* Limits the threads to those that nboxes boxes of this extent keep busy: for a few cells, starting a thread takes longer. Scratch
 * for them is that of these threads. */
floe_cpu floe_lattice_cpu(const floe_cpu *cpu, uint64_t nboxes, uint32_t rank, const uint64_t *extent);

/* ---- in words ---------------------------------------------------------------------------------------------------------- */

void floe_lattice_shape_words(const uint64_t *n, floe_text *to);
/* The first line of a chunk's words. */
void floe_lattice_chunk_words(floe_lattice_kind kind, bool log, uint32_t turns, const uint64_t *shape, uint64_t nbytes,
                              floe_text *to);
/* Lattices of a step, and its axes, as numbers of those that the shape has. */
void floe_lattice_step_words(const floe_lattice_step *s, const uint64_t *shape, floe_text *to);

/* ---- the box of values that a decoder of a chunk gives -------------------------------------------------------------------- */

/* lo, hi: of rank axes. The chunk is one that floe_lattice_shape_of takes. */
floe_lattice_output floe_lattice_output_of(uint32_t rank, const uint64_t *extent, uint32_t turns, const uint64_t *lo,
                                           const uint64_t *hi, const floe_field *out, uint32_t level);
/* Its values in order, as they are. */
void floe_lattice_values_write(const floe_field *chunk, uint32_t turns, floe_cursor *to);
/* The pattern to the place of a point, if there is one. */
void floe_lattice_output_put(const floe_lattice_output *o, const uint64_t *point, uint64_t pattern);
/* To each place its value of a chunk, or (NULL) the pattern. */
void floe_lattice_output_fill(const floe_lattice_output *o, const uint64_t *shape, const uint8_t *values,
                              uint64_t pattern);

static inline uint64_t floe_lattice_pattern_load(const uint8_t *at, size_t size)
{
    return size == 4 ? floe_load32(at) : floe_load64(at);
}
static inline void floe_lattice_pattern_store(uint8_t *at, size_t size, uint64_t pattern)
{
    if (size == 4)
        floe_store32(at, (uint32_t)pattern);
    else
        floe_store64(at, pattern);
}
static inline void floe_lattice_pattern_write(floe_cursor *to, bool narrow, uint64_t pattern)
{
    if (narrow)
        floe_write32(to, (uint32_t)pattern);
    else
        floe_write64(to, pattern);
}

#endif
