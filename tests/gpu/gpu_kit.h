/* SPDX-License-Identifier: BSD-3-Clause */
/* What every test on a GPU begins with. FLOE_GPU_TEST=small requests less of it, for an emulated GPU; watched for still less, where
 * a tool watches each access, which takes kernels hundreds of times as long. FLOE_TESTS=few: of small what CI has time for. */
#ifndef FLOE_TESTS_GPU_GPU_KIT_H
#define FLOE_TESTS_GPU_GPU_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

#include "backend/cuda.h"

/* Tests call kernels without a context, which would load the library that has them. */
__attribute__((constructor)) static void kernels_load(void) { (void)floe_cuda_load(NULL); }

/* A call of CUDA, or of ours that returns what CUDA reports. */
#define CU(call)                                                                   \
    do {                                                                           \
        const cudaError_t error_ = (cudaError_t)(call);                            \
        if (error_ != cudaSuccess)                                                 \
            fail_msg("%s:%d: %s", __FILE__, __LINE__, cudaGetErrorString(error_)); \
    } while (0)

static inline bool is_watched(void)
{
    const char *wish = getenv("FLOE_GPU_TEST");
    return wish && strcmp(wish, "watched") == 0;
}

static inline bool is_small(void)
{
    const char *wish = getenv("FLOE_GPU_TEST");
    return is_watched() || (wish && strcmp(wish, "small") == 0);
}

static inline bool is_few(void)
{
    const char *wish = getenv("FLOE_TESTS");
    return is_watched() || (is_small() && wish && strcmp(wish, "few") == 0);
}

/* What to count on by from one trial to the next: all are made, but one in so many where they are watched. */
static inline int one_in(int many) { return is_watched() ? many : 1; }
/* The same where few are to be made. */
static inline int few_in(int many) { return is_few() ? many : 1; }

#endif
