/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A codec turns one chunk (a box of the field) into bytes and back. The bytes carry all that decoding needs except dtype
 * and extent, which the container's header gives. A chunk's bytes depend on its values and the parameters only.
 */
#ifndef FLOE_CODEC_CODEC_H
#define FLOE_CODEC_CODEC_H

#include <stdbool.h>

#include <floe/floe.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/text_buffer.h"
#include "field/field.h"

/* What is left of floe_params once the range is known: rel and psnr have become abs. */
typedef struct floe_codec_params {
    floe_dtype dtype;
    floe_codec codec; /* not AUTO */
    floe_preset preset;
    floe_bound_mode mode; /* ABS, PWREL, LOSSLESS; codec zfp: RATE or PREC too */
    double bound;         /* ABS, RATE: > 0 and finite; PWREL: > 0 and < 1; PREC: 1 to 64, whole; LOSSLESS: ignored */
    double tuner_bound;   /* by which a tuner chooses, as if it were the absolute bound; 0: that is */
    bool mean;            /* the bound comes of a PSNR: the mean of the squared errors counts, and no single one */
    uint32_t
        tables; /* ABS: so many steps of a quantizer span all values, or more than 2^16; 0: codec lorenzo makes no tables */
    double max_abs; /* largest finite magnitude of the whole field if known, else NaN: steers the step */
    double
        least_abs; /* least magnitude where all values are known to have one sign, else 0: steers that of logarithms */
    bool has_fill;
    uint64_t fill_bits; /* bit pattern in dtype, low bits */
} floe_codec_params;

typedef struct floe_chunk_stats {
    uint64_t nexceptions;
    double max_error;    /* largest |x - y| over finite values */
    double max_pw_error; /* PWREL: largest |x - y| / |x|; else 0 */
} floe_chunk_stats;

/* A chunk to be encoded. */
typedef struct floe_chunk_encode {
    const floe_cpu *cpu;
    const floe_codec_params *params;
    const floe_field *chunk; /* host memory, strides in elements (not all 0) */
    floe_arena *scratch;     /* of the codec's workspace */
    void *dst;
    uint64_t capacity;
    uint64_t *nbytes;        /* out */
    floe_chunk_stats *stats; /* out */
} floe_chunk_encode;

enum { FLOE_CODEC_LOST = 64 /* boxes of a chunk that are lost, at most: they are joined */ };

/* A chunk to be decoded: the box lo..hi (relative to the chunk, rank axes) of one of this extent. src is untrusted. With a level
 * above 0 lo, hi and out are of its points, ceil(extent / 2^level), and src need have level_nbytes bytes. */
typedef struct floe_chunk_decode {
    const floe_cpu *cpu;
    floe_codec codec;
    floe_dtype dtype;
    uint32_t rank;
    const uint64_t *extent;
    const void *src;
    uint64_t nbytes;
    const uint64_t *lo, *hi;
    const floe_field *out; /* its shape is hi - lo; strides in elements, not all 0 */
    floe_arena *scratch;   /* of the codec's decode_workspace, or decode_scratch */
    uint32_t level;
    uint64_t fill_bits; /* of the field, if it has a fill value */
    floe_limits limits; /* of the field's values, which those of a level may leave: the codec cuts them */
    /* Bytes that may be damaged, or lack the last ones: called in the end for each box, as lo and hi, whose values are lost, so that the
     * others are good. CHECKSUM where the codec finds no damage and level is 0: it may be anywhere. NULL, as for codecs that do not find it: damage is an
     * error. */
    void (*lost)(void *user, const uint64_t *lo, const uint64_t *hi);
    void *user;
} floe_chunk_decode;

/* Boxes of a field, by which codecs are compared where coding a part of it would take too long. An axis of a box is one point longer than
 * the tiles of codec lorenzo make it, or as long as the field. */
enum { FLOE_CODEC_BOXES = 32 };
typedef struct floe_codec_boxes {
    const floe_codec_params *params;                      /* ABS or PWREL */
    uint32_t rank, n, few;                                /* so few of them, the first, suffice to compare structures */
    uint64_t shape[FLOE_MAX_RANK], extent[FLOE_MAX_RANK]; /* of the field; of a box */
    const void *data;                                     /* device memory for floe_codec_device */
    int64_t stride[FLOE_MAX_RANK], at[FLOE_CODEC_BOXES];  /* elements; where each box begins */
    double share;  /* what a value of the field takes to one of the boxes, about */
    double enough; /* bits of a value: what is less need not be known better */
} floe_codec_boxes;

