/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks of integers for codecs of reals: they are coded as f64, and what is decoded is rounded to the nearest integer. A fill value is coded as
 * NaN. Bounds are of integers: an error below floor(bound) + 1/2 is rounded to floor(bound) at most, and `lossless` is a bound of 0.
 * A chunk with an integer that no f64 has is stored as it is, and so is one that codes would not make smaller. On a CPU alone.
 */
#ifndef FLOE_CODEC_CHUNKS_CODEC_INTEGERS_H
#define FLOE_CODEC_CHUNKS_CODEC_INTEGERS_H

#include "codec/codec.h"
#include "field/dtype_math.h"

/* The type of what is coded. */
static inline floe_dtype floe_codec_real(floe_dtype dtype) { return floe_dtype_is_integer(dtype) ? FLOE_F64 : dtype; }

/* Each of these does for integers what a function of a codec's row does: that named last, with the codec's own functions for reals. nbytes: what
 * such a chunk of reals takes; 0 stays 0, and reals take no more. store writes a chunk of any type as it is; stored: its values are there so. The sum of squared errors is
 * found by coding and decoding, as rounding changes errors. */
typedef floe_status (*floe_codec_encode_fn)(const floe_chunk_encode *c, floe_error *err);
typedef floe_status (*floe_codec_decode_fn)(const floe_chunk_decode *c, floe_error *err);
size_t floe_codec_integers_workspace(const floe_codec_params *params, uint32_t rank, const uint64_t *extent,
                                     size_t nbytes);
size_t floe_codec_integers_decode_workspace(floe_dtype dtype, uint32_t rank, const uint64_t *extent, uint32_t level,
                                            size_t nbytes);
floe_status floe_codec_integers_encode(const floe_chunk_encode *c, floe_codec_encode_fn encode,
                                       floe_codec_encode_fn store, floe_error *err);
floe_status floe_codec_integers_decode(const floe_chunk_decode *c, bool stored, floe_codec_decode_fn decode,
                                       floe_error *err);
floe_status floe_codec_integers_squared_error(const floe_chunk_encode *c, floe_codec_encode_fn encode,
                                              floe_codec_decode_fn decode, double *sum, floe_error *err);

/* Stores a chunk of any type, behind a header of so many bytes; least: of any chunk. */
floe_status floe_codec_store(const floe_chunk_encode *c, const uint8_t *header, uint64_t nbytes, uint64_t least,
                             floe_error *err);

/* Boxes of integers as contiguous boxes of reals. Returns false where some integer is no f64. */
typedef struct floe_codec_real_boxes {
    floe_codec_params params;
    floe_codec_boxes boxes;
} floe_codec_real_boxes;
bool floe_codec_real_boxes_of(const floe_cpu *cpu, const floe_codec_boxes *boxes, floe_arena *arena,
                              floe_codec_real_boxes *reals);

#endif
