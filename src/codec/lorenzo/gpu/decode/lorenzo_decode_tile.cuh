/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all ways of decoding a tile share: where its cells go, its words, residuals of a step from bit planes or from stage
 * huffman. A warp owns a tile and a lane a group of each step. Compiled for each element type (FLOE_REAL_BITS).
 */
#ifndef FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_TILE_CUH
#define FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_TILE_CUH

#include "base/real.h"
#include "codec/lorenzo/format/lorenzo_layout.h"
#include "codec/lorenzo/format/lorenzo_tile.h"
#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "codec/lorenzo/gpu/lorenzo_lanes.cuh"
#include "stage/huffman/huffman_decode_dev.cuh"
#include "stage/lorenzo/lorenzo.h"
#include "stage/pack/pack.h"
#include "stage/quantizer/quantizer_math.h"

/* Names of these decode/ headers; what they stand for differs from one element type to the other. */
#define FLOE_LORENZO_DECODING FLOE_R(floe_lorenzo_decoding)

namespace FLOE_LORENZO_DECODING
{

enum {
    GROUP = FLOE_GROUP_VALUES,
    WIDEST = FLOE_REAL_BITS, /* bits of a residual */
    BASE_WORDS = FLOE_TILE_BASE_WORDS,
    /* Words of a tile at hand, of which a step has at most FLOE_PACK_STEP_WORDS. 16 warps share the 228 KiB of a
     * multiprocessor; 192 KiB of words leave the rest to L1. */
    STAGE_WORDS = 3072
};
/* Of a window, words that stay empty: for 16-byte pieces, and for width planes that a step may lack. */
enum { FEW_PLANES = 4, WINDOW_MARGIN = 4 + FEW_PLANES };
static_assert(FLOE_PACK_STEP_WORDS + WINDOW_MARGIN + 4 <= STAGE_WORDS, "a step at least");

template <int RANK> using shape = floe_group_shape<RANK>;

/* ---- where cells go ------------------------------------------------------------------------------------------------ */

/* Cells of a tile, lo <= c < hi; rank 1: x counts values, as in floe_tile_box. */
struct cells {
    uint32_t z0, z1, y0, y1, x0, x1;
};

/* A tile and its part of the output. By value. */
struct target {
    floe_real *origin; /* of the output: region_lo */
    int64_t at;        /* element of the tile's first cell from there, which need not be in the output */
    int64_t z, y, x;   /* strides, elements */
    cells in;          /* of the tile in the field: from 0 on */
    cells out;         /* of those, what is wanted */
    uint32_t nsteps, ncells;
    uint32_t steps_wanted; /* no step from here on has a cell that is wanted */
    bool wanted;
    bool whole; /* all 8192 cells, rows at 16 aligned bytes */
};

/* Cells lo..hi-1 of an axis, seen from a tile whose n cells start at `at`. */
FLOE_DEV void clip(uint64_t lo, uint64_t hi, uint64_t at, uint32_t n, uint32_t *first, uint32_t *end)
{
    *first = lo <= at ? 0 : (uint32_t)floe_min64(lo - at, n);
    *end = hi <= at ? 0 : (uint32_t)floe_min64(hi - at, n);
}

/* Where the tile lies, and the region. */
template <int RANK> FLOE_DEV target target_of(const floe_dev_chunk *chunk, uint32_t tile)
{
    const floe_tile_geometry g = floe_tile_geometry_of(RANK);
    const uint64_t *lo = chunk->region_lo, *hi = chunk->region_hi;
    const floe_tile_place p = floe_tile_place_of<RANK>(&chunk->view, tile);
    const uint64_t x = p.x, y = p.y, z = p.z;
    target t;
    cells *in = &t.in, *out = &t.out;
    *in = {0, p.nz, 0, p.ny, 0, p.nx};
    t.nsteps = p.nsteps;
    t.ncells = p.ncells;
    clip(lo[FLOE_VIEW_Z], hi[FLOE_VIEW_Z], z, in->z1, &out->z0, &out->z1);
    clip(lo[FLOE_VIEW_Y], hi[FLOE_VIEW_Y], y, in->y1, &out->y0, &out->y1);
    clip(lo[FLOE_VIEW_X], hi[FLOE_VIEW_X], x, in->x1, &out->x0, &out->x1);
    t.wanted = p.batch >= lo[FLOE_VIEW_BATCH] && p.batch < hi[FLOE_VIEW_BATCH] && out->z0 < out->z1 &&
               out->y0 < out->y1 && out->x0 < out->x1;
    t.steps_wanted = RANK == 1 ? (out->x1 + g.step_x - 1) / g.step_x : (out->z1 + g.step_z - 1) / g.step_z;
    t.z = chunk->stride[FLOE_VIEW_Z];
    t.y = chunk->stride[FLOE_VIEW_Y];
    t.x = chunk->stride[FLOE_VIEW_X];
    t.origin = (floe_real *)chunk->origin;
    t.at = (int64_t)(p.batch - lo[FLOE_VIEW_BATCH]) * chunk->stride[FLOE_VIEW_BATCH] +
           (int64_t)(z - lo[FLOE_VIEW_Z]) * t.z + (int64_t)(y - lo[FLOE_VIEW_Y]) * t.y +
           (int64_t)(x - lo[FLOE_VIEW_X]) * t.x;
    const uint32_t nout = (out->z1 - out->z0) * (out->y1 - out->y0) * (out->x1 - out->x0);
    const uint64_t uneven = (uint64_t)(uintptr_t)t.origin | (uint64_t)t.at * sizeof(floe_real) |
                            (RANK > 1 ? (uint64_t)t.z * sizeof(floe_real) : 0) |
                            (RANK > 2 ? (uint64_t)t.y * sizeof(floe_real) : 0);
    t.whole = nout == FLOE_TILE_VALUES && t.x == 1 && uneven % 16 == 0;
    return t;
}

/* Element of row r of this lane's group in step s, of its first value. WHOLE: contiguous along x. */
template <int RANK, bool WHOLE> FLOE_DEV int64_t row_at(const target &t, uint32_t s, uint32_t r)
{
    const uint32_t lane = floe_lane();
    const int64_t across = WHOLE ? 1 : t.x;
    if (RANK == 1)
        return t.at + (int64_t)(s * FLOE_STEP_VALUES + lane * GROUP + 4 * r) * across;
    if (RANK == 2)
        return t.at + (int64_t)(8 * s + r) * t.z + (int64_t)(4 * lane) * across;
    return t.at + (int64_t)(2 * s + r / 4) * t.z + (int64_t)(4 * (lane / 8) + r % 4) * t.y +
           (int64_t)(4 * (lane % 8)) * across;
}

/* Bits lo..hi-1 of cells `at`..at + n - 1 along an axis; n at most 32. */
FLOE_DEV uint32_t range_bits(uint32_t lo, uint32_t hi, uint32_t at, uint32_t n)
{
    const uint32_t first = lo <= at ? 0 : min(lo - at, n), end = floe_cells_inside(hi, at, n);
    return first >= end ? 0 : (end - first == 32 ? FLOE_ALL_LANES : ((1u << (end - first)) - 1) << first);
}

/* Bit k: value k of this lane's group in step s is one of the cells. */
template <int RANK> FLOE_DEV uint32_t group_cells(const cells &c, uint32_t s)
{
    const uint32_t lane = floe_lane();
    if (RANK == 1)
        return range_bits(c.x0, c.x1, s * FLOE_STEP_VALUES + lane * GROUP, GROUP);
    uint32_t bits = 0;
    if (RANK == 2) {
        const uint32_t row = range_bits(c.x0, c.x1, 4 * lane, 4), planes = range_bits(c.z0, c.z1, 8 * s, 8);
#pragma unroll
        for (int z = 0; z < 8; z++)
            bits |= planes >> z & 1 ? row << 4 * z : 0;
        return bits;
    }
    const uint32_t row = range_bits(c.x0, c.x1, 4 * (lane % 8), 4), rows = range_bits(c.y0, c.y1, 4 * (lane / 8), 4);
    const uint32_t planes = range_bits(c.z0, c.z1, 2 * s, 2);
#pragma unroll
    for (int y = 0; y < 4; y++)
        bits |= rows >> y & 1 ? row << 4 * y : 0;
    return (planes & 1 ? bits : 0) | (planes & 2 ? bits << 16 : 0);
}

/* ---- a tile's words ------------------------------------------------------------------------------------------------ */

enum outcome { TILE_DONE, TILE_BAD, TILE_UNFIT /* for another way to decode */ };

/* A tile's untrusted words, from the word after `before` others on; what is looked at comes to shared memory first, in as
 * large pieces as fit. `at` counts in the stage. */
struct word_window {
    const uint32_t *words; /* in device memory */
    uint32_t nwords;       /* of the tile */
    uint32_t *stage;       /* 16-byte aligned */
    uint32_t room;         /* words of the stage */
    uint32_t at, end;      /* of the stage: the next word, and behind the last one there */
    uint32_t next;         /* word of the tile that stands at `end` */
};

FLOE_DEV uint32_t words_left(const word_window &w) { return w.nwords - w.next + (w.end - w.at); }

/* Starts copying, from the word that is next. */
FLOE_DEV void window_fetch(word_window &w)
{
    const uint32_t from = w.next - (w.end - w.at), lane = floe_lane();
    const uint32_t skip = (uint32_t)((uintptr_t)(w.words + from) >> 2 & 3);
    const uint32_t n = min(w.nwords - from, w.room - WINDOW_MARGIN);
    const uint4 *src = (const uint4 *)(w.words + from - skip);
    for (uint32_t i = lane; 4 * i < skip + n; i += FLOE_WARP)
        floe_copy16_async_part((uint4 *)w.stage + i, src + i, 4 * min(skip + n - 4 * i, 4u));
    floe_copy_async_commit();
    w.at = skip;
    w.end = skip + n;
    w.next = from + n;
}

FLOE_DEV void window_wait()
{
    floe_copy_async_wait();
    __syncwarp();
}

FLOE_DEV void window_open(word_window &w, const uint32_t *words, uint32_t nwords, uint32_t from, uint32_t *stage,
                          uint32_t room)
{
    w.words = words;
    w.nwords = nwords;
    w.stage = stage;
    w.room = room;
    w.at = w.end = 0;
    w.next = from;
    window_fetch(w);
}

/* All words of a tile at once, by a block; the stage has room for them and WINDOW_MARGIN others. Then every warp may go its own
 * way through them. */
FLOE_DEV void window_open_whole(word_window &w, const uint32_t *words, uint32_t nwords, uint32_t *stage)
{
    const uint32_t skip = (uint32_t)((uintptr_t)words >> 2 & 3);
    const uint4 *src = (const uint4 *)(words - skip);
    for (uint32_t i = threadIdx.x; 4 * i < skip + nwords; i += blockDim.x)
        floe_copy16_async_part((uint4 *)stage + i, src + i, 4 * min(skip + nwords - 4 * i, 4u));
    floe_copy_async_commit();
    w.words = words;
    w.nwords = w.next = nwords;
    w.stage = stage;
    w.room = skip + nwords + WINDOW_MARGIN;
    w.at = skip;
    w.end = skip + nwords;
}

/* Leaves the stage behind `room` to others. */
FLOE_DEV void window_trim(word_window &w, uint32_t room)
{
    const uint32_t end = room - FEW_PLANES;
    if (w.end > end) {
        w.next -= w.end - end;
        w.end = end;
    }
    w.room = room;
}

/* n words from `at` on, which are left, stand in the stage. */
FLOE_DEV void window_need(word_window &w, uint32_t n)
{
    if (n <= w.end - w.at)
        return;
    __syncwarp();
    window_fetch(w);
    window_wait();
}

/* ---- bit planes ---------------------------------------------------------------------------------------------------- */

/* What a step holds of its groups, this lane's or all of them. */
struct step_head {
    uint32_t width, most, total; /* total: words of value planes */
    bool flat;
};

/* Words of planes FROM .. FROM + N - 1 of this lane's group; 0 beyond its width. at moves on. */
template <int FROM, int N> FLOE_DEV void get_planes(const uint32_t *words, uint32_t &at, uint32_t width, uint32_t *a)
{
    const uint32_t below = floe_lanes_below();
#pragma unroll
    for (int first = 0; first < N; first += 4) { /* four at a time wait for memory together */
        uint32_t who[4];
#pragma unroll
        for (int b = 0; b < 4; b++) {
            who[b] = __ballot_sync(FLOE_ALL_LANES, (int)width > FROM + first + b);
            a[first + b] = 0;
        }
#pragma unroll
        for (int b = 0; b < 4; b++) {
            if ((int)width > FROM + first + b)
                a[first + b] = words[at + __popc(who[b] & below)];
            at += __popc(who[b]);
        }
    }
}

/* Planes of all values -> residuals as bytes: byte k of a[j] is that of value 8 k + j. Plane 0 is the sign of the zigzag
 * numbers; the others, where they differ from it, are the bits of the residual. N is 4 or 8. BIASED: residual + 2^(N-1);
 * else in two's complement. */
template <int N, bool BIASED> FLOE_DEV void bytes_of_planes(uint32_t a[8])
{
    const uint32_t sign = a[0];
#pragma unroll
    for (int b = 0; b + 1 < N; b++)
        a[b] = a[b + 1] ^ sign;
    a[N - 1] = N == 4 || BIASED ? ~sign : sign;
    if (N == 8) {
        floe_transpose8(a);
        return;
    }
    floe_transpose4(a);
#pragma unroll
    for (int j = 0; j < 4; j++) { /* nibbles beside each other */
        a[4 + j] = a[j] >> 4 & 0x0F0F0F0Fu;
        a[j] &= 0x0F0F0F0Fu;
    }
    if (!BIASED)
#pragma unroll
        for (int j = 0; j < 8; j++)
            a[j] = (a[j] + 0x78787878u) ^ 0x80808080u; /* + 128 - 8, then - 128 */
}

/* Byte k of a, in two's complement; and bytes 0 and 1 of a. */
FLOE_DEV int32_t signed_byte(uint32_t a, int k) { return (int8_t)(a >> 8 * k); }

/* Byte k of a, which is biased by BIAS, and the low half of a, biased by 2^15, as floats: exact. */
template <int BIAS> FLOE_DEV float float_of_byte(uint32_t a, int k)
{
    return floe_f32_of(__byte_perm(a, 0x4B000000u, 0x7440u | (uint32_t)k)) - (8388608.0f + BIAS);
}
FLOE_DEV float float_of_half(uint32_t a)
{
    return floe_f32_of(__byte_perm(a, 0x4B000000u, 0x7410u)) - (8388608.0f + 32768.0f);
}

/* Bytes as bytes_of_planes leaves them -> numbers. Value i is byte i / 8 of a[i % 8]. */
template <int N> FLOE_DEV void numbers_of_bytes(const uint32_t a[8], float r[GROUP])
{
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        r[i] = float_of_byte < N == 4 ? 8 : 128 > (a[i % 8], i / 8);
}
template <int N, class T> FLOE_DEV void numbers_of_bytes(const uint32_t a[8], T r[GROUP])
{
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        r[i] = signed_byte(a[i % 8], i / 8);
}

FLOE_DEV float number_of_half(float, uint32_t half) { return float_of_half(half ^ 0x8000u); }
template <class T> FLOE_DEV T number_of_half(T, uint32_t half) { return (T)(int16_t)half; }

/* MOST: bits of a residual that may become such a number. */
template <class T> struct number;
template <> struct number<float> {
    enum { BIASED = 1, MOST = 16 };
};
template <> struct number<int32_t> {
    typedef uint32_t bits;
    enum { BIASED = 0, MOST = 32 };
    FLOE_DEV int32_t unzigzag(uint32_t u) { return (int32_t)(u >> 1 ^ (0u - (u & 1))); }
};
template <> struct number<int64_t> {
    typedef uint64_t bits;
    enum { BIASED = 0, MOST = 64 };
    FLOE_DEV int64_t unzigzag(uint64_t u) { return (int64_t)(u >> 1 ^ (0u - (u & 1))); }
};

/* Planes 8 BYTE .. 8 BYTE + 7 into u. */
template <int BYTE, class Uint>
FLOE_DEV void add_byte(const uint32_t *words, uint32_t &at, uint32_t width, uint32_t most, Uint u[GROUP])
{
    uint32_t a[8];
    if ((int)most <= 8 * BYTE)
        return;
    get_planes<8 * BYTE, 8>(words, at, width, a);
    floe_transpose8(a);
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        u[i] |= (Uint)(a[i % 8] >> 8 * (i / 8) & 0xFF) << (8 * BYTE) % (8 * sizeof(Uint));
}

template <class T> FLOE_DEV void wide_residuals(const uint32_t *words, uint32_t &at, const step_head &h, T r[GROUP])
{
    typedef typename number<T>::bits Uint;
    Uint u[GROUP];
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        u[i] = 0;
    add_byte<0>(words, at, h.width, h.most, u);
    add_byte<1>(words, at, h.width, h.most, u);
    add_byte<2>(words, at, h.width, h.most, u);
    add_byte<3>(words, at, h.width, h.most, u);
    if constexpr (sizeof(Uint) == 8) {
        add_byte<4>(words, at, h.width, h.most, u);
        add_byte<5>(words, at, h.width, h.most, u);
        add_byte<6>(words, at, h.width, h.most, u);
        add_byte<7>(words, at, h.width, h.most, u);
    }
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        r[i] = number<T>::unzigzag(u[i]);
}
FLOE_DEV void wide_residuals(const uint32_t *, uint32_t &, const step_head &, float *) {}

/* All value planes of a step, at `at` -> residuals. Where there are more than 16: integers only. */
template <class T> FLOE_DEV void plane_residuals(const uint32_t *words, uint32_t &at, const step_head &h, T r[GROUP])
{
    if (h.most <= 4) {
        uint32_t a[8];
        get_planes<0, 4>(words, at, h.width, a);
        bytes_of_planes<4, number<T>::BIASED>(a);
        numbers_of_bytes<4>(a, r);
    } else if (h.most <= 8) {
        uint32_t a[8];
        get_planes<0, 8>(words, at, h.width, a);
        bytes_of_planes<8, number<T>::BIASED>(a);
        numbers_of_bytes<8>(a, r);
    } else if (h.most <= 16) {
        uint32_t b[16];
        get_planes<0, 16>(words, at, h.width, b);
        const uint32_t sign = b[0];
#pragma unroll
        for (int k = 0; k < 15; k++)
            b[k] = b[k + 1] ^ sign;
        b[15] = sign;
        floe_transpose8(b);
        floe_transpose8(b + 8);
#pragma unroll
        for (int i = 0; i < GROUP; i++)
            r[i] = number_of_half((T)0, __byte_perm(b[i % 8], b[8 + i % 8], (uint32_t)(i / 8 | (4 + i / 8) << 4)));
    } else {
        wide_residuals(words, at, h, r);
    }
}

/* ---- where the steps of a coded tile come from --------------------------------------------------------------------- */

/* Encoder pack. The window stands at the body; PARTS: not all words may be there yet. */
template <bool PARTS> struct pack_source_of {
    word_window w;
    uint32_t nsteps, descriptors; /* lane i has word i of them */
};
typedef pack_source_of<true> pack_source;

template <bool PARTS> FLOE_DEV uint32_t source_left(const pack_source_of<PARTS> &p)
{
    return PARTS ? words_left(p.w) : p.w.end - p.w.at;
}
template <bool PARTS> FLOE_DEV void source_need(pack_source_of<PARTS> &p, uint32_t n)
{
    if (PARTS)
        window_need(p.w, n);
}

/* False: damaged. */
template <bool PARTS> FLOE_DEV bool source_open(pack_source_of<PARTS> &p, uint32_t nsteps)
{
    const uint32_t n = (nsteps + 1) / 2;
    if (source_left(p) < n)
        return false;
    source_need(p, n);
    p.nsteps = nsteps;
    p.descriptors = floe_lane() < n ? p.w.stage[p.w.at + floe_lane()] : 0;
    p.w.at += n;
    return !(nsteps % 2 && __shfl_sync(FLOE_ALL_LANES, p.descriptors, (int)n - 1) >> 16);
}

/* False: damaged. present: this lane's group has a cell inside the field. */
template <bool WHOLE, bool PARTS>
FLOE_DEV bool source_step(pack_source_of<PARTS> &p, uint32_t s, bool present, step_head &h)
{
    const uint32_t lane = floe_lane(),
                   descriptor = __shfl_sync(FLOE_ALL_LANES, p.descriptors, (int)s / 2) >> s % 2 * 16;
    const uint32_t least = descriptor >> FLOE_PACK_LEAST_SHIFT & 127, planes = descriptor >> FLOE_PACK_PLANES_SHIFT & 7;
    const uint32_t kind = (descriptor & 0xFFFF) >> FLOE_PACK_FLAT_SHIFT, n = (kind == 2) + planes;
    const uint32_t presents = WHOLE ? FLOE_ALL_LANES : __ballot_sync(FLOE_ALL_LANES, present);
    if (kind > 2 || n > source_left(p))
        return false;
    source_need(p, n);
    const uint32_t *words = p.w.stage + p.w.at;
    const uint32_t flats = kind == 0 ? 0 : kind == 1 ? presents : *words++;
    uint32_t above = 0;
#pragma unroll
    for (uint32_t b = 0; b < FEW_PLANES;
         b++) { /* all at once: what lies behind the last one may be read, and is not used */
        const uint32_t word = words[b];
        above += b < planes ? (word >> lane & 1) << b : 0;
    }
    for (uint32_t b = FEW_PLANES; b < planes; b++)
        above += (words[b] >> lane & 1) << b;
    p.w.at += n;
    const bool stray = !WHOLE && !present && (above || (flats >> lane & 1));
    h.flat = flats >> lane & 1;
    h.width = WHOLE || present ? least + above : 0;
    h.most = __reduce_max_sync(FLOE_ALL_LANES, stray ? 255 : h.width);
    if (h.most > WIDEST)
        return false;
    h.total = __reduce_add_sync(FLOE_ALL_LANES, h.width);
    return h.total <= source_left(p);
}

/* Moves over a step that others look at, of which all words stand in the stage. False: damaged; whatever else is wrong with
 * it is theirs to find. */
template <bool WHOLE> FLOE_DEV bool source_skip(pack_source &p, uint32_t s, bool present)
{
    const uint32_t lane = floe_lane(),
                   descriptor = __shfl_sync(FLOE_ALL_LANES, p.descriptors, (int)s / 2) >> s % 2 * 16;
    const uint32_t least = descriptor >> FLOE_PACK_LEAST_SHIFT & 127, planes = descriptor >> FLOE_PACK_PLANES_SHIFT & 7;
    const uint32_t flats = (descriptor & 0xFFFF) >> FLOE_PACK_FLAT_SHIFT == 2, left = source_left(p);
    const uint32_t presents = WHOLE ? FLOE_ALL_LANES : __ballot_sync(FLOE_ALL_LANES, present);
    if (flats + planes > left)
        return false;
    const uint32_t plane = lane < planes ? p.w.stage[p.w.at + flats + lane] & presents : 0;
    const uint32_t total =
        __reduce_add_sync(FLOE_ALL_LANES, (uint32_t)__popc(plane) << lane % 8) + __popc(presents) * least;
    p.w.at += min(flats + planes + total, left);
    return flats + planes + total <= left;
}

template <class T, bool PARTS>
FLOE_DEV void source_residuals(pack_source_of<PARTS> &p, uint32_t, const step_head &h, T r[GROUP])
{
    source_need(p, h.total);
    plane_residuals(p.w.stage, p.w.at, h, r);
}

template <bool PARTS> FLOE_DEV bool source_at_end(const pack_source_of<PARTS> &p) { return source_left(p) == 0; }

/* Encoder huffman: the tile is decoded as far as symbols. */
struct huffman_source {
    const floe_huffman_groups *groups;
    void *wide;
};

template <bool WHOLE> FLOE_DEV bool source_step(huffman_source &p, uint32_t s, bool, step_head &h)
{
    h.width = p.groups->width[s * FLOE_STEP_GROUPS + floe_lane()];
    h.flat = p.groups->flat[s] >> floe_lane() & 1;
    h.most = __reduce_max_sync(FLOE_ALL_LANES, h.width);
    return true;
}

/* Zigzag bytes -> residuals + 128, a byte each, or in two's complement. */
template <bool BIASED> FLOE_DEV uint32_t unzigzag_bytes(uint32_t u)
{
    const uint32_t negative = (u & 0x01010101u) * 0xFFu;
    return (u >> 1 & 0x7F7F7F7Fu) ^ negative ^ (BIASED ? 0x80808080u : 0);
}

FLOE_DEV float number_of_byte(float, uint32_t a, int k) { return float_of_byte<128>(a, k); }
template <class T> FLOE_DEV T number_of_byte(T, uint32_t a, int k) { return signed_byte(a, k); }

/* Values of a group whose width may be above 8, as T; float: up to 16. */
FLOE_DEV void wide_values(const huffman_source &p, uint32_t s, uint32_t width, float r[GROUP])
{
    floe_uint u[GROUP]; /* where they stand depends on the element type */
    floe_huffman_group_values<floe_uint>(p.groups, p.wide, s, width, u);
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        r[i] = float_of_half((uint32_t)number<int32_t>::unzigzag((uint32_t)u[i]) ^ 0x8000u);
}
template <class T> FLOE_DEV void wide_values(const huffman_source &p, uint32_t s, uint32_t width, T r[GROUP])
{
    floe_uint u[GROUP];
    floe_huffman_group_values<floe_uint>(p.groups, p.wide, s, width, u);
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        r[i] = number<T>::unzigzag((typename number<T>::bits)u[i]);
}

template <class T> FLOE_DEV void source_residuals(huffman_source &p, uint32_t s, const step_head &h, T r[GROUP])
{
    if (h.most > FLOE_HUFFMAN_NARROW) {
        wide_values(p, s, h.width, r);
        return;
    }
    uint32_t bytes[8];
    floe_huffman_group_bytes(p.groups, s, h.width, bytes);
#pragma unroll
    for (int j = 0; j < 8; j++)
        bytes[j] = unzigzag_bytes<number<T>::BIASED>(bytes[j]);
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        r[i] = number_of_byte((T)0, bytes[i / 4], i % 4);
}

FLOE_DEV bool source_at_end(const huffman_source &) { return true; }

} // namespace FLOE_LORENZO_DECODING

#endif
