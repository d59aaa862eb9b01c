/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams in device memory where chunks are coded one by one, from or to a field in host memory: as a source, and as a sink; and fields.
 * Copies are put on the context's stream, and waited for. */
#ifndef FLOE_DEVICE_DEVICE_STREAM_H
#define FLOE_DEVICE_DEVICE_STREAM_H

#include <floe/floe.h>

#include "backend/cuda.h"
#include "base/try.h"

enum { FLOE_DEVICE_STREAM_ALIGN = 16 };

static inline floe_status floe_device_stream_check(const void *stream, floe_error *err)
{
    FLOE_CHECK(err, (uintptr_t)stream % FLOE_DEVICE_STREAM_ALIGN == 0, FLOE_ERR_ARGUMENT,
               "a stream in device memory must be aligned to %d bytes", FLOE_DEVICE_STREAM_ALIGN);
    return FLOE_OK;
}

/* Both stay where they are initialized; the GPU is open and current while they are used. Of a source cuda may be NULL: then data lie
 * in host memory. */
typedef struct floe_device_source {
    floe_source source; /* of all that there is */
    const floe_cuda *cuda;
    const uint8_t *data;
} floe_device_source;
void floe_device_source_init(floe_device_source *source, const floe_cuda *cuda, const void *data, uint64_t nbytes);

typedef struct floe_device_sink {
    floe_sink sink; /* CAPACITY, and nothing is written, where something does not fit */
    const floe_cuda *cuda;
    uint8_t *data;
    uint64_t capacity, written;
} floe_device_sink;
void floe_device_sink_init(floe_device_sink *sink, const floe_cuda *cuda, void *data, uint64_t capacity);

/* Between two resolved fields, in host or device memory. */
floe_status floe_device_field_copy(const floe_cuda *cuda, const floe_field *from, const floe_field *to,
                                   floe_error *err);

#endif
