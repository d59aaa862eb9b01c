/* SPDX-License-Identifier: BSD-3-Clause */
#include "prim/prim_map.cuh"
#include "stage/index/index_dev.cuh"
#include "stage/index/index_prim_math.h"

FLOE_PRIM_MAP_CUDA(floe_index_length_map, floe_index_build, floe_index_build_length)
FLOE_PRIM_MAP_CUDA(floe_index_need_map, floe_index_build, floe_index_build_need)
FLOE_PRIM_MAP_CUDA(floe_index_header_map, floe_index_build, floe_index_build_header)
FLOE_PRIM_MAP_CUDA(floe_index_word_map, floe_index_build, floe_index_build_word)
FLOE_PRIM_MAP_CUDA(floe_index_slot_map, floe_index_build, floe_index_build_slot)
FLOE_PRIM_MAP_CUDA(floe_index_read_length_map, floe_index_read, floe_index_read_length)
FLOE_PRIM_MAP_CUDA(floe_index_read_place_map, floe_index_read, floe_index_read_place)
FLOE_PRIM_MAP_CUDA(floe_index_read_end_map, floe_index_read, floe_index_read_end)

namespace
{

/* A warp takes every so-many-th partition, 32 chunks at a time. */
__global__ void __launch_bounds__(FLOE_PRIM_BLOCK) index_partitions_kernel(const floe_index_read r)
{
    const floe_side_index index = *r.opened, *x = &index;
    const uint64_t step = (uint64_t)gridDim.x * (FLOE_PRIM_BLOCK / FLOE_WARP);
    uint64_t p = ((uint64_t)blockIdx.x * FLOE_PRIM_BLOCK + threadIdx.x) / FLOE_WARP;
    for (; p < r.plan.npartitions; p += step) {
        floe_index_part part = {};
        uint64_t end = 0, place, length;
        bool good = x->npartitions > 0 && floe_index_warp_begin(x, p, &part, &end);
        uint64_t sum = part.place;
        const uint64_t first = p * floe_index_partition_chunks(&r.plan);
        const uint64_t count = floe_min64(floe_index_partition_chunks(&r.plan), r.plan.nchunks - first);
        for (uint64_t at = 0; at < count; at += FLOE_WARP) {
            good = good && floe_index_warp_chunks(x, &part, end, at, &sum, &place, &length);
            if (at + floe_lane() < count)
                r.places[first + at + floe_lane()] = good ? place : 0;
        }
        if (floe_lane() == 0)
            r.wrong[p] = !good;
    }
}

} // namespace

/* Instead of a thread for each partition, which would write places far apart; but partitions of one chunk need no warp. */
extern "C" int floe_index_read_part_map_cuda(const floe_index_read *job, uint64_t n, void *stream);
extern "C" int floe_index_read_part_map_cuda(const floe_index_read *job, uint64_t n, void *stream)
{
    if (job->plan.form == FLOE_INDEX_OFFSETS)
        return floe_prim_map_cuda<floe_index_read, floe_index_read_part>(job, n, stream);
    if (n == 0)
        return (int)cudaSuccess;
    FLOE_LAUNCH(index_partitions_kernel, floe_prim_grid(floe_ceil_div(n, FLOE_PRIM_BLOCK / FLOE_WARP)), FLOE_PRIM_BLOCK,
                0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
