/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage interp: a lattice -> codes of the points between those of a coarser one, and back. docs/format/interp.md.
 *
 * Cells are done in tiles, each on its own: what a tile needs of its neighbours' points it computes again. So tiles run in any
 * order, and no bit depends on them.
 */
#ifndef FLOE_STAGE_INTERP_H
#define FLOE_STAGE_INTERP_H

#include "backend/backend.h"
#include "base/bytes.h"
#include "base/text_buffer.h"
#include "stage/interp/interp_bytes.h"
#include "stage/interp/interp_output_math.h"

enum {
    FLOE_INTERP_CELLS_MOST = 1 << 30,
    FLOE_INTERP_ENDS = 4,  /* an axis of so few points is left alone; others are thinned to so many, or to one */
    FLOE_INTERP_MANY = 16, /* where a lattice is left with so many times its points, */
    FLOE_INTERP_FEW = 14,  /* and with more than one of 2^FEW of all */
    /* Of a worker: classes of the largest tile with what is around it, rows rounded up to 8. */
    FLOE_INTERP_TILE_REALS = FLOE_INTERP_CLASSES * 4 * 4 * 11 * 520
};

/* Rows of a few values leave machines idle, and codes without context. So a chunk is turned whose last axes are short: as many of them as
 * `turns` come before the two axes that are last then. Components of a vector, and levels that lie side by side, become planes. Axes of one
 * point do not count. */
uint32_t floe_interp_turns_of(uint32_t rank, const uint64_t *extent);
/* The turns that byte `at` of a chunk has. Returns whether an encoder makes them: none, or those of the extent. */
bool floe_interp_turns_read(const void *src, uint64_t nbytes, uint64_t at, uint32_t rank, const uint64_t *extent,
                            uint32_t *turns);

/* A chunk as this stage sees it: turned, axes of one point left out, then ones in front. False where it is empty, or has more than
 * FLOE_INTERP_CELLS_MOST values. */
bool floe_interp_shape_of(uint32_t rank, const uint64_t *extent, uint32_t turns, uint64_t shape[FLOE_INTERP_RANK]);
/* The axes that are left, as numbers of the shape's; those of one point: FLOE_INTERP_RANK. */
void floe_interp_axes_of(uint32_t rank, const uint64_t *extent, uint32_t turns, uint32_t *axis);
/* To how few points codecs thin an axis, if some (bit a: axis a) are not thinned. */
uint64_t floe_interp_ends(const uint64_t shape[FLOE_INTERP_RANK], uint32_t whole);
/* A field's strides by the axes of such a shape; those of axes of one point are 0. */
floe_interp_view floe_interp_view_of(const floe_field *f, uint32_t turns);

/* What encoding a tile found. Sums of whole numbers, so that no order matters. */
typedef struct floe_interp_found {
    double max_error;    /* of values that are kept: as computed, absolute */
    double max_pw_error; /* with `log`: relative */
    uint64_t squares;    /* errors squared, in units of (tolerance / 2^10)^2, rounded up */
} floe_interp_found;

typedef struct floe_interp_job {
    const floe_interp_step *step;
    const void *coarse;    /* lattice, contiguous */
    void *records;         /* of the whole step; those of points that do not exist are 0 */
    floe_interp_view fine; /* decode: the result, where data is not NULL. encode: the same */
    floe_interp_box box;   /* points of it that are wanted; fine.data is of point box.lo */
    bool log;              /* lattices hold log2 of the magnitudes; signs, and 0, are stored apart */
    bool last; /* fine is the field itself: decode leaves logarithms. encode: original is the field, else it is clean */

    /* encode alone */
    floe_interp_view original;
    floe_interp_view values; /* of the field, of which unit[] lie from one point of fine to the next */
    uint64_t unit[FLOE_INTERP_RANK], field[FLOE_INTERP_RANK]; /* field: its extent */
    double tolerance; /* what an error, as computed, may be: absolute or, with `log`, relative */
    uint64_t fill;
    bool squares;
    uint64_t *
        apart; /* a bit for each value of the field that is stored apart; rows of whole words. NULL: nothing is checked */
} floe_interp_job;

