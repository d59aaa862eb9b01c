/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bare streams of zfp 1.0 (codec version 5, words of 64 bits), bit for bit as libzfp writes them, with or without its
 * header; and side indexes of them, with which streams of variable rate are decoded in parallel.
 *
 * Work is done where the field lies; on the GPU in any case with backend CUDA, or where stream or index lie in device memory.
 * These may lie in either memory, on the device aligned to 16 bytes. The bytes and the values are the same everywhere.
 *
 * A bare stream makes no promise of floe: no bound is checked, NaN and infinities do not come back, and nothing tells a
 * damaged stream from a sound one.
 */
#ifndef FLOE_ZFP_H
#define FLOE_ZFP_H

#include <floe/floe.h>
#include <floe/side_index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What must be known of a stream to decode it. A stream with a header says it itself. */
typedef struct floe_zfp_stream {
    size_t size;
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK]; /* slowest first; none is 0 */
    uint32_t minbits, maxbits;     /* of a block of 4 values along each axis */
    uint32_t maxprec;              /* bit planes */
    int32_t minexp;                /* planes below 2^minexp may be left out; below -1074: reversible */
    uint32_t header_nbits;         /* 0: none; the first block follows it directly */
} floe_zfp_stream;

/* The stream that a field would become. mode: "rate=" (bits a value), "prec=" (bit planes), "abs=" (largest error), "rel="
 * (of max - min), "lossless", or "expert=MINBITS:MAXBITS:MAXPREC:MINEXP". ARGUMENT: the mode, or with a header the
 * shape, cannot be said in zfp, and what can. Only rel looks at the data. */
floe_status floe_zfp_describe(floe_ctx *ctx, const floe_field *field, const char *mode, int with_header,
                              floe_zfp_stream *stream);

/* Reads the header that a stream, in host memory, begins with. FORMAT: there is none. */
floe_status floe_zfp_recognize(const void *src, uint64_t nbytes, floe_zfp_stream *stream, floe_error *err);

/* An index to be made: data (capacity bytes) is filled, and nbytes says how far. Or one that is there. */
typedef struct floe_zfp_index {
    size_t size;
    floe_index_spec spec;
    void *data;
    uint64_t capacity, nbytes;
} floe_zfp_index;

/* The most bytes that a stream, or its index, can take; 0 where there can be none. */
uint64_t floe_zfp_compress_bound(const floe_zfp_stream *stream);
uint64_t floe_zfp_index_bound(const floe_zfp_stream *stream, const floe_index_spec *spec);

/* field, which is of the dtype and shape of stream, -> dst. index may be NULL. */
floe_status floe_zfp_compress(floe_ctx *ctx, const floe_field *field, const floe_zfp_stream *stream, void *dst,
                              uint64_t capacity, uint64_t *nbytes, floe_zfp_index *index);

/* The index of a stream that is there, in either memory, by reading through it. That is one thread's work, and the CPU's, which
 * does it in a fraction of the time that a lane of a GPU takes. stream may be NULL where it has a header. */
floe_status floe_zfp_index_make(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_zfp_stream *stream,
                                floe_zfp_index *index);

/* What an index, in host memory, says about its stream: all that decoding needs. */
floe_status floe_zfp_index_info(const void *index, uint64_t index_nbytes, floe_zfp_stream *stream,
                                floe_index_spec *spec, floe_error *err);

/* src -> out, whose dtype and shape must be those of the stream. stream may be NULL where the stream has a header, or an
 * index is given. index may be NULL: then one thread of the CPU reads all of a stream of variable rate, and a GPU that is to do
 * the work decodes the blocks that it found. FORMAT: the stream is cut short, or the index is that of another stream, or
 * lies. */
floe_status floe_zfp_decompress(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_zfp_stream *stream,
                                const void *index, uint64_t index_nbytes, floe_field *out);

/* ---- on a GPU ---------------------------------------------------------------------------------------------------- */

/*
 * These calls only put work on the context's stream, as floe_compress_async does: nothing waits or allocates, provided that the
 * device workspace is large enough, and they can be captured in a CUDA graph. Field, stream and index lie in the memory of the
 * context's GPU, streams and indexes aligned to 16 bytes; what describes them lies in host memory. The bytes are the CPU's.
 */

/* What came of a call; lies in device memory, complete when the stream has come this far. */
typedef struct floe_zfp_report {
    uint64_t nbytes;       /* of the stream; 0 when status is not FLOE_OK */
    uint64_t index_nbytes; /* of the index; 0 without one */
    uint32_t status;       /* a floe_status */
    uint32_t reserved;
} floe_zfp_report;

/* The scratch in device memory that the calls below need for such a stream, whichever needs more. index: NULL without one. */
floe_status floe_zfp_device_workspace_nbytes(floe_ctx *ctx, const floe_zfp_stream *stream, const floe_index_spec *index,
                                             size_t *nbytes);

/* Device field -> dst. index (NULL: none): what it should be, and memory for it; the report says how much was used. Status
 * CAPACITY: a capacity is less than floe_zfp_compress_bound or floe_zfp_index_bound, and not enough. */
floe_status floe_zfp_compress_async(floe_ctx *ctx, const floe_field *field, const floe_zfp_stream *stream, void *dst,
                                    uint64_t capacity, const floe_zfp_index *index, floe_zfp_report *report);

/*
 * Device stream -> out. nbytes, a multiple of 8, and index->nbytes are those of stream and index. Where sizes is not NULL it
 * points to them in device memory (the report of the call that made both), and nbytes and index->capacity are the most that
 * they may be. Status FORMAT: the stream is cut short, or the index is that of another stream or spec, or lies.
 *
 * stream is what counts: a header is skipped, not read. index, which must be of index->spec, may be NULL: then one lane of the
 * GPU reads all of a stream of variable rate to find its blocks. That takes far longer than decoding them, and longer than a
 * CPU would take.
 */
floe_status floe_zfp_decompress_async(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_zfp_report *sizes,
                                      const floe_zfp_stream *stream, const floe_zfp_index *index, floe_field *out,
                                      floe_zfp_report *report);

#ifdef __cplusplus
}
#endif
#endif
