/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes the chunks of a field, or a bare zfp stream. A warp takes as many places as it holds blocks, and from each of them one
 * block at a time: each lane reads its own block's bit planes into shared memory, by a table of what 8 bits mean; then it turns
 * them to coefficients and undoes the transform in registers. Rows of blocks side by side leave the warp as one piece.
 * Compiled for each element type.
 */
#include "codec/zfp/gpu/zfp_grid_dev.cuh"
#include "codec/zfp/gpu/zfp_kernels.h"
#include "codec/zfp/gpu/zfp_launch.cuh"
#include "stage/zfpblock/zfpblock_read_dev.cuh"

namespace
{

enum {
    WARPS = 4,
    THREADS = WARPS * FLOE_WARP,
    FEW = FLOE_REAL_BITS == 32 ? 4 : 2, /* blocks on a processor, by registers: lanes with 64 values each */
    MANY = FLOE_REAL_BITS == 32 ? 8 : 6 /* lanes with fewer; f64: by shared memory */
};

/* The blocks of a chunk or of a bare stream, which has no chunk and no box. */
struct blocks_of_stream {
    floe_zfp_cells cells;
    floe_zfp_dev_stream stream;
    const floe_zfp_dev_chunk *chunk;
    const uint64_t *places; /* NULL: each block has maxbits bits */
    uint64_t nbits, nplaces;
    uint32_t begin, each; /* the first block's bit; blocks from one place to the next */
    bool boxed, wanted;
};

struct job {
    floe_zfp_grid_decode call;
    bool reversible; /* such chunks are decoded */
    bool is_bare;
    blocks_of_stream bare; /* instead of the call's chunks */
    uint32_t *status;
};

template <uint32_t RANK> struct block_shared {
    uint32_t planes[WARPS][floe_zfp_lanes<RANK>::PLANES];
    uint32_t steps[FLOE_ZFP_STEP_TABLE];
    blocks_of_stream blocks;
};

/* ---- boxes ------------------------------------------------------------------------------------------------------------- */

/* First value of a block along each axis, the fastest first. */
template <uint32_t RANK> FLOE_DEV void corner_of(const floe_zfp_cells &c, uint64_t block, uint64_t *corner)
{
#pragma unroll
    for (uint32_t a = 0; a < RANK; a++) {
        corner[a] = block % c.counts[a] * FLOE_ZFP_SIDE;
        block /= c.counts[a];
    }
}

/* Does any of these blocks touch the box that is wanted? */
template <uint32_t RANK> FLOE_DEV bool touches_box(const blocks_of_stream &s, uint64_t block, uint64_t count)
{
    for (uint64_t end = block + count; block < end; block++) {
        uint64_t corner[RANK];
        bool inside = true;
        corner_of<RANK>(s.cells, block, corner);
#pragma unroll
        for (uint32_t a = 0; a < RANK; a++)
            inside &= corner[a] < s.chunk->array.hi[RANK - 1 - a] &&
                      corner[a] + FLOE_ZFP_SIDE > s.chunk->array.lo[RANK - 1 - a];
        if (inside)
            return true;
    }
    return false;
}

/* The values of a block that are in the box; data of cells are those of the box. */
template <uint32_t RANK>
FLOE_DEV void store_box(const blocks_of_stream &s, uint64_t block, uint32_t share, const floe_uint *v)
{
    enum { NY = RANK > 1 ? 4 : 1, NZ = RANK > 2 ? 4 : 1 };
    uint64_t corner[RANK];
    corner_of<RANK>(s.cells, block, corner);
    uint32_t inside[RANK];
    int64_t first = 0;
#pragma unroll
    for (uint32_t a = 0; a < RANK; a++) {
        const uint64_t lo = s.chunk->array.lo[RANK - 1 - a], hi = s.chunk->array.hi[RANK - 1 - a];
        inside[a] = 0;
        for (uint32_t i = 0; i < FLOE_ZFP_SIDE; i++)
            inside[a] |= (uint32_t)(corner[a] + i >= lo && corner[a] + i < hi) << i;
        first += ((int64_t)corner[a] - (int64_t)lo) * s.cells.stride[a];
    }
    if (RANK > 3 && !(inside[RANK - 1] >> share & 1))
        return;
    if (RANK > 3)
        first += share * s.cells.stride[RANK - 1];
#pragma unroll
    for (uint32_t r = 0; r < NY * NZ; r++) {
        if ((RANK > 1 && !(inside[1 % RANK] >> r % NY & 1)) || (RANK > 2 && !(inside[2 % RANK] >> r / NY & 1)))
            continue;
        const int64_t row = first + floe_zfp_row_at<RANK>(s.cells, r % NY, r / NY);
#pragma unroll
        for (uint32_t x = 0; x < FLOE_ZFP_SIDE; x++)
            if (inside[0] >> x & 1)
                ((floe_uint *)s.cells.data)[row + x * s.cells.stride[0]] = v[4 * r + x];
    }
}

/* ---- blocks ------------------------------------------------------------------------------------------------------------ */

template <uint32_t RANK> FLOE_DEV floe_zfp_position position_of(const blocks_of_stream &s, uint64_t i)
{
    floe_zfp_position p = {0, 0, 0, 0, true};
    if (i >= s.nplaces)
        return p;
    p.block = i * s.each;
    p.count = (uint32_t)floe_min64(s.each, s.cells.nblocks - p.block);
    if (s.boxed && !touches_box<RANK>(s, p.block, p.count)) {
        p.count = 0;
        return p;
    }
    p.at = s.places ? s.places[i] : s.begin + p.block * s.stream.params.maxbits;
    p.end = s.places ? s.places[i + 1] : p.at + (uint64_t)p.count * s.stream.params.maxbits;
    p.fine = (i ? p.at >= s.begin : p.at == s.begin) && p.at < p.end && p.end <= s.nbits;
    return p;
}

/* One thread: what the others need of a chunk. */
FLOE_DEV void open_shared(const job &j, uint64_t number, blocks_of_stream &s)
{
    const floe_zfp_dev_chunk *c = j.call.chunks + number;
    const bool reversible = floe_zfp_params_are_reversible(&c->parts.params);
    s.chunk = c;
    s.wanted = c->opened == FLOE_OK && c->cells->wanted && !c->parts.raw && reversible == j.reversible;
    if (!s.wanted)
        return;
    s.cells = floe_zfp_cells_of(&c->array);
    s.stream.params = c->parts.params;
    s.stream.real = !floe_dtype_is_integer(j.call.field.dtype);
    s.nbits = floe_ceil_div(c->parts.stream_nbits, 8) * 8;
    s.stream.words = (const uint32_t *)(j.call.stream + c->payload_at + c->parts.stream_at);
    s.stream.nwords = floe_ceil_div(c->parts.stream_nbits, 64) * 2;
    s.places = floe_zfp_chunk_has_index(&s.stream.params) ? j.call.places + number * (j.call.room.nblocks + 1) : NULL;
    s.nplaces = c->nplaces;
    s.begin = 0;
    s.each = c->each;
    s.boxed = c->array.boxed;
}

template <uint32_t RANK, bool REVERSIBLE> FLOE_DEV void decode_blocks(const job &j, block_shared<RANK> *shared)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const blocks_of_stream &s = shared->blocks;
    const uint32_t warp = threadIdx.x / FLOE_WARP, share = floe_lane() / lanes::BLOCKS;
    const floe_shared_words steps = floe_shared_words_of(shared->steps);
    const uint64_t step = (uint64_t)gridDim.x * WARPS * lanes::BLOCKS;
    for (uint64_t first = ((uint64_t)blockIdx.x * WARPS + warp) * lanes::BLOCKS; first < s.nplaces; first += step) {
        floe_zfp_position p = position_of<RANK>(s, first + floe_lane() % lanes::BLOCKS);
        while (__any_sync(FLOE_ALL_LANES, p.fine && p.count > 0)) {
            floe_uint v[lanes::VALUES];
            if (!floe_zfp_decode_next<RANK, REVERSIBLE>(s.stream, steps, shared->planes[warp], p, v))
                continue;
            if (s.boxed)
                store_box<RANK>(s, p.block++, share, v);
            else
                floe_zfp_store_cells<RANK>(s.cells, floe_zfp_spot_of<RANK>(s.cells, p.block++), share, v);
        }
        if (!p.fine)
            *j.status = FLOE_ERR_FORMAT;
    }
}

