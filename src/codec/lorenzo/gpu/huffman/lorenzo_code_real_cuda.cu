/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drafts to tiles of encoder huffman, at their places. A warp owns a tile; the draft of its next one is on its way to shared
 * memory meanwhile. Compiled for each element type.
 */
#include "codec/lorenzo/gpu/encode/lorenzo_encode_general.cuh"
#include "codec/lorenzo/gpu/encode/lorenzo_place.cuh"
#include "codec/lorenzo/gpu/huffman/lorenzo_draft.cuh"
#include "codec/lorenzo/gpu/lorenzo_kernels.h"
#include "stage/huffman/huffman_code_dev.cuh"

namespace
{

using namespace FLOE_LORENZO_ENCODING;

enum {
    /* Shared memory: 222 KiB of a multiprocessor in 3 blocks of 4 warps. A fourth block would leave each half 640 words: at a
     * ratio of 8 most tiles of f32 would then go by way of device memory, which costs more than the block gains. */
    BLOCKS_A_PROCESSOR = 3,
    DRAFT_WORDS = 2304, /* a step's values at least, which it also holds */
    HALF_WORDS = 1024,
    /* A tile whose draft lies in device memory is coded in its half and the draft's room beside it. */
    FAR_WORDS = HALF_WORDS + DRAFT_WORDS,
    SLOT_WORDS = FLOE_DRAFT_SLOT_WORDS * BASE_WORDS,
    /* Device memory of a warp: a tile with what coding it may touch, for either half. */
    WARP_SPILL_WORDS = RAW_WORDS + 64,
    /* Of a block: where one warp at a time makes a draft again. */
    REMADE_WORDS = FLOE_TILE_DRAFT_WORDS(RAW_WORDS),
    BLOCK_SPILL_WORDS = FLOE_PLACE_WARPS * 2 * WARP_SPILL_WORDS + REMADE_WORDS + SCRATCH_WORDS
};
static_assert(WARP_SPILL_WORDS >= RAW_WORDS + FLOE_HUFFMAN_CODE_SLACK, "a tile that is just not raw");

/* Dynamic shared memory of a block. */
struct warp_shared {
    uint32_t half[HALF_WORDS];
    alignas(16) uint32_t draft[DRAFT_WORDS];
    uint32_t other_half[HALF_WORDS];
    floe_huffman_coder coder;
};
static_assert(HALF_WORDS % 4 == 0 && DRAFT_WORDS % 4 == 0, "they lie side by side");
struct block_shared {
    warp_shared warps[FLOE_PLACE_WARPS];
    floe_place_shared place;
    uint32_t remaking; /* some warp makes a draft again */
};

/* A warp's maker of tiles, see codec/placer/placer.cuh. */
struct coder {
    const floe_lorenzo_encode_call &call;
    block_shared &block;
    warp_shared &own;
    uint32_t *remade; /* of the block */

    /* inline: else nvcc gives the host bodies that exit */
    inline __device__ void fetch(const floe_place_tile &t);
    inline __device__ void make(floe_place_tile &t);
    inline __device__ void raw(const floe_place_tile &t, uint32_t *dst);

