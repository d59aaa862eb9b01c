/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks side by side on a GPU, of codecs that wait for the stream. A small chunk leaves most of a GPU idle, and the host waits for what it needs
 * to know of it. So some are done at once, each in a lane with a stream and scratch of its own. Bytes are the same. */
#ifndef FLOE_CODEC_CHUNKS_CODEC_LANES_H
#define FLOE_CODEC_CHUNKS_CODEC_LANES_H

#include "codec/chunks/codec_chunks.h"

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

/* Takes what a chunk is encoded with, beside where chunks leave their records. */
typedef void floe_codec_encoder_take(floe_codec_encode *lane, floe_arena *a);
/* Takes that for all lanes, and where chunks leave their records. The call itself has the first lane's. */
void floe_codec_encoders_take(floe_codec_encode *call, floe_codec_encoder_take *take, floe_arena *a);

struct floe_codec_order;
/* A chunk that is to be encoded. */
typedef struct floe_codec_coding {
    const floe_codec_encode *call; /* with the lane's scratch and streams */
    floe_codec_known *known;       /* of several lanes, it is there */
    void *stream;
    floe_error *err;
    uint64_t index;
    void *user;
    struct floe_codec_order *order; /* NULL: chunks are encoded one after another */
} floe_codec_coding;
/* Before what is done in the order of chunks, such as placing records. The host has come so far with the chunk before, and so has the GPU, as far as
 * the stream goes. */
floe_status floe_codec_turn(const floe_codec_coding *c);

/* What is done to each chunk, with the scratch that it takes. */
typedef struct floe_codec_encoding {
    floe_codec_encoder_take *take;
    floe_status (*encode)(const floe_codec_coding *c);
} floe_codec_encoding;
/* By a thread for each lane, until known->status says that the call has failed. user: of each chunk. */
floe_status floe_codec_encode_all(const floe_codec_encode *call, floe_codec_known *known,
                                  const floe_codec_encoding *each, void *user, void *stream, floe_error *err);

/* squared_error of a codec's row. each: ends with _squares_add, which adds those of a chunk, in units of (bound / 2^10)^2, to the sum of
 * the chunks before, as the CPU does. */
floe_status floe_codec_squared_error(const floe_codec_encode *call, const floe_codec_params *params,
                                     const floe_codec_encoding *each, double *sum, void *stream, floe_error *err);
floe_status floe_codec_squares_add(const floe_codec_coding *c, uint64_t squares);

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

typedef void floe_codec_decoder_take(floe_codec_decode *lane, floe_arena *a);
/* Takes the scratch of all lanes. */
void floe_codec_decoders_take(floe_codec_decode *call, floe_codec_decoder_take *take, floe_arena *a);

/* Calls decode for each chunk that has some of the box, unless the stream is another than the call was planned for. */
typedef floe_status floe_codec_decode_chunk(const floe_codec_chunk *c);
floe_status floe_codec_decode_all(const floe_codec_decode *call, floe_codec_decoder_take *take,
                                  floe_codec_decode_chunk *decode, void *stream, floe_error *err);

#endif
