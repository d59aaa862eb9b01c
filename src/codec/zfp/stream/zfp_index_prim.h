/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Index files (zfp_index_file.h) over primitives: made, read and judged where the stream lies, by threads or by a GPU, where
 * nothing waits. All pointers but those of jobs and of p are memory of the backend; files and streams are aligned to 8.
 *
 * To make a file of a stream that has just been encoded, or measured, into *found:
 *     floe_index_prim_encode into the file behind its header, with &found->made;
 *     floe_zfpx_prim_sizes; checksums of both spans into found->sums; floe_zfpx_prim_finish.
 * To decode by a file:
 *     floe_zfpx_prim_open; checksums of both spans into found->sums, at any time before the last step;
 *     floe_index_prim_decode_opened with &found->index and &found->made; the blocks, with &found->blocks; floe_zfpx_prim_judge.
 */
#ifndef FLOE_CODEC_ZFP_STREAM_ZFP_INDEX_PRIM_H
#define FLOE_CODEC_ZFP_STREAM_ZFP_INDEX_PRIM_H

#include <floe/zfp.h>

#include "codec/zfp/stream/zfp_index_file.h"
#include "stage/index/index_prim.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_ZFPX_HEADER_WORDS = FLOE_ZFPX_HEADER_NBYTES / 8, FLOE_ZFPX_DESC_WORDS = 9 };
enum { FLOE_ZFPX_STREAM, FLOE_ZFPX_INDEX, FLOE_ZFPX_SPANS };

/* What is found out on the way; all 0 at first. */
typedef struct floe_zfpx_found {
    uint64_t nbytes[FLOE_ZFPX_SPANS]; /* of the stream, and of the index behind the file's header */
    uint64_t sums[FLOE_ZFPX_SPANS];   /* of the terms of their checksums (base/checksum.h) */
    uint64_t nbits;                   /* where the last block ends */
    floe_side_index index;
    floe_index_report made;  /* of encoding the index, or of decoding it */
    uint32_t header, agrees; /* statuses: of the file's header, and whether it is that of this stream */
    uint32_t blocks;         /* of the blocks */
} floe_zfpx_found;

/* A file to be made. By value. */
typedef struct floe_zfpx_finish_job {
    uint64_t desc[FLOE_ZFPX_DESC_WORDS]; /* floe_zfpx_desc */
    uint64_t *file;                      /* NULL: none, only the report */
    floe_zfpx_found *found;
    floe_zfp_report *report;
} floe_zfpx_finish_job;

/* A stream to be decoded, by a file or without. By value. */
typedef struct floe_zfpx_open_job {
    uint64_t desc[FLOE_ZFPX_DESC_WORDS];
    floe_side_index plan;         /* of the index, as floe_index_prim_plan has it */
    const uint64_t *file;         /* NULL: none */
    uint64_t nbytes, file_nbytes; /* of stream and file; or at most so many, where sizes has the true numbers */
    const floe_zfp_report *sizes;
    uint64_t end; /* no file: where the last block ends, or 0: that is not known */
    floe_zfpx_found *found;
    floe_zfp_report *report;
} floe_zfpx_open_job;

/* The words of a header that show what is indexed. */
void floe_zfpx_desc(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t words[FLOE_ZFPX_DESC_WORDS]);

/* Worklets of one index, n = 1. How much is to be hashed. */
floe_status floe_zfpx_prim_sizes(const floe_prim *p, const floe_zfpx_finish_job *job, uint64_t n, floe_error *err);
/* Header and report. */
floe_status floe_zfpx_prim_finish(const floe_prim *p, const floe_zfpx_finish_job *job, uint64_t n, floe_error *err);

/* The headers of file and index, and how much is to be hashed. */
floe_status floe_zfpx_prim_open(const floe_prim *p, const floe_zfpx_open_job *job, uint64_t n, floe_error *err);
/* The report: the failure that floe_zfpx_read, floe_zfpx_belongs and decoding would meet first. */
floe_status floe_zfpx_prim_judge(const floe_prim *p, const floe_zfpx_open_job *job, uint64_t n, floe_error *err);

#ifdef __cplusplus
}
#endif
#endif
