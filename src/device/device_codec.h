/* SPDX-License-Identifier: BSD-3-Clause */
/* Compression by either codec on a GPU, all chunks of a field at once: what a call asks of both. */
#ifndef FLOE_DEVICE_DEVICE_CODEC_H
#define FLOE_DEVICE_DEVICE_CODEC_H

#include "device/report_cuda.h"
#include "codec/lorenzo/gpu/lorenzo_cuda.h"
#include "codec/zfp/gpu/zfp_grid.h"
#include "container/container_cuda.h"

typedef struct floe_device_encode {
    bool by_zfp;
    floe_lorenzo_encode_call lorenzo; /* by zfp: of no chunks, for the step that resolves */
    floe_zfp_grid_encode zfp;
    /* what both give */
    uint64_t nchunks;
    floe_dev_record *records;
    uint64_t *end;
    /* psnr */
    double *error_sum, *error_tiles;
    uint64_t error_tiles_nbytes;
} floe_device_encode;

/* The header says which codec, and how the field is cut; field: its data are where they will be. */
floe_status floe_device_encode_of(const floe_header *header, const floe_dev_field *field, floe_device_encode *encode,
                                  floe_error *err);
/* Takes what floe_few_cuda wants to be 0; before the rest. */
void floe_device_encode_state_take(floe_device_encode *encode, floe_arena *arena);
/* Takes all other device memory but status and params. */
floe_status floe_device_encode_take(floe_device_encode *encode, floe_bound_mode mode, floe_arena *arena,
                                    floe_error *err);
/* Where the stream goes; status and params, which stay the caller's. */
void floe_device_encode_aim(floe_device_encode *encode, void *dst, uint64_t capacity, uint32_t *status,
                            const floe_dev_params *params);
/* All that follows on the step that resolves, up to what the container does. */
floe_status floe_device_encode_start(const floe_device_encode *encode, void *stream, floe_error *err);
/* Where the chunks tell what was met in their values. */
void floe_device_encode_report(const floe_device_encode *encode, floe_container_finish *finish);
/* psnr: the squared error that encoding with these params would leave, to error_sum. dev_params: where they may be put. */
floe_status floe_device_encode_error(const floe_device_encode *encode, const floe_codec_params *params,
                                     floe_dev_params *dev_params, void *stream, floe_error *err);

#endif