/* blockIdx.y: chunks in turn. Of each, warps take as many of its places as they hold blocks. */
template <uint32_t RANK, bool REVERSIBLE>
__global__ void __launch_bounds__(THREADS, RANK > 2 ? FEW : MANY) zfp_decode_kernel(const __grid_constant__ job j)
{
    FLOE_DYNAMIC_SHARED(block_shared<RANK>, shared);
    const uint64_t nchunks = j.is_bare ? 1 : floe_min64(*j.call.nrecords, j.call.max_chunks);
    /* other blocks may write it meanwhile: all threads of a block stay, or none */
    if (__syncthreads_or(!j.is_bare && *j.status != FLOE_OK))
        return;
    for (uint32_t i = threadIdx.x; i < FLOE_ZFP_STEP_TABLE; i += THREADS)
        shared->steps[i] = floe_zfp_step(i);
    for (uint64_t number = blockIdx.y; number < nchunks; number += gridDim.y) {
        __syncthreads();
        if (threadIdx.x == 0 && j.is_bare)
            shared->blocks = j.bare;
        else if (threadIdx.x == 0)
            open_shared(j, number, shared->blocks);
        __syncthreads();
        if (shared->blocks.wanted)
            decode_blocks<RANK, REVERSIBLE>(j, shared);
    }
}

