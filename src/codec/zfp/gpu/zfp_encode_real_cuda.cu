/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes the chunks of a field, or a bare zfp stream, in one pass. A block of threads takes tiles of as many zfp blocks as its
 * warps hold. How long each block is follows from its planes, before a bit is written: so the tile's length is stored for the
 * tiles behind it first, then lanes write their blocks side by side into the tile's buffer, and when the tiles in front have
 * stored where the tile begins it leaves in whole words. Words that two tiles share wait for a second kernel.
 *
 * What the decoder will make of a block of a chunk is what the planes that are kept hold: so lanes undo the transform of what
 * they hold, and compare. Compiled for each element type.
 */
#include "backend/device_scan.cuh"
#include "codec/zfp/gpu/zfp_grid_check.cuh"
#include "codec/zfp/gpu/zfp_kernels.h"
#include "codec/zfp/gpu/zfp_launch.cuh"
#include "stage/zfpblock/zfpblock_read_dev.cuh"
#include "stage/zfpblock/zfpblock_write_dev.cuh"

namespace
{

enum {
    WARPS = FLOE_ZFP_TILE_WARPS,
    THREADS = FLOE_ZFP_TILE_THREADS,
    FEW = FLOE_REAL_BITS == 32 ? 4 : 2, /* blocks on a processor, by registers: lanes with 64 values each */
    MANY = FLOE_REAL_BITS == 32 ? 8 : 5 /* lanes with fewer; f64: by shared memory */
};
static_assert(WARPS * (uint32_t)floe_zfp_lanes<4>::BLOCKS >= 32, "a tile has at least a word's bits");

/* A bare stream. */
struct bare_stream {
    floe_zfp_cells cells;
    floe_zfp_params params;
    floe_zfp_tiles tiles;
    uint16_t *lengths; /* NULL, or of each block */
};

struct job {
    uint64_t nslots;  /* tiles, or places for them */
    uint32_t *ticket; /* the next one */
    uint32_t *spill;
    uint64_t spill_words; /* of a block of threads */
    bool real, is_bare;
    bare_stream bare;
    floe_zfp_grid_encode call; /* else */
    uint32_t attempt;
};

template <uint32_t RANK> struct shape {
    enum {
        TILE = WARPS * floe_zfp_lanes<RANK>::BLOCKS,
        BLOCKS_A_PROCESSOR = RANK > 2 ? FEW : MANY,
        OUT = WARPS * floe_zfp_lanes<RANK>::PLANES / 4 + 64 /* words: f32 at a quarter of its size and some more */
    };
};

/* The chunk that a block of threads works on, and its tile. */
struct chunk_shared {
    floe_zfp_judged judged;
    floe_zfp_params params;
    floe_zfp_tiles tiles;
    uint64_t tile, at; /* at: the tile's first bit, counted from the first tile's */
    uint16_t *lengths; /* of blocks, or */
    uint64_t *offsets; /* of chunks of the side index; NULL: none */
    bool looks, checks, replaced;
};

struct tile_ticket {
    uint64_t slot;
    bool found; /* a tile in that slot */
};

template <uint32_t RANK> struct block_shared {
    uint32_t planes[WARPS][floe_zfp_lanes<RANK>::PLANES];
    uint32_t out[shape<RANK>::OUT];
    uint16_t spread[FLOE_ZFP_SPREAD_TABLE];
    uint32_t warp_nbits[WARPS];
    tile_ticket ticket;
    chunk_shared chunk;
};

/* ---- cells of a block ------------------------------------------------------------------------------------------------ */

/* The last good value in front of a cell, within its span of cells; else the chunk's first. */
FLOE_DEV_COLD floe_uint good_value(const job &j, const chunk_shared &s, uint64_t cell)
{
    const uint64_t *bad = j.call.bad + s.judged.number * j.call.room.nwords;
    const uint32_t *last = j.call.last_good + s.judged.number * j.call.room.nwords;
    const uint64_t w = cell / FLOE_CELLS_WORD, span = cell / FLOE_CELLS_SPAN * FLOE_CELLS_SPAN;
    const uint64_t good = ~bad[w] & (((uint64_t)1 << cell % FLOE_CELLS_WORD) - 1);
    if (good)
        return floe_zfp_value_at(s.judged.chunk, w * FLOE_CELLS_WORD + floe_top_bit(good));
    if (last[w])
        return floe_zfp_value_at(s.judged.chunk, span + last[w] - 1);
    return s.judged.chunk->first_good < s.judged.chunk->cells->ncells
               ? floe_zfp_value_at(s.judged.chunk, s.judged.chunk->first_good)
               : 0;
}

/* Four values along the fastest axis. */
struct value_row {
    floe_uint v[FLOE_ZFP_SIDE];
};

/* Row r of a lane's values, with those replaced that must be: by the good value in front of them, which is the row's own unless
 * a span begins there. */
template <uint32_t RANK>
FLOE_DEV_COLD value_row replaced_row(const job &j, const chunk_shared &s, uint64_t block, uint32_t share, uint32_t r,
                                     value_row row)
{
    const floe_zfp_judged &judged = s.judged;
    const uint64_t cell = floe_zfp_cell_of<RANK>(judged.cells, block, share, FLOE_ZFP_SIDE * r);
    uint64_t blocks = block;
    const uint64_t corner = FLOE_ZFP_SIDE * floe_last_digit(&blocks, judged.cells.counts[0]);
    const uint32_t inside = (uint32_t)floe_min64(FLOE_ZFP_SIDE, judged.cells.shape[0] - corner);
#pragma unroll
    for (uint32_t x = 0; x < FLOE_ZFP_SIDE; x++) {
        if (x >= inside) /* the row's own again */
            row.v[x] = floe_zfp_inside(x, inside) == 1 ? row.v[1] : row.v[0];
        else if (FLOE_R(floe_zfp_needs_replacing)(j.real, row.v[x], judged.has_fill, judged.fill))
            row.v[x] = x == 0 || (cell + x) % FLOE_CELLS_SPAN == 0 ? good_value(j, s, cell + x)
                                                                   : row.v[(x + 3) % FLOE_ZFP_SIDE];
    }
    return row;
}

/* Replaces the values of a block that must be. */
template <uint32_t RANK>
FLOE_DEV void replace_values(const job &j, const chunk_shared &s, uint64_t block, uint32_t share, floe_uint *v)
{
#pragma unroll
    for (uint32_t r = 0; r < floe_zfp_lanes<RANK>::VALUES / FLOE_ZFP_SIDE; r++) {
        value_row row;
        bool unfit = false;
#pragma unroll
        for (uint32_t x = 0; x < FLOE_ZFP_SIDE; x++) {
            row.v[x] = v[FLOE_ZFP_SIDE * r + x];
            unfit |= FLOE_R(floe_zfp_needs_replacing)(j.real, row.v[x], s.judged.has_fill, s.judged.fill);
        }
        if (!unfit)
            continue;
        row = replaced_row<RANK>(j, s, block, share, r, row);
#pragma unroll
        for (uint32_t x = 0; x < FLOE_ZFP_SIDE; x++)
            v[FLOE_ZFP_SIDE * r + x] = row.v[x];
    }
}

/* Reports values that must be replaced. */
template <uint32_t RANK> FLOE_DEV void report_unfit(const job &j, chunk_shared &s, const floe_uint *v)
{
    bool unfit = false;
#pragma unroll
    for (uint32_t i = 0; i < floe_zfp_lanes<RANK>::VALUES; i++)
        unfit |= FLOE_R(floe_zfp_needs_replacing)(j.real, v[i], s.judged.has_fill, s.judged.fill);
    if (unfit)
        floe_zfp_want_replaced(j.call, s.judged.chunk);
}

/* ---- what the decoder will make of it ---------------------------------------------------------------------------------- */

/* All lanes: what the planes that are kept make of a block, against the field. v: coefficients as split_block leaves them. */
template <uint32_t RANK>
FLOE_DEV void check_block(const job &j, const chunk_shared &s, uint64_t block, uint32_t share, uint32_t *planes,
                          const floe_zfp_front &front, floe_uint *v)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const floe_zfp_head head = {front.e, front.zeros, front.nplanes, 0, 0};
    const floe_uint kept = front.nplanes < FLOE_REAL_BITS ? ~(~(floe_uint)0 >> front.nplanes) : ~(floe_uint)0;
#pragma unroll
    for (uint32_t i = 0; i < lanes::VALUES; i++)
        v[i] &= kept;
    floe_zfp_finish<RANK, false>(j.real, head, planes, floe_lane() % lanes::BLOCKS, share, v);
    floe_zfp_check<RANK>(j.call, s.judged, block, share, v);
}

