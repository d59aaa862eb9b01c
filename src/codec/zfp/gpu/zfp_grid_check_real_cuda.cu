/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * At a fixed rate a block's bits may end in the middle of a plane: what was coded is decoded again, to be compared with the
 * field. Compiled for each element type.
 */
#include "codec/zfp/gpu/zfp_grid_check.cuh"
#include "codec/zfp/gpu/zfp_kernels.h"
#include "codec/zfp/gpu/zfp_launch.cuh"
#include "stage/zfpblock/zfpblock_read_dev.cuh"

namespace
{

enum {
    WARPS = 4,
    THREADS = WARPS * FLOE_WARP,
    FEW = FLOE_REAL_BITS == 32 ? 4 : 2, /* blocks on a processor, as for decoding */
    MANY = FLOE_REAL_BITS == 32 ? 8 : 6
};

template <uint32_t RANK> struct block_shared {
    uint32_t planes[WARPS][floe_zfp_lanes<RANK>::PLANES];
    uint32_t steps[FLOE_ZFP_STEP_TABLE];
    floe_zfp_judged judged;
};

/* All warps: the blocks of a chunk in turn. */
template <uint32_t RANK> FLOE_DEV void check_chunk(const floe_zfp_grid_encode &call, block_shared<RANK> *shared)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const floe_zfp_judged &s = shared->judged;
    const uint32_t warp = threadIdx.x / FLOE_WARP, b = floe_lane() % lanes::BLOCKS, share = floe_lane() / lanes::BLOCKS;
    const floe_zfp_params params = s.chunk->close;
    const uint64_t nblocks = s.cells.nblocks, step = (uint64_t)gridDim.x * WARPS * lanes::BLOCKS;
    const floe_zfp_dev_stream stream = {floe_zfp_coded_of(call, s.number), floe_ceil_div(nblocks * params.maxbits, 32),
                                        params, s.real};
    const floe_shared_words steps = floe_shared_words_of(shared->steps);
    for (uint64_t first = ((uint64_t)blockIdx.x * WARPS + warp) * lanes::BLOCKS; first < nblocks; first += step) {
        const uint64_t block = first + b, at = block * params.maxbits;
        floe_zfp_position p = {block, at, at + params.maxbits, block < nblocks, true};
        floe_uint v[lanes::VALUES];
        floe_zfp_decode_next<RANK, false>(stream, steps, shared->planes[warp], p, v);
        floe_zfp_check<RANK>(call, s, block, share, v);
    }
}

/* blockIdx.y: chunks in turn. */
template <uint32_t RANK>
__global__ void __launch_bounds__(THREADS, RANK > 2 ? FEW : MANY)
    zfp_grid_check_kernel(const __grid_constant__ floe_zfp_grid_encode call)
{
    FLOE_DYNAMIC_SHARED(block_shared<RANK>, shared);
    if (!floe_zfp_goes_on(call, FLOE_ZFP_CLOSELY) || !floe_zfp_is_cut(call))
        return;
    for (uint32_t i = threadIdx.x; i < FLOE_ZFP_STEP_TABLE; i += THREADS)
        shared->steps[i] = floe_zfp_step(i);
    for (uint64_t number = blockIdx.y; number < call.grid.nchunks; number += gridDim.y) {
        if (!floe_zfp_wants(call.chunks + number, FLOE_ZFP_CLOSELY))
            continue;
        __syncthreads();
        if (threadIdx.x == 0)
            floe_zfp_judge(call, number, shared->judged);
        __syncthreads();
        check_chunk<RANK>(call, shared);
    }
}

} // namespace

int FLOE_R(floe_zfp_grid_check)(const floe_zfp_grid_encode *call, void *stream)
{
    return (int)floe_zfp_by_rank<false>(call->field.rank, [&](auto c) {
        enum { RANK = decltype(c)::RANK };
        const uint64_t most = floe_zfp_blocks_at_once(RANK > 2 ? FEW : MANY);
        const uint64_t each = floe_ceil_div(call->room.nblocks, WARPS * floe_zfp_lanes<RANK>::BLOCKS);
        return floe_zfp_launch(zfp_grid_check_kernel<RANK>, floe_zfp_blocks_of_chunks(most, call->grid.nchunks, each),
                               THREADS, sizeof(block_shared<RANK>), (cudaStream_t)stream, *call);
    });
}
