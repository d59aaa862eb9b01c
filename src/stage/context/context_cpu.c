/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks of stage context on a CPU. One walk over a chunk makes tokens, in the order of decoding; counting adds them up, and
 * encoding puts them from the last to the first. */
#include "base/real.h"

#if FLOE_REAL_BITS == 32 /* nothing here depends on the element type */
#include "stage/context/context.h"

#define FLOE_ISA_NAME(name) FLOE_PASTE(name, FLOE_ISA_SUFFIX)

/* What of a spec makes loops of their own. */
typedef struct variant {
    uint32_t width;
    bool planes;
} variant;

/* Nonzero codes of a row of records, with copies of the ends beside them. */
typedef struct counts_row {
    uint8_t n[FLOE_ANS_LANES + 2];
} counts_row;

FLOE_INLINE void close_ends(counts_row *c, uint32_t lanes)
{
    c->n[0] = c->n[1];
    c->n[lanes + 1] = c->n[lanes];
}

/* ---- records ----------------------------------------------------------------------------------------------------------- */

FLOE_INLINE uint64_t word_at(const uint8_t *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

/* Records are in host order; a machine that has the high byte first would need other shifts here. */
FLOE_INLINE uint32_t mask_of(variant v, const uint8_t *record)
{
    const uint64_t low7 = 0x7F7F7F7F7F7F7F7Fu, low15 = 0x7FFF7FFF7FFF7FFFu;
    if (v.width == 0)
        return *record;
    const uint64_t a = word_at(record);
    if (v.width == 1)
        return a == 0 ? 0
                      : (uint32_t)(((((a & low7) + low7) | a) >> 7 & 0x0101010101010101u) * 0x0102040810204080u >> 56);
    const uint64_t b = word_at(record + 8);
    if ((a | b) == 0)
        return 0;
    const uint64_t x = (((a & low15) + low15) | a) >> 15 & 0x0001000100010001u,
                   y = (((b & low15) + low15) | b) >> 15 & 0x0001000100010001u;
    return (uint32_t)((x * 0x1000200040008u >> 48 & 15) | (y * 0x1000200040008u >> 48 & 15) << 4);
}

FLOE_INLINE int32_t code_at(variant v, const uint8_t *record, uint32_t class)
{
    int16_t wide;
    if (v.width == 1)
        return (int8_t)record[class];
    memcpy(&wide, record + 2 * class, sizeof wide);
    return wide;
}

FLOE_INLINE void code_put(variant v, uint8_t *record, uint32_t class, int32_t code)
{
    const int16_t wide = (int16_t)code;
    if (v.width == 1)
        record[class] = (uint8_t)code;
    else
        memcpy(record + 2 * class, &wide, sizeof wide);
}

/* ---- a walk over a chunk ----------------------------------------------------------------------------------------------- */

/* Rows of a window: highest first. Row t1 lies above it. */
typedef struct walk {
    variant v;
    const floe_context_chunk *chunk;
    void *records;
    uint32_t nrows, window; /* of the chunk; of a window, at most */
    uint8_t
        *at[1 + FLOE_CONTEXT_WINDOW]; /* first record of the row above, NULL if there is none, and of the window's */
    const uint8_t *plane[FLOE_CONTEXT_WINDOW]; /* of the row of the plane before, if v.planes; NULL if there is none */
    counts_row rows[1 + FLOE_CONTEXT_WINDOW];  /* counts of the same */
    uint64_t masks[FLOE_ANS_LANES];            /* of the window: 8 bits a row */
    uint8_t *planes; /* counts of the last `rows` rows, FLOE_ANS_LANES + 2 each; if v.planes */
} walk;

FLOE_INLINE counts_row *plane_row(const walk *w, uint32_t t)
{
    return (counts_row *)(w->planes + t % FLOE_CONTEXT_ROWS * sizeof(counts_row));
}

/* The class of each lane by what is decoded of it: above is the row above. */
FLOE_INLINE void mask_contexts(const walk *w, uint32_t t, const counts_row *above, uint8_t *context)
{
    static const uint8_t of[] = {0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9};
    const uint32_t lanes = w->chunk->lanes, rows = w->chunk->rows;
    if (!w->v.planes || t + rows >= w->nrows) {
        for (uint32_t i = 0; i < lanes; i++) {
            const uint32_t activity = 2u * above->n[i + 1] + above->n[i] + above->n[i + 2];
            context[i] = w->v.planes ? (uint8_t)floe_context_mask(4 * activity) : of[activity];
        }
        return;
    }
    const counts_row *q = plane_row(w, t + rows), *up = plane_row(w, t + rows + (t % rows + 1 < rows)),
                     *down = plane_row(w, t + rows - (t % rows > 0));
    for (uint32_t i = 0; i < lanes; i++) {
        const uint32_t row = 2u * above->n[i + 1] + above->n[i] + above->n[i + 2];
        const uint32_t plane = 4u * q->n[i + 1] + q->n[i] + q->n[i + 2] + up->n[i + 1] + down->n[i + 1];
        context[i] = (uint8_t)floe_context_mask(2 * row + plane);
    }
}

FLOE_INLINE uint32_t record_nbytes(variant v) { return v.width ? 8 * v.width : 1; }
FLOE_INLINE uint32_t size_of(int32_t code) { return (uint32_t)(code < 0 ? -code : code); }

/* The context of a value, and whether its sign is flipped. r: its row in the window. */
FLOE_INLINE uint32_t value_context(const walk *w, uint32_t t1, uint32_t nrows, uint32_t r, uint32_t class,
                                   uint32_t lane, uint32_t *flip)
{
    const counts_row *here = &w->rows[1 + r], *after = r + 1 < nrows ? here + 1 : here - 1;
    uint32_t nonzero = floe_context_nonzero(here->n[lane + 1], here[-1].n[lane + 1], after->n[lane + 1],
                                            (uint32_t)here->n[lane] + here->n[lane + 2]);
    const int32_t above = w->at[0] ? code_at(w->v, w->at[0] + lane * record_nbytes(w->v), class) : 0;
    uint32_t before = size_of(above);
    *flip = 0;
    if (!w->v.planes)
        return floe_context_level(floe_context_class(nonzero), before);
    int32_t plane = 0;
    if (w->plane[r]) {
        plane = code_at(w->v, w->plane[r] + lane * record_nbytes(w->v), class);
        before += size_of(plane);
        nonzero = floe_context_nonzero_plane(nonzero, plane_row(w, t1 - 1 - r + w->chunk->rows)->n[lane + 1]);
    } else {
        before *= 2;
    }
    const int32_t sign = (above > 0) - (above < 0) + (plane > 0) - (plane < 0);
    *flip = sign < 0;
    return floe_context_level(floe_context_class(nonzero), (before + 1) / 2) + FLOE_CONTEXT_LEVELS * size_of(sign);
}

FLOE_INLINE walk walk_of(variant v, const floe_context_spec *spec, const floe_context_chunk *chunk, const void *records,
                         uint8_t *planes)
{
    walk w = {.v = v, .chunk = chunk, .records = (void *)records, .window = spec->window, .planes = planes};
    w.nrows = chunk->planes * chunk->rows;
    return w;
}

FLOE_INLINE uint8_t *row_at(const walk *w, uint32_t t)
{
    return (uint8_t *)w->records + floe_context_row(w->chunk, t) * record_nbytes(w->v);
}

/* Rows below t1. */
FLOE_INLINE void begin_window(walk *w, uint32_t t1, uint32_t nrows)
{
    const uint32_t rows = w->chunk->rows;
    w->at[0] = t1 < w->nrows ? row_at(w, t1) : NULL;
    for (uint32_t r = 0; r < nrows; r++) {
        const uint32_t t = t1 - 1 - r;
        w->at[1 + r] = row_at(w, t);
        if (w->v.planes) /* none of the window itself */
            w->plane[r] = t + rows >= t1 && t + rows < w->nrows ? row_at(w, t + rows) : NULL;
    }
}

/* The last row of a window stands above the next one. */
FLOE_INLINE void end_window(walk *w, uint32_t nrows)
{
    w->rows[0] = w->rows[nrows];
    memset(w->masks, 0, sizeof w->masks);
}

FLOE_INLINE void row_done(walk *w, uint32_t t, uint32_t r)
{
    close_ends(&w->rows[1 + r], w->chunk->lanes);
    if (w->v.planes)
        *plane_row(w, t) = w->rows[1 + r];
}

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

FLOE_INLINE uint32_t *mask_tokens(walk *w, uint32_t t, uint32_t r, uint32_t *to)
{
    const uint32_t lanes = w->chunk->lanes;
    const uint8_t *record = w->at[1 + r];
    uint8_t context[FLOE_ANS_LANES];
    mask_contexts(w, t, &w->rows[r], context);
    for (uint32_t i = 0; i < lanes; i++, record += record_nbytes(w->v)) {
        const uint32_t mask = mask_of(w->v, record);
        w->masks[i] |= (uint64_t)mask << 8 * r;
        w->rows[1 + r].n[i + 1] = (uint8_t)__builtin_popcount(mask);
        *to++ = context[i] * (uint32_t)FLOE_CONTEXT_MASK_SYMBOLS + mask;
    }
    row_done(w, t, r);
    return to;
}

FLOE_INLINE uint32_t *value_tokens(const walk *w, uint32_t t1, uint32_t nrows, uint32_t *to, uint64_t *nraw)
{
    for (uint32_t lane = 0; lane < w->chunk->lanes; lane++)
        for (uint64_t left = w->masks[lane]; left; left &= left - 1) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(left), r = bit / 8, class = bit % 8;
            const int32_t code = code_at(w->v, w->at[1 + r] + lane * record_nbytes(w->v), class);
            const uint32_t size = size_of(code), sign = code < 0;
            uint32_t flip;
            const uint32_t context = value_context(w, t1, nrows, r, class, lane, &flip);
            const uint32_t symbol = floe_context_symbol(size, sign ^ flip);
            *nraw += floe_context_nraw(symbol);
            *to++ = (FLOE_CONTEXT_VALUES_AT + context * FLOE_CONTEXT_STRIDE + symbol) | floe_context_raw(size, sign)
                                                                                            << 16;
        }
    return to;
}

