/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zfpblock: blocks of 4 x 4 x ... values to bits and back, bit for bit as zfp 1.0 has them. docs/format/zfp.md.
 *
 * A stream is blocks one after another, in C order (the fastest axis first), without gaps; bit 0 of byte 0 is the first.
 * A block that sticks out of the field is filled up by its own values. Each block takes minbits to maxbits bits, at most
 * FLOE_ZFP_FIELD_MAX; how many is known only when it has been coded.
 */
#ifndef FLOE_STAGE_ZFPBLOCK_H
#define FLOE_STAGE_ZFPBLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <floe/floe.h>

/* Numbers as in the format's header. */
typedef enum floe_zfp_type { FLOE_ZFP_I32 = 1, FLOE_ZFP_I64 = 2, FLOE_ZFP_F32 = 3, FLOE_ZFP_F64 = 4 } floe_zfp_type;

enum {
    FLOE_ZFP_SIDE = 4,              /* values of a block along an axis */
    FLOE_ZFP_BLOCK_VALUES = 256,    /* 4^4 */
    FLOE_ZFP_MAX_BITS = 16658,      /* no block needs more */
    FLOE_ZFP_MAX_PREC = 64,         /* bit planes */
    FLOE_ZFP_MIN_EXP = -1074,       /* of the smallest subnormal f64; a smaller minexp means: reversible */
    FLOE_ZFP_FIELD_MAX = 32768,     /* the most that the header can hold of minbits and maxbits */
    FLOE_ZFP_MIN_EXP_EVER = -16495, /* the least and the most that it can hold of minexp */
    FLOE_ZFP_MAX_EXP_EVER = 0x7FFF - 16495
};

/* The four parameters to which all modes come down. */
typedef struct floe_zfp_params {
    uint32_t minbits, maxbits; /* of a block; fewer are filled up by zeros, and more cut off */
    uint32_t maxprec;          /* bit planes, from the highest: 1 to FLOE_ZFP_MAX_PREC */
    int32_t minexp;            /* planes below 2^minexp may be left out (values of floating point only) */
} floe_zfp_params;

typedef enum floe_zfp_mode {
    FLOE_ZFP_EXPERT = 1,
    FLOE_ZFP_RATE = 2,
    FLOE_ZFP_PRECISION = 3,
    FLOE_ZFP_ACCURACY = 4,
    FLOE_ZFP_REVERSIBLE = 5
} floe_zfp_mode;

/* An n-d array; the data of an encoder are not written to. A decoder may want a box of it only: then data are those of the
 * box, and nothing else is written. */
typedef struct floe_zfp_array {
    void *data;
    floe_zfp_type type;
    uint32_t rank;                 /* 1 to 4 */
    uint64_t shape[FLOE_MAX_RANK]; /* slowest first, none 0 */
    int64_t stride[FLOE_MAX_RANK]; /* in elements */
    bool boxed;
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK]; /* boxed: lo <= index < hi */
} floe_zfp_array;

/* Blocks of an array. */
uint64_t floe_zfp_nblocks(uint32_t rank, const uint64_t *shape);

/* ---- parameters ---------------------------------------------------------------------------------------------------- */

/* `bits` for each value, rounded to whole bits a block, at least as many as a block's head needs. ARGUMENT: no number, negative,
 * or more than a block can have. */
floe_status floe_zfp_params_rate(double bits, floe_zfp_type type, uint32_t rank, floe_zfp_params *params,
                                 floe_error *err);
/* Planes: 1 to FLOE_ZFP_MAX_PREC. */
floe_status floe_zfp_params_precision(uint32_t planes, floe_zfp_params *params, floe_error *err);
/* The largest power of two that is not above tolerance counts. */
floe_status floe_zfp_params_accuracy(double tolerance, floe_zfp_params *params, floe_error *err);
floe_zfp_params floe_zfp_params_reversible(void);
/* Any four: refuses what the format cannot hold, and blocks too small for their own head. */
floe_status floe_zfp_params_check(const floe_zfp_params *params, floe_zfp_type type, floe_error *err);
floe_zfp_mode floe_zfp_mode_of(const floe_zfp_params *params);

/* ---- the header ---------------------------------------------------------------------------------------------------- */

enum {
    FLOE_ZFP_HEADER_SHORT = 96, /* bits; magic, array, mode in short */
    FLOE_ZFP_HEADER_LONG = 148,
    FLOE_ZFP_HEADER_NBYTES = 24 /* room for either */
};

/* Magic, type, shape and mode -> bits from bit 0 of dst (FLOE_ZFP_HEADER_NBYTES, cleared behind the header). ARGUMENT: the
 * header cannot hold the shape (48 / rank bits for each axis). */
floe_status floe_zfp_header_write(const floe_zfp_array *array, const floe_zfp_params *params, uint8_t *dst,
                                  uint32_t *nbits, floe_error *err);
/* Fills all of array but data; strides are those of contiguous data. src is untrusted. */
floe_status floe_zfp_header_read(const void *src, uint64_t nbytes, floe_zfp_array *array, floe_zfp_params *params,
                                 uint32_t *nbits, floe_error *err);

/* ---- blocks -------------------------------------------------------------------------------------------------------- */

/* Bytes that an encoder may write behind the last bit. */
enum { FLOE_ZFP_SLACK = 96 };

/* Where blocks are decoded from. */
typedef struct floe_zfp_source {
    const uint8_t *src;     /* untrusted; nothing behind byte ceil(nbits / 8) is read */
    uint64_t nbits;         /* of the stream */
    uint64_t at;            /* the next bit; moves behind the last block that was read */
    const uint64_t *places; /* NULL, or where block k * chunk, counted from the first one read, must begin */
    uint32_t chunk;
} floe_zfp_source;

/* Runs of blocks, for one width of values and one instruction set. */
typedef struct floe_zfpblock_ops {
    /* Blocks first .. first + count - 1 -> bits from bit 0 of dst, which has room for count times floe_zfp_block_bits, and
     * FLOE_ZFP_SLACK bytes. lengths[i]: bits of block i. Returns the sum. Bits behind it, to the next byte, are 0. */
    uint64_t (*encode)(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t first, uint64_t count,
                       uint8_t *dst, uint16_t *lengths);
    /* The way back. False: the bits run out, or a place is wrong; what is in the blocks is then undefined. */
    bool (*decode)(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t first, uint64_t count,
                   floe_zfp_source *source);
    /* The same without values: lengths[i] of count blocks. */
    bool (*measure)(floe_zfp_type type, uint32_t rank, const floe_zfp_params *params, uint64_t count,
                    floe_zfp_source *source, uint16_t *lengths);
} floe_zfpblock_ops;

/* isa: FLOE_ISA_PLAIN or FLOE_ISA_AVX2, which the processor must have. */
const floe_zfpblock_ops *floe_zfpblock_ops_of(floe_zfp_type type, floe_isa isa);

#endif
