/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec interp: its row of the table, and what it does to a chunk; the contract of each function is in codec.h. docs/format/interp.md. */
#ifndef FLOE_CODEC_INTERP_INTERP_CHUNK_H
#define FLOE_CODEC_INTERP_INTERP_CHUNK_H

#include "codec/interp/interp_layout.h"
#include "codec/interp/interp_sets.h"

extern const floe_codec_ops floe_interp_codec;

uint64_t floe_interp_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent);
size_t floe_interp_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank,
                             const uint64_t *extent);
size_t floe_interp_decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent);
size_t floe_interp_decode_scratch(const floe_chunk_decode *c);
floe_status floe_interp_compress(const floe_chunk_encode *c, floe_error *err);
floe_status floe_interp_decompress(const floe_chunk_decode *c, floe_error *err);
floe_status floe_interp_level_nbytes(const floe_chunk_decode *c, uint64_t have, uint64_t *nbytes, floe_error *err);
floe_status floe_interp_plan_words(const floe_chunk_decode *c, floe_text *to, floe_error *err);
size_t floe_interp_estimate_workspace(const floe_cpu *cpu, const floe_codec_boxes *boxes);
floe_status floe_interp_estimate(const floe_cpu *cpu, const floe_codec_boxes *boxes, floe_arena *scratch, double *bits,
                                 floe_error *err);
floe_status floe_interp_squared_error(const floe_chunk_encode *c, double *sum, floe_error *err);

#endif
