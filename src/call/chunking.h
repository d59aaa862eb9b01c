/* SPDX-License-Identifier: BSD-3-Clause */
/* The grid of chunks as the API sees it: how large a chunk is, which extents occur, slabs, and walks over a box. */
#ifndef FLOE_CALL_CHUNKING_H
#define FLOE_CALL_CHUNKING_H

#include <stdbool.h>

#include <floe/floe.h>

#include "container/container.h"
#include "codec/codec.h"

/* Chooses the shape of a chunk: params' own, clipped to the field, or one of about 64 MiB that is contiguous in C order
 * and cuts no tile. params have passed floe_params_check and layout has passed floe_field_nelems. */
floe_status floe_chunking_choose(const floe_field *layout, const floe_params *params, uint64_t chunk[FLOE_MAX_RANK],
                                 floe_error *err);

/* The different extents of chunks: full ones, and those cut at the far end of each axis. */
enum { FLOE_CHUNKING_KINDS = 1 << FLOE_MAX_RANK };
typedef struct floe_chunk_kind {
    uint64_t extent[FLOE_MAX_RANK];
    uint64_t count; /* chunks of this extent */
} floe_chunk_kind;
uint32_t floe_chunking_kinds(const floe_header *header, floe_chunk_kind kinds[FLOE_CHUNKING_KINDS]);

/* A slab: a run of chunks whose elements follow one another in C order. Every chunk lies in one slab, slabs do not
 * overlap, and walking chunks in order walks slabs in order. A slab is one chunk unless chunks are bricks. */
typedef struct floe_slab {
    uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    uint64_t first, nchunks;
} floe_slab;
void floe_slab_of(const floe_header *header, uint64_t chunk, floe_slab *slab);
bool floe_slab_holds(const floe_slab *slab, uint64_t chunk);

uint64_t floe_extent_nelems(uint32_t rank, const uint64_t *extent);
uint64_t floe_extent_nbytes(floe_dtype dtype, uint32_t rank, const uint64_t *extent);
/* Cuts the box lo..hi to the box at cut_lo of cut_extent. */
void floe_box_clip(uint32_t rank, uint64_t *lo, uint64_t *hi, const uint64_t *cut_lo, const uint64_t *cut_extent);

/* The part of a chunk that lies in the box lo..hi: from..to of the field. */
void floe_chunk_clip(const floe_header *header, uint64_t chunk, const uint64_t *lo, const uint64_t *hi, uint64_t *from,
                     uint64_t *to);

/* Walks the chunks that the box lo..hi touches, in grid order. */
typedef struct floe_walk {
    const floe_header *header;
    uint64_t begin[FLOE_MAX_RANK], end[FLOE_MAX_RANK], at[FLOE_MAX_RANK], grid[FLOE_MAX_RANK]; /* in chunks */
    bool more;
} floe_walk;
floe_walk floe_walk_of(const floe_header *header, const uint64_t *lo, const uint64_t *hi);
bool floe_walk_next(floe_walk *walk, uint64_t *chunk);
uint64_t floe_walk_nchunks(const floe_walk *walk);

/* How large the chunks of a stream, and the scratch for them, can get. */
typedef struct floe_sizing {
    uint64_t stream_nbytes;  /* header, all records, index and footer; of a stream: at least */
    uint64_t payload_nbytes; /* of the largest chunk */
    uint64_t chunk_nelems;   /* of the largest chunk */
    size_t codec_nbytes;     /* scratch of the codec */
    size_t lane_nbytes;      /* the same for one thread */
} floe_sizing;

/* Upper limits over everything that is not known from the header (fill, and what rel and psnr become). LIMIT when a
 * chunk is more than the codec can do, or a size overflows. */
floe_status floe_sizing_of(const floe_cpu *cpu, const floe_header *header, floe_sizing *sizing, floe_error *err);

/* The same for a stream of which only the header has been read. It may lie: stream_nbytes is the least that can hold all chunks,
 * and the other sizes are to be trusted where the stream has so many bytes. */
floe_status floe_sizing_of_stream(const floe_cpu *cpu, const floe_header *header, uint64_t header_nbytes,
                                  floe_sizing *sizing, floe_error *err);

#endif
