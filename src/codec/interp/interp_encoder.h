/* SPDX-License-Identifier: BSD-3-Clause */
/* A chunk that is being encoded, for the files that do so: lattices, values apart, tuner, and what joins them. */
#ifndef FLOE_CODEC_INTERP_INTERP_ENCODER_H
#define FLOE_CODEC_INTERP_INTERP_ENCODER_H

#include "codec/interp/interp_chunk.h"
#include "stage/interp/interp.h"
#include "field/look.h"

typedef struct floe_interp_encoder {
    const floe_cpu *cpu;
    const floe_codec_params *params;
    const floe_interp_ops *ops;
    floe_interp_entropy entropy;
    floe_interp_needs needs;
    floe_interp_chunk chunk;
    floe_interp_structure structure;
    floe_interp_view values;
    const floe_codec_boxes *boxes; /* NULL: a field. Else values are the boxes of one, and the plan has their shape */
    /* for the tuner: tallies of n structures at once, FLOE_INTERP_LEVELS each; NULL: that is done here */
    void (*tally)(void *user, uint64_t nboxes, const floe_interp_structure *s, uint32_t n, floe_context_tally *tallies);
    void *user;
    /* for the tuner: where its boxes begin, and what a value of the field takes to one of theirs */
    int64_t box_at[FLOE_CODEC_BOXES];
    double share;
    bool narrow, squares;
    size_t size; /* of an element */
    uint64_t ncells, nbits;
    double bound, max_abs; /* absolute, and the largest magnitude, in the domain */
    uint8_t *originals, *lattices[2], *records, *anchors;
    void *original_of[FLOE_INTERP_STEPS + 1], *records_of[FLOE_INTERP_STEPS];
    uint32_t *counts; /* of each step, then a sum */
    floe_context_tables *tables;
    uint32_t tables_of[FLOE_INTERP_STEPS]; /* the step that has the tables of this one */
    uint64_t *apart, *part;                /* bits */
    uint32_t npalette;
    uint8_t *mask_records;
    floe_interp_found *found; /* of each worker */
    /* of a trial: encoders that share its boxes, on a thread each; one has them all, and all threads */
    struct floe_interp_encoder *sharers;
    uint32_t nsharers;
    floe_cpu sharer_cpu;
} floe_interp_encoder;

/* Everything but the field and its scratch. False where codec interp does not take such a chunk. */
bool floe_interp_encoder_begin(floe_interp_encoder *e, const floe_cpu *cpu, const floe_codec_params *params,
                               uint32_t rank, const uint64_t *extent);
/* All scratch but that of e->entropy: also the plan that sizes it. */
void floe_interp_encoder_take(floe_interp_encoder *e, floe_arena *arena);

/* Bound and largest magnitude in what lattices hold, values or logarithms. find: max_abs is looked for where the params lack it. */
void floe_interp_domain_set(floe_interp_encoder *e, double max_abs);
void floe_interp_domain_find(floe_interp_encoder *e);

/* Codes and values apart, by e->chunk.plan. */
void floe_interp_lattices_code(floe_interp_encoder *e);
void floe_interp_found_gather(const floe_interp_encoder *e, floe_interp_found *sum);
static inline floe_interp_records floe_interp_records_of(const floe_interp_encoder *e, uint32_t i)
{
    const floe_interp_coding *c = &e->chunk.plan.steps[i];
    return (floe_interp_records){&c->spec, &c->grid, e->records_of[i]};
}

/* The bits of a value. */
uint64_t floe_interp_pattern_at(const floe_interp_encoder *e, const uint64_t *point);

/* The set of a value apart. Patterns that no lattice gives join the palette as they come, while there is room: fill, NaN,
 * infinities, zeros; where all is patterns, any. */
int floe_interp_set_join(floe_interp_chunk *chunk, const floe_codec_params *params, uint64_t pattern,
                         uint32_t *npalette);
/* The palette, and which sets there are. False where literals are too many to be worth it. */
bool floe_interp_apart_find(floe_interp_encoder *e, uint64_t *napart);
/* All sets of values apart, and literals. */
void floe_interp_apart_write(floe_interp_encoder *e, floe_cursor *to);
/* A field of one pattern, the first, and sets of others. */
void floe_interp_flat_make(floe_interp_encoder *e);

/* Chooses the domain of lattices, e->structure, and the plan by it. trial has scratch for a part of the field. */
void floe_interp_choose(floe_interp_encoder *e, floe_interp_encoder *trial);
/* An encoder of boxes, but for scratch; and of a box for its trials. */
void floe_interp_estimate_begin(const floe_cpu *cpu, const floe_codec_boxes *boxes, floe_interp_encoder *e,
                                floe_interp_encoder *trial);
/* Bits of a value of the field, by e->boxes. */
double floe_interp_price(floe_interp_encoder *e, floe_interp_encoder *trial);
/* Extent of the part of which a trial is made. */
void floe_interp_trial_shape(const floe_interp_encoder *e, uint64_t part[FLOE_INTERP_RANK]);
/* Scratch of e->entropy, and of trials of such parts, or of e->boxes. */
void floe_interp_trials_take(floe_interp_encoder *e, floe_interp_encoder *trial, floe_arena *arena);
/* How many parts of such an extent are tried; what they count, coded with a structure, on the threads of trial->sharers. */
uint64_t floe_interp_trial_count(const floe_interp_encoder *e, const uint64_t part[FLOE_INTERP_RANK]);
void floe_interp_trial_tally(const floe_interp_encoder *e, floe_interp_encoder *trial, uint64_t nboxes,
                             const floe_interp_structure *s, floe_context_tally *tallies);
/* The plan of a trial by such a structure. */
void floe_interp_trial_plan(const floe_interp_encoder *e, const floe_interp_structure *s, floe_interp_encoder *trial);
/* Whether boxes of trials lie where the field takes most bits; how that is found; and e->box_at by it. */
bool floe_interp_trial_looks(const floe_interp_encoder *e);
floe_look floe_interp_trial_look(const floe_interp_encoder *e, const uint64_t part[FLOE_INTERP_RANK], uint64_t nboxes);
void floe_interp_trial_place(floe_interp_encoder *e, const uint64_t part[FLOE_INTERP_RANK], uint64_t nboxes);

#endif
