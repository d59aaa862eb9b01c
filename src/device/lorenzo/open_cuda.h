/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening the chunks of a whole stream in device memory, without waiting for a verdict on its header, index and checksums. */
#ifndef FLOE_DEVICE_LORENZO_OPEN_CUDA_H
#define FLOE_DEVICE_LORENZO_OPEN_CUDA_H

#include "codec/lorenzo/gpu/lorenzo_device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct floe_open_job {
    floe_lorenzo_decode_call call; /* layout and records are not looked at; *status becomes FLOE_OK */
    floe_lorenzo_guess guess;
    uint64_t shape[FLOE_MAX_RANK]; /* of the stream's field */
    uint64_t nbytes;               /* of the stream; or at most so many, where dev_nbytes points to the true number */
    const uint64_t *dev_nbytes;    /* or NULL */
} floe_open_job;

/* One kernel; what came of it is in each chunk's `opened`. Returns a cudaError_t as a number. */
int floe_open_cuda(const floe_open_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
