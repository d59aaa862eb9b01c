/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernels that read drafts share. A warp owns a tile. */
#ifndef FLOE_CODEC_LORENZO_DRAFT_CUH
#define FLOE_CODEC_LORENZO_DRAFT_CUH

#include "codec/lorenzo_device.h"
#include "stage/huffman/huffman_tile_dev.cuh"

/* Which groups of each step are present. The whole warp. */
FLOE_DEV void floe_draft_present(const floe_view &view, const floe_tile_box &box, floe_huffman_heads &heads)
{
    for (uint32_t s = 0; s < box.nsteps; s++) {
        const floe_step_box step = floe_tile_step(&view, &box, s);
        const bool inside = step.full || floe_group_valid(&view.geometry, &step, floe_lane()) != 0;
        const uint32_t present = __ballot_sync(FLOE_ALL_LANES, inside);
        if (floe_lane() == 0)
            heads.present[s] = present;
    }
    __syncwarp();
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
