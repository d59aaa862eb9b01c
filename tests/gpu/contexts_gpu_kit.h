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

#endif
