/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernels that read drafts share. A warp owns a tile. */
#ifndef FLOE_CODEC_LORENZO_DRAFT_CUH
#define FLOE_CODEC_LORENZO_DRAFT_CUH

#include "codec/lorenzo_device.h"
#include "stage/huffman/huffman_code_dev.cuh"

/* Of the first word of a draft of kind CODED. */
FLOE_DEV uint32_t floe_draft_prefix(uint32_t first_word) { return first_word & ~FLOE_DRAFT_SYMBOLS; }
FLOE_DEV floe_huffman_form floe_draft_form(uint32_t first_word)
{
    return first_word & FLOE_DRAFT_SYMBOLS ? FLOE_HUFFMAN_BYTES : FLOE_HUFFMAN_PLANES;
}

/* Whether all cells of a tile are inside; what floe_view_tile would find out with 64 bits. */
FLOE_DEV bool floe_draft_is_whole(const floe_view &view, uint32_t tile)
{
    const floe_tile_geometry &g = view.geometry;
    const uint32_t tiles_x = (uint32_t)view.tiles[FLOE_VIEW_X], tiles_y = (uint32_t)view.tiles[FLOE_VIEW_Y];
    const uint32_t tiles_z = (uint32_t)view.tiles[FLOE_VIEW_Z], row = tile / tiles_x, plane = row / tiles_y;
    const uint64_t x = tile - row * tiles_x + 1, y = row - plane * tiles_y + 1, z = plane % tiles_z + 1;
    if (view.rank == 1)
        return x * FLOE_TILE_VALUES <= view.extent[FLOE_VIEW_X];
    return x * g.step_x <= view.extent[FLOE_VIEW_X] && y * g.step_y <= view.extent[FLOE_VIEW_Y] &&
           z * FLOE_TILE_STEPS * g.step_z <= view.extent[FLOE_VIEW_Z];
}

/* Which groups of each step of a tile are present. Returns how many steps there are, and cells in all. The whole warp. */
FLOE_DEV uint32_t floe_draft_present(const floe_view &view, uint32_t tile, floe_huffman_heads &heads, uint32_t *ncells)
{
    floe_tile_box box;
    *ncells = FLOE_TILE_VALUES;
    if (floe_draft_is_whole(view, tile)) {
        if (floe_lane() < FLOE_TILE_STEPS)
            heads.present[floe_lane()] = FLOE_ALL_LANES;
        __syncwarp();
        return FLOE_TILE_STEPS;
    }
    floe_view_tile(&view, tile, &box);
    *ncells = (uint32_t)box.ncells;
    for (uint32_t s = 0; s < box.nsteps; s++) {
        const floe_step_box step = floe_tile_step(&view, &box, s);
        const bool inside = step.full || floe_group_valid(&view.geometry, &step, floe_lane()) != 0;
        const uint32_t present = __ballot_sync(FLOE_ALL_LANES, inside);
        if (floe_lane() == 0)
            heads.present[s] = present;
    }
    __syncwarp();
    return box.nsteps;
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
