/* SPDX-License-Identifier: BSD-3-Clause */
/* A chunk that is being encoded. Shared by the files that encode it: array, filling, marks, tuner, and wavelet_compress.c, which joins them. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_ENCODER_H
#define FLOE_CODEC_WAVELET_WAVELET_ENCODER_H

#include "codec/wavelet/wavelet_bands.h"
#include "codec/wavelet/wavelet_chunk.h"
#include "codec/wavelet/wavelet_fill_math.h"
#include "codec/wavelet/wavelet_layout.h"
#include "codec/wavelet/wavelet_records.h"
#include "stage/lattice/lattice.h"
#include "field/look.h"
#include "stage/wavelet/wavelet_values.h"

typedef struct floe_wavelet_encoder {
    const floe_cpu *cpu;
    const floe_codec_params *params;
    const floe_wavelet_value_ops *ops;
    floe_records_coder entropy;
    floe_wavelet_needs needs;
    floe_wavelet_chunk chunk;
    floe_wavelet_bands bands;
    floe_wavelet_structure structure;
    uint64_t expected; /* bits of a value's codes, by the tuner */
    uint32_t rough; /* bit a: along axis a of the tuner's part values are hard to predict, compared with other axes */
    bool uneven;    /* where the tuner looked last, some places take much fewer bits than others */
    bool even;      /* a small field that is not so: the tuner needs less of it, and fewer trials */
    double share;   /* about: bits of a mean value of the array over those of a mean value of the tuner's part */
    floe_lattice_view values;
    bool narrow, squares, has_kinds;
    size_t size;                  /* of an element */
    uint64_t ncells, row, nmarks; /* row, nmarks: bytes of marks */
    double bound, max_abs;        /* of values, or of their logarithms */
    uint8_t
        *kept; /* a second array. Trial: the values of its part. Otherwise coarse levels of the filling, then anchors */
    uint8_t *records;
    void *records_of[FLOE_WAVELET_STEPS];
    bool listed[FLOE_WAVELET_STEPS];        /* the step's records are stored as a list */
    uint32_t tables_of[FLOE_WAVELET_STEPS]; /* the step that has the tables of this one */
    uint8_t *anchors;
    int8_t *marks[FLOE_WAVELET_MARK_SETS]; /* kinds: all 0 unless has_kinds */
    uint8_t *back;                         /* of a trial: a third array, to which codes are turned */
    bool transformed;                      /* a trial's array has the transform of e->structure */
    uint32_t *counts;                      /* of each step, of both sets of marks, then of steps that share tables */
    floe_context_tables *tables;
    floe_wavelet_found found, *found_by; /* in the rows that were visited last; found_by: by each worker */
    floe_wavelet_means *means;           /* of each worker */
} floe_wavelet_encoder;

/* Sets all but the field and the scratch. Returns false where codec wavelet does not take such a chunk. turns: 0 for an extent that is a
 * shape. */
bool floe_wavelet_encoder_begin(floe_wavelet_encoder *e, const floe_cpu *cpu, const floe_codec_params *params,
                                uint32_t rank, const uint64_t *extent, uint32_t turns);
/* Turns the encoder to a chunk of another shape. Its scratch was taken for the larger of both. */
bool floe_wavelet_encoder_shape(floe_wavelet_encoder *e, uint32_t rank, const uint64_t *extent, uint32_t turns);
/* Takes all scratch but that of e->entropy. */
void floe_wavelet_encoder_take(floe_wavelet_encoder *e, bool trial, floe_arena *arena);

/* Sets the center of an array of this range. min > max: the array has no values. */
void floe_wavelet_center_set(floe_wavelet_encoder *e, double min, double max);

/* Field -> array. Finds range, center and kinds; fills smoothly what no array can hold. */
void floe_wavelet_array_take(floe_wavelet_encoder *e);
/* Replaces each NaN of the array by a value that is smooth with its neighbours, or by 0 where all are NaN. */
void floe_wavelet_array_fill(floe_wavelet_encoder *e);
/* The steps of that filling, on either machine. run does one job. After a job that marks holes, run may clear *holes if none is left:
 * then coarser levels are left out. look: as floe_look_all, of one place. */
typedef struct floe_wavelet_filling {
    floe_status (*run)(void *user, const floe_wavelet_fill_job *job, bool *holes);
    floe_status (*look)(void *user, const floe_look *look, uint64_t *bits);
    void *user;
    floe_wavelet_fill_level array; /* values, holes; these: room for two bytes for each value, and a few more */
    uint8_t *values;               /* of coarse levels: room for as many as the array has, and a few more */
} floe_wavelet_filling;
floe_status floe_wavelet_fill(const floe_wavelet_encoder *e, floe_wavelet_filling *f);

