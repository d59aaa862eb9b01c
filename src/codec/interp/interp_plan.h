/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of a chunk: its steps, finest first, and how each is coded. An encoder makes it from a structure; a decoder reads it
 * from the stream (interp_layout.h). */
#ifndef FLOE_CODEC_INTERP_INTERP_PLAN_H
#define FLOE_CODEC_INTERP_INTERP_PLAN_H

#include "codec/codec.h"
#include "codec/interp/interp_head_math.h"
#include "stage/interp/interp.h"
#include "stage/records/records.h"

enum {
    FLOE_INTERP_LEVELS = 32,
    FLOE_INTERP_NEVER = 3, /* a start: the axis is frozen; 0, 1 or 2 is the first level at which it is interpolated */
    FLOE_INTERP_LEAST =
        2, /* steps, unless all axes end: with fewer, the anchors would be too large a part of the field */
    FLOE_INTERP_CHECKED = 8 /* the largest log2 of the entropy chunks that one check covers */
};

/* What the tuner chooses for a field. Axes are those of the plan's shape. */
typedef struct floe_interp_structure {
    uint8_t start[FLOE_LATTICE_RANK]; /* of each axis: a level, or FLOE_INTERP_NEVER */
    uint8_t predictor[FLOE_INTERP_LEVELS];
    bool wide[FLOE_INTERP_LEVELS], mean, planes;
    uint32_t levels; /* the lattice that is left after them is stored as anchors */
    uint32_t rows[FLOE_INTERP_LEVELS], window[FLOE_INTERP_LEVELS], checked[FLOE_INTERP_LEVELS];
    double alpha, beta;
} floe_interp_structure;

typedef struct floe_interp_coding {
    floe_lattice_step step;
    floe_interp_rule rule;
    floe_context_spec spec;
    uint32_t rows;    /* the most rows of an entropy chunk: a power of 2 */
    uint32_t checked; /* log2 of the entropy chunks that one check covers */
    uint32_t level;   /* encoder only */
    bool tables;      /* the step has its own tables; otherwise it uses those of the coarser step */
    floe_context_grid grid;
    uint64_t nchunks;
} floe_interp_coding;

static inline uint64_t floe_interp_nchecks(const floe_interp_coding *c)
{
    return floe_ans_nchecks(c->nchunks, c->checked);
}

/* The bytes of a step's records; _room rounds them up to a multiple of 16. */
static inline uint64_t floe_interp_records_nbytes(const floe_interp_coding *c)
{
    return floe_context_nrecords(&c->grid) * floe_context_record_nbytes(&c->spec);
}
static inline uint64_t floe_interp_records_room(const floe_interp_coding *c)
{
    return (floe_interp_records_nbytes(c) + 15) & ~(uint64_t)15;
}

typedef struct floe_interp_plan {
    uint64_t shape[FLOE_LATTICE_RANK]; /* without axes of one point, filled up with ones in front */
    uint32_t nsteps;
    floe_interp_coding steps[FLOE_INTERP_STEPS];
} floe_interp_plan;

/* Natural cubics along one axis after another, on all levels. */
floe_interp_structure floe_interp_structure_default(void);
/* Whether both make the same codes, whose contexts may differ. */
bool floe_interp_has_codes_of(const floe_interp_structure *a, const floe_interp_structure *b);
/* Makes the plan of a structure. The quantizer's steps are set later, by floe_interp_plan_quantize. */
void floe_interp_plan_of(const uint64_t shape[FLOE_LATTICE_RANK], const floe_interp_structure *s,
                         floe_interp_plan *plan);
/* Sets the step's coarse lattice and the grid of its records. */
void floe_interp_coding_lay(floe_interp_coding *c);

/* Sizes that no structure exceeds, provided that all axes which start late start at the same level. coarse, lattice: reals of all coarse
 * lattices, of the two largest, the second of which holds a writer's anchors, too. records: bytes for all steps, each rounded up to a multiple of 16; step_records:
 * bytes for one step. */
typedef struct floe_interp_needs {
    uint64_t coarse, lattice[2], records, step_records, nsteps;
} floe_interp_needs;
void floe_interp_needs_of(const uint64_t shape[FLOE_LATTICE_RANK], floe_interp_needs *needs);

/* Returns the last step whose fine lattice holds every 2^level-th point; nsteps stands for the anchors. shift: log2 of the distance
 * between such points in that lattice, for each axis. */
uint32_t floe_interp_level_step(const floe_interp_plan *plan, uint32_t level, uint32_t shift[FLOE_LATTICE_RANK]);
/* The points that each step from `last` on has to give: those of a box of the level, then those that the finer step needs. The anchors come
 * behind the steps. */
void floe_interp_plan_wanted(const floe_interp_plan *plan, uint32_t last, const uint32_t shift[FLOE_LATTICE_RANK],
                             const floe_lattice_box *box, floe_lattice_box wanted[FLOE_INTERP_STEPS + 1]);

/* Sets the quantizer's steps for an absolute bound. max_abs: the largest magnitude in the lattices. */
void floe_interp_plan_quantize(floe_interp_plan *plan, const floe_interp_structure *s, bool narrow, double bound,
                               double max_abs);

#endif
