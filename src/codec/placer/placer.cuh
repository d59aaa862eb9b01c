/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles of a codec's chunks to their places: records stand one behind another, and where a tile goes is known only when all
 * before it are made. A persistent kernel whose warps take tile slots in order; while a warp makes a tile into its stage, one
 * warp of the grid finds out where the one before belongs. A kernel of tiles is
 *
 *   a layout    struct that writes what stands around a chunk's tiles. Offsets are bytes, places words of the stream:
 *                 parts                                   a type with a member ntiles: how many tiles the chunk has
 *                 floe_placer placer()                    see there; its state cleared
 *                 void wait()                             until all that follows may be read
 *                 parts parts_of(uint64_t c)              of a chunk; c may be the number of chunks
 *                 uint64_t start(uint64_t offset, parts)  place of the first tile of a chunk whose record begins there
 *                 uint64_t finish(uint64_t c, uint64_t offset, uint64_t start, uint64_t nwords, parts)
 *                                                         one lane: the chunk is complete -> where the next record begins
 *                 void end(uint64_t offset)               the whole warp, once: all chunks are
 *                 uint32_t ntiles(uint32_t c)
 *                 void prefix(uint32_t c, uint64_t start) a whole warp: what stands before the tiles
 *                 void enter(const floe_place_tile &t, uint64_t start)   one lane: t.entry to where entries are
 *   a maker     struct with three members, each called by a whole warp:
 *                 void fetch(const floe_place_tile &t)    the warp's next tile: what may be under way early.
 *                                                         The warp is synchronized before and after
 *                 void make(floe_place_tile &t)           t.tile of t.chunk -> t.words, t.spill (see floe_place_put),
 *                                                         t.nwords, t.entry, t.raw
 *                 void raw(const floe_place_tile &t, uint32_t *dst)
 *                                                         t.raw only: its t.nwords words, which make has not written
 *   the kernel  __launch_bounds__(FLOE_PLACE_THREADS): floe_place_run, by all threads, with
 *                 stage   half_words of shared memory, of this warp, and as many `apart` words behind
 *                 spill   2 * spill_words of device memory, of this warp: what a tile has beyond half_words. A tile that
 *                         is not raw has half_words + spill_words at most
 *   the grid    floe_place_blocks of them at most: that many fit the GPU at once, and each one more would only wait
 *
 * It writes tiles, and nothing at or beyond the stream's capacity; layout writes all else.
 */
#ifndef FLOE_CODEC_PLACER_PLACER_CUH
#define FLOE_CODEC_PLACER_PLACER_CUH

#include "backend/device.cuh"
#include "backend/device_scan.cuh"
#include "codec/codec_device.h"

enum { FLOE_PLACE_WARPS = 4, FLOE_PLACE_THREADS = FLOE_WARP * FLOE_PLACE_WARPS };

/* ---- state --------------------------------------------------------------------------------------------------------- */

/* head | place of each chunk | a word for each slot. */
typedef struct floe_place_head {
    uint32_t ticket;    /* 0: the scanner; i: slot i - 1 */
    uint32_t codec[15]; /* counters of the codec's own */
} floe_place_head;
static_assert(sizeof(floe_place_head) == 64, "what follows is aligned");

/* What a slot's tile has in words, then where it belongs, in words from the start of the stream; 0 until that is known. */
#define FLOE_PLACE_IS_SIZE  ((uint64_t)1 << 62)
#define FLOE_PLACE_IS_THERE ((uint64_t)1 << 63)

typedef struct floe_place_state {
    floe_place_head *head;
    uint64_t *slots;
    uint64_t *starts; /* of each chunk's payload: FLOE_PLACE_IS_THERE and the place */
} floe_place_state;

/* Where tiles go. By value. */
typedef struct floe_placer {
    uint32_t *stream;
    uint64_t capacity; /* words */
    uint32_t slots;    /* of a chunk, its tiles first */
    uint64_t nchunks;  /* nchunks * slots below 2^31 */
    uint64_t offset;   /* of the first record */
    floe_place_state state;
} floe_placer;

static __host__ __device__ inline uint64_t floe_place_slots(const floe_dev_grid *grid)
{
    return grid->nchunks * grid->slots;
}

static inline uint64_t floe_place_state_nbytes(const floe_dev_grid *grid)
{
    return sizeof(floe_place_head) + 8 * (floe_place_slots(grid) + grid->nchunks);
}

