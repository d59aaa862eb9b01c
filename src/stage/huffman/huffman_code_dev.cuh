/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coding a tile of stage huffman on a GPU: from a body of stage pack (stage/pack/pack.h), of our own making, to one of
 * stage huffman. A warp owns a tile, a lane a group of each step. The widths of all steps are read first, since they show
 * how many lanes the tile has; then each step's groups are turned into codes in registers, a scan of their lengths shows
 * where they belong, and each lane adds its bits there.
 */
#ifndef FLOE_STAGE_HUFFMAN_CODE_DEV_CUH
#define FLOE_STAGE_HUFFMAN_CODE_DEV_CUH

#include "stage/huffman/huffman_bits_dev.cuh"
#include "stage/huffman/huffman_symbols_dev.cuh"
#include "stage/pack/pack.h"

/* ---- codes --------------------------------------------------------------------------------------------------------- */

/* Of a book in device memory: what tables a tile needs soon lies in L1. */
typedef const uint16_t *floe_huffman_codes;

FLOE_DEV floe_huffman_codes floe_huffman_codes_of(const floe_huffman_book *book) { return book->code[0]; }

/* The codes of a table. */
FLOE_DEV const uint16_t *floe_huffman_table_codes(floe_huffman_codes codes, uint32_t table)
{
    return codes + table * FLOE_HUFFMAN_SYMBOLS;
}

/* Two codes, one behind the other: bits | length << 22. */
enum { FLOE_HUFFMAN_PAIR_SHIFT = 2 * FLOE_HUFFMAN_MAX_LENGTH };

FLOE_DEV uint32_t floe_huffman_pair(uint32_t first, uint32_t second)
{
    enum { MASK = (1 << FLOE_HUFFMAN_MAX_LENGTH) - 1 };
    const uint32_t n = first >> FLOE_HUFFMAN_MAX_LENGTH;
    return (first & MASK) | (second & MASK) << n | (n + (second >> FLOE_HUFFMAN_MAX_LENGTH)) << FLOE_HUFFMAN_PAIR_SHIFT;
}
FLOE_DEV uint32_t floe_huffman_pair_nbits(uint32_t pair) { return pair >> FLOE_HUFFMAN_PAIR_SHIFT; }

template <class Adder> FLOE_DEV void floe_pair_add(Adder &a, uint32_t pair)
{
    floe_bits_add(a, pair & ((1u << FLOE_HUFFMAN_PAIR_SHIFT) - 1), floe_huffman_pair_nbits(pair));
}

/* ---- groups -------------------------------------------------------------------------------------------------------- */

/* Values of 5 to 8 bits from their planes: value 4 m + i in byte i of bytes[m]. */
FLOE_DEV void floe_huffman_bytes_of_planes(const uint32_t plane[8], uint32_t bytes[8])
{
    uint32_t a[8];
#pragma unroll
    for (int j = 0; j < 8; j++)
        a[j] = plane[j];
#pragma unroll
    for (int d = 4; d; d /= 2) /* bit d of the plane's number with bit d of the place within a byte */
#pragma unroll
        for (int j = 0; j < 8; j++)
            if (!(j & d)) {
                const uint32_t mask = d == 4 ? 0x0F0F0F0Fu : d == 2 ? 0x33333333u : 0x55555555u;
                const uint32_t low = (a[j] & mask) | (a[j + d] & mask) << d;
                a[j + d] = (a[j] >> d & mask) | (a[j + d] & ~mask);
                a[j] = low;
            }
    floe_huffman_bytes_in_order(a, bytes); /* byte k of a[j] is value 8 k + j */
}

/* The symbols of a group of width 1..8, a byte each; returns how many there are. Words behind them are undefined. */
FLOE_DEV uint32_t floe_huffman_narrow_symbols(uint32_t width, const uint32_t plane[8], uint32_t symbols[8])
{
    if (width == 1)
        symbols[0] = plane[0];
    else if (width <= 4)
        floe_huffman_symbols_of_planes(width, plane, symbols);
    else
        floe_huffman_bytes_of_planes(plane, symbols);
    return FLOE_GROUP_VALUES / floe_huffman_symbol_values(width);
}

