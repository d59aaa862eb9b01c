/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/index/index_cuda.h"

#include "backend/device.cuh"
#include "stage/index/index_math.h"

namespace
{

enum { WARPS = 4, GRID_MOST = 1 << 20 };

/* No place is as large, and two of them can be added. */
constexpr uint64_t TOO_FAR = (uint64_t)1 << FLOE_INDEX_PLACE_BITS;

/* The sum of all lanes up to this one, TOO_FAR at most. */
FLOE_DEV uint64_t sum_up_to_lane(uint64_t v)
{
    for (uint32_t d = 1; d < FLOE_WARP; d *= 2) {
        const uint64_t below = __shfl_up_sync(FLOE_ALL_LANES, v, d);
        v = floe_lane() >= d ? floe_min64(v + below, TOO_FAR) : v;
    }
    return v;
}

/* Length k of a partition, TOO_FAR at most. */
FLOE_DEV uint64_t length_of(const floe_side_index &x, const floe_index_part &part, uint64_t k)
{
    const uint64_t extra = floe_min64(floe_index_extra(&x, &part, k), TOO_FAR);
    return floe_min64(extra + floe_min64(part.least, TOO_FAR), TOO_FAR);
}

/* All lanes: the lengths of a partition, added up. True: they reach just to its end. */
FLOE_DEV bool decode_lengths(const floe_side_index &x, const floe_index_part &part, uint64_t end, uint64_t *places)
{
    uint64_t at = part.place;
    for (uint64_t k = 0; k < part.count; k += FLOE_WARP) {
        const uint64_t mine = k + floe_lane();
        const uint64_t length = mine < part.stored ? length_of(x, part, mine) : 0, sum = sum_up_to_lane(length);
        if (mine < part.count)
            places[part.first + mine] = floe_min64(at + sum - length, end);
        at += __shfl_sync(FLOE_ALL_LANES, sum, FLOE_WARP - 1);
        if (at > end)
            return false;
    }
    return part.stored < part.count || at == end;
}

/* A warp owns a partition. */
__global__ void index_places_kernel(const __grid_constant__ floe_side_index x, uint64_t *places, uint32_t *status)
{
    const uint64_t nwarps = (uint64_t)gridDim.x * WARPS;
    for (uint64_t p = (uint64_t)blockIdx.x * WARPS + threadIdx.x / FLOE_WARP; p < x.npartitions; p += nwarps) {
        const floe_index_part part = floe_index_part_of(&x, p);
        bool fine = floe_index_part_is_sane(&x, p, &part);
        if (fine) {
            const uint64_t end = floe_index_part_end(&x, p);
            fine = part.place <= end && end <= x.end && floe_index_rests_are_zero(&x, p, &part) &&
                   decode_lengths(x, part, end, places);
        }
        if (!fine && floe_lane() == 0)
            *status = FLOE_ERR_FORMAT;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        places[x.nchunks] = x.end;
}

} // namespace

int floe_side_index_decode_cuda(const floe_side_index *index, uint64_t *places, uint32_t *status, void *stream)
{
    const uint64_t nblocks = floe_ceil_div(index->npartitions, WARPS);
    FLOE_LAUNCH(index_places_kernel, (uint32_t)floe_max64(1, floe_min64(nblocks, GRID_MOST)), WARPS * FLOE_WARP, 0,
                (cudaStream_t)stream, *index, places, status);
    return (int)cudaGetLastError();
}