/* Tokens of a chunk: of each window the masks, row by row, then the values. Returns how many. */
FLOE_INLINE uint32_t tokenise_as(variant v, const floe_context_spec *spec, const floe_context_chunk *chunk,
                                 const void *records, floe_context_scratch *s, uint64_t *nraw)
{
    uint8_t planes[FLOE_CONTEXT_ROWS * sizeof(counts_row)];
    walk w = walk_of(v, spec, chunk, records, planes);
    uint32_t *to = s->tokens, nwindows = 0;
    for (uint32_t t1 = w.nrows, nrows; t1 > 0; t1 -= nrows) {
        nrows = t1 < w.window ? t1 : w.window;
        begin_window(&w, t1, nrows);
        for (uint32_t r = 0; r < nrows; r++)
            to = mask_tokens(&w, t1 - 1 - r, r, to);
        const uint32_t *values = to;
        if (v.width)
            to = value_tokens(&w, t1, nrows, to, nraw);
        s->nvalues[nwindows++] = (uint32_t)(to - values);
        end_window(&w, nrows);
    }
    return (uint32_t)(to - s->tokens);
}

static uint32_t tokenise(const floe_context_spec *spec, const floe_context_chunk *chunk, const void *records,
                         floe_context_scratch *s, uint64_t *nraw)
{
    *nraw = 0;
    switch (spec->width + 3 * spec->planes) {
    case 0: return tokenise_as((variant){0, false}, spec, chunk, records, s, nraw);
    case 1: return tokenise_as((variant){1, false}, spec, chunk, records, s, nraw);
    case 2: return tokenise_as((variant){2, false}, spec, chunk, records, s, nraw);
    case 3: return tokenise_as((variant){0, true}, spec, chunk, records, s, nraw);
    case 4: return tokenise_as((variant){1, true}, spec, chunk, records, s, nraw);
    default: return tokenise_as((variant){2, true}, spec, chunk, records, s, nraw);
    }
}

