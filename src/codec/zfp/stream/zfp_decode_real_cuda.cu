/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes bare zfp streams. A warp takes as many chunks as it holds blocks, and of each of them one block at a time: each lane
 * reads its own block's bit planes into shared memory, by a table of what 8 bits mean; then it turns them to coefficients and
 * undoes the transform in registers. Rows of blocks side by side leave the warp as one piece. Compiled for each element type.
 */
#include "codec/zfp/stream/zfp_launch.cuh"
#include "codec/zfp/stream/zfp_real_cuda.h"
#include "stage/zfpblock/zfpblock_next_dev.cuh"

namespace
{

enum {
    WARPS = 4,
    THREADS = WARPS * FLOE_WARP,
    FEW = FLOE_REAL_BITS == 32 ? 4 : 2, /* blocks on a processor, by registers: lanes with 64 values each */
    MANY = FLOE_REAL_BITS == 32 ? 8 : 6 /* lanes with fewer; f64: by shared memory */
};

struct job {
    floe_zfp_cells cells;
    floe_zfp_params params;
    const void *src;
    uint64_t nbytes, nchunks;
    uint32_t begin, chunk;
    const uint64_t *places;
    uint32_t *status;
};

template <uint32_t RANK> struct block_shared {
    uint32_t planes[WARPS][floe_zfp_lanes<RANK>::PLANES];
    uint32_t steps[FLOE_ZFP_STEP_TABLE];
};

FLOE_DEV floe_zfp_position position_of(const job &j, uint64_t chunk)
{
    floe_zfp_position p = {0, 0, 0, 0, true};
    if (chunk >= j.nchunks)
        return p;
    p.block = chunk * j.chunk;
    p.count = (uint32_t)floe_min64(j.chunk, j.cells.nblocks - p.block);
    p.at = j.places ? j.places[chunk] : j.begin + p.block * j.params.maxbits;
    p.end = j.places ? j.places[chunk + 1] : p.at + (uint64_t)p.count * j.params.maxbits;
    p.fine = p.at >= j.begin && p.at < p.end && p.end <= 8 * j.nbytes;
    return p;
}

/* The next block of each lane. */
template <uint32_t RANK, bool REAL, bool REVERSIBLE>
FLOE_DEV void decode_blocks(const job &j, const floe_zfp_words &stream, floe_shared_words steps, uint32_t *planes,
                            floe_zfp_position &p)
{
    floe_uint v[floe_zfp_lanes<RANK>::VALUES];
    if (floe_zfp_decode_next<RANK, REAL, REVERSIBLE>(stream, j.params, steps, planes, p, v))
        floe_zfp_store_cells<RANK>(j.cells, floe_zfp_spot_of<RANK>(j.cells, p.block++),
                                   floe_lane() / floe_zfp_lanes<RANK>::BLOCKS, v);
}

/* A warp owns as many chunks as it holds blocks, one after the other. */
template <uint32_t RANK, bool REAL, bool REVERSIBLE>
__global__ void __launch_bounds__(THREADS, RANK > 2 ? FEW : MANY) zfp_decode_kernel(const __grid_constant__ job j)
{
    typedef floe_zfp_lanes<RANK> lanes;
    FLOE_DYNAMIC_SHARED(block_shared<RANK>, shared);
    for (uint32_t i = threadIdx.x; i < FLOE_ZFP_STEP_TABLE; i += THREADS)
        shared->steps[i] = floe_zfp_step(i);
    __syncthreads();
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const floe_zfp_words stream = {(const uint32_t *)j.src, (j.nbytes + 3) / 4};
    const floe_shared_words steps = floe_shared_words_of(shared->steps);
    const uint64_t step = (uint64_t)gridDim.x * WARPS * lanes::BLOCKS;
    for (uint64_t first = ((uint64_t)blockIdx.x * WARPS + warp) * lanes::BLOCKS; first < j.nchunks; first += step) {
        floe_zfp_position p = position_of(j, first + floe_lane() % lanes::BLOCKS);
        while (__any_sync(FLOE_ALL_LANES, p.fine && p.count > 0))
            decode_blocks<RANK, REAL, REVERSIBLE>(j, stream, steps, shared->planes[warp], p);
        if (!p.fine)
            *j.status = FLOE_ERR_FORMAT;
    }
}

template <uint32_t RANK, bool REAL, bool REVERSIBLE> cudaError_t launch(const job &j, cudaStream_t stream)
{
    const auto kernel = zfp_decode_kernel<RANK, REAL, REVERSIBLE>;
    const size_t nbytes = sizeof(block_shared<RANK>);
    uint64_t most;
    const cudaError_t e = floe_zfp_prepare(kernel, nbytes, RANK > 2 ? FEW : MANY, &most);
    if (e != cudaSuccess)
        return e;
    const uint64_t wanted = floe_ceil_div(j.nchunks, WARPS * floe_zfp_lanes<RANK>::BLOCKS);
    FLOE_LAUNCH(kernel, (uint32_t)floe_min64(wanted, most), THREADS, nbytes, stream, j);
    return cudaGetLastError();
}

template <uint32_t RANK> cudaError_t launch_rank(const job &j, bool real, bool reversible, cudaStream_t stream)
{
    if (real)
        return reversible ? launch<RANK, true, true>(j, stream) : launch<RANK, true, false>(j, stream);
    return reversible ? launch<RANK, false, true>(j, stream) : launch<RANK, false, false>(j, stream);
}

} // namespace

int FLOE_R(floe_zfp_decode)(const floe_zfp_decode_call *call, void *stream)
{
    job j = {floe_zfp_cells_of(&call->array),
             call->params,
             call->src,
             call->nbytes,
             0,
             call->begin,
             call->chunk,
             call->places,
             call->status};
    const bool real = call->array.type == FLOE_ZFP_F32 || call->array.type == FLOE_ZFP_F64;
    const bool reversible = call->params.minexp < FLOE_ZFP_MIN_EXP;
    j.nchunks = floe_ceil_div(j.cells.nblocks, call->chunk);
    switch (call->array.rank) {
    case 1: return (int)launch_rank<1>(j, real, reversible, (cudaStream_t)stream);
    case 2: return (int)launch_rank<2>(j, real, reversible, (cudaStream_t)stream);
    case 3: return (int)launch_rank<3>(j, real, reversible, (cudaStream_t)stream);
    default: return (int)launch_rank<4>(j, real, reversible, (cudaStream_t)stream);
    }
}
