/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding a tile of stage huffman on a GPU. A warp owns a tile; thread i decodes the tile's lane i. Groups of up to 8 bits
 * stay in shared memory as the symbols that they are coded in, and become values when the lane that owns the group needs them
 * for it; wider groups go to device memory as values.
 *
 *     floe_huffman_tables_load<Uint>(...)            the whole block, once a chunk
 *     floe_huffman_decode_tile_dev<Uint>(...)        the whole warp; true: what follows may be requested
 *     floe_huffman_group_bytes / _values             by lane g, of its group in a step
 */
#ifndef FLOE_STAGE_HUFFMAN_DECODE_DEV_CUH
#define FLOE_STAGE_HUFFMAN_DECODE_DEV_CUH

#include "stage/huffman/huffman_bits_dev.cuh"
#include "stage/huffman/huffman_tile_dev.cuh"

/* ---- tables -------------------------------------------------------------------------------------------------------- */

/* A decoder at hand: entries in shared or device memory; FLOE_HUFFMAN_TABLE_WORDS of shared memory: of each table its start,
 * its mask << 16 and UNUSED, then, by a group's header, the same of what codes the group's values, and how many words of
 * symbols it has << 27. Headers that no group has are UNUSED. */
typedef struct floe_huffman_tables {
    const uint16_t *entry;
    const uint32_t *table;
} floe_huffman_tables;
enum {
    FLOE_HUFFMAN_BY_HEADER = FLOE_HUFFMAN_TABLES,
    FLOE_HUFFMAN_TABLE_WORDS = FLOE_HUFFMAN_BY_HEADER + FLOE_HUFFMAN_SYMBOLS
};
#define FLOE_HUFFMAN_TABLE_UNUSED 0x80000000u

/* Entries that a decoder uses; tables stand one behind the other. */
FLOE_DEV uint32_t floe_huffman_entries_of(const floe_huffman_decoder *decoder)
{
    return decoder->start[FLOE_HUFFMAN_TABLES - 1] + decoder->mask[FLOE_HUFFMAN_TABLES - 1] + 1u;
}

FLOE_DEV uint32_t floe_huffman_table_word(const floe_huffman_decoder *decoder, uint32_t t)
{
    return decoder->start[t] | (uint32_t)decoder->mask[t] << 16 |
           (decoder->unused >> t & 1 ? FLOE_HUFFMAN_TABLE_UNUSED : 0);
}

/* Of an element type of so many bits. */
FLOE_DEV uint32_t floe_huffman_header_word(const floe_huffman_decoder *decoder, uint32_t header, uint32_t widest)
{
    const uint32_t width = header >> 1, rounds = width <= 2 ? width : width <= 4 ? 4 : 8;
    if (header == 0 || width > widest)
        return FLOE_HUFFMAN_TABLE_UNUSED;
    if (width == 0)
        return 0;
    return floe_huffman_table_word(decoder, floe_huffman_value_table(width)) |
           (width <= FLOE_HUFFMAN_NARROW ? rounds << 27 : 0);
}

/* Copies the tables to shared memory: FLOE_HUFFMAN_TABLE_WORDS, and the entries if room (a number of entries) is enough; else
 * they stay where they are. The whole block; the caller synchronizes before and after. decoder is 4-byte aligned. */
template <class Uint>
FLOE_DEV floe_huffman_tables floe_huffman_tables_load(const floe_huffman_decoder *decoder, uint32_t *table,
                                                      uint16_t *entry, uint32_t room)
{
    const uint32_t n = floe_huffman_entries_of(decoder);
    const bool near = n + n % 2 <= room;
    for (uint32_t i = 2 * threadIdx.x; near && i < n; i += 2 * blockDim.x)
        floe_copy4_async(entry + i, decoder->entry + i);
    floe_copy_async_commit();
    for (uint32_t i = threadIdx.x; i < FLOE_HUFFMAN_TABLE_WORDS; i += blockDim.x)
        table[i] = i < FLOE_HUFFMAN_BY_HEADER
                       ? floe_huffman_table_word(decoder, i)
                       : floe_huffman_header_word(decoder, i - FLOE_HUFFMAN_BY_HEADER, 8 * sizeof(Uint));
    floe_copy_async_wait();
    return floe_huffman_tables{near ? entry : decoder->entry, table};
}

