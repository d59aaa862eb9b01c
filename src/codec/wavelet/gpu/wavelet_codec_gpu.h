/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codec wavelet on a GPU: its row, and decoding. Chunks are done one after another. The host makes the plan by a chunk's header; all else
 * is kernels.
 */
#ifndef FLOE_CODEC_WAVELET_GPU_WAVELET_CODEC_GPU_H
#define FLOE_CODEC_WAVELET_GPU_WAVELET_CODEC_GPU_H

#include "codec/codec_chunks.h"
#include "codec/wavelet/gpu/wavelet_decode_dev.h"
#include "codec/wavelet/wavelet_layout.h"

extern const floe_codec_device floe_wavelet_gpu;

/* How much of everything a full chunk has. */
typedef struct floe_wavelet_gpu_decode_room {
    uint64_t ncells, records, nchunks; /* records: bytes of all steps, or of all marks */
} floe_wavelet_gpu_decode_room;

typedef struct floe_wavelet_gpu_decode {
    floe_wavelet_gpu_decode_room room;
    void *array[2];
    uint8_t *records;
    floe_context_dev_grid *grids;
    floe_context_dev_tables *tables;
    uint64_t *places, *cursor;
    uint32_t *tickets;
    floe_codec_ranks ranks; /* of blocks of records of kinds */
} floe_wavelet_gpu_decode;

floe_status floe_wavelet_gpu_decode_room_of(const floe_codec_decode *call, floe_wavelet_gpu_decode *c, floe_error *err);
void floe_wavelet_gpu_decode_take(floe_wavelet_gpu_decode *c, size_t size, floe_arena *a); /* size: of a value */
floe_status floe_wavelet_gpu_decode_start(const floe_codec_decode *call, void *stream, floe_error *err);

/* ---- what both directions have in common -------------------------------------------------------------------------------- */

/* Step i of a plan, whose details `array` has, and its records. */
floe_wavelet_dev_codes floe_wavelet_gpu_codes(const floe_wavelet_plan *plan, uint32_t i, void *array, void *records);
/* Where the bands of a plan's packet begin along the slowest axis; returns how many. */
uint32_t floe_wavelet_gpu_bands(const floe_wavelet_plan *plan, uint64_t begin[FLOE_WAVELET_DEV_BANDS]);

#endif
