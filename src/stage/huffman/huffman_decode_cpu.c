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

/* A tile's words; the last of them in a copy with zeros behind, so that looking ahead stays inside. */
typedef struct tile_source {
    const uint32_t *words;
    size_t nbits;
    size_t tail_from; /* bit of the tile at which tail starts */
    uint32_t tail[2 * TAIL_WORDS];
} tile_source;

static void source_open(tile_source *source, const uint32_t *words, size_t nwords)
{
    size_t ntail = nwords < TAIL_WORDS ? nwords : TAIL_WORDS;
    source->words = words;
    source->nbits = nwords * 32;
    source->tail_from = (nwords - ntail) * 32;
    memcpy(source->tail, words + (nwords - ntail), ntail * sizeof *words);
    memset(source->tail + ntail, 0, (2 * TAIL_WORDS - ntail) * sizeof *words);
}

/* A place in a tile, at most at its end. */
typedef struct bit_source {
    const uint32_t *words; /* of the tile or of its tail */
    size_t pos;            /* bit of words */
    size_t origin;         /* bit of the tile at which words starts */
} bit_source;

/* At bit `at` of the tile. QUAD_CODE_BITS more may be read, then source_at checked. */
static inline void source_seek(const tile_source *source, bit_source *in, size_t at)
{
    bool in_tail = at >= source->tail_from;
    in->origin = in_tail ? source->tail_from : 0;
    in->words = in_tail ? source->tail : source->words;
    in->pos = at - in->origin;
}
static inline size_t source_at(const bit_source *in) { return in->origin + in->pos; }

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

/* The value of table entry e, which was found at the front of x; 57 bits of x hold it. */
static inline uint64_t wide_value(uint32_t e, uint64_t x)
{
    uint32_t nraw = floe_huffman_wide_raw(e >> 8), ncode = (e & 0xff) - nraw;
    return floe_huffman_wide_base(e >> 8) | (x >> ncode & (((uint64_t)1 << nraw) - 1));
}

/* Values of up to 16 bits, two from each look at the bits: 2 * (11 + 13) <= 57. Returns them or'ed together. */
static inline uint64_t decode_wide16(bit_source *in, code_table t, floe_uint *residual)
{
    const uint32_t *words = in->words;
    size_t pos = in->pos;
    uint64_t all = 0;
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i += 2) {
        uint64_t x = bits_peek(words, pos);
        uint32_t a = t.entry[x & t.mask];
        uint64_t y = x >> (a & 63);
        uint32_t b = t.entry[y & t.mask];
        pos += (a + b) & 0xff;
        uint64_t first = wide_value(a, x), second = wide_value(b, y);
        residual[i] = (floe_uint)first;
        residual[i + 1] = (floe_uint)second;
        all |= first | second;
    }
    in->pos = pos;
    return all;
}

/* Values of any length. Returns them or'ed together. */
static inline uint64_t decode_wide(bit_source *in, code_table t, floe_uint *residual)
{
    const uint32_t *words = in->words;
    size_t pos = in->pos;
    uint64_t all = 0;
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++) {
        uint64_t x = bits_peek(words, pos), value;
        uint32_t e = t.entry[x & t.mask], nraw = floe_huffman_wide_raw(e >> 8);
        pos += e & 0xff;
        if (FLOE_REAL_BITS == 64 && nraw > 32) { /* 11 + 61 bits are too many at once */
            uint64_t low = bits_peek(words, pos - nraw) & 0xffffffff, high = bits_peek(words, pos - nraw + 32);
            value = floe_huffman_wide_base(e >> 8) | low | (high & ((1u << (nraw - 32)) - 1)) << 32;
        } else {
            value = wide_value(e, x);
        }
        residual[i] = (floe_uint)value;
        all |= value;
    }
    in->pos = pos;
    return all;
}

/* The values of a narrow group; all but `in` and the table are constants, so that each width has its own straight code. */
FLOE_INLINE bool decode_narrow(bit_source *in, code_table t, uint32_t width, uint32_t nsymbols, floe_uint *residual)
{
    uint8_t symbol[FLOE_GROUP_VALUES];
    decode_symbols(in, t, symbol, nsymbols);
    group_of_symbols(width, symbol, residual);
    return true;
}

