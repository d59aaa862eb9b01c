/* SPDX-License-Identifier: BSD-3-Clause */
/* A chunk that is being encoded. Shared by the files that encode it: lattices, values apart, tuner, and interp_compress.c, which joins them. */
#ifndef FLOE_CODEC_INTERP_INTERP_ENCODER_H
#define FLOE_CODEC_INTERP_INTERP_ENCODER_H

#include "codec/interp/interp_chunk.h"
#include "stage/interp/interp.h"
#include "field/look.h"

/* A chunk of which too many values are literals is coded again. What boxes have not shown, careful structures do: the tuner takes a large
 * box, and no code is narrow. Cautious ones are as floe_interp_be_cautious says. */
typedef enum floe_interp_attempt { FLOE_INTERP_USUAL, FLOE_INTERP_CAREFUL, FLOE_INTERP_CAUTIOUS } floe_interp_attempt;

typedef struct floe_interp_encoder {
    const floe_cpu *cpu;
    const floe_codec_params *params;
    const floe_interp_ops *ops;
    floe_records_coder entropy;
    floe_interp_needs needs;
    floe_interp_chunk chunk;
    floe_interp_structure structure;
    floe_interp_attempt attempt;
    bool large; /* the tuner's boxes held few bits, or this is not the first attempt: it takes a large one */
    floe_lattice_view values;
    const floe_codec_boxes
        *boxes; /* NULL: values are a field. Otherwise they are boxes of one, and the plan has their shape */
    /* Tallies n structures for the tuner, FLOE_INTERP_LEVELS tallies each. NULL: the CPU does it. */
    void (*tally)(void *user, uint64_t nboxes, const floe_interp_structure *s, uint32_t n, floe_context_tally *tallies);
    void *user;
    /* For the tuner: where its boxes begin; bits of a mean value of the field over those of a mean value of the boxes. */
    int64_t box_at[FLOE_CODEC_BOXES];
    double share;
    bool narrow, squares;
    size_t size; /* of an element */
    uint64_t ncells, nbits;
    double bound, max_abs; /* the absolute bound and the largest magnitude, of values or of their logarithms */
    uint8_t *originals, *lattices[2], *records, *anchors;
    void *original_of[FLOE_INTERP_STEPS + 1], *records_of[FLOE_INTERP_STEPS];
    uint32_t *counts; /* of each step, then of the steps that share tables */
    floe_context_tables *tables;
    uint32_t tables_of[FLOE_INTERP_STEPS]; /* the step that has the tables of this one */
    uint64_t *apart, *part;                /* a bit for each value: all that are apart; those of one set */
    uint32_t npalette;
    uint8_t *mask_records;
    floe_interp_found *found; /* of each worker */
    /* Of a trial: encoders that divide its boxes, a thread each. A single one does all boxes with all threads. */
    struct floe_interp_encoder *sharers;
    uint32_t nsharers;
    floe_cpu sharer_cpu;
} floe_interp_encoder;

/* Sets all but the field and the scratch. Returns false where codec interp does not take such a chunk. turns: 0 for an extent that is a
 * shape. */
bool floe_interp_encoder_begin(floe_interp_encoder *e, const floe_cpu *cpu, const floe_codec_params *params,
                               uint32_t rank, const uint64_t *extent, uint32_t turns);
/* Takes all scratch but that of e->entropy; sets the plan by which it is sized. */
void floe_interp_encoder_take(floe_interp_encoder *e, floe_arena *arena);

/* Sets bound and max_abs for what lattices hold, values or logarithms. Where params lack the largest magnitude, it is looked for; of boxes
 * it is 0. */
void floe_interp_domain_set(floe_interp_encoder *e);

