/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage interp on a GPU: what floe_interp_ops does, with the same bits. A block does a tile of cells, in shared memory; what it needs
 * of its neighbours' points it computes again. Every function puts kernels on a stream and returns a cudaError_t as a number. All
 * pointers are device memory.
 */
#ifndef FLOE_STAGE_INTERP_CUDA_H
#define FLOE_STAGE_INTERP_CUDA_H

#include <stdbool.h>

#include "stage/interp/interp_rule.h"
#include "stage/lattice/lattice_output_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A value that is stored apart: where in the field, and its bits. */
typedef struct floe_interp_dev_apart {
    uint64_t position, pattern;
} floe_interp_dev_apart;

enum { FLOE_INTERP_DEV_FEW = 512 };

/* What a call found; 0 at first. */
typedef struct floe_interp_dev_found {
    unsigned long long max_error, max_pw_error; /* patterns of doubles, of which the largest is the largest */
    unsigned long long squares, napart;
    floe_interp_dev_apart few[FLOE_INTERP_DEV_FEW]; /* the first of them that were found, in any order */
} floe_interp_dev_found;

/* The values of a field that are coded, and what is found of them. */
typedef struct floe_interp_dev_check {
    floe_lattice_view values;
    uint64_t shape[FLOE_LATTICE_RANK];
    bool log, squares;
    double tolerance;
    uint64_t fill;
    const bool *has_fill;    /* for floe_interp_thin: NULL, or device memory that shows whether */
    const uint64_t *fill_at; /* this is the fill value, in place of fill */
    uint64_t *apart;         /* a bit for each value, in rows of whole words; 0 at first */
    floe_interp_dev_found *found;
} floe_interp_dev_check;

/* As floe_interp_job; by value. */
typedef struct floe_interp_dev_job {
    floe_lattice_step step;
    floe_interp_rule rule;
    const void *coarse;
    void *records;
    uint64_t nrecords;      /* encode: those behind the last row become 0, too */
    floe_lattice_view fine; /* of point box.lo; data NULL: not requested */
    floe_lattice_box box;
    bool log, last;
    floe_lattice_view original; /* encode */
    uint64_t unit[FLOE_LATTICE_RANK];
    const uint32_t *status; /* not 0: nothing is done */
} floe_interp_dev_job;

/* A lattice of originals is thinned: the even points along the axes of a step make the next one. */
typedef struct floe_interp_dev_thin {
    floe_lattice_view from;
    void *to;
    floe_lattice_step step;
    uint64_t unit[FLOE_LATTICE_RANK];  /* from one point of `from` to the next, in values of the field */
    uint32_t shift[FLOE_LATTICE_RANK]; /* 1 where the axis is of the step, else 0 */
    bool last;                         /* `from` is the field itself */
} floe_interp_dev_thin;

/* Thins n > 0 times, the field first. A value that is stored apart becomes the mean of its neighbours. Then makes the anchors of the
 * coarsest lattice: a value that is no number becomes the one before, or the first. */
int floe_interp_thin_f32(const floe_interp_dev_thin *steps, uint32_t n, const floe_interp_dev_check *check,
                         void *anchors, void *stream);
int floe_interp_thin_f64(const floe_interp_dev_thin *steps, uint32_t n, const floe_interp_dev_check *check,
                         void *anchors, void *stream);
int floe_interp_encode_f32(const floe_interp_dev_job *job, const floe_interp_dev_check *check, void *stream);
int floe_interp_encode_f64(const floe_interp_dev_job *job, const floe_interp_dev_check *check, void *stream);
int floe_interp_decode_f32(const floe_interp_dev_job *job, void *stream);
int floe_interp_decode_f64(const floe_interp_dev_job *job, void *stream);

/* A lattice -> the box of a level, of which each point is 2^shift of the lattice's from the next along each axis. */
typedef struct floe_interp_dev_leave {
    const void *lattice;
    uint64_t shape[FLOE_LATTICE_RANK];
    uint32_t shift[FLOE_LATTICE_RANK];
    floe_lattice_output out;
    bool log;
    const uint32_t *status;
} floe_interp_dev_leave;
int floe_interp_leave_f32(const floe_interp_dev_leave *leave, void *stream);
int floe_interp_leave_f64(const floe_interp_dev_leave *leave, void *stream);

#ifdef __cplusplus
}
#endif
#endif
