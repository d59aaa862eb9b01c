/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codec wavelet on a GPU: its row, and the calls behind it. The host makes the plan of a chunk, by a chunk's header
 * or by what it waits for; all else is kernels. The tuner's trials are parts, too; several are done at a time, their points in their places.
 */
#ifndef FLOE_CODEC_WAVELET_GPU_WAVELET_CODEC_GPU_H
#define FLOE_CODEC_WAVELET_GPU_WAVELET_CODEC_GPU_H

#include "codec/chunks/codec_lanes.h"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "codec/wavelet/wavelet_encoder.h"

extern const floe_codec_device floe_wavelet_gpu;

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

typedef struct floe_wavelet_gpu_decode {
    struct {
        uint64_t ncells, records, nchunks; /* records: bytes of all steps and marks */
    } room;                                /* how much of everything a full chunk has */
    uint8_t *array[2], *records;
    void *turned;               /* a copy of what a chunk is decoded to, if some are */
    floe_wavelet_open_job open; /* its memory alone */
    uint32_t *tickets;
    floe_codec_ranks ranks; /* of blocks of records of kinds */
} floe_wavelet_gpu_decode;

/* codec_device.h */
floe_status floe_wavelet_gpu_decode_plan(floe_codec_decode *call, floe_error *err);
void floe_wavelet_gpu_decode_take(floe_codec_decode *call, floe_arena *a);
floe_status floe_wavelet_gpu_decode_start(const floe_codec_decode *call, void *stream, floe_error *err);

/* ---- what both directions have in common -------------------------------------------------------------------------------- */

/* Step i of a plan, whose details `array` has, and its records. */
floe_wavelet_dev_codes floe_wavelet_gpu_codes(const floe_wavelet_plan *plan, uint32_t i, void *array, void *records);
/* Anchors of a plan, from one array to another. */
floe_wavelet_anchors_job floe_wavelet_gpu_anchors(const floe_wavelet_plan *plan, void *array, void *to, bool narrow);

/* An array that two buffers hold in turns; array[1] lies behind array[0], in the same memory. */
typedef struct floe_wavelet_gpu_turns {
    const floe_wavelet_plan *plan;
    uint8_t *array[2];
    size_t size; /* of a real */
    const uint32_t *status;
    void *stream;
    floe_error *err;
    uint32_t at;                    /* the buffer that has it */
    const void *first;              /* as in floe_wavelet_dev_lift: of the next pass */
    const floe_lattice_box *wanted; /* as in floe_wavelet_dev_lift */
    uint64_t apart;                 /* as in floe_wavelet_dev_lift */
} floe_wavelet_gpu_turns;
floe_status floe_wavelet_gpu_lift(floe_wavelet_gpu_turns *t, const floe_lattice_step *s, bool inverse);
/* Does the packet. The array is `first`, or in array[0]; where there are passes, array[1] has what comes of them: t->at. */
floe_status floe_wavelet_gpu_lift_packet(floe_wavelet_gpu_turns *t);
/* Undoes all its passes but the first `kept`. *array: where what comes of it begins, whether there is a packet or not. */
floe_status floe_wavelet_gpu_undo_packet(const floe_wavelet_gpu_turns *t, uint32_t kept, uint8_t **array);

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

enum { FLOE_WAVELET_GPU_GRIDS = FLOE_WAVELET_STEPS + 3 /* corrections, kinds, their differences */ };

/* How much of everything a chunk has at most, or a trial; n: of trials, how many there are at once. */
typedef struct floe_wavelet_gpu_room {
    uint64_t ncells, nmarks, records, nsteps, nchunks, nwindows, slot_words;
    uint32_t n;
} floe_wavelet_gpu_room;

/* What kernels find of a part, for the host. out: of kinds. range: of anchors. */
typedef struct floe_wavelet_gpu_findings {
    floe_wavelet_dev_found found;
    unsigned long long out, range[2], largest[FLOE_WAVELET_STEPS];
    floe_wavelet_means means[FLOE_WAVELET_STEPS];
} floe_wavelet_gpu_findings;

/* All that kernels find for the host. tallies, nbits: what each counted grid takes as entropy chunks, as a list. look: of places for the
 * tuner's box, or of the one that filling looks at. */
