/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all ways of encoding a tile share: where its words go, packing a step, raw tiles. A warp owns a tile and a lane a
 * group of each step. Compiled for each element type (FLOE_REAL_BITS).
 */
#ifndef FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_TILE_CUH
#define FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_TILE_CUH

#include "base/real.h"
#include "codec/lorenzo/format/lorenzo_tile.h"
#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "codec/lorenzo/gpu/lorenzo_lanes.cuh"
#include "stage/huffman/huffman_symbols_dev.cuh"
#include "stage/lorenzo/lorenzo.h"
#include "stage/pack/pack.h"
#include "stage/quantizer/quantizer_init_math.h"
#include "stage/quantizer/quantizer_math.h"

/* Names of all encode/ headers; what they stand for differs from one element type to the other. */
#define FLOE_LORENZO_ENCODING FLOE_R(floe_lorenzo_encoding)

namespace FLOE_LORENZO_ENCODING
{

enum {
    GROUP = FLOE_GROUP_VALUES,
    PLANES = FLOE_REAL_BITS,                /* the widest group */
    BASE_WORDS = FLOE_TILE_BASE_WORDS,      /* of the base, and of any value */
    RAW_WORDS = FLOE_TILE_RAW_WORDS,        /* of a whole tile */
    MOST_PACK_WORDS = FLOE_TILE_PACK_WORDS, /* of a body */
    /* Device memory of a warp that takes the general path, and of its two tiles behind their stages. */
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

/* ---- packing ------------------------------------------------------------------------------------------------------- */

/* A plane, of the lanes that have it. FITS: all of it goes to words. */
template <bool FITS> FLOE_DEV void put_plane(const sink &s, uint32_t &at, bool has, uint32_t plane)
{
    const uint32_t who = __ballot_sync(FLOE_ALL_LANES, has), here = at + __popc(who & floe_lanes_below());
    if (has && FITS)
        s.words[here] = plane;
    else if (has)
        put(s, here, plane);
    at += __popc(who);
}

/* Planes FROM .. FROM + 3, as far as lanes have them: below `full` all have, and from `most` on none. */
template <int FROM, bool FITS>
FLOE_DEV void put_planes(const sink &s, uint32_t &at, uint32_t width, uint32_t full, uint32_t most,
                         const uint32_t planes[4])
{
#pragma unroll
    for (int b = 0; b < 4; b++) {
        if (FITS && FROM + b < (int)full) {
            s.words[at + floe_lane()] = planes[b];
            at += FLOE_WARP;
        } else if (FROM + b < (int)most) {
            put_plane<FITS>(s, at, (int)width > FROM + b, planes[b]);
        }
    }
}

/* Planes of a byte of all values, those of its upper half where there are any. */
template <int BYTE, int WIDEST, bool FITS, class Values>
FLOE_DEV void put_byte(const sink &s, uint32_t &at, const Values &u, uint32_t width, uint32_t full, uint32_t most)
{
    uint32_t bytes[8], planes[4];
    floe_bytes_of_lane<BYTE>(u, bytes);
    floe_planes_low(bytes, planes);
    put_planes<8 * BYTE, FITS>(s, at, width, full, most, planes);
    if (WIDEST <= 8 * BYTE + 4 || most <= 8 * BYTE + 4)
        return;
    floe_planes_high(bytes, planes);
    put_planes<8 * BYTE + 4, FITS>(s, at, width, full, most, planes);
}

/* Value planes from byte BYTE on, which few steps have. WIDEST: no residual has more bits. */
template <int BYTE, int WIDEST, bool FITS, class Values>
FLOE_DEV void put_bytes(const sink &s, uint32_t &at, const Values &u, uint32_t width, uint32_t full, uint32_t most)
{
    if constexpr (WIDEST > 8 * BYTE)
        if (most > 8 * BYTE) {
            put_byte<BYTE, WIDEST, FITS>(s, at, u, width, full, most);
            put_bytes<BYTE + 1, WIDEST, FITS>(s, at, u, width, full, most);
        }
}

/* Value planes. bytes: the lowest of all values; low: their planes 0..3. */
template <int WIDEST, bool FITS, class Values>
FLOE_DEV void put_values(const sink &s, uint32_t &at, const Values &u, const uint32_t bytes[8], const uint32_t low[4],
                         uint32_t width, uint32_t full, uint32_t most)
{
    put_planes<0, FITS>(s, at, width, full, most, low);
    if (most <= 4)
        return;
    uint32_t planes[4];
    floe_planes_high(bytes, planes);
    put_planes<4, FITS>(s, at, width, full, most, planes);
    put_bytes<1, WIDEST, FITS>(s, at, u, width, full, most);
}

/* What stands before the values: which groups are flat, where that is not one of two simple cases, and the planes of
 * widths above the least. A word a lane. */
template <bool FITS>
FLOE_DEV void put_widths(const sink &s, uint32_t &at, bool with_flats, uint32_t flats, uint32_t above, uint32_t planes)
{
    enum { MOSTLY = 3 }; /* planes are no more */
    const uint32_t lane = floe_lane(), plane = lane - with_flats, n = with_flats + planes;
    uint32_t mine = flats;
#pragma unroll
    for (uint32_t b = 0; b < MOSTLY; b++) {
        const uint32_t word = __ballot_sync(FLOE_ALL_LANES, (above & 1u << b) != 0);
        mine = plane == b ? word : mine;
    }
#pragma unroll 1
    for (uint32_t b = MOSTLY; b < planes; b++) {
        const uint32_t word = __ballot_sync(FLOE_ALL_LANES, (above & 1u << b) != 0);
        mine = plane == b ? word : mine;
    }
    if (lane < n && FITS)
        s.words[at + lane] = mine;
    else if (lane < n)
        put(s, at + lane, mine);
    at += n;
}

/* What a step has besides the planes of values: a word with the flat bits, and planes of widths. */
enum { MOST_WIDTHS_WORDS = 1 + 7 };

/* What the groups of a step have in common. */
struct step_widths {
    uint32_t most, least, flats, presents;
};

/* ALL: all lanes are present. */
template <bool ALL> FLOE_DEV step_widths widths_of(uint32_t width, bool flat, bool present)
{
    return {__reduce_max_sync(FLOE_ALL_LANES, width),
            __reduce_min_sync(FLOE_ALL_LANES, ALL || present ? width : (uint32_t)PLANES),
            __ballot_sync(FLOE_ALL_LANES, flat), ALL ? FLOE_ALL_LANES : __ballot_sync(FLOE_ALL_LANES, present)};
}
FLOE_DEV uint32_t flat_kind(const step_widths &w) { return w.flats == 0 ? 0 : w.flats == w.presents ? 1 : 2; }
FLOE_DEV uint32_t width_planes(const step_widths &w) { return floe_bits_of(w.most - w.least); }
FLOE_DEV uint32_t descriptor_of(const step_widths &w)
{
    return w.least << FLOE_PACK_LEAST_SHIFT | width_planes(w) << FLOE_PACK_PLANES_SHIFT |
           flat_kind(w) << FLOE_PACK_FLAT_SHIFT;
}

/* A step as pack.h has it: flat word, width planes, value planes, from word `at` on. Returns the descriptor. Bits of u above
 * WIDEST are not looked at. */
template <int WIDEST, bool ALL, class Values>
FLOE_DEV uint32_t put_step(const sink &s, uint32_t &at, const Values &u, uint32_t width, bool flat, bool present)
{
    const step_widths w = widths_of<ALL>(width, flat, present);
    uint32_t bytes[8], low[4]; /* meanwhile, whatever they hold */
    floe_bytes_of_lane<0>(u, bytes);
    floe_planes_low(bytes, low);
    const uint32_t planes = width_planes(w), above = ALL || present ? width - w.least : 0;
    const uint32_t full = w.presents == FLOE_ALL_LANES ? w.least : 0; /* planes that all lanes have */
    if (at + MOST_WIDTHS_WORDS + FLOE_WARP * w.most <= s.cap) { /* an upper bound: the other way is right as well */
        put_widths<true>(s, at, flat_kind(w) == 2, w.flats, above, planes);
        put_values<WIDEST, true>(s, at, u, bytes, low, width, full, w.most);
    } else {
        put_widths<false>(s, at, flat_kind(w) == 2, w.flats, above, planes);
        put_values<WIDEST, false>(s, at, u, bytes, low, width, full, w.most);
    }
    return descriptor_of(w);
}

/* The same of the general path, whose sink has room for all: value planes byte after byte in a loop, as code for each byte
 * would be most of it. */
FLOE_DEV uint32_t put_step_general(const sink &s, uint32_t &at, const floe_uint u[GROUP], uint32_t width, bool flat,
                                   bool present)
{
    const step_widths w = widths_of<false>(width, flat, present);
    put_widths<true>(s, at, flat_kind(w) == 2, w.flats, present ? width - w.least : 0, width_planes(w));
#pragma unroll 1
    for (uint32_t from = 0; from < w.most; from += 8) {
        uint32_t planes[8];
        floe_bytes_of_lane(u, from / 8, planes);
        floe_transpose8(planes);
#pragma unroll
        for (uint32_t b = 0; b < 8; b++)
            if (from + b < w.most)
                put_plane<true>(s, at, width > from + b, planes[b]);
    }
    return descriptor_of(w);
}

/* ---- drafts of whole tiles ------------------------------------------------------------------------------------------ */

/* Makes no draft. */
struct no_draft {
    enum { DRAFTS = 0 };
};

/* Puts the symbols of each step into a body (huffman_symbols_dev.cuh), which stands behind the draft's first word and base. */
struct draft_symbols {
    enum { DRAFTS = 1, BODY_AT = 1 + BASE_WORDS };