/* The most codes of step i that may be cut because they are too large; values near them become literals. With more of them, step i and
 * all coarser ones are left out. */
uint64_t floe_wavelet_cuts_most(const floe_wavelet_encoder *e, uint32_t i);
/* By e->chunk.plan: _forward turns the array to details and anchors, _code turns these to codes, _back turns codes to the array that a
 * decoder will have. _again lays the codes of a plan whose transform the array has already; it returns false where some step must be left
 * out. _code returns false where the bound is too small for any code. */
void floe_wavelet_array_forward(floe_wavelet_encoder *e);
bool floe_wavelet_array_again(floe_wavelet_encoder *e);
bool floe_wavelet_array_code(floe_wavelet_encoder *e);
void floe_wavelet_array_back(floe_wavelet_encoder *e);
/* Compares the array that a decoder will have with the field; makes corrections and kinds. */
void floe_wavelet_array_check(floe_wavelet_encoder *e);

/* Sets where in e->records those of each step of the plan begin. */
void floe_wavelet_records_place(floe_wavelet_encoder *e);
static inline floe_records floe_wavelet_records_of(const floe_wavelet_encoder *e, uint32_t i)
{
    const floe_wavelet_coding *c = &e->chunk.plan.steps[i];
    return (floe_records){&c->spec, &c->grid, e->records_of[i]};
}

/* The bit pattern of the value at a position. */
uint64_t floe_wavelet_pattern_at(const floe_wavelet_encoder *e, uint64_t position);
/* Finds the palette and the sets of marks. Returns false where there are too many literals for the codec to pay. */
bool floe_wavelet_marks_sort(floe_wavelet_encoder *e);
/* The bits that a set would take. */
uint64_t floe_wavelet_marks_bits(floe_wavelet_encoder *e, int set);
void floe_wavelet_marks_write(floe_wavelet_encoder *e, const uint8_t *base, floe_cursor *to);

/* Makes the plan of a structure, with its base and unit. */
void floe_wavelet_plan_make(floe_wavelet_encoder *e, const floe_wavelet_structure *s);
enum { FLOE_WAVELET_FEW_CELLS = 4096 /* a field of fewer cells is not worth more trials */ };
/* The tuner: chooses e->structure by trials of a part of the field. For some fields a small part is tried first. */
void floe_wavelet_tune(floe_wavelet_encoder *e, floe_wavelet_encoder *trial);
static inline bool floe_wavelet_is_best(const floe_wavelet_encoder *e) { return e->params->preset == FLOE_PRESET_BEST; }
/* is_small: the field is so small that a small part of it is the smaller for that. */
bool floe_wavelet_has_small(const floe_wavelet_encoder *e);
bool floe_wavelet_is_small(const floe_wavelet_encoder *e);
void floe_wavelet_trial_shape(const floe_wavelet_encoder *e, bool large, uint64_t part[FLOE_LATTICE_RANK]);
typedef struct floe_wavelet_trial {
    floe_wavelet_structure structure;
    bool all; /* the trial makes corrections, too */
    uint64_t codes,
        bits; /* bits of codes and anchors; bits of all; UINT64_MAX: it has not been tried, or cannot be coded */
} floe_wavelet_trial;
/* The tuner's steps, on either machine: begin takes a part of the field, try fills codes and bits of n trials. settle, unless it is NULL:
 * whatever is chosen in the end will have the transform of s. */
typedef struct floe_wavelet_trials {
    void (*begin)(void *user, bool large);
    void (*try)(void *user, floe_wavelet_trial *trials, uint32_t n);
    void (*settle)(void *user, const floe_wavelet_structure *s);
    void *user;
} floe_wavelet_trials;
void floe_wavelet_search(floe_wavelet_encoder *e, const floe_wavelet_trials *trials);
/* Describes the search for the place of a part in an array, whose values lack center; without probes there is no need for it. _place sets
 * the part's first point, e->share, e->rough and e->uneven by the bits that the search found. */
floe_look floe_wavelet_trial_look(const floe_wavelet_encoder *e, const floe_wavelet_encoder *trial, const void *array,
                                  double center);
void floe_wavelet_trial_place(floe_wavelet_encoder *e, const floe_look *look, const uint64_t *bits,
                              uint64_t lo[FLOE_LATTICE_RANK]);
/* kept: the values of the part, contiguous. */
void floe_wavelet_trial_begin(const floe_wavelet_encoder *e, bool large, floe_wavelet_encoder *trial,
                              floe_codec_params *params, void *kept);
uint64_t floe_wavelet_literals_bits(const floe_wavelet_encoder *trial, uint64_t n);
uint64_t floe_wavelet_anchors_bits(const floe_wavelet_encoder *trial);

#endif