typedef struct floe_wavelet_gpu_results {
    uint64_t look[FLOE_LOOK_PLACES];
    floe_context_tally tallies[FLOE_WAVELET_GPU_GRIDS];
    unsigned long long nbits[FLOE_WAVELET_GPU_GRIDS];
    floe_wavelet_gpu_findings part[FLOE_WAVELET_DEV_JOBS]; /* of each trial; the chunk has the first while none runs */
} floe_wavelet_gpu_results;

/* Scratch. Two buffers hold an array in turns. */
typedef struct floe_wavelet_gpu_encode {
    floe_codec_written written;
    floe_wavelet_gpu_room room, trials[2]; /* trials: of the small box, if there is one, and of the large one */
    uint8_t *arrays, *records; /* arrays: later the slots of entropy chunks, when values have been checked */
    void *turned;              /* a copy of the chunk, if some are turned */
    int8_t *kinds, *corrections, *differences;
    /* A box of the array, and what each trial of it takes. trial_arrays: each trial puts its array back in one; behind these lie the
     * transformed arrays that trials begin with, one more than trials. */
    uint8_t *box, *trial_arrays, *trial_records;
    int8_t *holes, *trial_corrections;
    floe_wavelet_gpu_results *results;
    floe_wavelet_pack_job pack;   /* its memory alone, with that of record and context */
    floe_wavelet_lists_job lists; /* its memory alone */
    size_t cleared_nbytes; /* of memory from context.tokens_taken on, that the host clears before it counts grids */
    uint32_t *coded_counts;
    floe_codec_ranks ranks; /* of blocks of records of kinds */
    /* Anchors and literals; a chunk with more of them is stored raw. Tokens take the room behind them. */
    uint32_t *payload;
    uint64_t payload_nbytes;
} floe_wavelet_gpu_encode;

/* codec_device.h */
floe_status floe_wavelet_gpu_encode_plan(floe_codec_encode *call, floe_error *err);
floe_status floe_wavelet_gpu_encode_take(floe_codec_encode *call, floe_arena *state, floe_arena *a, floe_error *err);
floe_status floe_wavelet_gpu_encode_start(const floe_codec_encode *call, void *stream, floe_error *err);
floe_status floe_wavelet_gpu_squared_error(const floe_codec_encode *call, const floe_codec_params *params, double *sum,
                                           void *stream, floe_error *err);

/* ---- what these are made of -------------------------------------------------------------------------------------------- */

typedef struct floe_wavelet_gpu_work {
    const floe_wavelet_gpu_encode *c;
    const struct floe_cuda *cuda;
    void *stream;
    uint32_t *status;
    floe_error *err;
} floe_wavelet_gpu_work;

/* An array that is encoded: of the chunk, or of a trial. Of e.* pointers to scratch only values, records, records_of and marks are
 * used; they are device memory. */
typedef struct floe_wavelet_gpu_part {
    const floe_wavelet_gpu_work *w;
    floe_wavelet_encoder e;
    floe_wavelet_gpu_findings *findings;
    uint8_t *array[2],
        *from[2];      /* from: where details and anchors are; the same, unless another part transformed them */
    bool trial;        /* its kinds are read alone */
    bool in_place;     /* its points are in their places: from[0], array[0] */
    bool loaded;       /* array[0] has the values, less center */
    bool cleared;      /* kinds are 0 */
    bool lifted;       /* the steps of e.chunk.plan are done */
    const void *first; /* values that the first pass takes itself, less center; NULL: they are loaded */
    uint8_t *back;     /* where the array was put back; NULL: it has not been */
    uint32_t at[FLOE_WAVELET_STEPS + 1]; /* buffer that has each step's details; then anchors */
    uint32_t *anchors;                   /* their bits; NULL: nobody needs them */
    uint32_t ncoded;                     /* steps that forward has coded: the finest, or none */
    floe_wavelet_dev_found found;
} floe_wavelet_gpu_part;

/* Bytes of a buffer of an array; what fills holes takes one, too. */
static inline uint64_t floe_wavelet_gpu_buffer_nbytes(uint64_t ncells, uint64_t size)
{
    return ((ncells + 64) * size + 255) & ~(uint64_t)255;
}
static inline void floe_wavelet_gpu_arrays_of(floe_wavelet_gpu_part *p, uint8_t *arrays)
{
    p->array[0] = p->from[0] = arrays;
    p->array[1] = p->from[1] = arrays + floe_wavelet_gpu_buffer_nbytes(p->e.ncells, p->e.size);
}