/* ---- a tile ---------------------------------------------------------------------------------------------------------- */

/* A warp's blocks as planes; PLAIN: values are neither replaced nor checked. Returns the bits of this lane's block, 0 for lanes
 * without one of their own. */
template <uint32_t RANK, bool REVERSIBLE, bool PLAIN>
FLOE_DEV uint32_t split_blocks(const job &j, chunk_shared &s, uint64_t first, uint32_t *planes, floe_zfp_front &front)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const uint32_t b = floe_lane() % lanes::BLOCKS, share = floe_lane() / lanes::BLOCKS;
    const bool mine = first + b < s.judged.cells.nblocks, checks = !PLAIN && s.checks;
    floe_uint v[lanes::VALUES];
#pragma unroll
    for (uint32_t i = 0; i < lanes::VALUES; i++)
        v[i] = 0;
    if (mine)
        floe_zfp_load_cells<RANK>(s.judged.cells, floe_zfp_spot_of<RANK>(s.judged.cells, first + b), share, v);
    if (mine && !PLAIN && s.replaced)
        replace_values<RANK>(j, s, first + b, share, v);
    if (mine && !PLAIN && s.looks)
        report_unfit<RANK>(j, s, v);
    front = floe_zfp_split_block<RANK, REVERSIBLE>(j.real, v, s.params, planes, b, share);
    if (RANK > 3 && checks) { /* which takes the planes' memory */
        floe_uint copy[lanes::VALUES];
#pragma unroll
        for (uint32_t i = 0; i < lanes::VALUES; i++)
            copy[i] = v[i];
        check_block<RANK>(j, s, first + b, share, planes, front, copy);
    }
    floe_zfp_split<RANK>(planes, b, share, floe_zfp_turns(front.nplanes), v);
    __syncwarp();
    if (RANK < 4 && checks)
        check_block<RANK>(j, s, first + b, share, planes, front, v);
    if (!mine || share > 0)
        return 0;
    return floe_zfp_block_nbits<RANK, REVERSIBLE>(front, s.params, planes, b);
}

