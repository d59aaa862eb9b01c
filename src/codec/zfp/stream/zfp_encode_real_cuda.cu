/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes bare zfp streams in one pass. A block of threads takes tiles of as many zfp blocks as its warps hold. How long each
 * block is follows from its planes, before a bit is written: so the tile's length is told to the tiles behind it first, then
 * lanes write their blocks side by side into the tile's buffer, and when the tiles in front have told where the tile begins it
 * leaves in whole words. Words that two tiles share wait for a second kernel. Compiled for each element type.
 *
 * A tile but the last has 32 blocks or more, hence 32 bits or more: no word is shared by three.
 */
#include "codec/zfp/stream/zfp_launch.cuh"
#include "codec/zfp/stream/zfp_real_cuda.h"
#include "codec/zfp/gpu/zfp_tiles.cuh"
#include "stage/zfpblock/zfpblock_write_dev.cuh"

namespace
{

enum {
    WARPS = FLOE_ZFP_TILE_WARPS,
    THREADS = FLOE_ZFP_TILE_THREADS,
    FEW = FLOE_REAL_BITS == 32 ? 4 : 2,  /* blocks on a processor, by registers: lanes with 64 values each */
    MANY = FLOE_REAL_BITS == 32 ? 8 : 5, /* lanes with fewer; f64: by shared memory */
    FINISH_THREADS = 256
};
static_assert(WARPS * (uint32_t)floe_zfp_lanes<4>::BLOCKS >= 32, "a tile has at least a word's bits");

struct job {
    floe_zfp_cells cells;
    floe_zfp_params params;
    floe_zfp_tiles tiles;
    uint64_t ntiles, spill_words; /* spill: of a block of threads */
    uint16_t *lengths;
    uint64_t *nbits;
    uint32_t *status;
    uint32_t *ticket; /* the next tile */
    uint32_t *spill;
};

template <uint32_t RANK> struct shape {
    enum {
        TILE = WARPS * floe_zfp_lanes<RANK>::BLOCKS,
        BLOCKS_A_PROCESSOR = RANK > 2 ? FEW : MANY,
        OUT = WARPS * floe_zfp_lanes<RANK>::PLANES / 4 + 64 /* words: f32 at a quarter of its size and some more */
    };
};

template <uint32_t RANK> struct block_shared {
    uint32_t planes[WARPS][floe_zfp_lanes<RANK>::PLANES];
    uint32_t out[shape<RANK>::OUT];
    uint16_t spread[FLOE_ZFP_SPREAD_TABLE];
    uint32_t warp_nbits[WARPS];
    uint64_t tile, at; /* at: the tile's first bit, counted from the first tile's */
};

/* ---- a tile ---------------------------------------------------------------------------------------------------------- */

/* A warp's blocks as planes. Returns the bits of this lane's block, 0 for lanes without one of their own. */
template <uint32_t RANK, bool REAL, bool REVERSIBLE>
FLOE_DEV uint32_t split_blocks(const job &j, uint64_t first, uint32_t *planes, floe_zfp_front &front)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const uint32_t b = floe_lane() % lanes::BLOCKS, share = floe_lane() / lanes::BLOCKS;
    const bool mine = first + b < j.cells.nblocks;
    floe_uint v[lanes::VALUES];
#pragma unroll
    for (uint32_t i = 0; i < lanes::VALUES; i++)
        v[i] = 0;
    if (mine)
        floe_zfp_load_cells<RANK>(j.cells, floe_zfp_spot_of<RANK>(j.cells, first + b), share, v);
    front = floe_zfp_split_block<RANK, REAL, REVERSIBLE>(v, j.params, planes, b, share);
    floe_zfp_split<RANK>(planes, b, share, floe_zfp_turns(front.nplanes), v);
    __syncwarp();
    if (!mine || share > 0)
        return 0;
    const uint32_t nbits = floe_zfp_block_nbits<RANK, REAL, REVERSIBLE>(front, j.params, planes, b);
    if (j.lengths)
        j.lengths[first + b] = (uint16_t)nbits;
    return nbits;
}

/* A tile whose blocks are planes: where each lane's block begins in it, and its length; the tile's length. */
struct tile_bits {
    uint64_t tile;
    uint32_t at, nbits, total;
};

