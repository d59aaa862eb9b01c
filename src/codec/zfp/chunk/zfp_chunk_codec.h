/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec zfp on a chunk; the contract of each function is in codec.h. docs/format/zfp_chunk.md. */
#ifndef FLOE_CODEC_ZFP_CHUNK_ZFP_CHUNK_CODEC_H
#define FLOE_CODEC_ZFP_CHUNK_ZFP_CHUNK_CODEC_H

#include "codec/codec.h"

uint64_t floe_zfp_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent);
uint64_t floe_zfp_least(uint32_t rank, const uint64_t *extent);
size_t floe_zfp_decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent);
size_t floe_zfp_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank, const uint64_t *extent);
floe_status floe_zfp_chunk_compress(const floe_chunk_encode *c, floe_error *err);
floe_status floe_zfp_chunk_decompress(const floe_chunk_decode *c, floe_error *err);
floe_status floe_zfp_squared_error(const floe_chunk_encode *c, double *sum, floe_error *err);

#endif