/* A tile whose blocks are planes: this lane's block, where it begins in the tile, and its length; the tile's length. */
struct tile_bits {
    uint64_t block;
    uint32_t at, nbits, total;
};

/* Its bits, by way of `out`, which is the block's shared memory or, SPILLED, device memory. */
template <uint32_t RANK, bool SPILLED>
FLOE_DEV void write_tile(block_shared<RANK> *shared, const floe_zfp_front &front, const tile_bits &t, uint32_t *out)
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
            floe_zfp_publish(s.tiles, s.tile, FLOE_ZFP_TILE_END, begin + t.total);
            s.at = begin;
        }
    }
    __syncthreads();
    if (t.nbits > 0 && s.lengths)
        s.lengths[t.block] = (uint16_t)t.nbits;
    if (t.nbits > 0 && s.offsets && t.block % each == 0)
        s.offsets[t.block / each] = s.at + t.at;
    floe_zfp_leave<SPILLED>(s.tiles, s.tile, s.at, out, t.total);
}

template <uint32_t RANK, bool REVERSIBLE, bool PLAIN>
FLOE_DEV void encode_tile(const job &j, block_shared<RANK> *shared)
{
    chunk_shared &s = shared->chunk;
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    floe_zfp_front front;
    const uint64_t first = s.tile * shape<RANK>::TILE + warp * floe_zfp_lanes<RANK>::BLOCKS;
    tile_bits t = {first + floe_lane(), 0, 0, 0};
    t.nbits = split_blocks<RANK, REVERSIBLE, PLAIN>(j, s, first, shared->planes[warp], front);
    t.at = floe_warp_sum_to(t.nbits);
    if (floe_lane() == FLOE_WARP - 1)
        shared->warp_nbits[warp] = t.at;
    __syncthreads();
    t.at -= t.nbits;
    for (uint32_t w = 0; w < WARPS; w++) {
        t.at += w < warp ? shared->warp_nbits[w] : 0;
        t.total += shared->warp_nbits[w];
    }
    if (threadIdx.x == 0)
        floe_zfp_publish(s.tiles, s.tile, s.tile == 0 ? FLOE_ZFP_TILE_END : FLOE_ZFP_TILE_LENGTH, t.total);
    if (t.total / 32 + 2 <= shape<RANK>::OUT)
        write_tile<RANK, false>(shared, front, t, shared->out);
    else
        write_tile<RANK, true>(shared, front, t, j.spill + blockIdx.x * j.spill_words);
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
    s.offsets = floe_zfp_offsets_of(j.call, number);
    s.lengths = NULL;
    s.looks = j.attempt == FLOE_ZFP_CLOSELY;
    if (floe_zfp_is_void(c, j.attempt)) {
        floe_zfp_publish(s.tiles, s.tile, FLOE_ZFP_TILE_LENGTH, 0); /* tiles behind it may be waiting for that */
        return false;
    }
    s.checks = j.attempt < FLOE_ZFP_REVERSIBLY && !floe_zfp_is_cut(j.call);
    s.replaced = !s.looks && c->replaced != 0;
    return true;
}

