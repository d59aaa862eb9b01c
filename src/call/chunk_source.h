/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands out the chunks of a field to be compressed, as views: of the caller's memory, or of a buffer that holds the
 * present slab of a source. */
#ifndef FLOE_CALL_CHUNK_SOURCE_H
#define FLOE_CALL_CHUNK_SOURCE_H

#include "base/arena.h"
#include "call/chunking.h"
#include "call/ctx.h"

typedef struct floe_chunk_source {
    const floe_header *header;
    floe_field field;          /* memory: the whole field; source: the slab in the buffer */
    const floe_source *source; /* NULL: memory */
    floe_slab slab;            /* what the buffer holds; nchunks 0: nothing */
} floe_chunk_source;

/* field is resolved and stays the caller's. */
floe_chunk_source floe_chunk_source_of_field(const floe_header *header, const floe_field *field);

/* Checks the source's size as far as it is known. */
floe_status floe_chunk_source_of_source(const floe_header *header, const floe_source *source, floe_chunk_source *chunks,
                                        floe_error *err);
/* The slab buffer; nothing for memory. */
void floe_chunk_source_take(floe_chunk_source *chunks, floe_arena *arena);

/* Whether all chunks can be walked more than once. */
bool floe_chunk_source_repeats(const floe_chunk_source *chunks);

/* The view is valid until the next call. */
floe_status floe_chunk_source_view(floe_chunk_source *chunks, uint64_t chunk, floe_field *view, floe_error *err);

/* How many chunks from this one on, of at most so many, have views at the same time: a source holds those of one slab. */
uint64_t floe_chunk_source_together(const floe_chunk_source *chunks, uint64_t chunk, uint64_t most);

/* The slab that begins with a chunk, and how many chunks it has: for work that need not know where one ends. Valid as long. */
floe_status floe_chunk_source_slab(floe_chunk_source *chunks, uint64_t chunk, floe_field *view, uint64_t *n,
                                   floe_error *err);

/* The box at lo of to's shape, where chunks can be walked more than once: into to, which is contiguous. Loses the last view. */
floe_status floe_chunk_source_box(floe_chunk_source *chunks, const uint64_t *lo, const floe_field *to, floe_error *err);

/* A source that cannot seek, and holds a single slab, becomes a field in memory, of so many bytes that the caller releases. */
floe_status floe_chunk_source_hold(floe_chunk_source *chunks, floe_ctx *ctx, void **held, uint64_t *nbytes);

/* After the last chunk: the source must have no more. */
floe_status floe_chunk_source_end(floe_chunk_source *chunks, floe_error *err);

#endif
