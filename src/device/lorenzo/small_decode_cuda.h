/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decompressing a stream of one chunk of f32 in device memory by a single kernel: of a small field, launching several would take
 * longer than their work. What it finds, and says, is what the kernels of larger fields find.
 */
#ifndef FLOE_DEVICE_LORENZO_SMALL_DECODE_CUDA_H
#define FLOE_DEVICE_LORENZO_SMALL_DECODE_CUDA_H

#include <floe/floe.h>

#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "container/container_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the blocks of the kernel tell one another; device memory. All 0 before and after it. */
typedef struct floe_small_decode_state {
    unsigned long long tallies[2]; /* scratch of the payload's checksum */
    uint32_t statuses[4];     /* of container, payload, opening and decoding: the first that is not FLOE_OK stands */
    unsigned long long ndone; /* blocks; in the upper half how many of them have told a status */
} floe_small_decode_state;

/* No swap of four axes is guessed, encoder pack only: call.decoders is NULL. Scratch of the call is its tables, if any. */
typedef struct floe_small_decode_job {
    floe_open_job chunk;      /* with a guess of one chunk, whose tiles have rank 2 or 3 */
    floe_container_open open; /* header, records and nrecords are not wanted */
    floe_small_decode_state *state;
    floe_device_report *report;
} floe_small_decode_job;

/* Slots above it: there are tiles enough for a warp each to keep a device busy. */
enum { FLOE_SMALL_DECODE_SLOTS = 4096 };

int floe_small_decode_cuda(const floe_small_decode_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