/* One thread: a bare stream instead, of which each slot is a tile. */
FLOE_DEV void open_bare(const bare_stream &bare, chunk_shared &s)
{
    s.judged.cells = bare.cells;
    s.params = bare.params;
    s.tiles = bare.tiles;
    s.lengths = bare.lengths;
    s.offsets = NULL;
    s.looks = s.checks = s.replaced = false;
}

/* One thread: the next tile. */
FLOE_DEV void take_tile(const job &j, uint32_t tile_blocks, tile_ticket &t, chunk_shared &s)
{
    t.slot = atomicAdd(j.ticket, 1u);
    t.found = t.slot < j.nslots && (j.is_bare || find_tile(j, t.slot, tile_blocks, s));
    if (j.is_bare)
        s.tile = t.slot;
}

/* Blocks of threads take tiles in their order, one after the other. */
template <uint32_t RANK, bool REVERSIBLE, bool PLAIN>
__global__ void __launch_bounds__(THREADS, shape<RANK>::BLOCKS_A_PROCESSOR)
    zfp_encode_kernel(const __grid_constant__ job j)
{
    FLOE_DYNAMIC_SHARED(block_shared<RANK>, shared);
    if (!j.is_bare && !floe_zfp_goes_on(j.call, j.attempt))
        return;
    for (uint32_t i = threadIdx.x; i < FLOE_ZFP_SPREAD_TABLE; i += THREADS)
        shared->spread[i] = (uint16_t)floe_zfp_spread(i);
    if (j.is_bare && threadIdx.x == 0)
        open_bare(j.bare, shared->chunk);
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0)
            take_tile(j, shape<RANK>::TILE, shared->ticket, shared->chunk);
        __syncthreads();
        if (shared->ticket.slot >= j.nslots)
            return;
        if (shared->ticket.found)
            encode_tile<RANK, REVERSIBLE, PLAIN>(j, shared);
    }
}

/* ---- launching ------------------------------------------------------------------------------------------------------- */

/* Blocks of threads at most. */
uint32_t blocks_of(uint32_t rank, uint64_t nslots)
{
    return (uint32_t)floe_min64(floe_zfp_blocks_at_once(rank > 2 ? FEW : MANY), nslots);
}

/* The most bits of a block, as floe_zfp_block_bits has it, or a few more. */
uint64_t most_bits(uint32_t rank) { return 32 + (FLOE_REAL_BITS + 1) * (1u << 2 * rank); }

uint64_t spill_words_of(uint32_t rank, uint64_t block_bits)
{
    return floe_ceil_div(floe_zfp_tile_blocks(rank) * block_bits, 32) + 2;
}

