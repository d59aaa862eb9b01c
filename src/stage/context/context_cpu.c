/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks of stage context on a CPU. A walk over the records of a chunk makes tokens, in the order of decoding. Counting adds
 * them up; encoding writes them from the last to the first.
 */
#include "base/real.h"

#if FLOE_REAL_BITS == 32 /* nothing here depends on the element type */
#include "stage/context/context.h"

#define FLOE_ISA_NAME(name) FLOE_PASTE(name, FLOE_ISA_SUFFIX)

/* Loops are compiled for each width of a code, with and without contexts of planes: those of a spec are then constants. */
typedef floe_context_spec spec;

/* How many codes of each record of a row are not 0. That of lane i is n[i + 1]; both ends are there twice. */
typedef struct counts_row {
    uint8_t n[FLOE_ANS_LANES + 2];
} counts_row;

/* ---- records ----------------------------------------------------------------------------------------------------------- */

FLOE_INLINE int32_t code_at(spec v, const uint8_t *record, uint32_t class)
{
    int16_t wide;
    if (v.width == 1)
        return (int8_t)record[class];
    memcpy(&wide, record + 2 * class, sizeof wide);
    return wide;
}

FLOE_INLINE void code_put(spec v, uint8_t *record, uint32_t class, int32_t code)
{
    const int16_t wide = (int16_t)code;
    if (v.width == 1)
        record[class] = (uint8_t)code;
    else
        memcpy(record + 2 * class, &wide, sizeof wide);
}

/* ---- a walk over a chunk ----------------------------------------------------------------------------------------------- */

/* A walk over a chunk from its highest row down, window by window. Row r of a window is number t1 - 1 - r of the chunk; the
 * row above the window is number t1. */
typedef struct walk {
    spec v;
    const floe_context_chunk *chunk;
    void *records;
    uint32_t nrows; /* of the chunk */
    /* The first record of the row above the window, NULL if there is none, then of each of its rows. */
    uint8_t *at[1 + FLOE_CONTEXT_WINDOW];
    counts_row rows[1 + FLOE_CONTEXT_WINDOW]; /* their counts */
    uint64_t masks[FLOE_ANS_LANES];           /* of the window: 8 bits a row */
    /* With contexts of planes: the first record of each row's twin in the plane before, NULL if it is not decoded yet; and
     * the counts of the rows so far. */
    const uint8_t *plane[FLOE_CONTEXT_WINDOW];
    counts_row *counts;            /* FLOE_CONTEXT_ROWS of them */
    uint8_t mask_context[112 + 1]; /* floe_context_mask of each activity */
} walk;

/* The mask context of each lane of row t. above: counts of the row above. */
FLOE_INLINE void mask_contexts(const walk *w, uint32_t t, const counts_row *above, uint8_t *context)
{
    const uint32_t rows = w->chunk->rows;
    const bool planes = w->v.planes && t + rows < w->nrows;
    const counts_row *twin = planes ? &w->counts[t + rows] : above;
    const counts_row *up = twin + (planes && t % rows + 1 < rows), *down = twin - (planes && t % rows > 0);
    for (uint32_t i = 0; i < w->chunk->lanes; i++) {
        uint32_t activity = 2u * above->n[i + 1] + above->n[i] + above->n[i + 2];
        if (planes)
            activity = 2 * activity + 4u * twin->n[i + 1] + twin->n[i] + twin->n[i + 2] + up->n[i + 1] + down->n[i + 1];
        else if (w->v.planes)
            activity *= 4;
        context[i] = w->mask_context[activity];
    }
}

