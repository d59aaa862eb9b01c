/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/device_stream.h"

#include "base/bytes.h"
#include "field/field.h"

static floe_status source_read(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    const floe_device_source *s = user;
    const uint64_t end = s->source.nbytes_total;
    *got = offset < end ? (size_t)floe_min64(nbytes, end - offset) : 0;
    if (*got == 0)
        return FLOE_OK;
    if (!s->cuda) {
        memcpy(dst, s->data + offset, *got);
        return FLOE_OK;
    }
    FLOE_TRY(floe_cuda_copy(s->cuda, dst, s->data + offset, *got, NULL));
    return floe_cuda_wait(s->cuda, NULL);
}

void floe_device_source_init(floe_device_source *source, const floe_cuda *cuda, const void *data, uint64_t nbytes)
{
    *source = (floe_device_source){.cuda = cuda, .data = data};
    source->source = (floe_source){source, source_read, nbytes, 1};
}

static floe_status sink_write(void *user, const void *src, size_t nbytes)
{
    floe_device_sink *s = user;
    if (nbytes > s->capacity - s->written)
        return FLOE_ERR_CAPACITY;
    FLOE_TRY(floe_cuda_copy(s->cuda, s->data + s->written, src, nbytes, NULL));
    s->written += nbytes;
    return floe_cuda_wait(s->cuda, NULL);
}

void floe_device_sink_init(floe_device_sink *sink, const floe_cuda *cuda, void *data, uint64_t capacity)
{
    *sink = (floe_device_sink){.cuda = cuda, .data = data, .capacity = capacity};
    sink->sink = (floe_sink){sink, sink_write};
}

enum { MOST_PITCH = 1 << 27 /* elements; copies of rows take less than 2^31 bytes */ };

/* Where a field has gaps, all rows of a plane at once, or element by element; nothing that is not of the field is touched. */
floe_status floe_device_field_copy(const floe_cuda *cuda, const floe_field *from, const floe_field *to, floe_error *err)
{
    const size_t size = floe_dtype_size(to->dtype);
    const floe_rows rows = floe_rows_of(to, from);
    const bool dense = rows.step[0] == 1 && rows.step[1] == 1;
    const uint32_t last = rows.outer - 1;
    const int64_t length = (int64_t)rows.length;
    const bool apart = dense && rows.outer && rows.stride[0][last] >= length && rows.stride[1][last] >= length &&
                       (rows.stride[0][last] | rows.stride[1][last]) < MOST_PITCH;
    const uint64_t each = dense ? rows.length : 1, together = apart ? rows.shape[last] : 1;
    for (uint64_t r = 0; r < rows.count; r += together)
        for (uint64_t i = 0; i < rows.length; i += each) {
            const int64_t dst = floe_rows_offset(&rows, 0, r) + (int64_t)i * rows.step[0],
                          src = floe_rows_offset(&rows, 1, r) + (int64_t)i * rows.step[1];
            const floe_cuda_rows all = {.to = (uint8_t *)to->data + dst * (int64_t)size,
                                        .from = (const uint8_t *)from->data + src * (int64_t)size,
                                        .to_pitch = apart ? (size_t)rows.stride[0][last] * size : each * size,
                                        .from_pitch = apart ? (size_t)rows.stride[1][last] * size : each * size,
                                        .nbytes = each * size,
                                        .count = together};
            FLOE_TRY(floe_cuda_copy_rows(cuda, &all, err));
        }
    return floe_cuda_wait(cuda, err);
}
