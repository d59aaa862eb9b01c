/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels that decode tiles of one element type: one for encoder pack, one for encoder huffman, each leaving the other's
 * chunks alone. lorenzo_decode_plain.cuh takes the tiles that it can, lorenzo_decode_general.cuh the others.
 */
#include "codec/lorenzo/gpu/lorenzo_kernels.h"

#include "codec/lorenzo/gpu/decode/lorenzo_decode_pack.cuh"

namespace
{

using namespace FLOE_LORENZO_DECODING;

enum {
    /* Encoder huffman: one block a multiprocessor, whose warps share the tables of a chunk. */
    HUFFMAN_WARPS = 12,        /* of 168 registers; fewer where a block has less shared memory */
    CODE_WORDS = 1024,         /* of a tile, at hand: at a ratio of 8; more are read where they are */
    ENTRIES_NBYTES = 24 << 10, /* of tables, at least; larger ones are read where they are */
    WIDE_NBYTES = FLOE_HUFFMAN_WIDE_NBYTES(floe_uint)
};

FLOE_DEV bool has_failed(const floe_lorenzo_decode_call &call)
{
    return *(volatile const uint32_t *)call.status != FLOE_OK;
}

FLOE_DEV void report_status(const floe_lorenzo_decode_call &call, outcome result)
{
    if (result != TILE_DONE && floe_lane() == 0)
        atomicCAS(call.status, (uint32_t)FLOE_OK, (uint32_t)FLOE_ERR_FORMAT);
}

/* ---- pack ---------------------------------------------------------------------------------------------------------- */

/* A warp owns a tile. Blocks do not work together. */
__global__ __launch_bounds__(PACK_THREADS, PACK_BLOCKS_A_PROCESSOR) void lorenzo_decode_pack_kernel(
    const __grid_constant__ floe_lorenzo_decode_call call)
{
    floe_dev_begin();
    FLOE_DYNAMIC_SHARED(uint32_t, stages);
    const uint32_t warp = threadIdx.x / FLOE_WARP, slot = blockIdx.x * PACK_WARPS + warp;
    /* the same for all lanes, whatever others report meanwhile */
    if (slot < call.max_slots && !__any_sync(FLOE_ALL_LANES, has_failed(call)))
        report_status(call, decode_slot(call, slot, stages + warp * STAGE_WORDS));
}

/* ---- huffman ------------------------------------------------------------------------------------------------------- */

/* Shared memory of a warp. */
struct huffman_place {
    floe_huffman_groups groups;
    uint32_t codes[CODE_WORDS];
};

/* Shared memory of a block; a place for each warp follows, and as many entries of tables as there is room for. */
struct alignas(16) huffman_shared {
    uint32_t table[FLOE_HUFFMAN_TABLE_WORDS];
    uint32_t next; /* tile of the chunk */
    uint32_t failed;
};
static_assert((int)CODE_WORDS >= (int)LINE_WORDS, "codes make room for values");
static_assert((int)CODE_WORDS >= (int)FLOE_HUFFMAN_NEAR_WORDS, "or for those that are decoded now, of many");
static_assert(sizeof(huffman_place) % 16 == 0, "words of the next warp are aligned");

/* Makes a source of a tile's body. */
struct huffman_opener {
    floe_huffman_tables tables;
    huffman_place *place;
    void *wide;
    typedef huffman_source source;