/* The context of a value in row r of the window, and whether its sign is flipped. */
FLOE_INLINE uint32_t value_context(const walk *w, uint32_t t1, uint32_t nrows, uint32_t r, uint32_t class,
                                   uint32_t lane, bool *flip)
{
    const counts_row *here = &w->rows[1 + r], *after = r + 1 < nrows ? here + 1 : here - 1;
    uint32_t nonzero = floe_context_nonzero(here->n[lane + 1], here[-1].n[lane + 1], after->n[lane + 1],
                                            (uint32_t)here->n[lane] + here->n[lane + 2]);
    const int32_t above = w->at[0] ? code_at(w->v, w->at[0] + lane * floe_context_record_nbytes(&w->v), class) : 0;
    *flip = false;
    if (!w->v.planes)
        return floe_context_level(floe_context_class(nonzero), floe_context_magnitude(above));
    int32_t plane = 0;
    if (w->plane[r]) {
        plane = code_at(w->v, w->plane[r] + lane * floe_context_record_nbytes(&w->v), class);
        nonzero = floe_context_nonzero_plane(nonzero, w->counts[t1 - 1 - r + w->chunk->rows].n[lane + 1]);
    }
    return floe_context_value_planes(floe_context_class(nonzero), above, plane, w->plane[r], flip);
}

FLOE_INLINE walk walk_of(spec v, const floe_context_chunk *chunk, const void *records, counts_row *counts)
{
    const uint32_t nrows = chunk->planes * chunk->rows;
    walk w = {.v = v, .chunk = chunk, .records = (void *)records, .nrows = nrows, .counts = counts};
    for (uint32_t i = 0; i <= (v.planes ? 112 : 28); i++)
        w.mask_context[i] = (uint8_t)floe_context_mask(i);
    return w;
}

FLOE_INLINE uint8_t *row_at(const walk *w, uint32_t t)
{
    return (uint8_t *)w->records + floe_context_row(w->chunk, t) * floe_context_record_nbytes(&w->v);
}

/* The window of nrows rows below row t1. */
FLOE_INLINE void begin_window(walk *w, uint32_t t1, uint32_t nrows)
{
    const uint32_t rows = w->chunk->rows;
    w->at[0] = t1 < w->nrows ? row_at(w, t1) : NULL;
    for (uint32_t r = 0; r < nrows; r++) {
        const uint32_t t = t1 - 1 - r;
        w->at[1 + r] = row_at(w, t);
        if (w->v.planes) /* rows of the window itself are not decoded yet */
            w->plane[r] = t + rows >= t1 && t + rows < w->nrows ? row_at(w, t + rows) : NULL;
    }
}

/* The last row of a window stands above the next one. */
FLOE_INLINE void end_window(walk *w, uint32_t nrows)
{
    w->rows[0] = w->rows[nrows];
    memset(w->masks, 0, sizeof w->masks);
}

/* The counts of row t are there, which is row r of the window. */
FLOE_INLINE void end_row(walk *w, uint32_t t, uint32_t r)
{
    counts_row *c = &w->rows[1 + r];
    c->n[0] = c->n[1];
    c->n[w->chunk->lanes + 1] = c->n[w->chunk->lanes];
    if (w->v.planes)
        w->counts[t] = *c;
}

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

enum {
    RECORD = 8, /* codes of a record, with the last, which is always 0 */
    ROW_CODES = RECORD * FLOE_ANS_LANES
};

/* n codes of a row, which is NULL if there is none: then zeros. */
FLOE_INLINE void load_codes(spec v, const uint8_t *row, uint32_t n, int16_t *restrict to)
{
    if (!row)
        memset(to, 0, n * sizeof *to);
    else if (v.width == 2)
        memcpy(to, row, n * sizeof *to);
    else
        for (uint32_t i = 0; i < n; i++)
            to[i] = (int8_t)row[i];
}

/* Masks of a row of records. No branch depends on codes, which are often 0 in some records and not in the next. */
FLOE_INLINE void masks_of(spec v, const uint8_t *row, uint32_t lanes, uint8_t *mask)
{
    int16_t code[ROW_CODES];
    uint8_t some[ROW_CODES];
    if (v.width == 0) {
        memcpy(mask, row, lanes);
        return;
    }
    load_codes(v, row, RECORD * lanes, code);
    for (uint32_t i = 0; i < RECORD * lanes; i++)
        some[i] = code[i] != 0;
    for (uint32_t i = 0; i < lanes; i++) /* the product collects a bit of each byte */
        mask[i] = (uint8_t)(floe_load64(some + RECORD * i) * 0x0102040810204080u >> 56);
}

