/* SPDX-License-Identifier: BSD-3-Clause */
/* The last kernel of a decompression on a GPU whose other kernels do not report: what came of it, as a floe_device_report.
 * Compression ends with floe_container_finish_cuda, which reports as much. */
#ifndef FLOE_DEVICE_REPORT_CUDA_H
#define FLOE_DEVICE_REPORT_CUDA_H

#include <floe/floe.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct floe_report_job {
    const uint32_t *statuses; /* the first one that is not FLOE_OK stands */
    uint32_t nstatuses;
    const uint32_t *opened; /* of each chunk, as floe_codec_decode has it */
    uint64_t opened_stride, nchunks;
    uint64_t nbytes; /* of the stream; unless dev_nbytes is given */
    const uint64_t *dev_nbytes;
    floe_device_report *report;
} floe_report_job;

int floe_report_cuda(const floe_report_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
