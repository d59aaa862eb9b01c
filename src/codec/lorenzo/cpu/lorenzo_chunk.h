/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec lorenzo on a chunk; the contract of each function is in codec.h. */
#ifndef FLOE_CODEC_LORENZO_CPU_LORENZO_CHUNK_H
#define FLOE_CODEC_LORENZO_CPU_LORENZO_CHUNK_H

#include "codec/codec.h"

uint64_t floe_lorenzo_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent);
size_t floe_lorenzo_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank,
                              const uint64_t *extent);
uint64_t floe_lorenzo_least(uint32_t rank, const uint64_t *extent);
size_t floe_lorenzo_decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent);
floe_status floe_lorenzo_compress(const floe_chunk_encode *c, floe_error *err);
floe_status floe_lorenzo_decompress(const floe_chunk_decode *c, floe_error *err);
size_t floe_lorenzo_estimate_workspace(const floe_cpu *cpu, const floe_codec_boxes *boxes);
floe_status floe_lorenzo_estimate(const floe_cpu *cpu, const floe_codec_boxes *boxes, floe_arena *scratch, double *bits,
                                  floe_error *err);
floe_status floe_lorenzo_squared_error(const floe_chunk_encode *c, double *sum, floe_error *err);

#endif
