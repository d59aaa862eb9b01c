/* SPDX-License-Identifier: BSD-3-Clause */
/* How a CPU counts and codes the groups of a tile. Compiled for each element type and instruction set. */
#include "stage/huffman/huffman_group.h"

/* ---- bits ---- */

typedef struct bit_sink {
    uint32_t *words;
    size_t byte;   /* bytes stored */
    uint64_t bits; /* bits not stored yet; 0 above the lowest n */
    uint32_t n;    /* at most 7 after a flush, so 57 more fit */
} bit_sink;

static inline void sink_put(bit_sink *s, uint64_t bits, uint32_t n)
{
    s->bits |= bits << s->n;
    s->n += n;
}
static inline void sink_flush(bit_sink *s)
{
    bytes_store(s->words, s->byte, s->bits);
    s->byte += s->n >> 3;
    s->bits >>= s->n & 56;
    s->n &= 7;
}
static inline void sink_code(bit_sink *s, uint32_t code)
{
    sink_put(s, code & ((1u << FLOE_HUFFMAN_MAX_LENGTH) - 1), code >> FLOE_HUFFMAN_MAX_LENGTH);
}
static inline size_t sink_nbits(const bit_sink *s) { return s->byte * 8 + s->n; }

/* ---- the live groups ---- */

/* The live groups of each step; returns their number, and the sum of their widths. */
static uint32_t tile_live(const floe_step *steps, uint32_t nsteps, uint32_t *live, uint32_t *width_sum)
{
    uint32_t nlive = 0;
    *width_sum = 0;
    for (uint32_t s = 0; s < nsteps; s++) {
        live[s] = widths_nonzero(steps[s].width) | steps[s].flat;
        nlive |= live[s];
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
            *width_sum += steps[s].width[g];
    }
    return nlive;
}

/* ---- counting ---- */

static inline void count_group(floe_huffman_hist *hist, uint32_t width, const floe_uint *residual)
{
    uint32_t *count = hist->count[floe_huffman_value_table(width)];
    if (width > FLOE_HUFFMAN_NARROW) {
        wide_group wide;
        symbols_of_wide(residual, &wide);
        for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++)
            count[wide.symbol[i]]++;
        return;
    }
    uint8_t symbol[FLOE_GROUP_VALUES];
    uint32_t n = FLOE_GROUP_VALUES / floe_huffman_symbol_values(width);
    symbols_of_group(width, residual, symbol);
    for (uint32_t k = 0; k < n; k++)
        count[symbol[k]]++;
}

static void count_quad(floe_huffman_hist *hist, lane_state *lane, const floe_step *step, uint32_t q, uint32_t live)
{
    hist->count[floe_huffman_quad_table(lane->quad)][live]++;
    lane->quad = live;
    for (uint32_t i = 0; i < FLOE_HUFFMAN_QUAD_GROUPS; i++) {
        uint32_t g = q % FLOE_HUFFMAN_STEP_QUADS * FLOE_HUFFMAN_QUAD_GROUPS + i, width = step->width[g];
        if (!(live >> i & 1))
            continue;
        hist->count[floe_huffman_header_table(lane->width)][2 * width + (step->flat >> g & 1)]++;
        lane->width = width;
        if (width)
            count_group(hist, width, step->residual[g]);
    }
}

void FLOE_V(floe_huffman_count_tile)(floe_huffman_hist *hist, const floe_step *steps, uint32_t nsteps)
{
    uint32_t live[FLOE_TILE_STEPS], width_sum;
    if (!tile_live(steps, nsteps, live, &width_sum))
        return;
    uint32_t log = floe_huffman_lane_log(width_sum, nsteps);
    for (uint32_t i = 0; i < 1u << log; i++) {
        lane_state lane = lane_start();
        for (uint32_t q = floe_huffman_lane_quad(i, log, nsteps); q < floe_huffman_lane_quad(i + 1, log, nsteps); q++) {
            const floe_step *step = &steps[q / FLOE_HUFFMAN_STEP_QUADS];
            if (quad_of(step->present, q))
                count_quad(hist, &lane, step, q, quad_of(live[q / FLOE_HUFFMAN_STEP_QUADS], q));
        }
    }
}

/* ---- coding ---- */

static inline void encode_symbols(bit_sink *sink, const uint16_t *code, const uint8_t *symbol, uint32_t n)
{
    for (uint32_t k = 0; k < n; k += 4) { /* 7 + 4 * 11 bits */
        sink_code(sink, code[symbol[k]]);
        sink_code(sink, code[symbol[k + 1]]);
        sink_code(sink, code[symbol[k + 2]]);
        sink_code(sink, code[symbol[k + 3]]);
        sink_flush(sink);
    }
}

