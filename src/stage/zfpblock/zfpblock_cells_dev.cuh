/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a block between an array and one lane's registers. Axes are counted from the fastest here; those above the rank
 * have one value. */
#ifndef FLOE_STAGE_ZFPBLOCK_CELLS_DEV_CUH
#define FLOE_STAGE_ZFPBLOCK_CELLS_DEV_CUH

#include "backend/device.cuh"
#include "base/grid_math.h"
#include "stage/zfpblock/zfpblock_math.h"

/* An array as a kernel sees it. */
struct floe_zfp_cells {
    uint8_t *data;
    uint64_t shape[FLOE_MAX_RANK], counts[FLOE_MAX_RANK]; /* values, blocks */
    int64_t stride[FLOE_MAX_RANK];                        /* in elements */
    uint64_t nblocks;
    bool in_rows; /* four values along the fastest axis are one aligned piece of memory */
};

FLOE_HD floe_zfp_cells floe_zfp_cells_of(const floe_zfp_array *array)
{
    const uintptr_t row = FLOE_ZFP_SIDE * sizeof(floe_uint);
    floe_zfp_cells c = {};
    c.data = (uint8_t *)array->data;
    c.in_rows = array->stride[array->rank - 1] == 1 && (uintptr_t)array->data % row == 0;
    c.nblocks = 1;
    for (uint32_t a = 0; a < FLOE_MAX_RANK; a++) {
        const bool real = a < array->rank;
        c.shape[a] = real ? array->shape[array->rank - 1 - a] : 1;
        c.stride[a] = real ? array->stride[array->rank - 1 - a] : 0;
        c.counts[a] = floe_ceil_div(c.shape[a], FLOE_ZFP_SIDE);
        c.nblocks *= c.counts[a];
        c.in_rows &= a == 0 || c.stride[a] % FLOE_ZFP_SIDE == 0;
    }
    return c;
}

/* A block's first value, and how many are inside of the array along each axis. */
struct floe_zfp_spot {
    uint8_t *first;
    uint32_t inside[FLOE_MAX_RANK];
    bool whole;
};

template <uint32_t RANK> FLOE_DEV floe_zfp_spot floe_zfp_spot_of(const floe_zfp_cells &c, uint64_t block)
{
    floe_zfp_spot spot;
    int64_t at = 0;
    spot.whole = true;
#pragma unroll
    for (uint32_t a = 0; a < RANK; a++) {
        const uint64_t corner = FLOE_ZFP_SIDE * (a + 1 < RANK ? floe_last_digit(&block, c.counts[a]) : block);
        spot.inside[a] = (uint32_t)floe_min64(FLOE_ZFP_SIDE, c.shape[a] - corner);
        spot.whole &= spot.inside[a] == FLOE_ZFP_SIDE;
        at += (int64_t)corner * c.stride[a];
    }
    spot.first = c.data + at * (int64_t)sizeof(floe_uint);
    return spot;
}

/* Row r of a cube of 4 x 4 rows, from its first value, in elements. */
template <uint32_t RANK> FLOE_DEV int64_t floe_zfp_row_at(const floe_zfp_cells &c, uint32_t y, uint32_t z)
{
    return (RANK > 1 ? y * c.stride[1] : 0) + (RANK > 2 ? z * c.stride[2] : 0);
}

FLOE_DEV void floe_zfp_put_row(uint8_t *to, const floe_uint *v)
{
#if FLOE_REAL_BITS == 32
    *(uint4 *)to = make_uint4(v[0], v[1], v[2], v[3]);
#else
    *(ulonglong2 *)to = make_ulonglong2(v[0], v[1]);
    *(ulonglong2 *)(to + 16) = make_ulonglong2(v[2], v[3]);
#endif
}
FLOE_DEV void floe_zfp_get_row(const uint8_t *from, floe_uint *v)
{
#if FLOE_REAL_BITS == 32
    const uint4 row = *(const uint4 *)from;
    v[0] = row.x, v[1] = row.y, v[2] = row.z, v[3] = row.w;
#else
    const ulonglong2 low = *(const ulonglong2 *)from, high = *(const ulonglong2 *)(from + 16);
    v[0] = low.x, v[1] = low.y, v[2] = high.x, v[3] = high.y;
#endif
}

/* The values of a line, a square or a cube (of four axes: cube number `cube`) that are inside of the array. */
template <uint32_t RANK>
FLOE_DEV void floe_zfp_store_cells(const floe_zfp_cells &c, const floe_zfp_spot &spot, uint32_t cube,
                                   const floe_uint *v)
{
    enum { SIZE = sizeof(floe_uint), NY = RANK > 1 ? 4 : 1, NZ = RANK > 2 ? 4 : 1 };
    if (RANK > 3 && cube >= spot.inside[RANK - 1])
        return;
    uint8_t *first = spot.first + (RANK > 3 ? cube * c.stride[RANK - 1] * SIZE : 0);
    if (spot.whole && c.in_rows) {
#pragma unroll
        for (uint32_t r = 0; r < NY * NZ; r++)
            floe_zfp_put_row(first + floe_zfp_row_at<RANK>(c, r % NY, r / NY) * SIZE, v + 4 * r);
        return;
    }
#pragma unroll
    for (uint32_t r = 0; r < NY * NZ; r++) {
        if ((RANK > 1 && r % NY >= spot.inside[1 % RANK]) || (RANK > 2 && r / NY >= spot.inside[2 % RANK]))
            continue;
        uint8_t *row = first + floe_zfp_row_at<RANK>(c, r % NY, r / NY) * SIZE;
#pragma unroll
        for (uint32_t x = 0; x < FLOE_ZFP_SIDE; x++)
            if (x < spot.inside[0])
                *(floe_uint *)(row + x * c.stride[0] * SIZE) = v[4 * r + x];
    }
}

/* The way back: a block that sticks out of the array is filled up by its own values. */
template <uint32_t RANK>
FLOE_DEV void floe_zfp_load_cells(const floe_zfp_cells &c, const floe_zfp_spot &spot, uint32_t cube, floe_uint *v)
{
    enum { SIZE = sizeof(floe_uint), NY = RANK > 1 ? 4 : 1, NZ = RANK > 2 ? 4 : 1 };
    const uint32_t w = RANK > 3 ? floe_zfp_inside(cube, spot.inside[RANK - 1]) : 0;
    const uint8_t *first = spot.first + (RANK > 3 ? w * c.stride[RANK - 1] * SIZE : 0);
    if (spot.whole && c.in_rows) {
#pragma unroll
        for (uint32_t r = 0; r < NY * NZ; r++)
            floe_zfp_get_row(first + floe_zfp_row_at<RANK>(c, r % NY, r / NY) * SIZE, v + 4 * r);
        return;
    }
#pragma unroll
    for (uint32_t r = 0; r < NY * NZ; r++) {
        const uint32_t y = RANK > 1 ? floe_zfp_inside(r % NY, spot.inside[1 % RANK]) : 0;
        const uint32_t z = RANK > 2 ? floe_zfp_inside(r / NY, spot.inside[2 % RANK]) : 0;
        const uint8_t *row = first + floe_zfp_row_at<RANK>(c, y, z) * SIZE;
#pragma unroll
        for (uint32_t x = 0; x < FLOE_ZFP_SIDE; x++)
            v[4 * r + x] = *(const floe_uint *)(row + floe_zfp_inside(x, spot.inside[0]) * c.stride[0] * SIZE);
    }
}

#endif