static bool decode_group(const floe_huffman_decoder *decoder, bit_source *in, uint32_t width, floe_uint *residual)
{
    uint32_t table = floe_huffman_value_table(width);
    code_table t = table_of(decoder, table);
    if (decoder->unused >> table & 1)
        return false;
    if (width > FLOE_HUFFMAN_NARROW) {
        uint64_t all = width <= 16 ? decode_wide16(in, t, residual) : decode_wide(in, t, residual);
        return width == 64 || all >> width == 0;
    }
    switch (width) {
    case 1: return decode_narrow(in, t, 1, 4, residual);
    case 2: return decode_narrow(in, t, 2, 8, residual);
    case 3: return decode_narrow(in, t, 3, 16, residual);
    case 4: return decode_narrow(in, t, 4, 16, residual);
    default: return decode_narrow(in, t, 8, 32, residual);
    }
}

/* A lane being decoded. */
typedef struct lane_reader {
    bit_source in;
    lane_state state;
    uint32_t quad, last; /* next quad, and the first of the next lane */
    size_t end;          /* bit of the tile at which the lane ends */
    floe_step *step;     /* of the quad under way, NULL when the lane has none left */
    uint32_t group;      /* the quad's first group in step */
    uint32_t live;       /* its live groups */
} lane_reader;

/* Goes to the next quad that is inside the field, and reads its symbol. */
static inline bool lane_open_quad(const floe_huffman_decoder *decoder, const tile_source *source, lane_reader *lane,
                                  floe_step *steps)
{
    uint32_t present = 0;
    lane->step = NULL;
    lane->live = 0;
    for (; !present && lane->quad < lane->last; lane->quad++) {
        lane->step = &steps[lane->quad / FLOE_HUFFMAN_STEP_QUADS];
        lane->group = lane->quad % FLOE_HUFFMAN_STEP_QUADS * FLOE_HUFFMAN_QUAD_GROUPS;
        present = lane->step->present >> lane->group & 15;
        if (!present)
            memset(lane->step->residual[lane->group], 0, 4 * sizeof lane->step->residual[0]);
    }
    if (!present) {
        lane->step = NULL;
        return true;
    }
    source_seek(source, &lane->in, source_at(&lane->in));
    uint32_t table = floe_huffman_quad_table(lane->state.quad);
    lane->state.quad = lane->live = decode_symbol(&lane->in, table_of(decoder, table));
    if (lane->live == 0)
        memset(lane->step->residual[lane->group], 0, 4 * sizeof lane->step->residual[0]);
    for (uint32_t i = 0; lane->live && i < FLOE_HUFFMAN_QUAD_GROUPS; i++)
        if (!(lane->live >> i & 1))
            memset(lane->step->residual[lane->group + i], 0, sizeof lane->step->residual[0]);
    return !(decoder->unused >> table & 1) && !(lane->live & ~present);
}

/* Reads group i of the quad, which is live. */
static inline bool lane_read_group(const floe_huffman_decoder *decoder, lane_reader *lane, uint32_t i)
{
    uint32_t g = lane->group + i, table = floe_huffman_header_table(lane->state.width);
    uint32_t h = decode_symbol(&lane->in, table_of(decoder, table)), width = h >> 1;
    if ((decoder->unused >> table & 1) || h == 0 || h > 2 * FLOE_REAL_BITS + 1)
        return false;
    lane->state.width = width;
    lane->step->width[g] = (uint8_t)width;
    lane->step->flat |= (h & 1) << g;
    if (width)
        return decode_group(decoder, &lane->in, width, lane->step->residual[g]);
    memset(lane->step->residual[g], 0, sizeof lane->step->residual[g]);
    return true;
}

/* Decodes n lanes, a quad of each in turn, so that the processor has n chains of look-ups to work on. */
static bool decode_lanes(const floe_huffman_decoder *decoder, const tile_source *source, floe_step *steps,
                         lane_reader *lane, uint32_t n)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 0; k < n; k++) {
            if (!lane_open_quad(decoder, source, &lane[k], steps))
                return false;
            more = more || lane[k].step;
        }
        for (uint32_t i = 0; i < FLOE_HUFFMAN_QUAD_GROUPS; i++)
            for (uint32_t k = 0; k < n; k++)
                if ((lane[k].live >> i & 1) && !lane_read_group(decoder, &lane[k], i))
                    return false;
        for (uint32_t k = 0; k < n; k++)
            if (source_at(&lane[k].in) > lane[k].end)
                return false;
    }
    return true;
}