/* Pairs of symbol words FIRST..END-1; returns their bits. */
template <int FIRST, int END>
FLOE_DEV uint32_t floe_huffman_pairs_of(const uint16_t *code, const uint32_t symbols[8], uint32_t pair[16])
{
    uint32_t nbits = 0;
#pragma unroll
    for (int j = FIRST; j < END; j++) {
        const uint32_t x = symbols[j];
        pair[2 * j] = floe_huffman_pair(__ldg(code + (x & 0xFF)), __ldg(code + (x >> 8 & 0xFF)));
        pair[2 * j + 1] = floe_huffman_pair(__ldg(code + (x >> 16 & 0xFF)), __ldg(code + (x >> 24)));
        nbits += floe_huffman_pair_nbits(pair[2 * j]) + floe_huffman_pair_nbits(pair[2 * j + 1]);
    }
    return nbits;
}

/* The codes of a group of width 1..8, as pairs; returns their bits. Of pairs, as many as the width has are set: 2, 4, 8 or
 * 16. */
FLOE_DEV uint32_t floe_huffman_group_pairs(floe_huffman_codes codes, uint32_t width, const uint32_t symbols[8],
                                           uint32_t pair[16])
{
    const uint16_t *code = floe_huffman_table_codes(codes, floe_huffman_value_table(width));
    uint32_t nbits = floe_huffman_pairs_of<0, 1>(code, symbols, pair);
    if (width > 1) {
        nbits += floe_huffman_pairs_of<1, 2>(code, symbols, pair);
        if (width > 2) {
            nbits += floe_huffman_pairs_of<2, 4>(code, symbols, pair);
            if (width > 4)
                nbits += floe_huffman_pairs_of<4, 8>(code, symbols, pair);
        }
    }
    return nbits;
}

template <int FIRST, int END, class Adder> FLOE_DEV void floe_pairs_add(Adder &to, const uint32_t pair[16])
{
#pragma unroll
    for (int j = FIRST; j < END; j++)
        floe_pair_add(to, pair[j]);
}

/* Adds a group's head and those. */
template <class Adder>
FLOE_DEV void floe_huffman_group_add(Adder to, uint32_t head, uint32_t width, const uint32_t pair[16])
{
    floe_pair_add(to, head);
    if (width > 0) {
        floe_pairs_add<0, 2>(to, pair);
        if (width > 1) {
            floe_pairs_add<2, 4>(to, pair);
            if (width > 2) {
                floe_pairs_add<4, 8>(to, pair);
                if (width > 4)
                    floe_pairs_add<8, 16>(to, pair);
            }
        }
    }
    floe_bits_end(to);
}

/* Values 8 k .. 8 k + 7 of a group from its planes, by exchanging bits of value and plane numbers in 8 x 8 of them. */
template <class Uint>
FLOE_DEV void floe_huffman_wide_values(const uint32_t *plane, uint32_t width, uint32_t k, Uint value[8])
{
    for (int i = 0; i < 8; i++)
        value[i] = 0;
    for (uint32_t first = 0; first < width; first += 8) {
        uint64_t x = 0, t;
        for (uint32_t b = first; b < min(first + 8, width); b++)
            x |= (uint64_t)(plane[b] >> 8 * k & 0xFF) << 8 * (b - first);
        t = (x ^ x >> 7) & 0x00AA00AA00AA00AAu;
        x ^= t ^ t << 7;
        t = (x ^ x >> 14) & 0x0000CCCC0000CCCCu;
        x ^= t ^ t << 14;
        t = (x ^ x >> 28) & 0x00000000F0F0F0F0u;
        x ^= t ^ t << 28;
#pragma unroll
        for (int i = 0; i < 8; i++)
            value[i] |= (Uint)(x >> 8 * i & 0xFF) << first;
    }
}

