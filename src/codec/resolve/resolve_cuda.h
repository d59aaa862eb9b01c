/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device's resolve.h: the first step of a compression whose field lies in device memory. Range and fill value where
 * they matter, the absolute bound, the codec's parameters, the stream's header; and how the codec's call begins. A codec does it by
 * resolve.cuh, with its own way to begin, in a single launch.
 */
#ifndef FLOE_CODEC_RESOLVE_RESOLVE_CUDA_H
#define FLOE_CODEC_RESOLVE_RESOLVE_CUDA_H

#include "codec/codec_device.h"
#include "container/container.h"
#include "field/range_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_RESOLVE_MAX_WORDS = 24 }; /* more than a header without attributes has */

/* By value; pointers are device memory. */
typedef struct floe_resolve_job {
    floe_header header; /* as floe_header_init leaves it, without attributes; and has_fill and fill_bits of a fill value
                         * that the user named. Not psnr, unless complete */
    bool detect;        /* look for a fill value */
    bool complete;      /* nothing is to be found out any more: the header is right as it is */
    floe_dev_field field;
    uint8_t *stream;       /* the header goes to its front, if capacity allows: else *status is FLOE_ERR_CAPACITY */
    uint64_t capacity;     /* of the stream */
    void *params;          /* out, as the codec's kernels take them */
    floe_dev_range *range; /* out, where values are scanned; NULL: not requested */
    void *scratch;         /* floe_range_scratch_nbytes, 64-byte aligned */
    uint64_t *done;        /* a word that is 0 at first, and again after the call; not among what is cleared */
    uint32_t *status;
    void *cleared;         /* becomes 0, and status is in it. NULL: the caller has seen to that */
    size_t cleared_nbytes; /* a multiple of 4 */
    /* What the host has: see floe_resolve_prepare. Without, a complete job has codec, and no header */
    bool scans;                                    /* the values are read: that needs scratch and done */
    uint32_t header_nwords;                        /* 8 bytes each */
    uint64_t header_words[FLOE_RESOLVE_MAX_WORDS]; /* a header without attributes, nor what values decide */
    floe_codec_params codec;                       /* where no value is looked at */
} floe_resolve_job;

/* Of an encoding whose codec params are known already: no header is written. cleared_nbytes: from the
 * status on. */
floe_resolve_job floe_resolve_known(const floe_codec_encode *encode, const floe_codec_params *params,
                                    size_t cleared_nbytes);
/* Works out what no value decides; before the kernel. */
floe_status floe_resolve_prepare(floe_resolve_job *job, floe_error *err);
/* Of codecs whose host waits for what comes of it. */
typedef struct floe_resolved {
    floe_codec_params params;
    uint32_t status;
} floe_resolved;
typedef struct floe_resolve_host {
    floe_resolved *to; /* pinned host memory */
    const uint32_t *status;
    uint64_t *end, begin; /* *end = begin: where the first record begins */
} floe_resolve_host;
/* Returns a cudaError_t as a number. */
int floe_resolve_alone_cuda(const floe_resolve_job *job, const floe_resolve_host *host, void *stream);

#ifdef __cplusplus
}
#endif
#endif
