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
#include "stage/interp/interp_rule.h"
#include "stage/lattice/lattice.h"

enum {
    /* Of a worker: classes of the largest tile with what is around it, rows rounded up to 8. */
    FLOE_INTERP_TILE_REALS = FLOE_LATTICE_CLASSES * 4 * 4 * 11 * 520
};

/* What encoding a tile found. Sums of whole numbers, so that no order matters. */
typedef struct floe_interp_found {
    double max_error;    /* of values that are kept: as computed, absolute */
    double max_pw_error; /* with `log`: relative */
    uint64_t squares;    /* errors squared, in units of (tolerance / 2^10)^2, rounded up */
} floe_interp_found;

typedef struct floe_interp_job {
    const floe_lattice_step *step;
    const floe_interp_rule *rule;
    const void *coarse;     /* lattice, contiguous */
    void *records;          /* of the whole step; those of points that do not exist are 0 */
    floe_lattice_view fine; /* decode: the result, where data is not NULL. encode: the same */
    floe_lattice_box box;   /* points of it that are wanted; fine.data is of point box.lo */
    bool log;               /* lattices hold log2 of the magnitudes; signs, and 0, are stored apart */
    bool last; /* fine is the field itself: decode leaves logarithms. encode: original is the field, else it is clean */

    /* encode alone */
    floe_lattice_view original;
    floe_lattice_view values; /* of the field, of which unit[] lie from one point of fine to the next */
    uint64_t unit[FLOE_LATTICE_RANK], field[FLOE_LATTICE_RANK]; /* field: its extent */
    double tolerance; /* what an error, as computed, may be: absolute or, with `log`, relative */
    uint64_t fill;
    bool squares;
    uint64_t *
        apart; /* a bit for each value of the field that is stored apart; rows of whole words. NULL: nothing is checked */
} floe_interp_job;

/* Tiles: numbered in C order. Those that have a wanted point have cells from first on. */
typedef struct floe_interp_tiles {
    uint64_t size[FLOE_LATTICE_RANK], first[FLOE_LATTICE_RANK], end[FLOE_LATTICE_RANK], count;
} floe_interp_tiles;
floe_interp_tiles floe_interp_tiles_of(const floe_interp_job *job);

floe_lattice_box floe_interp_tile(const floe_interp_tiles *tiles, uint64_t index); /* cells */

/* Cells of a step whose codes the wanted points need: theirs and those around, within the lattice. */
floe_lattice_box floe_interp_needed(const floe_lattice_step *s, const floe_lattice_box *wanted);

typedef struct floe_interp_ops {
    /* scratch: FLOE_INTERP_TILE_REALS, or all classes of the step with rows rounded up to 8. found is added to. */
    void (*encode)(const floe_interp_job *job, const floe_lattice_box *cells, void *scratch, floe_interp_found *found);
    void (*decode)(const floe_interp_job *job, const floe_lattice_box *cells, void *scratch);
    /* The points of an even number along each axis of the step, from job->original: the coarse original. */
    void (*thin)(const floe_interp_job *job, uint64_t row, void *coarse);
    /* Values of the coarsest lattice, which is the step's fine one: those that are NaN become the one before, or the first, or 0. Then found
     * and apart as for a tile, by job->original. */
    void (*anchors)(const floe_interp_job *job, void *values, floe_interp_found *found);
    /* The values of wanted points, of which there are some, from those of a lattice. values: of point job->box.lo, with the strides from one
     * point to the next. */
    void (*leave)(const floe_interp_job *job, const floe_lattice_view *values);
} floe_interp_ops;

extern const floe_interp_ops floe_interp_ops_f32_plain, floe_interp_ops_f64_plain;
extern const floe_interp_ops floe_interp_ops_f32_avx2, floe_interp_ops_f64_avx2;
const floe_interp_ops *floe_interp_ops_of(floe_dtype dtype, floe_isa isa);

#endif
