/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drafts to tiles of encoder huffman, at their places, for one chunk of so few tiles that each is the work of a block. How many
 * words it has a block tells before it writes any; where they belong it finds out itself, by adding up what the blocks
 * before have told. Compiled for each element type.
 */
#include "codec/lorenzo/gpu/huffman/lorenzo_code_cuda.h"
#include "codec/lorenzo/gpu/huffman/lorenzo_draft.cuh"
#include "codec/lorenzo/gpu/encode/lorenzo_encode_any.cuh"
#include "codec/lorenzo/gpu/huffman/lorenzo_place_few.cuh"
#include "stage/huffman/huffman_team_dev.cuh"

namespace
{

enum {
    WARPS = FLOE_HUFFMAN_TEAM_WARPS,
    THREADS = FLOE_WARP * WARPS,
    BLOCKS_A_PROCESSOR = FLOE_REAL_BITS == 32 ? 7 : 4,
    MOST_TILES = 2 * FLOE_FEW_PROCESSORS * 4,     /* from there on as many warps have a tile each */
    LOOKS = (MOST_TILES + THREADS - 1) / THREADS, /* sizes that a thread looks at */
    DRAFT_WORDS = FLOE_STEP_VALUES * BASE_WORDS,  /* also holds a step's values */
    PART_WORDS = 256 * BASE_WORDS,                /* of a warp's part, at a ratio of 8 */
    PART_SPILL_WORDS = FLOE_HUFFMAN_TEAM_PART_WORDS(FLOE_REAL_BITS),
    SLOT_WORDS = FLOE_DRAFT_SLOT_WORDS * BASE_WORDS,
    /* Device memory of a block: parts, a draft made again, and what that takes. */
    REMADE_WORDS = FLOE_TILE_DRAFT_WORDS(RAW_WORDS),
    BLOCK_SPILL_WORDS = (WARPS * PART_SPILL_WORDS + REMADE_WORDS + SCRATCH_WORDS + 3) / 4 * 4
};

struct block_shared {
    alignas(16) uint32_t draft[DRAFT_WORDS];
    uint32_t parts[WARPS * PART_WORDS];
    floe_huffman_team team;
    uint32_t nsteps, ncells; /* of the tile */
    uint32_t tile, before[WARPS];
};

/* A tile that a block makes; all threads have it. */
struct block_tile {
    uint32_t entry, nwords, nprefix; /* nwords, nprefix: of the tile; the prefix stands in front of the body */
    const uint32_t *prefix;
    bool raw, coded;
};

FLOE_DEV uint32_t *spill_of_block(const floe_lorenzo_encode_call &call)
{
    return call.spill + (uint64_t)blockIdx.x * BLOCK_SPILL_WORDS;
}

/* Where a warp's part of a tile goes. */
FLOE_DEV floe_huffman_room room_of(const floe_lorenzo_encode_call &call, block_shared &sh, uint32_t warp)
{
    return {sh.parts + warp * PART_WORDS, spill_of_block(call) + warp * PART_SPILL_WORDS, PART_WORDS, PART_SPILL_WORDS};
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

/* The draft of a tile: in shared memory, in its slot, or made again where that had no room for it. The block is synchronized
 * on return. */
FLOE_DEV const uint32_t *find_draft(const floe_lorenzo_encode_call &call, block_shared &sh, uint32_t tile)
{
    const uint32_t nwords = call.draft_nwords[tile], *slot = call.drafts + (uint64_t)tile * SLOT_WORDS;
    uint32_t *remade = spill_of_block(call) + WARPS * PART_SPILL_WORDS;
    const bool again = nwords > SLOT_WORDS;
    if (nwords <= DRAFT_WORDS && threadIdx.x < FLOE_WARP) {
        floe_draft_fetch(sh.draft, slot, nwords);
        floe_copy_async_wait();
    }
    if (again && threadIdx.x < FLOE_WARP) {
        const sink out = {remade, NULL, REMADE_WORDS, 0};
        tallies unused;
        encode_any(call.chunks, tile, true, (floe_int *)sh.draft, remade + REMADE_WORDS, out, unused);
    }
    if (threadIdx.x >= THREADS - FLOE_WARP) { /* meanwhile */
        uint32_t ncells;
        const uint32_t nsteps = floe_draft_present(call.chunks->view, tile, sh.team.coder.heads, &ncells);
        if (threadIdx.x == THREADS - 1) {
            sh.nsteps = nsteps;
            sh.ncells = ncells;
        }
    }
    __syncthreads();
    return nwords <= DRAFT_WORDS ? sh.draft : again ? remade : slot;
}

/* Makes the tile, but for putting its parts together. One that comes out no smaller than its values becomes raw. */
FLOE_DEV block_tile make_tile(const floe_lorenzo_encode_call &call, block_shared &sh, uint32_t tile)
{
    block_tile t = {call.draft_entries[tile], 0, 0, NULL, false, false};
    const uint32_t kind = t.entry >> FLOE_TILE_KIND_SHIFT & 3, *draft = find_draft(call, sh, tile);
    t.nwords = t.entry & FLOE_TILE_NWORDS_MASK;
    t.raw = kind == FLOE_TILE_RAW;
    t.prefix = draft;
    t.nprefix = t.raw ? 0 : t.nwords; /* of a tile that is not coded it is all */
    if (kind != FLOE_TILE_CODED)
        return t;
    const uint32_t raw = sh.ncells * BASE_WORDS;
    t.prefix = draft + 1;
    t.nprefix = floe_draft_prefix(draft[0]);
    t.nwords = raw;
    if (t.nprefix < raw)
        t.nwords = t.nprefix + floe_huffman_team_make<floe_uint>(
                                   floe_huffman_codes_of(call.books), draft + 1 + t.nprefix, sh.nsteps,
                                   floe_draft_form(draft[0]), &sh.team, room_of(call, sh, threadIdx.x / FLOE_WARP));
    t.coded = t.nwords < raw;
    if (t.coded) {
        t.entry = t.nwords | (t.entry & ~(uint32_t)FLOE_TILE_NWORDS_MASK);
        return t;
    }
    const made m = made_raw(raw);
    t.entry = m.entry;
    t.nwords = m.nwords;
    t.raw = true;
    return t;
}

/* ---- to its place -------------------------------------------------------------------------------------------------- */

/* Waits until all before have told, and adds up. By a block. */
FLOE_DEV uint32_t words_before(const uint64_t *sizes, uint32_t tile, block_shared &sh)
{
    uint64_t v[LOOKS];
    uint32_t sum = 0;
    floe_place_few_sizes<THREADS>(sizes, tile, v);
#pragma unroll
    for (int k = 0; k < LOOKS; k++)
        sum += (uint32_t)v[k];
    sum = __reduce_add_sync(FLOE_ALL_LANES, sum);
    if (floe_lane() == 0)
        sh.before[threadIdx.x / FLOE_WARP] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++)
        sum += sh.before[w];
    return sum;
}

/* Copies a tile to where it belongs. By a block. */
FLOE_DEV void copy_tile(const floe_lorenzo_encode_call &call, block_shared &sh, uint32_t tile, uint64_t start,
                        uint64_t place, const block_tile &t)
{
    uint32_t *stream = (uint32_t *)call.stream, *dst = stream + place;
    if (place + t.nwords > floe_place_capacity(call))
        return;
    if (threadIdx.x == 0)
        stream[start - (uint32_t)call.chunks->view.ntiles + tile] = t.entry;
    if (t.raw) {
        write_raw(call.chunks, tile, dst, threadIdx.x, THREADS);
        return;
    }
    for (uint32_t i = threadIdx.x; i < t.nprefix; i += THREADS)
        dst[i] = t.prefix[i];
    for (uint32_t i = threadIdx.x; i < t.nwords - t.nprefix; i += THREADS)
        dst[t.nprefix + i] = floe_huffman_team_word(&sh.team, room_of(call, sh, 0), PART_SPILL_WORDS, i);
}

/* The chunk has as many words as lie before `end`. One thread. */
FLOE_DEV void end_chunk(const floe_lorenzo_encode_call &call, uint64_t start, uint64_t end,
                        const floe_place_parts &parts)
{
    *call.end = floe_place_finish(call, 0, call.first_offset, start, end - start, parts);
    if (*call.end > call.capacity)
        atomicCAS(call.status, 0u, (uint32_t)FLOE_ERR_CAPACITY);
}

/* Makes a tile, and tells how large it is as soon as that is known. By a block. */
FLOE_DEV void code_tile(const floe_lorenzo_encode_call &call, const floe_place_state &state, block_shared &sh,
                        uint32_t tile)
{
    const block_tile t = make_tile(call, sh, tile);
    if (threadIdx.x == 0)
        floe_store_shared_state(state.batches + tile, FLOE_PLACE_IS_SIZE | t.nwords);
    floe_dev_wait();
    const floe_place_parts parts = floe_place_parts_of(call, call.chunks, 0);
    const uint64_t start = floe_place_start(call.first_offset, parts);
    const uint64_t place = start + words_before(state.batches, tile, sh);
    if (threadIdx.x == 0 && tile + 1 == parts.ntiles)
        end_chunk(call, start, place + t.nwords, parts);
    copy_tile(call, sh, tile, start, place, t);
}

/* What stands before the tiles. By a block that has none: the first tile's would be late. */
FLOE_DEV void code_front(const floe_lorenzo_encode_call &call)
{
    floe_dev_wait();
    const floe_place_parts parts = floe_place_parts_of(call, call.chunks, 0);
    floe_place_front(call, call.chunks, 0, floe_place_start(call.first_offset, parts), threadIdx.x, THREADS);
}

/* A block takes tiles in order of their numbers. Who waits has told its own size before, and tiles are handed out by a
 * counter to blocks that run, so every wait ends. */
__global__ __launch_bounds__(THREADS, BLOCKS_A_PROCESSOR) void lorenzo_code_few_kernel(
    const __grid_constant__ floe_lorenzo_encode_call call)
{
    floe_dev_begin_early(); /* drafts and codes are there, the books' words perhaps not yet */
    __shared__ block_shared sh;
    const floe_place_state state = floe_place_state_of(call, call.place_state[0]);
    /* the same for all threads, whatever others tell meanwhile */
    const uint32_t ntiles = __syncthreads_or(*call.status != FLOE_OK) ? 0 : (uint32_t)call.chunks->view.ntiles;
    uint32_t tile;
    for (;;) {
        if (threadIdx.x == 0)
            sh.tile = atomicAdd(&state.head->ticket, 1u);
        __syncthreads();
        tile = sh.tile;
        if (tile >= ntiles)
            break;
        code_tile(call, state, sh, tile);
        __syncthreads(); /* what is in shared memory has been read */
    }
    if (tile == ntiles && ntiles)
        code_front(call);
    floe_dev_wait();
}

} // namespace

uint32_t FLOE_R(floe_lorenzo_code_few_most)(void) { return floe_few_processors() * (MOST_TILES / FLOE_FEW_PROCESSORS); }

int FLOE_R(floe_lorenzo_code_few)(const floe_lorenzo_encode_call *call, void *stream)
{
    const uint32_t nblocks = floe_place_blocks_of_tiles(&call->grid, BLOCKS_A_PROCESSOR); /* the last for the front */
    FLOE_LAUNCH_EARLY(lorenzo_code_few_kernel, nblocks, THREADS, 0, (cudaStream_t)stream, *call);
    return (int)cudaGetLastError();
}

uint64_t FLOE_R(floe_lorenzo_code_few_spill_nbytes)(const floe_dev_grid *grid)
{
    return (uint64_t)floe_place_blocks_of_tiles(grid, BLOCKS_A_PROCESSOR) * BLOCK_SPILL_WORDS * 4;
}
