/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks: corrections, and kinds of values; and grids of records as bytes. */
#include <string.h>

#include "codec/wavelet/wavelet_encoder.h"
#include "field/dtype_math.h"

typedef floe_wavelet_encoder encoder;

/* ---- kinds ------------------------------------------------------------------------------------------------------------- */

uint64_t floe_wavelet_pattern_at(const encoder *e, uint64_t position)
{
    const int64_t at = floe_lattice_view_number(&e->values, e->chunk.plan.shape, position) * (int64_t)e->size;
    return floe_lattice_pattern_load((const uint8_t *)e->values.data + at, e->size);
}

/* Calls visit for each literal. */
typedef void mark_fn(encoder *e, uint64_t position, int8_t *mark, void *arg);
static void visit_literals(encoder *e, mark_fn *visit, void *arg)
{
    const uint64_t *n = e->chunk.plan.shape, nrows = e->has_kinds ? n[0] * n[1] * n[2] : 0;
    for (uint64_t row = 0; row < nrows; row++)
        for (uint64_t i = 0; i < e->row; i += 8) {
            int8_t *eight = e->marks[FLOE_WAVELET_VALUE_KINDS] + row * e->row + i;
            uint64_t any;
            memcpy(&any, eight, sizeof any);
            for (uint64_t k = 0; any && k < FLOE_WAVELET_MARKS; k++)
                if (eight[k] == FLOE_WAVELET_LITERAL)
                    visit(e, row * n[3] + i / 8 * FLOE_WAVELET_MARKS + k, &eight[k], arg);
        }
}

/* A literal becomes a pattern of the palette: fill, NaN, infinities, zeros, as they come. Where all is patterns, any. */
static void sort_literal(encoder *e, uint64_t position, int8_t *mark, void *nliterals)
{
    floe_wavelet_chunk *c = &e->chunk;
    const uint64_t pattern = floe_wavelet_pattern_at(e, position);
    const bool special = c->kind == FLOE_LATTICE_FLAT ||
                         floe_lattice_is_special((uint32_t)e->size, pattern, e->params->has_fill, e->params->fill_bits);
    const uint32_t s = floe_lattice_palette_place(c->palette, c->npalette, pattern);
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
    visit_literals(e, sort_literal, &nliterals);
    return nliterals <= e->ncells / 4;
}

/* ---- sets -------------------------------------------------------------------------------------------------------------- */

static void write_literal(encoder *e, uint64_t position, int8_t *mark, void *to)
{
    (void)mark;
    floe_lattice_pattern_write(to, e->narrow, floe_wavelet_pattern_at(e, position));
}

uint64_t floe_wavelet_marks_bits(encoder *e, int set)
{
    const floe_context_grid grid = floe_wavelet_marks_grid(e->chunk.plan.shape, e->chunk.shorter[set]);
    const floe_records r = {&floe_wavelet_marks_spec, &grid, e->marks[set]};
    bool list;
    return floe_wavelet_records_bits(&e->entropy, &r, e->counts + e->needs.nsteps * FLOE_CONTEXT_COUNTS, &list);
}

static bool is_empty(const encoder *e, int set)
{
    const int8_t *marks = e->marks[set];
    return (set == FLOE_WAVELET_VALUE_KINDS && !e->has_kinds) ||
           (marks[0] == 0 && memcmp(marks, marks + 1, e->nmarks - 1) == 0);
}

static void write_set(encoder *e, int set, const uint8_t *base, floe_cursor *to)
{
    const floe_context_grid grid = floe_wavelet_marks_grid(e->chunk.plan.shape, e->chunk.shorter[set]);
    const floe_records r = {&floe_wavelet_marks_spec, &grid, e->marks[set]};
    uint32_t *counts = e->counts + e->needs.nsteps * FLOE_CONTEXT_COUNTS;
    floe_context_tables *tables = &e->tables[e->needs.nsteps];
    floe_wavelet_records_way way = {.tables = tables, .own = true, .base = base};
    e->chunk.marked[set] = !is_empty(e, set);
    if (!e->chunk.marked[set])
        return;
    floe_wavelet_records_bits(&e->entropy, &r, counts, &way.list);
    floe_context_tables_build(e->cpu, r.spec, counts, tables);
    const floe_cursor begin = *to;
    floe_records_sizes sizes = {.wide = false};
    do {
        *to = begin;
        sizes = (floe_records_sizes){.wide = sizes.too_long};
        floe_wavelet_records_begin(&r, &way, &sizes, to);
        if (!way.list && !to->bad)
            floe_records_encode(&e->entropy, &r, way.tables, &sizes, to);
    } while (sizes.too_long && !to->bad);
}

/* Kinds become differences along the slowest axis: masks are often alike from plane to plane. */
static void differ_kinds(const encoder *e)
{
    const uint64_t apart = floe_wavelet_marks_apart(e->chunk.plan.shape),
                   n = e->ncells / e->chunk.plan.shape[3] * e->row;
    int8_t *kinds = e->marks[FLOE_WAVELET_VALUE_KINDS];
    for (uint64_t i = n; i-- > apart;)
        kinds[i] = (int8_t)(kinds[i] - kinds[i - apart]);
}

static void restore_kinds(const encoder *e)
{
    const floe_lattice_box whole = floe_wavelet_whole(e->chunk.plan.shape);
    floe_wavelet_kinds_restore(e->chunk.plan.shape, &whole, e->marks[FLOE_WAVELET_VALUE_KINDS]);
}

/* That, where it takes less. */
static void choose_kinds(encoder *e)
{
    e->chunk.differ = false;
    if (floe_lattice_slowest(e->chunk.plan.shape) == FLOE_LATTICE_RANK - 1 || is_empty(e, FLOE_WAVELET_VALUE_KINDS))
        return;
    const uint64_t bits = floe_wavelet_marks_bits(e, FLOE_WAVELET_VALUE_KINDS);
    differ_kinds(e);
    e->chunk.differ = floe_wavelet_marks_bits(e, FLOE_WAVELET_VALUE_KINDS) < bits;
    if (!e->chunk.differ)
        restore_kinds(e);
}

void floe_wavelet_marks_write(encoder *e, const uint8_t *base, floe_cursor *to)
{
    choose_kinds(e);
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS; s++)
        write_set(e, s, base, to);
    if (e->chunk.differ)
        restore_kinds(e);
    visit_literals(e, write_literal, to);
}
