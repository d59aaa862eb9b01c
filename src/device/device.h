/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields and streams in device memory: whole calls on a GPU. */
#ifndef FLOE_DEVICE_DEVICE_H
#define FLOE_DEVICE_DEVICE_H

#include <string.h>

#include "call/choice.h"
#include "call/ctx.h"
#include "codec/codec_device.h"
#include "device/device_stream.h"
#include "field/field.h"

/* A body for floe_device_enter and floe_device_run, which run none in a build without CUDA. */
#ifdef FLOE_HAVE_CUDA_BUILD
#define FLOE_DEVICE_BODY(body) (body)
#else
#define FLOE_DEVICE_BODY(body) NULL
#endif

/* What a scan of a field found, if there was any. */
typedef struct floe_device_values {
    bool known, has_fill;
    uint64_t fill_bits;
    floe_range range;
} floe_device_values;

typedef struct floe_compress_call {
    const floe_field *field;
    const floe_params *params;
    const floe_stream_options *options; /* of calls that wait: attributes and progress */
    void *dst;
    uint64_t capacity;
    uint64_t *nbytes;                 /* out, of calls that wait */
    floe_device_report *report;       /* of those that do not */
    const floe_device_values *values; /* NULL: not known */
} floe_compress_call;

/* Codec AUTO of checked params becomes the one that such a field gets: perhaps one without kernels. left: several, where their streams
 * are to be compared, which a sample does not; params have the likeliest then. */
floe_status floe_device_choose(floe_ctx *ctx, const floe_field *field, floe_params *params, floe_device_values *values,
                               floe_choice *left);
/* The bodies of floe_compress and floe_decompress(_region) where the field lies on the device. The field is resolved and
 * params are checked; dst and src may be host memory. */
floe_status floe_device_compress(floe_ctx *ctx, const floe_compress_call *call);
/* By whichever of these codecs has the shortest stream: that of the call, the likeliest, is the last that is tried. */
floe_status floe_device_compress_shortest(floe_ctx *ctx, const floe_compress_call *call, const floe_choice *left);
/* lo and hi: NULL for all, which a level above 0 is of. OK and not decided: the GPU cannot decode the stream as a whole, or finds it
 * wrong. */
floe_status floe_device_decompress(floe_ctx *ctx, const void *src, uint64_t nbytes, uint32_t level, const uint64_t *lo,
                                   const uint64_t *hi, const floe_field *out, bool *decided);

/* A resolved field as kernels see it. */
static inline floe_dev_field floe_dev_field_of(const floe_field *f)
{
    floe_dev_field d = {.data = f->data, .dtype = f->dtype, .rank = f->rank};
    memcpy(d.shape, f->shape, sizeof d.shape);
    memcpy(d.stride, f->stride, sizeof d.stride);
    return d;
}

/* Runs the body of a call, or of a part of one, with the context's GPU open and current; the former by floe_ctx_run. */
floe_status floe_device_enter(floe_ctx *ctx, floe_call_fn body, void *call);
floe_status floe_device_run(floe_ctx *ctx, floe_call_fn body, void *call);

/* ARGUMENT where p, or the data of a resolved field that is given as lying in device memory, is host memory that the context's GPU
 * cannot reach: a kernel that tries loses the process all that it has on the GPU. For calls that floe_device_enter runs, also
 * those that do not wait. Each call queries again: memory may have been freed since. what: "the field" */
floe_status floe_device_check(floe_ctx *ctx, const void *p, const char *what);
/* The same of what kernels take as words of 64 bits, which must be aligned. */
floe_status floe_device_words_check(floe_ctx *ctx, const void *p, const char *what);
floe_status floe_device_field_check(floe_ctx *ctx, const floe_field *field);

/* A codec's row for such values; UNSUPPORTED: it has no kernels for them. */
floe_status floe_device_codec(floe_codec codec, floe_dtype dtype, const floe_codec_device **device, floe_error *err);

/* UNSUPPORTED where a codec cannot do without waiting; instead: the call that waits. */
floe_status floe_device_waits_check(const floe_codec_device *device, floe_codec codec, const char *instead,
                                    floe_error *err);

/* What a call that does not wait is given: field, stream and report lie in device memory, stream and report are
 * aligned. */
floe_status floe_device_async_check(floe_ctx *ctx, const floe_field *field, const void *stream, const void *report);

/* The device memory of each direction; field need not have data. */
floe_status floe_device_compress_nbytes(floe_ctx *ctx, const floe_field *field, const floe_params *params,
                                        size_t *nbytes);
floe_status floe_device_decompress_nbytes(floe_ctx *ctx, const floe_field *field, const floe_params *params,
                                          size_t *nbytes);

#endif
