/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all ways of encoding a tile share: where its words go, packing a step, raw tiles. A warp owns a tile and a lane a
 * group of each step. Compiled for each element type (FLOE_REAL_BITS).
 */
#ifndef FLOE_CODEC_LORENZO_ENCODE_TILE_CUH
#define FLOE_CODEC_LORENZO_ENCODE_TILE_CUH

#include "base/real.h"
#include "codec/lorenzo_device.h"
#include "codec/lorenzo_lanes.cuh"
#include "codec/lorenzo_layout.h"
#include "codec/lorenzo_tile.h"
#include "stage/huffman/huffman_tile_dev.cuh"
#include "stage/lorenzo/lorenzo_math.h"
#include "stage/pack/pack.h"
#include "stage/quantizer/quantizer_init_math.h"
#include "stage/quantizer/quantizer_math.h"

namespace
{

enum {
    GROUP = FLOE_GROUP_VALUES,
    PLANES = FLOE_REAL_BITS,                /* the widest group */
    BASE_WORDS = FLOE_TILE_BASE_WORDS,      /* of the base, and of any value */
    RAW_WORDS = FLOE_TILE_RAW_WORDS,        /* of a whole tile */
    MOST_PACK_WORDS = FLOE_TILE_PACK_WORDS, /* of a body */
    /* Device memory of a warp that takes the long way, and of its two tiles behind their stages. */
    MASKS_WORDS = 4 * FLOE_TILE_GROUPS,
    SCRATCH_WORDS = MASKS_WORDS + MOST_PACK_WORDS,
    SPILL_WORDS = 2 * RAW_WORDS + SCRATCH_WORDS
};

/* ---- words --------------------------------------------------------------------------------------------------------- */

/* Where the words of a tile go: the first `cap` of them to `words`, `spill_cap` more to `spill`. What finds no room is
 * dropped but counted. */
struct sink {
    uint32_t *words, *spill;
    uint32_t cap, spill_cap;
};

FLOE_DEV void put(const sink &s, uint32_t at, uint32_t word)
{
    if (at < s.cap)
        s.words[at] = word;
    else if (at - s.cap < s.spill_cap)
        s.spill[at - s.cap] = word;
}

FLOE_DEV void put_value(const sink &s, uint32_t at, uint64_t bits)
{
    put(s, at, (uint32_t)bits);
    if (BASE_WORDS == 2)
        put(s, at + 1, (uint32_t)(bits >> 32));
}

/* What became of a tile. */
struct made {
    uint32_t entry, nwords;
    bool raw;
};

FLOE_DEV made made_raw(uint32_t nwords)
{
    made m = {nwords | (uint32_t)FLOE_TILE_RAW << FLOE_TILE_KIND_SHIFT, nwords, true};
    return m;
}

/* ---- packing ------------------------------------------------------------------------------------------------------- */

/* Planes 8 BYTE .. 8 BYTE + N - 1, of which `most` are the last that any lane has. FITS: all of them go to words. */
template <int BYTE, int N, bool FITS, class Uint>
FLOE_DEV void put_planes(const sink &s, uint32_t &at, const Uint u[GROUP], uint32_t width, uint32_t most,
                         uint32_t planes[8])
{
    const uint32_t below = floe_lanes_below();
    floe_planes_of_lane<BYTE, N>(u, planes);
#pragma unroll
    for (int b = 0; b < N; b++)
        if (8 * BYTE + b < (int)most) {
            const bool mine = (int)width > 8 * BYTE + b;
            const uint32_t who = __ballot_sync(FLOE_ALL_LANES, mine), here = at + __popc(who & below);
            if (mine) {
                if (FITS)
                    s.words[here] = planes[b];
                else
                    put(s, here, planes[b]);
            }
            at += __popc(who);
        }
}

/* The upper planes of 64-bit residuals, which are seldom that wide. */
template <bool FITS>
FLOE_DEV void put_high_planes(const sink &s, uint32_t &at, const uint64_t u[GROUP], uint32_t width, uint32_t most)
{
    uint32_t planes[8];
    put_planes<4, 8, FITS>(s, at, u, width, most, planes);
    if (most > 40)
        put_planes<5, 8, FITS>(s, at, u, width, most, planes);
    if (most > 48)
        put_planes<6, 8, FITS>(s, at, u, width, most, planes);
    if (most > 56)
        put_planes<7, 8, FITS>(s, at, u, width, most, planes);
}
template <bool FITS> FLOE_DEV void put_high_planes(const sink &, uint32_t &, const uint32_t *, uint32_t, uint32_t) {}

/* Value planes. WIDEST: no residual has more bits; low: planes 0..3 of this lane, 0 beyond its width. */
template <int WIDEST, bool FITS, class Uint>
FLOE_DEV void put_values(const sink &s, uint32_t &at, const Uint u[GROUP], uint32_t width, uint32_t most,
                         uint32_t low[4])
{
    uint32_t planes[8];
#pragma unroll
    for (int b = 0; b < 4; b++)
        low[b] = 0;
    if (most == 0)
        return;
    if (most <= 4)
        put_planes<0, 4, FITS>(s, at, u, width, most, planes);
    else
        put_planes<0, 8, FITS>(s, at, u, width, most, planes);
#pragma unroll
    for (int b = 0; b < 4; b++)
        low[b] = planes[b];
    if (most > 8)
        put_planes<1, 8, FITS>(s, at, u, width, most, planes);
    if (most > 16)
        put_planes<2, 8, FITS>(s, at, u, width, most, planes);
    if (WIDEST > 24 && most > 24)
        put_planes<3, 8, FITS>(s, at, u, width, most, planes);
    if (WIDEST > 32 && most > 32)
        put_high_planes<FITS>(s, at, u, width, most);
}

FLOE_DEV void put_uniform(const sink &s, uint32_t &at, uint32_t word)
{
    if (floe_lane() == 0)
        put(s, at, word);
    at++;
}

/* A step as pack.h has it: flat word, width planes, value planes, from word `at` on. Returns the descriptor. Bits of u
 * above WIDEST are not looked at. */
template <int WIDEST, class Uint>
FLOE_DEV uint32_t put_step(const sink &s, uint32_t &at, const Uint u[GROUP], uint32_t width, bool flat, bool present,
                           uint32_t low[4])
{
    const uint32_t most = __reduce_max_sync(FLOE_ALL_LANES, width);
    uint32_t least = __reduce_min_sync(FLOE_ALL_LANES, present ? width : (uint32_t)PLANES);
    const uint32_t planes = 32 - __clz((int)(most - least));
    const uint32_t flats = __ballot_sync(FLOE_ALL_LANES, flat), presents = __ballot_sync(FLOE_ALL_LANES, present);
    const uint32_t kind = flats == 0 ? 0 : flats == presents ? 1 : 2;
    if (kind == 2)
        put_uniform(s, at, flats);
    const uint32_t above = present ? width - least : 0;
    for (uint32_t b = 0; b < planes; b++)
        put_uniform(s, at, __ballot_sync(FLOE_ALL_LANES, above >> b & 1));
    if (at + __reduce_add_sync(FLOE_ALL_LANES, width) <= s.cap)
        put_values<WIDEST, true>(s, at, u, width, most, low);
    else
        put_values<WIDEST, false>(s, at, u, width, most, low);
    return least << FLOE_PACK_LEAST_SHIFT | planes << FLOE_PACK_PLANES_SHIFT | kind << FLOE_PACK_FLAT_SHIFT;
}

/* ---- counting ------------------------------------------------------------------------------------------------------ */

/* Counts nothing. */
struct no_count {
    enum { COUNTS = 0 };
    template <class Uint>
    __device__ __forceinline__ void step(uint32_t, const Uint *, const uint32_t *, uint32_t, bool, bool)
    {
    }
};

/* Adds the symbols of each step to a block's histogram. A walk that came to nothing is taken back by the same walk with
 * weight -1; heads are counted only at the end of one that holds. */
struct step_count {
    enum { COUNTS = 1 };
    uint32_t *bins;
    floe_huffman_heads *heads;
    floe_huffman_counter counter;

