/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum of checksum.h of data in device memory that is no record of a container. */
#ifndef FLOE_CONTAINER_CHECKSUM_CUDA_H
#define FLOE_CONTAINER_CHECKSUM_CUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_CHECKSUM_SPANS = 2 };

/* Pointers are device memory. By value. */
typedef struct floe_checksum_job {
    const void *data[FLOE_CHECKSUM_SPANS]; /* aligned to 8 */
    uint64_t most;                         /* bytes of all spans, at most: a guess, which costs only time */
    const uint64_t *nbytes;                /* of each span */
    uint64_t *sums;                        /* of each span: what is there, and the sum of its pieces' terms */
} floe_checksum_job;

/* Adds up the terms: one kernel. floe_checksum_finish makes checksums of the sums. Returns a cudaError_t as a number. */
int floe_checksum_sums_cuda(const floe_checksum_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
