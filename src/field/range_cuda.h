/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The range scan on a GPU: floe_range_scan and fill detection (field.h) in one pass over the values.
 *
 * That one pass is enough because it keeps, beside minimum and maximum, how often each occurs and what comes next: a
 * candidate for fill is judged by the values of all others, which are then known without another scan.
 */
#ifndef FLOE_FIELD_RANGE_CUDA_H
#define FLOE_FIELD_RANGE_CUDA_H

#include <floe/floe.h>

#include "field/field.h"
#include "field/runs_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a scan found; device memory. The range is that of floe_range_scan with the fill value as fill, its low and high
 * aside, which are just witnesses. */
typedef struct floe_dev_range {
    floe_range range;
    uint64_t fill_bits; /* 0 without */
    uint32_t has_fill;
    uint32_t reserved;
} floe_dev_range;

/* Where the values of a field lie: whole tiles of contiguous values from element `head` on, then the rest one by one. */
typedef struct floe_range_tiles {
    uint64_t nelems, head, nwhole, ntiles;
} floe_range_tiles;

/* By value. */
typedef struct floe_range_job {
    const void *data; /* device memory */
    floe_dtype dtype;
    floe_runs runs;         /* of the field */
    floe_range_tiles tiles; /* likewise */
    bool has_fill;          /* values with fill_bits are fill */
    bool detect;            /* look for a fill value; not together with has_fill */
    uint64_t fill_bits;     /* 0 without */
    void *scratch;          /* floe_range_scratch_nbytes bytes, 64-byte aligned */
    uint64_t *done;         /* a word that is 0 before the call, and again after it */
} floe_range_job;

/* data, dtype, runs and tiles of a field whose strides are spelled out; no fill, no scratch. */
floe_range_job floe_range_job_of(const void *data, floe_dtype dtype, uint32_t rank, const uint64_t *shape,
                                 const int64_t *stride);
uint64_t floe_range_scratch_nbytes(void);

/* Puts one kernel on the stream. Returns a cudaError_t as a number. */
int floe_range_scan_cuda(const floe_range_job *job, floe_dev_range *range, void *stream);

#ifdef __cplusplus
}
#endif
#endif