/* Tokens of the masks of row t. Returns what follows the last one. */
FLOE_INLINE uint32_t *mask_tokens(walk *w, uint32_t t, uint32_t r, uint32_t *to)
{
    const uint32_t lanes = w->chunk->lanes;
    uint8_t context[FLOE_ANS_LANES], mask[FLOE_ANS_LANES];
    mask_contexts(w, t, &w->rows[r], context);
    masks_of(w->v, w->at[1 + r], lanes, mask);
    for (uint32_t i = 0; i < lanes; i++) {
        w->masks[i] |= (uint64_t)mask[i] << 8 * r;
        w->rows[1 + r].n[i + 1] = (uint8_t)__builtin_popcount(mask[i]);
        *to++ = context[i] * (uint32_t)FLOE_CONTEXT_MASK_SYMBOLS + mask[i];
    }
    end_row(w, t, r);
    return to;
}

/*
 * The tokens of all codes of a row, as if none were 0: loops without conditions become vectors, which takes a third less time
 * in all than code by code. Each gives what value_context and the formulas of context_math.h give of one code.
 */
enum { RAW_AT = 16 /* bit of a token, above its place */ };
typedef struct row_tokens {
    int16_t code[ROW_CODES];
    /* A code's context, whether its sign is flipped, and both parts of its token. */
    uint16_t context[ROW_CODES], flip[ROW_CODES], place[ROW_CODES], raw[ROW_CODES];
} row_tokens;

FLOE_INLINE int16_t magnitude_of(int16_t code) { return (int16_t)(code < 0 ? -code : code); }

/* How many of the powers 2^first .. 2^(end - 1) are not above v. */
FLOE_INLINE int16_t count_powers(int16_t v, int first, int end)
{
    int16_t n = 0;
    for (int e = first; e < end; e++)
        n = (int16_t)(n - (int16_t) - (v > (int16_t)((1 << e) - 1)));
    return n;
}

/* What floe_context_level adds for a magnitude before: 0, 1, then two classes an octave up to 6. */
FLOE_INLINE int16_t half_octave(int16_t v)
{
    return (int16_t)(count_powers(v, 0, 4) - (int16_t) - (v > 2) - (int16_t) - (v > 5));
}

/* Sets the contexts of all codes by how many codes around their record are not 0. */
FLOE_INLINE void record_contexts(const walk *w, uint32_t t1, uint32_t nrows, uint32_t r, row_tokens *to)
{
    static const counts_row none;
    const counts_row *here = &w->rows[1 + r], *after = r + 1 < nrows ? here + 1 : here - 1;
    const bool planes = w->v.planes && w->plane[r];
    const counts_row *plane = planes ? &w->counts[t1 - 1 - r + w->chunk->rows] : &none;
    uint16_t of[FLOE_ANS_LANES];
    for (uint32_t i = 0; i < w->chunk->lanes; i++) {
        const uint32_t row = floe_context_nonzero(here->n[i + 1], here[-1].n[i + 1], after->n[i + 1],
                                                  (uint32_t)here->n[i] + here->n[i + 2]);
        const uint32_t nonzero = planes ? floe_context_nonzero_plane(row, plane->n[i + 1]) : row;
        of[i] = (uint16_t)floe_context_level(floe_context_class(nonzero), 0);
    }
    for (uint32_t i = 0; i < w->chunk->lanes; i++)
        for (uint32_t k = 0; k < RECORD; k++)
            to->context[RECORD * i + k] = of[i];
}

/* Adds to the contexts what the codes at the same place show, in the row above and in the plane before: their magnitudes, and
 * how certain the sign is. */
