/* SPDX-License-Identifier: BSD-3-Clause */
/* What is decided by a sample: the codec that AUTO stands for, and where the search for a ratio begins. */
#ifndef FLOE_CALL_CHOICE_H
#define FLOE_CALL_CHOICE_H

#include "call/resolve.h"
#include "field/look.h"

/* What a codec made of a whole field as one chunk. */
typedef struct floe_trial {
    floe_codec_params params;
    uint64_t nbytes;
    floe_chunk_stats stats;
} floe_trial;

/* A part of a field by which codecs and bounds are compared: boxes, one behind the other. Preset balanced has many small ones, by which
 * codecs estimate; others, and the search for a ratio, have few that are coded. They lie where the bits are, once a bound is known. */
typedef struct floe_sample {
    const floe_cpu *cpu;
    floe_header header; /* of the field */
    uint64_t box[FLOE_MAX_RANK], nboxes;
    bool estimates, widens; /* widens: there is room for the whole field */
    bool is_few;            /* the field is soon coded by each codec: it is no sample, but for a ratio */
    floe_look look;         /* how places are looked at, and which of them have boxes: even ones until that is done */
    floe_look_boxes boxes;
    /* Where the field is: puts the box at lo, of to's shape, into to, which is contiguous. */
    floe_status (*read)(void *user, const uint64_t *lo, const floe_field *to);
    void *user;
    const floe_field *whole; /* the field, where codecs reach it; NULL: it is elsewhere, or in parts */
    /* Or: bits of all places by the look, and estimates by its boxes, where they are; NULL: their values have been read. */
    floe_status (*find_bits)(void *user, const struct floe_sample *sample, uint64_t *bits);
    floe_status (*estimate)(void *user, const struct floe_sample *sample, floe_codec_boxes *boxes, double *bits);
    /* Or: codes its values, which are where read puts them, by trial->params: the rest of the trial, and its bytes where they are on the
     * host, or (not NULL) the squared error. NULL, or UNSUPPORTED, MEMORY or LIMIT: that is done here, where there is room. */
    floe_status (*code)(void *user, const struct floe_sample *sample, floe_trial *trial, const uint8_t **bytes,
                        double *squares);
    /* Gets each trial of the whole field whose bytes are on the host, which the next one overwrites. NULL: they are not wanted. */
    floe_status (*keep)(void *keeper, const floe_trial *trial, const uint8_t *bytes);
    void *keeper;
    void *values;
    uint8_t *coded;
    uint64_t coded_nbytes;
    void *scratch;
    size_t scratch_nbytes;
    floe_error *err;
} floe_sample;

/* The boxes of a field of this layout. here: the field, where codecs reach it, or NULL. one_chunk: any codec of the choice, but the first,
 * takes it as a whole. */
floe_sample floe_sample_of(const floe_cpu *cpu, const floe_header *header, const floe_field *here, bool one_chunk,
                           floe_error *err);
/* Adds what coding by this codec takes; then its memory, which a plan may size. */
floe_status floe_sample_add(floe_sample *sample, floe_codec codec);
void floe_sample_take(floe_sample *sample, floe_arena *arena);
/* Reads the values, if they are to be coded. */
floe_status floe_sample_load(floe_sample *sample);
/* The look at a field in memory, or at a box of it. */
floe_look floe_sample_look_at(const floe_sample *sample, const floe_field *field);
/* Looks where its boxes should lie for such params, if they are several, and reads their values. */
floe_status floe_sample_look(floe_sample *sample, const floe_codec_params *params);
/* Whether its values are coded, at least before it estimates. */
bool floe_sample_is_coded(const floe_sample *sample);

/* The sample becomes the whole field. */
floe_status floe_sample_widen(floe_sample *sample);

/* The sample as one field for a codec; and one that it may become. */
floe_header floe_sample_header(const floe_sample *sample, floe_codec codec);
floe_sample floe_sample_whole(const floe_sample *sample);
uint64_t floe_sample_raw_nbytes(const floe_sample *sample);
/* Bytes of a copy of its values, or of those of the field, where it needs one; and the values as a codec gets them. */
uint64_t floe_sample_room_nbytes(const floe_sample *sample);
floe_field floe_sample_values(const floe_sample *sample, floe_codec codec);
/* Where box number b begins. */
void floe_sample_place(const floe_sample *sample, uint64_t b, uint64_t lo[FLOE_MAX_RANK]);
/* The boxes of one that estimates, but for where their values are; and params to plan for, before a range is known. */
floe_codec_boxes floe_sample_boxes(const floe_sample *sample, const floe_codec_params *params);
floe_codec_params floe_sample_params(const floe_sample *sample, floe_codec codec);
/* Bits of a value by those. It takes so many by the best so far (inf: there is none). */
floe_status floe_sample_estimate(const floe_sample *sample, const floe_codec_params *params, double best, double *bits);
/* The squared error that coding with params leaves; of one that does not estimate, bytes of that. */
floe_status floe_sample_squared_error(const floe_sample *sample, const floe_codec_params *params, double *sum);
floe_status floe_sample_code(const floe_sample *sample, const floe_codec_params *params, uint64_t *nbytes);

/* The boxes of a chunk source, whose chunks can be walked more than once. */
typedef struct floe_sample_source {
    floe_chunk_source *chunks;
    floe_ctx *ctx;
} floe_sample_source;
/* source is read as long as the sample is used. */
void floe_sample_read_from(floe_sample *sample, floe_sample_source *source);

enum { FLOE_CHOICE_MOST = 8 };

/* The codecs that such a field may get: the one of params, or those that AUTO tries on a sample. one_chunk: each, but the first, takes it
 * as a whole. */
typedef struct floe_choice {
    uint32_t n;
    bool one_chunk;
    floe_codec codecs[FLOE_CHOICE_MOST];
} floe_choice;
floe_choice floe_choice_of(const floe_field *layout, const floe_params *params);
/* The sample of a field for coding by any of them. */
floe_status floe_choice_sample(const floe_choice *choice, const floe_cpu *cpu, const floe_header *header,
                               const floe_field *here, floe_sample *sample, floe_error *err);

/* The best of several for what sample->header requests, whose range and fill are known: the smallest, for RATIO the smallest bound. */
floe_status floe_choice_make(const floe_choice *choice, floe_sample *sample, const floe_range *range,
                             floe_codec *codec);
/* The same by the sample alone. What it does not tell apart from the best is left in the choice: one, unless the sample widens. */
floe_status floe_choice_by_sample(floe_choice *choice, floe_sample *sample, const floe_range *range, floe_codec *codec);
/* And by the whole field then. */
floe_status floe_choice_by_whole(floe_choice *choice, floe_sample *sample, const floe_range *range, floe_codec *codec);

/* Bytes of something coded with such bounds; abs_bound 0: lossless. */
typedef floe_status (*floe_ratio_try)(void *user, double abs_bound, double tuner_bound, uint64_t *nbytes);
typedef struct floe_ratio {
    floe_ratio_try attempt;
    void *user;
    uint64_t raw_nbytes;
} floe_ratio;

/* The bounds for which the stream of a field that varies has about the ratio header->bound, or the nearest that the codec
 * comes to. The ratio is tried on the sample, then on the whole, unless that is NULL. off_db: out, how far the ratio is off (may be NULL). */
floe_status floe_ratio_resolve(const floe_ratio *whole, const floe_sample *sample, const floe_range *range,
                               floe_header *header, double *off_db);

#endif
