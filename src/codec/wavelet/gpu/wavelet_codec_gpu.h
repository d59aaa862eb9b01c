/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codec wavelet on a GPU: its row, and decoding. Chunks are done one after another. The host makes the plan by a chunk's header; all else
 * is kernels.
 */
#ifndef FLOE_CODEC_WAVELET_GPU_WAVELET_CODEC_GPU_H
#define FLOE_CODEC_WAVELET_GPU_WAVELET_CODEC_GPU_H

#include "codec/chunks/codec_chunks.h"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "codec/wavelet/wavelet_layout.h"

extern const floe_codec_device floe_wavelet_gpu;

/* How much of everything a full chunk has. */
typedef struct floe_wavelet_gpu_decode_room {
    uint64_t ncells, records, nchunks; /* records: bytes of all steps and marks */
} floe_wavelet_gpu_decode_room;

typedef struct floe_wavelet_gpu_decode {
    floe_wavelet_gpu_decode_room room;
    uint8_t *array[2], *records;
    floe_context_dev_grid *grids;
    floe_context_dev_tables *tables;
    uint64_t *places, *cursor;
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

/* An array that two buffers hold in turns. */
typedef struct floe_wavelet_gpu_turns {
    const floe_wavelet_plan *plan;
    uint8_t *array[2];
    size_t size; /* of a real */
    const uint32_t *status;
    void *stream;
    floe_error *err;
    const void *first; /* as in floe_wavelet_dev_lift: of the next pass */
} floe_wavelet_gpu_turns;
/* *at: the buffer that has it; becomes the one that has it then. */
floe_status floe_wavelet_gpu_lift(const floe_wavelet_gpu_turns *t, const floe_interp_step *s, bool inverse,
                                  uint32_t *at);
/* Planes lo .. hi across the packet's axis go to the other buffer: what a pass leaves in the one while the rest is in the other. */
floe_status floe_wavelet_gpu_move_planes(const floe_wavelet_gpu_turns *t, uint32_t from, uint64_t lo, uint64_t hi);
/* All passes of the packet but the first `kept`. */
floe_status floe_wavelet_gpu_undo_packet(const floe_wavelet_gpu_turns *t, uint32_t kept, uint32_t *at);

#endif
