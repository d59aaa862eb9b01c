/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stage context codes a record with: contexts, symbols, and how a grid of records is cut to chunks; once for both
 * compilers, whole numbers only. docs/format/context.md.
 */
#ifndef FLOE_STAGE_CONTEXT_MATH_H
#define FLOE_STAGE_CONTEXT_MATH_H

#include "stage/ans/ans_math.h"

enum {
    FLOE_CONTEXT_TABLES = 16,          /* of a kind of symbols, at most */
    FLOE_CONTEXT_TABLES_NBYTES = 8192, /* that all tables of a grid take, at most */

    FLOE_CONTEXT_CLASSES = 7, /* codes of a record; there is room for 8, of which the last is 0 */
    FLOE_CONTEXT_WINDOW = 8,  /* rows of a window, at most */
    FLOE_CONTEXT_ROWS = 1024, /* of a chunk, at most */

    FLOE_CONTEXT_MASK_SYMBOLS = 128,
    FLOE_CONTEXT_MASK_BITS = 12,
    FLOE_CONTEXT_MASKS = 14, /* contexts; without planes 10 occur */
    FLOE_CONTEXT_VALUE_SYMBOLS = 41,
    FLOE_CONTEXT_VALUE_BITS = 10,
    FLOE_CONTEXT_LEVELS = 42,                      /* contexts of magnitudes */
    FLOE_CONTEXT_VALUES = 3 * FLOE_CONTEXT_LEVELS, /* the same by how certain the sign is */
    FLOE_CONTEXT_ALL = FLOE_CONTEXT_MASKS + FLOE_CONTEXT_VALUES,
    FLOE_CONTEXT_SMALL = 15,                         /* magnitudes up to this are symbols of their own */
    FLOE_CONTEXT_FIRST_RAW = 2 * FLOE_CONTEXT_SMALL, /* the first symbol that raw bits follow */
    FLOE_CONTEXT_LARGE_SYMBOL =
        FLOE_CONTEXT_FIRST_RAW + 2, /* magnitudes of 64 and more: of 127 a narrow code has no more */
    FLOE_CONTEXT_LONGEST_SYMBOL = FLOE_CONTEXT_VALUE_SYMBOLS - 1, /* half of all magnitudes, and those that are cut */
    FLOE_CONTEXT_LARGEST = 32767,
    FLOE_CONTEXT_LARGEST_BYTE = 127, /* of a code of 1 byte */

    /* Counts, and what is made of them: masks by context, then values by context, 64 a context. */
    FLOE_CONTEXT_VALUES_AT = FLOE_CONTEXT_MASKS * FLOE_CONTEXT_MASK_SYMBOLS,
    FLOE_CONTEXT_STRIDE = 64,
    FLOE_CONTEXT_COUNTS = FLOE_CONTEXT_VALUES_AT + FLOE_CONTEXT_VALUES * FLOE_CONTEXT_STRIDE,

    /* Frequencies: masks by table, then values by table, 64 a table. */
    FLOE_CONTEXT_VALUE_FREQS_AT = FLOE_CONTEXT_TABLES * FLOE_CONTEXT_MASK_SYMBOLS,
    FLOE_CONTEXT_FREQS = FLOE_CONTEXT_VALUE_FREQS_AT + FLOE_CONTEXT_TABLES * FLOE_CONTEXT_STRIDE
};

/* What the counts of a grid show. */
typedef struct floe_context_tally {
    uint64_t entropy; /* bits of the symbols, in 1/4096, if each context had a table of its own that took none */
    uint64_t raw;     /* bits */
    uint64_t used;    /* symbols that occur, of all contexts */
    uint64_t large, longest, ncodes; /* nonzero codes: from FLOE_CONTEXT_LARGE_SYMBOL on, of the longest symbol, all */
    uint64_t lanes;                  /* of the chunks that have such codes */
} floe_context_tally;

/* How the records of a grid are coded. */
typedef struct floe_context_spec {
    uint32_t width;  /* bytes of a code, 1 or 2: a record has 8 of them; 0: a record is its mask, one byte */
    uint32_t window; /* rows whose values are coded together: 1, 2, 4 or 8 */
    bool planes;     /* contexts look at the plane before too, and signs have contexts */
} floe_context_spec;