/* The entry of the symbol at the front of bits. */
FLOE_DEV uint32_t floe_huffman_find(const uint16_t *entry, uint32_t table, uint32_t bits)
{
    return entry[(table & 0xFFFF) + (bits & (table >> 16 & 0x7FFF))];
}

/* ---- bits ---------------------------------------------------------------------------------------------------------- */

/* A tile's words, at least one. What lies behind the last word may read as anything: whoever takes such bits has left its
 * lane and is refused. */
typedef struct floe_tile_words {
    const uint32_t *words;
    uint32_t last;
} floe_tile_words;

FLOE_DEV uint32_t floe_tile_word(const floe_tile_words &w, uint32_t i) { return w.words[min(i, w.last)]; }

FLOE_DEV uint32_t floe_tile_peek(const floe_tile_words &w, uint32_t pos)
{
    return __funnelshift_r(floe_tile_word(w, pos / 32), floe_tile_word(w, pos / 32 + 1), pos);
}
FLOE_DEV uint64_t floe_tile_peek64(const floe_tile_words &w, uint32_t pos)
{
    const uint32_t i = pos / 32, middle = floe_tile_word(w, i + 1);
    const uint32_t low = __funnelshift_r(floe_tile_word(w, i), middle, pos);
    return (uint64_t)__funnelshift_r(middle, floe_tile_word(w, i + 2), pos) << 32 | low;
}

/* ---- groups -------------------------------------------------------------------------------------------------------- */

/* What a tile decodes to; shared memory, one a warp. present is set by the caller (kept), the rest is filled: width and
 * flat of all groups of the tile's steps; symbols of groups of width 1..8, word j of group g of a step at [j][g]. */
typedef struct floe_huffman_groups {
    uint32_t symbols[FLOE_TILE_STEPS][8][FLOE_STEP_GROUPS];
    uint8_t width[FLOE_TILE_GROUPS];
    uint32_t flat[FLOE_TILE_STEPS], present[FLOE_TILE_STEPS];
} floe_huffman_groups;

/* Device memory for the groups of more than 8 bits, one a warp, 16-byte aligned: the values of group g from 32 g on, of
 * 16 bits up to that width, else of 32, else of 64. */
#define FLOE_HUFFMAN_WIDE_NBYTES(Uint) (FLOE_TILE_VALUES * sizeof(Uint))

FLOE_DEV uint4 *floe_huffman_wide_at(void *wide, uint32_t group, uint32_t value_nbytes)
{
    return (uint4 *)((uint8_t *)wide + group * (FLOE_GROUP_VALUES * value_nbytes));
}

/* The value of entry e, found at the front of x. All its bits are in x. */
FLOE_DEV uint64_t floe_huffman_wide_value(uint32_t e, uint64_t x)
{
    const uint32_t nraw = floe_huffman_wide_raw(e >> 8), ncode = (e & 0xFF) - nraw;
    return floe_huffman_wide_base(e >> 8) | (x >> ncode & (((uint64_t)1 << nraw) - 1));
}

/* A symbol's value has at most `width` bits. Before any of its raw bits are taken. */
FLOE_DEV bool floe_huffman_wide_fits(uint32_t e, uint32_t width) { return e >> 8 < 4 * width; }

/* Shared memory, one a warp, 16-byte aligned: for each lane, the words of a group of 9..16 bits, which may begin within 16 bytes. */
enum {
    FLOE_HUFFMAN_NEAR_EACH = 28,
    FLOE_HUFFMAN_NEAR_WORDS = FLOE_WARP * FLOE_HUFFMAN_NEAR_EACH,
    FLOE_HUFFMAN_MEDIUM_BITS = 32 * (FLOE_HUFFMAN_MAX_LENGTH + 13) /* of such a group, at most */
};
static_assert(FLOE_HUFFMAN_NEAR_EACH >= 4 + FLOE_HUFFMAN_MEDIUM_BITS / 32, "they fit");

