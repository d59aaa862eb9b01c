/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The container on a GPU: streams in device memory, finished and read there. The bytes, and what is refused, are those of
 * container.h. Every function puts kernels on a stream and returns a cudaError_t as a number; nothing allocates or waits.
 *
 * Streams lie at a multiple of 16, records at multiples of 8 from their beginning. All pointers are device memory. What
 * goes wrong in the data is a floe_status in *status (*failed); of several failures any may be the one that is reported.
 *
 * Scratch is all 0 before a call, and is all 0 after it unless the call failed.
 */
#ifndef FLOE_CONTAINER_CONTAINER_CUDA_H
#define FLOE_CONTAINER_CONTAINER_CUDA_H

#include <stdint.h>

#include "base/dev_record.h"
#include "container/container.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_TALLY_NBYTES = 8 }; /* scratch: one in all, and one a record */

/* In device memory; attrs means nothing there. */
typedef floe_header floe_dev_header;

/* ---- writing ----------------------------------------------------------------------------------------------------- */

typedef struct floe_container_finish {
    uint8_t *stream; /* the payloads are there, each FLOE_RECORD_HEAD_NBYTES behind its record's offset */
    uint64_t capacity;
    floe_dev_record *records; /* in order, apart, with offset and nbytes; gets the checksums */
    uint64_t nrecords;
    uint64_t first_record; /* number of the first one in the grid */
    const uint64_t *end;   /* where the last record ends, and the index begins */
    bool with_index;       /* nrecords is the whole grid: index and footer follow */
    void *scratch;         /* floe_container_finish_nbytes(nrecords) */
    uint64_t *total;       /* out, may be NULL: bytes of the stream, index and footer included if there */
    uint32_t *failed;      /* not 0: nothing is done. Set to FLOE_ERR_CAPACITY when the index does not fit */
    /* NULL, or set by kernels before the last one, which lets this one start early: whether the last one does anything. If
     * not, all is there already */
    const uint32_t *again;
    floe_device_report *report;           /* of the call, whatever came of it; NULL: not requested */
    floe_dev_stats_of_chunks chunk_stats; /* for the report */
    bool pwrel;
} floe_container_finish;

uint64_t floe_container_finish_nbytes(uint64_t nrecords);
/* Checksums of all payloads, padding, record heads, index and footer, and report: one kernel. */
int floe_container_finish_cuda(const floe_container_finish *job, void *stream);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct floe_container_open {
    const uint8_t *stream;
    uint64_t nbytes;            /* of the stream; or at most so many, where dev_nbytes points to the true number */
    const uint64_t *dev_nbytes; /* NULL: nbytes it is */
    /* what the caller is ready for: another codec is FLOE_ERR_UNSUPPORTED, another dtype or shape FLOE_ERR_ARGUMENT */
    floe_codec codec;
    floe_dtype dtype;
    uint32_t rank; /* 0: any dtype and shape */
    uint64_t shape[FLOE_MAX_RANK];
    floe_dev_header *header;  /* out, when the header is right */
    floe_dev_record *records; /* out; more than max_records is FLOE_ERR_LIMIT */
    uint64_t max_records;
    uint64_t *nrecords;   /* out; 0 when the call fails */
    void *verify_scratch; /* NULL, or scratch of the verification that follows: it is cleared as far as that needs it */
    uint32_t *status;     /* out: whatever it was before */
} floe_container_open;

/* Header, footer, index and record heads, everything but payloads: one block. */
int floe_container_open_cuda(const floe_container_open *job, void *stream);

typedef struct floe_container_verify {
    const uint8_t *stream;
    uint64_t nbytes;                /* at most so many are read; a record that reaches past them is FLOE_ERR_FORMAT */
    const floe_dev_record *records; /* in order and apart; heads are not looked at */
    uint64_t nrecords;
    const uint64_t *dev_nrecords; /* NULL, or where the true number is: at most nrecords */
    void *scratch;                /* floe_container_verify_nbytes(nrecords) */
    uint32_t *status;             /* not 0: nothing is done */
} floe_container_verify;

uint64_t floe_container_verify_nbytes(uint64_t nrecords);
/* Payloads against the checksums of their records, and the padding behind them: FLOE_ERR_CHECKSUM. One kernel. */
int floe_container_verify_cuda(const floe_container_verify *job, void *stream);

/* The checksum of checksum.h of data in device memory that is no record of a container. */
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