/* Of a group of 9..16 bits: f(i, value i), from its planes. */
template <class Do> FLOE_DEV void floe_huffman_medium_values(const uint32_t low[8], const uint32_t high[8], Do f)
{
    uint32_t a[8], b[8];
    floe_huffman_bytes_of_planes(low, a);
    floe_huffman_bytes_of_planes(high, b);
#pragma unroll
    for (int m = 0; m < 8; m++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const uint32_t two = __byte_perm(a[m], b[m], h ? 0x7362 : 0x5140);
            f(4 * m + 2 * h, two & 0xFFFF);
            f(4 * m + 2 * h + 1, two >> 16);
        }
}

/* Bits of such a group. */
FLOE_DEV uint32_t floe_huffman_medium_nbits(floe_huffman_codes codes, uint32_t width, const uint32_t low[8],
                                            const uint32_t high[8])
{
    const uint16_t *code = floe_huffman_table_codes(codes, floe_huffman_value_table(width));
    uint32_t nbits = 0;
    floe_huffman_medium_values(low, high, [&](int, uint32_t value) {
        const uint32_t nraw = floe_huffman_wide_raw_of(value);
        nbits += nraw + (__ldg(code + floe_huffman_wide_symbol(value, nraw)) >> FLOE_HUFFMAN_MAX_LENGTH);
    });
    return nbits;
}

/* Adds its head and values: a code and its raw bits, at most 11 + 13, at once. */
template <class Adder>
FLOE_DEV void floe_huffman_medium_add(Adder to, floe_huffman_codes codes, uint32_t head, uint32_t width,
                                      const uint32_t low[8], const uint32_t high[8])
{
    enum { MASK = (1 << FLOE_HUFFMAN_MAX_LENGTH) - 1 };
    const uint16_t *code = floe_huffman_table_codes(codes, floe_huffman_value_table(width));
    floe_pair_add(to, head);
    floe_huffman_medium_values(low, high, [&](int, uint32_t value) {
        const uint32_t nraw = floe_huffman_wide_raw_of(value), c = __ldg(code + floe_huffman_wide_symbol(value, nraw));
        const uint32_t n = c >> FLOE_HUFFMAN_MAX_LENGTH, raw = value & ((1u << nraw) - 1);
        floe_bits_add(to, (c & MASK) | raw << n, n + nraw);
    });
    floe_bits_end(to);
}
/* The same to device memory, or partly. */
FLOE_DEV_COLD void floe_huffman_medium_far_add(floe_room_adder to, floe_huffman_codes codes, uint32_t head,
                                               uint32_t width, const uint32_t *plane)
{
    floe_huffman_medium_add(to, codes, head, width, plane, plane + 8);
}

/* Bits of a group of more than 8. */
template <class Uint>
FLOE_DEV_COLD uint32_t floe_huffman_wide_nbits(floe_huffman_codes codes, uint32_t width, const uint32_t *plane)
{
    const uint16_t *code = floe_huffman_table_codes(codes, floe_huffman_value_table(width));
    uint32_t nbits = 0;
    for (uint32_t k = 0; k < FLOE_GROUP_VALUES / 8; k++) {
        Uint value[8];
        floe_huffman_wide_values(plane, width, k, value);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const uint32_t nraw = floe_huffman_wide_raw_of(value[i]);
            nbits += nraw + (code[floe_huffman_wide_symbol(value[i], nraw)] >> FLOE_HUFFMAN_MAX_LENGTH);
        }
    }
    return nbits;
}

template <class Uint>
FLOE_DEV_COLD void floe_huffman_wide_add(floe_room_adder to, floe_huffman_codes codes, uint32_t width,
                                         const uint32_t *plane)
{
    const uint16_t *code = floe_huffman_table_codes(codes, floe_huffman_value_table(width));
    for (uint32_t k = 0; k < FLOE_GROUP_VALUES / 8; k++) {
        Uint value[8];
        floe_huffman_wide_values(plane, width, k, value);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const uint32_t nraw = floe_huffman_wide_raw_of(value[i]), low = min(nraw, 32u);
            const Uint raw = value[i] & (((Uint)1 << nraw) - 1);
            floe_pair_add(to, floe_huffman_pair(code[floe_huffman_wide_symbol(value[i], nraw)], 0));
            floe_bits_add(to, (uint32_t)raw, low);
            if (sizeof(Uint) == 8 && nraw > 32)
                floe_bits_add(to, (uint32_t)((uint64_t)raw >> 32), nraw - low);
        }
    }
    floe_bits_end(to);
}

