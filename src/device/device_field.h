/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_DEVICE_DEVICE_FIELD_H
#define FLOE_DEVICE_DEVICE_FIELD_H

#include <string.h>

#include "codec/codec_device.h"
#include "device/device_stream.h"

/* A resolved field as kernels see it. */
static inline floe_dev_field floe_dev_field_of(const floe_field *f)
{
    floe_dev_field d = {.data = f->data, .dtype = f->dtype, .rank = f->rank};
    memcpy(d.shape, f->shape, sizeof d.shape);
    memcpy(d.stride, f->stride, sizeof d.stride);
    return d;
}

#endif
