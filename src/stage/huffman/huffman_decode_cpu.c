/* SPDX-License-Identifier: BSD-3-Clause */
/* How a CPU decodes the groups of a tile. Compiled for each element type and instruction set. */
#include <stdbool.h>

#include "stage/huffman/huffman_group.h"

/* ---- bits ---- */

/* Bits that the codes of a quad can take, and what a look ahead of them touches. Lanes are checked after each quad. */
enum {
    QUAD_CODE_BITS = FLOE_HUFFMAN_MAX_LENGTH +
                     4 * (FLOE_HUFFMAN_MAX_LENGTH + FLOE_GROUP_VALUES * (FLOE_HUFFMAN_MAX_LENGTH + FLOE_REAL_BITS - 3)),
    TAIL_WORDS = QUAD_CODE_BITS / 32 + 4
};

/* Reads a tile's words; the last of them from a copy with zeros behind, so that looking ahead stays inside. */
typedef struct bit_source {
    const uint32_t *words;
    size_t pos;       /* bit of words */
    size_t origin;    /* bit of the tile at which words starts */
    size_t nbits;     /* of the tile */
    size_t tail_from; /* bit of the tile at which tail starts */
    uint32_t tail[2 * TAIL_WORDS];
} bit_source;

static void source_open(bit_source *in, const uint32_t *words, size_t nwords)
{
    size_t ntail = nwords < TAIL_WORDS ? nwords : TAIL_WORDS;
    in->words = words;
    in->pos = in->origin = 0;
    in->nbits = nwords * 32;
    in->tail_from = (nwords - ntail) * 32;
    memcpy(in->tail, words + (nwords - ntail), ntail * sizeof *words);
    memset(in->tail + ntail, 0, (2 * TAIL_WORDS - ntail) * sizeof *words);
}
static inline size_t source_at(const bit_source *in) { return in->origin + in->pos; }

/* Before anything of at most QUAD_CODE_BITS is read at a position inside the tile. */
static inline void source_settle(bit_source *in)
{
    if (source_at(in) >= in->tail_from && in->words != in->tail) {
        in->pos = source_at(in) - in->tail_from;
        in->origin = in->tail_from;
        in->words = in->tail;
    }
}

typedef struct code_table {
    const uint16_t *entry;
    uint32_t mask;
} code_table;

static inline code_table table_of(const floe_huffman_decoder *decoder, uint32_t table)
{
    return (code_table){decoder->entry + decoder->start[table], decoder->mask[table]};
}

static inline uint32_t decode_symbol(bit_source *in, code_table t)
{
    uint32_t e = t.entry[bits_peek(in->words, in->pos) & t.mask];
    in->pos += e & 0xff;
    return e >> 8;
}

/* n symbols, four from each look at the bits: 4 * 11 <= 57. The length is an entry's low byte, so the entry itself is
 * the shift count and the sum of entries holds the sum of lengths. */
static inline void decode_symbols(bit_source *in, code_table t, uint8_t *symbol, uint32_t n)
{
    const uint32_t *words = in->words;
    size_t pos = in->pos;
    for (uint32_t k = 0; k < n; k += 4) {
        uint64_t x = bits_peek(words, pos);
        uint32_t a = t.entry[x & t.mask];
        uint32_t b = t.entry[(x >>= a & 63) & t.mask];
        uint32_t c = t.entry[(x >>= b & 63) & t.mask];
        uint32_t d = t.entry[(x >>= c & 63) & t.mask];
        pos += (a + b + c + d) & 0xff;
        symbol[k] = (uint8_t)(a >> 8);
        symbol[k + 1] = (uint8_t)(b >> 8);
        symbol[k + 2] = (uint8_t)(c >> 8);
        symbol[k + 3] = (uint8_t)(d >> 8);
    }
    in->pos = pos;
}

/* Returns the values or'ed together. */
static inline uint64_t decode_wide(bit_source *in, code_table t, floe_uint *residual)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++) {
        uint64_t x = bits_peek(in->words, in->pos), value;
        uint32_t e = t.entry[x & t.mask], n = e & 0xff, nraw = floe_huffman_wide_raw(e >> 8);
        value = floe_huffman_wide_base(e >> 8);
        in->pos += n;
        x >>= n;
        if (FLOE_REAL_BITS == 64 && nraw > 32) { /* 11 + 61 bits are too many at once */
            value |= bits_peek(in->words, in->pos) & 0xffffffff;
            x = bits_peek(in->words, in->pos + 32) << 32;
        }
        value |= x & (((uint64_t)1 << nraw) - 1);
        in->pos += nraw;
        residual[i] = (floe_uint)value;
        all |= value;
    }
    return all;
}

static inline bool decode_group(const floe_huffman_decoder *decoder, bit_source *in, uint32_t width,
                                floe_uint *residual)
{
    uint32_t table = floe_huffman_value_table(width);
    code_table t = table_of(decoder, table);
    uint8_t symbol[FLOE_GROUP_VALUES];
    if (decoder->unused >> table & 1)
        return false;
    switch (width) { /* constants, so that each width has its own straight code */
    case 1:
        decode_symbols(in, t, symbol, 4);
        group_of_symbols(1, symbol, residual);
        return true;
    case 2:
        decode_symbols(in, t, symbol, 8);
        group_of_symbols(2, symbol, residual);
        return true;
    case 3:
        decode_symbols(in, t, symbol, 16);
        group_of_symbols(3, symbol, residual);
        return true;
    case 4:
        decode_symbols(in, t, symbol, 16);
        group_of_symbols(4, symbol, residual);
        return true;
    case 5:
    case 6:
    case 7:
    case 8:
        decode_symbols(in, t, symbol, 32);
        group_of_symbols(8, symbol, residual);
        return true;
    default: {
        uint64_t all = decode_wide(in, t, residual);
        return width == 64 || all >> width == 0;
    }
    }
}

