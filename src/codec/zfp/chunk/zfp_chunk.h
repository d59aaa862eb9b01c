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

void floe_zfp_chunk_header_write(const floe_zfp_chunk *chunk, void *dst);
/* Untrusted: floe_zfp_chunk_of_words, in words. */
floe_status floe_zfp_chunk_header_read(const void *src, uint64_t nbytes, const floe_cells *cells, uint64_t nblocks,
                                       floe_zfp_chunk *chunk, floe_error *err);

#endif
