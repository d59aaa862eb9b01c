/* SPDX-License-Identifier: BSD-3-Clause */
/* A partition by a warp: for kernels that decode the chunks of a stream, and for those that decode all of an index. */
#ifndef FLOE_STAGE_INDEX_DEV_CUH
#define FLOE_STAGE_INDEX_DEV_CUH

#include "backend/device.cuh"
#include "stage/index/index.h"

/* No true sum is near this; sums of a lie stay here. */
#define FLOE_INDEX_SUM_MOST ((uint64_t)1 << 63)

FLOE_DEV uint64_t floe_index_add(uint64_t a, uint64_t b)
{
    return a > FLOE_INDEX_SUM_MOST - b ? FLOE_INDEX_SUM_MOST : a + b;
}

/* Sum over lanes 0 to this one, of numbers up to FLOE_INDEX_SUM_MOST. All lanes. */
FLOE_DEV uint64_t floe_index_warp_sums(uint64_t v)
{
    for (uint32_t d = 1; d < FLOE_WARP; d *= 2) {
        const uint64_t below = __shfl_up_sync(FLOE_ALL_LANES, v, d);
        v = floe_lane() >= d ? floe_index_add(v, below) : v;
    }
    return v;
}

/* Length k of a partition, 0 where none is stored, no more than FLOE_INDEX_SUM_MOST. */
FLOE_DEV uint64_t floe_index_length_at(const floe_side_index *x, const floe_index_part *part, uint64_t k)
{
    if (k >= part->stored)
        return 0;
    const uint64_t extra = floe_index_extra(x, part, k);
    return floe_index_add(floe_min64(extra, FLOE_INDEX_SUM_MOST), floe_min64(part->least, FLOE_INDEX_SUM_MOST));
}

/*
 * 32 chunks of a partition from its chunk `at` on, for a warp; *sum holds where the first of them begins, and then where the
 * next one does. Lane l gets the place and the length of chunk at + l; of chunks that there are not, nothing.
 * False on all lanes where the index lies about these chunks; the caller need not have checked anything but the header.
 */
FLOE_DEV bool floe_index_warp_chunks(const floe_side_index *x, const floe_index_part *part, uint64_t end, uint64_t at,
                                     uint64_t *sum, uint64_t *place, uint64_t *length)
{
    const uint64_t k = at + floe_lane();
    const uint64_t stored = floe_index_length_at(x, part, k);
    const uint64_t behind = floe_index_add(*sum, floe_index_warp_sums(stored)); /* of chunk k, but the one not stored */
    const bool last = k + 1 == part->count;
    *place = behind - stored;
    *length = k >= part->stored ? end - *place : stored;
    bool good = behind <= end;
    if (last && part->stored == part->count)
        good = behind == end;
    *sum = __shfl_sync(FLOE_ALL_LANES, behind, FLOE_WARP - 1);
    return __all_sync(FLOE_ALL_LANES, good) != 0;
}

/* What must be so of partition p before its chunks are looked at. All lanes return the same. */
FLOE_DEV bool floe_index_warp_begin(const floe_side_index *x, uint64_t p, floe_index_part *part, uint64_t *end)
{
    *part = floe_index_part_of(x, p);
    if (!floe_index_part_is_sane(x, p, part))
        return false;
    *end = floe_index_part_end(x, p);
    return part->place <= *end && *end <= x->end && floe_index_rests_are_zero(x, p, part);
}

#endif