/* Brings the words of the group at bit pos to this lane's `near`: lanes read words that lie apart, and L1 has no room for them all.
 * Returns those; *ahead: bits of the tile before them, modulo 2^32. */
FLOE_DEV floe_tile_words floe_huffman_bring(const floe_tile_words &in, uint32_t pos, uint32_t *near, uint32_t *ahead)
{
    const uint32_t i = min(pos / 32, in.last), skip = (uint32_t)((uintptr_t)(in.words + i) >> 2 & 3),
                   n = min(skip + in.last + 1 - i, (uint32_t)FLOE_HUFFMAN_NEAR_EACH);
    uint32_t *mine = near + FLOE_HUFFMAN_NEAR_EACH * floe_lane();
    for (uint32_t k = 0; k < n; k += 4)
        floe_copy16_async_part(mine + k, in.words + i - skip + k, 4 * min(n - k, 4u));
    floe_copy_async_commit();
    floe_copy_async_wait(); /* for its own copies */
    *ahead = 32 * (i - skip);
    return floe_tile_words{mine, n - 1};
}

/* Groups of 9..16 bits, by one thread: two values from each look at the bits, 2 * (11 + 13) <= 64. Returns where the group
 * ends, UINT32_MAX when it is damaged. Its words are in shared memory. */
FLOE_DEV_COLD uint32_t floe_huffman_decode_wide16(floe_tile_words in, uint32_t pos, const uint16_t *entry,
                                                  uint32_t table, uint32_t width, uint4 *to)
{
    in.words = floe_in_shared(in.words);
    for (uint32_t k = 0; k < FLOE_GROUP_VALUES / 8; k++) {
        uint32_t out[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint64_t x = floe_tile_peek64(in, pos);
            const uint32_t a = floe_huffman_find(entry, table, (uint32_t)x);
            if (!floe_huffman_wide_fits(a, width))
                return UINT32_MAX;
            const uint64_t y = x >> (a & 0xFF);
            const uint32_t b = floe_huffman_find(entry, table, (uint32_t)y);
            if (!floe_huffman_wide_fits(b, width))
                return UINT32_MAX;
            out[i] = (uint32_t)floe_huffman_wide_value(a, x) | (uint32_t)floe_huffman_wide_value(b, y) << 16;
            pos += (a + b) & 0xFF;
        }
        to[k] = make_uint4(out[0], out[1], out[2], out[3]);
    }
    return pos;
}

/* Groups of 17 bits and more, likewise; a code and its raw bits are looked at one after the other. */
FLOE_DEV_COLD uint32_t floe_huffman_decode_wide64(floe_tile_words in, uint32_t pos, const uint16_t *entry,
                                                  uint32_t table, uint32_t width, uint4 *to)
{
    uint32_t out[4] = {0, 0, 0, 0};
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++) {
        const uint32_t e = floe_huffman_find(entry, table, floe_tile_peek(in, pos));
        if (!floe_huffman_wide_fits(e, width))
            return UINT32_MAX;
        const uint32_t nraw = floe_huffman_wide_raw(e >> 8);
        pos += e & 0xFF;
        const uint64_t raw = floe_tile_peek64(in, pos - nraw) & (((uint64_t)1 << nraw) - 1);
        const uint64_t value = floe_huffman_wide_base(e >> 8) | raw;
        const uint32_t at = i % (width <= 32 ? 4 : 2);
        if (width <= 32) {
            out[0] = at == 0 ? (uint32_t)value : out[0];
            out[1] = at == 1 ? (uint32_t)value : out[1];
            out[2] = at == 2 ? (uint32_t)value : out[2];
            out[3] = (uint32_t)value;
            if (at == 3)
                *to++ = make_uint4(out[0], out[1], out[2], out[3]);
        } else {
            out[0] = at == 0 ? (uint32_t)value : out[0];
            out[1] = at == 0 ? (uint32_t)(value >> 32) : out[1];
            if (at == 1)
                *to++ = make_uint4(out[0], out[1], (uint32_t)value, (uint32_t)(value >> 32));
        }
    }
    return pos;
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

