/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_FIELD_BOXES_CUDA_H
#define FLOE_FIELD_BOXES_CUDA_H

#include <floe/floe.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_BOXES_MOST = 32 };

/* Values of boxes of a field, one behind another. By value; pointers are device memory. */
typedef struct floe_boxes_job {
    const void *from;
    void *to;
    bool narrow; /* values of 4 bytes */
    uint32_t nboxes;
    uint64_t extent[FLOE_MAX_RANK]; /* of a box; ones in front */
    int64_t stride[FLOE_MAX_RANK], at[FLOE_BOXES_MOST];
} floe_boxes_job;

/* Returns a cudaError_t as a number. */
int floe_boxes_gather_cuda(const floe_boxes_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
