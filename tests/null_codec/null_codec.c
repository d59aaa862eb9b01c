/* SPDX-License-Identifier: BSD-3-Clause */
/* A codec that stores values as they are, for emulated builds: what a codec has to offer, and all that
 * the library takes of one. */
#include <string.h>

#include "base/bytes.h"
#include "base/try.h"
#include "codec/codec.h"
#include "null_codec_gpu.h"

static uint64_t nbytes_of(size_t value, uint32_t rank, const uint64_t *extent)
{
    uint64_t n = value;
    for (uint32_t i = 0; i < rank; i++) {
        if (extent[i] && n > UINT64_MAX / 64 / extent[i])
            return 0;
        n *= extent[i];
    }
    return n;
}

static uint64_t bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent)
{
    return nbytes_of(floe_dtype_size(params->dtype), rank, extent);
}
static uint64_t least(uint32_t rank, const uint64_t *extent) { return nbytes_of(4, rank, extent); }
static uint64_t most(floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    return nbytes_of(floe_dtype_size(dtype), rank, extent);
}
static size_t workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank, const uint64_t *extent)
{
    (void)cpu;
    return bound(params, rank, extent) ? FLOE_ARENA_ALIGN : 0;
}
static size_t decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    (void)cpu;
    return most(dtype, rank, extent) ? FLOE_ARENA_ALIGN : 0;
}

/* Value i, in C order, of a field with strides. */
static uint8_t *value_of(const floe_field *f, uint64_t i)
{
    int64_t at = 0;
    for (uint32_t a = f->rank; a-- > 0; i /= f->shape[a])
        at += (int64_t)(i % f->shape[a]) * f->stride[a];
    return (uint8_t *)f->data + at * (int64_t)floe_dtype_size(f->dtype);
}

static floe_status encode(const floe_chunk_encode *c, floe_error *err)
{
    const size_t size = floe_dtype_size(c->chunk->dtype);
    *c->nbytes = bound(c->params, c->chunk->rank, c->chunk->shape);
    *c->stats = (floe_chunk_stats){.nexceptions = 0};
    FLOE_CHECK(err, *c->nbytes <= c->capacity, FLOE_ERR_CAPACITY, "the chunk needs more than there is");
    for (uint64_t i = 0; i < *c->nbytes / size; i++)
        memcpy((uint8_t *)c->dst + i * size, value_of(c->chunk, i), size);
    return FLOE_OK;
}

static floe_status decode(const floe_chunk_decode *c, floe_error *err)
{
    const size_t size = floe_dtype_size(c->dtype);
    uint64_t n = 1;
    FLOE_CHECK(err, c->nbytes == most(c->dtype, c->rank, c->extent), FLOE_ERR_FORMAT, "null chunk: of another size");
    for (uint32_t a = 0; a < c->rank; a++)
        n *= c->out->shape[a];
    for (uint64_t i = 0; i < n; i++) {
        uint64_t rest = i, at = 0, step = 1;
        for (uint32_t a = c->rank; a-- > 0; rest /= c->out->shape[a], step *= c->extent[a])
            at += (c->lo[a] + rest % c->out->shape[a]) * step;
        memcpy(value_of(c->out, i), (const uint8_t *)c->src + at * size, size);
    }
    return FLOE_OK;
}

static floe_status squared_error(const floe_chunk_encode *c, double *sum, floe_error *err)
{
    (void)c, (void)err;
    *sum = 0;
    return FLOE_OK;
}

extern const floe_codec_ops floe_null_codec;
const floe_codec_ops floe_null_codec = {
    .id = (floe_codec)FLOE_TEST_CODEC_NUMBER,
    .name = "null",
    .units = floe_codec_tile_units,
    .bound = bound,
    .least = least,
    .most = most,
    .workspace = workspace,
    .decode_workspace = decode_workspace,
    .encode = encode,
    .decode = decode,
    .squared_error = squared_error,
    .integers_on_gpu = true,
    .device = FLOE_CODEC_ON_GPU(floe_null_gpu),
};