/* How many contexts of masks and of values occur. */
FLOE_HD uint32_t floe_context_masks(const floe_context_spec *s) { return s->planes ? FLOE_CONTEXT_MASKS : 10; }
FLOE_HD uint32_t floe_context_values(const floe_context_spec *s)
{
    return s->width == 0 ? 0 : s->planes ? FLOE_CONTEXT_VALUES : FLOE_CONTEXT_LEVELS;
}
FLOE_HD uint32_t floe_context_all(const floe_context_spec *s) { return floe_context_masks(s) + floe_context_values(s); }
FLOE_HD uint32_t floe_context_record_nbytes(const floe_context_spec *s) { return s->width ? 8 * s->width : 1; }

/* ---- tables ------------------------------------------------------------------------------------------------------------ */

/* The two kinds of symbols: masks are kind 0, values kind 1. */
typedef struct floe_context_kind {
    uint32_t nsymbols, bits;   /* of a table, whose frequencies add up to 2^bits */
    uint32_t stride;           /* from the counts of a context, or the frequencies of a table, to those of the next */
    uint32_t ncontexts, first; /* contexts that occur; the number of the first one among those of both kinds */
    uint32_t counts_at;        /* where the counts of its contexts begin */
    uint32_t freqs_at;         /* where the frequencies of its tables begin */
} floe_context_kind;

FLOE_HD floe_context_kind floe_context_kind_of(const floe_context_spec *s, uint32_t number)
{
    const uint32_t nmasks = floe_context_masks(s);
    const floe_context_kind masks = {
        FLOE_CONTEXT_MASK_SYMBOLS, FLOE_CONTEXT_MASK_BITS, FLOE_CONTEXT_MASK_SYMBOLS, nmasks, 0, 0, 0};
    const floe_context_kind values = {
        FLOE_CONTEXT_VALUE_SYMBOLS, FLOE_CONTEXT_VALUE_BITS,    FLOE_CONTEXT_STRIDE, floe_context_values(s), nmasks,
        FLOE_CONTEXT_VALUES_AT,     FLOE_CONTEXT_VALUE_FREQS_AT};
    return number ? values : masks;
}

/* The tables of a grid. Contexts that are alike share one. */
typedef struct floe_context_tables {
    uint32_t ntables[2];               /* of each kind */
    uint8_t table[FLOE_CONTEXT_ALL];   /* of each context that occurs: its number among those of its kind */
    uint16_t freq[FLOE_CONTEXT_FREQS]; /* of each symbol of each table */
    uint8_t code[FLOE_CONTEXT_FREQS];  /* of these frequencies; only in tables that were built */
} floe_context_tables;

/* Bytes before the tables themselves: how many there are of each kind, and half a byte a context. */
FLOE_HD uint32_t floe_context_head_nbytes(const floe_context_spec *s) { return 2 + (floe_context_all(s) + 1) / 2; }

/* ---- contexts ---------------------------------------------------------------------------------------------------------- */

/* The context of a mask: 0, 1, then two classes an octave. activity: nonzero codes around it, which are 2 own + left + right of the row
 * before, up to 28. With planes it is twice that, 4 own + left + right of the plane before, and the rows above and below that: up to 112. */
FLOE_HD uint32_t floe_context_mask(uint32_t activity)
{
    if (activity < 2)
        return activity;
    const uint32_t e = floe_top_bit(activity);
    return 2 * e + (activity >> (e - 1) & 1);
}

/* Six classes of how many codes around a value are not 0, up to 35. */
FLOE_HD uint32_t floe_context_class(uint32_t nonzero) { return nonzero / 6; }

/* The context of a magnitude, of such a class. before: the magnitude at the same place in the row before, or the mean with that of the
 * plane before; two classes an octave, up to 8. */
FLOE_HD uint32_t floe_context_level(uint32_t size, uint32_t before)
{
    return 7 * size + (before < 4 ? before : (before < 8 ? before / 2 : 4) + 2);
}

FLOE_HD uint32_t floe_context_magnitude(int32_t code) { return (uint32_t)(code < 0 ? -code : code); }

