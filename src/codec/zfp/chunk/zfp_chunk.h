/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a chunk of codec zfp. docs/format/zfp_chunk.md. All parts begin at a multiple of 8 bytes:
 *
 *   header (64 bytes) | side index | sets of cells | literal values | the bare zfp stream        or
 *   header (64 bytes) | the values as they are
 *
 * Sets and literals are what stage cells makes of the cells that zfp does not give back (stage/cells/cells.h).
 */
#ifndef FLOE_CODEC_ZFP_CHUNK_ZFP_CHUNK_H
#define FLOE_CODEC_ZFP_CHUNK_ZFP_CHUNK_H

#include "codec/codec.h"
#include "codec/zfp/chunk/zfp_chunk_math.h"
#include "stage/cells/cells.h"

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

/* Values that must come back bit for bit besides NaN, infinities and -0, of which integers have none. */
typedef struct floe_zfp_promise {
    double tolerance; /* a difference of doubles, rounded, that is not above this is within the bound */
    bool real;        /* else integers */
    bool has_fill;
    uint64_t fill_bits;
} floe_zfp_promise;

/* Rows of values before and after zfp, by element type and instruction set: which are replaced, and which are corrected. */
typedef struct floe_zfp_exact_ops {
    /* n values, `step` elements apart -> dst, without gaps. Where zfp would suffer from one (not finite, or fill), the last
     * good one stands in its place; *good: its bits, before and after. Returns how many that are. */
    uint64_t (*replace)(const floe_zfp_promise *promise, const void *src, int64_t step, uint64_t n, void *dst,
                        uint64_t *good);
    /* Bit i of the result: value i of n (at most 64) did not come back as it must. src: the original values, `step` elements
     * apart; back: contiguous. *worst: raised to the largest |x - y| of the others, if finite. */
    uint64_t (*corrections)(const floe_zfp_promise *promise, const void *src, int64_t step, uint64_t n,
                            const void *back, double *worst);
} floe_zfp_exact_ops;

const floe_zfp_exact_ops *floe_zfp_exact_ops_of(floe_dtype dtype, floe_isa isa);

/* What these parameters promise, with the tolerance that is safe for their bound. Where they have none (rate, prec) all errors
 * are right as long as finite values stay finite. */
floe_zfp_promise floe_zfp_promise_of(const floe_codec_params *params);

/* Codec zfp: its row of the table. docs/format/zfp_chunk.md. */
extern const floe_codec_ops floe_zfp_codec;

#endif
