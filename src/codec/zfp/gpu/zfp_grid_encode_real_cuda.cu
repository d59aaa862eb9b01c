/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes the chunks of a field, as zfp_encode_real_cuda.cu does bare streams. What the decoder will make of a block is what
 * the planes that are kept say: so lanes undo the transform of what they hold, and compare. Compiled for each element type.
 */
#include "codec/zfp/gpu/zfp_grid_check.cuh"
#include "codec/zfp/stream/zfp_launch.cuh"
#include "stage/zfpblock/zfpblock_read_dev.cuh"
#include "stage/zfpblock/zfpblock_write_dev.cuh"

namespace
{

enum {
    WARPS = FLOE_ZFP_TILE_WARPS,
    THREADS = FLOE_ZFP_TILE_THREADS,
    FEW = FLOE_REAL_BITS == 32 ? 4 : 2, /* blocks on a processor, as for bare streams */
    MANY = FLOE_REAL_BITS == 32 ? 8 : 5
};

struct job {
    floe_zfp_grid_encode call;
    uint32_t attempt;
};

template <uint32_t RANK> struct shape {
    enum {
        TILE = WARPS * floe_zfp_lanes<RANK>::BLOCKS,
        BLOCKS_A_PROCESSOR = RANK > 2 ? FEW : MANY,
        OUT = WARPS * floe_zfp_lanes<RANK>::PLANES / 4 + 64 /* words, as for bare streams */
    };
};

/* The chunk that a block of threads works on, and its tile. */
struct chunk_shared {
    floe_zfp_judged judged;
    floe_zfp_params params;
    floe_zfp_tiles tiles;
    uint64_t tile, at; /* at: the tile's first bit */
    bool looks, checks, cleaned;
};

template <uint32_t RANK> struct block_shared {
    uint32_t planes[WARPS][floe_zfp_lanes<RANK>::PLANES];
    uint32_t out[shape<RANK>::OUT];
    uint16_t spread[FLOE_ZFP_SPREAD_TABLE];
    uint32_t warp_nbits[WARPS];
    uint64_t ticket;
    bool found; /* a tile, by that ticket */
    chunk_shared chunk;
};

/* ---- cells of a block ------------------------------------------------------------------------------------------------ */

/* The last good value in front of a cell, within its span of cells; else the chunk's first. */
FLOE_DEV floe_uint good_value(const job &j, const chunk_shared &s, uint64_t cell)
{
    const uint64_t *bad = j.call.bad + s.judged.number * j.call.room.nwords;
    const uint32_t *last = j.call.last_good + s.judged.number * j.call.room.nwords;
    const uint64_t w = cell / FLOE_ZFP_WORD_CELLS, span = cell / FLOE_ZFP_SPAN_CELLS * FLOE_ZFP_SPAN_CELLS;
    const uint64_t good = ~bad[w] & (((uint64_t)1 << cell % FLOE_ZFP_WORD_CELLS) - 1);
    if (good)
        return floe_zfp_value_at(s.judged.chunk, w * FLOE_ZFP_WORD_CELLS + floe_top_bit(good));
    if (last[w])
        return floe_zfp_value_at(s.judged.chunk, span + last[w] - 1);
    return s.judged.chunk->first_good < s.judged.chunk->ncells
               ? floe_zfp_value_at(s.judged.chunk, s.judged.chunk->first_good)
               : 0;
}

/* Four values along the fastest axis. */
struct value_row {
    floe_uint v[FLOE_ZFP_SIDE];
};

/* Row r of a lane's values, where some would spoil the block: those are like the good value in front of them, which is the
 * row's own unless a span begins there. */
template <uint32_t RANK, bool REAL>
FLOE_DEV_SELDOM value_row clean_row(const job &j, const chunk_shared &s, uint64_t block, uint32_t share, uint32_t r,
                                    value_row row)
{
    const floe_zfp_judged &judged = s.judged;
    const uint64_t cell = floe_zfp_cell_of<RANK>(judged.cells, block, share, FLOE_ZFP_SIDE * r);
    uint64_t blocks = block;
    const uint64_t corner = FLOE_ZFP_SIDE * floe_last_digit(blocks, judged.cells.counts[0]);
    const uint32_t inside = (uint32_t)floe_min64(FLOE_ZFP_SIDE, judged.cells.shape[0] - corner);
#pragma unroll
    for (uint32_t x = 0; x < FLOE_ZFP_SIDE; x++) {
        if (x >= inside) /* the row's own again */
            row.v[x] = floe_zfp_inside(x, inside) == 1 ? row.v[1] : row.v[0];
        else if (FLOE_R(floe_zfp_spoils)(REAL, row.v[x], judged.has_fill, judged.fill))
            row.v[x] = x == 0 || (cell + x) % FLOE_ZFP_SPAN_CELLS == 0 ? good_value(j, s, cell + x)
                                                                       : row.v[(x + 3) % FLOE_ZFP_SIDE];
    }
    return row;
}

/* Puts others in the places of values that would spoil the block. */
template <uint32_t RANK, bool REAL>
FLOE_DEV void clean_values(const job &j, const chunk_shared &s, uint64_t block, uint32_t share, floe_uint *v)
{
#pragma unroll
    for (uint32_t r = 0; r < floe_zfp_lanes<RANK>::VALUES / FLOE_ZFP_SIDE; r++) {
        value_row row;
        bool spoilt = false;
#pragma unroll
        for (uint32_t x = 0; x < FLOE_ZFP_SIDE; x++) {
            row.v[x] = v[FLOE_ZFP_SIDE * r + x];
            spoilt |= FLOE_R(floe_zfp_spoils)(REAL, row.v[x], s.judged.has_fill, s.judged.fill);
        }
        if (!spoilt)
            continue;
        row = clean_row<RANK, REAL>(j, s, block, share, r, row);
#pragma unroll
        for (uint32_t x = 0; x < FLOE_ZFP_SIDE; x++)
            v[FLOE_ZFP_SIDE * r + x] = row.v[x];
    }
}

/* Tells of values that would spoil the block. */
template <uint32_t RANK, bool REAL> FLOE_DEV void tell_spoilt(const job &j, chunk_shared &s, const floe_uint *v)
{
    bool spoilt = false;
#pragma unroll
    for (uint32_t i = 0; i < floe_zfp_lanes<RANK>::VALUES; i++)
        spoilt |= FLOE_R(floe_zfp_spoils)(REAL, v[i], s.judged.has_fill, s.judged.fill);
    if (spoilt) {
        s.judged.chunk->cleaned = 1;
        j.call.cleared[FLOE_ZFP_GRID_WANTED + FLOE_ZFP_CLEANED] = 1;
    }
}

/* ---- what the decoder will make of it ---------------------------------------------------------------------------------- */

/* All lanes: what the planes that are kept make of a block, against the field. v: coefficients as split_block leaves them. */
template <uint32_t RANK, bool REAL>
FLOE_DEV void check_block(const job &j, const chunk_shared &s, uint64_t block, uint32_t share, uint32_t *planes,
                          const floe_zfp_front &front, floe_uint *v)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const floe_zfp_head head = {front.e, front.zeros, front.nplanes, 0, 0};
    const floe_uint kept = front.nplanes < FLOE_REAL_BITS ? ~(~(floe_uint)0 >> front.nplanes) : ~(floe_uint)0;
#pragma unroll
    for (uint32_t i = 0; i < lanes::VALUES; i++)
        v[i] &= kept;
    floe_zfp_finish<RANK, REAL, false>(head, planes, floe_lane() % lanes::BLOCKS, share, v);
    floe_zfp_check<RANK, REAL>(j.call, s.judged, block, share, v);
}

