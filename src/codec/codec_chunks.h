/* SPDX-License-Identifier: BSD-3-Clause */
/* Of codecs that wait for the stream (codec_device.h): how the host reaches what is there, and chunks to be decoded, one after another. */
#ifndef FLOE_CODEC_CODEC_CHUNKS_H
#define FLOE_CODEC_CODEC_CHUNKS_H

#include "codec/codec_device.h"

/* Device memory to the host, and back; the former waits. */
floe_status floe_codec_fetch(void *host, const void *dev, size_t nbytes, void *stream, floe_error *err);
floe_status floe_codec_send(void *dev, const void *host, size_t nbytes, void *stream, floe_error *err);

/* Params, and the call's status; cuda: with the call's stream. Waits. */
floe_status floe_codec_fetch_params(const struct floe_cuda *cuda, const floe_codec_encode *e, floe_codec_params *params,
                                    uint32_t *status, floe_error *err);

/* A chunk, and the part of the call's box that lies in it. */
typedef struct floe_codec_chunk {
    const floe_codec_decode *call;
    void *stream;
    floe_error *err;
    const uint8_t *src;  /* its payload, in device memory */
    const uint8_t *head; /* so many bytes of it that the host has already */
    uint64_t head_nbytes;
    uint64_t nbytes, extent[FLOE_MAX_RANK], lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    floe_field out; /* data, of point lo, and strides; lo and hi are of the level's points */
} floe_codec_chunk;

/* What a chunk is found to be, as kernels would say it: LIMIT is for the CPU to see to. */
floe_status floe_codec_refuse(const floe_codec_chunk *c, floe_status why);

/* How its payload begins. Waits, unless the host has it. */
floe_status floe_codec_fetch_head(const floe_codec_chunk *c, uint8_t *head, uint64_t nbytes);

/* Calls visit for each chunk that has some of the box, unless the stream is another than the call was planned for. */
typedef floe_status floe_codec_visit(const floe_codec_chunk *c, void *user);
floe_status floe_codec_each_chunk(const floe_codec_chunk *none, floe_codec_visit *visit, void *user);

#endif
