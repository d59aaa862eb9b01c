/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/lorenzo/gpu/lorenzo_device.h"

/*
 * A field's last chunks along an axis are shorter, and a short chunk may be seen in another way: without an axis, or with
 * components (view.h). For each way the tiles grow with the extents, so the ways at their largest extents bound them all.
 */
uint64_t floe_lorenzo_slots(uint32_t rank, const uint64_t *extent)
{
    uint64_t most = 1;
    for (uint32_t way = 0; way < 4u << rank; way++) {
        const bool components = way & 1, swap = way >> 1 & 1;
        uint64_t e[FLOE_MAX_RANK] = {1, 1, 1, 1};
        uint32_t last = 0;
        for (uint32_t i = 0; i < rank; i++) {
            e[i] = way >> (2 + i) & 1 ? extent[i] : 1;
            last = e[i] != 1 ? i : last;
        }
        floe_view view;
        if (components)
            e[last] = floe_min64(e[last], FLOE_VIEW_COMPONENTS_MAX);
        if (floe_view_of(rank, e, swap, &view))
            most = floe_max64(most, view.ntiles);
    }
    return (most + FLOE_BATCH_TILES - 1) / FLOE_BATCH_TILES * FLOE_BATCH_TILES;
}
