/* SPDX-License-Identifier: BSD-3-Clause */
/* The grid of chunks: chunk numbers in C order, full chunks but for the last along each axis. */
#include "container/header_math.h"

uint64_t floe_grid_nchunks(const floe_header *header) { return floe_grid_count(header); }

void floe_grid_box(const floe_header *header, uint64_t chunk, uint64_t *lo, uint64_t *extent)
{
    for (uint32_t i = header->rank; i-- > 0;) {
        uint64_t count = floe_grid_count_along(header, i);
        lo[i] = chunk % count * header->chunk[i];
        extent[i] = floe_min64(header->chunk[i], header->shape[i] - lo[i]);
        chunk /= count;
    }
}