/* ---- a tile ---------------------------------------------------------------------------------------------------------- */

/* A warp's blocks as planes. Returns the bits of this lane's block, 0 for lanes without one of their own. */
template <uint32_t RANK, bool REAL, bool REVERSIBLE, bool CLEANED>
FLOE_DEV uint32_t split_blocks(const job &j, chunk_shared &s, uint64_t first, uint32_t *planes, floe_zfp_front &front)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const uint32_t b = floe_lane() % lanes::BLOCKS, share = floe_lane() / lanes::BLOCKS;
    const bool mine = first + b < s.judged.cells.nblocks, checks = !REVERSIBLE && s.checks;
    floe_uint v[lanes::VALUES];
#pragma unroll
    for (uint32_t i = 0; i < lanes::VALUES; i++)
        v[i] = 0;
    if (mine)
        floe_zfp_load_cells<RANK>(s.judged.cells, floe_zfp_spot_of<RANK>(s.judged.cells, first + b), share, v);
    if (mine && !REVERSIBLE && CLEANED && s.cleaned)
        clean_values<RANK, REAL>(j, s, first + b, share, v);
    if (mine && !REVERSIBLE && !CLEANED && s.looks)
        tell_spoilt<RANK, REAL>(j, s, v);
    front = floe_zfp_split_block<RANK, REAL, REVERSIBLE>(v, s.params, planes, b, share);
    if (RANK > 3 && checks) { /* which takes the planes' memory */
        floe_uint copy[lanes::VALUES];
#pragma unroll
        for (uint32_t i = 0; i < lanes::VALUES; i++)
            copy[i] = v[i];
        check_block<RANK, REAL>(j, s, first + b, share, planes, front, copy);
    }
    floe_zfp_split<RANK>(planes, b, share, floe_zfp_turns(front.nplanes), v);
    __syncwarp();
    if (RANK < 4 && checks)
        check_block<RANK, REAL>(j, s, first + b, share, planes, front, v);
    if (!mine || share > 0)
        return 0;
    return floe_zfp_block_nbits<RANK, REAL, REVERSIBLE>(front, s.params, planes, b);
}