    template <int RANK> __device__ __forceinline__ void set_present(const target &t) const
    {
        for (uint32_t s = 0; s < t.nsteps; s++) {
            const uint32_t present = __ballot_sync(FLOE_ALL_LANES, group_cells<RANK>(t.in, s) != 0);
            if (floe_lane() == 0)
                place->groups.present[s] = present;
        }
        __syncwarp();
    }
    /* words of the body from word `from` of the tile on, to shared memory where they fit */
    __device__ __forceinline__ const uint32_t *fetch(const uint32_t *words, uint32_t n) const
    {
        const uint32_t skip = (uint32_t)((uintptr_t)words >> 2 & 3);
        const uint4 *src = (const uint4 *)(words - skip);
        if (skip + n + 3 > CODE_WORDS)
            return words;
        for (uint32_t i = floe_lane(); 4 * i < skip + n; i += FLOE_WARP)
            floe_copy16_async_part((uint4 *)place->codes + i, src + i, 4 * min(skip + n - 4 * i, 4u));
        floe_copy_async_commit();
        window_wait();
        return place->codes + skip;
    }
    __device__ __forceinline__ bool open_body(uint32_t nsteps, const uint32_t *words, uint32_t n,
                                              huffman_source &source) const
    {
        source.groups = &place->groups;
        source.wide = wide;
        return floe_huffman_decode_tile_dev<floe_uint>(tables, fetch(words, n), n, nsteps, &place->groups, place->codes,
                                                       wide);
    }
    __device__ __forceinline__ bool open(const target &t, const uint32_t *words, uint32_t nwords, uint32_t from,
                                         huffman_source &source) const
    {
        __syncwarp();
        return open_body(t.nsteps, words + from, nwords - from, source);
    }
};

/* Tiles that are cut off, not aligned or wanted in part. By value: where the addresses go, nothing stays in registers. */
template <int RANK>
static __device__ __noinline__ outcome decode_uneven_huffman(target t, uint32_t mode, floe_int base, floe_real step,
                                                             huffman_source source, uint4 *line)
{
    return decode_plain<RANK, false>(t, mode, base, step, source, line);
}

template <int RANK>
FLOE_DEV outcome decode_huffman(const floe_dev_chunk *chunk, const tile_words &w, uint32_t tile,
                                const huffman_opener &opener)
{
    const target t = target_of<RANK>(chunk, tile);
    if (!t.wanted)
        return TILE_DONE;
    outcome result = TILE_UNFIT;
    __syncwarp(); /* nobody reads the groups of the tile before */
    opener.set_present<RANK>(t);
    if (entry_is_plain<RANK>(w.entry, chunk->quantizer.kind, t)) {
        huffman_source source;
        const uint32_t mode = floe_tile_mode(w.entry);
        const floe_real step = (floe_real)chunk->quantizer.step;
        const floe_int base = (floe_int)word_value(w.words);
        if (!opener.open(t, w.words, w.entry & FLOE_TILE_NWORDS_MASK, BASE_WORDS, source))
            return TILE_BAD;
        uint4 *line = (uint4 *)opener.place->codes; /* which are decoded */
        result = t.whole ? decode_plain<RANK, true>(t, mode, base, step, source, line)
                         : decode_uneven_huffman<RANK>(t, mode, base, step, source, line);
    }
    if (result == TILE_UNFIT)
        result = decode_general<RANK>(chunk, tile, w.entry, w.words, opener);
    return result;
}

/* Tiles first .. end - 1 of a chunk. The whole block; wide: NULL in warps for which there is no tile. */
FLOE_DEV void decode_run(const floe_lorenzo_decode_call &call, uint32_t c, uint32_t first, uint32_t end,
                         huffman_shared *sh, uint32_t room, void *wide)
{
    const floe_dev_chunk *chunk = call.chunks + c;
    const uint32_t warp = threadIdx.x / FLOE_WARP, rank = chunk->view.rank, slots = call.grid->slots;
    huffman_place *places = (huffman_place *)(sh + 1);
    uint16_t *entry = (uint16_t *)(places + blockDim.x / FLOE_WARP);
    __syncthreads(); /* tables and ticket are free */
    if (threadIdx.x == 0)
        sh->next = first;
    const huffman_opener opener = {floe_huffman_tables_load<floe_uint>(call.decoders + c, sh->table, entry, room),
                                   places + warp, wide};
    __syncthreads();
    while (wide) {
        uint32_t tile = floe_lane() == 0 ? atomicAdd(&sh->next, 1u) : 0;
        tile = __shfl_sync(FLOE_ALL_LANES, tile, 0);
        if (tile >= end)
            return;
        const tile_words w = words_of(call, (uint64_t)c * slots + tile);
        report_status(call, rank == 3   ? decode_huffman<3>(chunk, w, tile, opener)
                            : rank == 2 ? decode_huffman<2>(chunk, w, tile, opener)
                                        : decode_huffman<1>(chunk, w, tile, opener));
    }
}

/* Warps of a block that decode: one for each slot that it owns, if these are fewer. */
FLOE_HD uint32_t huffman_workers(uint64_t nslots, uint32_t nblocks)
{
    return (uint32_t)floe_min64(floe_ceil_div(nslots, nblocks), HUFFMAN_WARPS);
}

/* A block owns an equal share of the slots, and takes its tiles chunk by chunk; a warp owns a tile. room: for entries. */
__global__ __launch_bounds__(FLOE_WARP *HUFFMAN_WARPS, 1) void lorenzo_decode_huffman_kernel(
    const __grid_constant__ floe_lorenzo_decode_call call, uint32_t room)
{
    floe_dev_begin();
    FLOE_DYNAMIC_SHARED(huffman_shared, sh);
    if (threadIdx.x == 0)
        sh->failed = has_failed(call);
    __syncthreads();
    if (sh->failed)
        return;
    const uint32_t warp = threadIdx.x / FLOE_WARP, slots = call.grid->slots;
    const uint64_t all = call.grid->nchunks * slots, share = floe_ceil_div(all, gridDim.x);
    const uint64_t begin = floe_min64(blockIdx.x * share, all), end = floe_min64(begin + share, all);
    const uint32_t nworkers = huffman_workers(call.max_slots, gridDim.x);
    uint8_t *wide = (uint8_t *)call.spill + (uint64_t)(blockIdx.x * nworkers + warp) * WIDE_NBYTES;
    for (uint64_t at = begin; at < end;) {
        const uint32_t c = (uint32_t)(at / slots), first = (uint32_t)(at % slots);
        const uint32_t last = (uint32_t)floe_min64(first + (end - at), slots);
        const uint32_t ntiles = (uint32_t)floe_min64(call.chunks[c].view.ntiles, last);
        at += last - first;
        if (first >= ntiles || call.chunks[c].encoder != FLOE_LORENZO_HUFFMAN)
            continue;
        if (call.book_bad[c])
            report_status(call, TILE_BAD);
        else
            decode_run(call, c, first, ntiles, sh, room, warp < nworkers ? wide : NULL);
    }
}

/* ---- launch -------------------------------------------------------------------------------------------------------- */

cudaError_t launch_pack(const floe_lorenzo_decode_call &call, cudaStream_t stream)
{
    cudaError_t e = cudaFuncSetAttribute(lorenzo_decode_pack_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         PACK_SHARED_NBYTES);
    if (e != cudaSuccess)
        return e;
    FLOE_LAUNCH_EARLY(lorenzo_decode_pack_kernel, (uint32_t)floe_ceil_div(call.max_slots, PACK_WARPS), PACK_THREADS,
                      PACK_SHARED_NBYTES, stream, call);
    return cudaGetLastError();
}

uint32_t huffman_blocks(uint64_t max_slots)
{
    return (uint32_t)floe_min64(floe_gpu_limits_cuda().processors, max_slots);
}

cudaError_t launch_huffman(const floe_lorenzo_decode_call &call, cudaStream_t stream)
{
    const uint32_t nbytes = floe_gpu_limits_cuda().shared_nbytes; /* all that a block can have */
    const uint32_t warps =
        min((nbytes - ENTRIES_NBYTES - (uint32_t)sizeof(huffman_shared)) / (uint32_t)sizeof(huffman_place),
            (uint32_t)HUFFMAN_WARPS);
    const uint32_t room = (nbytes - (uint32_t)sizeof(huffman_shared) - warps * (uint32_t)sizeof(huffman_place)) / 2;
    cudaError_t e =
        cudaFuncSetAttribute(lorenzo_decode_huffman_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes);
    if (e != cudaSuccess)
        return e;
    FLOE_LAUNCH_EARLY(lorenzo_decode_huffman_kernel, huffman_blocks(call.max_slots), FLOE_WARP * warps, nbytes, stream,
                      call, room);
    return cudaGetLastError();
}

} // namespace

int FLOE_R(floe_lorenzo_decode)(const floe_lorenzo_decode_call *call, void *stream)
{
    if (call->max_slots == 0)
        return cudaSuccess;
    cudaError_t e = launch_pack(*call, (cudaStream_t)stream);
    if (e == cudaSuccess && call->decoders)
        e = launch_huffman(*call, (cudaStream_t)stream);
    return (int)e;
}

uint64_t FLOE_R(floe_lorenzo_decode_spill)(uint64_t max_slots)
{
    const uint32_t nblocks = huffman_blocks(max_slots);
    return nblocks ? (uint64_t)nblocks * huffman_workers(max_slots, nblocks) * WIDE_NBYTES : 0;
}
