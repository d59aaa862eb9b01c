/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/pair_read.h"

#include <string.h>

#include "base/hd.h"

floe_field floe_pair_field(const floe_pair *pair, int side)
{
    const bool decoded = side && pair->decoded;
    floe_field f = floe_field_of(decoded ? pair->decoded : pair->original, pair->dtype, FLOE_MAX_RANK, pair->shape);
    f.place = pair->place;
    memcpy(f.stride, decoded ? pair->decoded_stride : pair->original_stride, sizeof f.stride);
    return f;
}

uint64_t floe_pair_nelems(const floe_pair *pair)
{
    return pair->shape[0] * pair->shape[1] * pair->shape[2] * pair->shape[3];
}

static bool side_is_dense(const floe_pair *pair, const int64_t *stride)
{
    int64_t step = 1;
    for (int i = FLOE_MAX_RANK; i-- > 0;) {
        if (pair->shape[i] > 1 && stride[i] != step)
            return false;
        step *= (int64_t)pair->shape[i];
    }
    return true;
}

bool floe_pair_is_dense(const floe_pair *pair)
{
    return side_is_dense(pair, pair->original_stride) && (!pair->decoded || side_is_dense(pair, pair->decoded_stride));
}

/* n values of a row from element offset `at`. */
static void row_gather(const uint8_t *from, int64_t at, int64_t stride, size_t size, uint64_t n, uint8_t *to)
{
    from += at * (int64_t)size;
    if (stride == 1)
        memcpy(to, from, n * size);
    else if (size == 4)
        for (uint64_t i = 0; i < n; i++)
            memcpy(to + 4 * i, from + 4 * ((int64_t)i * stride), 4);
    else
        for (uint64_t i = 0; i < n; i++)
            memcpy(to + 8 * i, from + 8 * ((int64_t)i * stride), 8);
}

static void side_gather(const floe_pair *pair, const void *data, const int64_t *stride, uint64_t at, uint32_t n,
                        void *to)
{
    const size_t size = floe_dtype_size(pair->dtype);
    uint8_t *out = to;
    while (n) {
        uint64_t rest = at;
        int64_t offset = 0;
        for (int i = FLOE_MAX_RANK; i-- > 0; rest /= pair->shape[i])
            offset += (int64_t)(rest % pair->shape[i]) * stride[i];
        const uint64_t m = floe_min64(n, pair->shape[3] - at % pair->shape[3]);
        row_gather(data, offset, stride[3], size, m, out);
        out += m * size;
        at += m;
        n -= (uint32_t)m;
    }
}

void floe_pair_read(const floe_pair *pair, bool dense, uint64_t at, uint32_t n, floe_pair_buffer *buffer,
                    const void **original, const void **decoded)
{
    const size_t size = floe_dtype_size(pair->dtype);
    if (dense) {
        *original = (const uint8_t *)pair->original + at * size;
        *decoded = pair->decoded ? (const uint8_t *)pair->decoded + at * size : *original;
        return;
    }
    side_gather(pair, pair->original, pair->original_stride, at, n, buffer->original);
    *original = *decoded = buffer->original;
    if (pair->decoded) {
        side_gather(pair, pair->decoded, pair->decoded_stride, at, n, buffer->decoded);
        *decoded = buffer->decoded;
    }
}

double floe_pair_value(const floe_pair *pair, const void *values, uint32_t i)
{
    return pair->dtype == FLOE_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static floe_value_class class_at(const floe_pair *pair, const void *values, uint32_t i)
{
    if (pair->dtype == FLOE_F32)
        return floe_value_class_f32(floe_bits_f32(((const float *)values)[i]), pair->has_fill,
                                    (uint32_t)pair->fill_bits);
    return floe_value_class_f64(floe_bits_f64(((const double *)values)[i]), pair->has_fill, pair->fill_bits);
}

floe_pair_class floe_pair_class_at(const floe_pair *pair, const void *original, const void *decoded, uint32_t i)
{
    return floe_pair_class_of(class_at(pair, original, i), class_at(pair, decoded, i));
}

void floe_pair_index(const floe_pair *pair, uint64_t at, uint64_t index[FLOE_MAX_RANK])
{
    const uint32_t skip = FLOE_MAX_RANK - pair->rank;
    memset(index, 0, FLOE_MAX_RANK * sizeof *index);
    for (uint32_t i = FLOE_MAX_RANK; i-- > skip; at /= pair->shape[i])
        index[i - skip] = at % pair->shape[i];
}
