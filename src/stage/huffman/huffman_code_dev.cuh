/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coding a tile of stage huffman on a GPU: from a body of stage pack (stage/pack/pack.h), of our own making, to one of
 * stage huffman. A warp owns a tile, a lane a group of each step. The widths of all steps are read first, since they say
 * how many lanes the tile has; then each step's groups are turned into codes in registers, a scan of their lengths says
 * where they belong, and each lane adds its bits there.
 */
#ifndef FLOE_STAGE_HUFFMAN_CODE_DEV_CUH
#define FLOE_STAGE_HUFFMAN_CODE_DEV_CUH

#include "stage/huffman/huffman_tile_dev.cuh"
#include "stage/pack/pack.h"

/* The same address, which the compiler then knows to be in shared memory: other instructions, and half the registers. It
 * would see through a cast there and back alone. */
template <class T> FLOE_DEV T *floe_in_shared(T *p)
{
#ifdef FLOE_EMULATED
    return p;
#else
    uint32_t at;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(at) : "l"(p));
    return (T *)__cvta_shared_to_generic(at);
#endif
}

FLOE_DEV bool floe_is_shared(const void *p)
{
#ifdef FLOE_EMULATED
    return p != NULL;
#else
    return __isShared(p) != 0;
#endif
}

/* ---- codes --------------------------------------------------------------------------------------------------------- */

/* The codes of a book at FLOE_HUFFMAN_BINS places in shared memory. The first nthreads threads of the block; the caller
 * synchronizes. Two at a time: all alphabets are even. */
FLOE_DEV void floe_huffman_codes_load(const floe_huffman_book *book, uint16_t *codes, uint32_t nthreads)
{
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        for (uint32_t i = threadIdx.x; i < floe_huffman_alphabet(t) / 2; i += nthreads)
            ((uint32_t *)(codes + floe_huffman_bin(t)))[i] = ((const uint32_t *)book->code[t])[i];
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

/* ---- bits ---------------------------------------------------------------------------------------------------------- */

/* Adds bits to words that are 0 there; other lanes add theirs to the same words. */
typedef struct floe_bit_adder {
    uint32_t *to;
    uint32_t bits, n; /* of *to, not added yet: 0..31 */
} floe_bit_adder;

/* The same in shared memory, without a branch. */
typedef struct floe_shared_adder {
#ifdef FLOE_EMULATED
    uint32_t *to;
#else
    uint32_t to; /* address in shared memory */
#endif
    uint32_t bits, n;
} floe_shared_adder;

FLOE_DEV floe_shared_adder floe_shared_adder_of(const floe_bit_adder &a)
{
#ifdef FLOE_EMULATED
    floe_shared_adder s = {a.to, a.bits, a.n};
#else
    floe_shared_adder s = {(uint32_t)__cvta_generic_to_shared(a.to), a.bits, a.n};
#endif
    return s;
}

/* Adds the word if `full`, which is not 0. */
FLOE_DEV void floe_shared_or(const floe_shared_adder &a, uint32_t full)
{
#ifdef FLOE_EMULATED
    if (full)
        atomicOr(a.to, a.bits);
#else
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p red.shared.or.b32 [%0], %1; }" ::"r"(a.to), "r"(a.bits),
                 "r"(full)
                 : "memory");
#endif
}

FLOE_DEV void floe_bits_add(floe_shared_adder &a, uint32_t bits, uint32_t n)
{
    a.bits |= bits << a.n;
    const uint32_t carry = __funnelshift_l(bits, 0, a.n), end = a.n + n, full = end & 32;
    floe_shared_or(a, full);
    a.bits = full ? carry : a.bits;
#ifdef FLOE_EMULATED
    a.to += full / 32;
#else
    a.to += full / 8;
#endif
    a.n = end & 31;
}
FLOE_DEV void floe_bits_end(const floe_shared_adder &a) { floe_shared_or(a, a.n); }