/* The tile's header: log2 of its lanes, and the bits at which they start; at[lanes]: the tile's end. */
static bool decode_header(const tile_source *source, uint32_t nsteps, uint32_t *log, size_t *at)
{
    enum { NBITS = FLOE_HUFFMAN_LOG_BITS + FLOE_HUFFMAN_FIELD_BITS };
    bit_source in;
    source_seek(source, &in, 0);
    uint32_t head = (uint32_t)bits_peek(in.words, 0) & ((1u << NBITS) - 1), field = head >> FLOE_HUFFMAN_LOG_BITS;
    *log = head & ((1u << FLOE_HUFFMAN_LOG_BITS) - 1);
    uint32_t nlanes = 1u << *log;
    if (nlanes > FLOE_HUFFMAN_MAX_LANES || nlanes > nsteps * FLOE_HUFFMAN_STEP_QUADS || (nlanes == 1 && field))
        return false;
    at[0] = NBITS + (size_t)(nlanes - 1) * field;
    for (uint32_t i = 0; i + 1 < nlanes; i++)
        at[i + 1] = at[i] + (bits_peek(in.words, NBITS + (size_t)i * field) & (((uint64_t)1 << field) - 1));
    at[nlanes] = source->nbits;
    return at[nlanes - 1] <= source->nbits;
}

/* A lane ends where the next one starts; the last one in the last word, and zeros follow. */
static bool lane_ends_well(const tile_source *source, const lane_reader *lane, bool is_last)
{
    bit_source in;
    size_t left = lane->end - source_at(&lane->in);
    if (!is_last)
        return left == 0;
    source_seek(source, &in, source_at(&lane->in));
    return left < 32 && (bits_peek(in.words, in.pos) & (((uint64_t)1 << left) - 1)) == 0;
}

static bool decode_tile(const floe_huffman_decoder *decoder, const tile_source *source, floe_step *steps,
                        uint32_t nsteps)
{
    enum { AT_ONCE = 2 }; /* a quarter faster than 1; 4 gain no more */
    uint32_t log, n;
    size_t at[FLOE_HUFFMAN_MAX_LANES + 1];
    lane_reader lane[AT_ONCE];
    if (!decode_header(source, nsteps, &log, at))
        return false;
    for (uint32_t first = 0; first < 1u << log; first += n) {
        n = (1u << log) < AT_ONCE ? 1u << log : AT_ONCE;
        for (uint32_t k = 0; k < n; k++) {
            lane[k].state = lane_start();
            lane[k].quad = floe_huffman_lane_quad(first + k, log, nsteps);
            lane[k].last = floe_huffman_lane_quad(first + k + 1, log, nsteps);
            lane[k].end = at[first + k + 1];
            source_seek(source, &lane[k].in, at[first + k]);
        }
        if (!decode_lanes(decoder, source, steps, lane, n))
            return false;
        for (uint32_t k = 0; k < n; k++)
            if (!lane_ends_well(source, &lane[k], first + k + 1 == 1u << log))
                return false;
    }
    return true;
}

static void widths_clear(floe_step *steps, uint32_t nsteps)
{
    for (uint32_t s = 0; s < nsteps; s++) {
        steps[s].flat = 0;
        memset(steps[s].width, 0, sizeof steps[s].width);
    }
}
static void residuals_clear(floe_step *steps, uint32_t nsteps)
{
    for (uint32_t s = 0; s < nsteps; s++)
        memset(steps[s].residual, 0, sizeof steps[s].residual);
}

floe_status FLOE_V(floe_huffman_decode_tile)(const floe_huffman_decoder *decoder, const uint32_t *words, size_t nwords,
                                             floe_step *steps, uint32_t nsteps, floe_error *err)
{
    tile_source source;
    widths_clear(steps, nsteps);
    if (nwords) {
        source_open(&source, words, nwords);
        if (decode_tile(decoder, &source, steps, nsteps))
            return FLOE_OK;
        widths_clear(steps, nsteps);
    }
    residuals_clear(steps, nsteps);
    return nwords ? floe_fail(err, FLOE_ERR_FORMAT, "a tile's codes are damaged") : FLOE_OK;
}
