/* SPDX-License-Identifier: BSD-3-Clause */
/* The sample that codec lorenzo codes of boxes, for both machines: their whole tiles, one box behind another along the slowest axis. */
#ifndef FLOE_CODEC_LORENZO_FORMAT_LORENZO_ESTIMATE_H
#define FLOE_CODEC_LORENZO_FORMAT_LORENZO_ESTIMATE_H

#include "codec/codec.h"
#include "codec/lorenzo/format/lorenzo_layout.h"

/* part: extent of a box's tiles; all: of the sample. Returns the values of a part. */
static inline uint64_t floe_lorenzo_estimate_shape(const floe_codec_boxes *b, uint64_t part[FLOE_MAX_RANK],
                                                   uint64_t all[FLOE_MAX_RANK])
{
    uint64_t tile, group, n = 1;
    for (uint32_t i = 0; i < b->rank; i++) {
        floe_codec_tile_units(b->rank, b->rank - 1 - i, &tile, &group);
        all[i] = part[i] = b->extent[i] < tile ? b->extent[i] : b->extent[i] / tile * tile;
        n *= part[i];
    }
    all[0] *= b->n;
    return n;
}

/* Of a value of the field: header and codebook do not grow with it. */
static inline double floe_lorenzo_estimate_bits(const floe_codec_boxes *b, uint64_t ncells, uint64_t chunk_nbytes,
                                                uint32_t book_nwords)
{
    const uint64_t fixed = FLOE_LORENZO_HEADER_NBYTES + 4 * (uint64_t)book_nwords;
    double field = 1;
    for (uint32_t i = 0; i < b->rank; i++)
        field *= (double)b->shape[i];
    return 8 * ((double)(chunk_nbytes - fixed) / (double)(b->n * ncells) + (double)fixed / field);
}

#endif