/* n: 0..32; bits is 0 above them. */
FLOE_DEV void floe_bits_add(floe_bit_adder &a, uint32_t bits, uint32_t n)
{
    a.bits |= bits << a.n;
    const uint32_t carry = __funnelshift_l(bits, 0, a.n);
    a.n += n;
    if (a.n >= 32) {
        atomicOr(a.to++, a.bits);
        a.bits = carry;
        a.n -= 32;
    }
}
template <class Adder> FLOE_DEV void floe_pair_add(Adder &a, uint32_t pair)
{
    floe_bits_add(a, pair & ((1u << FLOE_HUFFMAN_PAIR_SHIFT) - 1), floe_huffman_pair_nbits(pair));
}

/* What is not added yet. */
FLOE_DEV void floe_bits_end(const floe_bit_adder &a)
{
    if (a.n)
        atomicOr(a.to, a.bits);
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
#pragma unroll
    for (int h = 0; h < 8; h += 4) { /* byte k of a[j] is value 8 k + j */
        const uint32_t low01 = __byte_perm(a[h], a[h + 1], 0x5140), high01 = __byte_perm(a[h], a[h + 1], 0x7362);
        const uint32_t low23 = __byte_perm(a[h + 2], a[h + 3], 0x5140);
        const uint32_t high23 = __byte_perm(a[h + 2], a[h + 3], 0x7362);
        bytes[h / 4] = __byte_perm(low01, low23, 0x5410);
        bytes[2 + h / 4] = __byte_perm(low01, low23, 0x7632);
        bytes[4 + h / 4] = __byte_perm(high01, high23, 0x5410);
        bytes[6 + h / 4] = __byte_perm(high01, high23, 0x7632);
    }
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
        pair[2 * j] = floe_huffman_pair(code[x & 0xFF], code[x >> 8 & 0xFF]);
        pair[2 * j + 1] = floe_huffman_pair(code[x >> 16 & 0xFF], code[x >> 24]);
        nbits += floe_huffman_pair_nbits(pair[2 * j]) + floe_huffman_pair_nbits(pair[2 * j + 1]);
    }
    return nbits;
}

/* The codes of a group of width 1..8, as pairs; returns their bits. Of pairs, as many as the width has are set: 2, 4, 8 or
 * 16. */
