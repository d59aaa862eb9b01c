/* SPDX-License-Identifier: BSD-3-Clause */
/* What the GPU that is current has, for launches: how many blocks work at once, and what a block may have. */
#ifndef FLOE_BACKEND_LIMITS_CUDA_H
#define FLOE_BACKEND_LIMITS_CUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct floe_gpu_limits {
    uint32_t processors;    /* multiprocessors */
    uint32_t shared_nbytes; /* the most dynamic shared memory of a block */
    uint32_t major, minor;  /* compute capability */
} floe_gpu_limits;

/* A block of any GPU from compute capability 8.0 on can have this much shared memory. */
enum { FLOE_GPU_LEAST_SHARED = 99 << 10 };

/* Queried once for each GPU. Where none can be: the least that any GPU has. */
floe_gpu_limits floe_gpu_limits_cuda(void);

enum { FLOE_GPU_NAME_NBYTES = 256 };
int floe_gpu_name_cuda(char name[FLOE_GPU_NAME_NBYTES]);

/* Whether the GPU that is current runs our kernels, as CUDA reports: what they are compiled for decides. */
int floe_gpu_kernel_cuda(void);

#ifdef __cplusplus
}
#endif
#endif