    template <int FORM, bool MEDIUM>
    inline __device__ void code(floe_place_tile &t, const uint32_t *draft, const floe_huffman_room &to);
    inline __device__ void bring_home(const floe_place_tile &t, const floe_huffman_room &from);
    inline __device__ void code_far(floe_place_tile &t, const uint32_t *draft);
    inline __device__ void code_again(floe_place_tile &t);
};

__device__ void coder::fetch(const floe_place_tile &t)
{
    const uint32_t nwords = call.draft_nwords[t.slot];
    const uint32_t *slot = call.drafts + (uint64_t)t.slot * SLOT_WORDS;
    floe_draft_fetch(own.draft, slot, nwords <= DRAFT_WORDS ? nwords : 0);
}

/* From a draft of prefix and pack body, to `to`, which may be others than the tile's words; a tile that comes out no smaller than
 * its values becomes raw. */
template <int FORM, bool MEDIUM>
__device__ void coder::code(floe_place_tile &t, const uint32_t *draft, const floe_huffman_room &to)
{
    uint32_t ncells;
    const uint32_t nsteps = floe_draft_present(call.chunks[t.chunk].view, t.tile, own.coder.heads, &ncells);
    const uint32_t raw = ncells * BASE_WORDS, nprefix = floe_draft_prefix(draft[0]);
    uint32_t nbody = raw;
    if (nprefix < raw) {
        const floe_huffman_codes codes = floe_huffman_codes_of(call.books + t.chunk);
        const floe_huffman_room room = {to.words + nprefix, to.spill + nprefix,
                                        to.room > nprefix ? to.room - nprefix : 0,
                                        raw - nprefix + FLOE_HUFFMAN_CODE_SLACK};
        nbody =
            floe_huffman_code_tile_dev<floe_uint, FORM, MEDIUM>(codes, draft + 1 + nprefix, nsteps, &own.coder, room);
    }
    const floe_tile_result r = floe_tile_result_of(raw, nprefix, min(nbody, raw), true, false, t.entry);
    t.entry = r.entry;
    t.nwords = r.nwords;
    t.raw = r.raw;
    if (r.raw)
        return;
    if (MEDIUM)
        bring_home(t, to);
    for (uint32_t i = floe_lane(); i < nprefix; i += FLOE_WARP)
        floe_place_put(t, i, draft[1 + i]);
}

/* The tile's words there to where it has its own. */
__device__ void coder::bring_home(const floe_place_tile &t, const floe_huffman_room &from)
{
    const uint32_t there = min(t.nwords, from.room), staged = min(there, (uint32_t)HALF_WORDS);
    floe_place_copy(t.spill, from.words + staged, there - staged);
    __syncwarp();
    if (from.words != t.words)
        floe_place_copy(t.words, from.words, staged);
    __syncwarp();
}

/* From a draft in device memory, or one that is not of symbols. A call of its own, so that the loads of `make` are of shared memory
 * alone. */
__device__ __noinline__ void coder::code_far(floe_place_tile &t, const uint32_t *draft)
{
    const bool far = draft != own.draft; /* which is free then */
    uint32_t *words = far && t.words != own.half ? own.draft : t.words;
    const floe_huffman_room room = {floe_in_shared(words), t.spill - HALF_WORDS,
                                    (uint32_t)(far ? FAR_WORDS : HALF_WORDS), 0};
    if (floe_draft_form(draft[0]) == FLOE_HUFFMAN_BYTES)
        code<FLOE_HUFFMAN_BYTES, true>(t, draft, room);
    else
        code<FLOE_HUFFMAN_PLANES, true>(t, draft, room);
}

/* From a draft that had no room in its slot. */
__device__ __noinline__ void coder::code_again(floe_place_tile &t)
{
    const sink out = {remade, NULL, REMADE_WORDS, 0};
    tallies unused;
    if (floe_lane() == 0)
        while (atomicCAS(&block.remaking, 0u, 1u))
            floe_dev_pause();
    __syncwarp();
    encode_general<1, 3>(call.chunks + t.chunk, t.tile, true, (floe_int *)own.draft, remade + REMADE_WORDS, out,
                         unused);
    __syncwarp();
    code_far(t, remade);
    __syncwarp();
    if (floe_lane() == 0)
        atomicExch(&block.remaking, 0u);
}

__device__ void coder::make(floe_place_tile &t)
{
    const uint32_t nwords = call.draft_nwords[t.slot], *slot = call.drafts + (uint64_t)t.slot * SLOT_WORDS;
    t.entry = call.draft_entries[t.slot];
    floe_copy_async_wait();
    __syncwarp();
    const uint32_t kind = floe_tile_kind(t.entry), *draft = nwords <= DRAFT_WORDS ? own.draft : slot;
    t.raw = kind == FLOE_TILE_RAW;
    t.nwords = t.entry & FLOE_TILE_NWORDS_MASK;
    if (kind == FLOE_TILE_CODED && nwords <= DRAFT_WORDS && floe_draft_form(draft[0]) == FLOE_HUFFMAN_BYTES)
        code<FLOE_HUFFMAN_BYTES, false>(t, floe_in_shared(own.draft), {t.words, t.spill - HALF_WORDS, HALF_WORDS, 0});
    else if (kind == FLOE_TILE_CODED && nwords <= SLOT_WORDS)
        code_far(t, draft);
    else if (kind == FLOE_TILE_CODED)
        code_again(t);
    else if (kind != FLOE_TILE_RAW) /* no larger than its slot, since smaller than its values */
        for (uint32_t i = floe_lane(); i < t.nwords; i += FLOE_WARP)
            floe_place_put(t, i, draft[i]);
}

__device__ void coder::raw(const floe_place_tile &t, uint32_t *dst)
{
    write_raw(call.chunks + t.chunk, t.tile, dst, floe_lane(), FLOE_WARP);
}

/* A warp owns a tile. */
__global__
__launch_bounds__(FLOE_PLACE_THREADS,
                  BLOCKS_A_PROCESSOR) void lorenzo_code_kernel(const __grid_constant__ floe_lorenzo_encode_call call)
{
    floe_dev_begin_early(); /* drafts and codes are there; who places tiles waits for the books' words */
    FLOE_DYNAMIC_SHARED(block_shared, block);
    if (__syncthreads_or(*call.status != FLOE_OK)) { /* the same for all, whatever others report meanwhile */
        floe_dev_wait();
        return;
    }
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    uint32_t *remade = call.spill + (uint64_t)blockIdx.x * BLOCK_SPILL_WORDS;
    uint32_t *spill = remade + REMADE_WORDS + SCRATCH_WORDS + warp * 2 * WARP_SPILL_WORDS;
    coder maker = {call, *block, block->warps[warp], remade};
    if (threadIdx.x == 0)
        block->remaking = 0;
    __syncthreads();
    const floe_lorenzo_places layout = {call, 0};
    const floe_place_stage tiles = {block->warps[warp].half, HALF_WORDS, FAR_WORDS, spill + HALF_WORDS,
                                    WARP_SPILL_WORDS};
    floe_place_run(layout, maker, block->place, tiles);
}

} // namespace

int FLOE_R(floe_lorenzo_code)(const floe_lorenzo_encode_call *call, void *stream)
{
    const uint32_t nblocks = floe_place_blocks(&call->grid, BLOCKS_A_PROCESSOR);
    cudaError_t e = cudaFuncSetAttribute(lorenzo_code_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         (int)sizeof(block_shared));
    if (e != cudaSuccess)
        return (int)e;
    FLOE_LAUNCH_EARLY(lorenzo_code_kernel, nblocks, FLOE_PLACE_THREADS, sizeof(block_shared), (cudaStream_t)stream,
                      *call);
    return (int)cudaGetLastError();
}

uint64_t FLOE_R(floe_lorenzo_code_spill)(const floe_dev_grid *grid)
{
    return (uint64_t)floe_place_blocks(grid, BLOCKS_A_PROCESSOR) * BLOCK_SPILL_WORDS * 4;
}