static uint64_t count(const floe_context_spec *spec, const floe_context_chunk *chunk, const void *records,
                      uint32_t *counts, floe_context_scratch *s)
{
    uint64_t nraw;
    const uint32_t n = tokenise(spec, chunk, records, s, &nraw);
    for (uint32_t i = 0; i < n; i++)
        counts[s->tokens[i] & 0xFFFF]++;
    return nraw;
}

/* Values are dealt to the lanes; a step of them is symbols, then raw bits. */
static void put_values(floe_ans_encoder *e, const uint32_t *tokens, uint32_t n, uint32_t lanes,
                       const floe_ans_symbol *symbols)
{
    for (uint32_t left = n; left > 0;) {
        const uint32_t here = (left - 1) % lanes + 1;
        const uint32_t *step = tokens + (left -= here);
        for (uint32_t i = here; i-- > 0;) {
            const uint32_t nraw =
                floe_context_nraw(((step[i] & 0xFFFF) - FLOE_CONTEXT_VALUES_AT) % FLOE_CONTEXT_STRIDE);
            if (nraw)
                floe_ans_encoder_put_raw(e, i, step[i] >> 16, nraw);
        }
        for (uint32_t i = here; i-- > 0;)
            floe_ans_encoder_put(e, i, symbols[step[i] & 0xFFFF], FLOE_CONTEXT_VALUE_BITS);
    }
}

