/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of a chunk: how its array is transformed, step by step from the finest on, and how each step's details are coded. Whoever
 * encodes makes it of a structure, whoever decodes reads it (wavelet_layout.h). docs/format/wavelet.md. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_PLAN_H
#define FLOE_CODEC_WAVELET_WAVELET_PLAN_H

#include "codec/codec.h"
#include "stage/interp/interp.h"
#include "stage/interp/interp_entropy.h"
#include "stage/wavelet/wavelet.h"

enum {
    FLOE_WAVELET_STEPS = 64,
    FLOE_WAVELET_PACKET = 7, /* levels along the slowest axis alone, at most */
    FLOE_WAVELET_ENDS = 5,   /* axes of fewer points are left as they are */
    FLOE_WAVELET_CODE_MOST = 32767,
    FLOE_WAVELET_SHORTER = 4, /* at most */
    FLOE_WAVELET_TALL = 8,    /* beside it, up to version 3: entropy chunks have up to 64 rows of a plane */
    FLOE_WAVELET_OCTAVE = 8   /* exponents of steps are in eighths */
};

/* What is chosen for a field. Axes are those of the plan's shape. */
typedef struct floe_wavelet_structure {
    floe_wavelet_bank bank;
    uint32_t one_sided, frozen; /* bit a: axis a */
    uint32_t packet;            /* levels along the slowest axis, before all other axes */
    uint32_t theta;             /* in tenths */
    int32_t coarse;             /* in eighths: steps are bound * 2^coarse / norm^theta */
} floe_wavelet_structure;

typedef struct floe_wavelet_coding {
    floe_interp_step step; /* its lattices, and width; coarse: the means */
    floe_context_spec spec;
    floe_context_grid grid;
    uint64_t nchunks;
    uint32_t shorter; /* log2 of FLOE_CONTEXT_ROWS over the rows of an entropy chunk; plus FLOE_WAVELET_TALL */
    uint64_t ncodes;  /* encoder: that are not 0 */
    bool tables;      /* has tables of its own; else those of the coarser step */
    int8_t exponent[FLOE_INTERP_CLASSES];
    int8_t shift[FLOE_WAVELET_SHIFTS];
} floe_wavelet_coding;

typedef struct floe_wavelet_plan {
    uint64_t shape[FLOE_INTERP_RANK]; /* axes of one point left out, then ones in front */
    floe_wavelet_bank bank;
    uint32_t one_sided, packet, nsteps;
    int8_t packet_exponent[FLOE_WAVELET_PACKET + 1]; /* of the packet's bands, coarsest first */
    int8_t anchor_exponent;
    double base, center, unit; /* base: step of exponent 0; unit: of corrections */
    floe_wavelet_coding steps[FLOE_WAVELET_STEPS];
} floe_wavelet_plan;

/* Of a point along the slowest axis: its band of the packet. */
uint32_t floe_wavelet_packet_band(const floe_wavelet_plan *p, uint64_t at);
/* What coarsest means remain. */
static inline const uint64_t *floe_wavelet_anchors(const floe_wavelet_plan *p)
{
    return p->nsteps ? p->steps[p->nsteps - 1].step.coarse : p->shape;
}

void floe_wavelet_plan_of(const uint64_t shape[FLOE_INTERP_RANK], const floe_wavelet_structure *s,
                          floe_wavelet_plan *plan);
/* A grid of records, cut as `shorter` says. */
floe_context_grid floe_wavelet_grid_of(uint64_t planes, uint64_t rows, uint64_t columns, uint32_t shorter);
/* Lattice below a step's axes, and grid of its records. */
void floe_wavelet_coding_lay(floe_wavelet_coding *c);
/* How often to halve the rows of entropy chunks, so that their states stay a few percent of the bytes. Each is a chain, and few of them leave
 * a GPU idle. ncodes: that are not 0; coarse: once more. */
uint32_t floe_wavelet_shorter_for(uint64_t ncodes, uint64_t nrecords, bool coarse);
/* base * 2^(exponent / 8), rounded once. */
double floe_wavelet_step_of(double base, int32_t exponent);

/* 64 log2 of the norm of what a band's value of 1 adds to a signal: high or low band of so many levels. */
int32_t floe_wavelet_norm(floe_wavelet_bank bank, bool high, uint32_t depth);

/* Level K of an array: passes of the packet that are kept, the last step whose fine lattice has its points (nsteps: the anchors), and
 * log2 of how many of that lattice's points there are to one of the level. */
typedef struct floe_wavelet_level {
    uint32_t kept, step, shift[FLOE_INTERP_RANK];
} floe_wavelet_level;
floe_wavelet_level floe_wavelet_level_of(const floe_wavelet_plan *plan, uint32_t level);

/* Sizes that no structure exceeds: bytes of the records of all steps, and of one, where codes have 2 bytes. */
typedef struct floe_wavelet_needs {
    uint64_t records, step_records, nsteps;
} floe_wavelet_needs;
void floe_wavelet_needs_of(const uint64_t shape[FLOE_INTERP_RANK], floe_wavelet_needs *needs);
static inline uint64_t floe_wavelet_records_nbytes(const floe_wavelet_coding *c)
{
    return c->grid.size[0] * c->grid.size[1] * c->grid.size[2] * floe_context_record_nbytes(&c->spec);
}

#endif