/* The step of a quantizer for a bound, in the type of reals; max_abs: the largest magnitude. A value is off by half a step, and what
 * rounding adds: of the sum, of the difference, of the quotient. */
double floe_interp_quantizer_step(double bound, double max_abs, bool narrow);
double floe_interp_least_step(bool narrow); /* smaller bounds have it, too, and many values apart */

/* Tiles: numbered in C order. Those that have a wanted point have cells from first on. */
typedef struct floe_interp_tiles {
    uint64_t size[FLOE_INTERP_RANK], first[FLOE_INTERP_RANK], end[FLOE_INTERP_RANK], count;
} floe_interp_tiles;
floe_interp_tiles floe_interp_tiles_of(const floe_interp_job *job);

floe_interp_box floe_interp_tile(const floe_interp_tiles *tiles, uint64_t index); /* cells */

/* Cells of a step whose codes the wanted points need: theirs and those around, within the lattice. */
floe_interp_box floe_interp_needed(const floe_interp_step *s, const floe_interp_box *wanted);

typedef struct floe_interp_ops {
    /* scratch: FLOE_INTERP_TILE_REALS, or all classes of the step with rows rounded up to 8. found is added to. */
    void (*encode)(const floe_interp_job *job, const floe_interp_box *cells, void *scratch, floe_interp_found *found);
    void (*decode)(const floe_interp_job *job, const floe_interp_box *cells, void *scratch);
    /* The points of an even number along each axis of the step, from job->original: the coarse original. */
    void (*thin)(const floe_interp_job *job, uint64_t row, void *coarse);
    /* Values of the coarsest lattice, which is the step's fine one: those that are NaN become the one before, or the first, or 0. Then found
     * and apart as for a tile, by job->original. */
    void (*anchors)(const floe_interp_job *job, void *values, floe_interp_found *found);
    /* The values of wanted points, of which there are some, from those of a lattice. values: of point job->box.lo, with the strides from one
     * point to the next. */
    void (*leave)(const floe_interp_job *job, const floe_interp_view *values);
} floe_interp_ops;

extern const floe_interp_ops floe_interp_ops_f32_plain, floe_interp_ops_f64_plain;
extern const floe_interp_ops floe_interp_ops_f32_avx2, floe_interp_ops_f64_avx2;
const floe_interp_ops *floe_interp_ops_of(floe_dtype dtype, floe_isa isa);

/* ---- in words ---------------------------------------------------------------------------------------------------------- */

void floe_interp_shape_words(const uint64_t *n, floe_text *to);
/* The first line of a chunk's words. */
void floe_interp_chunk_words(floe_interp_kind kind, bool log, uint32_t turns, const uint64_t *shape, uint64_t nbytes,
                             floe_text *to);
/* Lattices of a step, and its axes, as numbers of those that the shape has. */
void floe_interp_step_words(const floe_interp_step *s, const uint64_t *shape, floe_text *to);

/* ---- the box of values that a decoder of a chunk gives -------------------------------------------------------------------- */

/* lo, hi: of rank axes. The chunk is one that floe_interp_shape_of takes. */
floe_interp_output floe_interp_output_of(uint32_t rank, const uint64_t *extent, uint32_t turns, const uint64_t *lo,
                                         const uint64_t *hi, const floe_field *out, uint32_t level);
/* Its values in order, as they are. */
void floe_interp_values_write(const floe_field *chunk, uint32_t turns, floe_cursor *to);
/* The pattern to the place of a point, if there is one. */
void floe_interp_output_put(const floe_interp_output *o, const uint64_t *point, uint64_t pattern);
/* To each place its value of a chunk, or (NULL) the pattern. */
void floe_interp_output_fill(const floe_interp_output *o, const uint64_t *shape, const uint8_t *values,
                             uint64_t pattern);

static inline uint64_t floe_interp_pattern_load(const uint8_t *at, size_t size)
{
    return size == 4 ? floe_load32(at) : floe_load64(at);
}
static inline void floe_interp_pattern_write(floe_cursor *to, bool narrow, uint64_t pattern)
{
    if (narrow)
        floe_write32(to, (uint32_t)pattern);
    else
        floe_write64(to, pattern);
}

#endif
