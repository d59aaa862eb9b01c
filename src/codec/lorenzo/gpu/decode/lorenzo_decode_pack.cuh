/* SPDX-License-Identifier: BSD-3-Clause */
/* A tile slot of encoder pack, decoded by a warp: for all kernels that decode opened chunks of it. */
#ifndef FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_PACK_CUH
#define FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_PACK_CUH

#include "codec/lorenzo/gpu/decode/lorenzo_decode_general.cuh"

namespace FLOE_LORENZO_DECODING
{

enum {
    PACK_WARPS = 4, /* of a block */
    PACK_THREADS = FLOE_WARP * PACK_WARPS,
    PACK_BLOCKS_A_PROCESSOR = 4, /* 16 warps of 128 registers fill the 65536 of a multiprocessor */
    PACK_SHARED_NBYTES = PACK_WARPS * STAGE_WORDS * 4,
    PACK_ROOM = STAGE_WORDS - LINE_WORDS, /* the end of the stage may be for values on their way out */
    AHEAD = FLOE_WARP * 24 /* tiles: a third of what an H100 or H200 decodes at once; farther gains less */
};

/* A tile's entry and words. */
struct tile_words {
    uint32_t entry, encoder;
    const uint32_t *words; /* device memory; inside the payload: places are sums of what entries hold */
};

FLOE_DEV tile_words words_of(const floe_lorenzo_decode_call &call, uint64_t slot)
{
    const uint4 v = *(const uint4 *)(call.slots + slot);
    tile_words w = {v.z, v.w, (const uint32_t *)call.stream + (v.x | (uint64_t)v.y << 32)};
    return w;
}

/* The words of a tile have come: its base, and its steps are next. even: no values are on their way out by the stage, so that
 * words may fill it. */
FLOE_DEV bool open_tile(pack_source &source, const uint32_t *stage, bool even, uint32_t nsteps, floe_int &base)
{
    window_wait();
    if (!even)
        window_trim(source.w, PACK_ROOM);
    base = (floe_int)word_value(stage + source.w.at);
    source.w.at += BASE_WORDS;
    return source_open(source, nsteps);
}

/* Whole tiles. What does not find room at once is seldom. By value: where the addresses go, nothing stays in registers. */
template <int RANK>
static __device__ __noinline__ outcome decode_parts(target t, uint32_t mode, floe_int base, floe_real step,
                                                    pack_source source, uint4 *line)
{
    return decode_plain<RANK, true>(t, mode, base, step, source, line);
}
template <int RANK>
FLOE_DEV outcome decode_whole(const target &t, uint32_t mode, floe_int base, floe_real step, pack_source source,
                              uint4 *line)
{
    if (source.w.next != source.w.nwords)
        return decode_parts<RANK>(t, mode, base, step, source, line);
    pack_source_of<false> all = {source.w, source.nsteps, source.descriptors};
    return decode_plain<RANK, true>(t, mode, base, step, all, line);
}

/* Tiles that are cut off, not aligned or wanted in part; the end of the stage is for values on their way out. By value. */
template <int RANK>
static __device__ __noinline__ outcome decode_uneven_pack(target t, uint32_t mode, floe_real step, pack_source source,
                                                          uint32_t *stage)
{
    uint4 *line = (uint4 *)(stage + PACK_ROOM);
    floe_int base;
    if (!open_tile(source, stage, false, t.nsteps, base))
        return TILE_BAD;
    return decode_plain<RANK, false>(t, mode, base, step, source, line);
}

template <int RANK>
FLOE_DEV outcome decode_pack(const floe_dev_chunk *chunk, const tile_words &w, uint32_t tile, pack_source &source,
                             uint32_t *stage)
{
    const target t = target_of<RANK>(chunk, tile);
    outcome result = TILE_UNFIT;
    if (t.wanted && entry_is_plain<RANK>(w.entry, chunk->quantizer.kind, t)) {
        const uint32_t mode = floe_tile_mode(w.entry);
        const floe_real step = (floe_real)chunk->quantizer.step;
        if (t.whole) {
            uint4 *line = RANK == 1 ? (uint4 *)(stage + PACK_ROOM) : (uint4 *)NULL;
            floe_int base;
            if (!open_tile(source, stage, RANK != 1, t.nsteps, base))
                return TILE_BAD;
            result = decode_whole<RANK>(t, mode, base, step, source, line);
        } else {
            result = decode_uneven_pack<RANK>(t, mode, step, source, stage);
        }
    }
    if (result == TILE_DONE)
        return result;
    window_wait(); /* for words that may not have been looked at */
    const pack_opener opener = {stage, STAGE_WORDS};
    return t.wanted ? decode_general<RANK>(chunk, tile, w.entry, w.words, opener) : TILE_DONE;
}

/* Has the words of a tile that some warp will decode soon brought near: it has none to wait with. */
FLOE_DEV void prefetch_tile(const floe_lorenzo_decode_call &call, uint64_t slot)
{
    const tile_words w = words_of(call, slot);
    const uint32_t nwords = w.entry & FLOE_TILE_NWORDS_MASK, line = 32 * floe_lane();
    if (entry_is_plain(w.entry) && w.encoder == FLOE_LORENZO_PACK && line < nwords)
        floe_prefetch_far(w.words + line);
}

/* A tile that is to be decoded. chunk NULL: there is none. */
struct found_slot {
    const floe_dev_chunk *chunk;
    tile_words words;
    uint32_t tile;
};

/* That of a slot. What decides where the words are is loaded at once. */
FLOE_DEV found_slot find_slot(const floe_lorenzo_decode_call &call, uint32_t slot)
{
    found_slot f = {NULL, words_of(call, slot), 0};
    const uint32_t slots = call.grid->slots, c = slot / slots;
    const uint64_t nchunks = call.grid->nchunks;
    f.tile = slot % slots;
    if (c < nchunks && f.words.encoder == FLOE_LORENZO_PACK)
        f.chunk = call.chunks + c;
    if (f.chunk && slot + AHEAD < nchunks * slots)
        prefetch_tile(call, slot + AHEAD);
    return f;
}

/* A thread a group of each step; what the words mean is found out while they are on their way. By a warp. */
FLOE_DEV outcome decode_found(const found_slot &f, uint32_t *stage)
{
    const tile_words &w = f.words;
    const uint32_t rank = f.chunk->view.rank;
    pack_source source;
    if (entry_is_plain(w.entry))
        window_open(source.w, w.words, w.entry & FLOE_TILE_NWORDS_MASK, 0, stage, STAGE_WORDS);
    if (f.tile < f.chunk->view.ntiles)
        return rank == 3   ? decode_pack<3>(f.chunk, w, f.tile, source, stage)
               : rank == 2 ? decode_pack<2>(f.chunk, w, f.tile, source, stage)
                           : decode_pack<1>(f.chunk, w, f.tile, source, stage);
    floe_copy_async_wait();
    return TILE_DONE;
}

/* By a warp. */
FLOE_DEV outcome decode_slot(const floe_lorenzo_decode_call &call, uint32_t slot, uint32_t *stage)
{
    const found_slot f = find_slot(call, slot);
    return f.chunk ? decode_found(f, stage) : TILE_DONE;
}

} // namespace FLOE_LORENZO_DECODING

#endif