/* Its bits, by way of `out`, which is the block's shared memory or, SPILLED, device memory. */
template <uint32_t RANK, bool SPILLED>
FLOE_DEV void write_tile(const job &j, block_shared<RANK> *shared, const floe_zfp_front &front, const tile_bits &t,
                         uint32_t *out)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    for (uint32_t i = threadIdx.x; i < t.total / 32 + 2; i += THREADS)
        out[i] = 0;
    __syncthreads();
    if (t.nbits > 0)
        floe_zfp_write_block<RANK>(front, j.params, shared->spread, shared->planes[warp], floe_lane(), out, t.at);
    if (warp == 0) {
        const uint64_t begin = floe_zfp_look_back(j.tiles, t.tile);
        if (floe_lane() == 0) {
            floe_zfp_tell(j.tiles, t.tile, FLOE_ZFP_TOLD_END, begin + t.total);
            shared->at = begin;
        }
    }
    __syncthreads();
    floe_zfp_leave<SPILLED>(j.tiles, t.tile, shared->at, out, t.total);
}

template <uint32_t RANK, bool REAL, bool REVERSIBLE>
FLOE_DEV void encode_tile(const job &j, block_shared<RANK> *shared, uint64_t tile)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    floe_zfp_front front;
    const uint64_t first = tile * shape<RANK>::TILE + warp * floe_zfp_lanes<RANK>::BLOCKS;
    tile_bits t = {tile, 0, 0, 0};
    t.nbits = split_blocks<RANK, REAL, REVERSIBLE>(j, first, shared->planes[warp], front);
    t.at = floe_zfp_sum_up_to_lane(t.nbits);
    if (floe_lane() == FLOE_WARP - 1)
        shared->warp_nbits[warp] = t.at;
    __syncthreads();
    t.at -= t.nbits;
    for (uint32_t w = 0; w < WARPS; w++) {
        t.at += w < warp ? shared->warp_nbits[w] : 0;
        t.total += shared->warp_nbits[w];
    }
    if (threadIdx.x == 0)
        floe_zfp_tell(j.tiles, tile, tile == 0 ? FLOE_ZFP_TOLD_END : FLOE_ZFP_TOLD_LENGTH, t.total);
    if (t.total / 32 + 2 <= shape<RANK>::OUT)
        write_tile<RANK, false>(j, shared, front, t, shared->out);
    else
        write_tile<RANK, true>(j, shared, front, t, j.spill + blockIdx.x * j.spill_words);
}

/* Blocks of threads take tiles in their order, one after the other. */
template <uint32_t RANK, bool REAL, bool REVERSIBLE>
__global__ void __launch_bounds__(THREADS, shape<RANK>::BLOCKS_A_PROCESSOR)
    zfp_encode_kernel(const __grid_constant__ job j)
{
    FLOE_DYNAMIC_SHARED(block_shared<RANK>, shared);
    for (uint32_t i = threadIdx.x; i < FLOE_ZFP_SPREAD_TABLE; i += THREADS)
        shared->spread[i] = (uint16_t)floe_zfp_spread(i);
    for (;;) {
        if (threadIdx.x == 0)
            shared->tile = atomicAdd(j.ticket, 1u);
        __syncthreads();
        const uint64_t tile = shared->tile;
        if (tile >= j.ntiles)
            return;
        encode_tile<RANK, REAL, REVERSIBLE>(j, shared, tile);
    }
}

/* ---- shared words ---------------------------------------------------------------------------------------------------- */

/* A thread owns the word in which a tile begins. */
__global__ void zfp_finish_kernel(const __grid_constant__ job j)
{
    const uint64_t tile = (uint64_t)blockIdx.x * FINISH_THREADS + threadIdx.x;
    if (tile >= j.ntiles)
        return;
    const uint64_t begin = floe_zfp_finish_tile(j.tiles, tile);
    if (tile + 1 < j.ntiles)
        return;
    const uint64_t end = floe_zfp_finish_stream(j.tiles, tile, begin);
    *j.nbits = end;
    if ((end + 63) / 64 * 2 > j.tiles.capacity_words)
        *j.status = FLOE_ERR_CAPACITY;
}

/* ---- launching ------------------------------------------------------------------------------------------------------- */

/* Blocks of threads at most. */
uint32_t grid_of(uint32_t rank, uint64_t ntiles)
{
    return (uint32_t)floe_min64(floe_zfp_blocks_at_once(rank > 2 ? FEW : MANY), ntiles);
}

