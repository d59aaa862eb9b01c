/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding a tile of stage huffman on a GPU. A warp owns a tile; thread i decodes the tile's lane i. Groups of up to 8 bits
 * stay in shared memory as the symbols that they are coded in, and become values when the lane that owns the group asks
 * for it; wider groups go to device memory as values.
 *
 *     floe_huffman_tables_load(...)                  the whole block, once a chunk
 *     floe_huffman_decode_tile_dev<Uint>(...)        the whole warp; true: what follows may be asked for
 *     floe_huffman_group_bytes / _values             by lane g, of its group in a step
 */
#ifndef FLOE_STAGE_HUFFMAN_DECODE_DEV_CUH
#define FLOE_STAGE_HUFFMAN_DECODE_DEV_CUH

#include "stage/huffman/huffman_tile_dev.cuh"

/* ---- tables -------------------------------------------------------------------------------------------------------- */

/* A decoder at hand: entries in shared or device memory; of each table (shared memory) its start, its mask << 16 and
 * UNUSED. */
typedef struct floe_huffman_tables {
    const uint16_t *entry;
    const uint32_t *table;
} floe_huffman_tables;
#define FLOE_HUFFMAN_TABLE_UNUSED 0x80000000u

/* Entries that a decoder uses; tables stand one behind the other. */
FLOE_DEV uint32_t floe_huffman_entries_of(const floe_huffman_decoder *decoder)
{
    return decoder->start[FLOE_HUFFMAN_TABLES - 1] + decoder->mask[FLOE_HUFFMAN_TABLES - 1] + 1u;
}

/* Copies the tables to shared memory: FLOE_HUFFMAN_TABLES words, and the entries if room (a number of entries) is enough;
 * else they stay where they are. The whole block; the caller synchronizes before and after. decoder is 4-byte aligned. */
