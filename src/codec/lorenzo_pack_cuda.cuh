/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What both directions of encoder pack share on a GPU: lanes, tiles, bit transposes, sums over lanes.
 *
 * A warp owns a tile of 16 x 16 x 32 and marches along z in 8 steps; a lane owns a group of each step, 2 x 4 x 4 values,
 * in registers. Lane and group have the same number: x first, 8 groups a row, then y, 4 rows.
 */
#ifndef FLOE_CODEC_LORENZO_PACK_CUDA_CUH
#define FLOE_CODEC_LORENZO_PACK_CUDA_CUH

#include <cuda_runtime.h>

#include "codec/lorenzo_layout.h"
#include "codec/lorenzo_pack_cuda.h"
#include "stage/lorenzo/lorenzo_math.h"
#include "stage/pack/pack.h"
#include "stage/quantizer/quantizer_math.h"
#include "stage/tile/tile.h"

#define FLOE_DEV static __device__ __forceinline__

enum {
    ALL = 0xFFFFFFFFu, /* lanes */
    LANES = FLOE_STEP_GROUPS,
    VALUES = FLOE_GROUP_VALUES,
    PLANE = VALUES / 2, /* values of a group in one of its two planes */
    TILE_Z = 16,
    TILE_Y = 16,
    TILE_X = 32
};
static_assert(LANES == 32, "a group a lane");
static_assert(TILE_Z * TILE_Y * TILE_X == FLOE_TILE_VALUES, "docs/format/tile.md");

typedef struct lane_place {
    uint32_t lane, gx, gy, below; /* below: mask of the lanes before this one */
} lane_place;

FLOE_DEV lane_place lane_here()
{
    lane_place l;
    l.lane = threadIdx.x & 31;
    l.gx = l.lane & 7;
    l.gy = l.lane >> 3;
    l.below = (1u << l.lane) - 1;
    return l;
}

typedef struct tile_place {
    uint32_t z, y, x;    /* first cell */
    uint32_t nz, ny, nx; /* cells inside */
    uint32_t nsteps;     /* with a cell inside */
} tile_place;

FLOE_DEV tile_place tile_here(const floe_pack_grid &grid, uint32_t tile)
{
    tile_place t;
    uint32_t tx = tile % grid.tiles[2], rest = tile / grid.tiles[2];
    uint32_t ty = rest % grid.tiles[1], tz = rest / grid.tiles[1];
    t.z = tz * TILE_Z;
    t.y = ty * TILE_Y;
    t.x = tx * TILE_X;
    t.nz = min(grid.extent[0] - t.z, (uint32_t)TILE_Z);
    t.ny = min(grid.extent[1] - t.y, (uint32_t)TILE_Y);
    t.nx = min(grid.extent[2] - t.x, (uint32_t)TILE_X);
    t.nsteps = (t.nz + 1) / 2;
    return t;
}

FLOE_DEV uint32_t tile_cells(const tile_place &t) { return t.nz * t.ny * t.nx; }

/* Element of cell i of the tile, counted x first, then y, then z. */
FLOE_DEV uint64_t cell_at(const floe_pack_grid &grid, const tile_place &t, uint32_t i)
{
    const uint64_t row = grid.extent[2], plane = row * grid.extent[1];
    return (t.z + i / (t.nx * t.ny)) * plane + (t.y + i / t.nx % t.ny) * row + t.x + i % t.nx;
}

/* Element of the first value of this lane's group in step s. */
FLOE_DEV uint64_t group_at(const floe_pack_grid &grid, const tile_place &t, const lane_place &l, uint32_t s)
{
    const uint64_t row = grid.extent[2], plane = row * grid.extent[1];
    return (t.z + 2 * s) * plane + (t.y + 4 * l.gy) * row + t.x + 4 * l.gx;
}

/* No tile of the field is cut off: loads and stores of 16 bytes, no checks. */
static inline bool grid_is_whole(const floe_pack_grid &grid)
{
    return grid.extent[0] % TILE_Z == 0 && grid.extent[1] % TILE_Y == 0 && grid.extent[2] % TILE_X == 0;
}

/* Bits of m from a, others from b: one instruction. */
FLOE_DEV uint32_t merge(uint32_t a, uint32_t b, uint32_t m) { return (a & m) | (b & ~m); }

template <uint32_t MASK, int SHIFT> FLOE_DEV void swap_bits(uint32_t &a, uint32_t &b)
{
    uint32_t lo = merge(a, b << SHIFT, MASK), hi = merge(a >> SHIFT, b, MASK);
    a = lo;
    b = hi;
}

/* Byte k of a[j] holds bits b: becomes bits j in byte k of a[b]. Its own inverse. */
FLOE_DEV void transpose8(uint32_t a[8])
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        swap_bits<0x0F0F0F0Fu, 4>(a[j], a[j + 4]);
#pragma unroll
    for (int h = 0; h < 8; h += 4) {
        swap_bits<0x33333333u, 2>(a[h], a[h + 2]);
        swap_bits<0x33333333u, 2>(a[h + 1], a[h + 3]);
    }
#pragma unroll
    for (int h = 0; h < 8; h += 2)
        swap_bits<0x55555555u, 1>(a[h], a[h + 1]);
}

/* The same for values of 4 bits: the upper half of a is not used, nibbles stay beside each other. */
FLOE_DEV void transpose4(uint32_t a[8])
{
    swap_bits<0x33333333u, 2>(a[0], a[2]);
    swap_bits<0x33333333u, 2>(a[1], a[3]);
    swap_bits<0x55555555u, 1>(a[0], a[1]);
    swap_bits<0x55555555u, 1>(a[2], a[3]);
}

/* v += the v of the lane `delta` before, where there is one in its run of lanes. */
template <int DELTA, int CLAMP> FLOE_DEV void scan_add(float &v)
{
    asm("{ .reg .pred p; .reg .b32 t; shfl.sync.up.b32 t|p, %0, %1, %2, -1; @p add.f32 %0, %0, t; }"
        : "+f"(v)
        : "n"(DELTA), "n"(CLAMP));
}
template <int DELTA, int CLAMP> FLOE_DEV void scan_add(int32_t &v)
{
    asm("{ .reg .pred p; .reg .b32 t; shfl.sync.up.b32 t|p, %0, %1, %2, -1; @p add.s32 %0, %0, t; }"
        : "+r"(v)
        : "n"(DELTA), "n"(CLAMP));
}
/* The shuffle's clamp: runs of 8 lanes (a row of groups), or of all 32. */
enum { CLAMP_ROW = (32 - 8) << 8, CLAMP_ALL = 0 };

/* Sum of v over the groups to the left. */
template <class T> FLOE_DEV T left_of(T v)
{
    T sum = v;
    scan_add<1, CLAMP_ROW>(sum);
    scan_add<2, CLAMP_ROW>(sum);
    scan_add<4, CLAMP_ROW>(sum);
    return sum - v;
}

/* Sum of v over the groups above. */
template <class T> FLOE_DEV T above_of(T v)
{
    T sum = v;
    scan_add<8, CLAMP_ALL>(sum);
    scan_add<16, CLAMP_ALL>(sum);
    return sum - v;
}

#endif