FLOE_DEV uint32_t floe_huffman_group_pairs(const uint16_t *codes, uint32_t width, const uint32_t plane[8],
                                           uint32_t pair[16])
{
    uint32_t symbols[8];
    const uint16_t *code = codes + floe_huffman_bin(floe_huffman_value_table(width));
    floe_huffman_narrow_symbols(width, plane, symbols);
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

/* Bits of a group of more than 8. */
template <class Uint>
FLOE_DEV_SELDOM uint32_t floe_huffman_wide_nbits(const uint16_t *codes, uint32_t width, const uint32_t *plane)
{
    const uint16_t *code = codes + floe_huffman_bin(floe_huffman_value_table(width));
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
FLOE_DEV_SELDOM void floe_huffman_wide_add(floe_bit_adder to, const uint16_t *codes, uint32_t width,
                                           const uint32_t *plane)
{
    const uint16_t *code = codes + floe_huffman_bin(floe_huffman_value_table(width));
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

/* Where the planes of step s begin, and this lane's width; sets flat. at: the step's first word. */
FLOE_DEV uint32_t floe_huffman_read_widths(const uint32_t *body, uint32_t s, uint32_t at, uint32_t present,
                                           uint32_t *width, bool *flat)
{
    const uint32_t lane = floe_lane(), descriptor = body[s / 2] >> s % 2 * 16 & 0xFFFF;
    const uint32_t least = descriptor >> FLOE_PACK_LEAST_SHIFT & 127, kind = descriptor >> FLOE_PACK_FLAT_SHIFT & 3;
    const uint32_t nplanes = descriptor >> FLOE_PACK_PLANES_SHIFT & 7;
    uint32_t above = 0;
    *flat = (kind == 0 ? 0 : kind == 1 ? present : body[at]) >> lane & 1;
    at += kind == 2;
    for (uint32_t b = 0; b < nplanes; b++)
        above |= (body[at + b] >> lane & 1) << b;
    *width = present >> lane & 1 ? least + above : 0;
    return at + nplanes;
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

enum {
    FLOE_HUFFMAN_HEADER_WORDS = 20, /* 8 bits and 31 lengths of at most 20 */
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
        const uint32_t present = coder->heads.present[s];
        uint32_t width;
        bool flat;
        at = floe_huffman_read_widths(body, s, at, present, &width, &flat);
        __syncwarp(); /* present was read by all */
        floe_huffman_heads_set(&coder->heads, s, width, flat, present >> floe_lane() & 1);
        if (floe_lane() == 0)
            coder->planes_at[s] = at;
        at += __reduce_add_sync(FLOE_ALL_LANES, width);
    }
    __syncwarp();
}

/* Planes 0..7 of this lane's group, 0 beyond its width; from: the step's planes. Returns where the others are. most: the
 * largest width of the warp. */
FLOE_DEV const uint32_t *floe_huffman_low_planes(const uint32_t *from, uint32_t width, uint32_t most, uint32_t plane[8])
{
#pragma unroll
    for (int b = 0; b < 8; b++) {
        plane[b] = 0;
        if (b < (int)most) {
            const uint32_t who = __ballot_sync(FLOE_ALL_LANES, (int)width > b);
            if ((int)width > b)
                plane[b] = from[__popc(who & floe_lanes_below())];
            from += __popc(who);
        }
    }
    return from;
}

/* Those and the others, of which `most` are in all; from: what low_planes returned. */
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
 * the header if the group is live. Sets *lane to the tile's lane that begins here, or NO_LIVE. */
FLOE_DEV uint32_t floe_huffman_head_pair(const uint16_t *codes, const floe_huffman_heads *heads, uint32_t s,
                                         uint32_t log, uint32_t nsteps, uint32_t *lane)
{
    const uint32_t i = floe_lane() % FLOE_HUFFMAN_QUAD_GROUPS;
    const uint32_t q = (s * FLOE_STEP_GROUPS + floe_lane()) / FLOE_HUFFMAN_QUAD_GROUPS;
    const uint32_t of = floe_huffman_lane_of(q, log, nsteps), first = floe_huffman_lane_quad(of, log, nsteps);
    const uint32_t live = floe_huffman_quad_of(heads->live, q), below = live & ((1u << i) - 1);
    uint32_t quad = 0, header = 0;
    *lane = i == 0 && q == first ? of : (uint32_t)FLOE_HUFFMAN_NO_LIVE;
    if (floe_huffman_quad_of(heads->present, q) == 0)
        return 0;
    const floe_huffman_before before = floe_huffman_before_quad(heads, q, first);
    if (i == 0)
        quad = codes[floe_huffman_bin(floe_huffman_quad_table(before.quad)) + live];
    if (live >> i & 1) {
        const uint32_t last = below ? heads->width[q * FLOE_HUFFMAN_QUAD_GROUPS + floe_top_bit(below)] : before.width;
        const uint32_t symbol =
            2 * heads->width[s * FLOE_STEP_GROUPS + floe_lane()] + (heads->flat[s] >> floe_lane() & 1);
        header = codes[floe_huffman_bin(floe_huffman_header_table(last)) + symbol];
    }
    return floe_huffman_pair(quad, header);
}

/* Where the words of a tile go: the first room of them to words, the others to spill, which has a place for each word up
 * to limit, for the first ones too. Lanes are coded LANES_AT words further back, to make room for the header. */
typedef struct floe_huffman_room {
    uint32_t *words, *spill;
    uint32_t room, limit;
} floe_huffman_room;

enum { FLOE_HUFFMAN_LANES_AT = FLOE_HUFFMAN_HEADER_WORDS + 1 };

/* Lanes being coded: `at` bits are; words up to split are in words, the others in spill. UNSPLIT: none is there. */
enum : uint32_t { FLOE_HUFFMAN_UNSPLIT = 0xFFFFFFFFu };

typedef struct floe_huffman_lanes {
    uint32_t *to; /* words or spill, at the lanes' first word */
    uint32_t split, at;
} floe_huffman_lanes;

/* Makes room for bits up to `end`, zeros; false without. The whole warp. */
FLOE_DEV bool floe_huffman_reserve(const floe_huffman_room &room, floe_huffman_lanes &lanes, uint32_t end)
{
    const uint32_t first = lanes.at / 32, last = end / 32;
    if (FLOE_HUFFMAN_LANES_AT + last >= room.limit)
        return false;
    if (lanes.split > last && FLOE_HUFFMAN_LANES_AT + last >= room.room) {
        uint32_t *spill = room.spill + FLOE_HUFFMAN_LANES_AT;
        __syncwarp(); /* all bits so far are added */
        if (lanes.at > 0 && floe_lane() == 0)
            spill[first] = lanes.to[first];
        lanes.to = spill;
        lanes.split = first;
    }
    for (uint32_t i = first + (lanes.at > 0) + floe_lane(); i <= last; i += FLOE_WARP)
        lanes.to[i] = 0;
    __syncwarp();
    return true;
}

/* Codes step s behind the lanes so far. False: it does not fit. */
template <class Uint>
FLOE_DEV bool floe_huffman_code_step(const uint16_t *codes, const uint32_t *body, uint32_t s, uint32_t log,
                                     uint32_t nsteps, floe_huffman_coder *coder, const floe_huffman_room &room,
                                     floe_huffman_lanes &lanes)
{
    enum { BITS = 8 * sizeof(Uint) };
    const uint32_t lane = floe_lane(), width = coder->heads.width[s * FLOE_STEP_GROUPS + lane];
    const uint32_t most = __reduce_max_sync(FLOE_ALL_LANES, width), *from = body + coder->planes_at[s];
    uint32_t plane[8], wide[BITS], pair[16], begins, nbits = 0;
    const uint32_t head = floe_huffman_head_pair(codes, &coder->heads, s, log, nsteps, &begins);
    from = floe_huffman_low_planes(from, width, most, plane);
    if (most > 8) {
        floe_huffman_all_planes(from, width, most, plane, wide);
        if (width > 8)
            nbits = floe_huffman_wide_nbits<Uint>(codes, width, wide);
    }
    if (width > 0 && width <= 8)
        nbits = floe_huffman_group_pairs(codes, width, plane, pair);
    nbits += floe_huffman_pair_nbits(head);
    uint32_t sum = nbits;
#pragma unroll
    for (int d = 1; d < FLOE_WARP; d *= 2) {
        const uint32_t up = __shfl_up_sync(FLOE_ALL_LANES, sum, d);
        sum += (int)lane >= d ? up : 0;
    }
    const uint32_t mine = lanes.at + sum - nbits;
    const uint32_t end = lanes.at + __shfl_sync(FLOE_ALL_LANES, sum, FLOE_WARP - 1);
    if (!floe_huffman_reserve(room, lanes, end))
        return false;
    if (begins != FLOE_HUFFMAN_NO_LIVE)
        coder->lane_at[begins] = mine;
    floe_bit_adder to = {lanes.to + mine / 32, 0, mine % 32};
    if (width > 8) {
        floe_pair_add(to, head);
        floe_huffman_wide_add<Uint>(to, codes, width, wide);
    } else if (lanes.split == FLOE_HUFFMAN_UNSPLIT && floe_is_shared(lanes.to)) {
        floe_huffman_group_add(floe_shared_adder_of(to), head, width, pair);
    } else {
        floe_huffman_group_add(to, head, width, pair);
    }
    lanes.at = end;
    return true;
}

FLOE_DEV uint32_t floe_huffman_lane_word(const floe_huffman_room &room, uint32_t split, uint32_t k)
{
    return (k < split ? room.words : room.spill)[FLOE_HUFFMAN_LANES_AT + k];
}

/* Puts the tile's header in front of the lanes; the whole warp. Returns the words of the tile. */
FLOE_DEV uint32_t floe_huffman_close(floe_huffman_coder *coder, uint32_t log, const floe_huffman_room &room,
                                     uint32_t split)
{
    enum { NBITS = FLOE_HUFFMAN_LOG_BITS + FLOE_HUFFMAN_FIELD_BITS };
    const uint32_t lane = floe_lane(), n = 1u << log, nbits = coder->lane_at[n];
    const uint32_t length = lane + 1 < n ? coder->lane_at[lane + 1] - coder->lane_at[lane] : 0;
    const uint32_t field = floe_huffman_bit_length(__reduce_max_sync(FLOE_ALL_LANES, length));
    if (lane <= FLOE_HUFFMAN_HEADER_WORDS)
        coder->header[lane] = 0;
    __syncwarp();
    if (lane + 1 < n) {
        const uint32_t at = NBITS + lane * field;
        floe_bit_adder to = {coder->header + at / 32, 0, at % 32};
        floe_bits_add(to, length, field);
        floe_bits_end(to);
    }
    if (lane == 0)
        atomicOr(coder->header, log | field << FLOE_HUFFMAN_LOG_BITS);
    __syncwarp();
    const uint32_t ahead = NBITS + (n - 1) * field, whole = ahead / 32, shift = ahead % 32;
    const uint32_t nlanes = (nbits + 31) / 32, nwords = (ahead + nbits + 31) / 32;
    /* whole <= HEADER_WORDS: what a round writes stands before what the next one reads */
    for (uint32_t first = 0; first < nwords; first += FLOE_WARP) {
        const uint32_t i = first + lane, k = i - whole; /* of lanes; wraps where only header is */
        const uint32_t low = i > whole && k - 1 < nlanes ? floe_huffman_lane_word(room, split, k - 1) : 0;
        const uint32_t high = i >= whole && k < nlanes ? floe_huffman_lane_word(room, split, k) : 0;
        const uint32_t head = i <= whole ? coder->header[i] : 0;
        __syncwarp();
        if (i < nwords)
            (i < room.room ? room.words : room.spill)[i] = __funnelshift_l(low, high, shift) | head;
        __syncwarp();
    }
    return nwords;
}

/* Codes a tile with a book whose histogram counted it. heads.present is set. body: of stage pack. Returns the words of the
 * tile, 0 without a live group; TOO_LONG when they, with CODE_SLACK more, may not fit room.limit. The whole warp. */
template <class Uint>
FLOE_DEV uint32_t floe_huffman_code_tile_dev(const uint16_t *codes, const uint32_t *body, uint32_t nsteps,
                                             floe_huffman_coder *coder, const floe_huffman_room &room)
{
    codes = floe_in_shared(codes);
    coder = floe_in_shared(coder);
    floe_huffman_read_heads(body, nsteps, coder);
    const uint32_t log = floe_huffman_heads_log(&coder->heads, nsteps);
    if (log == FLOE_HUFFMAN_NO_LIVE)
        return 0;
    floe_huffman_lanes lanes = {room.words + FLOE_HUFFMAN_LANES_AT, FLOE_HUFFMAN_UNSPLIT, 0};
    for (uint32_t s = 0; s < nsteps; s++)
        if (!floe_huffman_code_step<Uint>(codes, body, s, log, nsteps, coder, room, lanes))
            return FLOE_HUFFMAN_TOO_LONG;
    if (floe_lane() == 0)
        coder->lane_at[1u << log] = lanes.at;
    __syncwarp();
    return floe_huffman_close(coder, log, room, lanes.split);
}

#endif