/* Takes scratch, or, where there is none, only measures it. Returns its bytes. */
uint64_t take_scratch(job &j, uint8_t *scratch, uint32_t rank, uint32_t block_bits, uint32_t nblocks)
{
    const uint64_t at_edges = 8 + 8 * j.ntiles, at_spill = at_edges + sizeof(floe_zfp_edges) * j.ntiles;
    j.spill_words = floe_ceil_div((uint64_t)floe_zfp_tile_blocks(rank) * block_bits, 32) + 2;
    if (scratch) {
        j.ticket = (uint32_t *)scratch;
        j.tiles.state = (uint64_t *)(scratch + 8);
        j.tiles.edges = (floe_zfp_edges *)(scratch + at_edges);
        j.spill = (uint32_t *)(scratch + at_spill);
    }
    return at_spill + 4 * j.spill_words * nblocks;
}

/* The most bits of a block, as floe_zfp_block_bits has it, or a few more. */
uint32_t most_bits(const floe_zfp_params &params, uint32_t rank)
{
    const uint32_t most = 32 + (FLOE_REAL_BITS + 1) * (1u << 2 * rank);
    return (uint32_t)floe_max64(floe_min64(most, params.maxbits), params.minbits);
}

template <uint32_t RANK, bool REAL, bool REVERSIBLE>
cudaError_t launch(const job &j, uint32_t nblocks, cudaStream_t stream)
{
    const auto kernel = zfp_encode_kernel<RANK, REAL, REVERSIBLE>;
    const size_t nbytes = sizeof(block_shared<RANK>);
    cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes);
    if (e != cudaSuccess)
        return e;
    FLOE_LAUNCH(kernel, nblocks, THREADS, nbytes, stream, j);
    return cudaGetLastError();
}

template <uint32_t RANK>
cudaError_t launch_rank(const job &j, bool real, bool reversible, uint32_t nblocks, cudaStream_t stream)
{
    if (real)
        return reversible ? launch<RANK, true, true>(j, nblocks, stream)
                          : launch<RANK, true, false>(j, nblocks, stream);
    return reversible ? launch<RANK, false, true>(j, nblocks, stream) : launch<RANK, false, false>(j, nblocks, stream);
}

cudaError_t launch_any(const job &j, const floe_zfp_array &array, uint32_t nblocks, cudaStream_t stream)
{
    const bool real = array.type == FLOE_ZFP_F32 || array.type == FLOE_ZFP_F64;
    const bool reversible = j.params.minexp < FLOE_ZFP_MIN_EXP;
    switch (array.rank) {
    case 1: return launch_rank<1>(j, real, reversible, nblocks, stream);
    case 2: return launch_rank<2>(j, real, reversible, nblocks, stream);
    case 3: return launch_rank<3>(j, real, reversible, nblocks, stream);
    default: return launch_rank<4>(j, real, reversible, nblocks, stream);
    }
}

} // namespace

int FLOE_R(floe_zfp_encode_scratch)(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t *nbytes)
{
    job j = {};
    j.ntiles = floe_ceil_div(floe_zfp_cells_of(array).nblocks, floe_zfp_tile_blocks(array->rank));
    const uint32_t nblocks = grid_of(array->rank, j.ntiles);
    *nbytes = take_scratch(j, NULL, array->rank, most_bits(*params, array->rank), nblocks);
    return (int)cudaSuccess;
}

int FLOE_R(floe_zfp_encode)(const floe_zfp_encode_call *call, void *stream)
{
    const uint32_t rank = call->array.rank;
    job j = {};
    j.cells = floe_zfp_cells_of(&call->array);
    j.params = call->params;
    j.tiles.dst = (uint32_t *)call->dst;
    j.tiles.capacity_words = call->capacity / 4;
    j.tiles.begin = call->begin;
    j.lengths = call->lengths;
    j.nbits = call->nbits;
    j.status = call->status;
    j.ntiles = floe_ceil_div(j.cells.nblocks, floe_zfp_tile_blocks(rank));
    const uint32_t nblocks = grid_of(rank, j.ntiles);
    take_scratch(j, (uint8_t *)call->scratch, rank, most_bits(j.params, rank), nblocks);
    cudaError_t e = cudaMemsetAsync(call->scratch, 0, 8 + 8 * j.ntiles, (cudaStream_t)stream);
    if (e == cudaSuccess)
        e = launch_any(j, call->array, nblocks, (cudaStream_t)stream);
    if (e != cudaSuccess)
        return (int)e;
    FLOE_LAUNCH(zfp_finish_kernel, (uint32_t)floe_ceil_div(j.ntiles, FINISH_THREADS), FINISH_THREADS, 0,
                (cudaStream_t)stream, j);
    return (int)cudaGetLastError();
}
