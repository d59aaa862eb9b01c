/* SPDX-License-Identifier: BSD-3-Clause */
/* A run of tiles is one task of the parallel loop. This is the seam between the code of a chunk, which has no element
 * type, and that of tiles, which is compiled for each element type and instruction set. */
#ifndef FLOE_CODEC_LORENZO_CPU_LORENZO_SEGMENT_H
#define FLOE_CODEC_LORENZO_CPU_LORENZO_SEGMENT_H

#include <floe/floe.h>

#include "stage/huffman/huffman.h"
#include "stage/quantizer/quantizer.h"
#include "stage/tile/view.h"

/* What all tiles of a chunk share. */
typedef struct floe_tile_job {
    const floe_view *view;
    const floe_quantizer *quantizer;
    const floe_field *field;            /* encode: the chunk; decode: where the region goes */
    uint64_t region_lo[FLOE_VIEW_AXES]; /* in view axes; encode: all of the chunk */
    uint64_t region_hi[FLOE_VIEW_AXES];
    int64_t stride[FLOE_VIEW_AXES];      /* of field, by view axis, in elements */
    const floe_huffman_book *book;       /* huffman, encode */
    const floe_huffman_decoder *decoder; /* huffman, decode; NULL: pack */
} floe_tile_job;

enum { FLOE_SEGMENT_TILES = 16 };

typedef struct floe_segment {
    uint64_t first; /* tile */
    uint32_t count;
    uint32_t *words;   /* encode: where the tiles' words go, one after another */
    uint64_t nwords;   /* encode: how many that were */
    uint32_t *entries; /* of these tiles */
    uint32_t *sizes;   /* words of each tile; for a draft the entry does not hold it */
} floe_segment;

/* What a worker gathers over all its segments. */
typedef struct floe_segment_totals {
    floe_quantizer_stats stats;
    uint64_t nexceptions, nliterals;
} floe_segment_totals;

typedef struct floe_segment_ops {
    size_t scratch_nbytes;
    void (*begin)(void *scratch); /* once a worker */
    void (*encode)(const floe_tile_job *job, bool draft, floe_segment *segment, void *scratch);
    void (*totals)(const void *scratch, floe_segment_totals *totals, floe_huffman_hist *hist); /* added */
    /* The segment holds a draft; its final words go to `to`, and the segment then describes those. */
    void (*finish)(const floe_tile_job *job, floe_segment *segment, uint32_t *to, void *scratch);
    /* src: the tile's words in the stream. */
    floe_status (*decode)(const floe_tile_job *job, uint64_t tile, uint32_t entry, const uint8_t *src, void *scratch,
                          floe_error *err);
    double (*squared_error)(const floe_tile_job *job, const floe_segment *segment, void *scratch);
    /* Adds the patterns of the tiles' ordinary values to a table; false when there are more than `most`. */
    bool (*collect)(const floe_tile_job *job, const floe_segment *segment, floe_table_slot *slots, uint32_t *count,
                    uint32_t most, void *scratch);
} floe_segment_ops;

/* By the width of the element type: integers are patterns in the place of reals. */
extern const floe_segment_ops floe_segment_ops_f32_plain, floe_segment_ops_f64_plain;
extern const floe_segment_ops floe_segment_ops_f32_avx2, floe_segment_ops_f64_avx2;

const floe_segment_ops *floe_segment_ops_of(floe_dtype dtype, floe_isa isa);

#endif
