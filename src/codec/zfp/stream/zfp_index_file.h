/* SPDX-License-Identifier: BSD-3-Clause */
/* The side index of a bare zfp stream as a file of its own, .zfpx: docs/format/index.md, "As a file". It refers to its stream by
 * size and checksum, and holds all that decoding it needs. */
#ifndef FLOE_CODEC_ZFP_STREAM_ZFP_INDEX_FILE_H
#define FLOE_CODEC_ZFP_STREAM_ZFP_INDEX_FILE_H

#include <floe/zfp.h>

#include "codec/zfp/stream/zfp_stream.h"
#include "stage/index/index.h"

enum {
    FLOE_ZFPX_HEADER_NBYTES = 112,
    FLOE_ZFPX_PEEK_NBYTES = FLOE_ZFPX_HEADER_NBYTES + FLOE_INDEX_HEADER_NBYTES,
    FLOE_ZFPX_VERSION = 1
};

/* What stands in such a file; the index is part of its bytes. */
typedef struct floe_zfpx {
    floe_zfp_array array; /* without data; strides are those of contiguous data */
    floe_zfp_params params;
    uint64_t stream_nbytes, stream_checksum;
    floe_side_index index; /* begin: the bits of the stream's header */
} floe_zfpx;

/* The checksum by which a stream is known: floe_checksum, by all threads. */
uint64_t floe_zfpx_checksum(const floe_cpu *cpu, const void *src, uint64_t nbytes);

/* The most bytes of a file; 0: no such index. */
uint64_t floe_zfpx_bound(const floe_zfp_array *array, const floe_zfp_params *params, const floe_index_spec *spec);

/* Of the stream in src, whose blocks have these lengths, to index->data; index->nbytes becomes what it takes. */
floe_status floe_zfpx_write(const floe_zfp_coding *c, const void *src, uint64_t nbytes, const uint16_t *lengths,
                            floe_zfp_index *index, floe_error *err);

/* Reads untrusted bytes. FORMAT: this is no such file, or it contradicts itself; VERSION: from a newer floe; CHECKSUM: it
 * is damaged. The body of the index is checked when it is decoded. */
floe_status floe_zfpx_read(const void *src, uint64_t nbytes, floe_zfpx *file, floe_error *err);

/* The same but for the checksum of the index, of which only the first FLOE_ZFPX_PEEK_NBYTES of src are looked at. */
floe_status floe_zfpx_peek(const void *src, uint64_t nbytes, floe_zfpx *file, floe_error *err);

/* FORMAT unless the stream is the one that the file was made of. */
floe_status floe_zfpx_belongs(const floe_cpu *cpu, const floe_zfpx *file, const void *stream, uint64_t nbytes,
                              floe_error *err);

#endif
