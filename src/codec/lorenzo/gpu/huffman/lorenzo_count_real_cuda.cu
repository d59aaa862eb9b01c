/* SPDX-License-Identifier: BSD-3-Clause */
/* Drafts to the histograms of their chunks: a warp counts a tile. Apart from the making of drafts, which has no register to
 * spare. Compiled for each element type. */
#include "codec/lorenzo/gpu/encode/lorenzo_encode_general.cuh"
#include "codec/lorenzo/gpu/encode/lorenzo_place.cuh"
#include "codec/lorenzo/gpu/huffman/lorenzo_draft.cuh"
#include "codec/lorenzo/gpu/lorenzo_kernels.h"
#include "stage/huffman/huffman_count_dev.cuh"

namespace
{

using namespace FLOE_LORENZO_ENCODING;

enum {
    /* 48 KiB of shared memory a block. */
    WARPS = FLOE_REAL_BITS == 32 ? 8 : 4,
    THREADS = FLOE_WARP * WARPS,
    BLOCKS_A_PROCESSOR = 4,
    DRAFT_WORDS = FLOE_STEP_VALUES * BASE_WORDS, /* also holds a step's values */
    SLOT_WORDS = FLOE_DRAFT_SLOT_WORDS * BASE_WORDS
};

struct warp_shared {
    alignas(16) uint32_t draft[DRAFT_WORDS];
    floe_huffman_coder coder;
};
struct block_shared {
    warp_shared warps[WARPS];
    uint32_t bins[FLOE_HUFFMAN_BINS];
};

/* A draft that had no room in its slot: it is made again, of which the body stays behind the masks. */
static __device__ __noinline__ void count_again(const floe_lorenzo_encode_call &call, const floe_dev_chunk *chunk,
                                                uint32_t tile, uint32_t nsteps, uint32_t *bins, warp_shared &own)
{
    uint32_t *scratch = call.spill + (uint64_t)(blockIdx.x * WARPS + threadIdx.x / FLOE_WARP) * SCRATCH_WORDS;
    const sink nowhere = {NULL, NULL, 0, 0};
    tallies unused;
    encode_general<1, 3>(chunk, tile, true, (floe_int *)own.draft, scratch, nowhere, unused);
    __syncwarp();
    floe_huffman_count_tile<floe_uint, FLOE_HUFFMAN_PLANES>(bins, scratch + MASKS_WORDS, nsteps, &own.coder);
}

/* One that has, but is too large for shared memory or not of symbols. */
static __device__ __noinline__ void count_far(const uint32_t *draft, uint32_t nsteps, uint32_t *bins, warp_shared &own)
{
    const uint32_t *body = draft + 1 + floe_draft_prefix(draft[0]);
    if (floe_draft_form(draft[0]) == FLOE_HUFFMAN_BYTES)
        floe_huffman_count_tile<floe_uint, FLOE_HUFFMAN_BYTES>(bins, body, nsteps, &own.coder);
    else
        floe_huffman_count_tile<floe_uint, FLOE_HUFFMAN_PLANES>(bins, body, nsteps, &own.coder);
}

FLOE_DEV void count_draft(const floe_lorenzo_encode_call &call, uint32_t c, uint32_t slot, block_shared &sh)
{
    warp_shared &own = sh.warps[threadIdx.x / FLOE_WARP];
    const floe_dev_chunk *chunk = call.chunks + c;
    const uint32_t entry = call.draft_entries[slot], nwords = call.draft_nwords[slot],
                   tile = slot - c * call.grid.slots;
    const uint32_t *draft = call.drafts + (uint64_t)slot * SLOT_WORDS;
    if (floe_tile_kind(entry) != FLOE_TILE_CODED)
        return;
    uint32_t ncells;
    __syncwarp(); /* the draft before has been read */
    floe_draft_fetch(own.draft, draft, nwords <= DRAFT_WORDS ? nwords : 0);
    const uint32_t nsteps = floe_draft_present(chunk->view, tile, own.coder.heads, &ncells);
    if (nwords > SLOT_WORDS) {
        count_again(call, chunk, tile, nsteps, sh.bins, own);
        return;
    }
    floe_copy_async_wait();
    __syncwarp();
    if (nwords <= DRAFT_WORDS && floe_draft_form(own.draft[0]) == FLOE_HUFFMAN_BYTES)
        floe_huffman_count_tile<floe_uint, FLOE_HUFFMAN_BYTES>(
            sh.bins, floe_in_shared(own.draft) + 1 + floe_draft_prefix(own.draft[0]), nsteps, &own.coder);
    else
        count_far(nwords <= DRAFT_WORDS ? own.draft : draft, nsteps, sh.bins, own);
}

/* Tile slots first..end-1 of a chunk; the whole block. */
FLOE_DEV void count_range(const floe_lorenzo_encode_call &call, uint32_t c, uint32_t first, uint32_t end,
                          block_shared &sh)
{
    floe_huffman_bins_clear(sh.bins);
    __syncthreads();
    for (uint32_t slot = first + threadIdx.x / FLOE_WARP; slot < end; slot += WARPS)
        count_draft(call, c, slot, sh);
    __syncthreads();
    floe_huffman_bins_add<THREADS>(sh.bins, call.hists + c);
    __syncthreads();
}

/* A block takes a range of the tile slots of all chunks. */
__global__ __launch_bounds__(THREADS, BLOCKS_A_PROCESSOR) void lorenzo_count_kernel(
    const __grid_constant__ floe_lorenzo_encode_call call, uint32_t attempt)
{
    floe_dev_begin();
    __shared__ block_shared sh;
    if (*call.status || (attempt == 1 && *call.retry == 0))
        return;
    const uint64_t nslots = call.grid.nchunks * call.grid.slots;
    const uint32_t end = (uint32_t)(nslots * (blockIdx.x + 1) / gridDim.x);
    for (uint32_t at = (uint32_t)(nslots * blockIdx.x / gridDim.x); at < end;) {
        const uint32_t c = at / call.grid.slots, next = min(end, (c + 1) * call.grid.slots);
        const uint32_t last = c * call.grid.slots + (uint32_t)call.chunks[c].view.ntiles;
        if (at < min(next, last) && (attempt == 0 || call.chunks[c].attempt == 1))
            count_range(call, c, at, min(next, last), sh);
        at = next;
    }
}

uint32_t blocks_of(const floe_dev_grid *grid)
{
    const uint64_t some = floe_place_slots(grid) / FLOE_PLACE_WARPS;
    const uint64_t most = (uint64_t)floe_gpu_limits_cuda().processors * BLOCKS_A_PROCESSOR;
    return (uint32_t)(some < most ? some : most);
}

} // namespace

int FLOE_R(floe_lorenzo_count)(const floe_lorenzo_encode_call *call, uint32_t attempt, void *stream)
{
    FLOE_LAUNCH_EARLY(lorenzo_count_kernel, blocks_of(&call->grid), THREADS, 0, (cudaStream_t)stream, *call, attempt);
    return (int)cudaGetLastError();
}

uint64_t FLOE_R(floe_lorenzo_count_spill)(const floe_dev_grid *grid)
{
    return (uint64_t)blocks_of(grid) * WARPS * SCRATCH_WORDS * 4;
}
