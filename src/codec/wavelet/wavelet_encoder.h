/* SPDX-License-Identifier: BSD-3-Clause */
/* A chunk that is being encoded, for the files that do so: array, filling, marks, tuner, and what joins them. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_ENCODER_H
#define FLOE_CODEC_WAVELET_WAVELET_ENCODER_H

#include "codec/wavelet/wavelet_bands.h"
#include "codec/wavelet/wavelet_chunk.h"
#include "codec/wavelet/wavelet_fill_math.h"
#include "codec/wavelet/wavelet_layout.h"
#include "codec/wavelet/wavelet_records.h"
#include "stage/interp/interp.h"
#include "field/look.h"
#include "stage/wavelet/wavelet_values.h"

typedef struct floe_wavelet_encoder {
    const floe_cpu *cpu;
    const floe_codec_params *params;
    const floe_wavelet_value_ops *ops;
    floe_interp_entropy entropy;
    floe_wavelet_needs needs;
    floe_wavelet_chunk chunk;
    floe_wavelet_bands bands;
    floe_wavelet_structure structure;
    uint64_t expected; /* bits of a value's codes, by the tuner */
    double share;      /* what a value of the array takes to one of the tuner's part, about */
    floe_interp_view values;
    bool narrow, squares, has_kinds;
    size_t size;                  /* of an element */
    uint64_t ncells, row, nmarks; /* row, nmarks: bytes of marks */
    double bound, max_abs;        /* in the domain */
    uint8_t *kept; /* an array, beside that of the bands: of a trial; else for what fills holes, then for anchors */
    uint8_t *records;
    void *records_of[FLOE_WAVELET_STEPS];
    bool listed[FLOE_WAVELET_STEPS];        /* steps whose records are lists */
    uint32_t tables_of[FLOE_WAVELET_STEPS]; /* the step that has the tables of this one */
    uint8_t *anchors;
    int8_t *marks[FLOE_WAVELET_MARK_SETS]; /* kinds: all 0 unless has_kinds */
    int8_t *holes;                         /* of a trial: kinds as they are before it */
    uint32_t *counts;                      /* of each step, and of two sets of marks, then a sum */
    floe_context_tables *tables;
    floe_wavelet_found *found; /* of each worker, then of all */
    floe_wavelet_means *means;
} floe_wavelet_encoder;

/* Everything but the field and its scratch. False where codec wavelet does not take such a chunk. */
bool floe_wavelet_encoder_begin(floe_wavelet_encoder *e, const floe_cpu *cpu, const floe_codec_params *params,
                                uint32_t rank, const uint64_t *extent);
/* The same encoder, for a chunk of another shape; scratch is that of the larger one. */
bool floe_wavelet_encoder_shape(floe_wavelet_encoder *e, uint32_t rank, const uint64_t *extent);
/* All scratch but that of e->entropy. */
void floe_wavelet_encoder_take(floe_wavelet_encoder *e, bool trial, floe_arena *arena);

/* Of an array of this range; min > max: of no values. */
void floe_wavelet_center_set(floe_wavelet_encoder *e, double min, double max);

/* Field -> array: range, center, and kinds; what no array can have is filled smoothly. */
void floe_wavelet_array_take(floe_wavelet_encoder *e);
/* NaN in the array becomes what its neighbours let expect, or 0 where all are NaN. */
void floe_wavelet_array_fill(floe_wavelet_encoder *e);
/* What that is made of, wherever the array is: run does a job; of marks it clears *holes where there are none, so that coarser levels are left
 * out, if it knows. */
typedef struct floe_wavelet_filling {
    floe_status (*run)(void *user, const floe_wavelet_fill_job *job, bool *holes);
    void *user;
    floe_wavelet_fill_level array; /* holes: two bytes for each value, and a few */
    uint8_t *values;               /* of coarse levels: as many as the array has, and a few */
} floe_wavelet_filling;
floe_status floe_wavelet_fill(const floe_wavelet_filling *f);

/* Codes of step i that are too large are cut, and what is near them becomes literals, unless they are more than this: then the step is left
 * out, with all coarser ones. */
uint64_t floe_wavelet_cuts_most(const floe_wavelet_encoder *e, uint32_t i);
/* The array by e->chunk.plan: to details and anchors; these to codes; codes back to the array that a decoder will have. code: false
 * where a bound is so small that no code will do. */
void floe_wavelet_array_forward(floe_wavelet_encoder *e);
bool floe_wavelet_array_code(floe_wavelet_encoder *e);
void floe_wavelet_array_back(floe_wavelet_encoder *e);
/* The array of codes against the field: corrections and kinds. */
void floe_wavelet_array_check(floe_wavelet_encoder *e);
const floe_wavelet_found *floe_wavelet_found_gather(floe_wavelet_encoder *e);

static inline floe_interp_records floe_wavelet_records_of(const floe_wavelet_encoder *e, uint32_t i)
{
    const floe_wavelet_coding *c = &e->chunk.plan.steps[i];
    return (floe_interp_records){&c->spec, &c->grid, e->records_of[i]};
}

/* Marks to sets: which they are, and whether literals are too many to be worth it. */
uint64_t floe_wavelet_pattern_at(const floe_wavelet_encoder *e, uint64_t position);
bool floe_wavelet_marks_sort(floe_wavelet_encoder *e);
/* Bits that a set would take. */
uint64_t floe_wavelet_marks_bits(floe_wavelet_encoder *e, int set);
void floe_wavelet_marks_write(floe_wavelet_encoder *e, const uint8_t *base, floe_cursor *to);

/* Base, unit and structure of the plan. */
void floe_wavelet_plan_make(floe_wavelet_encoder *e, const floe_wavelet_structure *s);
/* Chooses e->structure by trials of a part. Some fields are tried by a small one first. */
void floe_wavelet_tune(floe_wavelet_encoder *e, floe_wavelet_encoder *trial);
bool floe_wavelet_has_small(const floe_wavelet_encoder *e);
void floe_wavelet_trial_shape(const floe_wavelet_encoder *e, bool large, uint64_t part[FLOE_INTERP_RANK]);
typedef struct floe_wavelet_trial {
    floe_wavelet_structure structure;
    bool all;             /* corrections are made, too */
    uint64_t codes, bits; /* what codes and anchors take, and all */
} floe_wavelet_trial;
/* What it is made of: begin takes such a part, try finds what it takes. */
typedef struct floe_wavelet_trials {
    void (*begin)(void *user, bool large);
    void (*try)(void *user, floe_wavelet_trial *trials, uint32_t n);
    void *user;
} floe_wavelet_trials;
void floe_wavelet_search(floe_wavelet_encoder *e, const floe_wavelet_trials *trials);
/* How the place of a part is found in an array, less center; and by the bits of places, its point 0 and e->share. */
floe_look floe_wavelet_trial_look(const floe_wavelet_encoder *e, const floe_wavelet_encoder *trial, const void *array,
                                  double center);
void floe_wavelet_trial_place(floe_wavelet_encoder *e, const floe_look *look, const uint32_t *bits,
                              uint64_t lo[FLOE_INTERP_RANK]);
/* kept: where the part's values are, contiguous. */
void floe_wavelet_trial_begin(const floe_wavelet_encoder *e, bool large, floe_wavelet_encoder *trial,
                              floe_codec_params *params, void *kept);
uint64_t floe_wavelet_literals_bits(const floe_wavelet_encoder *trial, uint64_t n);
uint64_t floe_wavelet_anchors_bits(const floe_wavelet_encoder *trial);

#endif
