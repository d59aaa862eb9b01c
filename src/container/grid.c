/* SPDX-License-Identifier: BSD-3-Clause */
/* The grid of chunks: chunk numbers in C order, full chunks but for the last along each axis. */
#include "container/container.h"

#include "base/bytes.h"

/* A product of counts is at most the product of the shape, which header checks keep below 2^63. */
uint64_t floe_grid_nchunks(const floe_header *header)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < header->rank; i++)
        n *= header->chunk[i] ? floe_ceil_div(header->shape[i], header->chunk[i]) : 0;
    return n;
}

void floe_grid_box(const floe_header *header, uint64_t chunk, uint64_t *lo, uint64_t *extent)
{
    for (uint32_t i = header->rank; i-- > 0;) {
        uint64_t count = floe_ceil_div(header->shape[i], header->chunk[i]);
        lo[i] = chunk % count * header->chunk[i];
        extent[i] = floe_min64(header->chunk[i], header->shape[i] - lo[i]);
        chunk /= count;
    }
}