/* A lane of the tile being decoded, by one thread. */
typedef struct floe_huffman_reader {
    uint32_t pos, end;   /* bits of the tile */
    uint32_t quad, last; /* next quad, and the first of the next lane */
} floe_huffman_reader;

/* Reads the tile's header and sets this thread's lane of the tile; *nlanes. False: damaged. The whole warp. */
FLOE_DEV bool floe_huffman_open_lanes(const floe_tile_words &in, uint32_t nsteps, floe_huffman_reader *r,
                                      uint32_t *nlanes)
{
    enum { NBITS = FLOE_HUFFMAN_LOG_BITS + FLOE_HUFFMAN_FIELD_BITS, TOO_LONG = 1 << 24 };
    const uint32_t lane = floe_lane(), head = floe_tile_peek(in, 0);
    const uint32_t log = head & ((1u << FLOE_HUFFMAN_LOG_BITS) - 1), n = 1u << log;
    const uint32_t field = head >> FLOE_HUFFMAN_LOG_BITS & ((1u << FLOE_HUFFMAN_FIELD_BITS) - 1);
    const uint32_t nbits = (in.last + 1) * 32, first = NBITS + (n - 1) * field;
    if (n > FLOE_HUFFMAN_MAX_LANES || n > nsteps * FLOE_HUFFMAN_STEP_QUADS || (n == 1 && field))
        return false;
    uint32_t length = 0;
    if (lane + 1 < n) /* cut off where it is too long for any tile, so that sums stay small */
        length = min(floe_tile_peek(in, NBITS + lane * field) & ((1u << field) - 1), (uint32_t)TOO_LONG);
    const uint32_t sum = floe_warp_sum_to(length);
    const uint32_t all = __shfl_sync(FLOE_ALL_LANES, sum, FLOE_WARP - 1);
    if (first + all > nbits)
        return false;
    *nlanes = n;
    r->pos = first + sum - length;
    r->end = lane + 1 < n ? first + sum : nbits;
    r->quad = lane < n ? floe_huffman_lane_quad(lane, log, nsteps) : 0;
    r->last = lane < n ? floe_huffman_lane_quad(lane + 1, log, nsteps) : 0;
    return true;
}

/* The lane ends where the next one starts; the last one in the last word, and zeros follow. */
FLOE_DEV bool floe_huffman_ends_well(const floe_tile_words &in, const floe_huffman_reader *r, bool is_last)
{
    const uint32_t left = r->end - r->pos;
    if (r->pos > r->end || !is_last)
        return left == 0;
    return left < 32 && (floe_tile_peek(in, r->pos) & ((1u << left) - 1)) == 0;
}

FLOE_DEV void floe_huffman_groups_clear(floe_huffman_groups *groups)
{
    const uint32_t lane = floe_lane();
    __syncwarp();
    for (uint32_t s = 0; s < FLOE_TILE_STEPS; s++)
        groups->width[s * FLOE_STEP_GROUPS + lane] = 0;
    if (lane < FLOE_TILE_STEPS)
        groups->flat[lane] = 0;
    __syncwarp();
}

/* width of all groups holds headers: they become widths and flat. The whole warp, which is synchronized then. */
FLOE_DEV void floe_huffman_groups_settle(floe_huffman_groups *groups)
{
    const uint32_t lane = floe_lane();
    __syncwarp();
#pragma unroll
    for (uint32_t s = 0; s < FLOE_TILE_STEPS; s++) {
        const uint32_t header = groups->width[s * FLOE_STEP_GROUPS + lane];
        const uint32_t flat = __ballot_sync(FLOE_ALL_LANES, header & 1);
        groups->width[s * FLOE_STEP_GROUPS + lane] = (uint8_t)(header >> 1);
        if (lane == s)
            groups->flat[s] = flat;
    }
    __syncwarp();
}