/* ---- a body of stage pack ------------------------------------------------------------------------------------------ */

/* Where the planes of step s begin, and this lane's width; sets flats, a bit a group. at: the step's first word. */
FLOE_DEV uint32_t floe_huffman_read_widths(const uint32_t *body, uint32_t s, uint32_t at, uint32_t present,
                                           uint32_t *width, uint32_t *flats)
{
    enum { AT_ONCE = 4 }; /* loads under way */
    const uint32_t lane = floe_lane(), descriptor = body[s / 2] >> s % 2 * 16 & 0xFFFF;
    const uint32_t least = descriptor >> FLOE_PACK_LEAST_SHIFT & 127, kind = descriptor >> FLOE_PACK_FLAT_SHIFT & 3;
    const uint32_t nplanes = descriptor >> FLOE_PACK_PLANES_SHIFT & 7;
    uint32_t above = 0;
    *flats = kind == 0 ? 0 : kind == 1 ? present : body[at];
    at += kind == 2;
#pragma unroll 1
    for (uint32_t first = 0; first < nplanes; first += AT_ONCE) {
        uint32_t plane[AT_ONCE];
#pragma unroll
        for (uint32_t b = 0; b < AT_ONCE; b++)
            plane[b] = first + b < nplanes ? body[at + first + b] : 0;
#pragma unroll
        for (uint32_t b = 0; b < AT_ONCE; b++)
            above |= (plane[b] >> lane & 1) << (first + b);
    }
    *width = present >> lane & 1 ? least + above : 0;
    return at + nplanes;
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

enum {
    FLOE_HUFFMAN_HEADER_WORDS = 20,                        /* 8 bits and 31 lengths of at most 20 */
    FLOE_HUFFMAN_LANES_AT = FLOE_HUFFMAN_HEADER_WORDS + 1, /* where lanes are coded, to make room for it */
    FLOE_HUFFMAN_CODE_SLACK = FLOE_HUFFMAN_HEADER_WORDS + 2,
    FLOE_HUFFMAN_TOO_LONG = 0xFFFFFFFFu
};

/* Shared memory, one a warp. */
typedef struct floe_huffman_coder {
    floe_huffman_heads heads;
    uint32_t planes_at[FLOE_TILE_STEPS];          /* of each step, in the body of stage pack */
    uint32_t lane_at[FLOE_HUFFMAN_MAX_LANES + 1]; /* first bits of the tile's lanes, and the end */
    uint32_t header[FLOE_HUFFMAN_HEADER_WORDS + 1];
} floe_huffman_coder;

/* Fills heads and planes_at. present: of each step, already in heads. */
FLOE_DEV void floe_huffman_read_heads(const uint32_t *body, uint32_t nsteps, floe_huffman_coder *coder)
{
    uint32_t at = (nsteps + 1) / 2;
    for (uint32_t s = 0; s < nsteps; s++) {
        uint32_t width, flats;
        at = floe_huffman_read_widths(body, s, at, coder->heads.present[s], &width, &flats);
        const uint32_t wide = __ballot_sync(FLOE_ALL_LANES, width != 0);
        coder->heads.width[s * FLOE_STEP_GROUPS + floe_lane()] = (uint8_t)width;
        if (floe_lane() == 0) {
            coder->heads.flat[s] = flats;
            coder->heads.live[s] = flats | wide;
            coder->planes_at[s] = at;
        }
        at += __reduce_add_sync(FLOE_ALL_LANES, width);
    }
    __syncwarp();
}

/* Planes FIRST .. FIRST + 7 of this lane's group, 0 beyond its width; from: where the step has the first of them. Returns where
 * the others are. most: the largest width of the warp. */
template <int FIRST>
FLOE_DEV const uint32_t *floe_huffman_eight_planes(const uint32_t *from, uint32_t width, uint32_t most,
                                                   uint32_t plane[8])
{
#pragma unroll
    for (int b = 0; b < 8; b++) {
        plane[b] = 0;
        if (FIRST + b < (int)most) {
            const uint32_t who = __ballot_sync(FLOE_ALL_LANES, (int)width > FIRST + b);
            if ((int)width > FIRST + b)
                plane[b] = from[__popc(who & floe_lanes_below())];
            from += __popc(who);
        }
    }
    return from;
}

/* Those and the others, of which `most` are in all; from: what eight_planes returned. */
FLOE_DEV void floe_huffman_all_planes(const uint32_t *from, uint32_t width, uint32_t most, const uint32_t low[8],
                                      uint32_t *plane)
{
    for (int b = 0; b < 8; b++)
        plane[b] = low[b];
    for (uint32_t b = 8; b < most; b++) {
        const uint32_t who = __ballot_sync(FLOE_ALL_LANES, width > b);
        if (width > b)
            plane[b] = from[__popc(who & floe_lanes_below())];
        from += __popc(who);
    }
}

/* What stands before the values of this lane's group in step s, as a pair: the quad's symbol before its first group, and
 * the header if the group is live. Sets *begins to the tile's lane that begins here, or NO_LIVE. The whole warp. */
FLOE_DEV uint32_t floe_huffman_head_pair(floe_huffman_codes codes, const floe_huffman_heads *heads, uint32_t s,
                                         uint32_t log, uint32_t nsteps, uint32_t width, uint32_t *begins)
{
    const uint32_t i = floe_lane() % FLOE_HUFFMAN_QUAD_GROUPS, k = floe_lane() / FLOE_HUFFMAN_QUAD_GROUPS;
    const uint32_t of_step = s * FLOE_HUFFMAN_STEP_QUADS, q = of_step + k;
    const uint32_t of = floe_huffman_lane_of(q, log, nsteps), first = floe_huffman_lane_quad(of, log, nsteps);
    const uint32_t lives = heads->live[s], live = floe_huffman_quad_of(&lives, k);
    /* of this step, from where the lane of the tile begins */
    const uint32_t from = first > of_step ? (first - of_step) * FLOE_HUFFMAN_QUAD_GROUPS : 0;
    const uint32_t below = lives & floe_lanes_below() & FLOE_ALL_LANES << from;
    uint32_t last = __shfl_sync(FLOE_ALL_LANES, width, below ? (int)floe_top_bit(below) : 0);
    uint32_t previous = k ? floe_huffman_quad_of(&lives, k - 1) : 0, quad = 0, header = 0;
    *begins = i == 0 && q == first ? of : (uint32_t)FLOE_HUFFMAN_NO_LIVE;
    if (floe_huffman_quad_of(&heads->present[s], k) == 0)
        return 0;
    if (q == first) {
        previous = 1;
        last = below ? last : (uint32_t)FLOE_HUFFMAN_NO_WIDTH;
    } else if (!below || previous == 0) { /* it may be a step before, or one that lies outside the field */
        const floe_huffman_before before = floe_huffman_before_quad(heads, q, first);
        previous = before.quad;
        last = below ? last : before.width;
    }
    if (i == 0)
        quad = __ldg(floe_huffman_table_codes(codes, floe_huffman_quad_table(previous)) + live);
    if (live >> i & 1) {
        const uint32_t symbol = 2 * width + (heads->flat[s] >> floe_lane() & 1);
        header = __ldg(floe_huffman_table_codes(codes, floe_huffman_header_table(last)) + symbol);
    }
    return floe_huffman_pair(quad, header);
}

/* Words first..last become 0; false where they do not fit. The whole warp, which is synchronized then. */
FLOE_DEV bool floe_huffman_reserve(const floe_huffman_room &room, uint32_t first, uint32_t last)
{
    if (last >= room.limit)
        return false;
    for (uint32_t i = first + floe_lane(); i <= last; i += FLOE_WARP)
        *floe_huffman_word(room, i) = 0;
    __syncwarp();
    return true;
}

/* The codes of this lane's group in a step. */
typedef struct floe_huffman_group_codes {
    uint32_t width, nbits;
    uint32_t head;     /* what stands before the values, as a pair */
    uint32_t begins;   /* the tile's lane that begins here, or NO_LIVE */
    bool medium;       /* no group of the step has more than 16 bits */
    uint32_t pair[16]; /* of a group up to 8 bits; if medium, the planes of a wider one */
} floe_huffman_group_codes;

/* What a body is made of. */
enum floe_huffman_form { FLOE_HUFFMAN_PLANES, FLOE_HUFFMAN_BYTES }; /* of stage pack; see huffman_symbols_dev.cuh */

/* The symbols of this lane's group at `from` in a step of a body, or planes 0..7 of a group of more than 8 bits. Returns where
 * the others are. */
template <int FORM>
FLOE_DEV const uint32_t *floe_huffman_find_symbols(const uint32_t *from, uint32_t width, uint32_t most,
                                                   uint32_t symbols[8])
{
    if (FORM == FLOE_HUFFMAN_BYTES)
        return from + floe_symbols_columns(0, width, [&](int i, uint32_t at) { symbols[i] = from[at]; });
    uint32_t low[8];
    from = floe_huffman_eight_planes<0>(from, width, most, low);
    if (width > 0 && width <= FLOE_HUFFMAN_NARROW)
        floe_huffman_narrow_symbols(width, low, symbols);
    else
#pragma unroll
        for (int i = 0; i < 8; i++)
            symbols[i] = low[i];
    return from;
}

/* Finds those of step s. plane: the planes of a wider group, unless the step is medium. MEDIUM: it may be. Returns the bits of all
 * lanes before this one; *all: of all lanes. The whole warp. */
template <class Uint, int FORM, bool MEDIUM>
FLOE_DEV uint32_t floe_huffman_step_codes(floe_huffman_codes codes, const uint32_t *body, uint32_t s, uint32_t log,
                                          uint32_t nsteps, const floe_huffman_coder *coder, floe_huffman_group_codes &g,
                                          uint32_t plane[8 * sizeof(Uint)], uint32_t *all)
{
    const uint32_t lane = floe_lane(), width = coder->heads.width[s * FLOE_STEP_GROUPS + lane];
    const uint32_t most = __reduce_max_sync(FLOE_ALL_LANES, width), *from = body + coder->planes_at[s];
    uint32_t symbols[8];
    g.width = width;
    g.nbits = 0;
    g.head = floe_huffman_head_pair(codes, &coder->heads, s, log, nsteps, width, &g.begins);
    from = floe_huffman_find_symbols<FORM>(from, width, most, symbols);
    g.medium = MEDIUM && most <= 16;
    if (g.medium && most > FLOE_HUFFMAN_NARROW) {
        uint32_t high[8];
        floe_huffman_eight_planes<8>(from, width, most, high);
        if (width > FLOE_HUFFMAN_NARROW) {
            g.nbits = floe_huffman_medium_nbits(codes, width, symbols, high);
#pragma unroll
            for (int b = 0; b < 8; b++) {
                g.pair[b] = symbols[b];
                g.pair[8 + b] = high[b];
            }
        }
    } else if (most > FLOE_HUFFMAN_NARROW) {
        floe_huffman_all_planes(from, width, most, symbols, plane);
        if (width > FLOE_HUFFMAN_NARROW)
            g.nbits = floe_huffman_wide_nbits<Uint>(codes, width, plane);
    }
    if (width > 0 && width <= FLOE_HUFFMAN_NARROW)
        g.nbits = floe_huffman_group_pairs(codes, width, symbols, g.pair);
    g.nbits += floe_huffman_pair_nbits(g.head);
    const uint32_t sum = floe_warp_sum_to(g.nbits);
    *all = __shfl_sync(FLOE_ALL_LANES, sum, FLOE_WARP - 1);
    return sum - g.nbits;
}

/* A group of up to 8 bits that goes to device memory, or partly. Pairs by value: those of the common path stay in registers. */
FLOE_DEV_COLD void floe_huffman_far_add(floe_room_adder to, uint32_t head, uint32_t width, uint4 a, uint4 b, uint4 c,
                                        uint4 d)
{
    const uint32_t pair[16] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w, d.x, d.y, d.z, d.w};
    floe_huffman_group_add(to, head, width, pair);
}

