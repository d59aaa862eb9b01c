/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of device memory to where the host can read them, by one launch: copies would be a launch each. And what came of several lanes. */
#ifndef FLOE_CODEC_CHUNKS_CODEC_GATHER_H
#define FLOE_CODEC_CHUNKS_CODEC_GATHER_H

#include "base/dev_record.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_CODEC_GATHER_PIECES = 5 };

typedef struct floe_codec_gather {
    struct {
        const void *from;
        uint32_t at, nbytes; /* at: from the start of `to` */
    } piece[FLOE_CODEC_GATHER_PIECES];
    uint32_t npieces;
    void *to; /* pinned host memory */
} floe_codec_gather;

/* Returns a cudaError_t as a number. */
int floe_codec_gather_cuda(const floe_codec_gather *job, void *stream);

/* What came of n lanes becomes what came of the call, unless that has failed: LIMIT, or another failure. Returns a cudaError_t as a number. */
int floe_codec_join_statuses_cuda(const uint32_t *lanes, uint32_t n, uint32_t *status, void *stream);

/* Records of some chunks, and how their payloads begin. */
enum { FLOE_CODEC_HEADS = 8, FLOE_CODEC_HEAD_NBYTES = 1024 };
typedef struct floe_codec_head {
    floe_dev_record record;
    uint8_t bytes[FLOE_CODEC_HEAD_NBYTES];
} floe_codec_head;
typedef struct floe_codec_heads {
    const uint8_t *stream;
    const floe_dev_record *records;
    uint64_t index[FLOE_CODEC_HEADS]; /* of the chunks */
    uint32_t n;
    floe_codec_head *to; /* pinned host memory */
} floe_codec_heads;
/* Returns a cudaError_t as a number. */
int floe_codec_heads_cuda(const floe_codec_heads *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
