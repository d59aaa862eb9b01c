/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks: corrections, and kinds of values; and grids of records as bytes. */
#include <string.h>

#include "codec/wavelet/wavelet_encoder.h"
#include "field/dtype_math.h"

typedef floe_wavelet_encoder encoder;

/* ---- grids ------------------------------------------------------------------------------------------------------------- */

void floe_wavelet_grid_write(const encoder *e, const floe_interp_records *r, const floe_context_tables *tables,
                             bool own, const uint8_t *base, floe_cursor *to)
{
    for (int wide = 0; wide < 2; wide++) {
        floe_cursor turn = *to;
        floe_interp_sizes sizes = {.wide = wide};
        floe_write8(&turn, (uint8_t)((wide ? FLOE_WAVELET_GRID_WIDE : 0) | (own ? FLOE_WAVELET_GRID_TABLES : 0)));
        if (own)
            floe_interp_tables_write(r->spec, tables, &turn);
        sizes.at = floe_write_space(&turn, floe_context_nchunks(r->grid) * (wide ? 4 : 2));
        while (!turn.bad && (turn.at - base) % 4)
            floe_write8(&turn, 0);
        if (!turn.bad)
            floe_interp_encode(&e->entropy, r, tables, &sizes, &turn);
        if (!sizes.too_long || turn.bad) {
            *to = turn;
            return;
        }
    }
}

/* ---- kinds ------------------------------------------------------------------------------------------------------------- */

uint64_t floe_wavelet_pattern_at(const encoder *e, uint64_t position)
{
    const uint64_t *n = e->chunk.plan.shape;
    int64_t at = 0;
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 0; position /= n[a])
        at += (int64_t)(position % n[a]) * e->values.stride[a];
    const uint8_t *p = (const uint8_t *)e->values.data + at * (int64_t)e->size;
    uint32_t narrow;
    uint64_t wide;
    if (e->narrow) {
        memcpy(&narrow, p, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, p, sizeof wide);
    return wide;
}

/* Calls visit for each mark of a set. */
typedef void mark_fn(encoder *e, uint64_t position, int8_t *mark, void *arg);
static void visit_marks(encoder *e, int set, mark_fn *visit, void *arg)
{
    const uint64_t *n = e->chunk.plan.shape, nrows = n[0] * n[1] * n[2];
    for (uint64_t row = 0; row < nrows; row++)
        for (uint64_t i = 0; i < e->row; i += 8) {
            int8_t *eight = e->marks[set] + row * e->row + i;
            uint64_t any;
            memcpy(&any, eight, sizeof any);
            for (uint64_t k = 0; any && k < FLOE_WAVELET_MARKS; k++)
                if (eight[k])
                    visit(e, row * n[3] + i / 8 * FLOE_WAVELET_MARKS + k, &eight[k], arg);
        }
}

/* A literal becomes a pattern of the palette: fill, NaN, infinities, zeros, as they come. Where all is patterns, any. */
static void sort_mark(encoder *e, uint64_t position, int8_t *mark, void *nliterals)
{
    floe_wavelet_chunk *c = &e->chunk;
    const uint64_t sign = floe_dtype_sign(e->params->dtype);
    if (*mark != FLOE_WAVELET_LITERAL)
        return;
    const uint64_t pattern = floe_wavelet_pattern_at(e, position);
    const bool finite = e->narrow ? (pattern & 0x7F800000) != 0x7F800000 : (pattern >> 52 & 0x7FF) != 0x7FF;
    const bool special = !finite || (pattern & ~sign) == 0 || c->kind == FLOE_WAVELET_FLAT ||
                         (e->params->has_fill && pattern == e->params->fill_bits);
    uint32_t s = 0;
    while (s < c->npalette && c->palette[s] != pattern)
        s++;
    if (s == c->npalette && special && s < FLOE_WAVELET_PALETTE)
        c->palette[c->npalette++] = pattern;
    if (s < c->npalette)
        *mark = (int8_t)(FLOE_WAVELET_PATTERN + s);
    else
        ++*(uint64_t *)nliterals;
}

bool floe_wavelet_marks_sort(encoder *e)
{
    uint64_t nliterals = 0;
    visit_marks(e, FLOE_WAVELET_VALUE_KINDS, sort_mark, &nliterals);
    return nliterals <= e->ncells / 4;
}

/* ---- sets -------------------------------------------------------------------------------------------------------------- */

static void count_mark(encoder *e, uint64_t position, int8_t *mark, void *count)
{
    (void)e, (void)position, (void)mark;
    ++*(uint64_t *)count;
}

static uint64_t count_marks(encoder *e, int set)
{
    uint64_t count = 0;
    visit_marks(e, set, count_mark, &count);
    return count;
}

