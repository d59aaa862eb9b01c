/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codec interp on a GPU, the kernels that handle a chunk's bytes; those of the stages are in stage/interp/interp_cuda.h and
 * stage/context/context_cuda.h. Every function puts one kernel on a stream and returns a cudaError_t as a number. All pointers are
 * device memory; structs go by value.
 */
#ifndef FLOE_CODEC_INTERP_GPU_INTERP_DEV_H
#define FLOE_CODEC_INTERP_GPU_INTERP_DEV_H

#include "codec/chunks/codec_record.h"
#include "codec/interp/interp_head_math.h"
#include "stage/context/context_cuda.h"
#include "stage/interp/interp_cuda.h"
#include "field/look_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values apart, and other work on all values of a chunk -------------------------------------------------------------- */

typedef enum floe_interp_bits_what {
    /* encode; of each word of bits, or each value */
    FLOE_INTERP_BITS_MOST,     /* out[0]: the largest finite magnitude, as a pattern of a double */
    FLOE_INTERP_BITS_FLAT,     /* to: values that are not base; out[0]: how many */
    FLOE_INTERP_BITS_NEGATIVE, /* to: values whose sign is set; out[0]: how many */
    FLOE_INTERP_BITS_PALETTE,  /* out[0]: ~ of where the first value is that the palette should have, too */
    FLOE_INTERP_BITS_COUNTS,   /* out[s]: values apart of set s */
    FLOE_INTERP_BITS_PICK,     /* to: those of from that are of the set */
    FLOE_INTERP_BITS_DIFFER,   /* to: differences of from along the axis */
    FLOE_INTERP_BITS_RECORDS,  /* from -> records */
    FLOE_INTERP_BITS_TALLY,    /* tallies: bits of each word of from */
    FLOE_INTERP_BITS_LIST,     /* from -> list, and literals, where there is room for them */
    /* decode */
    FLOE_INTERP_BITS_UNLIST,   /* src, a list -> values, of base or literals behind it */
    FLOE_INTERP_BITS_UNRECORD, /* records -> to */
    FLOE_INTERP_BITS_RESTORE,  /* to: sums of differences along the axis, in place */
    FLOE_INTERP_BITS_PLACE     /* from -> values, of base or literals */
} floe_interp_bits_what;

typedef struct floe_interp_bits_job {
    floe_interp_bits_what what;
    uint64_t shape[FLOE_LATTICE_RANK], row, nwords; /* row: words of one; each begins with a word */
    const uint64_t *from;
    uint64_t *to;
    uint8_t *records;
    uint64_t nrecords; /* those behind the last row become 0 */
    uint32_t axis;
    floe_lattice_output values;    /* encode: all, of which no box is needed */
    bool has_fill, flat, negative; /* negative: signs are set */
    uint64_t fill, base, palette[FLOE_INTERP_PALETTE];
    uint32_t npalette, set;
    unsigned long long *out;
    uint32_t *tallies, *list;
    uint64_t *ranks; /* of each word: bits before it */
    void *literals;
    /* decode */
    const uint8_t *src;     /* of the payload */
    const uint64_t *cursor; /* floe_interp_open_job */
    bool with_literals;
    uint64_t nbytes;
    uint32_t *status;
} floe_interp_bits_job;
int floe_interp_bits_cuda(const floe_interp_bits_job *job, void *stream);

/* ---- the tuner's trials ------------------------------------------------------------------------------------------------- */

enum { FLOE_INTERP_DEV_TRIALS = 16, FLOE_INTERP_DEV_BOXES = 32, FLOE_INTERP_DEV_LEVELS = 20 };

/* A step of a structure, of a box; records have codes of two bytes. unit: of its fine lattice, in values of the box. */
typedef struct floe_interp_dev_trial_step {
    floe_lattice_step step;
    floe_interp_rule rule;
    floe_context_dev_grid grid;
    uint32_t level;
    uint64_t unit[FLOE_LATTICE_RANK], records_at; /* records_at: in what a block has, a multiple of 16 */
} floe_interp_dev_trial_step;

