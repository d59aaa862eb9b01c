/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decompressing a stream of encoder pack in device memory by a single kernel: what blocks check and what others decode is the
 * same part of the stream, which comes from memory once.
 */
#ifndef FLOE_DEVICE_LORENZO_FUSED_DECODE_CUDA_H
#define FLOE_DEVICE_LORENZO_FUSED_DECODE_CUDA_H

#include <floe/floe.h>

#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "container/container_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the blocks of the kernel tell one another; device memory. All 0 before and after it. */
typedef struct floe_fused_decode_state {
    uint64_t ndone;       /* blocks, but for the one that reports */
    uint64_t nopen;       /* chunks of the grid that was guessed */
    uint32_t statuses[4]; /* of container, payloads, opening and decoding: the first that is not FLOE_OK stands */
} floe_fused_decode_state;

/* Words of the same kind behind it: tallies, and a word a chunk that says whether it is open. */
#define FLOE_FUSED_DECODE_WORDS(max_chunks) (1 + 2 * (uint64_t)(max_chunks))

/* Encoder pack only: call.decoders is NULL. */
typedef struct floe_fused_decode_job {
    floe_open_job chunk;      /* *call.status is not wanted */
    floe_container_open open; /* nothing of what it tells is wanted */
    floe_fused_decode_state *state;
    uint64_t *tallies; /* FLOE_FUSED_DECODE_WORDS */
    uint64_t *opened;  /* of those, max_chunks */
    floe_device_report *report;
} floe_fused_decode_job;

int floe_fused_decode_real_cuda_f32(const floe_fused_decode_job *job, void *stream);
int floe_fused_decode_real_cuda_f64(const floe_fused_decode_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
