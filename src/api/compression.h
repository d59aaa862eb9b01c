/* SPDX-License-Identifier: BSD-3-Clause */
/* A call that compresses, and its chunks: coded, each in a record, one after another in the stream. */
#ifndef FLOE_API_COMPRESSION_H
#define FLOE_API_COMPRESSION_H

#include "api/output.h"
#include "call/callbacks.h"
#include "call/choice.h"
#include "call/chunk_source.h"
#include "call/ctx.h"
#include "call/lanes.h"
#include "container/container.h"

/* A chunk that a lane codes. */
typedef struct floe_lane_chunk {
    floe_field view;
    uint8_t *payload; /* in the stream, where there is a single lane */
    uint64_t capacity;
    floe_record record;
    floe_chunk_stats stats;
    floe_error err;
} floe_lane_chunk;

typedef struct floe_compression {
    floe_ctx *ctx;
    floe_params params; /* checked */
    floe_header header;
    floe_codec_params codec;
    floe_chunk_source chunks;
    floe_output output, staging;
    floe_progress progress;
    floe_index_entry *index;
    floe_lanes lanes;
    floe_lane_chunk *batch;
    uint8_t *payloads; /* of a batch; NULL: a single lane */
    uint64_t payload_nbytes;
    uint64_t nchunks;
    floe_sample sample; /* ratio */
    floe_sample_source sample_source;
    bool tries; /* ratio: the stream goes nowhere */
    void *held; /* values of a source that can be read only once */
    uint64_t held_nbytes;
    floe_trial trial; /* of the whole field: its bytes, `coded`, are those of the only chunk, if params are the same */
    void *coded;
} floe_compression;

/* Header, sizing and nchunks are known: how its chunks are spread. */
void floe_chunks_spread(floe_compression *c, const floe_sizing *sizing, floe_width width);
void floe_chunks_take(floe_compression *c, floe_arena *arena);

/* What a GPU needs for it is requested before the first byte of the stream: where that cannot be had nothing is written. */
floe_status floe_chunks_begin(floe_compression *c);
/* All of them to the output, and to the index. */
floe_status floe_chunks_put(floe_compression *c);

#endif
