/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tuner knows of its trials, for the part that chooses the structure and the part that chooses how to code it. */
#ifndef FLOE_CODEC_INTERP_INTERP_TUNER_H
#define FLOE_CODEC_INTERP_INTERP_TUNER_H

#include "codec/interp/interp_encoder.h"

enum {
    FLOE_INTERP_STATE_BITS = 10, /* the least that a state takes besides what it carries */
    FLOE_INTERP_TRIALS = 64      /* structures that are remembered, with those expected */
};

/* Of the steps of a level, in all boxes. inner: codes that are not of the boxes' borders. */
typedef struct floe_interp_level_sums {
    uint64_t nrecords, ncodes;
    double inner;
    uint32_t naxes; /* the most of a step */
} floe_interp_level_sums;

/* Structures that have been tallied, then those that are expected to be requested: a GPU tallies all of these at once. */
typedef struct floe_interp_tuner {
    floe_interp_encoder *e, *trial;
    uint64_t nboxes;
    floe_interp_structure first; /* with which it begins */
    /* of the last trial */
    floe_interp_level_sums sums[FLOE_INTERP_LEVELS];
    uint64_t bits[FLOE_INTERP_LEVELS];
    floe_context_tally tally[FLOE_INTERP_LEVELS];
    uint32_t nlevels, ndone, nall;
    floe_interp_structure structures[FLOE_INTERP_TRIALS];
    floe_context_tally tallies[FLOE_INTERP_TRIALS][FLOE_INTERP_LEVELS];
} floe_interp_tuner;

static inline bool floe_interp_is_best(const floe_interp_encoder *e) { return e->params->preset == FLOE_PRESET_BEST; }

/* Sums by level, by the plan of the trial. */
void floe_interp_trial_sums(floe_interp_tuner *tuner);

/* Code widths, and rows of an entropy chunk, by the bits of each level in the last trial. */
void floe_interp_tune_coding(floe_interp_tuner *tuner, floe_interp_structure *best);

/* For a field of which the sample has shown too little: few levels, the shortest stencils, the widest codes, so that values that no
 * code reaches spoil few others. */
void floe_interp_be_cautious(floe_interp_structure *s);

#endif