FLOE_INLINE void code_contexts(const walk *w, uint32_t r, uint32_t n, row_tokens *to)
{
    int16_t above[ROW_CODES], plane[ROW_CODES];
    load_codes(w->v, w->at[0], n, above);
    if (!w->v.planes) {
        for (uint32_t i = 0; i < n; i++)
            to->context[i] = (uint16_t)(to->context[i] + half_octave(magnitude_of(above[i])));
        memset(to->flip, 0, n * sizeof *to->flip);
        return;
    }
    load_codes(w->v, w->plane[r], n, plane);
    const uint16_t twice = (uint16_t) - (w->plane[r] == NULL);
    for (uint32_t i = 0; i < n; i++) {
        const uint16_t a = (uint16_t)magnitude_of(above[i]),
                       both = (uint16_t)(a + (a & twice) + (uint16_t)magnitude_of(plane[i]));
        const int16_t sign = (int16_t)((above[i] > 0) - (above[i] < 0) + (plane[i] > 0) - (plane[i] < 0));
        const int16_t level = half_octave((int16_t)(both / 2 + both % 2));
        to->context[i] = (uint16_t)(to->context[i] + level + FLOE_CONTEXT_LEVELS * magnitude_of(sign));
        to->flip[i] = sign < 0;
    }
}

/* Corrects the tokens of magnitudes above FLOE_CONTEXT_SMALL, which have raw bits: floe_context_symbol, floe_context_raw. */
FLOE_INLINE void raw_tokens(uint32_t n, row_tokens *to)
{
    for (uint32_t i = 0; i < n; i++) {
        const int16_t size = magnitude_of(to->code[i]), is_raw = (int16_t) - (size > FLOE_CONTEXT_SMALL);
        int16_t below = size >> 1;
        below |= below >> 1;
        below |= below >> 2;
        below |= below >> 4;
        below |= below >> 8;
        const uint16_t place = (uint16_t)(FLOE_CONTEXT_STRIDE * to->context[i] + count_powers(size, 5, 15));
        to->place[i] =
            (uint16_t)((to->place[i] & ~is_raw) | ((place + FLOE_CONTEXT_VALUES_AT + FLOE_CONTEXT_FIRST_RAW) & is_raw));
        to->raw[i] = (uint16_t)(((size & below) << 1 | (to->code[i] < 0)) & is_raw);
    }
}

/* The tokens of row r of the window below t1. */
FLOE_INLINE void tokens_of_row(const walk *w, uint32_t t1, uint32_t nrows, uint32_t r, row_tokens *to)
{
    const uint32_t n = RECORD * w->chunk->lanes;
    int16_t most = 0;
    load_codes(w->v, w->at[1 + r], n, to->code);
    record_contexts(w, t1, nrows, r, to);
    code_contexts(w, r, n, to);
    for (uint32_t i = 0; i < n; i++) {
        const int16_t size = magnitude_of(to->code[i]), sign = to->code[i] < 0;
        most = size > most ? size : most;
        to->place[i] = (uint16_t)(FLOE_CONTEXT_STRIDE * to->context[i] + FLOE_CONTEXT_VALUES_AT - 2 + 2 * size +
                                  (sign ^ to->flip[i]));
    }
    if (most > FLOE_CONTEXT_SMALL)
        raw_tokens(n, to);
    else
        memset(to->raw, 0, n * sizeof *to->raw);
}

FLOE_INLINE bool has_codes(const walk *w, uint32_t r)
{
    uint32_t nonzero = 0;
    for (uint32_t i = 1; i <= w->chunk->lanes; i++)
        nonzero |= w->rows[1 + r].n[i];
    return nonzero;
}

/* Tokens of a window's nonzero codes, lane by lane. Returns what follows the last one. */
FLOE_INLINE uint32_t *value_tokens(const walk *w, uint32_t t1, uint32_t nrows, uint32_t *to)
{
    uint32_t tokens[FLOE_ANS_LANES][FLOE_CONTEXT_WINDOW * RECORD]; /* in the order of the bits of w->masks */
    row_tokens row;
    for (uint32_t r = 0; r < nrows; r++) {
        if (!has_codes(w, r))
            continue;
        tokens_of_row(w, t1, nrows, r, &row);
        for (uint32_t i = 0; i < w->chunk->lanes; i++)
            for (uint32_t k = 0; k < RECORD; k++)
                tokens[i][RECORD * r + k] = row.place[RECORD * i + k] | (uint32_t)row.raw[RECORD * i + k] << RAW_AT;
    }
    for (uint32_t lane = 0; lane < w->chunk->lanes; lane++)
        for (uint64_t left = w->masks[lane]; left; left &= left - 1)
            *to++ = tokens[lane][__builtin_ctzll(left)];
    return to;
}