/* The groups of a quad of which present are inside the field. */
static bool decode_quad(const floe_huffman_decoder *decoder, bit_source *in, lane_state *lane, floe_step *step,
                        uint32_t q, uint32_t present)
{
    uint32_t quad_table = floe_huffman_quad_table(lane->quad), bad = decoder->unused >> quad_table & 1;
    uint32_t live = decode_symbol(in, table_of(decoder, quad_table));
    if (bad || live & ~present)
        return false;
    lane->quad = live;
    for (uint32_t i = 0; i < FLOE_HUFFMAN_QUAD_GROUPS; i++) {
        uint32_t g = q % FLOE_HUFFMAN_STEP_QUADS * FLOE_HUFFMAN_QUAD_GROUPS + i, width = 0;
        if (live >> i & 1) {
            uint32_t table = floe_huffman_header_table(lane->width), h = decode_symbol(in, table_of(decoder, table));
            if ((decoder->unused >> table & 1) || h == 0 || h > 2 * FLOE_REAL_BITS + 1)
                return false;
            lane->width = width = h >> 1;
            step->flat |= (h & 1) << g;
        }
        step->width[g] = (uint8_t)width;
        if (width == 0)
            memset(step->residual[g], 0, sizeof step->residual[g]);
        else if (!decode_group(decoder, in, width, step->residual[g]))
            return false;
    }
    return true;
}

/* Quads first..last, which end at bit end of the tile at the latest. */
static bool decode_lane(const floe_huffman_decoder *decoder, bit_source *in, floe_step *steps, uint32_t first,
                        uint32_t last, size_t end)
{
    lane_state lane = lane_start();
    for (uint32_t q = first; q < last; q++) {
        floe_step *step = &steps[q / FLOE_HUFFMAN_STEP_QUADS];
        uint32_t present = quad_of(step->present, q), g = q % FLOE_HUFFMAN_STEP_QUADS * FLOE_HUFFMAN_QUAD_GROUPS;
        if (g == 0)
            step->flat = 0;
        if (!present) {
            memset(step->width + g, 0, FLOE_HUFFMAN_QUAD_GROUPS);
            memset(step->residual[g], 0, FLOE_HUFFMAN_QUAD_GROUPS * sizeof step->residual[g]);
            continue;
        }
        source_settle(in);
        if (!decode_quad(decoder, in, &lane, step, q, present) || source_at(in) > end)
            return false;
    }
    return true;
}

/* The tile's header: the lanes, and the bit at which each ends; the last one's is the tile's. */
static bool decode_header(bit_source *in, uint32_t nsteps, uint32_t *log, size_t *end)
{
    enum { NBITS = FLOE_HUFFMAN_LOG_BITS + FLOE_HUFFMAN_FIELD_BITS };
    source_settle(in);
    uint32_t head = (uint32_t)bits_peek(in->words, in->pos) & ((1u << NBITS) - 1);
    uint32_t field = head >> FLOE_HUFFMAN_LOG_BITS;
    *log = head & ((1u << FLOE_HUFFMAN_LOG_BITS) - 1);
    uint32_t nlanes = 1u << *log;
    if (nlanes > FLOE_HUFFMAN_MAX_LANES || nlanes > nsteps * FLOE_HUFFMAN_STEP_QUADS || (nlanes == 1 && field))
        return false;
    size_t at = NBITS + (size_t)(nlanes - 1) * field;
    for (uint32_t i = 0; i + 1 < nlanes; i++) {
        at += bits_peek(in->words, in->pos + NBITS + (size_t)i * field) & (((uint64_t)1 << field) - 1);
        end[i] = at;
    }
    end[nlanes - 1] = in->nbits;
    in->pos += NBITS + (size_t)(nlanes - 1) * field;
    return at <= in->nbits;
}

static bool decode_tile(const floe_huffman_decoder *decoder, bit_source *in, floe_step *steps, uint32_t nsteps)
{
    uint32_t log;
    size_t end[1u << ((1u << FLOE_HUFFMAN_LOG_BITS) - 1)];
    if (!decode_header(in, nsteps, &log, end))
        return false;
    for (uint32_t i = 0; i < 1u << log; i++) {
        uint32_t first = floe_huffman_lane_quad(i, log, nsteps), last = floe_huffman_lane_quad(i + 1, log, nsteps);
        if (!decode_lane(decoder, in, steps, first, last, end[i]))
            return false;
        if (i + 1 < 1u << log && source_at(in) != end[i])
            return false;
    }
    source_settle(in);
    size_t left = in->nbits - source_at(in);
    return left < 32 && (bits_peek(in->words, in->pos) & (((uint64_t)1 << left) - 1)) == 0;
}

static void steps_clear(floe_step *steps, uint32_t nsteps)
{
    for (uint32_t s = 0; s < nsteps; s++) {
        steps[s].flat = 0;
        memset(steps[s].width, 0, sizeof steps[s].width);
        memset(steps[s].residual, 0, sizeof steps[s].residual);
    }
}

floe_status FLOE_V(floe_huffman_decode_tile)(const floe_huffman_decoder *decoder, const uint32_t *words, size_t nwords,
                                             floe_step *steps, uint32_t nsteps, floe_error *err)
{
    bit_source in;
    if (nwords == 0) {
        steps_clear(steps, nsteps);
        return FLOE_OK;
    }
    source_open(&in, words, nwords);
    if (!decode_tile(decoder, &in, steps, nsteps)) {
        steps_clear(steps, nsteps);
        return floe_fail(err, FLOE_ERR_FORMAT, "a tile's codes are damaged");
    }
    return FLOE_OK;
}
