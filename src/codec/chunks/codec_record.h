/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The record of a chunk whose parts are in device memory, for codecs that write one chunk after another. A codec's own kernel places
 * the parts (codec_record.cuh); then they are copied. By value; pointers are device memory.
 */
#ifndef FLOE_CODEC_CHUNKS_CODEC_RECORD_H
#define FLOE_CODEC_CHUNKS_CODEC_RECORD_H

#include "base/dev_record.h"
#include "stage/context/context_cuda.h"
#include "stage/lattice/lattice_math.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct floe_codec_piece {
    const void *src;     /* aligned to 4 bytes */
    uint64_t at, nbytes; /* from the start of the payload */
} floe_codec_piece;

/* Words of the payload: that at `at`, 0 so far, is the sum of floe_ans_check_word over those from begin to end - 1, itself left out. */
typedef struct floe_codec_check {
    uint64_t begin, end, at;
} floe_codec_check;

typedef struct floe_codec_record_job {
    floe_context_job context; /* its grids have been encoded */
    bool raw; /* values are to be stored as they are, which they also are where all else is longer than most */
    uint64_t most, least;              /* least: of any payload */
    const uint8_t *raw_header, *zeros; /* aligned; zeros: 8 */
    uint32_t raw_header_nbytes, size;  /* size: of a value */
    floe_lattice_view values;
    uint64_t shape[FLOE_LATTICE_RANK], nexceptions;
    const unsigned long long *max_error, *max_pw_error; /* patterns, as of floe_dev_chunk_stats */
    floe_dev_record_place out;
    /* what is placed */
    floe_codec_piece *pieces;
    uint64_t *places; /* of entropy chunks, in words of 32 bits from the first of their run */
    uint32_t *sizes;  /* as they are written */
    floe_codec_check *checks;
    /* Of each grid: where its run begins; then: how many pieces, where all ends, whether it is raw, how many checks. */
    uint64_t *chunks_at;
} floe_codec_record_job;
/* Copies what is placed; then, in a launch of its own, makes the checks. Returns a cudaError_t as a number. */
int floe_codec_record_cuda(const floe_codec_record_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