static uint32_t encode(const floe_context_spec *spec, const floe_context_chunk *chunk, const void *records,
                       const floe_ans_symbol *symbols, floe_context_scratch *s)
{
    uint64_t nraw;
    const uint32_t *token = s->tokens + tokenise(spec, chunk, records, s, &nraw);
    const uint32_t nrows = chunk->planes * chunk->rows, lanes = chunk->lanes;
    floe_ans_encoder *e = &s->encoder;
    floe_ans_encoder_begin(e, s->words + sizeof s->words / sizeof *s->words);
    for (uint32_t w = (nrows + spec->window - 1) / spec->window; w-- > 0;) {
        const uint32_t done = w * spec->window, here = nrows - done < spec->window ? nrows - done : spec->window;
        put_values(e, token -= s->nvalues[w], s->nvalues[w], lanes, symbols);
        for (uint32_t r = 0; r < here; r++) {
            token -= lanes;
            for (uint32_t i = lanes; i-- > 0;)
                floe_ans_encoder_put(e, i, symbols[token[i]], FLOE_CONTEXT_MASK_BITS);
        }
    }
    return floe_ans_encoder_nbytes(e, lanes);
}

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

FLOE_INLINE void get_masks(walk *w, floe_ans_decoder *d, const floe_context_decoder *tables, uint32_t t, uint32_t r)
{
    const uint32_t lanes = w->chunk->lanes;
    uint8_t *record = w->at[1 + r], context[FLOE_ANS_LANES];
    mask_contexts(w, t, &w->rows[r], context);
    for (uint32_t i = 0; i < lanes; i++) {
        const uint32_t mask = floe_ans_decoder_get(d, i, tables->mask_slots[context[i]], tables->mask_spans[context[i]],
                                                   FLOE_CONTEXT_MASK_BITS);
        w->masks[i] |= (uint64_t)mask << 8 * r;
        w->rows[1 + r].n[i + 1] = (uint8_t)__builtin_popcount(mask);
        if (w->v.width == 0)
            record[i] = (uint8_t)mask;
    }
    if (w->v.width)
        memset(record, 0, (size_t)lanes * 8 * w->v.width);
    row_done(w, t, r);
}

