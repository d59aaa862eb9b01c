/* SPDX-License-Identifier: BSD-3-Clause */
/* What zfp makes of blocks against the field: which cells need a correction, the largest error, squares. */
#ifndef FLOE_CODEC_ZFP_GPU_ZFP_GRID_CHECK_CUH
#define FLOE_CODEC_ZFP_GPU_ZFP_GRID_CHECK_CUH

#include "codec/zfp/chunk/zfp_exact_math.h"
#include "codec/zfp/gpu/zfp_grid_dev.cuh"
#include "stage/zfpblock/zfpblock_lanes_dev.cuh"

/* A chunk, and what was promised of it. */
struct floe_zfp_judged {
    floe_zfp_cells cells;
    floe_zfp_dev_chunk *chunk;
    uint64_t number;
    double tolerance;
    floe_uint fill;
    bool has_fill, real;
};

/* One thread. */
FLOE_DEV void floe_zfp_judge(const floe_zfp_grid_encode &call, uint64_t number, floe_zfp_judged &s)
{
    s.number = number;
    s.chunk = call.chunks + number;
    s.cells = floe_zfp_cells_of(&s.chunk->array);
    s.tolerance = floe_zfp_tolerance(call.params);
    s.real = !floe_dtype_is_integer(call.field.dtype);
    s.has_fill = call.params->has_fill;
    s.fill = (floe_uint)call.params->fill_bits;
}

/* Number of the cell that is value i of a lane, in C order; a block that sticks out has its own values there. */
template <uint32_t RANK>
FLOE_DEV uint64_t floe_zfp_cell_of(const floe_zfp_cells &c, uint64_t block, uint32_t share, uint32_t i)
{
    const uint32_t at[4] = {i % 4, i / 4 % 4, i / 16 % 4, share};
    uint64_t cell = 0, row = 1;
    for (uint32_t a = 0; a < RANK; a++) {
        const uint64_t corner = FLOE_ZFP_SIDE * floe_last_digit(&block, c.counts[a]);
        const uint32_t inside = (uint32_t)floe_min64(FLOE_ZFP_SIDE, c.shape[a] - corner);
        cell += (corner + floe_zfp_inside(at[a], inside)) * row;
        row *= c.shape[a];
    }
    return cell;
}

FLOE_DEV floe_uint floe_zfp_value_at(const floe_zfp_dev_chunk *c, uint64_t cell)
{
    return ((const floe_uint *)c->array.data)[floe_cells_at(&c->cells->array, cell)];
}

/* Cells of a row of a chunk that are named already are not, bit i of mask: cell + i. */
FLOE_DEV void floe_zfp_unname(const floe_zfp_grid_encode &call, uint64_t number, uint64_t cell, uint32_t mask)
{
    uint32_t *words = (uint32_t *)(call.cells.sets[FLOE_CELLS_LITERALS] + number * call.cells.nwords) + cell / 32;
    const uint64_t moved = (uint64_t)mask << cell % 32;
    atomicAnd(words, ~(uint32_t)moved);
    if (moved >> 32)
        atomicAnd(words + 1, ~(uint32_t)(moved >> 32));
}

/* Names cells that need a correction, bit i of corrected: value i of a lane; those of kept are named no more. */
template <uint32_t RANK>
FLOE_DEV_COLD void floe_zfp_name_corrected(const floe_zfp_grid_encode &call, const floe_zfp_judged &s, uint64_t block,
                                           uint32_t share, uint64_t corrected, uint64_t kept)
{
    while (corrected | kept) {
        const uint32_t row = ((uint32_t)__ffsll((long long)(corrected | kept)) - 1) / 4;
        const uint64_t cell = floe_zfp_cell_of<RANK>(s.cells, block, share, 4 * row), bits = (uint64_t)15 << 4 * row;
        if (corrected & bits)
            floe_cells_name(call.cells, s.number, cell, (uint32_t)(corrected >> 4 * row) & 15);
        if (kept & bits)
            floe_zfp_unname(call, s.number, cell, (uint32_t)(kept >> 4 * row) & 15);
        corrected &= ~bits;
        kept &= ~bits;
    }
}