/* Adds those of this lane's group from bit `at` on. near: all words of the step are in words, which is shared memory. */
template <class Uint, bool MEDIUM>
FLOE_DEV void floe_huffman_step_add(floe_huffman_codes codes, const floe_huffman_room &room, bool near,
                                    const floe_huffman_group_codes &g, uint32_t plane[8 * sizeof(Uint)], uint32_t at)
{
    floe_room_adder to = {room, at / 32, 0, at % 32};
    if (MEDIUM && g.medium && g.width > FLOE_HUFFMAN_NARROW) {
        if (near) {
            floe_huffman_medium_add(floe_shared_adder_of(room.words, at), codes, g.head, g.width, g.pair, g.pair + 8);
        } else {
#pragma unroll
            for (int b = 0; b < 16; b++)
                plane[b] = g.pair[b];
            floe_huffman_medium_far_add(to, codes, g.head, g.width, plane);
        }
    } else if (g.width > FLOE_HUFFMAN_NARROW) {
        floe_pair_add(to, g.head);
        floe_huffman_wide_add<Uint>(to, codes, g.width, plane);
    } else if (near) {
        floe_huffman_group_add(floe_shared_adder_of(room.words, at), g.head, g.width, g.pair);
    } else {
        const uint32_t *p = g.pair;
        floe_huffman_far_add(to, g.head, g.width, make_uint4(p[0], p[1], p[2], p[3]),
                             make_uint4(p[4], p[5], p[6], p[7]), make_uint4(p[8], p[9], p[10], p[11]),
                             make_uint4(p[12], p[13], p[14], p[15]));
    }
}

