/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes bare zfp streams. A warp takes as many chunks as it holds blocks, and of each of them one block at a time: each lane
 * reads its own block's bit planes into shared memory, by a table of what 8 bits mean; then it turns them to coefficients and
 * undoes the transform in registers. Rows of blocks side by side leave the warp as one piece. Compiled for each element type.
 */
#include "codec/zfp_real_cuda.h"
#include "stage/zfpblock/zfpblock_read_dev.cuh"

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

/* A lane's place in the stream. Lanes that share a block have the same. */
struct position {
    uint64_t block, at, end; /* the next block and its bit; where the chunk ends */
    uint32_t count;          /* blocks that are left */
    bool fine;
};

FLOE_DEV position position_of(const job &j, uint64_t chunk)
{
    position p = {0, 0, 0, 0, true};
    if (chunk >= j.nchunks)
        return p;
    p.block = chunk * j.chunk;
    p.count = (uint32_t)floe_min64(j.chunk, j.cells.nblocks - p.block);
    p.at = j.places ? j.places[chunk] : j.begin + p.block * j.params.maxbits;
    p.end = j.places ? j.places[chunk + 1] : p.at + (uint64_t)p.count * j.params.maxbits;
    p.fine = p.at >= j.begin && p.at < p.end && p.end <= 8 * j.nbytes;
    return p;
}

/* What lane b knows, in all lanes that share its block. */
FLOE_DEV floe_zfp_head head_of_lane(const floe_zfp_head &head, uint32_t b)
{
    const floe_zfp_head of = {__shfl_sync(FLOE_ALL_LANES, head.e, b), __shfl_sync(FLOE_ALL_LANES, head.zeros, b),
                              __shfl_sync(FLOE_ALL_LANES, head.nplanes, b),
                              __shfl_sync(FLOE_ALL_LANES, head.patterns, b),
                              __shfl_sync(FLOE_ALL_LANES, head.nbits, b)};
    return of;
}

/* Planes are turned 8 at a time; those that no lane has are not. Clears what a lane's own block lacks of them. */
template <uint32_t RANK>
FLOE_DEV uint32_t fill_turns(uint32_t *planes, uint32_t block, uint32_t share, uint32_t nplanes)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const uint32_t nturns = floe_zfp_turns(nplanes);
#pragma unroll 1
    for (uint32_t k = nplanes; k < FLOE_ZFP_TURN * nturns; k++)
#pragma unroll
        for (uint32_t w = 0; w < lanes::LANE_WORDS; w++)
            planes[floe_zfp_plane_at<RANK>(k, lanes::LANE_WORDS * share + w, block)] = 0;
    return nturns;
}

/* The next block of each lane. */
template <uint32_t RANK, bool REAL, bool REVERSIBLE>
FLOE_DEV void decode_blocks(const job &j, const floe_zfp_words &stream, floe_shared_words steps, uint32_t *planes,
                            position &p)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const uint32_t b = floe_lane() % lanes::BLOCKS, share = floe_lane() / lanes::BLOCKS;
    const bool mine = p.fine && p.count > 0;
    floe_zfp_head head = {0, 0, 0, 0, 0};
    if (mine && share == 0)
        head = floe_zfp_read_block<RANK, REAL, REVERSIBLE>(stream, p.at, j.params, steps, planes, b);
    __syncwarp();
    if (lanes::SHARE > 1)
        head = head_of_lane(head, b);
    floe_uint v[lanes::VALUES];
    floe_zfp_join<RANK>(planes, b, share, fill_turns<RANK>(planes, b, share, head.nplanes), v);
    floe_zfp_finish<RANK, REAL, REVERSIBLE>(head, planes, b, share, v);
    if (!mine)
        return;
    p.at += head.nbits;
    p.count--;
    p.fine = p.count > 0 ? p.at < p.end : p.at == p.end;
    if (p.fine)
        floe_zfp_store_cells<RANK>(j.cells, floe_zfp_spot_of<RANK>(j.cells, p.block++), share, v);
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
        position p = position_of(j, first + floe_lane() % lanes::BLOCKS);
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
    int device, nprocessors;
    cudaError_t e = cudaGetDevice(&device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&nprocessors, cudaDevAttrMultiProcessorCount, device);
    if (e == cudaSuccess)
        e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes);
    if (e != cudaSuccess)
        return e;
    const uint64_t wanted = floe_ceil_div(j.nchunks, WARPS * floe_zfp_lanes<RANK>::BLOCKS);
    const uint64_t most = (uint64_t)nprocessors * (RANK > 2 ? FEW : MANY);
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
