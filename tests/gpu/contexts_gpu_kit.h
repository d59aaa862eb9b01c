/* SPDX-License-Identifier: BSD-3-Clause */
/* The contexts of a test of public calls on a GPU, made and freed around a file's tests. */
#ifndef FLOE_TESTS_GPU_CONTEXTS_GPU_KIT_H
#define FLOE_TESTS_GPU_CONTEXTS_GPU_KIT_H

#include <floe/floe.h>

#include "tests/gpu/gpu_kit.h"

static floe_ctx *cpu, *gpu, *through; /* the CPU; device data; host data, too, on the GPU */

static inline int contexts_open(void **state)
{
    (void)state;
    const floe_ctx_options host = {.size = sizeof host, .backend = FLOE_BACKEND_CPU};
    const floe_ctx_options both = {.size = sizeof both, .backend = FLOE_BACKEND_CUDA};
    return floe_ctx_create(&cpu, &host) || floe_ctx_create(&gpu, NULL) || floe_ctx_create(&through, &both);
}

static inline int contexts_close(void **state)
{
    (void)state;
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
    floe_ctx_free(&through);
    return 0;
}

/* The same with room on the device for the report of calls that do not wait. */
static floe_device_report *dev_report;

static inline int report_open(void **state)
{
    CU(cudaMalloc((void **)&dev_report, sizeof *dev_report));
    return contexts_open(state);
}

static inline int report_close(void **state)
{
    CU(cudaFree(dev_report));
    return contexts_close(state);
}

#endif