/* Bits of a tile's header whose lanes' lengths take so many. */
FLOE_DEV uint32_t floe_huffman_header_nbits(uint32_t log, uint32_t field)
{
    return FLOE_HUFFMAN_LOG_BITS + FLOE_HUFFMAN_FIELD_BITS + ((1u << log) - 1) * field;
}

/* The bits that the longest lane's length takes, of lanes but the last; sets this lane's length. The whole warp. */
FLOE_DEV uint32_t floe_huffman_field(const floe_huffman_coder *coder, uint32_t log, uint32_t *length)
{
    const uint32_t lane = floe_lane();
    *length = lane + 1 < 1u << log ? coder->lane_at[lane + 1] - coder->lane_at[lane] : 0;
    return floe_bit_length(__reduce_max_sync(FLOE_ALL_LANES, *length));
}

/* Makes the tile's header, from lengths of this lane's and the bits of the longest. The whole warp, which is synchronized
 * then. */
FLOE_DEV void floe_huffman_head(floe_huffman_coder *coder, uint32_t log, uint32_t field, uint32_t length)
{
    const uint32_t lane = floe_lane(), at = FLOE_HUFFMAN_LOG_BITS + FLOE_HUFFMAN_FIELD_BITS + lane * field;
    if (lane <= FLOE_HUFFMAN_HEADER_WORDS)
        coder->header[lane] = lane ? 0 : log | field << FLOE_HUFFMAN_LOG_BITS;
    __syncwarp();
    if (lane + 1 < 1u << log) {
        atomicOr(&coder->header[at / 32], length << at % 32);
        if (at % 32 + field > 32)
            atomicOr(&coder->header[at / 32 + 1], __funnelshift_l(length, 0, at % 32));
    }
    __syncwarp();
}

