/* SPDX-License-Identifier: BSD-3-Clause */
/* The null codec on a GPU: its row, and its kernels. */
#ifndef FLOE_TESTS_NULL_CODEC_NULL_CODEC_GPU_H
#define FLOE_TESTS_NULL_CODEC_NULL_CODEC_GPU_H

#include "codec/resolve/resolve_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const floe_codec_device floe_null_gpu;

/* By value. */
typedef struct null_encode {
    floe_dev_field field;
    floe_dev_grid grid;
    uint8_t *stream;
    uint64_t capacity, first_offset;
    floe_dev_record *records;
    floe_dev_chunk_stats *stats;
    uint64_t *end;
    uint32_t *status;
} null_encode;

/* By value. */
typedef struct null_decode {
    floe_dev_field field; /* the box lo..hi */
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    const uint64_t *layout, *nrecords;
    const floe_dev_record *records;
    const uint8_t *stream;
    uint64_t max_chunks;
    uint32_t *status;
} null_decode;

int floe_null_resolve_cuda(const null_encode *call, const floe_resolve_job *job, void *stream);
int floe_null_encode_cuda(const null_encode *call, void *stream);
int floe_null_decode_cuda(const null_decode *call, void *stream);

#ifdef __cplusplus
}
#endif
#endif