/* Finds the codes and the values apart, by e->chunk.plan. */
void floe_interp_lattices_code(floe_interp_encoder *e);
void floe_interp_found_gather(const floe_interp_encoder *e, floe_interp_found *sum);
static inline floe_records floe_interp_records_of(const floe_interp_encoder *e, uint32_t i)
{
    const floe_interp_coding *c = &e->chunk.plan.steps[i];
    return (floe_records){&c->spec, &c->grid, e->records_of[i]};
}

/* The bit pattern of a value. */
uint64_t floe_interp_pattern_at(const floe_interp_encoder *e, const uint64_t *point);

/* Returns the set of a value apart. Patterns that no lattice gives (fill, NaN, infinities, zeros) join the palette while there is room.
 * In a FLAT chunk any pattern does. */
uint32_t floe_interp_set_join(floe_interp_chunk *chunk, const floe_codec_params *params, uint64_t pattern,
                              uint32_t *npalette);
/* Finds the palette and the sets. Returns false where there are too many literals for the codec to pay. */
bool floe_interp_apart_find(floe_interp_encoder *e, uint64_t *napart);
/* How many literals this attempt may leave. */
uint64_t floe_interp_literals_most(const floe_codec_params *params, const floe_interp_plan *plan,
                                   floe_interp_attempt attempt);
/* The next attempt, after one that is not the cautious one. */
floe_interp_attempt floe_interp_attempt_after(const floe_codec_params *params, const floe_interp_plan *plan,
                                              floe_interp_attempt attempt);
/* Writes all sets of values apart, and the literals. */
void floe_interp_apart_write(floe_interp_encoder *e, floe_cursor *to);
/* Makes a FLAT chunk: one pattern, that of the first value, and sets of others. */
void floe_interp_flat_make(floe_interp_encoder *e);

/* The tuner: chooses the domain of the lattices, e->structure and the plan. trial has scratch for a part of the field. */
void floe_interp_choose(floe_interp_encoder *e, floe_interp_encoder *trial);
/* Sets up an encoder of boxes, and one for trials of a single box, both without scratch. */
void floe_interp_estimate_begin(const floe_cpu *cpu, const floe_codec_boxes *boxes, floe_interp_encoder *e,
                                floe_interp_encoder *trial);
/* The expected bits of a value of the field, by e->boxes. */
double floe_interp_price(floe_interp_encoder *e, floe_interp_encoder *trial);
/* The extent of the part of a field that one trial codes. */
void floe_interp_trial_shape(const floe_interp_encoder *e, uint64_t part[FLOE_LATTICE_RANK]);
/* Makes it a large one from now on. Returns false where it was as large, or preset or field do not allow that. */
bool floe_interp_trial_enlarge(floe_interp_encoder *e, floe_interp_encoder *trial);
/* Takes the scratch of e->entropy and of the trials, which code such parts or e->boxes. */
void floe_interp_trials_take(floe_interp_encoder *e, floe_interp_encoder *trial, floe_arena *arena);
/* How many parts of this extent are tried. _tally counts their symbols, coded with structure s, on the threads of trial->sharers. */
uint64_t floe_interp_trial_count(const floe_interp_encoder *e, const uint64_t part[FLOE_LATTICE_RANK]);
void floe_interp_trial_tally(const floe_interp_encoder *e, floe_interp_encoder *trial, uint64_t nboxes,
                             const floe_interp_structure *s, floe_context_tally *tallies);
/* Makes the plan of a trial with structure s. */
void floe_interp_trial_plan(const floe_interp_encoder *e, const floe_interp_structure *s, floe_interp_encoder *trial);
/* Whether the trials' boxes are placed where the field takes most bits. _look describes the search; _place sets e->box_at by it. */
bool floe_interp_trial_looks(const floe_interp_encoder *e);
floe_look floe_interp_trial_look(const floe_interp_encoder *e, const uint64_t part[FLOE_LATTICE_RANK], uint64_t nboxes);
void floe_interp_trial_place(floe_interp_encoder *e, const uint64_t part[FLOE_LATTICE_RANK], uint64_t nboxes);

#endif
