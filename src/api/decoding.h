/* SPDX-License-Identifier: BSD-3-Clause */
/* What decompression into memory and into a sink have in common: the box of a level, chunks that are decoded into it, lost values,
 * and progress. */
#ifndef FLOE_API_DECODING_H
#define FLOE_API_DECODING_H

#include "call/callbacks.h"
#include "device/stream.h"

/* First options, and a stream that is open; then floe_decoding_box, and out. */
typedef struct floe_decoding {
    floe_stream_options options; /* checked */
    floe_stream stream;
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK]; /* the box, of the level's values */
    const floe_field *out;                         /* where values go: resolved */
    const uint64_t *out_lo;                        /* and where it begins */
    floe_progress progress;
    uint64_t nlost; /* boxes */
} floe_decoding;

/* The stream becomes one of the level; box and progress become those of options. */
floe_status floe_decoding_box(floe_ctx *ctx, floe_decoding *decoding);

/* Part of a chunk within the box: its values go to out. With salvage those that are lost become NaN, or a number that stands for it. */
floe_status floe_decoding_chunk(floe_ctx *ctx, floe_decoding *decoding, uint64_t chunk);

/* The progress that a chunk is. */
floe_status floe_decoding_progress(floe_ctx *ctx, floe_decoding *decoding, uint64_t chunk);

/* Both, at once or beside other chunks, the last ones at the flush: before that out stays, and is not looked at. */
floe_status floe_decoding_add(floe_ctx *ctx, floe_decoding *decoding, uint64_t chunk);
floe_status floe_decoding_flush(floe_ctx *ctx, floe_decoding *decoding);

/* Before scratch is taken: how chunks are spread, as many as lie in the box and in a slab. */
void floe_decoding_spread(floe_ctx *ctx, floe_decoding *decoding, uint64_t slab, floe_width width);

#endif
