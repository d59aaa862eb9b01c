/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec lorenzo on a chunk; the contract of each function is in codec.h. */
#ifndef FLOE_CODEC_LORENZO_CPU_LORENZO_CHUNK_H
#define FLOE_CODEC_LORENZO_CPU_LORENZO_CHUNK_H

#include "codec/codec.h"
#include "codec/lorenzo/format/lorenzo_layout.h"

/* Codec lorenzo: its row of the table. docs/format/lorenzo_chunk.md. */
extern const floe_codec_ops floe_lorenzo_codec;

uint64_t floe_lorenzo_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent);
size_t floe_lorenzo_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank,
                              const uint64_t *extent);
uint64_t floe_lorenzo_least(uint32_t rank, const uint64_t *extent);
size_t floe_lorenzo_decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent);
floe_status floe_lorenzo_compress(const floe_chunk_encode *c, floe_error *err);
floe_status floe_lorenzo_decompress(const floe_chunk_decode *c, floe_error *err);
size_t floe_lorenzo_estimate_workspace(const floe_cpu *cpu, const floe_codec_boxes *boxes);
floe_status floe_lorenzo_estimate(const floe_cpu *cpu, const floe_codec_boxes *boxes, floe_arena *scratch, double *bits,
                                  floe_error *err);
floe_status floe_lorenzo_squared_error(const floe_chunk_encode *c, double *sum, floe_error *err);

/* The sample that codec lorenzo codes of boxes, for both machines: their whole tiles, one box behind another along the slowest axis.
 * part: extent of a box's tiles; all: of the sample. Returns the values of a part. */
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
    return 8 * ((double)(chunk_nbytes - fixed) * b->share / (double)(b->n * ncells) + (double)fixed / field);
}

#endif
