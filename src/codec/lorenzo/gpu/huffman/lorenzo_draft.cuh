/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernels that read drafts share. A warp owns a tile. */
#ifndef FLOE_CODEC_LORENZO_GPU_HUFFMAN_LORENZO_DRAFT_CUH
#define FLOE_CODEC_LORENZO_GPU_HUFFMAN_LORENZO_DRAFT_CUH

#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "stage/huffman/huffman_code_dev.cuh"

/* Of the first word of a draft of kind CODED. */
FLOE_DEV uint32_t floe_draft_prefix(uint32_t first_word) { return first_word & ~FLOE_DRAFT_SYMBOLS; }
FLOE_DEV floe_huffman_form floe_draft_form(uint32_t first_word)
{
    return first_word & FLOE_DRAFT_SYMBOLS ? FLOE_HUFFMAN_BYTES : FLOE_HUFFMAN_PLANES;
}

/* Cells of a tile along z, y and x, as floe_view_tile has them but for nz of rank 1, which is 1: with 32 bits. */
struct floe_draft_extent {
    uint32_t nz, ny, nx;
};

FLOE_DEV floe_draft_extent floe_draft_extent_of(const floe_view &view, uint32_t tile)
{
    const floe_tile_geometry &g = view.geometry;
    const uint32_t tiles_x = (uint32_t)view.tiles[FLOE_VIEW_X], tiles_y = (uint32_t)view.tiles[FLOE_VIEW_Y];
    const uint32_t tiles_z = (uint32_t)view.tiles[FLOE_VIEW_Z], row = tile / tiles_x, plane = row / tiles_y;
    const uint32_t size_x = view.rank == 1 ? (uint32_t)FLOE_TILE_VALUES : g.step_x, size_z = FLOE_TILE_STEPS * g.step_z;
    const uint64_t x = tile - row * tiles_x, y = row - plane * tiles_y, z = plane % tiles_z;
    floe_draft_extent e = {1, 1, floe_view_clip(view.extent[FLOE_VIEW_X], x * size_x, size_x)};
    if (view.rank > 1) {
        e.ny = floe_view_clip(view.extent[FLOE_VIEW_Y], y * g.step_y, g.step_y);
        e.nz = floe_view_clip(view.extent[FLOE_VIEW_Z], z * size_z, size_z);
    }
    return e;
}

/* Which groups of each step of a tile are present: those whose first cell is. Returns how many steps there are, and cells in
 * all. The whole warp. */
FLOE_DEV uint32_t floe_draft_present(const floe_view &view, uint32_t tile, floe_huffman_heads &heads, uint32_t *ncells)
{
    const floe_draft_extent e = floe_draft_extent_of(view, tile);
    const floe_tile_geometry &g = view.geometry;
    const uint32_t lane = floe_lane(), rank = view.rank;
    const uint32_t n = rank == 1 ? e.nx : e.nz, size = rank == 1 ? g.step_x : g.step_z; /* along the axis of steps */
    const uint32_t first = rank == 1 ? lane * FLOE_GROUP_VALUES : 0;                    /* of this lane's group there */
    const bool across = rank == 1 || (4 * (rank == 2 ? lane : lane % 8) < e.nx && (rank == 2 || 4 * (lane / 8) < e.ny));
    uint32_t nsteps = 0;
    *ncells = e.nz * e.ny * e.nx;
#pragma unroll
    for (uint32_t s = 0; s < FLOE_TILE_STEPS; s++) {
        const uint32_t present = __ballot_sync(FLOE_ALL_LANES, across && s * size + first < n);
        nsteps += present != 0;
        if (lane == s)
            heads.present[s] = present;
    }
    __syncwarp();
    return nsteps;
}

/* Starts copying a draft to shared memory; both at 16 aligned bytes. */
FLOE_DEV void floe_draft_fetch(uint32_t *draft, const uint32_t *slot, uint32_t nwords)
{
    for (uint32_t i = 4 * floe_lane(); i < nwords; i += 4 * FLOE_WARP) {
        if (i + 4 <= nwords)
            floe_copy16_async(draft + i, slot + i);
        else /* nobody has written the rest of this piece */
            for (uint32_t k = i; k < nwords; k++)
                draft[k] = slot[k];
    }
    floe_copy_async_commit();
}

#endif