static inline void encode_wide(bit_sink *sink, const uint16_t *code, uint32_t width, const floe_uint *residual)
{
    wide_group wide;
    symbols_of_wide(residual, &wide);
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++) {
        uint64_t raw = wide.raw[i];
        uint32_t nraw = wide.nraw[i];
        sink_code(sink, code[wide.symbol[i]]);
        if (FLOE_REAL_BITS == 64 && nraw > 32) { /* 7 + 11 + 61 bits are too many at once */
            sink_put(sink, raw & 0xffffffff, 32);
            sink_flush(sink);
            raw >>= 32;
            nraw -= 32;
        }
        sink_put(sink, raw, nraw);
        if (width > 16 || i % 2) /* 7 + 2 * (11 + 13) bits fit */
            sink_flush(sink);
    }
}

static inline void encode_group(bit_sink *sink, const floe_huffman_book *book, uint32_t width,
                                const floe_uint *residual)
{
    const uint16_t *code = book->code[floe_huffman_value_table(width)];
    uint8_t symbol[FLOE_GROUP_VALUES];
    if (width > FLOE_HUFFMAN_NARROW) {
        if (width <= 16)
            encode_wide(sink, code, 16, residual);
        else
            encode_wide(sink, code, 64, residual);
        return;
    }
    symbols_of_group(width, residual, symbol);
    encode_symbols(sink, code, symbol, FLOE_GROUP_VALUES / floe_huffman_symbol_values(width));
}

static void encode_quad(bit_sink *sink, const floe_huffman_book *book, lane_state *lane, const floe_step *step,
                        uint32_t q, uint32_t live)
{
    sink_code(sink, book->code[floe_huffman_quad_table(lane->quad)][live]);
    lane->quad = live;
    for (uint32_t i = 0; i < FLOE_HUFFMAN_QUAD_GROUPS; i++) {
        uint32_t g = q % FLOE_HUFFMAN_STEP_QUADS * FLOE_HUFFMAN_QUAD_GROUPS + i, width = step->width[g];
        if (!(live >> i & 1))
            continue;
        sink_code(sink, book->code[floe_huffman_header_table(lane->width)][2 * width + (step->flat >> g & 1)]);
        sink_flush(sink);
        lane->width = width;
        if (width)
            encode_group(sink, book, width, step->residual[g]);
    }
    sink_flush(sink);
}

/* Puts the tile's header in front of nbits of lanes that stand at bit HEADER_SPACE; returns the words of the tile. */
enum { HEADER_SPACE = 1024 }; /* 8 bits and 31 lengths of at most 20 bits; whole words */

static size_t tile_close(uint32_t *words, size_t nbits, uint32_t log, const size_t *lane_nbits)
{
    uint32_t head[HEADER_SPACE / 32 + 2] = {0}, field = 0;
    bit_sink h = {head, 0, 0, 0};
    for (uint32_t i = 0; i + 1 < 1u << log; i++)
        field |= (uint32_t)lane_nbits[i];
    field = floe_bit_length(field);
    sink_put(&h, log | field << FLOE_HUFFMAN_LOG_BITS, FLOE_HUFFMAN_LOG_BITS + FLOE_HUFFMAN_FIELD_BITS);
    for (uint32_t i = 0; i + 1 < 1u << log; i++) {
        sink_put(&h, lane_nbits[i], field);
        sink_flush(&h);
    }
    sink_flush(&h);
    size_t whole = sink_nbits(&h) / 32, shift = sink_nbits(&h) % 32, nwords = (sink_nbits(&h) + nbits + 31) / 32;
    uint32_t *lanes = words + HEADER_SPACE / 32, before = shift ? head[whole] << (32 - shift) : 0;
    lanes[(nbits + 31) / 32] = 0;
    memcpy(words, head, whole * sizeof *words);
    for (size_t i = whole; i < nwords; i++) {
        uint32_t next = lanes[i - whole];
        words[i] = (uint32_t)(((uint64_t)next << 32 | before) >> (32 - shift));
        before = next;
    }
    return nwords;
}

size_t FLOE_V(floe_huffman_encode_tile)(const floe_huffman_book *book, const floe_step *steps, uint32_t nsteps,
                                        uint32_t *words)
{
    uint32_t live[FLOE_TILE_STEPS], width_sum;
    size_t lane_nbits[FLOE_HUFFMAN_MAX_LANES], start = 0;
    if (!tile_live(steps, nsteps, live, &width_sum))
        return 0;
    uint32_t log = floe_huffman_lane_log(width_sum, nsteps);
    bit_sink sink = {words + HEADER_SPACE / 32, 0, 0, 0};
    for (uint32_t i = 0; i < 1u << log; i++) {
        lane_state lane = lane_start();
        for (uint32_t q = floe_huffman_lane_quad(i, log, nsteps); q < floe_huffman_lane_quad(i + 1, log, nsteps); q++) {
            const floe_step *step = &steps[q / FLOE_HUFFMAN_STEP_QUADS];
            if (quad_of(step->present, q))
                encode_quad(&sink, book, &lane, step, q, quad_of(live[q / FLOE_HUFFMAN_STEP_QUADS], q));
        }
        lane_nbits[i] = sink_nbits(&sink) - start;
        start = sink_nbits(&sink);
    }
    return tile_close(words, start, log, lane_nbits);
}
