/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that one kernel does, codec and container at once: of small fields, or because what is checked and what is decoded come from
 * memory once. A codec may have such kernels, in a folder of its own; who has none, or has none for a call, goes the general way,
 * which gives the same bytes.
 */
#ifndef FLOE_DEVICE_FUSED_H
#define FLOE_DEVICE_FUSED_H

#include "backend/cuda.h"
#include "codec/codec_device.h"
#include "container/container_cuda.h"

typedef struct floe_fused_compress {
    const floe_codec_encode *encode; /* aimed */
    const struct floe_resolve_job *resolve;
    /* What is 0 before the call, and again after it: scratch, and at the end what the codec has taken of the state */
    void *scratch, *cleared;
    size_t cleared_nbytes;
    floe_device_report *report;
    bool pwrel;
    floe_cuda *cuda;
} floe_fused_compress;

typedef struct floe_fused_decompress {
    const floe_codec_decode *decode; /* aimed, at a whole stream: records NULL */
    floe_container_open open;
    void *scratch; /* NULL: the context's state is room enough */
    floe_device_report *report;
    const floe_cuda *cuda;
} floe_fused_decompress;

typedef struct floe_fused {
    const floe_codec_device *codec;
    /* Whether a planned call is one for the following two. Bound psnr needs more than one kernel. */
    bool (*encodes)(const floe_codec_encode *e);
    floe_status (*encode_start)(const floe_codec_encode *e, void *stream, floe_error *err); /* the codec's part alone */
    floe_status (*compress)(const floe_fused_compress *job, floe_error *err);
    size_t compress_nbytes; /* of scratch, a multiple of 16 */
    bool (*decodes)(const floe_codec_decode *d);
    floe_status (*decompress)(const floe_fused_decompress *job, floe_error *err);
    size_t (*decompress_nbytes)(const floe_codec_decode *d); /* of scratch */
} floe_fused;

extern const floe_fused floe_lorenzo_fused;

/* That for a planned call; NULL: the general way. */
const floe_fused *floe_fused_encode(const floe_codec_device *codec, const floe_codec_encode *e);
const floe_fused *floe_fused_decode(const floe_codec_device *codec, const floe_codec_decode *d);

/* The codec's part of a compression, the quickest way. */
floe_status floe_fused_encode_start(const floe_codec_device *codec, const floe_codec_encode *e, void *stream,
                                    floe_error *err);

#endif