/* Room for groups of more than 8 bits. near: of a tile whose words are in device memory, else NULL. values: where values go. */
typedef struct floe_huffman_wide {
    uint32_t *near;
    void *values;
} floe_huffman_wide;

/* A group of more than 8 bits from bit pos on; word: by its header. Returns where it ends, UINT32_MAX when it is damaged. */
template <class Uint>
FLOE_DEV uint32_t floe_huffman_decode_wide(const floe_tile_words &in, uint32_t pos, const uint16_t *entry,
                                           uint32_t word, uint32_t width, const floe_huffman_wide &to, uint32_t group)
{
    uint4 *values = floe_huffman_wide_at(to.values, group, sizeof(Uint));
    if (width > 16)
        return floe_huffman_decode_wide64(in, pos, entry, word, width, values);
    if (!to.near)
        return floe_huffman_decode_wide16(in, pos, entry, word, width, values);
    uint32_t ahead;
    const floe_tile_words near = floe_huffman_bring(in, pos, to.near, &ahead);
    const uint32_t end = floe_huffman_decode_wide16(near, pos - ahead, entry, word, width, values);
    return end == UINT32_MAX ? end : end + ahead;
}

/* Four symbols of at most 11 bits each, at the front of the bits x and those behind them; entry: of their table. *nbits: what
 * they take. */
FLOE_DEV uint32_t floe_huffman_decode4(uint32_t x, uint32_t behind, const uint16_t *entry, uint32_t mask,
                                       uint32_t *nbits)
{
    const uint32_t a = entry[x & mask], b = entry[x >> (a & 31) & mask];
    const uint32_t y = __funnelshift_r(x, behind, (a + b) & 31);
    const uint32_t c = entry[y & mask], d = entry[y >> (c & 31) & mask];
    *nbits = (a + b + c + d) & 0xFF;
    return __byte_perm(__byte_perm(a, b, 0x51), __byte_perm(c, d, 0x51), 0x5410);
}

/* The lanes of a tile of at least one word; `groups` is clear. A round of the loop takes four symbols of a group, and before
 * them quad and header where a group is through. A look at a table waits for the one before: all else is at hand by then. NEAR:
 * words and entries are in shared memory, as tables and groups always are. A call of its own, so that nothing else has a
 * register. */