FLOE_DEV floe_place_state floe_place_state_of(void *memory, uint64_t nchunks)
{
    floe_place_state s;
    s.head = (floe_place_head *)memory;
    s.starts = (uint64_t *)(s.head + 1);
    s.slots = s.starts + nchunks;
    return s;
}

/* Blocks of a kernel with so many to a multiprocessor. */
static inline uint32_t floe_place_blocks(const floe_dev_grid *grid, uint32_t blocks_a_processor)
{
    uint64_t most = floe_place_slots(grid) / FLOE_PLACE_WARPS + 1; /* the scanner */
    uint64_t fit = (uint64_t)floe_gpu_limits_cuda().processors * blocks_a_processor;
    return (uint32_t)(most < fit ? most : fit);
}

/* v: what was last seen there. */
FLOE_DEV uint64_t floe_place_wait(const uint64_t *p, uint64_t v)
{
    for (; !(v & FLOE_PLACE_IS_THERE); v = floe_load_shared_state(p))
        floe_dev_pause();
    return v & ~FLOE_PLACE_IS_THERE;
}

/* ---- the scanner --------------------------------------------------------------------------------------------------- */

/* Places the tiles of slots first..end-1 as they come in, the first one at word `place`; returns the word behind the last. A
 * warp; a lane looks at WINDOW slots at a time. */
FLOE_DEV uint64_t floe_place_scan_chunk(const floe_place_state &state, uint64_t first, uint64_t end, uint64_t place)
{
    enum { WINDOW = 4 };
    const uint32_t lane = floe_lane();
    while (first < end) {
        uint32_t v[WINDOW], here = 0, sum = 0;
        const uint64_t i = first + WINDOW * lane;
        bool run = true;
#pragma unroll
        for (int k = 0; k < WINDOW; k++) {
            uint64_t s = i + k < end ? floe_load_shared_state(state.slots + i + k) : 0;
            run &= s != 0;
            here += run;
            v[k] = run ? (uint32_t)s : 0; /* less than 2^32 */
        }
        uint32_t whole = __ballot_sync(FLOE_ALL_LANES, here == WINDOW);
        if (lane > (~whole ? (uint32_t)__ffs((int)~whole) - 1 : 32u)) /* behind a gap */
            here = 0;
#pragma unroll
        for (int k = 0; k < WINDOW; k++)
            sum += k < (int)here ? v[k] : 0;
        const uint32_t scan = floe_warp_sum_to(sum);
        uint64_t at = place + (scan - sum);
#pragma unroll
        for (int k = 0; k < WINDOW; k++)
            if (k < (int)here) {
                floe_store_shared_state(state.slots + i + k, FLOE_PLACE_IS_THERE | at);
                at += v[k];
            }
        place += __shfl_sync(FLOE_ALL_LANES, scan, FLOE_WARP - 1);
        const uint32_t count = __reduce_add_sync(FLOE_ALL_LANES, here);
        first += count;
        if (count == 0)
            floe_dev_pause();
    }
    return place;
}

template <class Layout> FLOE_DEV_COLD void floe_place_scan(Layout layout)
{
    const floe_placer placer = layout.placer();
    uint64_t offset = placer.offset;
    layout.wait();
    typename Layout::parts next = layout.parts_of(0);
    for (uint64_t c = 0; c < placer.nchunks; c++) {
        const typename Layout::parts p = next;
        const uint64_t start = layout.start(offset, p), first = c * placer.slots;
        if (floe_lane() == 0)
            floe_store_shared_state(placer.state.starts + c, FLOE_PLACE_IS_THERE | start);
        next = layout.parts_of(c + 1); /* on its way meanwhile */
        const uint64_t end = floe_place_scan_chunk(placer.state, first, first + p.ntiles, start);
        if (floe_lane() == 0)
            offset = layout.finish(c, offset, start, end - start, p);
        offset = __shfl_sync(FLOE_ALL_LANES, offset, 0);
    }
    layout.end(offset);
}

/* ---- warps --------------------------------------------------------------------------------------------------------- */

/* A tile of a warp, from make until it is where it belongs. */
typedef struct floe_place_tile {
    uint32_t *words, *spill; /* the first half_words words, the others */
    uint32_t half_words, spill_words;
    uint32_t chunk, tile; /* tile of that chunk; FLOE_PLACE_NONE: it has fewer */
    uint32_t slot;        /* of all tile slots */
    uint32_t entry, nwords;
    bool raw;
} floe_place_tile;