/* Adds those tokens up, whose order does not matter then: codes of several lanes are one loop, whose end is guessed wrong less often. */
FLOE_INLINE void count_values(const walk *w, uint32_t t1, uint32_t nrows, uint32_t *counts)
{
    enum { TOGETHER = 8 };
    row_tokens row;
    for (uint32_t r = 0; r < nrows; r++) {
        if (!has_codes(w, r))
            continue;
        tokens_of_row(w, t1, nrows, r, &row);
        for (uint32_t lane = 0; lane < w->chunk->lanes; lane += TOGETHER) {
            uint64_t left = 0;
            for (uint32_t i = 0; i < TOGETHER; i++)
                left |= (w->masks[lane + i] >> 8 * r & 0xFF) << 8 * i;
            for (; left; left &= left - 1)
                counts[row.place[RECORD * lane + (uint32_t)__builtin_ctzll(left)]]++;
        }
    }
}

/* Tokens of a chunk: of each window the masks, row by row, then the values, unless these are counted. Returns how many there are. */
FLOE_INLINE uint32_t tokenise_as(spec v, const floe_context_chunk *chunk, const void *records, floe_context_scratch *s,
                                 uint32_t *counts_of_values)
{
    counts_row counts[FLOE_CONTEXT_ROWS];
    walk w = walk_of(v, chunk, records, counts);
    uint32_t *to = s->tokens, nwindows = 0;
    for (uint32_t t1 = w.nrows, nrows; t1 > 0; t1 -= nrows) {
        nrows = t1 < v.window ? t1 : v.window;
        begin_window(&w, t1, nrows);
        for (uint32_t r = 0; r < nrows; r++)
            to = mask_tokens(&w, t1 - 1 - r, r, to);
        const uint32_t *values = to;
        if (v.width && counts_of_values)
            count_values(&w, t1, nrows, counts_of_values);
        else if (v.width)
            to = value_tokens(&w, t1, nrows, to);
        s->nvalues[nwindows++] = (uint32_t)(to - values);
        end_window(&w, nrows);
    }
    return (uint32_t)(to - s->tokens);
}

static uint32_t tokenise(const spec *v, const floe_context_chunk *chunk, const void *records, floe_context_scratch *s,
                         uint32_t *counts)
{
    switch (v->width + 3 * v->planes) {
    case 0: return tokenise_as((spec){0, v->window, false}, chunk, records, s, counts);
    case 1: return tokenise_as((spec){1, v->window, false}, chunk, records, s, counts);
    case 2: return tokenise_as((spec){2, v->window, false}, chunk, records, s, counts);
    case 3: return tokenise_as((spec){0, v->window, true}, chunk, records, s, counts);
    case 4: return tokenise_as((spec){1, v->window, true}, chunk, records, s, counts);
    default: return tokenise_as((spec){2, v->window, true}, chunk, records, s, counts);
    }
}

static void count(const spec *v, const floe_context_chunk *chunk, const void *records, uint32_t *counts,
                  floe_context_scratch *s)
{
    const uint32_t n = tokenise(v, chunk, records, s, counts);
    for (uint32_t i = 0; i < n; i++)
        counts[s->tokens[i]]++;
}

static uint32_t nraw_of(uint32_t token)
{
    return floe_context_nraw(((token & 0xFFFF) - FLOE_CONTEXT_VALUES_AT) % FLOE_CONTEXT_STRIDE);
}