/* A tile whose blocks are planes: this lane's block, where it begins in the tile, and its length; the tile's length. */
struct tile_bits {
    uint64_t block;
    uint32_t at, nbits, total;
};

/* Its bits, by way of `out`, which is the block's shared memory or, SPILLED, device memory. */
template <uint32_t RANK, bool SPILLED>
FLOE_DEV void write_tile(const job &j, block_shared<RANK> *shared, const floe_zfp_front &front, const tile_bits &t,
                         uint32_t *out)
{
    chunk_shared &s = shared->chunk;
    const uint32_t warp = threadIdx.x / FLOE_WARP, each = floe_zfp_chunk_index_spec(RANK).chunk;
    for (uint32_t i = threadIdx.x; i < t.total / 32 + 2; i += THREADS)
        out[i] = 0;
    __syncthreads();
    if (t.nbits > 0)
        floe_zfp_write_block<RANK>(front, s.params, shared->spread, shared->planes[warp], floe_lane(), out, t.at);
    if (warp == 0) {
        const uint64_t begin = floe_zfp_look_back(s.tiles, s.tile);
        if (floe_lane() == 0) {
            floe_zfp_tell(s.tiles, s.tile, FLOE_ZFP_TOLD_END, begin + t.total);
            s.at = begin;
        }
    }
    __syncthreads();
    if (t.nbits > 0 && t.block % each == 0)
        floe_zfp_offsets_of(j.call, s.judged.number)[t.block / each] = s.at + t.at;
    floe_zfp_leave<SPILLED>(s.tiles, s.tile, s.at, out, t.total);
}

template <uint32_t RANK, bool REAL, bool REVERSIBLE, bool CLEANED>
FLOE_DEV void encode_tile(const job &j, block_shared<RANK> *shared)
{
    chunk_shared &s = shared->chunk;
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    floe_zfp_front front;
    const uint64_t first = s.tile * shape<RANK>::TILE + warp * floe_zfp_lanes<RANK>::BLOCKS;
    tile_bits t = {first + floe_lane(), 0, 0, 0};
    t.nbits = split_blocks<RANK, REAL, REVERSIBLE, CLEANED>(j, s, first, shared->planes[warp], front);
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
        floe_zfp_tell(s.tiles, s.tile, s.tile == 0 ? FLOE_ZFP_TOLD_END : FLOE_ZFP_TOLD_LENGTH, t.total);
    if (t.total / 32 + 2 <= shape<RANK>::OUT)
        write_tile<RANK, false>(j, shared, front, t, shared->out);
    else
        write_tile<RANK, true>(j, shared, front, t, j.call.spill + blockIdx.x * j.call.spill_words);
}

/* One thread: the chunk of a tile slot, and which tile of it that is. False: it has no such tile, or it is not to be coded,
 * or not any more, because the attempt is void. */
FLOE_DEV bool find_tile(const job &j, uint64_t slot, uint32_t tile_blocks, chunk_shared &s)
{
    const uint64_t number = slot / j.call.grid.slots;
    const floe_zfp_dev_chunk *c = j.call.chunks + number;
    s.tile = slot % j.call.grid.slots;
    if (!floe_zfp_is_done(c, j.attempt) || s.tile * tile_blocks >= c->nblocks)
        return false;
    floe_zfp_judge(j.call, number, s.judged);
    s.params = floe_zfp_params_for(c, j.attempt);
    s.tiles = floe_zfp_tiles_of(j.call, number, j.attempt);
    s.looks = j.attempt == FLOE_ZFP_CLOSELY;
    if (floe_zfp_is_void(c, j.attempt)) {
        floe_zfp_tell(s.tiles, s.tile, FLOE_ZFP_TOLD_LENGTH, 0); /* tiles behind it may be waiting for that */
        return false;
    }
    s.checks = j.attempt < FLOE_ZFP_REVERSIBLY && !floe_zfp_is_cut(j.call);
    s.cleaned = c->cleaned != 0;
    return true;
}