static void literal_mark(encoder *e, uint64_t position, int8_t *mark, void *to)
{
    if (*mark != FLOE_WAVELET_LITERAL)
        return;
    if (e->narrow)
        floe_write32(to, (uint32_t)floe_wavelet_pattern_at(e, position));
    else
        floe_write64(to, floe_wavelet_pattern_at(e, position));
}

/* A list: positions as differences, each with so many low bits as they are, the rest in unary; then a sign, and the mark in unary. */
typedef struct listing {
    floe_cursor *to; /* NULL: bits are counted alone */
    uint64_t next, nbits, held;
    uint32_t nlow, nheld;
} listing;

static void put_bits(listing *l, uint64_t v, uint32_t n)
{
    l->nbits += n;
    for (; n > 0 && l->to; n--, v >>= 1) {
        l->held |= (v & 1) << l->nheld++;
        if (l->nheld == 8) {
            floe_write8(l->to, (uint8_t)l->held);
            l->held = l->nheld = 0;
        }
    }
}

static void put_unary(listing *l, uint64_t v)
{
    for (; v > 0; v--)
        put_bits(l, 0, 1);
    put_bits(l, 1, 1);
}

static void list_mark(encoder *e, uint64_t position, int8_t *mark, void *listed)
{
    listing *l = listed;
    const uint64_t gap = position - l->next;
    (void)e;
    put_bits(l, gap, l->nlow);
    put_unary(l, gap >> l->nlow);
    put_bits(l, *mark < 0, 1);
    put_unary(l, (uint64_t)((*mark < 0 ? -*mark : *mark) - 1));
    l->next = position + 1;
}

static uint32_t low_bits(const encoder *e, uint64_t count) { return floe_top_bit(e->ncells / count); }

static uint64_t list_bits(encoder *e, int set, uint64_t count)
{
    listing l = {.nlow = low_bits(e, count)};
    visit_marks(e, set, list_mark, &l);
    return l.nbits;
}

enum { USED_BITS = 4 /* for each symbol of a context that occurs */, STATE_BITS = 32 };

uint64_t floe_wavelet_records_bits(const encoder *e, const floe_interp_records *r)
{
    uint32_t *counts = e->counts + e->needs.nsteps * FLOE_CONTEXT_COUNTS;
    uint64_t used = 0;
    const uint64_t nraw = floe_interp_count(&e->entropy, r, 1, counts);
    for (uint32_t i = 0; i < FLOE_CONTEXT_COUNTS; i++)
        used += counts[i] != 0;
    return (floe_context_entropy(r->spec, counts) >> 12) + nraw + used * USED_BITS +
           floe_interp_busy(&e->entropy, r) * STATE_BITS;
}

uint64_t floe_wavelet_marks_bits(encoder *e, int set)
{
    const floe_context_grid grid = floe_wavelet_marks_grid(e->chunk.plan.shape);
    const floe_interp_records r = {&floe_wavelet_marks_spec, &grid, e->marks[set]};
    const uint64_t count = count_marks(e, set);
    return count ? floe_min64(list_bits(e, set, count), floe_wavelet_records_bits(e, &r)) : 0;
}

/* As a list where that takes less. */
static void write_set(encoder *e, int set, const uint8_t *base, floe_cursor *to)
{
    const floe_context_grid grid = floe_wavelet_marks_grid(e->chunk.plan.shape);
    const floe_interp_records r = {&floe_wavelet_marks_spec, &grid, e->marks[set]};
    uint32_t *counts = e->counts + e->needs.nsteps * FLOE_CONTEXT_COUNTS;
    floe_context_tables *tables = &e->tables[e->needs.nsteps];
    const uint64_t count = count_marks(e, set);
    e->chunk.marks[set] = FLOE_WAVELET_MARKS_EMPTY;
    if (count == 0)
        return;
    if (floe_wavelet_marks_bits(e, set) == list_bits(e, set, count)) {
        listing l = {.to = to, .nlow = low_bits(e, count)};
        e->chunk.marks[set] = FLOE_WAVELET_MARKS_LIST;
        floe_write32(to, (uint32_t)count);
        floe_write8(to, (uint8_t)l.nlow);
        visit_marks(e, set, list_mark, &l);
        if (l.nheld)
            floe_write8(to, (uint8_t)l.held);
        return;
    }
    e->chunk.marks[set] = FLOE_WAVELET_MARKS_CODED;
    floe_interp_count(&e->entropy, &r, 1, counts);
    floe_context_tables_build(r.spec, counts, tables);
    floe_wavelet_grid_write(e, &r, tables, true, base, to);
}

void floe_wavelet_marks_write(encoder *e, const uint8_t *base, floe_cursor *to)
{
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS; s++)
        write_set(e, s, base, to);
    visit_marks(e, FLOE_WAVELET_VALUE_KINDS, literal_mark, to);
}