/* bits: of each place that is looked at, the last of them last; tallies: of each level of each structure. */
typedef struct floe_interp_trials_found {
    uint64_t bits[FLOE_LOOK_PLACES];
    floe_context_tally tallies[FLOE_INTERP_DEV_TRIALS * FLOE_INTERP_DEV_LEVELS];
} floe_interp_trials_found;

FLOE_HD uint64_t *floe_interp_look_bits(floe_interp_trials_found *found, const floe_look *look)
{
    return found->bits + FLOE_LOOK_PLACES - floe_look_nplaces(look);
}

typedef struct floe_interp_trials_job {
    floe_interp_dev_check check;       /* values; how they come in */
    uint64_t part[FLOE_LATTICE_RANK];  /* extent of a box */
    int64_t at[FLOE_INTERP_DEV_BOXES]; /* the first value of each, but where bits of places choose them */
    bool by_bits, looks;               /* looks: bits are found first */
    floe_look look;
    uint32_t nboxes, ntrials, nlevels;
    floe_interp_dev_trial_step *steps;          /* of all structures, each finest first */
    uint32_t begin[FLOE_INTERP_DEV_TRIALS + 1]; /* of each structure */
    /* Structures whose codes are the same have one coding: of each structure, and by which of them it is made. */
    uint32_t ncodings, coding[FLOE_INTERP_DEV_TRIALS], coded[FLOE_INTERP_DEV_TRIALS];
    uint8_t *scratch; /* of each coding of each box: values, then records of all steps */
    uint64_t scratch_nbytes;
    uint64_t block_nbytes, values_nbytes; /* both multiples of 16 */
    uint32_t *counts;                     /* of each level of each structure */
    floe_interp_trials_found *found;
    uint32_t nvalues, warp_nbytes; /* nvalues: contexts, at most */
    uint32_t shared_nbytes;        /* of a block that has its values there; 0: none has */
    const uint32_t *status;
} floe_interp_trials_job;
int floe_interp_trials_f32(const floe_interp_trials_job *job, void *stream);
int floe_interp_trials_f64(const floe_interp_trials_job *job, void *stream);

/* ---- a chunk's bytes ------------------------------------------------------------------------------------------------------ */

enum { FLOE_INTERP_DEV_PIECES = 192 };

/* A set: a list of so many, or (grid > 0) the mask that is that grid. */
typedef struct floe_interp_dev_set {
    const uint32_t *list; /* its number, then positions; NULL: none */
    uint64_t count;
    uint32_t grid;
} floe_interp_dev_set;

typedef struct floe_interp_pack_job {
    floe_codec_record_job record;
    uint32_t nsteps; /* so many grids are steps; those behind are masks */
    uint8_t *header; /* as for a chunk with short sizes, whose steps have no tables of their own; aligned */
    uint32_t header_nbytes, steps_at, step_nbytes; /* steps, finest first */
    uint8_t checked[FLOE_INTERP_STEPS];            /* of each grid, as of its step */
    uint16_t *checks;                              /* room for them */
    const void *anchors, *literals;
    uint64_t anchors_nbytes, literals_nbytes;
    floe_interp_dev_set sets[FLOE_INTERP_SETS];
} floe_interp_pack_job;
int floe_interp_place_cuda(const floe_interp_pack_job *job, void *stream);

/* ---- opening ------------------------------------------------------------------------------------------------------------ */

/* Tables, sizes and places of the chunks of grids; or the number of a list. */
typedef struct floe_interp_open_job {
    const uint8_t *src;  /* the payload */
    uint64_t nbytes, at; /* at: where to begin, unless further */
    bool further, list, wide;
    uint64_t checks_nbytes;  /* which are for who has but a part of the chunk */
    uint32_t literal_nbytes; /* list: of the values that follow it; 0: none */
    floe_context_dev_grid *grids;
    uint32_t ngrids, nchunks;
    uint64_t own; /* bit g: grid g has tables of its own */
    floe_context_dev_tables *tables;
    uint64_t *places;
    uint64_t *cursor; /* where it ended, with literals behind that; where the list begins behind its number; that */
    const void *anchors_src; /* in src, or NULL */
    void *anchors;
    uint64_t anchors_nbytes;
    uint32_t *status;
} floe_interp_open_job;
int floe_interp_open_cuda(const floe_interp_open_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
