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

/* What is left of floe_params once the range is known: rel and psnr have become abs. */
typedef struct floe_codec_params {
    floe_dtype dtype;
    floe_codec codec; /* not AUTO */
    floe_preset preset;
    floe_bound_mode mode; /* ABS, PWREL, LOSSLESS; codec zfp: RATE or PREC too */
    double bound;         /* ABS, RATE: > 0 and finite; PWREL: > 0 and < 1; PREC: 1 to 64, whole; LOSSLESS: ignored */
    double max_abs;       /* largest finite magnitude of the whole field if known, else NaN: steers the step */
    bool has_fill;
    uint64_t fill_bits; /* bit pattern in dtype, low bits */
} floe_codec_params;

typedef struct floe_chunk_stats {
    uint64_t nexceptions;
    double max_error;    /* largest |x - y| over finite values */
    double max_pw_error; /* PWREL: largest |x - y| / |x|; else 0 */
} floe_chunk_stats;

/* The most bytes that a chunk of this extent (rank axes, slowest first) can take; 0 on overflow. */
uint64_t floe_codec_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent);

/* The fewest and the most bytes that a chunk of this extent can be decoded from, whatever params it was written with. 0 for the
 * most: on overflow. */
uint64_t floe_codec_least(floe_codec codec, uint32_t rank, const uint64_t *extent);
uint64_t floe_codec_most(floe_codec codec, floe_dtype dtype, uint32_t rank, const uint64_t *extent);

/* Scratch for encoding or decoding such a chunk; 0 on overflow. */
size_t floe_codec_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank,
                            const uint64_t *extent);
/* The part of that which decoding needs: a small multiple of floe_codec_least, and what threads take. */
size_t floe_codec_decode_workspace(const floe_cpu *cpu, floe_codec codec, floe_dtype dtype, uint32_t rank,
                                   const uint64_t *extent);

/* chunk: host memory, strides in elements (not all 0). Fills stats. */
floe_status floe_codec_encode(const floe_cpu *cpu, const floe_codec_params *params, const floe_field *chunk,
                              floe_arena *scratch, void *dst, uint64_t capacity, uint64_t *nbytes,
                              floe_chunk_stats *stats, floe_error *err);

/* Decodes the box lo..hi (relative to the chunk, rank axes) of a chunk of the given extent into out, whose shape is
 * hi - lo (strides in elements, not all 0). src is untrusted. */
floe_status floe_codec_decode(const floe_cpu *cpu, floe_codec codec, floe_dtype dtype, uint32_t rank,
                              const uint64_t *extent, const void *src, uint64_t nbytes, const uint64_t *lo,
                              const uint64_t *hi, const floe_field *out, floe_arena *scratch, floe_error *err);

/* The sum of squared errors that encoding this chunk with params would leave, in a fixed order of summation. Tiles that
 * encoding would rather store as they are count as if they were coded: the sum may be too large, never too small. */
floe_status floe_codec_squared_error(const floe_cpu *cpu, const floe_codec_params *params, const floe_field *chunk,
                                     floe_arena *scratch, double *sum, floe_error *err);

#endif
