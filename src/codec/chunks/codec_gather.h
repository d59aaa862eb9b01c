/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host waits for before it decodes chunks, by one launch: copies would be a launch each. And what came of several lanes. */
#ifndef FLOE_CODEC_CHUNKS_CODEC_GATHER_H
#define FLOE_CODEC_CHUNKS_CODEC_GATHER_H

#include "base/dev_record.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_CODEC_HEADS = 8, FLOE_CODEC_HEAD_NBYTES = 1024 /* of any chunk's header, at most */ };

/* What is known of a stream; records of some chunks, and how their payloads begin. */
typedef struct floe_codec_heads {
    uint64_t layout[2 * FLOE_MAX_RANK], nrecords;
    uint32_t status;
    struct {
        floe_dev_record record;
        uint8_t bytes[FLOE_CODEC_HEAD_NBYTES];
    } of[FLOE_CODEC_HEADS];
} floe_codec_heads;

typedef struct floe_codec_heads_job {
    const uint8_t *stream;
    const uint64_t *layout, *nrecords;
    const floe_dev_record *records;
    const uint32_t *status;
    uint64_t nchunks,
        index[FLOE_CODEC_HEADS]; /* of a stream that is damaged, or has not nchunks records, none is looked at */
    uint32_t n;
    floe_codec_heads *to; /* pinned host memory */
} floe_codec_heads_job;
/* Returns a cudaError_t as a number. */
int floe_codec_heads_cuda(const floe_codec_heads_job *job, void *stream);

/* What came of n lanes becomes what came of the call, unless that has failed: LIMIT, or another failure. Returns a cudaError_t as a number. */
int floe_codec_join_statuses_cuda(const uint32_t *lanes, uint32_t n, uint32_t *status, void *stream);

#ifdef __cplusplus
}
#endif
#endif
