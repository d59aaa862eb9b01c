/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of device/fused.h that codec lorenzo has: codec and container at once. */
#ifndef FLOE_DEVICE_LORENZO_LORENZO_FUSED_CUDA_H
#define FLOE_DEVICE_LORENZO_LORENZO_FUSED_CUDA_H

#include <floe/floe.h>

#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "container/container_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a small field compressed ------------------------------------------------------------------------------------------ */

/* A chunk of few tiles by a single kernel, since launching several would take longer than their work: tiles, their checksums, and
 * all else that the stream of such a field has. */
enum { FLOE_SMALL_HEADER_WORDS = 24 }; /* of 8 bytes: more than a header without attributes has */

enum { FLOE_SMALL_HASHERS = 264 }; /* blocks that hash, at most: two for each of FLOE_SMALL_PROCESSORS */

/* What blocks exchange while they finish a stream; device memory. All 0 before. */
typedef struct floe_small_finish {
    uint64_t terms[FLOE_SMALL_HASHERS][2]; /* of the payload's checksum: halves of what each block that hashes has */
    uint64_t nleft;                        /* other blocks that have nothing more to do */
} floe_small_finish;

typedef struct floe_small_job {
    floe_lorenzo_encode_call call; /* as floe_lorenzo_is_small has it */
    /* What begin would have done is known, and it has not been called: chunks, retry and place_state of both attempts are 0 */
    bool has_host_chunk;
    floe_lorenzo_host_chunk host_chunk;
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

/* granted: which kernels have been given their shared memory, once for a context; 0 at first. NULL: that is done again */
int floe_small_cuda(const floe_small_job *job, uint32_t *granted, void *stream);

/* ---- a field decompressed ---------------------------------------------------------------------------------------------- */

/* A stream of encoder pack in device memory by a single kernel: what blocks check and what others decode is the same part of the
 * stream, which comes from memory once. */

/* What the blocks of the kernel exchange; device memory. All 0 before and after it. */
typedef struct floe_fused_decode_state {
    uint64_t ndone;       /* blocks; in the upper half how many of them have reported a status */
    uint64_t nopen;       /* chunks of the expected grid */
    uint32_t statuses[4]; /* of container, payloads, opening and decoding: the first that is not FLOE_OK stands */
} floe_fused_decode_state;

/* Words of the same kind behind it: tallies, and a word a chunk that shows whether it is open. */
#define FLOE_FUSED_DECODE_WORDS(max_chunks) (1 + 2 * (uint64_t)(max_chunks))

/* Encoder pack only: call.decoders is NULL. */
typedef struct floe_fused_decode_job {
    floe_open_job chunk;      /* *call.status is not wanted */
    floe_container_open open; /* none of its results are wanted */
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
