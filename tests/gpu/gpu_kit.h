/* SPDX-License-Identifier: BSD-3-Clause */
/* What every test on a GPU begins with. FLOE_GPU_TEST=small asks for less of it: for an emulated GPU, or one that is watched. */
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

/* A call of CUDA, or of ours that returns what CUDA says. */
#define CU(call)                                                                   \
    do {                                                                           \
        const cudaError_t error_ = (cudaError_t)(call);                            \
        if (error_ != cudaSuccess)                                                 \
            fail_msg("%s:%d: %s", __FILE__, __LINE__, cudaGetErrorString(error_)); \
    } while (0)

static inline bool is_small(void)
{
    const char *wish = getenv("FLOE_GPU_TEST");
    return wish && strcmp(wish, "small") == 0;
}

#endif