/* Puts the tile's header in front of the lanes; the whole warp. Returns the words of the tile. */
FLOE_DEV uint32_t floe_huffman_close(floe_huffman_coder *coder, uint32_t log, const floe_huffman_room &room)
{
    uint32_t length;
    const uint32_t lane = floe_lane(), nbits = coder->lane_at[1u << log];
    const uint32_t field = floe_huffman_field(coder, log, &length);
    floe_huffman_head(coder, log, field, length);
    const uint32_t ahead = floe_huffman_header_nbits(log, field), whole = ahead / 32, shift = ahead % 32;
    const uint32_t nlanes = (nbits + 31) / 32, nwords = (ahead + nbits + 31) / 32;
    /* whole <= HEADER_WORDS: what a round writes stands before what the next one reads */
    for (uint32_t first = 0; first < nwords; first += FLOE_WARP) {
        const uint32_t i = first + lane,
                       k = FLOE_HUFFMAN_LANES_AT + i - whole; /* of lanes; wraps where only header is */
        const uint32_t low = i > whole && i - whole - 1 < nlanes ? *floe_huffman_word(room, k - 1) : 0;
        const uint32_t high = i >= whole && i - whole < nlanes ? *floe_huffman_word(room, k) : 0;
        const uint32_t head = i <= whole ? coder->header[i] : 0;
        __syncwarp();
        if (i < nwords)
            *floe_huffman_word(room, i) = __funnelshift_l(low, high, shift) | head;
        __syncwarp();
    }
    return nwords;
}