/* Before n lanes put a step of symbols, or of raw bits: lifts all states if one of these has no room. */
static void lift(floe_ans_encoder *e, const uint32_t *step, uint32_t n, const floe_ans_symbol *symbols, uint32_t bits,
                 bool raw)
{
    bool full = false;
    for (uint32_t i = 0; i < n && !e->lifted; i++) {
        const uint32_t nraw = raw ? nraw_of(step[i]) : 0;
        full |= raw ? nraw && floe_ans_is_full_raw(e->state[i], nraw)
                    : floe_ans_is_full(e->state[i], symbols[step[i] & 0xFFFF], bits);
    }
    floe_ans_encoder_lift(e, full);
}

/* A symbol of each lane of a step. */
FLOE_INLINE void put_step(floe_ans_encoder *e, const uint32_t *step, uint32_t n, const floe_ans_symbol *symbols,
                          uint32_t bits)
{
    lift(e, step, n, symbols, bits, false);
    for (uint32_t i = n; i-- > 0;)
        floe_ans_encoder_put(e, i, symbols[step[i] & 0xFFFF], bits);
}

/* Values are dealt to the lanes. A step is read as a symbol of each lane, then raw bits: written the other way round. */
static void put_values(floe_ans_encoder *e, const uint32_t *tokens, uint32_t n, uint32_t lanes,
                       const floe_ans_symbol *symbols)
{
    for (uint32_t left = n; left > 0;) {
        const uint32_t here = (left - 1) % lanes + 1;
        const uint32_t *step = tokens + (left -= here);
        lift(e, step, here, symbols, 0, true);
        for (uint32_t i = here; i-- > 0;) {
            const uint32_t nraw = nraw_of(step[i]);
            if (nraw)
                floe_ans_encoder_put_raw(e, i, step[i] >> RAW_AT, nraw);
        }
        put_step(e, step, here, symbols, FLOE_CONTEXT_VALUE_BITS);
    }
}

/* Writes all tokens of a chunk; `token` is behind the last one. */
static void put_tokens(const spec *v, uint32_t nrows, uint32_t lanes, const uint32_t *token,
                       const floe_ans_symbol *symbols, floe_context_scratch *s)
{
    for (uint32_t w = (nrows + v->window - 1) / v->window; w-- > 0;) {
        const uint32_t done = w * v->window, here = nrows - done < v->window ? nrows - done : v->window;
        put_values(&s->encoder, token -= s->nvalues[w], s->nvalues[w], lanes, symbols);
        for (uint32_t r = 0; r < here; r++)
            put_step(&s->encoder, token -= lanes, lanes, symbols, FLOE_CONTEXT_MASK_BITS);
    }
}

static uint32_t encode(const spec *v, const floe_context_chunk *chunk, const void *records,
                       const floe_ans_symbol *symbols, floe_context_scratch *s)
{
    const uint32_t *end = s->tokens + tokenise(v, chunk, records, s, NULL);
    const uint32_t nrows = chunk->planes * chunk->rows;
    uint16_t *words = s->words + sizeof s->words / sizeof *s->words;
    floe_ans_encoder_begin(&s->encoder, FLOE_ANS_BEGIN, words);
    put_tokens(v, nrows, chunk->lanes, end, symbols, s);
    if (s->encoder.failed) {
        floe_ans_encoder_begin(&s->encoder, FLOE_ANS_LEAST, words);
        put_tokens(v, nrows, chunk->lanes, end, symbols, s);
    }
    return floe_ans_encoder_nbytes(&s->encoder, chunk->lanes);
}

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

FLOE_INLINE void get_masks(walk *w, floe_ans_decoder *d, const floe_context_decoder *tables, uint32_t t, uint32_t r)
{
    const uint32_t lanes = w->chunk->lanes;
    uint8_t *record = w->at[1 + r], context[FLOE_ANS_LANES];
    mask_contexts(w, t, &w->rows[r], context);
    for (uint32_t i = 0; i < lanes; i++) {
        const uint32_t mask = floe_ans_decoder_get(d, i, tables->slots_of[0][context[i]],
                                                   tables->spans_of[0][context[i]], FLOE_CONTEXT_MASK_BITS);
        w->masks[i] |= (uint64_t)mask << 8 * r;
        w->rows[1 + r].n[i + 1] = (uint8_t)__builtin_popcount(mask);
        if (w->v.width == 0)
            record[i] = (uint8_t)mask;
    }
    floe_ans_decoder_step(d);
    if (w->v.width)
        memset(record, 0, (size_t)lanes * 8 * w->v.width);
    end_row(w, t, r);
}

