/* SPDX-License-Identifier: BSD-3-Clause */
/* Values from one layout to another: kernels want the rows of turned chunks (stage/lattice/lattice.h) side by side. */
#ifndef FLOE_CODEC_CHUNKS_CODEC_TURN_H
#define FLOE_CODEC_CHUNKS_CODEC_TURN_H

#include "stage/lattice/lattice_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By value; pointers are device memory. */
typedef struct floe_codec_turn_job {
    floe_lattice_view from, to;
    uint64_t n[FLOE_LATTICE_RANK];
    uint32_t size;          /* of a value: 4 or 8 bytes */
    const uint32_t *status; /* NULL, or nothing is copied unless it is FLOE_OK */
} floe_codec_turn_job;

/* Returns a cudaError_t as a number. */
int floe_codec_turn_cuda(const floe_codec_turn_job *job, void *stream);

#ifdef __cplusplus
}
#endif

#endif