/* The heads and places of a body's steps. The whole warp. */
template <int FORM>
FLOE_DEV void floe_huffman_open_body(const uint32_t *body, uint32_t nsteps, floe_huffman_coder *coder)
{
    if (FORM == FLOE_HUFFMAN_BYTES)
        floe_symbols_open(body, &coder->heads, coder->planes_at);
    else
        floe_huffman_read_heads(body, nsteps, coder);
}

/* Codes a tile with a book whose histogram counted it. heads.present is set. body: of that form. Returns the words of the
 * tile, 0 without a live group; TOO_LONG when they, with CODE_SLACK more, may not fit room.limit. MEDIUM: groups of 9 to 16 bits
 * have a quicker way, which takes room for instructions. The whole warp. */
template <class Uint, int FORM, bool MEDIUM>
FLOE_DEV uint32_t floe_huffman_code_tile_dev(floe_huffman_codes codes, const uint32_t *body, uint32_t nsteps,
                                             floe_huffman_coder *coder, const floe_huffman_room &room)
{
    enum { BEGIN = 32 * FLOE_HUFFMAN_LANES_AT };
    coder = floe_in_shared(coder);
    floe_huffman_open_body<FORM>(body, nsteps, coder);
    const uint32_t log = floe_huffman_heads_log(&coder->heads, nsteps);
    const bool in_shared = floe_is_shared(room.words);
    uint32_t at = BEGIN, all;
    if (log == FLOE_HUFFMAN_NO_LIVE)
        return 0;
    if (!floe_huffman_reserve(room, BEGIN / 32, BEGIN / 32))
        return FLOE_HUFFMAN_TOO_LONG;
#pragma unroll 1
    for (uint32_t s = 0; s < nsteps; s++, at += all) {
        floe_huffman_group_codes group;
        uint32_t plane[8 * sizeof(Uint)];
        const uint32_t before =
            floe_huffman_step_codes<Uint, FORM, MEDIUM>(codes, body, s, log, nsteps, coder, group, plane, &all);
        const uint32_t end = (at + all) / 32;
        if (!floe_huffman_reserve(room, at / 32 + 1, end))
            return FLOE_HUFFMAN_TOO_LONG;
        if (group.begins != FLOE_HUFFMAN_NO_LIVE)
            coder->lane_at[group.begins] = at + before - BEGIN;
        floe_huffman_step_add<Uint, MEDIUM>(codes, room, in_shared && end < room.room, group, plane, at + before);
    }
    if (floe_lane() == 0)
        coder->lane_at[1u << log] = at - BEGIN;
    __syncwarp();
    return floe_huffman_close(coder, log, room);
}

#endif
