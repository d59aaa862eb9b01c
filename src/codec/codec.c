/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands a chunk to its codec. A new codec is a line in each function. */
#include "codec/codec.h"

#include "base/try.h"
#include "codec/lorenzo/cpu/lorenzo_codec.h"
#include "codec/zfp/chunk/zfp_codec.h"
#include "stage/quantizer/quantizer.h"

static floe_status unknown(floe_error *err, floe_codec codec)
{
    return floe_fail(err, FLOE_ERR_UNSUPPORTED, "codec %d is not in this build", (int)codec);
}

uint64_t floe_codec_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent)
{
    switch (params->codec) {
    case FLOE_CODEC_LORENZO: return floe_lorenzo_bound(params, rank, extent);
    case FLOE_CODEC_ZFP: return floe_zfp_bound(params, rank, extent);
    default: return 0;
    }
}

uint64_t floe_codec_least(floe_codec codec, uint32_t rank, const uint64_t *extent)
{
    return codec == FLOE_CODEC_ZFP ? floe_zfp_least(rank, extent) : floe_lorenzo_least(rank, extent);
}

uint64_t floe_codec_most(floe_codec codec, floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    const floe_codec_params any = {.dtype = dtype, .codec = codec, .mode = FLOE_BOUND_LOSSLESS};
    const uint64_t bound = floe_codec_bound(&any, rank, extent);
    return bound && codec == FLOE_CODEC_LORENZO ? bound + FLOE_TABLE_MAX * floe_dtype_size(dtype) : bound;
}

size_t floe_codec_decode_workspace(const floe_cpu *cpu, floe_codec codec, floe_dtype dtype, uint32_t rank,
                                   const uint64_t *extent)
{
    return codec == FLOE_CODEC_ZFP ? floe_zfp_decode_workspace(rank, extent)
                                   : floe_lorenzo_decode_workspace(cpu, dtype, rank, extent);
}

size_t floe_codec_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank, const uint64_t *extent)
{
    switch (params->codec) {
    case FLOE_CODEC_LORENZO: return floe_lorenzo_workspace(cpu, params, rank, extent);
    case FLOE_CODEC_ZFP: return floe_zfp_workspace(cpu, params, rank, extent);
    default: return 0;
    }
}

floe_status floe_codec_encode(const floe_cpu *cpu, const floe_codec_params *params, const floe_field *chunk,
                              floe_arena *scratch, void *dst, uint64_t capacity, uint64_t *nbytes,
                              floe_chunk_stats *stats, floe_error *err)
{
    switch (params->codec) {
    case FLOE_CODEC_LORENZO:
        return floe_lorenzo_compress(cpu, params, chunk, scratch, dst, capacity, nbytes, stats, err);
    case FLOE_CODEC_ZFP: return floe_zfp_chunk_compress(cpu, params, chunk, scratch, dst, capacity, nbytes, stats, err);
    default: return unknown(err, params->codec);
    }
}

floe_status floe_codec_decode(const floe_cpu *cpu, floe_codec codec, floe_dtype dtype, uint32_t rank,
                              const uint64_t *extent, const void *src, uint64_t nbytes, const uint64_t *lo,
                              const uint64_t *hi, const floe_field *out, floe_arena *scratch, floe_error *err)
{
    switch (codec) {
    case FLOE_CODEC_LORENZO:
        return floe_lorenzo_decompress(cpu, dtype, rank, extent, src, nbytes, lo, hi, out, scratch, err);
    case FLOE_CODEC_ZFP:
        return floe_zfp_chunk_decompress(cpu, dtype, rank, extent, src, nbytes, lo, hi, out, scratch, err);
    default: return unknown(err, codec);
    }
}

floe_status floe_codec_squared_error(const floe_cpu *cpu, const floe_codec_params *params, const floe_field *chunk,
                                     floe_arena *scratch, double *sum, floe_error *err)
{
    switch (params->codec) {
    case FLOE_CODEC_LORENZO: return floe_lorenzo_squared_error(cpu, params, chunk, scratch, sum, err);
    case FLOE_CODEC_ZFP: return floe_zfp_squared_error(cpu, params, chunk, scratch, sum, err);
    default: return unknown(err, params->codec);
    }
}