/* Word `at` of a tile. What finds no room is dropped: such a tile is going to be raw. */
FLOE_DEV void floe_place_put(const floe_place_tile &t, uint32_t at, uint32_t word)
{
    if (at < t.half_words)
        t.words[at] = word;
    else if (at - t.half_words < t.spill_words)
        t.spill[at - t.half_words] = word;
}

/* Where a warp is in its walk over slots. */
typedef struct floe_place_walk {
    uint32_t slot;                 /* under way */
    uint32_t before, chunk_before; /* the one before, FLOE_PLACE_NONE: there is none; and its chunk */
    uint32_t turn;                 /* which half the slot under way has */
} floe_place_walk;

/* Shared memory of a warp: what it has to remember while a tile is made. Registers for it would go to local memory. */
typedef struct floe_place_own {
    uint32_t chunk, tile; /* of the slot to come */
    uint32_t next;
    uint64_t place, start;
    floe_place_walk walk;
    floe_place_tile kept[2]; /* of the slot under way and of the one before */
} floe_place_own;
typedef struct floe_place_shared {
    floe_place_own warp[FLOE_PLACE_WARPS];
} floe_place_shared;

enum : uint32_t { FLOE_PLACE_NONE = 0xFFFFFFFFu };

/* Words from a stage to the stream by a warp: several on their way at once, which the compiler cannot know to be right. */
FLOE_DEV void floe_place_copy(uint32_t *to, const uint32_t *from, uint32_t n)
{
    enum { AT_ONCE = 8 };
    uint32_t i = floe_lane();
    for (; i + (AT_ONCE - 1) * FLOE_WARP < n; i += AT_ONCE * FLOE_WARP) {
        uint32_t v[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            v[k] = from[i + k * FLOE_WARP];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            to[i + k * FLOE_WARP] = v[k];
    }
    for (; i < n; i += FLOE_WARP)
        to[i] = from[i];
}

/* Where a slot's tile belongs, as far as it is known: on its way while other things are done. One lane. */
typedef struct floe_place_early {
    uint64_t place, start;
} floe_place_early;

FLOE_DEV floe_place_early floe_place_look(const floe_place_state &state, uint32_t slot, uint32_t chunk)
{
    floe_place_early e = {floe_load_shared_state(state.slots + slot), floe_load_shared_state(state.starts + chunk)};
    return e;
}

/* Waits for the place of a kept tile and copies it there; the whole warp. slot, chunk: of that tile. */
template <class Layout, class Maker>
FLOE_DEV void floe_place_flush(const floe_placer &placer, floe_place_early early, floe_place_own &own,
                               const floe_place_walk &walk, const Layout &layout, Maker &maker)
{
    const uint32_t lane = floe_lane(), slot = walk.before, chunk = walk.chunk_before;
    const floe_place_tile &t = own.kept[walk.turn];
    if (lane == 0) {
        own.place = floe_place_wait(placer.state.slots + slot, early.place);
        own.start = floe_place_wait(placer.state.starts + chunk, early.start);
    }
    __syncwarp();
    const uint64_t start = own.start, place = own.place;
    if (slot % placer.slots == 0)
        layout.prefix(chunk, start);
    if (t.tile == FLOE_PLACE_NONE || place + t.nwords > placer.capacity)
        return;
    uint32_t *dst = placer.stream + place;
    if (lane == 0)
        layout.enter(t, start);
    if (t.raw) {
        maker.raw(t, dst);
        return;
    }
    const uint32_t staged = min(t.nwords, t.half_words);
    floe_place_copy(dst, t.words, staged);
    if (t.nwords > staged)
        floe_place_copy(dst + staged, t.spill, t.nwords - staged);
}

/* Begins the tile of a slot. */
template <class Layout, class Maker>
FLOE_DEV void floe_place_next(const floe_placer &placer, floe_place_own &own, uint32_t slot, const Layout &layout,
                              Maker &maker)
{
    floe_place_tile t;
    t.slot = slot;
    t.chunk = t.slot / placer.slots;
    t.tile = t.slot % placer.slots;
    if (t.tile >= layout.ntiles(t.chunk))
        t.tile = FLOE_PLACE_NONE;
    __syncwarp(); /* what was there has been read */
    if (floe_lane() == 0) {
        own.chunk = t.chunk;
        own.tile = t.tile;
    }
    __syncwarp();
    if (t.tile != FLOE_PLACE_NONE)
        maker.fetch(t);
}

/* The next slot. One lane. */
FLOE_DEV uint32_t floe_place_ticket(const floe_place_state &state) { return atomicAdd(&state.head->ticket, 1u) - 1; }

/* Makes the slot's tile, if it has one. */
template <class Maker>
FLOE_DEV void floe_place_make(const floe_place_own &own, floe_place_tile &t, uint32_t slot, Maker &maker)
{
    t.chunk = own.chunk;
    t.tile = own.tile;
    t.slot = slot;
    t.entry = t.nwords = 0;
    t.raw = false;
    if (t.tile != FLOE_PLACE_NONE)
        maker.make(t);
}

FLOE_DEV floe_place_walk floe_place_walk_get(const floe_place_own &own)
{
    const volatile floe_place_walk *w = &own.walk;
    floe_place_walk walk = {w->slot, w->before, w->chunk_before, w->turn};
    return walk;
}
FLOE_DEV void floe_place_walk_put(floe_place_own &own, const floe_place_walk &walk)
{
    __syncwarp(); /* what was there has been read */
    if (floe_lane() == 0)
        own.walk = walk;
    __syncwarp();
}

/* What a warp makes tiles in. */
typedef struct floe_place_stage {
    uint32_t *stage; /* shared memory */
    uint32_t half_words, apart;
    uint32_t *spill; /* device memory */
    uint32_t spill_words;
} floe_place_stage;

/* The first warp to start owns the scan; every other takes slots until none is left. Who waits has written its own size
 * before, and slots are handed out by a counter to warps that run, so the wait ends: of all slots that are waited for, those
 * before the first are being made. A warp has two half stages, so that one tile waits for its place while the next is made. */
template <class Layout, class Maker>
FLOE_DEV void floe_place_run(const Layout &layout, Maker &maker, floe_place_shared &sh, const floe_place_stage &at)
{
    const floe_placer placer = layout.placer();
    const floe_place_state &state = placer.state;
    const uint32_t nslots = (uint32_t)(placer.nchunks * placer.slots);
    const bool leads = floe_lane() == 0;
    floe_place_own &own = sh.warp[threadIdx.x / FLOE_WARP];
    if (leads)
        own.next = floe_place_ticket(state);
    __syncwarp();
    floe_place_walk walk = {own.next, FLOE_PLACE_NONE, 0, 0};
    if (walk.slot == FLOE_PLACE_NONE) {
        floe_place_scan(layout);
        return;
    }
    __syncwarp(); /* next was read */
    if (walk.slot < nslots)
        floe_place_next(placer, own, walk.slot, layout, maker);
    __syncwarp();
    while (walk.slot < nslots) {
        floe_place_tile t;
        t.words = at.stage + walk.turn * at.apart;
        t.spill = at.spill + (uint64_t)walk.turn * at.spill_words;
        t.half_words = at.half_words;
        t.spill_words = at.spill_words;
        floe_place_walk_put(own, walk);
        floe_place_make(own, t, walk.slot, maker);
        walk = floe_place_walk_get(own);
        const bool some = t.tile != FLOE_PLACE_NONE;
        const uint32_t chunk = t.chunk;
        __syncwarp(); /* what was kept there has been read */
        if (leads) {
            own.kept[walk.turn] = t;
            if (some)
                floe_store_shared_state(state.slots + walk.slot, FLOE_PLACE_IS_SIZE | t.nwords);
            own.next = floe_place_ticket(state);
        }
        __syncwarp();
        const uint32_t next = own.next;
        floe_place_early early = {0, 0};
        if (leads && walk.before != FLOE_PLACE_NONE)
            early = floe_place_look(state, walk.before, walk.chunk_before);
        if (next < nslots)
            floe_place_next(placer, own, next, layout, maker);
        walk.turn ^= 1;
        if (walk.before != FLOE_PLACE_NONE)
            floe_place_flush(placer, early, own, walk, layout, maker);
        else
            __syncwarp(); /* next was read */
        walk.before = some ? walk.slot : FLOE_PLACE_NONE;
        walk.chunk_before = chunk;
        walk.slot = next;
    }
    if (walk.before == FLOE_PLACE_NONE)
        return;
    __syncwarp(); /* place was read by all */
    walk.turn ^= 1;
    floe_place_flush(placer, {0, 0}, own, walk, layout, maker);
}

#endif
