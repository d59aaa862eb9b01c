/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compressing a chunk of few tiles by a single kernel: of a small field, launching several would take longer than their work.
 * Codec and container at once: tiles, their checksums, and all else that the stream of such a field has.
 */
#ifndef FLOE_DEVICE_LORENZO_SMALL_CUDA_H
#define FLOE_DEVICE_LORENZO_SMALL_CUDA_H

#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "container/container_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_SMALL_HEADER_WORDS = 24 }; /* of 8 bytes: more than a header without attributes has */

enum { FLOE_SMALL_HASHERS = 264 }; /* blocks that hash, at most: two for each of FLOE_SMALL_PROCESSORS */

/* What blocks tell one another while they finish a stream; device memory. All 0 before. */
typedef struct floe_small_finish {
    uint64_t terms[FLOE_SMALL_HASHERS][2]; /* of the payload's checksum: halves of what each block that hashes has */
    uint64_t nleft;                        /* other blocks that have nothing more to do */
} floe_small_finish;

typedef struct floe_small_job {
    floe_lorenzo_encode_call call; /* as floe_lorenzo_is_small has it */
    /* What begin would have done is known, and it has not been called: chunks, retry and place_state of both attempts are 0 */
    bool is_ready;
    floe_lorenzo_ready ready;
    /* What may be left out, from NULL on: then only the codec's part of a record is made. Else the stream is that record,
     * header, index and footer; the header has been written unless its words are given */
    floe_small_finish *finish;
    uint32_t header_nwords;
    uint64_t header[FLOE_SMALL_HEADER_WORDS];
    /* What becomes 0 in the end: all that had to be 0, so that the next call finds it so. 16-byte aligned, and place_state[1]
     * stands at its end */
    void *cleared;
    uint64_t cleared_nbytes; /* a multiple of 16 */
    floe_device_report *report;
    bool pwrel;
} floe_small_job;

/* asked: which kernels have been given their shared memory, once for a context; 0 at first. NULL: that is done again */
int floe_small_cuda(const floe_small_job *job, uint32_t *asked, void *stream);

#ifdef __cplusplus
}
#endif
#endif
