/* SPDX-License-Identifier: BSD-3-Clause */
/* The last kernel of a call on a GPU: what came of it, as a floe_device_report. */
#ifndef FLOE_API_REPORT_CUDA_H
#define FLOE_API_REPORT_CUDA_H

#include <floe/floe.h>

#include "codec/lorenzo_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* chunks: nchunks of them, or NULL after decompression. nbytes: of the stream; unless dev_nbytes is given. */
int floe_report_cuda(const uint32_t *status, const floe_dev_chunk *chunks, uint64_t nchunks, uint64_t nbytes,
                     const uint64_t *dev_nbytes, bool pwrel, floe_device_report *report, void *stream);

#ifdef __cplusplus
}
#endif
#endif