/* A value that is to be read: where it goes, and its context. */
typedef struct due {
    uint8_t *record;
    uint8_t class, flip, context, symbol;
} due;

FLOE_INLINE void get_step(const walk *w, floe_ans_decoder *d, const floe_context_decoder *tables, due *step, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        step[i].symbol = (uint8_t)floe_ans_decoder_get(d, i, tables->slots_of[1][step[i].context],
                                                       tables->spans_of[1][step[i].context], FLOE_CONTEXT_VALUE_BITS);
    floe_ans_decoder_step(d);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t nraw = floe_context_nraw(step[i].symbol);
        const uint32_t raw = nraw ? floe_ans_decoder_get_raw(d, i, nraw) : 0;
        const uint32_t most = w->v.width == 1 ? FLOE_CONTEXT_LARGEST_BYTE : FLOE_CONTEXT_LARGEST;
        code_put(w->v, step[i].record, step[i].class, floe_context_value(step[i].symbol, raw, step[i].flip, most));
    }
    floe_ans_decoder_step(d);
}

FLOE_INLINE void get_values(const walk *w, floe_ans_decoder *d, const floe_context_decoder *tables, uint32_t t1,
                            uint32_t nrows)
{
    due step[FLOE_ANS_LANES];
    uint32_t n = 0;
    for (uint32_t lane = 0; lane < w->chunk->lanes; lane++)
        for (uint64_t left = w->masks[lane]; left; left &= left - 1) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(left), r = bit / 8, class = bit % 8;
            bool flip;
            const uint32_t context = value_context(w, t1, nrows, r, class, lane, &flip);
            step[n++] = (due){w->at[1 + r] + lane * floe_context_record_nbytes(&w->v), (uint8_t) class, (uint8_t)flip,
                              (uint8_t)context, 0};
            if (n == w->chunk->lanes) {
                get_step(w, d, tables, step, n);
                n = 0;
            }
        }
    get_step(w, d, tables, step, n);
}

FLOE_INLINE void decode_as(spec v, const floe_context_chunk *chunk, const floe_context_decoder *tables,
                           floe_ans_decoder *d, void *records)
{
    counts_row counts[FLOE_CONTEXT_ROWS];
    walk w = walk_of(v, chunk, records, counts);
    for (uint32_t t1 = w.nrows, nrows; t1 > 0; t1 -= nrows) {
        nrows = t1 < v.window ? t1 : v.window;
        begin_window(&w, t1, nrows);
        for (uint32_t r = 0; r < nrows; r++)
            get_masks(&w, d, tables, t1 - 1 - r, r);
        if (v.width)
            get_values(&w, d, tables, t1, nrows);
        end_window(&w, nrows);
    }
}

static bool decode(const spec *v, const floe_context_chunk *chunk, const floe_context_decoder *tables,
                   const uint8_t *src, uint64_t nbytes, void *records)
{
    floe_ans_decoder d;
    if (!floe_ans_decoder_begin(&d, tables->begin, chunk->lanes, src, nbytes))
        return false;
    switch (v->width + 3 * v->planes) {
    case 0: decode_as((spec){0, v->window, false}, chunk, tables, &d, records); break;
    case 1: decode_as((spec){1, v->window, false}, chunk, tables, &d, records); break;
    case 2: decode_as((spec){2, v->window, false}, chunk, tables, &d, records); break;
    case 3: decode_as((spec){0, v->window, true}, chunk, tables, &d, records); break;
    case 4: decode_as((spec){1, v->window, true}, chunk, tables, &d, records); break;
    default: decode_as((spec){2, v->window, true}, chunk, tables, &d, records); break;
    }
    return floe_ans_decoder_ended(&d, chunk->lanes);
}

const floe_context_ops FLOE_ISA_NAME(floe_context_ops) = {.count = count, .encode = encode, .decode = decode};
#endif