/* Blocks of threads take tiles in their order, one after the other. */
template <uint32_t RANK, bool REAL, bool REVERSIBLE, bool CLEANED>
__global__ void __launch_bounds__(THREADS, shape<RANK>::BLOCKS_A_PROCESSOR)
    zfp_grid_encode_kernel(const __grid_constant__ job j)
{
    FLOE_DYNAMIC_SHARED(block_shared<RANK>, shared);
    if (!floe_zfp_goes_on(j.call, j.attempt))
        return;
    for (uint32_t i = threadIdx.x; i < FLOE_ZFP_SPREAD_TABLE; i += THREADS)
        shared->spread[i] = (uint16_t)floe_zfp_spread(i);
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            shared->ticket = atomicAdd(j.call.cleared + FLOE_ZFP_GRID_TICKETS + j.attempt, 1u);
            shared->found = shared->ticket < j.call.grid.nchunks * j.call.grid.slots &&
                            find_tile(j, shared->ticket, shape<RANK>::TILE, shared->chunk);
        }
        __syncthreads();
        if (shared->ticket >= j.call.grid.nchunks * j.call.grid.slots)
            return;
        if (shared->found)
            encode_tile<RANK, REAL, REVERSIBLE, CLEANED>(j, shared);
    }
}

/* ---- launching ------------------------------------------------------------------------------------------------------- */

/* Blocks of threads at most. */
uint32_t blocks_of(uint32_t rank, const floe_dev_grid &grid)
{
    return (uint32_t)floe_min64(floe_zfp_blocks_at_once(rank > 2 ? FEW : MANY), grid.nchunks * grid.slots);
}

template <uint32_t RANK, bool REAL, bool REVERSIBLE, bool CLEANED>
cudaError_t launch(const job &j, uint32_t nblocks, cudaStream_t stream)
{
    const auto kernel = zfp_grid_encode_kernel<RANK, REAL, REVERSIBLE, CLEANED>;
    const size_t nbytes = sizeof(block_shared<RANK>);
    cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes);
    if (e != cudaSuccess)
        return e;
    FLOE_LAUNCH(kernel, nblocks, THREADS, nbytes, stream, j);
    return cudaGetLastError();
}

template <uint32_t RANK, bool REAL> cudaError_t launch_attempt(const job &j, uint32_t nblocks, cudaStream_t stream)
{
    switch (j.attempt) {
    case FLOE_ZFP_CLOSELY: return launch<RANK, REAL, false, false>(j, nblocks, stream);
    case FLOE_ZFP_REVERSIBLY: return launch<RANK, REAL, true, false>(j, nblocks, stream);
    default: return launch<RANK, REAL, false, true>(j, nblocks, stream);
    }
}

template <uint32_t RANK> cudaError_t launch_rank(const job &j, uint32_t nblocks, cudaStream_t stream)
{
    return floe_dtype_is_integer(j.call.field.dtype) ? launch_attempt<RANK, false>(j, nblocks, stream)
                                                     : launch_attempt<RANK, true>(j, nblocks, stream);
}

} // namespace

int FLOE_R(floe_zfp_grid_spill)(uint32_t rank, const floe_dev_grid *grid, uint64_t *nbytes, uint64_t *words)
{
    const uint32_t most = 32 + (FLOE_REAL_BITS + 1) * (1u << 2 * rank); /* bits of a block */
    *words = floe_ceil_div((uint64_t)floe_zfp_tile_blocks(rank) * most, 32) + 2;
    *nbytes = 4 * *words * blocks_of(rank, *grid);
    return (int)cudaSuccess;
}

int FLOE_R(floe_zfp_grid_encode)(const floe_zfp_grid_encode *call, uint32_t attempt, void *stream)
{
    const job j = {*call, attempt};
    const uint32_t nblocks = blocks_of(call->field.rank, call->grid);
    switch (call->field.rank) {
    case 1: return (int)launch_rank<1>(j, nblocks, (cudaStream_t)stream);
    case 2: return (int)launch_rank<2>(j, nblocks, (cudaStream_t)stream);
    case 3: return (int)launch_rank<3>(j, nblocks, (cudaStream_t)stream);
    default: return (int)launch_rank<4>(j, nblocks, (cudaStream_t)stream);
    }
}
