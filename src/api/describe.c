/* SPDX-License-Identifier: BSD-3-Clause */
/* What a build of floe finds on a machine, for reports of what is wrong. */
#include <stdio.h>

#include "backend/cuda.h"
#include "backend/limits_cuda.h"
#include "call/ctx.h"

enum { LINE_NBYTES = 512 };

static void gpu_describe(char backend[LINE_NBYTES], char gpu[LINE_NBYTES])
{
    const floe_ctx_options options = {.size = sizeof options, .backend = FLOE_BACKEND_CUDA};
    const char *from = "part of libfloe";
    floe_error why = {.status = FLOE_OK};
    floe_ctx *ctx = NULL;
    const floe_status status = floe_ctx_create(&ctx, &options);
    if (floe_cuda_load(&why) != FLOE_OK)
        from = why.message;
    else if (floe_cuda_loaded_from()[0])
        from = floe_cuda_loaded_from();
    snprintf(backend, LINE_NBYTES, "%s", from);
    snprintf(gpu, LINE_NBYTES, "none: %s", floe_ctx_message(ctx));
#ifdef FLOE_HAVE_CUDA_BUILD
    if (status == FLOE_OK) {
        const floe_gpu_limits limits = floe_gpu_limits_cuda();
        char name[FLOE_GPU_NAME_NBYTES] = "";
        (void)floe_gpu_name_cuda(name);
        snprintf(gpu, LINE_NBYTES, "%s, compute capability %u.%u, %u multiprocessors", name, limits.major, limits.minor,
                 limits.processors);
    }
#else
    (void)status;
#endif
    floe_ctx_free(&ctx);
}

size_t floe_describe(char *text, size_t capacity)
{
#ifdef HAVE_XXHASH
    const char *const checksum = "libxxhash";
#else
    const char *const checksum = "floe's own";
#endif
    char backend[LINE_NBYTES], gpu[LINE_NBYTES];
    floe_cpu cpu = {.threads = 1};
    (void)floe_cpu_init(&cpu, 0, FLOE_ISA_AUTO, NULL);
    gpu_describe(backend, gpu);
    const int n = snprintf(text, capacity, "threads: %u\ninstruction set: %s\nXXH3: %s\nGPU backend: %s\nGPU: %s\n",
                           cpu.threads, cpu.isa == FLOE_ISA_AVX2 ? "AVX2" : "plain", checksum, backend, gpu);
    return n < 0 ? 0 : (size_t)n;
}
