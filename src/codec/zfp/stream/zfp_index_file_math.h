/* SPDX-License-Identifier: BSD-3-Clause */
/* The header of an index file, once, for both compilers, as words of 8 bytes, little-endian; and the worklets of
 * zfp_index_prim.h, each of which one thread runs. */
#ifndef FLOE_CODEC_ZFP_STREAM_ZFP_INDEX_FILE_MATH_H
#define FLOE_CODEC_ZFP_STREAM_ZFP_INDEX_FILE_MATH_H

#include "base/checksum.h"
#include "base/xxh3_math.h"
#include "codec/zfp/stream/zfp_index_prim.h"
#include "stage/index/index_prim_math.h"

#define FLOE_ZFPX_MAGIC ((uint64_t)0x1A0A0D5850465AF4) /* f4, ZFPX, CR LF, ^Z */

enum {
    FLOE_ZFPX_AT_VERSION = 1, /* 2 bytes each of the writer's and of the oldest reader's, then 4: size of the header */
    FLOE_ZFPX_AT_TYPE = 2,    /* a byte, as is the rank */
    FLOE_ZFPX_AT_PARAMS = 3,
    FLOE_ZFPX_AT_SHAPE = 5,
    FLOE_ZFPX_AT_STREAM = 9, /* its size and its checksum */
    FLOE_ZFPX_AT_INDEX = 11, /* the same */
    FLOE_ZFPX_AT_CHECK = 13, /* XXH3 of all that stands before */
    FLOE_ZFPX_CHECKED_NBYTES = 8 * FLOE_ZFPX_AT_CHECK
};

/* What one thread can find of a header alone. check: XXH3 of its first FLOE_ZFPX_CHECKED_NBYTES. */
FLOE_HD floe_status floe_zfpx_header_status(const uint64_t *words, uint64_t check)
{
    const uint64_t version = words[FLOE_ZFPX_AT_VERSION] & 0xFFFF, reader = words[FLOE_ZFPX_AT_VERSION] >> 16 & 0xFFFF;
    if (words[0] != FLOE_ZFPX_MAGIC)
        return FLOE_ERR_FORMAT;
    if (reader > FLOE_ZFPX_VERSION)
        return FLOE_ERR_VERSION;
    if (words[FLOE_ZFPX_AT_CHECK] != check)
        return FLOE_ERR_CHECKSUM;
    return reader >= 1 && reader <= version && words[FLOE_ZFPX_AT_VERSION] >> 32 == FLOE_ZFPX_HEADER_NBYTES
               ? FLOE_OK
               : FLOE_ERR_FORMAT;
}

FLOE_HD uint64_t floe_zfpx_check_of(const uint64_t *words)
{
    return floe_xxh3_17_128((const uint8_t *)words, FLOE_ZFPX_CHECKED_NBYTES);
}

/* ---- making a file -------------------------------------------------------------------------------------------------- */

FLOE_HD uint64_t floe_zfpx_stream_nbytes(uint64_t nbits) { return floe_ceil_div(nbits, 64) * 8; }

FLOE_HD uint32_t floe_zfpx_made_status(const floe_zfpx_finish_job *job)
{
    return job->found->blocks != FLOE_OK ? job->found->blocks : job->file ? job->found->made.status : FLOE_OK;
}

FLOE_HD void floe_zfpx_size(const floe_zfpx_finish_job *job, uint64_t i)
{
    const bool fine = floe_zfpx_made_status(job) == FLOE_OK;
    (void)i;
    job->found->nbytes[FLOE_ZFPX_STREAM] = fine ? floe_zfpx_stream_nbytes(job->found->nbits) : 0;
    job->found->nbytes[FLOE_ZFPX_INDEX] = fine ? job->found->made.nbytes : 0;
}

FLOE_HD void floe_zfpx_write_header(const floe_zfpx_finish_job *job)
{
    const floe_zfpx_found *f = job->found;
    uint64_t words[FLOE_ZFPX_HEADER_WORDS];
    for (uint32_t i = 0; i < FLOE_ZFPX_DESC_WORDS; i++)
        words[i] = job->desc[i];
    for (uint32_t k = 0; k < FLOE_ZFPX_SPANS; k++) {
        words[FLOE_ZFPX_AT_STREAM + 2 * k] = f->nbytes[k];
        words[FLOE_ZFPX_AT_STREAM + 2 * k + 1] = floe_checksum_finish(f->sums[k], f->nbytes[k]);
    }
    words[FLOE_ZFPX_AT_CHECK] = floe_zfpx_check_of(words);
    for (uint32_t i = 0; i < FLOE_ZFPX_HEADER_WORDS; i++)
        job->file[i] = words[i];
}

