/* SPDX-License-Identifier: BSD-3-Clause */
/* The grid of chunks as the API sees it: how large a chunk is, which extents occur, slabs, and walks over a box. */
#ifndef FLOE_CALL_CHUNKING_H
#define FLOE_CALL_CHUNKING_H

#include <stdbool.h>

#include <floe/floe.h>

#include "container/container.h"

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
/* Cuts the box lo..hi to the box at cut_lo of cut_extent. */
void floe_box_clip(uint32_t rank, uint64_t *lo, uint64_t *hi, const uint64_t *cut_lo, const uint64_t *cut_extent);

/* Walks the chunks that the box lo..hi touches, in grid order. */
typedef struct floe_walk {
    const floe_header *header;
    uint64_t begin[FLOE_MAX_RANK], end[FLOE_MAX_RANK], at[FLOE_MAX_RANK], grid[FLOE_MAX_RANK]; /* in chunks */
    bool more;
} floe_walk;
floe_walk floe_walk_of(const floe_header *header, const uint64_t *lo, const uint64_t *hi);
bool floe_walk_next(floe_walk *walk, uint64_t *chunk);

#endif
