/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of a chunk: how its array is transformed, finest step first, and how the details of each step are coded. An encoder makes
 * it from a structure; a decoder reads it from the stream (wavelet_layout.h). docs/format/wavelet.md. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_PLAN_H
#define FLOE_CODEC_WAVELET_WAVELET_PLAN_H

#include "codec/codec.h"
#include "stage/lattice/lattice.h"
#include "stage/records/records.h"
#include "stage/wavelet/wavelet.h"

enum {
    FLOE_WAVELET_STEPS = 64,
    FLOE_WAVELET_PACKET = 7, /* the most levels along the slowest axis alone */
    FLOE_WAVELET_CODE_MOST = 32767,
    FLOE_WAVELET_SHORTER = 4, /* the largest `shorter` of a step, without FLOE_WAVELET_TALL */
    FLOE_WAVELET_TALL = 8,    /* added to it up to version 3: entropy chunks have up to 64 rows of a plane */
    FLOE_WAVELET_OCTAVE = 8   /* exponents of steps are in eighths of a power of 2 */
};

/* What the tuner chooses for a field. Axes are those of the plan's shape. */
typedef struct floe_wavelet_structure {
    floe_wavelet_bank bank;
    uint32_t one_sided, frozen; /* bit a: axis a */
    uint32_t packet;            /* levels along the slowest axis, before all other axes */
    uint32_t theta;             /* in tenths */
    int32_t coarse;             /* in eighths: steps are bound * 2^coarse / norm^theta */
} floe_wavelet_structure;
static inline bool floe_wavelet_is_same_transform(const floe_wavelet_structure *a, const floe_wavelet_structure *b)
{
    return a->bank == b->bank && a->one_sided == b->one_sided && a->frozen == b->frozen && a->packet == b->packet;
}

typedef struct floe_wavelet_coding {
    floe_lattice_step step; /* its lattices and width of codes; step.coarse holds the means */
    floe_context_spec spec;
    floe_context_grid grid;
    uint64_t nchunks;
    uint32_t shorter; /* log2 of FLOE_CONTEXT_ROWS over the rows of an entropy chunk; FLOE_WAVELET_TALL may be added */
    uint64_t ncodes;  /* encoder: codes that are not 0 */
    bool tables;      /* the step has its own tables; otherwise it uses those of the coarser step */
    int8_t exponent[FLOE_LATTICE_CLASSES];
    int8_t shift[FLOE_WAVELET_SHIFTS];
} floe_wavelet_coding;

typedef struct floe_wavelet_plan {
    uint64_t shape[FLOE_LATTICE_RANK]; /* without axes of one point, filled up with ones in front */
    floe_wavelet_bank bank;
    uint32_t one_sided, packet, nsteps;
    bool apart; /* bands of a packet come with the levels that take them (floe_wavelet_run); an encoder's do */
    int8_t packet_exponent[FLOE_WAVELET_PACKET + 1]; /* added for each band of the packet, coarsest first */
    int8_t anchor_exponent;
    double base, center, unit; /* base: step of exponent 0; unit: of corrections */
    floe_wavelet_coding steps[FLOE_WAVELET_STEPS];
} floe_wavelet_plan;

/* The band of the packet in which point `at` of the slowest axis lies. */
uint32_t floe_wavelet_packet_band(const floe_wavelet_plan *p, uint64_t at);
/* The shape of the anchors: the means that are left after the last step. */
static inline const uint64_t *floe_wavelet_anchors(const floe_wavelet_plan *p)
{
    return p->nsteps ? p->steps[p->nsteps - 1].step.coarse : p->shape;
}

void floe_wavelet_plan_of(const uint64_t shape[FLOE_LATTICE_RANK], const floe_wavelet_structure *s,
                          floe_wavelet_plan *plan);
/* A grid of records, cut into entropy chunks as `shorter` says. */
floe_context_grid floe_wavelet_grid_of(uint64_t planes, uint64_t rows, uint64_t columns, uint32_t shorter);
/* Sets the step's coarse lattice and the grid of its records. */
void floe_wavelet_coding_lay(floe_wavelet_coding *c);
/* How often to halve the rows of entropy chunks. A chunk is decoded as one chain, so that few long chunks leave a GPU idle; but the
 * states of chunks should stay a few percent of the bytes. ncodes: codes that are not 0. coarse: halves once more. */
uint32_t floe_wavelet_shorter_for(floe_preset preset, uint64_t ncodes, uint64_t nrecords, bool coarse);
/* base * 2^(exponent / 8), rounded once. */
double floe_wavelet_step_of(double base, int32_t exponent);

/* 64 times log2 of the norm of the signal that a value of 1 in a band stands for. The band is the high or low one after depth levels. */
int32_t floe_wavelet_norm(floe_wavelet_bank bank, bool high, uint32_t depth);

/* Where level K of an array is. kept: passes of the packet that stay undone. step: the last one whose fine lattice holds the level's
 * points; nsteps stands for the anchors. shift: log2 of the distance between such points in that lattice. */
typedef struct floe_wavelet_level {
    uint32_t kept, step, shift[FLOE_LATTICE_RANK];
} floe_wavelet_level;
floe_wavelet_level floe_wavelet_level_of(const floe_wavelet_plan *plan, uint32_t level);

/* Entropy chunks of steps lie in groups, numbered as steps, the coarsest one first. Group j has what the coarsest level that takes step j
 * needs of it and of coarser steps, but for what came before. Its run of step i: planes of the grid, or rows of the only plane, as a
 * grid of their own; perhaps none. */
typedef struct floe_wavelet_run {
    uint32_t kept; /* passes of the packet that this level leaves undone */
    uint32_t axis; /* of the grid, that is cut */
    floe_context_grid grid;
    uint64_t at, record, chunk, end; /* at: along that axis. record, chunk: the first one; end: of chunks */
} floe_wavelet_run;
floe_wavelet_run floe_wavelet_run_of(const floe_wavelet_plan *plan, uint32_t i, uint32_t j);
/* What lies in a run, or before it, of a box of the records of the step. */
static inline floe_context_box floe_wavelet_run_box(const floe_wavelet_run *r, const floe_context_box *box)
{
    floe_context_box b = *box;
    b.lo[r->axis] -= floe_min64(r->at, b.lo[r->axis]);
    b.hi[r->axis] -= floe_min64(r->at, b.hi[r->axis]);
    return b;
}

/* Between what a level's values are: those of the field, or with logarithms their magnitudes. Level 0 is what it is. */
floe_limits floe_wavelet_limits(const floe_limits *field, uint32_t level, bool log);

/* Sizes that no structure exceeds. records, step_records: bytes for all steps, for one step, with codes of 2 bytes. nchunks, nwindows:
 * entropy chunks of all steps, and windows of these, where chunks are the shortest. */
typedef struct floe_wavelet_needs {
    uint64_t records, step_records, nsteps, nchunks, nwindows;
} floe_wavelet_needs;
void floe_wavelet_needs_of(const uint64_t shape[FLOE_LATTICE_RANK], floe_wavelet_needs *needs);
static inline uint64_t floe_wavelet_records_nbytes(const floe_wavelet_coding *c)
{
    return c->grid.size[0] * c->grid.size[1] * c->grid.size[2] * floe_context_record_nbytes(&c->spec);
}

#endif