/* ---- launching ------------------------------------------------------------------------------------------------------- */

/* nplaces: of a chunk, at most. */
cudaError_t launch(const job &j, uint32_t rank, uint64_t nchunks, uint64_t nplaces, cudaStream_t stream)
{
    return floe_zfp_by_case(rank, j.reversible, [&](auto c) {
        typedef decltype(c) is;
        const uint64_t most = floe_zfp_blocks_at_once(is::RANK > 2 ? FEW : MANY);
        const uint64_t each = floe_ceil_div(nplaces, WARPS * floe_zfp_lanes<is::RANK>::BLOCKS);
        return floe_zfp_launch(zfp_decode_kernel<is::RANK, is::REVERSIBLE>,
                               floe_zfp_blocks_of_chunks(most, nchunks, each), THREADS, sizeof(block_shared<is::RANK>),
                               stream, j);
    });
}

} // namespace

int FLOE_R(floe_zfp_grid_decode)(const floe_zfp_grid_decode *call, void *stream)
{
    const cudaStream_t on = (cudaStream_t)stream;
    const uint32_t rank = call->field.rank;
    job j = {};
    j.call = *call;
    j.status = call->status;
    const cudaError_t e = launch(j, rank, call->max_chunks, call->room.nblocks, on);
    j.reversible = true; /* the chunks of a field may differ in this */
    return (int)(e != cudaSuccess ? e : launch(j, rank, call->max_chunks, call->room.nblocks, on));
}

int FLOE_R(floe_zfp_decode)(const floe_zfp_decode_call *call, void *stream)
{
    job j = {};
    blocks_of_stream &b = j.bare;
    j.is_bare = b.wanted = true;
    j.status = call->status;
    j.reversible = floe_zfp_params_are_reversible(&call->params);
    b.cells = floe_zfp_cells_of(&call->array);
    b.stream.words = (const uint32_t *)call->src;
    b.stream.nwords = floe_ceil_div(call->nbytes, 4);
    b.stream.params = call->params;
    b.stream.real = floe_zfp_type_is_real(call->array.type);
    b.places = call->places;
    b.nbits = 8 * call->nbytes;
    b.nplaces = floe_ceil_div(b.cells.nblocks, call->chunk);
    b.begin = call->begin;
    b.each = call->chunk;
    return (int)launch(j, call->array.rank, 1, b.nplaces, (cudaStream_t)stream);
}
