/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of a chunk in C order, and where they are in a strided array: what the two ways of codec zfp share. */
#ifndef FLOE_CODEC_ZFP_CHUNK_ZFP_CELLS_H
#define FLOE_CODEC_ZFP_CHUNK_ZFP_CELLS_H

#include "base/bytes.h"
#include "base/hd.h"
#include "codec/codec.h"
#include "codec/zfp/chunk/zfp_chunk_math.h"
#include "stage/zfpblock/zfpblock.h"

static inline floe_zfp_array floe_zfp_array_of(floe_dtype dtype, uint32_t rank, const uint64_t *shape,
                                               const int64_t *stride, void *data)
{
    floe_zfp_array a = {.data = data, .type = floe_zfp_type_of(dtype), .rank = rank};
    memcpy(a.shape, shape, rank * sizeof *shape);
    memcpy(a.stride, stride, rank * sizeof *stride);
    return a;
}

/* False: more cells than 2^57, so that their bits might overflow. */
static inline bool floe_zfp_count_cells(uint32_t rank, const uint64_t *shape, uint64_t *ncells)
{
    *ncells = 1;
    for (uint32_t a = 0; a < rank; a++)
        if (!floe_mul64(*ncells, shape[a], ncells))
            return false;
    return *ncells > 0 && *ncells <= UINT64_MAX >> 7;
}

/* Cells from this one to the end of its row, at most `most`. */
static inline uint64_t floe_zfp_row_left(uint32_t rank, const uint64_t *shape, uint64_t cell, uint64_t most)
{
    return floe_min64(most, shape[rank - 1] - cell % shape[rank - 1]);
}

#endif
