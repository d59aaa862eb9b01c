/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bare zfp streams on a GPU: those of zfp_stream.h, bit for bit, in every mode and type. All pointers are device memory.
 * What launches them is in codec/zfp/gpu/zfp_kernels.h.
 */
#ifndef FLOE_CODEC_ZFP_STREAM_ZFP_STREAM_CUDA_H
#define FLOE_CODEC_ZFP_STREAM_ZFP_STREAM_CUDA_H

#include "stage/zfpblock/zfpblock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By value. */
typedef struct floe_zfp_decode_call {
    floe_zfp_array array;
    floe_zfp_params params; /* checked */
    const void *src;        /* aligned to 4, and to be read in whole words of 4 bytes: */
    uint64_t nbytes;        /* what is behind these bytes does not matter */
    uint32_t begin;         /* the first block's bit */
    uint32_t chunk;         /* blocks */
    const uint64_t *places; /* of each chunk, and, behind them all, where the last one ends; untrusted, as src is. NULL:
                               each block has maxbits bits */
    uint32_t *status; /* becomes FLOE_ERR_FORMAT where floe_zfp_stream_decompress returns it; the array is undefined
                               then. Stays as it is otherwise. */
} floe_zfp_decode_call;

/* By value. All blocks are read one after the other: that is one lane's work, however large the stream. */
typedef struct floe_zfp_measure_call {
    floe_zfp_array array; /* its data are not looked at */
    floe_zfp_params params;
    const void *src; /* as above */
    uint64_t nbytes;
    const uint64_t *dev_nbytes; /* NULL, or the true number, if that is less */
    uint32_t begin;
    uint64_t *places; /* where every chunk begins, and, behind them all, where the last one ends */
    uint32_t chunk;   /* blocks */
    uint64_t *nbits;  /* where the last block ends */
    uint32_t
        *status; /* becomes FLOE_ERR_FORMAT where floe_zfp_stream_measure returns it; nbits is undefined then, places
                         such that decoding returns it, too. Stays as it is otherwise. */
} floe_zfp_measure_call;

/* By value. */
typedef struct floe_zfp_encode_call {
    floe_zfp_array array;
    floe_zfp_params params; /* checked */
    void *dst;              /* aligned to 4; the bits in front of `begin` (a header's) are there */
    uint64_t capacity;      /* bytes; nothing behind them is written */
    uint32_t begin;         /* the first block's bit */
    uint16_t *lengths;      /* NULL, or bits of each block */
    uint64_t *nbits;        /* where the last block ends; the stream has that, in whole 8 bytes */
    uint32_t *status;       /* becomes FLOE_ERR_CAPACITY where that is more than there are; stays as it is otherwise */
    void *scratch;          /* aligned to 256 */
} floe_zfp_encode_call;

/* The nbits first bits of dst (aligned to 4), as far as capacity goes: a header of floe_zfp_header_write, in host memory. */
int floe_zfp_header_put_cuda(const uint8_t header[FLOE_ZFP_HEADER_NBYTES], uint32_t nbits, void *dst, uint64_t capacity,
                             void *stream);

#ifdef __cplusplus
}
#endif
#endif
