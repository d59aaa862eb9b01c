/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec lorenzo on a GPU: its row, and its own part of a call. */
#ifndef FLOE_CODEC_LORENZO_GPU_LORENZO_CODEC_GPU_H
#define FLOE_CODEC_LORENZO_GPU_LORENZO_CODEC_GPU_H

#include "codec/lorenzo/gpu/lorenzo_cuda.h"

extern const floe_codec_device floe_lorenzo_gpu;

/* Of a decoding. */
typedef struct floe_lorenzo_decoding {
    floe_open_job job;
    floe_dev_grid grid; /* that the stream is likely to have: such is the room */
    floe_lorenzo_decode_room room;
} floe_lorenzo_decoding;

static inline floe_lorenzo_encode_call *floe_lorenzo_encode_own(floe_codec_encode *e) { return (void *)e->own.bytes; }
static inline const floe_lorenzo_encode_call *floe_lorenzo_encode_of(const floe_codec_encode *e)
{
    return (const void *)e->own.bytes;
}
static inline floe_lorenzo_decoding *floe_lorenzo_decode_own(floe_codec_decode *d) { return (void *)d->own.bytes; }
static inline const floe_lorenzo_decoding *floe_lorenzo_decode_of(const floe_codec_decode *d)
{
    return (const void *)d->own.bytes;
}

#endif
