/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bare zfp stream: all blocks of an array, as zfp 1.0 writes them with words of 64 bits. Serial or parallel, the bytes are
 * the same. Behind the last bit there are zeros up to a multiple of 8 bytes.
 *
 * How long a block is shows only when it has been coded. Encoding in parallel codes runs of blocks into scratch and joins
 * them; decoding in parallel needs places, from the side index that the lengths make (src/stage/index/).
 */
#ifndef FLOE_CODEC_ZFP_STREAM_ZFP_STREAM_H
#define FLOE_CODEC_ZFP_STREAM_ZFP_STREAM_H

#include "backend/backend.h"
#include "base/arena.h"
#include "stage/zfpblock/zfpblock_params_math.h"

/* The most bytes that the stream of an array can take; `begin`: bits in front of the first block. 0: more than 2^63. */
uint64_t floe_zfp_stream_bound(const floe_zfp_array *array, const floe_zfp_params *params, uint32_t begin);

/* Scratch for either way; 0 on overflow. chunk: of the places that decoding will have. */
size_t floe_zfp_stream_workspace(const floe_cpu *cpu, const floe_zfp_array *array, const floe_zfp_params *params,
                                 uint32_t chunk);

/* What is coded, and by what. */
typedef struct floe_zfp_coding {
    const floe_cpu *cpu;
    const floe_zfp_array *array;
    const floe_zfp_params *params; /* checked */
    uint32_t begin;                /* the first block's bit */
} floe_zfp_coding;

/* Blocks -> dst from bit `begin` on; the bits in front of it (a header's) must be there.
 * lengths (may be NULL): bits of each block. *nbits: where the last block ends; the stream has that, in whole 8 bytes.
 * CAPACITY: dst is too small. */
floe_status floe_zfp_stream_compress(const floe_zfp_coding *c, floe_arena *scratch, void *dst, uint64_t capacity,
                                     uint16_t *lengths, uint64_t *nbits, floe_error *err);

/* Blocks in src from bit `begin` on -> the array. places (may be NULL: one thread does it all): where every chunk-th block
 * begins, and, behind them all, where the last one ends; of a boxed array only the chunks that touch the box are read. src and
 * places are untrusted. FORMAT: the stream is cut short, or a place is wrong; the array is undefined then. */
floe_status floe_zfp_stream_decompress(const floe_zfp_coding *c, const void *src, uint64_t nbytes,
                                       const uint64_t *places, uint32_t chunk, floe_arena *scratch, floe_error *err);

/* The lengths of all blocks of a stream, by reading through it. */
floe_status floe_zfp_stream_measure(const floe_zfp_coding *c, const void *src, uint64_t nbytes, uint16_t *lengths,
                                    uint64_t *nbits, floe_error *err);

#endif
