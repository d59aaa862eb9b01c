/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codec interp on a GPU: its row, and the calls behind it. The host makes the plan of a chunk: it waits for
 * params, or for the head of a chunk, and where values are apart for how many; all else is kernels.
 */
#ifndef FLOE_CODEC_INTERP_GPU_INTERP_CODEC_GPU_H
#define FLOE_CODEC_INTERP_GPU_INTERP_CODEC_GPU_H

#include "codec/chunks/codec_lanes.h"
#include "codec/interp/gpu/interp_dev.h"
#include "codec/interp/interp_plan.h"

extern const floe_codec_device floe_interp_gpu;

typedef struct floe_interp_gpu_room {
    floe_interp_needs needs;
    uint64_t ncells, nwords, mask_records, nchunks, mask_chunks, slot_words, windows, tokens;
} floe_interp_gpu_room;

typedef struct floe_interp_gpu_scratch {
    uint8_t *lattices[2], *records, *mask_records;
    floe_context_dev_grid *grids;
    floe_context_dev_tables *tables;
    uint64_t *places, *bits[2];
    uint32_t *tickets;
    floe_codec_ranks ranks;  /* of words of bits */
    unsigned long long *out; /* what the host waits for */
} floe_interp_gpu_scratch;

typedef struct floe_interp_gpu_encode {
    floe_codec_written written;
    floe_interp_gpu_room room;
    floe_interp_gpu_scratch s;
    uint8_t *originals, *anchors;
    uint32_t *lists;
    uint64_t *apart;
    floe_interp_dev_found *found;
    void *literals, *turned;       /* turned: a copy of the chunk, if some are */
    floe_interp_pack_job pack;     /* its memory alone */
    floe_interp_trials_job trials; /* its memory alone */
    uint8_t *cleared;              /* found, apart, tickets, counts, done: 0 before a chunk */
    uint64_t cleared_nbytes;
} floe_interp_gpu_encode;

void floe_interp_gpu_encoder_take(floe_codec_encode *lane, floe_arena *a); /* codec_lanes.h */
/* codec_device.h */
floe_status floe_interp_gpu_encode_start(const floe_codec_encode *call, void *stream, floe_error *err);
floe_status floe_interp_gpu_squared_error(const floe_codec_encode *call, const floe_codec_params *params, double *sum,
                                          void *stream, floe_error *err);

typedef struct floe_interp_gpu_decode {
    floe_interp_gpu_room room;
    floe_interp_gpu_scratch s;
    void *turned;     /* a copy of what a chunk is decoded to, if some are */
    uint64_t *cursor; /* where the next part of a chunk begins; where a list does; its number */
} floe_interp_gpu_decode;

void floe_interp_gpu_decode_take(floe_codec_decode *call, floe_arena *a); /* codec_device.h */
floe_status floe_interp_gpu_decode_start(const floe_codec_decode *call, void *stream, floe_error *err);

void floe_interp_gpu_scratch_take(const floe_interp_gpu_room *room, uint64_t ngrids, uint64_t ntables, size_t size,
                                  floe_interp_gpu_scratch *s, floe_arena *a);
/* ranks: of all words of from, by way of tallies. */
floe_status floe_interp_gpu_rank(const floe_interp_gpu_scratch *s, const floe_interp_bits_job *job, void *stream,
                                 floe_error *err);

#endif
