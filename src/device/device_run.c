/* SPDX-License-Identifier: BSD-3-Clause */
/* How calls reach the context's GPU; and what they return in a build without CUDA. */
#include "device/device.h"

#include "backend/cuda.h"
#include "base/try.h"
#include "call/chunking.h"
#include "call/resolve.h"

static floe_status gpu_open(floe_ctx *ctx)
{
    floe_status status = floe_ctx_cuda(ctx);
    const floe_error why = ctx->err;
    return status == FLOE_OK ? status
                             : floe_fail(&ctx->err, status, "device memory is a GPU's, but %.200s", why.message);
}

floe_status floe_device_enter(floe_ctx *ctx, floe_call_fn body, void *call)
{
    int before;
    FLOE_TRY(gpu_open(ctx));
    FLOE_TRY(floe_cuda_enter(&ctx->cuda, &before, &ctx->err));
    floe_status status = body(ctx, call);
    floe_cuda_leave(before);
    return status;
}

floe_status floe_device_check(floe_ctx *ctx, const void *p, const char *what)
{
    FLOE_CHECK(&ctx->err, floe_cuda_device_reaches(ctx->cuda.device, p), FLOE_ERR_ARGUMENT,
               "%s is said to lie in device memory, but lies in host memory, out of the GPU's reach", what);
    return FLOE_OK;
}

floe_status floe_device_words_check(floe_ctx *ctx, const void *p, const char *what)
{
    FLOE_CHECK(&ctx->err, (uintptr_t)p % sizeof(uint64_t) == 0, FLOE_ERR_ARGUMENT,
               "%s in device memory must be aligned to %zu bytes", what, sizeof(uint64_t));
    return floe_device_check(ctx, p, what);
}

floe_status floe_device_field_check(floe_ctx *ctx, const floe_field *field)
{
    const bool is_read = field->place == FLOE_DEVICE && floe_extent_nelems(field->rank, field->shape) > 0;
    return is_read ? floe_device_check(ctx, field->data, "the field") : FLOE_OK;
}

floe_status floe_device_async_check(floe_ctx *ctx, const floe_field *field, const void *stream, const void *report)
{
    FLOE_CHECK(&ctx->err, field->place == FLOE_DEVICE, FLOE_ERR_ARGUMENT,
               "the field lies in host memory: calls that do not wait take device memory only");
    FLOE_TRY(floe_device_stream_check(stream, &ctx->err));
    FLOE_TRY(floe_device_field_check(ctx, field));
    FLOE_TRY(floe_device_check(ctx, stream, "the stream"));
    return floe_device_words_check(ctx, report, "the report");
}

floe_status floe_device_codec(floe_codec codec, floe_dtype dtype, const floe_codec_device **device, floe_error *err)
{
    const floe_codec_ops *ops = floe_codec_of(codec);
    if (!ops->integers_on_gpu)
        FLOE_TRY(floe_place_check(dtype, FLOE_DEVICE, err));
    FLOE_CHECK(err, ops->device, FLOE_ERR_UNSUPPORTED, "codec %s is the CPU's work: bring the values to host memory",
               ops->name);
    *device = ops->device;
    return FLOE_OK;
}

floe_status floe_device_waits_check(const floe_codec_device *device, floe_codec codec, const char *instead,
                                    floe_error *err)
{
    FLOE_CHECK(err, !device->waits, FLOE_ERR_UNSUPPORTED, "codec %s plans with the host: %s does that, %s_async cannot",
               floe_codec_of(codec)->name, instead, instead);
    return FLOE_OK;
}

typedef struct device_call {
    floe_call_fn body;
    void *call;
} device_call;

static floe_status device_body(floe_ctx *ctx, void *arg)
{
    const device_call *d = arg;
    return floe_device_enter(ctx, d->body, d->call);
}

floe_status floe_device_run(floe_ctx *ctx, floe_call_fn body, void *call)
{
    device_call d = {body, call};
    return floe_ctx_run(ctx, device_body, &d);
}
