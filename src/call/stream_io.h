/* SPDX-License-Identifier: BSD-3-Clause */
/* Checked use of the caller's callbacks: sources, sinks, progress. */
#ifndef FLOE_CALL_STREAM_IO_H
#define FLOE_CALL_STREAM_IO_H

#include <floe/floe.h>

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

#endif