    __device__ __forceinline__ void start(uint32_t weight)
    {
        counter = floe_huffman_counter_start(bins, heads, weight);
    }
    template <class Uint>
    __device__ __forceinline__ void step(uint32_t s, const Uint *u, const uint32_t *low, uint32_t width, bool flat,
                                         bool present)
    {
        floe_huffman_count_step(counter, s, u, low, width, flat, present);
    }
};

/* ---- cells --------------------------------------------------------------------------------------------------------- */

/* A tile and where its cells are. */
struct source {
    const floe_dev_chunk *chunk;
    floe_tile_box box;
    const floe_real *origin; /* of the tile */
    int64_t z, y, x;         /* strides, elements */
};

FLOE_DEV source source_of(const floe_dev_chunk *chunk, uint32_t tile)
{
    source f;
    f.chunk = chunk;
    floe_view_tile(&chunk->view, tile, &f.box);
    f.origin = (const floe_real *)chunk->origin;
    for (int a = 0; a < FLOE_VIEW_AXES; a++)
        f.origin += (int64_t)f.box.lo[a] * chunk->stride[a];
    f.z = chunk->stride[FLOE_VIEW_Z];
    f.y = chunk->stride[FLOE_VIEW_Y];
    f.x = chunk->stride[FLOE_VIEW_X];
    return f;
}

FLOE_DEV uint32_t raw_nwords(const source &f) { return (uint32_t)f.box.ncells * BASE_WORDS; }

/* The values themselves: x first, then y, then z. */
FLOE_DEV_SELDOM void write_raw(const floe_dev_chunk *chunk, uint32_t tile, uint32_t *words)
{
    const source f = source_of(chunk, tile);
    const bool line = chunk->view.rank == 1;
    const uint32_t nx = f.box.nx, ny = f.box.ny, n = (uint32_t)f.box.ncells;
    for (uint32_t i = floe_lane(); i < n; i += FLOE_WARP) {
        const uint32_t x = line ? i : i % nx, row = line ? 0 : i / nx;
        const uint64_t bits =
            FLOE_R(floe_real_bits)(f.origin[(int64_t)x * f.x + (int64_t)(row % ny) * f.y + (int64_t)(row / ny) * f.z]);
        words[i * BASE_WORDS] = (uint32_t)bits;
        if (BASE_WORDS == 2)
            words[i * BASE_WORDS + 1] = (uint32_t)(bits >> 32);
    }
}

} // namespace

#endif
