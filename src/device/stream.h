/* SPDX-License-Identifier: BSD-3-Clause */
/* An opened .floe stream: its header, checked against the context's limits, and its chunks by number. The bytes lie in
 * memory, or come from a source, by the index or strictly forward. */
#ifndef FLOE_DEVICE_STREAM_H
#define FLOE_DEVICE_STREAM_H

#include "call/ctx.h"
#include "call/lanes.h"
#include "call/chunking.h"
#include "call/callbacks.h"
#include "codec/codec.h"
#include "device/device_stream.h"

typedef struct floe_stream {
    const uint8_t *memory;                               /* the whole stream, or NULL */
    const floe_source *source;                           /* where memory is NULL */
    uint64_t nbytes;                                     /* UINT64_MAX: not known */
    floe_header header;                                  /* with a level: shape and chunks are those of its values */
    uint32_t level;                                      /* every 2^level-th value of each axis */
    uint64_t shape[FLOE_MAX_RANK], chunk[FLOE_MAX_RANK]; /* of all values */
    size_t header_nbytes;
    uint64_t nchunks;
    floe_sizing sizing;
    uint64_t payload_most;          /* bytes that no chunk exceeds; sizing has not more than the stream */
    floe_lanes lanes;               /* chunks that are decoded at once */
    struct floe_batch_chunk *batch; /* for them */
    uint64_t nbatch;                /* of them wait */
    uint8_t *records;               /* source: a record for each, of which `record` is one */
    const uint8_t *index;           /* checked; NULL: read forward */
    bool needs_index;               /* source: it has one, which begin_decode loads */
    bool salvages;                  /* source: where the index is damaged its chunks are read forward */
    uint8_t *index_space;           /* there */
    uint8_t *record;                /* source: one record at a time */
    uint64_t record_nbytes;         /* room for it */
    bool first_bytes;               /* of a level: that grows as they are read */
    uint64_t likely_nbytes;         /* bytes of a record that a level may take */
    floe_forward_reader reader;     /* source read forward */
    bool by_cpu;                    /* chunks are decoded on the CPU, whatever the context's backend */
    bool part;                      /* a level or a box is requested, which may need less scratch than chunks have */
    bool exact;                     /* then: scratch is that of each chunk's part, which its first bytes show */
} floe_stream;

/* Reads and checks header, limits and index. With salvage the index may be missing; then floe_stream_record_nbytes alone works. */
floe_status floe_stream_of_memory(floe_ctx *ctx, const void *src, uint64_t nbytes, bool salvage, floe_stream *stream);
/* Reads and checks header and limits; uses the context's scratch. header gets a copy of its bytes' size only. FORMAT where
 * the source, if its size is known, has fewer bytes than so many chunks need; with salvage, where it has fewer than chunks. */
floe_status floe_stream_of_source(floe_ctx *ctx, const floe_source *source, bool salvage, floe_stream *stream);
/* The bytes of src as the caller has them: host memory as it is; with salvage, or device memory, by way of *source, which stays as
 * long as the stream; device memory with the context's GPU open and current. */
floe_status floe_stream_of_place(floe_ctx *ctx, const void *src, uint64_t nbytes, bool on_device, bool salvage,
                                 floe_device_source *source, floe_stream *stream);

/* From now on the stream is one of every 2^level-th value. UNSUPPORTED where its codec has no levels, or its chunks not so many. */
floe_status floe_stream_at_level(floe_ctx *ctx, floe_stream *stream, uint32_t level);

/* The status of a call that does not fit a stream, or finds no memory for it; but that of its index where that is wrong, which
 * streams in memory have found out by then. Uses the context's scratch. */
floe_status floe_stream_refuse(floe_ctx *ctx, floe_stream *stream, floe_status status);

/* How so many chunks are spread: side by side at most where they are found by the index, and decoded by the CPU. Sets `exact`, unless
 * limits decide how many chunks are done side by side. */
void floe_stream_spread(floe_ctx *ctx, floe_stream *stream, uint64_t nchunks, floe_width width);
/* Scratch that fetching and decoding needs; with `exact` decoding takes its own from the context. */
void floe_stream_take(floe_stream *stream, floe_arena *arena);

/* A chunk of a stream in memory, for what its codec reports of it; extent: rank of them, which stay there. */
floe_status floe_stream_chunk(floe_stream *stream, uint64_t chunk, uint64_t *extent, floe_chunk_decode *call,
                              floe_error *err);

/* Bytes of a chunk's record that the stream's level takes; FORMAT where they are not all there. Without an index for one chunk after
 * another. */
floe_status floe_stream_record_nbytes(floe_stream *stream, uint64_t chunk, uint64_t *nbytes, floe_error *err);

/* Loads and checks the index of a seekable source of known size. */
floe_status floe_stream_index_load(floe_stream *stream, uint8_t *space, floe_error *err);
/* Bytes of space that it needs; 0: the stream can only be read forward. */
uint64_t floe_stream_index_nbytes(const floe_stream *stream);

/* Once before chunks are decoded: an index that is needed is loaded, and a context that works on a GPU gets that ready. */
floe_status floe_stream_begin_decode(floe_ctx *ctx, floe_stream *stream);

/* What becomes of damage: lost takes each box of the field whose values the chunk has lost, where the others are good. */
typedef struct floe_salvage {
    void (*lost)(void *user, uint64_t chunk, const uint64_t *lo, const uint64_t *hi);
    void *user;
} floe_salvage;

/* Fetches a chunk and decodes its cells within lo..hi (of the field) into out, a resolved field that begins at out_lo of
 * the field. A failure's message names chunk and box. salvage: NULL where damage is an error. */
floe_status floe_stream_decode(floe_ctx *ctx, floe_stream *stream, uint64_t chunk, const floe_salvage *salvage,
                               const uint64_t *lo, const uint64_t *hi, const floe_field *out, const uint64_t *out_lo);

/* The same beside others: fetches the chunk; it is decoded with those that were added before, where the batch is full, or at the
 * flush. out stays until then. done is called for each chunk, in order, as long as none has failed. */
typedef floe_status (*floe_chunk_done_fn)(floe_ctx *ctx, void *user, uint64_t chunk);
floe_status floe_stream_batch_add(floe_ctx *ctx, floe_stream *stream, uint64_t chunk, const uint64_t *lo,
                                  const uint64_t *hi, const floe_field *out, const uint64_t *out_lo,
                                  floe_chunk_done_fn done, void *user);
floe_status floe_stream_batch_flush(floe_ctx *ctx, floe_stream *stream, floe_chunk_done_fn done, void *user);

/* The same on the context's GPU: fetches the chunk and hands it to the pipeline (device/pipeline.h), which gives it back when
 * it is decoded. */
floe_status floe_stream_put(floe_ctx *ctx, floe_stream *stream, uint64_t chunk, const uint64_t *lo, const uint64_t *hi,
                            const floe_field *out, const uint64_t *out_lo);

/* The bytes are at fault, not the machine or the caller. */
bool floe_status_is_damage(floe_status status);

#endif