    template <int WIDEST, class Values>
    static __device__ __forceinline__ void step(const sink &out, uint32_t s, uint32_t &at, const Values &u,
                                                uint32_t width, bool flat)
    {
        const uint32_t most = __reduce_max_sync(FLOE_ALL_LANES, width);
        uint32_t bytes[8], planes[4], high[4], symbols[8];
        floe_symbols_put_head(out.words + BODY_AT, s, at - BODY_AT, width, flat);
        floe_bytes_of_lane<0>(u, bytes);
        floe_planes_low(bytes, planes);
        if (most > FLOE_HUFFMAN_NARROW)
            floe_planes_high(bytes, high);
        floe_symbols_find(width, bytes, planes, high, symbols);
        at = floe_symbols_columns(at, width, [&](int i, uint32_t to) { out.words[to] = symbols[i]; });
        if (most > FLOE_HUFFMAN_NARROW)
            put_bytes<1, WIDEST, true>(out, at, u, width, 0, most);
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

/* The values themselves: x first, then y, then z. Thread `me` of so many. */
FLOE_DEV_COLD void write_raw(const floe_dev_chunk *chunk, uint32_t tile, uint32_t *words, uint32_t me,
                             uint32_t nthreads)
{
    const source f = source_of(chunk, tile);
    const bool line = chunk->view.rank == 1;
    const uint32_t nx = f.box.nx, ny = f.box.ny, n = (uint32_t)f.box.ncells;
    for (uint32_t i = me; i < n; i += nthreads) {
        const uint32_t x = line ? i : i % nx, row = line ? 0 : i / nx;
        const uint64_t bits =
            FLOE_R(floe_real_bits)(f.origin[(int64_t)x * f.x + (int64_t)(row % ny) * f.y + (int64_t)(row / ny) * f.z]);
        words[i * BASE_WORDS] = (uint32_t)bits;
        if (BASE_WORDS == 2)
            words[i * BASE_WORDS + 1] = (uint32_t)(bits >> 32);
    }
}

} // namespace FLOE_LORENZO_ENCODING

#endif
