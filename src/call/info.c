/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/info.h"

#include <string.h>

#include "backend/cuda.h"
#include "base/bytes.h"
#include "base/try.h"
#include "call/chunking.h"
#include "call/struct_copy.h"
#include "codec/codec.h"
#include "field/dtype_math.h"
#include "field/field.h"

uint32_t floe_levels_of(const floe_header *h)
{
    uint64_t longest = 0, aligned = 0; /* or of all axes that are cut */
    uint32_t level = 0;
    if (!floe_codec_of(h->codec)->level_nbytes)
        return 0;
    for (uint32_t i = 0; i < h->rank; i++) {
        longest = floe_max64(longest, h->shape[i]);
        aligned |= h->chunk[i] < h->shape[i] ? h->chunk[i] : 0;
    }
    while (longest > (uint64_t)2 << level && !(aligned >> level & 1))
        level++;
    return level;
}

floe_limits floe_limits_of(const floe_header *h)
{
    return (floe_limits){h->value_min <= h->value_max, h->value_min, h->value_max};
}

void floe_info_fill(floe_info *given, const floe_header *h, uint64_t stream_nbytes)
{
    floe_info info = {.format_version = h->version,
                      .dtype = h->dtype,
                      .rank = h->rank,
                      .nchunks = floe_grid_nchunks(h),
                      .codec = h->codec,
                      .preset = h->preset,
                      .mode = h->mode,
                      .bound = h->bound,
                      .abs_bound = h->abs_bound,
                      .value_min = h->value_min,
                      .value_max = h->value_max,
                      .has_fill = h->has_fill,
                      .fill_value = h->has_fill ? floe_value_of(h->dtype, h->fill_bits) : 0,
                      .fill_integer = floe_dtype_is_integer(h->dtype) ? floe_integer_of(h->dtype, h->fill_bits) : 0,
                      .raw_nbytes = floe_extent_nbytes(h->dtype, h->rank, h->shape),
                      .stream_nbytes = stream_nbytes,
                      .nattrs = h->nattrs,
                      .levels = floe_levels_of(h)};
    memcpy(info.shape, h->shape, sizeof info.shape);
    memcpy(info.chunk, h->chunk, sizeof info.chunk);
    floe_struct_fill(given, &info, sizeof info);
}

static floe_status host_check(const void *src, floe_error *err)
{
    FLOE_CHECK(err, floe_cuda_host_reaches(src), FLOE_ERR_ARGUMENT,
               "the stream lies in device memory: its header is read on the host, bring its first bytes there");
    return FLOE_OK;
}

floe_status floe_stream_header_nbytes(const void *src, uint64_t nbytes, uint64_t *header_nbytes, floe_error *err)
{
    size_t size = FLOE_HEADER_MIN_NBYTES;
    FLOE_CHECK(err, header_nbytes && (src || nbytes == 0), FLOE_ERR_ARGUMENT,
               "no stream, or nowhere to put the number of bytes");
    FLOE_TRY(host_check(src, err));
    if (nbytes >= size)
        FLOE_TRY(floe_header_peek(src, (size_t)nbytes, &size, err));
    *header_nbytes = size;
    return FLOE_OK;
}

floe_status floe_stream_info(const void *src, uint64_t nbytes, floe_info *info, floe_error *err)
{
    floe_header header;
    FLOE_CHECK(err, info && (src || nbytes == 0), FLOE_ERR_ARGUMENT, "no stream, or nowhere to put what it says");
    FLOE_TRY(floe_struct_check(info, "floe_info", err));
    FLOE_TRY(host_check(src, err));
    FLOE_TRY(floe_header_read(src, (size_t)nbytes, &header, err));
    floe_info_fill(info, &header, nbytes);
    return FLOE_OK;
}

/* Cuts between characters: bytes 10xxxxxx go on with a UTF-8 character. */
static void text_out(char *text, size_t capacity, const char *from, size_t nbytes)
{
    if (!text || capacity == 0)
        return;
    size_t n = nbytes < capacity - 1 ? nbytes : capacity - 1;
    while (n && n < nbytes && ((unsigned char)from[n] & 0xC0) == 0x80)
        n--;
    memcpy(text, from, n);
    text[n] = '\0';
}

static floe_status item_find(const void *src, uint64_t nbytes, uint32_t i, floe_item *item)
{
    floe_header header;
    FLOE_CHECK(NULL, src || nbytes == 0, FLOE_ERR_ARGUMENT, "no stream");
    FLOE_TRY(host_check(src, NULL));
    FLOE_TRY(floe_header_read(src, (size_t)nbytes, &header, NULL));
    return floe_header_attr(src, (size_t)nbytes, i, item, NULL);
}

floe_status floe_stream_attr_nbytes(const void *src, uint64_t nbytes, uint32_t i, size_t *key_nbytes,
                                    size_t *value_nbytes)
{
    floe_item item;
    FLOE_TRY(item_find(src, nbytes, i, &item));
    if (key_nbytes)
        *key_nbytes = item.key_nbytes;
    if (value_nbytes)
        *value_nbytes = item.value_nbytes;
    return FLOE_OK;
}

floe_status floe_stream_attr(const void *src, uint64_t nbytes, uint32_t i, char *key, size_t key_capacity, char *value,
                             size_t value_capacity)
{
    floe_item item;
    FLOE_TRY(item_find(src, nbytes, i, &item));
    text_out(key, key_capacity, (const char *)item.key, item.key_nbytes);
    text_out(value, value_capacity, (const char *)item.value, item.value_nbytes);
    return FLOE_OK;
}