/* The context of a value with contexts of planes, of such a class. above, plane: the codes at the same place in the row above the window and
 * in the plane before; where that is not there, plane is 0. *flip: the sign is coded as its difference from the likely one. */
FLOE_HD uint32_t floe_context_value_planes(uint32_t size, int32_t above, int32_t plane, bool there, bool *flip)
{
    const uint32_t sum = floe_context_magnitude(above) + floe_context_magnitude(there ? plane : above);
    const int32_t sign = (above > 0) - (above < 0) + (plane > 0) - (plane < 0);
    *flip = sign < 0;
    return floe_context_level(size, (sum + 1) / 2) + FLOE_CONTEXT_LEVELS * floe_context_magnitude(sign);
}

/* What floe_context_class takes: from the nonzero codes of this record, of those before and after it, and of both beside it; then also of
 * the one in the plane before. */
FLOE_HD uint32_t floe_context_nonzero(uint32_t own, uint32_t before, uint32_t after, uint32_t sides)
{
    return 2 * own + before + after + sides / 2;
}
FLOE_HD uint32_t floe_context_nonzero_plane(uint32_t nonzero, uint32_t plane) { return 5 * (nonzero + plane) / 6; }

/* ---- symbols of values ------------------------------------------------------------------------------------------------- */

/* magnitude > 0, up to FLOE_CONTEXT_LARGEST. */
FLOE_HD uint32_t floe_context_symbol(uint32_t magnitude, uint32_t sign)
{
    return magnitude <= FLOE_CONTEXT_SMALL ? 2 * magnitude - 2 + sign : 26 + floe_top_bit(magnitude);
}
/* Raw bits behind a symbol: the magnitude below its highest bit, and below that the sign. */
FLOE_HD uint32_t floe_context_nraw(uint32_t symbol) { return symbol < FLOE_CONTEXT_FIRST_RAW ? 0 : symbol - 25; }
FLOE_HD uint32_t floe_context_raw(uint32_t magnitude, uint32_t sign)
{
    return magnitude <= FLOE_CONTEXT_SMALL ? 0 : (magnitude ^ 1u << floe_top_bit(magnitude)) << 1 | sign;
}
FLOE_HD int32_t floe_context_signed(uint32_t magnitude, uint32_t negative)
{
    return ((int32_t)magnitude ^ -(int32_t)negative) + (int32_t)negative; /* no branch: signs are as good as random */
}
/* The code of a symbol without raw bits. flip: the sign was coded as its difference from this one. */
FLOE_HD int32_t floe_context_value_small(uint32_t symbol, uint32_t flip)
{
    return floe_context_signed(symbol / 2 + 1, (symbol & 1) ^ flip);
}
/* The code of any symbol; signs among raw bits are not flipped. most: larger magnitudes, which no writer makes, become this one. */
FLOE_HD int32_t floe_context_value(uint32_t symbol, uint32_t raw, uint32_t flip, uint32_t most)
{
    const uint32_t nraw = floe_context_nraw(symbol), large = nraw ? 1u << (nraw - 1) | raw >> 1 : 0;
    return nraw ? floe_context_signed(large < most ? large : most, raw & 1) : floe_context_value_small(symbol, flip);
}

