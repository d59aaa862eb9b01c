/* SPDX-License-Identifier: BSD-3-Clause */
/* The squared error that coding a field would leave, on a GPU: what floe_codec_squared_error gives for its chunks, added up
 * in their order, to the last bit. For the search of psnr, before params are known. */
#ifndef FLOE_CODEC_LORENZO_GPU_ERROR_LORENZO_ERROR_H
#define FLOE_CODEC_LORENZO_GPU_ERROR_LORENZO_ERROR_H

#include "codec/lorenzo/gpu/lorenzo_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By value. Pointers are device memory. */
typedef struct floe_lorenzo_error_job {
    floe_codec_params params;
    floe_dev_grid grid;
    const floe_dev_chunk *chunks; /* as begin leaves them, whatever the params then were */
    double *tiles;                /* scratch: one for each tile slot, nchunks * slots */
    double *sum;                  /* out; 0 for LOSSLESS */
} floe_lorenzo_error_job;

int floe_lorenzo_squared_error_cuda(const floe_lorenzo_error_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
