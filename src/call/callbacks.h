/* SPDX-License-Identifier: BSD-3-Clause */
/* Checked use of the caller's callbacks: sources, sinks, progress. */
#ifndef FLOE_CALL_CALLBACKS_H
#define FLOE_CALL_CALLBACKS_H

#include <stdbool.h>

#include <floe/floe.h>

#include "container/container.h"

/* Reads until nbytes are there or the source ends. */
floe_status floe_source_read(const floe_source *source, uint64_t offset, void *dst, size_t nbytes, size_t *got,
                             floe_error *err);
floe_status floe_sink_write(const floe_sink *sink, const void *src, size_t nbytes, floe_error *err);

/* Elements between the machine's byte order and the little-endian one of streams and raw files, in place. */
void floe_elements_swap(floe_dtype dtype, void *data, uint64_t nelems);

typedef struct floe_progress {
    floe_progress_fn call; /* NULL: none */
    void *user;
    uint64_t done, total; /* bytes of the raw field */
} floe_progress;
floe_status floe_progress_add(floe_progress *progress, uint64_t nbytes, floe_error *err);

/* Of a GPU that does all at once: a single call, when it is done. */
floe_status floe_progress_whole(const floe_stream_options *options, uint64_t nbytes, floe_error *err);

/* Copies the options of any version's size; NULL: the defaults. */
floe_status floe_stream_options_read(const floe_stream_options *given, floe_stream_options *options, floe_error *err);

/* Reads a stream strictly forward, with a window of bytes that can be looked at before they are taken. */
enum { FLOE_FORWARD_NBYTES = 1 << 16 };

typedef struct floe_forward_reader {
    const floe_source *source;
    uint8_t *bytes;    /* FLOE_FORWARD_NBYTES */
    size_t begin, end; /* what is there */
    uint64_t offset;   /* of bytes[begin] in the stream */
    bool has_head;     /* head was taken from the stream, its payload was not */
    floe_record head;
} floe_forward_reader;

/* Takes up to nbytes into dst; fewer only at the end of the source. */
floe_status floe_forward_read(floe_forward_reader *reader, void *dst, size_t nbytes, size_t *got, floe_error *err);

/* Drops nbytes; reading past the end of the source is no error yet. */
floe_status floe_forward_skip(floe_forward_reader *reader, uint64_t nbytes, floe_error *err);

/* Goes back to an offset, where the source can seek. */
void floe_forward_back(floe_forward_reader *reader, uint64_t offset);

/* Takes the head of a record into reader->head. salvage: searches for the next good one, of a chunk in
 * least..nchunks-1 with at most payload_max bytes. FORMAT or CHECKSUM when there is none. */
typedef struct floe_head_rule {
    bool salvage;
    uint64_t least, nchunks, payload_max;
} floe_head_rule;
floe_status floe_forward_head(floe_forward_reader *reader, const floe_head_rule *rule, floe_error *err);

#endif
