/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_CODEC_LORENZO_CPU_LORENZO_JOB_H
#define FLOE_CODEC_LORENZO_CPU_LORENZO_JOB_H

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

#endif