/* Bare streams have instances of their own: what replaces and checks costs them a third of their speed. */
cudaError_t launch(const job &j, uint32_t rank, bool reversible, cudaStream_t stream)
{
    return floe_zfp_by_case(rank, reversible, [&](auto c) {
        typedef decltype(c) is;
        return floe_zfp_launch(j.is_bare ? zfp_encode_kernel<is::RANK, is::REVERSIBLE, true>
                                         : zfp_encode_kernel<is::RANK, is::REVERSIBLE, is::REVERSIBLE>,
                               dim3(blocks_of(rank, j.nslots)), THREADS, sizeof(block_shared<is::RANK>), stream, j);
    });
}

/* Scratch of a bare stream, or, where there is none, only its size. Returns its bytes. */
uint64_t take_scratch(job &j, uint8_t *scratch, uint32_t rank, const floe_zfp_params &params)
{
    const uint64_t at_edges = 8 + 8 * j.nslots, at_spill = at_edges + sizeof(floe_zfp_edges) * j.nslots;
    j.spill_words = spill_words_of(rank, floe_max64(floe_min64(most_bits(rank), params.maxbits), params.minbits));
    if (scratch) {
        j.ticket = (uint32_t *)scratch;
        j.bare.tiles.state = (uint64_t *)(scratch + 8);
        j.bare.tiles.edges = (floe_zfp_edges *)(scratch + at_edges);
        j.spill = (uint32_t *)(scratch + at_spill);
    }
    return at_spill + 4 * j.spill_words * blocks_of(rank, j.nslots);
}

} // namespace

int FLOE_R(floe_zfp_grid_spill)(uint32_t rank, const floe_dev_grid *grid, uint64_t *nbytes, uint64_t *words)
{
    *words = spill_words_of(rank, most_bits(rank));
    *nbytes = 4 * *words * blocks_of(rank, grid->nchunks * grid->slots);
    return (int)cudaSuccess;
}

int FLOE_R(floe_zfp_grid_encode)(const floe_zfp_grid_encode *call, uint32_t attempt, void *stream)
{
    job j = {};
    j.nslots = call->grid.nchunks * call->grid.slots;
    j.ticket = call->cleared + FLOE_ZFP_GRID_TICKETS + attempt;
    j.spill = call->spill;
    j.spill_words = call->spill_words;
    j.real = !floe_dtype_is_integer(call->field.dtype);
    j.call = *call;
    j.attempt = attempt;
    return (int)launch(j, call->field.rank, attempt == FLOE_ZFP_REVERSIBLY, (cudaStream_t)stream);
}

int FLOE_R(floe_zfp_encode_scratch)(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t *nbytes)
{
    job j = {};
    j.nslots = floe_ceil_div(floe_zfp_cells_of(array).nblocks, floe_zfp_tile_blocks(array->rank));
    *nbytes = take_scratch(j, NULL, array->rank, *params);
    return (int)cudaSuccess;
}

int FLOE_R(floe_zfp_encode)(const floe_zfp_encode_call *call, void *stream)
{
    const uint32_t rank = call->array.rank;
    job j = {};
    j.bare.cells = floe_zfp_cells_of(&call->array);
    j.bare.params = call->params;
    j.bare.tiles.dst = (uint32_t *)call->dst;
    j.bare.tiles.capacity_words = call->capacity / 4;
    j.bare.tiles.begin = call->begin;
    j.bare.lengths = call->lengths;
    j.nslots = floe_ceil_div(j.bare.cells.nblocks, floe_zfp_tile_blocks(rank));
    j.real = floe_zfp_type_is_real(call->array.type);
    j.is_bare = true;
    take_scratch(j, (uint8_t *)call->scratch, rank, call->params);
    cudaError_t e = cudaMemsetAsync(call->scratch, 0, 8 + 8 * j.nslots, (cudaStream_t)stream);
    if (e == cudaSuccess)
        e = launch(j, rank, floe_zfp_params_are_reversible(&call->params), (cudaStream_t)stream);
    return e != cudaSuccess ? (int)e : floe_zfp_finish_cuda(&j.bare.tiles, j.nslots, call->nbits, call->status, stream);
}