template <class Uint, bool NEAR>
static __device__ __noinline__ bool floe_huffman_decode_lanes(floe_huffman_tables t, floe_tile_words in,
                                                              uint32_t nsteps, floe_huffman_groups *groups,
                                                              floe_huffman_wide wide)
{
    const uint16_t *entry = NEAR ? floe_in_shared(t.entry) : t.entry, *values = entry;
    const uint32_t *table = floe_in_shared(t.table), *by_header = table + FLOE_HUFFMAN_BY_HEADER;
    const uint32_t lane = floe_lane();
    floe_huffman_reader r;
    uint32_t nlanes, rounds = 0, mask = 0, live = 0, group = 0;
    uint32_t before = 1; /* the quad symbol before */
    groups = floe_in_shared(groups);
    uint32_t *to = groups->symbols[0][0];
    in.words = NEAR ? floe_in_shared(in.words) : in.words;
    if (!floe_huffman_open_lanes(in, nsteps, &r, &nlanes))
        return false;
    const uint32_t after_some = table[FLOE_HUFFMAN_QUAD], after_none = table[FLOE_HUFFMAN_QUAD + 1];
    const uint32_t after_two = table[FLOE_HUFFMAN_HEADER + 1], after_four = table[FLOE_HUFFMAN_HEADER + 2],
                   after_more = table[FLOE_HUFFMAN_HEADER + 3];
    uint32_t header_table = table[FLOE_HUFFMAN_HEADER];
    const bool whole =
        nsteps == FLOE_TILE_STEPS &&
        __all_sync(FLOE_ALL_LANES, lane >= FLOE_TILE_STEPS || groups->present[lane % FLOE_TILE_STEPS] == UINT32_MAX);
    bool active = lane < nlanes, ok = true;
    while (__any_sync(FLOE_ALL_LANES, active)) {
        const uint32_t i = r.pos / 32;
        uint32_t w0 = floe_tile_word(in, i), w1 = floe_tile_word(in, i + 1), w2 = floe_tile_word(in, i + 2);
        if (active && rounds == 0) {
            const uint32_t w3 = floe_tile_word(in, i + 3);
            uint32_t bits = __funnelshift_r(w0, w1, r.pos), used = 0;
            if (live == 0) {
                active = r.pos <= r.end && r.quad != r.last;
                if (active) {
                    const uint32_t present = whole ? 15 : floe_huffman_quad_of(groups->present, r.quad);
                    group = r.quad++ * FLOE_HUFFMAN_QUAD_GROUPS;
                    if (present) {
                        const uint32_t word = before ? after_some : after_none;
                        const uint32_t e = floe_huffman_find(entry, word, bits);
                        before = live = e >> 8;
                        used = e & 0xFF;
                        bits >>= e & 31;
                        ok = !(word & FLOE_HUFFMAN_TABLE_UNUSED) && !(live & ~present);
                    }
                }
            }
            if (live) {
                const uint32_t e = floe_huffman_find(entry, header_table, bits), header = e >> 8, width = header >> 1;
                const uint32_t word = by_header[header], g = group + __ffs((int)live) - 1;
                used += e & 0xFF;
                live &= live - 1;
                ok = ok && !((header_table | word) & FLOE_HUFFMAN_TABLE_UNUSED);
                header_table = width <= 2 ? after_two : width <= 4 ? after_four : after_more;
                groups->width[g] = (uint8_t)header;
                to = &groups->symbols[g / FLOE_STEP_GROUPS][0][g % FLOE_STEP_GROUPS];
                values = entry + (word & 0xFFFF);
                mask = word >> 16 & ((1u << FLOE_HUFFMAN_MAX_LENGTH) - 1);
                rounds = word >> 27 & 15;
                if (width > FLOE_HUFFMAN_NARROW && ok) {
                    r.pos = floe_huffman_decode_wide<Uint>(in, r.pos + used, t.entry, word, width, wide, g);
                    ok = r.pos != UINT32_MAX;
                    used = 0;
                }
            }
            const bool next = r.pos % 32 + used >= 32;
            r.pos += used;
            w0 = next ? w1 : w0;
            w1 = next ? w2 : w1;
            w2 = next ? w3 : w2;
            if (!ok) {
                active = false;
                rounds = live = 0;
            }
        }
        if (rounds) {
            uint32_t nbits;
            *to = floe_huffman_decode4(__funnelshift_r(w0, w1, r.pos), __funnelshift_r(w1, w2, r.pos), values, mask,
                                       &nbits);
            to += FLOE_STEP_GROUPS;
            r.pos += nbits;
            rounds--;
        }
    }
    ok = ok && (lane >= nlanes || floe_huffman_ends_well(in, &r, lane + 1 == nlanes));
    floe_huffman_groups_settle(groups);
    return __all_sync(FLOE_ALL_LANES, ok);
}

/* Decodes a tile of nwords (0..65535) untrusted words, in shared or device memory, of which nothing outside is read, but for
 * the 16 aligned bytes of its first word; accepts what floe_huffman_decode_tile accepts. near: FLOE_HUFFMAN_NEAR_WORDS of shared memory,
 * unless the words are there. The whole warp gets the same result; after false, groups are undefined. */
