/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding the opened chunks of a stream of encoder pack, and checking the whole stream, by a single kernel: what blocks check and
 * what others decode is the same part of the stream, which comes from memory once.
 */
#ifndef FLOE_API_CHECKED_CUDA_H
#define FLOE_API_CHECKED_CUDA_H

#include <floe/floe.h>

#include "api/open_cuda.h"
#include "container/container_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the blocks of the kernel tell one another; device memory. All 0 before it. */
typedef struct floe_checked_state {
    uint64_t ndone;       /* blocks, but for the last */
    uint32_t statuses[4]; /* of container, payloads, opening and decoding: the first that is not FLOE_OK stands */
} floe_checked_state;

/* decode: opened, as floe_open_cuda does it with records; decoders are NULL. */
typedef struct floe_checked_job {
    floe_lorenzo_decode_call decode;
    floe_container_open open; /* nothing of what it tells is wanted */
    floe_lorenzo_guess guess; /* as that of who opens */
    floe_checked_state *state;
    void *tallies; /* floe_container_verify_nbytes(max_chunks), all 0 before */
    floe_device_report *report;
} floe_checked_job;

int floe_checked_real_cuda_f32(const floe_checked_job *job, void *stream);
int floe_checked_real_cuda_f64(const floe_checked_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
