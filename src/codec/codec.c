/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands a chunk to its codec. A new codec is a line in each function. */
#include "codec/codec.h"

#include "base/try.h"
#include "codec/lorenzo_codec.h"

static floe_status unknown(floe_error *err, floe_codec codec)
{
    return floe_fail(err, FLOE_ERR_UNSUPPORTED, "codec %d is not in this build", (int)codec);
}

uint64_t floe_codec_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent)
{
    return params->codec == FLOE_CODEC_LORENZO ? floe_lorenzo_bound(params, rank, extent) : 0;
}

size_t floe_codec_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank, const uint64_t *extent)
{
    return params->codec == FLOE_CODEC_LORENZO ? floe_lorenzo_workspace(cpu, params, rank, extent) : 0;
}

floe_status floe_codec_encode(const floe_cpu *cpu, const floe_codec_params *params, const floe_field *chunk,
                              floe_arena *scratch, void *dst, uint64_t capacity, uint64_t *nbytes,
                              floe_chunk_stats *stats, floe_error *err)
{
    if (params->codec != FLOE_CODEC_LORENZO)
        return unknown(err, params->codec);
    return floe_lorenzo_compress(cpu, params, chunk, scratch, dst, capacity, nbytes, stats, err);
}

floe_status floe_codec_decode(const floe_cpu *cpu, floe_codec codec, floe_dtype dtype, uint32_t rank,
                              const uint64_t *extent, const void *src, uint64_t nbytes, const uint64_t *lo,
                              const uint64_t *hi, const floe_field *out, floe_arena *scratch, floe_error *err)
{
    if (codec != FLOE_CODEC_LORENZO)
        return unknown(err, codec);
    return floe_lorenzo_decompress(cpu, dtype, rank, extent, src, nbytes, lo, hi, out, scratch, err);
}

floe_status floe_codec_squared_error(const floe_cpu *cpu, const floe_codec_params *params, const floe_field *chunk,
                                     floe_arena *scratch, double *sum, floe_error *err)
{
    if (params->codec != FLOE_CODEC_LORENZO)
        return unknown(err, params->codec);
    return floe_lorenzo_squared_error(cpu, params, chunk, scratch, sum, err);
}
