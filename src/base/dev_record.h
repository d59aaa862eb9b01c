/* SPDX-License-Identifier: BSD-3-Clause */
/* What codec and container pass to each other in device memory: where a chunk's record lies in a stream, and statistics of coding it. */
#ifndef FLOE_BASE_DEV_RECORD_H
#define FLOE_BASE_DEV_RECORD_H

#include <stdbool.h>

#include <floe/floe.h>

#include "base/hd.h"

enum { FLOE_RECORD_HEAD_NBYTES = 40 }; /* what stands before a chunk's payload; see container.h */

typedef struct floe_dev_record {
    uint64_t offset;   /* of the record's head, from the start of the stream; a multiple of 8 */
    uint64_t nbytes;   /* of the payload behind the head, without padding to 8 */
    uint64_t checksum; /* of the payload */
} floe_dev_record;

/* Statistics of an attempt at encoding a chunk; counters start at 0. */
typedef struct floe_dev_chunk_stats {
    unsigned long long nexceptions, nliterals;
    unsigned long long max_error_bits, max_pw_error_bits; /* patterns of doubles, of which the largest is the largest */
} floe_dev_chunk_stats;

/* Where a chunk's record goes: behind those before. */
typedef struct floe_dev_record_place {
    uint8_t *stream;
    uint64_t capacity, *end; /* end: where it begins; then where it ends */
    floe_dev_record *record;
    floe_dev_chunk_stats *stats;
} floe_dev_record_place;

/* Where that of all chunks is: of chunk 0 in first[*attempt], attempt NULL: first[0]. That of the next lies stride bytes behind. */
typedef struct floe_dev_stats_of_chunks {
    const floe_dev_chunk_stats *first;
    const uint32_t *attempt;
    uint64_t stride;
} floe_dev_stats_of_chunks;

/* The report of a call in device memory. stats: those of compression, of all chunks; NULL after decompression. pwrel: relative errors
 * were looked at. */
FLOE_HD void floe_dev_report_write(floe_device_report *report, uint32_t status, uint64_t nbytes,
                                   const floe_dev_chunk_stats *stats, bool pwrel)
{
    const double unknown = floe_f64_of(FLOE_NAN64_BITS);
    report->status = status;
    report->reserved = 0;
    report->nbytes = status ? 0 : nbytes;
    report->nexceptions = stats ? stats->nexceptions : 0;
    report->max_error = stats ? floe_f64_of(stats->max_error_bits) : unknown;
    report->max_pw_error = stats && pwrel ? floe_f64_of(stats->max_pw_error_bits) : unknown;
}

#endif
