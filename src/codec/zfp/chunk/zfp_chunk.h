/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a chunk of codec zfp. docs/format/zfp_chunk.md. All parts begin at a multiple of 8 bytes:
 *
 *   header (64 bytes) | side index | sets of cells | literal values | the bare zfp stream        or
 *   header (64 bytes) | the values as they are
 *
 * Sets and literals are what stage cells makes of the cells that zfp would miss (stage/cells/cells.h).
 */
#ifndef FLOE_CODEC_ZFP_CHUNK_ZFP_CHUNK_H
#define FLOE_CODEC_ZFP_CHUNK_ZFP_CHUNK_H

#include "codec/zfp/chunk/zfp_chunk_math.h"
#include "stage/cells/cells.h"
#include "codec/codec.h"

void floe_zfp_chunk_header_write(const floe_zfp_chunk *chunk, void *dst);
/* Untrusted: floe_zfp_chunk_of_words, in words. */
floe_status floe_zfp_chunk_header_read(const void *src, uint64_t nbytes, const floe_cells *cells, uint64_t nblocks,
                                       floe_zfp_chunk *chunk, floe_error *err);

/* Codec zfp on a chunk; the contract of each function is in codec.h. docs/format/zfp_chunk.md. */
uint64_t floe_zfp_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent);
uint64_t floe_zfp_least(uint32_t rank, const uint64_t *extent);
size_t floe_zfp_decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent);
size_t floe_zfp_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank, const uint64_t *extent);
floe_status floe_zfp_chunk_compress(const floe_chunk_encode *c, floe_error *err);
floe_status floe_zfp_chunk_decompress(const floe_chunk_decode *c, floe_error *err);
floe_status floe_zfp_squared_error(const floe_chunk_encode *c, double *sum, floe_error *err);

#endif