/* All that the rooms above use of a codec: a row of the table in codec.c. Extents have rank axes, slowest first. */
typedef struct floe_codec_ops {
    floe_codec id;
    const char *name;
    bool integers_on_gpu; /* its kernels take them, where there are any */
    bool sampled;         /* AUTO tries it on a sample, where it does so (call/choice.c) */
    bool stacks;          /* predicts nothing along an axis of up to 4: a sample's boxes may lie along one */
    bool finds_damage;    /* decoding takes `lost` */
    bool tunes;           /* looks at tuner_bound */
    uint64_t whole;       /* values of a field that is one chunk by default; 0: chunks are of about 64 MiB */
    /* Whether it can do what params request of such a field, as far as that is more than a mode that it has. NULL: always. */
    floe_status (*check)(const floe_field *layout, const floe_params *params, floe_error *err);
    /* Chunks are cut at multiples of `tile` along an axis with `inner` axes below it, or at least of `group`. */
    void (*units)(uint32_t rank, uint32_t inner, uint64_t *tile, uint64_t *group);
    /* The slowest axes along which a chunk is one value long by default, as the codec would mostly pad them. NULL: none. */
    uint32_t (*apart)(uint32_t rank, const uint64_t *extent);
    /* The most bytes that a chunk of these params can take; 0 on overflow. */
    uint64_t (*bound)(const floe_codec_params *params, uint32_t rank, const uint64_t *extent);
    /* The fewest and the most bytes that a chunk can be decoded from, whatever its params. 0 for the most: on overflow. most NULL: the bound of a
     * lossless chunk. */
    uint64_t (*least)(uint32_t rank, const uint64_t *extent);
    uint64_t (*most)(floe_dtype dtype, uint32_t rank, const uint64_t *extent);
    /* Scratch for encoding or decoding; 0 on overflow. Decoding alone: a small multiple of the least, and what threads take. */
    size_t (*workspace)(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank, const uint64_t *extent);
    size_t (*decode_workspace)(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent);
    /* The scratch that decoding c takes, by its first bytes; 0: none, or decoding fails before. lo, hi and out are not looked at. NULL: that of
     * the whole chunk. */
    size_t (*decode_scratch)(const floe_chunk_decode *c);
    /* Codecs with levels: of c->nbytes bytes of a chunk c->level takes the first *nbytes. Of src only `have` are there: more are needed
     * to know where *nbytes is above that. NULL: no levels. */
    floe_status (*level_nbytes)(const floe_chunk_decode *c, uint64_t have, uint64_t *nbytes, floe_error *err);
    /* How a chunk is coded, in lines of words. NULL: it has nothing to report. */
    floe_status (*plan)(const floe_chunk_decode *c, floe_text *to, floe_error *err);
    floe_status (*encode)(const floe_chunk_encode *c, floe_error *err);
    floe_status (*decode)(const floe_chunk_decode *c, floe_error *err);
    /* The sum of squared errors that encoding would leave, in a fixed order of summation; dst and what follows it are not looked
     * at. Tiles that encoding would rather store as they are count as if they were coded: the sum may be too large, never too
     * small. */
    floe_status (*squared_error)(const floe_chunk_encode *c, double *sum, floe_error *err);
    /* Bits of a value of the field, on the mean, by its boxes; the same number as on a GPU. NULL: AUTO tries it in preset best alone. */
    size_t (*estimate_workspace)(const floe_cpu *cpu, const floe_codec_boxes *boxes);
    floe_status (*estimate)(const floe_cpu *cpu, const floe_codec_boxes *boxes, floe_arena *scratch, double *bits,
                            floe_error *err);
    /* NULL: it has no kernels, or this build has none. Then data in host memory are the CPU's work, whatever the backend. */
    const struct floe_codec_device *device; /* codec_device.h */
} floe_codec_ops;

#ifdef FLOE_HAVE_CUDA_BUILD
#define FLOE_CODEC_ON_GPU(row) &(row)
#else
#define FLOE_CODEC_ON_GPU(row) NULL
#endif

/* Units of stage/tile, for any codec. */
void floe_codec_tile_units(uint32_t rank, uint32_t inner, uint64_t *tile, uint64_t *group);
/* A chunk that is there gets zeros up to the least that any has. */
floe_status floe_codec_pad(const floe_chunk_encode *c, uint64_t least, floe_error *err);
/* A box as a field of its own. */
floe_field floe_codec_box(const floe_codec_boxes *boxes, uint32_t i);

/* What codecs of reals code integers by, as f64 (chunks/codec_integers.h): errors below floor(bound) + 1/2 are rounded to no more than floor(bound).
 * Params of reals are themselves. */
floe_codec_params floe_codec_real_params(const floe_codec_params *params);
/* The absolute bound of what is coded: of logarithms for PWREL. */
double floe_codec_domain_bound(const floe_codec_params *params);
/* The same, for a tuner. */
double floe_codec_tuner_bound(const floe_codec_params *params);
/* What an error of a value may be, as it is computed. */
double floe_codec_tolerance(const floe_codec_params *params);
/* The pattern of fill values. Without them -0, which is stored apart anyway. */
uint64_t floe_codec_fill_bits(const floe_codec_params *params);
/* Where cutting a field costs the same anywhere. */
void floe_codec_any_units(uint32_t rank, uint32_t inner, uint64_t *tile, uint64_t *group);

/* Row i of the table; NULL: there are no more. */
const floe_codec_ops *floe_codec_at(uint32_t i);
/* The row of a codec that the format has (container/header_math.h). */
const floe_codec_ops *floe_codec_of(floe_codec codec);
/* The same; of AUTO, the one that floe chooses. */
const floe_codec_ops *floe_codec_chosen(floe_codec codec);
/* Whether there are kernels of it for such values. */
bool floe_codec_on_gpu(const floe_codec_ops *codec, floe_dtype dtype);

#endif
