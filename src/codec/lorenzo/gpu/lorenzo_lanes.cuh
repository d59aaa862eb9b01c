/* SPDX-License-Identifier: BSD-3-Clause */
/* What a warp that owns a tile needs in both directions: where the tile lies, values <-> bit planes. */
#ifndef FLOE_CODEC_LORENZO_GPU_LORENZO_LANES_CUH
#define FLOE_CODEC_LORENZO_GPU_LORENZO_LANES_CUH

#include "backend/device_scan.cuh"
#include "base/hd.h"
#include "stage/tile/view.h"

/* ---- geometry ------------------------------------------------------------------------------------------------------ */

/* A group is 8 rows of 4 values. */
template <int RANK> struct floe_group_shape {
    enum {
        GZ = RANK == 1   ? 1
             : RANK == 2 ? 8
                         : 2,           /* planes of a step and of a group */
        PLANE = FLOE_GROUP_VALUES / GZ, /* values of a group in one of them */
        ROWS = PLANE / 4
    };
};

/* A tile's first cell; cells, and steps. */
struct floe_tile_place {
    uint64_t z, y, x;
    uint32_t batch, nz, ny, nx, nsteps, ncells; /* rank 1: nz is 1 */
};

/* floe_view_tile with 32 bits and a constant rank: a warp does this for each tile. */
template <int RANK> FLOE_DEV floe_tile_place floe_tile_place_of(const floe_view *v, uint32_t tile)
{
    const floe_tile_geometry g = floe_tile_geometry_of(RANK);
    const uint32_t tiles_x = (uint32_t)v->tiles[FLOE_VIEW_X], tiles_y = (uint32_t)v->tiles[FLOE_VIEW_Y];
    const uint32_t tiles_z = (uint32_t)v->tiles[FLOE_VIEW_Z];
    const uint32_t tx = tile % tiles_x, rest = tile / tiles_x;
    const uint32_t ty = RANK == 3 ? rest % tiles_y : 0, plane = RANK == 3 ? rest / tiles_y : rest;
    const uint32_t tz = RANK == 1 ? 0 : plane % tiles_z, size_x = RANK == 1 ? (uint32_t)FLOE_TILE_VALUES : g.step_x;
    floe_tile_place p;
    p.batch = RANK == 1 ? plane : plane / tiles_z;
    p.x = (uint64_t)tx * size_x;
    p.y = (uint64_t)ty * g.step_y;
    p.z = (uint64_t)tz * FLOE_TILE_STEPS * g.step_z;
    p.nx = floe_view_clip(v->extent[FLOE_VIEW_X], p.x, size_x);
    p.ny = RANK < 3 ? 1 : floe_view_clip(v->extent[FLOE_VIEW_Y], p.y, g.step_y);
    p.nz = RANK == 1 ? 1 : floe_view_clip(v->extent[FLOE_VIEW_Z], p.z, FLOE_TILE_STEPS * g.step_z);
    p.nsteps = RANK == 1 ? (p.nx + g.step_x - 1) / g.step_x : (p.nz + g.step_z - 1) / g.step_z;
    p.ncells = p.nz * p.ny * p.nx;
    return p;
}

/* ---- bit planes ---------------------------------------------------------------------------------------------------- */

/* The lowest n bits, n at most 32. */
FLOE_DEV uint32_t floe_low_bits(uint32_t n) { return n < 32 ? (1u << n) - 1 : FLOE_ALL_LANES; }

/* Bits of m from a, others from b: one instruction, of which the compiler makes two where it knows some bits to be 0. */
FLOE_DEV uint32_t floe_merge_bits(uint32_t a, uint32_t b, uint32_t m)
{
#ifdef FLOE_EMULATED
    return (a & m) | (b & ~m);
#else
    uint32_t r;
    asm("lop3.b32 %0, %1, %2, %3, 0xE4;" : "=r"(r) : "r"(a), "r"(b), "r"(m));
    return r;
#endif
}

template <uint32_t MASK, int SHIFT> FLOE_DEV void floe_swap_bits(uint32_t &a, uint32_t &b)
{
    uint32_t lo = floe_merge_bits(a, b << SHIFT, MASK), hi = floe_merge_bits(a >> SHIFT, b, MASK);
    a = lo;
    b = hi;
}

/* Byte k of a[j] holds bits b: becomes bits j in byte k of a[b]. Its own inverse. */
FLOE_DEV void floe_transpose8(uint32_t a[8])
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        floe_swap_bits<0x0F0F0F0Fu, 4>(a[j], a[j + 4]);
#pragma unroll
    for (int h = 0; h < 8; h += 4) {
        floe_swap_bits<0x33333333u, 2>(a[h], a[h + 2]);
        floe_swap_bits<0x33333333u, 2>(a[h + 1], a[h + 3]);
    }
#pragma unroll
    for (int h = 0; h < 8; h += 2)
        floe_swap_bits<0x55555555u, 1>(a[h], a[h + 1]);
}

/* Bits that v takes; 0 takes none. */
FLOE_DEV uint32_t floe_bits_of(uint32_t v)
{
#ifdef FLOE_EMULATED
    return 32 - __clz((int)v);
#else
    uint32_t top; /* 2^32 - 1 for 0 */
    asm("bfind.u32 %0, %1;" : "=r"(top) : "r"(v));
    return top + 1;
#endif
}

/* The same for values of 4 bits: nibbles stay beside each other. */
FLOE_DEV void floe_transpose4(uint32_t a[4])
{
    floe_swap_bits<0x33333333u, 2>(a[0], a[2]);
    floe_swap_bits<0x33333333u, 2>(a[1], a[3]);
    floe_swap_bits<0x55555555u, 1>(a[0], a[1]);
    floe_swap_bits<0x55555555u, 1>(a[2], a[3]);
}

/* The word of a value that a byte lies in. */
FLOE_DEV uint32_t floe_word_of(uint32_t u, uint32_t) { return u; }
FLOE_DEV uint32_t floe_word_of(uint64_t u, uint32_t byte) { return (uint32_t)(u >> byte / 4 * 32); }

/* A byte of 32 values: that of value 8 k + j is byte k of bytes[j]. */
template <class Uint> FLOE_DEV void floe_bytes_of_lane(const Uint u[32], uint32_t byte, uint32_t bytes[8])
{
    const uint32_t pick = byte % 4 | (4 + byte % 4) << 4;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        uint32_t low = __byte_perm(floe_word_of(u[j], byte), floe_word_of(u[8 + j], byte), pick);
        uint32_t high = __byte_perm(floe_word_of(u[16 + j], byte), floe_word_of(u[24 + j], byte), pick);
        bytes[j] = __byte_perm(low, high, 0x5410);
    }
}
template <int BYTE, class Uint> FLOE_DEV void floe_bytes_of_lane(const Uint u[32], uint32_t bytes[8])
{
    floe_bytes_of_lane(u, BYTE, bytes);
}

/* Four bit planes of such bytes, of the lower or the upper nibbles: value i at bit i of each. */
FLOE_DEV void floe_planes_low(const uint32_t bytes[8], uint32_t planes[4])
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        planes[j] = floe_merge_bits(bytes[j], bytes[j + 4] << 4, 0x0F0F0F0Fu);
    floe_transpose4(planes);
}
FLOE_DEV void floe_planes_high(const uint32_t bytes[8], uint32_t planes[4])
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        planes[j] = floe_merge_bits(bytes[j] >> 4, bytes[j + 4], 0x0F0F0F0Fu);
    floe_transpose4(planes);
}

#endif
