/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calls on a GPU say in a build without CUDA. */
#include "api/device.h"

#ifndef FLOE_HAVE_CUDA_BUILD

static floe_status absent_body(floe_ctx *ctx, void *arg)
{
    (void)arg;
    return floe_ctx_cuda(ctx); /* says that there is none */
}

floe_status floe_compress_async(floe_ctx *ctx, const floe_field *field, const floe_params *params, void *dst,
                                uint64_t capacity, floe_device_report *report)
{
    (void)field, (void)params, (void)dst, (void)capacity, (void)report;
    return floe_ctx_run(ctx, absent_body, NULL);
}
floe_status floe_decompress_async(floe_ctx *ctx, const void *src, uint64_t nbytes, const uint64_t *dev_nbytes,
                                  const floe_params *params, floe_field *out, floe_device_report *report)
{
    (void)src, (void)nbytes, (void)dev_nbytes, (void)params, (void)out, (void)report;
    return floe_ctx_run(ctx, absent_body, NULL);
}
floe_status floe_device_workspace_nbytes(floe_ctx *ctx, const floe_field *field, const floe_params *params,
                                         size_t *nbytes)
{
    (void)field, (void)params, (void)nbytes;
    return floe_ctx_run(ctx, absent_body, NULL);
}

#endif
