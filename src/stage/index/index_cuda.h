/* SPDX-License-Identifier: BSD-3-Clause */
/* Side indexes in device memory: floe_side_index_decode (index.h) on a GPU. */
#ifndef FLOE_STAGE_INDEX_CUDA_H
#define FLOE_STAGE_INDEX_CUDA_H

#include "stage/index/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All places: places[i] of chunk i, and places[nchunks] = end. The body of the index is device memory, aligned to 4, as are
 * places and status. Where the index says what cannot be, *status becomes FLOE_ERR_FORMAT and some places are undefined;
 * else it stays as it is. Puts a kernel on the stream; returns a cudaError_t as a number. */
int floe_side_index_decode_cuda(const floe_side_index *index, uint64_t *places, uint32_t *status, void *stream);

#ifdef __cplusplus
}
#endif
#endif