FLOE_DEV floe_huffman_tables floe_huffman_tables_load(const floe_huffman_decoder *decoder, uint32_t *table,
                                                      uint16_t *entry, uint32_t room)
{
    const uint32_t n = floe_huffman_entries_of(decoder);
    for (uint32_t t = threadIdx.x; t < FLOE_HUFFMAN_TABLES; t += blockDim.x)
        table[t] = decoder->start[t] | (uint32_t)decoder->mask[t] << 16 |
                   (decoder->unused >> t & 1 ? FLOE_HUFFMAN_TABLE_UNUSED : 0);
    if (n > room)
        return floe_huffman_tables{decoder->entry, table};
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
        entry[i] = decoder->entry[i];
    return floe_huffman_tables{entry, table};
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

/* Groups of 9..16 bits, by one thread: two values from each look at the bits, 2 * (11 + 13) <= 64. Returns where the group
 * ends, UINT32_MAX when it is damaged. */
FLOE_DEV_SELDOM uint32_t floe_huffman_decode_wide16(floe_tile_words in, uint32_t pos, const uint16_t *entry,
                                                    uint32_t table, uint32_t width, uint4 *to)
{
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
FLOE_DEV_SELDOM uint32_t floe_huffman_decode_wide64(floe_tile_words in, uint32_t pos, const uint16_t *entry,
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

/* Four symbols of at most 11 bits each; *nbits: what they take. */
FLOE_DEV uint32_t floe_huffman_decode4(const floe_tile_words &in, uint32_t pos, const uint16_t *entry, uint32_t mask,
                                       uint32_t *nbits)
{
    const uint32_t i = pos / 32, middle = floe_tile_word(in, i + 1);
    const uint32_t x = __funnelshift_r(floe_tile_word(in, i), middle, pos);
    const uint32_t more = __funnelshift_r(middle, floe_tile_word(in, i + 2), pos);
    const uint32_t a = entry[x & mask], b = entry[x >> (a & 31) & mask];
    const uint32_t y = __funnelshift_r(x, more, (a + b) & 31);
    const uint32_t c = entry[y & mask], d = entry[y >> (c & 31) & mask];
    *nbits = (a + b + c + d) & 0xFF;
    return __byte_perm(__byte_perm(a, b, 0x51), __byte_perm(c, d, 0x51), 0x5410);
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

/* A lane of the tile being decoded, by one thread. */
typedef struct floe_huffman_reader {
    uint32_t pos, end;   /* bits of the tile */
    uint32_t quad, last; /* next quad, and the first of the next lane */
    uint32_t before;     /* quad symbol before */
    uint32_t width;      /* of the live group before */
    uint32_t group;      /* first group of the quad under way */
    uint32_t live;       /* its live groups that are still to come */
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
    uint32_t length = 0, sum;
    if (lane + 1 < n) /* cut off where it is too long for any tile, so that sums stay small */
        length = min(floe_tile_peek(in, NBITS + lane * field) & ((1u << field) - 1), (uint32_t)TOO_LONG);
    sum = length;
#pragma unroll
    for (int d = 1; d < FLOE_WARP; d *= 2) {
        const uint32_t up = __shfl_up_sync(FLOE_ALL_LANES, sum, d);
        sum += (int)lane >= d ? up : 0;
    }
    const uint32_t all = __shfl_sync(FLOE_ALL_LANES, sum, FLOE_WARP - 1);
    if (first + all > nbits)
        return false;
    *nlanes = n;
    r->pos = first + sum - length;
    r->end = lane + 1 < n ? first + sum : nbits;
    r->quad = lane < n ? floe_huffman_lane_quad(lane, log, nsteps) : 0;
    r->last = lane < n ? floe_huffman_lane_quad(lane + 1, log, nsteps) : 0;
    r->before = 1;
    r->width = FLOE_HUFFMAN_NO_WIDTH;
    r->live = r->group = 0;
    return true;
}

/* Takes the next quad of the lane, if it has one that is present. False: damaged. */
FLOE_DEV bool floe_huffman_open_quad(const floe_huffman_tables &t, const floe_huffman_groups *groups, uint32_t *bits,
                                     floe_huffman_reader *r)
{
    const uint32_t present = floe_huffman_quad_of(groups->present, r->quad);
    r->group = r->quad++ * FLOE_HUFFMAN_QUAD_GROUPS;
    if (present == 0)
        return true;
    const uint32_t table = t.table[floe_huffman_quad_table(r->before)], e = floe_huffman_find(t.entry, table, *bits);
    r->pos += e & 0xFF;
    *bits >>= e & 31;
    r->before = r->live = e >> 8;
    return !(table & FLOE_HUFFMAN_TABLE_UNUSED) && !(r->live & ~present);
}

/* Takes the header of the quad's next live group, *g. False: damaged. */
template <class Uint>
FLOE_DEV bool floe_huffman_open_group(const floe_huffman_tables &t, floe_huffman_groups *groups, uint32_t bits,
                                      floe_huffman_reader *r, uint32_t *g)
{
    const uint32_t table = t.table[floe_huffman_header_table(r->width)], e = floe_huffman_find(t.entry, table, bits);
    const uint32_t header = e >> 8;
    *g = r->group + __ffs((int)r->live) - 1;
    r->live &= r->live - 1;
    r->pos += e & 0xFF;
    r->width = header >> 1;
    groups->width[*g] = (uint8_t)r->width;
    if (header & 1)
        atomicOr(&groups->flat[*g / FLOE_STEP_GROUPS], 1u << *g % FLOE_STEP_GROUPS);
    return !(table & FLOE_HUFFMAN_TABLE_UNUSED) && header != 0 && header <= 16 * sizeof(Uint) + 1;
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

/* Decodes a tile of nwords (0..65535) untrusted words, in shared or device memory, of which nothing outside is read;
 * accepts what floe_huffman_decode_tile accepts. The whole warp gets the same answer; after false, groups are undefined.
 * A round of the loop takes four symbols of a group, and before them quad and header where a group is through. */
template <class Uint>
FLOE_DEV bool floe_huffman_decode_tile_dev(const floe_huffman_tables &t, const uint32_t *words, uint32_t nwords,
                                           uint32_t nsteps, floe_huffman_groups *groups, void *wide)
{
    floe_huffman_reader r;
    uint32_t nlanes, rounds = 0, *to = NULL, mask = 0;
    const uint16_t *entry = t.entry;
    const floe_tile_words in = {words, nwords - 1};
    floe_huffman_groups_clear(groups);
    if (nwords == 0)
        return true;
    if (!floe_huffman_open_lanes(in, nsteps, &r, &nlanes))
        return false;
    bool active = floe_lane() < nlanes, ok = true;
    while (__any_sync(FLOE_ALL_LANES, active)) {
        if (active && rounds == 0) {
            uint32_t bits = floe_tile_peek(in, r.pos), g;
            if (r.live == 0) {
                ok = r.pos <= r.end;
                if (!ok || r.quad == r.last)
                    active = false;
                else
                    ok = floe_huffman_open_quad(t, groups, &bits, &r);
            }
            if (ok && active && r.live) {
                ok = floe_huffman_open_group<Uint>(t, groups, bits, &r, &g);
                if (ok && r.width) {
                    const uint32_t table = t.table[floe_huffman_value_table(r.width)];
                    ok = !(table & FLOE_HUFFMAN_TABLE_UNUSED);
                    mask = table >> 16 & 0x7FFF;
                    entry = t.entry + (table & 0xFFFF);
                    to = &groups->symbols[g / FLOE_STEP_GROUPS][0][g % FLOE_STEP_GROUPS];
                    rounds = r.width <= 2 ? r.width : r.width <= 4 ? 4 : 8;
                    if (r.width > FLOE_HUFFMAN_NARROW) {
                        rounds = 0;
                        uint4 *values = floe_huffman_wide_at(wide, g, sizeof(Uint));
                        if (ok)
                            r.pos = r.width <= 16
                                        ? floe_huffman_decode_wide16(in, r.pos, t.entry, table, r.width, values)
                                        : floe_huffman_decode_wide64(in, r.pos, t.entry, table, r.width, values);
                        ok = ok && r.pos != UINT32_MAX;
                    }
                }
            }
            if (!ok) {
                active = false;
                rounds = 0;
            }
        }
        if (rounds) {
            uint32_t nbits;
            *to = floe_huffman_decode4(in, r.pos, entry, mask, &nbits);
            to += FLOE_STEP_GROUPS;
            r.pos += nbits;
            rounds--;
        }
    }
    ok = ok && (floe_lane() >= nlanes || floe_huffman_ends_well(in, &r, floe_lane() + 1 == nlanes));
    __syncwarp(); /* what other lanes wrote is there */
    return __all_sync(FLOE_ALL_LANES, ok);
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