/* A value that is due: where it goes, and its context. */
typedef struct due {
    uint8_t *record;
    uint8_t class, flip, context, symbol;
} due;

FLOE_INLINE void get_step(const walk *w, floe_ans_decoder *d, const floe_context_decoder *tables, due *step, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        step[i].symbol = (uint8_t)floe_ans_decoder_get(d, i, tables->value_slots[step[i].context],
                                                       tables->value_spans[step[i].context], FLOE_CONTEXT_VALUE_BITS);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t nraw = floe_context_nraw(step[i].symbol);
        const uint32_t raw = nraw ? floe_ans_decoder_get_raw(d, i, nraw) : 0;
        const uint32_t most = w->v.width == 1 ? FLOE_CONTEXT_LARGEST_BYTE : FLOE_CONTEXT_LARGEST;
        code_put(w->v, step[i].record, step[i].class, floe_context_value(step[i].symbol, raw, step[i].flip, most));
    }
}

FLOE_INLINE void get_values(const walk *w, floe_ans_decoder *d, const floe_context_decoder *tables, uint32_t t1,
                            uint32_t nrows)
{
    due step[FLOE_ANS_LANES];
    uint32_t n = 0;
    for (uint32_t lane = 0; lane < w->chunk->lanes; lane++)
        for (uint64_t left = w->masks[lane]; left; left &= left - 1) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(left), r = bit / 8, class = bit % 8;
            uint32_t flip;
            const uint32_t context = value_context(w, t1, nrows, r, class, lane, &flip);
            step[n++] =
                (due){w->at[1 + r] + lane * record_nbytes(w->v), (uint8_t) class, (uint8_t)flip, (uint8_t)context, 0};
            if (n == w->chunk->lanes) {
                get_step(w, d, tables, step, n);
                n = 0;
            }
        }
    get_step(w, d, tables, step, n);
}

FLOE_INLINE void decode_as(variant v, const floe_context_spec *spec, const floe_context_chunk *chunk,
                           const floe_context_decoder *tables, floe_ans_decoder *d, void *records)
{
    uint8_t planes[FLOE_CONTEXT_ROWS * sizeof(counts_row)];
    walk w = walk_of(v, spec, chunk, records, planes);
    for (uint32_t t1 = w.nrows, nrows; t1 > 0; t1 -= nrows) {
        nrows = t1 < w.window ? t1 : w.window;
        begin_window(&w, t1, nrows);
        for (uint32_t r = 0; r < nrows; r++)
            get_masks(&w, d, tables, t1 - 1 - r, r);
        if (v.width)
            get_values(&w, d, tables, t1, nrows);
        end_window(&w, nrows);
    }
}

static bool decode(const floe_context_spec *spec, const floe_context_chunk *chunk, const floe_context_decoder *tables,
                   const uint8_t *src, uint64_t nbytes, void *records)
{
    floe_ans_decoder d;
    if (!floe_ans_decoder_begin(&d, chunk->lanes, src, nbytes))
        return false;
    switch (spec->width + 3 * spec->planes) {
    case 0: decode_as((variant){0, false}, spec, chunk, tables, &d, records); break;
    case 1: decode_as((variant){1, false}, spec, chunk, tables, &d, records); break;
    case 2: decode_as((variant){2, false}, spec, chunk, tables, &d, records); break;
    case 3: decode_as((variant){0, true}, spec, chunk, tables, &d, records); break;
    case 4: decode_as((variant){1, true}, spec, chunk, tables, &d, records); break;
    default: decode_as((variant){2, true}, spec, chunk, tables, &d, records); break;
    }
    return floe_ans_decoder_ended(&d, chunk->lanes);
}

const floe_context_ops FLOE_ISA_NAME(floe_context_ops) = {.count = count, .encode = encode, .decode = decode};
#endif
