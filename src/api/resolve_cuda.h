/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device's resolve.h: the first step of a compression whose field lies in device memory. Range and fill value where
 * they matter, the absolute bound, the codec's parameters, the stream's header; and the chunks of the codec's call.
 *
 * Launches: one, for all of that (two with very many chunks); one more where values are scanned, to clear what is to be
 * cleared; one more where the call may be lossless.
 */
#ifndef FLOE_API_RESOLVE_CUDA_H
#define FLOE_API_RESOLVE_CUDA_H

#include "codec/lorenzo_device.h"
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
    uint8_t *stream;   /* the header goes to its front, if capacity allows: else *status is FLOE_ERR_CAPACITY */
    uint64_t capacity; /* of the stream */
    floe_dev_params *params;
    floe_dev_range *range; /* out, where values are scanned; NULL: nobody asks */
    void *scratch;         /* floe_range_scratch_nbytes, 64-byte aligned */
    uint32_t *done;        /* a word that is 0 at first, and of no use after the call */
    uint32_t *status;
    void *cleared; /* becomes 0 before anything else; done and status are in it. NULL: the caller has seen to them */
    size_t cleared_nbytes; /* a multiple of 4 */
    /* Where no value is looked at the host knows it all: see floe_resolve_prepare. 0 words: the device finds out. */
    uint32_t ready_nwords;                         /* of the header, 8 bytes each */
    uint64_t ready_header[FLOE_RESOLVE_MAX_WORDS]; /* a header without attributes */
    floe_dev_params ready;
} floe_resolve_job;

/* Works out on the host what no value decides; does nothing for a job that scans. */
floe_status floe_resolve_prepare(floe_resolve_job *job, floe_error *err);

/* Whether such a job reads the values, and so needs scratch and done. */
bool floe_resolve_scans(const floe_resolve_job *job);

/* call: whose params are the job's. What floe_lorenzo_begin_cuda does is done as well. */
int floe_resolve_cuda(const floe_resolve_job *job, const floe_lorenzo_encode_call *call, void *stream);

#ifdef __cplusplus
}
#endif
#endif