/* Clears memory on the side, for when the host fetches something; floe_cuda_join comes behind that. */
floe_status floe_wavelet_gpu_clear_beside(const floe_wavelet_gpu_work *w, void *dev, size_t nbytes);
/* As floe_look_all, of at most FLOE_LOOK_PLACES places. part: a floe_wavelet_gpu_part that is being encoded. */
floe_status floe_wavelet_gpu_look(void *part, const floe_look *look, uint64_t *bits);
/* As floe_wavelet_array_take, _forward, _code and _check, by e.chunk.plan; but it is _forward that sets corrections to 0. */
floe_status floe_wavelet_gpu_array_take(floe_wavelet_gpu_part *p);
floe_status floe_wavelet_gpu_array_forward(floe_wavelet_gpu_part *p);
/* The passes of _forward, if that is to be called with such a plan. */
floe_status floe_wavelet_gpu_array_lift(floe_wavelet_gpu_part *p);
floe_status floe_wavelet_gpu_array_code(floe_wavelet_gpu_part *p, bool *good);
floe_status floe_wavelet_gpu_array_check(floe_wavelet_gpu_part *p);
/* Passes of arrays whose points are in their places: those of a part's plan. */
floe_status floe_wavelet_gpu_places_add(const floe_wavelet_gpu_part *p, void *array, const void *from,
                                        floe_wavelet_dev_places *places);
floe_status floe_wavelet_gpu_places_lift(const floe_wavelet_gpu_part *p, const floe_wavelet_dev_places *places);
/* As _code and _check, of several such parts together, without a wait. from[0] of each is transformed already. With `all` its array[0] is
 * put back and checked; otherwise its codes are counted alone. Findings and corrections are 0 at first. */
typedef struct floe_wavelet_gpu_round {
    uint32_t n, ncodes, nchecks;
    floe_wavelet_dev_codes codes[FLOE_WAVELET_GPU_GRIDS];
    void *decoded[FLOE_WAVELET_GPU_GRIDS]; /* NULL: no array */
    floe_wavelet_anchors_job anchors[FLOE_WAVELET_DEV_JOBS];
    floe_wavelet_values_job checks[FLOE_WAVELET_DEV_JOBS];
    floe_wavelet_dev_places back;
} floe_wavelet_gpu_round;
floe_status floe_wavelet_gpu_round_add(floe_wavelet_gpu_part *p, bool all, floe_wavelet_gpu_round *r);
floe_status floe_wavelet_gpu_round_do(const floe_wavelet_gpu_part *p, floe_wavelet_gpu_round *r);
/* By what was found of anchors; false where they would take more bits than they are worth. */
bool floe_wavelet_gpu_anchors_set(floe_wavelet_gpu_part *p, const unsigned long long *range);

/* Grids that are counted, and what they take. */
typedef struct floe_wavelet_gpu_grids {
    uint32_t n;
    floe_context_dev_grid grid[FLOE_WAVELET_GPU_GRIDS];
    uint64_t count[FLOE_WAVELET_GPU_GRIDS]; /* codes that are not 0 */
    uint64_t bits[FLOE_WAVELET_GPU_GRIDS];  /* as floe_wavelet_records_bits has them */
    bool list[FLOE_WAVELET_GPU_GRIDS];      /* whether that is as a list */
    uint64_t nwindows;
    uint32_t *tokens; /* that are kept for encoding, for the whole of it; NULL: none */
    uint64_t ntokens;
} floe_wavelet_gpu_grids;
void floe_wavelet_gpu_grid_add(floe_wavelet_gpu_grids *g, const floe_context_spec *spec, const floe_context_grid *grid,
                               void *records);
/* All of a part's steps, coarsest first. */
void floe_wavelet_gpu_steps_add(floe_wavelet_gpu_grids *g, const floe_wavelet_encoder *e);
/* Counts the grids, and waits. Fetches what was found of them, and of the first nparts parts. */
floe_status floe_wavelet_gpu_count(const floe_wavelet_gpu_work *w, floe_wavelet_gpu_grids *g, uint32_t nparts,
                                   floe_wavelet_gpu_results *found);
floe_context_job floe_wavelet_gpu_context(const floe_wavelet_gpu_work *w, const floe_wavelet_gpu_grids *g);

/* Chooses e.structure of a chunk whose array is loaded. Its passes may be done by then. */
floe_status floe_wavelet_gpu_tune(floe_wavelet_gpu_part *p);

#endif
