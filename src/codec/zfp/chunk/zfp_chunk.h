/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a chunk of codec zfp. docs/format/zfp_chunk.md. All parts begin at a multiple of 8 bytes:
 *
 *   header (64 bytes) | side index | sets of cells | literal values | the bare zfp stream        or
 *   header (64 bytes) | the values as they are
 *
 * A set names the cells whose value is a pattern of the palette, or, the last one, stands among the literals: in C order 64
 * cells are a word, 64 words a word above; words of zeros are left out of the lower level.
 */
#ifndef FLOE_CODEC_ZFP_CHUNK_ZFP_CHUNK_H
#define FLOE_CODEC_ZFP_CHUNK_ZFP_CHUNK_H

#include "base/arena.h"
#include "base/bytes.h"
#include "codec/zfp/chunk/zfp_chunk_math.h"

/* The cells of a set, while it is made or read. */
typedef struct floe_zfp_set {
    uint64_t *words; /* a bit for each cell; NULL: none */
    uint64_t ncells;
} floe_zfp_set;

/* Bytes of a set of `nwords` words. */
uint64_t floe_zfp_set_nbytes(const uint64_t *words, uint64_t nwords);
void floe_zfp_set_write(const uint64_t *words, uint64_t nwords, floe_cursor *to);
/* Untrusted; words (nwords) are filled. False: it ends early, or names cells from ncells on. */
bool floe_zfp_set_read(floe_reader *from, uint64_t ncells, uint64_t *words, uint64_t nwords, uint64_t *count);

void floe_zfp_chunk_header_write(const floe_zfp_chunk *chunk, void *dst);
/* Untrusted: checks all fields by themselves; the parts are not looked at. */
floe_status floe_zfp_chunk_header_read(const void *src, uint64_t nbytes, floe_zfp_type type, floe_zfp_chunk *chunk,
                                       floe_error *err);

#endif
