/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_API_DEVICE_FIELD_H
#define FLOE_API_DEVICE_FIELD_H

#include <string.h>

#include "base/try.h"
#include "codec/lorenzo_device.h"

enum { FLOE_DEVICE_STREAM_ALIGN = 16 };

/* A resolved field as kernels see it. */
static inline floe_dev_field floe_dev_field_of(const floe_field *f)
{
    floe_dev_field d = {.data = f->data, .dtype = f->dtype, .rank = f->rank};
    memcpy(d.shape, f->shape, sizeof d.shape);
    memcpy(d.stride, f->stride, sizeof d.stride);
    return d;
}

static inline floe_status floe_device_stream_check(const void *stream, floe_error *err)
{
    FLOE_CHECK(err, (uintptr_t)stream % FLOE_DEVICE_STREAM_ALIGN == 0, FLOE_ERR_ARGUMENT,
               "a stream in device memory must be aligned to %d bytes", FLOE_DEVICE_STREAM_ALIGN);
    return FLOE_OK;
}

#endif