/* Adds `count` symbols of a kind to a tally. What is left of their entropy is total * log2(total) of each context. */
FLOE_HD void floe_context_tally_add(floe_context_tally *t, bool is_value, uint32_t symbol, uint32_t count)
{
    const uint32_t ncodes = is_value ? count : 0;
    t->entropy -= count ? count * floe_ans_log2(count) : 0;
    t->used += count != 0;
    t->raw += (uint64_t)ncodes * floe_context_nraw(symbol);
    t->large += symbol >= FLOE_CONTEXT_LARGE_SYMBOL ? ncodes : 0;
    t->longest += symbol == FLOE_CONTEXT_LONGEST_SYMBOL ? ncodes : 0;
    t->ncodes += ncodes;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------------ */

/* Records, planes of rows of columns, and how they are cut: evenly, along each axis. */
typedef struct floe_context_grid {
    uint64_t size[3];  /* planes, rows, columns */
    uint32_t piece[3]; /* of a chunk: planes, rows (their product is at most FLOE_CONTEXT_ROWS), columns (lanes) */
    uint64_t count[3];
} floe_context_grid;

FLOE_HD void floe_context_cut(floe_context_grid *g, int axis, uint64_t most)
{
    const uint64_t n = g->size[axis], count = n <= most ? 1 : floe_ceil_div(n, most ? most : 1);
    g->piece[axis] = (uint32_t)(count == 1 ? n : floe_ceil_div(n, count));
    g->count[axis] = count == 1 ? 1 : floe_ceil_div(n, g->piece[axis]);
}

/* Chunks of at most `most` rows, `of_plane` of a plane: few of them where contexts look at the plane before. All sizes > 0. */
FLOE_HD floe_context_grid floe_context_grid_of(uint64_t planes, uint64_t rows, uint64_t columns, uint32_t most,
                                               uint32_t of_plane)
{
    floe_context_grid g;
    g.size[0] = planes;
    g.size[1] = rows;
    g.size[2] = columns;
    floe_context_cut(&g, 2, FLOE_ANS_LANES);
    floe_context_cut(&g, 1, floe_min64(most, of_plane));
    floe_context_cut(&g, 0, most / g.piece[1]);
    return g;
}

FLOE_HD uint64_t floe_context_nrecords(const floe_context_grid *g) { return g->size[0] * g->size[1] * g->size[2]; }
FLOE_HD uint64_t floe_context_nchunks(const floe_context_grid *g) { return g->count[0] * g->count[1] * g->count[2]; }

/* How many rows of a plane a chunk of `most` rows should have. It is to reach as far along planes as along rows: where a chunk begins there
 * are no contexts. Of two such ways it takes the one with fewer chunks. */
FLOE_HD uint32_t floe_context_even_rows(uint64_t planes, uint64_t rows, uint32_t most)
{
    uint32_t side = 1, even[2];
    uint64_t nchunks[2];
    while (side * side < most)
        side *= 2;
    for (int i = 0; i < 2; i++) {
        const uint64_t pieces = floe_max64(planes / side, 1) + (uint64_t)i, deep = floe_ceil_div(planes, pieces);
        even[i] = most / (uint32_t)floe_min64(deep, most);
        const floe_context_grid g = floe_context_grid_of(planes, rows, 1, most, even[i]);
        nchunks[i] = floe_context_nchunks(&g);
    }
    return even[nchunks[1] < nchunks[0]];
}

/* A chunk: rows 0 .. planes * rows - 1 of lanes; row t is row t % rows of plane t / rows. */
typedef struct floe_context_chunk {
    uint64_t first;      /* record of row 0, lane 0 */
    uint64_t row, plane; /* records from one to the next */
    uint32_t planes, rows, lanes;
} floe_context_chunk;

FLOE_HD floe_context_chunk floe_context_chunk_of(const floe_context_grid *g, uint64_t index)
{
    uint64_t lo[3], n[3];
    for (int a = 2; a >= 0; a--) {
        lo[a] = index % g->count[a] * g->piece[a];
        n[a] = floe_min64(g->piece[a], g->size[a] - lo[a]);
        index /= g->count[a];
    }
    floe_context_chunk c;
    c.row = g->size[2];
    c.plane = g->size[1] * g->size[2];
    c.first = lo[0] * c.plane + lo[1] * c.row + lo[2];
    c.planes = (uint32_t)n[0];
    c.rows = (uint32_t)n[1];
    c.lanes = (uint32_t)n[2];
    return c;
}

/* Records lo .. hi - 1, by plane, row and column. */
typedef struct floe_context_box {
    uint64_t lo[3], hi[3];
} floe_context_box;

FLOE_HD bool floe_context_is_wanted(const floe_context_grid *g, uint64_t index, const floe_context_box *box)
{
    for (int a = 2; a >= 0; a--) {
        const uint64_t begin = index % g->count[a] * g->piece[a];
        if (begin >= box->hi[a] || begin + g->piece[a] <= box->lo[a])
            return false;
        index /= g->count[a];
    }
    return true;
}

FLOE_HD uint64_t floe_context_row(const floe_context_chunk *c, uint32_t t)
{
    return c->first + t / c->rows * c->plane + t % c->rows * c->row;
}

#endif
