/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of a chunk: its steps, from the finest on, and how each is coded. Whoever encodes makes it of a structure, whoever decodes
 * reads it (interp_layout.h). */
#ifndef FLOE_CODEC_INTERP_INTERP_PLAN_H
#define FLOE_CODEC_INTERP_INTERP_PLAN_H

#include "codec/codec.h"
#include "stage/interp/interp.h"
#include "stage/interp/interp_entropy.h"

enum {
    FLOE_INTERP_STEPS = 64,
    FLOE_INTERP_LEVELS = 32,
    FLOE_INTERP_NEVER = 3,   /* in place of the first level at which an axis is interpolated: 0, 1 or 2 */
    FLOE_INTERP_LEAST = 2,   /* steps: anchors of fewer would be too large a part of the field, unless axes end */
    FLOE_INTERP_CHECKED = 8, /* log2 of entropy chunks, at most */
    FLOE_INTERP_ENDS = 4     /* axes are not thinned below so many points */
};

/* What is chosen for a field. Axes are those of the plan's shape. */
typedef struct floe_interp_structure {
    uint8_t start[FLOE_INTERP_RANK];
    uint8_t predictor[FLOE_INTERP_LEVELS];
    bool wide[FLOE_INTERP_LEVELS], mean, planes;
    uint32_t levels; /* where these end, the lattice is anchors */
    uint32_t rows[FLOE_INTERP_LEVELS], window[FLOE_INTERP_LEVELS], checked[FLOE_INTERP_LEVELS];
    double alpha, beta;
} floe_interp_structure;

typedef struct floe_interp_coding {
    floe_interp_step step;
    floe_context_spec spec;
    uint32_t rows;    /* of an entropy chunk, at most: a power of 2 */
    uint32_t checked; /* log2 of the entropy chunks that a check is of */
    uint32_t level;   /* encoder */
    bool tables;      /* has tables of its own; else those of the coarser step */
    floe_context_grid grid;
    uint64_t nchunks;
} floe_interp_coding;

static inline uint64_t floe_interp_nchecks(const floe_interp_coding *c)
{
    return floe_ans_nchecks(c->nchunks, c->checked);
}

/* Bytes of the records of a step; and whole units of 16. */
static inline uint64_t floe_interp_records_nbytes(const floe_interp_coding *c)
{
    return floe_context_nrecords(&c->grid) * floe_context_record_nbytes(&c->spec);
}
static inline uint64_t floe_interp_records_room(const floe_interp_coding *c)
{
    return (floe_interp_records_nbytes(c) + 15) & ~(uint64_t)15;
}

typedef struct floe_interp_plan {
    uint64_t shape[FLOE_INTERP_RANK]; /* axes of one point left out, then ones in front */
    uint32_t nsteps;
    floe_interp_coding steps[FLOE_INTERP_STEPS];
} floe_interp_plan;

/* Everything natural, sequential, from level 0 on. */
floe_interp_structure floe_interp_structure_default(void);
/* Steps of a structure, without those of the quantizer; and without grids. */
void floe_interp_plan_of(const uint64_t shape[FLOE_INTERP_RANK], const floe_interp_structure *s,
                         floe_interp_plan *plan);
void floe_interp_plan_steps(const uint64_t shape[FLOE_INTERP_RANK], const floe_interp_structure *s,
                            floe_interp_plan *plan);
/* Lattice below a step's axes, and grid of its records. */
void floe_interp_coding_lay(floe_interp_coding *c);

/* Sizes that no structure exceeds, if axes that begin late begin at the same level: reals of all coarse lattices, of the two
 * largest, and of the anchors; bytes of the records of all steps, and of one. */
typedef struct floe_interp_needs {
    uint64_t coarse, lattice[2], anchors, records, step_records, nsteps;
} floe_interp_needs;
void floe_interp_needs_of(const uint64_t shape[FLOE_INTERP_RANK], floe_interp_needs *needs);

/* The last step whose fine lattice (nsteps: the anchors) has each 2^level-th point, and log2 of how many of its points there are to one
 * of those. */
uint32_t floe_interp_level_step(const floe_interp_plan *plan, uint32_t level, uint32_t shift[FLOE_INTERP_RANK]);

/* Steps of the quantizer for an absolute bound; max_abs: the largest magnitude in the lattices. */
void floe_interp_plan_quantize(floe_interp_plan *plan, const floe_interp_structure *s, bool narrow, double bound,
                               double max_abs);

/* With no more threads than have work, of so many boxes: starting one takes longer than few cells. */
floe_cpu floe_interp_cpu(const floe_cpu *cpu, uint64_t nboxes, uint32_t rank, const uint64_t *extent);

#endif