template <class Uint>
FLOE_DEV bool floe_huffman_decode_tile_dev(const floe_huffman_tables &t, const uint32_t *words, uint32_t nwords,
                                           uint32_t nsteps, floe_huffman_groups *groups, uint32_t *near, void *wide)
{
    const floe_tile_words in = {words, nwords - 1};
    const bool in_shared = floe_is_shared(words);
    const floe_huffman_wide to = {in_shared ? NULL : near, wide};
    floe_huffman_groups_clear(groups);
    if (nwords == 0)
        return true;
    if (in_shared && floe_is_shared(t.entry))
        return floe_huffman_decode_lanes<Uint, true>(t, in, nsteps, groups, to);
    return floe_huffman_decode_lanes<Uint, false>(t, in, nsteps, groups, to);
}

/* ---- from symbols to values ---------------------------------------------------------------------------------------- */

/* Residuals (zigzag) of this lane's group in step s as bytes: value 4 j + k in byte k of bytes[j]. Its width, which is
 * given, is at most 8; 0 gives zeros. */
FLOE_DEV void floe_huffman_group_bytes(const floe_huffman_groups *groups, uint32_t s, uint32_t width, uint32_t bytes[8])
{
    const uint32_t *symbols = &groups->symbols[s][0][floe_lane()];
    if (width > 4) {
#pragma unroll
        for (int j = 0; j < 8; j++)
            bytes[j] = symbols[FLOE_STEP_GROUPS * j];
    } else if (width >
               2) { /* a symbol has the first value's bits at its even places, the second one's at the odd ones */
#pragma unroll
        for (int j = 0; j < 4; j++) {
            uint32_t x = symbols[FLOE_STEP_GROUPS * j];
            x = floe_huffman_swap<0x22222222u, 1>(x);
            x = floe_huffman_swap<0x0C0C0C0Cu, 2>(
                x); /* the first value in the low nibble, the second in the high one */
            const uint32_t first = x & 0x0F0F0F0Fu, second = x >> 4 & 0x0F0F0F0Fu;
            bytes[2 * j] = __byte_perm(first, second, 0x5140);
            bytes[2 * j + 1] = __byte_perm(first, second, 0x7362);
        }
    } else if (width == 2) { /* a nibble of low bits and one of high bits */
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const uint32_t x = symbols[FLOE_STEP_GROUPS * (j / 4)] >> 8 * (j % 4);
            const uint32_t low = (x & 15) * 0x00204081u & 0x01010101u;
            bytes[j] = low | ((x >> 4 & 15) * 0x00204081u & 0x01010101u) << 1;
        }
    } else {
        const uint32_t x = width ? symbols[0] : 0;
#pragma unroll
        for (int j = 0; j < 8; j++)
            bytes[j] = (x >> 4 * j & 15) * 0x00204081u & 0x01010101u;
    }
}

/* The same of any width, a value each. */
template <class Uint>
FLOE_DEV void floe_huffman_group_values(const floe_huffman_groups *groups, void *wide, uint32_t s, uint32_t width,
                                        Uint values[32])
{
    if (width <= FLOE_HUFFMAN_NARROW) {
        uint32_t bytes[8];
        floe_huffman_group_bytes(groups, s, width, bytes);
#pragma unroll
        for (int i = 0; i < 32; i++)
            values[i] = bytes[i / 4] >> 8 * (i % 4) & 0xFF;
        return;
    }
    const uint4 *from = floe_huffman_wide_at(wide, s * FLOE_STEP_GROUPS + floe_lane(), sizeof(Uint));
    if (width <= 16) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint4 v = from[k];
            const uint32_t w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 8; i++)
                values[8 * k + i] = w[i / 2] >> 16 * (i % 2) & 0xFFFF;
        }
    } else if (width <= 32) {
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const uint4 v = from[k];
            values[4 * k] = v.x;
            values[4 * k + 1] = v.y;
            values[4 * k + 2] = v.z;
            values[4 * k + 3] = v.w;
        }
    } else {
#pragma unroll
        for (int k = 0; k < 16; k++) {
            const uint4 v = from[k];
            values[2 * k] = (Uint)((uint64_t)v.y << 32 | v.x);
            values[2 * k + 1] = (Uint)((uint64_t)v.w << 32 | v.z);
        }
    }
}

#endif