/* Rows of values that came back against those of the field; cells that hold the fill value are named before. */
struct floe_zfp_comparison {
    uint64_t corrected, kept; /* of others, of these */
    double worst, squares;
};

template <uint32_t RANK, bool REAL>
FLOE_DEV floe_zfp_comparison floe_zfp_compare(const floe_zfp_judged &s, const floe_zfp_spot &spot, uint32_t cube,
                                              const floe_uint *v)
{
    enum { SIZE = sizeof(floe_uint), NY = RANK > 1 ? 4 : 1, NZ = RANK > 2 ? 4 : 1 };
    const floe_zfp_cells &c = s.cells;
    floe_zfp_comparison found = {0, 0, 0, 0};
    if (RANK > 3 && cube >= spot.inside[RANK - 1])
        return found;
    const uint8_t *first = spot.first + (RANK > 3 ? cube * c.stride[RANK - 1] * SIZE : 0);
    const bool rows = spot.whole && c.in_rows;
#pragma unroll
    for (uint32_t r = 0; r < NY * NZ; r++) {
        if ((RANK > 1 && r % NY >= spot.inside[1 % RANK]) || (RANK > 2 && r / NY >= spot.inside[2 % RANK]))
            continue;
        const uint8_t *row = first + floe_zfp_row_at<RANK>(c, r % NY, r / NY) * SIZE;
        floe_uint was[4];
        if (rows) {
            floe_zfp_get_row(row, was);
        } else {
#pragma unroll
            for (uint32_t x = 0; x < FLOE_ZFP_SIDE; x++)
                was[x] = *(const floe_uint *)(row + floe_zfp_inside(x, spot.inside[0]) * c.stride[0] * SIZE);
        }
#pragma unroll
        for (uint32_t x = 0; x < FLOE_ZFP_SIDE; x++) {
            if (x >= spot.inside[0])
                continue;
            const double error = FLOE_R(floe_zfp_error)(REAL, was[x], v[4 * r + x]);
            const bool corrected =
                FLOE_R(floe_zfp_needs_correction)(REAL, was[x], v[4 * r + x], error, s.tolerance, s.has_fill, s.fill);
            const bool filled = s.has_fill && was[x] == s.fill;
            found.corrected |= (uint64_t)(corrected && !filled) << (4 * r + x);
            found.kept |= (uint64_t)(filled && !corrected) << (4 * r + x);
            found.worst = !corrected && error > found.worst ? error : found.worst;
            found.squares += corrected ? 0 : error * error;
        }
    }
    return found;
}

/* The largest error of the warp's blocks, where it is news. */
FLOE_DEV void floe_zfp_report_worst(const floe_zfp_grid_encode &call, const floe_zfp_judged &s, double worst)
{
    unsigned long long *most = &call.stats[s.number].max_error_bits;
    const unsigned long long bits = floe_warp_max((unsigned long long)floe_bits_f64(worst));
    if (floe_lane() == 0 && bits > *(volatile unsigned long long *)most)
        atomicMax(most, bits);
}

/* All lanes: v, which came back, of a block. */
template <uint32_t RANK>
FLOE_DEV void floe_zfp_check(const floe_zfp_grid_encode &call, const floe_zfp_judged &s, uint64_t block, uint32_t share,
                             const floe_uint *v)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const bool mine = block < s.cells.nblocks;
    floe_zfp_comparison found = {0, 0, 0, 0};
    if (mine && s.real)
        found = floe_zfp_compare<RANK, true>(s, floe_zfp_spot_of<RANK>(s.cells, block), share, v);
    else if (mine)
        found = floe_zfp_compare<RANK, false>(s, floe_zfp_spot_of<RANK>(s.cells, block), share, v);
    if (found.corrected | found.kept)
        floe_zfp_name_corrected<RANK>(call, s, block, share, found.corrected, found.kept);
    floe_zfp_report_worst(call, s, found.worst);
    if (!call.block_errors)
        return;
    for (uint32_t d = lanes::BLOCKS; d < FLOE_WARP; d *= 2)
        found.squares += __shfl_xor_sync(FLOE_ALL_LANES, found.squares, d);
    if (mine && share == 0)
        call.block_errors[s.number * call.room.nblocks + block] = found.squares;
}

#endif
