/* SPDX-License-Identifier: BSD-3-Clause */
/* The grid of chunks that a header has. */
#include "base/grid_math.h"
#include "container/header_math.h"

uint64_t floe_grid_nchunks(const floe_header *header) { return floe_grid_count(header); }

void floe_grid_box(const floe_header *header, uint64_t chunk, uint64_t *lo, uint64_t *extent)
{
    floe_grid_cut(header->rank, header->shape, header->chunk, chunk, lo, extent);
}
