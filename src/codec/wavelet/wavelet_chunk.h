/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec wavelet: its row of the table, and what it does to a chunk; the contract of each function is in codec.h. docs/format/wavelet.md. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_CHUNK_H
#define FLOE_CODEC_WAVELET_WAVELET_CHUNK_H

#include "codec/codec.h"

extern const floe_codec_ops floe_wavelet_codec;

uint64_t floe_wavelet_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent);
size_t floe_wavelet_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank,
                              const uint64_t *extent);
size_t floe_wavelet_decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent);
size_t floe_wavelet_decode_scratch(const floe_chunk_decode *c);
floe_status floe_wavelet_compress(const floe_chunk_encode *c, floe_error *err);
floe_status floe_wavelet_decompress(const floe_chunk_decode *c, floe_error *err);
floe_status floe_wavelet_level_nbytes(const floe_chunk_decode *c, uint64_t have, uint64_t *nbytes, floe_error *err);
floe_status floe_wavelet_plan_words(const floe_chunk_decode *c, floe_text *to, floe_error *err);
floe_status floe_wavelet_squared_error(const floe_chunk_encode *c, double *sum, floe_error *err);

#endif