FLOE_HD void floe_zfpx_finish(const floe_zfpx_finish_job *job, uint64_t i)
{
    floe_zfp_report *report = job->report;
    (void)i;
    report->status = floe_zfpx_made_status(job);
    report->reserved = 0;
    const bool fine = report->status == FLOE_OK;
    report->nbytes = fine ? floe_zfpx_stream_nbytes(job->found->nbits) : 0;
    report->index_nbytes = fine && job->file ? FLOE_ZFPX_HEADER_NBYTES + job->found->made.nbytes : 0;
    if (fine && job->file)
        floe_zfpx_write_header(job);
}

/* ---- reading one ---------------------------------------------------------------------------------------------------- */

FLOE_HD bool floe_zfpx_is_of(const uint64_t *words, const uint64_t *desc)
{
    bool same = true;
    for (uint32_t i = FLOE_ZFPX_AT_TYPE; i < FLOE_ZFPX_DESC_WORDS; i++)
        same = same && words[i] == desc[i];
    return same;
}

/* The file of nbytes, of a stream of stream_nbytes. */
FLOE_HD void floe_zfpx_open_file(const floe_zfpx_open_job *job, uint64_t nbytes, uint64_t stream_nbytes)
{
    floe_zfpx_found *f = job->found;
    uint64_t words[FLOE_ZFPX_HEADER_WORDS];
    f->index = job->plan;
    f->index.npartitions = 0;
    f->header = FLOE_ERR_FORMAT;
    if (nbytes < FLOE_ZFPX_HEADER_NBYTES)
        return;
    for (uint32_t i = 0; i < FLOE_ZFPX_HEADER_WORDS; i++)
        words[i] = job->file[i];
    f->header = floe_zfpx_header_status(words, floe_zfpx_check_of(words));
    if (f->header == FLOE_OK && words[FLOE_ZFPX_AT_INDEX] != nbytes - FLOE_ZFPX_HEADER_NBYTES)
        f->header = FLOE_ERR_FORMAT;
    if (f->header != FLOE_OK)
        return;
    f->nbytes[FLOE_ZFPX_INDEX] = nbytes - FLOE_ZFPX_HEADER_NBYTES;
    f->index = floe_index_open_as(&job->plan, job->file + FLOE_ZFPX_HEADER_WORDS, f->nbytes[FLOE_ZFPX_INDEX],
                                  8 * floe_min64(stream_nbytes, UINT64_MAX / 8));
    if (f->index.npartitions == 0 || !floe_zfpx_is_of(words, job->desc) || words[FLOE_ZFPX_AT_STREAM] != stream_nbytes)
        f->agrees = FLOE_ERR_FORMAT;
}

FLOE_HD void floe_zfpx_open(const floe_zfpx_open_job *job, uint64_t i)
{
    const floe_zfp_report *sizes = job->sizes;
    const uint64_t nbytes = sizes ? floe_min64(sizes->nbytes, job->nbytes) : job->nbytes;
    (void)i;
    job->found->nbytes[FLOE_ZFPX_STREAM] = nbytes;
    if (job->file)
        floe_zfpx_open_file(job, sizes ? floe_min64(sizes->index_nbytes, job->file_nbytes) : job->file_nbytes, nbytes);
    else if (job->end > 8 * nbytes)
        job->found->agrees = FLOE_ERR_FORMAT;
}

FLOE_HD bool floe_zfpx_sum_is(const floe_zfpx_open_job *job, uint32_t span)
{
    const floe_zfpx_found *f = job->found;
    return floe_checksum_finish(f->sums[span], f->nbytes[span]) == job->file[FLOE_ZFPX_AT_STREAM + 2 * span + 1];
}

FLOE_HD uint32_t floe_zfpx_decision(const floe_zfpx_open_job *job)
{
    const floe_zfpx_found *f = job->found;
    if (job->sizes && job->sizes->status != FLOE_OK)
        return job->sizes->status;
    if (f->header != FLOE_OK)
        return f->header;
    if (job->file && !floe_zfpx_sum_is(job, FLOE_ZFPX_INDEX))
        return FLOE_ERR_CHECKSUM;
    if (f->agrees != FLOE_OK)
        return f->agrees;
    if (job->file && (f->made.status != FLOE_OK || !floe_zfpx_sum_is(job, FLOE_ZFPX_STREAM)))
        return FLOE_ERR_FORMAT;
    return f->blocks;
}

FLOE_HD void floe_zfpx_judge(const floe_zfpx_open_job *job, uint64_t i)
{
    const floe_zfpx_found *f = job->found;
    floe_zfp_report report;
    (void)i;
    report.status = floe_zfpx_decision(job);
    report.reserved = 0;
    report.nbytes = report.status == FLOE_OK ? f->nbytes[FLOE_ZFPX_STREAM] : 0;
    report.index_nbytes =
        report.status == FLOE_OK && job->file ? FLOE_ZFPX_HEADER_NBYTES + f->nbytes[FLOE_ZFPX_INDEX] : 0;
    *job->report = report;
}

#endif
